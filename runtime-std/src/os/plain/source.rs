//! What is read from: a thread that reads, and the one buffer that it fills ahead.

use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sanswire::limits::MAX_READ_BYTES;

use super::STACK;
use super::bell::{Bell, Bells};
use crate::os::Got;

/// How much is read before anybody wants it: what one read of the machine's takes at most.
const AHEAD: usize = MAX_READ_BYTES;

/// What is read from. Never blocks.
#[derive(Debug)]
pub(crate) struct Source {
    reading: Arc<Reading>,
}

/// What a [`Source`] and its thread share.
#[derive(Debug, Default)]
pub(super) struct Reading {
    ahead: Mutex<Ahead>,
    /// The buffer is empty again, the end is there, or nobody wants it any more.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Ahead {
    /// The thread's own while it reads, and empty then.
    buffer: Vec<u8>,
    /// What of the buffer was read and not taken.
    from: usize,
    to: usize,
    ended: bool,
    /// By a fault.
    broken: bool,
    /// Nobody will take anything any more.
    unwanted: bool,
    /// Counts as ready until the next read, though there may be nothing.
    nudged: bool,
    bells: Bells,
}

impl Ahead {
    const fn is_ready(&self) -> bool {
        self.from < self.to || self.ended || self.nudged
    }

    /// Takes up to `most` bytes.
    fn take(&mut self, most: usize, mut give: impl FnMut(&[u8])) -> Got {
        self.nudged = false;
        let len = most.min(self.to - self.from);
        if len == 0 {
            return if self.ended && self.from == self.to {
                Got::End { broken: self.broken }
            } else {
                Got::Nothing
            };
        }
        give(self.buffer.get(self.from..self.from + len).unwrap_or_default());
        self.from += len;
        Got::Bytes { len, full: self.from < self.to }
    }
}

impl Reading {
    fn lock(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.lock().is_ready()
    }

    /// Rings that bell whenever it becomes ready, until it [`leave`](Self::leave)s.
    pub(super) fn join(&self, bell: &Arc<Bell>) {
        self.lock().bells.add(bell);
    }

    pub(super) fn leave(&self, bell: &Arc<Bell>) {
        self.lock().bells.remove(bell);
    }

    /// Makes the source count as ready once, so that whoever leads looks at the rest of the connection too.
    pub(super) fn nudge(&self) {
        let mut ahead = self.lock();
        ahead.nudged = true;
        ahead.bells.ring();
    }

    /// Waits for the end, and for all before it to be taken.
    pub(super) fn wait_for_end(&self, patience: Duration) {
        let going_on = |ahead: &mut Ahead| !(ahead.ended || ahead.unwanted);
        drop(self.changed.wait_timeout_while(self.lock(), patience, going_on));
    }

    /// The life of the thread.
    fn read_on(&self, mut from: impl Read) {
        let mut buffer = vec![0; AHEAD];
        loop {
            let (len, broken) = match from.read(&mut buffer) {
                Ok(len) => (len, false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => (0, true),
            };
            let mut ahead = self.lock();
            if len > 0 && !ahead.unwanted {
                std::mem::swap(&mut ahead.buffer, &mut buffer);
                (ahead.from, ahead.to) = (0, len);
                ahead.bells.ring();
                let full = |ahead: &mut Ahead| ahead.from < ahead.to && !ahead.unwanted;
                ahead = self.changed.wait_while(ahead, full).unwrap_or_else(PoisonError::into_inner);
                std::mem::swap(&mut ahead.buffer, &mut buffer);
            }
            if len == 0 || ahead.unwanted {
                ahead.ended = true;
                ahead.broken = broken;
                ahead.bells.ring();
                self.changed.notify_all();
                return;
            }
        }
    }
}

impl Source {
    /// Starts the thread.
    pub(super) fn start(name: &str, from: impl Read + Send + 'static) -> io::Result<Self> {
        let reading = Arc::new(Reading::default());
        let thread = std::thread::Builder::new().name(name.into()).stack_size(STACK);
        let reads = Arc::clone(&reading);
        thread.spawn(move || reads.read_on(from))?;
        Ok(Self { reading })
    }

    pub(super) fn reading(&self) -> Arc<Reading> {
        Arc::clone(&self.reading)
    }

    fn take(&self, most: usize, give: impl FnMut(&[u8])) -> Got {
        let mut ahead = self.reading.lock();
        let got = ahead.take(most, give);
        if matches!(got, Got::Bytes { full: false, .. }) {
            self.reading.changed.notify_all();
        }
        got
    }

    /// Rings that bell when it becomes ready. Whether it is already.
    pub(super) fn watch(&self, bell: &Arc<Bell>) -> bool {
        let mut ahead = self.reading.lock();
        ahead.bells.add(bell);
        ahead.is_ready()
    }

    /// Rings that bell no more. Whether it is ready.
    pub(super) fn leave(&self, bell: &Arc<Bell>) -> bool {
        let mut ahead = self.reading.lock();
        ahead.bells.remove(bell);
        ahead.is_ready()
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.reading.lock().unwanted = true;
        self.reading.changed.notify_all();
    }
}

/// What is known of the end that is read from: nothing that matters here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input;

impl Input {
    pub(crate) const PIPE: Self = Self;
    pub(crate) const SOCKET: Self = Self;

    /// Nothing can be made to hold more here.
    pub(crate) const fn deepen(&mut self, _: &Source) {}

    /// Appends one read to `buffer`, within its spare room.
    pub(crate) fn read(self, source: &Source, buffer: &mut Vec<u8>) -> Got {
        append(source, buffer)
    }
}

/// One read of a child's stderr, appended to `buffer`.
pub(crate) fn read_stderr(source: &Source, buffer: &mut Vec<u8>) -> Got {
    append(source, buffer)
}

/// What is there was read [`MAX_READ_BYTES`] at a time, so no more comes at once.
fn append(source: &Source, buffer: &mut Vec<u8>) -> Got {
    match buffer.capacity() - buffer.len() {
        0 => Got::Nothing,
        room => source.take(room, |bytes| buffer.extend_from_slice(bytes)),
    }
}

/// Takes what is there and drops it. Whether the end was reached.
pub(crate) fn discard(source: &Source) -> bool {
    while matches!(source.take(usize::MAX, |_| ()), Got::Bytes { full: true, .. }) {}
    matches!(source.take(0, |_| ()), Got::End { .. })
}
