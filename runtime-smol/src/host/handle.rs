//! What an embedder holds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::Progress;
use sanswire::host::policy::{Answer, ApprovalHandle, Grants};
use sanswire::host::results::{PageFault, PageHandle, TextPage};
use sanswire::host::{
    CallEnd, CallHandle, CallRefused, CallRequest, Host as Machine, HostConfig, ServerState,
};
use sanswire::server::Principal;
use sanswire::waist::Waist;
use sanswire_system::{ConnectError, Exit};

use super::builder::HostBuilder;
use super::call::PendingCall;
use super::shared::Shared;
use super::surface::Approver;
use crate::client::Client;

/// Many servers behind one policy. Clones share it; any number of tasks may use it at once, on any executors.
///
/// A call is made by the future that waits for it, and waits for nobody else's. When the last clone goes without
/// [`close`](Self::close), nothing is waited for: every call is cancelled, and the servers' processes are stopped behind
/// the back of the program, as by dropping each [`Client`].
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut statuses = f.debug_map();
        statuses.entries(self.states().iter().map(|state| (&state.name, state.status))).finish()
    }
}

impl Host {
    /// A host of this configuration, to be set up further.
    pub fn builder(config: HostConfig) -> HostBuilder {
        HostBuilder::new(config)
    }

    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { inner: Arc::new(Inner { shared }) }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    /// Waits until every server was tried once, for `timeout` at most; whether they were. At once where nothing is to
    /// be started, and when the host is closed. Call it as often as you like.
    pub async fn wait_started(&self, timeout: Duration) -> bool {
        let shared = self.shared();
        let until = shared.clock.later(timeout);
        let started = shared.until(Some(until), |state, late| {
            let started = state.desk.machine.is_started();
            (started || state.closing.is_some() || late).then_some(started)
        });
        started.await
    }

    /// Makes a call and waits for its end. Whoever is to be asked about it is asked within this future. To give the call up is
    /// to drop it.
    ///
    /// # Errors
    /// [`CallRefused`]: nothing came of it.
    pub async fn call(&self, request: CallRequest) -> Result<CallEnd, CallRefused> {
        let call = self.shared().begin(request, false)?;
        Ok(PendingCall::new(Arc::clone(self.shared()), call, false).await)
    }

    /// As [`call`](Self::call). Progress is reported within this future; a slow callback delays this call only, and misses
    /// reports once 64 wait.
    ///
    /// # Errors
    /// [`CallRefused`]: nothing came of it.
    pub async fn call_with(
        &self,
        request: CallRequest,
        on_progress: impl FnMut(&Progress),
    ) -> Result<CallEnd, CallRefused> {
        let call = self.shared().begin(request, true)?;
        Ok(PendingCall::new(Arc::clone(self.shared()), call, true).wait_with(on_progress).await)
    }

    /// Makes a call and does not wait. The request leaves at once, unless somebody is to be asked or its server is to
    /// be waited for: then it leaves when the call is waited for.
    ///
    /// # Errors
    /// [`CallRefused`]: nothing came of it.
    pub fn start(&self, request: CallRequest) -> Result<PendingCall, CallRefused> {
        let call = self.shared().begin(request, true)?;
        let mut pending = PendingCall::new(Arc::clone(self.shared()), call, true);
        pending.send();
        Ok(pending)
    }

    /// Gives a call up; whoever waits for it gets its end. False: it is over.
    pub fn cancel(&self, call: CallHandle) -> bool {
        self.shared().act(|machine, now| machine.cancel(call, now))
    }

    /// Answers a question. False: it is not open any more, and nothing happens.
    pub fn answer(&self, approval: ApprovalHandle, answer: Answer) -> bool {
        self.shared().act(|machine, now| machine.answer(approval, answer, now))
    }

    /// Who is asked from now on. `None`: nobody, so that what has to be asked about is denied, what waits included.
    pub fn set_approver(&self, approver: Option<Arc<dyn Approver>>) {
        let shared = self.shared();
        let mut state = shared.lock();
        let there = approver.is_some();
        let before = std::mem::replace(&mut state.approver, approver);
        let now = shared.clock.now();
        state.desk.machine.set_approver(there, now);
        shared.settle(state);
        // Embedder code, so not under the lock.
        drop(before);
    }

