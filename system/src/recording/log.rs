//! What is written of one connection, in order. Bytes are blotted a whole message at a time, so what comes behind a part
//! of one waits for the rest.

use std::collections::VecDeque;

use sanswire::client::{Config, Event};
use sanswire::jsonrpc::ObjectWriter;
use sanswire::{Instant, Machine};

use super::blot::{blot, blotted};
use super::config;
use super::event;
use super::file::{Recorder, line};
use super::names::Names;
use super::pen::Pen;
use crate::options::Direction;

/// What a machine says of itself after an input: how much of what waits can be written at once, its deadline, and whether it
/// reads. All of it follows from what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Then {
    pub(super) out: usize,
    pub(super) until: Option<Instant>,
    pub(super) reads: bool,
}

impl Then {
    pub(super) fn of(machine: &impl Machine) -> Self {
        Self { out: machine.transmit().len(), until: machine.poll_timeout(), reads: machine.wants_read() }
    }

    pub(super) fn write(self, w: &mut ObjectWriter<'_>) {
        w.object("then", |w| {
            w.u64("out", self.out as u64);
            if let Some(until) = self.until {
                w.u64("until", until.as_micros());
            }
            w.bool("reads", self.reads);
        });
    }
}

/// The record of one connection.
#[derive(Debug)]
pub(super) struct Log {
    recorder: Recorder,
    number: u64,
    inputs: u64,
    pub(super) names: Names,
    held: VecDeque<Held>,
    held_bytes: usize,
    /// How many lines have had their turn.
    written: u64,
    /// What there is of a message, in each direction.
    open: [Vec<u8>; 2],
    /// Before which line, counted as `written` counts, nothing waits for the rest of a message.
    open_from: [u64; 2],
    over: bool,
}

/// A line that waits for its turn.
#[derive(Debug)]
enum Held {
    Line(Vec<u8>),
    Bytes { direction: Direction, at: Instant, n: u64, bytes: Vec<u8>, blotted: usize, then: Then },
}

impl Held {
    /// What it costs to keep it.
    fn cost(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Line(line) => line.len(),
                Self::Bytes { bytes, .. } => bytes.len(),
            }
    }

    const fn is_ready(&self) -> bool {
        match self {
            Self::Line(_) => true,
            Self::Bytes { bytes, blotted, .. } => *blotted == bytes.len(),
        }
    }
}

const fn side(direction: Direction) -> usize {
    match direction {
        Direction::Sent => 0,
        Direction::Received => 1,
    }
}

impl Log {
    /// Of a connection that begins. `None`: its configuration cannot be written down.
    pub(super) fn begin(
        recorder: &Recorder,
        config: &Config,
        seed: &[u8; 32],
        now: Instant,
        then: Then,
    ) -> Option<Self> {
        if !config::is_complete(config) {
            recorder.passed_over("a configuration that this version cannot write down");
            return None;
        }
        let number = recorder.recording.connection();
        let mut this = Self {
            recorder: recorder.clone(),
            number,
            inputs: 0,
            names: Names::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            written: 0,
            open: [Vec::new(), Vec::new()],
            open_from: [0, 0],
            over: false,
        };
        let server = blotted(&recorder.server, &recorder.secrets);
        let seed: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
        let begin = this.input("begin", now, |w, pen| {
            w.string("server", &server).string("seed", &seed);
            w.object("config", |w| config::write(w, pen, config));
            then.write(w);
        });
        this.push(Held::Line(begin));
        Some(this)
    }

    /// The line of an input, which gets the next number.
    fn input(
        &mut self,
        kind: &str,
        now: Instant,
        write: impl FnOnce(&mut ObjectWriter<'_>, Pen<'_>),
    ) -> Vec<u8> {
        let n = self.inputs;
        self.inputs += 1;
        line(|w| {
            w.u64("c", self.number).u64("n", n).u64("at", now.as_micros()).string("in", kind);
            write(w, Pen(Some(&self.recorder.secrets)));
        })
    }

