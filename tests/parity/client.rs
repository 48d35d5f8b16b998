//! A client under test, in words that block: what every runtime offers, whatever it waits with.

use std::time::Duration;

use sanswire::client::{Config, Outcome, Peer, RequestHandle, RequestOptions};
use sanswire::error::{ApiError, CloseReason};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;

/// A client that is ready.
pub(crate) trait Client {
    /// The server that it met.
    fn peer(&self) -> Peer;
    /// Makes a request, and does not wait for its end.
    fn start(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError>;
    /// Makes many requests, which leave together where that makes a difference.
    fn start_together(&mut self, method: Method, all: Vec<RawJson>) -> Vec<RequestHandle> {
        let mut start = |params| self.start(method.clone(), params, &RequestOptions::default()).unwrap();
        all.into_iter().map(&mut start).collect()
    }
    /// Waits for the end of a request that was started.
    fn wait(&mut self, request: RequestHandle) -> Outcome;
    /// Makes a request and waits for its end, rounds of input included; with the progress that was told.
    fn complete(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<(Outcome, Vec<f64>), ApiError>;
    /// Cancels a request that was started.
    fn cancel(&mut self, request: RequestHandle);
    /// Lets go of a request that was started, which is to cancel it where a call is a value that can be let go of.
    fn give_up(&mut self, request: RequestHandle);
    /// The next notification, with the subscription that it came by.
    fn notification(&mut self, within: Duration) -> Option<(Method, Option<RequestHandle>)>;
    /// Why it is over, if it is.
    fn closed(&self) -> Option<CloseReason>;
    /// How often the server was caught breaking the protocol.
    fn violations(&self) -> usize;
    /// Ends the connection, and waits until all is gone that belonged to it.
    fn close(&mut self);
    /// Lets time pass, and the connection go on meanwhile.
    fn pass(&mut self, time: Duration);
}

/// How a connection is made.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    /// Close it after so long, from elsewhere, ready or not.
    pub(crate) close_after: Option<Duration>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There is no such program.
    NoProgram,
    /// Nobody listens at a port.
    NoListener,
    /// Nobody can be reached at a URL.
    Unreachable,
    /// It was closed before it was ready.
    Closed(CloseReason),
}

/// The way to one server, however often it is taken.
pub(crate) trait Site {
    /// Connects.
    fn connect(&self, setup: &Setup) -> Result<Box<dyn Client>, Fault>;
    /// What the server put on record, in order, over all its starts.
    fn record(&self) -> Vec<String>;
}
