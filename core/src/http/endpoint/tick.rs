//! Deadlines, disconnects, and the end.

use core::time::Duration;

use bytes::Bytes;

use crate::exchange::ExchangeHandle;
use crate::http::endpoint::answer::Refused;
use crate::http::endpoint::exchange::{ALONE, Due, State};
use crate::http::endpoint::{Endpoint, Phase, SessionHandle};
use crate::http::head::HttpHandle;
use crate::server::{Event, Session};
use crate::time::{Instant, earliest};

/// A comment: nothing to whoever reads it, and a sign of life to what stands in between.
const COMMENT: &[u8] = b":\n\n";

impl Endpoint {
    /// The client is gone, before its answer was whole. What was asked by a request that stands alone is cancelled; in a
    /// session it is not, and what it gets is kept for the client to come back for, where that was offered.
    ///
    /// Spec: MCP 2026-07-28 basic/patterns/cancellation; 2025-11-25 basic/transports.
    pub fn handle_gone(&mut self, exchange: HttpHandle, now: Instant) {
        self.clock.advance(now);
        self.gone(exchange.number());
    }

    pub(super) fn gone(&mut self, n: u64) {
        let now = self.clock.latest();
        self.outbound.set(n, 0);
        self.effects.drop_of(HttpHandle::numbered(n));
        let Some(exchange) = self.remove(n) else { return };
        let session = exchange.session;
        match exchange.state {
            State::Reading(_) => return,
            State::Waiting(_) | State::Events(None) if session == ALONE => {
                self.modern.handle_abort(ExchangeHandle::numbered(n), now);
                return self.settle(ALONE);
            }
            State::Waiting(_) | State::Events(None) => self.with_streams(session, |streams| streams.lose(n)),
            State::Events(Some(stream)) => self.with_streams(session, |streams| streams.leave(stream, now)),
        };
        self.rearm(session);
    }

    /// The time is `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        while let Some(due) = self.timers.due(now) {
            match due {
                Due::Exchange(n) => self.silence(n, now),
                Due::Session(session) => self.session_due(session, now),
            }
        }
        self.cut_slowest();
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first()
    }

    /// An exchange may have been silent for long enough.
    fn silence(&mut self, n: u64, now: Instant) {
        let busy = self.outbound.of(n) > 0;
        let Some(exchange) = self.exchanges.get_mut(&n) else { return };
        exchange.timer = None;
        if exchange.quiet.saturating_add(self.config.keep_alive) <= now {
            let begins = matches!(exchange.state, State::Waiting(_)) && exchange.accepts.events;
            exchange.quiet = now;
            if begins {
                self.begin(n);
            }
            let streams =
                matches!(self.exchanges.get(&n).map(|exchange| &exchange.state), Some(State::Events(_)));
            // What waits to be written is no silence of ours.
            if streams && !busy {
                self.send_piece(n, Bytes::from_static(COMMENT));
            }
        }
        let quiet = self.exchanges.get(&n).map_or(now, |exchange| exchange.quiet);
        self.arm(n, quiet);
    }

    /// Looks at an exchange's silence once it has been silent for long enough since `quiet`.
    pub(super) fn arm(&mut self, n: u64, quiet: Instant) {
        let Some(exchange) = self.exchanges.get_mut(&n) else { return };
        let at = quiet.saturating_add(self.config.keep_alive);
        exchange.quiet = quiet;
        exchange.timer = Some(at);
        self.timers.add(at, Due::Exchange(n));
    }

    fn session_due(&mut self, session: u64, now: Instant) {
        if session == ALONE {
            self.modern_timer = None;
            self.modern.handle_timeout(now);
            return self.settle(ALONE);
        }
        let idle = self.config.session_idle;
        let Some(served) = self.sessions.get_mut(session) else { return };
        served.timer = None;
        served.session.handle_timeout(now);
        served.streams.expire(now);
        if served.is_idle() && served.heard.saturating_add(idle) <= now {
            served.session.close(now);
        }
        self.settle(session);
    }

    /// Puts the deadline of a session into the table, if it is earlier than the one that is there.
    pub(super) fn rearm(&mut self, session: u64) {
        let idle = self.config.session_idle;
        let (wanted, timer) = if session == ALONE {
            (self.modern.poll_timeout(), &mut self.modern_timer)
        } else {
            let Some(served) = self.sessions.get_mut(session) else { return };
            let idle = served.is_idle().then(|| served.heard.saturating_add(idle));
            let own = earliest(served.session.poll_timeout(), served.streams.expires_at());
            (earliest(idle, own), &mut served.timer)
        };
        let Some(at) = wanted.filter(|at| timer.is_none_or(|set| *at < set)) else { return };
        if let Some(set) = timer.replace(at) {
            self.timers.remove(set, Due::Session(session));
        }
        self.timers.add(at, Due::Session(session));
    }

    /// Carries out what a session wants sent, and takes its events.
    pub(super) fn settle(&mut self, session: u64) {
        let mut closed = false;
        loop {
            let Some(of) = self.session_mut(session) else { return };
            if let Some(effect) = of.poll_effect() {
                self.carry(session, effect);
            } else if let Some(event) = of.poll_event() {
                closed |= matches!(event, Event::Closed(_));
                self.events.push(SessionHandle(session), event);
            } else {
                break;
            }
        }
        self.sessions.note(session);
        if closed {
            self.bury(session);
        } else {
            self.rearm(session);
        }
    }

    pub(super) fn session_mut(&mut self, session: u64) -> Option<&mut Session> {
        if session == ALONE {
            return Some(&mut self.modern);
        }
        self.sessions.get_mut(session).map(|served| &mut served.session)
    }

    /// All sessions, that of the requests that stand alone among them.
    pub(super) fn all(&self) -> alloc::vec::Vec<u64> {
        let mut all = self.sessions.numbers();
        all.push(ALONE);
        all
    }

    /// Takes nothing new (503) and ends streams in good order; what is open may finish within `drain`.
    pub fn shutdown(&mut self, drain: Duration, now: Instant) {
        let now = self.clock.advance(now);
        self.phase = Phase::Ending;
        for session in self.all() {
            let pushes = self.sessions.get(session).map(|served| served.streams.push_carriers());
            for carrier in pushes.unwrap_or_default() {
                self.end_push(carrier);
            }
            if let Some(of) = self.session_mut(session) {
                of.shutdown(drain, now);
            }
            self.settle(session);
        }
        let reading =
            self.exchanges.iter().filter(|(_, exchange)| matches!(exchange.state, State::Reading(_)));
        let reading: alloc::vec::Vec<u64> = reading.map(|(n, _)| *n).collect();
        for n in reading {
            self.refuse(n, Refused::new(503, "the server is shutting down"), false);
        }
    }

    /// Whether all is over after a [`shutdown`](Self::shutdown): there is nothing open, and nothing to be done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let over = self.modern.close_reason().is_some() && self.sessions.len() == 0;
        over && self.exchanges.is_empty() && self.effects.is_empty()
    }
}
