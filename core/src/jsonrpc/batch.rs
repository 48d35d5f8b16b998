//! Arrays of messages, which one revision knows.

use super::grammar::{self, skip_space};
use super::{Fault, FaultKind, JsonRef, Kind, Message, envelope, reader};
use bytes::Bytes;

/// The messages of a batch, one by one: see [`parse_batch`].
#[derive(Clone, Debug)]
pub struct Batch {
    frame: Bytes,
    /// Where the next element is looked for.
    at: usize,
    max_depth: u16,
}

/// Reads a frame that holds an array of messages.
///
/// The array is checked as a whole first; its elements are then read one at a time by the [`Iterator`], each
/// with its own fault, and share the frame. An element costs what [`parse`](super::parse) costs, so a batch is
/// read twice: only revision 2025-03-26 has batches. `max_depth` counts the array as a level.
///
/// # Errors
/// [`FaultKind::EmptyBatch`], [`FaultKind::NotAnObject`] for anything that is no array (an object too), or what
/// makes it no JSON: answer once, without an id.
///
/// Source: JSON-RPC 2.0 §6; MCP 2025-03-26 basic, "Batching".
pub fn parse_batch(frame: Bytes, max_depth: u16) -> Result<Batch, Fault> {
    let refuse = |kind, offset| Err(Fault { kind, id: None, has_method: false, has_id: false, offset });
    let mark = if frame.starts_with(envelope::BYTE_ORDER_MARK) { envelope::BYTE_ORDER_MARK.len() } else { 0 };
    let text = frame.get(mark..).unwrap_or_default();
    let (start, end) = match grammar::document(text, max_depth) {
        Ok((start, end)) => (start + mark, end + mark),
        Err(fault) => return refuse(FaultKind::from(fault), fault.offset + mark),
    };
    let array = JsonRef::trusted(frame.get(start..end).unwrap_or_default());
    match array.kind() {
        Kind::Array if array.elements().next().is_none() => refuse(FaultKind::EmptyBatch, start),
        Kind::Array => Ok(Batch { at: start + 1, max_depth: max_depth.min(grammar::MAX_DEPTH) - 1, frame }),
        kind @ (Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Object) => {
            refuse(FaultKind::NotAnObject(kind), start)
        }
    }
}

impl Batch {
    /// How many messages are left. Passes over their text once.
    #[must_use]
    pub fn left(&self) -> usize {
        let (mut left, mut at) = (0, self.at);
        loop {
            at = skip_space(&self.frame, at);
            if self.frame.get(at) == Some(&b',') {
                at = skip_space(&self.frame, at + 1);
            }
            if matches!(self.frame.get(at), None | Some(b']')) {
                return left;
            }
            at = reader::value_end(&self.frame, at);
            left += 1;
        }
    }
}

impl Iterator for Batch {
    type Item = Result<Message, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut start = skip_space(&self.frame, self.at);
        if self.frame.get(start) == Some(&b',') {
            start = skip_space(&self.frame, start + 1);
        }
        if matches!(self.frame.get(start), None | Some(b']')) {
            self.at = self.frame.len();
            return None;
        }
        self.at = reader::value_end(&self.frame, start);
        let mut read = envelope::parse_part(self.frame.clone(), start, self.at, self.max_depth, &mut ());
        if let Err(fault) = &mut read {
            fault.offset += start;
            if fault.kind == FaultKind::Batch {
                fault.kind = FaultKind::NotAnObject(Kind::Array);
            }
        }
        Some(read)
    }
}
