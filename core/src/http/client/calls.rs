//! Exchanges of the session that are on their way, wait for their turn, or wait for the rest of their answer.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::exchange::{Exchange, ExchangeHandle};
use crate::http::client::old::Fallback;
use crate::http::client::resume::Cursor;
use crate::http::client::tools::Refetch;
use crate::http::head::HttpHandle;
use crate::mcp::Method;

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

impl Place {
    const fn wire(&self) -> Option<HttpHandle> {
        match self {
            Self::On(wire) => Some(*wire),
            Self::Held | Self::Waits | Self::Refetches(_) | Self::FallsBack(_) => None,
        }
    }
}

/// All of them, and the bytes of the messages they keep.
#[derive(Debug, Default)]
pub(super) struct Calls {
    map: BTreeMap<ExchangeHandle, Call>,
    kept: usize,
    /// Exchanges whose long request is leaving, and how much of it counts although its call needs it no more: a server may
    /// answer what it has not read, and a call may be given up meanwhile.
    leaving: Vec<(HttpHandle, usize)>,
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
        self.let_go(call.exchange.message.len(), call.place.wire());
        Some(call)
    }

    /// It will not be sent again.
    pub(super) fn release(&mut self, handle: ExchangeHandle) {
        let Some(call) = self.map.get_mut(&handle) else { return };
        let message = core::mem::take(&mut call.exchange.message);
        call.exchange.params_at = 0..0;
        call.exchange.facts.method = call.exchange.facts.method.take().map(Method::bounded);
        let wire = call.place.wire();
        self.let_go(message.len(), wire);
    }

    fn let_go(&mut self, len: usize, wire: Option<HttpHandle>) {
        self.kept -= len;
        if let Some((_, lent)) = self.leaving.iter_mut().find(|(leaving, _)| Some(*leaving) == wire) {
            *lent += len;
        }
    }

    /// A connection holds the request of this exchange until it has left.
    pub(super) fn begin_leaving(&mut self, wire: HttpHandle) {
        self.has_left(wire);
        self.leaving.push((wire, 0));
    }

    /// It has left, or will not.
    pub(super) fn has_left(&mut self, wire: HttpHandle) {
        self.leaving.retain(|(leaving, _)| *leaving != wire);
    }

    /// Bytes of the messages that are kept, and of those that are on their way out and not needed after that.
    pub(super) fn kept_bytes(&self) -> usize {
        self.leaving.iter().fold(self.kept, |sum, (_, lent)| sum + lent)
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
