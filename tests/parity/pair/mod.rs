//! The machines alone, joined in memory, in virtual time.

mod app;
mod lines;
mod site;
mod web;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{
    Event, InputAnswers, InputRequired, Outcome, Peer, PeerRequestHandle, RequestHandle, RequestOptions,
};
use sanswire::error::{ApiError, CloseReason};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::{Method, Revision};

use crate::axes::{Cell, Half, Transport};
use crate::client::{Client, Fault, Setup, Site};

/// A client's machine, and what it is joined to.
trait Wire {
    fn now(&self) -> Instant;
    /// Does what can be done now, then moves to the next thing that happens. False: nothing ever will.
    fn step(&mut self) -> bool;
    /// Lets everything happen up to then.
    fn run_to(&mut self, to: Instant);
    fn events(&self) -> &[(Instant, Event)];
    fn record(&self) -> Vec<String>;
    fn report(&self) -> String;

    fn request(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError>;
    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError>;
    fn cancel(&mut self, request: RequestHandle) -> Result<(), ApiError>;
    fn answer(&mut self, peer: PeerRequestHandle, answer: &InputAnswer) -> Result<(), ApiError>;
    fn close(&mut self);
}

/// A wire, for whoever goes on with it.
type Shared = Rc<RefCell<Box<dyn Wire>>>;

/// When every pair begins.
const BEGIN: Instant = Instant::from_millis(1000);

/// A way to pairs: each connection is one, with a peer of its own.
pub(crate) struct PairSite {
    half: Half,
    transport: Transport,
    revision: Revision,
    flags: Vec<String>,
    wires: RefCell<Vec<Shared>>,
}

impl PairSite {
    pub(crate) fn start(cell: &Cell, flags: &[&str]) -> Self {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Self {
            half: cell.half,
            transport: cell.transport,
            revision: cell.revision,
            flags,
            wires: RefCell::default(),
        }
    }
}

impl Site for PairSite {
    fn connect(&self, setup: &Setup) -> Result<Box<dyn Client>, Fault> {
        let nth = self.wires.borrow().len();
        let config = setup.config.clone();
        let wire: Box<dyn Wire> = match (self.half, self.transport) {
            (Half::Scripted, Transport::Http) => {
                Box::new(web::scripted(config, self.revision, &self.flags, nth))
            }
            (Half::Scripted, _) => Box::new(lines::scripted(config, self.revision, &self.flags, nth)),
            (_, Transport::Http) => Box::new(web::served(config)),
            (..) => Box::new(lines::served(config)),
        };
        let wire = Rc::new(RefCell::new(wire));
        self.wires.borrow_mut().push(Rc::clone(&wire));
        if let Some(time) = setup.close_after {
            let to = BEGIN.saturating_add(time);
            wire.borrow_mut().run_to(to);
            wire.borrow_mut().close();
        }
        let mut client = PairClient { wire, answered: 0, taken: 0 };
        client.until("ready or closed", |event| matches!(event, Event::Ready(_) | Event::Closed(_)));
        match client.closed() {
            Some(reason) => Err(Fault::Closed(reason)),
            None => Ok(Box::new(client)),
        }
    }

    fn record(&self) -> Vec<String> {
        self.wires.borrow().iter().flat_map(|wire| wire.borrow().record()).collect()
    }
}

struct PairClient {
    wire: Shared,
    /// Events that were looked at for what the server asks.
    answered: usize,
    /// Events that were looked at for notifications.
    taken: usize,
}

fn accepts() -> InputAnswer {
    InputAnswer::accept(Some(&RawJson::parse_str(crate::scenarios::SAID).unwrap()))
}

impl PairClient {
    /// Answers what the server has asked.
    fn attend(&mut self) {
        let mut wire = self.wire.borrow_mut();
        let new: Vec<Event> = wire.events()[self.answered..].iter().map(|(_, event)| event.clone()).collect();
        self.answered += new.len();
        for event in new {
            if let Event::PeerRequest { handle, .. } = event {
                wire.answer(handle, &accepts()).unwrap();
            }
        }
    }

