//! Clients that do anything in any order over connections that break anywhere, a site, and an application that does what it
//! likes; what has to hold whatever they do.

mod bytes;
mod client;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sanswire::http::Site;
use sanswire::http::endpoint::SessionHandle;
use sanswire::http::site::SiteConfig;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::kit::{ConnectionKey, Request};
use sanswire::server::{ListKind, Notice, Reply};
use sanswire::{Instant, Machine as _};
use serde_json::json;

use crate::flag::Flag;
use crate::seed::Rng;
use crate::served::raw;
use crate::web::catalog;
pub use bytes::check_http_site;
use client::Client;

/// Connections that a world has at most.
const MOST: usize = 6;
/// What waits on a connection before the endpoint knows of it, and its tables.
const EACH: usize = 64 * 1024 + 16 * 1024;

/// A request that a handler is at.
type Running = (SessionHandle, Request<Flag>);

/// The world of one run.
struct World {
    site: Site<Flag, u64>,
    config: SiteConfig,
    now: Instant,
    clients: Vec<Client>,
    /// Keys of connections that are gone.
    gone: Vec<ConnectionKey>,
    running: Vec<Running>,
    /// Of all requests that were handed out.
    flags: Vec<Arc<Flag>>,
    /// Questions that nothing has become of yet.
    waiters: BTreeMap<u64, ()>,
    ids: Vec<String>,
    wire: u64,
    answers: usize,
    calm: bool,
}

/// What became of a run: how many requests were answered, and everything that the clients got.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// Requests that were answered whole.
    pub answers: usize,
    /// A sum over all that was written to clients, in its order.
    pub bytes: u64,
}

/// Runs a number of steps and winds the site up.
///
/// # Panics
/// If something does not hold that should.
pub fn run(rng: &mut Rng, steps: usize) -> Seen {
    let mut bytes = 0;
    let mut world = World::new(rng, false);
    for _ in 0..steps {
        let what = rng.below(32);
        world.step(rng, what, &mut bytes);
        world.check();
    }
    world.wind_up(rng, &mut bytes);
    Seen { answers: world.answers, bytes }
}

/// As [`run`], of clients that stay until they are answered, and no stream that goes on and on. Every request is answered
/// then.
///
/// # Panics
/// If one is not.
pub fn run_calm(rng: &mut Rng, steps: usize) {
    let mut bytes = 0;
    let mut world = World::new(rng, true);
    for _ in 0..steps {
        let what = rng.below(23);
        world.step(rng, what, &mut bytes);
        world.check();
    }
    for _ in 0..10 {
        for place in 0..world.clients.len() {
            world.read(place, true, 0);
        }
        world.take_requests(usize::MAX);
        while !world.running.is_empty() {
            world.answer(rng);
        }
        for place in 0..world.clients.len() {
            world.write(place, usize::MAX, true, &mut bytes);
        }
    }
    for client in &world.clients {
        assert!(!client.spoilt && client.sent.is_empty(), "all that was asked was understood");
        let open = client.open.as_ref().map(|asked| &*asked.what);
        assert_eq!(open, None, "it was not answered: {:?}", world.site);
    }
    assert_eq!(world.site.endpoint().exchanges(), 0);
    assert!(world.answers > steps / 50, "{} answers", world.answers);
    world.wind_up(rng, &mut bytes);
}

impl World {
    fn new(rng: &mut Rng, calm: bool) -> Self {
        let mut endpoint = crate::web_chaos::narrow(rng);
        endpoint.server.limits.max_queued_event_bytes = 4096;
        if calm {
            // Nobody is cut off.
            endpoint.max_outbound_bytes = 1 << 20;
        }
        let mut config = SiteConfig::new(endpoint);
        config.connection.max_head_bytes = 2048;
        config.yields_after = Duration::from_secs(rng.below(3) as u64);
        let now = Instant::from_millis(1000);
        let mut site = Site::new(config.clone(), [7; 32], now).unwrap();
        site.set_catalog(catalog());
        Self {
            site,
            config,
            now,
            clients: Vec::new(),
            gone: Vec::new(),
            running: Vec::new(),
            flags: Vec::new(),
            waiters: BTreeMap::new(),
            ids: vec!["none".into()],
            wire: 0,
            answers: 0,
            calm,
        }
    }

    fn step(&mut self, rng: &mut Rng, what: usize, sum: &mut u64) {
        match what {
            0..=2 => self.connect(),
            3..=9 => self.ask(rng),
            10..=15 => self.carry_in(rng),
            16..=19 => self.carry_out(rng, sum),
            20..=22 => self.answer(rng),
            23 | 24 => self.tell(rng),
            25 => self.leave(rng),
            26 => {
                let wait = *rng.pick(&[1, 400, 16_000, 16_000, 76_000]);
                self.pass(wait);
            }
            27 => self.site.list_changed(ListKind::Tools, self.now),
            28 => self.site.resource_updated("x:y", self.now),
            29 => self.make_room(),
            30 => self.look(rng, sum),
            _ => self.meddle(rng),
        }
        self.take_requests(4);
        self.hear();
        self.bury();
    }

