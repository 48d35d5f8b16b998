//! What is written of one connection, in order. Bytes are blotted a whole message at a time, so what comes behind a part
//! of one waits for the rest.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sanswire::client::{Config, Event};
use sanswire::http::client::{Effect, Target};
use sanswire::http::{self as core_http, HttpHandle};
use sanswire::jsonrpc::ObjectWriter;
use sanswire::{Instant, Machine};

use super::blot::blotted;
use super::config;
use super::event;
use super::file::{Recorder, line};
use super::form::Form;
use super::http;
use super::names::Names;
use super::pen::Pen;
use crate::options::Direction;

/// What a machine says of itself after an input: how much of what waits can be written at once, its deadline, and whether it
/// reads. All of it follows from what it was given. Over HTTP, `out` is whether there is an effect to take.
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

    pub(super) fn of_http(machine: &core_http::Client) -> Self {
        Self {
            out: usize::from(machine.has_effects()),
            until: machine.poll_timeout(),
            reads: machine.wants_input(),
        }
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
    /// The streams that a part of a message may have gone through.
    open: BTreeMap<Stream, Open>,
    over: bool,
}

/// What bytes go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stream {
    Sent,
    Received,
    /// The answer of an HTTP exchange.
    Answer(HttpHandle),
}

/// What there is of a message of a stream.
#[derive(Debug)]
struct Open {
    bytes: Vec<u8>,
    /// Before which line, counted as `written` counts, nothing waits for the rest of it.
    from: u64,
    form: Form,
}

/// A line that waits for its turn.
#[derive(Debug)]
enum Held {
    Line(Vec<u8>),
    Bytes { stream: Stream, at: Instant, n: u64, bytes: Vec<u8>, blotted: usize, then: Then },
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

impl Log {
    /// Of a connection that begins. `None`: its configuration cannot be written down.
    pub(super) fn begin(
        recorder: &Recorder,
        config: &Config,
        target: Option<&Target>,
        seed: &[u8; 32],
        now: Instant,
        then: Then,
    ) -> Option<Self> {
        if !config::is_complete(config) {
            recorder.passed_over("a configuration that this version cannot write down");
            return None;
        }
        let mut recorder = recorder.clone();
        if let Some(target) = target {
            if !http::is_complete(target, &recorder.secrets) {
                recorder.passed_over("an address that holds a secret");
                return None;
            }
            recorder.secrets = Arc::new(http::with_fields(&recorder.secrets, target));
        }
        let number = recorder.recording.connection();
        let mut this = Self {
            recorder,
            number,
            inputs: 0,
            names: Names::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            written: 0,
            open: BTreeMap::new(),
            over: false,
        };
        let server = blotted(&this.recorder.server, &this.recorder.secrets);
        let seed: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
        let begin = this.input("begin", now, |w, pen| {
            w.string("server", &server).string("seed", &seed);
            w.object("config", |w| config::write(w, pen, config));
            if let Some(target) = target {
                w.object("target", |w| http::write_target(w, pen, target));
            }
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
        let stream = match direction {
            Direction::Sent => Stream::Sent,
            Direction::Received => Stream::Received,
        };
        self.went(stream, bytes, at, then);
    }

    /// The head of an answer was told of: what its content is decides where secrets are looked for.
    pub(super) fn answers(&mut self, exchange: HttpHandle, form: Form) {
        if !self.over {
            let open = || Open { bytes: Vec::new(), from: 0, form };
            self.open.entry(Stream::Answer(exchange)).or_insert_with(open);
        }
    }

    /// A piece of an answer.
    pub(super) fn piece(&mut self, exchange: HttpHandle, bytes: &[u8], at: Instant, then: Then) {
        self.went(Stream::Answer(exchange), bytes, at, then);
    }

    /// Nothing more comes of this answer.
    pub(super) fn answered(&mut self, exchange: HttpHandle, whole: bool) {
        self.close_message(Stream::Answer(exchange), whole);
        self.open.remove(&Stream::Answer(exchange));
        self.write();
    }

    fn went(&mut self, stream: Stream, bytes: &[u8], at: Instant, then: Then) {
        if self.over {
            return;
        }
        let n = self.inputs;
        self.inputs += 1;
        self.push(Held::Bytes { stream, at, n, bytes: bytes.to_vec(), blotted: 0, then });
        let mut rest = bytes;
        while !rest.is_empty() && !self.over {
            let open = self.open.entry(stream).or_insert_with(|| Open {
                bytes: Vec::new(),
                from: 0,
                form: if matches!(stream, Stream::Answer(_)) { Form::Whole } else { Form::Lines },
            });
            let len = open.form.take(&mut open.bytes, rest);
            rest = rest.get(len..).unwrap_or_default();
            if open.form.is_whole(&open.bytes) {
                self.close_message(stream, true);
            }
        }
        self.write();
    }

    /// An effect of a client over HTTP that was taken.
    pub(super) fn taken(&mut self, effect_taken: &Effect) {
        if self.over {
            return;
        }
        let effect = http::written(effect_taken, Pen(Some(&self.recorder.secrets)));
        let line = line(|w| {
            w.u64("c", self.number).raw("effect", effect.view());
        });
        self.push(Held::Line(line));
        if let Effect::Close { exchange } = effect_taken {
            self.answered(*exchange, false);
        }
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
    fn close_message(&mut self, of: Stream, whole: bool) {
        let Some(open) = self.open.get_mut(&of) else { return };
        let mut message = std::mem::take(&mut open.bytes);
        open.form.blot(&mut message, &self.recorder.secrets, whole);
        let mut rest = message.as_slice();
        let from = open.from.max(self.written);
        let skipped = usize::try_from(from - self.written).unwrap_or(usize::MAX);
        for (n, held) in (from..).zip(self.held.iter_mut().skip(skipped)) {
            let Held::Bytes { stream, bytes, blotted, .. } = held else { continue };
            if *stream != of {
                continue;
            }
            if rest.is_empty() {
                break;
            }
            open.from = n;
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
                Held::Bytes { stream, at, n, bytes, then, .. } => line(|w| {
                    let (kind, exchange) = match stream {
                        Stream::Sent => ("written", None),
                        Stream::Received => ("read", None),
                        Stream::Answer(exchange) => ("body", Some(exchange)),
                    };
                    w.u64("c", self.number).u64("n", n).u64("at", at.as_micros()).string("in", kind);
                    if let Some(exchange) = exchange {
                        w.u64("exchange", exchange.number());
                    }
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
        let open: Vec<Stream> = self.open.keys().copied().collect();
        for stream in open {
            self.close_message(stream, false);
        }
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
