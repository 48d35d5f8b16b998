//! Whether the client of the legacy session is still there: asked when nothing was heard of it for a while.
//!
//! At most one ping is open, and none is sent to a client that says something anyway. Whatever it says counts as a
//! sign of life, an answer or not.
//!
//! Spec: MCP 2025-11-25 basic/utilities/ping.

use crate::exchange::Origin;
use crate::jsonrpc::{RequestId, finish_line, write_request};
use crate::mcp::Method;
use crate::server::config::KeepAlive;
use crate::server::event::CloseReason;
use crate::server::session::{Phase, Session};
use crate::time::Instant;

/// What is known of the client's being there.
#[derive(Debug)]
pub(super) struct Life {
    /// When something came from it.
    heard: Instant,
    /// The ping that waits for an answer, and until when.
    open: Option<(u64, Instant)>,
    /// Since the ping, more could not be read or written than now: its answer may have been held up by ourselves.
    held_up: bool,
}

impl Life {
    pub(super) const fn new(now: Instant) -> Self {
        Self { heard: now, open: None, held_up: false }
    }
}

impl Session {
    /// Pings, where they are wanted and can be answered: over HTTP only an open stream of the client's could take
    /// them, and whether it has one is not known here.
    fn keep_alive(&self) -> Option<(KeepAlive, &Life)> {
        let legacy = self.legacy.as_ref().filter(|legacy| legacy.push_to == Origin::Stream)?;
        let runs = matches!(self.phase, Phase::Open) && !self.input_ended;
        self.config.keep_alive.filter(|_| runs).map(|keep| (keep, &legacy.life))
    }

    /// When to ping, or to stop waiting for an answer. Not while events wait: then nothing is read, and nothing that
    /// the client says is heard.
    pub(super) fn ping_at(&self) -> Option<Instant> {
        let (keep, life) = self.keep_alive().filter(|_| self.wants_input())?;
        match life.open {
            Some((_, until)) => Some(until),
            None => Some(life.heard.saturating_add(keep.every)).filter(|_| !self.outbound_full()),
        }
    }

    /// Pings the client if that is due, and ends the session if it did not answer the last time.
    pub(super) fn ping(&mut self, now: Instant) {
        if self.ping_at().is_none_or(|at| at > now) {
            return;
        }
        let Some(keep) = self.config.keep_alive else { return };
        let id = self.peers.next_id();
        let Some(life) = self.legacy.as_mut().map(|legacy| &mut legacy.life) else { return };
        let until = now.saturating_add(keep.timeout);
        match &mut life.open {
            Some((_, late)) if life.held_up => {
                life.held_up = false;
                *late = until;
            }
            Some(_) => self.finish(CloseReason::PingTimedOut),
            None => {
                life.open = Some((id, until));
                life.held_up = false;
                self.peers.take_id(id);
                let mut out = alloc::vec::Vec::with_capacity(64);
                write_request(&mut out, &RequestId::from(id), Method::Ping.as_str(), |_| {});
                finish_line(&mut out);
                self.send(Origin::Stream, out, false);
            }
        }
    }

    /// Something came from the client.
    pub(super) fn heard(&mut self, now: Instant) {
        let Some(keep) = self.config.keep_alive else { return };
        if let Some(legacy) = &mut self.legacy {
            legacy.life.heard = now;
            if let Some((_, until)) = &mut legacy.life.open {
                *until = now.saturating_add(keep.timeout);
            }
        }
    }

    /// Reading or writing was held up on this side, and goes on.
    pub(super) fn note_held_up(&mut self) {
        if let Some(legacy) = &mut self.legacy {
            legacy.life.held_up = true;
        }
    }

    /// Whether this is the answer to the ping that is open, which it then no longer is.
    pub(super) fn take_pong(&mut self, id: u64) -> bool {
        let open = self.legacy.as_mut().map(|legacy| &mut legacy.life.open);
        open.is_some_and(|open| open.take_if(|(ping, _)| *ping == id).is_some())
    }
}
