//! One server's connection: kept, lost, tried anew, given up.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use crate::client::Outcome;
use crate::error::ConfigError;
use crate::time::{Instant, Monotonic};

/// How a lost connection is tried anew.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReconnectSettings {
    /// Failed attempts in a row after which a server counts as unavailable. Default: 3.
    pub max_attempts: u32,
    /// The pause before an attempt that follows a failed one; a call ends it. Default: none.
    pub backoff: Duration,
}

impl Default for ReconnectSettings {
    fn default() -> Self {
        Self { max_attempts: 3, backoff: Duration::ZERO }
    }
}

/// What state a server is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is opened for the first time.
    Connecting,
    /// It can be called.
    Connected,
    /// It could not be opened. A call tries again.
    Failed,
    /// It is opened anew.
    Reconnecting,
    /// It was tried in vain, or is closed. Only [`Reconnect::reconnect`] tries again.
    Unavailable,
    /// It is not to be used.
    Disabled,
}

impl Status {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Failed => "failed",
            Self::Reconnecting => "reconnecting",
            Self::Unavailable => "unavailable",
            Self::Disabled => "disabled",
        }
    }

    const fn is_pending(self) -> bool {
        matches!(self, Self::Connecting | Self::Reconnecting)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Names an attempt, and the session that comes of it. Counts up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNumber(u64);

impl SessionNumber {
    /// As a number.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// What is to be done, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Open a connection; say [`opened`](Reconnect::opened) or [`not_opened`](Reconnect::not_opened) of it, within the
    /// limit for connecting.
    Open(SessionNumber),
    /// Shut this one, opened or not. Nothing waits for that.
    Shut(SessionNumber),
    /// The status is another.
    Status(Status),
    /// Calls that were told to wait go on: ask [`call`](Reconnect::call) again.
    Settled,
}

/// Whether a call can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Make it in this session.
    Go(SessionNumber),
    /// Wait for [`Effect::Settled`], under the call's own limit.
    Wait,
    /// It fails at once, for that reason.
    Refuse(Status),
}

/// Whether a call that ended so lost its session with it: only if the connection ended, or the server forgot it.
///
/// A call that timed out, was cancelled, or was answered with an error leaves its session as it was.
#[must_use]
pub const fn loses_session(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Lost { .. } | Outcome::SessionGone { .. })
}

/// One server's connection as a state machine: it opens nothing, it says what to open and when.
///
/// | state | what happens | next | |
/// |---|---|---|---|
/// | connected | the session is lost | reconnecting | one attempt after the other |
/// | connected | another session is lost | connected | it was replaced before |
/// | reconnecting | an attempt succeeds | connected | failures are forgotten, calls go on |
/// | reconnecting | an attempt fails | reconnecting | the next one, after the pause; after the last: unavailable |
/// | failed | a call | reconnecting | one attempt; if it fails: failed again, or unavailable |
/// | connecting, reconnecting | closed | unavailable | calls go on, a late success is shut |
/// | unavailable | a call | unavailable | fails at once |
/// | connected | a session that was opened anew is lost before it was of use | reconnecting | its attempt failed after all |
/// | any but disabled | `reconnect` | reconnecting | failures are forgotten |
///
/// A call that failed with its session is never made again here: that it may have run is for its caller to see to. What
/// counts as lost is told by [`loses_session`].
#[derive(Debug)]
pub struct Reconnect {
    settings: ReconnectSettings,
    clock: Monotonic,
    status: Status,
    session: Option<SessionNumber>,
    trying: Option<SessionNumber>,
    /// When the pause before the next attempt ends.
    due: Option<Instant>,
    /// Whether one attempt follows the other by itself.
    persists: bool,
    failures: u32,
    /// Failures before the present session, if that one came of a loss.
    before: Option<u32>,
    last: u64,
    closed: bool,
    effects: VecDeque<Effect>,
}

impl Reconnect {
    /// A server that is opened at once, or one that is not to be used.
    ///
    /// # Errors
    /// [`ConfigError`] if there is to be no attempt at all.
    pub fn new(settings: ReconnectSettings, enabled: bool) -> Result<Self, ConfigError> {
        if settings.max_attempts == 0 {
            return Err(ConfigError { field: "max_attempts", min: 1, max: u64::from(u32::MAX), got: 0 });
        }
        let status = if enabled { Status::Connecting } else { Status::Disabled };
        let mut new = Self {
            settings,
            clock: Monotonic::new(Instant::ZERO),
            status,
            session: None,
            trying: None,
            due: None,
            persists: false,
            failures: 0,
            before: None,
            last: 0,
            closed: false,
            effects: VecDeque::new(),
        };
        if enabled {
            new.try_now();
        }
        Ok(new)
    }

