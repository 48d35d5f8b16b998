//! A host with several servers that misbehave, each in its own way, and are started anew when they end.
//!
//! Each call has a number, which stands in its arguments. So it is seen at the servers that none is made twice, that none
//! is made which was not let through, and that a question, once answered, lets one call through and no other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{self, InputAnswers, InputRequired};
use sanswire::host::policy::{Answer, ApprovalHandle, ServerMode};
use sanswire::host::{
    CallHandle, CallOutcome, CallRequest, ClientHandle, Event, Fleet, FleetEvent, HostConfig, RefreshMode,
    Replay, ServerConfig, Target,
};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputAnswer;
use serde_json::Value;

use super::coverage::Coverage;
use super::end::Cuts;
use super::menu::{HOST_ACTS, LINK_ACTS};
use super::peer::BadServer;
use super::script::{Script, Step, WAITS, Who};
use super::setup::Setup;
use super::wire::Wire;
use crate::seed::Rng;

const MAX_TURNS: usize = 300_000;
const NAMES: [&str; 3] = ["a", "a__b", "b.c"];

/// A program that was started.
#[derive(Debug)]
struct Started {
    name: usize,
    client: ClientHandle,
    peer: BadServer,
    to_server: Wire,
    to_client: Wire,
    told: [bool; 2],
    shut: bool,
    wrote: Vec<u8>,
    /// Calls of it that were looked at.
    seen: usize,
}

/// What a run came to.
#[derive(Debug, PartialEq)]
pub(super) struct HostTrace {
    events: Vec<(Instant, String)>,
    /// What was written to each program, its lines sorted.
    bytes: Vec<Vec<u8>>,
    pub(super) was_full: bool,
}

impl HostTrace {
    /// Where two runs first differ, in words.
    pub(super) fn differs(&self, other: &Self) -> String {
        let at = self.events.iter().zip(&other.events).take_while(|(one, two)| one == two).count();
        match (self.events.get(at), other.events.get(at)) {
            (None, None) => "bytes".to_owned(),
            (one, two) => format!("event {at}: {one:?} and {two:?}"),
        }
    }
}

struct Run<'a> {
    fleet: Fleet,
    config: client::Config,
    most: usize,
    modes: Vec<ServerMode>,
    openings: Vec<(usize, u32)>,
    answers: Vec<(usize, u32)>,
    started: Vec<Started>,
    shape: (Duration, usize),
    cuts: Cuts,
    was_full: bool,
    now: Instant,
    seen: &'a mut Coverage,
    events: Vec<(Instant, String)>,
    open: BTreeMap<CallHandle, u64>,
    all: Vec<CallHandle>,
    said: u64,
    /// Questions that wait, with the call each is about.
    questions: BTreeMap<ApprovalHandle, u64>,
    allowed: BTreeSet<u64>,
    made: BTreeSet<u64>,
    inputs: Vec<(CallHandle, InputRequired)>,
    /// Calls that went on: a server that asked for nothing gets the very same once more.
    resumed: BTreeSet<u64>,
    starts: Rng,
    holding: bool,
}

