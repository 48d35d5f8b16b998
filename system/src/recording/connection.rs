//! A client over one stream of lines whose inputs and outputs can be written down.

use sanswire::client::{
    Config, Event, InputAnswers, InputRequired, LineConnection, Link, Linked, PeerRequestHandle,
    RequestHandle, RequestOptions, Session,
};
use sanswire::error::{ApiError, ConfigError};
use sanswire::jsonrpc::{ObjectWriter, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::{Instant, Machine};

use super::config::write_options;
use super::file::Recorder;
use super::log::{Log, Then};
use super::pen::Pen;
use crate::options::Direction;

/// A [`LineConnection`] that writes down all that goes in and comes out, if it has a [`Recorder`]. Without one every call
/// costs a look at whether it has.
#[derive(Debug)]
pub struct RecordedLine {
    machine: LineConnection,
    log: Option<Box<Recorded>>,
}

#[derive(Debug)]
struct Recorded {
    log: Log,
    /// How much the read buffer held when it was lent.
    lent: Option<usize>,
}

impl RecordedLine {
    /// A connection that begins at once; see [`LineConnection::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(
        config: Config,
        seed: [u8; 32],
        now: Instant,
        recorder: Option<&Recorder>,
    ) -> Result<Self, ConfigError> {
        let Some(recorder) = recorder else {
            return Ok(Self { machine: LineConnection::new(config, seed, now)?, log: None });
        };
        let machine = LineConnection::new(config.clone(), seed, now)?;
        let log = Log::begin(recorder, &config, &seed, now, Then::of(&machine));
        Ok(Self { machine, log: log.map(|log| Box::new(Recorded { log, lent: None })) })
    }

    /// The session, for its getters.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.machine.session()
    }

    /// See [`LineConnection::recycle`]. Not recorded: it changes nothing that can be seen.
    pub fn recycle(&mut self, message: RawJson) {
        self.machine.recycle(message);
    }

    /// See [`LineConnection::retained_bytes`]. What a recording holds back is not among them.
    #[must_use]
    pub fn retained_bytes(&self) -> usize {
        self.machine.retained_bytes()
    }

    /// A request that was made, or refused.
    fn asked(
        &mut self,
        kind: &str,
        asked: Result<RequestHandle, ApiError>,
        now: Instant,
        write: impl FnOnce(&mut ObjectWriter<'_>, Pen<'_>),
    ) -> Result<RequestHandle, ApiError> {
        let Some(recorded) = &mut self.log else { return asked };
        let then = Then::of(&self.machine);
        let number = asked.as_ref().ok().map(|request| recorded.log.names.requests.give(*request));
        recorded.log.called(kind, now, |w, pen| {
            write(w, pen);
            if let Some(number) = number {
                w.u64("gave", number);
            }
            write_refusal(w, pen, asked.as_ref().err());
            then.write(w);
        });
        asked
    }

    /// Another call, which was done, or refused.
    fn did(
        &mut self,
        kind: &str,
        done: Result<(), ApiError>,
        now: Instant,
        write: impl FnOnce(&mut ObjectWriter<'_>, Pen<'_>),
    ) -> Result<(), ApiError> {
        let Some(recorded) = &mut self.log else { return done };
        let then = Then::of(&self.machine);
        recorded.log.called(kind, now, |w, pen| {
            write(w, pen);
            write_refusal(w, pen, done.as_ref().err());
            then.write(w);
        });
        done
    }

    /// A record that is full, or at its end, costs nothing more.
    fn forget_what_is_over(&mut self) {
        self.log.take_if(|recorded| recorded.log.is_over());
    }

    /// Something without a value.
    fn happened(&mut self, kind: &str, now: Instant) {
        if let Some(recorded) = &mut self.log {
            let then = Then::of(&self.machine);
            recorded.log.called(kind, now, |w, _| then.write(w));
        }
    }
}

/// Why a call was refused.
pub(super) fn write_refusal(w: &mut ObjectWriter<'_>, pen: Pen<'_>, error: Option<&ApiError>) {
    if let Some(error) = error {
        pen.text(w, "refused", &error.to_string());
    }
}

fn write_answer(w: &mut ObjectWriter<'_>, pen: Pen<'_>, answer: &InputAnswer) {
    match answer {
        InputAnswer::Result(result) => pen.raw(w, "result", result.view()),
        InputAnswer::Error(error) => pen.error(w, "error", error),
        refusal => {
            let name = match refusal {
                InputAnswer::Decline => "decline",
                InputAnswer::Cancel => "cancel",
                _ => "another",
            };
            w.string("refusal", name);
        }
    }
}

