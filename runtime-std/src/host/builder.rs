//! How a host is made.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Builder;
use std::time::Duration;

use sanswire::error::ConfigError;
use sanswire::host::{Host as Machine, HostConfig, ServerConfig};
use sanswire::waist::{Bindings, Waist};
use sanswire_system::clock::Clock;

use super::handle::Host;
use super::launch::Launch;
use super::observing::{self, Observed};
use super::shared::Shared;
use super::surface::{Approver, HostObserver};
use super::timer;

/// How long the end of a host may take if nothing else is said.
const SHUTDOWN_TOTAL: Duration = Duration::from_secs(10);

/// The hosts of this process so far. The handles of each are in a range of its own: an answer that is given to the
/// wrong host must not let another call pass.
static HOSTS: AtomicU64 = AtomicU64::new(0);

/// So many handles has each host, as a power of two.
const HANDLE_BITS: u32 = 40;

/// How a host is set up; see [`Host::builder`].
#[must_use]
pub struct HostBuilder {
    config: HostConfig,
    launches: BTreeMap<Arc<str>, Launch>,
    approver: Option<Arc<dyn Approver>>,
    observer: Option<Arc<dyn HostObserver>>,
    waist: Option<Bindings>,
    shutdown_total: Duration,
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder")
            .field("config", &self.config)
            .field("launches", &self.launches)
            .field("approver", &self.approver.is_some())
            .field("observer", &self.observer.is_some())
            .field("waist", &self.waist.is_some())
            .field("shutdown_total", &self.shutdown_total)
            .finish()
    }
}

impl HostBuilder {
    pub(super) fn new(config: HostConfig) -> Self {
        Self {
            config,
            launches: BTreeMap::new(),
            approver: None,
            observer: None,
            waist: None,
            shutdown_total: SHUTDOWN_TOTAL,
        }
    }

    /// A server, in the place of one of that name. [`ServerConfig::transport`] and [`ServerConfig::carrier`] follow from
    /// the launch.
    pub fn server(mut self, name: &str, mut config: ServerConfig, launch: Launch) -> Self {
        config.transport = launch.transport();
        self.config.servers.insert(name.into(), config);
        self.launch(name, launch)
    }

    /// How a server that the configuration holds already is reached.
    pub fn launch(mut self, server: &str, launch: Launch) -> Self {
        if let Some(config) = self.config.servers.get_mut(server) {
            config.carrier = launch.carrier();
        }
        self.launches.insert(server.into(), launch.named(server));
        self
    }

    /// Who is asked about calls. Without one, calls that have to be asked about are denied.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Who sees what the host tells.
    pub fn observer(mut self, observer: impl HostObserver + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// What every call passes once it was let through: a grant of exposed names, hooks, boundaries, brakes. A server of
    /// which no [`trust`](ServerConfig::trust) is declared is refused then. Hooks run under
    /// the host's lock: they should be quick, must not panic, and must not call the host. See [`Host::with_waist`].
    pub fn waist(mut self, bindings: Bindings) -> Self {
        self.waist = Some(bindings);
        self
    }

    /// How long [`Host::close`] may take at most, with all servers side by side. Default: 10 s.
    pub const fn shutdown_total(mut self, total: Duration) -> Self {
        self.shutdown_total = total;
        self
    }

    /// Makes the host. Its servers start in the background; see [`Host::wait_started`].
    ///
    /// # Errors
    /// [`HostError`]; nothing was started.
    pub fn open(self) -> Result<Host, HostError> {
        let Self { config, launches, approver, observer, waist, shutdown_total } = self;
        let known = |name: &Arc<str>| config.servers.contains_key(name);
        if let Some(name) = launches.keys().find(|name| !known(name)) {
            return Err(HostError::NoServer(Arc::clone(name)));
        }
        let used = |(_, server): &(_, &ServerConfig)| config.enabled && server.enabled;
        let lacks = |(name, _): &(&Arc<str>, _)| !launches.contains_key(*name);
        if let Some((name, _)) = config.servers.iter().filter(used).find(lacks) {
            return Err(HostError::NoLaunch(Arc::clone(name)));
        }
        for launch in launches.values() {
            launch.options().config.limits.check().map_err(HostError::Config)?;
        }
        let clock = Clock::start();
        let mut machine = Machine::new(config, clock.now()).map_err(HostError::Config)?;
        machine.count_from(HOSTS.fetch_add(1, Ordering::Relaxed) << HANDLE_BITS);
        launches.values().for_each(|launch| launch.hide(&machine.config().mask));
        if let Some(bindings) = waist {
            machine.set_waist(Waist::new(bindings).map_err(HostError::Config)?);
        }
        let observed = observer.is_some().then(Observed::default);
        let shared = Shared::new(machine, clock, launches, shutdown_total, observed);
        let thread = Builder::new().name("sanswire-timer".into()).stack_size(timer::STACK);
        let host = Arc::clone(&shared);
        let timer = thread.spawn(move || timer::run(&host)).map_err(HostError::System)?;
        // From here on its end is seen to.
        let host = Host::new(Arc::clone(&shared), timer);
        if let Some(observer) = observer {
            let thread = Builder::new().name("sanswire-observer".into());
            let seen = Arc::clone(&shared);
            thread.spawn(move || observing::run(&seen, &observer)).map_err(HostError::System)?;
        }
        host.install(approver);
        Ok(host)
    }
}

/// Why a host could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum HostError {
    /// A setting is out of bounds.
    Config(ConfigError),
    /// It is not said how this server is reached.
    NoLaunch(Arc<str>),
    /// There is a launch for a server that is not configured.
    NoServer(Arc<str>),
    /// The system has no thread left.
    System(std::io::Error),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "the configuration is not usable: {error}"),
            Self::NoLaunch(server) => {
                write!(f, "it is not said how the server {server:?} is reached; add a launch, or disable it")
            }
            Self::NoServer(server) => {
                write!(f, "there is a launch for {server:?}, which is not configured; check the name")
            }
            Self::System(error) => write!(f, "the system could not provide a thread ({error})"),
        }
    }
}

impl std::error::Error for HostError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Config(error) => Some(error),
            Self::System(error) => Some(error),
            Self::NoLaunch(_) | Self::NoServer(_) => None,
        }
    }
}
