//! Which exchange goes over which connection.

use core::time::Duration;

use bytes::Bytes;

use super::line::{Line, Open};
use super::{Action, ConnectionHandle, Pool};
use crate::exchange::Partition;
use crate::http::client::{Effect, End};
use crate::http::h1::{Body, Fault};
use crate::http::head::{HttpHandle, RequestHead};
use crate::http::url::Authority;
use crate::outbox::WHOLE;
use crate::time::Instant;

/// Connections beyond the bound, for what calls on all of the others may wait for.
pub(super) const RESERVE: usize = 2;

/// How long a request waits for a connection that was begun for another one, which needs it no more. Most are made
/// sooner; one that is not may never be, as where an address takes no more of them.
pub(super) const SPARE: Duration = Duration::from_secs(1);

/// A request that has no connection yet.
pub(super) struct Order {
    exchange: HttpHandle,
    to: Authority,
    partition: Partition,
    pub(super) head: RequestHead,
    pub(super) body: Bytes,
    /// Others may wait for it.
    urgent: bool,
}

impl Order {
    fn goes_over(&self, to: &Authority, partition: Partition) -> bool {
        self.partition == partition && self.to == *to
    }

    /// Its place among those that wait: what is urgent first, then the older.
    const fn rank(&self) -> (bool, HttpHandle) {
        (!self.urgent, self.exchange)
    }
}

/// A connection that is being made.
pub(super) struct Dial {
    connection: ConnectionHandle,
    to: Authority,
    partition: Partition,
    /// What it was begun for, while that waits. Another one may be the first to use it.
    wanted_by: Option<HttpHandle>,
    /// Until when others wait for it, rather than have one made for themselves.
    counts_until: Instant,
    /// That is over.
    late: bool,
}

impl Dial {
    /// When it becomes late, if that concerns anybody.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        (self.wanted_by.is_none() && !self.late).then_some(self.counts_until)
    }
}

impl Pool {
    /// Gives what waits to the connections that are free, and asks for more where there are too few. To be called after
    /// the application's calls, and after what came in was put in, before the actions are taken.
    pub fn carry_out(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.give_up_on_late_dials(now);
        loop {
            self.take_effects(now);
            self.stale = false;
            if self.waiting.is_empty() || !self.staff(now) {
                return;
            }
        }
    }

    pub(super) fn take_effects(&mut self, now: Instant) {
        while let Some(effect) = self.client.poll_effect() {
            match effect {
                Effect::Open { exchange, .. } if self.over => {
                    self.client.handle_end(exchange, End::Unreachable, now);
                }
                Effect::Open { exchange, to, head, body, partition, urgent } => {
                    self.wait(Order { exchange, to, partition, head, body, urgent });
                }
                Effect::Close { exchange } => self.drop_exchange(exchange),
            }
        }
    }

    fn wait(&mut self, order: Order) {
        self.stale = true;
        let place = self.waiting.partition_point(|other| other.rank() < order.rank());
        self.waiting.insert(place, order);
    }

    /// Whether something was begun.
    fn staff(&mut self, now: Instant) -> bool {
        let mut began = false;
        let mut next = 0;
        while let Some(order) = self.waiting.get(next) {
            if let Some(place) = self.free_for(order) {
                let connection = self.idle.remove(place);
                if let Some(order) = self.waiting.remove(next) {
                    self.release(order.exchange);
                    self.hand(connection, order, now);
                }
                began = true;
                continue;
            }
            if self.lacks_a_dial(order, next) {
                let (to, partition, wanted_by) = (order.to.clone(), order.partition, order.exchange);
                if !self.make_room(order.urgent) {
                    return began;
                }
                self.dial(to, partition, wanted_by, now);
            }
            next += 1;
        }
        began
    }

    /// Whether no connection is being made for this one, which waits at that place, nor enough for others that it may have.
    fn lacks_a_dial(&self, order: &Order, place: usize) -> bool {
        let has_own = |order: &Order| self.dials.iter().any(|dial| dial.wanted_by == Some(order.exchange));
        if has_own(order) {
            return false;
        }
        let ahead = self.waiting.iter().take(place);
        let ahead = ahead.filter(|it| it.goes_over(&order.to, order.partition) && !has_own(it)).count();
        let spare = self.dials.iter().filter(|dial| {
            dial.wanted_by.is_none() && !dial.late && order.goes_over(&dial.to, dial.partition)
        });
        spare.count() <= ahead
    }

