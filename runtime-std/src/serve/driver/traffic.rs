//! What a driver moves.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use sanswire::Instant;
use sanswire::error::ApiError;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::{Catalog, ListKind, Notice, PeerOutcome, Reply};

use crate::os::{Conn, PollEvent};
use crate::serve::call::Job;
use crate::serve::driver::Stop;
use crate::serve::driver::hub::Hub;

/// All connections of a driver with their machines: what is behind its lock. Nothing here waits.
///
/// A driver has it behind a pointer, so that a program which serves one kind does not carry the code of the others.
pub(in crate::serve) trait Traffic: Send {
    /// How many connections are open.
    fn len(&self) -> usize;

    /// A new connection, which is looked after from now on or closed.
    fn welcome(&mut self, hub: &Hub, conn: Conn, now: Instant);

    /// There are as many connections as there may be, or as the system has descriptors for, and somebody comes. Whether one was closed that is no loss.
    fn make_room(&mut self, hub: &Hub, now: Instant) -> bool {
        let _ = (hub, now);
        false
    }

    /// A connection for which there is no room.
    fn turn_away(&self, conn: Conn) {
        drop(conn);
    }

    /// What a wait found on a connection. What was asked there is run before anything is written, so that answers
    /// leave together.
    fn found(&mut self, event: PollEvent, now: Instant);

    /// Tells the time to those that wait for it.
    fn time(&mut self, now: Instant);

    /// When [`time`](Self::time) is to be called next; may be too early.
    fn deadline(&self) -> Option<Instant>;

    /// After anything was put into machines: writes, hands out what came of it, and takes out what is over.
    fn tend(&mut self, hub: &Hub, now: Instant);

    /// Whether a request waits that a thread could run.
    fn has_ready(&self) -> bool;

    /// The next request to run.
    fn next_job(&mut self) -> Option<Job>;

    /// A handler is back.
    fn finish(&mut self, job: Job, reply: Reply, now: Instant);

    /// Tells a client something about its request. What finds no room is dropped.
    fn notify(&mut self, job: &Job, notice: &Notice, now: Instant);

    /// Asks a client, in a session. What comes of it goes to `waiter`, which is dropped with the connection.
    fn ask(
        &mut self,
        job: &Job,
        input: &InputRequest,
        waiter: Sender<PeerOutcome>,
        now: Instant,
    ) -> Result<(), ApiError>;

    /// Closes the stream that a request is to be answered on; its client comes back for the answer. Whether that can be.
    fn close_stream(&mut self, job: &Job, now: Instant) -> bool {
        let _ = (job, now);
        false
    }

    /// Lists this from now on.
    fn set_catalog(&mut self, catalog: Arc<Catalog>);

    /// A list changed.
    fn list_changed(&mut self, kind: ListKind, now: Instant);

    /// A resource changed.
    fn resource_updated(&mut self, uri: &str, now: Instant);

    /// Ends: no connection will be welcomed any more.
    fn stop(&mut self, how: Stop, now: Instant);
}
