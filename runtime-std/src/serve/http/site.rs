//! The sockets of a site, and the site.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::http;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::kit::ConnectionKey;
use sanswire::server::{Catalog, ListKind, Notice, PeerOutcome, Reply};
use sanswire::{Instant, Machine as _};
use sanswire_system::serve::{Cancel, HttpOptions, Refusals, ServeError, TURNED_AWAY};

use crate::os::{Conn, PollEvent};
use crate::serve::call::{Job, Origin};
use crate::serve::driver::hub::{Ends, Hub};
use crate::serve::driver::{Stop, Traffic};
use crate::serve::http::ends::Socket;
use crate::serve::server::Inner;

/// Reads of one connection in one round, so that none starves the others.
const MAX_READS: usize = 8;

/// How often the system is asked whether clients are still there of which no more is read.
const LOOK: Duration = Duration::from_secs(1);

/// A site with the socket of each of its connections.
pub(super) struct Site {
    machine: http::Site<Cancel, Sender<PeerOutcome>>,
    /// By the places of their connections.
    sockets: Vec<Option<Socket>>,
    /// Connections that had so much ahead that no more was read, each once, and when to look after them.
    full: Vec<ConnectionKey>,
    looks_at: Option<Instant>,
    refusals: Option<Refusals>,
    drain: Duration,
}

impl Site {
    /// A site of this server's that nobody has come to.
    ///
    /// # Errors
    /// A limit is out of bounds; the system gave no random bytes.
    pub(super) fn open(server: &Inner, options: HttpOptions, now: Instant) -> Result<Self, ServeError> {
        let refusals = options.refusals.clone();
        let drain = server.offered.config().limits.drain;
        let machine = server.offered.site(options, server.serving.max_connections(), now)?;
        Ok(Self { machine, sockets: Vec::new(), full: Vec::new(), looks_at: None, refusals, drain })
    }

    /// Its socket; places are used again, but not before it was taken out.
    fn socket(&mut self, key: ConnectionKey) -> Option<&mut Socket> {
        self.sockets.get_mut(key.place() as usize)?.as_mut()
    }

    /// Takes a connection out. Its socket, if there was one.
    fn remove(&mut self, key: ConnectionKey, now: Instant) -> Option<Socket> {
        self.machine.remove(key, now);
        self.sockets.get_mut(key.place() as usize)?.take()
    }

    /// Reads what is there, in so many reads at most.
    fn read(&mut self, key: ConnectionKey, most: usize, now: Instant) {
        let Some(socket) = self.sockets.get(key.place() as usize).and_then(Option::as_ref) else { return };
        let Some(mut machine) = self.machine.connection(key) else { return };
        for _ in 0..most {
            if !socket.read(&mut machine, now) {
                return;
            }
        }
    }

    fn tend_one(&mut self, hub: &Hub, key: ConnectionKey, now: Instant) {
        let Some(socket) = self.sockets.get_mut(key.place() as usize).and_then(Option::as_mut) else {
            return;
        };
        let Some(mut machine) = self.machine.connection(key) else { return };
        socket.flush(&mut machine, now);
        if machine.is_closed() {
            if let Some(socket) = self.remove(key, now) {
                hub.remove(key.to_u64(), &socket.ends);
            }
            return;
        }
        if machine.is_full() && !socket.is_full {
            socket.is_full = true;
            self.full.push(key);
            self.looks_at.get_or_insert(now.saturating_add(LOOK));
        }
        let want = socket.wants(&machine);
        if want != socket.want {
            socket.want = want;
            hub.want(key.to_u64(), &socket.ends, want);
        }
    }
}

impl Site {
    /// Looks whether those are gone of whom no more is read.
    fn look(&mut self, now: Instant) {
        for key in std::mem::take(&mut self.full) {
            let Some(socket) = self.sockets.get_mut(key.place() as usize).and_then(Option::as_mut) else {
                continue;
            };
            let Some(mut machine) = self.machine.connection(key) else { continue };
            socket.is_full = machine.is_full();
            if socket.is_full && socket.ends.is_left() {
                machine.handle_eof(now);
            } else if socket.is_full {
                self.full.push(key);
            }
        }
        self.looks_at = (!self.full.is_empty()).then(|| now.saturating_add(LOOK));
    }
}

impl Traffic for Site {
    fn len(&self) -> usize {
        self.machine.connections()
    }

