//! The servers of a host: opened side by side, listed, lost, tried anew, given up, shut.

use alloc::string::String;
use alloc::sync::Arc;

use super::calls::{Reach, Way};
use super::catalog::{Registry, ServerTools};
use super::config::HostConfig;
use super::event::{ClientHandle, Effect, Event};
use super::link::Status;
use crate::client::{self, Outcome};
use crate::error::{ApiError, ConfigError};
use crate::mcp::Revision;
use crate::time::Instant;

/// One server, as it stands. A copy: nothing is done to make it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerState {
    /// Its name.
    pub name: Arc<str>,
    /// How it is reached: `stdio`, `tcp`, `http`.
    pub transport: &'static str,
    /// Its status.
    pub status: Status,
    /// Its tools with what became of each; as they were listed last, also if it is not connected any more.
    pub tools: Option<Arc<ServerTools>>,
    /// Its last error, masked and bounded: why it is not connected, or why its listing could not be read.
    pub error: Option<String>,
    /// It is connected, but its tools could not be listed.
    pub listing_failed: bool,
    /// The revision that is spoken with it, or was last.
    pub revision: Option<Revision>,
    /// Its introduction, if it is or was connected.
    pub peer: Option<Arc<client::Peer>>,
    /// What is known of its era, to be given as [`client::Start::Remembered`] the next time it is configured.
    pub verdict: Option<client::Verdict>,
}

/// The servers.
#[derive(Debug)]
pub(super) struct Manager {}

#[expect(unused_variables, clippy::todo, reason = "the seam")]
impl Manager {
    pub(super) fn new(config: &HostConfig, now: Instant) -> Result<Self, ConfigError> {
        todo!()
    }
    pub(super) fn handle_client(&mut self, client: ClientHandle, event: client::Event, now: Instant) {
        todo!()
    }
    /// A connection could not be opened at all; why, in words.
    pub(super) fn handle_not_opened(&mut self, client: ClientHandle, error: &str, now: Instant) {
        todo!()
    }
    /// Of a listing.
    pub(super) fn handle_outcome(
        &mut self,
        client: ClientHandle,
        outcome: Result<Outcome, ApiError>,
        now: Instant,
    ) {
        todo!()
    }
    /// Of a `subscriptions/listen`: it is over.
    pub(super) fn handle_listen(
        &mut self,
        client: ClientHandle,
        outcome: Result<Outcome, ApiError>,
        now: Instant,
    ) {
        todo!()
    }
    /// What was staged is offered from now on.
    pub(super) fn begin_turn(&mut self, now: Instant) {
        todo!()
    }
    /// False: there is no such server, or it is disabled.
    pub(super) fn reconnect(&mut self, server: &str, now: Instant) -> bool {
        todo!()
    }
    /// Reads a server's listing anew. False: it is not connected.
    pub(super) fn refresh(&mut self, server: &str, now: Instant) -> bool {
        todo!()
    }
    pub(super) fn close(&mut self, now: Instant) {
        todo!()
    }
    /// Every server was tried once.
    pub(super) fn is_started(&self) -> bool {
        todo!()
    }
    pub(super) fn state(&self, server: &str) -> Option<ServerState> {
        todo!()
    }
    /// Sorted by name.
    pub(super) fn states(&self) -> alloc::vec::Vec<ServerState> {
        todo!()
    }
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        todo!()
    }
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }
    pub(super) fn poll_effect(&mut self) -> Option<Effect> {
        todo!()
    }
    /// The next server whose waiting calls go on.
    pub(super) fn poll_settled(&mut self) -> Option<Arc<str>> {
        todo!()
    }
}

#[expect(unused_variables, clippy::todo, reason = "the seam")]
impl Reach for Manager {
    fn registry(&self) -> &Registry {
        todo!()
    }
    fn way(&mut self, server: &str) -> Way {
        todo!()
    }
    fn lost(&mut self, client: ClientHandle, now: Instant) {
        todo!()
    }
    fn sub_agents(&self, server: &str) -> &[String] {
        todo!()
    }
}
