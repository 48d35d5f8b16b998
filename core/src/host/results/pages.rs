//! The rest of results that were cut, page by page, for a while.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use super::cap::boundary;
use crate::error::ConfigError;
use crate::server::Principal;
use crate::time::{Instant, Monotonic};

/// What keeping a rest costs besides its text and its owner's name.
const OVERHEAD: usize = 128;

/// Bounds of what is kept of results that were cut.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageLimits {
    /// Bytes of one page; a few less where a character would be cut. Default: 64 KiB.
    pub page_bytes: usize,
    /// Bytes of all that is kept, with 128 for each rest on top of its text and its owner's name. Default: 64 MiB.
    pub store_bytes: usize,
    /// How long a rest is kept. Default: 30 minutes.
    pub life: Duration,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self { page_bytes: 64 * 1024, store_bytes: 64 << 20, life: Duration::from_secs(30 * 60) }
    }
}

/// Names a rest that is kept. Counts up, is never used twice.
///
/// It is no secret: only whoever it was kept for gets a page of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageHandle(u64);

impl PageHandle {
    /// As a number, to be handed out.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// From a number that came back.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for PageHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One page. Offsets are bytes of the whole text, so that they go on from what was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it begins.
    pub offset: usize,
    /// Where the next page begins; none behind the last one.
    pub next: Option<usize>,
    /// The bytes of the whole text.
    pub total: usize,
}

impl Page<'_> {
    /// The same page, of at most `max` bytes; a character that does not fit as a whole is left for the next page, but
    /// never the first one.
    #[must_use]
    pub fn within(self, max: usize) -> Self {
        if self.text.len() <= max {
            return self;
        }
        let first = self.text.chars().next().map_or(0, char::len_utf8);
        let end = boundary(self.text, max).max(first);
        Self { text: self.text.get(..end).unwrap_or_default(), next: Some(self.offset + end), ..self }
    }
}

/// A page that borrows nothing, as [`Page`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPage {
    /// The text.
    pub text: String,
    /// Where it begins.
    pub offset: usize,
    /// Where the next page begins; none behind the last one.
    pub next: Option<usize>,
    /// The bytes of the whole text.
    pub total: usize,
}

impl From<Page<'_>> for TextPage {
    fn from(page: Page<'_>) -> Self {
        Self { text: page.text.into(), offset: page.offset, next: page.next, total: page.total }
    }
}

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageFault {
    /// There is no such rest, it was kept for somebody else, or it is no longer kept: call the tool again.
    Unknown,
    /// There is nothing at this offset.
    OutOfRange {
        /// The first offset.
        from: usize,
        /// The bytes of the whole text; offsets lie below.
        total: usize,
    },
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => {
                f.write_str("there is no such rest, or it is no longer kept; call the tool again")
            }
            Self::OutOfRange { from, total } => {
                write!(f, "the rest has offsets from {from} to below {total}")
            }
        }
    }
}

impl core::error::Error for PageFault {}

/// What became of rests that can no longer be had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCounts {
    /// Given up for newer ones.
    pub evicted: u64,
    /// Their time was over.
    pub expired: u64,
    /// Not kept at all: longer than everything that may be kept.
    pub refused: u64,
}

/// The rests of results that were cut.
///
/// Holds at most [`PageLimits::store_bytes`]; the oldest go first. Time is told with each call; time that goes
/// backwards stands still.
#[derive(Debug)]
pub struct Pages {
    limits: PageLimits,
    clock: Monotonic,
    kept: BTreeMap<u64, Kept>,
    bytes: usize,
    last: u64,
    counts: PageCounts,
}

struct Kept {
    owner: Principal,
    text: Box<str>,
    from: usize,
    expires: Instant,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({} bytes from {})", self.text.len(), self.from)
    }
}

impl Kept {
    fn cost(&self) -> usize {
        cost(self.text.len(), &self.owner)
    }
}

fn cost(text: usize, owner: &Principal) -> usize {
    OVERHEAD.saturating_add(text).saturating_add(owner.name().map_or(0, str::len))
}

