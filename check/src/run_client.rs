//! Runs the checks of a client.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::check::{Check, Company, Role, Script};
use crate::client;
use crate::client_plan::ClientPlan;
use crate::finding::Finding;
use crate::report::{Found, Report, Result, Unspoken, Verdict};
use crate::run::{holds, lock};
use crate::stage::Stage;
use crate::transcript::Transcript;
use crate::usual::{Seen, Usual, see};

/// Checks what the plan says of a client. Blocks until all is done: as long as the client takes for its work, many times, and
/// at most the plan's patience for each time that it does not end.
#[must_use]
pub fn run_client(plan: &ClientPlan) -> Report {
    let mut report = Report {
        role: Role::Client,
        peer: None,
        revisions: Vec::new(),
        unspoken: Vec::new(),
        unreached: None,
        results: Vec::new(),
        stale: Vec::new(),
    };
    if !plan.names_server() {
        let finding =
            Finding::new("a command with {server} or {config} where its server belongs", "none of them");
        report.unreached = Some(Found { finding, transcript: Transcript::new() });
        return report;
    }
    let (mut spoken, mut silent) = (Vec::new(), None);
    let seen = in_turns(plan.jobs, plan.revisions.clone(), |revision| (revision, see(plan, revision)));
    for (revision, seen) in seen {
        match seen {
            Seen::Speaks(stage, usual) => spoken.push((revision, stage, usual)),
            Seen::SpeaksOther(why) => report.unspoken.push(Unspoken { revision, why }),
            Seen::Silent(finding, transcript) => silent = silent.or(Some((finding, transcript))),
        }
    }
    report.unspoken.sort_by_key(|it| it.revision);
    spoken.sort_by_key(|(revision, ..)| *revision);
    report.revisions = spoken.iter().map(|(revision, ..)| *revision).collect();
    report.peer = spoken.last().and_then(|(.., usual)| usual.name());
    if spoken.is_empty() {
        let (finding, transcript) = silent.unwrap_or_else(|| {
            let expected = "a client that speaks one of the revisions that this program speaks";
            (Finding::new(expected, "one that speaks others"), Transcript::new())
        });
        report.unreached = Some(Found { finding, transcript });
        return report;
    }
    let mut work = Vec::new();
    for (revision, stage, usual) in &mut spoken {
        for check in client::all().filter(|check| plan.wants(check.id)) {
            if !holds(check, *revision, &report.revisions) {
                continue;
            }
            if let Some(missing) = check.needs.iter().find(|needed| !usual.uses(needed)) {
                let why = format!("the client never says {missing}");
                report.results.push(Result::skipped(check, *revision, why));
            } else if check.company == Company::Alone {
                work.push((check, *revision, usual.clone()));
            } else {
                let began = Instant::now();
                let verdict = judge(check, stage, usual.clone());
                let transcript = stage.transcript();
                report.results.push(Result::new(check, *revision, verdict, transcript, began.elapsed()));
            }
        }
    }
    report.results.extend(in_turns(plan.jobs, work, |(check, revision, usual)| {
        let began = Instant::now();
        let (verdict, transcript) = match Stage::start(plan, revision, Some(usual.clone())) {
            Ok(mut stage) => (judge(check, &mut stage, usual), stage.transcript()),
            Err(error) => {
                let finding = Finding::new("a program that can be started again", error);
                (Verdict::Found(finding), Transcript::new())
            }
        };
        Result::new(check, revision, verdict, transcript, began.elapsed())
    }));
    let place = |id: &str| client::all().position(|check| check.id == id);
    report.results.sort_by_key(|result| (place(result.check.id), result.revision));
    report
}

/// Does each of these, so many at once.
fn in_turns<T: Send, R: Send>(jobs: usize, work: Vec<T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    let (work, done) = (Mutex::new(VecDeque::from(work)), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let next = lock(&work).pop_front();
                    let Some(next) = next else { return };
                    let result = each(next);
                    lock(&done).push(result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn judge(check: &'static Check, stage: &mut Stage, usual: Usual) -> Verdict {
    stage.expect(usual);
    let Script::Client(script) = check.script else { return Verdict::Skipped("it is of servers".into()) };
    let outcome = script(stage);
    let not_tried = stage.take_not_tried();
    match (outcome, not_tried) {
        (Ok(()), None) => Verdict::Passed,
        (Ok(()), Some(why)) => Verdict::Skipped(why),
        (Err(finding), _) => Verdict::Found(finding),
    }
}
