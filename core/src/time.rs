//! Instants and the one table of deadlines a machine keeps.

use core::time::Duration;

/// A point in time, in microseconds since an epoch that the runtime picks.
///
/// The core has no clock: every instant it works with was handed in by its driver. A value of its own (rather
/// than the standard library's) can be written down in a trace, a test table or a fuzz input, needs no
/// operating system, and never overflows: all arithmetic saturates, because some durations come from the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The epoch itself.
    pub const ZERO: Self = Self(0);

    /// The instant `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This instant and `by` more; stays at the end of time instead of overflowing.
    #[must_use]
    pub fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_micros()).unwrap_or(u64::MAX)))
    }

    /// How long after `earlier` this instant is; zero if it is not.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// The earlier of two optional instants; `None` means "never".
#[must_use]
pub(crate) fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The last instant a machine was given: time that goes backwards is treated as not having moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotonic(Instant);

impl Monotonic {
    pub(crate) const fn new(now: Instant) -> Self {
        Self(now)
    }

    pub(crate) fn advance(&mut self, now: Instant) -> Instant {
        self.0 = self.0.max(now);
        self.0
    }

    /// The latest that it was given.
    pub(crate) const fn latest(self) -> Instant {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let end = Instant::from_micros(u64::MAX);
        assert_eq!(end.saturating_add(Duration::MAX), end);
        assert_eq!(Instant::ZERO.saturating_add(Duration::from_secs(1)), Instant::from_micros(1_000_000));
        assert_eq!(Instant::ZERO.saturating_since(end), Duration::ZERO);
        assert_eq!(Instant::from_millis(u64::MAX), end);
    }

    #[test]
    fn time_that_goes_backwards_stands_still() {
        let mut clock = Monotonic::new(Instant::from_millis(5));
        assert_eq!(clock.advance(Instant::from_millis(3)), Instant::from_millis(5));
        assert_eq!(clock.advance(Instant::from_millis(9)), Instant::from_millis(9));
    }

    #[test]
    fn never_is_later_than_any_instant() {
        let one = Instant::from_millis(1);
        assert_eq!(earliest(None, Some(one)), Some(one));
        assert_eq!(earliest(Some(one), Some(Instant::ZERO)), Some(Instant::ZERO));
        assert_eq!(earliest(None, None), None);
    }
}
