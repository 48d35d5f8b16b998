//! The most that a client over HTTP holds together with its connections.

use super::Pool;
use super::assign::RESERVE;
use crate::http::client::MAX_NOTES;
use crate::http::h1;
use crate::limits::Limits;

impl Pool {
    /// Bytes that are held: by the client, on the connections, and in the heads of requests that wait for one.
    /// O(connections and requests that wait).
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        let lines = self.lines.values().map(|line| line.machine.retained_bytes());
        let heads = self.waiting.iter().map(|order| order.head.fields.retained_bytes());
        self.client.retained_bytes() + lines.chain(heads).sum::<usize>()
    }

    /// The most bytes that a pool ever holds whose client has these limits, whose connections have those, and of which there
    /// are `most`: its allocator's rounding and the fields that its target adds to each head aside, if its actions are taken
    /// after each call. Bytes already handed to the application are the application's.
    ///
    /// | what | how much |
    /// |---|---|
    /// | the client, with the messages that wait for a connection or are being written | [`worst_case_http_client_bytes`](Limits::worst_case_http_client_bytes) |
    /// | their heads, which may say arguments once more, in Base64: one that waits and one that is written, in buffers that double | 6 × (`max_queued_out_bytes` + a message) |
    /// | each connection: a head and what is read beside it, events of a read, a block that is written | [`connection.worst_case_bytes`](h1::Limits::worst_case_bytes) with empty queues, and 2 KiB |
    /// | what is known of each request that waits for a connection | 1 KiB × (`max_in_flight` + `max_subscriptions` + 256) |
    ///
    /// There are [two connections more](Self::new) than `most`.
    #[must_use]
    pub fn worst_case_bytes(client: &Limits, connection: &h1::Limits, most: usize) -> usize {
        // Places in tables, what it is asked to do, and the attempt to make it.
        const ENTRY: usize = 2048;
        const ORDER: usize = 1024;
        let mut connection = connection.clone();
        // Events are taken after each read, and a request is written whole: it counts as what the client keeps.
        (connection.max_queued_event_bytes, connection.max_queued_out_bytes) = (0, 0);
        let each = connection.worst_case_bytes().saturating_add(ENTRY);
        let connections = most.max(1).saturating_add(RESERVE).saturating_mul(each);
        let heads = client.max_queued_out_bytes.saturating_add(client.max_message_bytes).saturating_mul(6);
        let orders = client.max_in_flight.saturating_add(client.max_subscriptions).saturating_add(MAX_NOTES);
        [connections, heads, orders.saturating_mul(ORDER)]
            .into_iter()
            .fold(client.worst_case_http_client_bytes(), usize::saturating_add)
    }
}
