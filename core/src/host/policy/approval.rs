//! Questions to a person that calls wait for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

use super::binding::{ArgumentsHash, Binding};
use super::preview::{PreviewLimits, preview};
use super::question::{Answer, ApprovalHandle, ApprovalRequest, NotAsked, NotReleased, Question, Released};
use crate::error::ConfigError;
use crate::host::Mask;
use crate::jsonrpc::RawJson;
use crate::time::{Instant, Monotonic};

/// Bounds of what waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalLimits {
    /// Questions that may be open at once; one more is refused, so that nobody is flooded. Default: 64.
    pub max_open: usize,
    /// Questions about calls of one owner that may be open at once. Default: 8.
    pub max_open_per_owner: usize,
    /// Bytes of arguments and previews of all open questions. Default: 32 MiB.
    pub max_bytes: usize,
    /// How long a question, and an answer that nobody took, are good. Default: 10 minutes.
    pub expiry: Duration,
    /// Bounds of previews.
    pub preview: PreviewLimits,
}

impl Default for ApprovalLimits {
    fn default() -> Self {
        Self {
            max_open: 64,
            max_open_per_owner: 8,
            max_bytes: 32 << 20,
            expiry: Duration::from_secs(600),
            preview: PreviewLimits::default(),
        }
    }
}

/// Questions, from the moment they are registered until the call is released, refused or given up.
///
/// ```text
/// register ─→ waiting ─ answer ─→ answered ─→ release: once, or not at all
///               │ poll_request        │ poll_settled
///               └── time passes ──────┴─→ expired
/// ```
///
/// A question is registered before anybody hears of it, so that no answer comes too early to count. Only the first
/// answer counts. Whatever happens, each question lets at most one call pass, and a call of which nobody is left to be
/// asked is not made. Holds at most [`ApprovalLimits::max_open`] questions.
#[derive(Debug)]
pub struct Approvals {
    limits: ApprovalLimits,
    clock: Monotonic,
    open: BTreeMap<u64, Open>,
    bytes: usize,
    last: u64,
}

#[derive(Debug)]
struct Open {
    question: Question,
    arguments: ArgumentsHash,
    preview: String,
    expires: Instant,
    state: State,
    /// Somebody was asked.
    told: bool,
    /// That it is no longer waiting was told.
    settled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Allowed { grant: bool },
    Over(NotReleased),
}

impl Open {
    fn bytes(&self) -> usize {
        let arguments = self.question.arguments.as_ref().map_or(0, RawJson::retained_len);
        let names = self.question.call.len() + self.question.owner.name().map_or(0, str::len);
        arguments.saturating_add(self.preview.len()).saturating_add(names)
    }

    fn request(&self, handle: ApprovalHandle) -> ApprovalRequest {
        let Question { call, owner, tool, definition, changed_from, arguments, reason } =
            self.question.clone();
        ApprovalRequest {
            handle,
            call,
            owner,
            kind: "mcp",
            tool,
            definition,
            changed_from,
            preview: self.preview.clone(),
            arguments,
            arguments_hash: self.arguments,
            reason,
            hint: reason.hint(),
            expires: self.expires,
        }
    }
}

impl Approvals {
    /// No questions yet.
    ///
    /// # Errors
    /// [`ConfigError`] if a limit is out of range.
    pub fn new(limits: ApprovalLimits) -> Result<Self, ConfigError> {
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let expiry = u64::try_from(limits.expiry.as_micros()).unwrap_or(u64::MAX);
        let bounds = [
            ("max_open", 1, 10_000, number(limits.max_open)),
            ("max_open_per_owner", 1, 10_000, number(limits.max_open_per_owner)),
            ("max_bytes", 1, 1 << 40, number(limits.max_bytes)),
            ("expiry", 1, u64::MAX, expiry),
        ];
        if let Some((field, min, max, got)) =
            bounds.into_iter().find(|(_, min, max, got)| got < min || got > max)
        {
            return Err(ConfigError { field, min, max, got });
        }
        let clock = Monotonic::new(Instant::ZERO);
        Ok(Self { limits, clock, open: BTreeMap::new(), bytes: 0, last: 0 })
    }

    /// Handles count up from here on.
    pub(in crate::host) fn count_from(&mut self, first: u64) {
        self.last = self.last.max(first);
    }