    /// A turn begins: what was staged is offered from now on, and calls are counted anew.
    pub fn begin_turn(&self) {
        self.shared().act(Machine::begin_turn);
    }

    /// Whether the session is planning; read at each call.
    pub fn set_plan_mode(&self, on: bool) {
        self.shared().act(|machine, _| machine.set_plan_mode(on));
    }

    /// Whether what would be asked about passes; what is denied stays denied.
    pub fn set_skip_prompts(&self, on: bool) {
        self.shared().act(|machine, _| machine.set_skip_prompts(on));
    }

    /// Tries a server anew, whatever was before. False: there is no such server, or it is disabled.
    pub fn reconnect(&self, server: &str) -> bool {
        self.shared().act(|machine, now| machine.reconnect(server, now))
    }

    /// Reads a server's listing anew. False: it is not connected.
    pub fn refresh(&self, server: &str) -> bool {
        self.shared().act(|machine, now| machine.refresh(server, now))
    }

    /// The servers as they stand, sorted by name. Copies: nothing is asked for that.
    #[must_use]
    pub fn states(&self) -> Vec<ServerState> {
        self.with(Machine::states)
    }

    /// One server.
    #[must_use]
    pub fn state(&self, server: &str) -> Option<ServerState> {
        self.with(|machine| machine.state(server))
    }

    /// Why the last attempt to connect to a server came to nothing; `None` if it did not. [`ServerState::error`] says
    /// it in words that are masked; what stands in this may hold what the server or the system said.
    #[must_use]
    pub fn connect_error(&self, server: &str) -> Option<Arc<ConnectError>> {
        self.shared().lock().ends.why_not(server)
    }

    /// The machine, to be read: what is offered ([`Machine::registry`]), what a model is told of it
    /// ([`Machine::tools_listing`], [`Machine::instructions`]), how it is set up. Everybody who uses the host waits for
    /// `read`, so it should be quick; it must not call this host.
    pub fn with<R>(&self, read: impl FnOnce(&Machine) -> R) -> R {
        read(&self.shared().lock().desk.machine)
    }

    /// What was allowed for the session, to be read or changed, as by [`with`](Self::with).
    pub fn with_grants<R>(&self, work: impl FnOnce(&mut Grants) -> R) -> R {
        work(self.shared().lock().desk.machine.grants_mut())
    }

    /// The waist that calls pass, if [`HostBuilder::waist`] bound one: its records, which wait to be taken, its halts. As by
    /// [`with`](Self::with).
    pub fn with_waist<R>(&self, work: impl FnOnce(&mut Waist) -> R) -> Option<R> {
        self.shared().lock().desk.machine.waist_mut().map(work)
    }

    /// A page of the rest of a result.
    ///
    /// # Errors
    /// [`PageFault`].
    pub fn page(
        &self,
        owner: &Principal,
        handle: PageHandle,
        offset: Option<usize>,
    ) -> Result<TextPage, PageFault> {
        self.shared().act(|machine, now| Ok(machine.page(owner, handle, offset, now)?.into()))
    }

    /// The connection to a server, if it can be called: for resources, prompts, completion. What goes over it passes no
    /// policy, and its notifications are the host's.
    #[must_use]
    pub fn client(&self, server: &str) -> Option<Client> {
        self.shared().lock().desk.current(server)
    }

    /// The present, on the clock that the host's instants are of
    /// ([`ApprovalRequest::expires`](super::ApprovalRequest::expires)).
    #[must_use]
    pub fn now(&self) -> Instant {
        self.shared().clock.now()
    }

    /// Lists the tools of each server that can be called, side by side, within `limit`: whether it answers, and what is
    /// wrong if not.
    pub async fn health(&self, limit: Duration) -> Vec<(Arc<str>, Result<(), String>)> {
        self.shared().health(limit).await
    }

    /// Cancels every call and shuts every connection, all side by side. Ready when their processes are gone, after
    /// [`shutdown_total`](HostBuilder::shutdown_total) at the latest; how the last process of each server ended, sorted
    /// by name. A second call gives the same. Once it was polled the end takes its course, whether anybody waits for it or
    /// not.
    pub async fn close(&self) -> Vec<(String, Exit)> {
        self.shared().close().await
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}
