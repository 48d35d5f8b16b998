//! A site, as its own task, its handlers and its server see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sanswire::Instant;
use sanswire::error::ApiError;
use sanswire::http::Site;
use sanswire::http::endpoint::SessionHandle;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{Notice, RequestHandle};
use sanswire_system::clock::Clock;
use sanswire_system::serve::Cancel;

use crate::serve::hub::{NEWS, Signals};
use crate::serve::question::{Answer, Question, question};
use crate::signals::Fire as _;

/// What the connections of a site lock, and who is woken when it has something to do. The lock is held for calls of the
/// machine and for reads and writes that cannot wait.
pub(in crate::serve) struct Hub {
    /// None: it is over.
    site: Mutex<Option<Box<Site<Cancel, Answer>>>>,
    /// Of the task that has all of it.
    pub(super) signals: Arc<Signals>,
    pub(super) clock: Clock,
    drain: Duration,
}

impl Hub {
    pub(super) fn new(site: Site<Cancel, Answer>, clock: Clock, drain: Duration) -> Self {
        Self { site: Mutex::new(Some(Box::new(site))), signals: Arc::default(), clock, drain }
    }

    /// Whoever panicked while holding the lock left the machine between two of its calls at worst.
    pub(super) fn site(&self) -> MutexGuard<'_, Option<Box<Site<Cancel, Answer>>>> {
        self.site.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is over: all that was asked is cancelled.
    pub(super) fn close(&self) {
        let site = self.site().take();
        drop(site);
    }

    /// Changes something from outside of the task, which then looks what comes of it. Nothing else is locked.
    pub(in crate::serve) fn change(&self, change: impl FnOnce(&mut Site<Cancel, Answer>, Instant)) {
        self.put(change);
        self.news();
    }

    /// As [`change`](Self::change), for a task that is told later of the [`news`](Self::news).
    pub(in crate::serve) fn put(&self, change: impl FnOnce(&mut Site<Cancel, Answer>, Instant)) {
        if let Some(site) = &mut *self.site() {
            change(site, self.clock.now());
        }
    }

    /// Something was put here. Whom this wakes may be anybody's code, so nothing is locked.
    pub(in crate::serve) fn news(&self) {
        self.signals.fire(NEWS);
    }

    /// The server ends.
    pub(in crate::serve) fn stop(&self, at_once: bool) {
        let drain = if at_once { Duration::ZERO } else { self.drain };
        self.change(|site, now| site.shutdown(drain, now));
    }

    /// Tells a client something about its request. What finds no room is dropped.
    pub(in crate::serve) fn notify(&self, session: SessionHandle, request: RequestHandle, notice: &Notice) {
        self.change(|site, now| drop(site.notify(session, request, notice, now)));
    }

    /// Closes the stream of a request. Whether that can be.
    pub(in crate::serve) fn close_stream(&self, session: SessionHandle, request: RequestHandle) -> bool {
        let mut closed = false;
        self.change(|site, now| closed = site.close_stream(session, request, now).is_ok());
        closed
    }

    /// Asks the client, in a session.
    ///
    /// # Errors
    /// Nothing was asked.
    pub(in crate::serve) fn ask(
        &self,
        session: SessionHandle,
        request: RequestHandle,
        input: &InputRequest,
    ) -> Result<Question, ApiError> {
        let (question, answer) = question();
        let asked = match &mut *self.site() {
            Some(site) => site.ask(session, request, input, answer, self.clock.now()),
            None => Err(ApiError::Closed),
        };
        self.news();
        asked.map(|()| question)
    }
}
