//! What a link needs that gives each exchange a stream of its own and may lose the session of an older server: to see
//! whether an exchange still waits, to send one again, and to shake hands anew.

use alloc::boxed::Box;

use bytes::Bytes;

use crate::client::encode::{self, Body};
use crate::client::era::{self, Reply};
use crate::client::event::{Event, Peer};
use crate::client::opening::Older;
use crate::client::requests::Owner;
use crate::client::session::{Phase, Session};
use crate::error::{CloseReason, Violation};
use crate::exchange::{Exchange, ExchangeHandle, HeadFacts, Partition, ReplyForm};
use crate::jsonrpc::{ErrorObject, JsonRef, RawJson};
use crate::mcp::{Method, Revision};
use crate::time::Instant;

impl Session {
    /// Whether the request of this exchange is open.
    pub(crate) fn awaits(&self, exchange: ExchangeHandle) -> bool {
        exchange.request_id().is_some_and(|id| self.requests.contains(id))
    }

    /// Whether the session looks for the era, or shakes hands for the first time.
    pub(crate) const fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Opening(_))
    }

    /// A link without a shared stream waits for the probe: a second request beside it would answer nothing.
    pub(crate) fn never_hedge(&mut self) {
        if let Phase::Opening(opening) = &mut self.phase {
            opening.search.never_hedge();
        }
    }

    /// Streamable HTTP was refused with this; the transport of 2024-11-05 is looked for.
    pub(crate) fn tries_older(&mut self, refused: CloseReason) {
        if let Phase::Opening(opening) = &mut self.phase {
            opening.older = Older::Tried(Box::new(refused));
        }
    }

    /// It is not there either, for this; the refusal counts.
    pub(crate) fn older_failed(&mut self, why: CloseReason) {
        if let Phase::Opening(opening) = &mut self.phase {
            opening.older = Older::Failed(Box::new(why));
        }
    }

    /// Tells of something that the link found. Costs nothing of the violation budget: the link bounds it.
    pub(crate) fn tell(&mut self, violation: Violation) {
        if !matches!(self.phase, Phase::Closed(_)) {
            self.stats.violations += 1;
            self.events.push(Event::Violation(violation));
        }
    }

    /// An error that the link knows to be the answer to `exchange`, whatever id it carries.
    pub(crate) fn handle_error_of(&mut self, exchange: ExchangeHandle, error: ErrorObject, now: Instant) {
        let now = self.clock.advance(now);
        let Some(open) = exchange.request_id().and_then(|id| self.requests.remove(id)) else { return };
        match open.owner {
            Owner::Application(request) => {
                let outcome = crate::client::event::Outcome::Error(error);
                self.events.push(Event::Finished { request, outcome });
            }
            Owner::Probe | Owner::Initialize => self.opening_answered(open.owner, Reply::Error(error), now),
        }
    }

    /// The exchange that sends the request of `exchange` again, under a new id: the same request of the application's,
    /// with the deadlines that it had. `message` and `params_at` are those of the first.
    pub(crate) fn send_again(&mut self, exchange: &Exchange) -> Option<Exchange> {
        let mut open = self.requests.remove(exchange.handle.request_id()?)?;
        let id = self.requests.next_id();
        let handle = ExchangeHandle::of_request(id);
        let renumbered = encode::renumbered(&exchange.message, exchange.params_at.clone(), id);
        let Some((message, params_at)) = renumbered else {
            // Not a message of ours: then it is not one that may be sent again.
            self.requests.insert(exchange.handle.request_id()?, open);
            return None;
        };
        open.exchange = handle;
        open.sent = false;
        self.requests.insert(id, open);
        let facts = HeadFacts { revision: self.revision(), method: exchange.facts.method.clone() };
        Some(Exchange {
            handle,
            message,
            facts,
            reply: exchange.reply,
            partition: exchange.partition,
            params_at,
        })
    }

    /// A request of the link's own. The session does not know of it, and is not told of its answer.
    pub(crate) fn own_request(
        &mut self,
        method: Method,
        params: Option<&RawJson>,
        partition: Partition,
    ) -> Exchange {
        let id = self.requests.next_id();
        let body = params.map_or(Body::Empty, Body::Object);
        let (message, params_at) = encode::request(id, &method, body, &self.meta_prefix, None);
        Exchange {
            handle: ExchangeHandle::of_request(id),
            message,
            facts: HeadFacts { revision: self.revision(), method: Some(method) },
            reply: ReplyForm::One,
            partition,
            params_at,
        }
    }

    /// The server has forgotten the session of an older revision: shakes hands anew, within `Limits::connect`. What is
    /// open stays open; what the server asked is over.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Session Management".
    pub(crate) fn renew(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        let Phase::Ready(revision) = self.phase else { return };
        if self.renewing.is_some() {
            return;
        }
        for handle in self.peer_requests.take_all() {
            self.events.push(Event::PeerRequestEnded { handle });
        }
        self.renewing = Some(now.saturating_add(self.config.limits.connect));
        let id = self.requests.next_id();
        let message: Bytes = encode::initialize(id, revision, &self.config);
        self.open_with(id, Owner::Initialize, Method::Initialize, None, message);
    }

    /// The new handshake was answered.
    pub(super) fn renewal_answered(&mut self, reply: Reply) {
        self.renewing = None;
        let result = match reply {
            Reply::Result(result) => result,
            Reply::Error(error) => {
                let error = error.bounded();
                return self.finish(CloseReason::Refused { method: Method::Initialize, error });
            }
            Reply::Unusable => return self.finish(CloseReason::SessionGone),
        };
        let version = result.view().get("protocolVersion").and_then(JsonRef::str);
        let revision = version
            .and_then(|version| Revision::from_date(&version.decode()))
            .filter(|revision| self.may_be_renewed_as(*revision));
        let Some(revision) = revision else {
            return self.finish(CloseReason::SessionGone);
        };
        let peer: Box<Peer> = Box::new(era::read_handshake_peer(&result, revision));
        self.phase = Phase::Ready(revision);
        self.events.push(Event::Renewed(peer));
        let message = encode::notification(&Method::Initialized, None);
        self.push_message(message, Some(Method::Initialized), Partition::default());
    }

    fn may_be_renewed_as(&self, revision: Revision) -> bool {
        let pinned = match self.config.start {
            crate::client::Start::Pinned(pinned) => Some(pinned),
            crate::client::Start::Unknown | crate::client::Start::Remembered(_) => None,
        };
        revision.era() == crate::mcp::Era::Legacy && pinned.is_none_or(|pinned| pinned == revision)
    }

    /// The new handshake did not come about.
    pub(super) fn renewal_failed(&mut self, reason: CloseReason) {
        self.renewing = None;
        self.finish(reason);
    }

    pub(super) fn renewal_timeout(&mut self, now: Instant) {
        if self.renewing.is_some_and(|until| until <= now) {
            let limit = self.config.limits.connect;
            self.renewal_failed(CloseReason::ConnectTimeout {
                waiting_for: Method::Initialize,
                limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            });
        }
    }
}
