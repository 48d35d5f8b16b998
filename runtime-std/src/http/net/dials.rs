//! Connections that are being made, each by a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use sanswire::exchange::Partition;
use sanswire::http::{Authority, HttpHandle};
use sanswire_system::DialFault;
use sanswire_system::tap::News;

use crate::http::dial::{Dialer, Wire};
use crate::link::Link;
use crate::shared::Shared;

/// Only what is touched of it becomes memory. Names are looked up and certificates checked on it.
const STACK: usize = 512 * 1024;

/// A connection that is being made.
pub(super) struct Dial {
    pub(super) number: u64,
    pub(super) to: Authority,
    pub(super) partition: Partition,
    /// What it was begun for. Another one may be the first to use it.
    pub(super) wanted_by: HttpHandle,
    cancelled: Arc<AtomicBool>,
}

impl Dial {
    pub(super) fn is_to(&self, to: &Authority, partition: Partition) -> bool {
        self.partition == partition && self.to == *to
    }

    /// What comes of it is not wanted any more.
    pub(super) fn cancel(self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Starts one. Its thread holds nothing open: it tells whoever is still there.
pub(super) fn start(
    to_tell: &Weak<Shared>,
    number: u64,
    (to, partition, wanted_by): (Authority, Partition, HttpHandle),
    (dialer, limit): (&Arc<Dialer>, Duration),
) -> Result<Dial, DialFault> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let (shared, dialer) = (Weak::clone(to_tell), Arc::clone(dialer));
    let (asked, stop) = (to.clone(), Arc::clone(&cancelled));
    let thread = std::thread::Builder::new().name("sanswire-dial".into()).stack_size(STACK);
    let spawned = thread.spawn(move || {
        let made = catch_unwind(AssertUnwindSafe(|| dialer.dial(&asked, limit, &stop)));
        let made = made.unwrap_or(Err(DialFault::Cancelled));
        if let Some(shared) = shared.upgrade() {
            shared.dialed(number, made);
        }
    });
    match spawned {
        Ok(_) => Ok(Dial { number, to, partition, wanted_by, cancelled }),
        Err(source) => Err(DialFault::System(source)),
    }
}

impl Shared {
    /// A connection was made, or was not.
    fn dialed(&self, number: u64, mut made: Result<Wire, DialFault>) {
        if let (Some(how), Some(tap)) = (made.as_mut().ok().and_then(Wire::take_how), &self.tap) {
            tap.push_news(self.clock.elapsed(), News::Reached(how));
        }
        let mut state = self.lock();
        let now = self.clock.now();
        let Link::Http(net) = &mut state.machine else { return };
        net.dialed(number, made, now);
        self.deliver(&mut state, now);
        if state.corks == 0 || state.closing {
            self.flush(&mut state, now);
        }
        self.wake_leader(&mut state);
        self.unlock(state);
    }
}
