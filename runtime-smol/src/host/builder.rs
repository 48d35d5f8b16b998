//! How a host is made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sanswire::host::desk::Desk;
use sanswire::host::{HostConfig, ServerConfig};
use sanswire::waist::Bindings;
use sanswire_system::clock::Clock;
use sanswire_system::host::{HostError, Setup};

use super::handle::Host;
use super::launch::Launch;
use super::shared::Shared;
use super::surface::{Approver, HostObserver};
use super::{observing, timer};
use crate::jobs::Job;
use crate::options::ConnectOptions;
use crate::watch::Watch;

/// How a host is set up; see [`Host::builder`].
#[must_use]
pub struct HostBuilder {
    setup: Setup<ConnectOptions>,
    approver: Option<Arc<dyn Approver>>,
    observer: Option<Arc<dyn HostObserver>>,
    watch: Option<Watch>,
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder")
            .field("setup", &self.setup)
            .field("approver", &self.approver.is_some())
            .field("observer", &self.observer.is_some())
            .field("watch", &self.watch)
            .finish()
    }
}

impl HostBuilder {
    pub(super) const fn new(config: HostConfig) -> Self {
        Self { setup: Setup::new(config), approver: None, observer: None, watch: None }
    }

    /// A server, in the place of one of that name. [`ServerConfig::transport`] and [`ServerConfig::carrier`] follow from
    /// the launch.
    pub fn server(mut self, name: &str, config: ServerConfig, launch: Launch) -> Self {
        self.setup.server(name, config, launch);
        self
    }

    /// How a server that the configuration holds already is reached.
    pub fn launch(mut self, server: &str, launch: Launch) -> Self {
        self.setup.launch(server, launch);
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
        self.setup.waist(bindings);
        self
    }

    /// How long [`Host::close`] may take at most, with all servers side by side. Default: 10 s.
    pub const fn shutdown_total(mut self, total: Duration) -> Self {
        self.setup.shutdown_total(total);
        self
    }

    /// Who does what no call waits for. Default: the thread that looks after this process's connections. As long as nobody
    /// runs it, no server is opened and no time runs out.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Makes the host. Its servers start in the background; see [`Host::wait_started`].
    ///
    /// # Errors
    /// [`HostError`]; nothing was started.
    pub fn open(self) -> Result<Host, HostError> {
        let Self { setup, approver, observer, watch } = self;
        let clock = Clock::start();
        let ready = setup.open(clock)?;
        let watch = match watch {
            Some(watch) => watch,
            None => Watch::of_this_process().map_err(HostError::System)?,
        };
        let desk = Desk::new(ready.machine, observer.is_some());
        let shared = Shared::new(desk, clock, ready.launches, ready.shutdown_total, watch.clone());
        let observing = observer.map(|observer| {
            let observing = observing::run(Arc::clone(&shared), observer);
            Job::new(watch.clone(), observing)
        });
        let timing = Job::new(watch, timer::run(Arc::clone(&shared)));
        {
            let mut state = shared.lock();
            (state.timing, state.observing) = (Some(timing), observing);
        }
        // From here on its end is seen to.
        let host = Host::new(shared);
        host.set_approver(approver);
        Ok(host)
    }
}