    /// The status.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Failed attempts in a row, the very first one left out.
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether a call can be made now. One for a server that failed, or that waits for its next attempt, starts it.
    pub fn call(&mut self) -> Gate {
        match (self.status, self.session) {
            _ if self.closed => return Gate::Refuse(Status::Unavailable),
            (Status::Connected, Some(session)) => return Gate::Go(session),
            (Status::Unavailable | Status::Disabled, _) => return Gate::Refuse(self.status),
            // Nothing persists that led here: the attempt that begins now is the only one.
            (Status::Failed, _) => self.set(Status::Reconnecting),
            (Status::Connecting | Status::Connected | Status::Reconnecting, _) => {}
        }
        self.try_now();
        Gate::Wait
    }

    /// A session was lost. False: it is not the present one, and nothing happens.
    pub fn lost(&mut self, session: SessionNumber) -> bool {
        if self.closed || self.status != Status::Connected || self.session != Some(session) {
            return false;
        }
        self.session = None;
        self.effects.push_back(Effect::Shut(session));
        self.persists = true;
        self.set(Status::Reconnecting);
        self.try_now();
        true
    }

    /// A session was lost before it was of any use. If it had come of a loss, its attempt counts as failed after all: a
    /// server that opens well and dies of it is not opened without end. Else as [`lost`](Self::lost).
    pub fn lost_early(&mut self, session: SessionNumber, now: Instant) -> bool {
        let Some(before) = self.before else { return self.lost(session) };
        if self.closed || self.status != Status::Connected || self.session != Some(session) {
            return false;
        }
        self.session = None;
        self.effects.push_back(Effect::Shut(session));
        self.failures = before;
        self.persists = true;
        self.failed(now);
        true
    }

    /// An attempt succeeded. Of one that is no longer wanted nothing comes: it was told to be shut.
    pub fn opened(&mut self, attempt: SessionNumber) {
        if self.trying == Some(attempt) {
            self.trying = None;
            self.session = Some(attempt);
            self.before = (self.status == Status::Reconnecting).then_some(self.failures);
            self.failures = 0;
            self.set(Status::Connected);
        }
    }

    /// An attempt goes on by another connection, since the one it had came to nothing that counts: a server that has to be
    /// opened otherwise. It has that name from here on. Nothing is told: whoever says this opens the one and shuts the
    /// other. `None`: it is no longer wanted.
    pub fn again(&mut self, attempt: SessionNumber) -> Option<SessionNumber> {
        if self.trying != Some(attempt) {
            return None;
        }
        self.last += 1;
        self.trying = Some(SessionNumber(self.last));
        self.trying
    }

    /// An attempt failed.
    pub fn not_opened(&mut self, attempt: SessionNumber, now: Instant) {
        let now = self.clock.advance(now);
        if self.trying != Some(attempt) {
            return;
        }
        self.trying = None;
        if self.status == Status::Connecting {
            return self.set(Status::Failed);
        }
        self.failed(now);
    }

    /// Tries anew because somebody says so, whatever was before. An attempt under way is that attempt. False: the server
    /// is closed or not to be used.
    pub fn reconnect(&mut self) -> bool {
        if self.closed || self.status == Status::Disabled {
            return false;
        }
        self.failures = 0;
        if self.trying.is_none() {
            self.effects.extend(self.session.take().map(Effect::Shut));
            self.persists = true;
            self.set(Status::Reconnecting);
            self.try_now();
        }
        true
    }

    /// Shuts everything, for good.
    pub fn close(&mut self) {
        self.closed = true;
        self.due = None;
        let all = [self.trying.take(), self.session.take()];
        self.effects.extend(all.into_iter().flatten().map(Effect::Shut));
        if self.status.is_pending() {
            self.set(Status::Unavailable);
        }
    }

    /// The pause before an attempt may be over.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        if self.due.is_some_and(|due| due <= now) {
            self.try_now();
        }
    }

    /// When the pause before an attempt is over.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// What is to be done next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// One more attempt in vain: the last one, or another follows.
    fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.settings.max_attempts {
            self.set(Status::Unavailable);
        } else if !self.persists {
            self.set(Status::Failed);
        } else {
            self.set(Status::Reconnecting);
            if self.settings.backoff.is_zero() {
                return self.try_now();
            }
            self.due = Some(now.saturating_add(self.settings.backoff));
        }
    }

    /// Begins an attempt, unless one is under way.
    fn try_now(&mut self) {
        if self.trying.is_none() {
            self.due = None;
            self.last += 1;
            let attempt = SessionNumber(self.last);
            self.trying = Some(attempt);
            self.effects.push_back(Effect::Open(attempt));
        }
    }

    fn set(&mut self, status: Status) {
        let before = core::mem::replace(&mut self.status, status);
        if before != status {
            self.effects.push_back(Effect::Status(status));
        }
        if before.is_pending() && !status.is_pending() {
            self.effects.push_back(Effect::Settled);
        }
    }
}

#[cfg(test)]
mod tests;
