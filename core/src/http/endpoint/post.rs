//! What a POST brings: which session it belongs to, by what stands in its body.
//!
//! | a body | goes |
//! |---|---|
//! | a request with a version in `_meta`, or a modern version in its head | to where requests stand alone |
//! | `initialize` without one | to a new session |
//! | anything else with the id of a session | to that session |
//! | a request without one | nowhere (400) |
//! | a notification without one | to where it is dropped (202), unless its head names a revision with sessions (400) |
//!
//! Spec: MCP 2026-07-28 basic/versioning; 2025-11-25 basic/transports, "Session Management".

use alloc::sync::Arc;

use crate::exchange::{ExchangeHandle, Origin};
use crate::frame::Frame;
use crate::http::endpoint::Endpoint;
use crate::http::endpoint::answer::Refused;
use crate::http::endpoint::asked::{Accepts, Belongs, Once, Said};
use crate::http::endpoint::exchange::{ALONE, Asked, Exchange, State};
use crate::http::endpoint::streams::Streams;
use crate::http::fields::Fields;
use crate::jsonrpc::{Message, RequestId};
use crate::mcp::{Era, Method, Revision};
use crate::server::{Places, Principal, Read, first_byte, read};
use crate::time::Instant;

impl Endpoint {
    /// The whole request is there.
    pub(super) fn post(&mut self, n: u64, asked: Asked, now: Instant) {
        let Some(exchange) = self.exchanges.get(&n) else { return };
        let (principal, accepts) = (exchange.principal.clone(), exchange.accepts);
        let fields = asked.head.fields;
        let belongs = Belongs::by(&fields);
        let body = asked.body.finish();
        if first_byte(&body) == Some(b'[')
            && let Some(session) = self.with_batches(belongs, &principal)
        {
            if let Err(refused) = self.check_version(belongs) {
                return self.refuse(n, refused, false);
            }
            if let Some(exchange) = self.exchanges.get_mut(&n) {
                exchange.state = State::Waiting(Some(b"[".to_vec()));
            }
            self.join(n, session, now);
            let from = Origin::Exchange(ExchangeHandle::numbered(n));
            self.sessions.make_room(session, self.config.max_exchanges);
            if let Some(served) = self.sessions.get_mut(session) {
                served.session.handle_message(from, None, principal, Frame::Message(body), now);
            }
            return self.settle(session);
        }
        let mut places = Places::default();
        let read = read(body, self.server.limits.max_json_depth, &mut places);
        let alone = belongs.session == Once::Absent;
        let to = match &read {
            Read::Request { id, method, params } => {
                let modern = belongs.is_modern()
                    || places.has_version(params)
                    || self.server.newest(Era::Legacy).is_none();
                if modern
                    && *method == Method::SubscriptionsListen
                    && let Err(refused) = self.listen_allowed(accepts)
                {
                    return self.refuse_request(n, id, &refused);
                }
                if modern {
                    Ok(ALONE)
                } else if *method == Method::Initialize && alone {
                    self.check_version(belongs).and_then(|()| self.new_session(&principal, now))
                } else {
                    self.session_of(belongs, &principal)
                }
                .map_err(|refused| (Some(id.clone()), refused))
            }
            Read::Message(Message::Notification { .. })
                if belongs.is_modern() || alone && !belongs.is_legacy(&self.server) =>
            {
                Ok(ALONE)
            }
            Read::Message(_) => self.session_of(belongs, &principal).map_err(|refused| (None, refused)),
            // Whoever's it is, it is told so; an answer that is none ends what it answers.
            Read::Fault(_) => Ok(self.session_of(belongs, &principal).unwrap_or(ALONE)),
        };
        match to {
            Ok(session) => self.hand_over(n, session, &fields, principal, read, &places, now),
            Err((Some(id), refused)) => self.refuse_request(n, &id, &refused),
            Err((None, refused)) => self.refuse(n, refused, false),
        }
    }

