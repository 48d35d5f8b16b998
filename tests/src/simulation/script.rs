//! What happens in one run: a list of steps that means the same whatever steps are left out of it, so that a failing run
//! can be made short.

use std::fmt::Write as _;

use super::client_menu::CLIENT_MENU;
use super::menu::{CLIENT_ACTS, HOST_ACTS, LINK_ACTS, OPENINGS, SERVER_ACTS, SERVER_MENU};
use super::web_caller_menu::WEB_CALLER_MENU;
use super::web_menu::{PLAIN_WEB_OPENINGS, WEB_MENU, WEB_OPENINGS};
use crate::seed::Rng;

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// Our client and our server over lines.
    Pair,
    /// Our client and a server that misbehaves.
    BadServer,
    /// A client that misbehaves, and our server.
    BadClient,
    /// Our client and our server over HTTP.
    Http,
    /// Our client over HTTP and a server that misbehaves.
    BadHttpServer,
    /// A client over HTTP that misbehaves, and our server.
    BadHttpClient,
    /// A host and servers that misbehave.
    Host,
}

impl World {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pair,
        Self::BadServer,
        Self::BadClient,
        Self::Http,
        Self::BadHttpServer,
        Self::BadHttpClient,
        Self::Host,
    ];

    /// Who acts in it.
    const fn who(self) -> &'static [Who] {
        match self {
            Self::Pair | Self::Http => &[Who::Client, Who::Server, Who::Link, Who::Wait],
            Self::BadServer => &[Who::Client, Who::Peer, Who::Answer, Who::Opening, Who::Link, Who::Wait],
            Self::BadClient => &[Who::Caller, Who::Server, Who::Link, Who::Wait],
            Self::BadHttpClient => &[Who::WebCaller, Who::Server, Who::Link, Who::Wait],
            Self::BadHttpServer => {
                &[Who::Client, Who::WebPeer, Who::WebAnswer, Who::WebOpening, Who::Link, Who::Wait]
            }
            Self::Host => &[Who::Host, Who::Peer, Who::Answer, Who::Opening, Who::Link, Who::Wait],
        }
    }

    /// Its name in a script.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::BadServer => "bad-server",
            Self::BadClient => "bad-client",
            Self::Http => "http",
            Self::BadHttpServer => "bad-http-server",
            Self::BadHttpClient => "bad-http-client",
            Self::Host => "host",
        }
    }
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The application of the client.
    Client,
    /// The application of the server.
    Server,
    /// The application of the host.
    Host,
    /// The client that misbehaves.
    Caller,
    /// The server that misbehaves, of its own accord.
    Peer,
    /// That server, when a further request reaches it.
    Answer,
    /// That server, while the connection opens.
    Opening,
    /// The server over HTTP that misbehaves, of its own accord.
    WebPeer,
    /// That server, when a further request reaches it.
    WebAnswer,
    /// That server, while a session opens.
    WebOpening,
    /// The client over HTTP that misbehaves.
    WebCaller,
    /// The pipes.
    Link,
    /// The clock.
    Wait,
}

/// Bytes of a step, and how many steps bytes have at most: a run of more is no better.
const STEP: usize = 6;
const MAX_STEPS: usize = 60;

/// Waits, by name, in microseconds at the most.
pub(super) const WAITS: [(&str, u64); 4] =
    [("moment", 900), ("while", 60_000), ("seconds", 4_000_000), ("minutes", 90_000_000)];

