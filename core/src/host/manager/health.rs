//! Whether servers that are connected answer at all.

use alloc::format;
use alloc::string::String;
use core::time::Duration;

use super::opening::LOST;
use super::slot::{Kind, Shared, Slot, Stage};
use super::state::{shown, why_not};
use crate::client::Outcome;
use crate::error::ApiError;
use crate::host::event::Event;
use crate::host::link::SessionNumber;

/// How long an answer may take.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

impl Slot {
    /// Asks it for the first page of its listing, of which nothing is kept; if a listing is read already, its next page
    /// tells. Nothing is asked if it is not connected.
    pub(super) fn check_health(&mut self, shared: &mut Shared) {
        let until = shared.now().saturating_add(HEALTH_TIMEOUT);
        let Some(client) = self.client.as_mut().filter(|client| client.stage == Stage::Open) else { return };
        client.health_until.get_or_insert(until);
        if client.run.is_none() {
            self.list(until, Kind::Probe, shared);
        }
    }

    /// A page came, or did not: that is what was to be known.
    pub(super) fn tell_health(&mut self, page: &Result<Outcome, ApiError>, shared: &mut Shared) {
        let error = match page {
            Ok(Outcome::Complete(_)) => None,
            Ok(outcome) => Some(why_not(outcome)),
            Err(error) => Some(format!("{error}")),
        };
        self.health_is(error, shared);
    }

    /// Time ran out.
    pub(super) fn health_due(&mut self, shared: &mut Shared) {
        let now = shared.now();
        if self.client.as_ref().and_then(|client| client.health_until).is_some_and(|until| until <= now) {
            let late = format!("no answer within {} ms", HEALTH_TIMEOUT.as_millis());
            self.health_is(Some(late), shared);
        }
    }

    /// Its connection is over.
    pub(super) fn health_gone(&mut self, session: SessionNumber, shared: &mut Shared) {
        if self.client.as_ref().is_some_and(|client| client.session == session) {
            self.health_is(Some(LOST.into()), shared);
        }
    }

    fn health_is(&mut self, error: Option<String>, shared: &mut Shared) {
        if self.client.as_mut().and_then(|client| client.health_until.take()).is_some() {
            let error = error.map(|error| shown(&shared.mask, &error));
            shared.events.push_back(Event::Health { server: self.name.clone(), error });
        }
    }
}
