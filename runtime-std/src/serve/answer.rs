//! What stands between the driver and the application: every request is answered here, whatever its handler does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sanswire::server::Reply;
use sanswire::server::kit::broken_down;

use crate::serve::call::Call;
use crate::serve::server::Inner;

impl Inner {
    /// The answer to a request. Never unwinds.
    pub(crate) fn answer(&self, call: &Call<'_>) -> Reply {
        let admitted = match self.governor().begin(call) {
            Ok(admitted) => admitted,
            Err(refused) => return refused,
        };
        let reply = caught(|| self.application().handle(call));
        let stopped = self.governor().end(admitted, call, reply.as_ref());
        // What a panic says std's hook has written to the log.
        stopped.or(reply).unwrap_or_else(broken_down)
    }
}

/// Runs the embedder's code; `None` if it panicked.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(discard).ok()
}

/// What was thrown may itself panic when it is dropped; then it is kept for ever.
fn discard(thrown: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(thrown))) {
        std::mem::forget(again);
    }
}
