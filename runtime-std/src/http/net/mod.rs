//! A client over HTTP and its connections: which exchange goes over which, when one is opened, kept and closed.
//!
//! Whoever leads polls all of them at once, so that one thread can have many calls under way and a stream that nobody
//! calls on is read all the same. What blocks (names, connecting, TLS) is done by a thread that lives as long as that
//! takes.

mod dials;
mod line;
mod pool;
mod told;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sanswire::client::{Config, Session};
use sanswire::error::ConfigError;
use sanswire::http::client::{Client, Effect, End};
use sanswire::http::h1::{self, ClientEvent, Closed, Fault};
use sanswire::{Instant, Machine as _};
use sanswire_system::{DialFault, DialStep, HttpTarget};

use self::dials::Dial;
use self::line::Line;
use self::pool::Order;
use self::told::Told;
use crate::http::dial::Dialer;
use crate::os::{Got, Polls, Want};
use crate::shared::Shared;

/// A client over HTTP with its connections.
pub(crate) struct Net {
    client: Client,
    dialer: Arc<Dialer>,
    limits: h1::Limits,
    /// How long a connection may take to be made.
    connect: Duration,
    /// How many connections there may be at once.
    most: usize,
    lines: BTreeMap<u64, Line>,
    /// Those that carry nothing, the one that was used last at the end.
    idle: Vec<u64>,
    dials: Vec<Dial>,
    /// What was to be sent and has no connection yet, the oldest first.
    waiting: VecDeque<Order>,
    /// Connections and dials so far.
    numbers: u64,
    /// Why the last connection that was not made was not.
    fault: Option<DialFault>,
    /// Whoever polls does not know yet all that there is to poll for.
    news: bool,
    /// No connection is made or kept any more.
    over: bool,
    /// The room of the last poll.
    polls: Polls,
}

impl Net {
    pub(crate) fn new(
        config: Config,
        target: &HttpTarget,
        dialer: Dialer,
        seed: [u8; 32],
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let connect = config.limits.connect;
        Ok(Self {
            client: Client::new(config, target.target.clone(), seed, now)?,
            dialer: Arc::new(dialer),
            limits: h1::Limits::default(),
            connect,
            most: target.max_connections.max(1),
            lines: BTreeMap::new(),
            idle: Vec::new(),
            dials: Vec::new(),
            waiting: VecDeque::new(),
            numbers: 0,
            fault: None,
            news: false,
            over: false,
            polls: Polls::default(),
        })
    }

    /// The machine, for the calls of the application.
    pub(crate) const fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    pub(crate) const fn session(&self) -> &Session {
        self.client.session()
    }

    /// Why no connection came about, if that is what happened last.
    pub(crate) const fn take_fault(&mut self) -> Option<DialFault> {
        self.fault.take()
    }

    /// Whether something is to be begun.
    pub(crate) fn has_output(&mut self) -> bool {
        self.take_effects();
        !self.waiting.is_empty()
    }

    /// Whether whoever polls should begin anew, to poll for all there is.
    pub(crate) const fn has_news(&self) -> bool {
        self.news
    }

    /// Begins what is to be begun, as far as there are connections, and writes what there is room for.
    pub(crate) fn flush(&mut self, shared: &Shared, now: Instant) {
        loop {
            self.take_effects();
            if self.waiting.is_empty() || !self.staff(shared, now) {
                return;
            }
        }
    }

    fn take_effects(&mut self) {
        while let Some(effect) = self.client.poll_effect() {
            match effect {
                Effect::Open { exchange, to, head, body, partition, urgent } if !self.over => {
                    let order = Order { exchange, to, partition, head, body, urgent };
                    let behind = self.waiting.iter().take_while(|order| order.urgent).count();
                    let place = if urgent { behind } else { self.waiting.len() };
                    self.waiting.insert(place, order);
                }
                Effect::Close { exchange } => self.drop_exchange(exchange),
                _ => {}
            }
        }
    }

    /// What is to be polled. To be given back by [`attend`](Self::attend).
    pub(crate) fn polls(&mut self) -> (Polls, bool) {
        let mut polls = std::mem::take(&mut self.polls);
        let mut at_once = false;
        polls.clear();
        let takes = self.client.wants_input();
        for (number, line) in &self.lines {
            let read = line.wants_read() && (takes || line.open.is_none());
            at_once |= read && line.wire.holds_input();
            polls.add(*number, line.wire.conn(), line.wire.wants(Want { read, write: line.is_blocked() }));
        }
        self.news = false;
        (polls, at_once)
    }

    pub(crate) fn keep(&mut self, polls: Polls) {
        self.polls = polls;
    }

