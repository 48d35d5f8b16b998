//! Calls of the host's own tools: they reach no server, so nothing is to be decided about them.

use alloc::string::{String, ToString as _};

use super::Calls;
use crate::host::event::{CallOutcome, ToolResult};
use crate::host::results::{PageHandle, present_page, present_text};
use crate::server::Principal;
use crate::time::Instant;

/// What a call of one of the host's own tools came to.
pub(super) enum Ran {
    Text(String),
    Error(String),
    More { handle: PageHandle, offset: Option<usize> },
}

impl Calls {
    pub(super) fn run_own(&mut self, ran: Ran, owner: &Principal, now: Instant) -> CallOutcome {
        let (text, is_error) = match ran {
            Ran::Text(text) => (text, false),
            Ran::Error(text) => (text, true),
            Ran::More { handle, offset } => match self.pages.page(owner, handle, offset, now) {
                Ok(page) => {
                    let presented = present_page(handle, page, &self.cap);
                    return CallOutcome::Completed(ToolResult { presented, raw: None });
                }
                Err(fault) => (fault.to_string(), true),
            },
        };
        let text = if self.cap.mask { self.mask.text(&text) } else { text };
        let presented = present_text(text, is_error, &self.cap, &mut self.pages, owner, now);
        let result = ToolResult { presented, raw: None };
        if is_error { CallOutcome::ToolError(result) } else { CallOutcome::Completed(result) }
    }
}
