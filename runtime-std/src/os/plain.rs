//! Systems with nothing but std: a thread reads each input ahead of whoever wants it, a thread writes what was
//! left for the output, and a wait is one on a condition variable that these threads ring.
//!
//! A thread that reads ends with its stream. One whose stream is held open by somebody else, a relative of a
//! child perhaps, stays until they let go of it.

mod bell;
mod listen;
mod output;
mod poller;
mod polls;
mod source;
mod stdio;
#[cfg(test)]
mod tests;

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sanswire_system::os::{ChildEnds, Exiting};

pub(crate) use bell::Wake;
pub(crate) use listen::{Conn, Listener};
pub(crate) use output::Output;
pub(crate) use poller::Poller;
pub(crate) use polls::Polls;
pub(crate) use source::{Input, Source, discard, read_stderr};
pub(crate) use stdio::StdioEnds;

use crate::os::{Ends, Ready};

/// Only what is touched of it becomes memory.
const STACK: usize = 128 * 1024;

/// Of no use here: nobody has one.
pub(crate) enum UnixStream {}

pub(crate) fn dial_unix(_: &Path, _: Duration) -> io::Result<UnixStream> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Unix sockets are not supported on this system"))
}

pub(crate) fn unix_ends(stream: UnixStream) -> io::Result<(Source, Output)> {
    match stream {}
}

/// The two ends of a TCP connection.
pub(crate) fn tcp_ends(stream: TcpStream) -> io::Result<(Source, Output)> {
    stream.set_nodelay(true)?;
    let source = Source::start("sanswire-input", stream.try_clone()?)?;
    let output = Output::start(stream.try_clone()?, Some(stream), &source)?;
    Ok((source, output))
}

/// The pipes of a child, each with its thread.
pub(crate) fn child_ends(ends: ChildEnds) -> io::Result<Ends> {
    let source = Source::start("sanswire-input", ends.stdout)?;
    let stderr = ends.stderr.map(|stderr| Source::start("sanswire-stderr", stderr)).transpose()?;
    let output = Output::start(ends.stdin, None, &source)?;
    Ok((source, output, stderr))
}

/// Waits for a wake, and for what can be read from pipes. Nothing tells of a child's exit.
pub(crate) fn wait_for_exit(_: Exiting<'_>, wake: &Wake, pipes: [Option<&Source>; 2], timeout: Duration) {
    let [input, stderr] = pipes;
    Interest { wake, input, stderr, output: None, timeout: Some(timeout) }.wait();
}

/// What to wait for.
pub(crate) struct Interest<'a> {
    pub(crate) wake: &'a Wake,
    pub(crate) input: Option<&'a Source>,
    pub(crate) stderr: Option<&'a Source>,
    pub(crate) output: Option<Arc<Output>>,
    /// `None`: for ever.
    pub(crate) timeout: Option<Duration>,
}

impl Interest<'_> {
    /// Waits. An end or a fault counts as ready: the next read or write finds out.
    pub(crate) fn wait(&self) -> Ready {
        let bell = self.wake.bell();
        bell.hush();
        let watch = |source: Option<&Source>| source.is_some_and(|source| source.watch(bell));
        let leave = |source: Option<&Source>| source.is_some_and(|source| source.leave(bell));
        let at_once = [
            watch(self.input),
            watch(self.stderr),
            self.output.as_ref().is_some_and(|output| output.watch(bell)),
        ];
        if !at_once.contains(&true) {
            bell.wait(self.timeout);
        }
        if let Some(output) = &self.output {
            output.leave(bell);
        }
        Ready { wake: bell.is_woken(), input: leave(self.input), stderr: leave(self.stderr) }
    }
}
