//! Events that wait to be taken, and what is counted instead of told.

use alloc::collections::VecDeque;

use crate::error::Violation;
use crate::jsonrpc::{RawJson, RequestId};
use crate::limits::Limits;
use crate::server::event::{Context, Event, PeerOutcome, Who};

/// What was seen and not told as an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Requests that the session itself answered with a result.
    pub answered: u64,
    /// Requests that were refused with an error, and lines that were.
    pub refused: u64,
    /// Notifications that nobody could use: unknown, or of requests that are over.
    pub dropped_notifications: u64,
    /// Notices of the application's that the client did not want.
    pub unwanted_notices: u64,
    /// Answers to requests of ours that were over.
    pub late_responses: u64,
    /// Violations, all kinds.
    pub violations: u64,
}

/// Waiting events, with the bytes they hold.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<(Event, usize)>,
    bytes: usize,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        let bytes = held(&event);
        self.bytes += bytes;
        self.queue.push_back((event, bytes));
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        let (event, bytes) = self.queue.pop_front()?;
        self.bytes -= bytes;
        if self.queue.is_empty() && self.queue.capacity() > 256 {
            self.queue = VecDeque::new();
        }
        Some(event)
    }

    /// How many there is room for.
    pub(super) fn room(&self) -> usize {
        self.queue.capacity()
    }

    /// Lets go of room that holds nothing.
    pub(super) fn release(&mut self) {
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
    }

    pub(super) fn front(&self) -> Option<&Event> {
        self.queue.front().map(|(event, _)| event)
    }

    /// Whether the application must take events before more is read.
    pub(super) fn is_full(&self, limits: &Limits) -> bool {
        self.queue.len() >= limits.max_queued_events || self.bytes >= limits.max_queued_event_bytes
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Bytes of the client's that an event keeps alive.
pub(crate) fn held(event: &Event) -> usize {
    let raw = |raw: &Option<RawJson>| raw.as_ref().map_or(0, RawJson::retained_len);
    match event {
        // All views in a context share the frame of the parameters; what is copied out of it is small, but for
        // the state, which may fill the frame.
        Event::Request { params, context, .. } => params.retained_len() * (1 + usize::from(copies(context))),
        Event::Answered { outcome, .. } => match outcome {
            PeerOutcome::Result(result) => result.retained_len(),
            PeerOutcome::Error(error) => error.message.len() + raw(&error.data),
            PeerOutcome::TimedOut
            | PeerOutcome::Cancelled
            | PeerOutcome::Lost
            | PeerOutcome::TooLarge { .. }
            | PeerOutcome::Invalid(_) => 0,
        },
        Event::Notification { params, .. } => raw(params),
        Event::Cancelled { reason, .. } => reason.as_ref().map_or(0, |reason| reason.len()),
        Event::Violation(Violation::Malformed(fault)) => fault.id.as_ref().map_or(0, RequestId::heap_bytes),
        Event::Violation(Violation::UnknownResponseId { id, .. } | Violation::DuplicateId { id }) => {
            id.heap_bytes()
        }
        Event::Violation(_) | Event::Closed(_) => 0,
    }
}

fn copies(context: &Context) -> bool {
    context.round.is_some()
        || context.capabilities.extensions.is_some() && !matches!(context.client, Who::Session(_))
}