    /// Registers a question. It is asked by way of [`poll_request`](Self::poll_request); an answer counts from now on.
    ///
    /// # Errors
    /// [`NotAsked`]: deny the call.
    pub fn register(
        &mut self,
        mut question: Question,
        mask: &Mask,
        now: Instant,
    ) -> Result<ApprovalHandle, NotAsked> {
        self.handle_timeout(now);
        if self.open.len() >= self.limits.max_open {
            return Err(NotAsked::TooMany(self.limits.max_open));
        }
        let of_owner = self.open.values().filter(|open| open.question.owner == question.owner).count();
        if of_owner >= self.limits.max_open_per_owner {
            return Err(NotAsked::TooManyOfOwner(self.limits.max_open_per_owner));
        }
        // A question may wait for long, and must not keep the message alive that the call came in.
        question.arguments = question.arguments.map(|arguments| arguments.to_compact());
        let arguments = question.arguments.as_ref().map(RawJson::view);
        let open = Open {
            preview: preview(arguments, &self.limits.preview, mask),
            arguments: ArgumentsHash::of(arguments),
            expires: self.clock.advance(now).saturating_add(self.limits.expiry),
            state: State::Waiting,
            told: false,
            settled: false,
            question,
        };
        let bytes = self.bytes.saturating_add(open.bytes());
        if bytes > self.limits.max_bytes {
            return Err(NotAsked::TooLarge(self.limits.max_bytes));
        }
        self.bytes = bytes;
        self.last += 1;
        self.open.insert(self.last, open);
        Ok(ApprovalHandle(self.last))
    }

    /// The next question to be put to somebody, each once, in the order registered.
    pub fn poll_request(&mut self) -> Option<ApprovalRequest> {
        let unheard = |open: &Open| !open.told && open.state == State::Waiting;
        let (handle, open) = self.open.iter_mut().find(|(_, open)| unheard(open))?;
        open.told = true;
        Some(open.request(ApprovalHandle(*handle)))
    }

    /// Takes the answer to a question. False: it is not waiting for one (unknown, answered, expired or given up), and
    /// nothing happens.
    pub fn answer(&mut self, handle: ApprovalHandle, answer: Answer, now: Instant) -> bool {
        self.handle_timeout(now);
        let Some(open) = self.open.get_mut(&handle.0).filter(|open| open.state == State::Waiting) else {
            return false;
        };
        open.state = match answer {
            Answer::AllowOnce => State::Allowed { grant: false },
            Answer::AlwaysAllow => State::Allowed { grant: true },
            Answer::Deny => State::Over(NotReleased::Declined),
            Answer::Failed => State::Over(NotReleased::ApproverFailed),
        };
        true
    }

    /// The next question that no longer waits, each once: call [`release`](Self::release) for it.
    pub fn poll_settled(&mut self) -> Option<ApprovalHandle> {
        let news = |open: &Open| !open.settled && open.state != State::Waiting;
        let (handle, open) = self.open.iter_mut().find(|(_, open)| news(open))?;
        open.settled = true;
        Some(ApprovalHandle(*handle))
    }

    /// Releases the call of a question, or says why not. `present` is the call as it would be made now.
    ///
    /// Ends the question, unless it is still waiting or `present` is another call.
    ///
    /// # Errors
    /// [`NotReleased`]: the call must not be made.
    pub fn release(
        &mut self,
        handle: ApprovalHandle,
        present: &Binding,
        now: Instant,
    ) -> Result<Released, NotReleased> {
        self.handle_timeout(now);
        let open = self.open.get(&handle.0).ok_or(NotReleased::Unknown)?;
        if open.state == State::Waiting {
            return Err(NotReleased::Waiting);
        }
        if open.question.tool != present.tool || open.arguments != present.arguments {
            return Err(NotReleased::OtherCall);
        }
        let open = self.remove(handle).ok_or(NotReleased::Unknown)?;
        match open.state {
            State::Allowed { .. } if open.question.definition != present.definition => {
                Err(NotReleased::DefinitionChanged)
            }
            State::Allowed { grant } => {
                let Question { call, arguments, .. } = open.question;
                Ok(Released { call, binding: present.clone(), arguments, grant })
            }
            State::Over(why) => Err(why),
            State::Waiting => Err(NotReleased::Waiting),
        }
    }

    /// Gives a question up, whose call was cancelled. False: there is none.
    pub fn withdraw(&mut self, handle: ApprovalHandle) -> bool {
        self.remove(handle).is_some()
    }

    /// Ends what is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        for open in self.open.values_mut().filter(|open| open.expires <= now) {
            if !matches!(open.state, State::Over(_)) {
                // That an answer was not taken in time is told like any other end.
                (open.state, open.settled) = (State::Over(NotReleased::Expired), false);
            }
        }
    }

    /// When a question is over next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let live = self.open.values().filter(|open| !matches!(open.state, State::Over(_)));
        live.map(|open| open.expires).min()
    }

    /// How many questions are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// How many bytes of arguments and previews are held.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    fn remove(&mut self, handle: ApprovalHandle) -> Option<Open> {
        let open = self.open.remove(&handle.0)?;
        self.bytes -= open.bytes();
        Some(open)
    }
}

#[cfg(test)]
mod tests;
