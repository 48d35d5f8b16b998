//! Bytes that wait to be written: small messages joined into one block, each with a key that comes back when
//! its first byte has left.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::limits::MAX_KEPT_BYTES;

/// A message at least this long is not copied into a block of others but waits as it is.
pub(crate) const WHOLE: usize = 16 * 1024;
/// A block that holds so many bytes takes no more: the room of what has left it is free again only when all of it
/// has left, and a peer that never quite catches up must not make it grow for ever.
pub(crate) const BLOCK: usize = 256 * 1024;

/// A queue of bytes, lent to the driver from its start ([`transmit`](Self::transmit)) and taken off as they
/// leave ([`written`](Self::written)). `K` names a message; see [`poll_sent`](Self::poll_sent).
#[derive(Debug)]
pub struct Outbox<K> {
    waiting: Waiting,
    /// Offset, counted over the life of the outbox, at which each queued message begins.
    begins: VecDeque<(u64, K)>,
}

/// The bytes of an outbox, which has no names: enough where nobody asks what has left.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// The block being written: `block[start..]` waits. Small messages are appended here while nothing big
    /// stands in between.
    block: Vec<u8>,
    start: usize,
    /// What comes after the block, in order.
    later: VecDeque<Chunk>,
    queued: u64,
    left: u64,
}

#[derive(Debug)]
enum Chunk {
    Whole(Bytes, usize),
    Joined(Vec<u8>, usize),
}

impl Chunk {
    fn rest(&self) -> &[u8] {
        match self {
            Self::Whole(bytes, from) => bytes.get(*from..).unwrap_or_default(),
            Self::Joined(bytes, from) => bytes.get(*from..).unwrap_or_default(),
        }
    }

    fn skip(&mut self, len: usize) {
        match self {
            Self::Whole(_, from) | Self::Joined(_, from) => *from += len,
        }
    }
}

impl Waiting {
    /// Queues `message`. Small ones are copied behind what waits, big ones are kept as they are.
    pub(crate) fn push(&mut self, message: Bytes) {
        if message.len() < WHOLE {
            return self.append(|block| block.extend_from_slice(&message));
        }
        self.queued += message.len() as u64;
        self.later.push_back(Chunk::Whole(message, 0));
    }

    /// Queues the small message that `write` appends to the block of those that wait.
    #[inline]
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let block = self.block();
        let before = block.len();
        write(block);
        let len = block.len() - before;
        self.queued += len as u64;
    }

    /// As [`append`](Self::append), with a way to think better of it: then nothing of it stays.
    ///
    /// # Errors
    /// That of `write`.
    #[inline]
    pub(crate) fn try_append<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let block = self.block();
        let before = block.len();
        let written = write(block);
        if written.is_err() {
            block.truncate(before);
            // An empty chunk would look like the end of what waits.
            if matches!(self.later.back(), Some(Chunk::Joined(bytes, _)) if bytes.is_empty()) {
                self.later.pop_back();
            }
            return written;
        }
        let len = block.len() - before;
        self.queued += len as u64;
        Ok(())
    }

    /// The block that the next small message goes to.
    #[inline]
    fn block(&mut self) -> &mut Vec<u8> {
        if self.later.is_empty() && self.block.len() < BLOCK {
            return &mut self.block;
        }
        self.later_block()
    }

    #[inline(never)]
    fn later_block(&mut self) -> &mut Vec<u8> {
        if !matches!(self.later.back(), Some(Chunk::Joined(bytes, _)) if bytes.len() < BLOCK) {
            self.later.push_back(Chunk::Joined(Vec::new(), 0));
        }
        match self.later.back_mut() {
            Some(Chunk::Joined(bytes, _)) => bytes,
            _ => &mut self.block,
        }
    }

    /// What waits, from its start: the longest run of bytes that lie together.
    pub(crate) fn transmit(&self) -> &[u8] {
        match self.block.get(self.start..) {
            Some(rest) if !rest.is_empty() => rest,
            _ => self.later.front().map_or(&[], Chunk::rest),
        }
    }

    /// Takes `len` bytes of [`transmit`](Self::transmit) off; more than there are is cut to what there is.
    pub(crate) fn written(&mut self, len: usize) {
        let len = len.min(self.transmit().len());
        self.left += len as u64;
        if self.start < self.block.len() {
            self.start += len;
            if self.start == self.block.len() {
                self.rewind();
            }
        } else if let Some(front) = self.later.front_mut() {
            front.skip(len);
            if front.rest().is_empty() {
                match self.later.pop_front() {
                    // The joined block behind a big message becomes the one that new messages are appended to.
                    Some(Chunk::Joined(bytes, _)) if bytes.capacity() > self.block.capacity() => {
                        self.block = bytes;
                        self.rewind();
                    }
                    _ => {}
                }
            }
        }
    }

    fn rewind(&mut self) {
        self.start = 0;
        self.block.clear();
        if self.block.capacity() > MAX_KEPT_BYTES {
            self.block = Vec::new();
        }
    }

    /// Lets go of all room that holds nothing.
    pub(crate) fn release(&mut self) {
        if self.is_empty() {
            self.clear();
        }
    }

    /// Bytes that wait.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.queued - self.left).unwrap_or(usize::MAX)
    }

    /// Whether nothing waits.
    pub(crate) const fn is_empty(&self) -> bool {
        self.queued == self.left
    }

    /// Drops what waits.
    pub(crate) fn clear(&mut self) {
        self.left = self.queued;
        self.later.clear();
        self.start = 0;
        self.block = Vec::new();
    }

    /// Bytes of memory held, spare room included.
    pub(crate) fn retained_bytes(&self) -> usize {
        let later: usize = self
            .later
            .iter()
            .map(|chunk| match chunk {
                Chunk::Whole(bytes, _) => bytes.len(),
                Chunk::Joined(bytes, _) => bytes.capacity(),
            })
            .sum();
        self.block.capacity() + later
    }
}

