//! Lines, cut out of what a stream brings.

use super::Scanner;
use crate::jsonrpc::RequestId;
use alloc::vec::Vec;
use bytes::Bytes;
use core::mem;

/// The most that one read is expected to bring: what the buffer may hold beyond the longest message.
pub const READ_BYTES: usize = 64 * 1024;

const FIRST_BYTES: usize = 4 * 1024;
/// Up to this length a copy is cheaper than giving the buffer away.
const SMALL_BYTES: usize = 16 * 1024;
/// The biggest block that is kept for the next big frame.
const KEPT_BYTES: usize = 2 * 1024 * 1024;

/// What a line turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its LF, and without a CR in front of that; not blank.
    Message(Bytes),
    /// A line above the limit. It was read to its end and thrown away.
    TooLong {
        /// Its top-level id, if it is an object that has one.
        id: Option<RequestId>,
        /// Whether it has a top-level `method`: then it is a request or notification, not a response.
        has_method: bool,
        /// Its length in bytes, without the LF.
        len: u64,
    },
}

/// Cuts a byte stream into lines, with a bound.
///
/// The driver appends what it read to [`read_buffer`](Self::read_buffer), within its spare room, calls
/// [`handle_read`](Self::handle_read), and takes frames with [`poll_frame`](Self::poll_frame) until there is
/// none. Only the byte 0x0A ends a line, so characters that were cut by a read come together again. Blank lines
/// are passed over. The frames do not depend on how the stream was cut.
///
/// A small frame leaves as an exact copy. A big one that fills at least half of the buffer takes the whole buffer
/// along and is not copied. So nothing keeps more than twice its length alive. The buffer starts at 4 KiB, doubles
/// while a line does not fit, and stays below `max_message_bytes` + [`READ_BYTES`]; a line above the limit is
/// skipped in constant memory and reported as [`Frame::TooLong`]. No byte is searched twice.
///
/// Source: MCP basic/transports, "stdio" (messages are delimited by newlines).
#[derive(Debug)]
pub struct LineDecoder {
    max_message_bytes: usize,
    buffer: Vec<u8>,
    /// Where the line begins that is not complete yet, or not taken yet.
    start: usize,
    /// Up to where no LF was found.
    searched: usize,
    /// A block that came back, or is to be used before a new one is asked for.
    kept: Option<Vec<u8>>,
    /// To how many bytes the buffer grows at once, since the last big frame needed so many.
    big_bytes: usize,
    skipping: Option<Skipping>,
    /// A report that is not taken yet.
    too_long: Option<Frame>,
    at_end: bool,
}

/// A line that is too long, being thrown away.
#[derive(Debug)]
struct Skipping {
    scanner: Scanner,
    len: u64,
}

impl LineDecoder {
    /// A decoder in front of a stream. `max_message_bytes` bounds a line, its LF not counted.
    #[must_use]
    pub fn new(max_message_bytes: usize) -> Self {
        Self {
            max_message_bytes,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            kept: None,
            big_bytes: 0,
            skipping: None,
            too_long: None,
            at_end: false,
        }
    }

