//! One page of a listing, read element by element: what is wrong with one element never hides the others.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::flaw::{Flaw, bounded, cut};
use super::lifecycle::CacheHint;
use super::schema::SchemaFault;
use crate::jsonrpc::{Cursor, JsonRef, JsonStr, Kind, RawJson};
use crate::mcp::mirror::Why;

/// The most elements that are read from one page unless another bound is given.
pub const MAX_PAGE_ITEMS: usize = 10_000;
/// The most elements of one page that are set aside one by one; what is beyond is counted only.
pub const MAX_SET_ASIDE: usize = 1_000;
/// The most bytes of a name that a [`SetAside`] keeps.
pub const MAX_SET_ASIDE_NAME: usize = 256;

/// Something that servers list: [`Tool`](super::tool::Tool)
pub trait ListItem: Sized {
    /// The member of the result that holds the array.
    const ITEMS: &'static str;
    /// The member by which an element is told from the others.
    const KEY: &'static str;

    /// Reads one element.
    ///
    /// # Errors
    /// Why it cannot be used; show the reason and go on with the others.
    fn read(raw: RawJson) -> Result<Self, SetAsideReason>;

    /// What it is told from the others by: a name or URI.
    fn key(&self) -> &str;
}

/// One page of a listing. Order as advertised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The usable elements.
    pub items: Vec<T>,
    /// The others, at most [`MAX_SET_ASIDE`].
    pub set_aside: Vec<SetAside>,
    /// How many were set aside in all.
    pub set_aside_total: usize,
    /// Where the next page begins; `None` on the last one. Opaque: an empty text is a cursor like any other.
    pub next_cursor: Option<String>,
    /// How long the page may be kept (2026-07-28).
    pub cache: CacheHint,
    /// What is wrong with the page itself.
    pub warnings: Vec<PageWarning>,
}

/// An element that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Its place on the page, from 0.
    pub index: usize,
    /// Its name or URI, cut to [`MAX_SET_ASIDE_NAME`] bytes; untrusted text.
    pub name: Option<String>,
    /// Why.
    pub reason: SetAsideReason,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "element {} ({name:?}) was set aside: {}", self.index, self.reason),
            None => write!(f, "element {} was set aside: {}", self.index, self.reason),
        }
    }
}

/// Why an element was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetAsideReason {
    /// It is not what the schema asks for.
    Flaw(Flaw),
    /// An earlier element of the listing has the same name or URI.
    Duplicate,
    /// Its input schema cannot be used.
    InputSchema(SchemaFault),
    /// Its output schema cannot be used. Of a definition of our own.
    OutputSchema(SchemaFault),
    /// A tool's name is not made of 1 to 128 letters, digits, `_`, `-` and `.`. Of a definition of our own.
    ToolName,
    /// What it wants repeated in the heads of its calls cannot be (`x-mcp-header`). Of a definition of our own; clients
    /// leave such a tool out.
    Mirror(Why),
    /// Its address is not one by RFC 3986: a scheme, a colon, and nothing that has to be percent-encoded. Of a
    /// definition of our own.
    Uri,
}

impl From<Flaw> for SetAsideReason {
    fn from(flaw: Flaw) -> Self {
        Self::Flaw(flaw)
    }
}

impl fmt::Display for SetAsideReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flaw(flaw) => flaw.fmt(f),
            Self::Duplicate => f.write_str("an earlier one has the same name"),
            Self::InputSchema(fault) => write!(f, "its input schema is unusable: {fault}"),
            Self::OutputSchema(fault) => write!(f, "its output schema is unusable: {fault}"),
            Self::ToolName => f.write_str("its name must be made of 1 to 128 of A-Z a-z 0-9 _ - ."),
            Self::Mirror(why) => why.fmt(f),
            Self::Uri => f.write_str("its uri must begin with a scheme and be percent-encoded"),
        }
    }
}

impl core::error::Error for SetAsideReason {}

/// What is wrong with a page itself. What can be read is read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageWarning {
    /// The result is no object; the page counts as empty.
    NotAnObject(Kind),
    /// The array is missing or `null`; it counts as empty.
    NoItems(&'static str),
    /// Something other than an array stands in its place; it counts as empty.
    ItemsNotAnArray(&'static str, Kind),
    /// The cursor is neither text nor `null`; the listing ends here.
    CursorNotText(Kind),
    /// There are more elements than were to be read; the rest was left out.
    TooManyItems {
        /// How many were to be read.
        limit: usize,
    },
}

impl fmt::Display for PageWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject(found) => write!(f, "the listing is {found}, not an object; taken as empty"),
            Self::NoItems(member) => write!(f, "the listing has no {member}; taken as empty"),
            Self::ItemsNotAnArray(member, found) => {
                write!(f, "the listing's {member} is {found}, not an array; taken as empty")
            }
            Self::CursorNotText(found) => {
                write!(f, "the listing's nextCursor is {found}; taken as the last page")
            }
            Self::TooManyItems { limit } => {
                write!(f, "only the first {limit} elements of the page were read")
            }
        }
    }
}

