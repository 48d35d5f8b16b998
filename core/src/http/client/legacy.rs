//! What the older revisions need: one session that the server may name, keep and forget.
//!
//! ```text
//!            initialize        initialized              head of the GET stream
//!  opening ────────────▶ gate ────────────▶ listening ───────────────────────▶ open ──404──▶ renewing ──▶ gate
//!                         └ requests wait    └ requests wait, not for long                     └ requests wait
//! ```
//!
//! What a server asks while it works on a call may come on the GET stream, and many drop it if nobody listens there:
//! so the stream is there before the first request is.
//!
//! Spec: MCP 2025-11-25 basic/transports, "Session Management".

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::{CloseReason, Violation};
use crate::exchange::{ExchangeEnd, ExchangeHandle};
use crate::http::client::Client;
use crate::http::client::calls::Place;
use crate::http::client::push::Push;
use crate::http::client::wire::Role;
use crate::http::fields::Fields;
use crate::mcp::{Era, Method, Revision};
use crate::time::Instant;

use super::answer;

/// How long the first request waits for the stream that the server pushes on.
const PATIENCE: Duration = Duration::from_millis(250);

/// What is known of the session.
#[derive(Debug, Default)]
pub(super) struct Legacy {
    /// The negotiated revision, if it is one of these.
    pub(super) revision: Option<Revision>,
    pub(super) session_id: Option<Box<str>>,
    /// Counts the sessions.
    pub(super) generation: u32,
    /// A request was answered in this session.
    proven: bool,
    pub(super) gate: Gate,
    /// What waits at the gate, oldest first.
    held: VecDeque<ExchangeHandle>,
    /// What the old session did not take and the new one shall.
    again: Vec<ExchangeHandle>,
    pub(super) push: Push,
}

/// Whether requests may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Gate {
    #[default]
    Open,
    /// Not before this notification was taken: the end of a handshake.
    Initialized(ExchangeHandle),
    /// Not before the stream that the server pushes on has begun, but no later than this: some servers begin it with
    /// what they push.
    Listening(Instant),
    /// Not before there is a new session.
    Renewing,
    /// Not before the oldest transport has named its other address.
    Endpoint,
}

impl Legacy {
    /// Whether an exchange of this method has to wait.
    pub(super) fn holds(&self, method: Option<&Method>) -> bool {
        match self.gate {
            Gate::Open => false,
            Gate::Endpoint => true,
            Gate::Initialized(_) | Gate::Listening(_) | Gate::Renewing => {
                !matches!(method, Some(Method::Initialize | Method::Initialized | Method::ServerDiscover))
            }
        }
    }

    pub(super) fn hold(&mut self, handle: ExchangeHandle) {
        self.held.push_back(handle);
    }

    pub(super) fn forget(&mut self) {
        self.gate = Gate::Open;
        self.held.clear();
        self.again.clear();
        self.session_id = None;
    }
}

/// What may be asked again without harm, if the session was gone when it was asked.
const fn may_repeat(method: &Method) -> bool {
    matches!(
        method,
        Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::ResourcesTemplatesList
            | Method::CompletionComplete
            | Method::Ping
    )
}

impl Client {
    /// A success that answers `initialize` may name the session.
    pub(super) fn read_session_id(&mut self, fields: &Fields) {
        self.legacy.proven = false;
        match answer::session_id(fields) {
            None => {}
            Some(Some(id)) => self.legacy.session_id = Some(id),
            Some(None) => self.session.tell(Violation::BadSessionId),
        }
    }

    /// A request was answered in the session of that number.
    pub(super) fn prove_session(&mut self, session: Option<u32>) {
        self.legacy.proven |= session == Some(self.legacy.generation);
    }

    /// The session opened, or another revision was agreed on.
    pub(super) fn note_revision(&mut self) {
        let revision = self.session.revision().filter(|revision| revision.era() == Era::Legacy);
        if revision.is_some() {
            self.legacy.revision = revision;
        }
    }

