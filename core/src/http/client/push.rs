//! The stream that an older server may push on: notices and requests that belong to no call.
//!
//! It is a convenience. A server that refuses it is asked no more, and whatever becomes of it leaves the rest alone.
//!
//! Spec: MCP 2025-11-25 basic/transports, "Listening for Messages from the Server".

use crate::exchange::Origin;
use crate::frame::Frame;
use crate::http::client::Client;
use crate::http::client::answer::{self, Media};
use crate::http::client::resume::Cursor;
use crate::http::client::wire::Role;
use crate::http::head::{HttpHandle, ResponseHead};
use crate::time::Instant;

/// The stream, and when to open it again.
#[derive(Debug, Default)]
pub(super) struct Push {
    wire: Option<HttpHandle>,
    pub(super) at: Option<Instant>,
    /// The server has none.
    refused: bool,
    pub(super) cursor: Cursor,
}

impl Client {
    /// Opens it. False: it is there, or the server has none.
    pub(super) fn open_push(&mut self) -> bool {
        let push = &mut self.legacy.push;
        push.at = None;
        if push.refused || push.wire.is_some() {
            return false;
        }
        let wire = self.open(Role::Push, self.target.url.clone(), 0);
        self.legacy.push.wire = Some(wire);
        true
    }

    /// The session that it belongs to is gone.
    pub(super) fn close_push(&mut self) {
        let refused = self.legacy.push.refused;
        let push = core::mem::take(&mut self.legacy.push);
        self.legacy.push.refused = refused;
        if let Some(wire) = push.wire {
            self.close_wire(wire);
        }
    }

    pub(super) fn push_due(&mut self, now: Instant) {
        if self.legacy.push.at.is_some_and(|at| at <= now) {
            self.open_push();
        }
    }

    pub(super) fn push_redirected(&mut self, to: Option<HttpHandle>) {
        self.legacy.push.wire = to;
    }

    pub(super) fn push_head(&mut self, wire: HttpHandle, head: &ResponseHead, now: Instant) {
        let fine = matches!(head.status, 200..=299)
            && answer::media(&head.fields) == Media::Events
            && answer::coding(&head.fields).is_none();
        if fine {
            let reading = self.events();
            self.read_on(wire, reading);
            return self.listens();
        }
        self.pass_by(wire);
        // 501: the server knows that it never will.
        let may_come = matches!(head.status, 500..=599) && head.status != 501;
        self.push_ended(!may_come, now);
    }

    /// The stream ended, or did not come about. For good, or to be opened again after a pause.
    pub(super) fn push_ended(&mut self, for_good: bool, now: Instant) {
        let bounds = (self.target.min_retry, self.target.max_retry);
        let push = &mut self.legacy.push;
        push.wire = None;
        push.refused |= for_good;
        if !push.refused {
            push.at = Some(push.cursor.next_at(now, bounds));
            push.cursor.failures = push.cursor.failures.saturating_add(1);
        }
        self.listens();
    }

    pub(super) fn pushed(&mut self, data: Frame, now: Instant) {
        self.legacy.push.cursor.brought();
        self.session.handle_message(Origin::Push, data, now);
    }
}
