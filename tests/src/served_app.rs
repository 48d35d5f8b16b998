//! An application behind a server: for runs against a real client.

use std::collections::BTreeMap;
use std::time::Duration;

use sanswire::Instant;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::types::log::LogLevel;
use sanswire::mcp::types::request::CallTool;
use sanswire::mcp::{Era, Method};
use sanswire::server::{
    Context, Event, LineConnection, Notice, PeerOutcome, PeerRequestHandle, Reply, RequestHandle,
};
use sanswire_pair::{Application, Served};
use serde_json::{Value, json};

use crate::served::{complete, raw};

/// A server with its [`Tools`], as one machine.
pub type App = Served<Tools>;

/// Tools that do what their names say: `echo`, `fail`, `slow` (`ms`), `steps` (`n`, progress and log
/// messages), `ask` (a form, in whichever way the client's revision has), `big` (`bytes`).
#[derive(Debug, Default)]
pub struct Tools {
    slow: BTreeMap<(Instant, RequestHandle), ()>,
    asking: BTreeMap<PeerRequestHandle, RequestHandle>,
    /// Requests that were reported, answered and cancelled.
    pub counts: [usize; 3],
}

fn form() -> InputRequest {
    let params = json!({"message": "name?", "requestedSchema": {
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}});
    InputRequest { kind: InputKind::ElicitForm, params: Some(raw(&params)) }
}

/// A server with those tools behind it.
///
/// # Panics
/// If a tool is refused.
#[must_use]
pub fn app(mut server: LineConnection) -> App {
    for name in ["echo", "fail", "slow", "steps", "ask", "big"] {
        server.catalog_mut().tool(&raw(&json!({"name": name}))).unwrap();
    }
    for n in 0..25 {
        let uri = format!("file:///{n}");
        server.catalog_mut().resource(&raw(&json!({"uri": uri, "name": n.to_string()}))).unwrap();
    }
    server.catalog_mut().prompt(&raw(&json!({"name": "greet"}))).unwrap();
    App::new(server, Tools::default())
}

impl Application for Tools {
    fn handle_event(&mut self, server: &mut LineConnection, event: &Event, now: Instant) {
        match event {
            Event::Request { request, method, params, context } => {
                self.counts[0] += 1;
                self.request(server, *request, method, params, context, now);
            }
            Event::Cancelled { request, .. } => {
                self.counts[2] += 1;
                self.slow.retain(|(_, slow), ()| slow != request);
            }
            Event::Answered { peer, outcome } => {
                if let Some(request) = self.asking.remove(peer) {
                    let text = match outcome {
                        PeerOutcome::Result(result) => result.as_str().to_owned(),
                        other => format!("{other:?}"),
                    };
                    self.reply(server, request, &Reply::text(&text), now);
                }
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, server: &mut LineConnection, now: Instant) {
        while let Some((&(at, request), ())) = self.slow.first_key_value()
            && at <= now
        {
            self.slow.remove(&(at, request));
            self.reply(server, request, &Reply::text("slow"), now);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.slow.keys().next().map(|(at, _)| *at)
    }
}

impl Tools {
    /// A refused answer is an answer to what was cancelled: golden rule 2.
    fn reply(&mut self, server: &mut LineConnection, request: RequestHandle, reply: &Reply, now: Instant) {
        if server.respond(request, reply, now).is_ok() {
            self.counts[1] += 1;
        }
    }

    fn request(
        &mut self,
        server: &mut LineConnection,
        request: RequestHandle,
        method: &Method,
        params: &RawJson,
        context: &Context,
        now: Instant,
    ) {
        let reply = match method {
            Method::ToolsCall => match self.call(server, request, params, context, now) {
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
        self.reply(server, request, &reply, now);
    }

    fn call(
        &mut self,
        server: &mut LineConnection,
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
                    let _ = server.notify(request, &progress, now);
                    let data = raw(&json!({"step": n}));
                    let log = Notice::Log { level: LogLevel::Info, logger: None, data };
                    let _ = server.notify(request, &log, now);
                }
                Reply::text("done")
            }
            "ask" if context.era() == Era::Legacy => match server.request_input(request, &form(), now) {
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
