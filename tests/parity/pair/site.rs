//! The served half over HTTP, in virtual time: `http::Site`, and what a runtime does with it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sanswire::http::endpoint::{EndpointConfig, SessionHandle};
use sanswire::http::site::SiteConfig;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::kit::ConnectionKey;
use sanswire::server::{ListKind, Notice, PeerOutcome, Reply, RequestHandle};
use sanswire::{Instant, Machine as _};
use sanswire_tests::flag::Flag;
use sanswire_tests::peer::Written;

use super::BEGIN;
use super::app::{App, Half};
use super::web::Side;
use crate::served;

/// A call, which asks once at most.
type Call = (SessionHandle, RequestHandle);

type Machine = sanswire::http::Site<Flag, Call>;

impl Half for Machine {
    type Of = SessionHandle;
    type Asked = Call;

    fn respond(&mut self, of: SessionHandle, request: RequestHandle, reply: &Reply, now: Instant) {
        self.finish(of, request, reply, now);
    }

    fn notify(&mut self, of: SessionHandle, request: RequestHandle, notice: &Notice, now: Instant) {
        let _ = Self::notify(self, of, request, notice, now);
    }

    fn ask(
        &mut self,
        of: SessionHandle,
        request: RequestHandle,
        input: &InputRequest,
        now: Instant,
    ) -> Option<Call> {
        Self::ask(self, of, request, input, (of, request), now).ok().map(|()| (of, request))
    }

    fn grow(&mut self, now: Instant) {
        let mut catalog = self.endpoint().catalog().clone();
        served::grow(&mut catalog);
        self.set_catalog(catalog);
        self.list_changed(ListKind::Tools, now);
    }

    fn stop(&mut self, drain: Duration, now: Instant) {
        self.shutdown(drain, now);
    }
}

struct Conn {
    key: ConnectionKey,
    /// What it was sent and did not read yet.
    unread: Vec<u8>,
}

/// A site with its application and the bytes of its connections.
pub(super) struct Site {
    machine: Machine,
    app: App<SessionHandle, Call>,
    /// By the numbers that the client gave them.
    conns: BTreeMap<u64, Conn>,
    /// Requests that were handed out and are not known to be over.
    open: Vec<(Call, Arc<Flag>)>,
    out: VecDeque<Written>,
}

impl Site {
    pub(super) fn new() -> Self {
        let config = SiteConfig::new(EndpointConfig::new(served::config()));
        let mut machine = Machine::new(config, [9; 32], BEGIN).unwrap();
        machine.set_catalog(served::catalog());
        Self { machine, app: App::new(), conns: BTreeMap::new(), open: Vec::new(), out: VecDeque::new() }
    }

    /// Until nothing is left to be done.
    fn advance(&mut self, now: Instant) {
        loop {
            let mut busy = self.take(now);
            while let Some(key) = self.machine.poll_dirty() {
                busy = true;
                self.tend(key, now);
            }
            if !busy {
                return;
            }
        }
    }

    /// Hands out what is asked, and tells what is over.
    fn take(&mut self, now: Instant) -> bool {
        let over = self.machine.take_over();
        let mut busy = !over.cancelled.is_empty() || !over.answered.is_empty();
        let mut answered = Vec::new();
        over.tell(|asked, outcome: PeerOutcome| answered.push((asked, outcome)));
        for ((of, request), _) in self.open.extract_if(.., |(_, flag)| flag.is_set()) {
            self.app.handle_cancelled(of, request);
        }
        for (asked, outcome) in answered {
            self.app.handle_answered(&mut self.machine, (asked.0, asked), &outcome, now);
        }
        while let Some((of, request)) = self.machine.next_request() {
            busy = true;
            self.open.push(((of, request.request), Arc::clone(&request.cancel)));
            let said = (&request.params, &*request.context);
            self.app.handle_call(&mut self.machine, (of, request.request), said, now);
        }
        busy
    }

    /// Reads what a connection was sent, and writes.
    fn tend(&mut self, key: ConnectionKey, now: Instant) {
        let Some((&number, conn)) = self.conns.iter_mut().find(|(_, conn)| conn.key == key) else { return };
        let Some(mut machine) = self.machine.connection(key) else { return };
        let taken = machine.handle_input(&conn.unread, now);
        conn.unread.drain(..taken);
        while !machine.transmit().is_empty() {
            let bytes = machine.transmit().to_vec();
            machine.handle_written(bytes.len(), now);
            self.out.push_back(Written { conn: number, bytes, ends: false });
        }
        machine.handle_flushed(now);
        if machine.is_closed() {
            self.machine.remove(key, now);
            self.conns.remove(&number);
            self.out.push_back(Written { conn: number, bytes: Vec::new(), ends: true });
        }
    }
}

impl Side for Site {
    fn handle_input(&mut self, conn: u64, bytes: &[u8], now: Instant) {
        let welcome = || Conn { key: self.machine.welcome(now).unwrap(), unread: Vec::new() };
        let conn = self.conns.entry(conn).or_insert_with(welcome);
        conn.unread.extend_from_slice(bytes);
        self.machine.mark_dirty(conn.key);
        self.advance(now);
    }

    fn handle_gone(&mut self, conn: u64, now: Instant) {
        if let Some(conn) = self.conns.remove(&conn) {
            self.machine.remove(conn.key, now);
        }
        self.advance(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
        self.app.handle_timeout(&mut self.machine, now);
        self.advance(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout().into_iter().chain(self.app.poll_timeout()).min()
    }

    fn poll_output(&mut self) -> Option<Written> {
        self.out.pop_front()
    }

    fn is_deaf(&self) -> bool {
        false
    }

    fn record(&self) -> Vec<String> {
        self.app.record.clone()
    }
}
