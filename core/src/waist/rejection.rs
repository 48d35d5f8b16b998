//! Why a call was refused.

use core::fmt;

use crate::waist::MAX_NAME_BYTES;
use crate::waist::brakes::Halt;
use crate::waist::containment::Tier;
use crate::waist::dispatch::Refusal;
use crate::waist::record::ErrorClass;

/// A call was refused. Its work must not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// No grant, hook or brake is bound, and the waist is not open without policy.
    NoPolicy,
    /// A name in the call is longer than [`MAX_NAME_BYTES`].
    NameTooLong {
        /// Its bytes.
        len: usize,
    },
    /// A hook refused.
    Hook {
        /// Its name.
        name: &'static str,
        /// What it said.
        refusal: Refusal,
    },
    /// A grant is bound that does not name the action.
    NotGranted,
    /// The boundary is too weak for how far the work is trusted.
    Containment {
        /// The weakest tier that would do.
        needed: Tier,
        /// The declared one; the weakest if none was.
        offered: Tier,
    },
    /// The run is halted, by this call or before it. Until [`Waist::reset`](crate::waist::Waist::reset).
    Halted(Halt),
    /// So many runs are counted already. Reset those that are over.
    TooManyRuns {
        /// [`BrakeLimits::max_runs`](crate::waist::BrakeLimits::max_runs).
        limit: usize,
    },
}

impl Rejection {
    /// The class of error that it is.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Hook { refusal, .. } => refusal.class,
            Self::NoPolicy | Self::NotGranted | Self::Containment { .. } => ErrorClass::Forbidden,
            Self::Halted(_) | Self::TooManyRuns { .. } => ErrorClass::BudgetExceeded,
            Self::NameTooLong { .. } => ErrorClass::Terminal,
        }
    }

    /// What refused, for records: the hook's name, the brake's, or `policy`, `name`, `grant`, `containment`, `runs`.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::NoPolicy => "policy",
            Self::NameTooLong { .. } => "name",
            Self::Hook { name, .. } => name,
            Self::NotGranted => "grant",
            Self::Containment { .. } => "containment",
            Self::Halted(halt) => halt.brake.as_str(),
            Self::TooManyRuns { .. } => "runs",
        }
    }

    /// What whoever made the call can do about it, in a sentence for a model.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self.class() {
            ErrorClass::Transient => "It may work later.",
            ErrorClass::Terminal => "Trying it again does not help.",
            ErrorClass::NeedsApproval => "Somebody has to allow it first.",
            ErrorClass::BudgetExceeded => {
                "Stop calling: whoever runs this server has to lift the halt or the limit first."
            }
            ErrorClass::Forbidden => {
                "Trying it again does not help: whoever runs this server would have to allow it."
            }
            ErrorClass::Cancelled => "It was given up.",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPolicy => f.write_str("no policy is bound; bind a grant or open the waist"),
            Self::NameTooLong { len } => write!(f, "a name has {len} bytes, the limit is {MAX_NAME_BYTES}"),
            Self::Hook { name, refusal } => write!(f, "refused by {name}: {}", refusal.why),
            Self::NotGranted => f.write_str("the grant does not name this action"),
            Self::Containment { needed, offered } => {
                write!(
                    f,
                    "the work needs a boundary of tier {}, it has {}",
                    needed.as_str(),
                    offered.as_str()
                )
            }
            Self::Halted(halt) => {
                write!(f, "the run is halted ({}); it goes on after a reset", halt.brake.as_str())
            }
            Self::TooManyRuns { limit } => {
                write!(f, "{limit} runs are counted already (max_runs); reset those that are over")
            }
        }
    }
}

impl core::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::time::Instant;
    use crate::waist::brakes::Brake;

    fn by_hook(class: ErrorClass) -> Rejection {
        Rejection::Hook { name: "budget", refusal: Refusal { class, why: "too dear".into() } }
    }

    #[test]
    fn a_refusal_says_what_refused_and_why() {
        let halt = |brake| Rejection::Halted(Halt { brake, since: Instant::ZERO });
        let (needed, offered) = (Tier::Hardware, Tier::Kernel);
        let long = MAX_NAME_BYTES + 1;
        let table = [
            (Rejection::NoPolicy, "policy", "bind a grant"),
            (Rejection::NameTooLong { len: long }, "name", &*alloc::format!("has {long} bytes")),
            (by_hook(ErrorClass::Transient), "budget", "refused by budget: too dear"),
            (Rejection::NotGranted, "grant", "does not name this action"),
            (Rejection::Containment { needed, offered }, "containment", "tier hardware, it has kernel"),
            (Rejection::TooManyRuns { limit: 7 }, "runs", "7 runs are counted already (max_runs)"),
            (halt(Brake::Rate), "rate", "halted (rate)"),
            (halt(Brake::Repeat), "repeat", "halted (repeat)"),
            (halt(Brake::Errors), "errors", "halted (errors)"),
            (halt(Brake::Tokens), "tokens", "halted (tokens)"),
            (halt(Brake::Cost), "cost", "halted (cost)"),
            (halt(Brake::Operator), "operator", "halted (operator)"),
        ];
        for (rejection, rule, words) in table {
            let told = rejection.to_string();
            assert_eq!(rejection.rule(), rule);
            assert!(told.contains(words), "{told}");
        }
        assert_eq!([Tier::Unconfined, Tier::Kernel].map(Tier::as_str), ["unconfined", "kernel"]);
    }

    #[test]
    fn advice_is_to_try_again_only_where_that_may_help() {
        let table = [
            (by_hook(ErrorClass::Transient), "may work later"),
            (by_hook(ErrorClass::NeedsApproval), "has to allow it first"),
            (by_hook(ErrorClass::Cancelled), "given up"),
            (by_hook(ErrorClass::Terminal), "does not help"),
            (Rejection::NameTooLong { len: 1 }, "does not help"),
            (Rejection::TooManyRuns { limit: 1 }, "Stop calling"),
            (Rejection::NotGranted, "would have to allow it"),
        ];
        for (rejection, words) in table {
            assert!(rejection.advice().contains(words), "{rejection:?}: {}", rejection.advice());
        }
    }
}
