//! A host with its servers in virtual time: every server is a program that can be started, and each start of it is a
//! peer of its own behind two links.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use sanswire::client::Config;
use sanswire::host::link::Status;
use sanswire::host::policy::ApprovalRequest;
use sanswire::host::{
    CallHandle, CallOutcome, CallRefused, CallRequest, ClientHandle, Event, Fleet, FleetEvent, HostConfig,
    ServerConfig, Target, Warning,
};
use sanswire::{Instant, Machine};

use crate::client::json;
use crate::link::{Link, Shape};
use crate::peer::{Act, LinePeer, Received, Server};
use crate::seed::Rng;

/// A run that takes more steps than this spins.
const MAX_STEPS: usize = 200_000;
/// How often one instant may be gone over before it counts as spinning.
const MAX_ROUNDS: usize = 1_000_000;

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

    /// Does everything that can be done at this instant.
    ///
    /// # Panics
    /// If a rule is broken.
    pub fn settle(&mut self) {
        self.handle_timeout();
        for _ in 0..MAX_ROUNDS {
            if !self.turn() {
                self.handle_timeout();
                if !self.turn() {
                    let next = self.fleet.poll_timeout();
                    let written = self.fleet.clients().all(|client| self.fleet.transmit(client).is_empty());
                    assert!(
                        self.holding || !written || next.is_none_or(|next| next > self.now),
                        "drained, and the deadline is not ahead\n{}",
                        self.report()
                    );
                    return;
                }
            }
        }
        panic!("the world spins\n{}", self.report());
    }

    fn handle_timeout(&mut self) {
        self.fleet.handle_timeout(self.now);
        for run in self.runs.iter_mut().filter(|run| !run.peer_told_eof) {
            run.peer.handle_timeout(self.now);
        }
    }

    /// What can be done now. True: something was.
    fn turn(&mut self) -> bool {
        let mut busy = self.open_and_shut();
        if !self.holding {
            while let Some(event) = self.fleet.poll_event() {
                busy = true;
                self.heard(event);
            }
        }
        for index in 0..self.runs.len() {
            if self.runs[index].closed.is_none() {
                busy |= self.client_side(index);
            }
            if !self.runs[index].peer_told_eof {
                busy |= self.server_side(index);
            }
        }
        busy
    }

    fn open_and_shut(&mut self) -> bool {
        let mut busy = false;
        while let Some(opening) = self.fleet.poll_open() {
            busy = true;
            let server = String::from(&*opening.server);
            let count = self.starts.entry(server.clone()).or_default();
            let nth = *count;
            *count += 1;
            self.note(format!("{server} is started"));
            let program = self.programs.get_mut(&server).expect("a program of that name");
            match program(nth) {
                Started::Runs(peer) => {
                    let config = self.config.clone();
                    let seed = self.rng.number().to_le_bytes();
                    let mut whole = [0; 32];
                    whole[..8].copy_from_slice(&seed);
                    let wanted = self.fleet.attach(opening.client, config, whole, self.now).unwrap();
                    assert!(wanted, "it was asked for at this instant");
                    let [to_server, to_client] = (self.shapes)(&mut self.rng, self.now);
                    self.runs.push(Run {
                        server,
                        client: opening.client,
                        at: self.now,
                        peer: LinePeer::new(peer, self.now),
                        to_server: Link::new(to_server, self.rng.fork()),
                        to_client: Link::new(to_client, self.rng.fork()),
                        closed: None,
                        written: Vec::new(),
                        told_eof: false,
                        told_write_closed: false,
                        peer_told_eof: false,
                    });
                }
                Started::Missing => self.fleet.failed(opening.client, "no such program", self.now),
                Started::Hangs => {}
            }
        }
        while let Some(client) = self.fleet.poll_shut() {
            busy = true;
            if let Some(run) = self.runs.iter_mut().find(|run| run.client == client) {
                run.closed = Some(self.now);
                run.to_server.close(self.now);
            }
        }
        busy
    }

    fn client_side(&mut self, index: usize) -> bool {
        let (fleet, run, now) = (&mut self.fleet, &mut self.runs[index], self.now);
        let client = run.client;
        let mut busy = false;
        if fleet.wants_read(client) {
            if let Some(piece) = run.to_client.arrived(now) {
                let buffer = fleet.read_buffer(client).expect("it wants to read");
                let room = buffer.capacity() - buffer.len();
                let taken = piece.len().min(room);
                assert!(taken > 0, "it wants to read and has no room");
                buffer.extend_from_slice(&piece[..taken]);
                fleet.handle_read(client, now);
                run.to_client.take(taken);
                busy = true;
            } else if run.to_client.has_ended(now) && !run.told_eof {
                run.told_eof = true;
                fleet.handle_eof(client, now);
                busy = true;
            }
        }
        let most = self.small_writes.map_or(usize::MAX, |most| 1 + self.rng.below(most));
        let len = fleet.transmit(client).len().min(run.to_server.room()).min(most);
        if len > 0 {
            let bytes = fleet.transmit(client)[..len].to_vec();
            fleet.handle_written(client, len, now);
            run.to_server.send(&bytes, now);
            run.written.extend_from_slice(&bytes);
            let line = format!("to {}: {}", run.server, excerpt(&bytes));
            self.log.push((now, line));
            busy = true;
        }
        if run.to_server.is_cut() && !run.told_write_closed {
            run.told_write_closed = true;
            fleet.handle_write_closed(client, now);
            busy = true;
        }
        busy
    }

    fn server_side(&mut self, index: usize) -> bool {
        let (run, now) = (&mut self.runs[index], self.now);
        let mut busy = false;
        if run.peer.wants_read() {
            if let Some(piece) = run.to_server.arrived(now) {
                let piece = piece.to_vec();
                let taken = run.peer.handle_input(&piece, now);
                run.to_server.take(taken);
                busy = true;
            } else if run.to_server.has_ended(now) && !run.peer_told_eof {
                run.peer_told_eof = true;
                run.peer.handle_eof(now);
                busy = true;
            }
        }
        let len = run.peer.transmit().len().min(run.to_client.room());
        if len > 0 {
            let bytes = run.peer.transmit()[..len].to_vec();
            run.peer.handle_written(len, now);
            run.to_client.send(&bytes, now);
            let line = format!("from {}: {}", run.server, excerpt(&bytes));
            self.log.push((now, line));
            busy = true;
        }
        if run.closed.is_some() {
            // Nobody reads here any more.
            run.to_client.discard();
        }
        if run.peer.poll_event().is_some() {
            run.to_client.close(now);
            // Nobody reads here any more.
            run.to_server.discard();
            busy = true;
        }
        busy
    }

    fn heard(&mut self, event: FleetEvent) {
        if let FleetEvent::Host(Event::Finished { call, .. }) = &event {
            assert!(self.open.remove(call), "{call:?} ended but was not open\n{}", self.report());
        }
        self.note(format!("told {}", excerpt(format!("{event:?}").as_bytes())));
        self.events.push((self.now, event));
    }

    fn note(&mut self, line: String) {
        self.log.push((self.now, line));
    }

    /// When something happens next.
    fn next_at(&self) -> Option<Instant> {
        let open = self.runs.iter().filter(|run| run.closed.is_none() || !run.peer_told_eof);
        let of_runs = open.flat_map(|run| {
            let to_server = run.to_server.next_arrival(self.now).filter(|_| run.peer.wants_read());
            let to_client = run.to_client.next_arrival(self.now);
            [to_server, to_client.filter(|_| self.fleet.wants_read(run.client)), run.peer.poll_timeout()]
        });
        of_runs.flatten().chain(self.fleet.poll_timeout()).min()
    }

    /// Settles, then moves to the next thing that happens. False: nothing ever will.
    ///
    /// # Panics
    /// If time stands still.
    pub fn step(&mut self) -> bool {
        self.settle();
        let Some(next) = self.next_at() else { return false };
        assert!(next > self.now, "time stands still\n{}", self.report());
        self.now = next;
        self.settle();
        true
    }

    /// Lets everything happen for `time`.
    pub fn wait(&mut self, time: Duration) {
        let to = self.now.saturating_add(time);
        self.settle();
        while self.next_at().is_some_and(|next| next <= to) {
            self.step();
        }
        self.now = self.now.max(to);
        self.settle();
    }

    /// Waits milliseconds.
    pub fn wait_ms(&mut self, millis: u64) {
        self.wait(Duration::from_millis(millis));
    }

    /// Steps until `done`.
    ///
    /// # Panics
    /// If that never comes, with what happened instead.
    pub fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        self.settle();
        for _ in 0..MAX_STEPS {
            if done(self) {
                return;
            }
            if !self.step() {
                break;
            }
        }
        assert!(done(self), "never {what}\n{}", self.report());
    }

    /// Asks for a call of the tool of that exposed name.
    ///
    /// # Errors
    /// As [`Fleet::call`].
    pub fn try_call(&mut self, tool: &str, arguments: &str) -> Result<CallHandle, CallRefused> {
        let request = CallRequest::new("1", Target::Exposed(tool.into()), Some(json(arguments)));
        self.make(request)
    }

    /// Asks for a call.
    ///
    /// # Errors
    /// As [`Fleet::call`].
    ///
    /// # Panics
    /// If its handle was used before.
    pub fn make(&mut self, request: CallRequest) -> Result<CallHandle, CallRefused> {
        let call = self.fleet.call(request, self.now)?;
        assert!(self.open.insert(call), "{call:?} names two calls");
        Ok(call)
    }

    /// Asks for a call that is accepted.
    ///
    /// # Panics
    /// If it is refused.
    pub fn call(&mut self, tool: &str, arguments: &str) -> CallHandle {
        match self.try_call(tool, arguments) {
            Ok(call) => call,
            Err(refused) => panic!("{tool}: {refused}\n{}", self.report()),
        }
    }

    /// How a call ended, if it has.
    #[must_use]
    pub fn ended(&self, of: CallHandle) -> Option<CallOutcome> {
        self.find(|event| match event {
            Event::Finished { call, end } if *call == of => Some(end.outcome.clone()),
            _ => None,
        })
        .pop()
    }

    /// Waits for a call's end.
    ///
    /// # Panics
    /// If it never comes.
    pub fn end(&mut self, call: CallHandle) -> CallOutcome {
        self.until("finished", |world| world.ended(call).is_some());
        self.ended(call).unwrap()
    }

    /// Waits for a call's result, as a model sees it.
    ///
    /// # Panics
    /// If it ends otherwise.
    pub fn complete(&mut self, call: CallHandle) -> String {
        match self.end(call) {
            CallOutcome::Completed(result) => result.presented.text,
            other => panic!("no result but {other:?}\n{}", self.report()),
        }
    }

    /// Calls that have not ended.
    #[must_use]
    pub fn open_calls(&self) -> usize {
        self.open.len()
    }

    /// What `pick` picks out of what the host told.
    pub fn find<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> Vec<T> {
        let told = self.events.iter().filter_map(|(_, event)| match event {
            FleetEvent::Host(event) => pick(event),
            _ => None,
        });
        told.collect()
    }

    /// All questions that were asked.
    #[must_use]
    pub fn questions(&self) -> Vec<ApprovalRequest> {
        self.find(|event| match event {
            Event::Approval(request) => Some((**request).clone()),
            _ => None,
        })
    }

    /// All warnings.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        self.find(|event| match event {
            Event::Warning(warning) => Some(warning.clone()),
            _ => None,
        })
    }

    /// The statuses of a server that were told, in order.
    #[must_use]
    pub fn statuses(&self, of: &str) -> Vec<Status> {
        self.find(|event| match event {
            Event::Status { server, status } if **server == *of => Some(*status),
            _ => None,
        })
    }

    /// A server's status.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn status(&self, server: &str) -> Status {
        self.fleet.host().state(server).expect("a server of that name").status
    }

    /// How often a server was tried to be started.
    #[must_use]
    pub fn starts(&self, server: &str) -> usize {
        self.starts.get(server).copied().unwrap_or(0)
    }

    /// What a server received with this method, by its own record, over all its runs.
    #[must_use]
    pub fn received(&self, server: &str, method: &str) -> Vec<Received> {
        let runs = self.runs.iter().filter(|run| run.server == server);
        runs.flat_map(|run| run.peer.server.with_method(method).into_iter().cloned()).collect()
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

    /// The names that are offered, sorted.
    #[must_use]
    pub fn offered(&self) -> Vec<String> {
        self.fleet.host().registry().offered().map(|(name, _)| String::from(&**name)).collect()
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
