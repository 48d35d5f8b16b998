//! Randomness that can be had again: every random run has a seed, and says it when it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A small generator (SplitMix64). Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.number() % bound as u64) as usize }
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
    pub const fn fork(&mut self) -> Self {
        Self(self.number())
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
