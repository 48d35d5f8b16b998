//! The thread that serves: reads as long as nothing has to be run, and later takes the lead from handlers that
//! last.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::serve::driver::lead::TICK;
use crate::serve::driver::{Driver, Lead, Locked, State};

/// After so many ticks without a call the keeper sleeps.
const IDLE_TICKS: u32 = 8;
/// So many handlers begun or ended since the last look were quick ones: the next look can wait.
const MANY: u64 = 32;
const LONG_TICK: Duration = TICK.saturating_mul(3);
/// How long handlers whose requests are over may take to come back, before they are left to themselves.
const GRACE: Duration = Duration::from_millis(500);
/// How long to leave the system alone when it has no thread to give.
const NO_THREAD: Duration = Duration::from_millis(100);

impl Driver {
    /// Keeps the driver until all is over.
    pub(super) fn keep(self: &Arc<Self>) {
        self.server.serving.enter(self);
        let mut state = self.lock();
        // What changed before this driver was known to the server.
        state.traffic.set_catalog(self.server.offered.catalog());
        while !state.over {
            state = match state.lead {
                Lead::Keeper => {
                    let state = self.lead(state, Lead::Keeper);
                    if state.over { state } else { self.appoint(state) }
                }
                Lead::Worker(_) => self.watch(state),
            };
        }
        self.unlock(state);
        self.wait_for_workers();
    }

    /// Whether a worker could be given the lead.
    pub(super) fn may_appoint(&self, state: &State) -> bool {
        let rests = || state.no_thread_until.is_some_and(|until| until > self.now());
        !state.idle.is_empty() || state.workers < self.max_threads && !rests()
    }

    /// Gives the lead to a worker.
    fn appoint<'a>(self: &'a Arc<Self>, mut state: Locked<'a>) -> Locked<'a> {
        if let Some((id, thread)) = state.idle.pop() {
            state.lead = Lead::Worker(id);
            state.wakes.push(thread);
            self.unlock(state);
            return self.lock();
        }
        state.started += 1;
        state.workers += 1;
        let id = state.started;
        state.lead = Lead::Worker(id);
        self.unlock(state);
        let started = self.start_worker(id);
        let mut state = self.lock();
        match started {
            Ok(thread) => {
                state.threads.push((id, thread));
                state
            }
            Err(_) => {
                state.lead = Lead::Keeper;
                state.workers -= 1;
                state.no_thread_until = Some(self.now().saturating_add(NO_THREAD));
                self.run_alone(state)
            }
        }
    }

    /// Without a single thread to be had, handlers hold up everything; but nothing is lost.
    fn run_alone<'a>(&'a self, mut state: Locked<'a>) -> Locked<'a> {
        while state.workers == 0
            && let Some(job) = state.traffic.next_job()
        {
            let (locked, now) = self.run(state, job, None);
            state = locked;
            self.tend(&mut state, now);
        }
        state
    }

    /// Whether this is the thread that serves. It runs a handler only where it is alone.
    pub(super) fn is_keeper(&self) -> bool {
        std::thread::current().id() == self.keeper.id()
    }

    /// Reads and writes until something comes out of `answer`: nobody else would, while the keeper runs a handler.
    /// `None`: nothing ever will.
    pub(super) fn read_until<T>(&self, answer: &Receiver<T>) -> Option<T> {
        let mut events = Vec::new();
        let mut state = self.lock();
        let mut now = self.now();
        loop {
            self.tend(&mut state, now);
            match answer.try_recv() {
                Err(TryRecvError::Empty) => {}
                came => {
                    self.unlock(state);
                    return came.ok();
                }
            }
            let until = state.traffic.deadline();
            (state, now) = self.wait(state, &mut events, until, now);
        }
    }

    /// Watches the leader, and takes the lead if it is in one handler for too long.
    fn watch<'a>(&'a self, state: Locked<'a>) -> Locked<'a> {
        let mut seen = self.beat.load(Ordering::Relaxed);
        let mut idle = 0;
        let mut tick = TICK;
        self.unlock(state);
        loop {
            std::thread::park_timeout(tick);
            if self.summons.swap(false, Ordering::Relaxed) {
                return self.lock();
            }
            let beat = self.beat.load(Ordering::Relaxed);
            let runs = beat % 2 == 1;
            tick = if !runs && beat - seen >= MANY { LONG_TICK } else { TICK };
            if beat != seen {
                seen = beat;
                idle = 0;
                continue;
            }
            idle += 1;
            if !runs && idle < IDLE_TICKS {
                continue;
            }
            let mut state = self.lock();
            // Whoever had the lock meanwhile may have called.
            if self.summons.swap(false, Ordering::Relaxed) {
                return state;
            }
            if self.beat.load(Ordering::Relaxed) != seen {
                continue;
            }
            if runs {
                self.beat.fetch_add(1, Ordering::Relaxed);
                state.lead = Lead::Keeper;
                return state;
            }
            state.keeper_sleeps = true;
            state = self.sleep(state);
            seen = self.beat.load(Ordering::Relaxed);
            idle = 0;
            self.unlock(state);
        }
    }

    /// Until the leader begins with a handler, or the keeper is called for.
    fn sleep<'a>(&'a self, mut state: Locked<'a>) -> Locked<'a> {
        while state.keeper_sleeps {
            self.unlock(state);
            std::thread::park();
            state = self.lock();
        }
        state
    }

    /// All is over: so are the workers, but for those whose handlers go on regardless.
    fn wait_for_workers(&self) {
        let end = Instant::now() + GRACE;
        let mut state = self.lock();
        while state.workers > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = self.left.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        let ended = std::mem::take(&mut state.ended);
        let threads = std::mem::take(&mut state.threads);
        self.unlock(state);
        let over = threads.into_iter().filter(|(id, _)| ended.contains(id)).map(|(_, thread)| thread);
        over.for_each(|thread| drop(JoinHandle::join(thread)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use sanswire_system::clock::Clock;

    use super::IDLE_TICKS;
    use crate::serve::driver::hub::Hub;
    use crate::serve::driver::lead::TICK;
    use crate::serve::driver::table::{Connections, Table};
    use crate::serve::driver::{Driver, Lead};
    use crate::serve::server::Server;

    /// Longer than the keeper watches before it takes the lock to sleep.
    const WATCHED: Duration = TICK.saturating_mul(4 * IDLE_TICKS);

    #[test]
    fn who_is_called_while_it_waits_for_the_lock_does_not_fall_asleep() {
        // The keeper may be late, then there is nothing to see: so it is tried a few times.
        for _ in 0..10 {
            let server = Server::builder("test", "0").build().unwrap();
            let (sender, driver) = channel();
            let (woken, ended) = channel();
            thread::spawn(move || {
                let table = Box::new(Table::new(&server.inner, Connections::One));
                let driver = Driver::new(&server.inner, Hub::sockets().unwrap(), Clock::start(), table);
                driver.lock().lead = Lead::Worker(0);
                sender.send(std::sync::Arc::clone(&driver)).unwrap();
                driver.keep();
                woken.send(()).unwrap();
            });
            let driver = driver.recv().unwrap();
            thread::sleep(TICK * 4);
            let mut state = driver.lock();
            thread::sleep(WATCHED);
            state.over = true;
            driver.summon(&mut state);
            driver.unlock(state);
            ended.recv_timeout(Duration::from_secs(60)).expect("the keeper sleeps");
        }
    }
}