    /// Where among those that carry nothing the connection stands that this can have at once.
    fn free_for(&self, order: &Order) -> Option<usize> {
        let fits = |connection: &ConnectionHandle| {
            let line = self.lines.get(connection);
            line.is_some_and(|line| order.goes_over(&line.to, line.partition))
        };
        self.idle.iter().rposition(fits)
    }

    /// Whether another connection may be made. One that is late, or to somebody else and carries nothing, may have to go
    /// for it.
    fn make_room(&mut self, urgent: bool) -> bool {
        let most = self.most + if urgent { RESERVE } else { 0 };
        if self.lines.len() + self.dials.len() < most {
            return true;
        }
        if let Some(place) = self.dials.iter().position(|dial| dial.wanted_by.is_none() && dial.late) {
            let Dial { connection, .. } = self.dials.remove(place);
            self.actions.push_back(Action::Close { connection });
            return true;
        }
        if self.idle.is_empty() {
            return false;
        }
        let connection = self.idle.remove(0);
        self.lines.remove(&connection);
        self.actions.push_back(Action::Close { connection });
        true
    }

    fn dial(&mut self, to: Authority, partition: Partition, wanted_by: HttpHandle, now: Instant) {
        self.numbers += 1;
        let connection = ConnectionHandle::numbered(self.numbers);
        self.actions.push_back(Action::Dial { connection, to: to.clone(), partition });
        let (wanted_by, counts_until) = (Some(wanted_by), now.saturating_add(SPARE));
        self.dials.push(Dial { connection, to, partition, wanted_by, counts_until, late: false });
    }

    /// A request waits no longer: what was begun for it is for whoever comes.
    fn release(&mut self, exchange: HttpHandle) {
        for dial in self.dials.iter_mut().filter(|dial| dial.wanted_by == Some(exchange)) {
            dial.wanted_by = None;
        }
    }

    /// Connections that take too long to be made are not waited for by those who came after.
    pub(super) fn give_up_on_late_dials(&mut self, now: Instant) {
        for dial in &mut self.dials {
            if dial.poll_timeout().is_some_and(|at| at <= now) {
                dial.late = true;
                self.stale = true;
            }
        }
    }

    /// A connection that carries nothing gets this to carry.
    ///
    /// One that has served is looked at first: its end may wait there, and some servers end a connection with an answer that
    /// does not say so. An end that is still on its way when the request leaves is not seen: what was sent is not sent
    /// again then, for the server may have read it.
    fn hand(&mut self, connection: ConnectionHandle, order: Order, now: Instant) {
        let Some(line) = self.lines.get_mut(&connection) else { return self.wait(order) };
        line.open = Some(Open { exchange: order.exchange, order: Some(order), leaving: false });
        line.looked_at = line.used;
        if line.looked_at {
            self.actions.push_back(Action::Look { connection });
        } else {
            self.begin(connection, now);
        }
    }

    /// What an [`Action::Look`] found was put in, if it found anything.
    pub fn handle_looked(&mut self, connection: ConnectionHandle, now: Instant) {
        let now = self.clock.advance(now);
        let Some(line) = self.lines.get_mut(&connection).filter(|line| line.looked_at) else { return };
        line.looked_at = false;
        self.stale = true;
        if line.open.is_some() {
            self.begin(connection, now);
        } else {
            self.idle.push(connection);
        }
    }

    fn begin(&mut self, connection: ConnectionHandle, now: Instant) {
        let Some(line) = self.lines.get_mut(&connection) else { return };
        let Some(Open { exchange, order: Some(order), leaving }) = &mut line.open else { return };
        let body = if order.body.is_empty() { Body::Empty } else { Body::Whole(order.body.clone()) };
        let long = order.body.len() >= WHOLE;
        if line.machine.request(&order.head, body, now).is_ok() {
            // A short one is copied into the connection's own block, which counts as the connection's.
            if long {
                *leaving = true;
                self.client.begin_leaving(*exchange, now);
            }
            return self.actions.push_back(Action::Write { connection });
        }
        if !line.machine.is_idle() {
            return self.bury(connection, None, now);
        }
        // The connection is as it was: this can go over none.
        let exchange = *exchange;
        line.open = None;
        self.idle.push(connection);
        self.end(exchange, End::Unreachable, now);
    }

