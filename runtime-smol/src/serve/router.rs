//! Runs the closure that a request is for.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::types::request::Complete;
use sanswire::server::Reply;
use sanswire::server::kit::{self, ResourceUri, Route, ToolError};

use crate::serve::call::Call;

/// What a closure of the embedder's is at.
pub(super) type Work = Pin<Box<dyn Future<Output = Result<Reply, ToolError>> + Send>>;

/// What a closure of the embedder's became: it reads its arguments, and its future makes a reply.
pub(super) type ToolFn = dyn Fn(JsonRef<'_>, Call) -> Result<Work, ToolError> + Send + Sync;
pub(super) type ReadFn = dyn Fn(ResourceUri, Call) -> Result<Work, ToolError> + Send + Sync;
pub(super) type CompleteFn = dyn Fn(Complete, Call) -> Result<Work, ToolError> + Send + Sync;

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

    /// Begins the work on a call.
    ///
    /// # Errors
    /// There is nothing to be done: this is the answer.
    pub(super) fn begin(&self, call: &Call) -> Result<Work, Reply> {
        let route = self.handlers().route(call.method(), call.params());
        let begun = match route {
            Route::Call(run, arguments) => run(arguments, call.clone()),
            Route::Read(read, uri) => read(uri, call.clone()),
            Route::Complete(complete, asked) => complete(asked, call.clone()),
            Route::Answer(reply) => return Err(reply),
        };
        begun.map_err(|error| conclude(call, Err(error)))
    }
}

/// The answer that the work on a call came to.
pub(super) fn conclude(call: &Call, result: Result<Reply, ToolError>) -> Reply {
    kit::conclude(call.method(), call.params(), result, || call.suspend())
}
