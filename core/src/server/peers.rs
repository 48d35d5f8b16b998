//! What the application asks of a legacy client while it works on a request of it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::error::{ApiError, Violation};
use crate::exchange::Origin;
use crate::jsonrpc::{ErrorObject, Kind, RawJson, RequestId, finish_line, write_request};
use crate::mcp::types::input::{InputKind, InputRequest};
use crate::mcp::{Era, Method, Revision};
use crate::server::event::{Event, PeerOutcome, PeerRequestHandle, Principal, RequestHandle};
use crate::server::input;
use crate::server::requests::Gone;
use crate::server::session::{Phase, Session};
use crate::server::subscription::notification;
use crate::time::Instant;

/// Requests of ours that wait for the client's answer. Their wire ids count up, beside those of the client.
#[derive(Debug, Default)]
pub(super) struct Peers {
    open: BTreeMap<u64, Waiting>,
    last: u64,
}

#[derive(Debug)]
struct Waiting {
    /// The client's request that it belongs to.
    during: u64,
    to: Origin,
    principal: Principal,
    until: Instant,
}

impl Peers {
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().map(|waiting| waiting.until).min()
    }

    /// The wire id of the next request of ours.
    pub(super) const fn next_id(&self) -> u64 {
        self.last + 1
    }

    /// A request of ours has this id.
    pub(super) const fn take_id(&mut self, id: u64) {
        self.last = id;
    }
}

impl Session {
    /// Asks the client for input while `request` is open (revisions up to 2025-11-25; later ones ask by
    /// [`Reply::InputRequired`](crate::server::Reply::InputRequired)). Gives exactly one [`Event::Answered`].
    ///
    /// # Errors
    /// [`ApiError::UnknownRequest`] if the request is over; [`ApiError::WrongEra`] if its revision has no such
    /// request; [`ApiError::MissingCapability`] if the client did not declare it; [`ApiError::NotReady`] before the
    /// client said that it is ready; [`ApiError::BadParams`] if it lacks what it must have;
    /// [`ApiError::TooManyInFlight`], [`ApiError::TooLarge`] at the limits.
    ///
    /// Spec: MCP 2025-11-25 client/elicitation, client/sampling, client/roots.
    pub fn request_input(
        &mut self,
        request: RequestHandle,
        ask: &InputRequest,
        now: Instant,
    ) -> Result<PeerRequestHandle, ApiError> {
        let now = self.clock.advance(now);
        let open = self.requests.get(request.0).ok_or(ApiError::UnknownRequest)?;
        let method = input::method(ask.kind);
        let (to, revision) = (open.origin, open.revision);
        if revision.era() == Era::Modern {
            return Err(ApiError::WrongEra { method, revision });
        }
        input::check(ask, revision)?;
        if !input::undeclared(ask, revision, &open.declared.capabilities()).is_empty() {
            return Err(ApiError::MissingCapability { kind: ask.kind });
        }
        if !self.legacy.as_ref().is_some_and(|legacy| legacy.initialized)
            || !matches!(self.phase, Phase::Open | Phase::Draining(..))
            || self.input_ended
        {
            return Err(ApiError::NotReady);
        }
        let limit = self.config.limits.max_peer_requests;
        if self.peers.open.len() >= limit {
            return Err(ApiError::TooManyInFlight { limit });
        }
        let principal = open.principal.clone();
        let id = self.peers.next_id();
        let message = encode(id, &method, ask, revision);
        self.check_length(message.len())?;
        self.peers.take_id(id);
        let until = now.saturating_add(self.config.limits.peer_request);
        self.peers.open.insert(id, Waiting { during: request.0, to, principal, until });
        if let Some(open) = self.requests.get_mut(request.0) {
            open.asks += 1;
        }
        self.send(to, message, false);
        Ok(PeerRequestHandle(id))
    }

    /// The client answered. False: nothing that was asked of it.
    pub(super) fn peer_answered(
        &mut self,
        principal: &Principal,
        id: &RequestId,
        answer: Result<RawJson, ErrorObject>,
    ) -> bool {
        if self.is_pong(principal, id) {
            return true;
        }
        let Some(number) = self.claim(Some(principal), id) else { return false };
        let outcome = match answer {
            Ok(result) if result.view().kind() == Kind::Object => PeerOutcome::Result(result),
            Ok(result) if result.as_bytes() == b"[]" => PeerOutcome::Result(RawJson::empty_object()),
            Ok(_) => {
                let method = Method::Other("result".into());
                PeerOutcome::Invalid(Violation::BadResult { method, why: "it is no object" })
            }
            Err(error) => PeerOutcome::Error(error),
        };
        self.ended(number, outcome);
        true
    }

