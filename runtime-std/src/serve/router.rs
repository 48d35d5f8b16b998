//! Runs the closure that a request is for.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::types::request::Complete;
use sanswire::server::Reply;
use sanswire::server::kit::{self, ResourceUri, Route, ToolError};

use crate::serve::application::Application;
use crate::serve::call::Call;

/// What a closure of the embedder's became: it reads its arguments and makes a reply.
pub(super) type ToolFn = dyn Fn(JsonRef<'_>, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;
pub(super) type ReadFn = dyn Fn(&ResourceUri, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;
pub(super) type CompleteFn = dyn Fn(&Complete, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;

pub(super) type Handlers = kit::Handlers<Arc<ToolFn>, Arc<ReadFn>, Arc<CompleteFn>>;
pub(super) type Assembly = kit::Assembly<Arc<ToolFn>, Arc<ReadFn>, Arc<CompleteFn>>;
pub(super) type Offer = kit::Offer<Arc<ToolFn>, Arc<ReadFn>>;

/// The closures by name. A lookup holds the lock, a handler does not.
pub(super) struct Router {
    handlers: RwLock<Handlers>,
}

impl Router {
    pub(super) const fn new(handlers: Handlers) -> Self {
        Self { handlers: RwLock::new(handlers) }
    }

    fn handlers(&self) -> RwLockReadGuard<'_, Handlers> {
        self.handlers.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what there is, in the [turn](crate::serve::server::Turn) of whoever changes. Gives what there was: a closure
    /// that goes with it may do anything with the server, so let go of it when nothing is locked.
    pub(super) fn change(&self, change: impl FnOnce(&mut Handlers)) -> Handlers {
        let mut handlers = self.handlers().clone();
        change(&mut handlers);
        std::mem::replace(&mut *self.handlers.write().unwrap_or_else(PoisonError::into_inner), handlers)
    }
}

impl Application for Arc<Router> {
    fn handle(&self, call: &Call<'_>) -> Reply {
        let route = self.handlers().route(call.method(), call.params());
        let result = match route {
            Route::Call(run, arguments) => run(arguments, call),
            Route::Read(read, uri) => read(&uri, call),
            Route::Complete(complete, asked) => complete(&asked, call),
            Route::Answer(reply) => return reply,
        };
        kit::conclude(call.method(), call.params(), result, || call.suspend())
    }
}
