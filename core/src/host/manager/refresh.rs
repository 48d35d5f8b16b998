//! A listing that changes while its server is connected: noticed, and read anew.

use core::time::Duration;

use super::slot::{Kind, Shared, Slot, Stage};
use crate::client::{Outcome, Peer};
use crate::error::ApiError;
use crate::host::config::RefreshMode;
use crate::host::event::{ClientHandle, RequestKey};
use crate::jsonrpc::RawJson;
use crate::mcp::types::subscription::SubscriptionFilter;
use crate::mcp::{Era, Method};
use crate::time::{Instant, earliest};

/// How long reading a listing anew may take.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(30);

/// From one listing to the next that its server asks for by saying that it changed, so that no server keeps a host
/// busy.
const REST: Duration = Duration::from_secs(1);

/// From the end of a subscription to the next.
const LISTEN_PAUSE: Duration = Duration::from_secs(30);

impl Slot {
    /// Whether changes of its tools have to be asked for, and are wanted.
    pub(super) fn can_listen(peer: &Peer, shared: &Shared) -> bool {
        shared.refresh.mode != RefreshMode::Frozen
            && peer.era == Era::Modern
            && peer.capabilities.flag("tools", "listChanged")
    }

    /// Asks to be told of changes, before the listing is read: none falls between.
    pub(super) fn listen(&mut self, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return };
        client.listen_at = None;
        let handle = ClientHandle { slot: self.index, session: client.session };
        let params = RawJson::object(|w| {
            w.object("notifications", |w| SubscriptionFilter::new().tools().write(w));
        });
        let request = (Method::SubscriptionsListen, Some(params));
        shared.request(RequestKey::Listen(handle), handle, request, None);
    }

    /// Its subscription is over. One that the server ended is made again after a while; one that it refused is not.
    pub(super) fn listened(&mut self, outcome: &Result<Outcome, ApiError>, shared: &Shared) {
        let again = matches!(
            outcome,
            Ok(Outcome::Complete(_)
                | Outcome::Cancelled
                | Outcome::Lost { .. }
                | Outcome::SessionGone { .. }
                | Outcome::TimedOut { .. })
        );
        if let Some(client) = self.client.as_mut().filter(|_| again) {
            client.listen_at = Some(shared.now().saturating_add(LISTEN_PAUSE));
        }
    }

    /// Its present connection told something.
    pub(super) fn notified(&mut self, method: &Method, shared: &mut Shared) {
        if *method == Method::ToolsListChanged && shared.refresh.mode != RefreshMode::Frozen {
            let now = shared.now();
            self.list_soon(|rested| rested.max(now), shared);
        }
    }

    /// Reads its listing anew. False: it is not connected.
    pub(super) fn refresh(&mut self, shared: &mut Shared) -> bool {
        let open = self.client.as_ref().is_some_and(|client| client.stage == Stage::Open);
        if open {
            let now = shared.now();
            self.list_soon(|_| now, shared);
        }
        open
    }

    /// Reads its listing anew at a time that depends on when it may be read again; if it is being read, once more then.
    fn list_soon(&mut self, when: impl FnOnce(Instant) -> Instant, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return };
        if client.run.is_some() {
            client.changed = true;
        } else {
            let when = when(client.rested);
            client.list_at = earliest(client.list_at, Some(when));
            self.refresh_due(shared);
        }
    }

    /// A listing was read, or need not be: when is the next?
    pub(super) fn rest(&mut self, shared: &mut Shared) {
        let now = shared.now();
        let frozen = shared.refresh.mode == RefreshMode::Frozen;
        let reread = core::mem::take(&mut self.reread) && !frozen;
        let Some(client) = &mut self.client else { return };
        client.rested = now.saturating_add(REST);
        let poll = shared.refresh.poll.filter(|poll| !frozen && !poll.is_zero());
        client.list_at = poll.map(|poll| now.saturating_add(poll.max(REST)));
        if core::mem::take(&mut client.changed) {
            client.list_at = Some(client.rested);
        }
        if reread {
            client.list_at = Some(now);
        }
        self.refresh_due(shared);
    }

    /// It was only asked whether it answers: what was due before is due still.
    pub(super) fn probed(&mut self, shared: &mut Shared) {
        if let Some(client) = &mut self.client
            && core::mem::take(&mut client.changed)
        {
            client.list_at = earliest(client.list_at, Some(client.rested.max(shared.now())));
        }
        self.refresh_due(shared);
    }

    /// Does what is due while it can be called.
    pub(super) fn refresh_due(&mut self, shared: &mut Shared) {
        let now = shared.now();
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let Some(client) = self.client.as_mut().filter(|client| client.stage == Stage::Open) else { return };
        let listens = is_due(client.listen_at);
        if listens {
            // What changed while nobody listened was told to nobody.
            client.list_at = Some(now);
        }
        if client.run.is_none() && !client.queued && is_due(client.list_at) {
            client.queued = true;
            shared.relisting.ask(self.index);
        }
        if listens {
            self.listen(shared);
        }
    }

    /// Its turn has come: its time runs from here on. While it is asked whether it answers it gives its turn up, and
    /// wants the next one afterwards.
    pub(super) fn list_anew(&mut self, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return shared.relisting.release() };
        client.queued = false;
        if client.run.is_some() {
            return shared.relisting.release();
        }
        self.list(shared.now().saturating_add(REFRESH_TIMEOUT), Kind::Anew, shared);
    }
}
