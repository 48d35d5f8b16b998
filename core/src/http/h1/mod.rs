//! HTTP/1.1 over one byte stream: heads and bodies, for either role. Knows no MCP.
//!
//! A head is read line by line as it comes, each line once, within bounds. What two parsers could understand differently
//! is refused, in heads and bodies: both lengths at once, lengths that differ, odd chunk sizes, bare CR or LF, blanks
//! before a colon, folded lines, no or two hosts.
//!
//! Source: RFC 9112; RFC 9110.

mod body;
mod chunks;
mod client;
mod events;
mod input;
mod parse;
mod scan;
mod server;
mod target;
mod write;

#[cfg(test)]
mod tests;

use core::fmt;
use core::time::Duration;

use alloc::boxed::Box;

use crate::limits::MAX_READ_BYTES;
use crate::outbox::BLOCK;

pub use client::{Client, ClientEvent};
pub use server::{Server, ServerEvent};

/// The bounds of one connection.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest head, first line included, in bytes; also of the trailers of a body.
    pub max_head_bytes: usize,
    /// The most fields in a head.
    pub max_fields: usize,
    /// Bytes that wait to be written before more are refused. One piece may overshoot.
    pub max_queued_out_bytes: usize,
    /// Bytes of events that wait to be taken; at the limit reading stops. Soft by one read.
    pub max_queued_event_bytes: usize,
    /// How long a head may take from its first byte to its last.
    pub head: Duration,
    /// How long a body may bring nothing (server), and how long a peer may take nothing of what waits to be written. Four
    /// times as long a body may bring less than 1,000 bytes a second.
    pub stall: Duration,
    /// How long a server's connection without a request stays open.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_head_bytes: 64 * 1024,
            max_fields: 100,
            max_queued_out_bytes: 4 * 1024 * 1024,
            max_queued_event_bytes: 1024 * 1024,
            head: Duration::from_secs(15),
            stall: Duration::from_secs(30),
            idle: Duration::from_secs(75),
        }
    }
}

impl Limits {
    /// The most bytes that one connection holds by itself, its allocator's rounding aside. A body that the application
    /// hands over whole, or a piece that overshoots, counts besides.
    ///
    /// | what | how much |
    /// |---|---|
    /// | what is read and not understood yet: a head and a read, in a buffer that moves when it grows | 2 × (`max_head_bytes` + 64 KiB) |
    /// | a head as it is told: its text and its target, and the places of its fields, a list that moves when it grows | 2 × `max_head_bytes` + 8 KiB |
    /// | events that wait: their places, which double and move, or what pieces keep alive; and one read over | 3 × `max_queued_event_bytes` + 256 KiB |
    /// | what waits to be written, in blocks that double; the block that is written, and one that grows | 2 × `max_queued_out_bytes` + 768 KiB |
    #[must_use]
    pub fn worst_case_bytes(&self) -> usize {
        let input = self.max_head_bytes.saturating_add(MAX_READ_BYTES).saturating_mul(2);
        let head = self.max_head_bytes.saturating_mul(2).saturating_add(2 * scan::MAX_SPANS_BYTES);
        let events = self.max_queued_event_bytes.saturating_mul(3).saturating_add(4 * MAX_READ_BYTES);
        let out = self.max_queued_out_bytes.saturating_mul(2).saturating_add(3 * BLOCK);
        [input, head, events, out].into_iter().fold(0, usize::saturating_add)
    }
}

/// The body of a message that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// None.
    Empty,
    /// All of it, with its length.
    Whole(bytes::Bytes),
    /// Piece by piece, until its end is told.
    Stream,
}

/// What a peer did that ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The head is longer than it may be.
    HeadTooLong,
    /// It has more fields than it may have.
    TooManyFields,
    /// The first line or a field is malformed; the text says how.
    Head(&'static str),
    /// The framing of the body is contradictory or malformed; the text says how.
    Framing(&'static str),
    /// It ended in the middle of a message.
    Truncated,
    /// It was too slow.
    Slow,
    /// It sent something when nothing was due.
    Unasked,
    /// A version of HTTP that is not 1.0 or 1.1.
    Version,
}

/// Why a connection is over. Final.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Closed {
    /// We closed it.
    Local,
    /// The peer ended it: between two exchanges, as it had announced, before the first byte of an answer (client), or
    /// while its answer was open (server).
    Eof,
    /// The peer did something that cannot be gone on from.
    Fault(Fault),
    /// The peer reads no more.
    Unread,
    /// A request switched the protocol, or asked for a tunnel: what follows is not HTTP. The bytes that came behind
    /// the head.
    Tunnel(Box<[u8]>),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadTooLong => f.write_str("its head is too long"),
            Self::TooManyFields => f.write_str("its head has too many fields"),
            Self::Head(how) => write!(f, "its head is malformed: {how}"),
            Self::Framing(how) => write!(f, "the framing of its body is malformed: {how}"),
            Self::Truncated => f.write_str("it ended in the middle of a message"),
            Self::Slow => f.write_str("it was too slow"),
            Self::Unasked => f.write_str("it sent something when nothing was due"),
            Self::Version => f.write_str("it speaks another version of HTTP"),
        }
    }
}
