//! Records on their way out of the waist, on a thread that no call waits for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use sanswire::server::govern::Gate;
use sanswire::waist::Record;

use crate::clock::Clock;
use crate::contain::caught;

/// Takes records. Whether it could.
pub type Sink = Box<dyn FnMut(Record, SystemTime) -> bool + Send>;

/// How long the end of a server waits for its records.
const FLUSH: Duration = Duration::from_secs(1);
/// So many are taken at once: the waist is locked meanwhile.
const BATCH: usize = 64;

/// What became of records that nobody got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordStats {
    /// Given up because too many waited.
    pub lost: u64,
    /// The sink panicked over them, or could not write them.
    pub failed: u64,
}

/// A gate, and what becomes of the records of its waist. The lock is held for calls of the gate alone, never for the sink.
/// `C`: what cancels a call.
pub struct Ledger<C> {
    state: Mutex<State<C>>,
    /// There is something to do for the thread.
    work: Condvar,
    /// The thread has done all that there was.
    done: Condvar,
    clock: Clock,
}

/// What a [`Ledger`] locks.
pub struct State<C> {
    /// Whoever has called it says so ([`Ledger::recorded`]).
    pub gate: Gate<C>,
    /// Until a thread has it.
    sink: Option<Sink>,
    started: bool,
    /// Records wait, or are being given out.
    busy: bool,
    stopping: bool,
    /// The sink was waited for, and did not come back yet.
    given_up: bool,
    failed: u64,
}

impl<C: Send + 'static> Ledger<C> {
    /// The ledger of this gate. Without a sink nobody takes its records.
    #[must_use]
    pub fn new(gate: Gate<C>, sink: Option<Sink>, clock: Clock) -> Arc<Self> {
        let state =
            State { gate, sink, started: false, busy: false, stopping: false, given_up: false, failed: 0 };
        Arc::new(Self { state: Mutex::new(state), work: Condvar::new(), done: Condvar::new(), clock })
    }

    /// Nothing of the embedder's panics under this lock.
    pub fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The waist gave records: somebody should take them.
    pub fn recorded(self: &Arc<Self>, state: &mut State<C>) {
        if state.busy {
            return;
        }
        if let Some(sink) = state.sink.take() {
            // A thread that cannot be had now may be had for the next record; until then they wait.
            let slot = Arc::new(Mutex::new(Some(sink)));
            let (ledger, taken) = (Arc::clone(self), Arc::clone(&slot));
            let take = move || taken.lock().unwrap_or_else(PoisonError::into_inner).take();
            let run = move || take().into_iter().for_each(|sink| ledger.run(sink));
            match thread::Builder::new().name("sanswire-records".into()).spawn(run) {
                Ok(_) => state.started = true,
                Err(_) => state.sink = slot.lock().unwrap_or_else(PoisonError::into_inner).take(),
            }
        }
        if state.started {
            state.busy = true;
            self.work.notify_one();
        }
    }

    /// Gives records out until the server is gone.
    fn run(&self, mut sink: Sink) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut state = self.lock();
        loop {
            while batch.len() < BATCH
                && let Some(record) = state.gate.poll_record()
            {
                batch.push(record);
            }
            if batch.is_empty() {
                (state.busy, state.given_up) = (false, false);
                self.done.notify_all();
                if state.stopping {
                    break;
                }
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let mut failed = 0;
            for record in batch.drain(..) {
                let at = self.wall(&record);
                failed += u64::from(caught(|| sink(record, at)) != Some(true));
            }
            state = self.lock();
            state.failed += failed;
        }
        drop(state);
        let _ = caught(|| drop(sink));
    }

    /// When it was by the wall clock, as that goes now.
    fn wall(&self, record: &Record) -> SystemTime {
        let since = self.clock.now().saturating_since(record.at);
        let now = SystemTime::now();
        now.checked_sub(since).unwrap_or(now)
    }

    /// Waits until all records are given out, for a second at most. Blocks.
    pub fn flush(&self) {
        let state = self.lock();
        if state.started && !state.given_up {
            let waited = self.done.wait_timeout_while(state, FLUSH, |state| state.busy);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.given_up = state.busy;
        }
    }

    /// The server is gone: what waits is given out for a bounded time, then the thread ends when its sink lets it. Blocks as [`flush`](Self::flush) does.
    pub fn stop(&self) {
        self.lock().stopping = true;
        self.work.notify_one();
        self.flush();
    }

    /// What became of records so far.
    pub fn stats(&self) -> RecordStats {
        let state = self.lock();
        RecordStats { lost: state.gate.lost_records(), failed: state.failed }
    }
}