    /// Steps until there is an event of that kind.
    fn until(&mut self, what: &str, is: impl Fn(&Event) -> bool) -> Event {
        let mut more = true;
        for _ in 0..100_000 {
            self.attend();
            let found = self.wire.borrow().events().iter().find(|(_, event)| is(event)).cloned();
            if let Some((_, event)) = found {
                return event;
            }
            if !more {
                break;
            }
            more = self.wire.borrow_mut().step();
        }
        panic!("never {what}\n{}", self.wire.borrow().report());
    }

    fn find<T>(&self, pick: impl FnMut(&Event) -> Option<T>) -> Vec<T> {
        self.wire.borrow().events().iter().map(|(_, event)| event).filter_map(pick).collect()
    }
}

impl Client for PairClient {
    fn peer(&self) -> Peer {
        let ready =
            |event: &Event| if let Event::Ready(peer) = event { Some((**peer).clone()) } else { None };
        self.find(ready).pop().unwrap()
    }

    fn start(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<RequestHandle, ApiError> {
        self.wire.borrow_mut().request(method, params, options)
    }

    fn wait(&mut self, request: RequestHandle) -> Outcome {
        let ended = |event: &Event| matches!(event, Event::Finished { request: of, .. } if *of == request);
        match self.until("finished", ended) {
            Event::Finished { outcome, .. } => outcome,
            _ => unreachable!("it was looked for"),
        }
    }

    fn complete(
        &mut self,
        method: Method,
        params: RawJson,
        options: &RequestOptions,
    ) -> Result<(Outcome, Vec<f64>), ApiError> {
        let mut request = self.start(method, params, options)?;
        let mut told = Vec::new();
        loop {
            let outcome = self.wait(request);
            told.extend(self.find(|event| match event {
                Event::Progress { request: of, progress } if *of == request => Some(progress.progress),
                _ => None,
            }));
            let Outcome::InputRequired(input) = outcome else { return Ok((outcome, told)) };
            let mut answers = InputAnswers::new();
            for asked in input.requests() {
                answers.set(&asked.key, accepts());
            }
            request = self.wire.borrow_mut().resume(&input, &answers, options)?;
        }
    }

    fn cancel(&mut self, request: RequestHandle) {
        self.wire.borrow_mut().cancel(request).unwrap();
    }

    fn give_up(&mut self, request: RequestHandle) {
        // A machine's calls are no values: letting go of one is to cancel it.
        self.cancel(request);
    }

    fn notification(&mut self, within: Duration) -> Option<(Method, Option<RequestHandle>)> {
        let until = self.wire.borrow().now().saturating_add(within);
        loop {
            self.attend();
            let wire = self.wire.borrow();
            let told = wire.events().iter().enumerate().skip(self.taken);
            let mut told = told.filter_map(|(at, (_, event))| match event {
                Event::Notification { subscription, method, .. } => Some((at, method.clone(), *subscription)),
                _ => None,
            });
            if let Some((at, method, subscription)) = told.next() {
                self.taken = at + 1;
                return Some((method, subscription));
            }
            let now = wire.now();
            drop(wire);
            if now >= until {
                return None;
            }
            self.wire.borrow_mut().run_to(until.min(now.saturating_add(Duration::from_millis(1))));
        }
    }

    fn closed(&self) -> Option<CloseReason> {
        let closed =
            |event: &Event| if let Event::Closed(reason) = event { Some(reason.clone()) } else { None };
        self.find(closed).pop()
    }

    fn violations(&self) -> usize {
        self.find(|event| matches!(event, Event::Violation(_)).then_some(())).len()
    }

    fn close(&mut self) {
        self.wire.borrow_mut().close();
        self.until("closed", |event| matches!(event, Event::Closed(_)));
        // What the peer makes of it.
        let to = self.wire.borrow().now().saturating_add(Duration::from_millis(5));
        self.wire.borrow_mut().run_to(to);
    }

    fn pass(&mut self, time: Duration) {
        let to = self.wire.borrow().now().saturating_add(time);
        while self.wire.borrow().now() < to {
            self.attend();
            let now = self.wire.borrow().now();
            self.wire.borrow_mut().run_to(to.min(now.saturating_add(Duration::from_millis(5))));
        }
    }
}
