//! What a tap is told of a connection.

use std::sync::Arc;

use sanswire_system::Direction;
use sanswire_system::clock::Clock;
use sanswire_system::tap::{Splitters, TapQueue};

/// The way to the tap, if there is one.
pub(crate) struct Taps {
    queue: Option<(Arc<TapQueue>, Splitters)>,
    clock: Clock,
}

impl Taps {
    pub(crate) fn new(queue: Option<Arc<TapQueue>>, clock: Clock) -> Self {
        Self { queue: queue.map(|queue| (queue, Splitters::default())), clock }
    }

    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        let Some((queue, splitters)) = &mut self.queue else { return };
        splitters.sent.feed(bytes, |line| queue.push(Direction::Sent, self.clock.elapsed(), line));
    }

    pub(crate) fn received(&mut self, bytes: &[u8]) {
        let Some((queue, splitters)) = &mut self.queue else { return };
        splitters.received.feed(bytes, |line| queue.push(Direction::Received, self.clock.elapsed(), line));
    }
}
