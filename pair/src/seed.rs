//! Randomness that can be had again: every random run has a seed, and says it when it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A small generator (SplitMix64). Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
    /// What is given out first, from its end.
    tape: Vec<u8>,
}

impl Rng {
    /// The generator of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed, tape: Vec::new() }
    }

    /// A generator that gives out `bytes`, one or few for each choice, and then goes on as that of seed 0: whoever
    /// changes a byte, such as a fuzzer, changes one choice and leaves the others as they were.
    #[must_use]
    pub fn tape(bytes: &[u8]) -> Self {
        Self { state: 0, tape: bytes.iter().rev().copied().collect() }
    }

    /// A number of the next `len` bytes of the tape, if there are any.
    fn taped(&mut self, len: usize) -> Option<u64> {
        let mut number = u64::from(self.tape.pop()?);
        for _ in 1..len {
            let Some(byte) = self.tape.pop() else { break };
            number = number << 8 | u64::from(byte);
        }
        Some(number)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        if let Some(number) = self.taped(8) {
            return number;
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            return 0;
        }
        let len = if bound <= 256 { 1 } else { 4 };
        let number = self.taped(len).unwrap_or_else(|| self.number());
        (number % bound as u64) as usize
    }

    /// True in `percent` of all cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A generator of its own.
    pub fn fork(&mut self) -> Self {
        Self::new(self.number())
    }
}

/// Runs `run` with `count` seeds (`SANSWIRE_SEEDS` instead, for a long run); with the one in `SANSWIRE_SEED` alone,
/// if that is set. A failure names its seed.
///
/// # Panics
/// As `run` does, with the seed in front.
pub fn each_seed(count: u64, run: impl Fn(u64)) {
    let set = |name| std::env::var(name).ok().and_then(|value| value.parse().ok());
    if let Some(seed) = set("SANSWIRE_SEED") {
        return run(seed);
    }
    for seed in 0..set("SANSWIRE_SEEDS").unwrap_or(count) {
        if let Err(failure) = catch_unwind(AssertUnwindSafe(|| run(seed))) {
            let said = failure.downcast_ref::<String>().cloned();
            let said = said.or_else(|| failure.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            panic!("seed {seed} (again with SANSWIRE_SEED={seed}): {}", said.unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_is_given_out_choice_by_choice_and_followed_by_the_numbers_of_a_seed() {
        let mut taped = Rng::tape(&[7, 0, 0, 1, 2, 0xff, 0, 0, 0, 0, 0, 0, 1, 0, 9]);
        assert_eq!([taped.below(5), taped.below(1000), taped.below(256)], [2, 258, 0xff]);
        assert_eq!(taped.number(), 256, "eight bytes");
        assert_eq!(taped.number(), 9, "what is left");
        let mut seeded = Rng::new(0);
        assert_eq!((taped.number(), taped.below(1000)), (seeded.number(), seeded.below(1000)));
    }
}
