//! One exchange as the model sees it: the request that left, and what its answer means.

use std::collections::BTreeSet;

use sanswire::Instant;
use sanswire::mcp::Era;
use serde_json::Value;

use super::answers::{Events, Told};
use super::results::{depth, meaning};
use super::web_model::{End, WebModel};

/// A request as it stands on the wire.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) verb: String,
    pub(super) fields: Vec<(String, String)>,
    /// What it carries; null for nothing.
    pub(super) message: Value,
    pub(super) session: Option<String>,
    pub(super) last_event: Option<String>,
    len: usize,
}

/// The request at the start of `bytes`, and how long it is, once it is whole.
pub(super) fn request(bytes: &[u8]) -> Option<(Asked, usize)> {
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).expect("a head of ours is ASCII");
    let mut lines = head.split("\r\n");
    let verb = lines.next()?.split(' ').next()?.to_owned();
    let fields: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no field: {line:?}")))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let of = |name: &str| fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
    let len = of("content-length").map_or(0, |len| len.parse().expect("a length"));
    let body = bytes.get(end + 4..end + 4 + len)?;
    let message = match len {
        0 => Value::Null,
        _ => serde_json::from_slice(body).unwrap_or_else(|error| panic!("no JSON was sent: {error}")),
    };
    let (session, last_event) = (of("mcp-session-id"), of("last-event-id"));
    Some((Asked { verb, fields, message, session, last_event, len }, end + 4 + len))
}

impl Asked {
    fn one(&self, name: &str) -> Option<&str> {
        let mut all = self.fields.iter().filter(|(found, _)| found == name).map(|(_, value)| &**value);
        let first = all.next();
        assert!(all.next().is_none(), "{name} stands there twice");
        first
    }

    /// In which era and revision it is sent, if it is not to find that out.
    pub(super) fn speaks(&self) -> Option<(Era, String)> {
        let version = self.one("mcp-protocol-version")?.to_owned();
        let era = if version == "2026-07-28" { Era::Modern } else { Era::Legacy };
        (self.message["method"] != "server/discover").then_some((era, version))
    }

    /// What holds of every request: the head says what the message says, and no session is named that was not given.
    pub(super) fn check(&self, sessions: &BTreeSet<String>, limit: usize) {
        assert!(self.one("host").is_some(), "no host: {self:?}");
        assert!(self.len <= limit, "a message of {} bytes", self.len);
        assert!(self.one("transfer-encoding").is_none(), "a request is sent with its length");
        if let Some(session) = &self.session {
            assert!(sessions.contains(session), "nobody gave this session: {session}");
        }
        if self.verb != "POST" {
            return assert!(self.message.is_null(), "{} with content", self.verb);
        }
        let accept = self.one("accept").unwrap_or_default();
        assert!(accept.contains("application/json") && accept.contains("text/event-stream"), "{accept}");
        assert_eq!(self.one("content-type"), Some("application/json"));
        assert_eq!(self.message["jsonrpc"], "2.0", "{}", self.message);
        let version = &self.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        if let Some(version) = version.as_str() {
            assert_eq!(self.one("mcp-protocol-version"), Some(version), "the head says otherwise");
            assert_eq!(self.one("mcp-method"), self.message["method"].as_str(), "the head says otherwise");
        } else {
            assert_eq!(self.one("mcp-method"), None, "an older revision has no such field");
        }
    }
}

/// What an exchange is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Its request has begun to leave, and cannot be read yet.
    Begun,
    Call(usize),
    /// Fetches the rest of the answer to a call.
    Resume(usize),
    /// Opens a session; whether by `initialize`.
    Opening(bool),
    /// A stream on which the server says what belongs to no request.
    Stream,
    /// Nothing that a call waits for.
    Other,
}

/// What is read of an answer.
#[derive(Debug)]
pub(super) enum Kind {
    /// Its head is to come.
    None,
    /// One message, under this status.
    Whole(u16),
    Events(Events),
    /// What a challenge says.
    Challenge(u16),
    /// What nobody looks at.
    Pass,
    /// It is whole.
    Over,
}

/// What was read of it.
#[derive(Debug, Default)]
pub(super) struct Content(pub(super) Vec<u8>);

/// An exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) content: Content,
    /// Its request named a session.
    in_session: bool,
}

impl Exchange {
    /// There is none.
    pub(super) const fn none() -> Self {
        Self { role: Role::Other, kind: Kind::None, content: Content(Vec::new()), in_session: false }
    }

    pub(super) const fn begun() -> Self {
        Self { role: Role::Begun, kind: Kind::None, content: Content(Vec::new()), in_session: false }
    }

