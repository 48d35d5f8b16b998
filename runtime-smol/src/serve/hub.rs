//! A served connection, as its own task, its handlers and its server see it.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use sanswire::Instant;
use sanswire::error::ApiError;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::kit::{Desk, Over};
use sanswire::server::{Notice, RequestHandle};
use sanswire_system::clock::Clock;
use sanswire_system::serve::Cancel;

use crate::serve::question::{Answer, Question, question};
use crate::signals::Fire;
use crate::wake::wake;

/// Something was put into the machine.
pub(super) const NEWS: u8 = 32;

/// What a connection's desk locks, and who is woken when it has something to do. The lock is held for calls of the machine
/// and for reads and writes that cannot wait.
pub(super) struct Hub {
    /// None: the connection is over. Behind a pointer, for a call that is kept keeps the rest of this.
    desk: Mutex<Option<Box<Desk<Cancel, Answer>>>>,
    pub(super) signals: Arc<Signals>,
    pub(super) clock: Clock,
}

/// What happened and was not looked at, and the task that is to look.
#[derive(Debug, Default)]
pub(super) struct Signals {
    fired: AtomicU8,
    task: Mutex<Option<Waker>>,
}

impl Signals {
    /// The task that is woken from here on.
    pub(super) fn set_task(&self, waker: &Waker) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            let before = task.replace(waker.clone());
            drop(task);
            drop(before);
        }
    }

    /// What happened since the last look.
    pub(super) fn take(&self) -> u8 {
        if self.fired.load(Ordering::SeqCst) == 0 { 0 } else { self.fired.swap(0, Ordering::SeqCst) }
    }

    /// Whether something happened that nobody has looked at.
    pub(super) fn is_waiting(&self) -> bool {
        self.fired.load(Ordering::SeqCst) != 0
    }
}

impl Fire for Signals {
    fn fire(&self, what: u8) {
        if self.fired.fetch_or(what, Ordering::SeqCst) == 0 {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(task) = task {
                wake(task);
            }
        }
    }
}

impl Hub {
    pub(super) fn new(desk: Desk<Cancel, Answer>, clock: Clock) -> Self {
        Self { desk: Mutex::new(Some(Box::new(desk))), signals: Arc::default(), clock }
    }

    /// Whoever panicked while holding the lock left the machine between two of its calls at worst.
    pub(super) fn desk(&self) -> MutexGuard<'_, Option<Box<Desk<Cancel, Answer>>>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection is over: all that was asked on it is cancelled.
    pub(super) fn close(&self) {
        let desk = self.desk().take();
        drop(desk);
    }

    /// Changes something from outside of the connection's task, which then looks what comes of it. Nothing else is locked.
    pub(super) fn change(&self, change: impl FnOnce(&mut Desk<Cancel, Answer>, Instant)) {
        self.put(change);
        self.news();
    }

    /// As [`change`](Self::change), for a task that is told later of the [`news`](Self::news).
    pub(super) fn put(&self, change: impl FnOnce(&mut Desk<Cancel, Answer>, Instant)) {
        if let Some(desk) = &mut *self.desk() {
            change(desk, self.clock.now());
        }
    }

    /// Something was put here. Whom this wakes may be anybody's code, so nothing is locked.
    pub(super) fn news(&self) {
        self.signals.fire(NEWS);
    }

    /// The server ends.
    pub(super) fn stop(&self, at_once: bool) {
        self.change(|desk, now| {
            let drain = desk.machine.session().config().limits.drain;
            if at_once { desk.machine.close(now) } else { desk.machine.shutdown(drain, now) }
        });
    }

    /// Tells a client something about its request. What finds no room is dropped.
    pub(super) fn notify(&self, request: RequestHandle, notice: &Notice) {
        self.change(|desk, now| drop(desk.machine.notify(request, notice, now)));
    }

    /// Asks the client, in a session.
    ///
    /// # Errors
    /// Nothing was asked.
    pub(super) fn ask(&self, request: RequestHandle, input: &InputRequest) -> Result<Question, ApiError> {
        let (question, answer) = question();
        match &mut *self.desk() {
            Some(desk) => desk.ask(request, input, answer, self.clock.now())?,
            None => return Err(ApiError::Closed),
        }
        self.signals.fire(NEWS);
        Ok(question)
    }
}

/// Tells what is over, when nothing is locked any more.
pub(super) fn tell(over: Over<Cancel, Answer>) {
    over.tell(Answer::tell);
}
