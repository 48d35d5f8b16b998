//! One connection: a future that owns its stream, reads and writes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sanswire::Instant;
use sanswire::http::Site;
use sanswire::server::kit::ConnectionKey;
use sanswire_system::serve::Cancel;

use crate::alarm::Alarm;
use crate::ends::{Ends, Step};
use crate::serve::http::hub::Hub;
use crate::serve::hub::{NEWS, Signals};
use crate::serve::question::Answer;
use crate::signals::{self, Bells, Fire as _};
use crate::taps::Taps;
use crate::wire::Wire;

/// Reads in one turn, so that none starves the others.
const MAX_READS: usize = 8;
/// Turns in one poll.
const MAX_TURNS: usize = 4;
/// How long a client may go on sending after the end of its connection, for the system not to cut off what it has yet to
/// read.
const LINGER: Duration = Duration::from_millis(500);

/// How often the system is asked whether a client is still there of which no more is read.
const LOOK: Duration = Duration::from_secs(1);

/// A connection until it is over. Dropping it ends it.
pub(super) struct Connection {
    hub: Arc<Hub>,
    /// None: the site knows it no more.
    key: Option<ConnectionKey>,
    ends: Ends,
    signals: Arc<Signals>,
    bells: Bells,
    /// Nothing is heard of HTTP.
    taps: Taps,
    alarm: Alarm,
    output_ended: bool,
    /// What is left of it, and until when.
    parting: Option<(Wire, Instant)>,
}

impl Connection {
    /// One that the site knows as `key`.
    pub(super) fn new(hub: &Arc<Hub>, key: ConnectionKey, wire: Wire) -> Self {
        let signals = Arc::<Signals>::default();
        Self {
            hub: Arc::clone(hub),
            key: Some(key),
            ends: Ends::new(wire),
            bells: Bells::new(&signals),
            signals,
            taps: Taps::new(None, hub.clock),
            alarm: Alarm::default(),
            output_ended: false,
            parting: None,
        }
    }

    /// One for whom there is no room: it is told so.
    pub(super) fn turned_away(hub: &Arc<Hub>, mut wire: Wire, said: &[u8]) -> Self {
        let signals = Arc::<Signals>::default();
        let bells = Bells::new(&signals);
        // A new connection takes as little as that.
        drop(wire.write(said, &bells.write));
        let until = hub.clock.now().saturating_add(LINGER);
        Self {
            hub: Arc::clone(hub),
            key: None,
            ends: Ends::none(),
            bells,
            signals,
            taps: Taps::new(None, hub.clock),
            alarm: Alarm::default(),
            output_ended: true,
            parting: Some((wire, until)),
        }
    }

    /// Reads what has come, and says whether it has rested for long enough to make room; then it does.
    pub(super) fn give_way(&mut self, site: &mut Site<Cancel, Answer>, now: Instant) -> bool {
        // It may not have been told yet that there is something.
        self.ends.fired(signals::READ);
        self.read_and_write(site, 1, now);
        let Some(key) = self.key else { return true };
        let gives = site.connection(key).is_some_and(|mut connection| connection.give_way(now));
        self.read_and_write(site, 0, now);
        // It goes at once: who was waiting needs the descriptor too.
        if gives {
            self.parting = None;
        }
        self.key.is_none()
    }

    /// Does what is ready. Whether there is more to do at once.
    fn turn(&mut self) -> bool {
        let fired = self.signals.take();
        if fired & signals::TIME != 0 {
            self.alarm.fired();
        }
        self.ends.fired(fired);
        let now = self.hub.clock.now();
        if self.key.is_none() {
            return self.part(now);
        }
        let hub = Arc::clone(&self.hub);
        let mut guard = hub.site();
        let Some(site) = &mut *guard else {
            // It is over for all.
            self.key = None;
            return false;
        };
        let more = self.read_and_write(site, MAX_READS, now);
        // What comes of it for others is seen by who polls this.
        drop(guard);
        if self.key.is_none() { self.part(now) } else { more }
    }

    fn read_and_write(&mut self, site: &mut Site<Cancel, Answer>, reads: usize, now: Instant) -> bool {
        let Some(key) = self.key else { return false };
        let Some(mut machine) = site.connection(key) else {
            self.key = None;
            return false;
        };
        for _ in 0..reads {
            match self.ends.read(&mut machine, &self.bells, &mut self.taps, now) {
                Step::More => {}
                Step::Enough => break,
            }
        }
        if self.ends.flush(&mut machine, &self.bells, &mut self.taps, now).is_err() {
            self.ends.stop_writing(&mut machine, now);
        }
        machine.handle_flushed(now);
        let mut late = false;
        if machine.is_full() {
            if self.ends.is_left() {
                self.ends.end_input(&mut machine, now);
            } else {
                late = !self.alarm.set(now.saturating_add(LOOK), self.hub.clock, &self.bells.time);
            }
        }
        if machine.is_closed() {
            site.remove(key, now);
            self.key = None;
            self.parting = self.ends.take_wire().map(|wire| (wire, now.saturating_add(LINGER)));
            return false;
        }
        if !self.output_ended && machine.is_lingering() {
            self.output_ended = true;
            self.ends.end_output();
        }
        self.ends.arm(&mut machine, &self.bells, true, now) | late
    }

    /// The connection is over, and its client has yet to see that.
    fn part(&mut self, now: Instant) -> bool {
        let Some((wire, until)) = &mut self.parting else { return false };
        if *until <= now || wire.poll_part(&self.bells).is_ready() {
            self.parting = None;
            return false;
        }
        !self.alarm.set(*until, self.hub.clock, &self.bells.time)
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.signals.set_task(cx.waker());
        for _ in 0..MAX_TURNS {
            let more = this.turn();
            if this.key.is_none() && this.parting.is_none() {
                return Poll::Ready(());
            }
            if !more && !this.signals.is_waiting() {
                return Poll::Pending;
            }
        }
        // Others get their turn.
        this.signals.fire(NEWS);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
