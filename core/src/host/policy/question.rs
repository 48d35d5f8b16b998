//! What a person is asked about a call, what may come of it, and what of that is told.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::binding::{ArgumentsHash, Binding, DefinitionHash};
use super::decide::Reason;
use crate::host::Provenance;
use crate::jsonrpc::RawJson;
use crate::server::Principal;
use crate::time::Instant;

/// Names a question. Counts up, is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalHandle(pub(super) u64);

impl ApprovalHandle {
    /// As a number, to be shown.
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

/// A call that has to be asked about.
#[derive(Clone, Debug)]
pub struct Question {
    /// What its caller calls it.
    pub call: Arc<str>,
    /// Who wants it made.
    pub owner: Principal,
    /// The tool.
    pub tool: Provenance,
    /// The tool's definition as it is now.
    pub definition: DefinitionHash,
    /// The definition that was asked about, or allowed, before this one took its place.
    pub changed_from: Option<DefinitionHash>,
    /// All of the arguments, as they would be sent.
    pub arguments: Option<RawJson>,
    /// Why it has to be asked about.
    pub reason: Reason,
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// What the answer has to name.
    pub handle: ApprovalHandle,
    /// What the call's caller calls it.
    pub call: Arc<str>,
    /// Who wants it made.
    pub owner: Principal,
    /// What kind of call it is: `mcp`.
    pub kind: &'static str,
    /// The tool, by the names that decide: untrusted text, to be masked where it is shown.
    pub tool: Provenance,
    /// The tool's definition.
    pub definition: DefinitionHash,
    /// The definition that was asked about, or allowed, before this one took its place: show that the tool is another
    /// than it was.
    pub changed_from: Option<DefinitionHash>,
    /// The arguments, made fit to be shown: see [`preview`](super::preview).
    pub preview: String,
    /// All of the arguments, as they will be sent.
    pub arguments: Option<RawJson>,
    /// Their hash: the first eight digits name them shortly.
    pub arguments_hash: ArgumentsHash,
    /// Why it is asked about.
    pub reason: Reason,
    /// Which setting controls that.
    pub hint: &'static str,
    /// Until when an answer counts.
    pub expires: Instant,
}

/// What a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answer {
    /// This call may be made.
    AllowOnce,
    /// This call may be made, and later ones of this tool in this session.
    AlwaysAllow,
    /// It may not.
    Deny,
    /// There was no answer: whoever was to be asked could not be.
    Failed,
}

impl Answer {
    /// The answer of that name: `allow_once` or `always_allow`. Anything else is a denial.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "allow_once" => Self::AllowOnce,
            "always_allow" => Self::AlwaysAllow,
            _ => Self::Deny,
        }
    }
}

/// A question was not put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAsked {
    /// So many are open already ([`max_open`](super::ApprovalLimits::max_open)).
    TooMany(usize),
    /// So many of the same owner's calls are asked about already
    /// ([`max_open_per_owner`](super::ApprovalLimits::max_open_per_owner)).
    TooManyOfOwner(usize),
    /// All of them would have more bytes than that ([`max_bytes`](super::ApprovalLimits::max_bytes)).
    TooLarge(usize),
}

impl fmt::Display for NotAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(limit) => {
                write!(f, "{limit} questions are open already (max_open); answer one first")
            }
            Self::TooManyOfOwner(limit) => {
                write!(f, "{limit} calls are asked about already (max_open_per_owner); wait for an answer")
            }
            Self::TooLarge(limit) => write!(f, "open questions may have {limit} bytes in all (max_bytes)"),
        }
    }
}

impl core::error::Error for NotAsked {}

/// Why a call is not released. It must not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotReleased {
    /// There is no such question, or it was released before.
    Unknown,
    /// Nobody has answered yet.
    Waiting,
    /// The person said no.
    Declined,
    /// Whoever was to be asked could not be.
    ApproverFailed,
    /// Nobody answered in time, or the answer was not taken in time.
    Expired,
    /// The tool is defined otherwise than when it was asked about: ask again.
    DefinitionChanged,
    /// The answer was for another tool or for other arguments. The question stays as it was.
    OtherCall,
    /// The tool is not offered any more.
    NotOffered,
}

impl NotReleased {
    /// Its name, for records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown_approval",
            Self::Waiting => "waiting",
            Self::Declined => "prompt",
            Self::ApproverFailed => "approver_error",
            Self::Expired => "approval_expired",
            Self::DefinitionChanged => "definition_changed",
            Self::OtherCall => "other_call",
            Self::NotOffered => "not_offered",
        }
    }
}

impl fmt::Display for NotReleased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there is no such question, or it is over",
            Self::Waiting => "nobody has answered yet",
            Self::Declined => "declined",
            Self::ApproverFailed => "nobody could be asked",
            Self::Expired => "the time for an answer is over",
            Self::DefinitionChanged => {
                "the tool's definition has changed since it was asked about; ask again"
            }
            Self::OtherCall => "the answer was for another tool or for other arguments",
            Self::NotOffered => "the tool is not offered any more",
        })
    }
}

impl core::error::Error for NotReleased {}

/// A call that may be made, once, with these arguments and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Released {
    /// What its caller calls it.
    pub call: Arc<str>,
    /// The tool, as it is defined, and the arguments' hash.
    pub binding: Binding,
    /// What to send: the arguments that were asked about, byte for byte.
    pub arguments: Option<RawJson>,
    /// Whether later calls of the tool are allowed as well: tell [`Grants`](super::Grants).
    pub grant: bool,
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_handle_comes_back_as_the_number_that_was_shown() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(ApprovalHandle::from_u64(number).as_u64(), number);
        }
    }

    #[test]
    fn a_question_that_is_not_put_says_which_bound_was_met() {
        let told = [NotAsked::TooMany(3), NotAsked::TooManyOfOwner(4), NotAsked::TooLarge(5)];
        for (told, setting, limit) in [
            (told[0], "(max_open)", "3 "),
            (told[1], "(max_open_per_owner)", "4 "),
            (told[2], "(max_bytes)", " 5 "),
        ] {
            let told = told.to_string();
            assert!(told.contains(setting) && told.contains(limit), "{told}");
        }
    }

    #[test]
    fn every_reason_not_to_release_has_a_name_and_words_of_its_own() {
        let all = [
            NotReleased::Unknown,
            NotReleased::Waiting,
            NotReleased::Declined,
            NotReleased::ApproverFailed,
            NotReleased::Expired,
            NotReleased::DefinitionChanged,
            NotReleased::OtherCall,
            NotReleased::NotOffered,
        ];
        for words in [NotReleased::to_string, |why: &NotReleased| why.as_str().to_string()] {
            let told: BTreeSet<_> = all.iter().map(words).filter(|told| !told.is_empty()).collect();
            assert_eq!(told.len(), all.len(), "{told:?}");
        }
        assert_eq!(NotReleased::DefinitionChanged.as_str(), "definition_changed");
    }
}
