//! Whether something that failed may be tried again.

use core::time::Duration;

use crate::client::Outcome;
use crate::error::{CloseReason, Violation};
use crate::jsonrpc::FaultKind;

/// How often and how soon something is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetrySettings {
    /// Attempts in all, the first among them. Default: 3.
    pub max_attempts: u32,
    /// The pause before the second attempt; twice as long before each further one. Default: 500 ms.
    pub pause: Duration,
    /// The longest pause, also if a server asks for a longer one: then it is not tried again. Default: 1 minute.
    pub max_pause: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { max_attempts: 3, pause: Duration::from_millis(500), max_pause: Duration::from_secs(60) }
    }
}

impl RetrySettings {
    /// The pause before the attempt behind so many.
    fn pause_after(&self, attempts: u32) -> Duration {
        let factor = 1u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        self.pause.saturating_mul(factor).min(self.max_pause)
    }
}

/// An attempt that failed, as far as it matters to whether there is another one. The state is that of the whole call,
/// not of the attempt: that is how a peer that ran out of time is told from a caller who had enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// How many were made.
    pub attempts: u32,
    /// How much time the call has left; `None`: as much as it takes, zero: none.
    pub left: Option<Duration>,
    /// The caller gave the call up.
    pub cancelled: bool,
    /// Something of the answer was passed on already, and cannot be taken back.
    pub shown: bool,
    /// Doing it twice is as good as doing it once. Of a call of a tool that is for its caller to know.
    pub repeatable: bool,
    /// What the server said of how long to wait.
    pub retry_after: Option<Duration>,
}

impl Attempt {
    /// The first one, of something that must not be done twice, with time left.
    #[must_use]
    pub const fn first() -> Self {
        Self { attempts: 1, left: None, cancelled: false, shown: false, repeatable: false, retry_after: None }
    }
}

/// Whether there is another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// After so long.
    After(Duration),
    /// No.
    No(WhyNot),
}

/// Why there is no other attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNot {
    /// It did not fail, or it would fail again.
    Final,
    /// The caller gave it up.
    Cancelled,
    /// The call has no time left, or would have none after the pause.
    NoTime,
    /// Something of the answer was passed on already.
    Shown,
    /// It may have been done, and must not be done twice.
    MayHaveRun,
    /// There were enough attempts.
    Exhausted,
    /// The server asks for a longer pause than is waited for.
    TooLong,
}

/// What an outcome says of another attempt.
enum Class {
    Final,
    /// Nothing was done.
    NotDone,
    /// It is not known whether it was.
    Unknown,
}

impl RetrySettings {
    /// Whether a request that ended so is made again.
    ///
    /// A request that did not leave, or that a server turned away for the moment, may be; one that ran out of time or
    /// lost its connection only if it is repeatable. Never one of which something was shown, or whose caller gave it up
    /// or has no time left. What is refused for good, what used up an allowance, and what cannot be read stays as it
    /// is. A pause that the server asks for is kept.
    #[must_use]
    pub fn judge(&self, outcome: &Outcome, attempt: &Attempt) -> Retry {
        let class = class_of(outcome);
        if attempt.cancelled {
            return Retry::No(WhyNot::Cancelled);
        }
        if attempt.left.is_some_and(|left| left.is_zero()) {
            return Retry::No(WhyNot::NoTime);
        }
        match class {
            Class::Final => return Retry::No(WhyNot::Final),
            Class::NotDone | Class::Unknown if attempt.shown => return Retry::No(WhyNot::Shown),
            Class::Unknown if !attempt.repeatable => return Retry::No(WhyNot::MayHaveRun),
            Class::NotDone | Class::Unknown => {}
        }
        if attempt.attempts >= self.max_attempts {
            return Retry::No(WhyNot::Exhausted);
        }
        if attempt.retry_after.is_some_and(|asked| asked > self.max_pause) {
            return Retry::No(WhyNot::TooLong);
        }
        let pause = self.pause_after(attempt.attempts).max(attempt.retry_after.unwrap_or_default());
        match attempt.left {
            Some(left) if left <= pause => Retry::No(WhyNot::NoTime),
            _ => Retry::After(pause),
        }
    }
}

