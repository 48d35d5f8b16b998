//! One served connection: a future that owns its stream, reads, runs handlers, writes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sanswire::error::ConfigError;
use sanswire::server::Reply;
use sanswire::server::kit::{Desk, Over, Request};
use sanswire::{Instant, Machine as _};
use sanswire_system::clock::Clock;
use sanswire_system::serve::Cancel;

use crate::alarm::Alarm;
use crate::ends::{Ends, Step};
use crate::serve::answer::Answering;
use crate::serve::call::{Call, Way};
use crate::serve::hub::{Hub, NEWS, Signals, tell};
use crate::serve::places::{Places, Share};
use crate::serve::question::Answer;
use crate::serve::server::Inner;
use crate::serve::tasks::Tasks;
use crate::signals::{self, Bells, Fire as _};
use crate::taps::Taps;
use crate::wire::Wire;

/// Reads in one turn, and handlers that are polled, so that none starves the others.
const MAX_READS: usize = 8;
const MAX_POLLS: usize = 64;
/// Turns in one poll.
const MAX_TURNS: usize = 8;
/// Buffers that a connection keeps while it has nothing to do, if it may be one of many: the smallest that is read into, and
/// small answers.
const KEPT_BYTES: usize = 6 * 1024;
/// How long handlers whose requests are over, and a stream that is to close, are waited for.
const LINGER: Duration = Duration::from_millis(500);

/// A connection until it is over. Dropping it ends it, and what its handlers are at.
pub(super) struct Connection {
    server: Arc<Inner>,
    hub: Arc<Hub>,
    ends: Ends,
    bells: Bells,
    taps: Taps,
    alarm: Alarm,
    tasks: Tasks<Answering, Signals>,
    share: Share,
    /// How many of the places it may have.
    most: usize,
    /// It may be one of many, which together must not hold what each could.
    frugal: bool,
    /// Set once it is over: until then at the latest it goes on.
    lingers: Option<Instant>,
    wire: Option<Wire>,
}

/// A handler came to its end.
type Done = (Call, Reply);

impl Connection {
    /// # Errors
    /// The configuration is not usable.
    pub(super) fn new(
        server: &Arc<Inner>,
        wire: Wire,
        (places, most): (&Arc<Places>, usize),
    ) -> Result<Self, ConfigError> {
        let clock = Clock::start();
        let machine = server.offered.connection(clock.now())?;
        let hub = Arc::new(Hub::new(Desk::new(machine), clock));
        server.serving.enter(&hub);
        Ok(Self {
            server: Arc::clone(server),
            bells: Bells::new(&hub.signals),
            taps: Taps::new(None, clock),
            alarm: Alarm::default(),
            tasks: Tasks::new(&hub.signals),
            share: Share::new(places, &hub.signals),
            most,
            frugal: !matches!(wire, Wire::Stdio(_)),
            ends: Ends::new(wire),
            lingers: None,
            wire: None,
            hub,
        })
    }

    /// Does what is ready. Whether there is more to do at once.
    fn turn(&mut self) -> bool {
        let fired = self.hub.signals.take();
        if fired & signals::TIME != 0 {
            self.alarm.fired();
        }
        self.ends.fired(fired);
        let mut requests = self.read();
        let mut done = Vec::new();
        loop {
            for asked in requests {
                let call = Call::new(Arc::clone(&self.server), Way::Lines(Arc::clone(&self.hub)), asked);
                done.extend(self.tasks.begin(Answering::begin(&self.server, call)));
            }
            let mut polls = 0;
            while polls < MAX_POLLS
                && let Some(polled) = self.tasks.poll_woken()
            {
                polls += 1;
                done.extend(polled);
            }
            let more = polls == MAX_POLLS;
            if done.is_empty() {
                return self.finish(done) | more;
            }
            // Those that end at once make room for others of the same read.
            requests = self.answer(&mut done);
            if requests.is_empty() {
                return self.finish(done) | more;
            }
        }
    }

