//! A server and its application as one machine.

use sanswire::server::{Event, LineConnection};
use sanswire::{Instant, Machine};

use crate::watch::Watched;

/// What takes a server's events and answers. Any `FnMut(&mut LineConnection, &Event, Instant)` is one that answers at once.
pub trait Application {
    /// The server told this.
    fn handle_event(&mut self, server: &mut LineConnection, event: &Event, now: Instant);

    /// The time is `now`: do what is due.
    fn handle_timeout(&mut self, _server: &mut LineConnection, _now: Instant) {}

    /// When something is due next. `None`: only events matter.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

impl<F: FnMut(&mut LineConnection, &Event, Instant)> Application for F {
    fn handle_event(&mut self, server: &mut LineConnection, event: &Event, now: Instant) {
        self(server, event, now);
    }
}

/// A server with its application, as one machine: one side of a [`Pair`](crate::Pair). Its events are the server's own,
/// after the application saw them.
#[derive(Debug)]
pub struct Served<A> {
    /// The server.
    pub server: LineConnection,
    /// What answers.
    pub application: A,
    told: std::collections::VecDeque<Event>,
    closed: bool,
}

impl<A: Application> Served<A> {
    /// This server with that application behind it.
    #[must_use]
    pub fn new(server: LineConnection, application: A) -> Self {
        Self { server, application, told: std::collections::VecDeque::new(), closed: false }
    }

    /// The application takes what the server has to tell.
    fn act(&mut self, now: Instant) {
        if !self.closed {
            self.application.handle_timeout(&mut self.server, now);
        }
        while let Some(event) = self.server.poll_event() {
            self.closed |= matches!(event, Event::Closed(_));
            self.application.handle_event(&mut self.server, &event, now);
            self.told.push_back(event);
        }
    }
}

impl<A: Application> Machine for Served<A> {
    type Event = Event;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        self.server.read_buffer()
    }

    fn handle_read(&mut self, now: Instant) {
        self.server.handle_read(now);
        self.act(now);
    }

    fn handle_eof(&mut self, now: Instant) {
        self.server.handle_eof(now);
        self.act(now);
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.server.handle_write_closed(now);
        self.act(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
        self.act(now);
    }

    fn transmit(&self) -> &[u8] {
        self.server.transmit()
    }

    fn handle_written(&mut self, len: usize, now: Instant) {
        self.server.handle_written(len, now);
        self.act(now);
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.told.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let own = self.application.poll_timeout().filter(|_| !self.closed);
        [own, self.server.poll_timeout()].into_iter().flatten().min()
    }

    fn wants_read(&self) -> bool {
        self.server.wants_read()
    }
}

impl<A: Application> Watched for Served<A> {
    type Key = ();

    fn is_closed(event: &Event) -> bool {
        matches!(event, Event::Closed(_))
    }

    // What the application asked of the client is its own affair.
    fn finished(_: &Event) -> Option<()> {
        None
    }
}
