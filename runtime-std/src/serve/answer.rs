//! What stands between the driver and the application: every request is answered here, whatever its handler does.

use sanswire::server::Reply;
use sanswire::server::kit::broken_down;
use sanswire_system::contain::caught;

use crate::serve::call::Call;
use crate::serve::server::Inner;

impl Inner {
    /// The answer to a request. Never unwinds.
    pub(crate) fn answer(&self, call: &Call<'_>) -> Reply {
        let admitted = match self.offered.governor.begin(call.asked()) {
            Ok(admitted) => admitted,
            Err(refused) => return refused,
        };
        let reply = caught(|| self.application().handle(call));
        let stopped = self.offered.governor.end(admitted, call.asked(), call.said().told(), reply.as_ref());
        // What a panic says std's hook has written to the log.
        stopped.or(reply).unwrap_or_else(broken_down)
    }
}