    /// The buffer, with spare room for the next read: append to it, but never let it grow.
    ///
    /// At least one byte is free. What was taken is dropped first; the unfinished line moves to the front, once a
    /// read. Take all frames before: those that are still waiting need room of their own.
    pub fn read_buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
        } else if self.start > 0 {
            self.buffer.copy_within(self.start.., 0);
            self.buffer.truncate(self.buffer.len() - self.start);
        }
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.len() == self.buffer.capacity() {
            self.grow();
        }
        &mut self.buffer
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let len = self.buffer.len();
        if let Some(mut kept) = self.kept.take_if(|kept| kept.capacity() > len) {
            kept.extend_from_slice(&self.buffer);
            self.buffer = kept;
            return;
        }
        let most = self.max_message_bytes.saturating_add(READ_BYTES);
        let wanted = if len == 0 { FIRST_BYTES } else { (len * 2).max(self.big_bytes) };
        // Frames that nobody took may fill the buffer: then there must be room beyond the bound.
        let wanted = wanted.min(most).max(len + 1);
        self.buffer.reserve_exact(wanted - len);
    }

    /// Looks at what was appended.
    #[inline]
    pub fn handle_read(&mut self) {
        if self.skipping.is_some() {
            self.skip();
        }
    }

    /// The stream is over: a last line without LF counts as a line.
    pub fn handle_eof(&mut self) {
        self.at_end = true;
    }

    /// The next complete line of what was read.
    #[inline]
    pub fn poll_frame(&mut self) -> Option<Frame> {
        let idle = self.searched == self.buffer.len() && !self.at_end;
        if idle && self.too_long.is_none() { None } else { self.next_frame() }
    }

    fn next_frame(&mut self) -> Option<Frame> {
        loop {
            if self.too_long.is_some() {
                return self.too_long.take();
            }
            if self.skipping.is_some() {
                self.skip();
                if self.skipping.is_some() {
                    return None;
                }
                continue;
            }
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let end = match memchr::memchr(b'\n', unsearched) {
                Some(found) => self.searched + found,
                None if self.at_end && self.start < self.buffer.len() => self.buffer.len(),
                None => {
                    self.searched = self.buffer.len();
                    self.check_length();
                    return None;
                }
            };
            if let Some(frame) = self.take_line(end) {
                return Some(frame);
            }
        }
    }

    /// Bytes that this decoder holds on the heap.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.buffer.capacity()
            + self.kept.as_ref().map_or(0, Vec::capacity)
            + self.skipping.as_ref().map_or(0, |skipping| skipping.scanner.retained_bytes())
    }

    /// Takes a big frame's buffer back when its last view is gone, so that the next big frame needs no fresh
    /// memory. Anything else, and anything above 2 MiB, is dropped.
    pub fn recycle(&mut self, frame: Bytes) {
        if frame.len() < SMALL_BYTES {
            return;
        }
        let Ok(mut block) = frame.try_into_mut() else { return };
        block.clear();
        let block = Vec::from(block);
        let kept = self.kept.as_ref().map_or(0, Vec::capacity);
        if block.capacity() > kept && block.capacity() <= KEPT_BYTES {
            self.kept = Some(block);
        }
    }

    /// Lets go of all room that holds nothing: for a stream that is quiet. What comes next pays for it.
    pub fn release(&mut self) {
        self.kept = None;
        self.big_bytes = 0;
        if self.start == self.buffer.len() && self.buffer.capacity() > FIRST_BYTES {
            self.buffer = Vec::new();
            self.start = 0;
            self.searched = 0;
        }
    }

    /// Takes the line from `start` to `end` (its LF, or the end of the stream) out of the buffer. Nothing if it
    /// is blank.
    #[inline]
    fn take_line(&mut self, end: usize) -> Option<Frame> {
        let line = self.buffer.get(self.start..end).unwrap_or_default();
        if line.len() > self.max_message_bytes {
            let mut skipping = Skipping { scanner: Scanner::new(), len: 0 };
            skipping.take(line);
            self.line_taken(end);
            return Some(skipping.report());
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if is_blank(line) {
            self.line_taken(end);
            return None;
        }
        if line.len() < SMALL_BYTES || line.len() < self.buffer.capacity() / 2 {
            let copy = Bytes::copy_from_slice(line);
            self.line_taken(end);
            return Some(Frame::Message(copy));
        }
        let len = line.len();
        Some(Frame::Message(self.give_buffer_away(len, end)))
    }

    fn line_taken(&mut self, end: usize) {
        self.start = (end + 1).min(self.buffer.len());
        self.searched = self.start;
        // A block beyond what is kept goes as soon as it is empty.
        if self.start == self.buffer.len() && self.buffer.capacity() > KEPT_BYTES {
            self.buffer = Vec::new();
            self.start = 0;
            self.searched = 0;
        }
    }

    /// The line leaves with the buffer; what stands behind it moves to another one.
    #[inline(never)]
    fn give_buffer_away(&mut self, len: usize, end: usize) -> Bytes {
        self.big_bytes = self.buffer.capacity().min(KEPT_BYTES);
        let rest = self.buffer.get(end + 1..).unwrap_or_default();
        let mut next = Vec::new();
        if !rest.is_empty() {
            next = self.kept.take().unwrap_or_default();
            next.reserve_exact(rest.len().max(FIRST_BYTES));
            next.extend_from_slice(rest);
        }
        let mut buffer = mem::replace(&mut self.buffer, next);
        buffer.truncate(self.start + len);
        let mut frame = Bytes::from(buffer);
        bytes::Buf::advance(&mut frame, self.start);
        self.start = 0;
        self.searched = 0;
        frame
    }

    /// Begins to skip as soon as the unfinished line is too long.
    fn check_length(&mut self) {
        let line = self.buffer.get(self.start..).unwrap_or_default();
        if line.len() <= self.max_message_bytes {
            return;
        }
        let mut skipping = Skipping { scanner: Scanner::new(), len: 0 };
        skipping.take(line);
        self.skipping = Some(skipping);
        self.drop_buffered();
    }

    /// Throws away what was read of a line that is too long, up to its LF.
    fn skip(&mut self) {
        let Some(skipping) = &mut self.skipping else { return };
        let unread = self.buffer.get(self.start..).unwrap_or_default();
        match memchr::memchr(b'\n', unread) {
            Some(end) => {
                skipping.take(unread.get(..end).unwrap_or_default());
                self.too_long = self.skipping.take().map(Skipping::report);
                self.line_taken(self.start + end);
            }
            None => {
                skipping.take(unread);
                self.drop_buffered();
                if self.at_end {
                    self.too_long = self.skipping.take().map(Skipping::report);
                }
            }
        }
    }

    fn drop_buffered(&mut self) {
        self.buffer.clear();
        self.start = 0;
        self.searched = 0;
        if self.buffer.capacity() > READ_BYTES {
            self.buffer = Vec::with_capacity(READ_BYTES);
        }
    }
}

impl Skipping {
    fn take(&mut self, piece: &[u8]) {
        self.len += piece.len() as u64;
        self.scanner.feed(piece);
    }

    fn report(self) -> Frame {
        let (id, has_method) = self.scanner.finish();
        Frame::TooLong { id, has_method, len: self.len }
    }
}

fn is_blank(line: &[u8]) -> bool {
    match line.first() {
        Some(byte) if *byte > b' ' => false,
        _ => line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')),
    }
}
