//! The scripted server as a machine over one stream.

use sanswire::{Instant, Machine};

use super::Server;
use super::lines::Splitter;
use super::out::{Act, Agenda, Out};
use crate::watch::Watched;

/// What a [`LinePeer`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerEvent {
    /// It is done.
    Closed,
}

/// A [`Server`] that reads and writes lines.
#[derive(Debug)]
pub struct LinePeer {
    /// What it answers, and what it received.
    pub server: Server,
    agenda: Agenda,
    lines: Splitter,
    buffer: Vec<u8>,
    out: Vec<u8>,
    now: Instant,
    /// Everything it ever sent.
    pub sent: Vec<u8>,
    ending: bool,
    input_ended: bool,
    told: bool,
}

impl LinePeer {
    /// This server on one stream.
    #[must_use]
    pub fn new(server: Server, now: Instant) -> Self {
        let mut peer = Self {
            server,
            agenda: Agenda::default(),
            lines: Splitter::default(),
            buffer: Vec::with_capacity(64 * 1024),
            out: Vec::new(),
            now,
            sent: Vec::new(),
            ending: false,
            input_ended: false,
            told: false,
        };
        peer.server.start(Out { agenda: &mut peer.agenda, at: now, stream: None });
        peer.act(now);
        peer
    }

    /// Does something of its own accord.
    pub fn act_now(&mut self, act: Act, now: Instant) {
        self.agenda.add(now, None, act);
        self.act(now);
    }

    /// Whether the client's output has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.input_ended
    }

    fn act(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while !self.ending
            && let Some((_, act)) = self.agenda.due(self.now)
        {
            match act {
                Act::Message(message) => {
                    self.out.extend_from_slice(message.to_string().as_bytes());
                    self.out.push(b'\n');
                }
                Act::Raw(bytes) => self.out.extend_from_slice(&bytes),
                Act::End(_) => {}
                Act::Close => self.ending = true,
            }
        }
    }
}

impl Machine for LinePeer {
    type Event = PeerEvent;

    fn read_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    fn handle_read(&mut self, now: Instant) {
        for line in self.lines.push(&self.buffer) {
            self.server.line(&line, Out { agenda: &mut self.agenda, at: now, stream: None });
        }
        self.buffer.clear();
        self.act(now);
    }

    fn handle_eof(&mut self, now: Instant) {
        self.act(now);
        self.input_ended = true;
        self.ending = true;
    }

    fn handle_write_closed(&mut self, _: Instant) {
        self.out.clear();
        self.ending = true;
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.act(now);
    }

    fn transmit(&self) -> &[u8] {
        &self.out
    }

    fn handle_written(&mut self, len: usize, _: Instant) {
        self.sent.extend(self.out.drain(..len));
    }

    fn poll_event(&mut self) -> Option<PeerEvent> {
        let over = self.ending && self.out.is_empty() && !self.told;
        self.told |= over;
        over.then_some(PeerEvent::Closed)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next().filter(|_| !self.ending)
    }

    fn wants_read(&self) -> bool {
        !self.input_ended && !self.told
    }
}

impl Watched for LinePeer {
    type Key = ();

    fn is_closed(event: &PeerEvent) -> bool {
        matches!(event, PeerEvent::Closed)
    }

    fn finished(_: &PeerEvent) -> Option<()> {
        None
    }
}