    fn hear(&mut self) {
        self.site.take_over().tell(|waiter, _| {
            assert_eq!(self.waiters.remove(&waiter), Some(()), "a question is over once");
        });
        while self.site.poll_refusal().is_some() {}
    }

    fn take_requests(&mut self, most: usize) {
        while self.running.len() < most
            && let Some(next) = self.site.next_request()
        {
            self.flags.push(Arc::clone(&next.1.cancel));
            self.running.push(next);
        }
    }

    fn connect(&mut self) {
        if self.clients.len() < MOST {
            let key = self.site.welcome(self.now).unwrap();
            assert!(!self.gone.contains(&key), "a key is used once");
            self.clients.push(Client::new(key, self.now));
        }
    }

    fn some_client(&mut self, rng: &mut Rng) -> Option<&mut Client> {
        let place = rng.below(self.clients.len());
        self.clients.get_mut(place)
    }

    fn ask(&mut self, rng: &mut Rng) {
        let (head, body, asked) = self.compose(rng);
        let (now, garbage) = (self.now, !self.calm && rng.chance(4));
        let Some(client) = self.some_client(rng) else { return };
        if client.ended || client.spoilt {
            return;
        }
        if garbage {
            client.sent.extend_from_slice(b"GET\r\n\r\n\x00what");
            client.spoilt = true;
        } else {
            client.send(&head, body, asked, now);
        }
    }

    /// Some of what a client sent arrives.
    fn carry_in(&mut self, rng: &mut Rng) {
        let (whole, most) = (rng.chance(60), 1 + rng.below(200));
        let place = rng.below(self.clients.len());
        self.read(place, whole, most);
    }

    fn read(&mut self, place: usize, whole: bool, most: usize) {
        let Some(client) = self.clients.get_mut(place) else { return };
        let len = if whole { client.sent.len() } else { client.sent.len().min(most) };
        let Some(mut connection) = self.site.connection(client.key) else { return };
        let taken = connection.handle_input(&client.sent[..len], self.now);
        client.sent.drain(..taken);
    }

    /// Some of what the site wrote arrives.
    fn carry_out(&mut self, rng: &mut Rng, sum: &mut u64) {
        let place = rng.below(self.clients.len());
        let most = if rng.chance(70) { usize::MAX } else { rng.below(400) };
        self.write(place, most, rng.chance(80), sum);
    }

