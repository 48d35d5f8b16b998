//! Listings, a page at a time.

use crate::jsonrpc::ArrayWriter;
use crate::mcp::types::lifecycle::CacheHint;
use crate::mcp::{Revision, codes};
use crate::server::catalog::ListKind;
use crate::server::dispatch::{Asked, text};
use crate::server::params::Params;
use crate::server::revise;
use crate::server::session::Session;

/// What a page's message needs beside its elements.
const ENVELOPE_BYTES: usize = 2048;

impl Session {
    /// One of the four listings. Sees nothing but the catalog, the principal and the cursor.
    ///
    /// Spec: MCP server/utilities/pagination; server/tools and its siblings, "Listing".
    pub(super) fn list(&mut self, asked: &Asked, params: &Params<'_>, revision: Revision) {
        let Some(kind) = ListKind::of(&asked.method) else { return };
        let offered = match kind {
            ListKind::Tools => self.has_tools(),
            ListKind::Resources | ListKind::Templates => self.has_resources(),
            ListKind::Prompts => self.has_prompts(),
        };
        if !offered {
            let status = if revision.era() == crate::mcp::Era::Modern { 404 } else { 200 };
            return self.refuse_unknown_method(asked, status);
        }
        let catalog = self.catalog.clone();
        let list = catalog.list(kind);
        let first = match params.cursor() {
            None => Some(0),
            Some(cursor) => text(Some(cursor))
                .and_then(|cursor| self.cursors.take(kind, list.generation(), &cursor))
                .filter(|place| *place < list.len()),
        };
        let Some(first) = first else {
            let message = "the cursor is not valid, or no longer; list again from the start";
            return self.refuse(asked, codes::INVALID_PARAMS, message, None);
        };
        let most =
            self.config.limits.max_message_bytes.saturating_sub(ENVELOPE_BYTES + asked.id.heap_bytes() * 6);
        let filter = self.config.tool_filter.as_ref().filter(|_| kind == ListKind::Tools);
        let page = |w: &mut ArrayWriter<'_>| {
            let (mut count, mut bytes) = (0, 0);
            for (place, key, item) in list.from(first) {
                if filter.is_some_and(|filter| !filter.shows(&asked.principal, key)) || item.len() > most {
                    continue;
                }
                if count >= self.config.page_size || bytes + item.len() > most {
                    return Some(place);
                }
                revise::write_item(w, kind, item, revision);
                count += 1;
                bytes += item.len() + 1;
            }
            None
        };
        // What a filter shows to one is not for others to see.
        let cache = CacheHint {
            public: self.config.cache.lists.public && filter.is_none(),
            ..self.config.cache.lists
        };
        let message = self.replies.own(&asked.id, revision, Some(cache), |w| {
            let mut next = None;
            w.array(kind.member(), |w| next = page(w));
            if let Some(next) = next {
                w.string("nextCursor", &self.cursors.give(kind, list.generation(), next));
            }
        });
        self.answer_own(asked, message);
    }
}
