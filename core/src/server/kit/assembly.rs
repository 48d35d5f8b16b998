//! A server before it serves.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::server::catalog::Catalog;
use crate::server::config::Config;
use crate::server::kit::fault::BuildError;
use crate::server::kit::handlers::Handlers;
use crate::server::kit::offer::Offer;

/// A server in the making: what a runtime's builder is made of. What is wrong is noted, and told at the end, all of it.
///
/// The handlers are of the types that [`Handlers`] are of.
pub struct Assembly<T, R, C> {
    /// How the server's machines will be set up.
    pub config: Config,
    catalog: Catalog,
    handlers: Handlers<T, R, C>,
    faults: Vec<String>,
}

/// What an assembly came to.
#[derive(Debug)]
pub struct Built<T, R, C> {
    /// How the server's machines are set up.
    pub config: Config,
    /// What they list.
    pub catalog: Catalog,
    /// Who answers.
    pub handlers: Handlers<T, R, C>,
}

impl<T, R, C> fmt::Debug for Assembly<T, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembly").field("server", &self.config.server).finish_non_exhaustive()
    }
}

impl<T: Clone, R: Clone, C: Clone> Assembly<T, R, C> {
    /// A server of this name and version, which offers nothing yet.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            catalog: Catalog::new(),
            handlers: Handlers::default(),
            faults: Vec::new(),
        }
    }

    /// Offers something, or notes why not. Nothing may be defined twice.
    pub fn add(&mut self, offer: Result<Offer<T, R>, BuildError>) {
        let offer = offer.and_then(|offer| match self.catalog.find(offer.kind(), offer.key()) {
            Some(_) => Err(offer.refused("it is defined twice")),
            None => Ok(offer),
        });
        match offer {
            Ok(offer) => {
                self.handlers.put(&offer);
                offer.list(&mut self.catalog);
            }
            Err(error) => self.faults.extend(error.into_faults()),
        }
    }

    /// Completes arguments of prompts and templates by `handler`. The last one counts.
    pub fn complete(&mut self, handler: C) {
        self.config.capabilities.completions = true;
        self.handlers.complete = Some(handler);
    }

    /// The server, as a runtime needs it.
    ///
    /// # Errors
    /// All that was wrong with what was given, the configuration included.
    pub fn build(mut self) -> Result<Built<T, R, C>, BuildError> {
        self.check_config();
        if !self.faults.is_empty() {
            return Err(BuildError::new(self.faults));
        }
        self.handlers.unknown_tool = self.config.unknown_tool;
        let Self { config, catalog, handlers, .. } = self;
        Ok(Built { config, catalog, handlers })
    }

    /// Why it cannot be built, with one more thing that is wrong: a setting of the runtime's own.
    #[must_use]
    pub fn refused(mut self, why: &str) -> BuildError {
        self.check_config();
        self.faults.push(why.into());
        BuildError::new(self.faults)
    }

    /// A machine looks at its configuration: better now than at the first client.
    fn check_config(&mut self) {
        if let Err(error) = self.config.check() {
            self.faults.push(format!("the configuration: {error}"));
        }
    }
}
