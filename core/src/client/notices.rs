//! Notifications that wait for a reader.

use alloc::collections::VecDeque;

use crate::client::event::RequestHandle;
use crate::jsonrpc::RawJson;
use crate::mcp::Method;

const MAX_NOTICES: usize = 1024;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Something the server told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// The `subscriptions/listen` request it belongs to (2026-07-28).
    pub subscription: Option<RequestHandle>,
    /// What it is.
    pub method: Method,
    /// Its parameters.
    pub params: Option<RawJson>,
}

impl Notification {
    /// One of these parts.
    #[must_use]
    pub const fn new(subscription: Option<RequestHandle>, method: Method, params: Option<RawJson>) -> Self {
        Self { subscription, method, params }
    }
}

/// A queue of notifications that forgets its oldest when its reader is slow: 1024 wait, and 8 MiB of parameters; a
/// single longer one waits too.
#[derive(Debug, Default)]
pub struct Notices {
    queue: VecDeque<Notification>,
    bytes: usize,
    lost: u64,
}

impl Notices {
    /// One more; the oldest go where there is no room.
    pub fn push(&mut self, notice: Notification) {
        self.bytes += held(&notice);
        self.queue.push_back(notice);
        while self.queue.len() > MAX_NOTICES || self.bytes > MAX_BYTES && self.queue.len() > 1 {
            if self.pop().is_some() {
                self.lost += 1;
            }
        }
    }

    /// A session took the place of one that the server had forgotten ([`Event::Renewed`](super::Event::Renewed)): what was
    /// listed in that may be stale, as if the server had said so of each list.
    pub fn renewed(&mut self) {
        for method in Method::LISTS_CHANGED {
            self.push(Notification::new(None, method, None));
        }
    }

    /// The oldest.
    pub fn pop(&mut self) -> Option<Notification> {
        let notice = self.queue.pop_front()?;
        self.bytes -= held(&notice);
        Some(notice)
    }

    /// How many went unread.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}

fn held(notice: &Notification) -> usize {
    notice.params.as_ref().map_or(0, RawJson::retained_len)
}