const fn class_of(outcome: &Outcome) -> Class {
    match outcome {
        Outcome::Lost { maybe_ran: false } | Outcome::SessionGone { maybe_ran: false } => Class::NotDone,
        Outcome::Lost { .. } | Outcome::SessionGone { .. } | Outcome::TimedOut { .. } => Class::Unknown,
        // Spoilt on the way.
        Outcome::Invalid(Violation::Http(_)) => Class::Unknown,
        // No JSON at all: damaged on the way rather than meant.
        Outcome::Invalid(Violation::Malformed(fault))
            if matches!(fault.kind, FaultKind::NotUtf8 | FaultKind::NotJson(_)) =>
        {
            Class::Unknown
        }
        Outcome::Refused(refusal) => match refusal.status {
            // Turned away before anything was done.
            408 | 425 | 429 | 503 => Class::NotDone,
            500 | 502 | 504 => Class::Unknown,
            _ => Class::Final,
        },
        Outcome::Complete(_)
        | Outcome::InputRequired(_)
        | Outcome::Error(_)
        | Outcome::Cancelled
        | Outcome::TooLarge { .. }
        | Outcome::Invalid(_)
        | Outcome::Challenged(_) => Class::Final,
    }
}

/// Whether a connection that ended so may be there again when it is opened anew: not if we closed it, or if the peer
/// says, or shows, that it speaks otherwise.
#[must_use]
pub const fn is_transient(reason: &CloseReason) -> bool {
    match reason {
        CloseReason::Eof
        | CloseReason::DiedOnProbe
        | CloseReason::ConnectTimeout { .. }
        | CloseReason::SessionGone
        | CloseReason::Unreachable => true,
        CloseReason::NoTransport { streamable, sse } => is_transient(streamable) || is_transient(sse),
        CloseReason::HttpRefused(refusal) => {
            matches!(refusal.status, 408 | 425 | 429 | 500 | 502 | 503 | 504)
        }
        CloseReason::Local
        | CloseReason::Challenged(_)
        | CloseReason::Incompatible { .. }
        | CloseReason::Refused { .. }
        | CloseReason::Protocol(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::client::Deadline;
    use crate::exchange::{Challenge, HttpRefusal};
    use crate::jsonrpc::{ErrorObject, Fault, JsonFault, JsonFaultKind, RawJson};
    use crate::mcp::Method;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn timed_out() -> Outcome {
        Outcome::TimedOut { which: Deadline::Idle, limit: MS(1), mistyped_reply: false }
    }

    fn refused(status: u16) -> Outcome {
        Outcome::Refused(HttpRefusal::new(status))
    }

    fn repeatable() -> Attempt {
        Attempt { repeatable: true, ..Attempt::first() }
    }

    fn judge(outcome: &Outcome, attempt: Attempt) -> Retry {
        RetrySettings::default().judge(outcome, &attempt)
    }

    #[test]
    fn a_peer_that_ran_out_of_time_is_no_caller_who_had_enough() {
        // H-239
        let lost = |maybe_ran| Outcome::Lost { maybe_ran };
        for outcome in [timed_out(), lost(true), lost(false), refused(504)] {
            assert_eq!(judge(&outcome, repeatable()), Retry::After(MS(500)), "{outcome:?}");
            let gone = Attempt { cancelled: true, ..repeatable() };
            assert_eq!(judge(&outcome, gone), Retry::No(WhyNot::Cancelled), "{outcome:?}");
            let late = Attempt { left: Some(Duration::ZERO), ..repeatable() };
            assert_eq!(judge(&outcome, late), Retry::No(WhyNot::NoTime), "{outcome:?}");
            let short = Attempt { left: Some(MS(500)), ..repeatable() };
            assert_eq!(judge(&outcome, short), Retry::No(WhyNot::NoTime), "{outcome:?}");
            let enough = Attempt { left: Some(MS(501)), ..repeatable() };
            assert_eq!(judge(&outcome, enough), Retry::After(MS(500)), "{outcome:?}");
            let third = Attempt { attempts: 3, ..repeatable() };
            assert_eq!(judge(&outcome, third), Retry::No(WhyNot::Exhausted), "{outcome:?}");
        }
        let once = Attempt::first();
        assert_eq!(judge(&timed_out(), once), Retry::No(WhyNot::MayHaveRun));
        assert_eq!(judge(&lost(true), once), Retry::No(WhyNot::MayHaveRun));
        assert_eq!(judge(&lost(false), once), Retry::After(MS(500)), "it did not leave");
        let gone = |maybe_ran| Outcome::SessionGone { maybe_ran };
        assert_eq!(judge(&gone(false), once), Retry::After(MS(500)), "it was not carried out");
        assert_eq!(judge(&gone(true), once), Retry::No(WhyNot::MayHaveRun));
        let spoilt = Outcome::Invalid(Violation::Http(crate::http::h1::Fault::Unasked));
        assert_eq!(judge(&spoilt, once), Retry::No(WhyNot::MayHaveRun));
        assert_eq!(judge(&spoilt, repeatable()), Retry::After(MS(500)));
        assert_eq!(judge(&Outcome::Cancelled, repeatable()), Retry::No(WhyNot::Final));
    }

    #[test]
    fn what_was_shown_cannot_be_taken_back() {
        // H-240
        let shown = Attempt { shown: true, ..repeatable() };
        for outcome in [timed_out(), Outcome::Lost { maybe_ran: true }, refused(503)] {
            assert_eq!(judge(&outcome, shown), Retry::No(WhyNot::Shown), "{outcome:?}");
            assert!(matches!(judge(&outcome, repeatable()), Retry::After(_)), "{outcome:?}");
        }
    }

    #[test]
    fn a_pause_that_the_server_asks_for_is_kept_and_what_is_final_stays_so() {
        // H-241
        let asked = |pause| Attempt { retry_after: Some(pause), ..repeatable() };
        assert_eq!(judge(&refused(429), asked(MS(7_000))), Retry::After(MS(7_000)));
        assert_eq!(judge(&refused(429), asked(MS(1))), Retry::After(MS(500)), "never sooner than by itself");
        assert_eq!(
            judge(&refused(429), asked(MS(60_001))),
            Retry::No(WhyNot::TooLong),
            "a used up allowance"
        );
        let short = Attempt { left: Some(MS(6_000)), ..asked(MS(7_000)) };
        assert_eq!(judge(&refused(429), short), Retry::No(WhyNot::NoTime));
        let second = Attempt { attempts: 2, ..repeatable() };
        assert_eq!(judge(&refused(500), second), Retry::After(MS(1_000)));

        let malformed = |kind| {
            let fault = Fault { kind, id: None, has_method: false, has_id: true, offset: 3 };
            Outcome::Invalid(Violation::Malformed(fault))
        };
        let broken = JsonFault { kind: JsonFaultKind::UnexpectedEnd, offset: 3 };
        for damaged in [malformed(FaultKind::NotJson(broken)), malformed(FaultKind::NotUtf8)] {
            assert_eq!(judge(&damaged, repeatable()), Retry::After(MS(500)), "{damaged:?}");
        }
        let challenge = Outcome::Challenged(Challenge::new(401, None));
        let bad = Violation::BadResult { method: Method::ToolsCall, why: "" };
        for outcome in vec![
            Outcome::Complete(RawJson::empty_object()),
            Outcome::Error(ErrorObject::new(-32603, "")),
            Outcome::TooLarge { len: 2, limit: 1 },
            Outcome::Invalid(bad),
            malformed(FaultKind::TooDeep),
            challenge,
            refused(400),
            refused(402),
            refused(404),
            refused(501),
        ] {
            assert_eq!(judge(&outcome, repeatable()), Retry::No(WhyNot::Final), "{outcome:?}");
        }
        let forever = RetrySettings { max_attempts: u32::MAX, ..RetrySettings::default() };
        for attempts in [8, 33, u32::MAX - 1] {
            let late = Attempt { attempts, ..repeatable() };
            assert_eq!(forever.judge(&timed_out(), &late), Retry::After(MS(60_000)), "{attempts}");
        }
    }

    #[test]
    fn a_connection_may_come_back_unless_somebody_meant_it_to_end() {
        // H-241
        let timeout = CloseReason::ConnectTimeout { waiting_for: Method::Initialize, limit_ms: 1 };
        let refused = CloseReason::Refused { method: Method::Initialize, error: ErrorObject::new(1, "") };
        for (reason, transient) in [
            (CloseReason::Eof, true),
            (CloseReason::DiedOnProbe, true),
            (CloseReason::SessionGone, true),
            (
                CloseReason::NoTransport {
                    streamable: CloseReason::HttpRefused(HttpRefusal::new(405).into()).into(),
                    sse: CloseReason::HttpRefused(HttpRefusal::new(503).into()).into(),
                },
                true,
            ),
            (
                CloseReason::NoTransport {
                    streamable: CloseReason::HttpRefused(HttpRefusal::new(405).into()).into(),
                    sse: CloseReason::HttpRefused(HttpRefusal::new(404).into()).into(),
                },
                false,
            ),
            (timeout, true),
            (CloseReason::HttpRefused(HttpRefusal::new(503).into()), true),
            (CloseReason::HttpRefused(HttpRefusal::new(403).into()), false),
            (CloseReason::Local, false),
            (CloseReason::Incompatible { supported: vec![] }, false),
            (refused, false),
            (CloseReason::Protocol(Violation::Batch), false),
        ] {
            assert_eq!(is_transient(&reason), transient, "{reason:?}");
        }
    }
}
