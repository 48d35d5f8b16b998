//! What a call asks its client and what came back, the same for a handler's author in both eras.
//!
//! Up to 2025-11-25 a question is a request of its own, and its answer comes while the handler waits. In 2026-07-28 the
//! questions of a run leave with its end, and the handler runs again from its start once the answers came; what was
//! answered in earlier rounds travels with the client, [sealed](Seal). So in both eras a handler says what it asks under
//! a key, and gets the answer at once if there is one.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::error::ApiError;
use crate::jsonrpc::{ErrorObject, JsonRef, Kind, MAX_DEPTH, RawJson};
use crate::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use crate::mcp::types::lifecycle::ClientCapabilities;
use crate::mcp::{Era, Method, Revision, codes};
use crate::server::dispatch::cut;
use crate::server::event::{Context, Reply};
use crate::server::input;
use crate::server::state::{Binding, MAX_STATE_BYTES, Seal, StateFault};

/// The questions and answers of one run of a handler.
///
/// Holds at most as many answers as questions are allowed.
#[derive(Debug)]
pub struct Asking {
    revision: Revision,
    capabilities: ClientCapabilities,
    takes_rounds: bool,
    /// What its state holds for (2026-07-28).
    binding: Option<Binding>,
    answers: BTreeMap<Box<str>, RawJson>,
    /// What has no answer yet.
    open: Vec<KeyedInput>,
    limit: usize,
}

/// What becomes of a question that could be put.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// It was answered before, in this run or an earlier one.
    Answered(RawJson),
    /// It is put. Up to 2025-11-25: send it with [`request_input`](crate::server::Session::request_input), and give
    /// what came to [`answer`](Asking::answer). 2026-07-28: end the run and answer with [`suspend`](Asking::suspend).
    Put,
}

/// Why a question is not put, or its answer not taken.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AskFault {
    /// The client did not declare that it can be asked this: what it would have to declare.
    Undeclared(Box<ClientCapabilities>),
    /// The question is none that this revision has, or lacks what it must have.
    Refused(ApiError),
    /// The call has asked so many questions already.
    TooMany {
        /// How many.
        limit: usize,
    },
    /// The answers so far are too long to travel with the client (2026-07-28).
    StateTooLong {
        /// Bytes of the state.
        len: usize,
        /// The limit it exceeds.
        limit: usize,
    },
    /// The answer is none to this question.
    Unfit {
        /// The question's key.
        key: Box<str>,
        /// What is wrong.
        why: String,
    },
}

impl AskFault {
    /// The error to answer a request of 2026-07-28 with, where the fault is the client's. None: it is the handler's.
    ///
    /// Spec: MCP 2026-07-28 basic, "Error Codes"; multi-round requests, "Server Requirements".
    #[must_use]
    pub fn to_error(&self) -> Option<ErrorObject> {
        match self {
            Self::Undeclared(missing) => Some(input::missing_capability(missing)),
            Self::Unfit { .. } => Some(ErrorObject::new(codes::INVALID_PARAMS, self.to_string())),
            Self::Refused(_) | Self::TooMany { .. } | Self::StateTooLong { .. } => None,
        }
    }
}

impl fmt::Display for AskFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared(_) => f.write_str("the client did not declare that it can be asked this"),
            Self::Refused(error) => write!(f, "the question cannot be put: {error}"),
            Self::TooMany { limit } => write!(f, "the call has asked {limit} questions already"),
            Self::StateTooLong { len, limit } => {
                write!(
                    f,
                    "the answers so far have {len} bytes as requestState, the limit is {limit}; ask for less"
                )
            }
            Self::Unfit { key, why } => write!(f, "the answer under {key:?} does not fit: {why}"),
        }
    }
}

impl core::error::Error for AskFault {}

impl Asking {
    /// The questions of a request, with what its earlier rounds left. `limit`: the questions that the call may ask in
    /// all. `now` is in seconds of the wall clock.
    ///
    /// # Errors
    /// The state that the client sent is none of ours, or none for this request; answer with [`StateFault::to_error`].
    pub fn new(
        context: &Context,
        method: &Method,
        params: &RawJson,
        seal: &Seal,
        limit: usize,
        now: u64,
    ) -> Result<Self, StateFault> {
        let modern = context.era() == Era::Modern;
        let mut asking = Self {
            binding: modern.then(|| Binding::new(&context.principal, method, params)),
            revision: context.revision,
            capabilities: context.capabilities.clone(),
            takes_rounds: method.takes_input_rounds(),
            answers: BTreeMap::new(),
            open: Vec::new(),
            limit,
        };
        if let (Some(binding), Some(round)) = (&asking.binding, &context.round)
            && let Some(state) = &round.state
        {
            let payload = seal.open(binding, state, now)?;
            let kept = RawJson::parse(payload.into(), MAX_DEPTH).map_err(|_| StateFault::Malformed)?;
            let member = |name| kept.view().get(name);
            for (key, answer) in member("answers").into_iter().flat_map(JsonRef::members) {
                let answer = kept.slice_of(answer).ok_or(StateFault::Malformed)?;
                asking.answers.insert(key.decode().into(), answer);
            }
            // Of what came now only what was asked for counts.
            for key in member("asked").into_iter().flat_map(JsonRef::elements).filter_map(JsonRef::str) {
                if let Some(answer) = round.response(&key.decode()) {
                    asking.answers.insert(key.decode().into(), answer);
                }
            }
        }
        Ok(asking)
    }

