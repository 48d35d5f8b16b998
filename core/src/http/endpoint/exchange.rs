//! Exchanges that are open, and what is asked of the runtime for them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use bytes::Bytes;

use crate::http::endpoint::Effect;
use crate::http::endpoint::asked::Accepts;
use crate::http::endpoint::body::Incoming;
use crate::http::h1::Body;
use crate::http::head::{HttpHandle, RequestHead};
use crate::server::Principal;
use crate::time::Instant;

/// The session of all requests that stand alone.
pub(super) const ALONE: u64 = 0;

/// An exchange that was not answered, or whose answer is not whole.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) state: State,
    pub(super) accepts: Accepts,
    pub(super) principal: Principal,
    /// Whose it is, once that is known.
    pub(super) session: u64,
    /// `initialize` came on it: its answer tells the id of the session.
    pub(super) opens: bool,
    /// When something was last sent on it.
    pub(super) quiet: Instant,
    /// When its silence is looked at.
    pub(super) timer: Option<Instant>,
    /// It carries notices that belong to no request.
    pub(super) pushes: bool,
    /// Bytes that wait to be taken as effects.
    pub(super) queued: usize,
}

/// How far it is.
#[derive(Debug)]
pub(super) enum State {
    /// Its body is being read.
    Reading(alloc::boxed::Box<Asked>),
    /// It was asked, and nothing was answered. What one answer of several was, where they become one JSON text.
    Waiting(Option<Vec<u8>>),
    /// A stream of events was begun: one of the session's own, if it has any.
    Events(Option<u64>),
}

/// What was asked, as far as it has come.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) head: RequestHead,
    pub(super) body: Incoming,
    pub(super) length: Option<usize>,
    /// Bytes of the head.
    pub(super) head_bytes: usize,
}

/// What the runtime is to do, in order.
#[derive(Debug, Default)]
pub(super) struct Effects {
    queue: VecDeque<Effect>,
    /// Bytes to be sent.
    pub(super) bytes: usize,
}

impl Effects {
    pub(super) fn push(&mut self, effect: Effect) {
        self.bytes += len(&effect);
        self.queue.push_back(effect);
    }

    pub(super) fn pop(&mut self) -> Option<Effect> {
        let effect = self.queue.pop_front()?;
        self.bytes -= len(&effect);
        if self.queue.is_empty() && self.queue.capacity() > 256 {
            self.queue = VecDeque::new();
        }
        Some(effect)
    }

    /// Drops what was to be done for an exchange.
    pub(super) fn drop_of(&mut self, exchange: HttpHandle) {
        let bytes = &mut self.bytes;
        self.queue.retain(|effect| {
            let keeps = of(effect) != exchange;
            *bytes -= if keeps { 0 } else { len(effect) };
            keeps
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// Bytes that an effect sends.
pub(super) fn len(effect: &Effect) -> usize {
    match effect {
        Effect::Respond { body: Body::Whole(body), .. } => body.len(),
        Effect::Send { piece, .. } => piece.len(),
        Effect::Respond { .. } | Effect::TakeBody { .. } | Effect::End { .. } | Effect::Close { .. } => 0,
    }
}

/// The exchange of an effect.
pub(super) const fn of(effect: &Effect) -> HttpHandle {
    match effect {
        Effect::TakeBody { exchange }
        | Effect::Respond { exchange, .. }
        | Effect::Send { exchange, .. }
        | Effect::End { exchange }
        | Effect::Close { exchange } => *exchange,
    }
}

/// Something with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The silence of an exchange.
    Exchange(u64),
    /// A deadline of a session's.
    Session(u64),
}

/// All deadlines. One that moved away is found out when it comes.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(Instant, Due)>);

impl Timers {
    pub(super) fn add(&mut self, at: Instant, due: Due) {
        self.0.insert((at, due));
    }

    pub(super) fn remove(&mut self, at: Instant, due: Due) {
        self.0.remove(&(at, due));
    }

    pub(super) fn first(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// Takes out what is due.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        if self.first().is_none_or(|at| at > now) {
            return None;
        }
        self.0.pop_first().map(|(_, due)| due)
    }
}

/// Bytes that wait in the runtime, where there are any.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    of: BTreeMap<u64, usize>,
    pub(super) bytes: usize,
}

impl Outbound {
    pub(super) fn set(&mut self, exchange: u64, bytes: usize) {
        let before = if bytes == 0 { self.of.remove(&exchange) } else { self.of.insert(exchange, bytes) };
        self.bytes = self.bytes - before.unwrap_or_default() + bytes;
    }

    pub(super) fn of(&self, exchange: u64) -> usize {
        self.of.get(&exchange).copied().unwrap_or_default()
    }

    /// Who has the most.
    pub(super) fn slowest(&self) -> Option<u64> {
        self.of.iter().max_by_key(|(exchange, bytes)| (**bytes, **exchange)).map(|(exchange, _)| *exchange)
    }
}

/// A piece of an answer.
pub(super) const fn send(exchange: u64, piece: Bytes) -> Effect {
    Effect::Send { exchange: HttpHandle::numbered(exchange), piece }
}