    fn write(&mut self, place: usize, mut most: usize, flushed: bool, sum: &mut u64) {
        let Some(client) = self.clients.get_mut(place) else { return };
        let Some(mut connection) = self.site.connection(client.key) else { return };
        loop {
            let bytes = connection.transmit();
            let len = bytes.len().min(most);
            if len == 0 {
                break;
            }
            for byte in &bytes[..len] {
                *sum = (*sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
            let mut taken = 0;
            while taken < len && !client.spoilt {
                taken += client.machine.handle_input(&bytes[taken..len], self.now);
                self.answers += client.take_in(&mut self.ids);
            }
            most -= len;
            connection.handle_written(len, self.now);
        }
        if flushed {
            connection.handle_flushed(self.now);
        }
    }

    fn answer(&mut self, rng: &mut Rng) {
        if self.running.is_empty() {
            return;
        }
        let (session, request) = self.running.swap_remove(rng.below(self.running.len()));
        let reply = match rng.below(6) {
            0 => Reply::resource_not_found("x:y"),
            1 => Reply::text(&"x".repeat(rng.below(9000))),
            _ => Reply::text("x"),
        };
        let cancelled = request.cancel.is_set();
        while cancelled && self.site.poll_dirty().is_some() {}
        self.site.finish(session, request.request, &reply, self.now);
        if cancelled {
            assert_eq!(self.site.poll_dirty(), None, "nobody is told what a cancelled request came to");
        }
        // Once more than it may be: nothing comes of it.
        self.site.finish(session, request.request, &Reply::text("again"), self.now);
    }

    fn tell(&mut self, rng: &mut Rng) {
        if self.running.is_empty() {
            return;
        }
        let (session, asked) = rng.pick(&self.running);
        let (session, request, now) = (*session, asked.request, self.now);
        match rng.below(4) {
            0 => drop(self.site.close_stream(session, request, now)),
            1 => {
                let roots = InputRequest { kind: InputKind::ListRoots, params: None };
                self.wire += 1;
                if self.site.ask(session, request, &roots, self.wire, now).is_ok() {
                    self.waiters.insert(self.wire, ());
                }
            }
            _ => {
                let data = raw(&json!("x".repeat(rng.below(1000))));
                let log = Notice::Log { level: LogLevel::Error, logger: None, data };
                drop(self.site.notify(session, request, &log, now));
            }
        }
    }

    fn leave(&mut self, rng: &mut Rng) {
        let (now, how) = (self.now, rng.below(3));
        let Some(client) = self.some_client(rng) else { return };
        let key = client.key;
        match how {
            // It may be owed an answer still, if all of its request has arrived.
            0 if client.sent.is_empty() => {
                client.ended = true;
                client.spoilt |= client.open.is_none();
                if let Some(mut connection) = self.site.connection(key) {
                    connection.handle_eof(now);
                }
            }
            1 => {
                client.spoilt = true;
                if let Some(mut connection) = self.site.connection(key) {
                    connection.handle_write_closed(now);
                }
            }
            _ => {
                client.spoilt = true;
                self.site.remove(key, now);
            }
        }
    }

    fn pass(&mut self, millis: u64) {
        let end = Instant::from_micros(self.now.as_micros() + millis * 1000);
        while let Some(at) = self.site.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.site.handle_timeout(self.now);
            assert!(self.site.poll_timeout().is_none_or(|at| at > self.now), "a deadline lies in the future");
        }
        self.now = end;
        for client in &mut self.clients {
            client.machine.handle_timeout(end);
        }
    }

    fn make_room(&mut self) {
        while let Some(key) = self.site.poll_rested(self.now) {
            let closes =
                self.site.connection(key).is_some_and(|mut connection| connection.give_way(self.now));
            let client = self.clients.iter_mut().find(|client| client.key == key).unwrap();
            let rests = client.open.is_none() || !client.sent.is_empty() || client.spoilt;
            assert!(!closes || rests, "only who rests gives way");
            client.spoilt |= closes;
        }
    }

    /// Looks after those that something came for.
    fn look(&mut self, rng: &mut Rng, sum: &mut u64) {
        while let Some(key) = self.site.poll_dirty() {
            if rng.chance(80) {
                let place = self.clients.iter().position(|client| client.key == key).unwrap();
                self.write(place, usize::MAX, true, sum);
            }
        }
    }

    /// Calls that name what is not there.
    fn meddle(&mut self, rng: &mut Rng) {
        let unknown = ConnectionKey::from_u64(u64::MAX - rng.below(9) as u64);
        let key = if self.gone.is_empty() { unknown } else { *rng.pick(&self.gone) };
        assert!(self.site.connection(key).is_none());
        self.site.mark_dirty(key);
        self.site.remove(key, self.now);
        self.site.mark_dirty(unknown);
    }

    /// Takes out what is over.
    fn bury(&mut self) {
        for client in &mut self.clients {
            let closed = self.site.connection(client.key).is_none_or(|connection| connection.is_closed());
            if closed {
                self.site.remove(client.key, self.now);
                self.gone.push(client.key);
                client.ended = true;
            }
        }
        let gone = &self.gone;
        self.clients.retain(|client| !gone.contains(&client.key));
    }

    fn check(&self) {
        let limits = &self.config.endpoint;
        assert_eq!(self.site.connections(), self.clients.len());
        assert!(self.site.endpoint().exchanges() <= self.clients.len(), "a connection has one at a time");
        let sessions =
            limits.max_sessions * (limits.max_replay_bytes + limits.max_replay_bytes.max(64 * 1024));
        let queued = limits.max_body_bytes + limits.max_outbound_bytes;
        let waiting = limits.server.limits.max_queued_event_bytes + limits.server.limits.max_message_bytes;
        // A block that is written, and what was read.
        let buffers = MOST * (EACH + 256 * 1024 + 64 * 1024 + 4 * self.config.connection.max_head_bytes);
        let bound = sessions + queued + waiting + buffers;
        assert!(self.site.retained_bytes() <= bound, "{} > {bound}", self.site.retained_bytes());
        assert!(bound <= self.config.worst_case_bytes(MOST));
    }

    /// All handlers come back, all clients read, and the site ends.
    fn wind_up(&mut self, rng: &mut Rng, sum: &mut u64) {
        self.site.shutdown(Duration::from_secs(5), self.now);
        for _ in 0..100 {
            self.take_requests(usize::MAX);
            while !self.running.is_empty() {
                self.answer(rng);
            }
            for place in 0..self.clients.len() {
                self.write(place, usize::MAX, true, sum);
            }
            self.site.take_over().tell(|waiter, _| {
                self.waiters.remove(&waiter);
            });
            self.bury();
            self.pass(100);
        }
        assert!(self.site.is_over(), "{:?}", self.site);
        assert!(self.site.endpoint().is_over(), "{:?}", self.site);
        assert!(!self.site.has_requests());
        assert!(self.waiters.is_empty(), "who asked a client hears what became of it");
        assert_eq!((self.site.poll_timeout(), self.site.poll_dirty()), (None, None));
        let held = self.site.retained_bytes();
        assert!(held < 1024, "{held} bytes are held when all is over");
        let key = self.site.welcome(self.now).unwrap();
        assert!(self.site.connection(key).unwrap().is_closed(), "nobody is welcome any more");
    }
}
