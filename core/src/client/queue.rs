//! Events that wait to be taken, and what is counted instead of told.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::client::event::{Event, Outcome};
use crate::error::{CloseReason, Violation};
use crate::jsonrpc::{RawJson, RequestId};
use crate::limits::Limits;

/// What was seen and not told as an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Answers to requests that were over: cancelled, timed out, or answered before.
    pub late_responses: u64,
    /// Notifications nobody could use: unknown, for no open request, or before the connection was ready.
    pub dropped_notifications: u64,
    /// Requests of the server's that were dropped without an answer.
    pub dropped_requests: u64,
    /// Requests of the server's that were refused with an error.
    pub refused_requests: u64,
    /// Lines that were no message.
    pub junk_lines: u64,
    /// The first such line, cut to 120 bytes. The peer's text: escape it before it is shown.
    pub first_junk: Vec<u8>,
    /// Violations, all kinds.
    pub violations: u64,
}

/// Waiting events, with the bytes they hold.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<(Event, usize)>,
    bytes: usize,
}

/// Bytes of one place in the queue.
pub(crate) const PLACE: usize = size_of::<(Event, usize)>();

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        let bytes = held(&event);
        self.bytes += bytes;
        self.queue.push_back((event, bytes));
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let (event, bytes) = self.queue.pop_front()?;
        self.bytes -= bytes;
        if self.queue.is_empty() && self.queue.capacity() > 256 {
            self.queue = VecDeque::new();
        }
        Some(event)
    }

    pub(crate) fn front(&self) -> Option<&Event> {
        self.queue.front().map(|(event, _)| event)
    }

    /// Whether the embedder must take events before more is read.
    pub(crate) fn is_full(&self, limits: &Limits) -> bool {
        self.queue.len() >= limits.max_queued_events || self.bytes >= limits.max_queued_event_bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Bytes of the peer's that an event keeps alive.
fn held(event: &Event) -> usize {
    let raw = |raw: &Option<RawJson>| raw.as_ref().map_or(0, RawJson::retained_len);
    match event {
        Event::Finished { outcome, .. } => match outcome {
            Outcome::Complete(result) => result.retained_len(),
            Outcome::InputRequired(input) => input.retained_len(),
            Outcome::Error(error) => error.message.capacity() + raw(&error.data),
            Outcome::TimedOut { .. }
            | Outcome::Cancelled
            | Outcome::Lost { .. }
            | Outcome::SessionGone { .. }
            | Outcome::TooLarge { .. }
            | Outcome::Invalid(_)
            | Outcome::Refused(_) => 0,
            Outcome::Challenged(challenge) => challenge.heap_bytes(),
        },
        Event::Notification { params, .. } => raw(params),
        Event::PeerRequest { request, .. } => raw(&request.params),
        Event::Ready(peer) | Event::Renewed(peer) => {
            let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
            let server = &peer.server;
            let names = server.name.capacity() + text(&server.title) + server.version.capacity();
            peer.raw.retained_len() + text(&peer.instructions) + names
        }
        Event::Progress { progress, .. } => progress.message.as_ref().map_or(0, String::capacity),
        Event::Closed(reason) => held_by(reason),
        Event::Violation(Violation::Malformed(fault)) => fault.id.as_ref().map_or(0, RequestId::heap_bytes),
        Event::Violation(Violation::UnknownResponseId { id, .. }) => id.heap_bytes(),
        Event::Verdict(_) | Event::PeerRequestEnded { .. } | Event::Violation(_) => 0,
    }
}

fn held_by(reason: &CloseReason) -> usize {
    match reason {
        CloseReason::Refused { error, .. } => {
            error.message.capacity() + error.data.as_ref().map_or(0, RawJson::retained_len)
        }
        CloseReason::Challenged(challenge) => challenge.heap_bytes(),
        CloseReason::NoTransport { streamable, sse } => held_by(streamable) + held_by(sse),
        CloseReason::Local
        | CloseReason::Eof
        | CloseReason::DiedOnProbe
        | CloseReason::ConnectTimeout { .. }
        | CloseReason::Incompatible { .. }
        | CloseReason::Protocol(_)
        | CloseReason::SessionGone
        | CloseReason::HttpRefused(_)
        | CloseReason::Unreachable => 0,
    }
}
