//! The contract of a machine, checked on every call a harness makes.

use std::collections::BTreeSet;
use std::fmt::Debug;

use sanswire::client::{Event, LineConnection, RequestHandle};
use sanswire::{Instant, Machine};

/// A machine whose events a harness can judge.
pub trait Watched: Machine<Event: Clone + Debug> {
    /// Names a request of the application's.
    type Key: Copy + Ord + Debug;

    /// Whether this is the last event.
    fn is_closed(event: &Self::Event) -> bool;

    /// The request that this event ends.
    fn finished(event: &Self::Event) -> Option<Self::Key>;
}

impl Watched for LineConnection {
    type Key = RequestHandle;

    fn is_closed(event: &Event) -> bool {
        matches!(event, Event::Closed(_))
    }

    fn finished(event: &Event) -> Option<RequestHandle> {
        match event {
            Event::Finished { request, .. } => Some(*request),
            _ => None,
        }
    }
}

impl Watched for sanswire::server::LineConnection {
    type Key = sanswire::server::PeerRequestHandle;

    fn is_closed(event: &sanswire::server::Event) -> bool {
        matches!(event, sanswire::server::Event::Closed(_))
    }

    fn finished(event: &sanswire::server::Event) -> Option<sanswire::server::PeerRequestHandle> {
        match event {
            sanswire::server::Event::Answered { peer, .. } => Some(*peer),
            _ => None,
        }
    }
}

/// What was accepted and what has ended: each accepted request ends once, and `Closed` is the last event.
#[derive(Clone, Debug)]
pub struct Ledger<K> {
    open: BTreeSet<K>,
    over: BTreeSet<K>,
    closed: bool,
}

impl<K> Default for Ledger<K> {
    fn default() -> Self {
        Self { open: BTreeSet::new(), over: BTreeSet::new(), closed: false }
    }
}

impl<K: Copy + Ord + Debug> Ledger<K> {
    /// The machine accepted a request.
    ///
    /// # Panics
    /// If its handle was used before, or the machine is closed.
    pub fn accept(&mut self, request: K) {
        assert!(!self.closed, "{request:?} was accepted after the end");
        assert!(!self.over.contains(&request), "{request:?} names two requests");
        assert!(self.open.insert(request), "{request:?} names two open requests");
    }

    /// The machine gave an event.
    ///
    /// # Panics
    /// If it breaks the contract.
    pub fn event(&mut self, finished: Option<K>, closed: bool) {
        assert!(!self.closed, "an event came after `Closed`");
        if let Some(request) = finished {
            assert!(self.open.remove(&request), "{request:?} ended but was not open");
            self.over.insert(request);
        }
        if closed {
            self.closed = true;
            assert!(self.open.is_empty(), "closed, and these never ended: {:?}", self.open);
        }
    }

    /// Whether `Closed` was seen.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Requests that have not ended.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open.len()
    }
}

/// A machine with its ledger and the events it gave.
#[derive(Debug)]
pub struct Side<M: Watched> {
    /// The machine itself, for the application's calls.
    pub machine: M,
    /// What it told, with the time.
    pub events: Vec<(Instant, M::Event)>,
    /// What it accepted and what ended.
    pub ledger: Ledger<M::Key>,
    /// Leave events where they are, as a busy application does.
    pub holding: bool,
    /// Read nothing, as a stuck program does.
    pub deaf: bool,
    /// Everything that it ever wrote.
    pub written: Vec<u8>,
    told_eof: bool,
    told_write_closed: bool,
}

impl<M: Watched> Side<M> {
    /// This machine, of which nothing was asked yet.
    #[must_use]
    pub fn new(machine: M) -> Self {
        Self {
            machine,
            events: Vec::new(),
            ledger: Ledger::default(),
            holding: false,
            deaf: false,
            written: Vec::new(),
            told_eof: false,
            told_write_closed: false,
        }
    }

    /// Appends what fits of `piece` to the read buffer; how much that was.
    ///
    /// # Panics
    /// If there is no spare room.
    pub fn read(&mut self, piece: &[u8], now: Instant) -> usize {
        let buffer = self.machine.read_buffer();
        let room = buffer.capacity() - buffer.len();
        assert!(room > 0, "the machine wants to read and has no room");
        let len = piece.len().min(room);
        buffer.extend_from_slice(&piece[..len]);
        self.machine.handle_read(now);
        len
    }

    /// Takes at most `most` bytes of what waits to be written.
    ///
    /// # Panics
    /// If what is left is not what follows.
    pub fn write(&mut self, most: usize, now: Instant) -> Vec<u8> {
        let waiting = self.machine.transmit();
        let len = waiting.len().min(most);
        let taken = waiting[..len].to_vec();
        // Enough of what stays to see that it does stay.
        let rest = waiting[len..waiting.len().min(len + 64)].to_vec();
        assert!(self.machine.transmit().starts_with(&taken), "transmit is not stable");
        self.machine.handle_written(len, now);
        self.written.extend_from_slice(&taken);
        assert!(self.machine.transmit().starts_with(&rest), "bytes that were not written went away");
        taken
    }

    /// Takes the events that wait, checking them off.
    pub fn take_events(&mut self, now: Instant) -> usize {
        let before = self.events.len();
        while let Some(event) = self.machine.poll_event() {
            let closed = M::is_closed(&event);
            if closed {
                assert!(self.machine.transmit().is_empty(), "`Closed` came before the last bytes left");
            }
            self.ledger.event(M::finished(&event), closed);
            self.events.push((now, event));
        }
        self.events.len() - before
    }

    /// Tells the machine that its input has ended, once.
    pub fn end_input(&mut self, now: Instant) -> bool {
        let first = !self.told_eof;
        if first {
            self.told_eof = true;
            self.machine.handle_eof(now);
        }
        first
    }

    /// Tells the machine that nobody reads what it writes, once.
    pub fn end_output(&mut self, now: Instant) -> bool {
        let first = !self.told_write_closed;
        if first {
            self.told_write_closed = true;
            self.machine.handle_write_closed(now);
            assert!(self.machine.transmit().is_empty(), "bytes wait for a peer that reads no more");
        }
        first
    }

    /// Whether the driver would read.
    #[must_use]
    pub fn reads(&self) -> bool {
        !self.deaf && self.machine.wants_read()
    }
}
