//! What a server lists, put together from the pages of a listing.

use alloc::vec::Vec;

use super::flaw::cut;
use super::lifecycle::CacheHint;
use super::page::{
    KeyOrder, ListItem, MAX_SET_ASIDE, MAX_SET_ASIDE_NAME, Page, PageWarning, SetAside, SetAsideReason,
};
use crate::jsonrpc::RawJson;

/// The elements of any number of pages, in the order of the pages and as advertised within each.
///
/// Holds what it was given and no more; the bounds on pages, elements and bytes are those of whoever makes the
/// requests ([`client::Listing`](crate::client::Listing)).
#[derive(Clone, Debug, PartialEq)]
pub struct Collection<T> {
    items: Vec<T>,
    order: KeyOrder,
    set_aside: Vec<OnPage<SetAside>>,
    set_aside_total: usize,
    warnings: Vec<OnPage<PageWarning>>,
    cache: Option<CacheHint>,
    pages: usize,
}

/// Something that was found on a page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OnPage<W> {
    /// The page, from 0.
    pub page: usize,
    /// What it is.
    pub what: W,
}

impl<T> Default for Collection<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            order: KeyOrder::default(),
            set_aside: Vec::new(),
            set_aside_total: 0,
            warnings: Vec::new(),
            cache: None,
            pages: 0,
        }
    }
}

impl<T: ListItem> Collection<T> {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the results of a listing: see [`Page::read`].
    #[must_use]
    pub fn read<'a>(results: impl IntoIterator<Item = &'a RawJson>) -> Self {
        let mut all = Self::new();
        for result in results {
            all.add(Page::read(result));
        }
        all
    }

    /// Adds the next page. Of elements with one name the first stays, on whatever page the others come.
    ///
    /// The page's cursor is not kept: ask for the next page with it before.
    pub fn add(&mut self, page: Page<T>) {
        let number = self.pages;
        self.pages += 1;
        self.cache = Some(match self.cache {
            None => page.cache,
            Some(so_far) => CacheHint {
                ttl_ms: so_far.ttl_ms.min(page.cache.ttl_ms),
                public: so_far.public && page.cache.public,
            },
        });
        self.warnings.extend(page.warnings.into_iter().map(|what| OnPage { page: number, what }));
        self.set_aside_total += page.set_aside_total;
        for what in page.set_aside {
            self.set_aside(number, what);
        }
        for (index, item) in page.items.into_iter().enumerate() {
            if self.order.insert(&self.items, &item) {
                self.items.push(item);
            } else {
                self.set_aside_total += 1;
                let name = Some(cut(item.key(), MAX_SET_ASIDE_NAME).into());
                self.set_aside(number, SetAside { index, name, reason: SetAsideReason::Duplicate });
            }
        }
    }

    fn set_aside(&mut self, page: usize, what: SetAside) {
        if self.set_aside.len() < MAX_SET_ASIDE {
            self.set_aside.push(OnPage { page, what });
        }
    }

    /// The usable elements.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The usable elements, given away.
    #[must_use]
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// The element of that name or URI. O(log n).
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&T> {
        self.order.find(&self.items, key)
    }

    /// What was set aside, at most [`MAX_SET_ASIDE`] elements. A duplicate's index counts the usable elements of its
    /// page.
    #[must_use]
    pub fn set_aside_items(&self) -> &[OnPage<SetAside>] {
        &self.set_aside
    }

    /// How many elements were set aside in all: with those in [`items`](Self::items) the number that was advertised.
    #[must_use]
    pub const fn set_aside_total(&self) -> usize {
        self.set_aside_total
    }

    /// What is wrong with the pages themselves.
    #[must_use]
    pub fn warnings(&self) -> &[OnPage<PageWarning>] {
        &self.warnings
    }

    /// How long the whole may be kept: as long as the page that may be kept least, and public only if every page is.
    ///
    /// Spec: MCP 2026-07-28 server/utilities/caching.
    #[must_use]
    pub fn cache(&self) -> CacheHint {
        self.cache.unwrap_or_default()
    }

    /// How many pages it has.
    #[must_use]
    pub const fn pages(&self) -> usize {
        self.pages
    }
}
