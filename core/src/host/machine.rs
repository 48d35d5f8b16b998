//! The host: servers and calls, joined.

use alloc::string::String;
use alloc::vec::Vec;

use super::calls::{CallRefused, CallRequest, Calls, Reach as _};
use super::catalog::{Exposed, Registry, meta_tools_hint, tools_listing};
use super::config::HostConfig;
use super::event::{CallHandle, ClientHandle, Effect, Event, RequestKey};
use super::manager::{Manager, ServerState};
use super::policy::{Answer, ApprovalHandle, Grants};
use super::results::{Page, PageFault, PageHandle};
use crate::client::{self, InputAnswers, Outcome, Progress};
use crate::error::{ApiError, ConfigError};
use crate::jsonrpc::RawJson;
use crate::server::Principal;
use crate::time::{Instant, earliest};
use crate::waist::Waist;

/// Many servers behind one policy, as a state machine.
///
/// It stands beside the connections, not above them: it says which to open, shut and ask ([`Effect`]), is told what
/// came of that, and never sees a byte. So each connection can have a lock of its own, and the host is locked for a
/// decision only.
///
/// Whatever goes in, take out afterwards what [`poll_effect`](Self::poll_effect) and [`poll_event`](Self::poll_event)
/// give, until they give nothing; then wait no longer than [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    manager: Manager,
    calls: Calls,
}

impl Host {
    /// A host whose first effects open its servers, as many at once as may be.
    ///
    /// # Errors
    /// A setting is out of bounds.
    pub fn new(config: HostConfig, now: Instant) -> Result<Self, ConfigError> {
        Ok(Self { manager: Manager::new(&config, now)?, calls: Calls::new(&config)?, config })
    }

    /// Handles of calls and of questions count up from here on, where they are not beyond that already. Who drives several
    /// hosts gives each a range of its own, so that an answer that is meant for one is never taken by another. They
    /// count from 0 otherwise.
    pub fn count_from(&mut self, first: u64) {
        self.calls.count_from(first);
    }

    /// Asks for a call. It is decided at once: made, asked about, or denied; each accepted call, denied ones among
    /// them, ends in one [`Event::Finished`].
    ///
    /// # Errors
    /// [`CallRefused`]: it was not accepted.
    pub fn call(&mut self, request: CallRequest, now: Instant) -> Result<CallHandle, CallRefused> {
        self.manager.at(now);
        let call = self.calls.begin(request, &mut self.manager, now);
        self.settle(now);
        call
    }

    /// Gives a call up. False: it is over.
    pub fn cancel(&mut self, call: CallHandle, now: Instant) -> bool {
        self.calls.cancel(call, now)
    }

    /// Answers [`Event::Approval`]. False: the question is not open any more, and nothing happens.
    pub fn answer(&mut self, approval: ApprovalHandle, answer: Answer, now: Instant) -> bool {
        self.manager.at(now);
        let open = self.calls.answer(approval, answer, &mut self.manager, now);
        self.settle(now);
        open
    }

    /// The calls that a question is about, the one that came first at the front: several if they are the same. None if
    /// the question is not open any more.
    #[must_use]
    pub fn asked_about(&self, approval: ApprovalHandle) -> &[CallHandle] {
        self.calls.asked_about(approval)
    }

    /// Goes on with a call that asked for input. False: it does not wait for any.
    pub fn resume(&mut self, call: CallHandle, answers: InputAnswers, now: Instant) -> bool {
        self.manager.at(now);
        let waits = self.calls.resume(call, answers, &mut self.manager, now);
        self.settle(now);
        waits
    }

    /// Takes an event of a connection. Those of requests are told by [`handle_outcome`](Self::handle_outcome) and
    /// [`handle_progress`](Self::handle_progress) under their own names, and ignored here.
    pub fn handle_client(&mut self, client: ClientHandle, event: client::Event, now: Instant) {
        self.manager.handle_client(client, event, now);
        self.settle(now);
    }

    /// A connection could not be opened at all, or never became ready; why, in words.
    pub fn handle_not_opened(&mut self, client: ClientHandle, error: &str, now: Instant) {
        self.manager.handle_not_opened(client, error, now);
        self.settle(now);
    }

    /// Takes the outcome of a request. One that nobody waits for any more is dropped.
    pub fn handle_outcome(&mut self, key: RequestKey, outcome: Result<Outcome, ApiError>, now: Instant) {
        self.manager.at(now);
        match key {
            RequestKey::Call(call) => self.calls.handle_outcome(call, outcome, &mut self.manager, now),
            RequestKey::Listing(client) => self.manager.handle_outcome(client, outcome, now),
            RequestKey::Listen(client) => self.manager.handle_listen(client, &outcome, now),
        }
        self.settle(now);
    }

    /// Takes the progress of a request.
    pub fn handle_progress(&mut self, key: RequestKey, progress: Progress, now: Instant) {
        if let RequestKey::Call(call) = key {
            self.calls.handle_progress(call, progress, now);
        }
    }

    /// A turn begins: what was staged is offered from now on, and calls are counted anew.
    pub fn begin_turn(&mut self, now: Instant) {
        self.manager.begin_turn(now);
        self.calls.begin_turn();
        self.settle(now);
    }

