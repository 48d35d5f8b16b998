//! Every bound of a connection in one place, and the memory they add up to.

use core::time::Duration;

/// One read never brings more than this many bytes, whatever room a buffer has.
pub const MAX_READ_BYTES: usize = 64 * 1024;

/// The biggest block that is kept for reuse after a big message.
pub const MAX_KEPT_BYTES: usize = 2 * 1024 * 1024;

/// Room beyond [`Limits::max_queued_out_bytes`] for cancel notices and answers to pings, so that a full outbox
/// never keeps a connection from being wound down.
pub const OUT_RESERVE_BYTES: usize = 64 * 1024;

/// One result asks for at most so many inputs at once (2026-07-28).
pub const MAX_INPUT_REQUESTS: usize = 1000;

/// The bounds of one connection. Every field says what memory or work it bounds.
///
/// The defaults suit a program that talks to a handful of servers; each is finite. Rivals mostly have no bound
/// on a message, or one of 4 to 64 MiB; 16 MiB carries a large image in Base64.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest message, in bytes, in both directions. A longer one is skipped to its end in constant memory
    /// and fails only the call that it answers.
    pub max_message_bytes: usize,
    /// How deep JSON may nest.
    pub max_json_depth: u16,
    /// Requests of ours that may be open at once.
    pub max_in_flight: usize,
    /// `subscriptions/listen` requests that may be open at once.
    pub max_subscriptions: usize,
    /// Requests of the peer's that may wait for the application's answer at once; further ones are refused.
    pub max_peer_requests: usize,
    /// Bytes that wait to be written. One message may overshoot.
    pub max_queued_out_bytes: usize,
    /// Events that wait to be taken; at the limit the machine stops reading.
    pub max_queued_events: usize,
    /// Bytes that waiting events hold; soft by one read. In a server's runtime also those of the requests that wait for
    /// a thread, soft by one request.
    pub max_queued_event_bytes: usize,
    /// How many violations a peer may commit before the connection is closed.
    pub violation_budget: u32,
    /// Lines in a row that are no message before a server closes the connection; each is answered with an error.
    pub max_junk_lines: u32,
    /// Resources that a server's clients may watch on one connection, all subscriptions together. Of an endpoint over HTTP:
    /// in one session, or by one subscription; all together may watch 64 times as many.
    pub max_resource_subscriptions: usize,
    /// Rounds of input that one call may ask for.
    pub max_input_rounds: u32,
    /// Pages of one listing.
    pub max_pages: u32,
    /// Items of one listing.
    pub max_items: usize,
    /// Bytes of one listing, all pages together.
    pub max_list_bytes: usize,
    /// From the start of the connection until it is ready.
    pub connect: Duration,
    /// A request ends when nothing was heard of it for so long; progress starts it anew.
    pub request_idle: Duration,
    /// A request ends after so long whatever progress it makes.
    pub request_absolute: Duration,
    /// How long the application may take to answer a request of the peer's.
    pub peer_request: Duration,
    /// How long a probe may stay unanswered before the handshake of the older revisions is tried beside it.
    pub probe_hedge: Duration,
    /// How long what is queued may take to leave after `close`.
    pub close_flush: Duration,
    /// How long a server's open requests may take to finish after the end of input.
    pub drain: Duration,
    /// How long a server waits for further changes of a list before it announces one.
    pub list_changed_debounce: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: 16 * 1024 * 1024,
            max_json_depth: 128,
            max_in_flight: 1024,
            max_subscriptions: 64,
            max_peer_requests: 64,
            max_queued_out_bytes: 32 * 1024 * 1024,
            max_queued_events: 4096,
            max_queued_event_bytes: 32 * 1024 * 1024,
            violation_budget: 1000,
            max_junk_lines: 100,
            max_resource_subscriptions: 256,
            max_input_rounds: 10,
            max_pages: 1000,
            max_items: 10_000,
            max_list_bytes: 64 * 1024 * 1024,
            connect: Duration::from_secs(15),
            request_idle: Duration::from_secs(30),
            request_absolute: Duration::from_secs(600),
            peer_request: Duration::from_secs(600),
            probe_hedge: Duration::from_secs(2),
            close_flush: Duration::from_secs(2),
            drain: Duration::from_secs(10),
            list_changed_debounce: Duration::from_millis(500),
        }
    }
}
