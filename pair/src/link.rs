//! One direction of a pipe in virtual time, with the faults a pipe can have.

use std::collections::VecDeque;
use std::time::Duration;

use sanswire::Instant;

use crate::seed::Rng;

/// How a link treats what is sent over it. The default: at once, whole, for ever.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How long bytes are under way.
    pub latency: Duration,
    /// The size of the pieces they arrive in.
    pub pieces: Pieces,
    /// How many bytes fit between the two ends; a writer waits for the rest.
    pub capacity: usize,
    /// Nothing arrives before this instant.
    pub stall_until: Instant,
    /// The link breaks after so many bytes: what follows is lost, and the reader sees the end.
    pub cut_after: Option<u64>,
}

/// The size of the pieces that bytes arrive in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// As they were sent.
    Whole,
    /// At most so many bytes each.
    Bytes(usize),
    /// Any size up to this, by the link's seed.
    Random(usize),
}

impl Shape {
    /// Any shape that loses nothing, by this seed: some delay, pieces of some size, much or little room.
    #[must_use]
    pub fn any(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        Self {
            latency: Duration::from_micros(rng.below(5000) as u64),
            pieces: *rng.pick(&[Pieces::Whole, Pieces::Bytes(1), Pieces::Random(50), Pieces::Random(5000)]),
            capacity: *rng.pick(&[usize::MAX, 64 * 1024, 777]),
            ..Self::default()
        }
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            pieces: Pieces::Whole,
            capacity: usize::MAX,
            stall_until: Instant::ZERO,
            cut_after: None,
        }
    }
}

/// One direction of a pipe.
#[derive(Debug)]
pub struct Link {
    shape: Shape,
    rng: Rng,
    flying: VecDeque<(Instant, Vec<u8>)>,
    inside: usize,
    sent: u64,
    last_arrival: Instant,
    ends_at: Option<Instant>,
    cut: bool,
}

impl Link {
    /// A link of this shape; `rng` decides what the shape leaves open.
    #[must_use]
    pub const fn new(shape: Shape, rng: Rng) -> Self {
        Self {
            shape,
            rng,
            flying: VecDeque::new(),
            inside: 0,
            sent: 0,
            last_arrival: Instant::ZERO,
            ends_at: None,
            cut: false,
        }
    }

    /// How many bytes a writer can get rid of now.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.ends_at.is_some() { 0 } else { self.shape.capacity.saturating_sub(self.inside) }
    }

    /// Sends bytes. They must fit into [`room`](Self::room).
    ///
    /// # Panics
    /// If they do not.
    pub fn send(&mut self, bytes: &[u8], now: Instant) {
        assert!(bytes.len() <= self.room(), "more was written than the pipe takes");
        let left = self
            .shape
            .cut_after
            .map_or(usize::MAX, |cut| usize::try_from(cut.saturating_sub(self.sent)).unwrap_or(usize::MAX));
        self.sent += bytes.len() as u64;
        let arrival = self.arrival(now);
        let mut rest = &bytes[..bytes.len().min(left)];
        while !rest.is_empty() {
            let size = match self.shape.pieces {
                Pieces::Whole => rest.len(),
                Pieces::Bytes(size) => size,
                Pieces::Random(most) => 1 + self.rng.below(most),
            };
            let (piece, after) = rest.split_at(size.min(rest.len()));
            self.inside += piece.len();
            self.flying.push_back((arrival, piece.to_vec()));
            rest = after;
        }
        if bytes.len() > left || self.shape.cut_after == Some(self.sent) {
            self.cut = true;
            self.close(now);
        }
    }

    fn arrival(&mut self, now: Instant) -> Instant {
        let arrival = now.saturating_add(self.shape.latency).max(self.shape.stall_until);
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }

    /// The writer sends no more.
    pub fn close(&mut self, now: Instant) {
        if self.ends_at.is_none() {
            self.ends_at = Some(self.arrival(now));
        }
    }

    /// Whether the link broke: a writer is told so.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.cut
    }

    /// The piece that has arrived, if one has.
    #[must_use]
    pub fn arrived(&self, now: Instant) -> Option<&[u8]> {
        self.flying.front().filter(|(at, _)| *at <= now).map(|(_, piece)| piece.as_slice())
    }

    /// Whether everything has arrived and was taken, and nothing more will come.
    #[must_use]
    pub fn has_ended(&self, now: Instant) -> bool {
        self.flying.is_empty() && self.ends_at.is_some_and(|at| at <= now)
    }

    /// Takes `len` bytes of the piece that has arrived.
    ///
    /// # Panics
    /// If none has.
    pub fn take(&mut self, len: usize) {
        let (_, piece) = self.flying.front_mut().expect("a piece that has arrived");
        piece.drain(..len);
        self.inside -= len;
        if piece.is_empty() {
            self.flying.pop_front();
        }
    }

    /// Drops everything under way: nobody reads here any more.
    pub fn discard(&mut self) {
        self.flying.clear();
        self.inside = 0;
    }

    /// When something arrives next, after `now`.
    #[must_use]
    pub fn next_arrival(&self, now: Instant) -> Option<Instant> {
        let next = self.flying.front().map(|(at, _)| *at).or(self.ends_at);
        next.filter(|at| *at > now)
    }
}
