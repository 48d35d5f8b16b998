//! What all threads of a client share: one machine behind one lock, held for machine calls and for reads and
//! writes that cannot block, never while polling or sleeping.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::Thread;

use sanswire::client::{
    Calls, Event, Notices, Notification, Outcome, Peer, PeerRequestHandle, RequestHandle, Verdict,
};
use sanswire::error::{CloseReason, Violation};
use sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire::{Instant, Machine};
use sanswire_system::clock::Clock;
use sanswire_system::stderr::{LogLines, Ring};
use sanswire_system::tap::{self, TapQueue};
use sanswire_system::{Direction, Exit, Responder};

use crate::handlers;
use crate::link::Link;
use crate::os::{Got, Input, Output, Source, Wake, read_stderr};

/// Violations that are kept for the embedder.
const MAX_VIOLATIONS: usize = 32;
/// Reads of one stream in one round, so that neither stream starves the other.
pub(crate) const MAX_READS: usize = 32;

/// One connection, as all of its threads see it.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Something changed that is waited for without leading: a notification, the end, the exit.
    pub(crate) changed: Condvar,
    /// There is a job for a handler, or the end.
    pub(crate) job: Condvar,
    /// Ends the poll of a caller that leads.
    pub(crate) lead_wake: Wake,
    /// Ends the poll of the watcher.
    pub(crate) watch_wake: Wake,
    pub(crate) watcher: OnceLock<Thread>,
    pub(crate) stderr: Option<Source>,
    pub(crate) clock: Clock,
    pub(crate) responder: Option<Arc<dyn Responder>>,
    pub(crate) tap: Option<Arc<TapQueue>>,
    pub(crate) pid: Option<u32>,
    /// Why its process is in no sandbox, though it was to be in one.
    pub(crate) unwrapped: Option<String>,
    pub(crate) me: Weak<Self>,
    /// What the server writes, if it is one stream. Open as long as this value, so that it can be waited for without
    /// the lock.
    pub(crate) source: Option<Source>,
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    Nobody,
    Caller,
    Watcher,
}

pub(crate) struct State {
    pub(crate) machine: Link,
    pub(crate) input: Input,
    pub(crate) input_open: bool,
    pub(crate) output: Option<Arc<Output>>,
    /// The server reads no more.
    pub(crate) output_broken: bool,
    /// Events were handed out since a leader's turn began.
    pub(crate) delivered: bool,
    pub(crate) stderr_open: bool,
    pub(crate) ring: Ring,
    /// The log that stderr goes to as well.
    pub(crate) log: Option<LogLines>,
    pub(crate) calls: Calls<Thread>,
    /// The call of the thread that leads, if it began with the lead: it needs no place among the others.
    pub(crate) leaders: Option<RequestHandle>,
    pub(crate) leaders_outcome: Option<Outcome>,
    pub(crate) notices: Notices,
    /// Threads that wait for one.
    pub(crate) notice_readers: u32,
    pub(crate) keeper: Option<Keeper>,
    pub(crate) corks: u32,
    pub(crate) lead: Lead,
    /// How often a caller took the lead.
    pub(crate) leads: u64,
    /// The sleeper that was woken to take the lead, and has not come yet.
    pub(crate) offered: Option<RequestHandle>,
    /// The watcher sleeps until it is told that nobody leads.
    pub(crate) watcher_sleeps: bool,
    /// When the leader's poll ends at the latest, and whether it ends when there is room to write.
    pub(crate) polls_until: Option<Instant>,
    pub(crate) polls_output: bool,
    /// Threads to wake as soon as the lock is free.
    pub(crate) wakes: Vec<Thread>,
    pub(crate) jobs: VecDeque<(PeerRequestHandle, InputRequest)>,
    pub(crate) handlers: handlers::Count,
    pub(crate) peer: Option<Box<Peer>>,
    /// How the server introduced itself in a session that took the place of one that it had forgotten; for a keeper.
    pub(crate) renewed: Option<Box<Peer>>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) closed: Option<CloseReason>,
    /// The connection is to end: whatever holds writes back does so no more.
    pub(crate) closing: bool,
    /// From then on nothing is waited for while the process is stopped, but its end.
    pub(crate) patience_until: Option<std::time::Instant>,
    pub(crate) exit: Option<Exit>,
    taps: Option<tap::Splitters>,
}

/// The thread that looks after a connection for a host. It leads nothing and waits for no call, so it is told of what
/// concerns it.
pub(crate) struct Keeper {
    pub(crate) thread: Thread,
    /// Its requests that are out.
    pub(crate) open: Vec<RequestHandle>,
}

pub(crate) type Locked<'a> = MutexGuard<'a, State>;

/// What a connection is made of.
pub(crate) struct Parts {
    pub(crate) machine: Link,
    /// The ends of its one stream, if it is one.
    pub(crate) ends: Option<(Input, Source, Output)>,
    pub(crate) stderr: Option<Source>,
    /// The log that it goes to.
    pub(crate) log: Option<LogLines>,
    pub(crate) pid: Option<u32>,
    pub(crate) unwrapped: Option<String>,
    pub(crate) clock: Clock,
    pub(crate) responder: Option<Arc<dyn Responder>>,
    pub(crate) tap: Option<Arc<TapQueue>>,
}