    /// Reads what there is, and takes the requests that may run.
    fn read(&mut self) -> Vec<Request<Cancel>> {
        let hub = Arc::clone(&self.hub);
        let now = hub.clock.now();
        let mut guard = hub.desk();
        let Some(desk) = &mut *guard else { return Vec::new() };
        let mut over = Over::default();
        let was_open = self.ends.is_input_open();
        for _ in 0..MAX_READS {
            match self.ends.read(&mut desk.machine, &self.bells, &mut self.taps, now) {
                Step::More => over.append(desk.take_in(now)),
                Step::Enough => break,
            }
        }
        if was_open && self.ends.is_gone() {
            self.ends.stop_writing(&mut desk.machine, now);
        }
        if desk.machine.poll_timeout().is_some_and(|at| at <= now) {
            desk.machine.handle_timeout(now);
        }
        over.append(desk.take_in(now));
        let requests = self.staff(desk);
        drop(guard);
        tell(over);
        requests
    }

    /// The requests that may run now.
    fn staff(&mut self, desk: &mut Desk<Cancel, Answer>) -> Vec<Request<Cancel>> {
        let mut requests = Vec::new();
        while desk.may_run(self.most) && self.share.take() {
            // One waits, or it might not run.
            requests.extend(desk.next_request());
        }
        requests
    }

    /// Sends what handlers came to. Gives the requests that may run now.
    fn answer(&mut self, done: &mut Vec<Done>) -> Vec<Request<Cancel>> {
        let hub = Arc::clone(&self.hub);
        let now = hub.clock.now();
        self.share.give(done.len());
        let mut guard = hub.desk();
        let Some(desk) = &mut *guard else {
            drop(guard);
            done.clear();
            return Vec::new();
        };
        for (call, reply) in done.drain(..) {
            let request = call.asked().request;
            desk.finish(request, call.into_params(), reply, now);
        }
        self.staff(desk)
    }

    /// Writes, and sees to it that the task is woken for the rest. Whether something can be done at once.
    fn finish(&mut self, mut done: Vec<Done>) -> bool {
        debug_assert!(done.is_empty(), "they were answered");
        done.clear();
        let hub = Arc::clone(&self.hub);
        let now = hub.clock.now();
        let mut guard = hub.desk();
        let Some(desk) = &mut *guard else {
            drop(guard);
            return self.linger(now);
        };
        let mut over = Over::default();
        loop {
            over.append(desk.take_in(now));
            let before = desk.machine.queued_out_bytes();
            if self.ends.flush(&mut desk.machine, &self.bells, &mut self.taps, now).is_err() {
                self.ends.stop_writing(&mut desk.machine, now);
            } else if desk.machine.queued_out_bytes() == before {
                break;
            }
        }
        over.append(desk.take_in(now));
        let mut more = false;
        let closed = desk.is_closed();
        let wants = !closed && desk.may_run(self.most);
        if !closed {
            if self.frugal {
                desk.rest(KEPT_BYTES);
            }
            more |= self.ends.arm(&mut desk.machine, &self.bells, true, now);
            // The client has read, so that there is room for answers.
            more |= wants && self.share.may_take();
            if let Some(at) = desk.machine.poll_timeout() {
                more |= !self.alarm.set(at, hub.clock, &self.bells.time);
            }
        }
        drop(guard);
        if !wants {
            self.share.pass();
        }
        tell(over);
        if closed {
            self.wire = self.ends.take_wire();
            hub.close();
            self.lingers = Some(now.saturating_add(LINGER));
            return self.linger(now);
        }
        more
    }

    /// The connection is over: its stream and its handlers get a while to end.
    fn linger(&mut self, now: Instant) -> bool {
        if let Some(wire) = &mut self.wire
            && wire.poll_part(&self.bells).is_ready()
        {
            self.wire = None;
        }
        let Some(until) = self.lingers else { return false };
        if self.is_over(now) {
            return false;
        }
        !self.alarm.set(until, self.hub.clock, &self.bells.time)
    }

    fn is_over(&self, now: Instant) -> bool {
        self.lingers.is_some_and(|until| until <= now || self.tasks.len() == 0 && self.wire.is_none())
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.hub.signals.set_task(cx.waker());
        for _ in 0..MAX_TURNS {
            let more = this.turn();
            if this.is_over(this.hub.clock.now()) {
                return Poll::Ready(());
            }
            if !more && !this.hub.signals.is_waiting() {
                return Poll::Pending;
            }
        }
        // Others get their turn.
        this.hub.signals.fire(NEWS);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.hub.close();
        self.tasks.clear();
        self.server.serving.leave();
    }
}
