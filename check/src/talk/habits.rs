//! How a server speaks, whatever it says: kept for as long as its process runs.

use std::time::{Duration, Instant};

/// U+FEFF in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// How a server speaks.
#[derive(Debug)]
pub(crate) struct Habits {
    started: Instant,
    /// How long its first answer took.
    pub(crate) first_answer: Option<Duration>,
    /// A line that began with a byte order mark.
    pub(crate) marked: bool,
    /// A line that ended with a carriage return.
    pub(crate) returned: bool,
    /// How much it wrote to standard error until it was opened.
    pub(crate) complaints_at_start: Option<usize>,
    complaints: usize,
    /// What it wrote to standard error that is no UTF-8.
    pub(crate) not_text: Option<Vec<u8>>,
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
}

impl Habits {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            first_answer: None,
            marked: false,
            returned: false,
            complaints_at_start: None,
            complaints: 0,
            not_text: None,
            begun: Vec::new(),
        }
    }

    /// Looks at a line; gives the message in it.
    pub(super) fn said<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        self.returned |= line.ends_with(b"\r");
        let message = line.strip_prefix(MARK);
        self.marked |= message.is_some();
        message.unwrap_or(line)
    }

    pub(super) fn answered(&mut self) {
        self.first_answer.get_or_insert_with(|| self.started.elapsed());
    }

    /// It was opened: what it says from now on has to do with what it is asked.
    pub(super) fn has_started(&mut self) {
        self.complaints_at_start.get_or_insert(self.complaints);
    }

    /// Looks at a piece of standard error.
    pub(super) fn complained(&mut self, bytes: &[u8]) {
        self.complaints += bytes.len();
        if self.not_text.is_some() {
            return;
        }
        self.begun.extend_from_slice(bytes);
        let rest = match std::str::from_utf8(&self.begun) {
            Ok(_) => Vec::new(),
            Err(error) if error.error_len().is_none() => self.begun.split_off(error.valid_up_to()),
            Err(error) => {
                let line = |byte: &u8| *byte == b'\n';
                let from = self.begun[..error.valid_up_to()].iter().rposition(line).map_or(0, |at| at + 1);
                let rest = self.begun.split_off(from);
                self.not_text = Some(rest.split(line).next().unwrap_or_default().to_vec());
                Vec::new()
            }
        };
        self.begun = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_comes_in_pieces_is_text() {
        let mut habits = Habits::new();
        for byte in "ok \u{1f600}\n".bytes() {
            habits.complained(&[byte]);
        }
        assert_eq!(habits.not_text, None);
        habits.complained(b"caf\xc3\xa9\nna\xefve\nmore\n");
        assert_eq!(habits.not_text.as_deref(), Some(&b"na\xefve"[..]));
    }

    #[test]
    fn a_mark_is_no_part_of_a_message() {
        let mut habits = Habits::new();
        assert_eq!(habits.said(b"{}"), b"{}");
        assert!(!habits.marked && !habits.returned);
        assert_eq!(habits.said(b"\xef\xbb\xbf{}\r"), b"{}\r");
        assert!(habits.marked && habits.returned);
    }

    #[test]
    fn what_is_said_after_the_start_does_not_count_to_it() {
        let mut habits = Habits::new();
        habits.complained(b"abc");
        habits.has_started();
        habits.complained(b"defg");
        habits.has_started();
        assert_eq!((habits.complaints_at_start, habits.complaints), (Some(3), 7));
    }
}
