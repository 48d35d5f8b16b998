//! A server's connection: opened within its time, lost, given up.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use super::slot::{Client, Kind, Shared, Slot, Stage};
use super::state::{kept, why_closed};
use crate::client::{self, Peer, Start, Verdict, era};
use crate::error::CloseReason;
use crate::host::event::{Effect, Event, Warning};
use crate::host::link::{self, SessionNumber, Status};
use crate::mcp::Method;

/// A connection that ends sooner, without a call, was of no use.
const EARLY: Duration = Duration::from_secs(10);

/// What is said of a connection whose end came with a request's.
pub(super) const LOST: &str = "the connection was lost";

impl Slot {
    /// Carries out what the link says.
    pub(super) fn follow(&mut self, shared: &mut Shared) {
        while let Some(effect) = self.link.poll_effect() {
            match effect {
                link::Effect::Open(session) => {
                    self.client = Some(Client::waiting(session));
                    shared.starting.ask(self.index);
                }
                link::Effect::Shut(session) => self.shut(session, false, shared),
                link::Effect::Status(status) => self.tell(status, shared),
                link::Effect::Settled if !self.settled => {
                    self.settled = true;
                    shared.settled.push_back(self.index);
                }
                link::Effect::Settled => {}
            }
        }
    }

    /// It got a place: its time runs from here on.
    pub(super) fn open(&mut self, shared: &mut Shared) {
        let until = shared.now().saturating_add(self.connect_timeout);
        if let Some(client) = &mut self.client {
            client.stage = Stage::Opening;
            client.until = until;
            client.start = self.start.clone();
            self.send_open(shared);
        }
    }

    fn send_open(&self, shared: &mut Shared) {
        if let Some(client) = &self.client {
            shared.effects.push_back(Effect::Open {
                client: self.handle(client.session),
                server: self.name.clone(),
                start: client.start.clone(),
                until: client.until,
            });
        }
    }

    fn send_shut(&self, session: SessionNumber, failed: bool, shared: &mut Shared) {
        let server = self.name.clone();
        shared.effects.push_back(Effect::Shut { client: self.handle(session), server, failed });
    }

    /// `failed`: nothing came of it.
    fn shut(&mut self, session: SessionNumber, failed: bool, shared: &mut Shared) {
        self.health_gone(session, shared);
        let Some(client) = self.client.take_if(|client| client.session == session) else { return };
        match client.stage {
            Stage::Waiting => return shared.starting.withdraw(self.index),
            Stage::Opening | Stage::Listing => shared.starting.release(),
            Stage::Open if client.queued => shared.relisting.withdraw(self.index),
            Stage::Open => {}
        }
        if client.run.is_some_and(|run| run.kind == Kind::Anew) {
            shared.relisting.release();
        }
        self.send_shut(session, failed, shared);
    }

    /// The status is another. Nothing is told if it is not.
    pub(super) fn tell(&mut self, status: Status, shared: &mut Shared) {
        if core::mem::replace(&mut self.status, status) == status {
            return;
        }
        shared.events.push_back(Event::Status { server: self.name.clone(), status });
        let fails = matches!(status, Status::Failed | Status::Unavailable);
        if status == Status::Connected {
            self.warned = false;
        } else if fails && !self.warned && !shared.closed {
            self.warned = true;
            let error = self.error.clone().unwrap_or_default();
            let warning = Warning::ServerFailed { server: self.name.clone(), error };
            shared.events.push_back(Event::Warning(warning));
        }
    }

    /// An event of its present connection.
    pub(super) fn handle_client(&mut self, event: client::Event, shared: &mut Shared) {
        let Some(client) = &self.client else { return };
        match (event, client.stage) {
            (_, Stage::Waiting) => {}
            (client::Event::Ready(peer), Stage::Opening) => self.ready(peer, shared),
            (client::Event::Verdict(verdict), _) => self.learn(verdict, shared),
            (client::Event::Notification { method, .. }, Stage::Listing | Stage::Open) => {
                self.notified(&method, shared);
            }
            // What was read in the session that the server forgot may be stale.
            (client::Event::Renewed(peer), Stage::Listing | Stage::Open) => {
                self.peer = Some(kept(peer));
                self.notified(&Method::ToolsListChanged, shared);
            }
            (client::Event::Closed(reason), Stage::Opening) => self.ended_early(&reason, shared),
            (client::Event::Closed(reason), _) => self.ended(&why_closed(&reason), shared),
            _ => {}
        }
    }

