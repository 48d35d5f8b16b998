//! Several servers at once, behind one host: opened side by side, each under its own limit.

use std::sync::Arc;
use std::time::Duration;

use sanswire::host::link::Status;
use sanswire::host::{Mask, ServerState};
use sanswire::mcp::Era;
use sanswire_std::host::{Host, Launch};

use crate::config::Configuration;
use crate::connection::{Connection, not_legacy, verdict_name};
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::options::EraChoice;
use crate::server::{Means, Server};
use crate::signals;
use crate::unreached::Access;
use crate::wait::Waits;

/// How often a signal is looked for while servers start.
const LOOK: Duration = Duration::from_millis(100);

/// Open servers.
pub(crate) struct Hosted<'a> {
    pub(crate) host: Host,
    context: &'a Context,
    servers: Vec<Started>,
}

/// One of them, as it was meant.
struct Started {
    name: Arc<str>,
    era: EraChoice,
    key: String,
    remembered: Option<String>,
    access: Access,
    mask: crate::mask::Mask,
}

impl<'a> Hosted<'a> {
    /// Starts these servers, and waits until each was tried once. One that fails is told by its state.
    pub(crate) fn open(
        context: &'a Context,
        configuration: &Configuration,
        servers: Vec<Server>,
    ) -> Result<Self, Failure> {
        let secrets = servers.iter().flat_map(|server| server.secrets.iter().cloned());
        let mut config = configuration.host();
        config.mask = Mask::new(secrets);
        let settings = std::mem::take(&mut config.servers);
        let mut builder = Host::builder(config);
        let mut started = Vec::new();
        for server in servers {
            let Connection { options, remembered, mask } = Connection::of(context, &server);
            let access = Access::of(&server);
            let mut setting = settings.get(server.name.as_str()).cloned().unwrap_or_default();
            setting.start = options.config.start.clone();
            setting.connect_timeout = server.connect_timeout;
            let launch = match server.means {
                Means::Command(command) => Launch::command(command, options),
                Means::Tcp(address) => Launch::tcp(address, options),
                Means::Unix(path) => Launch::unix(path, options),
                Means::Http(target, _) => Launch::http(*target, options),
            };
            builder = builder.server(&server.name, setting, launch);
            let name = server.name.as_str().into();
            started.push(Started { name, era: server.era, key: server.key, remembered, access, mask });
        }
        let waits = Waits::begin(context.animated, started.iter().map(|server| &*server.name));
        let host = builder.observer(waits.observer()).open();
        let host = host.map_err(|error| Failure::usage(error.to_string()))?;
        signals::watch_host(&host);
        while !host.wait_started(LOOK) {
            signals::settle();
        }
        drop(waits);
        Ok(Self { host, context, servers: started })
    }

    /// How a server stands, and what is wrong with it if it cannot be used.
    pub(crate) fn state(&self, name: &str) -> Option<(ServerState, Option<String>)> {
        let state = self.host.state(name)?;
        let server = self.servers.iter().find(|server| *server.name == *name)?;
        let revision = state.peer.as_ref().filter(|peer| peer.era != Era::Legacy).map(|peer| peer.revision);
        let wrong = match (server.era, revision) {
            (EraChoice::Legacy, Some(revision)) => Some(format!("it {}", not_legacy(revision))),
            // The ends of its lines are written out in it.
            _ => state.error.as_ref().map(|error| error.replace("\\n", " ")),
        };
        Some((state, wrong))
    }

    /// Why a server cannot be used, if it cannot.
    pub(crate) fn failure(&self, name: &str) -> Option<Failure> {
        let fails = |message: String| {
            Failure::new(status::UNREACHABLE, "not_ready", format!("{name}: {message}")).of(name)
        };
        let Some((state, wrong)) = self.state(name) else { return Some(fails("it is not known".into())) };
        if state.status != Status::Connected {
            let server = self.servers.iter().find(|server| *server.name == *name);
            let why = server.zip(self.host.connect_error(name));
            let why = why.map(|(server, error)| server.access.failure(name, &server.mask, &error));
            return Some(why.unwrap_or_else(|| fails(wrong.unwrap_or_else(|| state.status.to_string()))));
        }
        wrong.map(fails)
    }

    /// How long a server took until it was ready.
    pub(crate) fn started_in(&self, name: &str) -> Option<Duration> {
        self.host.client(name).map(|client| client.started_in())
    }

    /// Remembers what was learnt, and ends all servers.
    pub(crate) fn close(self) {
        for server in &self.servers {
            let verdict = self.host.state(&server.name).and_then(|state| state.verdict);
            let verdict = verdict.as_ref().and_then(verdict_name);
            if let Some(verdict) = verdict
                && server.era == EraChoice::Auto
                && server.remembered.as_deref() != Some(verdict)
            {
                self.context.state.set_verdict(&server.key, verdict);
            }
        }
        self.host.close();
        signals::settle();
    }
}
