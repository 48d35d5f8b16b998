//! All connections of a driver.

use std::collections::VecDeque;

use sanswire::{Instant, Machine as _};

use crate::serve::call::Job;
use crate::serve::driver::connection::Connection;
use crate::serve::driver::hub::Hub;

/// Names a connection, and no other one later in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    place: u32,
    turn: u32,
}

impl Key {
    pub(super) const fn to_u64(self) -> u64 {
        ((self.turn as u64) << 32) | self.place as u64
    }

    pub(super) const fn from_u64(key: u64) -> Self {
        // Halves of it, so nothing is lost.
        Self { place: key as u32, turn: (key >> 32) as u32 }
    }
}

#[derive(Default)]
struct Place {
    turn: u32,
    connection: Option<Box<Connection>>,
}

/// The connections, and which of them want something.
#[derive(Default)]
pub(super) struct Table {
    /// How many handlers may be at work for one connection.
    max_running: usize,
    /// Connections that have nothing to do keep no big buffers.
    frugal: bool,
    places: Vec<Place>,
    free: Vec<u32>,
    len: usize,
    /// Those with requests that may run, each once: they take turns.
    ready: VecDeque<Key>,
    /// Those that have something to write or to tell, each once.
    dirty: Vec<Key>,
    /// No deadline of any connection is earlier.
    deadline: Option<Instant>,
}

impl Table {
    pub(super) fn new(max_running: usize, frugal: bool) -> Self {
        Self { max_running, frugal, ..Self::default() }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether a request waits that a thread could run.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(super) fn insert(&mut self, connection: Connection) -> Option<Key> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.places.push(Place::default());
                u32::try_from(self.places.len() - 1).ok()?
            }
        };
        let slot = self.places.get_mut(place as usize)?;
        slot.connection = Some(Box::new(connection));
        self.len += 1;
        Some(Key { place, turn: slot.turn })
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut Connection> {
        let slot = self.places.get_mut(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        slot.connection.as_deref_mut()
    }

    fn remove(&mut self, key: Key) -> Option<Box<Connection>> {
        let slot = self.places.get_mut(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        let connection = slot.connection.take()?;
        // Its names are used up in a few centuries; a place that wraps around meets no key as old as that.
        slot.turn = slot.turn.wrapping_add(1);
        self.free.push(key.place);
        self.len -= 1;
        Some(connection)
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        let taken = self.places.iter().zip(0..).filter(|(slot, _)| slot.connection.is_some());
        taken.map(|(slot, place)| Key { place, turn: slot.turn }).collect()
    }

    pub(super) fn for_each(&mut self, change: impl FnMut(&mut Connection)) {
        let taken = self.places.iter_mut().filter_map(|slot| slot.connection.as_deref_mut());
        taken.for_each(change);
    }

    /// There is something to write or to tell on this connection.
    pub(super) fn soil(&mut self, key: Key) {
        if let Some(connection) = self.get_mut(key)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push(key);
        }
    }

    /// After anything was put into machines: writes, hands out, looks after deadlines, and takes out what is over.
    pub(super) fn tend(&mut self, hub: &Hub, now: Instant) {
        while let Some(key) = self.dirty.pop() {
            self.tend_one(hub, key, now);
        }
    }

    fn tend_one(&mut self, hub: &Hub, key: Key, now: Instant) {
        let frugal = self.frugal;
        let Some(connection) = self.get_mut(key) else { return };
        connection.is_dirty = false;
        connection.flush(key, now);
        if connection.closed {
            if connection.is_ready {
                self.ready.retain(|ready| *ready != key);
            }
            if let Some(connection) = self.remove(key) {
                hub.remove(key.to_u64(), &connection.ends);
            }
            return;
        }
        if frugal {
            connection.rest();
        }
        let want = connection.wants();
        if want != connection.want {
            connection.want = want;
            hub.want(key.to_u64(), &connection.ends, want);
        }
        let deadline = connection.machine.poll_timeout();
        self.line_up(key);
        self.deadline = match (self.deadline, deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// Its requests may run, if there is room for their answers and it has not enough of the threads.
    fn line_up(&mut self, key: Key) {
        let max_running = self.max_running;
        let Some(connection) = self.get_mut(key) else { return };
        if !connection.is_ready && connection.may_run(max_running) {
            connection.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// What the hub found on a connection. Its requests are run before anything is written, so that their answers
    /// leave together.
    pub(super) fn found(&mut self, key: Key, readable: bool, writable: bool, now: Instant) {
        let Some(connection) = self.get_mut(key) else { return };
        // Asked for or not, a fault and an end of both directions are told.
        let over = writable && !connection.want.write;
        if writable {
            connection.writable();
        }
        if readable {
            connection.read(key, now);
        }
        if over {
            connection.gone(key, now);
        }
        self.line_up(key);
        self.soil(key);
    }

    /// Tells the time to those that wait for it.
    pub(super) fn time(&mut self, now: Instant) {
        if self.deadline.is_none_or(|at| at > now) {
            return;
        }
        self.deadline = None;
        let keys = self.keys();
        for key in keys {
            let Some(connection) = self.get_mut(key) else { continue };
            match connection.machine.poll_timeout() {
                Some(at) if at <= now => {
                    connection.machine.handle_timeout(now);
                    self.soil(key);
                }
                Some(at) => self.deadline = Some(self.deadline.map_or(at, |earlier| earlier.min(at))),
                None => {}
            }
        }
    }

    /// The next request to run.
    pub(super) fn next_job(&mut self) -> Option<Job> {
        let max_running = self.max_running;
        while let Some(key) = self.ready.pop_front() {
            let Some(connection) = self.get_mut(key) else { continue };
            // One whose client does not read waits until it does.
            let job = if connection.may_run(max_running) { connection.next() } else { None };
            connection.is_ready = job.is_some() && connection.may_run(max_running);
            if connection.is_ready {
                self.ready.push_back(key);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    /// A new connection.
    pub(super) fn add(&mut self, hub: &Hub, connection: Connection) -> std::io::Result<()> {
        let Some(key) = self.insert(connection) else { return Ok(()) };
        let Some(connection) = self.get_mut(key) else { return Ok(()) };
        match hub.add(key.to_u64(), &connection.ends) {
            Ok(()) => Ok(()),
            Err(error) => {
                drop(self.remove(key));
                Err(error)
            }
        }
    }
}
