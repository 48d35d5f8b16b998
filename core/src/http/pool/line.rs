//! One connection.

use core::time::Duration;

use crate::exchange::Partition;
use crate::http::h1;
use crate::http::head::{HttpHandle, ResponseHead};
use crate::http::pool::assign::Order;
use crate::http::url::Authority;
use crate::machine::Machine as _;
use crate::time::{Instant, earliest};

/// How long a connection without an exchange is kept. Shorter than most servers and what stands before them keep it,
/// so that few requests meet a connection that is being closed.
const REST: Duration = Duration::from_secs(50);

/// One connection.
pub(super) struct Line {
    pub(super) machine: h1::Client,
    pub(super) to: Authority,
    pub(super) partition: Partition,
    pub(super) open: Option<Open>,
    /// It is looked at, before what is open begins.
    pub(super) looked_at: bool,
    /// It has carried an exchange before.
    pub(super) used: bool,
    /// The system was asked to watch it.
    pub(super) watched: bool,
    /// How long it is kept once it carries nothing.
    pub(super) rest: Duration,
    /// Since when it carries nothing, if it does not.
    pub(super) idle_since: Instant,
}

/// The exchange that is under way.
pub(super) struct Open {
    pub(super) exchange: HttpHandle,
    /// The request, until its first byte has left: up to then it can be sent elsewhere.
    pub(super) order: Option<Order>,
    /// Its long body waits to be written.
    pub(super) leaving: bool,
}

impl Line {
    pub(super) fn new(limits: h1::Limits, to: Authority, partition: Partition, now: Instant) -> Self {
        Self {
            machine: h1::Client::new(limits, now),
            to,
            partition,
            open: None,
            looked_at: false,
            used: false,
            watched: false,
            rest: REST,
            idle_since: now,
        }
    }

    pub(super) fn carries(&self, exchange: HttpHandle) -> bool {
        self.open.as_ref().is_some_and(|open| open.exchange == exchange)
    }

    /// Whether to read from it. `takes`: whether the client takes the bodies of answers.
    pub(super) fn wants_read(&self, takes: bool) -> bool {
        self.machine.wants_read() && (takes || self.looked_at || self.open.is_none())
    }

    /// When it goes, if nothing comes.
    fn rests_until(&self) -> Option<Instant> {
        self.open.is_none().then(|| self.idle_since.saturating_add(self.rest))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        earliest(self.rests_until(), self.machine.poll_timeout())
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
        if self.rests_until().is_some_and(|until| until <= now) {
            self.machine.close(now);
        }
    }
}

/// How long to keep a connection after an answer with this head: a little less than its server says that it will
/// (`Keep-Alive: timeout=5`).
pub(super) fn rest_after(head: &ResponseHead) -> Duration {
    let said = head.fields.text("keep-alive").and_then(|value| {
        let parameters = value.split(',').filter_map(|part| part.trim().split_once('='));
        let mut timeouts = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"));
        timeouts.next()?.1.trim().parse::<u32>().ok()
    });
    said.map_or(REST, |seconds| {
        let said = Duration::from_secs(seconds.into());
        REST.min(said.saturating_sub(Duration::from_secs(1)).max(said / 2))
    })
}
