//! A server with an application behind it, as one machine: for runs against a real client.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::mcp::types::request::CallTool;
use sanswire::mcp::{Era, Method};
use sanswire::server::{
    Context, Event, LineConnection, Notice, PeerOutcome, PeerRequestHandle, Reply, RequestHandle,
};
use sanswire::{Instant, Machine};
use serde_json::{Value, json};

use crate::served::{complete, raw};
use crate::watch::Watched;

/// What an [`App`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// The connection is over.
    Closed,
}

/// A server with tools that do what their names say: `echo`, `fail`, `slow` (`ms`), `steps` (`n`, progress and log
/// messages), `ask` (a form, in whichever way the client's revision has), `big` (`bytes`).
#[derive(Debug)]
pub struct App {
    /// The server.
    pub server: LineConnection,
    slow: BTreeMap<(Instant, RequestHandle), ()>,
    asking: BTreeMap<PeerRequestHandle, RequestHandle>,
    closed: bool,
    told: bool,
    /// Requests that were reported, answered and cancelled.
    pub counts: [usize; 3],
}

fn form() -> InputRequest {
    let params = json!({"message": "name?", "requestedSchema": {
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}});
    InputRequest { kind: InputKind::ElicitForm, params: Some(raw(&params)) }
}

impl App {
    /// This server with those tools.
    ///
    /// # Panics
    /// If a tool is refused.
    #[must_use]
    pub fn new(mut server: LineConnection) -> Self {
        for name in ["echo", "fail", "slow", "steps", "ask", "big"] {
            server.catalog_mut().tool(&raw(&json!({"name": name}))).unwrap();
        }
        for n in 0..25 {
            let uri = format!("file:///{n}");
            server.catalog_mut().resource(&raw(&json!({"uri": uri, "name": n.to_string()}))).unwrap();
        }
        server.catalog_mut().prompt(&raw(&json!({"name": "greet"}))).unwrap();
        Self {
            server,
            slow: BTreeMap::new(),
            asking: BTreeMap::new(),
            closed: false,
            told: false,
            counts: [0; 3],
        }
    }

    fn act(&mut self, now: Instant) {
        while let Some((&(at, request), ())) = self.slow.first_key_value()
            && at <= now
        {
            self.slow.remove(&(at, request));
            self.reply(request, &Reply::text("slow"), now);
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Request { request, method, params, context } => {
                    self.counts[0] += 1;
                    self.request(request, &method, &params, &context, now);
                }
                Event::Cancelled { request, .. } => {
                    self.counts[2] += 1;
                    self.slow.retain(|(_, slow), ()| *slow != request);
                }
                Event::Answered { peer, outcome } => {
                    if let Some(request) = self.asking.remove(&peer) {
                        let text = match outcome {
                            PeerOutcome::Result(result) => result.as_str().to_owned(),
                            other => format!("{other:?}"),
                        };
                        self.reply(request, &Reply::text(&text), now);
                    }
                }
                Event::Closed(_) => self.closed = true,
                _ => {}
            }
        }
    }

    /// A refused answer is an answer to what was cancelled: golden rule 2.
    fn reply(&mut self, request: RequestHandle, reply: &Reply, now: Instant) {
        if self.server.respond(request, reply, now).is_ok() {
            self.counts[1] += 1;
        }
    }

    fn request(
        &mut self,
        request: RequestHandle,
        method: &Method,
        params: &RawJson,
        context: &Context,
        now: Instant,
    ) {
        let reply = match method {
            Method::ToolsCall => match self.call(request, params, context, now) {
                Some(reply) => reply,
                None => return,
            },
            Method::ResourcesRead => {
                let params: Value = serde_json::from_slice(params.as_bytes()).unwrap();
                if params["uri"].as_str().unwrap().starts_with("file:///") {
                    complete(&json!({"contents": [{"uri": params["uri"], "text": "contents"}]}))
                } else {
                    Reply::resource_not_found(params["uri"].as_str().unwrap())
                }
            }
            Method::PromptsGet => {
                let content = json!({"type": "text", "text": "hello"});
                complete(&json!({"messages": [{"role": "user", "content": content}]}))
            }
            Method::CompletionComplete => complete(&json!({"completion": {"values": ["x"]}})),
            _ => complete(&json!({})),
        };
        self.reply(request, &reply, now);
    }

    fn call(
        &mut self,
        request: RequestHandle,
        params: &RawJson,
        context: &Context,
        now: Instant,
    ) -> Option<Reply> {
        let call = CallTool::read(params).unwrap();
        let arguments: Value = serde_json::from_slice(call.arguments.as_bytes()).unwrap();
        let number = |name: &str| arguments[name].as_u64().unwrap_or(1);
        Some(match call.name.as_str() {
            "echo" => Reply::text(call.arguments.as_str()),
            "fail" => Reply::tool_error("it failed"),
            "big" => Reply::text(&"x".repeat(usize::try_from(number("bytes")).unwrap())),
            "slow" => {
                self.slow.insert((now.saturating_add(Duration::from_millis(number("ms"))), request), ());
                return None;
            }
            "steps" => {
                for n in 1..=number("n") {
                    let message = Some(format!("step {n}"));
                    let progress = Notice::Progress { progress: n as f64, total: None, message };
                    let _ = self.server.notify(request, &progress, now);
                    let data = raw(&json!({"step": n}));
                    let log = Notice::Log { level: LogLevel::Info, logger: None, data };
                    let _ = self.server.notify(request, &log, now);
                }
                Reply::text("done")
            }
            "ask" if context.era() == Era::Legacy => match self.server.request_input(request, &form(), now) {
                Ok(peer) => {
                    self.asking.insert(peer, request);
                    return None;
                }
                Err(error) => Reply::tool_error(&error.to_string()),
            },
            "ask" => match &context.round {
                Some(round) => Reply::text(round.response("who").unwrap().as_str()),
                None => Reply::InputRequired {
                    requests: vec![KeyedInput { key: "who".into(), request: form() }],
                    state: Some("round 1".into()),
                },
            },
            _ => unreachable!("the server reports known tools only"),
        })
    }
}

impl Machine for App {
    type Event = AppEvent;

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

    fn poll_event(&mut self) -> Option<AppEvent> {
        let over = self.closed && !self.told;
        self.told |= over;
        over.then_some(AppEvent::Closed)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let slow = self.slow.keys().next().map(|(at, _)| *at).filter(|_| !self.closed);
        [slow, self.server.poll_timeout()].into_iter().flatten().min()
    }

    fn wants_read(&self) -> bool {
        !self.closed && self.server.wants_read()
    }
}

impl Watched for App {
    type Key = ();

    fn is_closed(_: &AppEvent) -> bool {
        true
    }

    fn finished(_: &AppEvent) -> Option<()> {
        None
    }
}
