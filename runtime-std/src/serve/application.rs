//! What answers requests.

use sanswire::server::Reply;

use crate::serve::call::Call;

/// What answers the requests that a server's session does not answer by itself: calls of tools, reads of resources,
/// prompts, completions, subscriptions to resources.
///
/// Write one where a [`Builder`](crate::serve::Builder) is too narrow. Runs on many threads at once, one for each
/// request under way. One that panics is answered with an internal error.
pub trait Application: Send + Sync + 'static {
    /// Answers a request. May block as long as it likes; [`Call::is_cancelled`] says when nobody waits any more.
    fn handle(&self, call: &Call<'_>) -> Reply;
}
