//! The requests of one served connection: those that wait for a handler, those at work, and answers that found no room.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::Machine as _;
use crate::error::ApiError;
use crate::jsonrpc::{ErrorObject, JsonRef, RawJson};
use crate::mcp::types::input::InputRequest;
use crate::mcp::types::log::LogLevel;
use crate::mcp::{Method, codes};
use crate::server::event::{Context, Event, Notice, PeerOutcome, PeerRequestHandle, Reply, RequestHandle};
use crate::server::kit::outcome::unsendable;
use crate::server::line::LineConnection;
use crate::time::Instant;

/// Tables that are empty keep room for so much.
const KEPT: usize = 16;

/// Tells whoever works on a request that nobody waits for its answer any more.
pub trait Cancel: Default {
    /// It was cancelled, or the connection is over. May be told more than once.
    fn cancel(&self);
}

/// What is over, to be told when nothing is locked any more: that runs code of others.
#[must_use = "somebody waits for each of these"]
pub struct Over<C, W> {
    /// Requests under way whose answers nobody waits for any more.
    pub cancelled: Vec<Arc<C>>,
    /// Questions, each with who waits for it. Whose call was cancelled has to find it so: tell of those first.
    pub answered: Vec<(W, PeerOutcome)>,
}

impl<C, W> Default for Over<C, W> {
    fn default() -> Self {
        Self { cancelled: Vec::new(), answered: Vec::new() }
    }
}

impl<C, W> fmt::Debug for Over<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Over")
            .field("cancelled", &self.cancelled.len())
            .field("answered", &self.answered.len())
            .finish()
    }
}

impl<C: Cancel, W> Over<C, W> {
    /// What came later goes behind this.
    pub fn append(&mut self, mut later: Self) {
        self.cancelled.append(&mut later.cancelled);
        self.answered.append(&mut later.answered);
    }

    /// Tells all; `tell` tells what became of a question.
    pub fn tell(self, mut tell: impl FnMut(W, PeerOutcome)) {
        self.cancelled.iter().for_each(|cancel| cancel.cancel());
        self.answered.into_iter().for_each(|(waiter, outcome)| tell(waiter, outcome));
    }
}

/// One request, as it is handed to a handler.
#[derive(Debug)]
pub struct Request<C> {
    /// Where to send the answer.
    pub request: RequestHandle,
    /// What is asked.
    pub method: Method,
    /// All parameters: an object that has what the method needs.
    pub params: RawJson,
    /// What is known of the asker.
    pub context: Box<Context>,
    /// Whether it is still wanted.
    pub cancel: Arc<C>,
}

impl<C> Request<C> {
    /// The arguments of a tool or prompt, if any were sent.
    #[must_use]
    pub fn arguments(&self) -> Option<JsonRef<'_>> {
        self.params.view().get("arguments").filter(|arguments| !arguments.is_null())
    }

    /// How far the work is, for a client that asked for it; none for one that did not.
    #[must_use]
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> Option<Notice> {
        let wanted = self.context.wants_progress;
        wanted.then(|| Notice::Progress { progress, total, message: message.map(Into::into) })
    }

    /// A log message, for a client that wants any of this level; none for others.
    #[must_use]
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawJson) -> Option<Notice> {
        let wanted = self.context.log_level.is_some_and(|least| least <= level);
        wanted.then(|| Notice::Log { level, logger: logger.map(Into::into), data: data.clone() })
    }
}

/// A served connection of lines with its requests. Events of the machine are taken out [here](Self::take_in) and nowhere
/// else; the rest of it is the runtime's to drive.
///
/// `C` says whether a request is still wanted; `W` waits for what becomes of a question to the client. What waits for a
/// handler is bounded by [`max_queued_event_bytes`](crate::limits::Limits::max_queued_event_bytes).
pub struct Desk<C: Cancel, W> {
    /// The connection's machine.
    pub machine: LineConnection,
    /// The requests that are not answered, oldest first.
    open: VecDeque<(RequestHandle, Arc<C>)>,
    /// Those that wait for a handler.
    waiting: VecDeque<Request<C>>,
    /// Bytes that those hold.
    waiting_bytes: usize,
    running: usize,
    /// Answers that found no room yet. One a handler at most, for none starts while there is none; and refusals.
    unsent: VecDeque<(RequestHandle, Reply)>,
    asked: BTreeMap<PeerRequestHandle, W>,
    is_closed: bool,
}

impl<C: Cancel, W> fmt::Debug for Desk<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("open", &self.open.len())
            .field("waiting", &self.waiting.len())
            .field("running", &self.running)
            .field("unsent", &self.unsent.len())
            .finish_non_exhaustive()
    }
}

impl<C: Cancel, W> Desk<C, W> {
    /// The desk of a new connection.
    #[must_use]
    pub const fn new(machine: LineConnection) -> Self {
        Self {
            machine,
            open: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            running: 0,
            unsent: VecDeque::new(),
            asked: BTreeMap::new(),
            is_closed: false,
        }
    }

