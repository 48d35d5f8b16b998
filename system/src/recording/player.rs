//! One machine that is given again what was recorded of it.

use sanswire::client::{Event, InputAnswers, LineConnection, Link, RequestHandle};
use sanswire::error::ApiError;
use sanswire::http::client::{Client, Input};
use sanswire::jsonrpc::{ErrorObject, JsonRef, ObjectWriter, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::{Instant, Machine as _};

use super::blot::BLOT;
use super::compare::{Same, compare};
use super::config;
use super::event;
use super::http;
use super::log::Then;
use super::names::Names;
use super::pen::{self, Flaw, Pen, number, size, text, text_or_none};
use super::replay::Difference;

/// A machine, and where in its recording it stands.
pub(super) struct Player {
    machine: Machine,
    names: Names,
    server: String,
    connection: u64,
    input: u64,
    at: Instant,
    blotted: bool,
}

/// What is given again.
enum Machine {
    Line(Box<LineConnection>),
    Http(Box<Client>),
}

impl Machine {
    fn link(&mut self) -> &mut dyn Link {
        match self {
            Self::Line(line) => &mut **line,
            Self::Http(client) => &mut **client,
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Line(line) => line.poll_event(),
            Self::Http(client) => client.poll_event(),
        }
    }

    fn then(&self) -> Then {
        match self {
            Self::Line(line) => Then::of(&**line),
            Self::Http(client) => Then::of_http(client),
        }
    }
}

/// Gives a machine of lines what comes of its stream, and time. False: that is no such input.
fn give_line(
    machine: &mut LineConnection,
    kind: &str,
    line: JsonRef<'_>,
    now: Instant,
) -> Result<bool, Flaw> {
    match kind {
        "read" => {
            let bytes = pen::bytes(line)?;
            machine.read_buffer().extend_from_slice(&bytes);
            machine.handle_read(now);
        }
        "eof" => machine.handle_eof(now),
        "write_closed" => machine.handle_write_closed(now),
        "timeout" => machine.handle_timeout(now),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Gives a client over HTTP what comes of its exchanges, and time. False: that is no such input.
fn give_http(client: &mut Client, kind: &str, line: JsonRef<'_>, now: Instant) -> Result<bool, Flaw> {
    let exchange = || http::read_exchange(line);
    match kind {
        "sent" => client.handle_input(&Input::Sent(exchange()?), now),
        "leaving" => client.handle_input(&Input::Leaving(exchange()?), now),
        "left" => client.handle_input(&Input::Left(exchange()?), now),
        "head" => client.handle_head(exchange()?, &http::read_head(line)?, now),
        "body" => client.handle_body(exchange()?, pen::bytes(line)?.into(), now),
        "ended" => client.handle_end(exchange()?, http::read_end(line)?, now),
        "timeout" => client.handle_timeout(now),
        _ => return Ok(false),
    }
    Ok(true)
}

/// What came of one line.
pub(super) struct Played {
    pub(super) is_input: bool,
    pub(super) is_end: bool,
    pub(super) outputs: u64,
    pub(super) difference: Option<Box<Difference>>,
}

impl Player {
    /// The machine that this line begins.
    pub(super) fn begin(
        line: JsonRef<'_>,
        connection: u64,
        number_of_line: u64,
    ) -> Result<(Self, Option<Box<Difference>>), Flaw> {
        let config = config::read(pen::needed(line, "config")?)?;
        let at = Instant::from_micros(number(line, "at")?);
        let seed = read_seed(&text(line, "seed")?).ok_or("seed")?;
        let machine = match line.get("target") {
            None => LineConnection::new(config, seed, at).map(|line| Machine::Line(Box::new(line))),
            Some(target) => Client::new(config, http::read_target(target)?, seed, at)
                .map(|http| Machine::Http(Box::new(http))),
        };
        let this = Self {
            machine: machine.map_err(|error| error.field)?,
            names: Names::default(),
            server: text(line, "server")?,
            connection,
            input: number(line, "n")?,
            at,
            blotted: is_blotted(line),
        };
        let difference = this.compare_then(line, number_of_line)?;
        Ok((this, difference))
    }

    /// One line more.
    pub(super) fn play(&mut self, line: JsonRef<'_>, number_of_line: u64) -> Result<Played, Flaw> {
        let mut played = Played { is_input: false, is_end: false, outputs: 0, difference: None };
        if line.get("end").is_some() {
            played.is_end = true;
            return Ok(played);
        }
        if let Some(expected) = line.get("event") {
            let got = self.machine.poll_event();
            let got = got.map(|event| event::written(&event, &mut self.names, Pen(None)));
            let got = got.as_ref().map_or(&b"nothing"[..], RawJson::as_bytes);
            played.outputs = 1;
            played.difference = self.differs(number_of_line, "event", expected.as_bytes(), got);
            return Ok(played);
        }
        if let Some(expected) = line.get("effect") {
            let Machine::Http(client) = &mut self.machine else { return Err("effect") };
            let got = client.poll_effect().map(|effect| http::written(&effect, Pen(None)));
            let got = got.as_ref().map_or(&b"nothing"[..], RawJson::as_bytes);
            played.outputs = 1;
            played.difference = self.differs(number_of_line, "effect", expected.as_bytes(), got);
            return Ok(played);
        }
        self.input = number(line, "n")?;
        self.at = Instant::from_micros(number(line, "at")?);
        self.blotted |= is_blotted(line);
        played.is_input = true;
        played.outputs = 1;
        let kind = text(line, "in")?;
        if let Some(difference) = self.give(&kind, line, number_of_line, &mut played.outputs)? {
            played.difference = Some(difference);
        } else {
            played.difference = self.compare_then(line, number_of_line)?;
        }
        Ok(played)
    }

    /// Gives the machine what this line says. What it gave back at once is compared.
    fn give(
        &mut self,
        kind: &str,
        line: JsonRef<'_>,
        number_of_line: u64,
        outputs: &mut u64,
    ) -> Result<Option<Box<Difference>>, Flaw> {
        let now = self.at;
        let given = match &mut self.machine {
            Machine::Line(machine) if kind == "written" => {
                let expected = pen::bytes(line)?;
                let got = machine.transmit();
                let got = got.get(..expected.len().min(got.len())).unwrap_or_default().to_vec();
                machine.handle_written(got.len(), now);
                *outputs += 1;
                return Ok(self.differs(number_of_line, "bytes to write", &expected, &got));
            }
            Machine::Line(machine) => give_line(machine, kind, line, now)?,
            Machine::Http(client) => give_http(client, kind, line, now)?,
        };
        if given {
            return Ok(None);
        }
        match kind {
            "close" => self.machine.link().close(now),
            "request" => {
                let options = config::read_options(pen::needed(line, "options")?)?;
                let method = Method::from_name(&text(line, "method")?);
                let asked = self.machine.link().request(method, pen::raw(line, "params")?, &options, now);
                return Ok(self.compare_asked(line, number_of_line, asked, outputs));
            }
            "call_tool" => {
                let options = config::read_options(pen::needed(line, "options")?)?;
                let arguments = pen::raw(line, "arguments")?;
                let asked =
                    self.machine.link().call_tool(&text(line, "tool")?, arguments.as_ref(), &options, now);
                return Ok(self.compare_asked(line, number_of_line, asked, outputs));
            }
            "resume" => {
                let options = config::read_options(pen::needed(line, "options")?)?;
                let from = self.names.waiting(number(line, "of")?).ok_or("of")?;
                let mut answers = InputAnswers::new();
                for (key, answer) in pen::needed(line, "answers")?.members() {
                    answers.set(&key.decode(), read_answer(answer)?);
                }
                let asked = self.machine.link().resume(&from, &answers, &options, now);
                return Ok(self.compare_asked(line, number_of_line, asked, outputs));
            }
            "notify" => {
                let method = Method::from_name(&text(line, "method")?);
                let done = self.machine.link().notify(method, pen::raw(line, "params")?, now);
                return Ok(self.compare_done(line, number_of_line, done, outputs));
            }
            "cancel" => {
                let request = line.get("request").and_then(JsonRef::as_u64);
                let request = request.and_then(|request| self.names.requests.handle(request));
                let done = request.map_or(Err(ApiError::UnknownRequest), |request| {
                    self.machine.link().cancel(request, text_or_none(line, "reason").as_deref(), now)
                });
                return Ok(self.compare_done(line, number_of_line, done, outputs));
            }
            "answer" => {
                let answer = read_answer(pen::needed(line, "answer")?)?;
                let peer = line.get("peer").and_then(JsonRef::as_u64);
                let peer = peer.and_then(|peer| self.names.peers.handle(peer));
                let done = peer.map_or(Err(ApiError::UnknownRequest), |peer| {
                    let done = self.machine.link().answer(peer, &answer, now);
                    if done.is_ok() {
                        self.names.peers.end(peer);
                    }
                    done
                });
                return Ok(self.compare_done(line, number_of_line, done, outputs));
            }
            _ => return Err("in"),
        }
        Ok(None)
    }

    fn compare_asked(
        &mut self,
        line: JsonRef<'_>,
        number_of_line: u64,
        asked: Result<RequestHandle, ApiError>,
        outputs: &mut u64,
    ) -> Option<Box<Difference>> {
        let gave = asked.as_ref().ok().map(|request| self.names.requests.give(*request));
        self.compare_gave(line, number_of_line, gave, asked.err(), outputs)
    }

    fn compare_done(
        &self,
        line: JsonRef<'_>,
        number_of_line: u64,
        done: Result<(), ApiError>,
        outputs: &mut u64,
    ) -> Option<Box<Difference>> {
        self.compare_gave(line, number_of_line, None, done.err(), outputs)
    }

    /// What a call gave back: the number of a request, or why it was refused.
    fn compare_gave(
        &self,
        line: JsonRef<'_>,
        number_of_line: u64,
        gave: Option<u64>,
        refused: Option<ApiError>,
        outputs: &mut u64,
    ) -> Option<Box<Difference>> {
        *outputs += 1;
        let gave_object = |gave: Option<u64>, refused: Option<&str>| {
            RawJson::object(|w| {
                if let Some(gave) = gave {
                    w.u64("gave", gave);
                }
                if let Some(refused) = refused {
                    w.string("refused", refused);
                }
            })
        };
        let expected = text_or_none(line, "refused");
        let expected = gave_object(line.get("gave").and_then(JsonRef::as_u64), expected.as_deref());
        let got = gave_object(gave, refused.map(|error| error.to_string()).as_deref());
        self.differs(number_of_line, "what a call gave back", expected.as_bytes(), got.as_bytes())
    }

    /// What the machine waits for now.
    fn compare_then(&self, line: JsonRef<'_>, number_of_line: u64) -> Result<Option<Box<Difference>>, Flaw> {
        let then = pen::needed(line, "then")?;
        let expected = Then {
            out: size(then, "out")?,
            until: then.get("until").and_then(JsonRef::as_u64).map(Instant::from_micros),
            reads: pen::flag(then, "reads")?,
        };
        let got = self.machine.then();
        if expected == got {
            return Ok(None);
        }
        let shown = |then: Then| RawJson::object(|w: &mut ObjectWriter<'_>| then.write(w));
        let (expected, got) = (shown(expected), shown(got));
        Ok(self.differs(number_of_line, "what it waits for", expected.as_bytes(), got.as_bytes()))
    }

    fn differs(&self, line: u64, what: &'static str, expected: &[u8], got: &[u8]) -> Option<Box<Difference>> {
        let Same::No { expected, got } = compare(expected, got) else { return None };
        Some(Box::new(Difference {
            line,
            server: self.server.clone(),
            connection: self.connection,
            input: self.input,
            at: self.at,
            what,
            expected,
            got,
            blotted: self.blotted,
        }))
    }
}

/// Whether something looks blotted out in what was recorded.
fn is_blotted(line: JsonRef<'_>) -> bool {
    line.as_bytes().windows(3).any(|bytes| bytes == [BLOT; 3])
}

fn read_answer(answer: JsonRef<'_>) -> Result<InputAnswer, Flaw> {
    if let Some(result) = pen::raw(answer, "result")? {
        return Ok(InputAnswer::Result(result));
    }
    if let Some(error) = answer.get("error") {
        let code = error.get("code").and_then(JsonRef::as_i64).ok_or("code")?;
        let mut object = ErrorObject::new(code, text(error, "message")?);
        object.data = pen::raw(error, "data")?;
        return Ok(InputAnswer::Error(object));
    }
    match text(answer, "refusal")?.as_str() {
        "decline" => Ok(InputAnswer::Decline),
        "cancel" => Ok(InputAnswer::Cancel),
        _ => Err("refusal"),
    }
}

fn read_seed(text: &str) -> Option<[u8; 32]> {
    let mut seed = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (n, byte) in seed.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(seed)
}
