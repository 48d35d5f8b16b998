//! What the calls need of the servers.

use alloc::string::String;

use crate::host::catalog::Registry;
use crate::host::event::ClientHandle;
use crate::host::link::Status;
use crate::time::Instant;

/// How a server can be reached, as the calls see it.
pub(in crate::host) enum Way {
    /// By this connection.
    Go(ClientHandle),
    /// Not yet: [`Calls::settled`](super::Calls::settled) tells.
    Wait,
    /// Not at all.
    Refuse {
        /// The server's status.
        status: Status,
        /// Its last error; may be empty.
        error: String,
    },
}

/// What the calls need of the servers.
pub(in crate::host) trait Reach {
    /// What is offered now.
    fn registry(&self) -> &Registry;
    /// How a server can be reached. May start an attempt.
    fn way(&mut self, server: &str) -> Way;
    /// A call was lost, and its connection with it, unless each has an exchange of its own.
    fn lost(&mut self, client: ClientHandle, now: Instant);
    /// A connection is of no use any more, whatever its calls share.
    fn gone(&mut self, client: ClientHandle, now: Instant) {
        self.lost(client, now);
    }
    /// The kinds of helper that may use a server's tools.
    fn sub_agents(&self, server: &str) -> &[String];
}
