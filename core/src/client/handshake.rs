//! The session while it looks for the era and shakes hands: carries out what the search decides.

use alloc::boxed::Box;

use crate::client::encode;
use crate::client::era::{self, Reply, Step};
use crate::client::event::{Event, Verdict};
use crate::client::opening::Opening;
use crate::client::requests::{Open, Owner};
use crate::client::session::{Phase, Session};
use crate::error::{CloseReason, Violation};
use crate::exchange::{Effect, Exchange, ExchangeEnd, ExchangeHandle, HeadFacts, Partition, ReplyForm};
use crate::mcp::{Era, Method, Revision};
use crate::time::Instant;

impl Session {
    fn opening_mut(&mut self) -> Option<&mut Opening> {
        match &mut self.phase {
            Phase::Opening(opening) => Some(opening),
            Phase::Ready(_) | Phase::Closed(_) => None,
        }
    }

    /// The probe or the handshake was answered.
    pub(super) fn opening_answered(&mut self, owner: Owner, reply: Reply, now: Instant) {
        if owner == Owner::Initialize && self.renewing.is_some() {
            return self.renewal_answered(reply);
        }
        let Some(opening) = self.opening_mut() else {
            // The probe of a connection that became legacy without it: too late to change this connection, but
            // worth remembering.
            if let (Owner::Probe, Reply::Result(result)) = (owner, &reply)
                && era::is_modern_answer(result)
            {
                self.events.push(Event::Verdict(Verdict::Modern));
            }
            return;
        };
        let step = match owner {
            Owner::Probe => opening.search.probe_answered(reply),
            Owner::Initialize => opening.search.handshake_answered(reply),
            Owner::Application(_) => Step::Wait,
        };
        self.take_step(step, now);
    }

    /// The stream of the probe or the handshake ended without an answer.
    pub(super) fn opening_ended(&mut self, owner: Owner, end: &ExchangeEnd, now: Instant) {
        let method = if owner == Owner::Probe { Method::ServerDiscover } else { Method::Initialize };
        // No answer says nothing of versions: often nobody there speaks HTTP.
        let (why, says_nothing) = match end {
            ExchangeEnd::Refused(refusal) => {
                (CloseReason::HttpRefused(Box::new(refusal.clone())), speaks_of_legacy(refusal.status))
            }
            ExchangeEnd::Challenged(challenge) => {
                (CloseReason::Challenged(Box::new(challenge.clone())), false)
            }
            ExchangeEnd::Unreachable => (CloseReason::Unreachable, false),
            ExchangeEnd::SessionGone => (CloseReason::SessionGone, false),
            ExchangeEnd::Broken => (CloseReason::Eof, true),
            ExchangeEnd::Faulty(fault) => (CloseReason::Protocol(Violation::Http(*fault)), true),
            ExchangeEnd::Finished => (CloseReason::Protocol(Violation::Unanswered { method }), true),
        };
        if owner != Owner::Probe {
            return self.opening_failed(why);
        }
        if let ExchangeEnd::Refused(refusal) = end
            && refusal.status < 300
        {
            // No answer, and no refusal either: a handshake tells. If that fails as well, this is what is told.
            if let Some(opening) = self.opening_mut() {
                opening.first_refusal = Some(refusal.clone());
            }
            self.opening_answered(owner, Reply::Unusable, now);
        } else if says_nothing {
            self.opening_unusable(owner, why, now);
        } else {
            self.opening_failed(why);
        }
    }

    /// The probe or the handshake had no answer that can be used, for this.
    pub(super) fn opening_unusable(&mut self, owner: Owner, why: CloseReason, now: Instant) {
        if let Some(opening) = self.opening_mut() {
            opening.note_unusable(why);
        }
        self.opening_answered(owner, Reply::Unusable, now);
    }

    fn opening_failed(&mut self, reason: CloseReason) {
        if self.renewing.is_some() {
            return self.renewal_failed(reason);
        }
        let Some(opening) = self.opening_mut() else { return };
        let reason = opening.settle(reason);
        self.finish(reason);
    }

    pub(super) fn opening_timeout(&mut self, now: Instant) {
        let Phase::Opening(opening) = &mut self.phase else { return };
        let limits = &self.config.limits;
        if now >= opening.gives_up_at(limits) {
            let reason = CloseReason::ConnectTimeout {
                waiting_for: opening.search.waiting_for(),
                limit_ms: u64::try_from(limits.connect.as_millis()).unwrap_or(u64::MAX),
            };
            return self.finish(reason);
        }
        if opening.search.wants_hedge() && now >= opening.hedges_at(limits) {
            let step = opening.search.hedge();
            self.take_step(step, now);
        }
    }

    pub(super) fn take_step(&mut self, step: Step, now: Instant) {
        match step {
            Step::Wait => {}
            Step::Discover(revision) => {
                let id = self.requests.next_id();
                let message = encode::discover(id, revision, &self.config);
                if let Some(opening) = self.opening_mut() {
                    opening.probed_at = now;
                }
                self.open_with(id, Owner::Probe, Method::ServerDiscover, Some(revision), message);
            }
            Step::Initialize(revision) => {
                let id = self.requests.next_id();
                let message = encode::initialize(id, revision, &self.config);
                self.open_with(id, Owner::Initialize, Method::Initialize, None, message);
            }
            Step::Ready(peer, verdict) => {
                let legacy = peer.era == Era::Legacy;
                self.ready(peer);
                self.events.push(Event::Verdict(verdict));
                if legacy {
                    let message = encode::notification(&Method::Initialized, None);
                    self.push_message(message, Some(Method::Initialized), Partition::default());
                } else if let Some(id) = self.requests.id_of_owner(Owner::Initialize) {
                    self.requests.remove(id);
                }
            }
            Step::Close(reason, verdict) => {
                let reason = match self.opening_mut() {
                    Some(opening) => opening.settle(reason),
                    None => reason,
                };
                if let Some(verdict) = verdict {
                    self.events.push(Event::Verdict(verdict));
                }
                self.finish(reason);
            }
        }
    }

    pub(super) fn open_with(
        &mut self,
        id: u64,
        owner: Owner,
        method: Method,
        revision: Option<Revision>,
        message: bytes::Bytes,
    ) {
        let handle = ExchangeHandle::of_request(id);
        self.requests.insert(
            id,
            Open {
                owner,
                exchange: handle,
                method: method.clone(),
                partition: Partition::default(),
                params: None,
                round: 0,
                sent: false,
                idle: None,
                absolute: None,
                progress: f64::NEG_INFINITY,
                mistyped_reply: false,
            },
        );
        self.effects.push_back(Effect::Send(Exchange {
            handle,
            message,
            facts: HeadFacts { revision, method: Some(method) },
            reply: ReplyForm::One,
            partition: Partition::default(),
            params_at: 0..0,
        }));
    }
}

/// Whether an HTTP status that answers the probe, without a usable body, is how a server of the older kind
/// refuses it. Credentials, redirects, sizes, load and failures say nothing of an era.
const fn speaks_of_legacy(status: u16) -> bool {
    matches!(status, 400 | 404 | 405 | 402 | 407..=412 | 414 | 416..=428 | 430 | 432..=499)
}
