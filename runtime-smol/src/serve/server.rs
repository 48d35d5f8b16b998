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
use crate::serve::http;
use crate::serve::hub::Hub;
use crate::serve::router::Router;
use crate::serve::serving::Serving;
use crate::threads;

/// A server: what it lists and how it answers, for any number of connections. Clones share it.
///
/// Where records are given out ([`ServerOptions::with_records`]), the last that goes of clones, [`Call`](crate::Call)s,
/// [`Stopper`](crate::Stopper)s and serving futures blocks until those that wait are, for a second at most; nothing but
/// that keeps them from being lost with the process. A serving future that comes to its end has awaited it, and leaves
/// nothing to wait for.
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    answerer: Answerer,
    pub(crate) offered: Offered,
    pub(crate) serving: Serving,
}

/// Who answers.
pub(super) enum Answerer {
    /// Closures.
    Router(Arc<Router>),
    Application(Box<dyn Application>),
}

/// Connections whose tasks have to be told of a change, once the turn is over.
#[must_use = "nobody was woken yet"]
pub(super) struct Changed(Vec<Arc<Hub>>, Vec<Arc<http::Hub>>);

impl Changed {
    pub(super) fn tell(self) {
        self.0.iter().for_each(|hub| hub.news());
        self.1.iter().for_each(|site| site.news());
    }
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
        let offered = Offered::new(config, catalog, Terms::default());
        Self::assemble(offered, Answerer::Application(Box::new(application)))
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
        Ok(Self::assemble(offered, Answerer::Application(Box::new(application))))
    }

    /// A server made of closures.
    pub(super) fn with_router(offered: Offered, router: Arc<Router>) -> Self {
        Self::assemble(offered, Answerer::Router(router))
    }

    fn assemble(offered: Offered, answerer: Answerer) -> Self {
        Self { inner: Arc::new(Inner { answerer, offered, serving: Serving::default() }) }
    }

    pub(super) fn of(inner: &Arc<Inner>) -> Self {
        Self { inner: Arc::clone(inner) }
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(super) const fn shared(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Records of what is over are given out before the end, for a bounded time.
    pub(super) async fn flush_records(&self) {
        if self.inner.offered.governor.is_bound() {
            let inner = Arc::clone(&self.inner);
            // Without a thread for it they go on their own.
            if let Ok(flushed) = threads::run("sanswire-records", move || inner.offered.governor.flush()) {
                flushed.await;
            }
        }
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
        let changed = self.update_in(&turn, kind, change);
        drop(turn);
        changed.tell();
    }

    /// As [`update`](Self::update), as a part of what is done in one turn.
    pub(super) fn update_in(
        &self,
        turn: &Turn<'_>,
        kind: ListKind,
        change: impl FnOnce(&mut Catalog),
    ) -> Changed {
        self.inner.offered.list(turn, change);
        let hubs = self.inner.serving.hubs();
        for hub in &hubs {
            hub.put(|desk, now| {
                // Looked at under the lock: of two changes at once, none puts back what was there before the other.
                desk.machine.set_catalog(self.inner.offered.catalog());
                desk.machine.list_changed(kind, now);
            });
        }
        let sites = self.inner.serving.sites();
        for hub in &sites {
            hub.put(|site, now| {
                site.set_catalog(self.inner.offered.catalog());
                site.list_changed(kind, now);
            });
        }
        Changed(hubs, sites)
    }

    /// Tells the clients that watch it that a resource changed.
    pub fn resource_updated(&self, uri: &str) {
        for hub in self.inner.serving.hubs() {
            // Clients for whom there is no room hear of the next change.
            hub.change(|desk, now| drop(desk.machine.resource_updated(uri, now)));
        }
        for site in self.inner.serving.sites() {
            site.change(|site, now| site.resource_updated(uri, now));
        }
    }
}

impl Inner {
    pub(super) const fn answerer(&self) -> &Answerer {
        &self.answerer
    }

    pub(super) const fn router(&self) -> Option<&Arc<Router>> {
        match &self.answerer {
            Answerer::Router(router) => Some(router),
            Answerer::Application(_) => None,
        }
    }
}
