//! The way out of a session: effects for its link, or, where all messages share one stream, its bytes at once.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::error::ApiError;
use crate::exchange::Origin;
use crate::outbox::{WHOLE, Waiting};
use crate::server::event::Effect;

/// What a session wants sent.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    /// The link is one stream: what is sent waits in `stream`, and there are no effects.
    joined: bool,
    stream: Waiting,
    effects: VecDeque<Effect>,
    effect_bytes: usize,
    /// Bytes that wait in the link below.
    outbound: usize,
}

impl Outlet {
    /// All messages go to one stream from now on, and its bytes wait here.
    pub(super) const fn join(&mut self) {
        self.joined = true;
    }

    /// The bytes of the one stream.
    pub(super) const fn stream(&self) -> &Waiting {
        &self.stream
    }

    /// The bytes of the one stream.
    pub(super) const fn stream_mut(&mut self) -> &mut Waiting {
        &mut self.stream
    }

    /// Bytes that wait, here and below.
    pub(super) fn bytes(&self) -> usize {
        self.stream.len().saturating_add(self.outbound).saturating_add(self.effect_bytes)
    }

    /// Bytes that wait below.
    pub(super) const fn outbound(&self) -> usize {
        self.outbound
    }

    pub(super) const fn set_outbound(&mut self, bytes: usize) {
        self.outbound = bytes;
    }

    /// Encodes a message of about `size` bytes: into the one stream, where it then waits already, or to be sent.
    ///
    /// # Errors
    /// That of `encode`; nothing waits then.
    #[inline]
    pub(super) fn encode(
        &mut self,
        size: usize,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), ApiError>,
    ) -> Result<Option<Vec<u8>>, ApiError> {
        if self.joined && size < WHOLE {
            return self.stream.try_append(encode).map(|()| None);
        }
        let mut message = Vec::with_capacity(size);
        encode(&mut message).map(|()| Some(message))
    }

    /// A message without spare room: it may be kept for a client that comes back. Where all go to one stream it is not.
    pub(super) fn exactly(&self, mut message: Vec<u8>) -> Bytes {
        if !self.joined && message.capacity() - message.len() > message.len() / 8 {
            message.shrink_to_fit();
        }
        message.into()
    }

    /// How many effects there is room for.
    pub(super) fn room(&self) -> usize {
        self.effects.capacity()
    }

    /// Lets go of room that holds nothing.
    pub(super) fn release(&mut self) {
        self.stream.release();
        if self.effects.is_empty() {
            self.effects = VecDeque::new();
        }
    }

    /// Whether all messages go to one stream.
    pub(super) const fn is_joined(&self) -> bool {
        self.joined
    }

    /// Puts a message into the one stream of which the middle is not copied.
    pub(super) fn send_parts(&mut self, head: &[u8], middle: Bytes, tail: &[u8]) {
        self.stream.append(|block| block.extend_from_slice(head));
        self.stream.push(middle);
        self.stream.append(|block| block.extend_from_slice(tail));
    }

    pub(super) fn send(&mut self, to: Origin, message: Option<Bytes>, last: bool, status: u16) {
        if self.joined {
            if let Some(message) = message {
                self.stream.push(message);
            }
            return;
        }
        self.effect_bytes += message.as_ref().map_or(0, Bytes::len);
        self.effects.push_back(Effect::Send { to, message, last, status });
    }

    pub(super) fn poll(&mut self) -> Option<Effect> {
        let effect = self.effects.pop_front()?;
        let Effect::Send { message, .. } = &effect;
        self.effect_bytes -= message.as_ref().map_or(0, Bytes::len);
        if self.effects.is_empty() && self.effects.capacity() > 256 {
            self.effects = VecDeque::new();
        }
        Some(effect)
    }

    /// What was to be sent last to `to`: whether nothing follows it there.
    pub(super) fn last_to(&mut self, to: Origin) -> Option<&mut bool> {
        self.effects.iter_mut().rev().find_map(|effect| match effect {
            Effect::Send { to: sent, last, .. } if *sent == to => Some(last),
            Effect::Send { .. } => None,
        })
    }

    /// Drops what was to be sent.
    pub(super) fn clear(&mut self) {
        self.effects.clear();
        self.effect_bytes = 0;
        self.stream.clear();
    }
}
