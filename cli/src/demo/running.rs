//! What is going on: calls that take time, and questions that wait for an answer.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sanswire::jsonrpc::{ErrorObject, RawJson, RequestId};

/// Calls that may run beside each other.
const MAX_RUNNING: usize = 64;

/// The calls that run on threads of their own, and the questions put to the client.
#[derive(Default)]
pub(super) struct Running {
    table: Mutex<Table>,
    changed: Condvar,
}

#[derive(Default)]
struct Table {
    /// By request id.
    calls: BTreeMap<RequestId, State>,
    /// By the id of the question; `None` while it is open.
    questions: BTreeMap<RequestId, Option<Answer>>,
    last_question: i64,
    /// The input is over: nobody answers any more.
    deaf: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Runs,
    Cancelled,
    /// Its answer is being written.
    Answered,
}

/// The client's answer to a question.
pub(super) type Answer = Result<RawJson, ErrorObject>;

/// Why a call was not begun.
pub(super) enum Refused {
    /// Another call under the same id runs.
    IdInUse,
    /// There are too many.
    TooMany,
}

impl Running {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call; [`end`](Self::end) ends it.
    pub(super) fn begin(&self, id: &RequestId) -> Result<(), Refused> {
        let mut table = self.table();
        if table.calls.contains_key(id) {
            return Err(Refused::IdInUse);
        }
        if table.calls.len() >= MAX_RUNNING {
            return Err(Refused::TooMany);
        }
        table.calls.insert(id.clone(), State::Runs);
        Ok(())
    }

    /// The call is over: `answer` is given, unless it was cancelled.
    pub(super) fn end(&self, id: &RequestId, answer: impl FnOnce()) {
        let claimed = match self.table().calls.get_mut(id) {
            Some(state @ State::Runs) => {
                *state = State::Answered;
                true
            }
            _ => false,
        };
        if claimed {
            answer();
        }
        self.table().calls.remove(id);
        self.changed.notify_all();
    }

    /// The client does not want the call any more.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(state @ State::Runs) = self.table().calls.get_mut(id) {
            *state = State::Cancelled;
        }
        self.changed.notify_all();
    }

    /// Waits, and says whether the call was cancelled meanwhile.
    pub(super) fn sleep(&self, id: &RequestId, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut table = self.table();
        loop {
            if table.calls.get(id) != Some(&State::Runs) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            table = self.changed.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The id of a new question.
    pub(super) fn open_question(&self) -> RequestId {
        let mut table = self.table();
        table.last_question += 1;
        let id = RequestId::from(format!("ask-{}", table.last_question).as_str());
        let answer = table.deaf.then(|| Err(gone()));
        table.questions.insert(id.clone(), answer);
        id
    }

    /// The client answered.
    pub(super) fn answer(&self, question: &RequestId, answer: Answer) {
        if let Some(slot @ None) = self.table().questions.get_mut(question) {
            *slot = Some(answer);
        }
        self.changed.notify_all();
    }

    /// Waits for the answer to a question. `None`: the call was cancelled, or it took too long.
    pub(super) fn wait_for(&self, question: &RequestId, call: &RequestId, time: Duration) -> Option<Answer> {
        let until = Instant::now() + time;
        let mut table = self.table();
        loop {
            if let Some(Some(_)) = table.questions.get(question) {
                return table.questions.remove(question).flatten();
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || table.calls.get(call) != Some(&State::Runs) {
                table.questions.remove(question);
                return None;
            }
            table = self.changed.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The input is over: what runs may end in its own time, up to `time`; questions get no answer any more.
    pub(super) fn drain(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut table = self.table();
        table.deaf = true;
        for answer in table.questions.values_mut() {
            answer.get_or_insert_with(|| Err(gone()));
        }
        self.changed.notify_all();
        while !table.calls.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            table = self.changed.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn gone() -> ErrorObject {
    ErrorObject::new(0, "its input is over")
}
