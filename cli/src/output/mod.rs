//! What is printed. Standard output carries the one document and nothing else; all else goes to standard error.

pub(crate) mod content;
pub(crate) mod escape;
mod fold;
mod save;
pub(crate) mod table;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use sanswire::jsonrpc::RawJson;

use crate::failure::Failure;
use crate::json::pretty;

pub(crate) use save::Folder;

/// Whether a person reads standard output.
pub(crate) fn on_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A server's own words, for standard output: as they are into a file or pipe, harmless on a terminal.
pub(crate) fn peer_text(text: &str) -> Cow<'_, str> {
    if on_terminal() { escape::text(text) } else { Cow::Borrowed(text) }
}

/// Prints the document. A reader that has seen enough and left is no error.
pub(crate) fn document(text: &str) -> Result<(), Failure> {
    write_out(text.as_bytes())
}

/// Prints JSON as it came, on one line.
pub(crate) fn json_document(value: &RawJson) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(value.as_bytes());
    let mut line = if on_terminal() { escape::json(&text).into_owned() } else { text.into_owned() };
    line.push('\n');
    write_out(line.as_bytes())
}

/// JSON as part of a text: on several lines for people, as it came for programs.
pub(crate) fn json_text(value: sanswire::jsonrpc::JsonRef<'_>) -> String {
    if on_terminal() {
        escape::json(&pretty(value)).into_owned()
    } else {
        String::from_utf8_lossy(value.as_bytes()).into_owned()
    }
}

fn write_out(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on standard error, made harmless.
pub(crate) fn complain(text: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", escape::text(text));
}

/// Says something to a person who is about to decide: as [`complain`], in lines as wide as the terminal.
pub(crate) fn put_before(text: &str) {
    let columns = console::Term::stderr().size().1;
    complain(&fold::folded(&escape::text(text), columns.into()));
}

/// Says what went wrong: one line of JSON for programs, a sentence with a remedy for people.
pub(crate) fn report(failure: &Failure, json: bool, quiet: bool) {
    if json {
        return complain(&escape::json(&failure.to_json()));
    }
    let red = console::style("error").red().for_stderr();
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{red}: {}", indented(&failure.message));
    if let Some(stderr) = failure.stderr.as_ref().filter(|stderr| !stderr.trim().is_empty()) {
        let _ = writeln!(err, "  its standard error ends with:");
        for line in stderr.trim_end().lines() {
            let _ = writeln!(err, "  | {}", escape::line(line));
        }
    }
    if let Some(hint) = failure.hint.as_ref().filter(|_| !quiet) {
        let _ = writeln!(err, "  {}", indented(hint));
    }
}

/// Text that may be a server's, harmless; no line of it but the first looks like one of ours.
pub(crate) fn indented(text: &str) -> String {
    escape::text(text).replace('\n', "\n  ")
}
