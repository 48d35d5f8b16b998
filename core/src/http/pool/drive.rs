//! What a runtime tells of its connections, and the bytes of each.

use alloc::vec::Vec;

use super::{Action, ConnectionHandle, Pool, line};
use crate::http::client::End;
use crate::http::h1::{self, ClientEvent, Closed, Fault};
use crate::machine::Machine as _;
use crate::time::Instant;

impl Pool {
    /// Bytes to write to a connection, from their start. Empty: nothing to write.
    #[must_use]
    pub fn transmit(&self, connection: ConnectionHandle) -> &[u8] {
        self.lines.get(&connection).map_or(&[], |line| line.machine.transmit())
    }

    /// `len` bytes of [`transmit`](Self::transmit) were written.
    pub fn handle_written(&mut self, connection: ConnectionHandle, len: usize, now: Instant) {
        self.with(connection, now, |machine, now| machine.handle_written(len, now));
        let now = self.clock.advance(now);
        let Some(line) = self.lines.get_mut(&connection) else { return };
        if let Some(open) = &mut line.open
            && open.leaving
            && line.machine.transmit().is_empty()
        {
            open.leaving = false;
            self.client.has_left(open.exchange, now);
        }
    }

    /// The peer reads nothing more of it.
    pub fn handle_write_closed(&mut self, connection: ConnectionHandle, now: Instant) {
        self.with(connection, now, h1::Client::handle_write_closed);
    }

    /// Whether to read from a connection. False is back-pressure: events wait to be taken. One that carries nothing is
    /// read always, so that its end is seen.
    #[must_use]
    pub fn wants_read(&self, connection: ConnectionHandle) -> bool {
        self.lines.get(&connection).is_some_and(|line| line.wants_read(self.client.wants_input()))
    }

    /// The buffer to append one read to, which has room. `None`: the connection is over, or never was.
    pub fn read_buffer(&mut self, connection: ConnectionHandle) -> Option<&mut Vec<u8>> {
        self.lines.get_mut(&connection).map(|line| line.machine.read_buffer())
    }

    /// Looks at what was appended to [`read_buffer`](Self::read_buffer).
    pub fn handle_read(&mut self, connection: ConnectionHandle, now: Instant) {
        self.with(connection, now, h1::Client::handle_read);
    }

    /// The peer will send nothing more. `broken`: that is not its own word, but a fault, or under TLS an end without the
    /// word for it. What only the end of the stream bounds is not whole then.
    pub fn handle_eof(&mut self, connection: ConnectionHandle, broken: bool, now: Instant) {
        let end = if broken { h1::Client::close } else { h1::Client::handle_eof };
        self.with(connection, now, end);
    }

    /// The time is `now`. Early and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.advance(now);
        self.client.handle_timeout(now);
        self.take_effects(now);
        self.give_up_on_late_dials(now);
        let due = self.lines.iter().filter(|(_, line)| line.poll_timeout().is_some_and(|at| at <= now));
        let due: Vec<_> = due.map(|(connection, _)| *connection).collect();
        for connection in due {
            if let Some(line) = self.lines.get_mut(&connection) {
                line.handle_timeout(now);
            }
            self.pump(connection, now);
        }
    }

    fn with(
        &mut self,
        connection: ConnectionHandle,
        now: Instant,
        tell: impl FnOnce(&mut h1::Client, Instant),
    ) {
        let now = self.clock.advance(now);
        if let Some(line) = self.lines.get_mut(&connection) {
            tell(&mut line.machine, now);
            self.pump(connection, now);
        }
    }

    /// Hands on what a connection tells.
    fn pump(&mut self, connection: ConnectionHandle, now: Instant) {
        let Some(line) = self.lines.get_mut(&connection) else { return };
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
                    if let (Some(order), Some(observer)) = (open.order.take(), &mut self.observer) {
                        observer.request(exchange, &order.head, &order.body);
                    }
                    self.client.handle_sent(exchange, now);
                }
                ClientEvent::Head(head) => {
                    line.rest = line::rest_after(&head);
                    if let Some(observer) = &mut self.observer {
                        observer.answer(exchange, &head);
                    }
                    if !line.watched && head.is_of_type("text/event-stream") {
                        line.watched = true;
                        self.actions.push_back(Action::KeepAlive { connection });
                    }
                    self.client.handle_head(exchange, &head, now);
                }
                ClientEvent::Body(piece) => {
                    if let Some(observer) = &mut self.observer {
                        observer.piece(exchange, &piece);
                    }
                    self.client.handle_body(exchange, piece, now);
                }
                ClientEvent::End => {
                    line.open = None;
                    if let Some(observer) = &mut self.observer {
                        observer.end(exchange, true);
                    }
                    self.client.handle_end(exchange, End::Whole, now);
                }
                ClientEvent::Closed(_) => {}
            }
        }
        self.stale = true;
        if over.is_some() || line.open.is_none() && !line.machine.is_idle() {
            self.bury(connection, fault_of(over), now);
        } else if line.open.is_none() {
            self.rest(connection, now);
        }
        // What is wanted no more is not to leave another connection meanwhile: it may be said not to have run.
        self.take_effects(now);
    }
}

/// What a peer did that a connection is over for, if it did something.
fn fault_of(over: Option<Closed>) -> Option<Fault> {
    match over {
        Some(Closed::Fault(fault)) => Some(fault),
        _ => None,
    }
}
