//! Runs the closure that a request is for.

use std::sync::Arc;

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::types::request::Complete;
use sanswire::server::Reply;
use sanswire::server::kit::{self, ResourceUri, Route, ToolError};
use sanswire_system::serve;

use crate::serve::application::Application;
use crate::serve::call::Call;

/// What a closure of the embedder's became: it reads its arguments and makes a reply.
pub(super) type ToolFn = dyn Fn(JsonRef<'_>, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;
pub(super) type ReadFn = dyn Fn(&ResourceUri, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;
pub(super) type CompleteFn = dyn Fn(&Complete, &Call<'_>) -> Result<Reply, ToolError> + Send + Sync;

pub(super) type Assembly = kit::Assembly<Arc<ToolFn>, Arc<ReadFn>, Arc<CompleteFn>>;
pub(super) type Offer = kit::Offer<Arc<ToolFn>, Arc<ReadFn>>;
pub(super) type Router = serve::Router<Arc<ToolFn>, Arc<ReadFn>, Arc<CompleteFn>>;

impl Application for Arc<Router> {
    fn handle(&self, call: &Call<'_>) -> Reply {
        let result = match self.route(call.method(), call.params()) {
            Route::Call(run, arguments) => run(arguments, call),
            Route::Read(read, uri) => read(&uri, call),
            Route::Complete(complete, asked) => complete(&asked, call),
            Route::Answer(reply) => return reply,
        };
        kit::conclude(call.method(), call.params(), result, || call.suspend())
    }
}