    /// All of its request has left.
    pub(super) fn is_whole(&mut self, role: Role, asked: &Asked) {
        (self.role, self.in_session) = (role, asked.session.is_some());
    }

    pub(super) fn is_of(&self, place: usize) -> bool {
        self.role == Role::Call(place) || self.role == Role::Resume(place)
    }
}

/// May be asked again where its session is gone.
fn may_repeat(method: &str) -> bool {
    matches!(method, "tools/list" | "prompts/list" | "resources/list" | "ping")
}

impl WebModel {
    /// The head of an answer came.
    pub(super) fn head(&mut self, exchange: &mut Exchange, status: u16, fields: &[(String, String)]) {
        let of = |name: &str| {
            let mut all = fields.iter().filter(|(found, _)| found == name).map(|(_, value)| &**value);
            all.next().filter(|_| all.next().is_none())
        };
        let coding = fields.iter().filter(|(name, _)| name == "content-encoding");
        let coded = coding
            .flat_map(|(_, value)| value.split(','))
            .any(|one| !one.trim().is_empty() && !one.trim().eq_ignore_ascii_case("identity"));
        let media = of("content-type").unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let fine = (200..300).contains(&status);
        if exchange.role == Role::Opening(true) && fine {
            // An id that cannot be sent back is not.
            of("mcp-session-id").into_iter().for_each(|id| self.gives_session(id));
        }
        self.moved_answers += usize::from(exchange.role == Role::Other && matches!(status, 307 | 308));
        exchange.kind = match (exchange.role, &*media) {
            (_, "text/event-stream") if fine && !coded => Kind::Events(Events::default()),
            (Role::Opening(_), "application/json") if fine && !coded => Kind::Whole(status),
            (Role::Begun, "application/json") => Kind::Whole(status),
            (Role::Call(place), _) => {
                return self.call_head(exchange, place, status, &media, coded, of("location"));
            }
            (Role::Resume(place), _) => {
                if (300..400).contains(&status) {
                    self.moved(place, status, of("location"), true);
                } else if status >= 500 && status != 501 {
                    self.calls[place].waits = true;
                } else {
                    self.end(place, End::Lost);
                }
                Kind::Pass
            }
            _ => Kind::Pass,
        };
    }

    fn call_head(
        &mut self,
        exchange: &mut Exchange,
        place: usize,
        status: u16,
        media: &str,
        coded: bool,
        location: Option<&str>,
    ) {
        let method = self.calls[place].method;
        let refused = |model: &mut Self| {
            model.end(place, End::Refused(status));
            Kind::Pass
        };
        exchange.kind = match (status, media) {
            // There the answers come on the one stream.
            (200..=299, _) if self.old => Kind::Pass,
            (200..=299, _) if coded => refused(self),
            (200..=299, "application/json") => Kind::Whole(status),
            (202 | 204 | 205, _) => {
                self.end(place, End::Lost);
                Kind::Pass
            }
            (300..=399, _) => {
                self.moved(place, status, location, false);
                Kind::Pass
            }
            (401 | 403, _) => Kind::Challenge(status),
            (404, _) if exchange.in_session && !self.old => {
                // A list is asked for again in the new session, if there is one, and once only.
                match may_repeat(method) && self.calls[place].wire.len() == 1 {
                    true => {
                        self.calls[place].may_leave += 1;
                        self.calls[place].doubt = true;
                    }
                    false => self.end(place, End::SessionGone),
                }
                Kind::Pass
            }
            (300.., "application/json") if !coded => Kind::Whole(status),
            _ => refused(self),
        };
    }

    /// It points elsewhere. It is asked there, within the origin and so many times.
    fn moved(&mut self, place: usize, status: u16, location: Option<&str>, resumes: bool) {
        // An empty one points to where it stands.
        let within = |to: &str| to.is_empty() || to.starts_with('/') && !to.starts_with("//");
        let within = location.is_some_and(|to| within(to) && !to.contains(' '));
        if within && matches!(status, 307 | 308) {
            let call = &mut self.calls[place];
            call.may_leave += 1;
            // After so many it is refused.
            call.doubt |= call.may_leave + call.wire.len() > 4 || resumes;
        } else {
            self.end(place, if resumes { End::Lost } else { End::Refused(status) });
        }
    }

    /// A piece of the content came.
    pub(super) fn body(&mut self, exchange: &mut Exchange, bytes: &[u8], now: Instant) {
        match &mut exchange.kind {
            Kind::Events(events) => {
                let told = events.read(bytes);
                for told in told {
                    self.told(exchange.role, told, now);
                }
            }
            Kind::Whole(_) => exchange.content.0.extend_from_slice(bytes),
            Kind::Challenge(status) => {
                let status = *status;
                exchange.content.0.extend_from_slice(bytes);
                if exchange.content.0.len() >= 4096
                    && let Role::Call(place) = exchange.role
                {
                    // How much of it is waited for is not this model's to say.
                    self.calls[place].doubt = true;
                    exchange.kind = Kind::Challenge(status);
                }
            }
            Kind::None | Kind::Pass | Kind::Over => {}
        }
    }

