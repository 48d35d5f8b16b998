//! The process while it runs: how it starts, what it writes beside its messages, and what happens while nobody reads.

use std::thread::sleep;
use std::time::Duration;

use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::Talk;

/// The most that hosts show of a log, and more than anybody reads.
const FLOOD: usize = 1 << 20;
/// More than the pipe and the reader hold between them.
const UNREAD: usize = 400 << 10;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Advice,
        "process-start-time",
        Source::Practice,
        "the first answer does not take long",
        "Hosts start servers when a person opens a window, and some give up after ten seconds. Answer first, and load what is big when it is asked for.",
        |talk| {
            let (took, most) = (talk.first_answer(), talk.slow_start());
            if took <= most {
                return Ok(());
            }
            let expected = format!("an answer within {} s", most.as_secs_f32());
            Err(Finding::new(expected, format!("one after {:.1} s", took.as_secs_f32())))
        },
    ),
    Check::new(
        Strength::Advice,
        "process-stderr-utf-8",
        Source::Eras("basic/transports#stdio", "basic/transports/stdio"),
        "what the server writes to standard error is UTF-8",
        "Logs are shown to people and kept in files beside others. Open standard error as UTF-8, whatever the locale says.",
        |talk| match &talk.habits().not_text {
            Some(line) => Err(Finding::new("a log in UTF-8", shown(line))),
            None => Ok(()),
        },
    ),
    Check::new(
        Strength::Advice,
        "process-stderr-flood",
        Source::Practice,
        "the server does not flood standard error while it starts",
        "Hosts keep the log of each server, and one that never reads it stops a server whose pipe is full. Leave debug output out unless it is asked for.",
        |talk| match talk.habits().complaints_at_start {
            Some(len) if len > FLOOD => {
                Err(Finding::new("less than 1 MiB of log at the start", format!("{len} bytes")))
            }
            _ => Ok(()),
        },
    ),
    Check::new(
        Strength::Advice,
        "process-two-at-once",
        Source::Practice,
        "the server runs twice at the same time",
        "Each window of a host, and each host, starts a server of its own. Do not claim a port, a lock or a file that the next one needs as well.",
        |talk| {
            let mut other = talk.another()?;
            other.request(other.harmless(), "")?;
            talk.tell_of(other);
            talk.request(talk.harmless(), "").map(drop)
        },
    )
    .speaking(Speaks::Once),
    Check::new(
        Strength::Must,
        "process-slow-reader",
        Source::JsonRpc("response_object"),
        "answers that are not read for a while come all the same",
        "When the pipe is full, wait until it takes more, in order and without dropping anything. A write that takes a part of a message has to be gone on with where it stopped.",
        slow_reader,
    )
    .speaking(Speaks::Once),
    Check::new(
        Strength::Advice,
        "process-restart",
        Source::Practice,
        "a server that was killed starts again",
        "Hosts kill what does not exit in time, and start it again at once. A lock or a socket that was left behind must not stand in the way.",
        restart,
    )
    .speaking(Speaks::Once)
    .alone(),
];

fn slow_reader(talk: &mut Talk) -> Result<(), Finding> {
    let method = if talk.facts().declares("tools") { "tools/list" } else { talk.harmless() };
    let one = talk.request(method, "")?.bytes().len();
    let count = (UNREAD / one.max(1)).clamp(16, 2500);
    let ids: Vec<_> = (0..count).map(|_| talk.id().to_string()).collect();
    let lines: Vec<_> = ids.iter().map(|id| talk.line(id, method, "") + "\n").collect();
    talk.hold_output(true);
    talk.say(lines.concat().as_bytes());
    // Long enough to fill the pipe. What is slower than this is checked less, and not blamed.
    sleep(Duration::from_millis(300));
    talk.hold_output(false);
    for id in &ids {
        talk.answer_to(id)?;
    }
    match talk.junk().first() {
        Some(line) => Err(Finding::new("whole messages", shown(line))),
        None => Ok(()),
    }
}

fn restart(talk: &mut Talk) -> Result<(), Finding> {
    talk.open()?;
    // Something that makes it work.
    let method = if talk.facts().declares("tools") { "tools/list" } else { talk.harmless() };
    talk.request(method, "")?;
    talk.kill();
    talk.output_ends(Duration::from_secs(2));
    let mut again = talk.another()?;
    again.request(again.harmless(), "")?;
    talk.tell_of(again);
    Ok(())
}
