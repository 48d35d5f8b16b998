//! A client of ours over HTTP, and whoever is at the far end of its connections, which are made, break, stall and end: a
//! server of ours, or one that misbehaves.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::Event;
use sanswire::http::h1;
use sanswire::http::pool::ConnectionHandle;

use super::coverage::Coverage;
use super::end::Cuts;
use super::http_client::{HttpClient, Pipe};
use super::menu::{CLIENT_ACTS, LINK_ACTS};
use super::script::{Script, Step, WAITS, Who, World};
use super::setup::Setup;
use super::site_end::SiteEnd;
use super::web_server::WebServer;
use crate::seed::Rng;

const MAX_TURNS: usize = 300_000;
/// What a client here takes for a head.
const MAX_HEAD: usize = 2048;

/// What a run came to.
#[derive(Debug, PartialEq)]
pub(super) struct WebTrace {
    events: Vec<(Instant, Event)>,
    /// What was sent on each connection, to the server and back.
    bytes: Vec<(u64, Vec<u8>, Vec<u8>)>,
    pub(super) was_full: bool,
}

impl WebTrace {
    /// Where two runs first differ, in words.
    pub(super) fn differs(&self, other: &Self) -> String {
        let at = self.events.iter().zip(&other.events).take_while(|(one, two)| one == two).count();
        let (one, two) = (self.events.get(at), other.events.get(at));
        if one.is_some() || two.is_some() {
            return format!("event {at}: {one:?} and {two:?}");
        }
        let at = self.bytes.iter().zip(&other.bytes).take_while(|(one, two)| one == two).count();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let show = |it: &Self| it.bytes.get(at).map(|(n, one, two)| (*n, text(one), text(two)));
        format!("connection {:?} and {:?}", show(self), show(other))
    }
}

/// Who is at the far end.
enum Far {
    Site(Box<SiteEnd>),
    Bad(Box<WebServer>),
}

impl Far {
    fn time(&mut self, now: Instant) {
        if let Self::Site(end) = self {
            end.site.handle_timeout(now);
        }
    }

    fn welcome(&mut self, connection: ConnectionHandle, now: Instant) {
        match self {
            Self::Site(end) => {
                end.welcome(connection, now);
            }
            Self::Bad(server) => server.welcome(connection),
        }
    }

    fn drive(
        &mut self,
        connection: ConnectionHandle,
        pipe: &mut Pipe,
        now: Instant,
        seen: &mut Coverage,
    ) -> bool {
        let (input, out) = (&mut pipe.to_server, &mut pipe.to_client);
        match self {
            Self::Site(end) => end.drive(connection, input, out, now),
            Self::Bad(server) => server.drive(connection, input, out, now, seen),
        }
    }

    fn take(&mut self, now: Instant, seen: &mut Coverage) -> bool {
        match self {
            Self::Site(end) => end.take(now, seen),
            Self::Bad(_) => false,
        }
    }

    fn next(&self) -> Option<Instant> {
        match self {
            Self::Site(end) => end.site.poll_timeout(),
            Self::Bad(server) => server.next(),
        }
    }
}

struct Run<'a> {
    client: HttpClient,
    far: Far,
    now: Instant,
    seen: &'a mut Coverage,
}