    /// Whether the session is planning; read at each call.
    pub fn set_plan_mode(&mut self, on: bool) {
        self.calls.set_plan_mode(on);
    }

    /// Whether there is somebody to ask; read at each call. Default: nobody, so that what has to be asked about is
    /// denied.
    pub fn set_approver(&mut self, there: bool, now: Instant) {
        self.calls.set_approver(there, now);
    }

    /// Whether what would be asked about passes; what is denied stays denied.
    pub fn set_skip_prompts(&mut self, on: bool) {
        self.calls.set_skip_prompts(on);
    }

    /// Tries a server anew, whatever was before. False: there is no such server, or it is disabled.
    pub fn reconnect(&mut self, server: &str, now: Instant) -> bool {
        let tried = self.manager.reconnect(server, now);
        self.settle(now);
        tried
    }

    /// Reads a server's listing anew. False: it is not connected.
    pub fn refresh(&mut self, server: &str, now: Instant) -> bool {
        self.manager.refresh(server, now)
    }

    /// Asks every connected server for its listing and tells of each by [`Event::Health`], within 10 s: it answers, or
    /// why not. Nothing changes by that. So many are asked.
    pub fn check_health(&mut self, now: Instant) -> usize {
        self.manager.check_health(now)
    }

    /// Ends every call as cancelled and shuts every connection, for good.
    pub fn close(&mut self, now: Instant) {
        self.calls.close(now);
        self.manager.close(now);
        self.settle(now);
    }

    /// Time passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.manager.handle_timeout(now);
        self.settle(now);
        self.calls.handle_timeout(&mut self.manager, now);
        self.settle(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        earliest(self.manager.poll_timeout(), self.calls.poll_timeout())
    }

    /// What is to be done next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.manager.poll_effect().or_else(|| self.calls.poll_effect())
    }

    /// What is to be told next.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.manager.poll_event().or_else(|| self.calls.poll_event())
    }

    /// Whether every server was tried once.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.manager.is_started()
    }

    /// The servers, sorted by name.
    #[must_use]
    pub fn states(&self) -> Vec<ServerState> {
        self.manager.states()
    }

    /// One server.
    #[must_use]
    pub fn state(&self, server: &str) -> Option<ServerState> {
        self.manager.state(server)
    }

    /// What is offered.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.manager.registry()
    }

    /// How a model is told of it.
    #[must_use]
    pub fn exposed(&self) -> Exposed {
        self.config.exposure.of(self.registry())
    }

    /// What a model is told of the tools now, as [`exposed`](Self::exposed) says: an array of `Tool` objects, the same to
    /// the byte for as long as nothing changes what is offered.
    #[must_use]
    pub fn tools_listing(&self) -> RawJson {
        tools_listing(self.registry(), self.exposed())
    }

    /// What is added to a model's instructions, if anything: how tools are found in lazy mode, and what servers say of
    /// themselves where that is shown.
    #[must_use]
    pub fn instructions(&self) -> Option<String> {
        let hint = if self.exposed().lazy { meta_tools_hint(self.registry()) } else { None };
        let given = self.manager.peers();
        let given =
            given.filter_map(|(name, status, peer)| Some((name, status, peer.instructions.as_deref()?)));
        let said = self.config.instructions.section(given, &self.config.mask);
        match (hint, said) {
            (Some(hint), Some(said)) => Some(alloc::format!("{hint}\n\n{said}")),
            (hint, said) => hint.or(said),
        }
    }

    /// What was allowed for the session.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        self.calls.grants()
    }

    /// The same, to be changed: what was allowed before this session, what is taken back.
    pub fn grants_mut(&mut self) -> &mut Grants {
        self.calls.grants_mut()
    }

    /// Every call passes this waist from now on, once it was let through and before its server is woken: hooks, its
    /// grant (of exposed names), the boundary of each server ([`trust`](super::ServerConfig::trust),
    /// [`tier`](super::ServerConfig::tier)), brakes. Bind it before the first call.
    pub fn set_waist(&mut self, waist: Waist) {
        self.calls.set_waist(waist);
    }

    /// The waist that calls pass, if there is one: its records, its halts.
    pub fn waist_mut(&mut self) -> Option<&mut Waist> {
        self.calls.waist_mut()
    }

    /// Bytes of open calls, of questions, of kept rests, and of results that were not taken out.
    #[must_use]
    pub fn call_bytes(&self) -> usize {
        self.calls.retained_bytes()
    }

    /// Bytes that calls and servers hold: what is above, and tools, introductions and listings. Never more than
    /// [`HostConfig::worst_case_bytes`].
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.manager.retained_bytes().saturating_add(self.calls.retained_bytes())
    }

    /// A page of the rest of a result.
    ///
    /// # Errors
    /// [`PageFault`].
    pub fn page(
        &mut self,
        owner: &Principal,
        handle: PageHandle,
        offset: Option<usize>,
        now: Instant,
    ) -> Result<Page<'_>, PageFault> {
        self.calls.page(owner, handle, offset, now)
    }

    /// How it is set up.
    #[must_use]
    pub const fn config(&self) -> &HostConfig {
        &self.config
    }

    fn settle(&mut self, now: Instant) {
        while let Some(server) = self.manager.poll_settled() {
            self.calls.settled(&server, &mut self.manager, now);
        }
    }
}

#[cfg(test)]
mod tests;
