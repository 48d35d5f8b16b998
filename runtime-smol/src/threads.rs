//! What blocks is done on a thread of its own and awaited: looking up a name, asking a sandbox, starting a process.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::wake::wake;

/// Only what is touched of it becomes memory.
const STACK: usize = 512 * 1024;

/// A value on its way from a thread.
pub(crate) struct Handover<T> {
    slot: Arc<Slot<T>>,
}

/// Where the value is put.
struct Sent<T> {
    slot: Arc<Slot<T>>,
}

struct Slot<T> {
    inner: Mutex<Inner<T>>,
    changed: Condvar,
}

struct Inner<T> {
    value: Option<T>,
    /// Nothing will be put any more: the thread is over.
    ended: bool,
    /// Nobody waits any more.
    left: bool,
    waiter: Option<Waker>,
}

fn pair<T>() -> (Sent<T>, Handover<T>) {
    let inner = Inner { value: None, ended: false, left: false, waiter: None };
    let slot = Arc::new(Slot { inner: Mutex::new(inner), changed: Condvar::new() });
    (Sent { slot: Arc::clone(&slot) }, Handover { slot })
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Sent<T> {
    /// Puts the value. What nobody waits for any more comes back.
    fn put(&self, value: T) -> Option<T> {
        let waiter = {
            let mut inner = self.slot.lock();
            if inner.left {
                return Some(value);
            }
            inner.value = Some(value);
            inner.waiter.take()
        };
        self.slot.changed.notify_all();
        if let Some(waiter) = waiter {
            wake(waiter);
        }
        None
    }
}

impl<T> Drop for Sent<T> {
    fn drop(&mut self) {
        let waiter = {
            let mut inner = self.slot.lock();
            inner.ended = true;
            inner.waiter.take()
        };
        self.slot.changed.notify_all();
        if let Some(waiter) = waiter {
            wake(waiter);
        }
    }
}

impl<T> Handover<T> {
    /// Waits for the value on this thread. `None`: the other thread failed.
    fn block(self) -> Option<T> {
        let mut inner = self.slot.lock();
        loop {
            if let Some(value) = inner.value.take() {
                return Some(value);
            }
            if inner.ended {
                return None;
            }
            inner = self.slot.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// `None`: the thread failed.
impl<T> Future for Handover<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut inner = self.slot.lock();
        if inner.value.is_some() || inner.ended {
            return Poll::Ready(inner.value.take());
        }
        let spent = inner.waiter.replace(cx.waker().clone());
        drop(inner);
        drop(spent);
        Poll::Pending
    }
}

impl<T> Drop for Handover<T> {
    fn drop(&mut self) {
        let value = {
            let mut inner = self.slot.lock();
            inner.left = true;
            inner.value.take()
        };
        drop(value);
    }
}

/// Runs `work` on a thread of this name.
pub(crate) fn run<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Handover<T>> {
    let (sent, handover) = pair();
    std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(move || drop(sent.put(work())))?;
    Ok(handover)
}

type Work = Box<dyn FnOnce() + Send>;

/// Runs `work` on the thread that starts all processes, which lives as long as this one: the kernel's promise to kill a
/// child with its parent is bound to the thread that forked.
pub(crate) fn on_parent<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Handover<T>> {
    static PARENT: Mutex<Option<Sender<Work>>> = Mutex::new(None);
    let (sent, handover) = pair();
    let work: Work = Box::new(move || drop(sent.put(work())));
    let mut parent = PARENT.lock().unwrap_or_else(PoisonError::into_inner);
    let sender = match parent.take() {
        Some(sender) => sender,
        None => {
            let (sender, receiver) = channel::<Work>();
            std::thread::Builder::new().name("sanswire-spawn".into()).stack_size(STACK).spawn(move || {
                while let Ok(work) = receiver.recv() {
                    // A thread that ended would take all children with it.
                    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
                }
            })?;
            sender
        }
    };
    let taken = sender.send(work).map_err(|_| io::Error::other("the thread that starts processes is gone"));
    *parent = Some(sender);
    taken.map(|()| handover)
}

/// As [`run`] for a thread that may wait for [`on_parent`].
pub(crate) fn block_on_parent<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    on_parent(work)?
        .block()
        .unwrap_or_else(|| Err(io::Error::other("the thread that starts processes failed")))
}