    /// Takes all events out of the machine, after whatever may have made some, and before a look at what it transmits:
    /// lines requests up, cancels them, sends answers that had found no room. Gives what is over.
    pub fn take_in(&mut self, now: Instant) -> Over<C, W> {
        if !self.unsent.is_empty() && self.machine.transmit().is_empty() {
            self.send_unsent(now);
        }
        let mut over = Over::default();
        while let Some(event) = self.machine.poll_event() {
            match event {
                Event::Request { request, method, params, context } => {
                    let cancel = Arc::new(C::default());
                    self.open.push_back((request, Arc::clone(&cancel)));
                    self.line_up(Request { request, method, params, context, cancel }, now);
                }
                Event::Cancelled { request, .. } => over.cancelled.extend(self.cancelled(request)),
                Event::Answered { peer, outcome } => {
                    over.answered.extend(self.asked.remove(&peer).map(|waiter| (waiter, outcome)));
                }
                Event::Closed(_) => self.is_closed = true,
                _ => {}
            }
        }
        over
    }

    /// Whether the connection is over.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether one of its requests waits and may run, beside fewer than `max_running`. None may whose answer would find no
    /// room: a client that does not read has no handlers run for it.
    #[must_use]
    pub fn may_run(&self, max_running: usize) -> bool {
        !self.waiting.is_empty() && self.running < max_running && self.has_room()
    }

    /// Takes the request that has waited longest. It is [finished](Self::finish) in the end, whatever becomes of it.
    pub fn next_request(&mut self) -> Option<Request<C>> {
        let next = self.waiting.pop_front()?;
        self.waiting_bytes -= next.params.retained_len();
        self.running += 1;
        shrink(&mut self.waiting);
        Some(next)
    }

    /// The work on a request is over: sends the answer, unless the request is. What finds no room waits for it.
    pub fn finish(&mut self, request: RequestHandle, params: RawJson, reply: Reply, now: Instant) {
        self.running = self.running.saturating_sub(1);
        self.respond(request, reply, now);
        self.machine.recycle(params);
    }

    /// Asks the client, in a session; `waiter` waits for what becomes of that.
    ///
    /// # Errors
    /// As [`request_input`](LineConnection::request_input): nothing was asked.
    pub fn ask(
        &mut self,
        request: RequestHandle,
        input: &InputRequest,
        waiter: W,
        now: Instant,
    ) -> Result<(), ApiError> {
        let peer = self.machine.request_input(request, input, now)?;
        self.asked.insert(peer, waiter);
        Ok(())
    }

    /// Lets go of buffers of more than so many bytes, if there is nothing to do.
    pub fn rest(&mut self, kept_bytes: usize) {
        if self.open.is_empty() && self.machine.retained_bytes() > kept_bytes {
            self.machine.release();
        }
    }

    /// Whether an answer would find room now.
    fn has_room(&self) -> bool {
        self.machine.queued_out_bytes() < self.machine.session().config().limits.max_queued_out_bytes
    }

    fn respond(&mut self, request: RequestHandle, reply: Reply, now: Instant) {
        let Ok(at) = self.open.binary_search_by_key(&request, |(open, _)| *open) else { return };
        match self.machine.respond(request, &reply, now) {
            Err(ApiError::OutboundFull) => {
                self.unsent.push_back((request, reply));
                return;
            }
            Ok(()) | Err(ApiError::UnknownRequest | ApiError::Closed) => {}
            Err(error) => {
                let error = ErrorObject::new(codes::INTERNAL_ERROR, unsendable(&error));
                drop(self.machine.respond(request, &Reply::Error(error), now));
            }
        }
        self.open.remove(at);
        shrink(&mut self.open);
    }

    fn send_unsent(&mut self, now: Instant) {
        for _ in 0..self.unsent.len() {
            if !self.has_room() {
                return;
            }
            if let Some((request, reply)) = self.unsent.pop_front() {
                self.respond(request, reply, now);
            }
        }
        shrink(&mut self.unsent);
    }

    /// Has a request wait for a handler. The client is read on even if none gets free, for its cancels and answers must
    /// get through: so what waits needs a bound of its own, that of the events which wait in the machine.
    fn line_up(&mut self, next: Request<C>, now: Instant) {
        if self.waiting_bytes >= self.machine.session().config().limits.max_queued_event_bytes {
            let error =
                ErrorObject::new(codes::INTERNAL_ERROR, "requests of too many bytes wait; try again later");
            return self.respond(next.request, Reply::Error(error), now);
        }
        self.waiting_bytes += next.params.retained_len();
        self.waiting.push_back(next);
    }

    /// Nobody waits for the answer any more. Gives whom to tell, if it is under way.
    fn cancelled(&mut self, request: RequestHandle) -> Option<Arc<C>> {
        let at = self.open.binary_search_by_key(&request, |(open, _)| *open).ok()?;
        let (_, cancel) = self.open.remove(at)?;
        // Or a client that asks and cancels without an end would fill it.
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.request == request)
            && let Some(waiting) = self.waiting.remove(at)
        {
            self.waiting_bytes -= waiting.params.retained_len();
            return None;
        }
        self.unsent.retain(|(unsent, _)| *unsent != request);
        Some(cancel)
    }
}

impl<C: Cancel, W> Drop for Desk<C, W> {
    fn drop(&mut self) {
        self.open.iter().for_each(|(_, cancel)| cancel.cancel());
    }
}

fn shrink<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() && queue.capacity() > KEPT {
        *queue = VecDeque::new();
    }
}

#[cfg(test)]
mod tests;
