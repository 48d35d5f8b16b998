//! The client on one stream of lines.

use sanswire::Instant;
use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, LineConnection, Link as _, PeerRequestHandle, RequestHandle,
    RequestOptions, Session,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;

use crate::client_link::ClientLink;
use crate::link::Shape;
use crate::pair::Pair;
use crate::peer::{Act, LinePeer, Server, Stream};

/// A [`LineConnection`] and a [`LinePeer`].
pub type LineLink = Pair<LineConnection, LinePeer>;

/// A client with this configuration and this server, over links of these shapes (to the server, to the client).
///
/// # Panics
/// If the configuration is refused.
#[must_use]
pub fn line_link(config: Config, server: Server, shapes: [Shape; 2], seed: u64, now: Instant) -> LineLink {
    let client = LineConnection::new(config, [7; 32], now).unwrap();
    Pair::new(client, LinePeer::new(server, now), shapes, seed, now)
}

impl ClientLink for LineLink {
    fn now(&self) -> Instant {
        Self::now(self)
    }

    fn session(&self) -> &Session {
        self.a.machine.session()
    }

    fn events(&self) -> &[(Instant, Event)] {
        &self.a.events
    }

    fn server(&self) -> &Server {
        &self.b.machine.server
    }

    fn server_mut(&mut self) -> &mut Server {
        &mut self.b.machine.server
    }

    fn step(&mut self) -> bool {
        Self::step(self)
    }

    fn run_to(&mut self, to: Instant) {
        Self::run_to(self, to);
    }

    fn act(&mut self, _: Stream, act: Act) {
        let now = Self::now(self);
        self.b.machine.act_now(act, now);
    }

    fn hold(&mut self, holding: bool) {
        self.a.holding = holding;
    }

    fn written(&self) -> Vec<u8> {
        self.a.written.clone()
    }

    fn report(&self) -> String {
        Self::report(self)
    }

    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        Self::request(self, method, params, options)
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        let now = Self::now(self);
        let request = self.a.machine.resume(from, answers, options, now)?;
        self.a.ledger.accept(request);
        Ok(request)
    }

    fn notify(&mut self, method: Method, params: Option<RawJson>) -> Result<(), ApiError> {
        let now = Self::now(self);
        self.a.machine.notify(method, params, now)
    }

    fn cancel(&mut self, request: RequestHandle, reason: Option<&str>) -> Result<(), ApiError> {
        let now = Self::now(self);
        self.a.machine.cancel(request, reason, now)
    }

    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError> {
        let now = Self::now(self);
        self.a.machine.answer(peer, answer, now)
    }

    fn close(&mut self) {
        let now = Self::now(self);
        self.a.machine.close(now);
    }
}
