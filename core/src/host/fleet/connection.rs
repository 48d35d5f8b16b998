//! One connection, and which of its requests are the host's.

use alloc::collections::BTreeMap;

use crate::client::{LineConnection, Link as _, RequestHandle};
use crate::error::ApiError;
use crate::host::event::{CallHandle, RequestKey};
use crate::time::Instant;

/// A connection with the names that the host has for its requests.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) machine: LineConnection,
    keys: BTreeMap<RequestHandle, RequestKey>,
    requests: BTreeMap<RequestKey, RequestHandle>,
    shut: bool,
}

impl Connection {
    pub(super) const fn new(machine: LineConnection) -> Self {
        Self { machine, keys: BTreeMap::new(), requests: BTreeMap::new(), shut: false }
    }

    /// Makes a request of that name.
    pub(super) fn ask(
        &mut self,
        key: RequestKey,
        make: impl FnOnce(&mut LineConnection) -> Result<RequestHandle, ApiError>,
    ) -> Result<(), ApiError> {
        let request = make(&mut self.machine)?;
        self.keys.insert(request, key);
        self.requests.insert(key, request);
        Ok(())
    }

    /// Gives a request up; its outcome matters to nobody.
    pub(super) fn cancel(&mut self, key: RequestKey, now: Instant) {
        if let Some(request) = self.requests.remove(&key) {
            self.keys.remove(&request);
            // It may have ended, and its outcome wait behind other events.
            let _ = self.machine.cancel(request, None, now);
        }
    }

    /// Ends it. What is open ends with it.
    pub(super) fn shut(&mut self, now: Instant) {
        self.shut = true;
        self.machine.close(now);
    }

    /// Whether nothing of it is to be heard any more but the end of its requests.
    pub(super) const fn is_shut(&self) -> bool {
        self.shut
    }

    /// The name of a request that ended, if anybody waits for it.
    pub(super) fn finished(&mut self, request: RequestHandle) -> Option<RequestKey> {
        let key = self.keys.remove(&request)?;
        self.requests.remove(&key);
        Some(key)
    }

    pub(super) fn key_of(&self, request: RequestHandle) -> Option<RequestKey> {
        self.keys.get(&request).copied()
    }

    pub(super) fn call_of(&self, request: RequestHandle) -> Option<CallHandle> {
        match self.key_of(request)? {
            RequestKey::Call(call) => Some(call),
            RequestKey::Listing(_) | RequestKey::Listen(_) => None,
        }
    }
}
