//! Notifications that wait for a reader.

use std::collections::VecDeque;

use sanswire::client::RequestHandle;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

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

/// A queue that forgets its oldest when its reader is slow.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    queue: VecDeque<Notification>,
    bytes: usize,
    lost: u64,
    /// Threads that wait for one.
    pub(crate) readers: u32,
}

impl Notices {
    pub(crate) fn push(&mut self, notice: Notification) {
        self.bytes += held(&notice);
        self.queue.push_back(notice);
        while self.queue.len() > MAX_NOTICES || self.bytes > MAX_BYTES && self.queue.len() > 1 {
            if self.pop().is_some() {
                self.lost += 1;
            }
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Notification> {
        let notice = self.queue.pop_front()?;
        self.bytes -= held(&notice);
        Some(notice)
    }

    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }
}

fn held(notice: &Notification) -> usize {
    notice.params.as_ref().map_or(0, RawJson::retained_len)
}