impl<T: ListItem> Page<T> {
    /// Reads the result of a list request, at most [`MAX_PAGE_ITEMS`] elements of it.
    ///
    /// Never fails: an element that cannot be used is set aside with a reason. The elements are views into
    /// `result` and keep its frame alive. One pass over the text, and one over each element.
    ///
    /// Spec: MCP server/utilities/pagination; schema, `ListToolsResult` and its siblings.
    #[must_use]
    pub fn read(result: &RawJson) -> Self {
        Self::read_up_to(result, MAX_PAGE_ITEMS)
    }

    /// As [`read`](Self::read), with another bound on the number of elements.
    #[must_use]
    pub fn read_up_to(result: &RawJson, max_items: usize) -> Self {
        let view = result.view();
        let mut page = Self {
            items: Vec::new(),
            set_aside: Vec::new(),
            set_aside_total: 0,
            next_cursor: None,
            cache: CacheHint::default(),
            warnings: Vec::new(),
        };
        let mut at = Cursor::new(view);
        if !at.enter(b'{') {
            page.warnings.push(PageWarning::NotAnObject(view.kind()));
            return page;
        }
        let (mut cursor, mut ttl_ms, mut scope, mut listed) = (None, None, None, false);
        while let Some(name) = at.member() {
            if name.eq_str(T::ITEMS) && !listed {
                listed = true;
                page.read_array(result, &mut at, max_items);
                continue;
            }
            let value = at.value();
            if name.eq_str("nextCursor") {
                cursor.get_or_insert(value);
            } else if name.eq_str("ttlMs") {
                ttl_ms.get_or_insert(value);
            } else if name.eq_str("cacheScope") {
                scope.get_or_insert(value);
            }
        }
        if !listed {
            page.warnings.push(PageWarning::NoItems(T::ITEMS));
        }
        page.cache = CacheHint::of(ttl_ms, scope);
        match cursor.map(|cursor| (cursor.str(), cursor.kind())) {
            None | Some((_, Kind::Null)) => {}
            Some((Some(text), _)) => page.next_cursor = Some(text.decode().into_owned()),
            Some((None, kind)) => page.warnings.push(PageWarning::CursorNotText(kind)),
        }
        page
    }

    /// Reads the array that begins here, or says what stands in its place.
    fn read_array(&mut self, result: &RawJson, at: &mut Cursor<'_>, max_items: usize) {
        if !at.enter(b'[') {
            let found = at.value();
            self.warnings.push(if found.is_null() {
                PageWarning::NoItems(T::ITEMS)
            } else {
                PageWarning::ItemsNotAnArray(T::ITEMS, found.kind())
            });
            return;
        }
        let mut known = KeyOrder::default();
        let mut index = 0;
        while at.element() {
            let element = at.value();
            if index < max_items {
                self.read_element(result, index, element, &mut known);
            } else if index == max_items {
                self.warnings.push(PageWarning::TooManyItems { limit: max_items });
            }
            index += 1;
        }
    }

    fn read_element(&mut self, result: &RawJson, index: usize, element: JsonRef<'_>, known: &mut KeyOrder) {
        let Some(raw) = result.slice_of(element) else { return };
        match T::read(raw) {
            Ok(item) if known.insert(&self.items, &item) => self.items.push(item),
            Ok(item) => {
                let name = Some(cut(item.key(), MAX_SET_ASIDE_NAME).to_owned());
                self.set_aside(SetAside { index, name, reason: SetAsideReason::Duplicate });
            }
            Err(reason) => {
                let name = element.get(T::KEY).and_then(JsonRef::str).map(name_of);
                self.set_aside(SetAside { index, name, reason });
            }
        }
    }

    fn set_aside(&mut self, what: SetAside) {
        self.set_aside_total += 1;
        if self.set_aside.len() < MAX_SET_ASIDE {
            self.set_aside.push(what);
        }
    }
}

fn name_of(text: JsonStr<'_>) -> String {
    bounded(text, MAX_SET_ASIDE_NAME)
}

/// The places of items in the order of their keys, to find one without copying any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KeyOrder(Vec<usize>);

impl KeyOrder {
    /// Notes that `item` comes to stand at the end of `items`; false if its key is there already.
    pub(super) fn insert<T: ListItem>(&mut self, items: &[T], item: &T) -> bool {
        match self.search(items, item.key()) {
            Ok(_) => false,
            Err(place) => {
                self.0.insert(place, items.len());
                true
            }
        }
    }

    /// Finds an item by its key.
    pub(super) fn find<'a, T: ListItem>(&self, items: &'a [T], key: &str) -> Option<&'a T> {
        let place = self.search(items, key).ok()?;
        items.get(*self.0.get(place)?)
    }

    fn search<T: ListItem>(&self, items: &[T], key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|place| items.get(*place).map_or("", T::key).cmp(key))
    }
}

#[cfg(test)]
mod tests;
