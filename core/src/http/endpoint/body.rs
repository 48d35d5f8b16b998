//! The body of a request, while it comes.

use alloc::vec::Vec;

use bytes::Bytes;

/// What came so far. A body that comes in one piece is not copied.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    first: Bytes,
    all: Vec<u8>,
}

impl Incoming {
    pub(super) fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    /// Takes a piece. `expected`: how long all of it is, if that was said; room is made for what came, not for what was
    /// announced.
    pub(super) fn push(&mut self, piece: Bytes, expected: Option<usize>) {
        if self.len() == 0 {
            self.first = piece;
            return;
        }
        let first = core::mem::take(&mut self.first);
        let needed = self.all.len() + first.len() + piece.len();
        if needed > self.all.capacity() {
            let most = expected.map_or(usize::MAX, |expected| expected.max(needed));
            let room = needed.saturating_mul(2).min(most);
            self.all.reserve_exact(room - self.all.len());
        }
        self.all.extend_from_slice(&first);
        self.all.extend_from_slice(&piece);
    }

    pub(super) fn finish(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_make_the_whole_and_room_is_made_for_what_came(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
            expected in prop_oneof![Just(None), (0usize..2000).prop_map(Some)],
        ) {
            let mut body = Incoming::default();
            let mut whole = Vec::new();
            for piece in pieces {
                whole.extend_from_slice(&piece);
                body.push(piece.into(), expected);
                prop_assert_eq!(body.len(), whole.len());
                prop_assert!(body.all.capacity() <= 2 * whole.len());
            }
            prop_assert_eq!(body.finish(), whole);
        }
    }

    #[test]
    fn one_piece_is_not_copied() {
        let piece = Bytes::from(alloc::vec![7; 100]);
        let at = piece.as_ptr();
        let mut body = Incoming::default();
        body.push(Bytes::new(), None);
        body.push(piece, Some(100));
        assert_eq!(body.finish().as_ptr(), at);
    }
}
