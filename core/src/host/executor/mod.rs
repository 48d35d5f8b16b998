//! The calls of one turn of a model: which of them may run at once, and their ends in the order they were asked for.
//!
//! A model asks for several calls at a time and gets one message for each, in order. [`Executor`] says which call is
//! next and which may run beside it; what it takes to make one is a [`Host`](super::Host)'s, or anybody's. Calls run
//! one by one, but for neighbours of one [class](Classes) that its tools were put into.
//!
//! - [`Tool`]: all that there is to know of a tool before it is called.
//! - [`Capture`]: an output as head and tail, and the whole of it for a store.
//! - [`Attempt`]: whether a request that failed may be made again, and when.
//!
//! ```
//! use sanswire::host::executor::{Ending, Executor, ModelCall};
//! use sanswire::host::{CallOutcome, CallRefused, Mask};
//!
//! let mut turn = Executor::new(
//!     [ModelCall::new("1", "mcp__fs__read", r#"{"path":"a"}"#), ModelCall::new("2", "mcp__fs__read", "{path:")],
//!     |_| None, // in earnest: |name| Tool::of(name, host.registry(), &timeouts, &classes)?.parallel
//! );
//! while let Some(start) = turn.poll_start() {
//!     // In earnest: Host::call, and finish when Event::Finished comes.
//!     assert!(turn.finish(start.ticket, Ending::Ended(CallOutcome::Cancelled)));
//! }
//! let ends: Vec<_> = core::iter::from_fn(|| turn.poll_end()).collect();
//! let kinds: Vec<_> = ends.iter().map(|end| (&*end.id, end.ending.as_str())).collect();
//! assert_eq!(kinds, [("1", "cancelled"), ("2", "invalid_tool_input")]);
//! ```

mod capture;
mod classes;
mod retry;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::capture::{ArtifactHandle, Capture, CaptureLimits, Captured};
pub use self::classes::{Classes, Parallel, Tool, tools};
pub use self::retry::{Attempt, Retry, RetrySettings, WhyNot, is_transient};
use super::{CallOutcome, CallRefused, Mask};
use crate::jsonrpc::{JsonFault, Kind, RawJson};

/// The kind of the error that a call ends in whose input cannot be read: nobody was asked about it, and nothing ran.
pub const INVALID_INPUT_KIND: &str = "invalid_tool_input";

/// The most calls of one turn that run; further ones end as [`CallRefused::TooMany`].
const MAX_CALLS: usize = 1024;

/// A call as a model asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// What the model calls it.
    pub id: Arc<str>,
    /// The exposed name of the tool.
    pub tool: Arc<str>,
    /// The arguments, as the model wrote them: a JSON object, or nothing.
    pub input: String,
}

impl ModelCall {
    /// A call of the tool of that exposed name.
    pub fn new(id: impl Into<Arc<str>>, tool: impl Into<Arc<str>>, input: impl Into<String>) -> Self {
        Self { id: id.into(), tool: tool.into(), input: input.into() }
    }
}

/// A call to be made now.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its place in the turn, from 0; what [`finish`](Executor::finish) has to name.
    pub ticket: usize,
    /// What the model calls it.
    pub id: Arc<str>,
    /// The exposed name of the tool.
    pub tool: Arc<str>,
    /// The arguments: an object.
    pub arguments: Option<RawJson>,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// Its input cannot be read.
    InvalidInput(InputFault),
    /// It was not accepted.
    Refused(CallRefused),
    /// It was accepted, and ended so.
    Ended(CallOutcome),
}

/// What is wrong with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFault {
    /// It is no JSON.
    NotJson(JsonFault),
    /// It is no object.
    NotAnObject(Kind),
}

impl Ending {
    /// Its name: that of [`CallOutcome::as_str`], [`INVALID_INPUT_KIND`], `unknown_tool` or `refused`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::InvalidInput(_) | Self::Refused(CallRefused::BadArguments) => INVALID_INPUT_KIND,
            Self::Refused(CallRefused::UnknownTool) => "unknown_tool",
            Self::Refused(_) => "refused",
            Self::Ended(outcome) => outcome.as_str(),
        }
    }

    /// What a model is told of it: see [`CallOutcome::message`].
    #[must_use]
    pub fn message(&self, mask: &Mask) -> String {
        match self {
            Self::InvalidInput(InputFault::NotJson(fault)) => {
                format!("{INVALID_INPUT_KIND}: the arguments are no JSON: {fault}; nothing ran")
            }
            Self::InvalidInput(InputFault::NotAnObject(kind)) => {
                format!("{INVALID_INPUT_KIND}: the arguments are {kind}, not an object; nothing ran")
            }
            Self::Refused(why) => format!("{}: {why}", self.as_str()),
            Self::Ended(outcome) => outcome.message(mask),
        }
    }
}

/// How one call of the turn ended.
#[derive(Clone, Debug)]
pub struct End {
    /// What the model calls it.
    pub id: Arc<str>,
    /// How it ended.
    pub ending: Ending,
}

