//! A host's server is lost, tried anew, and given up: at every moment it may come up, fail, hang, or be called.

use std::fmt;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::era::next_start;
use sanswire::client::{Outcome, Start};
use sanswire::error::CloseReason;
use sanswire::host::link::Status;
use sanswire::host::policy::ServerMode;
use sanswire::host::{ClientHandle, HostConfig, Replay, RequestKey, ServerConfig};
use sanswire::jsonrpc::RawJson;

use super::host::{Named, SERVER, Side, Stage, Told};
use super::{Rule, Rules, World};

const NAMED: Named = Named {
    once: Rule::ReconnectCallOnce,
    spin: Rule::ReconnectNoSpin,
    close: Rule::ReconnectCloseEnds,
    mute: Rule::ReconnectMuteEnds,
};

/// Attempts that may fail in a row.
const ATTEMPTS: u32 = 2;

/// How a host is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    backoff: Duration,
    replay: Replay,
}

/// Something that may happen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A connection cannot be opened.
    NotOpened(ClientHandle),
    /// A connection is ready.
    Ready(ClientHandle),
    /// A connection ends; its calls may have run.
    Ends(ClientHandle, bool),
    /// A connection dies of the probe.
    Dies(ClientHandle),
    /// A listing is answered.
    Listed(RequestKey),
    /// A call is answered.
    Answered(RequestKey),
    /// A call's outcome says that its connection is lost.
    Lost(RequestKey, bool),
    /// Somebody calls.
    Call,
    /// The oldest call is given up.
    Cancel,
    /// Somebody has it tried anew.
    Reconnect,
    /// The next deadline comes.
    Deadline,
}

/// An attempt to open a connection.
#[derive(Debug)]
struct Attempt {
    client: ClientHandle,
    /// It is the very first one.
    first: bool,
    /// It was begun a second time, otherwise.
    again: bool,
    /// Its server has introduced itself.
    ready: bool,
    start: Start,
}

/// The host, and what was noted.
pub struct Lost {
    setup: Setup,
    side: Side,
    /// Attempts that failed in a row since there was a connection of use, or somebody had it tried anew. The very first
    /// one does not count.
    failed: u32,
    /// The attempt that is under way.
    trying: Option<Attempt>,
    /// The present connection: since when there is one, whether it came of a loss, and whether it was called.
    connected: Option<(ClientHandle, Instant, bool, bool)>,
    /// When the attempt before failed.
    failed_at: Option<Instant>,
    unavailable: bool,
}

impl Lost {
    /// Holds what was told against what happened.
    fn check(&mut self, step: Step, rules: &mut Rules) {
        self.side.drain(rules);
        let told = std::mem::take(&mut self.side.told);
        let now = self.side.now;
        let asked = matches!(step, Step::Reconnect);
        if asked {
            (self.failed, self.failed_at, self.unavailable) = (0, None, false);
        }
        // An attempt that goes on by another connection, because the server has to be opened otherwise, is the same one.
        let reason = match step {
            Step::Dies(client) => Some((client, CloseReason::DiedOnProbe)),
            Step::Ends(client, _) => Some((client, CloseReason::Eof)),
            _ => None,
        };
        let again = match (reason, &self.trying) {
            (Some((client, reason)), Some(trying)) if client == trying.client && !trying.ready => {
                next_start(&reason, &trying.start, u32::from(trying.again)).is_some()
            }
            _ => false,
        };
        // How the attempt, or the connection, came to its end.
        let shut =
            |of: ClientHandle| told.iter().any(|told| matches!(told, Told::Shut(client) if *client == of));
        if let Some(trying) = self.trying.take_if(|trying| shut(trying.client) && !again)
            && !trying.first
            && !asked
        {
            self.failed += 1;
            self.failed_at = Some(now);
        }
        if let Some((_, since, anew, used)) = self.connected.take_if(|(client, ..)| shut(*client)) {
            let early = anew && !used && now.saturating_since(since) < Duration::from_secs(10);
            if early && !asked {
                self.failed += 1;
                self.failed_at = Some(now);
            } else {
                (self.failed, self.failed_at) = (0, None);
            }
        }
        let called = told.iter().any(|told| matches!(told, Told::Sent(_)));
        for told in &told {
            match told {
                Told::Open(client, start) => {
                    rules.hold(Rule::ReconnectUnavailable, !self.unavailable, || format!("{client:?}"));
                    rules.hold(Rule::ReconnectBounded, self.failed < ATTEMPTS, || {
                        format!("{} attempts failed in a row, and another begins", self.failed)
                    });
                    // A call that is made again asks for it as well.
                    let remade = self.setup.replay == Replay::UnsentOnly
                        && matches!(step, Step::Ends(_, false) | Step::Lost(_, false));
                    let woken = remade || matches!(step, Step::Call | Step::Reconnect);
                    let early = self.failed_at.is_some_and(|at| now < at.saturating_add(self.setup.backoff));
                    rules.hold(Rule::ReconnectBackoff, woken || again || !early, || {
                        format!("failed at {:?}, and the next begins at {now:?}", self.failed_at)
                    });
                    let first = again && self.trying.as_ref().is_some_and(|trying| trying.first);
                    self.trying =
                        Some(Attempt { client: *client, first, again, ready: false, start: start.clone() });
                }
                Told::Status(Status::Unavailable) => self.unavailable = true,
                Told::Status(Status::Connected) => {
                    if let Some(trying) = self.trying.take() {
                        self.connected = Some((trying.client, now, !trying.first, called));
                    }
                }
                Told::Sent(handle) => {
                    if let Some((.., used)) = &mut self.connected {
                        *used = true;
                    }
                    self.sent(*handle, rules);
                }
                Told::Shut(_) | Told::Status(_) => {}
            }
        }
        for (handle, call) in &self.side.calls {
            // Made again, it waits for a connection.
            let remade = self.setup.replay == Replay::UnsentOnly && call.unsent;
            let under_way = self.side.requests.contains_key(&RequestKey::Call(*handle));
            let ends = call.sent.is_empty() || call.end.is_some() || under_way || remade;
            rules.hold(Rule::ReconnectLostEnds, ends, || format!("{handle:?} {call:?}"));
        }
        let live = self.side.live();
        rules.hold(Rule::ReconnectOne, live.len() <= 1, || format!("{:?}", self.side.clients));
    }

