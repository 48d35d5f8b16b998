//! What is known of a tool before it is called, and which tools may run side by side.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::host::catalog::{Offered, Registry};
use crate::host::policy::RuleKey;
use crate::host::{CallTimeouts, Provenance};

/// Which tools may run side by side. The default: none.
///
/// Put in only what does not mind: nothing is believed here that a server says of its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Classes {
    /// How many of each class may run at once, by weight. A class that is not named, or of less than two, runs one by
    /// one.
    pub limits: BTreeMap<Arc<str>, u32>,
    /// Which tools are of which class, and what one of them weighs; the last entry about a tool counts.
    pub tools: Vec<(RuleKey, Arc<str>, u32)>,
}

/// What may run beside a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parallel {
    /// Its class: neighbours of the same one may run with it.
    pub class: Arc<str>,
    /// What all that runs at once may weigh.
    pub limit: u32,
    /// What it weighs: at least 1, and no more than the limit.
    pub weight: u32,
}

impl Classes {
    /// What may run beside this tool; `None`: nothing. O(entries).
    #[must_use]
    pub fn of(&self, tool: &Provenance) -> Option<Parallel> {
        let (_, class, weight) = self.tools.iter().rfind(|(key, ..)| key.matches(tool))?;
        let limit = self.limits.get(class).copied().filter(|limit| *limit > 1)?;
        Some(Parallel { class: class.clone(), limit, weight: (*weight).clamp(1, limit) })
    }
}

/// All that there is to know of a tool before it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool<'a> {
    /// Its exposed name.
    pub name: &'a Arc<str>,
    /// Which tool of which server it is, and how that one is defined.
    pub offered: &'a Offered,
    /// How long a call may take.
    pub timeout: Duration,
    /// What may run beside it; `None`: nothing.
    pub parallel: Option<Parallel>,
}

impl<'a> Tool<'a> {
    /// The tool of that exposed name.
    #[must_use]
    pub fn of(
        name: &str,
        registry: &'a Registry,
        timeouts: &CallTimeouts,
        classes: &Classes,
    ) -> Option<Self> {
        let (name, offered) = registry.resolve_named(name)?;
        Some(Self::new(name, offered, timeouts, classes))
    }

    fn new(name: &'a Arc<str>, offered: &'a Offered, timeouts: &CallTimeouts, classes: &Classes) -> Self {
        Self { name, offered, timeout: timeouts.of(name), parallel: classes.of(&offered.tool) }
    }
}

/// All tools, sorted by exposed name.
pub fn tools<'a>(
    registry: &'a Registry,
    timeouts: &'a CallTimeouts,
    classes: &'a Classes,
) -> impl ExactSizeIterator<Item = Tool<'a>> {
    registry.offered().map(|(name, offered)| Tool::new(name, offered, timeouts, classes))
}
