//! A server that is there but answers nothing any more: found out by asking it something small.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::{Calls, Reach};
use crate::client::{Outcome, RequestOptions};
use crate::error::{ApiError, ConfigError};
use crate::host::config::ProbeSettings;
use crate::host::event::{CallHandle, ClientHandle, Effect, RequestKey};
use crate::mcp::Method;
use crate::time::{Instant, earliest};

/// The servers whose calls ran out of time, and those that are being asked whether they still answer.
#[derive(Debug)]
pub(super) struct Probes {
    settings: ProbeSettings,
    /// By server: the connection, and how many calls in a row nothing came of.
    mute: BTreeMap<Arc<str>, (ClientHandle, u32)>,
    open: BTreeMap<CallHandle, (ClientHandle, Instant)>,
}

impl Probes {
    pub(super) fn new(settings: ProbeSettings) -> Result<Self, ConfigError> {
        let limit = u64::try_from(settings.limit.as_millis()).unwrap_or(u64::MAX);
        let max = u64::from(u32::MAX);
        if limit == 0 || limit > max {
            return Err(ConfigError { field: "probe.limit", min: 1, max, got: limit });
        }
        Ok(Self { settings, mute: BTreeMap::new(), open: BTreeMap::new() })
    }

    /// Something came from the server.
    pub(super) fn answers(&mut self, server: &str) {
        self.mute.remove(server);
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().fold(None, |first, (_, at)| earliest(first, Some(*at)))
    }
}

impl Calls {
    /// A call that was sent ran out of time. After some in a row the server is asked whether it still answers.
    pub(super) fn was_mute(&mut self, server: &Arc<str>, client: ClientHandle, now: Instant) {
        let Probes { settings, mute, open } = &mut self.probes;
        if settings.after == 0 {
            return;
        }
        let (of, count) = mute.entry(server.clone()).or_insert((client, 0));
        if *of != client {
            (*of, *count) = (client, 0);
        }
        *count = count.saturating_add(1);
        if *count >= settings.after && !open.values().any(|(asked, _)| *asked == client) {
            *count = 0;
            self.probe(client, Method::Ping, now);
        }
    }

    fn probe(&mut self, client: ClientHandle, method: Method, now: Instant) {
        let (probe, limit) = (self.table.new_handle(), self.probes.settings.limit);
        self.probes.open.insert(probe, (client, now.saturating_add(limit)));
        let options =
            RequestOptions { idle: Some(limit), absolute: Some(limit), ..RequestOptions::default() };
        let (key, options) = (RequestKey::Call(probe), Box::new(options));
        self.out.effect(Effect::Request { key, client, method, params: None, options });
    }

    /// False: it is the outcome of a call.
    pub(super) fn handle_probe(
        &mut self,
        probe: CallHandle,
        outcome: &Result<Outcome, ApiError>,
        reach: &mut impl Reach,
        now: Instant,
    ) -> bool {
        let Some((client, _)) = self.probes.open.remove(&probe) else { return false };
        match outcome {
            Ok(Outcome::TimedOut { .. } | Outcome::Lost { .. } | Outcome::SessionGone { .. }) => {
                reach.gone(client, now);
            }
            // The newest revision has no ping.
            Err(ApiError::WrongEra { method: Method::Ping, .. }) => {
                self.probe(client, Method::ServerDiscover, now);
            }
            // Whatever it says, it answers; and what could not be asked tells nothing.
            Ok(_) | Err(_) => {}
        }
        true
    }

    pub(super) fn expire_probes(&mut self, reach: &mut impl Reach, now: Instant) {
        let due = |(_, (_, at)): &(&CallHandle, &(ClientHandle, Instant))| *at <= now;
        while let Some((probe, (client, _))) =
            self.probes.open.iter().find(due).map(|(probe, of)| (*probe, *of))
        {
            self.probes.open.remove(&probe);
            self.give_up(probe, client);
            reach.gone(client, now);
        }
    }

    /// Nobody is asked any more.
    pub(super) fn drop_probes(&mut self) {
        for (probe, (client, _)) in core::mem::take(&mut self.probes.open) {
            self.give_up(probe, client);
        }
    }
}
