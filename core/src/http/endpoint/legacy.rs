//! Sessions: streams for what belongs to no request, streams that are taken up again, and the end.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::http::endpoint::answer::{Refused, events_head};
use crate::http::endpoint::asked::{Accepts, Belongs, LAST_EVENT, Once};
use crate::http::endpoint::exchange::{Due, Exchange, State};
use crate::http::endpoint::streams::{Streams, read_id};
use crate::http::endpoint::{Effect, Endpoint, Phase};
use crate::http::h1::Body;
use crate::http::head::{HttpHandle, RequestHead, ResponseHead};
use crate::server::Principal;
use crate::time::Instant;

/// A session may have so many streams for notices; a further one takes the place of the oldest.
const MAX_PUSHES: usize = 4;

impl Endpoint {
    /// GET: a stream for notices, or one that broke off and is taken up again.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Listening for Messages from the Server" and "Resumability and Redelivery".
    pub(super) fn get(&mut self, n: u64, head: &RequestHead, principal: Principal, now: Instant) {
        let session = match self.session_of(Belongs::by(&head.fields), &principal) {
            Ok(session) => session,
            Err(refused) => return self.refuse(n, refused, false),
        };
        let accepts = Accepts::of(&head.fields);
        let last = match Once::of(&head.fields, LAST_EVENT) {
            Once::Absent | Once::Value("") => None,
            Once::Value(id) => Some(read_id(id)),
            Once::Bad => Some(None),
        };
        let taken = match last {
            None => self.listen_allowed(accepts).map(|()| None),
            Some(Some((stream, place))) => {
                let resumed = self.with_streams(session, |streams| streams.resume(stream, n));
                resumed.flatten().map(|resumed| Some((stream, place, resumed))).ok_or(GONE)
            }
            Some(None) => Err(GONE),
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(refused) => return self.refuse(n, refused, false),
        };
        let pushes = taken.is_none_or(|(.., resumed)| resumed.pushes);
        let (stream, place) = match taken {
            None => (self.with_streams(session, |streams| streams.open(None, n)).unwrap_or_default(), 0),
            Some((stream, place, _)) => (stream, place),
        };
        self.pushing += usize::from(pushes);
        let state = State::Events(Some(stream));
        let (opens, quiet, timer, queued) = (false, now, None, 0);
        let exchange = Exchange { state, accepts, principal, session, opens, quiet, timer, pushes, queued };
        self.exchanges.insert(n, exchange);
        self.join(n, session, now);
        self.arm(n, now);
        let mut answer = events_head();
        self.open_to_page(n, &mut answer);
        let exchange = HttpHandle::numbered(n);
        self.effects.push(Effect::Respond { exchange, head: answer, body: Body::Stream });
        self.prime(n, session, stream, place);
        if let Some((.., resumed)) = taken {
            if let Some(before) = resumed.before {
                self.end(before);
            }
            let missed = self.sessions.get(session).map(|served| served.streams.behind(stream, place));
            for (id, message) in missed.unwrap_or_default() {
                self.send_event(n, Some(&id), message);
            }
            if resumed.ended {
                self.with_streams(session, |streams| streams.leave(stream, now));
                self.end(n);
            }
        }
        if pushes {
            self.crowd_out(session);
            while let Some(message) = self.with_streams(session, Streams::next_waiting).flatten() {
                self.deliver(session, stream, message);
            }
        }
        self.rearm(session);
    }

    /// Ends the oldest streams for notices that are too many.
    fn crowd_out(&mut self, session: u64) {
        let Some(served) = self.sessions.get(session) else { return };
        let carriers = served.streams.push_carriers();
        for carrier in carriers.iter().take(carriers.len().saturating_sub(MAX_PUSHES)) {
            self.end_push(*carrier);
        }
    }

    /// Ends a stream for notices; the client may come back for what it missed.
    pub(super) fn end_push(&mut self, carrier: u64) {
        let now = self.clock.latest();
        let Some(Exchange { state: State::Events(Some(stream)), session, .. }) = self.exchanges.get(&carrier)
        else {
            return;
        };
        let (stream, session) = (*stream, *session);
        self.with_streams(session, |streams| streams.leave(stream, now));
        self.end(carrier);
    }

    /// Sends what belongs to no request: on the newest stream for notices alone, never on two. Where there is none, or the
    /// client reads too slowly there, which ends the stream, it waits for the next.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Multiple Connections".
    pub(super) fn push(&mut self, session: u64, message: Bytes) {
        let newest = self.sessions.get(session).and_then(|served| served.streams.newest_push());
        if let Some((stream, carrier)) = newest {
            if !self.is_slow(carrier) {
                return self.deliver(session, stream, message);
            }
            self.end_push(carrier);
        }
        self.with_streams(session, |streams| streams.wait(message));
    }

    /// DELETE: the client ends its session.
    pub(super) fn delete(&mut self, n: u64, head: &RequestHead, principal: &Principal, now: Instant) {
        match self.session_of(Belongs::by(&head.fields), principal) {
            Err(refused) => self.refuse(n, refused, false),
            Ok(session) => {
                if let Some(served) = self.sessions.get_mut(session) {
                    served.session.end_by_client(now);
                }
                self.settle(session);
                self.answer_whole(n, ResponseHead::new(200), Body::Empty);
            }
        }
    }

    /// Ends a session from this side.
    pub(super) fn close_session(&mut self, session: u64, now: Instant) {
        if let Some(served) = self.sessions.get_mut(session) {
            served.session.close(now);
        }
        self.settle(session);
    }

    /// A session is over: what was open in it is ended, and its id is worth nothing any more.
    pub(super) fn bury(&mut self, session: u64) {
        if let Some(served) = self.sessions.remove(session) {
            self.away -= served.streams.away();
            if let Some(at) = served.timer {
                self.timers.remove(at, Due::Session(session));
            }
            if served.exchanges == 0 {
                return;
            }
        }
        let refused = match self.phase {
            Phase::Open => Refused::new(404, "the session is over; initialize again"),
            Phase::Ending => Refused::new(503, "the server is shutting down"),
        };
        let left: Vec<u64> = self
            .exchanges
            .iter()
            .filter(|(_, exchange)| {
                exchange.session == session && !matches!(exchange.state, State::Reading(_))
            })
            .map(|(n, _)| *n)
            .collect();
        for n in left {
            match self.exchanges.get(&n).map(|exchange| &exchange.state) {
                Some(State::Events(_)) => self.end(n),
                _ => self.refuse(n, refused.clone(), false),
            }
        }
    }

    /// Does something with the streams of a session; those who are away are counted.
    pub(super) fn with_streams<R>(&mut self, session: u64, act: impl FnOnce(&mut Streams) -> R) -> Option<R> {
        let served = self.sessions.get_mut(session)?;
        let before = served.streams.away();
        let done = act(&mut served.streams);
        self.away = self.away - before + served.streams.away();
        Some(done)
    }
}

const GONE: Refused = Refused::new(400, "this stream is no longer known; there is nothing to resume");
