//! The most that a client over HTTP holds.

use crate::client::PLACE;
use crate::http::client::call::MAX_NOTES;
use crate::limits::{Limits, MAX_READ_BYTES};

impl Limits {
    /// The most bytes that one [`http::Client`](crate::http::Client) ever holds, its allocator's rounding, the connections
    /// below and the fields that its target adds to each head aside, if its effects are taken after each call. Bytes already
    /// handed to the application are the application's.
    ///
    /// | what | how much |
    /// |---|---|
    /// | answers that are being read: all share `max_queued_event_bytes` and two messages, as pieces that keep up to twice their length or buffers that double; the one that grows, and the stream of an older server | 2 × `max_queued_event_bytes` + 10 messages |
    /// | messages that may have to be sent again, as they are or with the answers of a later round of input | 4 × (`max_queued_out_bytes` + a message) |
    /// | events that wait, as for a connection of lines | 2 × (`max_queued_event_bytes` + 2 messages + 128 KiB), and their places |
    /// | one message as it is looked at: without the tools that cannot be called, its arguments in a head | 4 messages |
    /// | what listings say of arguments | 2 MiB |
    /// | exchanges: each with an address and an event's id of the server's, and beside it one whose rest passes by | 36 KiB × (`max_in_flight` + `max_subscriptions` + 256) |
    /// | requests of the server's | 1 KiB × `max_peer_requests` |
    #[must_use]
    pub fn worst_case_http_client_bytes(&self) -> usize {
        // A call, two wires, an open request and an effect: 4 KiB with spare room. Two texts of an address, which a redirect
        // names, an event's id, and the head that says them once more.
        const ENTRY: usize = 36 * 1024;
        const PEER: usize = 1024;
        const TOOLS: usize = 2 * 1024 * 1024;
        // What is read at once, and what was read ahead of it: as a stream of events that each tell something.
        const MAX_PIECE_BYTES: usize = MAX_READ_BYTES * 5 / 2;
        const SMALLEST_EVENT: usize = "data:1\n\n".len();
        let message = self.max_message_bytes;
        let exchanges = self.max_in_flight.saturating_add(self.max_subscriptions).saturating_add(MAX_NOTES);
        let reading =
            self.max_queued_event_bytes.saturating_mul(2).saturating_add(message.saturating_mul(10));
        let kept = self.max_queued_out_bytes.saturating_add(message).saturating_mul(4);
        let events = self
            .max_queued_event_bytes
            .saturating_add(message.saturating_mul(2))
            .saturating_add(MAX_READ_BYTES.saturating_mul(2))
            .saturating_mul(2);
        let places = self
            .max_queued_events
            .saturating_mul(2)
            .saturating_add(MAX_PIECE_BYTES / SMALLEST_EVENT)
            .saturating_add(exchanges)
            .saturating_add(self.max_peer_requests)
            .saturating_mul(3 * PLACE);
        let looked_at = message.saturating_mul(4);
        let tables = exchanges.saturating_mul(ENTRY);
        let peers = self.max_peer_requests.saturating_mul(PEER);
        [reading, kept, events, places, looked_at, TOOLS, tables, peers]
            .into_iter()
            .fold(64 * 1024, usize::saturating_add)
    }
}
