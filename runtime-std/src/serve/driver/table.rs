//! All connections over which lines go.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use sanswire::error::ApiError;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::kit::{ConnectionKey, Places};
use sanswire::server::{Catalog, ListKind, Notice, PeerOutcome, Reply};
use sanswire::{Instant, Machine as _};

use crate::os::{Conn, PollEvent};
use crate::serve::call::{Job, Origin};
use crate::serve::driver::connection::Connection;
use crate::serve::driver::hub::{Ends, Hub};
use crate::serve::driver::{Stop, Traffic};
use crate::serve::server::Inner;

/// How many connections a driver is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connections {
    One,
    /// None of them gets more than half of the threads, so that its handlers alone cannot hold up the others.
    Many,
}

/// The connections, and which of them want something.
pub(super) struct Table {
    server: Arc<Inner>,
    /// How many handlers may be at work for one connection.
    max_running: usize,
    /// Connections that have nothing to do keep no big buffers.
    frugal: bool,
    connections: Places<Connection>,
    /// Those with requests that may run, each once: they take turns.
    ready: VecDeque<ConnectionKey>,
    /// Those that have something to write or to tell, each once.
    dirty: Vec<ConnectionKey>,
    /// No deadline of any connection is earlier.
    deadline: Option<Instant>,
}

impl Table {
    pub(super) fn new(server: &Arc<Inner>, connections: Connections) -> Self {
        let max_threads = server.serving.max_threads();
        Self {
            server: Arc::clone(server),
            max_running: match connections {
                Connections::One => max_threads,
                Connections::Many => max_threads.div_ceil(2),
            },
            frugal: connections == Connections::Many,
            connections: Places::default(),
            ready: VecDeque::new(),
            dirty: Vec::new(),
            deadline: None,
        }
    }

    /// A new connection.
    pub(super) fn add(&mut self, hub: &Hub, connection: Connection) -> io::Result<()> {
        let Some(key) = self.connections.insert(connection) else { return Ok(()) };
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        match hub.add(key.to_u64(), &connection.ends) {
            Ok(()) => Ok(()),
            Err(error) => {
                drop(self.connections.remove(key));
                Err(error)
            }
        }
    }

    /// There is something to write or to tell on this connection.
    fn soil(&mut self, key: ConnectionKey) {
        if let Some(connection) = self.connections.get_mut(key)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push(key);
        }
    }

    fn tend_one(&mut self, hub: &Hub, key: ConnectionKey, now: Instant) {
        let frugal = self.frugal;
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.is_dirty = false;
        connection.flush(now);
        if connection.desk.is_closed() {
            if connection.is_ready {
                self.ready.retain(|ready| *ready != key);
            }
            if let Some(connection) = self.connections.remove(key) {
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
        let deadline = connection.desk.machine.poll_timeout();
        self.line_up(key);
        self.deadline = match (self.deadline, deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// Its requests may run, if there is room for their answers and it has not enough of the threads.
    fn line_up(&mut self, key: ConnectionKey) {
        let max_running = self.max_running;
        let Some(connection) = self.connections.get_mut(key) else { return };
        if !connection.is_ready && connection.desk.may_run(max_running) {
            connection.is_ready = true;
            self.ready.push_back(key);
        }
    }

    fn change_all(&mut self, change: impl Fn(&mut Connection)) {
        for key in self.connections.keys() {
            if let Some(connection) = self.connections.get_mut(key) {
                change(connection);
                self.soil(key);
            }
        }
    }

    fn of(&mut self, job: &Job) -> Option<(ConnectionKey, &mut Connection)> {
        let Origin::Connection(key) = job.origin else { return None };
        Some((key, self.connections.get_mut(key)?))
    }
}

impl Traffic for Table {
    fn len(&self) -> usize {
        self.connections.len()
    }

    fn welcome(&mut self, hub: &Hub, conn: Conn, now: Instant) {
        if let Ok(machine) = self.server.offered.connection(now) {
            // It fails where the system is out of memory, which the client sees as a closed connection.
            drop(self.add(hub, Connection::new(machine, Ends::Socket(conn))));
        }
    }

    fn found(&mut self, event: PollEvent, now: Instant) {
        let PollEvent { key, readable, writable } = event;
        let key = ConnectionKey::from_u64(key);
        let Some(connection) = self.connections.get_mut(key) else { return };
        // Asked for or not, a fault and an end of both directions are told.
        let over = writable && !connection.want.write;
        if writable {
            connection.writable();
        }
        if readable {
            connection.read(now);
        }
        if over {
            connection.gone(now);
        }
        self.line_up(key);
        self.soil(key);
    }

    fn time(&mut self, now: Instant) {
        if self.deadline.is_none_or(|at| at > now) {
            return;
        }
        self.deadline = None;
        let keys = self.connections.keys();
        for key in keys {
            let Some(connection) = self.connections.get_mut(key) else { continue };
            match connection.desk.machine.poll_timeout() {
                Some(at) if at <= now => {
                    connection.desk.machine.handle_timeout(now);
                    self.soil(key);
                }
                Some(at) => self.deadline = Some(self.deadline.map_or(at, |earlier| earlier.min(at))),
                None => {}
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn tend(&mut self, hub: &Hub, now: Instant) {
        while let Some(key) = self.dirty.pop() {
            self.tend_one(hub, key, now);
        }
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn next_job(&mut self) -> Option<Job> {
        let max_running = self.max_running;
        while let Some(key) = self.ready.pop_front() {
            let Some(connection) = self.connections.get_mut(key) else { continue };
            // One whose client does not read waits until it does.
            let job = if connection.desk.may_run(max_running) { connection.next_job(key) } else { None };
            connection.is_ready = job.is_some() && connection.desk.may_run(max_running);
            if connection.is_ready {
                self.ready.push_back(key);
            }
            if job.is_some() {
                return job;
            }
        }
        None
    }

    fn finish(&mut self, job: Job, reply: Reply, now: Instant) {
        if let Some((key, connection)) = self.of(&job) {
            connection.desk.finish(job.asked.request, job.asked.params, reply, now);
            self.soil(key);
        }
    }

    fn notify(&mut self, job: &Job, notice: &Notice, now: Instant) {
        if let Some((key, connection)) = self.of(job) {
            drop(connection.desk.machine.notify(job.asked.request, notice, now));
            self.soil(key);
        }
    }

    fn ask(
        &mut self,
        job: &Job,
        input: &InputRequest,
        waiter: Sender<PeerOutcome>,
        now: Instant,
    ) -> Result<(), ApiError> {
        let (key, connection) = self.of(job).ok_or(ApiError::Closed)?;
        connection.desk.ask(job.asked.request, input, waiter, now)?;
        self.soil(key);
        Ok(())
    }

    fn set_catalog(&mut self, catalog: Arc<Catalog>) {
        self.change_all(|connection| connection.desk.machine.set_catalog(Arc::clone(&catalog)));
    }

    fn list_changed(&mut self, kind: ListKind, now: Instant) {
        self.change_all(|connection| connection.desk.machine.list_changed(kind, now));
    }

    fn resource_updated(&mut self, uri: &str, now: Instant) {
        self.change_all(|connection| drop(connection.desk.machine.resource_updated(uri, now)));
    }

    fn stop(&mut self, how: Stop, now: Instant) {
        self.change_all(|connection| match how {
            Stop::Drain => {
                let drain = connection.desk.machine.session().config().limits.drain;
                connection.desk.machine.shutdown(drain, now);
            }
            Stop::Now => connection.desk.machine.close(now),
        });
    }
}