/// Runs a script.
pub(super) fn run(script: &Script, cuts: &Cuts, seen: &mut Coverage) -> WebTrace {
    let setup = Setup::of(script.setup);
    let mut rng = Rng::new(script.setup ^ 0x4777);
    let now = setup.now;
    let mut limits = h1::Limits::default();
    limits.max_head_bytes = MAX_HEAD;
    let message = setup.client.limits.max_message_bytes;
    let client = HttpClient::new(setup.client, limits, &mut rng, cuts.clone(), now);
    let far = match script.world {
        World::BadHttpServer => {
            let of =
                |who| script.steps.iter().filter(move |step| step.who == who).map(|step| (step.act, step.n));
            let opening = of(Who::WebOpening).next().unwrap_or((0, 3));
            Far::Bad(WebServer::new(opening, of(Who::WebAnswer).collect(), message, MAX_HEAD).into())
        }
        _ => Far::Site(SiteEnd::new(setup.server, setup.auto, false, &mut rng, cuts.clone(), now).into()),
    };
    let mut run = Run { client, far, now, seen };
    run.settle();
    run.pass(Duration::from_millis(if script.setup % 4 == 0 { 0 } else { 9000 }));
    for step in &script.steps {
        run.step(step);
    }
    run.wind_up();
    run.seen.met("world", script.world.name());
    let bytes = run.client.pipes.iter().map(|(connection, pipe)| {
        (connection.number(), pipe.to_server.sent().to_vec(), pipe.to_client.sent().to_vec())
    });
    let was_full = run.client.was_full || matches!(&run.far, Far::Site(end) if end.was_full);
    WebTrace { bytes: bytes.collect(), events: run.client.events, was_full }
}

impl Run<'_> {
    fn step(&mut self, step: &Step) {
        let Step { who, act, n } = *step;
        match (who, &mut self.far) {
            (Who::Client, _) => self.client.act(CLIENT_ACTS[act], n, self.now, self.seen),
            (Who::Server, Far::Site(end)) => end.act(act, n, self.now, self.seen),
            (Who::WebPeer, Far::Bad(server)) => server.step(act, n, self.now, self.seen),
            (Who::Link, _) => self.client.link(LINK_ACTS[act], n, self.now, self.seen),
            (Who::Wait, _) => return self.pass(Duration::from_micros(u64::from(n) % WAITS[act].1)),
            _ => return,
        }
        if n % 8 != 0 {
            self.settle();
        }
    }

    /// Does all that can be done at this instant.
    fn settle(&mut self) {
        for _ in 0..MAX_TURNS {
            self.client.time(self.now);
            self.far.time(self.now);
            let mut busy = self.client.carry_out(self.now, self.seen);
            for connection in std::mem::take(&mut self.client.made) {
                self.far.welcome(connection, self.now);
            }
            let connections: Vec<_> = self.client.pipes.keys().copied().collect();
            for connection in connections {
                busy |= self.client.drive(connection, self.now);
                self.client.check_bound();
                if let Some(pipe) = self.client.pipes.get_mut(&connection) {
                    busy |= self.far.drive(connection, pipe, self.now, self.seen);
                }
            }
            busy |= self.far.take(self.now, self.seen);
            busy |= self.client.take(self.now, self.seen);
            if !busy {
                self.client.check_rest(self.now);
                if let Far::Site(end) = &self.far {
                    end.check(self.now);
                }
                return;
            }
        }
        panic!("rule 4: it spins at {:?}", self.now);
    }

    fn next(&self) -> Option<Instant> {
        let both = [self.client.next(self.now), self.far.next()];
        both.into_iter().flatten().filter(|at| *at > self.now).min()
    }

    fn pass(&mut self, time: Duration) {
        // Nobody waits before what there is to do is done.
        self.settle();
        let to = self.now.saturating_add(time);
        for _ in 0..MAX_TURNS {
            let Some(at) = self.next().filter(|at| *at <= to) else {
                self.now = to;
                return self.settle();
            };
            self.now = at;
            self.settle();
        }
        panic!("rule 4: too many deadlines before {to:?}");
    }

    fn wind_up(&mut self) {
        self.client.holding = false;
        self.settle();
        self.client.close(self.now);
        self.settle();
        self.pass(Duration::from_secs(30));
        assert!(self.client.closed, "rule 1: the client is not closed");
        assert_eq!(self.client.model.open(), 0, "rule 1: calls never ended");
        if let Far::Site(end) = &mut self.far {
            end.site.shutdown(Duration::ZERO, self.now);
            self.settle();
            self.pass(Duration::from_secs(30));
            if let Far::Site(end) = &self.far {
                end.check_over();
            }
        }
    }
}