impl Pages {
    /// An empty store.
    ///
    /// # Errors
    /// [`ConfigError`] if a limit is out of range.
    pub fn new(limits: PageLimits) -> Result<Self, ConfigError> {
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let life = u64::try_from(limits.life.as_micros()).unwrap_or(u64::MAX);
        let bounds = [
            // The longest character has four bytes.
            ("page_bytes", 4, 16 << 20, number(limits.page_bytes)),
            ("store_bytes", 0, 1 << 40, number(limits.store_bytes)),
            ("life", 1, u64::MAX, life),
        ];
        if let Some((field, min, max, got)) =
            bounds.into_iter().find(|(_, min, max, got)| got < min || got > max)
        {
            return Err(ConfigError { field, min, max, got });
        }
        let clock = Monotonic::new(Instant::ZERO);
        Ok(Self { limits, clock, kept: BTreeMap::new(), bytes: 0, last: 0, counts: PageCounts::default() })
    }

    /// Keeps the rest of a text of which `from` bytes were shown, for `owner`. The oldest rests make room for it.
    ///
    /// `None`: there is no rest, or it is longer than everything that may be kept.
    pub fn keep(&mut self, owner: &Principal, rest: String, from: usize, now: Instant) -> Option<PageHandle> {
        self.handle_timeout(now);
        if rest.is_empty() {
            return None;
        }
        let cost = cost(rest.len(), owner);
        if cost > self.limits.store_bytes {
            self.counts.refused += 1;
            return None;
        }
        while self.bytes > self.limits.store_bytes - cost && self.drop_oldest() {
            self.counts.evicted += 1;
        }
        self.last += 1;
        self.bytes += cost;
        let expires = self.clock.advance(now).saturating_add(self.limits.life);
        let kept = Kept { owner: owner.clone(), text: rest.into_boxed_str(), from, expires };
        self.kept.insert(self.last, kept);
        Some(PageHandle(self.last))
    }

    /// The page at `offset`, or the first one. An offset inside a character means that character.
    ///
    /// # Errors
    /// [`PageFault::Unknown`], also for what was kept for somebody else; [`PageFault::OutOfRange`].
    pub fn page(
        &mut self,
        owner: &Principal,
        handle: PageHandle,
        offset: Option<usize>,
        now: Instant,
    ) -> Result<Page<'_>, PageFault> {
        self.handle_timeout(now);
        let kept = self.kept.get(&handle.0).filter(|kept| kept.owner == *owner).ok_or(PageFault::Unknown)?;
        let (text, from) = (&*kept.text, kept.from);
        let total = from.saturating_add(text.len());
        let asked = offset.unwrap_or(from);
        let begin = asked.checked_sub(from).filter(|begin| *begin < text.len());
        let begin = boundary(text, begin.ok_or(PageFault::OutOfRange { from, total })?);
        let end = boundary(text, begin.saturating_add(self.limits.page_bytes));
        Ok(Page {
            text: text.get(begin..end).unwrap_or_default(),
            offset: from + begin,
            next: (end < text.len()).then_some(from + end),
            total,
        })
    }

    /// Lets go of all that is kept for `owner`, whose session is over.
    pub fn forget(&mut self, owner: &Principal) {
        self.kept.retain(|_, kept| kept.owner != *owner);
        self.bytes = self.kept.values().map(Kept::cost).sum();
    }

    /// Lets go of what is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        while self.poll_timeout().is_some_and(|at| at <= now) && self.drop_oldest() {
            self.counts.expired += 1;
        }
    }

    /// When something is over next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // All are kept equally long, so the oldest is over first.
        self.kept.first_key_value().map(|(_, kept)| kept.expires)
    }

    /// How many bytes are held, as [`PageLimits::store_bytes`] counts them.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many rests are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether none is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// What can no longer be had.
    #[must_use]
    pub const fn counts(&self) -> PageCounts {
        self.counts
    }

    fn drop_oldest(&mut self) -> bool {
        let Some((_, kept)) = self.kept.pop_first() else { return false };
        self.bytes -= kept.cost();
        true
    }
}

#[cfg(test)]
mod tests;
