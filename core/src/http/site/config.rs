//! How a site is set up.

use core::time::Duration;

use crate::error::ConfigError;
use crate::http::endpoint::EndpointConfig;
use crate::http::h1;

/// An exchange's handle has so many bits for the place of its connection.
pub(super) const PLACE_BITS: u32 = 24;
/// So much more of an answer waits to be written than the endpoint knows of.
pub(super) const UNTOLD_BYTES: usize = 64 * 1024;

/// How a site is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SiteConfig {
    /// What is served, and to whom.
    pub endpoint: EndpointConfig,
    /// The bounds of each connection. What waits to be written is bounded by
    /// [`max_outbound_bytes`](EndpointConfig::max_outbound_bytes) instead, for all of them together.
    pub connection: h1::Limits,
    /// How long a connection rests before it may have to [give way](crate::http::site::Site::poll_rested) to another.
    pub yields_after: Duration,
}

impl SiteConfig {
    /// The defaults, for this endpoint.
    #[must_use]
    pub fn new(endpoint: EndpointConfig) -> Self {
        Self { endpoint, connection: h1::Limits::default(), yields_after: Duration::from_secs(5) }
    }

    /// Has the endpoint take as much as `max_connections` connections may bring: an exchange each, and one message.
    #[must_use]
    pub fn for_connections(mut self, max_connections: usize) -> Self {
        let endpoint = &mut self.endpoint;
        // A connection has one at a time.
        endpoint.max_exchanges = endpoint.max_exchanges.max(max_connections).min(1 << PLACE_BITS);
        let one_message = endpoint.server.limits.max_message_bytes;
        endpoint.max_body_bytes = endpoint.max_body_bytes.max(one_message);
        endpoint.max_outbound_bytes = endpoint.max_outbound_bytes.max(one_message);
        self
    }

    /// Whether every setting is within its bounds.
    ///
    /// # Errors
    /// The first that is not, and its bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.endpoint.check()
    }

    /// The most bytes that a site with so many connections ever holds, its allocator's rounding and the catalog aside.
    ///
    /// | what | how much |
    /// |---|---|
    /// | each connection: a head and what is read beside it, an event of it, a block that is written, what waits and is not counted yet | [`connection.worst_case_bytes`](h1::Limits::worst_case_bytes) with empty queues, and 130 KiB |
    /// | all that waits to be written, bodies that are read, sessions, requests | [`EndpointConfig::worst_case_bytes`] |
    /// | requests that wait for a handler | [`max_queued_event_bytes`](crate::limits::Limits::max_queued_event_bytes), and one message over, in buffers twice as long |
    #[must_use]
    pub fn worst_case_bytes(&self, max_connections: usize) -> usize {
        // Its places in tables, its socket and what is known of its exchange.
        const ENTRY: usize = 2048;
        let mut connection = self.connection.clone();
        // Events are taken after each read, and what waits to be written counts for all connections together.
        (connection.max_queued_event_bytes, connection.max_queued_out_bytes) = (0, 0);
        let each = connection.worst_case_bytes().saturating_add(2 * UNTOLD_BYTES).saturating_add(ENTRY);
        let limits = &self.endpoint.server.limits;
        let waiting =
            limits.max_queued_event_bytes.saturating_add(limits.max_message_bytes).saturating_mul(2);
        let connections = each.saturating_mul(max_connections);
        [connections, waiting].into_iter().fold(self.endpoint.worst_case_bytes(), usize::saturating_add)
    }
}
