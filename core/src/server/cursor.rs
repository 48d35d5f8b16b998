//! Cursors of listings: a place, the list it is a place of, and a proof that we gave it out.

use alloc::string::String;
use core::fmt::{self, Write as _};

use crate::server::catalog::ListKind;
use crate::server::state::hmac;

/// Gives cursors out and takes them back.
#[derive(Clone)]
pub(super) struct Cursors {
    key: [u8; 32],
}

/// A key is a secret.
impl fmt::Debug for Cursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cursors")
    }
}

impl Cursors {
    pub(super) const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The cursor of the `place`th element of a list of this generation. At most 60 bytes.
    pub(super) fn give(&self, kind: ListKind, generation: u64, place: usize) -> String {
        let mut text = String::with_capacity(48);
        let _ = write!(text, "{place:x}.{generation:x}.");
        let tag = hmac(&self.key, &[b"cursor", &[kind as u8], text.as_bytes()]);
        for byte in tag.iter().take(8) {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The place that a cursor names. `None`: it is not ours, or of a list that is no longer the same.
    ///
    /// Spec: MCP server/utilities/pagination, "Error Handling".
    pub(super) fn take(&self, kind: ListKind, generation: u64, cursor: &str) -> Option<usize> {
        if cursor.len() > 60 {
            return None;
        }
        let place = usize::from_str_radix(cursor.split('.').next()?, 16).ok()?;
        (self.give(kind, generation, place) == cursor).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cursors_that_were_given_out_for_this_list_are_taken() {
        // P-259, P-260
        let ours = Cursors::new([1; 32]);
        for place in [0, 1, 1000, usize::MAX] {
            let cursor = ours.give(ListKind::Tools, u64::MAX, place);
            assert!(cursor.len() <= 60, "{cursor}");
            assert_eq!(ours.take(ListKind::Tools, u64::MAX, &cursor), Some(place));
            assert_eq!(ours.take(ListKind::Tools, 4, &cursor), None, "another generation");
            assert_eq!(ours.take(ListKind::Prompts, u64::MAX, &cursor), None, "another list");
            assert_eq!(Cursors::new([2; 32]).take(ListKind::Tools, u64::MAX, &cursor), None, "another key");
            for at in 0..cursor.len() {
                let mut bytes = cursor.clone().into_bytes();
                bytes[at] ^= 1;
                let bent = String::from_utf8(bytes).expect("ASCII");
                assert_eq!(ours.take(ListKind::Tools, u64::MAX, &bent), None, "{bent}");
            }
        }
        for junk in ["", ".", "5", "5.5", "x.y.z", "\u{1f600}", "+1.0.0", &"9".repeat(1000)] {
            assert_eq!(ours.take(ListKind::Tools, 0, junk), None, "{junk}");
        }
    }
}
