//! Futures that run side by side inside one other future. No executor is needed, and only what was woken is polled.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::signals::Fire;

/// One of the futures was woken.
pub(super) const TASK: u8 = 16;

/// Places that are kept though nobody has them.
const KEPT: usize = 16;

/// Futures that run side by side. `S` is told when one of them was woken.
pub(super) struct Tasks<F, S> {
    places: Vec<Place<F, S>>,
    free: Vec<usize>,
    woken: Arc<Woken<S>>,
}

struct Place<F, S> {
    future: Option<F>,
    bell: Arc<Bell<S>>,
    waker: Waker,
}

struct Woken<S> {
    places: Mutex<VecDeque<usize>>,
    signals: Arc<S>,
}

/// The waker of a place. Who had the place before may still ring it: then it is polled in vain.
struct Bell<S> {
    place: usize,
    /// It stands among those that were woken.
    rung: AtomicBool,
    woken: Arc<Woken<S>>,
}

impl<S> Woken<S> {
    fn places(&self) -> MutexGuard<'_, VecDeque<usize>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Fire> Wake for Bell<S> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::SeqCst) {
            self.woken.places().push_back(self.place);
            self.woken.signals.fire(TASK);
        }
    }
}

impl<F: Future + Unpin, S: Fire> Tasks<F, S> {
    pub(super) fn new(signals: &Arc<S>) -> Self {
        let woken = Woken { places: Mutex::default(), signals: Arc::clone(signals) };
        Self { places: Vec::new(), free: Vec::new(), woken: Arc::new(woken) }
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Begins one. What it came to, if it ends at once.
    pub(super) fn begin(&mut self, future: F) -> Option<F::Output> {
        let at = self.place(future);
        self.poll(at)
    }

    fn place(&mut self, future: F) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            let place = self.places.len();
            let bell = Bell { place, rung: AtomicBool::new(false), woken: Arc::clone(&self.woken) };
            let bell = Arc::new(bell);
            let waker = Waker::from(Arc::clone(&bell));
            self.places.push(Place { future: None, bell, waker });
            place
        });
        if let Some(place) = self.places.get_mut(at) {
            place.future = Some(future);
        }
        at
    }

    /// Takes one in that counts as woken, without telling the signals. Where it is.
    pub(super) fn add(&mut self, future: F) -> usize {
        let at = self.place(future);
        self.ring(at);
        at
    }

    /// The one in this place.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut F> {
        self.places.get_mut(at)?.future.as_mut()
    }

    /// Takes one out before its end.
    pub(super) fn take(&mut self, at: usize) -> Option<F> {
        let future = self.places.get_mut(at)?.future.take()?;
        self.free.push(at);
        self.shrink();
        Some(future)
    }

    /// Where they are, with those that are none between them.
    pub(super) fn places(&self) -> Range<usize> {
        0..self.places.len()
    }

    /// The one in this place counts as woken, without telling the signals: for whoever polls these anyway.
    pub(super) fn ring(&self, at: usize) {
        if let Some(place) = self.places.get(at)
            && !place.bell.rung.swap(true, Ordering::SeqCst)
        {
            self.woken.places().push_back(at);
        }
    }

    /// Polls one that was woken. `None`: there is none. `Some(None)`: it goes on.
    pub(super) fn poll_woken(&mut self) -> Option<Option<F::Output>> {
        let at = self.woken.places().pop_front()?;
        if let Some(place) = self.places.get(at) {
            // From here on a wake counts anew.
            place.bell.rung.store(false, Ordering::SeqCst);
        }
        Some(self.poll(at))
    }

    fn poll(&mut self, at: usize) -> Option<F::Output> {
        let place = self.places.get_mut(at)?;
        let future = place.future.as_mut()?;
        let polled = Pin::new(future).poll(&mut Context::from_waker(&place.waker));
        let Poll::Ready(output) = polled else { return None };
        place.future = None;
        self.free.push(at);
        self.shrink();
        Some(output)
    }

    /// What is left of many that are over goes with the last of them. A waker that is kept wakes whoever has its place.
    fn shrink(&mut self) {
        if self.len() == 0 && self.places.len() > KEPT {
            self.places = Vec::new();
            self.free = Vec::new();
            let mut woken = self.woken.places();
            woken.clear();
            woken.shrink_to(KEPT);
        }
    }

    /// Drops them all.
    pub(super) fn clear(&mut self) {
        for (at, place) in self.places.iter_mut().enumerate() {
            if place.future.take().is_some() {
                self.free.push(at);
            }
        }
    }
}
