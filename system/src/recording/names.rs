//! What handles are called in a recording: by numbers, in the order in which they were first seen.

use std::collections::{BTreeMap, VecDeque};

use sanswire::client::{InputRequired, PeerRequestHandle, RequestHandle};

/// So many calls that wait for input are remembered.
const MAX_WAITING: usize = 16;

/// The names of one connection.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) requests: Numbers<RequestHandle>,
    pub(super) peers: Numbers<PeerRequestHandle>,
    /// Calls that ended in questions, by the number of the request.
    waiting: VecDeque<(u64, InputRequired)>,
}

impl Names {
    /// A request ended in questions.
    pub(super) fn waits(&mut self, request: u64, input: &InputRequired) {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((request, input.clone()));
    }

    pub(super) fn waiting_number(&self, input: &InputRequired) -> Option<u64> {
        self.waiting.iter().find(|(_, waiting)| waiting == input).map(|(number, _)| *number)
    }

    pub(super) fn waiting(&self, number: u64) -> Option<InputRequired> {
        self.waiting.iter().find(|(of, _)| *of == number).map(|(_, input)| input.clone())
    }
}

/// Handles of one kind that are open.
#[derive(Debug)]
pub(super) struct Numbers<H> {
    open: BTreeMap<H, u64>,
    next: u64,
}

impl<H> Default for Numbers<H> {
    fn default() -> Self {
        Self { open: BTreeMap::new(), next: 0 }
    }
}

impl<H: Ord + Copy> Numbers<H> {
    /// The number of a handle, a new one where it has none.
    pub(super) fn give(&mut self, handle: H) -> u64 {
        *self.open.entry(handle).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }

    pub(super) fn number(&self, handle: H) -> Option<u64> {
        self.open.get(&handle).copied()
    }

    pub(super) fn handle(&self, number: u64) -> Option<H> {
        self.open.iter().find(|(_, of)| **of == number).map(|(handle, _)| *handle)
    }

    /// It is over.
    pub(super) fn end(&mut self, handle: H) {
        self.open.remove(&handle);
    }
}