impl Who {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Client,
        Self::Server,
        Self::Host,
        Self::Caller,
        Self::Peer,
        Self::Answer,
        Self::Opening,
        Self::WebPeer,
        Self::WebAnswer,
        Self::WebOpening,
        Self::WebCaller,
        Self::Link,
        Self::Wait,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Host => "host",
            Self::Caller => "caller",
            Self::Peer => "peer",
            Self::Answer => "answer",
            Self::Opening => "opening",
            Self::WebPeer => "web-peer",
            Self::WebAnswer => "web-answer",
            Self::WebOpening => "web-opening",
            Self::WebCaller => "web-caller",
            Self::Link => "link",
            Self::Wait => "wait",
        }
    }

    /// What it may do, by name.
    #[must_use]
    pub fn acts(self) -> Vec<&'static str> {
        match self {
            Self::Client => CLIENT_ACTS.to_vec(),
            Self::Server => SERVER_ACTS.to_vec(),
            Self::Host => HOST_ACTS.to_vec(),
            Self::Caller => CLIENT_MENU.iter().map(|entry| entry.name).collect(),
            Self::Peer | Self::Answer => SERVER_MENU.iter().map(|entry| entry.name).collect(),
            Self::Opening => OPENINGS.iter().map(|entry| entry.name).collect(),
            Self::WebPeer | Self::WebAnswer => WEB_MENU.iter().map(|entry| entry.name).collect(),
            Self::WebOpening => WEB_OPENINGS.iter().map(|entry| entry.name).collect(),
            Self::WebCaller => WEB_CALLER_MENU.iter().map(|entry| entry.name).collect(),
            Self::Link => LINK_ACTS.to_vec(),
            Self::Wait => WAITS.iter().map(|(name, _)| *name).collect(),
        }
    }

    fn count(self) -> usize {
        match self {
            Self::Client => CLIENT_ACTS.len(),
            Self::Server => SERVER_ACTS.len(),
            Self::Host => HOST_ACTS.len(),
            Self::Caller => CLIENT_MENU.len(),
            Self::Peer | Self::Answer => SERVER_MENU.len(),
            Self::Opening => OPENINGS.len(),
            Self::WebPeer | Self::WebAnswer => WEB_MENU.len(),
            Self::WebOpening => WEB_OPENINGS.len(),
            Self::WebCaller => WEB_CALLER_MENU.len(),
            Self::Link => LINK_ACTS.len(),
            Self::Wait => WAITS.len(),
        }
    }
}

/// One thing that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// By whom.
    pub who: Who,
    /// The place of its name among [`Who::acts`].
    pub act: usize,
    /// What the act leaves open: which request, how much, how long.
    pub n: u32,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Who takes part.
    pub world: World,
    /// Decides how all are set up.
    pub setup: u64,
    /// What is done, in order. Answers are not done in turn: the first is given to the first request that
    /// reaches the peer, and so on.
    pub steps: Vec<Step>,
}

