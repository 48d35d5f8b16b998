//! An output of any length within a bound: its head and its tail.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How much of an output is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureLimits {
    /// Bytes of its head. Default: 32 KiB.
    pub head: usize,
    /// Bytes of its tail. Default: 32 KiB.
    pub tail: usize,
    /// What ends the output, and is no part of it: what comes behind is dropped. Default: nothing but its end.
    pub until: Option<Vec<u8>>,
}

impl Default for CaptureLimits {
    fn default() -> Self {
        Self { head: 32 * 1024, tail: 32 * 1024, until: None }
    }
}

/// What a store calls what it keeps: the runtime's own name for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactHandle(pub Arc<str>);

/// An output as it comes, of which head and tail are kept. The whole of one that is longer goes to a store.
///
/// After each [`push`](Self::push), and after [`close`](Self::close), hand the store what
/// [`poll_artifact`](Self::poll_artifact) gives: together that is the whole output, if it is longer than what is kept,
/// else nothing. Holds head, tail, and what was not polled yet.
#[derive(Debug)]
pub struct Capture {
    limits: CaptureLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    /// What may be the beginning of what ends the output.
    held: Vec<u8>,
    over: bool,
    artifact: Vec<u8>,
    spilled: bool,
}

/// An output within its bound.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// Head and tail, with a line between them that says so if something is left out. What is no UTF-8 is replaced;
    /// not masked.
    pub text: String,
    /// How many bytes of the output are shown.
    pub shown: u64,
    /// How many it has.
    pub total: u64,
}

impl Capture {
    /// Nothing yet.
    #[must_use]
    pub const fn new(limits: CaptureLimits) -> Self {
        Self {
            limits,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            held: Vec::new(),
            over: false,
            artifact: Vec::new(),
            spilled: false,
        }
    }

    /// Takes a piece; any split gives the same. False: the output is over, and the piece was dropped.
    pub fn push(&mut self, piece: &[u8]) -> bool {
        if self.over {
            return false;
        }
        let Some(until) = self.limits.until.take().filter(|until| !until.is_empty()) else {
            self.keep(piece);
            return true;
        };
        let mut bytes = core::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        if let Some(end) = memchr::memmem::find(&bytes, &until) {
            bytes.truncate(end);
            self.over = true;
        } else {
            let begins = |at: &usize| bytes.get(*at..).is_some_and(|rest| until.starts_with(rest));
            let from = bytes.len().saturating_sub(until.len() - 1);
            let at = (from..bytes.len()).find(begins).unwrap_or(bytes.len());
            self.held = bytes.split_off(at);
        }
        self.keep(&bytes);
        self.limits.until = Some(until);
        true
    }

    /// The output is over.
    pub fn close(&mut self) {
        let held = core::mem::take(&mut self.held);
        if !self.over {
            self.keep(&held);
        }
        self.over = true;
    }

    /// Whether the output is over: it was closed, or what ends it came.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// The next bytes for the store.
    pub fn poll_artifact(&mut self) -> Option<Vec<u8>> {
        (!self.artifact.is_empty()).then(|| core::mem::take(&mut self.artifact))
    }

