//! Connections that are being made, each by a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use sanswire::http::Authority;
use sanswire::http::pool::ConnectionHandle;
use sanswire_system::http::Attempt;
use sanswire_system::tap::News;
use sanswire_system::{DialFault, DialStep};

use crate::http::dial::{Dialer, Wire};
use crate::link::Link;
use crate::shared::Shared;

/// Only what is touched of it becomes memory. Names are looked up and certificates checked on it.
const STACK: usize = 512 * 1024;

/// A connection that is being made.
pub(super) struct Dial {
    attempt: Arc<Attempt>,
}

impl Dial {
    /// What comes of it is not wanted any more.
    pub(super) fn cancel(self) {
        self.attempt.cancel();
    }

    /// Which step it is at.
    pub(super) fn step(&self) -> DialStep {
        self.attempt.step()
    }
}

/// Starts one. Its thread holds nothing open: it tells whoever is still there.
pub(super) fn start(
    to_tell: &Weak<Shared>,
    connection: ConnectionHandle,
    to: Authority,
    dialer: &Arc<Dialer>,
    limit: Duration,
) -> Result<Dial, DialFault> {
    let attempt = Arc::<Attempt>::default();
    let (shared, dialer) = (Weak::clone(to_tell), Arc::clone(dialer));
    let shown = Arc::clone(&attempt);
    let thread = std::thread::Builder::new().name("sanswire-dial".into()).stack_size(STACK);
    let spawned = thread.spawn(move || {
        let made = catch_unwind(AssertUnwindSafe(|| dialer.dial(&to, limit, &shown)));
        let made = made.unwrap_or(Err(DialFault::Cancelled));
        if let Some(shared) = shared.upgrade() {
            shared.dialed(connection, made);
        }
    });
    match spawned {
        Ok(_) => Ok(Dial { attempt }),
        Err(source) => Err(DialFault::System(source)),
    }
}

impl Shared {
    /// A connection was made, or was not.
    fn dialed(&self, connection: ConnectionHandle, mut made: Result<Wire, DialFault>) {
        if let (Some(how), Some(tap)) = (made.as_mut().ok().and_then(Wire::take_how), &self.tap) {
            tap.push_news(self.clock.elapsed(), News::Reached(how));
        }
        let mut state = self.lock();
        let now = self.clock.now();
        let Link::Http(net) = &mut state.machine else { return };
        net.dialed(connection, made, now);
        self.deliver(&mut state, now);
        if state.corks == 0 || state.closing {
            self.flush(&mut state, now);
        }
        self.wake_leader(&mut state);
        self.unlock(state);
    }
}
