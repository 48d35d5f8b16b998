//! What is done for a connection, by its keeper.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::link::{Link, Todo};
use super::{Desk, Kinds};
use crate::host::event::ClientHandle;
use crate::host::link::Status;

/// The most connections of one server that are being shut while another is opened: one whose processes are slow to end
/// must not fill the system with them.
pub(super) const MAX_LEAVING: usize = 4;

/// What is done for a connection.
impl<K: Kinds> Desk<K> {
    /// `keeper` looks after a connection from here on, and is woken for what there is to do. False: the connection is not
    /// wanted any more.
    pub fn arrive(&mut self, client: ClientHandle, keeper: K::Waiter) -> bool {
        let Some(link) = self.links.get_mut(&client) else { return false };
        link.keeper = Some(keeper);
        !link.shut
    }

    /// Whether a connection may be opened, or is not to be opened at all: too many of its server's may be being shut.
    #[must_use]
    pub fn has_room(&self, client: ClientHandle) -> bool {
        let Some(link) = self.links.get(&client).filter(|link| !link.shut) else { return true };
        let leaving = |other: &&Link<K>| other.shut && other.server == link.server;
        self.links.values().filter(leaving).count() < MAX_LEAVING
    }

    /// Calls can be made over a connection from here on.
    pub fn attach(&mut self, client: ClientHandle, connection: K::Client) {
        if let Some(link) = self.links.get_mut(&client) {
            link.client = Some(connection);
        }
    }

    /// Calls cannot be made any more. What is given is best dropped without the lock.
    pub fn detach(&mut self, client: ClientHandle) -> Option<K::Client> {
        self.links.get_mut(&client)?.client.take()
    }

    /// What a connection's keeper is to do next.
    pub fn todo(&mut self, client: ClientHandle) -> Todo {
        self.links.get_mut(&client).map_or(Todo::Leave, Link::next)
    }

    /// Whether a connection is to be shut, or is gone.
    #[must_use]
    pub fn is_shut(&self, client: ClientHandle) -> bool {
        self.links.get(&client).is_none_or(|link| link.shut)
    }

    /// Whether a connection is to be killed: nothing came of it.
    #[must_use]
    pub fn has_failed(&self, client: ClientHandle) -> bool {
        self.links.get(&client).is_some_and(|link| link.failed)
    }

    /// A connection is gone. What is left of it is best dropped without the lock.
    pub fn leave(&mut self, client: ClientHandle) -> Option<Link<K>> {
        self.links.remove(&client)
    }

    /// An open connection.
    #[must_use]
    pub fn connection(&self, client: ClientHandle) -> Option<K::Client> {
        self.links.get(&client)?.client.clone()
    }

    /// The connection by which a server can be called.
    #[must_use]
    pub fn current(&self, server: &str) -> Option<K::Client> {
        self.machine.state(server).filter(|state| state.status == Status::Connected)?;
        self.newest(server)
    }

    /// The servers that can be called, each with its connection; without one it is just lost.
    #[must_use]
    pub fn connected(&self) -> Vec<(Arc<str>, Option<K::Client>)> {
        let states = self.machine.states().into_iter().filter(|state| state.status == Status::Connected);
        states.map(|state| (state.name.clone(), self.newest(&state.name))).collect()
    }

    fn newest(&self, server: &str) -> Option<K::Client> {
        let links = self.links.values().rev().filter(|link| !link.shut && &*link.server == server);
        links.filter_map(|link| link.client.clone()).next()
    }

    /// The connections that are not gone, each with its server.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (ClientHandle, &Arc<str>)> {
        self.links.iter().map(|(client, link)| (*client, &link.server))
    }

    /// What ends the connections that are not gone.
    #[must_use]
    pub fn closers(&self) -> Vec<K::Closer> {
        self.links.values().map(|link| link.closer.clone()).collect()
    }
}