    /// What is kept; `whole` is where the whole output can be had, if a store has it.
    #[must_use]
    pub fn captured(&self, whole: Option<&ArtifactHandle>) -> Captured {
        let (one, other) = self.tail.as_slices();
        let mut tail = one.to_vec();
        tail.extend_from_slice(other);
        if !self.spilled {
            let all = [self.head.as_slice(), &tail].concat();
            return Captured { text: text(&all).into_owned(), shown: self.total, total: self.total };
        }
        let head = whole_head(&self.head);
        let cut = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let tail = tail.get(cut..).unwrap_or_default();
        let shown = u64::try_from(head.len() + tail.len()).unwrap_or(u64::MAX);
        let total = self.total;
        let whole = whole.map(|whole| format!(" artifact={}", whole.0)).unwrap_or_default();
        let line = format!("\n<truncated output shown={shown} total={total}{whole}>\n");
        Captured { text: [text(head), line.into(), text(tail)].concat(), shown, total }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limits.head.saturating_add(self.limits.tail);
        let kept = self.head.len() + self.tail.len();
        if !self.spilled && kept.saturating_add(bytes.len()) > room {
            self.spilled = true;
            self.artifact.extend_from_slice(&self.head);
            self.artifact.extend(&self.tail);
        }
        if self.spilled {
            self.artifact.extend_from_slice(bytes);
        }
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let for_head = (self.limits.head - self.head.len()).min(bytes.len());
        let (for_head, for_tail) = bytes.split_at_checked(for_head).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(for_head);
        let for_tail = for_tail.get(for_tail.len().saturating_sub(self.limits.tail)..).unwrap_or_default();
        let too_many = (self.tail.len() + for_tail.len()).saturating_sub(self.limits.tail);
        self.tail.drain(..too_many);
        self.tail.extend(for_tail);
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Without the first part of a character whose rest is cut away.
fn whole_head(bytes: &[u8]) -> &[u8] {
    let back = bytes.iter().rev().take(4).position(|byte| byte & 0xc0 != 0x80).unwrap_or_default();
    let at = bytes.len().saturating_sub(back + 1);
    let wants = match bytes.get(at) {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    if bytes.len() - at < wants { bytes.get(..at).unwrap_or_default() } else { bytes }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    fn capture(head: usize, tail: usize, until: Option<&str>, pieces: &[&[u8]]) -> (Capture, Vec<u8>) {
        let until = until.map(|until| until.as_bytes().to_vec());
        let mut capture = Capture::new(CaptureLimits { head, tail, until });
        let mut stored = Vec::new();
        for piece in pieces {
            capture.push(piece);
            stored.extend(capture.poll_artifact().unwrap_or_default());
        }
        capture.close();
        stored.extend(capture.poll_artifact().unwrap_or_default());
        (capture, stored)
    }

    #[test]
    fn a_long_output_is_head_and_tail_and_the_whole_goes_to_the_store() {
        // H-235
        let (short, stored) = capture(3, 4, None, &[b"abcdefg"]);
        let shown = short.captured(None);
        assert_eq!((shown.text.as_str(), shown.shown, shown.total, stored.len()), ("abcdefg", 7, 7, 0));
        let (long, stored) = capture(3, 4, None, &[b"ab", b"cdefgh", b"", b"ijk"]);
        assert_eq!(stored, b"abcdefghijk");
        let shown = long.captured(None);
        assert_eq!(shown.text, "abc\n<truncated output shown=7 total=11>\nhijk");
        let handle = ArtifactHandle("a-1".into());
        let shown = long.captured(Some(&handle));
        assert_eq!(shown.text, "abc\n<truncated output shown=7 total=11 artifact=a-1>\nhijk");
        let (none, stored) = capture(0, 0, None, &[b"ab"]);
        assert_eq!((none.captured(None).shown, stored.len()), (0, 2));
    }

    #[test]
    fn no_character_is_cut_in_two() {
        let (cut, _) = capture(4, 4, None, &["日本語日本語".as_bytes()]);
        let shown = cut.captured(None);
        assert_eq!(shown.text, "日\n<truncated output shown=6 total=18>\n語");
        let (cut, _) = capture(3, 3, None, &["日本語日本語".as_bytes()]);
        assert_eq!(cut.captured(None).shown, 6);
        let (odd, _) = capture(2, 2, None, &[b"\xff\xff\x80\x80\x80\xff"]);
        assert_eq!(odd.captured(None).total, 6);
    }

    #[test]
    fn what_ends_the_output_is_found_however_it_is_split() {
        // H-235
        for pieces in [&["abEND", "cd"][..], &["a", "b", "E", "N", "D", "cd"], &["abE", "NDcd"]] {
            let pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
            let (mut capture, _) = capture(10, 0, Some("END"), &pieces);
            assert_eq!(capture.captured(None).text, "ab");
            assert!(capture.is_over() && !capture.push(b"more"));
        }
        let (capture, _) = capture(10, 10, Some("END"), &[b"abEN", b"ENx", b"EN"]);
        assert_eq!(capture.captured(None).text, "abENENxEN", "the end that never came");
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_within_the_bound(
            text in "[abX日]{0,40}", cuts in prop::collection::vec(0usize..80, 0..6), head in 0usize..8, tail in 0usize..8,
            ends in any::<bool>(),
        ) {
            let (bytes, until) = (text.as_bytes(), ends.then_some("abX"));
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut <= bytes.len()).collect();
            cuts.sort_unstable();
            let (mut at, mut pieces) = (0, Vec::new());
            for cut in cuts {
                pieces.push(&bytes[at..cut]);
                at = cut;
            }
            pieces.push(&bytes[at..]);
            let (whole, stored) = capture(head, tail, until, &[bytes]);
            let (split, stored_split) = capture(head, tail, until, &pieces);
            prop_assert_eq!(whole.captured(None), split.captured(None));
            prop_assert_eq!(&stored, &stored_split);
            let output = text.split("abX").next().filter(|_| ends).unwrap_or(&text).to_string();
            let captured = split.captured(None);
            prop_assert_eq!(usize::try_from(captured.total).unwrap(), output.len());
            prop_assert!(split.head.len() <= head && split.tail.len() <= tail);
            if output.len() > head + tail {
                prop_assert_eq!(&stored, output.as_bytes());
                prop_assert!(!captured.text.contains('\u{fffd}'), "{}", captured.text);
            } else {
                prop_assert_eq!((captured.text, stored.len()), (output, 0));
            }
        }
    }
}
