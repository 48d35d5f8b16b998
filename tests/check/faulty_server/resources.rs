//! Resources.

use serde_json::{Value, json};

use crate::{Answer, Request, Server};

const TEXT: &str = "memo://text";
const BYTES: &str = "memo://bytes";

pub(crate) fn list(server: &Server) -> Answer {
    let mut text = json!({"uri": TEXT, "name": "text", "mimeType": "text/plain", "size": 5});
    let mut bytes = json!({"uri": BYTES, "name": "bytes", "mimeType": "application/octet-stream", "size": 3});
    if server.fault("bare-uri") {
        text["uri"] = json!("text");
    }
    if server.fault("two-resources-of-one-uri") {
        bytes = text.clone();
    }
    if server.fault("odd-mime") {
        text["mimeType"] = json!("text");
    }
    if server.fault("wrong-size") {
        bytes["size"] = json!(4);
    }
    if server.fault("resource-without-name") {
        text["name"] = Value::Null;
    }
    Answer::Result(json!({"resources": [text, bytes], "ttlMs": 0, "cacheScope": "private"}))
}

pub(crate) fn templates(server: &Server) -> Answer {
    let template = if server.fault("open-template") { "memo://{name" } else { "memo://{name}" };
    let mut entry = json!({"uriTemplate": template, "name": "any"});
    if server.fault("template-without-name") {
        entry = json!({"uriTemplate": template});
    }
    Answer::Result(json!({"resourceTemplates": [entry], "ttlMs": 0, "cacheScope": "private"}))
}

pub(crate) fn read(server: &Server, request: &Request<'_>) -> Answer {
    let uri = request.params["uri"].as_str().unwrap_or_default();
    let mut contents = match uri {
        TEXT | "text" => json!({"uri": uri, "mimeType": "text/plain", "text": "hello"}),
        BYTES => {
            let blob = if server.fault("url-safe-blob") { "__79" } else { "//79" };
            json!({"uri": uri, "mimeType": "application/octet-stream", "blob": blob})
        }
        _ if server.fault("empty-contents") => {
            return Answer::Result(json!({"contents": [], "ttlMs": 0, "cacheScope": "private"}));
        }
        _ if request.modern && !server.fault("old-not-found") => return Answer::error(-32602, "not found"),
        _ => return Answer::error(-32002, "not found"),
    };
    if server.fault("other-uri") {
        contents["uri"] = json!("memo://other");
    }
    if server.fault("contents-without-uri") {
        contents["uri"] = json!(7);
    }
    Answer::Result(json!({"contents": [contents], "ttlMs": 0, "cacheScope": "private"}))
}
