//! Event streams: what a server sends event by event.
//!
//! Source: HTML Living Standard, section 9.2 "Server-sent events".

use alloc::boxed::Box;
use alloc::vec::Vec;

use bytes::Bytes;

use super::Frame;

/// An event, or a report of what stands beside events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseItem {
    /// An event whose data is not empty.
    Event {
        /// Its kind; `None`: none was named, which is `message`.
        name: Option<Box<str>>,
        /// Its data, lines joined by LF; or that it was too long, with what the scanner found in it.
        data: Frame,
    },
    /// The id to go on behind, if the stream is to be resumed. Comes before the event it stands in, and also without one.
    LastId(Box<str>),
    /// How many milliseconds to wait before the stream is opened again.
    Retry(u64),
}

/// Cuts a byte stream into events, with a bound. The items do not depend on how the stream was cut.
#[derive(Debug)]
pub struct SseDecoder {
    _max_data_bytes: usize,
}

#[expect(clippy::todo, reason = "a seam")]
impl SseDecoder {
    /// A decoder in front of a stream. `max_data_bytes` bounds the data of one event; what is longer is skipped in
    /// constant memory.
    #[must_use]
    pub const fn new(max_data_bytes: usize) -> Self {
        Self { _max_data_bytes: max_data_bytes }
    }

    /// Takes the next piece of the stream.
    pub fn feed(&mut self, _piece: &Bytes) {
        todo!()
    }

    /// The next item, oldest first. Take all before the next `feed`.
    pub fn poll(&mut self) -> Option<SseItem> {
        todo!()
    }

    /// Bytes that are held.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        todo!()
    }
}

/// Writes one event. `data` holds one line; the event's name is left out where it is `message`.
#[expect(clippy::todo, reason = "a seam")]
pub fn write_event(_out: &mut Vec<u8>, _name: Option<&str>, _id: Option<&str>, _data: &[u8]) {
    todo!()
}
