//! A tool that asks its client for something before it gives a result.

use serde_json::json;

use crate::modern::CAPABILITIES;
use crate::{Answer, Request, Server, tools};

const STATE: &str = "state of the first round";

/// Asks for a name, if the client can say one, and greets it then.
pub(crate) fn ask(server: &Server, request: &Request<'_>) -> Answer {
    let params = request.params;
    let declares = params["_meta"][CAPABILITIES].get("elicitation").is_some();
    if !request.modern || !declares && !server.fault("asks-the-undeclared") {
        return tools::said("hello, whoever you are");
    }
    match params.get("requestState") {
        None => return asked(server),
        Some(state) if state != STATE => {
            if server.fault("dies-of-states") {
                std::process::exit(1);
            }
            return Answer::error(-32602, "that is no state of mine");
        }
        Some(_) if server.fault("asks-for-ever") => return asked(server),
        Some(_) => {}
    }
    let answers = params["inputResponses"].as_object();
    if server.fault("refuses-strange-answers") && answers.is_some_and(|all| all.len() > 1) {
        return Answer::error(-32602, "nobody asked for that");
    }
    match answers.and_then(|all| all.get("name")) {
        None if server.fault("refuses-what-is-missing") => Answer::error(-32602, "there is no name"),
        None => asked(server),
        Some(_) if server.fault("refuses-answers") => Answer::error(-32603, "what is that?"),
        Some(answer) if answer["action"].is_string() || server.fault("takes-any-answer") => {
            tools::said("hello")
        }
        Some(_) => Answer::error(-32602, "the answer has no action"),
    }
}

fn asked(server: &Server) -> Answer {
    let mut name = json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": "Who are you?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    }});
    if server.fault("asks-for-tools") {
        name = json!({"method": "tools/list", "params": {}});
    }
    if server.fault("asks-with-an-id") {
        name["id"] = json!(1);
    }
    let mut result =
        json!({"resultType": "input_required", "requestState": STATE, "inputRequests": {"name": name}});
    if server.fault("asks-for-nothing") {
        result = json!({"resultType": "input_required"});
    }
    Answer::Result(result)
}
