//! The scripted server in the words of HTTP: what comes of a request, and on which stream.

use bytes::Bytes;
use sanswire::http::client::End as HttpEnd;
use sanswire::http::{Fields, HttpHandle, ResponseHead, Verb};
use serde_json::Value;

use super::{HttpLink, Posted};
use crate::peer::{Act, End, Out, Stream};

impl HttpLink {
    /// A request is there.
    pub(super) fn arrived(&mut self, posted: Posted) {
        let number = posted.exchange.number();
        match posted.head.verb {
            Verb::Post => {
                let message: Option<Value> = serde_json::from_slice(&posted.body).ok();
                let id = message.as_ref().and_then(|message| message.get("id").cloned());
                let asks = message
                    .as_ref()
                    .is_none_or(|message| message.get("method").is_some() && message.get("id").is_some());
                let at = self.now.saturating_add(self.latency);
                if let Some(open) = self.open.get_mut(&number) {
                    open.id = id;
                }
                let out = Out { agenda: &mut self.agenda, at, stream: Some(number) };
                self.server.line(&posted.body, out);
                if !asks {
                    self.end_with(number, 202, &[], &[]);
                }
            }
            Verb::Get => {
                self.begin_stream(number);
                self.push = Some(number);
                while let Some(act) = self.unpushed.pop_front() {
                    self.arrive(None, act);
                }
            }
            _ => self.end_with(number, 200, &[], &[]),
        }
    }

    fn head(&mut self, number: u64, status: u16, fields: &[(&str, &str)]) {
        let mut head = ResponseHead::new(status);
        head.fields = Fields::new();
        for (name, value) in fields {
            head.fields.push(name, value.as_bytes()).unwrap();
        }
        self.client.handle_head(HttpHandle::numbered(number), &head, self.now);
    }

    fn body(&mut self, number: u64, bytes: &[u8]) {
        // Big ones in bigger pieces: what is looked at is the cut, not the time.
        for piece in bytes.chunks((bytes.len() / 50).max(7)) {
            self.client.handle_body(HttpHandle::numbered(number), Bytes::copy_from_slice(piece), self.now);
        }
    }

    fn end_with(&mut self, number: u64, status: u16, fields: &[(&str, &str)], body: &[u8]) {
        self.note(format!("{number} is answered with {status}"));
        self.head(number, status, fields);
        self.body(number, body);
        self.over(number, HttpEnd::Whole);
    }

    fn over(&mut self, number: u64, end: HttpEnd) {
        self.open.remove(&number);
        if self.push == Some(number) {
            self.push = None;
        }
        self.client.handle_end(HttpHandle::numbered(number), end, self.now);
    }

    fn begin_stream(&mut self, number: u64) {
        if let Some(open) = self.open.get_mut(&number)
            && !std::mem::replace(&mut open.streams, true)
        {
            self.head(number, 200, &[("Content-Type", "text/event-stream")]);
        }
    }

    fn event(&mut self, number: u64, message: &[u8]) {
        self.begin_stream(number);
        let mut event = Vec::new();
        sanswire::frame::write_event(&mut event, None, None, message);
        self.body(number, &event);
    }

    /// Something of the server's arrives.
    pub(super) fn arrive(&mut self, stream: Stream, act: Act) {
        let Some(number) = stream.or(self.push) else {
            if act == Act::Close {
                return self.die();
            }
            self.unpushed.push_back(act);
            return;
        };
        match act {
            Act::Message(message) => self.say(number, message.to_string().into_bytes()),
            Act::Raw(bytes) => {
                for line in bytes.split(|byte| *byte == b'\n') {
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        self.say(number, line.to_vec());
                    }
                }
            }
            Act::End(end) => self.end(number, end),
            Act::Close => self.die(),
        }
    }

    fn say(&mut self, number: u64, message: Vec<u8>) {
        self.note(format!("{number} brings {}", String::from_utf8_lossy(&message[..message.len().min(240)])));
        if let Some(open) = self.open.get_mut(&number) {
            open.waiting.push_back(message);
        }
    }

    fn die(&mut self) {
        self.dead = true;
        self.agenda.clear();
        self.posted.clear();
        for number in self.open.keys().copied().collect::<Vec<_>>() {
            self.over(number, HttpEnd::Broken);
        }
    }

    fn end(&mut self, number: u64, end: End) {
        let Some(open) = self.open.get_mut(&number) else { return };
        self.log.push((self.now, format!("{number} ends: {end:?}")));
        let (streams, mut waiting) = (open.streams, std::mem::take(&mut open.waiting));
        let said = if streams { None } else { waiting.pop_front() };
        match end {
            End::Refused(status) if !streams => match said {
                Some(said) => self.end_with(number, status, &[("Content-Type", "application/json")], &said),
                None => self.end_with(number, status, &[("Content-Type", "text/plain")], b"no"),
            },
            End::Challenged(status) if !streams => self.end_with(number, status, &[], b""),
            _ => {
                for message in said.into_iter().chain(waiting) {
                    self.event(number, &message);
                }
                let whole = end == End::Finished && self.open.contains_key(&number);
                if whole && !streams {
                    self.begin_stream(number);
                }
                self.over(number, if whole { HttpEnd::Whole } else { HttpEnd::Broken });
            }
        }
    }

    /// Sends what waited to see what comes behind it.
    pub(super) fn flush(&mut self) -> bool {
        let with = self.open.iter().find(|(_, open)| !open.waiting.is_empty()).map(|(number, _)| *number);
        let Some(number) = with else { return false };
        let Some(open) = self.open.get_mut(&number) else { return false };
        let waiting = std::mem::take(&mut open.waiting);
        let (streams, id) = (open.streams, open.id.clone());
        let answers = |message: &[u8]| {
            let message: Option<Value> = serde_json::from_slice(message).ok();
            message.is_some_and(|message| {
                message.get("method").is_none() && id.is_some() && message.get("id") == id.as_ref()
            })
        };
        if let (false, [only]) = (streams, Vec::from(waiting.clone()).as_slice())
            && answers(only)
        {
            self.end_with(number, 200, &[("content-type", "Application/JSON; charset=utf-8")], only);
            return true;
        }
        for message in waiting {
            self.event(number, &message);
            if answers(&message) {
                self.over(number, HttpEnd::Whole);
                break;
            }
        }
        true
    }
}
