//! What the application asks: of the host, and of a connection in its servers' name.

use super::{ClientHandle, Fleet};
use crate::client::{InputAnswers, Link as _, PeerRequestHandle};
use crate::error::ApiError;
use crate::host::calls::{CallRefused, CallRequest};
use crate::host::event::CallHandle;
use crate::host::machine::Host;
use crate::host::policy::{Answer, ApprovalHandle};
use crate::mcp::types::input::InputAnswer;
use crate::time::Instant;

impl Fleet {
    /// The host, for what it knows.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The host, for what leads to no effect: grants, pages, switches. Make calls, and whatever else has to do with
    /// connections, by the fleet's own methods; here it would wait for the next of them.
    pub const fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// See [`Host::call`].
    ///
    /// # Errors
    /// As there.
    pub fn call(&mut self, request: CallRequest, now: Instant) -> Result<CallHandle, CallRefused> {
        self.ask_host(now, |host, now| host.call(request, now))
    }

    /// See [`Host::cancel`].
    pub fn cancel(&mut self, call: CallHandle, now: Instant) -> bool {
        self.ask_host(now, |host, now| host.cancel(call, now))
    }

    /// See [`Host::answer`].
    pub fn answer(&mut self, approval: ApprovalHandle, answer: Answer, now: Instant) -> bool {
        self.ask_host(now, |host, now| host.answer(approval, answer, now))
    }

    /// See [`Host::resume`].
    pub fn resume(&mut self, call: CallHandle, answers: InputAnswers, now: Instant) -> bool {
        self.ask_host(now, |host, now| host.resume(call, answers, now))
    }

    /// See [`Host::begin_turn`].
    pub fn begin_turn(&mut self, now: Instant) {
        self.ask_host(now, Host::begin_turn);
    }

    /// See [`Host::set_approver`].
    pub fn set_approver(&mut self, there: bool, now: Instant) {
        self.ask_host(now, |host, now| host.set_approver(there, now));
    }

    /// See [`Host::reconnect`].
    pub fn reconnect(&mut self, server: &str, now: Instant) -> bool {
        self.ask_host(now, |host, now| host.reconnect(server, now))
    }

    /// See [`Host::refresh`].
    pub fn refresh(&mut self, server: &str, now: Instant) -> bool {
        self.ask_host(now, |host, now| host.refresh(server, now))
    }

    /// See [`Host::close`]. Streams are told to be shut as soon as their last bytes have left.
    pub fn close(&mut self, now: Instant) {
        self.closed = true;
        self.ask_host(now, Host::close);
    }

    /// Answers a request of a server's ([`FleetEvent::Client`](super::FleetEvent::Client)); see
    /// [`Session::answer`](crate::client::Session::answer).
    ///
    /// # Errors
    /// As there; [`ApiError::Closed`] if there is no such connection any more.
    pub fn answer_peer(
        &mut self,
        client: ClientHandle,
        request: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        self.on(client, now, |machine, now| machine.answer(request, answer, now))
            .unwrap_or(Err(ApiError::Closed))
    }

    fn ask_host<T>(&mut self, now: Instant, ask: impl FnOnce(&mut Host, Instant) -> T) -> T {
        let now = self.clock.advance(now);
        let answer = ask(&mut self.host, now);
        self.settle();
        answer
    }
}