    fn told(&mut self, role: Role, told: Told, now: Instant) {
        match (told, role) {
            (Told::Event(name, data), Role::Stream) if name == "endpoint" => {
                self.old |= self.looks_for_old && data.starts_with(b"/") && !data.starts_with(b"//");
            }
            (Told::Event(name, _), _) if !name.is_empty() && name != "message" => {}
            (Told::Event(_, data), _) => self.frame(role, &data, false, now),
            (Told::Id(id), Role::Call(place) | Role::Resume(place)) => {
                let fine =
                    !id.is_empty() && id.trim() == id && id.bytes().all(|byte| byte >= 0x20 && byte != 0x7f);
                self.calls[place].last_id = Some(id).filter(|_| fine);
            }
            (Told::Id(_), _) => {}
        }
    }

    /// The answer is whole.
    pub(super) fn whole(&mut self, exchange: &mut Exchange, now: Instant) {
        let content = exchange.content.take();
        let kind = std::mem::replace(&mut exchange.kind, Kind::Over);
        match (exchange.role, kind) {
            (Role::Call(place), Kind::Whole(200..=299)) => {
                let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content).trim_ascii();
                if !text.is_empty() {
                    self.frame(
                        exchange.role,
                        if content.len() > self.limit { &content } else { text },
                        true,
                        now,
                    );
                }
                let call = &mut self.calls[place];
                match call.doubt {
                    true => call.due |= call.may_leave == 0,
                    false => self.end(place, End::Lost),
                }
            }
            (Role::Call(place), Kind::Whole(status)) => self.refused_in_words(place, status, &content),
            (Role::Call(place), Kind::Challenge(status)) => self.end(place, End::Challenged(status)),
            (Role::Call(place) | Role::Resume(place), Kind::Events(_)) => self.stream_ended(place, End::Lost),
            (Role::Begun, Kind::Whole(_)) => {
                if let Ok(message) = serde_json::from_slice(content.trim_ascii()) {
                    self.notes(&message);
                }
            }
            (Role::Opening(_), Kind::Whole(_)) => self.frame(exchange.role, content.trim_ascii(), true, now),
            _ => {}
        }
    }

    /// A refusal with JSON in it: an error of JSON-RPC is the answer, whatever id it bears.
    fn refused_in_words(&mut self, place: usize, status: u16, content: &[u8]) {
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content).trim_ascii();
        let parsed = serde_json::from_slice::<Value>(text).ok().filter(|_| content.len() <= self.limit);
        let Some(message) = parsed else { return self.end(place, End::Refused(status)) };
        let code = message["error"]["code"].as_i64().filter(|_| message["error"]["message"].is_string());
        if let Some(code) = code {
            self.came.push((None, Err(code)));
        }
        let strange = self.is_strange(&String::from_utf8_lossy(text))
            || message["jsonrpc"] != "2.0"
            || message.get("result").is_some()
            || message.get("method").is_some();
        match code.filter(|_| !strange) {
            Some(code) => self.error(place, code),
            None if message.get("error").is_some() => self.calls[place].doubt = true,
            None => self.end(place, End::Refused(status)),
        }
    }

    fn error(&mut self, place: usize, code: i64) {
        let modern = self.modern();
        let call = &mut self.calls[place];
        // Some errors only say that it was asked wrongly: it may be asked anew, and once only.
        if modern && matches!(code, -32020 | -32022) && call.wire.len() == 1 {
            call.may_leave += 1;
            call.doubt = true;
        } else {
            self.end(place, End::Error(code));
        }
    }

    /// Whether it is read otherwise by others: names that stand there twice, or too deep.
    fn is_strange(&self, text: &str) -> bool {
        let twice = |name: &str| text.matches(name).count() > 1;
        twice("\"id\":")
            || twice("\"result\":")
            || twice("\"error\":")
            || depth(text.as_bytes()) >= self.depth
    }

    /// The call that an exchange is for.
    const fn of(role: Role) -> Option<usize> {
        match role {
            Role::Call(place) | Role::Resume(place) => Some(place),
            Role::Begun | Role::Opening(_) | Role::Stream | Role::Other => None,
        }
    }

    fn doubt(&mut self, of: Option<usize>) {
        for (place, call) in self.calls.iter_mut().enumerate() {
            call.doubt |= call.open() && of.is_none_or(|of| of == place);
        }
    }

    /// A message came. `only`: it is all there is in its answer.
    fn frame(&mut self, role: Role, bytes: &[u8], only: bool, now: Instant) {
        let of = Self::of(role);
        let text = String::from_utf8_lossy(bytes).into_owned();
        let Ok(message) = serde_json::from_slice::<Value>(bytes) else {
            self.long |= bytes.len() > self.limit;
            return self.doubt(of);
        };
        if bytes.len() > self.limit {
            self.long = true;
            return match (message.get("id"), message.get("method").is_some()) {
                (Some(id), true) => *self.owed.entry(id.to_string()).or_default() += 1,
                (Some(id), false) => {
                    let id = self.id_of(id);
                    if let Some(place) = self.meant(of, role, id) {
                        self.end(place, End::TooLarge);
                    }
                }
                (None, _) => {}
            };
        }
        if let Value::Array(elements) = &message {
            let batches = self.spoken.as_ref().is_some_and(|(_, revision)| revision == "2025-03-26");
            if batches {
                self.doubt(of);
                elements.iter().for_each(|element| self.notes(element));
            }
            return;
        }
        self.message(role, &message, &text, only, now);
    }

    /// What of a message may be told of, if it is looked at at all.
    fn notes(&mut self, message: &Value) {
        let id = message.get("id").and_then(|id| self.id_of(id));
        if let Some(result) = message.get("result") {
            let result =
                if *result == serde_json::json!([]) { serde_json::json!({}) } else { result.clone() };
            self.came.push((id, Ok(result)));
        }
        if let Some(code) = message["error"]["code"].as_i64() {
            self.came.push((id, Err(code)));
        }
        if let (Some(id), true) = (message.get("id"), message.get("method").is_some()) {
            *self.owed.entry(id.to_string()).or_default() += 1;
        }
    }

    fn id_of(&self, id: &Value) -> Option<u64> {
        let spelled = || {
            let text = id.as_str().filter(|_| self.lenient)?;
            text.parse::<u64>().ok().filter(|id| id.to_string() == text)
        };
        id.as_u64().or_else(spelled)
    }

    /// The call that an id in such an answer names: its own, and on a stream any.
    fn meant(&self, of: Option<usize>, role: Role, id: Option<u64>) -> Option<usize> {
        let id = id?;
        let named = |place: usize| self.calls[place].wire.last() == Some(&id);
        match (of, role) {
            (Some(place), _) => Some(place).filter(|place| named(*place)),
            (None, Role::Stream) => (0..self.calls.len()).find(|place| named(*place)),
            (None, _) => None,
        }
    }

    fn message(&mut self, role: Role, message: &Value, text: &str, only: bool, now: Instant) {
        self.notes(message);
        let of = Self::of(role);
        let strange = self.is_strange(text) || message["jsonrpc"] != "2.0";
        let (result, error) = (message.get("result"), message.get("error"));
        if let Some(method) = message.get("method") {
            if strange || result.is_some() || error.is_some() {
                return self.doubt(of);
            }
            if message.get("id").is_some() {
                return;
            }
            match method.as_str() {
                Some("notifications/progress") => self.progress(&message["params"], now),
                Some("notifications/cancelled") if self.modern() => self.doubt(None),
                _ => {}
            }
            return;
        }
        if let Role::Opening(_) = role
            && let Some(result) = result
        {
            return self.offers(result);
        }
        if self.old
            && let Some(result) = result
        {
            self.offers(result);
        }
        if strange || result.is_some() == error.is_some() {
            return self.doubt(of);
        }
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
            if let (Some(place), Some(error), true) = (of, error, only) {
                match error["code"]
                    .as_i64()
                    .filter(|_| error["message"].is_string() && message.get("id").is_none())
                {
                    Some(code) => self.error(place, code),
                    None => self.doubt(of),
                }
            }
            return;
        };
        let id = self.id_of(id);
        let Some(place) = self.meant(of, role, id) else {
            if role == Role::Stream {
                // It may have guessed the id of what waits to leave, which cannot be seen.
                for call in self.calls.iter_mut().filter(|call| call.wire.is_empty() && call.open()) {
                    call.doubt = true;
                }
            }
            return;
        };
        match (result, error) {
            (Some(result), _) => {
                let (modern, method) = (self.modern(), self.calls[place].method);
                self.end(place, meaning(method, modern, result.clone()).into());
            }
            (None, Some(error)) => match error["code"].as_i64().filter(|_| error["message"].is_string()) {
                Some(code) => self.error(place, code),
                None => self.doubt(Some(place)),
            },
            (None, None) => {}
        }
    }
}