/// Runs a script.
pub(super) fn run(script: &Script, cuts: &Cuts, seen: &mut Coverage) -> HostTrace {
    let setup = Setup::of(script.setup);
    let mut rng = Rng::new(script.setup ^ 0x4057);
    let now = setup.now;
    let mut config = HostConfig::default();
    config.max_starting = 1 + rng.below(3);
    config.max_calls = *rng.pick(&[2, 1024]);
    config.refresh.mode = *rng.pick(&[RefreshMode::Frozen, RefreshMode::Staged, RefreshMode::Live]);
    config.replay = *rng.pick(&[Replay::Never, Replay::UnsentOnly]);
    config.reconnect.backoff = Duration::from_millis(*rng.pick(&[0, 0, 1500]));
    config.timeouts.default = Duration::from_secs(*rng.pick(&[2, 30]));
    let mut modes = Vec::new();
    for name in &NAMES[..1 + rng.below(3)] {
        let mut server = ServerConfig::default();
        server.mode = *rng.pick(&[ServerMode::Allow, ServerMode::Allow, ServerMode::Ask, ServerMode::Deny]);
        server.start = setup.client.start.clone();
        modes.push(server.mode);
        config.servers.insert((*name).into(), server);
    }
    let each = setup.client.limits.worst_case_bytes();
    let most = config.worst_case_bytes().saturating_add(each.saturating_mul(2 * modes.len()));
    let of = |who| script.steps.iter().filter(move |step| step.who == who).map(|step| (step.act, step.n));
    let narrow = setup.client.limits.max_in_flight < 64;
    let mut run = Run {
        fleet: Fleet::new(config, now).expect("a good configuration"),
        config: setup.client,
        most,
        modes,
        openings: of(Who::Opening).collect(),
        answers: of(Who::Answer).collect(),
        started: Vec::new(),
        shape: (Duration::from_millis(*rng.pick(&[0, 0, 1, 20])), *rng.pick(&[usize::MAX, 65_536, 700])),
        cuts: cuts.clone(),
        // A host acts on each read, so how many of its requests are open when it asks for a listing depends on the cuts.
        was_full: narrow,
        now,
        seen,
        events: Vec::new(),
        open: BTreeMap::new(),
        all: Vec::new(),
        said: 0,
        questions: BTreeMap::new(),
        allowed: BTreeSet::new(),
        made: BTreeSet::new(),
        inputs: Vec::new(),
        resumed: BTreeSet::new(),
        starts: rng.fork(),
        holding: false,
    };
    run.settle();
    run.pass(Duration::from_millis(if script.setup % 4 == 0 { 0 } else { 9000 }));
    for step in &script.steps {
        run.step(step);
    }
    run.wind_up();
    run.seen.met("world", script.world.name());
    // A host acts on each read: what it then asks comes before or behind what a connection answers by itself.
    let lines = |started: Started| {
        let mut lines: Vec<_> = started.wrote.split_inclusive(|byte| *byte == b'\n').collect();
        lines.sort_unstable();
        lines.concat()
    };
    let bytes = run.started.into_iter().map(lines).collect();
    HostTrace { events: run.events, bytes, was_full: run.was_full }
}

