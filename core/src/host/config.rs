//! How a host is set up: every choice that it leaves, with the default to begin with.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::catalog::{DefinitionLimits, Exposure, Naming, ToolFilter};
use super::instructions::Instructions;
use super::link::ReconnectSettings;
use super::mask::Mask;
use super::policy::{ApprovalLimits, Policy, ServerMode};
use super::results::{PageLimits, ResultCap};
use crate::client::Start;
use crate::limits::Limits;
use crate::waist::{Tier, Trust};

/// How a host is set up.
///
/// What is to happen with the calls of a server stands once, in [`ServerConfig`]; [`policy`](Self::policy) holds what
/// is said for all of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostConfig {
    /// Whether servers are used at all. Off: nothing is started, and every server counts as disabled. Default: yes.
    pub enabled: bool,
    /// The servers, by the names that people, rules and grants know them under.
    pub servers: BTreeMap<Arc<str>, ServerConfig>,
    /// Rules about tools and what is said for all servers. [`Policy::servers`] is filled from [`servers`](Self::servers).
    pub policy: Policy,
    /// How tools are named.
    pub naming: Naming,
    /// Bounds of what is offered of each tool.
    pub definitions: DefinitionLimits,
    /// How much of what is offered a model is told.
    pub exposure: Exposure,
    /// What becomes of the instructions that servers give.
    pub instructions: Instructions,
    /// How results are cut.
    pub results: ResultCap,
    /// What is kept of results that were cut.
    pub pages: PageLimits,
    /// Bounds of what waits for a person.
    pub approvals: ApprovalLimits,
    /// How a lost connection is tried anew.
    pub reconnect: ReconnectSettings,
    /// How listings that change are taken over.
    pub refresh: Refresh,
    /// Whether a call may be made again after its connection was lost.
    pub replay: Replay,
    /// How long calls may take.
    pub timeouts: CallTimeouts,
    /// Whether a server whose calls run out of time is asked if it still answers.
    pub probe: ProbeSettings,
    /// Bounds of one connection: those of its listings are kept by the host, the others by whoever opens it.
    pub limits: Limits,
    /// Servers that may be starting at once; others wait for their turn. Default: 8.
    pub max_starting: usize,
    /// Calls that may be open at once. Default: 1,024.
    pub max_calls: usize,
    /// Bytes of arguments that open calls may hold in all, and as many of what their servers ask first. Default: 32 MiB.
    pub max_call_bytes: usize,
    /// Secrets to be kept out of what is shown.
    pub mask: Mask,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            servers: BTreeMap::new(),
            policy: Policy::default(),
            naming: Naming::default(),
            definitions: DefinitionLimits::default(),
            exposure: Exposure::default(),
            instructions: Instructions::default(),
            results: ResultCap::default(),
            pages: PageLimits::default(),
            approvals: ApprovalLimits::default(),
            reconnect: ReconnectSettings::default(),
            refresh: Refresh::default(),
            replay: Replay::default(),
            timeouts: CallTimeouts::default(),
            probe: ProbeSettings::default(),
            limits: Limits::default(),
            max_starting: 8,
            max_calls: 1024,
            max_call_bytes: 32 << 20,
            mask: Mask::default(),
        }
    }
}

/// One server of a host.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Whether it is used. Default: yes.
    pub enabled: bool,
    /// How it is reached, for displays: `stdio`, `tcp`, `http`. Default: `stdio`.
    pub transport: &'static str,
    /// What its calls share; who opens its connections knows. Default: one stream.
    pub carrier: Carrier,
    /// What is to happen with its calls. Default: somebody is asked.
    pub mode: ServerMode,
    /// Whether it is believed what it says of its tools' effects. Default: no.
    pub trust_annotations: bool,
    /// Which of its tools are let in.
    pub filter: ToolFilter,
    /// The kinds of helper that may use its tools. Default: none.
    pub sub_agents: Vec<String>,
    /// How long connecting may take, its first listing included, and later listings. `None` or zero: 15 s.
    pub connect_timeout: Option<Duration>,
    /// What is known of its era.
    pub start: Start,
    /// How far what it does is trusted. Counts only where calls pass a [`Waist`](crate::waist::Waist). Default: not at
    /// all.
    pub trust: Trust,
    /// The boundary that it runs behind, as above.
    pub tier: Option<Tier>,
}