    fn sent(&self, handle: sanswire::host::CallHandle, rules: &mut Rules) {
        let call = &self.side.calls[&handle];
        let most = if self.setup.replay == Replay::UnsentOnly { 2 } else { 1 };
        let again = call.sent.len() < 2 || call.unsent;
        rules.hold(Rule::ReconnectNoReplay, call.sent.len() <= most && again, || format!("{call:?}"));
        let over = call.sent.last().and_then(|client| self.side.clients.get(client));
        rules.hold(Rule::ReconnectSentOnReady, over == Some(&Stage::Ready), || {
            format!("{call:?} over one that is {over:?}")
        });
    }
}

impl World for Lost {
    type Setup = Setup;
    type Step = Step;
    type End = bool;

    fn setups() -> Vec<Setup> {
        vec![
            Setup { backoff: Duration::from_secs(3), replay: Replay::Never },
            Setup { backoff: Duration::ZERO, replay: Replay::UnsentOnly },
        ]
    }

    fn new(setup: &Setup, rules: &mut Rules) -> Self {
        let mut config = HostConfig::default();
        let mut server = ServerConfig::default();
        server.mode = ServerMode::Allow;
        config.servers.insert(SERVER.into(), server);
        config.reconnect.max_attempts = ATTEMPTS;
        config.reconnect.backoff = setup.backoff;
        config.replay = setup.replay;
        let side = Side::new(config, NAMED, rules);
        let mut this = Self {
            setup: *setup,
            side,
            failed: 0,
            trying: None,
            connected: None,
            failed_at: None,
            unavailable: false,
        };
        for told in std::mem::take(&mut this.side.told) {
            if let Told::Open(client, start) = told {
                this.trying = Some(Attempt { client, first: true, again: false, ready: false, start });
            }
        }
        this
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (client, stage) in &self.side.clients {
            match stage {
                Stage::Opening => steps.extend([
                    Step::NotOpened(*client),
                    Step::Ready(*client),
                    Step::Ends(*client, false),
                    Step::Dies(*client),
                ]),
                Stage::Ready => steps.extend([Step::Ends(*client, true), Step::Ends(*client, false)]),
                // What is late.
                Stage::Shut => steps.extend([Step::Ready(*client), Step::Ends(*client, true)]),
                Stage::Ended => {}
            }
        }
        for key in self.side.requests.keys() {
            match key {
                RequestKey::Call(_) => {
                    steps.extend([Step::Answered(*key), Step::Lost(*key, true), Step::Lost(*key, false)]);
                }
                _ => steps.extend([Step::Listed(*key), Step::Lost(*key, true)]),
            }
        }
        if self.side.calls.len() < 2 && self.side.offered > 0 {
            steps.push(Step::Call);
        }
        if !self.side.open_calls().is_empty() {
            steps.push(Step::Cancel);
        }
        if self.side.host.poll_timeout().is_some() {
            steps.push(Step::Deadline);
        }
        steps.push(Step::Reconnect);
        steps
    }

    fn take(&mut self, step: &Step, rules: &mut Rules) {
        let side = &mut self.side;
        match step {
            Step::NotOpened(client) => {
                side.clients.insert(*client, Stage::Ended);
                side.host.handle_not_opened(*client, "no", side.now);
            }
            Step::Ready(client) if side.clients[client] == Stage::Shut => {
                side.ready(*client);
                side.clients.insert(*client, Stage::Shut);
            }
            Step::Ready(client) => {
                side.ready(*client);
                if let Some(trying) = &mut self.trying {
                    trying.ready = true;
                }
            }
            Step::Ends(client, maybe_ran) => side.end(*client, CloseReason::Eof, *maybe_ran),
            Step::Dies(client) => side.end(*client, CloseReason::DiedOnProbe, false),
            Step::Listed(key) => side.listed(*key),
            Step::Answered(key) => {
                let result = RawJson::parse_str(r#"{"content":[]}"#).expect("JSON");
                side.outcome(*key, Ok(Outcome::Complete(result)));
            }
            Step::Lost(key, maybe_ran) => {
                side.outcome(*key, Ok(Outcome::Lost { maybe_ran: *maybe_ran }));
            }
            Step::Call => side.call("{}"),
            Step::Cancel => {
                let oldest = side.open_calls()[0];
                side.cancel(oldest);
            }
            Step::Reconnect => drop(side.host.reconnect(SERVER, side.now)),
            Step::Deadline => drop(side.deadline()),
        }
        self.check(*step, rules);
    }

    fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result {
        let Self { failed, trying, connected, failed_at, unavailable, .. } = self;
        write!(into, "{failed} {trying:?} {connected:?} {failed_at:?} {unavailable} ")?;
        self.side.tell(into)
    }

    fn ends(&self) -> Vec<bool> {
        vec![true, false]
    }

    fn end(mut self, closes: bool, rules: &mut Rules) {
        if closes {
            return self.side.close(rules);
        }
        // A call waits no longer than its own limit, whatever its server does.
        self.side.mute(Duration::from_secs(31), rules);
    }
}
