//! A whole listing, page by page, under caps. Sees no bytes: the caller makes the requests.

use alloc::vec::Vec;

use crate::client::event::Outcome;
use crate::jsonrpc::{Kind, RawJson};
use crate::limits::Limits;
use crate::mcp::Method;
use crate::mcp::types::lifecycle::CacheHint;

/// One listing in progress. Ask [`first`](Self::first) for its first request, then hand every outcome to
/// [`next`](Self::next) until it is done.
///
/// The end is the absence of a cursor, never its value; endless cursors end at the caps of
/// [`Limits`], with what was listed so far.
#[derive(Clone, Debug)]
pub struct Listing {
    method: Method,
    pages: Vec<RawJson>,
    items: usize,
    bytes: usize,
    max_pages: u32,
    max_items: usize,
    max_bytes: usize,
    /// As it came, quotes and escapes included: a cursor is opaque to the byte.
    last_cursor: Option<RawJson>,
    cursor_repeated: bool,
}

/// What to do next for a [`Listing`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Make this request.
    Request(Method, Option<RawJson>),
    /// The listing is over.
    Done(Listed),
}

/// A finished listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The results, in order. [`Collection::read`](crate::mcp::types::collection::Collection::read) makes items of a type
    /// of them: tools, resources, prompts.
    pub pages: Vec<RawJson>,
    /// Why it is not whole, if it is not.
    pub cut: Option<Cut>,
    /// How long it may be kept: the shortest of the pages', and for the user alone if any page says so.
    pub cache: CacheHint,
    /// A cursor came twice in a row: a hint that the server does not page as it should.
    pub cursor_repeated: bool,
}

/// Why a listing is not whole.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cut {
    /// [`Limits::max_pages`] was reached.
    Pages(u32),
    /// [`Limits::max_items`] was reached.
    Items(usize),
    /// [`Limits::max_list_bytes`] was reached.
    Bytes(usize),
    /// A page could not be had; with no page before it, nothing was listed.
    Failed(Outcome),
}

impl Listing {
    /// A listing by `method`, one of the four list methods.
    #[must_use]
    pub fn new(method: Method, limits: &Limits) -> Self {
        Self {
            method,
            pages: Vec::new(),
            items: 0,
            bytes: 0,
            max_pages: limits.max_pages,
            max_items: limits.max_items,
            max_bytes: limits.max_list_bytes,
            last_cursor: None,
            cursor_repeated: false,
        }
    }

    /// The name of the array that holds the items.
    const fn member(&self) -> &'static str {
        if matches!(self.method, Method::ResourcesList) {
            "resources"
        } else if matches!(self.method, Method::ResourcesTemplatesList) {
            "resourceTemplates"
        } else if matches!(self.method, Method::PromptsList) {
            "prompts"
        } else {
            "tools"
        }
    }

    /// Bytes that the pages so far keep alive.
    #[must_use]
    pub const fn retained_bytes(&self) -> usize {
        self.bytes
    }

    /// The first request.
    #[must_use]
    pub fn first(&self) -> (Method, Option<RawJson>) {
        (self.method.clone(), None)
    }

    /// Takes the outcome of the last request.
    pub fn next(&mut self, outcome: Outcome) -> Step {
        let Outcome::Complete(page) = outcome else { return self.done(Some(Cut::Failed(outcome))) };
        let view = page.view();
        self.items += view.get(self.member()).map_or(0, |items| items.elements().count());
        self.bytes = self.bytes.saturating_add(page.retained_len());
        let cursor = view.get("nextCursor").filter(|cursor| cursor.kind() == Kind::String);
        let cursor = cursor.and_then(|cursor| page.slice_of(cursor)).map(|cursor| cursor.to_compact());
        self.pages.push(page);
        let Some(cursor) = cursor else { return self.done(None) };
        let pages = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        if self.items >= self.max_items {
            return self.done(Some(Cut::Items(self.max_items)));
        }
        if self.bytes >= self.max_bytes {
            return self.done(Some(Cut::Bytes(self.max_bytes)));
        }
        if pages >= self.max_pages {
            return self.done(Some(Cut::Pages(self.max_pages)));
        }
        self.cursor_repeated |= self.last_cursor.as_ref() == Some(&cursor);
        let params = RawJson::object(|w| {
            w.raw("cursor", cursor.view());
        });
        self.last_cursor = Some(cursor);
        Step::Request(self.method.clone(), Some(params))
    }

    fn done(&mut self, cut: Option<Cut>) -> Step {
        let hints = self.pages.iter().map(|page| CacheHint::read(page.view()));
        let cache = hints
            .reduce(|a, b| CacheHint { ttl_ms: a.ttl_ms.min(b.ttl_ms), public: a.public && b.public })
            .unwrap_or_default();
        Step::Done(Listed {
            pages: core::mem::take(&mut self.pages),
            cut,
            cache,
            cursor_repeated: self.cursor_repeated,
        })
    }
}
