//! A recording fed back to fresh machines.

use std::collections::BTreeMap;
use std::io::BufRead;

use sanswire::Instant;
use sanswire::jsonrpc::{JsonRef, RawJson};

use super::error::ReplayError;
use super::file::{FORMAT, KIND};
use super::lines::Lines;
use super::pen::{number, text};
use super::player::Player;

/// So many connections may be open in a recording at once.
const MAX_OPEN: usize = 1024;

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed {
    /// Connections that were recorded.
    pub connections: u64,
    /// Inputs that were fed: reads, writes, ends, deadlines, calls.
    pub inputs: u64,
    /// Outputs that were compared: what was written, told, given back, and what a machine waited for after each input.
    pub outputs: u64,
    /// Connections without an end: the recording was cut between two lines, or its program ended in another way than by
    /// returning.
    pub unfinished: u64,
    /// Connections that were not recorded, and why.
    pub passed_over: Vec<String>,
    /// Whether the recording ended because it was full.
    pub full: bool,
    /// Where the machines did something else than was recorded. Nothing behind it was looked at.
    pub difference: Option<Box<Difference>>,
}

/// Where a machine did something else than was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The line of the file, counted from 1.
    pub line: u64,
    /// The server's name.
    pub server: String,
    /// The number of the connection, as in the file (`c`).
    pub connection: u64,
    /// The number of the last input before it, as in the file (`n`).
    pub input: u64,
    /// When that was.
    pub at: Instant,
    /// What differs.
    pub what: &'static str,
    /// What was recorded, cut to what is around the first byte that differs.
    pub expected: String,
    /// What the machine did, cut alike.
    pub got: String,
    /// Whether something was blotted out before in what it was given. Then the difference may come of that.
    pub blotted: bool,
}

/// Feeds what connections were given to fresh machines, and compares what these do with what was recorded. Holds one line
/// (64 MiB at most) and the machines that are open.
///
/// # Errors
/// [`ReplayError`]: it is no recording, one of another version, or damaged; with the line.
pub fn replay(input: impl BufRead) -> Result<Replayed, ReplayError> {
    let mut lines = Lines::new(input);
    let head = lines.next()?.ok_or(ReplayError::Empty)?;
    check_head(head.view())?;
    let mut done = Replayed::default();
    let mut open: BTreeMap<u64, Player> = BTreeMap::new();
    while let Some(line) = lines.next()? {
        let at = lines.number();
        let damaged = |what| ReplayError::Damaged { line: at, what };
        let view = line.view();
        if let Some(why) = view.get("passed_over").and_then(JsonRef::str) {
            let server = text(view, "server").map_err(damaged)?;
            done.passed_over.push(format!("{server}: {}", why.decode()));
            continue;
        }
        if view.get("stopped").is_some() {
            done.full = true;
            break;
        }
        let connection = number(view, "c").map_err(damaged)?;
        if text(view, "in").as_deref() == Ok("begin") {
            if open.len() >= MAX_OPEN || open.contains_key(&connection) {
                return Err(damaged("c"));
            }
            done.connections += 1;
            done.inputs += 1;
            done.outputs += 1;
            let (player, difference) = Player::begin(view, connection, at).map_err(damaged)?;
            done.difference = difference;
            open.insert(connection, player);
        } else {
            let player = open.get_mut(&connection).ok_or_else(|| damaged("c"))?;
            let played = player.play(view, at).map_err(damaged)?;
            done.inputs += u64::from(played.is_input);
            done.outputs += played.outputs;
            done.difference = played.difference;
            if played.is_end {
                open.remove(&connection);
            }
        }
        if done.difference.is_some() {
            return Ok(done);
        }
    }
    done.unfinished = open.len() as u64;
    Ok(done)
}

fn check_head(head: JsonRef<'_>) -> Result<(), ReplayError> {
    if !text(head, "sanswire").is_ok_and(|kind| kind == KIND) {
        return Err(if head.get("direction").is_some() {
            ReplayError::Trace
        } else {
            ReplayError::NoRecording
        });
    }
    let format = number(head, "format").map_err(|_| ReplayError::NoRecording)?;
    let version = text(head, "version").map_err(|_| ReplayError::NoRecording)?;
    let ours = env!("CARGO_PKG_VERSION");
    if !(1..=FORMAT).contains(&format) || version != ours {
        let version = version.chars().take(32).filter(|c| !c.is_control()).collect();
        return Err(ReplayError::OtherVersion { version, format, ours });
    }
    Ok(())
}

/// Whether a text begins as a recording does. For whoever does not know what a file is.
#[must_use]
pub fn is_recording(first_line: &[u8]) -> bool {
    let head = RawJson::from_slice(first_line, sanswire::jsonrpc::MAX_DEPTH);
    head.is_ok_and(|head| text(head.view(), "sanswire").is_ok_and(|kind| kind == KIND))
}
