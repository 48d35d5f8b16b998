//! What a handler sees of the request it works on.

use std::sync::Arc;
use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::http::endpoint::SessionHandle;
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputRequest;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::kit::{ConnectionKey, Request};
use sanswire::server::{Context, PeerOutcome};
use sanswire::waist::{ErrorClass, Spend};
use sanswire_system::serve::{Asks, Cancel, Said};

use crate::serve::driver::Driver;
use crate::serve::server::Inner;

/// Where a request came from, and where its answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A connection of lines.
    Connection(ConnectionKey),
    /// A session of an HTTP endpoint.
    Session(SessionHandle),
}

/// One request, as the driver hands it out.
pub(crate) struct Job {
    pub(crate) origin: Origin,
    pub(crate) asked: Request<Cancel>,
}

/// The request that a handler works on: what was asked, by whom, and the way to tell or ask the client meanwhile.
pub struct Call<'a> {
    driver: &'a Driver,
    job: &'a Job,
    said: Said,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("method", &self.job.asked.method).finish_non_exhaustive()
    }
}

impl<'a> Call<'a> {
    pub(crate) const fn new(driver: &'a Driver, job: &'a Job) -> Self {
        Self { driver, job, said: Said::new() }
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        self.driver.server()
    }

    /// What is asked: `tools/call`, `resources/read`, `prompts/get`, ...
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.job.asked.method
    }

    /// All parameters, `_meta` included: an object that has what the method needs.
    #[must_use]
    pub const fn params(&self) -> &RawJson {
        &self.job.asked.params
    }

    /// The arguments of a tool or prompt, if any were sent.
    #[must_use]
    pub fn arguments(&self) -> Option<JsonRef<'_>> {
        self.job.asked.arguments()
    }

    /// What is known of the asker.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.job.asked.context
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.job.asked.cancel.is_set()
    }

    pub(super) const fn asked(&self) -> &Request<Cancel> {
        &self.job.asked
    }

    /// Sleeps, but no longer than the call is wanted. Whether it was cancelled.
    pub fn sleep(&self, patience: Duration) -> bool {
        self.job.asked.cancel.wait(patience)
    }

    /// Tells how far the work is. Nothing is sent to a client that did not ask for it.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(notice) = self.job.asked.progress(progress, total, message) {
            self.driver.notify(self.job, &notice);
        }
    }

    /// Sends a log message, if the client wants any of this level.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawJson) {
        if let Some(notice) = self.job.asked.log(level, logger, data) {
            self.driver.notify(self.job, &notice);
        }
    }

    /// Lets go of the connection over which the answer is awaited, where the client can come back for it: over HTTP, in
    /// sessions of 2025-11-25. For work that takes longer than connections live. What is told from now on, and the answer,
    /// are kept for the client within bounds
    /// ([`max_replay_bytes`](sanswire::http::endpoint::EndpointConfig::max_replay_bytes)). Whether that was possible;
    /// otherwise nothing has changed.
    ///
    /// Spec: MCP 2025-11-25 basic/transports, "Sending Messages to the Server".
    pub fn close_stream(&self) -> bool {
        self.driver.close_stream(self.job)
    }

    /// Tells what the work used up, besides what was told before. Brakes on tokens and cost count it when the call ends,
    /// however it ends.
    pub fn spend(&self, spent: Spend) {
        self.said.spend(spent);
    }

    /// Tells what kind of failure it is, should this call fail. Without it a failure is
    /// [terminal](ErrorClass::Terminal): trying again does not help.
    pub fn fails_as(&self, class: ErrorClass) {
        self.said.fails_as(class);
    }

    pub(super) const fn said(&self) -> &Said {
        &self.said
    }

    /// Asks the client, in a session, and waits for what becomes of it.
    pub(super) fn ask_client(&self, request: &InputRequest) -> Result<PeerOutcome, ApiError> {
        self.driver.ask(self.job, request)
    }

    pub(super) fn asks(&self) -> &Asks {
        &self.inner().offered.asks
    }
}
