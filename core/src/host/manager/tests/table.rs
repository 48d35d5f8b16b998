//! What the servers of a host should be, as a small table of its own.

use alloc::collections::VecDeque;

use super::*;

pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
pub(super) const CONNECT: u64 = 100;
pub(super) const MAX_ATTEMPTS: u32 = 2;
pub(super) const EARLY: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum At {
    /// There is no connection, and none is wanted before that, if ever.
    Nowhere(Option<u64>),
    Queued,
    Opening(u64),
    Listing(u64),
    Open,
}

/// What a server should be.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) status: Status,
    pub(super) at: At,
    pub(super) failures: u32,
    pub(super) persists: bool,
    /// Failures before the present connection, if it came of a loss.
    pub(super) before: Option<u32>,
    pub(super) opened: u64,
    pub(super) used: bool,
    pub(super) listed: bool,
    pub(super) waiting: usize,
}

/// What the servers should be.
pub(super) struct Model {
    pub(super) servers: Vec<Server>,
    pub(super) queue: VecDeque<usize>,
    pub(super) places: usize,
    pub(super) backoff: u64,
    pub(super) now: u64,
    pub(super) closed: bool,
    /// Servers whose waiting calls go on.
    pub(super) settled: Vec<usize>,
}

impl Model {
    pub(super) fn new(places: usize, backoff: u64) -> Self {
        let server = |_| Server {
            status: Status::Connecting,
            at: At::Queued,
            failures: 0,
            persists: false,
            before: None,
            opened: 0,
            used: false,
            listed: false,
            waiting: 0,
        };
        let queue = (0..NAMES.len()).collect();
        let servers = NAMES.iter().map(server).collect();
        let mut model = Self { servers, queue, places, backoff, now: 0, closed: false, settled: vec![] };
        model.admit();
        model
    }

    pub(super) fn admit(&mut self) {
        let starts = |server: &&Server| matches!(server.at, At::Opening(_) | At::Listing(_));
        while self.servers.iter().filter(starts).count() < self.places
            && let Some(next) = self.queue.pop_front()
        {
            self.servers[next].at = At::Opening(self.now + CONNECT);
        }
    }

    pub(super) fn set(&mut self, index: usize, status: Status) {
        let pending = |status| matches!(status, Status::Connecting | Status::Reconnecting);
        let before = core::mem::replace(&mut self.servers[index].status, status);
        if pending(before) && !pending(status) {
            self.settled.push(index);
        }
    }

    pub(super) fn ask(&mut self, index: usize) {
        self.servers[index].at = At::Queued;
        self.queue.push_back(index);
    }

    pub(super) fn opened(&mut self, index: usize) {
        let server = &mut self.servers[index];
        server.before = (server.status == Status::Reconnecting).then_some(server.failures);
        (server.at, server.failures) = (At::Open, 0);
        (server.opened, server.used) = (self.now, false);
        self.set(index, Status::Connected);
    }

    pub(super) fn fails(&mut self, index: usize) {
        let first = self.servers[index].status == Status::Connecting;
        let server = &mut self.servers[index];
        server.at = At::Nowhere(None);
        server.failures += u32::from(!first);
        if server.failures >= MAX_ATTEMPTS {
            self.set(index, Status::Unavailable);
        } else if first || !server.persists {
            self.set(index, Status::Failed);
        } else {
            let again = if self.backoff == 0 { None } else { Some(self.now + self.backoff) };
            server.at = At::Nowhere(again);
            self.set(index, Status::Reconnecting);
            if again.is_none() {
                self.ask(index);
            }
        }
    }

    pub(super) fn ends(&mut self, index: usize) {
        let server = &mut self.servers[index];
        if server.at == At::Open {
            server.persists = true;
            let early = !server.used && self.now - server.opened < EARLY;
            match server.before.filter(|_| early) {
                Some(before) => {
                    server.failures = before;
                    self.fails(index);
                }
                None => {
                    self.set(index, Status::Reconnecting);
                    self.ask(index);
                }
            }
        } else {
            self.fails(index);
        }
    }

    /// What a call is told.
    pub(super) fn call(&mut self, index: usize) -> &'static str {
        let server = &mut self.servers[index];
        match server.status {
            _ if self.closed => return "unavailable",
            Status::Connected => {
                server.used = true;
                return "go";
            }
            Status::Unavailable | Status::Disabled => return "unavailable",
            Status::Failed => {
                server.persists = false;
                self.set(index, Status::Reconnecting);
            }
            Status::Connecting | Status::Reconnecting => {}
        }
        self.servers[index].waiting += 1;
        if matches!(self.servers[index].at, At::Nowhere(_)) {
            self.ask(index);
        }
        "wait"
    }

    pub(super) fn reconnect(&mut self, index: usize) {
        let server = &mut self.servers[index];
        server.failures = 0;
        if matches!(server.at, At::Open | At::Nowhere(_)) {
            server.persists = true;
            self.set(index, Status::Reconnecting);
            self.ask(index);
        }
    }

    pub(super) fn wait(&mut self, millis: u64) {
        self.now += millis;
        for index in 0..self.servers.len() {
            match self.servers[index].at {
                At::Opening(until) | At::Listing(until) if until <= self.now => self.fails(index),
                At::Nowhere(Some(due)) if due <= self.now => self.ask(index),
                _ => {}
            }
        }
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.queue.clear();
        for index in 0..self.servers.len() {
            self.servers[index].at = At::Nowhere(None);
            self.set(index, Status::Unavailable);
        }
    }
}