impl Run<'_> {
    fn step(&mut self, step: &Step) {
        let Step { who, act, n } = *step;
        match who {
            Who::Host => self.act(HOST_ACTS[act], n),
            Who::Peer => {
                if let Some(place) = self.some(n) {
                    self.started[place].peer.step(act, n, self.now, self.seen);
                }
            }
            Who::Link => self.link(LINK_ACTS[act], n),
            Who::Wait => return self.pass(Duration::from_micros(u64::from(n) % WAITS[act].1)),
            _ => return,
        }
        if n % 8 != 0 {
            self.settle();
        }
    }

    /// One of the programs that were started last.
    fn some(&self, n: u32) -> Option<usize> {
        let last = self.started.len().saturating_sub(3);
        (last..self.started.len()).nth(n as usize % 3)
    }

    fn act(&mut self, act: &'static str, n: u32) {
        self.seen.met("host act", act);
        let (at, now) = (n as usize, self.now);
        match act {
            "call" | "call-again" | "call-more" | "call-through-a-meta-tool" | "call-unknown" => {
                self.call(act, n)
            }
            "cancel" => {
                if let Some(call) = self.all.get(at % self.all.len().max(1)) {
                    let done = self.fleet.cancel(*call, now);
                    assert!(!done || self.open.contains_key(call), "what is over was cancelled");
                }
            }
            "allow" | "deny" | "allow-twice" => {
                let place = at % self.questions.len().max(1);
                let Some((handle, number)) = self.questions.iter().nth(place).map(|(one, two)| (*one, *two))
                else {
                    return;
                };
                let answer = if act == "deny" { Answer::Deny } else { Answer::AllowOnce };
                let taken = self.fleet.answer(handle, answer, now);
                if taken && act != "deny" {
                    self.allowed.insert(number);
                }
                if act == "allow-twice" {
                    assert!(
                        !self.fleet.answer(handle, Answer::AllowOnce, now),
                        "a question was answered twice"
                    );
                }
            }
            "resume" => {
                if let Some((call, input)) = self.inputs.get(at % self.inputs.len().max(1)) {
                    let answer = RawJson::from_static(r#"{"roots":[],"action":"accept"}"#).expect("JSON");
                    let answer = InputAnswer::Result(answer);
                    let answers = InputAnswers::collect(input, |_| answer.clone());
                    let number = self.open.get(call).copied();
                    if self.fleet.resume(*call, answers, now) {
                        self.resumed.insert(number.expect("a call that is open"));
                    }
                }
            }
            "no-approver" => self.fleet.set_approver(n % 3 != 0, now),
            "next-turn" => self.fleet.begin_turn(now),
            "reconnect" => drop(self.fleet.reconnect(NAMES[at % NAMES.len()], now)),
            "refresh" => drop(self.fleet.refresh(NAMES[at % NAMES.len()], now)),
            "plan-mode" => self.fleet.host_mut().set_plan_mode(n % 3 == 0),
            "hold" => self.holding = true,
            "take" => self.holding = false,
            _ => {
                if n % 8 == 0 {
                    self.fleet.close(now);
                }
            }
        }
    }

    fn call(&mut self, act: &'static str, n: u32) {
        let offered: Vec<String> =
            self.fleet.host().registry().offered().map(|(name, _)| String::from(&**name)).collect();
        self.said += 1;
        let inner = format!(r#"{{"k":{}}}"#, self.said);
        let (name, arguments) = match act {
            "call-unknown" => ("mcp__a__nothing".to_owned(), inner),
            "call-through-a-meta-tool" => {
                let server = NAMES[n as usize % NAMES.len()];
                ("mcp_call".to_owned(), format!(r#"{{"server":"{server}","tool":"t7","arguments":{inner}}}"#))
            }
            _ if offered.is_empty() => ("mcp__a__t7".to_owned(), inner),
            _ => (offered[n as usize % offered.len()].clone(), inner),
        };
        let arguments = RawJson::parse_str(&arguments).expect("JSON");
        let request = CallRequest::new(self.said.to_string(), Target::Exposed(name.into()), Some(arguments));
        if let Ok(call) = self.fleet.call(request, self.now) {
            assert!(!self.all.contains(&call), "{call:?} names two calls");
            self.open.insert(call, self.said);
            self.all.push(call);
        }
    }

    fn link(&mut self, act: &'static str, n: u32) {
        let now = self.now;
        let Some(place) = self.some(n) else { return };
        let started = &mut self.started[place];
        let (one, other) = (&mut started.to_server, &mut started.to_client);
        let until = now.saturating_add(Duration::from_millis(u64::from(n) % 8000));
        let soon = n as usize % 2000;
        self.seen.met("link", act);
        match act {
            "stall-to-server" => one.stall(until),
            "stall-to-client" => other.stall(until),
            "break-to-server" => one.break_after(0, now),
            "break-to-client" => other.break_after(0, now),
            "break-to-server-soon" => one.break_after(soon, now),
            "break-to-client-soon" => other.break_after(soon, now),
            "break-both" => {
                one.break_after(0, now);
                other.break_after(0, now);
            }
            "unread-by-server" => one.stop_reading(now),
            _ => other.stop_reading(now),
        }
    }

    /// Does all that can be done at this instant.
    fn settle(&mut self) {
        for _ in 0..MAX_TURNS {
            self.fleet.handle_timeout(self.now);
            let mut busy = self.open_and_shut();
            for place in 0..self.started.len() {
                busy |= self.both_sides(place);
            }
            busy |= !self.holding && self.take();
            if !busy {
                return self.check();
            }
        }
        panic!("rule 4: it spins at {:?}", self.now);
    }

    fn open_and_shut(&mut self) -> bool {
        let mut busy = false;
        while let Some(opening) = self.fleet.poll_open() {
            busy = true;
            let name = NAMES.iter().position(|name| **name == *opening.server).expect("one of ours");
            match self.starts.below(12) {
                0 => {
                    self.seen.met("start", "fails");
                    self.fleet.failed(opening.client, "no such program", self.now);
                    continue;
                }
                1 => {
                    self.seen.met("start", "hangs");
                    continue;
                }
                _ => self.seen.met("start", "runs"),
            }
            let nth = self.started.len();
            let how = self.openings.get(nth % self.openings.len().max(1)).copied().unwrap_or((0, 3));
            let mut answers: VecDeque<_> = self.answers.iter().copied().collect();
            if !answers.is_empty() {
                // The first is asked by the host itself: its listing.
                answers.rotate_left((nth * 3) % answers.len());
                if nth % 3 != 0 {
                    answers.push_front((0, 7));
                }
            }
            let peer = BadServer::new(how, answers, self.config.limits.max_message_bytes);
            let wanted = self.fleet.attach(opening.client, self.config.clone(), [7; 32], self.now);
            assert_eq!(wanted, Ok(true), "it was asked for at this instant");
            let wire = || Wire::new(self.shape.0, self.shape.1);
            self.started.push(Started {
                name,
                client: opening.client,
                peer,
                to_server: wire(),
                to_client: wire(),
                told: [false; 2],
                shut: false,
                wrote: Vec::new(),
                seen: 0,
            });
        }
        while let Some(client) = self.fleet.poll_shut() {
            busy = true;
            if let Some(started) = self.started.iter_mut().find(|started| started.client == client) {
                started.shut = true;
                started.to_server.close(self.now);
                started.to_client.stop_reading(self.now);
            }
        }
        busy
    }

    fn both_sides(&mut self, place: usize) -> bool {
        let now = self.now;
        let started = &mut self.started[place];
        let client = started.client;
        let mut busy = false;
        if !started.shut {
            let there = started.to_client.arrived(now).len();
            let mut taken = 0;
            while taken < there {
                if !self.fleet.wants_read(client) {
                    self.was_full = true;
                    break;
                }
                let rest = &started.to_client.arrived(now)[taken..];
                let buffer = self.fleet.read_buffer(client).expect("it wants to be read");
                let room = buffer.capacity() - buffer.len();
                assert!(room > 0, "it wants to be read and has no room");
                let len = rest.len().min(room).min(self.cuts.next());
                buffer.extend_from_slice(&rest[..len]);
                self.fleet.handle_read(client, now);
                taken += len;
            }
            started.to_client.take(taken);
            busy |= taken > 0;
            if started.to_client.has_ended(now) && !started.told[0] && self.fleet.wants_read(client) {
                started.told[0] = true;
                self.fleet.handle_eof(client, now);
                busy = true;
            }
            if started.to_server.is_broken() && !started.told[1] {
                started.told[1] = true;
                self.fleet.handle_write_closed(client, now);
                busy = true;
            }
            let waiting = self.fleet.transmit(client);
            let len = waiting.len().min(started.to_server.room());
            if len > 0 {
                started.to_server.send(&waiting[..len], now);
                started.wrote.extend_from_slice(&waiting[..len]);
                self.fleet.handle_written(client, len, now);
                busy = true;
            }
        }
        busy |= started.peer.read(&mut started.to_server, now, self.seen);
        busy |= started.peer.mouth.write(&mut started.to_client, now);
        let came: Vec<_> = started.peer.asked[started.seen..].iter().filter_map(|asked| asked.call).collect();
        started.seen = started.peer.asked.len();
        let (name, mode) = (NAMES[started.name], self.modes[started.name]);
        for number in came {
            let once = self.made.insert(number);
            assert!(once || self.resumed.contains(&number), "call {number} was made twice");
            assert!(mode != ServerMode::Deny, "call {number} was made at {name}, where none may be");
            let asked = mode == ServerMode::Ask;
            assert!(
                !asked || self.allowed.contains(&number),
                "call {number} was made at {name}, and nobody allowed it"
            );
        }
        busy
    }

    fn take(&mut self) -> bool {
        let mut busy = false;
        while let Some(event) = self.fleet.poll_event() {
            busy = true;
            if let FleetEvent::Host(event) = &event {
                self.seen.met("host event", event_name(event));
                match event {
                    Event::Finished { call, end } => {
                        let open = self.open.remove(call);
                        assert!(open.is_some(), "rule 1: {call:?} ended and was not open");
                        self.seen.met("call ended", outcome_name(&end.outcome));
                    }
                    Event::Approval(request) => {
                        let arguments = request.arguments.as_ref().map(RawJson::as_bytes).unwrap_or_default();
                        let arguments: Value = serde_json::from_slice(arguments).unwrap_or_default();
                        if let Some(number) = arguments["k"].as_u64() {
                            self.questions.insert(request.handle, number);
                        }
                    }
                    Event::ApprovalEnded(handle) => {
                        self.questions.remove(handle);
                    }
                    Event::InputRequired { call, input } => self.inputs.push((*call, (**input).clone())),
                    _ => {}
                }
            }
            self.events.push((self.now, format!("{event:?}")));
        }
        busy
    }

    fn check(&self) {
        let next = self.fleet.poll_timeout();
        let written = self.fleet.clients().all(|client| self.fleet.transmit(client).is_empty());
        let ahead = self.holding || !written || next.is_none_or(|at| at > self.now);
        assert!(ahead, "rule 4: the next deadline does not lie ahead");
        let held = self.fleet.retained_bytes();
        assert!(held <= self.most, "rule 5: a host holds {held} bytes of {}", self.most);
    }

    fn next(&self) -> Option<Instant> {
        let wires = self.started.iter().flat_map(|started| [&started.to_server, &started.to_client]);
        let arrivals = wires.filter_map(|wire| wire.next_arrival(self.now));
        let peers = self.started.iter().filter_map(|started| started.peer.mouth.next());
        arrivals.chain(peers).chain(self.fleet.poll_timeout()).filter(|at| *at > self.now).min()
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
        self.holding = false;
        self.settle();
        self.fleet.close(self.now);
        self.settle();
        self.pass(Duration::from_secs(30));
        assert!(self.fleet.is_over(), "the host is not over");
        assert!(self.open.is_empty(), "rule 1: these calls never ended: {:?}", self.open);
        assert!(self.started.iter().all(|started| started.shut), "a stream was never closed");
    }
}

fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Status { .. } => "status",
        Event::Connected { .. } => "connected",
        Event::Verdict { .. } => "verdict",
        Event::Health { .. } => "health",
        Event::Started => "started",
        Event::Tools { .. } => "tools",
        Event::Warning(_) => "warning",
        Event::Approval(_) => "approval",
        Event::ApprovalEnded(_) => "approval ended",
        Event::Progress { .. } => "progress",
        Event::InputRequired { .. } => "input required",
        Event::Finished { .. } => "finished",
        _ => "another",
    }
}

fn outcome_name(outcome: &CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Completed(_) => "completed",
        CallOutcome::ToolError(_) => "tool error",
        CallOutcome::Denied(_) => "denied",
        CallOutcome::TimedOut(_) => "timed out",
        CallOutcome::Cancelled => "cancelled",
        CallOutcome::Disconnected { .. } => "disconnected",
        CallOutcome::Unavailable { .. } => "unavailable",
        CallOutcome::ProtocolError(_) => "protocol error",
    }
}
