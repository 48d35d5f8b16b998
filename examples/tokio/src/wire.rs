//! The one piece that moves bytes, for either role, over any stream of tokio's.

use std::io::{ErrorKind, Result};
use std::ops::Range;

use sanswire::{Instant, Machine};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};

/// Tells machines the time: tokio's, so that a test that stops it stops theirs.
#[derive(Clone, Copy, Debug)]
pub struct Clock(tokio::time::Instant);

impl Clock {
    pub fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    pub fn now(self) -> Instant {
        Instant::ZERO.saturating_add(self.0.elapsed())
    }
}

/// A stream, and what was read of it and not handed in yet.
pub struct Wire<S> {
    input: ReadHalf<S>,
    output: WriteHalf<S>,
    block: Vec<u8>,
    unread: Range<usize>,
    /// Something was written since the last flush, which streams with buffers of their own (TLS) want.
    unflushed: bool,
    clock: Clock,
}

impl<S: AsyncRead + AsyncWrite> Wire<S> {
    pub fn new(stream: S, clock: Clock) -> Self {
        let (input, output) = split(stream);
        Self { input, output, block: vec![0; 16 * 1024], unread: 0..0, unflushed: false, clock }
    }

    /// Waits until there is something to do for `machine`, and does it: reads, writes, or tells it the time. `Some`:
    /// `other` was ready first. Take all events before each turn.
    ///
    /// May be dropped while it waits, and drops `other` when something else is ready: nothing is lost by the former, and
    /// nothing must be by the latter.
    pub async fn turn<M: Machine, T>(
        &mut self,
        machine: &mut M,
        other: impl Future<Output = T>,
    ) -> Option<T> {
        let clock = self.clock;
        if !self.unread.is_empty() {
            // It takes less than all of it when events have to be taken first, and nothing while answers have to leave.
            let taken = machine.handle_input(&self.block[self.unread.clone()], clock.now());
            if taken > 0 {
                self.unread.start += taken;
                machine.handle_timeout(clock.now());
                return None;
            }
        }
        let deadline = machine.poll_timeout();
        let ready = tokio::select! {
            read = self.input.read(&mut self.block), if machine.wants_read() => Ready::Read(read),
            sent = send(&mut self.output, machine.transmit()), if self.unflushed || !machine.transmit().is_empty() => {
                Ready::Sent(sent)
            }
            other = other => Ready::Other(other),
            () = until(deadline, clock) => Ready::Late,
        };
        let mut given = None;
        match ready {
            Ready::Read(Ok(len @ 1..)) => self.unread = 0..len,
            Ready::Read(Ok(0) | Err(_)) => machine.handle_eof(clock.now()),
            Ready::Sent(Ok(len)) => {
                self.unflushed = len > 0;
                machine.handle_written(len, clock.now());
            }
            Ready::Sent(Err(_)) => {
                self.unflushed = false;
                machine.handle_write_closed(clock.now());
            }
            Ready::Other(other) => given = Some(other),
            Ready::Late => {}
        }
        machine.handle_timeout(clock.now());
        given
    }

    /// Lets the peer know that nothing more comes.
    pub async fn shutdown(&mut self) {
        // A peer that has gone knows already.
        let _ = self.output.shutdown().await;
    }
}

/// What was waited for.
enum Ready<T> {
    Read(Result<usize>),
    Sent(Result<usize>),
    Other(T),
    Late,
}

/// Writes some of `bytes`, and gives how many. If there are none, what was written before is flushed.
async fn send(output: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<usize> {
    if bytes.is_empty() {
        return output.flush().await.map(|()| 0);
    }
    match output.write(bytes).await? {
        0 => Err(ErrorKind::WriteZero.into()),
        len => Ok(len),
    }
}

async fn until(deadline: Option<Instant>, clock: Clock) {
    match deadline {
        Some(at) => tokio::time::sleep(at.saturating_since(clock.now())).await,
        None => std::future::pending().await,
    }
}