    /// The connections that hold something to read that no poll tells of.
    pub(crate) fn holding(&self) -> Vec<u64> {
        let holding = self.lines.iter().filter(|(_, line)| line.wire.holds_input() && line.wants_read());
        holding.map(|(number, _)| *number).collect()
    }

    /// Writes what one connection has room for now.
    pub(crate) fn write(&mut self, shared: &Shared, number: u64, now: Instant) {
        let Some(line) = self.lines.get_mut(&number) else { return };
        line.write(now);
        self.news |= line.is_blocked();
        self.pump(shared, number, now);
    }

    /// One read of one connection. Whether there may be more at once.
    pub(crate) fn read(&mut self, shared: &Shared, number: u64, now: Instant) -> bool {
        let takes = self.client.wants_input();
        let Some(line) = self.lines.get_mut(&number) else { return false };
        if !takes && line.open.is_some() {
            return false;
        }
        let got = line.read(now);
        if let Some(fault) = line.wire.take_fault() {
            self.fault = Some(DialFault::Tls(fault));
        }
        self.pump(shared, number, now);
        matches!(got, Got::Bytes { full: true, .. })
    }

    /// Hands on what a connection tells.
    fn pump(&mut self, shared: &Shared, number: u64, now: Instant) {
        let Some(line) = self.lines.get_mut(&number) else { return };
        let tap = shared.tap.as_deref();
        let mut over = None;
        while let Some(event) = line.machine.poll_event() {
            if let ClientEvent::Closed(reason) = event {
                over = Some(reason);
                break;
            }
            let Some(open) = &mut line.open else { continue };
            let exchange = open.exchange;
            match event {
                ClientEvent::Sent => {
                    if let (Some(order), Some(tap)) = (open.order.take(), tap) {
                        told::sent(&order.body, tap, shared.clock);
                        line.asked = Some(order.head.verb);
                    }
                    self.client.handle_sent(exchange, now);
                }
                ClientEvent::Head(head) => {
                    line.rest = line::rest_after(&head);
                    if let Some(tap) = tap {
                        open.told = Told::of(&head, self.client.session().config());
                        told::answered(line.asked.take(), &head, tap, shared.clock);
                    }
                    if told::is_stream(&head) {
                        line.wire.conn().keep_alive();
                    }
                    self.client.handle_head(exchange, &head, now);
                }
                ClientEvent::Body(piece) => {
                    if let Some(tap) = tap {
                        open.told.feed(&piece, tap, shared.clock);
                    }
                    self.client.handle_body(exchange, piece, now);
                }
                ClientEvent::End => {
                    if let Some(tap) = tap {
                        open.told.finish(tap, shared.clock);
                    }
                    line.open = None;
                    self.client.handle_end(exchange, End::Whole, now);
                }
                _ => {}
            }
        }
        if over.is_some() || line.open.is_none() && !line.machine.is_idle() {
            self.bury(number, fault_of(over), now);
        } else if line.open.is_none() {
            self.rest(number, now);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let lines = self.lines.values().filter_map(Line::poll_timeout);
        lines.chain(self.client.poll_timeout()).min()
    }

    pub(crate) fn handle_timeout(&mut self, shared: &Shared, now: Instant) {
        self.client.handle_timeout(now);
        let due: Vec<_> = self.lines.iter().filter(|(_, line)| line.is_due(now)).map(|(n, _)| *n).collect();
        for number in due {
            let Some(line) = self.lines.get_mut(&number) else { continue };
            line.machine.handle_timeout(now);
            if line.has_rested(now) {
                line.machine.close(now);
            }
            self.pump(shared, number, now);
        }
    }

    /// Breaks off everything that is under way.
    pub(crate) fn cut_off(&mut self, now: Instant) {
        loop {
            self.take_effects();
            let numbers: Vec<_> = self.lines.keys().copied().collect();
            if numbers.is_empty() && self.waiting.is_empty() {
                return;
            }
            numbers.into_iter().for_each(|number| self.bury(number, None, now));
            for order in std::mem::take(&mut self.waiting) {
                self.client.handle_end(order.exchange, End::Unreachable, now);
            }
        }
    }

    /// Closes all connections, for good.
    pub(crate) fn shut_down(&mut self) {
        self.over = true;
        self.waiting.clear();
        if !self.dials.is_empty() && self.lines.is_empty() {
            let late = DialFault::TimedOut { during: DialStep::Connect, limit: self.connect };
            self.fault.get_or_insert(late);
        }
        self.dials.drain(..).for_each(Dial::cancel);
        self.idle.clear();
        for (_, mut line) in std::mem::take(&mut self.lines) {
            line.wire.shutdown();
        }
    }
}

/// What a peer did that a connection is over for, if it did something.
fn fault_of(over: Option<Closed>) -> Option<Fault> {
    match over {
        Some(Closed::Fault(fault)) => Some(fault),
        _ => None,
    }
}
