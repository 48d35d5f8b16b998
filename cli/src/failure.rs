//! What went wrong, for people and for programs.

use std::ops::{Deref, DerefMut};

use sanswire::client::{Deadline, Outcome};
use sanswire::error::{ApiError, Violation};
use sanswire::jsonrpc::{ErrorObject, ObjectWriter};

use crate::refusal::{self, Answer};

/// Exit statuses.
pub(crate) mod status {
    /// Wrong usage, or anything that has no status of its own.
    pub(crate) const OTHER: u8 = 1;
    /// Authorization is needed.
    pub(crate) const AUTHORIZATION: u8 = 3;
    /// Unreachable, or timed out.
    pub(crate) const UNREACHABLE: u8 = 4;
    /// The tool failed, or was not found.
    pub(crate) const TOOL: u8 = 5;
    /// What was looked for was found.
    pub(crate) const FINDINGS: u8 = 6;
    /// It may not be done: the files say so, a person did, or there was nobody to ask.
    pub(crate) const DENIED: u8 = 10;
    /// It was allowed, but is defined otherwise now.
    pub(crate) const CHANGED: u8 = 12;
    /// A limit was exceeded.
    pub(crate) const LIMIT: u8 = 13;
}

/// An error as it is shown, with the status that the program ends with.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Box<Details>);

/// What an error holds.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    pub(crate) status: u8,
    /// A stable name for programs.
    pub(crate) code: &'static str,
    /// A sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The server it is about.
    pub(crate) server: Option<String>,
    /// The server's own error.
    pub(crate) rpc: Option<ErrorObject>,
    /// What the server wrote to standard error last.
    pub(crate) stderr: Option<String>,
    /// Which step of a decision it was.
    pub(crate) reason: Option<&'static str>,
    /// What came over HTTP instead of an answer.
    pub(crate) answer: Option<Answer>,
}

impl Deref for Failure {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl Failure {
    /// An error without more to it.
    pub(crate) fn new(status: u8, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Details {
            status,
            code,
            message,
            hint: None,
            server: None,
            rpc: None,
            stderr: None,
            reason: None,
            answer: None,
        }))
    }

    /// Something was said wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(status::OTHER, "usage", message)
    }

    /// Something is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(status::TOOL, "not_found", message)
    }

    /// With a remedy.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the server it is about.
    pub(crate) fn of(mut self, server: &str) -> Self {
        self.server.get_or_insert_with(|| server.into());
        self
    }

    /// A call was not even sent.
    pub(crate) fn refused(what: &str, error: &ApiError) -> Self {
        let (status, code) = match error {
            ApiError::TooLarge { .. }
            | ApiError::TooManyInFlight { .. }
            | ApiError::TooManyRounds { .. }
            | ApiError::OutboundFull => (status::LIMIT, "limit"),
            ApiError::Closed => (status::UNREACHABLE, "connection_lost"),
            ApiError::WrongEra { .. } => (status::OTHER, "wrong_era"),
            _ => (status::OTHER, "refused"),
        };
        Self::new(status, code, format!("{what}: {error}"))
    }

    /// A request ended in something else than a complete result. `what` says which.
    pub(crate) fn outcome(what: &str, outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Error(error) => {
                let mut this = Self::new(
                    status::TOOL,
                    "server_error",
                    format!("{what}: the server says: {} (error {})", error.message, error.code),
                );
                this.rpc = Some(error.clone());
                this
            }
            Outcome::InputRequired(_) => Self::new(
                status::OTHER,
                "input_required",
                format!("{what}: the server asks a question, and there is nobody to answer it"),
            )
            .hint("run it on a terminal"),
            Outcome::TimedOut { which, limit, mistyped_reply } => {
                let seconds = limit.as_secs_f64();
                let how = match which {
                    Deadline::Idle => format!("nothing was heard of it for {seconds} s"),
                    Deadline::Absolute => format!("it took longer than {seconds} s in all"),
                };
                let note = if *mistyped_reply {
                    "; an answer came under an id of another type, which was not taken for it"
                } else {
                    ""
                };
                Self::new(status::UNREACHABLE, "timed_out", format!("{what} timed out: {how}{note}"))
                    .hint("give it longer with --timeout SECONDS")
            }
            Outcome::Cancelled => Self::new(status::OTHER, "cancelled", format!("{what} was cancelled")),
            Outcome::Lost { maybe_ran } => {
                let ran =
                    if *maybe_ran { "; it may have been carried out" } else { "; it was not carried out" };
                Self::new(
                    status::UNREACHABLE,
                    "connection_lost",
                    format!("{what}: the connection was lost before the answer came{ran}"),
                )
            }
            Outcome::SessionGone { maybe_ran } => {
                let ran = if *maybe_ran { "it may have been carried out" } else { "it was not carried out" };
                Self::new(
                    status::UNREACHABLE,
                    "session_gone",
                    format!("{what}: the server has forgotten the session; {ran}"),
                )
                .hint("try again: that opens a new one")
            }
            Outcome::TooLarge { len, limit } => Self::new(
                status::LIMIT,
                "too_large",
                format!("{what}: the answer has {len} bytes, the limit is {limit}; it was thrown away"),
            ),
            Outcome::Invalid(violation @ Violation::Http(_)) => Self::new(
                status::OTHER,
                "invalid_answer",
                format!("{what}: {violation}; it may have been carried out"),
            )
            .hint("check the address, and what stands between: a proxy or a balancer may spoil what passes"),
            Outcome::Invalid(violation) => {
                Self::new(status::OTHER, "invalid_answer", format!("{what}: {violation}"))
            }
            Outcome::Challenged(challenge) => refusal::challenged(what, challenge),
            Outcome::Refused(refused) => refusal::refused(what, refused),
            other => Self::new(status::OTHER, "other", format!("{what}: {other:?}")),
        }
    }

    /// The one line for programs.
    pub(crate) fn to_json(&self) -> String {
        let error = |w: &mut ObjectWriter<'_>| {
            w.string("code", self.code).string("message", &self.message).u64("exit", self.status.into());
            for (name, value) in [("server", &self.server), ("hint", &self.hint), ("stderr", &self.stderr)] {
                if let Some(value) = value {
                    w.string(name, value);
                }
            }
            if let Some(reason) = self.reason {
                w.string("reason", reason);
            }
            if let Some(answer) = &self.answer {
                answer.write(w);
            }
            if let Some(rpc) = &self.rpc {
                w.object("rpc", |w| {
                    w.i64("code", rpc.code).string("message", &rpc.message);
                    if let Some(data) = &rpc.data {
                        w.raw("data", data.view());
                    }
                });
            }
        };
        crate::json::object(|w| {
            w.object("error", error);
        })
        .as_str()
        .to_owned()
    }
}
