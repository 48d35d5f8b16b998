//! The tool that asks back: by a request of the server's in a session, by `input_required` in 2026-07-28.

use std::time::Duration;

use sanswire::jsonrpc::{self, ObjectWriter};
use sanswire::mcp::{Method, codes};

use super::exchange::{Caller, Exchange};
use super::tools::{beside, greeting, say};
use crate::json::{member, object, text};

const KEY: &str = "name";
const PATIENCE: Duration = Duration::from_secs(600);

/// Answers a call of `ask`.
pub(super) fn begin(call: Exchange) {
    let answer = member(call.params.view(), "inputResponses").and_then(|answers| member(answers, KEY));
    if let (Caller::Modern, Some(answer)) =
        (call.caller, answer.and_then(|answer| call.params.slice_of(answer)))
    {
        return say(&call, &greeting(&answer), false);
    }
    match call.caller {
        _ if !call.elicitation => refuse(&call),
        Caller::Legacy => beside(call, ask),
        Caller::Modern => call.input_required(|w| {
            w.object("inputRequests", |w| {
                w.object(KEY, |w| {
                    w.string("method", Method::ElicitationCreate.as_str());
                    w.object("params", |w| form(w, &call));
                });
            });
        }),
    }
}

fn refuse(call: &Exchange) {
    let message = "this tool asks a question, and the client takes none";
    match call.caller {
        Caller::Legacy => say(call, message, true),
        Caller::Modern => {
            let data = object(|w| {
                w.object("requiredCapabilities", |w| {
                    w.object("elicitation", |w| {
                        w.object("form", |_| {});
                    });
                });
            });
            call.error(codes::MISSING_CLIENT_CAPABILITY, message, Some(data.view()));
        }
    }
}

fn ask(call: &Exchange) -> Option<String> {
    let question = call.server.running.open_question();
    call.server.wire.send(|out| {
        jsonrpc::write_request(out, &question, Method::ElicitationCreate.as_str(), |params| {
            params.object(|w| form(w, call));
        });
    });
    match call.server.running.wait_for(&question, &call.id, PATIENCE)? {
        Ok(answer) => Some(greeting(&answer)),
        Err(error) => Some(format!("The client could not ask: {}.", error.message)),
    }
}

fn form(w: &mut ObjectWriter<'_>, call: &Exchange) {
    let asked = member(call.params.view(), "arguments").and_then(|arguments| text(arguments, "question"));
    w.string("mode", "form").string("message", asked.as_deref().unwrap_or("What is your name?"));
    w.object("requestedSchema", |w| {
        w.string("type", "object");
        w.object("properties", |w| {
            w.object("name", |w| {
                w.string("type", "string").string("title", "Name").u64("maxLength", 100);
            });
        });
        w.array_of_strings("required", ["name"]);
    });
}
