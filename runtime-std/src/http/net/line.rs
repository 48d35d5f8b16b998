//! One connection.

use std::io::ErrorKind;
use std::time::Duration;

use sanswire::exchange::Partition;
use sanswire::http::{Authority, HttpHandle, ResponseHead, Verb, h1};
use sanswire::{Instant, Machine as _};

use super::pool::Order;
use super::told::Told;
use crate::http::dial::Wire;
use crate::os::{Got, Want};

/// How long a connection without an exchange is kept. Shorter than most servers and what stands before them keep it,
/// so that few requests meet a connection that is being closed.
const REST: Duration = Duration::from_secs(50);

/// One connection.
pub(super) struct Line {
    pub(super) wire: Wire,
    pub(super) machine: h1::Client,
    pub(super) to: Authority,
    pub(super) partition: Partition,
    pub(super) open: Option<Open>,
    /// What the request that was sent last wanted, for the tap.
    pub(super) asked: Option<Verb>,
    /// It has carried an exchange before.
    pub(super) used: bool,
    /// How long it is kept once it carries nothing.
    pub(super) rest: Duration,
    /// Since when it carries nothing, if it does not.
    pub(super) idle_since: Instant,
    /// What waits to be written has no room.
    blocked: bool,
    ended: bool,
}

/// The exchange that is under way.
pub(super) struct Open {
    pub(super) exchange: HttpHandle,
    /// The request, until its first byte has left: up to then it can be sent elsewhere.
    pub(super) order: Option<Order>,
    pub(super) told: Told,
}

impl Line {
    pub(super) fn new(
        wire: Wire,
        limits: h1::Limits,
        (to, partition): (Authority, Partition),
        now: Instant,
    ) -> Self {
        Self {
            wire,
            machine: h1::Client::new(limits, now),
            to,
            partition,
            open: None,
            asked: None,
            used: false,
            rest: REST,
            idle_since: now,
            blocked: false,
            ended: false,
        }
    }

    pub(super) fn wants_read(&self) -> bool {
        !self.ended && self.machine.wants_read()
    }

    /// Whether it waits for room.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked || self.wire.wants(Want::NOTHING).write
    }

    /// Writes what there is room for.
    pub(super) fn write(&mut self, now: Instant) {
        self.blocked = false;
        if self.wire.wants(Want::NOTHING).write && self.wire.flush().is_err_and(is_fault) {
            return self.machine.handle_write_closed(now);
        }
        loop {
            let bytes = self.machine.transmit();
            if bytes.is_empty() {
                return;
            }
            match self.wire.write(bytes) {
                Ok(len) => self.machine.handle_written(len, now),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return;
                }
                Err(_) => return self.machine.handle_write_closed(now),
            }
        }
    }

    /// One read.
    pub(super) fn read(&mut self, now: Instant) -> Got {
        if !self.wants_read() {
            return Got::Nothing;
        }
        let got = self.wire.read(self.machine.read_buffer());
        match got {
            Got::Bytes { .. } => self.machine.handle_read(now),
            Got::Nothing => {}
            Got::End { broken } => {
                self.ended = true;
                if broken {
                    // What only the end bounds is not whole, then.
                    self.machine.close(now);
                } else {
                    self.machine.handle_eof(now);
                }
            }
        }
        got
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let rested = self.open.is_none().then(|| self.idle_since.saturating_add(self.rest));
        rested.into_iter().chain(self.machine.poll_timeout()).min()
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.poll_timeout().is_some_and(|at| at <= now)
    }

    /// Whether it has carried nothing for so long that it goes.
    pub(super) fn has_rested(&self, now: Instant) -> bool {
        self.open.is_none() && self.idle_since.saturating_add(self.rest) <= now
    }
}

fn is_fault(error: std::io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
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
