//! What one handler says while it works.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Era;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::govern::Told;
use sanswire::server::kit::{AskError, Asker, Questions, Request};
use sanswire::server::{PeerOutcome, Reply};
use sanswire::waist::{ErrorClass, Spend};

use crate::serve::asks::Asks;
use crate::serve::cancel::Cancel;

/// What the handler of one call said of its work, and what it asked its client. Its lock is held for these calls only,
/// never while an answer is waited for.
#[derive(Debug)]
pub struct Said {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    told: Told,
    questions: Questions,
}

impl Default for Said {
    fn default() -> Self {
        Self::new()
    }
}

impl Said {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: Mutex::new(State { told: Told::new(), questions: Questions::new() }) }
    }

    /// What the work used up, besides what was told before.
    pub fn spend(&self, spent: Spend) {
        self.lock().told.spend(spent);
    }

    /// What kind of failure it is, should the call fail.
    pub fn fails_as(&self, class: ErrorClass) {
        self.lock().told.fails_as(class);
    }

    /// What was told of the work.
    #[must_use]
    pub fn told(&self) -> Told {
        self.lock().told
    }

    /// Asks, or finds what was answered. None: the question has to be sent, and what becomes of it goes to
    /// [`answered`](Self::answered).
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub fn ask(
        &self,
        asks: &Asks,
        call: &Request<Cancel>,
        key: &str,
        request: &InputRequest,
    ) -> Result<Option<RawJson>, AskError> {
        self.lock().questions.ask(&asks.terms, asker(call), key, request, || asks.now())
    }

    /// Before the first of several questions is [asked](Self::ask): has all of them leave in one round of 2026-07-28, where
    /// the first that waits ends the run.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), for the first that fails.
    pub fn put_all(
        &self,
        asks: &Asks,
        call: &Request<Cancel>,
        questions: &[(&str, &InputRequest)],
    ) -> Result<(), AskError> {
        if call.context.era() == Era::Modern {
            for (key, request) in questions {
                match self.ask(asks, call, key, request) {
                    Err(AskError::Suspended) => {}
                    put => drop(put?),
                }
            }
        }
        Ok(())
    }

    /// What became of a question that was sent: its answer, if it fits.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub fn answered(
        &self,
        call: &Request<Cancel>,
        key: &str,
        outcome: Result<PeerOutcome, ApiError>,
    ) -> Result<RawJson, AskError> {
        self.lock().questions.answered(asker(call), key, outcome)
    }

    /// The answer of a run that ends with [`AskError::Suspended`]: the questions that it put.
    #[must_use]
    pub fn suspend(&self, asks: &Asks) -> Reply {
        let now = asks.now();
        self.lock().questions.suspend(&asks.terms, now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn asker(call: &Request<Cancel>) -> Asker<'_> {
    Asker {
        context: &call.context,
        method: &call.method,
        params: &call.params,
        is_cancelled: call.cancel.is_set(),
    }
}
