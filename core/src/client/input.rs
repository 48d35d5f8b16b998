//! Rounds of input (2026-07-28): a call that wants answers before it goes on.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::ApiError;
use crate::exchange::Partition;
use crate::jsonrpc::{Kind, RawJson};
use crate::mcp::Method;
use crate::mcp::types::input::{InputAnswer, InputRequest, KeyedInput, read_input_requests};

/// How long to wait before a server that only wants to be asked again is asked again; doubles with the rounds.
const ASK_AGAIN: Duration = Duration::from_millis(50);
const ASK_AGAIN_MOST: Duration = Duration::from_secs(2);

/// A call that waits for answers. The session keeps nothing of it: this value owns all that
/// [`resume`](crate::client::Session::resume) needs, and dropping it gives the call up.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    pub(crate) method: Method,
    /// As they were sent first, `_meta` included.
    pub(crate) params: RawJson,
    /// The JSON string as it came, quotes included: it goes back byte for byte.
    state: Option<RawJson>,
    requests: Vec<KeyedInput>,
    pub(crate) round: u32,
    pub(crate) partition: Partition,
}

impl InputRequired {
    /// Reads an `input_required` result. The error says what is wrong with it.
    pub(crate) fn read(
        result: &RawJson,
        method: Method,
        params: RawJson,
        round: u32,
        partition: Partition,
    ) -> Result<Self, &'static str> {
        let view = result.view();
        let state = match view.get("requestState").filter(|state| !state.is_null()) {
            Some(state) if state.kind() == Kind::String => {
                result.slice_of(state).map(|state| state.to_compact())
            }
            Some(_) => return Err("requestState is no string"),
            None => None,
        };
        let requests = view.get("inputRequests");
        let present = requests.is_some_and(|requests| !requests.is_null());
        let requests = read_input_requests(result, requests)?;
        if !present && state.is_none() {
            return Err("neither inputRequests nor requestState is there");
        }
        Ok(Self { method, params, state, requests, round, partition })
    }

    /// What is asked, each under the key that its answer goes back under. Empty: the server only wants to be
    /// asked again; wait a little before doing so.
    #[must_use]
    pub fn requests(&self) -> &[KeyedInput] {
        &self.requests
    }

    /// How long to wait before going on with the call: not at all, unless the server only wants to be asked again. Doubles
    /// with the rounds, from 50 ms to 2 s.
    #[must_use]
    pub fn pause(&self) -> Duration {
        if self.requests.is_empty() {
            ASK_AGAIN.saturating_mul(1 << self.round().min(16)).min(ASK_AGAIN_MOST)
        } else {
            Duration::ZERO
        }
    }

    /// The method of the call.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Which round this is: 1 for the first.
    #[must_use]
    pub const fn round(&self) -> u32 {
        self.round
    }

    /// Whether the server sent state to be echoed. Its content is the server's.
    #[must_use]
    pub const fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// Bytes that this value keeps alive.
    pub(crate) fn retained_len(&self) -> usize {
        let raw = |raw: &Option<RawJson>| raw.as_ref().map_or(0, RawJson::retained_len);
        // All parameters of questions lie in one frame.
        let frame = self.requests.iter().map(|asked| raw(&asked.request.params)).max().unwrap_or(0);
        let keys: usize = self.requests.iter().map(|asked| asked.key.capacity()).sum();
        let table = self.requests.capacity() * size_of::<KeyedInput>();
        self.params.retained_len() + raw(&self.state) + frame + keys + table
    }

    /// The parameters of the next round: the original ones, the answers, the state.
    pub(crate) fn next_params(&self, answers: &InputAnswers) -> Result<RawJson, ApiError> {
        let asked: BTreeSet<&str> = self.requests.iter().map(|asked| asked.key.as_str()).collect();
        if !answers.0.keys().all(|key| asked.contains(key.as_str())) {
            return Err(ApiError::BadParams("an answer has a key that was not asked for"));
        }
        let mut results = Vec::with_capacity(self.requests.len());
        for asked in &self.requests {
            let answer = answers.0.get(&asked.key).ok_or(ApiError::BadParams("a key was not answered"))?;
            let result = answer.to_result(asked.request.kind).ok_or(ApiError::BadParams(
                "this kind of request cannot be refused or answered by an error; drop the call instead",
            ))?;
            if result.view().kind() != Kind::Object {
                return Err(ApiError::BadParams("an answer is no object"));
            }
            results.push((asked.key.as_str(), result));
        }
        Ok(RawJson::object(|w| {
            for (name, value) in self.params.view().members().filter(|(name, _)| !name.eq_str("_meta")) {
                w.raw(&name.decode(), value);
            }
            if !results.is_empty() {
                w.object("inputResponses", |w| {
                    for (key, result) in &results {
                        w.raw(key, result.view());
                    }
                });
            }
            if let Some(state) = &self.state {
                w.raw("requestState", state.view());
            }
        }))
    }
}

/// Answers to the requests of one [`InputRequired`], by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputAnswers(BTreeMap<String, InputAnswer>);

impl InputAnswers {
    /// No answers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer to the request of that key.
    pub fn set(&mut self, key: &str, answer: InputAnswer) {
        self.0.insert(key.into(), answer);
    }

    /// The answers that are set, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &InputAnswer)> {
        self.0.iter().map(|(key, answer)| (key.as_str(), answer))
    }

    /// Asks `answer` for every request of `call` in turn.
    pub fn collect(call: &InputRequired, mut answer: impl FnMut(&InputRequest) -> InputAnswer) -> Self {
        Self(call.requests.iter().map(|asked| (asked.key.clone(), answer(&asked.request))).collect())
    }
}
