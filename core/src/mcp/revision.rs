//! Protocol revisions and the two eras they fall into.

use core::fmt;

/// Which of the two ways of opening and keeping a conversation a peer uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// A session opened by `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// No session: every request carries its own version and capabilities. 2026-07-28 and later.
    Modern,
}

/// A released revision of the Model Context Protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26: the only one with JSON-RPC batches.
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25: the newest that opens with `initialize`.
    V2025_11_25,
    /// 2026-07-28: stateless.
    V2026_07_28,
}

impl Revision {
    /// All known revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest revision of the legacy era, offered in `initialize`.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest revision of the modern era, used for the probe.
    pub const NEWEST_MODERN: Self = Self::V2026_07_28;

    /// The revision's date as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with exactly this date. Dates are opaque: there is no "nearest" one.
    #[must_use]
    pub fn from_date(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// The era this revision belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => Era::Legacy,
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Whether a line may hold a JSON-RPC batch array.
    #[must_use]
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
