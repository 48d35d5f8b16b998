//! One connection of a site.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::mem;
use core::time::Duration;

use crate::http::h1;
use crate::http::head::HttpHandle;
use crate::http::site::Site;
use crate::machine::Machine;
use crate::server::kit::{Cancel, ConnectionKey};
use crate::time::Instant;

/// Buffers that a connection keeps between two requests: the smallest that is read into, and small answers.
const KEPT_BYTES: usize = 6 * 1024;

/// What is known of an open connection: its machine, and the exchange that it is at.
pub(super) struct Open {
    pub(super) machine: h1::Server,
    /// The request that is open.
    pub(super) exchange: Option<HttpHandle>,
    /// Its answer is sent piece by piece.
    pub(super) streams: bool,
    /// So many bytes of its answer wait to be written, as the endpoint knows.
    pub(super) told: usize,
    /// When it is told the time at the latest.
    pub(super) alarm: Option<Instant>,
    /// When it may have rested for so long that it makes room for another.
    pub(super) yields: Option<Instant>,
    /// It stands among those whose machine may have something to tell.
    pub(super) is_unheard: bool,
    /// It stands among those that the runtime is to look at.
    pub(super) is_dirty: bool,
    pub(super) is_closed: bool,
}

impl Open {
    pub(super) const fn new(machine: h1::Server) -> Self {
        Self {
            machine,
            exchange: None,
            streams: false,
            told: 0,
            alarm: None,
            yields: None,
            is_unheard: false,
            is_dirty: false,
            is_closed: false,
        }
    }

    /// The exchange is over. How much of its answer the endpoint thinks to wait.
    pub(super) fn leave(&mut self) -> usize {
        self.exchange = None;
        self.streams = false;
        mem::take(&mut self.told)
    }

    /// Lets go of buffers: of all while an answer goes on and on, of big ones between two requests.
    pub(super) fn rest(&mut self) {
        if self.streams || self.exchange.is_none() && self.machine.retained_bytes() > KEPT_BYTES {
            self.machine.release();
        }
    }
}

/// One connection of a [`Site`], as the machine of a stream of bytes: what it is told reaches the endpoint at once. It has no
/// events: what it brings comes out of the site.
pub struct Connection<'a, C: Cancel, W> {
    pub(super) site: &'a mut Site<C, W>,
    pub(super) key: ConnectionKey,
}

impl<C: Cancel, W> fmt::Debug for Connection<'_, C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Connection");
        shown.field("key", &self.key);
        if let Some(open) = self.open() {
            shown.field("machine", &open.machine);
        }
        shown.finish_non_exhaustive()
    }
}

impl<C: Cancel, W> Connection<'_, C, W> {
    fn open(&self) -> Option<&Open> {
        self.site.connections.get(self.key)
    }

    /// Whether it is over: nothing more is read or written. It is to be [removed](Site::remove).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.open().is_none_or(|open| open.is_closed)
    }

    /// See [`h1::Server::is_lingering`].
    #[must_use]
    pub fn is_lingering(&self) -> bool {
        self.open().is_some_and(|open| open.machine.is_lingering())
    }

    /// See [`h1::Server::is_full`].
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.open().is_some_and(|open| open.machine.is_full())
    }

    /// All that the client takes now was written: what is left counts as waiting, and buffers that nobody needs go. To be
    /// called at the end of each turn of reading and writing: there is nothing else to be done for it now.
    pub fn handle_flushed(&mut self, now: Instant) {
        let Some(open) = self.site.connections.get_mut(self.key) else { return };
        let waits = open.machine.queued_out_bytes();
        if let Some(exchange) = open.exchange.filter(|_| open.told != waits) {
            open.told = waits;
            self.site.endpoint.set_outbound(exchange, waits, now);
            self.site.settle(now);
        }
        let Site { connections, dirty, .. } = &mut *self.site;
        let Some(open) = connections.get_mut(self.key) else { return };
        open.rest();
        // It was looked after. Mostly nothing came for another one meanwhile.
        if open.is_dirty && dirty.last() == Some(&self.key) {
            dirty.pop();
            open.is_dirty = false;
        }
    }

    /// Closes it, if it has rested for [`yields_after`](crate::http::site::SiteConfig::yields_after): somebody else comes
    /// for whom there is no room. Whether it was; else [`Site::poll_rested`] names it again when it may have.
    pub fn give_way(&mut self, now: Instant) -> bool {
        let Site { connections, rests, yields_after, .. } = &mut *self.site;
        let Some(open) = connections.get_mut(self.key).filter(|open| !open.is_closed) else { return false };
        let since = open.machine.idle_since();
        let yields = since.unwrap_or(now).saturating_add(*yields_after);
        if since.is_none() || yields > now {
            let later = yields.max(now.saturating_add(Duration::from_micros(1)));
            rests.forget(self.key, open.yields.take());
            open.yields = rests.set(self.key, None, Some(later));
            return false;
        }
        self.site.tell(self.key, now, |machine| machine.shutdown(now));
        self.site.soil(self.key);
        true
    }
}

impl<C: Cancel, W> Machine for Connection<'_, C, W> {
    type Event = Infallible;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        match self.site.connections.get_mut(self.key) {
            Some(open) => open.machine.read_buffer(),
            None => &mut self.site.nowhere,
        }
    }

    fn handle_read(&mut self, now: Instant) {
        self.site.tell(self.key, now, |machine| machine.handle_read(now));
        self.site.soil(self.key);
    }

    fn handle_eof(&mut self, now: Instant) {
        self.site.tell(self.key, now, |machine| machine.handle_eof(now));
        self.site.soil(self.key);
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.site.tell(self.key, now, |machine| machine.handle_write_closed(now));
        self.site.soil(self.key);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.site.tell(self.key, now, |machine| machine.handle_timeout(now));
        self.site.soil(self.key);
    }

    fn transmit(&self) -> &[u8] {
        self.open().map_or(&[], |open| open.machine.transmit())
    }

    fn handle_written(&mut self, len: usize, now: Instant) {
        self.site.tell(self.key, now, |machine| machine.handle_written(len, now));
    }

    fn poll_event(&mut self) -> Option<Infallible> {
        None
    }

    /// The site has it among its own.
    fn poll_timeout(&self) -> Option<Instant> {
        self.open().and_then(|open| open.machine.poll_timeout())
    }

    fn wants_read(&self) -> bool {
        self.open().is_some_and(|open| open.machine.wants_read())
    }
}