impl Script {
    /// The script of this seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let worlds = [
            World::Pair,
            World::BadServer,
            World::BadServer,
            World::BadClient,
            World::Http,
            World::BadHttpServer,
            World::BadHttpServer,
            World::BadHttpClient,
            World::Host,
        ];
        let world = *rng.pick(&worlds);
        let mut script = Self { world, setup: rng.number(), steps: Vec::new() };
        let count = 4 + rng.below(32);
        // Some runs are about few things, so that these meet each other.
        let few: Vec<usize> = (0..3)
            .map(|_| {
                rng.below(
                    CLIENT_MENU.len().min(SERVER_MENU.len()).min(WEB_MENU.len()).min(WEB_CALLER_MENU.len()),
                )
            })
            .collect();
        let focused = rng.chance(25);
        let openings = match world {
            World::BadServer | World::BadHttpServer => 1,
            World::Host => 3,
            World::Pair | World::BadClient | World::Http | World::BadHttpClient => 0,
        };
        for _ in 0..openings {
            // Most find their server at once, or nothing else would be seen.
            let plain = rng.chance(60);
            let (who, few) = match world {
                World::BadHttpServer => (Who::WebOpening, PLAIN_WEB_OPENINGS),
                _ => (Who::Opening, super::menu::PLAIN_OPENINGS),
            };
            let act = rng.below(if plain { few } else { who.count() });
            script.steps.push(Step { who, act, n: rng.number() as u32 });
        }
        if world == World::BadClient && rng.chance(80) {
            script.steps.push(Step { who: Who::Caller, act: 0, n: rng.number() as u32 });
        }
        for _ in 0..count {
            let who = match (world, rng.below(20)) {
                (_, 0) => Who::Link,
                (_, 1..=3) => Who::Wait,
                (World::Pair | World::Http, 4..=9) | (World::BadClient | World::BadHttpClient, 4..=8) => {
                    Who::Server
                }
                (World::BadClient, _) => Who::Caller,
                (World::BadHttpClient, _) => Who::WebCaller,
                (World::Host, 4..=5) => Who::Peer,
                (World::Host, 6..=10) => Who::Answer,
                (World::Host, _) => Who::Host,
                (World::BadHttpServer, 4..=5) => Who::WebPeer,
                (World::BadHttpServer, 6..=12) => Who::WebAnswer,
                (World::BadServer, 4..=6) => Who::Peer,
                (World::BadServer, 7..=12) => Who::Answer,
                _ => Who::Client,
            };
            let menu = matches!(
                who,
                Who::Peer | Who::Answer | Who::Caller | Who::WebPeer | Who::WebAnswer | Who::WebCaller
            );
            let act = if menu && focused { *rng.pick(&few) } else { rng.below(who.count()) };
            script.steps.push(Step { who, act, n: rng.number() as u32 });
        }
        script
    }

    /// The script that stands in these bytes: every sequence of bytes is one. The first chooses among `worlds`, the
    /// next eight are the setup, and each six behind them a step. A byte that changes changes one thing.
    ///
    /// # Panics
    /// If there are no worlds.
    #[must_use]
    pub fn from_bytes(worlds: &[World], bytes: &[u8]) -> Self {
        let mut rng = Rng::tape(bytes);
        let world = *rng.pick(worlds);
        let setup = rng.number();
        let steps = bytes.get(9..).unwrap_or_default().chunks_exact(STEP).take(MAX_STEPS);
        let steps = steps.map(|step| {
            let mut rng = Rng::tape(step);
            let who = *rng.pick(world.who());
            Step { who, act: rng.below(who.count()), n: rng.below(1 << 32) as u32 }
        });
        Self { world, setup, steps: steps.collect() }
    }

    /// Bytes that [`from_bytes`](Self::from_bytes) reads as this script.
    ///
    /// # Panics
    /// If its world is none of `worlds`, or somebody acts who is not in it.
    #[must_use]
    pub fn bytes(&self, worlds: &[World]) -> Vec<u8> {
        fn place<T: PartialEq + std::fmt::Debug>(of: &T, among: &[T]) -> u8 {
            let place = among.iter().position(|one| one == of);
            u8::try_from(place.unwrap_or_else(|| panic!("no {of:?} here"))).expect("few")
        }
        let mut out = vec![place(&self.world, worlds)];
        out.extend(self.setup.to_be_bytes());
        for Step { who, act, n } in &self.steps {
            out.extend([place(who, self.world.who()), u8::try_from(*act).expect("few")]);
            out.extend(n.to_be_bytes());
        }
        out
    }

    /// The script as text, a line a step.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("world {} {}\n", self.world.name(), self.setup);
        for Step { who, act, n } in &self.steps {
            let _ = writeln!(out, "{} {} {n}", who.name(), who.acts()[*act]);
        }
        out
    }

    /// Reads [`text`](Self::text) back. Empty lines and those that begin with `#` are passed over.
    ///
    /// # Errors
    /// The first line that means nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let ["world", world, setup] = first[..] else { return Err("no `world NAME SETUP`".into()) };
        let found = World::ALL.into_iter().find(|known| known.name() == world);
        let world = found.ok_or_else(|| format!("no such world: {world}"))?;
        let setup = setup.parse().map_err(|_| format!("no number: {setup}"))?;
        let mut script = Self { world, setup, steps: Vec::new() };
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let step = || {
                let [who, act, n] = words[..] else { return None };
                let who = Who::ALL.into_iter().find(|known| known.name() == who)?;
                let act = who.acts().iter().position(|known| *known == act)?;
                Some(Step { who, act, n: n.parse().ok()? })
            };
            script.steps.push(step().ok_or_else(|| format!("no step: {line}"))?);
        }
        Ok(script)
    }
}
