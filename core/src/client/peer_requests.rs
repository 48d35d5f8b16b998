//! The table of requests that the server made and the application has not answered.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::client::event::PeerRequestHandle;
use crate::jsonrpc::RequestId;
use crate::mcp::types::input::InputKind;
use crate::time::Instant;

/// Requests of the server's that wait for the application.
#[derive(Debug, Default)]
pub(super) struct PeerRequests {
    pub(super) open: BTreeMap<u64, Waiting>,
    pub(super) last: u64,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: RequestId,
    pub(super) kind: InputKind,
    pub(super) at: Instant,
}

impl PeerRequests {
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().map(|waiting| waiting.at).min()
    }

    pub(super) fn take_all(&mut self) -> Vec<PeerRequestHandle> {
        core::mem::take(&mut self.open).into_keys().map(PeerRequestHandle).collect()
    }

    pub(super) fn withdraw(&mut self, id: &RequestId) -> Option<PeerRequestHandle> {
        let handle = self.open.iter().find(|(_, waiting)| waiting.id == *id).map(|(handle, _)| *handle)?;
        self.open.remove(&handle);
        Some(PeerRequestHandle(handle))
    }
}
