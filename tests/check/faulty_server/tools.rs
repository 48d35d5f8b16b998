//! Tools.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::{Answer, Request, Server, rounds};

/// How often they were listed.
static LISTED: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn list(server: &Server, request: &Request<'_>) -> Answer {
    match request.params.get("cursor") {
        Some(Value::Null) if server.fault("silent-about-null-cursor") => return Answer::Later,
        None | Some(Value::Null) => {}
        Some(_) if server.fault("any-cursor") => {}
        Some(_) => return Answer::error(-32602, "no such cursor"),
    }
    let (mut one, mut other) = (one(server), other());
    if server.fault("names-by-process") {
        one["name"] = json!(format!("t{}", std::process::id()));
    }
    if server.fault("two-tools-of-one-name") {
        other["name"] = json!("t");
    }
    if server.fault("nothing-is-read-only") {
        other["annotations"] = json!({"readOnlyHint": false});
    }
    let mut tools = vec![one, other, plain("picture"), plain("fail"), plain("ask")];
    if server.fault("shuffled") && !LISTED.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        tools.reverse();
    }
    Answer::Result(json!({"tools": tools, "ttlMs": 0, "cacheScope": "private"}))
}

fn one(server: &Server) -> Value {
    let long = "n".repeat(129);
    let name = match () {
        () if server.fault("long-tool-name") => &long,
        () if server.fault("spaced-tool-name") => "a tool",
        () if server.fault("dotted-tool-name") => "a.tool",
        () => "t",
    };
    let mut tool = json!({"name": name, "description": "Says hello.", "inputSchema": schema(server)});
    if server.fault("no-tool-description") {
        tool["description"] = json!(" ");
    }
    if server.fault("huge-tool-description") {
        tool["description"] = json!("x".repeat(100_000));
    }
    if server.fault("tool-without-schema")
        && let Some(members) = tool.as_object_mut()
    {
        members.remove("inputSchema");
    }
    tool
}

fn schema(server: &Server) -> Value {
    let property = |name: &str, schema: Value| json!({"type": "object", "properties": {name: schema}});
    match () {
        () if server.fault("untyped-schema") => json!({"properties": {}}),
        () if server.fault("invalid-schema") => property("who", json!({"type": "any"})),
        () if server.fault("odd-dialect") => json!({"$schema": "https://example.com/s", "type": "object"}),
        () if server.fault("external-reference") => property("who", json!({"$ref": "https://example.com/s"})),
        () if server.fault("dangling-reference") => property("who", json!({"$ref": "#/$defs/who"})),
        () if server.fault("root-choice") => json!({"type": "object", "anyOf": [{"required": ["who"]}, {}]}),
        () if server.fault("spaced-property") => property("the who", json!({"type": "string"})),
        () if server.fault("spaced-header") => {
            property("who", json!({"type": "string", "x-mcp-header": "a b"}))
        }
        () if server.fault("header-of-number") => {
            property("who", json!({"type": "number", "x-mcp-header": "a"}))
        }
        () if server.fault("header-in-list") => {
            property("who", json!({"type": "array", "items": {"type": "string", "x-mcp-header": "a"}}))
        }
        () => json!({
            "type": "object", "$defs": {"who": {"type": "string", "maxLength": 99}},
            "properties": {"who": {"$ref": "#/$defs/who"}, "where": {"type": "string", "x-mcp-header": "Where"}},
        }),
    }
}

fn other() -> Value {
    json!({
        "name": "count", "description": "Counts the letters of a word.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"word": {"type": "string", "default": "word"}},
        },
        "outputSchema": {
            "type": "object", "properties": {"letters": {"type": "integer", "minimum": 0}}, "required": ["letters"],
        },
        "annotations": {"readOnlyHint": true},
    })
}

/// Another tool, that needs nothing.
fn plain(name: &str) -> Value {
    json!({"name": name, "description": "Gives what it is named for.", "inputSchema": {"type": "object"}})
}

pub(crate) fn call(server: &Server, request: &Request<'_>) -> Answer {
    let Some(name) = request.params["name"].as_str() else {
        return if server.fault("calls-nothing") {
            said("nothing")
        } else {
            Answer::error(-32602, "no name")
        };
    };
    match name {
        "t" | "count" | "picture" | "fail" | "ask" if server.fault("dies-of-calls") => std::process::exit(1),
        "t" => said("hello"),
        "count" => count(server, request),
        "picture" => picture(server),
        "ask" => rounds::ask(server, request),
        "fail" => {
            let text = if server.fault("silent-failures") { "" } else { "there is nothing to do" };
            Answer::Result(json!({"content": [{"type": "text", "text": text}], "isError": true}))
        }
        _ if server.fault("calls-anything") => said("done"),
        _ if server.fault("unknown-tool-result") => {
            Answer::Result(json!({"content": [{"type": "text", "text": "no such tool"}], "isError": true}))
        }
        _ => Answer::error(-32602, "no such tool"),
    }
}

pub(crate) fn said(text: &str) -> Answer {
    Answer::Result(json!({"content": [{"type": "text", "text": text}]}))
}

fn count(server: &Server, request: &Request<'_>) -> Answer {
    let word = &request.params["arguments"]["word"];
    if !word.is_null() && !word.is_string() {
        if server.fault("refuses-arguments") {
            return Answer::error(-32602, "word is no string");
        }
        return Answer::Result(
            json!({"content": [{"type": "text", "text": "word is no string"}], "isError": true}),
        );
    }
    let word = word.as_str().unwrap_or("word");
    let letters = word.chars().count();
    let mut structured = json!({"letters": letters});
    if server.fault("letters-as-text") {
        structured["letters"] = json!(letters.to_string());
    }
    let text =
        if server.fault("text-of-its-own") { format!("{letters} letters") } else { structured.to_string() };
    let mut result = json!({"content": [{"type": "text", "text": text}], "structuredContent": structured});
    if server.fault("nothing-structured")
        && let Some(members) = result.as_object_mut()
    {
        members.remove("structuredContent");
    }
    Answer::Result(result)
}

fn picture(server: &Server) -> Answer {
    let data = if server.fault("image-with-line-ends") { "iVBO\nRw0KGgo=" } else { "iVBORw0KGgo=" };
    let uri = if server.fault("path-of-resource") { "/a b" } else { "memo://text" };
    let mut image = json!({"type": "image", "data": data, "mimeType": "image/png"});
    if server.fault("image-without-type") {
        image = json!({"type": "image", "data": data});
    }
    Answer::Result(
        json!({"content": [image, {"type": "resource", "resource": {"uri": uri, "text": "hello"}}]}),
    )
}