impl State {
    /// The one stream, if it is one, brings no more.
    fn end_input(&mut self, now: Instant) {
        self.input_open = false;
        if let Link::Line(line) = &mut self.machine {
            line.handle_eof(now);
        }
    }
}

impl Shared {
    /// The connection begins with its lead taken, by whoever opens it.
    pub(crate) fn new(parts: Parts) -> std::io::Result<Arc<Self>> {
        let (lead_wake, watch_wake) = (Wake::new()?, Wake::new()?);
        let (input, source, output) = match parts.ends {
            Some((input, source, output)) => (input, Some(source), Some(Arc::new(output))),
            None => (Input::SOCKET, None, None),
        };
        let state = State {
            machine: parts.machine,
            input,
            input_open: source.is_some(),
            output,
            output_broken: false,
            delivered: false,
            stderr_open: parts.stderr.is_some(),
            ring: Ring::default(),
            log: parts.log,
            calls: Calls::default(),
            leaders: None,
            leaders_outcome: None,
            notices: Notices::default(),
            notice_readers: 0,
            keeper: None,
            corks: 0,
            lead: Lead::Caller,
            leads: 1,
            offered: None,
            watcher_sleeps: false,
            polls_until: None,
            polls_output: false,
            wakes: Vec::new(),
            jobs: VecDeque::new(),
            handlers: handlers::Count::default(),
            peer: None,
            renewed: None,
            verdict: None,
            violations: Vec::new(),
            closed: None,
            closing: false,
            patience_until: None,
            exit: None,
            taps: parts.tap.as_ref().map(|_| tap::Splitters::default()),
        };
        Ok(Arc::new_cyclic(|me| Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            job: Condvar::new(),
            lead_wake,
            watch_wake,
            watcher: OnceLock::new(),
            stderr: parts.stderr,
            clock: parts.clock,
            responder: parts.responder,
            tap: parts.tap,
            pid: parts.pid,
            unwrapped: parts.unwrapped,
            me: me.clone(),
            source,
        }))
    }

    /// A thread that panicked while it held the lock left the machine between two of its calls at worst.
    pub(crate) fn lock(&self) -> Locked<'_> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the lock, then wakes whom there is something for: a thread that is woken earlier would run into
    /// the lock.
    pub(crate) fn unlock(&self, mut state: Locked<'_>) {
        if state.wakes.is_empty() {
            return;
        }
        let wakes = std::mem::take(&mut state.wakes);
        drop(state);
        for thread in wakes {
            thread.unpark();
        }
    }

    /// Writes what waits, as far as it goes without blocking.
    pub(crate) fn flush(&self, state: &mut State, now: Instant) {
        loop {
            let line = match &mut state.machine {
                Link::Line(line) => line,
                Link::Http(net) => return net.flush(self, now),
            };
            let bytes = line.transmit();
            if bytes.is_empty() {
                return;
            }
            let wrote = match &state.output {
                Some(output) => output.write(bytes),
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            };
            match wrote {
                Ok(len) => {
                    if let (Some(taps), Some(queue)) = (&mut state.taps, &self.tap) {
                        let sent = bytes.get(..len).unwrap_or_default();
                        taps.sent.feed(sent, |line| queue.push(Direction::Sent, self.clock.elapsed(), line));
                    }
                    line.handle_written(len, now);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.stop_writing(state, now);
                    // The leader's own call may be over by that.
                    self.wake_leader(state);
                    return;
                }
            }
        }
    }

    /// After a write failed.
    pub(crate) fn stop_writing(&self, state: &mut State, now: Instant) {
        match &mut state.machine {
            Link::Line(line) => {
                state.output_broken = true;
                line.handle_write_closed(now);
            }
            Link::Http(net) => net.cut_off(self, now),
        }
        self.deliver(state, now);
        self.give_up_if_deaf(state, now);
    }

    /// A server that reads no more is of no use once nothing is open, whether it goes on writing or not.
    pub(crate) fn give_up_if_deaf(&self, state: &mut State, now: Instant) {
        if !state.output_broken || !state.input_open || state.machine.session().in_flight() > 0 {
            return;
        }
        // Its last words may say why.
        self.read_input(state, now);
        if state.input_open {
            state.end_input(now);
            self.deliver(state, now);
        }
    }

    /// Reads what is there.
    pub(crate) fn read_input(&self, state: &mut State, now: Instant) {
        for _ in 0..MAX_READS {
            let (Link::Line(line), Some(source)) = (&mut state.machine, &self.source) else { return };
            if !state.input_open || !line.wants_read() {
                return;
            }
            let buffer = line.read_buffer();
            let before = buffer.len();
            match state.input.read(source, buffer) {
                Got::Bytes { len, full } => {
                    if let (Some(taps), Some(queue)) = (&mut state.taps, &self.tap) {
                        let read = buffer.get(before..).unwrap_or_default();
                        taps.received.feed(read, |line| {
                            queue.push(Direction::Received, self.clock.elapsed(), line);
                        });
                    }
                    line.handle_read(now);
                    if len >= sanswire::limits::MAX_READ_BYTES {
                        state.input.deepen(source);
                    }
                    self.deliver(state, now);
                    if !full {
                        return;
                    }
                }
                Got::Nothing => return,
                Got::End { .. } => {
                    state.end_input(now);
                    self.deliver(state, now);
                }
            }
        }
    }

    /// Reads what the child said on stderr.
    pub(crate) fn read_stderr(&self, state: &mut State) {
        let Some(source) = &self.stderr else { return };
        for _ in 0..MAX_READS {
            let buffer = state.ring.read_buffer();
            let before = buffer.len();
            let got = read_stderr(source, buffer);
            if let Some(log) = &mut state.log {
                log.feed(buffer.get(before..).unwrap_or_default(), self.clock.now());
            }
            match got {
                Got::Bytes { full: true, .. } => {}
                Got::Bytes { .. } | Got::Nothing => return,
                Got::End { .. } => {
                    state.stderr_open = false;
                    return;
                }
            }
        }
    }

    /// Hands every event to whom it belongs.
    pub(crate) fn deliver(&self, state: &mut State, now: Instant) {
        while let Some(event) = state.machine.poll_event() {
            state.delivered = true;
            match event {
                Event::Finished { request, outcome } if state.leaders == Some(request) => {
                    state.leaders = None;
                    state.leaders_outcome = Some(outcome);
                }
                Event::Finished { request, outcome } => {
                    if let Some(thread) = state.calls.finish(request, outcome) {
                        state.wakes.push(thread);
                    } else if state.keeper.as_ref().is_some_and(|keeper| keeper.open.contains(&request)) {
                        wake_keeper(state);
                    }
                }
                Event::Progress { request, progress } => {
                    if let Some(thread) = state.calls.report(request, progress) {
                        state.wakes.push(thread);
                    }
                }
                // A host takes what it needs at once, so that nothing else piles up here.
                Event::Notification { subscription: None, method, .. }
                    if state.keeper.is_some() && !method.is_list_changed() => {}
                Event::Notification { subscription, method, params } => {
                    wake_keeper(state);
                    state.notices.push(Notification::new(subscription, method, params));
                    if state.notice_readers > 0 {
                        self.changed.notify_all();
                    }
                }
                Event::Renewed(peer) if state.keeper.is_some() => {
                    state.renewed = Some(peer);
                    wake_keeper(state);
                }
                Event::Renewed(peer) => {
                    state.peer = Some(peer);
                    state.notices.renewed();
                    if state.notice_readers > 0 {
                        self.changed.notify_all();
                    }
                }
                Event::PeerRequest { handle, request, .. } => self.asked(state, handle, request, now),
                Event::PeerRequestEnded { handle } => state.jobs.retain(|(job, _)| *job != handle),
                Event::Ready(peer) => state.peer = Some(peer),
                Event::Verdict(verdict) => {
                    state.verdict = Some(verdict);
                    wake_keeper(state);
                }
                Event::Violation(violation) => {
                    state.violations.push(violation);
                    state.violations.truncate(MAX_VIOLATIONS);
                }
                Event::Closed(reason) => {
                    state.closed = Some(reason);
                    state.jobs.clear();
                    wake_keeper(state);
                    self.changed.notify_all();
                    self.job.notify_all();
                    self.wake_watcher(state);
                }
                _ => {}
            }
        }
    }

    fn asked(&self, state: &mut State, handle: PeerRequestHandle, request: InputRequest, now: Instant) {
        if self.responder.is_some() && handlers::submit(self, state, handle, request) {
            return;
        }
        // Nobody can answer: the server is told at once and does not wait.
        let _ = state.machine.asked().answer(handle, &InputAnswer::Cancel, now);
    }

    /// After something was put into the machine by a thread that does not lead: the leader's poll must end in
    /// time for it.
    pub(crate) fn kick(&self, state: &mut State) {
        let left_over = match &state.machine {
            Link::Line(line) => !state.polls_output && !line.transmit().is_empty(),
            Link::Http(net) => net.has_news(),
        };
        let earlier = match (state.machine.poll_timeout(), state.polls_until) {
            (Some(at), Some(until)) => at < until,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if left_over || earlier {
            self.wake_leader(state);
        }
    }

    pub(crate) fn wake_leader(&self, state: &mut State) {
        match state.lead {
            Lead::Nobody => {}
            Lead::Caller => self.lead_wake.wake(),
            Lead::Watcher => self.watch_wake.wake(),
        }
    }

    /// Ends the watcher's poll or sleep.
    pub(crate) fn wake_watcher(&self, state: &mut State) {
        if state.lead == Lead::Watcher {
            self.watch_wake.wake();
        } else if let Some(thread) = self.watcher.get() {
            state.wakes.push(thread.clone());
        }
    }
}

fn wake_keeper(state: &mut State) {
    if let Some(keeper) = &state.keeper {
        state.wakes.push(keeper.thread.clone());
    }
}
