//! What was said, by whom and when: the proof of a finding.

use std::time::{Duration, Instant};

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The check.
    Check,
    /// The server, on standard output.
    Server,
    /// The server, on standard error.
    Stderr,
    /// What happened beside the bytes: a start, an end, a signal.
    Event,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Since the process was started.
    pub at: Duration,
    /// By whom.
    pub from: From,
    /// The first [`Transcript::MOST_BYTES`] of it, as they came.
    pub bytes: Vec<u8>,
    /// How long it was.
    pub len: usize,
}

/// What was said during a check: bounded, the first and the last of it where it was too much.
#[derive(Clone, Debug)]
pub struct Transcript {
    started: Instant,
    first: Vec<Entry>,
    last: std::collections::VecDeque<Entry>,
    left_out: usize,
}

impl Transcript {
    /// The most that is kept of one line.
    pub const MOST_BYTES: usize = 4096;
    /// The most lines that are kept of the beginning, and of the end.
    pub const MOST_LINES: usize = 64;

    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            first: Vec::new(),
            last: std::collections::VecDeque::new(),
            left_out: 0,
        }
    }

    pub(crate) fn push(&mut self, from: From, bytes: &[u8]) {
        let entry = Entry {
            at: self.started.elapsed(),
            from,
            bytes: bytes[..bytes.len().min(Self::MOST_BYTES)].to_vec(),
            len: bytes.len(),
        };
        if self.first.len() < Self::MOST_LINES {
            self.first.push(entry);
            return;
        }
        if self.last.len() == Self::MOST_LINES {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(entry);
    }

    /// The lines, the oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.first.iter().chain(&self.last)
    }

    /// How many of the middle were left out.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_much_the_first_and_the_last_is_kept() {
        let mut transcript = Transcript::new();
        for n in 0..1000_u32 {
            transcript.push(From::Server, n.to_string().as_bytes());
        }
        transcript.push(From::Check, &[b'x'; 10_000]);
        let entries: Vec<_> = transcript.entries().collect();
        assert_eq!(entries.len(), 2 * Transcript::MOST_LINES);
        assert_eq!((entries[0].bytes.as_slice(), entries[126].bytes.as_slice()), (&b"0"[..], &b"999"[..]));
        assert_eq!((entries[127].len, entries[127].bytes.len()), (10_000, Transcript::MOST_BYTES));
        assert_eq!(transcript.left_out(), 1001 - 128);
    }
}
