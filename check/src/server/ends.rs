//! How the process ends: by the end of its input wherever that comes, by a signal, and with nobody left to read.

use std::process::ExitStatus;
use std::thread::sleep;
use std::time::Duration;

use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::Talk;

const SHUTDOWN: Source = Source::Eras("basic/lifecycle#shutdown", "basic/transports/stdio#shutdown");
/// How long nobody may hold on to the output of one that has exited.
const LEFT: Duration = Duration::from_secs(2);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Advice,
        "process-half-close",
        Source::Practice,
        "requests in flight when the input ends are answered",
        "The end of input says that no more requests come, not that nobody reads the answers: scripts write their requests and close. Finish what is in flight, write it, then exit.",
        half_close,
    )
    .speaking(Speaks::Once)
    .alone(),
    Check::new(
        Strength::Advice,
        "process-exit-status",
        Source::Practice,
        "a server whose input ends exits with the status 0",
        "The end of input is how a client leaves, and no failure. Hosts log other statuses as crashes.",
        exit_status,
    )
    .speaking(Speaks::Once)
    .alone(),
    Check::new(
        Strength::Should,
        "process-end-before-anything",
        SHUTDOWN,
        "a server whose input ends before anything was said exits",
        "A host that changes its mind closes standard input at once. Look for the end of input from the start, not from the first message on.",
        end_before_anything,
    )
    .speaking(Speaks::Once)
    .alone(),
    Check::new(
        Strength::Should,
        "process-end-within-a-line",
        SHUTDOWN,
        "a server whose input ends in the middle of a line exits as after any other end",
        "A client that dies leaves half a line. Drop it and exit; do not wait for the rest, and do not crash on it.",
        |talk| {
            talk.open()?;
            talk.say(br#"{"jsonrpc":"2.0","id":"half","meth"#);
            talk.end_input();
            ended_well(talk)
        },
    )
    .speaking(Speaks::Once)
    .alone(),
    #[cfg(unix)]
    Check::new(
        Strength::Advice,
        "process-ends-on-sigterm",
        SHUTDOWN,
        "the server exits on SIGTERM",
        "It is the second step of a client that wants to stop a server, and what service managers send. What does not exit is killed, without a chance to save anything.",
        |talk| {
            talk.open()?;
            talk.terminate();
            match exit(talk) {
                Some(_) => Ok(()),
                None => Err(Finding::new("an exit soon after SIGTERM", "a process that runs on")),
            }
        },
    )
    .speaking(Speaks::Once)
    .alone(),
    Check::new(
        Strength::Advice,
        "process-leaves-nobody",
        Source::Practice,
        "no process of the server is left when it has exited",
        "Helpers and browsers that a server starts are its own to end. One that is left keeps the pipes open, so that hosts wait, and memory in use for ever.",
        leaves_nobody,
    )
    .speaking(Speaks::Once)
    .alone(),
    Check::new(
        Strength::Advice,
        "process-broken-pipe",
        Source::Practice,
        "a server whose output nobody reads any more exits when its input ends",
        "A client that crashes leaves closed pipes. A write that fails because of that is the end: exit, and do not try again and again.",
        broken_pipe,
    )
    .speaking(Speaks::Once)
    .alone(),
];

/// How it exits, if it does in time.
fn exit(talk: &mut Talk) -> Option<ExitStatus> {
    talk.exit(talk.patience(Duration::from_secs(5), 2))
}

/// It exits in time, by itself and not by a crash.
pub(super) fn ended_well(talk: &mut Talk) -> Result<(), Finding> {
    let expected = "an exit soon after the end of its input";
    match exit(talk) {
        Some(status) if status.code().is_some() => Ok(()),
        Some(status) => Err(Finding::new(expected, status)),
        None => Err(Finding::new(expected, "a process that runs on")),
    }
}

fn half_close(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    let mut methods = vec![talk.harmless(); 8];
    methods.extend(talk.facts().declares("tools").then_some("tools/list"));
    let ids: Vec<_> = methods.iter().map(|_| talk.id().to_string()).collect();
    let lines: Vec<_> =
        ids.iter().zip(methods).map(|(id, method)| talk.line(id, method, "") + "\n").collect();
    talk.say(lines.concat().as_bytes());
    talk.end_input();
    ids.iter().try_for_each(|id| talk.answer_to(id).map(drop))?;
    // What it does then is not asked here.
    exit(talk);
    Ok(())
}

fn exit_status(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    talk.request(talk.harmless(), "")?;
    talk.end_input();
    match exit(talk) {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(Finding::new("the exit status 0", status)),
        None => talk.not_tried("the server does not exit when its input ends"),
    }
}

fn end_before_anything(talk: &mut Talk) -> Result<(), Finding> {
    talk.end_input();
    // It may still be starting, beside others.
    let within = talk.patience(talk.longest_start(), 4);
    match talk.exit(within) {
        Some(_) => Ok(()),
        None => {
            let expected = format!("an exit within {} s of its start", within.as_secs_f32());
            Err(Finding::new(expected, "a process that runs on"))
        }
    }
}

fn leaves_nobody(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    talk.request(talk.harmless(), "")?;
    talk.end_input();
    if exit(talk).is_none() {
        return talk.not_tried("the server does not exit when its input ends");
    }
    if talk.output_ends(LEFT) {
        return Ok(());
    }
    Err(Finding::new("the end of its output when it has exited", "a process that holds it open"))
}

fn broken_pipe(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    talk.close_output();
    for _ in 0..5 {
        talk.ask(talk.harmless(), "");
        sleep(Duration::from_millis(50));
    }
    talk.end_input();
    match exit(talk) {
        Some(_) => Ok(()),
        None => Err(Finding::new("an exit soon after the end of its input", "a process that runs on")),
    }
}