    fn welcome(&mut self, hub: &Hub, conn: Conn, now: Instant) {
        let Some(key) = self.machine.welcome(now) else { return };
        let socket = Socket::new(conn);
        // It fails where the system is out of memory, which the client sees as a closed connection.
        if hub.add(key.to_u64(), &socket.ends).is_err() {
            self.machine.remove(key, now);
            return;
        }
        let place = key.place() as usize;
        if place >= self.sockets.len() {
            self.sockets.resize_with(place + 1, || None);
        }
        if let Some(slot) = self.sockets.get_mut(place) {
            *slot = Some(socket);
        }
    }

    fn make_room(&mut self, hub: &Hub, now: Instant) -> bool {
        while let Some(key) = self.machine.poll_rested(now) {
            // What it has just sent counts.
            self.read(key, 1, now);
            self.tend_one(hub, key, now);
            if let Some(mut machine) = self.machine.connection(key)
                && machine.give_way(now)
            {
                self.tend_one(hub, key, now);
            }
            if self.machine.connection(key).is_none() {
                return true;
            }
        }
        false
    }

    fn turn_away(&self, conn: Conn) {
        drop(conn.write(TURNED_AWAY));
        Ends::Socket(conn).close();
    }

    fn found(&mut self, event: PollEvent, now: Instant) {
        let key = ConnectionKey::from_u64(event.key);
        if self.machine.connection(key).is_none() {
            return;
        }
        let Some(socket) = self.socket(key) else { return };
        // Asked for or not, a fault and an end of both directions are told.
        let over = event.writable && !socket.want.write;
        if event.writable {
            socket.writable();
        }
        if event.readable {
            self.read(key, MAX_READS, now);
        }
        if over && let Some(mut machine) = self.machine.connection(key) {
            machine.handle_write_closed(now);
        }
        self.machine.mark_dirty(key);
    }

    fn time(&mut self, now: Instant) {
        if self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
        }
        if self.looks_at.is_some_and(|at| at <= now) {
            self.look(now);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.machine.poll_timeout().into_iter().chain(self.looks_at).min()
    }

    fn tend(&mut self, hub: &Hub, now: Instant) {
        while let Some(key) = self.machine.poll_dirty() {
            self.tend_one(hub, key, now);
        }
        // Threads are woken by it, and nobody's code runs.
        self.machine.take_over().tell(|waiter, outcome| drop(waiter.send(outcome)));
        if let Some(refusals) = &self.refusals {
            while let Some(refusal) = self.machine.poll_refusal() {
                refusals.add(refusal);
            }
        }
    }

    fn has_ready(&self) -> bool {
        self.machine.has_requests()
    }

    fn next_job(&mut self) -> Option<Job> {
        let (session, asked) = self.machine.next_request()?;
        Some(Job { origin: Origin::Session(session), asked })
    }

    fn finish(&mut self, job: Job, reply: Reply, now: Instant) {
        if let Origin::Session(session) = job.origin {
            self.machine.finish(session, job.asked.request, &reply, now);
        }
    }

    fn notify(&mut self, job: &Job, notice: &Notice, now: Instant) {
        if let Origin::Session(session) = job.origin {
            drop(self.machine.notify(session, job.asked.request, notice, now));
        }
    }

    fn ask(
        &mut self,
        job: &Job,
        input: &InputRequest,
        waiter: Sender<PeerOutcome>,
        now: Instant,
    ) -> Result<(), ApiError> {
        let Origin::Session(session) = job.origin else { return Err(ApiError::Closed) };
        self.machine.ask(session, job.asked.request, input, waiter, now)
    }

    fn close_stream(&mut self, job: &Job, now: Instant) -> bool {
        let Origin::Session(session) = job.origin else { return false };
        self.machine.close_stream(session, job.asked.request, now).is_ok()
    }

    fn set_catalog(&mut self, catalog: Arc<Catalog>) {
        self.machine.set_catalog(catalog);
    }

    fn list_changed(&mut self, kind: ListKind, now: Instant) {
        self.machine.list_changed(kind, now);
    }

    fn resource_updated(&mut self, uri: &str, now: Instant) {
        self.machine.resource_updated(uri, now);
    }

    fn stop(&mut self, how: Stop, now: Instant) {
        let drain = if how == Stop::Now { Duration::ZERO } else { self.drain };
        self.machine.shutdown(drain, now);
    }
}
