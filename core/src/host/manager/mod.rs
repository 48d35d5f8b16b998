//! The servers of a host: opened side by side, listed, lost, tried anew, given up, shut.
//!
//! ```text
//!            ┌─ waits for a place ─▶ opened ── ready ──▶ first listing ──▶ can be called ─┐
//!  attempt ──┤                         │ restarted otherwise, once          │ read anew   ├─ lost ─▶ next attempt
//!            │                         └──── fails, or is late ─────────────│─▶ failed    │
//!            └──────────────────────── at most `max_starting` ──────────────┘             └─ shut
//! ```
//!
//! What a server's [`Reconnect`](super::link::Reconnect) decides is carried out here: [`Slot`] is one server, a part of
//! it in each file; what they share is in [`Shared`].

mod health;
mod listing;
mod opening;
mod places;
mod refresh;
mod slot;
mod state;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::places::Places;
use self::slot::{Shared, Slot};
pub use self::state::ServerState;
pub(super) use self::state::{MAX_ERROR_BYTES, MAX_INTRODUCTION_BYTES};
use super::calls::{Reach, Way};
use super::catalog::Registry;
use super::config::{Carrier, HostConfig};
use super::event::{ClientHandle, Effect, Event, Warning};
use super::link::{Gate, Status};
use crate::client::{self, Outcome, Peer};
use crate::error::{ApiError, ConfigError};
use crate::time::{Instant, Monotonic, earliest};

/// The servers.
#[derive(Debug)]
pub(super) struct Manager {
    /// Sorted by name.
    slots: Vec<Slot>,
    shared: Shared,
    /// Whose waiting calls go on at this moment.
    settling: Option<u32>,
    /// That all were tried was told.
    started: bool,
}

impl Manager {
    pub(super) fn new(config: &HostConfig, now: Instant) -> Result<Self, ConfigError> {
        let within = |field, max: usize, got: usize| {
            let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
            let fault = ConfigError { field, min: 1, max: number(max), got: number(got) };
            if (1..=max).contains(&got) { Ok(()) } else { Err(fault) }
        };
        within("max_starting", 1024, config.max_starting)?;
        within("servers", super::bounds::MAX_SERVERS, config.servers.len().max(1))?;
        config.definitions.check()?;
        config.limits.check()?;
        let slots = config.servers.iter().zip(0..);
        let slots = slots.map(|((name, server), index)| Slot::new(index, name, server, config));
        let mut this = Self {
            slots: slots.collect::<Result<_, _>>()?,
            shared: Shared {
                clock: Monotonic::new(now),
                mask: config.mask.clone(),
                limits: config.limits.clone(),
                refresh: config.refresh,
                registry: Registry::new(config.naming),
                starting: Places::new(config.max_starting),
                relisting: Places::new(config.max_starting),
                events: VecDeque::new(),
                effects: VecDeque::new(),
                settled: VecDeque::new(),
                closed: false,
            },
            settling: None,
            started: false,
        };
        for slot in &mut this.slots {
            slot.follow(&mut this.shared);
        }
        this.go_on();
        Ok(this)
    }

    /// The time is `now`, for what is asked by [`Reach`].
    pub(super) fn at(&mut self, now: Instant) {
        self.shared.clock.advance(now);
    }

    pub(super) fn handle_client(&mut self, client: ClientHandle, event: client::Event, now: Instant) {
        self.of_present(client, now, |slot, shared| slot.handle_client(event, shared));
    }

    /// A connection could not be opened at all; why, in words.
    pub(super) fn handle_not_opened(&mut self, client: ClientHandle, error: &str, now: Instant) {
        self.of_present(client, now, |slot, shared| slot.ended(error, shared));
    }

    /// Of a listing.
    pub(super) fn handle_outcome(
        &mut self,
        client: ClientHandle,
        outcome: Result<Outcome, ApiError>,
        now: Instant,
    ) {
        self.of_present(client, now, |slot, shared| slot.handle_page(outcome, shared));
    }

    /// Of a `subscriptions/listen`: it is over.
    pub(super) fn handle_listen(
        &mut self,
        client: ClientHandle,
        outcome: &Result<Outcome, ApiError>,
        now: Instant,
    ) {
        self.of_present(client, now, |slot, shared| slot.listened(outcome, shared));
    }

    /// What was staged is offered from now on.
    pub(super) fn begin_turn(&mut self, now: Instant) {
        self.of_all(now, Slot::begin_turn);
    }

    /// False: there is no such server, it is disabled, or the host is closed.
    pub(super) fn reconnect(&mut self, server: &str, now: Instant) -> bool {
        self.of_named(server, now, Slot::reconnect).unwrap_or(false)
    }

    /// Reads a server's listing anew. False: it is not connected.
    pub(super) fn refresh(&mut self, server: &str, now: Instant) -> bool {
        self.of_named(server, now, Slot::refresh).unwrap_or(false)
    }

    /// How many servers are asked whether they answer.
    pub(super) fn check_health(&mut self, now: Instant) -> usize {
        self.of_all(now, Slot::check_health);
        self.slots.iter().filter(|slot| slot.is_checked()).count()
    }

    pub(super) fn close(&mut self, now: Instant) {
        self.shared.closed = true;
        self.of_all(now, Slot::close);
    }

    /// Every server was tried once, or none will be any more.
    pub(super) const fn is_started(&self) -> bool {
        self.started || self.shared.closed
    }

