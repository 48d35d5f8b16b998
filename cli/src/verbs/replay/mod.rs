//! `replay`: a recording again, on fresh machines.

mod trace;

use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::Path;

use sanswire::jsonrpc::ObjectWriter;
use sanswire_std::recording::{Difference, ReplayError, Replayed, replay};

use crate::context::Context;
use crate::failure::{Failure, status};
use crate::json::object;
use crate::output::{document, escape, json_document};

/// Replays a file; gives the exit status.
pub(super) fn run(context: &Context, path: &Path) -> Result<u8, Failure> {
    let unreadable = |error| Failure::usage(format!("{} cannot be read: {error}", path.display()));
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    match replay(&mut file) {
        Ok(done) => show(context, &done),
        Err(ReplayError::Trace) => {
            file.rewind().map_err(unreadable)?;
            trace::run(context, path, file)
        }
        Err(why) => Err(refused(path, &why)),
    }
}

fn refused(path: &Path, why: &ReplayError) -> Failure {
    let failure = Failure::usage(format!("{}: {why}", path.display()));
    match why {
        ReplayError::Empty | ReplayError::NoRecording => {
            failure.hint("make one with --record FILE, before any verb that speaks to servers")
        }
        ReplayError::Broken { cut: true, .. } => {
            failure.hint("without that line, what comes before it can be replayed")
        }
        _ => failure,
    }
}

fn show(context: &Context, done: &Replayed) -> Result<u8, Failure> {
    if context.common.json {
        json_document(&object(|w| write(w, done)))?;
    } else {
        document(&told(done))?;
    }
    Ok(if done.difference.is_none() { 0 } else { status::FINDINGS })
}

fn write(w: &mut ObjectWriter<'_>, done: &Replayed) {
    w.bool("same", done.difference.is_none()).u64("connections", done.connections);
    w.u64("inputs", done.inputs).u64("outputs", done.outputs);
    w.u64("unfinished", done.unfinished).bool("full", done.full);
    w.array_of_strings("passed_over", done.passed_over.iter().map(String::as_str));
    if let Some(difference) = &done.difference {
        w.object("difference", |w| write_difference(w, difference));
    }
}

fn write_difference(w: &mut ObjectWriter<'_>, difference: &Difference) {
    w.u64("line", difference.line).string("server", &difference.server);
    w.u64("connection", difference.connection).u64("input", difference.input);
    w.u64("at", difference.at.as_micros()).string("what", difference.what);
    w.string("expected", &difference.expected).string("got", &difference.got);
    w.bool("blotted", difference.blotted);
}

fn told(done: &Replayed) -> String {
    let mut text = match &done.difference {
        None if done.connections == 0 => "no connection was recorded\n".into(),
        None => format!("the same: {} inputs, {} outputs\n", done.inputs, done.outputs),
        Some(difference) => differs(difference),
    };
    let mut say = |line: String| {
        text.push_str(&escape::line(&line));
        text.push('\n');
    };
    for what in &done.passed_over {
        say(format!("not recorded: {what}"));
    }
    if done.full {
        say("the recording ends there: it was as long as it may be".into());
    } else if done.unfinished > 0 {
        let many = if done.unfinished == 1 { "a connection" } else { "connections" };
        say(format!("the recording ends in the middle of {many}: it was cut, or its program was ended"));
    }
    text
}

fn differs(difference: &Difference) -> String {
    let at = difference.at.as_micros();
    let mut text = format!(
        "different in line {}, after input {} of connection {} ({}), at {}.{:06} s: {}\n  recorded: {}\n  now:      {}\n",
        difference.line,
        difference.input,
        difference.connection,
        escape::line(&difference.server),
        at / 1_000_000,
        at % 1_000_000,
        difference.what,
        difference.expected,
        difference.got,
    );
    if difference.blotted {
        text.push_str("  secrets were blotted out before; what one of them decides cannot be replayed\n");
    }
    text
}
