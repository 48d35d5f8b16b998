//! The bytes of each connection: the half of [`Machine`] that is about one stream, with the connection's name in front.

use alloc::vec::Vec;

use super::{ClientHandle, Fleet, Stage};
use crate::client::LineConnection;
use crate::machine::Machine;
use crate::time::Instant;

impl Fleet {
    /// The connections that have a stream, those among them that are being shut and have bytes left to write.
    pub fn clients(&self) -> impl Iterator<Item = ClientHandle> {
        let attached = self.clients.iter().filter(|(_, client)| matches!(client.stage, Stage::Attached(_)));
        attached.map(|(client, _)| *client)
    }

    /// A connection, for its getters.
    #[must_use]
    pub fn connection(&self, client: ClientHandle) -> Option<&LineConnection> {
        match &self.clients.get(&client)?.stage {
            Stage::Attached(connection) => Some(&connection.machine),
            Stage::Opening { .. } => None,
        }
    }

    /// As [`Machine::read_buffer`]. `None`: there is no such connection any more; close its stream.
    pub fn read_buffer(&mut self, client: ClientHandle) -> Option<&mut Vec<u8>> {
        Some(self.attached(client)?.machine.read_buffer())
    }

    /// As [`Machine::handle_read`].
    pub fn handle_read(&mut self, client: ClientHandle, now: Instant) {
        self.on(client, now, LineConnection::handle_read);
    }

    /// As [`Machine::handle_input`]: copies; how many bytes were taken.
    pub fn handle_input(&mut self, client: ClientHandle, data: &[u8], now: Instant) -> usize {
        self.on(client, now, |machine, now| machine.handle_input(data, now)).unwrap_or(0)
    }

    /// As [`Machine::handle_eof`].
    pub fn handle_eof(&mut self, client: ClientHandle, now: Instant) {
        self.on(client, now, LineConnection::handle_eof);
    }

    /// As [`Machine::handle_write_closed`].
    pub fn handle_write_closed(&mut self, client: ClientHandle, now: Instant) {
        self.on(client, now, LineConnection::handle_write_closed);
    }

    /// As [`Machine::transmit`].
    #[must_use]
    pub fn transmit(&self, client: ClientHandle) -> &[u8] {
        self.connection(client).map_or(&[], Machine::transmit)
    }

    /// As [`Machine::handle_written`].
    pub fn handle_written(&mut self, client: ClientHandle, len: usize, now: Instant) {
        self.on(client, now, |machine, now| machine.handle_written(len, now));
    }

    /// As [`Machine::wants_read`].
    #[must_use]
    pub fn wants_read(&self, client: ClientHandle) -> bool {
        self.connection(client).is_some_and(Machine::wants_read)
    }

    /// Does something with a connection, and all that follows from it.
    pub(super) fn on<T>(
        &mut self,
        client: ClientHandle,
        now: Instant,
        act: impl FnOnce(&mut LineConnection, Instant) -> T,
    ) -> Option<T> {
        let now = self.clock.advance(now);
        let done = act(&mut self.attached(client)?.machine, now);
        self.busy.insert(client);
        self.settle();
        Some(done)
    }
}
