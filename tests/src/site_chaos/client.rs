//! The clients of a site: what they send, and what they make of the answers.

use sanswire::http::RequestHead;
use sanswire::http::h1::{self, Body, ClientEvent};
use sanswire::server::kit::ConnectionKey;
use sanswire::{Instant, Machine as _};
use serde_json::{Value, json};

use super::World;
use crate::seed::Rng;
use crate::served::{LEGACY, modern_with, request};
use crate::web::{PLAIN, head, modern_fields, refs};

/// A client with one connection.
pub(super) struct Client {
    pub(super) key: ConnectionKey,
    pub(super) machine: h1::Client,
    /// Bytes on their way to the site.
    pub(super) sent: Vec<u8>,
    /// Ids of the requests that were sent; a request at a time is open.
    pub(super) open: Option<Asked>,
    /// What came of the answer that is open.
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// It sends nothing more.
    pub(super) ended: bool,
    /// It broke a rule, or its connection is broken: nothing is owed to it.
    pub(super) spoilt: bool,
}

/// What it asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// What it says, for a failure.
    pub(super) what: String,
    /// The id of the message, if it has one.
    pub(super) id: Option<u64>,
    pub(super) opens: bool,
}

impl Client {
    pub(super) fn new(key: ConnectionKey, now: Instant) -> Self {
        Self {
            key,
            machine: h1::Client::new(h1::Limits::default(), now),
            sent: Vec::new(),
            open: None,
            status: 0,
            body: Vec::new(),
            ended: false,
            spoilt: false,
        }
    }

    /// Sends a request, if none is open.
    pub(super) fn send(&mut self, head: &RequestHead, body: Vec<u8>, asked: Asked, now: Instant) {
        if self.open.is_none() && self.machine.request(head, Body::Whole(body.into()), now).is_ok() {
            self.open = Some(asked);
            while !self.machine.transmit().is_empty() {
                let bytes = self.machine.transmit();
                let len = bytes.len();
                self.sent.extend_from_slice(bytes);
                self.machine.handle_written(len, now);
            }
        }
    }

    /// Looks at what came. How many answers are whole now.
    pub(super) fn take_in(&mut self, ids: &mut Vec<String>) -> usize {
        let mut whole = 0;
        while let Some(event) = self.machine.poll_event() {
            match event {
                ClientEvent::Head(head) => {
                    assert!(self.open.is_some(), "an answer that nobody asked for");
                    self.status = head.status;
                    self.body.clear();
                    if self.open.as_ref().is_some_and(|asked| asked.opens) {
                        ids.extend(head.fields.text("Mcp-Session-Id").map(Into::into));
                    }
                }
                ClientEvent::Body(piece) => self.body.extend_from_slice(&piece),
                ClientEvent::End => {
                    let asked = self.open.take().expect("answered once");
                    self.check(&asked);
                    whole += 1;
                }
                ClientEvent::Closed(_) => self.spoilt = true,
                _ => {}
            }
        }
        whole
    }

    /// No message but those of its own request, and that at most once, is in an answer.
    fn check(&self, asked: &Asked) {
        let text = std::str::from_utf8(&self.body).unwrap();
        let messages: Vec<Value> = if text.starts_with(['{', '[']) {
            vec![serde_json::from_str(text).unwrap()]
        } else {
            let data =
                text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| !data.is_empty());
            data.map(|data| serde_json::from_str(data).unwrap()).collect()
        };
        let is_answer = |message: &&Value| message.get("result").is_some() || message.get("error").is_some();
        let answers: Vec<_> = messages.iter().filter(is_answer).collect();
        let own = |message: &&&Value| message["id"].as_u64() == asked.id;
        if let Some(id) = asked.id
            && self.status == 200
        {
            assert!(answers.iter().filter(own).count() <= 1, "{id} was answered twice: {text}");
            assert_eq!(answers.iter().filter(own).count(), answers.len(), "another's answer: {text}");
        }
    }
}

impl World {
    /// Something to ask.
    pub(super) fn compose(&mut self, rng: &mut Rng) -> (RequestHead, Vec<u8>, Asked) {
        self.wire += 1;
        let newest = self.ids.len().saturating_sub(3);
        let session = rng.pick(&self.ids[newest..]).clone();
        let plain = || PLAIN.map(|(name, value)| (name, value.to_owned())).to_vec();
        let methods = ["tools/call", "tools/call", "tools/call", "tools/list", "subscriptions/listen"];
        let method = *rng.pick(if self.calm { &methods[..4] } else { &methods });
        let params = json!({"name": *rng.pick(&["a", "b", "nowhere"]),
            "notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x:y"]}});
        if rng.chance(55) {
            let token = json!({"progressToken": self.wire, "io.modelcontextprotocol/logLevel": "debug"});
            let body = modern_with(self.wire, method, params, token);
            let head = head("POST", "/mcp", &refs(&modern_fields(&body)));
            return (
                head,
                body.to_string().into_bytes(),
                Asked { id: Some(self.wire), what: body.to_string(), opens: false },
            );
        }
        let mut fields = plain();
        let (body, id) = match rng.below(8) {
            0..=2 => {
                let client = json!({"name": "chaos", "version": "0"});
                let params = json!({"protocolVersion": *rng.pick(&LEGACY[1..]), "clientInfo": client,
                    "capabilities": {"roots": {}}});
                let body = request(self.wire, "initialize", params);
                let head = head("POST", "/mcp", &refs(&fields));
                return (
                    head,
                    body.to_string().into_bytes(),
                    Asked { id: Some(self.wire), what: body.to_string(), opens: true },
                );
            }
            3 => {
                fields.push(("Mcp-Session-Id", session));
                let verbs = ["OPTIONS", "GET", "DELETE"];
                let verb = *rng.pick(if self.calm { &verbs[..1] } else { &verbs });
                let head = head(verb, "/mcp", &refs(&fields));
                return (head, Vec::new(), Asked { id: None, what: String::new(), opens: false });
            }
            4 => (json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}), None),
            5 => (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), None),
            _ => (request(self.wire, method, params), Some(self.wire)),
        };
        fields.push(("Mcp-Session-Id", session));
        let target = if rng.chance(5) { "/elsewhere" } else { "/mcp" };
        (
            head("POST", target, &refs(&fields)),
            body.to_string().into_bytes(),
            Asked { id, what: body.to_string(), opens: false },
        )
    }
}
