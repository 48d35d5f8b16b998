//! The one timer of a connection.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Instant as SystemInstant;

use async_io::Timer;
use sanswire::Instant;
use sanswire_system::clock::Clock;

/// A timer that is set anew only where it would come too late. One that comes early costs a look every time a deadline
/// has moved, which is once for many calls; setting it costs system calls each time.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    timer: Option<Timer>,
    at: Option<Instant>,
}

impl Alarm {
    /// It rang.
    pub(crate) const fn fired(&mut self) {
        self.at = None;
    }

    /// Looks whether it rang, where nobody else tells.
    pub(crate) fn look(&mut self, cx: &mut Context<'_>) {
        if self.at.is_some() && self.timer.as_mut().is_some_and(|timer| Pin::new(timer).poll(cx).is_ready()) {
            self.at = None;
        }
    }

    /// When it rings.
    pub(crate) const fn at(&self) -> Option<Instant> {
        self.at
    }

    /// `bell` rings at `at` or before. False: it is that late already.
    pub(crate) fn set(&mut self, at: Instant, clock: Clock, bell: &Waker) -> bool {
        if self.at.is_some_and(|armed| armed <= at) {
            return true;
        }
        self.at = Some(at);
        // A deadline that the system's clock cannot count is none.
        let Some(when) = SystemInstant::now().checked_add(at.saturating_since(clock.now())) else {
            return true;
        };
        let timer = self.timer.get_or_insert_with(Timer::never);
        timer.set_at(when);
        if Pin::new(timer).poll(&mut Context::from_waker(bell)).is_ready() {
            self.at = None;
            return false;
        }
        true
    }

    /// Nothing is waited for any more.
    pub(crate) fn stop(&mut self) {
        *self = Self::default();
    }
}
