//! The turn of whoever has the lead: write, wait, read, run what came.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sanswire::Instant;

use crate::os::PollEvent;
use crate::serve::call::{Call, Job};
use crate::serve::driver::{Driver, Lead, Locked, listen};

/// How long answers that are ready wait for others, and input for handlers; and once to twice of it (among many quick
/// ones up to four times) is how long a handler may run before it loses the lead.
pub(super) const TICK: Duration = Duration::from_millis(1);

impl Driver {
    /// Leads until all is over or the lead is somebody else's. The keeper returns as soon as there is something to
    /// run and a worker to be had.
    pub(super) fn lead<'a>(&'a self, mut state: Locked<'a>, me: Lead) -> Locked<'a> {
        let mut events: Vec<PollEvent> = Vec::new();
        let mut now = self.now();
        loop {
            self.tend(&mut state, now);
            if state.over {
                return state;
            }
            let mut until = state.traffic.deadline();
            if state.traffic.has_ready() {
                match me {
                    // What has come meanwhile may be a cancel.
                    Lead::Worker(_) => until = Some(now),
                    Lead::Keeper if self.may_appoint(&state) => return state,
                    Lead::Keeper => until = earlier(until, state.no_thread_until),
                }
            }
            (state, now) = self.wait(state, &mut events, until, now);
            if me == Lead::Keeper {
                continue;
            }
            let began = now;
            while let Some(job) = state.traffic.next_job() {
                (state, now) = self.run(state, job, Some(me));
                if state.lead != me {
                    self.tend(&mut state, now);
                    return state;
                }
                if now.saturating_since(began) >= TICK {
                    break;
                }
            }
        }
    }

    /// Waits for input, and reads it.
    pub(super) fn wait<'a>(
        &'a self,
        mut state: Locked<'a>,
        events: &mut Vec<PollEvent>,
        until: Option<Instant>,
        now: Instant,
    ) -> (Locked<'a>, Instant) {
        let until = earlier(until, state.listening.as_ref().and_then(listen::Listening::pauses_until));
        state.waits = Some(until);
        self.hub.begin_wait();
        Self::release(state);
        self.hub.wait(events, until.map(|until| until.saturating_since(now)));
        let mut state = self.lock();
        state.waits = None;
        let now = self.now();
        for event in &*events {
            if event.key == listen::KEY {
                self.accept(&mut state, now);
            } else {
                state.traffic.found(*event, now);
            }
        }
        self.resume_accepting(&mut state, now);
        state.traffic.time(now);
        (state, now)
    }

    /// Runs a request without the lock, and puts its answer into the machine. `leads`: the lead of whoever does
    /// this, which may be gone afterwards.
    pub(super) fn run<'a>(
        &'a self,
        mut state: Locked<'a>,
        job: Job,
        leads: Option<Lead>,
    ) -> (Locked<'a>, Instant) {
        if leads.is_some() {
            self.beat.fetch_add(1, Ordering::Relaxed);
            if state.keeper_sleeps {
                state.keeper_sleeps = false;
                state.wakes.push(self.keeper.clone());
            }
        }
        self.unlock(state);
        let reply = self.server.answer(&Call::new(self, &job));
        let mut state = self.lock();
        if leads == Some(state.lead) {
            self.beat.fetch_add(1, Ordering::Relaxed);
        }
        let now = self.now();
        state.traffic.finish(job, reply, now);
        (state, now)
    }
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
