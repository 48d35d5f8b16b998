//! What whoever drives it wants of a site.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::http::h1;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{Catalog, ListKind, Notice, PeerOutcome, Reply};
use sanswire::{Instant, Machine as _};

use super::{PLACE_BITS, Site};
use crate::os::{Conn, PollEvent};
use crate::serve::call::{Job, Origin};
use crate::serve::driver::hub::{Ends, Hub};
use crate::serve::driver::places::Key;
use crate::serve::driver::{Stop, Traffic};
use crate::serve::http::connection::Connection;

/// Reads of one connection in one round, so that none starves the others.
const MAX_READS: usize = 8;
/// What is said to those for whom there is no room.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Content-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";

impl Traffic for Site {
    fn len(&self) -> usize {
        self.connections.len()
    }

    fn welcome(&mut self, hub: &Hub, conn: Conn, now: Instant) {
        let machine = h1::Server::new(self.limits.clone(), now);
        let Some(key) = self.connections.insert(Connection::new(machine, conn)) else { return };
        let Some(connection) = self.connections.get_mut(key) else { return };
        // It fails where the system is out of memory, which the client sees as a closed connection.
        if key.place() >> PLACE_BITS != 0 || hub.add(key.to_u64(), &connection.ends).is_err() {
            drop(self.connections.remove(key));
            return;
        }
        connection.yields = self.rests.set(key, None, Some(now.saturating_add(self.yields_after)));
        self.soil(key);
    }

    fn make_room(&mut self, hub: &Hub, now: Instant) -> bool {
        let (mut made, mut kept) = (false, Vec::new());
        while let Some(key) = self.rests.due(now).filter(|_| !made) {
            let Some(connection) = self.connections.get_mut(key) else { continue };
            connection.yields = None;
            // What it has just sent counts.
            connection.read(now);
            self.tend_one(hub, key, now);
            let since = self.connections.get_mut(key).map(|connection| connection.machine.idle_since());
            let yields = since.flatten().unwrap_or(now).saturating_add(self.yields_after);
            match (since, self.connections.get_mut(key)) {
                (Some(Some(_)), Some(connection)) if yields <= now => {
                    connection.machine.shutdown(now);
                    self.tend_one(hub, key, now);
                    made = self.connections.get_mut(key).is_none();
                }
                (_, Some(_)) => kept.push((key, yields)),
                (_, None) => made = true,
            }
        }
        for (key, yields) in kept {
            if let Some(connection) = self.connections.get_mut(key) {
                connection.yields = self.rests.set(key, None, Some(yields));
            }
        }
        made
    }

    fn turn_away(&self, conn: Conn) {
        drop(conn.write(TURNED_AWAY));
        Ends::Socket(conn).close();
    }

    fn found(&mut self, event: PollEvent, now: Instant) {
        let key = Key::from_u64(event.key);
        let Some(connection) = self.connections.get_mut(key) else { return };
        // Asked for or not, a fault and an end of both directions are told.
        let over = event.writable && !connection.want.write;
        if event.writable {
            connection.writable();
        }
        if event.readable {
            for _ in 0..MAX_READS {
                let Some(connection) = self.connections.get_mut(key) else { return };
                let more = connection.read(now);
                self.deliver(key, now);
                if !more {
                    break;
                }
            }
        }
        if over && let Some(connection) = self.connections.get_mut(key) {
            connection.gone(now);
        }
        self.soil(key);
    }

    fn time(&mut self, now: Instant) {
        while let Some(key) = self.alarms.due(now) {
            if let Some(connection) = self.connections.get_mut(key) {
                connection.alarm = None;
                connection.machine.handle_timeout(now);
                self.soil(key);
            }
        }
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
            self.settle(now);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        [self.alarms.first(), self.endpoint.poll_timeout(), self.end].into_iter().flatten().min()
    }

    fn tend(&mut self, hub: &Hub, now: Instant) {
        self.settle(now);
        loop {
            while let Some(key) = self.dirty.pop() {
                self.tend_one(hub, key, now);
            }
            if let Some(end) = self.end {
                self.wind_up(end, now);
            }
            if self.dirty.is_empty() {
                return;
            }
        }
    }

    fn has_ready(&self) -> bool {
        self.requests.has_waiting()
    }

    fn next_job(&mut self) -> Option<Job> {
        self.requests.next()
    }

    fn finish(&mut self, job: Job, reply: Reply, now: Instant) {
        if let Origin::Session(session) = job.origin {
            self.respond((session, job.asked.request), &reply, now);
            self.settle(now);
        }
    }

    fn notify(&mut self, job: &Job, notice: &Notice, now: Instant) {
        if let Origin::Session(session) = job.origin {
            drop(self.endpoint.notify(session, job.asked.request, notice, now));
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
        let peer = self.endpoint.request_input(session, job.asked.request, input, now)?;
        self.requests.peers.insert((session, peer), waiter);
        Ok(())
    }

    fn close_stream(&mut self, job: &Job, now: Instant) -> bool {
        let Origin::Session(session) = job.origin else { return false };
        self.endpoint.close_stream(session, job.asked.request, now).is_ok()
    }

    fn set_catalog(&mut self, catalog: Arc<Catalog>) {
        self.endpoint.set_catalog(catalog);
    }

    fn list_changed(&mut self, kind: ListKind, now: Instant) {
        self.endpoint.list_changed(kind, now);
    }

    fn resource_updated(&mut self, uri: &str, now: Instant) {
        self.endpoint.resource_updated(uri, now);
    }

    fn stop(&mut self, how: Stop, now: Instant) {
        let drain = if how == Stop::Now { Duration::ZERO } else { self.drain };
        let end = now.saturating_add(drain).saturating_add(self.close_flush);
        self.end = Some(self.end.map_or(end, |earlier| earlier.min(end)));
        self.endpoint.shutdown(drain, now);
        for key in self.connections.keys() {
            if let Some(connection) = self.connections.get_mut(key) {
                connection.machine.shutdown(now);
                self.soil(key);
            }
        }
    }
}
