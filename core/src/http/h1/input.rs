//! The bytes that came and were not looked at yet.

use alloc::vec::Vec;
use core::mem;

use bytes::{Buf, Bytes};

use crate::limits::MAX_READ_BYTES;

const FIRST_BYTES: usize = 4 * 1024;
/// Up to this length a copy is cheaper than giving the buffer away.
const SMALL_BYTES: usize = 16 * 1024;

/// A buffer that the driver appends to, and of which pieces are taken from its start.
///
/// It starts at 4 KiB, doubles while reads fill it or a head does not fit, and never grows beyond `most`.
pub(super) struct Input {
    buffer: Vec<u8>,
    /// What stands before it was taken.
    start: usize,
    most: usize,
    /// How big the next buffer is to be.
    next: usize,
}

impl Input {
    /// An empty one that holds heads of `max_head_bytes`, and one read more.
    pub(super) const fn new(max_head_bytes: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            most: max_head_bytes.saturating_add(MAX_READ_BYTES),
            next: FIRST_BYTES,
        }
    }

    /// The buffer with at least one free byte: see [`Machine::read_buffer`](crate::Machine::read_buffer).
    pub(super) fn read_buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() < self.next {
                self.buffer = Vec::with_capacity(self.next);
            }
        } else if self.start > 0 {
            self.buffer.copy_within(self.start.., 0);
            self.buffer.truncate(self.buffer.len() - self.start);
        }
        self.start = 0;
        let len = self.buffer.len();
        if len == self.buffer.capacity() {
            let wanted = (len * 2).min(self.most).max(len + 1);
            self.buffer.reserve_exact(wanted - len);
        }
        &mut self.buffer
    }

    /// Notes that something was appended.
    pub(super) fn appended(&mut self) {
        if self.buffer.len() == self.buffer.capacity() {
            self.next = (self.buffer.capacity() * 2).min(MAX_READ_BYTES).max(self.next);
        }
    }

    /// What was not taken yet.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Whether all was taken.
    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }

    /// How much was not taken yet.
    pub(super) const fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Takes `len` bytes and drops them.
    pub(super) fn skip(&mut self, len: usize) {
        self.start = (self.start + len).min(self.buffer.len());
        // What a long head asked for is not kept.
        if self.is_empty() && self.buffer.capacity() > MAX_READ_BYTES {
            self.buffer = Vec::new();
            self.start = 0;
        }
    }

    /// Takes `len` bytes. Many of them that fill at least half of the buffer leave with it, others as a copy.
    pub(super) fn take(&mut self, len: usize) -> Bytes {
        let piece = self.unread().get(..len).unwrap_or(self.unread());
        let len = piece.len();
        if len < SMALL_BYTES || len < self.buffer.capacity() / 2 {
            let copy = Bytes::copy_from_slice(piece);
            self.skip(len);
            return copy;
        }
        let rest = self.unread().get(len..).unwrap_or_default().to_vec();
        let mut buffer = mem::replace(&mut self.buffer, rest);
        buffer.truncate(self.start + len);
        let mut piece = Bytes::from(buffer);
        piece.advance(self.start);
        self.start = 0;
        piece
    }

    /// Drops all.
    pub(super) fn clear(&mut self) {
        self.buffer = Vec::new();
        self.start = 0;
        self.next = FIRST_BYTES;
    }

    /// Lets go of a buffer that holds nothing.
    pub(super) fn release(&mut self) {
        if self.is_empty() {
            self.clear();
        }
    }

    /// Bytes of memory held.
    pub(super) const fn retained_bytes(&self) -> usize {
        self.buffer.capacity()
    }
}