    /// It introduced itself. Its tools are read now if they never were; else what is offered stays.
    fn ready(&mut self, peer: Box<Peer>, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return };
        client.declared = peer.capabilities.has("tools");
        client.stage = Stage::Listing;
        let until = client.until;
        let listens = Self::can_listen(&peer, shared);
        self.peer = Some(kept(peer));
        self.error = None;
        self.listing_failed = false;
        if listens {
            self.listen(shared);
        }
        if shared.registry.server(&self.name).is_none() {
            self.reread = false;
            self.list(until, Kind::First, shared);
        } else {
            self.opened(shared);
        }
    }

    /// It can be called.
    pub(super) fn opened(&mut self, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return };
        client.stage = Stage::Open;
        client.opened = shared.now();
        let session = client.session;
        shared.starting.release();
        self.tried = true;
        self.link.opened(session);
        self.follow(shared);
        if let Some(peer) = &self.peer {
            let tools = shared.registry.server(&self.name).map_or(0, |tools| tools.count("registered"));
            let (server, revision) = (self.name.clone(), peer.revision);
            shared.events.push_back(Event::Connected { server, revision, tools });
        }
        self.rest(shared);
    }

    fn learn(&mut self, verdict: Verdict, shared: &mut Shared) {
        if matches!(self.start, Start::Pinned(_)) {
            return;
        }
        self.start = Start::Remembered(verdict.clone());
        if self.verdict.as_ref() != Some(&verdict) {
            self.verdict = Some(verdict.clone());
            shared.events.push_back(Event::Verdict { server: self.name.clone(), verdict });
        }
    }

    /// Its connection ended before it was ready. Some servers have to be opened otherwise: that is done at once, in the
    /// same place and time.
    fn ended_early(&mut self, reason: &CloseReason, shared: &mut Shared) {
        let Some(client) = &mut self.client else { return };
        let next = era::next_start(reason, &client.start, u32::from(client.restarted));
        if let Some(next) = next {
            self.start = next.clone();
            let before = client.session;
            if shared.now() < client.until
                && let Some(session) = self.link.again(before)
            {
                client.session = session;
                client.start = next;
                client.restarted = true;
                self.send_shut(before, true, shared);
                return self.send_open(shared);
            }
        }
        self.ended(&why_closed(reason), shared);
    }

    /// Its connection came to its end, or never came to be.
    pub(super) fn ended(&mut self, why: &str, shared: &mut Shared) {
        let Some(client) = &self.client else { return };
        let (session, stage) = (client.session, client.stage);
        let early = !client.used && shared.now().saturating_since(client.opened) < EARLY;
        self.keep_error(why, shared);
        if stage == Stage::Open && early {
            self.link.lost_early(session, shared.now());
        } else if stage == Stage::Open {
            self.link.lost(session);
        } else {
            self.tried = true;
            self.shut(session, true, shared);
            self.link.not_opened(session, shared.now());
        }
        self.follow(shared);
    }

    /// A request of its ended with its connection.
    pub(super) fn lost(&mut self, shared: &mut Shared) {
        self.ended(LOST, shared);
    }

    pub(super) fn handle_timeout(&mut self, shared: &mut Shared) {
        let now = shared.now();
        self.link.handle_timeout(now);
        self.follow(shared);
        let Some(client) = &self.client else { return };
        match client.stage {
            Stage::Opening if client.until <= now => {
                let why = self.late("it was not ready");
                self.ended(&why, shared);
            }
            Stage::Listing if client.until <= now => self.listing_late(shared),
            Stage::Open => {
                self.health_due(shared);
                self.refresh_due(shared);
            }
            Stage::Waiting | Stage::Opening | Stage::Listing => {}
        }
    }

    pub(super) fn late(&self, what: &str) -> String {
        format!("{what} within {} ms (connect_timeout)", self.connect_timeout.as_millis())
    }

    /// Tried anew because somebody says so.
    pub(super) fn reconnect(&mut self, shared: &mut Shared) -> bool {
        let tried = self.link.reconnect();
        self.reread |= tried;
        self.follow(shared);
        tried
    }

    /// Shut for good.
    pub(super) fn close(&mut self, shared: &mut Shared) {
        self.link.close();
        self.follow(shared);
        if self.status != Status::Disabled {
            self.tell(Status::Unavailable, shared);
        }
    }
}
