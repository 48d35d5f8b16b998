//! What answers requests.

use std::future::Future;
use std::pin::Pin;

use sanswire::server::Reply;

use crate::serve::call::Call;

/// What answers the requests that a server's session does not answer by itself: calls of tools, reads of resources,
/// prompts, completions, subscriptions to resources.
///
/// Write one where a [`Builder`](crate::Builder) is too narrow. One that panics is answered with an internal error.
pub trait Application: Send + Sync + 'static {
    /// Answers a request, once the future has ended. It may take as long as it likes, and must not block;
    /// [`Call::cancelled`] says when nobody waits any more.
    fn handle(&self, call: Call) -> Pin<Box<dyn Future<Output = Reply> + Send>>;
}
