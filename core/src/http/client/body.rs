//! Content that is taken as a whole, with a bound.

use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;

use crate::frame::{Frame, Scanner};

/// Content so far.
#[derive(Debug)]
pub(super) enum Content {
    None,
    /// It came in one piece so far.
    One(Bytes),
    Many(Vec<u8>),
    /// Too long; so many bytes.
    Skipped(Scanner, u64),
}

impl Content {
    pub(super) fn push(&mut self, piece: Bytes, limit: usize) {
        if piece.is_empty() {
            return;
        }
        if let Self::Skipped(scanner, len) = self {
            scanner.feed(&piece);
            *len += piece.len() as u64;
            return;
        }
        let len = self.len() + piece.len();
        if len > limit {
            let mut scanner = Scanner::new();
            scanner.feed(self.as_slice());
            scanner.feed(&piece);
            *self = Self::Skipped(scanner, len as u64);
            return;
        }
        *self = match mem::replace(self, Self::None) {
            Self::None => Self::One(piece),
            Self::One(first) => {
                let mut all = Vec::with_capacity(len.next_power_of_two().min(limit));
                all.extend_from_slice(&first);
                all.extend_from_slice(&piece);
                Self::Many(all)
            }
            Self::Many(mut all) => {
                if all.capacity() < len {
                    all.reserve_exact(len.next_power_of_two().min(limit) - all.len());
                }
                all.extend_from_slice(&piece);
                Self::Many(all)
            }
            skipped @ Self::Skipped(..) => skipped,
        };
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::One(piece) => piece,
            Self::Many(all) => all,
            Self::None | Self::Skipped(..) => &[],
        }
    }

    /// The whole as a message, without white space around it. `None`: there is none.
    pub(super) fn into_frame(self) -> Option<Frame> {
        let all = match self {
            Self::None => return None,
            Self::One(piece) => piece,
            Self::Many(mut all) => {
                all.shrink_to_fit();
                Bytes::from(all)
            }
            Self::Skipped(scanner, len) => {
                let (id, has_method) = scanner.finish();
                return Some(Frame::TooLong { id, has_method, len });
            }
        };
        let trimmed = all.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&all).trim_ascii();
        (!trimmed.is_empty()).then(|| Frame::Message(all.slice_ref(trimmed)))
    }

    pub(super) fn retained_bytes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(piece) => piece.len(),
            Self::Many(all) => all.capacity(),
            Self::Skipped(scanner, _) => scanner.retained_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_together_and_what_is_too_long_is_looked_through() {
        let text = br#" {"jsonrpc":"2.0","id":7,"result":{}} "#;
        for size in 1..=text.len() {
            let feed = |limit: usize| {
                let mut content = Content::None;
                for piece in text.chunks(size) {
                    content.push(Bytes::copy_from_slice(piece), limit);
                }
                assert!(content.retained_bytes() <= limit.max(1024));
                content.into_frame()
            };
            assert_eq!(feed(text.len()), Some(Frame::Message(Bytes::from_static(text.trim_ascii()))));
            let Some(Frame::TooLong { id: Some(id), has_method: false, len }) = feed(text.len() - 1) else {
                panic!("{size}");
            };
            assert_eq!((id.as_i64(), len), (Some(7), text.len() as u64));
        }
        let mut content = Content::None;
        content.push(Bytes::from_static(b" \r\n"), 10);
        assert_eq!(content.into_frame(), None);
    }
}
