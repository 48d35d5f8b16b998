//! Which exchange goes over which connection.

use bytes::Bytes;
use sanswire::Instant;
use sanswire::exchange::Partition;
use sanswire::http::client::End;
use sanswire::http::h1::{Body, Fault};
use sanswire::http::{Authority, HttpHandle, RequestHead};
use sanswire_system::DialFault;

use super::line::{Line, Open};
use super::told::Told;
use super::{Net, dials};
use crate::http::dial::Wire;
use crate::os::Got;
use crate::shared::Shared;

/// Connections beyond the bound, for what calls on all of the others may wait for.
const RESERVE: usize = 2;

/// A request that has no connection yet.
pub(super) struct Order {
    pub(super) exchange: HttpHandle,
    pub(super) to: Authority,
    pub(super) partition: Partition,
    pub(super) head: RequestHead,
    pub(super) body: Bytes,
    /// Others may wait for it.
    pub(super) urgent: bool,
}

impl Order {
    fn goes_over(&self, to: &Authority, partition: Partition) -> bool {
        self.partition == partition && self.to == *to
    }
}

impl Net {
    /// Gives what waits to the connections that are free, and has more made where there are too few. Whether
    /// something was begun.
    pub(super) fn staff(&mut self, shared: &Shared, now: Instant) -> bool {
        let mut began = false;
        let mut next = 0;
        loop {
            if let Some(number) = self.free(next, now) {
                let Some(order) = self.waiting.remove(next) else { return began };
                self.begin(shared, number, order, now);
                began = true;
                continue;
            }
            let Some(order) = self.waiting.get(next) else { return began };
            let (to, partition, urgent) = (order.to.clone(), order.partition, order.urgent);
            let wanted_by = order.exchange;
            let ahead = self.waiting.iter().take(next + 1).filter(|it| it.goes_over(&to, partition)).count();
            let dials = self.dials.iter().filter(|dial| dial.is_to(&to, partition)).count();
            if dials < ahead {
                if !self.make_room(urgent) {
                    return began;
                }
                if !self.dial(shared, (to, partition, wanted_by), now) {
                    continue;
                }
            }
            next += 1;
        }
    }

    /// A connection that the `next`th of what waits can have at once.
    ///
    /// Each is looked at first, by one read: its end may wait there, and some servers end a connection with an answer
    /// that does not say so. An end that is still on its way when the request leaves is not seen: what was sent is not
    /// sent again then, for the server may have read it.
    fn free(&mut self, next: usize, now: Instant) -> Option<u64> {
        loop {
            let order = self.waiting.get(next)?;
            let fits = |number: &u64| {
                let line = self.lines.get(number);
                line.is_some_and(|line| order.goes_over(&line.to, line.partition))
            };
            let place = self.idle.iter().rposition(fits)?;
            let number = self.idle.remove(place);
            let line = self.lines.get_mut(&number)?;
            if line.used && line.read(now) != Got::Nothing {
                self.bury(number, None, now);
                continue;
            }
            return Some(number);
        }
    }

    /// Whether another connection may be made. One to somebody else that carries nothing may have to go for it.
    fn make_room(&mut self, urgent: bool) -> bool {
        let most = self.most + if urgent { RESERVE } else { 0 };
        if self.lines.len() + self.dials.len() < most {
            return true;
        }
        if self.idle.is_empty() {
            return false;
        }
        let number = self.idle.remove(0);
        if let Some(mut line) = self.lines.remove(&number) {
            line.wire.shutdown();
        }
        true
    }

    fn begin(&mut self, shared: &Shared, number: u64, order: Order, now: Instant) {
        let Some(line) = self.lines.get_mut(&number) else { return self.waiting.push_front(order) };
        let body = if order.body.is_empty() { Body::Empty } else { Body::Whole(order.body.clone()) };
        let exchange = order.exchange;
        let taken = line.machine.request(&order.head, body, now).is_ok();
        line.open = Some(Open { exchange, order: Some(order), told: Told::default() });
        if taken {
            self.write(shared, number, now);
        } else {
            self.bury(number, None, now);
        }
    }

    /// A connection carries nothing any more, and is kept for what comes.
    pub(super) fn rest(&mut self, number: u64, now: Instant) {
        if self.idle.contains(&number) {
            return;
        }
        if let Some(line) = self.lines.get_mut(&number) {
            line.used = true;
            line.idle_since = now;
            self.idle.push(number);
        }
    }

    /// A connection is over. What it carried is sent over another one if nothing of it can have been read: the
    /// connection had served before, and was found closed before it took the first byte. `fault`: what its peer did.
    pub(super) fn bury(&mut self, number: u64, fault: Option<Fault>, now: Instant) {
        self.idle.retain(|idle| *idle != number);
        let Some(mut line) = self.lines.remove(&number) else { return };
        line.wire.shutdown();
        if let Some(fault) = line.wire.take_fault() {
            self.fault = Some(DialFault::Tls(fault));
        }
        match line.open {
            None => {}
            Some(Open { order: Some(order), .. }) if line.used => self.waiting.push_front(order),
            Some(Open { order: Some(order), .. }) => {
                self.client.handle_end(order.exchange, fault.map_or(End::Unreachable, End::Faulty), now);
            }
            Some(Open { exchange, .. }) => {
                self.client.handle_end(exchange, fault.map_or(End::Broken, End::Faulty), now);
            }
        }
    }

    /// Nothing more is wanted of an exchange.
    pub(super) fn drop_exchange(&mut self, exchange: HttpHandle) {
        self.waiting.retain(|order| order.exchange != exchange);
        let carries = |line: &Line| line.open.as_ref().is_some_and(|open| open.exchange == exchange);
        let found = self.lines.iter().find(|(_, line)| carries(line)).map(|(number, _)| *number);
        if let Some(mut line) = found.and_then(|number| self.lines.remove(&number)) {
            line.wire.shutdown();
        }
    }

    /// Has a connection made. False: there is no thread for it, and what wanted it was told so.
    fn dial(
        &mut self,
        shared: &Shared,
        (to, partition, wanted_by): (Authority, Partition, HttpHandle),
        now: Instant,
    ) -> bool {
        self.numbers += 1;
        let made_by = (&self.dialer, self.connect);
        match dials::start(&shared.me, self.numbers, (to, partition, wanted_by), made_by) {
            Ok(dial) => {
                self.dials.push(dial);
                true
            }
            Err(fault) => {
                self.fail(wanted_by, fault, now);
                false
            }
        }
    }

    /// What came of a dial.
    pub(super) fn dialed(&mut self, number: u64, made: Result<Wire, DialFault>, now: Instant) {
        let Some(place) = self.dials.iter().position(|dial| dial.number == number) else {
            if let Ok(mut wire) = made {
                wire.shutdown();
            }
            return;
        };
        let dial = self.dials.swap_remove(place);
        match made {
            Ok(wire) => {
                let line = Line::new(wire, self.limits.clone(), (dial.to, dial.partition), now);
                self.lines.insert(number, line);
                self.idle.push(number);
                self.news = true;
                self.fault = None;
            }
            Err(fault) => self.fail(dial.wanted_by, fault, now),
        }
    }

    /// A connection was not made. What came later may do better: it is asked for by a dial of its own.
    fn fail(&mut self, wanted_by: HttpHandle, fault: DialFault, now: Instant) {
        self.fault = Some(fault);
        let place = self.waiting.iter().position(|order| order.exchange == wanted_by);
        if let Some(order) = place.and_then(|place| self.waiting.remove(place)) {
            self.client.handle_end(order.exchange, End::Unreachable, now);
        }
    }
}
