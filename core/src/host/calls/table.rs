//! The open calls themselves: by handle, by deadline, and what they hold.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::client::{InputAnswers, InputRequired};
use crate::host::Provenance;
use crate::host::event::{CallHandle, ClientHandle};
use crate::host::policy::{ApprovalHandle, ArgumentsHash, Decision, DefinitionHash, Reason};
use crate::jsonrpc::RawJson;
use crate::server::Principal;
use crate::time::Instant;
use crate::waist::Admitted;

/// One open call.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: Arc<str>,
    pub(super) owner: Principal,
    pub(super) tool: Provenance,
    pub(super) exposed: Arc<str>,
    /// The definition that it was decided about last.
    pub(super) definition: DefinitionHash,
    /// The one before that, or that was allowed before.
    pub(super) changed_from: Option<DefinitionHash>,
    /// What is sent, to the byte. A copy of its own.
    pub(super) arguments: Option<RawJson>,
    pub(super) arguments_hash: ArgumentsHash,
    pub(super) guard_refuses: bool,
    pub(super) nth_in_turn: u32,
    /// What was decided about it last.
    pub(super) decision: Option<Decision>,
    /// Why somebody was asked about it, if somebody was: from then on only an answer lets it pass.
    pub(super) asked: Option<Reason>,
    /// How long it may take once it is let through.
    pub(super) limit: Duration,
    /// When it is over; none while somebody is asked about it.
    deadline: Option<Instant>,
    /// It was made again after a connection was lost before it left.
    pub(super) replayed: bool,
    /// The leave of the waist.
    pub(super) admitted: Option<Admitted>,
    pub(super) state: State,
}

/// What an open call waits for.
#[derive(Debug)]
pub(super) enum State {
    /// Nothing: it is being decided about.
    Deciding,
    /// An answer.
    Asked(ApprovalHandle),
    /// Its server.
    Waiting(Step),
    /// The outcome of its request.
    Sent {
        client: ClientHandle,
        /// It is the call's first round, which could be sent again.
        first: bool,
    },
    /// Input that its server asked for.
    Parked {
        input: Box<InputRequired>,
        /// What is left of its time; it stands still.
        left: Duration,
    },
}

/// What is to be sent.
#[derive(Debug)]
pub(super) enum Step {
    Call,
    Resume(Box<InputRequired>, InputAnswers),
}

impl Open {
    pub(super) fn new(
        (id, owner): (Arc<str>, Principal),
        (exposed, tool, definition): (Arc<str>, Provenance, DefinitionHash),
        arguments: Option<&RawJson>,
        limit: Duration,
    ) -> Self {
        Self {
            id,
            owner,
            tool,
            exposed,
            definition,
            changed_from: None,
            arguments: arguments.map(RawJson::to_compact),
            arguments_hash: ArgumentsHash::of(arguments.map(RawJson::view)),
            guard_refuses: false,
            nth_in_turn: 1,
            decision: None,
            asked: None,
            limit,
            deadline: None,
            replayed: false,
            admitted: None,
            state: State::Deciding,
        }
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn bytes(&self) -> usize {
        self.arguments.as_ref().map_or(0, RawJson::len).saturating_add(self.id.len())
    }

    /// Whether one answer may stand for both: the same, to the byte, for the same owner.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.owner == other.owner
            && self.tool == other.tool
            && self.definition == other.definition
            && self.arguments == other.arguments
    }
}

/// All open calls.
#[derive(Debug, Default)]
pub(super) struct Table {
    calls: BTreeMap<CallHandle, Open>,
    deadlines: BTreeSet<(Instant, CallHandle)>,
    bytes: usize,
    last: u64,
}

impl Table {
    pub(super) fn count_from(&mut self, first: u64) {
        self.last = self.last.max(first);
    }

    /// A handle that names nothing yet.
    pub(super) fn new_handle(&mut self) -> CallHandle {
        self.last += 1;
        CallHandle(self.last)
    }

    pub(super) fn insert(&mut self, call: CallHandle, open: Open) {
        self.bytes = self.bytes.saturating_add(open.bytes());
        self.calls.insert(call, open);
    }

    pub(super) fn get(&self, call: CallHandle) -> Option<&Open> {
        self.calls.get(&call)
    }

    pub(super) fn get_mut(&mut self, call: CallHandle) -> Option<&mut Open> {
        self.calls.get_mut(&call)
    }

    pub(super) fn remove(&mut self, call: CallHandle) -> Option<Open> {
        self.set_deadline(call, None);
        let open = self.calls.remove(&call)?;
        self.bytes = self.bytes.saturating_sub(open.bytes());
        Some(open)
    }

    pub(super) fn set_deadline(&mut self, call: CallHandle, deadline: Option<Instant>) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        if let Some(before) = core::mem::replace(&mut open.deadline, deadline) {
            self.deadlines.remove(&(before, call));
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, call));
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// The call whose time is over first, if one's is.
    pub(super) fn due(&self, now: Instant) -> Option<CallHandle> {
        self.deadlines.first().filter(|(at, _)| *at <= now).map(|(_, call)| *call)
    }

    /// Those that wait for this server, oldest first.
    pub(super) fn waiting_for(&self, server: &str) -> Vec<CallHandle> {
        let waits = |open: &Open| matches!(open.state, State::Waiting(_)) && *open.tool.server == *server;
        self.calls.iter().filter(|(_, open)| waits(open)).map(|(call, _)| *call).collect()
    }

    /// All, oldest first.
    pub(super) fn handles(&self) -> Vec<CallHandle> {
        self.calls.keys().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Bytes of arguments and ids.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that servers' questions keep alive.
    pub(super) fn input_bytes(&self) -> usize {
        let of = |open: &Open| match &open.state {
            State::Parked { input, .. } | State::Waiting(Step::Resume(input, _)) => input.retained_len(),
            State::Deciding | State::Asked(_) | State::Waiting(Step::Call) | State::Sent { .. } => 0,
        };
        self.calls.values().map(of).sum()
    }
}
