//! Who answers for a server that is made of closures.

use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::server::kit::{Assembly, BuildError, Built, Handlers, Route};

use crate::serve::offered::Offered;
use crate::serve::options::{ServerOptions, Terms};

/// The handlers of a server, which may change while it serves: `T` of tools and prompts, `R` of resources and templates,
/// `C` of completions. A lookup holds the lock, a handler does not.
pub struct Router<T, R, C> {
    handlers: RwLock<Handlers<T, R, C>>,
}

impl<T, R, C> fmt::Debug for Router<T, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Router")
    }
}

impl<T: Clone, R: Clone, C: Clone> Router<T, R, C> {
    /// What a runtime's builder came to.
    ///
    /// # Errors
    /// Everything that is wrong with what was given.
    pub fn build(assembly: Assembly<T, R, C>, options: ServerOptions) -> Result<(Offered, Self), BuildError> {
        match Terms::new(options) {
            Ok(terms) => {
                let Built { config, catalog, handlers } = assembly.build()?;
                Ok((Offered::new(config, catalog, terms), Self { handlers: RwLock::new(handlers) }))
            }
            Err(error) => Err(assembly.refused(&format!("what binds it: {error}"))),
        }
    }

    /// Who answers a request. What is found is a clone.
    #[must_use]
    pub fn route<'a>(&self, method: &Method, params: &'a RawJson) -> Route<'a, T, R, C> {
        self.handlers().route(method, params)
    }

    /// Changes what there is, in the [turn](Offered::turn) of whoever changes. Gives what there was: a closure that goes with
    /// it may do anything with the server, so let go of it when nothing is locked.
    #[must_use = "what was there is dropped where nothing is locked"]
    pub fn change(&self, change: impl FnOnce(&mut Handlers<T, R, C>)) -> Handlers<T, R, C> {
        let mut handlers = self.handlers().clone();
        change(&mut handlers);
        std::mem::replace(&mut *self.handlers.write().unwrap_or_else(PoisonError::into_inner), handlers)
    }

    fn handlers(&self) -> RwLockReadGuard<'_, Handlers<T, R, C>> {
        self.handlers.read().unwrap_or_else(PoisonError::into_inner)
    }
}
