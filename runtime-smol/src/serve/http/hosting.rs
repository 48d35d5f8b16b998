//! All of a site, as one future.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sanswire::Instant;
use sanswire::http::Site;
use sanswire::server::Reply;
use sanswire::server::kit::ConnectionKey;
use sanswire_system::clock::Clock;
use sanswire_system::serve::{Cancel, HttpOptions, Refusals, ServeError, TURNED_AWAY};

use crate::alarm::Alarm;
use crate::serve::answer::Answering;
use crate::serve::call::{Call, Way};
use crate::serve::http::connection::Connection;
use crate::serve::http::hub::Hub;
use crate::serve::hub::{NEWS, Signals, tell};
use crate::serve::listening::{Door, Listener, Next};
use crate::serve::question::Answer;
use crate::serve::server::Inner;
use crate::serve::tasks::Tasks;
use crate::signals::{self, Bells, Fire as _};
use crate::wire::Wire;

/// Connections that are accepted, connections that are polled and handlers that are polled in one turn.
const MAX_ACCEPTS: usize = 32;
const MAX_POLLS: usize = 64;
/// Turns in one poll: a call that does not wait takes two.
const MAX_TURNS: usize = 4;
/// How long handlers whose requests are over are waited for.
const LINGER: Duration = Duration::from_millis(500);
/// Connections that are shown out at once beside those that are served.
const MAX_PARTING: usize = 256;

/// A site, its listener, its connections and its handlers. Dropping it ends them all.
pub(super) struct Hosting {
    server: Arc<Inner>,
    hub: Arc<Hub>,
    bells: Bells,
    door: Door,
    connections: Tasks<Box<Connection>, Signals>,
    handlers: Tasks<Answering, Signals>,
    /// By the places of their connections.
    lines: Vec<Option<Line>>,
    alarm: Alarm,
    max_handlers: usize,
    max_connections: usize,
    refusals: Option<Refusals>,
    /// Set once all connections are over: until then at the latest handlers may go on.
    lingers: Option<Instant>,
}

/// Where the future of a connection is.
struct Line {
    key: ConnectionKey,
    task: usize,
}

impl Hosting {
    /// A site of this server's that nobody has come to.
    ///
    /// # Errors
    /// A limit is out of bounds; the system gave no random bytes.
    pub(super) fn open(
        server: &Arc<Inner>,
        listener: Listener,
        options: HttpOptions,
    ) -> Result<Self, ServeError> {
        let clock = Clock::start();
        let refusals = options.refusals.clone();
        let max_connections = server.serving.max_connections();
        let site = server.offered.site(options, max_connections, clock.now())?;
        let hub = Arc::new(Hub::new(site, clock, server.offered.config().limits.drain));
        server.serving.enter_site(&hub);
        // What changed before the site was known to the server.
        hub.put(|site, _| site.set_catalog(server.offered.catalog()));
        Ok(Self {
            server: Arc::clone(server),
            bells: Bells::new(&hub.signals),
            door: Door::new(listener),
            connections: Tasks::new(&hub.signals),
            handlers: Tasks::new(&hub.signals),
            hub,
            lines: Vec::new(),
            alarm: Alarm::default(),
            max_handlers: server.serving.max_handlers(),
            max_connections,
            refusals,
            lingers: None,
        })
    }

    /// Does what is ready. Whether there is more to do at once.
    fn turn(&mut self, cx: &mut Context<'_>) -> bool {
        let fired = self.hub.signals.take();
        if fired & signals::TIME != 0 {
            self.alarm.fired();
        }
        if fired & signals::READ != 0 {
            self.door.rang();
        }
        let mut more = self.accept(cx);
        let mut polls = 0;
        while polls < MAX_POLLS && self.connections.poll_woken().is_some() {
            polls += 1;
        }
        more |= polls == MAX_POLLS;
        polls = 0;
        let mut done = Vec::new();
        while polls < MAX_POLLS
            && let Some(polled) = self.handlers.poll_woken()
        {
            polls += 1;
            done.extend(polled);
        }
        more |= polls == MAX_POLLS;
        self.answer(done);
        more |= self.handlers_give_way();
        more | self.begin() | self.look_after()
    }

    /// Takes in those who call. Whether there may be more of them.
    fn accept(&mut self, cx: &mut Context<'_>) -> bool {
        if self.server.serving.is_stopping() {
            self.door.close();
        }
        let mut gave_way = false;
        for _ in 0..MAX_ACCEPTS {
            match self.door.next(&self.bells, cx) {
                Next::Wire(wire) => {
                    gave_way = false;
                    self.welcome(wire);
                }
                Next::Gone => {}
                // One for one: what the system is short of others may take as well, and then no number of them helps.
                Next::Short if !gave_way && self.one_gives_way() => {
                    gave_way = true;
                    self.door.has_more();
                }
                Next::Nobody | Next::Short => return false,
                Next::Again => return true,
            }
        }
        true
    }

    /// As [`make_room`](Self::make_room), where it is the system that has none.
    fn one_gives_way(&mut self) -> bool {
        let hub = Arc::clone(&self.hub);
        let now = hub.clock.now();
        let mut guard = hub.site();
        guard.as_mut().is_some_and(|site| self.make_room(site, now))
    }