/// The calls of one turn.
///
/// Gives exactly one [`End`] for each call, in the order asked for, whatever becomes of them: give the model these.
#[derive(Debug)]
pub struct Executor {
    slots: VecDeque<Slot>,
    /// How many ends were taken out: the place of the first slot.
    taken: usize,
    /// The place of the next call to be looked at.
    next: usize,
    running: usize,
    /// What runs now, if it is not a single call.
    batch: Option<Arc<str>>,
    used: u32,
}

#[derive(Debug)]
struct Slot {
    id: Arc<str>,
    tool: Arc<str>,
    parallel: Option<Parallel>,
    state: State,
}

#[derive(Debug)]
enum State {
    Waits(Option<RawJson>),
    Runs,
    Over(Ending),
}

impl Executor {
    /// A turn of these calls. `parallel` says of a tool, by its exposed name, what may run beside it.
    ///
    /// Inputs are read here: one that cannot be read is over at once. O(bytes of the inputs).
    pub fn new(
        calls: impl IntoIterator<Item = ModelCall>,
        mut parallel: impl FnMut(&str) -> Option<Parallel>,
    ) -> Self {
        let calls = calls.into_iter().enumerate().map(|(place, ModelCall { id, tool, input })| {
            let state = match read(&input) {
                _ if place >= MAX_CALLS => State::Over(Ending::Refused(CallRefused::TooMany(MAX_CALLS))),
                Ok(arguments) => State::Waits(arguments),
                Err(fault) => State::Over(Ending::InvalidInput(fault)),
            };
            // A class of one is none.
            let parallel = parallel(&tool).filter(|parallel| parallel.limit > 1);
            Slot { id, tool, parallel, state }
        });
        Self { slots: calls.collect(), taken: 0, next: 0, running: 0, batch: None, used: 0 }
    }

    /// The next call that may run now; `None` until another one has ended, or if all have begun.
    pub fn poll_start(&mut self) -> Option<Start> {
        loop {
            let slot = self.slots.get_mut(self.next - self.taken)?;
            let State::Waits(arguments) = &mut slot.state else {
                self.next += 1;
                continue;
            };
            let (class, weight) = match &slot.parallel {
                Some(Parallel { class, limit, weight }) => {
                    let weight = (*weight).clamp(1, *limit);
                    let beside =
                        self.batch.as_ref() == Some(class) && *limit - self.used.min(*limit) >= weight;
                    if self.running > 0 && !beside {
                        return None;
                    }
                    (Some(class.clone()), weight)
                }
                None if self.running > 0 => return None,
                None => (None, 0),
            };
            let start = Start {
                ticket: self.next,
                id: slot.id.clone(),
                tool: slot.tool.clone(),
                arguments: arguments.take(),
            };
            slot.state = State::Runs;
            self.batch = class;
            self.used += weight;
            self.running += 1;
            self.next += 1;
            return Some(start);
        }
    }

    /// A call ended. False: it does not run, and nothing happens.
    pub fn finish(&mut self, ticket: usize, ending: Ending) -> bool {
        let slot = ticket.checked_sub(self.taken).and_then(|place| self.slots.get_mut(place));
        let Some(slot) = slot.filter(|slot| matches!(slot.state, State::Runs)) else { return false };
        slot.state = State::Over(ending);
        if let Some(Parallel { limit, weight, .. }) = &slot.parallel {
            self.used -= (*weight).clamp(1, *limit);
        }
        self.running -= 1;
        true
    }

    /// The next end, in the order the calls were asked for.
    pub fn poll_end(&mut self) -> Option<End> {
        if !matches!(self.slots.front()?.state, State::Over(_)) {
            return None;
        }
        let slot = self.slots.pop_front()?;
        self.taken += 1;
        self.next = self.next.max(self.taken);
        match slot.state {
            State::Over(ending) => Some(End { id: slot.id, ending }),
            State::Waits(_) | State::Runs => None,
        }
    }

    /// Gives the turn up: what has not begun ends as cancelled. Returns the tickets of what runs: cancel those, and
    /// [`finish`](Self::finish) them as they end.
    pub fn interrupt(&mut self) -> Vec<usize> {
        let mut running = Vec::new();
        for (place, slot) in self.slots.iter_mut().enumerate() {
            match slot.state {
                State::Waits(_) => slot.state = State::Over(Ending::Ended(CallOutcome::Cancelled)),
                State::Runs => running.push(self.taken + place),
                State::Over(_) => {}
            }
        }
        running
    }

    /// Whether every end was taken out.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.slots.is_empty()
    }
}

fn read(input: &str) -> Result<Option<RawJson>, InputFault> {
    if input.trim().is_empty() {
        return Ok(None);
    }
    let arguments = RawJson::parse_str(input).map_err(InputFault::NotJson)?;
    let kind = arguments.view().kind();
    if kind == Kind::Object { Ok(Some(arguments)) } else { Err(InputFault::NotAnObject(kind)) }
}

#[cfg(test)]
mod tests;
