//! Runs the closure that a request is for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::types::request::Complete;
use sanswire::server::Reply;
use sanswire::server::kit::{self, ResourceUri, Route, ToolError};
use sanswire_system::serve;

use crate::serve::call::Call;

/// What a closure of the embedder's is at.
pub(super) type Work = Pin<Box<dyn Future<Output = Result<Reply, ToolError>> + Send>>;

/// What a closure of the embedder's became: it reads its arguments, and its future makes a reply.
pub(super) type ToolFn = dyn Fn(JsonRef<'_>, Call) -> Result<Work, ToolError> + Send + Sync;
pub(super) type ReadFn = dyn Fn(ResourceUri, Call) -> Result<Work, ToolError> + Send + Sync;
pub(super) type CompleteFn = dyn Fn(Complete, Call) -> Result<Work, ToolError> + Send + Sync;

pub(super) type Assembly = kit::Assembly<Arc<ToolFn>, Arc<ReadFn>, Arc<CompleteFn>>;
pub(super) type Offer = kit::Offer<Arc<ToolFn>, Arc<ReadFn>>;
pub(super) type Router = serve::Router<Arc<ToolFn>, Arc<ReadFn>, Arc<CompleteFn>>;

/// Begins the work on a call.
///
/// # Errors
/// There is nothing to be done: this is the answer.
pub(super) fn begin(router: &Router, call: &Call) -> Result<Work, Reply> {
    let begun = match router.route(call.method(), call.params()) {
        Route::Call(run, arguments) => run(arguments, call.clone()),
        Route::Read(read, uri) => read(uri, call.clone()),
        Route::Complete(complete, asked) => complete(asked, call.clone()),
        Route::Answer(reply) => return Err(reply),
    };
    begun.map_err(|error| conclude(call, Err(error)))
}

/// The answer that the work on a call came to.
pub(super) fn conclude(call: &Call, result: Result<Reply, ToolError>) -> Reply {
    kit::conclude(call.method(), call.params(), result, || call.suspend())
}