/// Each call goes to the connection, and is written down.
impl Link for RecordedLine {
    fn linked(&mut self) -> Linked<'_> {
        self.machine.linked()
    }

    fn request(
        &mut self,
        method: Method,
        params: Option<RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        if self.log.is_none() {
            return self.machine.request(method, params, options, now);
        }
        let asked = self.machine.request(method.clone(), params.clone(), options, now);
        self.asked("request", asked, now, |w, pen| {
            pen.text(w, "method", method.as_str());
            pen.raw_or_null(w, "params", params.as_ref());
            w.object("options", |w| write_options(w, pen, options));
        })
    }

    fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&RawJson>,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let asked = self.machine.call_tool(name, arguments, options, now);
        self.asked("call_tool", asked, now, |w, pen| {
            pen.text(w, "tool", name);
            pen.raw_or_null(w, "arguments", arguments);
            w.object("options", |w| write_options(w, pen, options));
        })
    }

    fn resume(
        &mut self,
        from: &InputRequired,
        answers: &InputAnswers,
        options: &RequestOptions,
        now: Instant,
    ) -> Result<RequestHandle, ApiError> {
        let asked = self.machine.resume(from, answers, options, now);
        let Some(recorded) = &mut self.log else { return asked };
        let Some(of) = recorded.log.names.waiting_number(from) else {
            recorded.log.end("a call went on whose questions are not known here");
            return asked;
        };
        self.asked("resume", asked, now, |w, pen| {
            w.u64("of", of);
            w.object("answers", |w| {
                for (key, answer) in answers.iter() {
                    w.object(&pen.name(key), |w| write_answer(w, pen, answer));
                }
            });
            w.object("options", |w| write_options(w, pen, options));
        })
    }

    fn notify(&mut self, method: Method, params: Option<RawJson>, now: Instant) -> Result<(), ApiError> {
        if self.log.is_none() {
            return self.machine.notify(method, params, now);
        }
        let done = self.machine.notify(method.clone(), params.clone(), now);
        self.did("notify", done, now, |w, pen| {
            pen.text(w, "method", method.as_str());
            pen.raw_or_null(w, "params", params.as_ref());
        })
    }

    fn cancel(&mut self, request: RequestHandle, reason: Option<&str>, now: Instant) -> Result<(), ApiError> {
        let done = self.machine.cancel(request, reason, now);
        let number = self.log.as_ref().and_then(|recorded| recorded.log.names.requests.number(request));
        self.did("cancel", done, now, |w, pen| {
            if let Some(number) = number {
                w.u64("request", number);
            }
            if let Some(reason) = reason {
                pen.text(w, "reason", reason);
            }
        })
    }

    fn answer(
        &mut self,
        peer: PeerRequestHandle,
        answer: &InputAnswer,
        now: Instant,
    ) -> Result<(), ApiError> {
        let done = self.machine.answer(peer, answer, now);
        let number = self.log.as_ref().and_then(|recorded| recorded.log.names.peers.number(peer));
        let over = done.is_ok();
        let done = self.did("answer", done, now, |w, pen| {
            if let Some(number) = number {
                w.u64("peer", number);
            }
            w.object("answer", |w| write_answer(w, pen, answer));
        });
        if let (true, Some(recorded)) = (over, &mut self.log) {
            recorded.log.names.peers.end(peer);
        }
        done
    }

    fn close(&mut self, now: Instant) {
        self.machine.close(now);
        self.happened("close", now);
    }
}

impl Machine for RecordedLine {
    type Event = Event;

    #[inline]
    fn read_buffer(&mut self) -> &mut Vec<u8> {
        let buffer = self.machine.read_buffer();
        if let Some(recorded) = &mut self.log {
            recorded.lent = Some(buffer.len());
        }
        buffer
    }

    #[inline]
    fn handle_read(&mut self, now: Instant) {
        let Some(recorded) = &mut self.log else { return self.machine.handle_read(now) };
        let lent = recorded.lent.take().unwrap_or(usize::MAX);
        // Lent again, the buffer holds what it held: nothing was taken from it since.
        let read = self.machine.read_buffer().get(lent..).unwrap_or_default().to_vec();
        self.machine.handle_read(now);
        recorded.log.moved(Direction::Received, &read, now, Then::of(&self.machine));
        self.forget_what_is_over();
    }

    fn handle_eof(&mut self, now: Instant) {
        self.machine.handle_eof(now);
        self.happened("eof", now);
    }

    fn handle_write_closed(&mut self, now: Instant) {
        self.machine.handle_write_closed(now);
        self.happened("write_closed", now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
        self.happened("timeout", now);
    }

    #[inline]
    fn transmit(&self) -> &[u8] {
        self.machine.transmit()
    }

    #[inline]
    fn handle_written(&mut self, len: usize, now: Instant) {
        let Some(recorded) = &mut self.log else { return self.machine.handle_written(len, now) };
        let sent = self.machine.transmit().get(..len).unwrap_or_default().to_vec();
        self.machine.handle_written(len, now);
        recorded.log.moved(Direction::Sent, &sent, now, Then::of(&self.machine));
        self.forget_what_is_over();
    }

    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        let event = self.machine.poll_event()?;
        if let Some(recorded) = &mut self.log {
            recorded.log.told(&event);
        }
        Some(event)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn wants_read(&self) -> bool {
        self.machine.wants_read()
    }
}
