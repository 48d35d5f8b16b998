//! A server, apart from its connections.

use std::fmt;
use std::sync::Arc;

use sanswire::error::ConfigError;
use sanswire::server::{Catalog, Config, ListKind};
use sanswire::waist::{Halt, Spend};
use sanswire_system::RecordStats;
use sanswire_system::serve::{Offered, ServerOptions, Terms, Turn};

use crate::serve::application::Application;
use crate::serve::builder::Builder;
use crate::serve::router::Router;
use crate::serve::serving::Serving;

/// A server: what it lists and how it answers, for any number of connections. Clones share it.
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    application: Box<dyn Application>,
    /// The application again, if it is made of closures.
    router: Option<Arc<Router>>,
    pub(crate) offered: Offered,
    pub(crate) serving: Serving,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("server", &self.inner.offered.config().server).finish_non_exhaustive()
    }
}

impl Server {
    /// Begins a server of this name and version, made of closures.
    #[must_use]
    pub fn builder(name: &str, version: &str) -> Builder {
        Builder::new(name, version)
    }

    /// A server made of an application of its own.
    #[must_use]
    pub fn new(config: Config, catalog: Catalog, application: impl Application) -> Self {
        Self::assemble(Offered::new(config, catalog, Terms::default()), Box::new(application), None)
    }

    /// As [`new`](Self::new), bound by `options`.
    ///
    /// # Errors
    /// A limit in them is out of its bounds.
    pub fn with_options(
        config: Config,
        catalog: Catalog,
        application: impl Application,
        options: ServerOptions,
    ) -> Result<Self, ConfigError> {
        let offered = Offered::new(config, catalog, Terms::bound(options)?);
        Ok(Self::assemble(offered, Box::new(application), None))
    }

    /// A server made of closures.
    pub(super) fn with_router(offered: Offered, router: Arc<Router>) -> Self {
        Self::assemble(offered, Box::new(Arc::clone(&router)), Some(router))
    }

    fn assemble(offered: Offered, application: Box<dyn Application>, router: Option<Arc<Router>>) -> Self {
        Self { inner: Arc::new(Inner { application, router, offered, serving: Serving::default() }) }
    }

    pub(super) fn of(inner: &Arc<Inner>) -> Self {
        Self { inner: Arc::clone(inner) }
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// Which brake has halted the server's run, if one has: all calls are refused until [`reset_halt`](Self::reset_halt).
    #[must_use]
    pub fn halted(&self) -> Option<Halt> {
        self.inner.offered.governor.halted()
    }

    /// Halts the server's run by hand: all further calls are refused until [`reset_halt`](Self::reset_halt), those under
    /// way are cancelled, and answered as refused whatever their handlers come to. Returns the halt that stands. None:
    /// nothing was halted, for no brake is on; [`kill_switch`](sanswire::waist::BrakeLimits::kill_switch) is one, and the
    /// one that lets calls under way be cancelled. A question to a client goes on until it is answered.
    #[expect(clippy::must_use_candidate, reason = "that it is halted is what matters")]
    pub fn halt(&self) -> Option<Halt> {
        self.inner.offered.governor.halt()
    }

    /// Lifts the halt, which it returns, and forgets what the brakes counted.
    #[expect(clippy::must_use_candidate, reason = "that it is lifted is what matters")]
    pub fn reset_halt(&self) -> Option<Halt> {
        self.inner.offered.governor.reset_halt()
    }

    /// What calls told that they used up since the last reset; counted only while a brake is on.
    #[must_use]
    pub fn spent(&self) -> Spend {
        self.inner.offered.governor.spent()
    }

    /// What became of records that nobody got.
    #[must_use]
    pub fn record_stats(&self) -> RecordStats {
        self.inner.offered.governor.record_stats()
    }

    /// Changes what is listed, and tells the clients. Copies what is listed, O(all of it).
    ///
    /// Changes wait for each other: one made from within `change` would wait for itself. Should `change` panic, nothing
    /// has changed.
    pub fn update(&self, kind: ListKind, change: impl FnOnce(&mut Catalog)) {
        let turn = self.inner.offered.turn();
        self.update_in(&turn, kind, change);
    }

    /// As [`update`](Self::update), as a part of what is done in one turn.
    pub(super) fn update_in(&self, turn: &Turn<'_>, kind: ListKind, change: impl FnOnce(&mut Catalog)) {
        self.inner.offered.list(turn, change);
        self.inner.serving.drivers().iter().for_each(|driver| driver.list_changed(kind));
    }

    /// Tells the clients that watch it that a resource changed.
    pub fn resource_updated(&self, uri: &str) {
        self.inner.serving.drivers().iter().for_each(|driver| driver.resource_updated(uri));
    }
}

impl Inner {
    pub(crate) fn application(&self) -> &dyn Application {
        &*self.application
    }

    pub(super) const fn router(&self) -> Option<&Arc<Router>> {
        self.router.as_ref()
    }
}