    /// A connection was made.
    pub fn handle_connected(&mut self, connection: ConnectionHandle, now: Instant) {
        let now = self.clock.advance(now);
        let Some(dial) = self.take_dial(connection) else {
            if !self.lines.contains_key(&connection) {
                self.actions.push_back(Action::Close { connection });
            }
            return;
        };
        let line = Line::new(self.limits.clone(), dial.to, dial.partition, now);
        self.lines.insert(connection, line);
        self.idle.push(connection);
        self.stale = true;
    }

    /// A connection was not made. What it was begun for ends, if that waits still. What came later may do better: it is
    /// asked for by a dial of its own.
    pub fn handle_connect_failed(&mut self, connection: ConnectionHandle, now: Instant) {
        let now = self.clock.advance(now);
        let Some(dial) = self.take_dial(connection) else { return };
        self.stale = true;
        let place = self.waiting.iter().position(|order| dial.wanted_by == Some(order.exchange));
        if let Some(order) = place.and_then(|place| self.waiting.remove(place)) {
            self.end(order.exchange, End::Unreachable, now);
        }
    }

    fn take_dial(&mut self, connection: ConnectionHandle) -> Option<Dial> {
        let place = self.dials.iter().position(|dial| dial.connection == connection)?;
        Some(self.dials.remove(place))
    }

    /// A connection carries nothing any more, and is kept for what comes.
    pub(super) fn rest(&mut self, connection: ConnectionHandle, now: Instant) {
        if self.idle.contains(&connection) {
            return;
        }
        if let Some(line) = self.lines.get_mut(&connection).filter(|line| !line.looked_at) {
            line.used = true;
            line.idle_since = now;
            self.idle.push(connection);
        }
    }

    /// A connection is over. What it carried is sent over another one if nothing of it can have been read: the
    /// connection had served before, and was found closed before it took the first byte. `fault`: what its peer did.
    pub(super) fn bury(&mut self, connection: ConnectionHandle, fault: Option<Fault>, now: Instant) {
        self.idle.retain(|idle| *idle != connection);
        let Some(line) = self.lines.remove(&connection) else { return };
        self.actions.push_back(Action::Close { connection });
        match line.open {
            None => {}
            Some(Open { order: Some(order), .. }) if line.used => self.wait(order),
            Some(Open { exchange, order: Some(_), .. }) => {
                self.end(exchange, fault.map_or(End::Unreachable, End::Faulty), now);
            }
            Some(Open { exchange, order: None, .. }) => {
                self.end(exchange, fault.map_or(End::Broken, End::Faulty), now);
            }
        }
    }

    pub(super) fn end(&mut self, exchange: HttpHandle, end: End, now: Instant) {
        if let Some(observer) = &mut self.observer {
            observer.end(exchange, end == End::Whole);
        }
        self.client.handle_end(exchange, end, now);
    }

    /// Nothing more is wanted of an exchange.
    fn drop_exchange(&mut self, exchange: HttpHandle) {
        if let Some(observer) = &mut self.observer {
            observer.end(exchange, false);
        }
        self.stale = true;
        self.waiting.retain(|order| order.exchange != exchange);
        self.release(exchange);
        let Some((connection, line)) = self.lines.iter_mut().find(|(_, line)| line.carries(exchange)) else {
            return;
        };
        if line.looked_at {
            line.open = None;
            return;
        }
        let connection = *connection;
        self.lines.remove(&connection);
        self.actions.push_back(Action::Close { connection });
    }

    /// Breaks off everything that is under way.
    pub fn cut_off(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        loop {
            self.take_effects(now);
            if self.lines.is_empty() && self.waiting.is_empty() {
                return;
            }
            while let Some(connection) = self.lines.keys().next().copied() {
                self.bury(connection, None, now);
            }
            while let Some(order) = self.waiting.pop_front() {
                self.release(order.exchange);
                self.end(order.exchange, End::Unreachable, now);
            }
        }
    }

    /// Closes all connections for good, those that are being made too. What is under way breaks off, and so does whatever
    /// comes later.
    pub fn shut_down(&mut self, now: Instant) {
        self.over = true;
        for Dial { connection, .. } in core::mem::take(&mut self.dials) {
            self.actions.push_back(Action::Close { connection });
        }
        self.cut_off(now);
    }
}
