//! What is written to: a bounded queue, and the thread that writes what is in it.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::STACK;
use super::bell::{Bell, Bells};
use super::source::{Reading, Source};

/// What may wait to be written, with what is being written.
const QUEUE: usize = 64 * 1024;
/// How long what waits may take to leave before a socket is shut down, or standard output left alone.
const LINGER: Duration = Duration::from_secs(1);
/// Who reads no more has ended, mostly: its last words and its end are on their way then, and are to be seen
/// before the fault.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The end that is written to.
#[derive(Debug)]
pub(crate) struct Output {
    writing: Arc<Writing>,
    socket: Option<TcpStream>,
}

/// What an [`Output`] and its thread share.
#[derive(Debug, Default)]
pub(super) struct Writing {
    queue: Mutex<Queue>,
    /// There is something to write, no more will come, or the thread is done.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// How many the thread has taken out and not written yet.
    leaving: usize,
    /// No more will come.
    closed: bool,
    /// The thread writes no more.
    done: bool,
    fault: Option<ErrorKind>,
    bells: Bells,
}

impl Queue {
    const fn room(&self) -> usize {
        QUEUE.saturating_sub(self.bytes.len() + self.leaving)
    }
}

impl Writing {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a write would do something: there is room, or a fault to tell.
    pub(super) fn is_ready(&self) -> bool {
        let queue = self.lock();
        queue.room() > 0 || queue.done
    }

    /// Rings that bell whenever there is room again, until it [`leave`](Self::leave)s.
    pub(super) fn join(&self, bell: &Arc<Bell>) {
        self.lock().bells.add(bell);
    }

    pub(super) fn leave(&self, bell: &Arc<Bell>) {
        self.lock().bells.remove(bell);
    }

    /// What is queued is still written; then the thread lets go of its stream.
    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// The life of the thread.
    fn write_on(&self, mut to: impl Write, input: &Reading) {
        let fault = self.write_all(&mut to).err().map(|error| error.kind());
        if fault.is_some() {
            input.wait_for_end(LAST_WORDS);
        }
        drop(to);
        let mut queue = self.lock();
        queue.done = true;
        queue.fault = fault;
        queue.bells.ring();
        self.changed.notify_all();
        drop(queue);
        if fault.is_some() {
            input.nudge();
        }
    }

    fn write_all(&self, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            let mut queue = self.lock();
            if std::mem::take(&mut queue.leaving) > 0 {
                queue.bells.ring();
            }
            let idle = |queue: &mut Queue| queue.bytes.is_empty() && !queue.closed;
            queue = self.changed.wait_while(queue, idle).unwrap_or_else(PoisonError::into_inner);
            if queue.bytes.is_empty() {
                return Ok(());
            }
            std::mem::swap(&mut queue.bytes, &mut bytes);
            queue.leaving = bytes.len();
            drop(queue);
            to.write_all(&bytes)?;
            to.flush()?;
            bytes.clear();
        }
    }
}

impl Output {
    /// Starts the thread. `socket`: what is to be shut down in the end. `input`: where whoever leads looks, and is
    /// told of a fault.
    pub(super) fn start(
        to: impl Write + Send + 'static,
        socket: Option<TcpStream>,
        input: &Source,
    ) -> io::Result<Self> {
        let writing = Arc::new(Writing::default());
        let thread = std::thread::Builder::new().name("sanswire-output".into()).stack_size(STACK);
        let (writes, input) = (Arc::clone(&writing), input.reading());
        thread.spawn(move || writes.write_on(to, &input))?;
        Ok(Self { writing, socket })
    }

    /// Queues what there is room for.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut queue = self.writing.lock();
        if queue.done {
            return Err(queue.fault.unwrap_or(ErrorKind::BrokenPipe).into());
        }
        let fits = bytes.get(..queue.room()).unwrap_or(bytes);
        if fits.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        queue.bytes.extend_from_slice(fits);
        self.writing.changed.notify_all();
        Ok(fits.len())
    }

    /// Whether bytes were lost that [`write`](Self::write) took.
    pub(crate) fn has_failed(&self) -> bool {
        self.writing.lock().fault.is_some()
    }

    pub(super) fn writing(&self) -> Arc<Writing> {
        Arc::clone(&self.writing)
    }

    /// Takes no more, and waits a moment for what waits to leave.
    pub(super) fn finish(&self) {
        self.writing.close();
        let busy = |queue: &mut Queue| !queue.done;
        drop(self.writing.changed.wait_timeout_while(self.writing.lock(), LINGER, busy));
    }

    /// Says that no more will come, behind what is queued, if it is a socket.
    pub(super) fn end(&self) {
        let Some(socket) = &self.socket else { return };
        self.finish();
        let _ = socket.shutdown(Shutdown::Write);
    }

    /// Ends the connection, if it is a socket.
    pub(crate) fn shutdown(&self) {
        let Some(socket) = &self.socket else { return };
        self.finish();
        let _ = socket.shutdown(Shutdown::Both);
    }

    /// Ends the connection, if it is a socket, and drops what waits.
    pub(super) fn cut(&self) {
        self.writing.close();
        if let Some(socket) = &self.socket {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Rings that bell when there is room. Whether there is already.
    pub(super) fn watch(&self, bell: &Arc<Bell>) -> bool {
        let mut queue = self.writing.lock();
        queue.bells.add(bell);
        queue.room() > 0 || queue.done
    }

    /// Rings that bell no more.
    pub(super) fn leave(&self, bell: &Arc<Bell>) {
        self.writing.lock().bells.remove(bell);
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.writing.close();
        self.shutdown();
    }
}