    fn welcome(&mut self, wire: Wire) {
        let hub = Arc::clone(&self.hub);
        let now = hub.clock.now();
        // Beside those that are served some may be on their way out.
        if self.connections.len() >= self.max_connections.saturating_add(MAX_PARTING) {
            return;
        }
        let mut guard = hub.site();
        let Some(site) = &mut *guard else { return };
        let key = if site.connections() < self.max_connections || self.make_room(site, now) {
            site.welcome(now)
        } else {
            None
        };
        drop(guard);
        let Some(key) = key else {
            self.connections.add(Box::new(Connection::turned_away(&hub, wire, TURNED_AWAY)));
            return;
        };
        let task = self.connections.add(Box::new(Connection::new(&hub, key, wire)));
        let place = key.place() as usize;
        if place >= self.lines.len() {
            self.lines.resize_with(place + 1, || None);
        }
        if let Some(line) = self.lines.get_mut(place) {
            *line = Some(Line { key, task });
        }
    }

    /// Closes a connection that has rested for long enough, if there is one.
    fn make_room(&mut self, site: &mut Site<Cancel, Answer>, now: Instant) -> bool {
        while let Some(key) = site.poll_rested(now) {
            let Some(task) = self.line(key).map(|line| line.task) else { continue };
            let Some(connection) = self.connections.get_mut(task) else { continue };
            if connection.give_way(site, now) {
                // Its future sees that it is over.
                self.connections.ring(task);
                return true;
            }
        }
        false
    }

    fn line(&self, key: ConnectionKey) -> Option<&Line> {
        self.lines.get(key.place() as usize)?.as_ref().filter(|line| line.key == key)
    }

    /// Sends what handlers came to.
    fn answer(&self, done: Vec<(Call, Reply)>) {
        if done.is_empty() {
            return;
        }
        {
            let mut guard = self.hub.site();
            let now = self.hub.clock.now();
            if let Some(site) = &mut *guard {
                for (call, reply) in &done {
                    if let Some(session) = call.session() {
                        site.finish(session, call.asked().request, reply, now);
                    }
                }
            }
        }
        // What a call holds is dropped when nothing is locked.
        drop(done);
    }

    /// Where others wait for their places, ends handlers that go on though nobody waits for what they come to. Whether
    /// that is to be asked again at once.
    fn handlers_give_way(&mut self) -> bool {
        let waits = |site: &Option<Box<Site<_, _>>>| site.as_ref().is_some_and(|site| site.has_requests());
        if self.handlers.len() < self.max_handlers || !waits(&self.hub.site()) {
            return false;
        }
        let now = self.hub.clock.now();
        let (mut done, mut next) = (Vec::new(), None::<Instant>);
        for at in self.handlers.places() {
            let handler = self.handlers.get_mut(at);
            let Some(since) = handler.and_then(|handler| handler.unwanted_since(now)) else { continue };
            let until = since.saturating_add(LINGER);
            if until <= now {
                done.extend(self.handlers.take(at).and_then(Answering::break_off));
            } else {
                next = Some(next.map_or(until, |next| next.min(until)));
            }
        }
        self.answer(done);
        next.is_some_and(|at| !self.alarm.set(at, self.hub.clock, &self.bells.time))
    }

    /// Begins the handlers that may. Whether there are more of them.
    fn begin(&mut self) -> bool {
        let most = self.max_handlers.saturating_sub(self.handlers.len()).min(MAX_POLLS);
        let mut requests = Vec::new();
        if let Some(site) = &mut *self.hub.site() {
            while requests.len() < most
                && let Some(next) = site.next_request()
            {
                requests.push(next);
            }
        }
        let full = requests.len() == most;
        let mut done = Vec::new();
        for (session, asked) in requests {
            let way = Way::Http(Arc::clone(&self.hub), session);
            let call = Call::new(Arc::clone(&self.server), way, asked);
            done.extend(self.handlers.begin(Answering::begin(&self.server, call)));
        }
        self.answer(done);
        full && self.handlers.len() < self.max_handlers
    }

    /// Wakes the connections that something came for, tells what is over, and sets the alarm.
    fn look_after(&mut self) -> bool {
        let hub = Arc::clone(&self.hub);
        let now = hub.clock.now();
        let mut guard = hub.site();
        let Some(site) = &mut *guard else { return false };
        if site.poll_timeout().is_some_and(|at| at <= now) {
            site.handle_timeout(now);
        }
        let mut more = false;
        while let Some(key) = site.poll_dirty() {
            if let Some(line) = self.line(key) {
                self.connections.ring(line.task);
                more = true;
            }
        }
        let over = site.take_over();
        let mut refused = Vec::new();
        while let Some(refusal) = site.poll_refusal() {
            refused.push(refusal);
        }
        let at = site.poll_timeout();
        drop(guard);
        tell(over);
        if let Some(refusals) = &self.refusals {
            refused.into_iter().for_each(|refusal| refusals.add(refusal));
        }
        more | at.is_some_and(|at| !self.alarm.set(at, hub.clock, &self.bells.time))
    }

    /// Whether nothing is left to be served.
    fn is_over(&mut self) -> bool {
        if self.door.is_open() || self.connections.len() > 0 {
            return false;
        }
        let now = self.hub.clock.now();
        let until = *self.lingers.get_or_insert_with(|| {
            self.hub.close();
            now.saturating_add(LINGER)
        });
        self.handlers.len() == 0 || until <= now || !self.alarm.set(until, self.hub.clock, &self.bells.time)
    }
}

impl Future for Hosting {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.hub.signals.set_task(cx.waker());
        for _ in 0..MAX_TURNS {
            let more = this.turn(cx);
            if this.is_over() {
                return Poll::Ready(this.door.take_failure().map_or(Ok(()), Err));
            }
            if !more && !this.hub.signals.is_waiting() {
                return Poll::Pending;
            }
        }
        // Others get their turn.
        this.hub.signals.fire(NEWS);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Hosting {
    fn drop(&mut self) {
        self.hub.close();
        self.handlers.clear();
        self.connections.clear();
    }
}
