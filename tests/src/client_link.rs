//! What a client scenario needs of the link it runs on.

use sanswire::Instant;
use sanswire::client::{
    Event, InputAnswers, InputRequired, PeerRequestHandle, RequestHandle, RequestOptions, Session,
};
use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;

use crate::peer::{Act, Server, Stream};

/// A client session, a link below it, and a scripted server at the other end, in virtual time.
pub trait ClientLink {
    /// The time.
    fn now(&self) -> Instant;
    /// The session.
    fn session(&self) -> &Session;
    /// What the session told, with the time.
    fn events(&self) -> &[(Instant, Event)];
    /// The server.
    fn server(&self) -> &Server;
    /// The server, to change its answers.
    fn server_mut(&mut self) -> &mut Server;
    /// Does all that can be done now, then moves to the next thing that happens. False: nothing ever will.
    fn step(&mut self) -> bool;
    /// Lets everything happen up to `to`.
    fn run_to(&mut self, to: Instant);
    /// The server does something of its own accord.
    fn act(&mut self, stream: Stream, act: Act);
    /// Whether events stay where they are.
    fn hold(&mut self, holding: bool);
    /// Everything the client wrote, whether it arrived or not.
    fn written(&self) -> Vec<u8>;
    /// What happened, for a failure's text.
    fn report(&self) -> String;

    /// [`Session::request`].
    ///
    /// # Errors
    /// As there.
    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError>;
    /// [`Session::resume`].
    ///
    /// # Errors
    /// As there.
    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError>;
    /// [`Session::notify`].
    ///
    /// # Errors
    /// As there.
    fn notify(&mut self, method: Method, params: Option<RawJson>) -> Result<(), ApiError>;
    /// [`Session::cancel`].
    ///
    /// # Errors
    /// As there.
    fn cancel(&mut self, request: RequestHandle, reason: Option<&str>) -> Result<(), ApiError>;
    /// [`Session::answer`].
    ///
    /// # Errors
    /// As there.
    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError>;
    /// [`Session::close`].
    fn close(&mut self);
}
