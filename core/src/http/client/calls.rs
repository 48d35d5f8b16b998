//! Exchanges of the session that are on their way, wait for their turn, or wait for the rest of their answer.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use bytes::Bytes;

use crate::exchange::{Exchange, ExchangeHandle};
use crate::http::client::old::Fallback;
use crate::http::client::resume::Cursor;
use crate::http::client::tools::Refetch;
use crate::http::head::HttpHandle;

/// One exchange of the session. It may take several of HTTP.
#[derive(Debug)]
pub(super) struct Call {
    /// Its message is empty once it is certain not to be sent again.
    pub(super) exchange: Exchange,
    pub(super) place: Place,
    /// It was sent before, under another id: once is enough.
    pub(super) again: bool,
    pub(super) cursor: Cursor,
}

/// Where an exchange is.
#[derive(Debug)]
pub(super) enum Place {
    /// It waits until the session is there.
    Held,
    /// It is on this HTTP exchange.
    On(HttpHandle),
    /// The rest of its answer is fetched when the time has come.
    Waits,
    /// The tools are listed anew before it is sent again.
    Refetches(Box<Refetch>),
    /// The older transport is looked for before its refusal counts.
    FallsBack(Box<Fallback>),
}

/// All of them, and the bytes of the messages they keep.
#[derive(Debug, Default)]
pub(super) struct Calls {
    map: BTreeMap<ExchangeHandle, Call>,
    kept: usize,
}

impl Calls {
    pub(super) fn insert(&mut self, exchange: Exchange, place: Place, again: bool) {
        self.kept += exchange.message.len();
        let handle = exchange.handle;
        self.map.insert(handle, Call { exchange, place, again, cursor: Cursor::default() });
    }

    pub(super) fn get(&self, handle: ExchangeHandle) -> Option<&Call> {
        self.map.get(&handle)
    }

    pub(super) fn get_mut(&mut self, handle: ExchangeHandle) -> Option<&mut Call> {
        self.map.get_mut(&handle)
    }

    pub(super) fn remove(&mut self, handle: ExchangeHandle) -> Option<Call> {
        let call = self.map.remove(&handle)?;
        self.kept -= call.exchange.message.len();
        Some(call)
    }

    /// It will not be sent again.
    pub(super) fn release(&mut self, handle: ExchangeHandle) {
        if let Some(call) = self.map.get_mut(&handle) {
            self.kept -= call.exchange.message.len();
            call.exchange.message = Bytes::new();
            call.exchange.params_at = 0..0;
        }
    }

    pub(super) const fn kept_bytes(&self) -> usize {
        self.kept
    }

    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    pub(super) fn clear(&mut self) {
        self.map.clear();
        self.kept = 0;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Call> {
        self.map.values()
    }
}