    /// The notification that ends the handshake was taken or not: either way the session goes on.
    pub(super) fn initialized(&mut self, handle: ExchangeHandle, now: Instant) {
        if self.legacy.gate != Gate::Initialized(handle) {
            return;
        }
        if self.old.is_none() && self.legacy.revision.is_some() && self.open_push() {
            self.legacy.gate = Gate::Listening(now.saturating_add(PATIENCE));
        } else {
            self.open_gate();
        }
    }

    /// The stream that the server pushes on has begun, or never will.
    pub(super) fn listens(&mut self) {
        if matches!(self.legacy.gate, Gate::Listening(_)) {
            self.open_gate();
        }
    }

    /// Requests wait for it no longer.
    pub(super) fn listening_due(&mut self, now: Instant) {
        if self.listens_until().is_some_and(|until| until <= now) {
            self.open_gate();
        }
    }

    pub(super) const fn listens_until(&self) -> Option<Instant> {
        match self.legacy.gate {
            Gate::Listening(until) => Some(until),
            Gate::Open | Gate::Initialized(_) | Gate::Renewing | Gate::Endpoint => None,
        }
    }

    pub(super) fn open_gate(&mut self) {
        self.legacy.gate = Gate::Open;
        for handle in core::mem::take(&mut self.legacy.again) {
            let Some(call) = self.calls.remove(handle) else { continue };
            if let Some(exchange) = self.session.send_again(&call.exchange) {
                self.start(exchange, true);
            }
        }
        for handle in core::mem::take(&mut self.legacy.held) {
            if self.calls.get(handle).is_some_and(|call| matches!(call.place, Place::Held)) {
                self.go(handle);
            }
        }
    }

    /// A request came back with 404 though it named the session of that number.
    pub(super) fn session_lost(&mut self, handle: ExchangeHandle, session: u32, now: Instant) {
        let current = session == self.legacy.generation;
        if self.legacy.gate == Gate::Initialized(handle) {
            // Some know only what has an answer: the first request decides.
            return self.call_ended(handle, ExchangeEnd::SessionGone, now);
        }
        if current && (self.legacy.gate != Gate::Open || self.hopeless()) {
            // A new session that is forgotten before it answered anything is none. What found that did not run.
            if handle.request_id().is_some() {
                self.call_ended(handle, ExchangeEnd::SessionGone, now);
            }
            self.session.handle_closed(CloseReason::SessionGone, now);
            return;
        }
        if current {
            self.renew(now);
        }
        let repeat = self.calls.get(handle).is_some_and(|call| {
            let method = call.exchange.facts.method.as_ref();
            !call.again && method.is_some_and(may_repeat) && !call.exchange.message.is_empty()
        });
        if !repeat {
            return self.call_ended(handle, ExchangeEnd::SessionGone, now);
        }
        if self.legacy.gate == Gate::Open {
            // It was renewed meanwhile.
            let Some(call) = self.calls.remove(handle) else { return };
            if let Some(exchange) = self.session.send_again(&call.exchange) {
                self.start(exchange, true);
            }
            return;
        }
        if let Some(call) = self.calls.get_mut(handle) {
            call.place = Place::Held;
        }
        self.legacy.again.push(handle);
    }

    /// Whether this session is a new one that never answered a request.
    const fn hopeless(&self) -> bool {
        self.legacy.generation > 0 && !self.legacy.proven
    }

    fn renew(&mut self, now: Instant) {
        self.legacy.session_id = None;
        self.legacy.generation += 1;
        self.legacy.proven = false;
        self.legacy.gate = Gate::Renewing;
        self.close_push();
        // What waited to go on with an answer of the old session has nothing to go on with.
        for (_, handle) in core::mem::take(&mut self.resumes) {
            self.call_ended(handle, ExchangeEnd::Broken, now);
        }
        self.session.renew(now);
    }

    /// The last request of a session: the server need not keep it.
    pub(super) fn end_session(&mut self) -> bool {
        if self.legacy.session_id.is_none() || self.old.is_some() {
            return false;
        }
        self.open(Role::Delete, self.target.url.clone(), 0);
        true
    }
}