    /// The client's answer is no message. False: it answers nothing that is open.
    pub(super) fn peer_answer_unusable(
        &mut self,
        principal: &Principal,
        id: &RequestId,
        violation: Violation,
    ) -> bool {
        self.end_if_open(principal, id, PeerOutcome::Invalid(violation))
    }

    /// The client's answer was skipped because of its length. False: it answers nothing that is open.
    pub(super) fn peer_answer_too_long(
        &mut self,
        principal: &Principal,
        id: &RequestId,
        len: u64,
        limit: usize,
    ) -> bool {
        self.end_if_open(principal, id, PeerOutcome::TooLarge { len, limit })
    }

    /// The client answers our ping, in whatever way.
    fn is_pong(&mut self, principal: &Principal, id: &RequestId) -> bool {
        self.legacy_for(principal).is_some() && number(id).is_some_and(|id| self.take_pong(id))
    }

    fn end_if_open(&mut self, principal: &Principal, id: &RequestId, outcome: PeerOutcome) -> bool {
        if self.is_pong(principal, id) {
            return true;
        }
        let theirs =
            |number: &u64| self.peers.open.get(number).is_some_and(|waiting| waiting.principal == *principal);
        let number = number(id).filter(theirs);
        if let Some(number) = number {
            self.ended(number, outcome);
        }
        number.is_some()
    }

    /// The open request that `id` answers.
    fn claim(&mut self, principal: Option<&Principal>, id: &RequestId) -> Option<u64> {
        if let Some(number) = number(id) {
            let waiting = self.peers.open.get(&number);
            if waiting
                .is_some_and(|waiting| principal.is_none_or(|principal| waiting.principal == *principal))
            {
                return Some(number);
            }
            if waiting.is_none() && number != 0 && number <= self.peers.last {
                self.stats.late_responses += 1;
                return None;
            }
        }
        let twin = id.as_str().and_then(|text| text.parse::<u64>().ok());
        let type_differs = twin.is_some_and(|twin| self.peers.open.contains_key(&twin));
        self.violation(Violation::UnknownResponseId { id: id.clone(), type_differs });
        None
    }

    /// Takes a request of ours out of the table and tells how it ended.
    fn ended(&mut self, number: u64, outcome: PeerOutcome) -> Option<Origin> {
        let waiting = self.peers.open.remove(&number)?;
        if let Some(open) = self.requests.get_mut(waiting.during) {
            open.asks -= 1;
        }
        self.events.push(Event::Answered { peer: PeerRequestHandle(number), outcome });
        Some(waiting.to)
    }

    /// The request that these belong to is over: the client need not answer them.
    pub(super) fn drop_asks(&mut self, handle: u64, gone: &Gone) {
        if gone.asks == 0 {
            return;
        }
        let due = self.due(|waiting| waiting.during == handle);
        self.withdraw(due, &PeerOutcome::Cancelled);
    }

    pub(super) fn expire_asks(&mut self, now: Instant) {
        if self.peers.next_deadline().is_some_and(|until| until <= now) {
            let due = self.due(|waiting| waiting.until <= now);
            self.withdraw(due, &PeerOutcome::TimedOut);
        }
    }

    /// No answer can come any more.
    pub(super) fn lose_asks(&mut self) {
        for number in self.due(|_| true) {
            self.ended(number, PeerOutcome::Lost);
        }
    }

    fn due(&self, is_it: impl Fn(&Waiting) -> bool) -> Vec<u64> {
        self.peers.open.iter().filter(|(_, waiting)| is_it(waiting)).map(|(number, _)| *number).collect()
    }

    fn withdraw(&mut self, numbers: Vec<u64>, outcome: &PeerOutcome) {
        for number in numbers {
            if let Some(to) = self.ended(number, outcome.clone()) {
                let notice = notification(&Method::Cancelled, None, |w| {
                    w.u64("requestId", number);
                });
                self.send(to, notice, false);
            }
        }
    }
}

fn number(id: &RequestId) -> Option<u64> {
    id.as_i64().and_then(|id| u64::try_from(id).ok())
}

fn encode(id: u64, method: &Method, ask: &InputRequest, revision: Revision) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + ask.params.as_ref().map_or(0, RawJson::len));
    write_request(&mut out, &RequestId::from(id), method.as_str(), |w| match &ask.params {
        // The mode came with the revision that has a second one.
        Some(params) if ask.kind == InputKind::ElicitForm && revision < Revision::V2025_11_25 => {
            w.object(|w| {
                for (name, value) in params.view().members().filter(|(name, _)| !name.eq_str("mode")) {
                    w.raw(&name.decode(), value);
                }
            });
        }
        Some(params) => w.raw(params.view()),
        None => {}
    });
    finish_line(&mut out);
    out
}
