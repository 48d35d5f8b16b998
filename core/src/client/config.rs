//! How a client is set up.

use crate::client::event::Verdict;
use crate::client::queue::PLACE;
use crate::error::ConfigError;
use crate::exchange::Partition;
use crate::jsonrpc::RawJson;
use crate::limits::{Limits, MAX_READ_BYTES};
use crate::mcp::Revision;
use crate::mcp::types::lifecycle::{ClientCapabilities, Implementation};
use core::time::Duration;

pub use crate::mcp::types::log::LogLevel;

/// How a client is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Who we are.
    pub client: Implementation,
    /// What we can do when the server asks. Declare only what is answered.
    pub capabilities: ClientCapabilities,
    /// All bounds.
    pub limits: Limits,
    /// What is known of the server's era.
    pub start: Start,
    /// What to do with requests that the server makes.
    pub server_requests: ServerRequests,
    /// Take the canonical decimal string of an open request's id as that id. Off by default: a response must
    /// repeat the id with its type.
    pub lenient_ids: bool,
    /// Level of log messages to ask for with every request (2026-07-28); `None`: no log messages.
    pub log_level: Option<LogLevel>,
}

impl Config {
    /// The defaults, for a client of this name and version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            client: Implementation::new(name, version),
            capabilities: ClientCapabilities::default(),
            limits: Limits::default(),
            start: Start::Unknown,
            server_requests: ServerRequests::Answer,
            lenient_ids: false,
            log_level: None,
        }
    }
}

/// What is known of a server's era when a connection starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// Nothing: probe with `server/discover`, fall back to `initialize`.
    #[default]
    Unknown,
    /// What an earlier connection learnt. What proves wrong is corrected by a new verdict.
    Remembered(Verdict),
    /// The application's decision: this revision and no other.
    Pinned(Revision),
}

/// What to do with requests that the server makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerRequests {
    /// Answer pings, hand declared kinds to the application, refuse the rest (-32601).
    #[default]
    Answer,
    /// Drop everything but pings, count it.
    DropAll,
}

/// Options of one request.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestOptions {
    /// Instead of [`Limits::request_idle`].
    pub idle: Option<Duration>,
    /// Instead of [`Limits::request_absolute`].
    pub absolute: Option<Duration>,
    /// Whose credential and cache.
    pub partition: Partition,
    /// Instead of [`Config::log_level`] (2026-07-28).
    pub log_level: Option<LogLevel>,
    /// Further members of `_meta`: an object. Names the protocol itself sets are refused.
    pub meta: Option<RawJson>,
    /// Instead of [`Config::capabilities`], for this request alone (2026-07-28).
    pub capabilities: Option<ClientCapabilities>,
    /// Instead of [`Config::client`], for this request alone (2026-07-28).
    pub client: Option<Implementation>,
}

impl Limits {
    /// Checks the bounds against each other.
    ///
    /// # Errors
    /// The first field that is out of bounds, with the bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        let within = |field, min: u64, max: u64, got: usize| {
            let got = got as u64;
            if (min..=max).contains(&got) { Ok(()) } else { Err(ConfigError { field, min, max, got }) }
        };
        within("max_message_bytes", 4096, 1 << 30, self.max_message_bytes)?;
        within("max_json_depth", 8, 128, usize::from(self.max_json_depth))?;
        within("max_in_flight", 1, 1 << 16, self.max_in_flight)?;
        within("max_subscriptions", 0, 1 << 16, self.max_subscriptions)?;
        within("max_peer_requests", 0, 1 << 16, self.max_peer_requests)?;
        within("max_queued_out_bytes", 4096, 1 << 32, self.max_queued_out_bytes)?;
        within("max_queued_events", 1, 1 << 20, self.max_queued_events)?;
        within("max_queued_event_bytes", 4096, 1 << 32, self.max_queued_event_bytes)?;
        let longest = u64::from(u32::MAX);
        for (field, value) in [
            ("connect", self.connect),
            ("request_idle", self.request_idle),
            ("request_absolute", self.request_absolute),
            ("peer_request", self.peer_request),
        ] {
            let got = u64::try_from(value.as_millis()).unwrap_or(u64::MAX);
            if got == 0 || got > longest {
                return Err(ConfigError { field, min: 1, max: longest, got });
            }
        }
        Ok(())
    }

    /// The most bytes one client connection ever holds, its allocator's rounding aside: the message being read
    /// and one read, the block kept for reuse, what waits to be written, the events that wait, and the tables
    /// at their caps. Bytes already handed to the application are the application's.
    #[must_use]
    pub fn worst_case_bytes(&self) -> usize {
        // A table entry with its share of spare room, and an id of the peer's.
        const ENTRY: usize = 1024;
        let message = self.max_message_bytes;
        // What is being read: the buffer, which may double, and copies of its texts.
        let frame = message.saturating_mul(3).saturating_add(MAX_READ_BYTES);
        let out = self
            .max_queued_out_bytes
            .saturating_add(message)
            .saturating_add(crate::limits::OUT_RESERVE_BYTES)
            .saturating_mul(2);
        // Messages of open calls that may be sent again in a later round of input; before there are any, what the
        // server said of itself beside a handshake that is still open.
        let kept = self
            .max_queued_out_bytes
            .saturating_add(message)
            .saturating_mul(2)
            .max(message.saturating_mul(3));
        // A view keeps up to twice its length alive; one message overshoots, as a view and in copies of its texts.
        let events = self
            .max_queued_event_bytes
            .saturating_add(message.saturating_mul(2))
            .saturating_add(MAX_READ_BYTES.saturating_mul(2))
            .saturating_mul(2);
        // The places of the queue, which may double and move: one read, or one batch, fills many more than may wait.
        let places = self
            .max_queued_events
            .saturating_mul(2)
            .saturating_add(MAX_READ_BYTES / 2)
            .saturating_add(self.max_in_flight + self.max_subscriptions + self.max_peer_requests)
            .saturating_mul(3 * PLACE);
        let tables =
            (self.max_in_flight + self.max_subscriptions + self.max_peer_requests).saturating_mul(ENTRY);
        [frame, crate::limits::MAX_KEPT_BYTES, out, kept, events, places, tables]
            .into_iter()
            .fold(64 * 1024, usize::saturating_add)
    }
}