    /// Gives what was read to its session.
    #[expect(clippy::too_many_arguments, reason = "what was read, and where from")]
    fn hand_over(
        &mut self,
        n: u64,
        session: u64,
        fields: &Fields,
        principal: Principal,
        read: Read,
        places: &Places,
        now: Instant,
    ) {
        let from = Origin::Exchange(ExchangeHandle::numbered(n));
        let designated = self.designated.clone();
        let said = Said { fields, designated: &designated };
        if session == ALONE {
            self.modern.handle_read(from, Some(&said), principal, read, places, now);
            return self.settle(ALONE);
        }
        self.join(n, session, now);
        self.sessions.make_room(session, usize::MAX);
        let Some(served) = self.sessions.get_mut(session) else { return };
        let before = served.session.legacy_revision();
        served.session.handle_read(from, None, principal, read, places, now);
        match (before, served.session.legacy_revision()) {
            (None, None) => self.discard(session),
            (None, Some(revision)) => {
                let ids = revision >= Revision::V2025_03_26;
                served.streams = Streams::new(if ids { self.config.max_replay_bytes } else { 0 });
                if let Some(exchange) = self.exchanges.get_mut(&n) {
                    exchange.opens = true;
                }
                self.settle(session);
            }
            (Some(_), _) => self.settle(session),
        }
    }

    /// `initialize` was refused: there is no session.
    fn discard(&mut self, session: u64) {
        while let Some(effect) =
            self.sessions.get_mut(session).and_then(|served| served.session.poll_effect())
        {
            self.carry(session, effect);
        }
        self.sessions.remove(session);
    }

    /// The exchange belongs to a session from now on.
    pub(super) fn join(&mut self, n: u64, session: u64, now: Instant) {
        if let Some(exchange) = self.exchanges.get_mut(&n)
            && let Some(served) = self.sessions.get_mut(session)
        {
            exchange.session = session;
            served.exchanges += 1;
            served.heard = now;
        }
    }

    /// A session for `initialize`.
    fn new_session(&mut self, principal: &Principal, now: Instant) -> Result<u64, Refused> {
        if self.sessions.len() >= self.config.max_sessions {
            let Some(idle) = self.sessions.to_evict(principal) else {
                return Err(Refused::new(503, "too many sessions are open"));
            };
            self.close_session(idle, now);
        }
        let server = Arc::clone(&self.server);
        Ok(self.sessions.create(server, self.catalog.clone(), principal.clone(), now))
    }

    /// The session that a head names, if its version is one of a session's.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Session Management" and "Protocol Version Header".
    pub(super) fn session_of(&self, belongs: Belongs<'_>, principal: &Principal) -> Result<u64, Refused> {
        let session = match belongs.session {
            Once::Absent => {
                return Err(Refused::new(400, "the field Mcp-Session-Id is missing; initialize first"));
            }
            Once::Bad => return Err(Refused::new(400, "one field Mcp-Session-Id is needed")),
            Once::Value(id) => self.sessions.find(id, principal),
        };
        let session = session
            .ok_or_else(|| Refused::new(404, "there is no such session, or no longer; initialize again"))?;
        self.check_version(belongs).map(|()| session)
    }

    /// Whether the head names a version that a session may have, or none.
    fn check_version(&self, belongs: Belongs<'_>) -> Result<(), Refused> {
        if belongs.names_none() || belongs.is_legacy(&self.server) {
            Ok(())
        } else {
            Err(Refused::new(400, "the field MCP-Protocol-Version names no version of a session"))
        }
    }

    /// Whether one more subscription can be opened, by a client that takes its stream.
    pub(super) fn listen_allowed(&self, accepts: Accepts) -> Result<(), Refused> {
        if !accepts.events {
            return Err(Refused::new(406, "accept text/event-stream: this is answered by a stream"));
        }
        let open = self.pushing + self.modern.listening();
        let room = open < self.config.max_streams;
        if room { Ok(()) } else { Err(Refused::new(503, "too many streams are open")) }
    }

    /// The session that a batch is for, if there is one whose revision has them.
    fn with_batches(&self, belongs: Belongs<'_>, principal: &Principal) -> Option<u64> {
        let Once::Value(id) = belongs.session else { return None };
        let session = self.sessions.find(id, principal)?;
        let revision = self.sessions.get(session)?.session.legacy_revision()?;
        revision.has_batches().then_some(session)
    }

    /// Refuses a request that no session sees.
    fn refuse_request(&mut self, n: u64, id: &RequestId, refused: &Refused) {
        self.respond_with_error(n, refused, Some(id), false);
    }

    /// Whether an exchange takes a stream of events.
    pub(super) fn takes_events(&self, n: u64) -> bool {
        self.exchanges.get(&n).is_some_and(|exchange: &Exchange| exchange.accepts.events)
    }
}
