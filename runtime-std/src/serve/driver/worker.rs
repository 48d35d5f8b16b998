//! The threads that run handlers.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::serve::driver::{Driver, Lead, Locked};

/// More workers than this do not wait for work: they end.
const MAX_IDLE: usize = 8;

/// A worker's place among the others. Gives it up when it goes, by unwinding too: so it must be declared before the
/// lock's guard.
struct Seat<'a> {
    driver: &'a Driver,
    id: u64,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.driver.lock();
        state.workers -= 1;
        if state.over {
            state.ended.push(self.id);
        } else {
            // Nobody waits for the thread.
            state.threads.retain(|(id, _)| *id != self.id);
        }
        if state.lead == Lead::Worker(self.id) {
            state.lead = Lead::Keeper;
            self.driver.summon(&mut state);
        }
        self.driver.left.notify_all();
        self.driver.unlock(state);
    }
}

impl Driver {
    pub(super) fn start_worker(self: &Arc<Self>, id: u64) -> io::Result<JoinHandle<()>> {
        let driver = Arc::clone(self);
        let thread = std::thread::Builder::new().name("sanswire-handler".into());
        thread.spawn(move || driver.work(id))
    }

    /// A worker's life.
    fn work(&self, id: u64) {
        let seat = Seat { driver: self, id };
        let mut state = self.lock();
        while !state.over {
            if state.lead == Lead::Worker(id) {
                state = self.lead(state, Lead::Worker(id));
            } else if let Some(job) = state.traffic.next_job() {
                let (locked, now) = self.run(state, job, None);
                state = locked;
                self.tend(&mut state, now);
            } else if state.idle.len() < MAX_IDLE {
                state.idle.push((id, std::thread::current()));
                state = self.rest(state, id);
            } else {
                break;
            }
        }
        self.unlock(state);
        drop(seat);
    }

    /// Until this worker is given the lead, or all is over.
    fn rest<'a>(&'a self, mut state: Locked<'a>, id: u64) -> Locked<'a> {
        while !state.over && state.lead != Lead::Worker(id) {
            self.unlock(state);
            std::thread::park();
            state = self.lock();
        }
        state
    }
}
