//! How much a host can hold at most, by its settings.

/// The most servers of one host.
pub(super) const MAX_SERVERS: usize = 10_000;