    /// An input that brought no bytes: a call, an end, a deadline.
    pub(super) fn called(
        &mut self,
        kind: &str,
        now: Instant,
        write: impl FnOnce(&mut ObjectWriter<'_>, Pen<'_>),
    ) {
        if !self.over {
            let line = self.input(kind, now, write);
            self.push(Held::Line(line));
        }
    }

    /// Bytes that were read, or written.
    pub(super) fn moved(&mut self, direction: Direction, bytes: &[u8], at: Instant, then: Then) {
        if self.over {
            return;
        }
        let n = self.inputs;
        self.inputs += 1;
        self.push(Held::Bytes { direction, at, n, bytes: bytes.to_vec(), blotted: 0, then });
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open[side(direction)].extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.close_message(direction, true);
            }
        }
        self.write();
    }

    /// An event that was taken.
    pub(super) fn told(&mut self, event: &Event) {
        if self.over {
            return;
        }
        let pen = Pen(Some(&self.recorder.secrets));
        let event_written = event::written(event, &mut self.names, pen);
        let line = line(|w| {
            w.u64("c", self.number).raw("event", event_written.view());
        });
        self.push(Held::Line(line));
        if event::is_last(event) {
            self.end("closed");
        }
    }

    /// A message is there: what of it lies in the bytes that wait is blotted.
    fn close_message(&mut self, of: Direction, whole: bool) {
        let mut message = std::mem::take(&mut self.open[side(of)]);
        blot(&mut message, &self.recorder.secrets, whole);
        let mut rest = message.as_slice();
        let from = self.open_from[side(of)].max(self.written);
        let skipped = usize::try_from(from - self.written).unwrap_or(usize::MAX);
        for (n, held) in (from..).zip(self.held.iter_mut().skip(skipped)) {
            let Held::Bytes { direction, bytes, blotted, .. } = held else { continue };
            if *direction != of {
                continue;
            }
            if rest.is_empty() {
                break;
            }
            self.open_from[side(of)] = n;
            let room = bytes.get_mut(*blotted..).unwrap_or_default();
            let (part, behind) = rest.split_at(room.len().min(rest.len()));
            room.get_mut(..part.len()).unwrap_or_default().copy_from_slice(part);
            *blotted += part.len();
            rest = behind;
        }
    }

    fn push(&mut self, held: Held) {
        self.held_bytes += held.cost();
        self.held.push_back(held);
        if self.held_bytes > self.recorder.max_held {
            self.recorder.recording.stop_full();
            self.over = true;
            self.held.clear();
        }
        self.write();
    }

    /// Writes what has waited long enough.
    fn write(&mut self) {
        while self.held.front().is_some_and(Held::is_ready) {
            let Some(held) = self.held.pop_front() else { return };
            self.held_bytes -= held.cost();
            self.written += 1;
            let written = match held {
                Held::Line(line) => line,
                Held::Bytes { direction, at, n, bytes, then, .. } => line(|w| {
                    let kind = if direction == Direction::Sent { "written" } else { "read" };
                    w.u64("c", self.number).u64("n", n).u64("at", at.as_micros()).string("in", kind);
                    Pen::bytes(w, &bytes);
                    then.write(w);
                }),
            };
            if !self.recorder.recording.write(&written) {
                self.over = true;
                self.held.clear();
                return;
            }
        }
    }

    /// Whether nothing more is recorded.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    /// Nothing more comes of this connection, for this reason.
    pub(super) fn end(&mut self, why: &str) {
        if self.over {
            return;
        }
        self.close_message(Direction::Sent, false);
        self.close_message(Direction::Received, false);
        let end = line(|w| {
            w.u64("c", self.number).string("end", why);
        });
        self.push(Held::Line(end));
        self.over = true;
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.end("dropped");
    }
}
