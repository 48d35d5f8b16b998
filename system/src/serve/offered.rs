//! What a server offers, and on what terms, apart from who answers for it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sanswire::Instant;
use sanswire::error::ConfigError;
use sanswire::http::Site;
use sanswire::server::{Catalog, Config, LineConnection, ToolFilter};

use crate::contain::caught;
use crate::os;
use crate::serve::asks::Asks;
use crate::serve::cancel::Cancel;
use crate::serve::error::ServeError;
use crate::serve::govern::Governor;
use crate::serve::http::HttpOptions;
use crate::serve::options::Terms;

/// What a server offers, for all its connections: what it lists, how its machines are set up, and the terms of its calls.
pub struct Offered {
    /// What lets calls through.
    pub governor: Governor,
    /// How calls ask their client.
    pub asks: Asks,
    config: Config,
    /// Its lock is held to look or to put another one there, never for longer.
    catalog: Mutex<Arc<Catalog>>,
    /// One change of what is offered at a time.
    changes: Mutex<()>,
}

/// The right to change what is offered. Nobody else changes it meanwhile.
pub struct Turn<'a> {
    _changes: MutexGuard<'a, ()>,
}

impl fmt::Debug for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offered").field("server", &self.config.server).finish_non_exhaustive()
    }
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

impl Offered {
    /// What a server begins with.
    #[must_use]
    pub fn new(config: Config, catalog: Catalog, terms: Terms) -> Self {
        let Terms { governor, asks } = terms;
        let catalog = Mutex::new(Arc::new(catalog));
        Self { governor, asks, config: contained(config), catalog, changes: Mutex::default() }
    }

    /// How its machines are set up.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What is listed now.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.listed())
    }

    /// Waits until nobody else changes what is offered, and keeps others from it.
    pub fn turn(&self) -> Turn<'_> {
        Turn { _changes: self.changes.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Changes what is listed. Copies it, O(all of it). Should `change` panic, nothing has changed.
    ///
    /// Connections are told by whoever has them: each sets its machine to what is listed [now](Self::catalog), looked at
    /// under its own lock, so that of two changes none puts back what was there before the other.
    pub fn list(&self, _: &Turn<'_>, change: impl FnOnce(&mut Catalog)) {
        // A connection that is accepted meanwhile gets what was listed before: nothing that serves waits for `change`.
        let mut catalog = self.catalog();
        change(Arc::make_mut(&mut catalog));
        *self.listed() = catalog;
    }

    /// The machine of a new connection of lines.
    ///
    /// # Errors
    /// A limit is out of bounds.
    pub fn connection(&self, now: Instant) -> Result<LineConnection, ConfigError> {
        let mut machine = LineConnection::new(self.config.clone(), os::seed(), now)?;
        machine.set_catalog(self.catalog());
        Ok(machine)
    }

    /// The machine of a site that nobody has come to, with at most so many connections. `W` waits for what becomes of a
    /// question to a client.
    ///
    /// # Errors
    /// A limit is out of bounds; the system gave no random bytes.
    pub fn site<W>(
        &self,
        options: HttpOptions,
        max_connections: usize,
        now: Instant,
    ) -> Result<Site<Cancel, W>, ServeError> {
        // Who guesses the id of a session has the session, so no other bytes will do.
        let seed = os::random().map_err(ServeError::System)?;
        let config = options.site(self.config.clone(), max_connections);
        let mut site = Site::new(config, seed, now).map_err(ServeError::Config)?;
        site.set_catalog(self.catalog());
        Ok(site)
    }

    fn listed(&self) -> MutexGuard<'_, Arc<Catalog>> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A filter that panics shows nothing: it is asked under the lock that all connections need.
fn contained(mut config: Config) -> Config {
    let contain = |filter: ToolFilter| {
        ToolFilter::new(move |who, tool| caught(|| filter.shows(who, tool)).unwrap_or(false))
    };
    config.tool_filter = config.tool_filter.map(contain);
    config
}
