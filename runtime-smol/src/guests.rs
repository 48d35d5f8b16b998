//! Those who wait for something of a connection that is no call: that it opens, a notification, its end.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::lead::Seat;
use crate::shared::{Locked, Shared};

/// Who sleeps, by a number of its own.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    last: u64,
    asleep: Vec<(u64, Waker)>,
}

impl Guests {
    /// A number for one more.
    pub(crate) const fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// `waker` wakes this guest from now on. What woke it before.
    pub(crate) fn set_waiter(&mut self, guest: u64, waker: Option<Waker>) -> Option<Waker> {
        let place = self.asleep.iter().position(|(known, _)| *known == guest);
        match (place, waker) {
            (Some(place), Some(waker)) => {
                self.asleep.get_mut(place).map(|(_, known)| std::mem::replace(known, waker))
            }
            (Some(place), None) => Some(self.asleep.swap_remove(place).1),
            (None, Some(waker)) => {
                self.asleep.push((guest, waker));
                None
            }
            (None, None) => None,
        }
    }

    pub(crate) fn waiter(&self, guest: u64) -> Option<&Waker> {
        self.asleep.iter().find(|(known, _)| *known == guest).map(|(_, waker)| waker)
    }

    /// One that may lead; it no longer counts as asleep.
    pub(crate) fn sleeper(&mut self) -> Option<(u64, Waker)> {
        self.asleep.pop()
    }

    /// All of them, who look again.
    pub(crate) fn wake_all(&mut self) -> impl Iterator<Item = Waker> + use<'_> {
        self.asleep.drain(..).map(|(_, waker)| waker)
    }
}

/// Waits until `found` finds something, and drives the connection meanwhile if nobody else does.
#[must_use = "it does nothing unless it is awaited"]
pub(crate) struct Until<'a, F> {
    shared: &'a Shared,
    found: F,
    guest: Option<u64>,
}

impl Shared {
    pub(crate) const fn until<T, F: FnMut(&mut Locked<'_>) -> Option<T>>(&self, found: F) -> Until<'_, F> {
        Until { shared: self, found, guest: None }
    }
}

impl<T, F: FnMut(&mut Locked<'_>) -> Option<T> + Unpin> Future for Until<'_, F> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = self.get_mut();
        let guest = *this.guest.get_or_insert_with(|| this.shared.lock().guests.next());
        let polled = this.shared.poll(Seat::Guest(guest), cx, &mut this.found);
        if polled.is_ready() {
            this.guest = None;
        }
        polled
    }
}

impl<F> Drop for Until<'_, F> {
    fn drop(&mut self) {
        if let Some(guest) = self.guest.take() {
            let mut state = self.shared.lock();
            self.shared.leave(&mut state, Seat::Guest(guest));
        }
    }
}
