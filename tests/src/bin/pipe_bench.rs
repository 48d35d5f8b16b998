//! Round trips over pipes: the blocking client beside the bare ping-pong of the same bytes, in one run.
//!
//! `pipe_bench [CALLS]` starts itself twice: as a child that answers each line without reading it (the floor: two
//! pipes, two changes of process, no protocol) and as a hand-written server. On two cores the figures depend on
//! where the system puts the two processes; `taskset -c 0 pipe_bench` is the steady way to run it.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use sanswire::client::{Outcome, RequestOptions, Start};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Revision;
use sanswire_std::{Client, Command, ConnectOptions};

type Failure = Box<dyn std::error::Error>;

const WINDOW: usize = 64;
const ROUNDS: usize = 5;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("--floor") => floor_child(),
        Some("--server") => server_child(),
        calls => measure(calls.map_or(Ok(5000), str::parse)?),
    }
}

/// What one way of calling took.
struct Took {
    median: Duration,
    calls_a_second: f64,
}

fn measure(calls: usize) -> Result<(), Failure> {
    let me = std::env::current_exe()?;
    let mut rows = Vec::new();
    for _ in 0..ROUNDS {
        let floor = floor(&me, calls)?;
        let mut options = ConnectOptions::new("pipe-bench", "0");
        options.config.start = Start::Pinned(Revision::V2025_11_25);
        let client = Client::connect(&Command::new(&me).arg("--server"), options)?;
        let one = one_by_one(&client, calls)?;
        let many = in_flight(&client, calls)?;
        client.close();
        rows.push((floor, one, many));
    }
    let median = |pick: fn(&(Took, Took, f64)) -> f64| {
        let mut all: Vec<f64> = rows.iter().map(pick).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let floor = median(|(floor, ..)| floor.median.as_secs_f64() * 1e6);
    let one = median(|(_, one, _)| one.median.as_secs_f64() * 1e6);
    let ratio = median(|(floor, one, _)| one.median.as_secs_f64() / floor.median.as_secs_f64());
    let many = median(|(.., many)| *many);
    let gain = median(|(_, one, many)| many / one.calls_a_second);
    println!("{ROUNDS} rounds of {calls} calls, medians");
    println!("ping-pong of a line, p50         {floor:8.1} us");
    println!("sequential call, p50             {one:8.1} us   {ratio:5.2} x the ping-pong");
    println!("{WINDOW} in flight, calls a second   {many:10.0}      {gain:5.1} x one after another");
    Ok(())
}

fn timed(calls: usize, mut call: impl FnMut() -> Result<(), Failure>) -> Result<Took, Failure> {
    for _ in 0..calls / 10 {
        call()?;
    }
    let mut took = Vec::with_capacity(calls);
    let begin = Instant::now();
    for _ in 0..calls {
        let start = Instant::now();
        call()?;
        took.push(start.elapsed());
    }
    let all = begin.elapsed();
    took.sort_unstable();
    let median = took.get(calls / 2).copied().unwrap_or_default();
    Ok(Took { median, calls_a_second: calls as f64 / all.as_secs_f64() })
}

fn arguments() -> Result<RawJson, Failure> {
    Ok(RawJson::parse_str(r#"{"text":"hello from the other side of a pipe"}"#)?)
}

fn one_by_one(client: &Client, calls: usize) -> Result<Took, Failure> {
    timed(calls, || {
        let outcome = client.call_tool("echo", Some(&arguments()?), &RequestOptions::default())?;
        if matches!(outcome, Outcome::Complete(_)) { Ok(()) } else { Err(format!("{outcome:?}").into()) }
    })
}

fn in_flight(client: &Client, calls: usize) -> Result<f64, Failure> {
    let mut open = VecDeque::with_capacity(WINDOW);
    let begin = Instant::now();
    let (mut left, mut done) = (calls, 0);
    while done < calls {
        let cork = client.cork();
        while left > 0 && open.len() < WINDOW {
            open.push_back(client.start_tool("echo", Some(&arguments()?), &RequestOptions::default())?);
            left -= 1;
        }
        drop(cork);
        let Some(oldest) = open.pop_front() else { break };
        let mut outcome = Some(oldest.wait());
        while let Some(finished) = outcome {
            if !matches!(finished, Outcome::Complete(_)) {
                return Err(format!("{finished:?}").into());
            }
            done += 1;
            outcome = open.front_mut().and_then(sanswire_std::Pending::try_take);
            if outcome.is_some() {
                open.pop_front();
            }
        }
    }
    Ok(calls as f64 / begin.elapsed().as_secs_f64())
}

fn floor(me: &std::path::Path, calls: usize) -> Result<Took, Failure> {
    let mut child: Child =
        Process::new(me).arg("--floor").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut to = child.stdin.take().ok_or("a pipe")?;
    let mut from = child.stdout.take().ok_or("a pipe")?;
    let line = [&[b'x'; 149][..], b"\n"].concat();
    let mut room = [0; 4096];
    let took = timed(calls, || {
        to.write_all(&line)?;
        let mut got = 0;
        while got < line.len() {
            match from.read(&mut room)? {
                0 => return Err("the child ended".into()),
                len => got += len,
            }
        }
        Ok(())
    })?;
    drop(to);
    child.wait()?;
    Ok(took)
}

/// Sends back what it reads.
fn floor_child() -> Result<(), Failure> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::fs::File::from(stdout()?));
    let mut room = [0; 4096];
    loop {
        match input.read(&mut room)? {
            0 => return Ok(()),
            len => output.write_all(room.get(..len).unwrap_or_default())?,
        }
    }
}

fn stdout() -> std::io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::AsFd;
    std::io::stdout().as_fd().try_clone_to_owned()
}

/// The least that a client takes for a server: looks for the id and nothing else.
fn server_child() -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(64 * 1024, std::io::stdin().lock());
    let mut output = std::fs::File::from(stdout()?);
    let (mut line, mut reply) = (String::new(), String::new());
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some(rest) = line.split_once(r#""id":"#).map(|(_, rest)| rest) {
            let id: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let result = if line.contains(r#""initialize""#) {
                r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"bench","version":"0"}}"#
            } else {
                r#"{"content":[{"type":"text","text":"hello from the other side of a pipe"}]}"#
            };
            reply.push_str(r#"{"jsonrpc":"2.0","id":"#);
            reply.push_str(&id);
            reply.push_str(r#","result":"#);
            reply.push_str(result);
            reply.push_str("}\n");
        }
        // What one read brought is answered with one write.
        if input.buffer().is_empty() {
            output.write_all(reply.as_bytes())?;
            reply.clear();
        }
    }
}