    /// Asks `request` under `key`, which names the question within its call, over all its runs.
    ///
    /// # Errors
    /// It is not put, or its answer is none. Nothing changed.
    pub fn ask(&mut self, key: &str, request: &InputRequest) -> Result<Asked, AskFault> {
        input::check(request, self.revision).map_err(AskFault::Refused)?;
        let missing = input::undeclared(request, self.revision, &self.capabilities);
        if !missing.is_empty() {
            return Err(AskFault::Undeclared(Box::new(missing)));
        }
        if let Some(answer) = self.answers.get(key) {
            return match unfit(request, answer) {
                None => Ok(Asked::Answered(answer.clone())),
                Some(why) => Err(AskFault::Unfit { key: key.into(), why }),
            };
        }
        if self.open.iter().any(|open| open.key == key) {
            return Ok(Asked::Put);
        }
        if self.answers.len() + self.open.len() >= self.limit {
            return Err(AskFault::TooMany { limit: self.limit });
        }
        let modern = self.binding.is_some();
        if modern && !self.takes_rounds {
            return Err(AskFault::Refused(ApiError::BadParams("this method takes no rounds of input")));
        }
        self.open.push(KeyedInput { key: key.into(), request: request.clone() });
        let len = if modern { Seal::sealed_len(self.kept().len()) } else { 0 };
        if len > MAX_STATE_BYTES {
            self.open.pop();
            return Err(AskFault::StateTooLong { len, limit: MAX_STATE_BYTES });
        }
        Ok(Asked::Put)
    }

    /// Takes the answer to a question that was put, up to 2025-11-25.
    ///
    /// # Errors
    /// [`AskFault::Unfit`]: it is none.
    pub fn answer(&mut self, key: &str, answer: RawJson) -> Result<RawJson, AskFault> {
        let open = self.open.iter().position(|open| open.key == key).map(|at| self.open.swap_remove(at));
        if let Some(why) = open.and_then(|open| unfit(&open.request, &answer)) {
            return Err(AskFault::Unfit { key: key.into(), why });
        }
        self.answers.insert(key.into(), answer.clone());
        Ok(answer)
    }

    /// A question that was put gets no answer, up to 2025-11-25. It may be put again.
    pub fn give_up(&mut self, key: &str) {
        self.open.retain(|open| open.key != key);
    }

    /// The answer to a run of 2026-07-28 that put questions: all of them, and what it knows already, to be taken back
    /// until `expires_at`, in seconds of the wall clock. None: it put none.
    #[must_use]
    pub fn suspend(&self, seal: &Seal, expires_at: u64) -> Option<Reply> {
        let binding = self.binding.as_ref().filter(|_| !self.open.is_empty())?;
        let state = seal.seal(binding, self.kept().as_bytes(), expires_at);
        Some(Reply::InputRequired { requests: self.open.clone(), state: Some(state) })
    }

    /// What the next round has to know of this one.
    fn kept(&self) -> RawJson {
        RawJson::object(|w| {
            w.object("answers", |w| {
                for (key, answer) in &self.answers {
                    w.raw(key, answer.view());
                }
            });
            w.array_of_strings("asked", self.open.iter().map(|open| open.key.as_str()));
        })
    }
}

/// What is wrong with an answer.
///
/// Spec: MCP client/elicitation, client/sampling, client/roots; schema, the result of each.
fn unfit(request: &InputRequest, answer: &RawJson) -> Option<String> {
    let view = answer.view();
    let why = match request.kind {
        InputKind::ElicitForm | InputKind::ElicitUrl => {
            // What is wrong may be told in the client's own words.
            return request.elicited(answer).err().map(|fault| cut(&fault.to_string()).into());
        }
        InputKind::Sample => {
            let content = view.get("content").map(JsonRef::kind);
            let role = view.get("role").and_then(JsonRef::str);
            let good = matches!(content, Some(Kind::Object | Kind::Array)) && role.is_some();
            (!good).then_some("it is no message")
        }
        InputKind::ListRoots => {
            let roots = view.get("roots").filter(|roots| roots.kind() == Kind::Array);
            let good = roots.is_some_and(|roots| {
                roots.elements().all(|root| root.get("uri").and_then(JsonRef::str).is_some())
            });
            (!good).then_some("it is no list of roots")
        }
    };
    why.map(Into::into)
}

#[cfg(test)]
mod tests;