impl<K> Default for Outbox<K> {
    fn default() -> Self {
        Self { waiting: Waiting::default(), begins: VecDeque::new() }
    }
}

impl<K> Outbox<K> {
    /// Queues `message`. Small ones are copied behind what waits, big ones are kept as they are.
    pub fn push(&mut self, key: K, message: Bytes) {
        self.begins.push_back((self.waiting.queued, key));
        self.waiting.push(message);
    }

    /// What waits, from its start: the longest run of bytes that lie together.
    #[must_use]
    pub fn transmit(&self) -> &[u8] {
        self.waiting.transmit()
    }

    /// Takes `len` bytes of [`transmit`](Self::transmit) off; more than there are is cut to what there is.
    pub fn written(&mut self, len: usize) {
        self.waiting.written(len);
    }

    /// The next message whose first byte has left, in order.
    pub fn poll_sent(&mut self) -> Option<K> {
        match self.begins.front() {
            Some((at, _)) if *at < self.waiting.left => self.begins.pop_front().map(|(_, key)| key),
            _ => None,
        }
    }

    /// Bytes that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops what waits; keys of messages that never began are dropped with it.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.begins.clear();
    }

    /// Bytes of memory held, spare room included.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.waiting.retained_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_messages_leave_in_one_run() {
        let mut outbox = Outbox::default();
        outbox.push(1, Bytes::from_static(b"one\n"));
        outbox.push(2, Bytes::from_static(b"two\n"));
        assert_eq!(outbox.transmit(), b"one\ntwo\n");
        outbox.written(1);
        assert_eq!(outbox.poll_sent(), Some(1));
        assert_eq!(outbox.poll_sent(), None);
        outbox.written(4);
        assert_eq!(outbox.poll_sent(), Some(2));
        assert_eq!(outbox.transmit(), b"wo\n");
    }

    #[test]
    fn a_big_message_is_not_copied() {
        let big = Bytes::from(alloc::vec![b'x'; WHOLE]);
        let mut outbox = Outbox::default();
        outbox.push(1, big.clone());
        assert_eq!(outbox.transmit().as_ptr(), big.as_ptr());
    }

    #[test]
    fn a_peer_that_never_quite_catches_up_costs_what_waits() {
        for big in [false, true] {
            let mut outbox = Outbox::default();
            if big {
                outbox.push(0, Bytes::from(alloc::vec![b'x'; WHOLE]));
            }
            for key in 1..1_000_000 {
                outbox.push(key, Bytes::from_static(b"0123456789abcdef"));
                // Always a little less than there is.
                while outbox.len() > 100 {
                    outbox.written(outbox.transmit().len().min(outbox.len() - 100));
                }
                while outbox.poll_sent().is_some() {}
                assert!(outbox.retained_bytes() <= 4 * BLOCK, "{} after {key}", outbox.retained_bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_leave_in_the_order_they_came(
            sizes in prop::collection::vec(prop_oneof![1usize..50, Just(WHOLE), Just(WHOLE + 7)], 1..12),
            cuts in prop::collection::vec(1usize..20_000, 1..60),
        ) {
            let mut outbox = Outbox::default();
            let mut expected = Vec::new();
            let mut got = Vec::new();
            let mut sent = Vec::new();
            let mut cuts = cuts.into_iter().cycle();
            for (key, size) in sizes.iter().enumerate() {
                let message = alloc::vec![u8::try_from(key % 251).unwrap_or(0); *size];
                expected.extend_from_slice(&message);
                let refused = outbox.waiting.try_append(|block| {
                    block.extend_from_slice(b"never sent");
                    Err(())
                });
                prop_assert!(refused.is_err());
                if key % 2 == 0 && *size < WHOLE {
                    outbox.begins.push_back((outbox.waiting.queued, key));
                    prop_assert_eq!(outbox.waiting.try_append(|block| {
                        block.extend_from_slice(&message);
                        Ok::<(), ()>(())
                    }), Ok(()));
                } else {
                    outbox.push(key, Bytes::from(message));
                }
                let take = cuts.next().unwrap_or(1).min(outbox.transmit().len());
                got.extend_from_slice(&outbox.transmit()[..take]);
                outbox.written(take);
                prop_assert_eq!(outbox.len(), expected.len() - got.len());
            }
            while !outbox.is_empty() {
                let take = cuts.next().unwrap_or(1).min(outbox.transmit().len());
                got.extend_from_slice(&outbox.transmit()[..take]);
                outbox.written(take);
                while let Some(key) = outbox.poll_sent() { sent.push(key); }
            }
            while let Some(key) = outbox.poll_sent() { sent.push(key); }
            prop_assert_eq!(got, expected);
            prop_assert_eq!(sent, (0..sizes.len()).collect::<Vec<_>>());
        }
    }
}