    pub(super) fn state(&self, server: &str) -> Option<ServerState> {
        Some(self.slots.get(self.find(server)?)?.state(&self.shared.registry))
    }

    /// Sorted by name.
    pub(super) fn states(&self) -> Vec<ServerState> {
        self.slots.iter().map(|slot| slot.state(&self.shared.registry)).collect()
    }

    /// The servers that introduced themselves, sorted by name.
    pub(super) fn peers(&self) -> impl Iterator<Item = (&str, Status, &Peer)> {
        self.slots.iter().filter_map(|slot| Some((&*slot.name, slot.status, &**slot.peer.as_ref()?)))
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.of_all(now, Slot::handle_timeout);
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.slots.iter().fold(None, |first, slot| earliest(first, slot.poll_timeout()))
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop_front()
    }

    pub(super) fn poll_effect(&mut self) -> Option<Effect> {
        self.shared.effects.pop_front()
    }

    /// The next server whose waiting calls go on. Until this is asked again, none of them starts another attempt: what
    /// they waited for has failed.
    pub(super) fn poll_settled(&mut self) -> Option<Arc<str>> {
        self.settling = self.shared.settled.pop_front();
        let index = self.settling?;
        let slot = self.slots.get_mut(usize::try_from(index).ok()?)?;
        slot.settled = false;
        Some(slot.name.clone())
    }

    /// Bytes that the servers' tools, introductions, errors and listings hold.
    pub(super) fn retained_bytes(&self) -> usize {
        let each = self.slots.iter().map(|slot| slot.retained_bytes(&self.shared.registry));
        each.fold(0, usize::saturating_add)
    }

    fn find(&self, server: &str) -> Option<usize> {
        self.slots.binary_search_by(|slot| (*slot.name).cmp(server)).ok()
    }

    fn of_named<T>(
        &mut self,
        server: &str,
        now: Instant,
        change: impl FnOnce(&mut Slot, &mut Shared) -> T,
    ) -> Option<T> {
        self.at(now);
        let index = self.find(server)?;
        let changed = change(self.slots.get_mut(index)?, &mut self.shared);
        self.go_on();
        Some(changed)
    }

    /// What comes of a connection that was replaced or shut is dropped.
    fn of_present(
        &mut self,
        client: ClientHandle,
        now: Instant,
        change: impl FnOnce(&mut Slot, &mut Shared),
    ) {
        self.at(now);
        let slot = usize::try_from(client.slot).ok().and_then(|index| self.slots.get_mut(index));
        if let Some(slot) = slot.filter(|slot| slot.is_present(client)) {
            change(slot, &mut self.shared);
            self.go_on();
        }
    }

    fn of_all(&mut self, now: Instant, change: impl Fn(&mut Slot, &mut Shared)) {
        self.at(now);
        for slot in &mut self.slots {
            change(slot, &mut self.shared);
        }
        self.go_on();
    }

    /// Begins what has a place, and tells once that all were tried.
    fn go_on(&mut self) {
        while let Some(index) = self.shared.starting.admit() {
            if let Some(slot) = usize::try_from(index).ok().and_then(|index| self.slots.get_mut(index)) {
                slot.open(&mut self.shared);
            }
        }
        while let Some(index) = self.shared.relisting.admit() {
            if let Some(slot) = usize::try_from(index).ok().and_then(|index| self.slots.get_mut(index)) {
                slot.list_anew(&mut self.shared);
            }
        }
        let enabled = || self.slots.iter().filter(|slot| slot.status != Status::Disabled);
        if self.is_started() || !enabled().all(|slot| slot.tried) {
            return;
        }
        let (failed, enabled) = (enabled().filter(|slot| slot.warned).count(), enabled().count());
        if failed > 0 {
            self.shared.events.push_back(Event::Warning(Warning::Summary { failed, enabled }));
        }
        self.shared.events.push_back(Event::Started);
        self.started = true;
    }
}

impl Reach for Manager {
    fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    fn way(&mut self, server: &str) -> Way {
        let unknown = || Way::Refuse { status: Status::Disabled, error: "there is no such server".into() };
        let Some(slot) = self.find(server).and_then(|index| self.slots.get_mut(index)) else {
            return unknown();
        };
        let gate = if self.settling == Some(slot.index) && slot.status == Status::Failed {
            Gate::Refuse(Status::Failed)
        } else {
            slot.link.call()
        };
        match gate {
            Gate::Go(session) => {
                if let Some(client) = &mut slot.client {
                    client.used = true;
                }
                Way::Go(slot.handle(session))
            }
            Gate::Wait => {
                slot.follow(&mut self.shared);
                self.go_on();
                Way::Wait
            }
            Gate::Refuse(status) => Way::Refuse { status, error: slot.error.clone().unwrap_or_default() },
        }
    }

    fn lost(&mut self, client: ClientHandle, now: Instant) {
        self.of_present(client, now, |slot, shared| {
            if slot.carrier == Carrier::Stream {
                slot.lost(shared);
            }
        });
    }

    fn gone(&mut self, client: ClientHandle, now: Instant) {
        self.of_present(client, now, Slot::lost);
    }

    fn sub_agents(&self, server: &str) -> &[String] {
        self.find(server).and_then(|index| self.slots.get(index)).map_or(&[], |slot| &slot.sub_agents)
    }
}

#[cfg(test)]
mod tests;
