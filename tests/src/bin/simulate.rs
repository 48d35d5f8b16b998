//! Runs conversations by their seeds; see [`sanswire_tests::simulation`].
//!
//! `simulate --seeds A..B [--world NAME] [--jobs N]` runs them all, or those of one world, and tells how many there were a
//! second and what they met. The first that fails ends it: it is made short and written down. `simulate --seed N` runs one,
//! `simulate --script FILE` what was written down; both tell what happened. `simulate --bytes TARGET FILE` runs what a fuzz
//! target found.
#![expect(clippy::print_stderr, reason = "its output is for a terminal")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use sanswire_tests::properties::conversations::{CLIENT_OPS, PAIR, SERVER_OPS};
use sanswire_tests::simulation::{Coverage, Script, World, check, minimise, silence};

/// So many seeds are taken at once.
const TAKEN: u64 = 64;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let usage = "usage: simulate --seeds A..B [--world NAME] [--jobs N] | --seed N | --script FILE | --bytes TARGET FILE";
    let value = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| usage.to_owned());
    // What a failing check says is told once, at the end.
    silence();
    if let Some(path) = value("--script") {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        return one(&Script::parse(&text)?);
    }
    if let [what, target, path] = words
        && what == "--bytes"
    {
        let worlds = match &**target {
            "pair" => PAIR,
            "client_ops" => CLIENT_OPS,
            "server_ops" => SERVER_OPS,
            _ => return Err(format!("{target} is no target of conversations")),
        };
        let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        return one(&Script::from_bytes(worlds, &bytes));
    }
    if let Some(seed) = value("--seed") {
        return one(&Script::of(number(&seed)?));
    }
    let seeds = value("--seeds").ok_or(usage)?;
    let (from, to) = seeds.split_once("..").ok_or(usage)?;
    let jobs = value("--jobs").map_or(Ok(1), |jobs| number(&jobs))?;
    let world = match value("--world") {
        Some(name) => Some(World::ALL.into_iter().find(|world| world.name() == name).ok_or(usage)?),
        None => None,
    };
    many(number(from)?, number(to)?, world, jobs.max(1))
}

fn one(script: &Script) -> Result<(), String> {
    let mut seen = Coverage::default();
    let done = check(script, &mut seen);
    eprint!("{}{}", script.text(), seen.text());
    done
}

fn many(from: u64, to: u64, world: Option<World>, jobs: u64) -> Result<(), String> {
    let started = Instant::now();
    let (next, stop) = (AtomicU64::new(from), AtomicBool::new(false));
    let (all, runs) = (Mutex::new(Coverage::default()), AtomicU64::new(0));
    let failed: Mutex<Option<(u64, String)>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut seen = Coverage::default();
                while !stop.load(Ordering::Relaxed) {
                    let first = next.fetch_add(TAKEN, Ordering::Relaxed);
                    if first >= to {
                        break;
                    }
                    for seed in first..(first + TAKEN).min(to) {
                        let script = Script::of(seed);
                        if world.is_some_and(|world| world != script.world) {
                            continue;
                        }
                        runs.fetch_add(1, Ordering::Relaxed);
                        if let Err(failure) = check(&script, &mut seen) {
                            stop.store(true, Ordering::Relaxed);
                            let mut failed = failed.lock().unwrap();
                            if failed.as_ref().is_none_or(|(known, _)| seed < *known) {
                                *failed = Some((seed, failure));
                            }
                            break;
                        }
                    }
                }
                all.lock().unwrap().add(&seen);
            });
        }
    });
    if let Some((seed, failure)) = failed.into_inner().unwrap() {
        let (script, shortest) = minimise(&Script::of(seed), &failure);
        return Err(format!(
            "seed {seed}: {failure}\n\nagain with: simulate --seed {seed}\n\nshortest, for simulate --script FILE:\n{}# {shortest}",
            script.text()
        ));
    }
    let seconds = started.elapsed().as_secs_f64();
    let runs = runs.into_inner();
    eprint!("{}", all.into_inner().unwrap().text());
    eprintln!("{runs} runs in {seconds:.1} s, {:.0} a second", runs as f64 / seconds);
    Ok(())
}
