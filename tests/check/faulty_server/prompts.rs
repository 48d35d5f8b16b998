//! Prompts, and what is proposed for their arguments. They are listed on two pages.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::{Answer, Request, Server};

/// How often the second page was asked for.
static SECOND: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn list(server: &Server, request: &Request<'_>) -> Answer {
    let first = vec![json!({"name": "plain"}), json!({"name": "picture"})];
    match request.params.get("cursor") {
        None | Some(Value::Null) => page(first, Some(json!("second"))),
        Some(_) if server.fault("endless") => page(first, Some(json!("second"))),
        Some(cursor) if cursor == "second" => {
            if SECOND.fetch_add(1, Ordering::Relaxed) > 0 && server.fault("cursors-used-up") {
                return Answer::error(-32602, "used up");
            }
            page(second(server), if server.fault("null-at-the-end") { Some(Value::Null) } else { None })
        }
        Some(_) => Answer::error(-32602, "no such cursor"),
    }
}

fn page(prompts: Vec<Value>, next: Option<Value>) -> Answer {
    let mut page = json!({"prompts": prompts, "ttlMs": 0, "cacheScope": "private"});
    if let Some(next) = next {
        page["nextCursor"] = next;
    }
    Answer::Result(page)
}

fn second(server: &Server) -> Vec<Value> {
    let tone = if server.fault("two-arguments-of-one-name") { "topic" } else { "tone" };
    let about = json!({"name": "about", "arguments": [{"name": "topic", "required": true}, {"name": tone}]});
    let mut all = vec![about];
    if server.fault("overlapping-pages") {
        all.push(json!({"name": "plain"}));
    }
    if server.fault("two-prompts-of-one-name") {
        all.push(json!({"name": "about"}));
    }
    all
}

pub(crate) fn get(server: &Server, request: &Request<'_>) -> Answer {
    let given = request.params["arguments"]["topic"].is_string() || server.fault("prompts-without-arguments");
    let content = match request.params["name"].as_str() {
        Some("about") if !given => return Answer::error(-32602, "no topic"),
        Some("picture") => {
            let data = if server.fault("data-uri-image") {
                "data:image/png;base64,iVBORw0KGgo="
            } else {
                "iVBORw0KGgo="
            };
            json!({"type": "image", "data": data, "mimeType": "image/png"})
        }
        Some("plain" | "about") => json!({"type": "text", "text": "Hello."}),
        _ if server.fault("any-prompt") => json!({"type": "text", "text": "undefined"}),
        _ => return Answer::error(-32602, "no such prompt"),
    };
    let role = if server.fault("system-role") { "system" } else { "user" };
    Answer::Result(json!({"messages": [{"role": role, "content": content}]}))
}

pub(crate) fn complete(server: &Server, request: &Request<'_>) -> Answer {
    let of = &request.params["ref"];
    let known = of["name"] == "about" || of["uri"] == "memo://{name}";
    if !known && !server.fault("completes-anything") {
        return Answer::error(-32602, "no such reference");
    }
    let many: Vec<_> = (0..101).map(|n| n.to_string()).collect();
    let completion = match () {
        () if server.fault("many-values") => json!({"values": many, "total": 101, "hasMore": false}),
        () if server.fault("wrong-total") => json!({"values": ["a", "b"], "total": 1}),
        () if server.fault("values-of-numbers") => json!({"values": [1, 2], "total": 2}),
        () => json!({"values": ["a", "b"], "total": 2, "hasMore": false}),
    };
    Answer::Result(json!({"completion": completion}))
}
