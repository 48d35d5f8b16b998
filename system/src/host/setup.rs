//! What a host is made of, and what is checked before anything starts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sanswire::host::{Host, HostConfig, ServerConfig};
use sanswire::waist::{Bindings, Waist};

use super::error::HostError;
use super::launch::{Connecting, Launch};
use crate::clock::Clock;

/// How long the end of a host may take if nothing else is said.
const SHUTDOWN_TOTAL: Duration = Duration::from_secs(10);

/// The hosts of this process so far. The handles of each are in a range of its own: an answer that is given to the
/// wrong host must not let another call pass.
static HOSTS: AtomicU64 = AtomicU64::new(0);

/// So many handles has each host, as a power of two.
const HANDLE_BITS: u32 = 40;

/// What a host is made of. `O`: the options of the runtime's connections.
pub struct Setup<O> {
    config: HostConfig,
    launches: BTreeMap<Arc<str>, Launch<O>>,
    waist: Option<Bindings>,
    shutdown_total: Duration,
}

impl<O: fmt::Debug> fmt::Debug for Setup<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("config", &self.config)
            .field("launches", &self.launches)
            .field("waist", &self.waist.is_some())
            .field("shutdown_total", &self.shutdown_total)
            .finish()
    }
}

/// What a runtime drives.
#[derive(Debug)]
pub struct Ready<O> {
    /// The host, whose first servers wait to be opened.
    pub machine: Host,
    /// How each server is reached.
    pub launches: BTreeMap<Arc<str>, Launch<O>>,
    /// How long its end may take at most.
    pub shutdown_total: Duration,
}

impl<O: Connecting> Setup<O> {
    /// Of this configuration, with nothing said of how servers are reached.
    #[must_use]
    pub const fn new(config: HostConfig) -> Self {
        Self { config, launches: BTreeMap::new(), waist: None, shutdown_total: SHUTDOWN_TOTAL }
    }

    /// A server, in the place of one of that name.
    pub fn server(&mut self, name: &str, mut config: ServerConfig, launch: Launch<O>) {
        config.transport = launch.transport();
        self.config.servers.insert(name.into(), config);
        self.launch(name, launch);
    }

    /// How a server that the configuration holds already is reached.
    pub fn launch(&mut self, server: &str, launch: Launch<O>) {
        if let Some(config) = self.config.servers.get_mut(server) {
            config.carrier = launch.carrier();
        }
        self.launches.insert(server.into(), launch.named(server));
    }

    /// What every call passes once it was let through.
    pub fn waist(&mut self, bindings: Bindings) {
        self.waist = Some(bindings);
    }

    /// How long the end of the host may take at most. Default: 10 s.
    pub const fn shutdown_total(&mut self, total: Duration) {
        self.shutdown_total = total;
    }

    /// Checks all of it. The host begins at the present.
    ///
    /// # Errors
    /// [`HostError`]; nothing was started.
    pub fn open(self, clock: Clock) -> Result<Ready<O>, HostError> {
        let Self { config, launches, waist, shutdown_total } = self;
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
            launch.options().config().limits.check().map_err(HostError::Config)?;
        }
        let mut machine = Host::new(config, clock.now()).map_err(HostError::Config)?;
        machine.count_from(HOSTS.fetch_add(1, Ordering::Relaxed) << HANDLE_BITS);
        launches.values().for_each(|launch| launch.hide(&machine.config().mask));
        if let Some(bindings) = waist {
            machine.set_waist(Waist::new(bindings).map_err(HostError::Config)?);
        }
        Ok(Ready { machine, launches, shutdown_total })
    }
}
