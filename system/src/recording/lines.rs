//! Lines of JSON, one at a time, with a bound.

use std::io::{BufRead, Read as _};

use sanswire::jsonrpc::{Kind, MAX_DEPTH, RawJson};

use super::error::ReplayError;
use super::file::MAX_LINE;

/// Reads them.
pub(super) struct Lines<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, number: 0, line: Vec::new() }
    }

    /// The number of the line that was read last, counted from 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The next one: an object. `None`: there is no more.
    pub(super) fn next(&mut self) -> Result<Option<RawJson>, ReplayError> {
        self.line.clear();
        let mut bounded = (&mut self.input).take(MAX_LINE as u64 + 1);
        let read = bounded.read_until(b'\n', &mut self.line);
        let len = read.map_err(|error| ReplayError::Unreadable(error.kind()))?;
        if len == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.number;
        if len > MAX_LINE {
            return Err(ReplayError::TooLong { line });
        }
        if line == 1 && self.line.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
            return Err(ReplayError::NoRecording);
        }
        let cut = self.line.last() != Some(&b'\n');
        let value = RawJson::from_slice(&self.line, MAX_DEPTH).ok();
        match value.filter(|value| value.view().kind() == Kind::Object) {
            Some(value) if !cut => Ok(Some(value)),
            _ if line == 1 && !cut => Err(ReplayError::NoRecording),
            _ => Err(ReplayError::Broken { line, cut }),
        }
    }
}
