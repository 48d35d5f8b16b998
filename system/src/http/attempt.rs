//! A connection that is being made, as whoever may end it sees it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::DialStep;

/// A connection that is being made: which of its steps it is at, and whether it is wanted still. Shared by who makes it and
/// who waits for it, so that one that is ended from outside is told as what it was.
#[derive(Debug, Default)]
pub struct Attempt {
    cancelled: AtomicBool,
    step: AtomicU8,
}

impl Attempt {
    /// It is not wanted any more.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it is not wanted any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// A step begins.
    pub fn begin(&self, step: DialStep) {
        let number = DialStep::ALL.iter().position(|known| *known == step).unwrap_or_default();
        self.step.store(number.to_le_bytes()[0], Ordering::Relaxed);
    }

    /// The step that began last. The first of all, before any.
    #[must_use]
    pub fn step(&self) -> DialStep {
        let number = usize::from(self.step.load(Ordering::Relaxed));
        DialStep::ALL.get(number).copied().unwrap_or(DialStep::Name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_that_began_last_is_told() {
        let attempt = Attempt::default();
        assert_eq!(attempt.step(), DialStep::Name);
        for step in DialStep::ALL {
            attempt.begin(step);
            assert_eq!(attempt.step(), step);
        }
        assert!(!attempt.is_cancelled());
        attempt.cancel();
        assert!(attempt.is_cancelled());
    }
}
