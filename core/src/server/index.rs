//! Which handles have a key of some hash: open addressing, without an order and without randomness.

use alloc::vec;
use alloc::vec::Vec;

/// Pairs of a hash and a handle. Whoever chooses keys that collide makes the search as long as the table is full, which
/// is bounded; nobody sees the order.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// A power of two of places, at most half of them taken. A handle is never 0, so 0 is an empty place.
    places: Vec<(u64, u64)>,
    len: usize,
}

impl Index {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The handle of this hash that is the right one.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u64) -> bool) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let mut at = hash as usize;
        loop {
            let (there, handle) = self.at(at);
            if handle == 0 {
                return None;
            }
            if there == hash && is_it(handle) {
                return Some(handle);
            }
            at = at.wrapping_add(1);
        }
    }

    pub(super) fn insert(&mut self, hash: u64, handle: u64) {
        if self.places.len() <= self.len * 2 {
            let grown = vec![(0, 0); (self.places.len() * 2).max(16)];
            for (hash, handle) in core::mem::replace(&mut self.places, grown) {
                if handle != 0 {
                    self.put(hash, handle);
                }
            }
        }
        self.put(hash, handle);
        self.len += 1;
    }

    /// Takes a handle out that is in.
    pub(super) fn remove(&mut self, hash: u64, handle: u64) {
        let mut hole = hash as usize;
        loop {
            match self.at(hole) {
                (_, 0) => return,
                (_, there) if there == handle => break,
                _ => hole = hole.wrapping_add(1),
            }
        }
        self.len -= 1;
        // Whatever was put further away because this place was taken moves up.
        let mut at = hole;
        loop {
            at = at.wrapping_add(1);
            let (hash, handle) = self.at(at);
            let distance = at.wrapping_sub(hash as usize) & (self.places.len() - 1);
            if handle == 0 {
                break;
            }
            if distance >= at.wrapping_sub(hole) {
                self.set(hole, (hash, handle));
                hole = at;
            }
        }
        self.set(hole, (0, 0));
    }

    fn put(&mut self, hash: u64, handle: u64) {
        let mut at = hash as usize;
        while self.at(at).1 != 0 {
            at = at.wrapping_add(1);
        }
        self.set(at, (hash, handle));
    }

    #[inline(always)]
    fn at(&self, at: usize) -> (u64, u64) {
        self.places.get(at & self.places.len().wrapping_sub(1)).copied().unwrap_or_default()
    }

    #[inline(always)]
    fn set(&mut self, at: usize, pair: (u64, u64)) {
        let mask = self.places.len().wrapping_sub(1);
        if let Some(place) = self.places.get_mut(at & mask) {
            *place = pair;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_in_is_found_until_it_is_taken_out(
            steps in prop::collection::vec((0u64..40, any::<bool>(), any::<u8>()), 0..300),
        ) {
            let mut index = Index::default();
            let mut model: Vec<(u64, u64)> = Vec::new();
            for (n, (hash, takes, which)) in steps.into_iter().enumerate() {
                // Few hashes, some of them at the end of the table.
                let hash = if hash % 3 == 0 { u64::MAX - hash / 4 } else { hash / 4 };
                if takes && !model.is_empty() {
                    let (hash, handle) = model.swap_remove(usize::from(which) % model.len());
                    index.remove(hash, handle);
                    prop_assert_eq!(index.find(hash, |found| found == handle), None);
                } else {
                    let handle = n as u64 + 1;
                    index.insert(hash, handle);
                    model.push((hash, handle));
                }
                prop_assert_eq!(index.len(), model.len());
                for (hash, handle) in &model {
                    prop_assert_eq!(index.find(*hash, |found| found == *handle), Some(*handle));
                }
                prop_assert!(index.places.len() <= 16 || index.places.len() <= 4 * 300);
            }
        }
    }
}
