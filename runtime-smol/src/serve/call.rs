//! What a handler sees of the request it works on.

use std::future::poll_fn;
use std::sync::Arc;

use sanswire::error::ApiError;
use sanswire::http::endpoint::SessionHandle;
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputRequest;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::kit::{self, Request, ToolError};
use sanswire::server::{Context, Notice, PeerOutcome};
use sanswire::waist::{ErrorClass, Spend};
use sanswire_system::serve::{Asks, Cancel, Said};
use serde::de::DeserializeOwned;

use crate::serve::http;
use crate::serve::hub::Hub;
use crate::serve::server::{Inner, Server};

/// The request that a handler works on: what was asked, by whom, and the way to tell or ask the client meanwhile. Clones
/// are the same call; it may be kept and moved to other tasks.
#[derive(Clone)]
pub struct Call {
    inner: Arc<OpenCall>,
}

struct OpenCall {
    server: Arc<Inner>,
    way: Way,
    asked: Request<Cancel>,
    said: Said,
}

/// The way back to the asker.
pub(super) enum Way {
    /// A connection of lines.
    Lines(Arc<Hub>),
    /// A session of an HTTP endpoint.
    Http(Arc<http::Hub>, SessionHandle),
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("method", self.method()).finish_non_exhaustive()
    }
}

impl Call {
    pub(super) fn new(server: Arc<Inner>, way: Way, asked: Request<Cancel>) -> Self {
        Self { inner: Arc::new(OpenCall { server, way, asked, said: Said::new() }) }
    }

    /// The parameters, for the machine to use their room again. A handler that keeps the call keeps them.
    pub(super) fn into_params(self) -> RawJson {
        match Arc::try_unwrap(self.inner) {
            Ok(call) => call.asked.params,
            Err(kept) => kept.asked.params.clone(),
        }
    }

    pub(super) fn asked(&self) -> &Request<Cancel> {
        &self.inner.asked
    }

    /// The session that it came in, over HTTP.
    pub(super) fn session(&self) -> Option<SessionHandle> {
        match &self.inner.way {
            Way::Lines(_) => None,
            Way::Http(_, session) => Some(*session),
        }
    }

    /// What is asked: `tools/call`, `resources/read`, `prompts/get`, ...
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.inner.asked.method
    }

    /// All parameters, `_meta` included: an object that has what the method needs.
    #[must_use]
    pub fn params(&self) -> &RawJson {
        &self.inner.asked.params
    }

    /// The arguments of a tool or prompt, if any were sent.
    #[must_use]
    pub fn arguments(&self) -> Option<JsonRef<'_>> {
        self.inner.asked.arguments()
    }

    /// One argument of a tool or prompt. One that is optional is read as an `Option`.
    ///
    /// # Errors
    /// [`ToolError::Arguments`]: it is missing, or does not fit.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, ToolError> {
        kit::argument(self.arguments(), name)
    }

    /// What is known of the asker.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.inner.asked.context
    }

    /// Whether nobody waits for the answer any more; so it is once it was given.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.asked.cancel.is_set()
    }

    /// Ends when nobody waits for the answer any more, and once it was given, for tasks that go on after their handler. A
    /// handler that is not interested runs on, and what it comes to goes nowhere; over HTTP it is dropped after half a second
    /// where another request waits for its place.
    pub async fn cancelled(&self) {
        poll_fn(|cx| self.inner.asked.cancel.poll(cx)).await;
    }

    /// Tells how far the work is. Nothing is sent to a client that did not ask for it.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(notice) = self.inner.asked.progress(progress, total, message) {
            self.notify(&notice);
        }
    }

    /// Sends a log message, if the client wants any of this level.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawJson) {
        if let Some(notice) = self.inner.asked.log(level, logger, data) {
            self.notify(&notice);
        }
    }

    fn notify(&self, notice: &Notice) {
        let request = self.inner.asked.request;
        match &self.inner.way {
            Way::Lines(hub) => hub.notify(request, notice),
            Way::Http(hub, session) => hub.notify(*session, request, notice),
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
        match &self.inner.way {
            Way::Lines(_) => false,
            Way::Http(hub, session) => hub.close_stream(*session, self.inner.asked.request),
        }
    }

    /// Tells what the work used up, besides what was told before. Brakes on tokens and cost count it when the call ends,
    /// however it ends.
    pub fn spend(&self, spent: Spend) {
        self.inner.said.spend(spent);
    }

    /// Tells what kind of failure it is, should this call fail. Without it a failure is
    /// [terminal](ErrorClass::Terminal): trying again does not help.
    pub fn fails_as(&self, class: ErrorClass) {
        self.inner.said.fails_as(class);
    }

    /// The server that answers: for handlers that change what it lists, or tell of changed resources.
    #[must_use]
    pub fn server(&self) -> Server {
        Server::of(&self.inner.server)
    }

    pub(super) fn said(&self) -> &Said {
        &self.inner.said
    }

    /// Asks the client, in a session, and waits for what becomes of it.
    pub(super) async fn ask_client(&self, request: &InputRequest) -> Result<PeerOutcome, ApiError> {
        let asked = self.inner.asked.request;
        let question = match &self.inner.way {
            Way::Lines(hub) => hub.ask(asked, request),
            Way::Http(hub, session) => hub.ask(*session, asked, request),
        };
        Ok(question?.await)
    }

    pub(super) fn asks(&self) -> &Asks {
        &self.inner.server.offered.asks
    }
}
