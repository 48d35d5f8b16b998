//! What was said, by whom and when: the proof of a finding.

use std::time::{Duration, Instant};

use crate::finding::{CUT, shown};

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The check.
    Check,
    /// The server, on standard output.
    Server,
    /// The client, to the server.
    Client,
    /// The client, on its own standard output.
    Stdout,
    /// Either, on standard error.
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

impl Entry {
    /// The beginning of it on one line, harmless on a terminal, with how long it was if that is not all.
    pub(crate) fn shown(&self, most: usize) -> String {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let whole = self.bytes.len() >= self.len;
        let kept = &bytes[..bytes.len().min(most)];
        let text = shown(kept);
        if whole && kept.len() == bytes.len() { text } else { format!("{text}{CUT}{} bytes)", self.len) }
    }
}

impl From {
    /// `check`, `server`, `client`, `stdout`, `stderr` or `event`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Server => "server",
            Self::Client => "client",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Event => "event",
        }
    }
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

    /// Of what nobody will look into for a fault, the beginning and the end is enough.
    pub(crate) fn shorten(&mut self) {
        const LINES: usize = 12;
        const BYTES: usize = 512;
        if self.last.is_empty() && self.first.len() > 2 * LINES {
            self.last = self.first.split_off(LINES).into();
        }
        let gone = self.first.len().saturating_sub(LINES) + self.last.len().saturating_sub(LINES);
        if !self.last.is_empty() {
            self.first.truncate(LINES);
            self.last.drain(..self.last.len().saturating_sub(LINES));
            self.left_out += gone;
        }
        for entry in self.first.iter_mut().chain(&mut self.last) {
            entry.bytes.truncate(BYTES);
            entry.bytes.shrink_to_fit();
        }
    }

    /// Every line, to be written over.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.first.iter_mut().chain(&mut self.last)
    }

    /// The lines, the oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.first.iter().chain(&self.last)
    }

    /// How many lines stand in front of what was left out.
    pub(crate) const fn kept_of_the_beginning(&self) -> usize {
        self.first.len()
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
        transcript.shorten();
        let entries: Vec<_> = transcript.entries().collect();
        assert_eq!((entries.len(), transcript.left_out()), (24, 1001 - 24));
        assert_eq!((entries[11].bytes.as_slice(), entries[22].bytes.as_slice()), (&b"11"[..], &b"999"[..]));
        assert_eq!((entries[23].len, entries[23].bytes.len()), (10_000, 512));
    }

    #[test]
    fn what_is_short_stays_whole() {
        for lines in [0, 1, 12, 24, 25, 64] {
            let mut transcript = Transcript::new();
            (0..lines).for_each(|_| transcript.push(From::Server, b"x"));
            transcript.shorten();
            let left = transcript.entries().count();
            assert_eq!((left, left + transcript.left_out()), (lines.min(24), lines));
        }
    }
}
