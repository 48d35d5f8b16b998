//! A host with its servers in virtual time: every server is a program that can be started, and each start of it is a
//! peer of its own behind two links.

mod told;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::Config;
use sanswire::host::{CallHandle, ClientHandle, Fleet, FleetEvent, HostConfig, ServerConfig};

use crate::link::{Link, Shape};
use crate::peer::{Act, LinePeer, Server};
use crate::seed::Rng;

/// What comes of starting a program.
pub enum Started {
    /// It runs.
    Runs(Server),
    /// There is no such program.
    Missing,
    /// It is neither there nor not there.
    Hangs,
}

/// The shapes of a connection's links, to the server and to the client.
pub type Shapes = Box<dyn FnMut(&mut Rng, Instant) -> [Shape; 2]>;

/// Starts a program, for the so manieth time, from 0.
pub type Program = Box<dyn FnMut(usize) -> Started>;

/// A program that starts whatever this makes, every time.
pub fn runs(mut server: impl FnMut() -> Server + 'static) -> Program {
    Box::new(move |_| Started::Runs(server()))
}

/// A program that starts `first` once, and from then on what `then` says.
pub fn at_first(first: Server, mut then: impl FnMut(usize) -> Started + 'static) -> Program {
    let mut first = Some(first);
    Box::new(move |n| first.take().map_or_else(|| then(n), Started::Runs))
}

/// A program that was started once.
pub struct Run {
    /// Its server.
    pub server: String,
    /// The connection.
    pub client: ClientHandle,
    /// When it was started.
    pub at: Instant,
    /// The server, and what it received.
    pub peer: LinePeer,
    to_server: Link,
    to_client: Link,
    /// When its stream was closed, by the client's side.
    pub closed: Option<Instant>,
    /// Everything that the client wrote.
    pub written: Vec<u8>,
    told_eof: bool,
    told_write_closed: bool,
    peer_told_eof: bool,
}

/// A host, its programs, and the clock.
pub struct World {
    /// The host with its connections.
    pub fleet: Fleet,
    /// What it told, with the time.
    pub events: Vec<(Instant, FleetEvent)>,
    /// Programs as they were started, in order.
    pub runs: Vec<Run>,
    /// How often each was tried to be started.
    pub starts: BTreeMap<String, usize>,
    programs: BTreeMap<String, Program>,
    shapes: Shapes,
    /// Write no more than so many bytes at once, by the seed.
    pub small_writes: Option<usize>,
    /// What connections are set up with.
    pub config: Config,
    /// Whether events stay where they are.
    pub holding: bool,
    rng: Rng,
    now: Instant,
    open: BTreeSet<CallHandle>,
    log: Vec<(Instant, String)>,
}

/// A configuration of these servers, each asked for nothing.
#[must_use]
pub fn host_config(servers: &[&str]) -> HostConfig {
    let mut config = HostConfig::default();
    for name in servers {
        let mut server = ServerConfig::default();
        server.mode = sanswire::host::policy::ServerMode::Allow;
        config.servers.insert((*name).into(), server);
    }
    config
}

/// Links that take a millisecond.
fn calm(_: &mut Rng, _: Instant) -> [Shape; 2] {
    let shape = Shape { latency: Duration::from_millis(1), ..Shape::default() };
    [shape.clone(), shape]
}

impl World {
    /// Starts at one second past the epoch.
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn new(config: HostConfig, programs: Vec<(&str, Program)>) -> Self {
        Self::twisted(config, programs, 1, Box::new(calm))
    }

    /// As [`new`](Self::new), with links of these shapes by this seed.
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn twisted(config: HostConfig, programs: Vec<(&str, Program)>, seed: u64, shapes: Shapes) -> Self {
        let now = Instant::from_millis(1000);
        Self {
            fleet: Fleet::new(config, now).unwrap(),
            events: Vec::new(),
            runs: Vec::new(),
            starts: BTreeMap::new(),
            programs: programs.into_iter().map(|(name, program)| (name.to_owned(), program)).collect(),
            shapes,
            small_writes: None,
            config: Config::new("harness", "1"),
            holding: false,
            rng: Rng::new(seed),
            now,
            open: BTreeSet::new(),
            log: Vec::new(),
        }
    }

    /// All servers of `config` were tried.
    #[must_use]
    pub fn started(config: HostConfig, programs: Vec<(&str, Program)>) -> Self {
        let mut world = Self::new(config, programs);
        world.until("started", |world| world.fleet.host().is_started());
        world
    }

    /// The time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Milliseconds since the start.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        (self.now.as_micros() - 1_000_000) / 1000
    }

    /// The latest run of a server.
    ///
    /// # Panics
    /// If it never ran.
    pub fn run_of(&mut self, server: &str) -> &mut Run {
        self.runs.iter_mut().rev().find(|run| run.server == server).expect("it ran")
    }

    /// A server does something of its own accord.
    pub fn act(&mut self, server: &str, act: Act) {
        let now = self.now;
        self.run_of(server).peer.act_now(act, now);
    }

    /// What happened, one line each.
    #[must_use]
    pub fn report(&self) -> String {
        let mut out = String::new();
        for (at, line) in &self.log {
            let _ = writeln!(out, "{:>9}.{:03} {line}", at.as_micros() / 1000, at.as_micros() % 1000);
        }
        out
    }
}

fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
    let more = if bytes.len() > 300 { format!("… ({} bytes)", bytes.len()) } else { String::new() };
    format!("{}{more}", text.escape_debug())
}