/// What the calls of a connection share, and so what the loss of one says of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Carrier {
    /// One stream: what loses one call has lost them all. So it is with pipes and sockets.
    #[default]
    Stream,
    /// Nothing: each call is an exchange of its own, as over HTTP. One that is lost is lost alone, and the connection goes
    /// on until its client says that it is closed.
    Exchanges,
}

/// How long connecting may take if nothing else is said.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

impl ServerConfig {
    /// How long connecting may take, its first listing included.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        self.connect_timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(CONNECT_TIMEOUT)
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            transport: "stdio",
            carrier: Carrier::default(),
            mode: ServerMode::default(),
            trust_annotations: false,
            filter: ToolFilter::default(),
            sub_agents: Vec::new(),
            connect_timeout: None,
            start: Start::default(),
            trust: Trust::default(),
            tier: None,
        }
    }
}

/// What becomes of a listing that changes while its server is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefreshMode {
    /// Nothing: what was offered first stays offered.
    Frozen,
    /// It is read anew and told; what is offered changes at the next turn. The default.
    #[default]
    Staged,
    /// It is read anew, and what is offered changes at once.
    Live,
}

impl RefreshMode {
    /// The mode of that name: `frozen`, `staged` or `live`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Frozen, Self::Staged, Self::Live].into_iter().find(|mode| mode.as_str() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Frozen => "frozen",
            Self::Staged => "staged",
            Self::Live => "live",
        }
    }
}

/// How listings that change are taken over (the setting `tool_refresh`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Refresh {
    /// What becomes of a changed listing.
    pub mode: RefreshMode,
    /// How often a listing is read anew although its server said nothing. Default: never.
    pub poll: Option<Duration>,
}

/// Whether a call is made again after its connection was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Replay {
    /// Never. The default.
    #[default]
    Never,
    /// Once, if nothing of it had begun to leave.
    UnsentOnly,
}

/// Whether a server whose calls run out of time is asked if it still answers.
///
/// A call that runs out of time says nothing of its connection. A server that is there but mute is never tried anew for
/// that, and costs each call its whole time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProbeSettings {
    /// After so many calls in a row that ran out of time, without anything heard in between. 0: never. The default.
    pub after: u32,
    /// How long the answer may take; if there is none, the connection counts as lost. Default: 5 s.
    pub limit: Duration,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self { after: 0, limit: Duration::from_secs(5) }
    }
}

/// How long calls may take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallTimeouts {
    /// Every call whose tool is not named below. Default: 30 s.
    pub default: Duration,
    /// By exposed name.
    pub tools: BTreeMap<String, Duration>,
}

impl Default for CallTimeouts {
    fn default() -> Self {
        Self { default: Duration::from_secs(30), tools: BTreeMap::new() }
    }
}

impl CallTimeouts {
    /// How long a call of the tool of this exposed name may take.
    #[must_use]
    pub fn of(&self, exposed: &str) -> Duration {
        self.tools.get(exposed).copied().unwrap_or(self.default)
    }

    /// Whether all limits make sense.
    ///
    /// # Errors
    /// [`TimeoutFault`] names the one that does not.
    pub fn check(&self) -> Result<(), TimeoutFault> {
        if self.default.is_zero() {
            return Err(TimeoutFault::Zero(String::from("default")));
        }
        match self.tools.iter().find(|(name, limit)| name.trim().is_empty() || limit.is_zero()) {
            Some((name, _)) if name.trim().is_empty() => Err(TimeoutFault::NoName),
            Some((name, _)) => Err(TimeoutFault::Zero(name.clone())),
            None => Ok(()),
        }
    }
}

/// A limit of [`CallTimeouts`] that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutFault {
    /// A limit for a tool without a name.
    NoName,
    /// A limit of nothing, for this tool.
    Zero(String),
}

impl fmt::Display for TimeoutFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("a timeout has no tool's name; give the exposed name"),
            Self::Zero(name) => {
                write!(f, "the timeout of {name:?} is zero; give more than that, or leave it out")
            }
        }
    }
}

impl core::error::Error for TimeoutFault {}
