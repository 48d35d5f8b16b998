//! What tools give, where the plan allows to call them.

use sanswire::mcp::Revision;
use serde_json::{Value, json};

use super::forms::is_uri;
use super::prompts::media_flaw;
use super::{schema, shown};
use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::schema::{Fit, judge};
use crate::talk::{Called, Lists, Talk, only_reads};

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "content-valid",
        "what a tool gives is valid",
        Source::Spec("server/tools#tool-result"),
        Must,
        Speaks::EachEra,
        ["tools"],
        valid,
        "Each block of content is of a known type, with the members that the published schema of the revision asks for. A client drops the whole answer where one does not fit."
    ),
    shared!(
        "content-output-schema",
        "structured content is there and fits the tool's outputSchema",
        Source::Spec("server/tools#output-schema"),
        Must,
        Speaks::EachEra,
        ["tools"],
        output_schema,
        "Whoever lists an outputSchema gives structuredContent that fits it, unless the call failed: programs rely on its members."
    ),
    shared!(
        "content-structured-text",
        "structured content is there as text too",
        Source::Spec("server/tools#structured-content"),
        Should,
        Speaks::EachEra,
        ["tools"],
        structured_text,
        "Older clients read text alone. Put the same value as JSON into a text block beside it."
    ),
    shared!(
        "content-media",
        "images, sounds and binary resources are in Base64 and have a MIME type",
        Source::Spec("server/tools#tool-result"),
        Must,
        Speaks::EachEra,
        ["tools"],
        media,
        "The data of a block is Base64 as RFC 4648 has it, without a data: prefix and without line ends, and its MIME type says what it is."
    ),
    shared!(
        "content-uris",
        "resources in results have URIs",
        Source::Spec("server/tools#embedded-resources"),
        Should,
        Speaks::EachEra,
        ["tools"],
        uris,
        "A client fetches and keeps resources by their URI, which is one as RFC 3986 has it."
    ),
    shared!(
        "content-error-text",
        "a failure says what went wrong",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        error_text,
        "A model reads the text of a result with isError and tries again. Say what was wrong and what would be right."
    ),
    shared!(
        "content-wrong-argument",
        "an argument of a wrong type is told in a result with isError",
        Source::Spec("server/tools#error-handling"),
        Should,
        Speaks::EachEra,
        ["tools"],
        wrong_argument,
        "Since 2025-11-25 what is wrong with arguments is told in the result, where a model reads it and mends its call. A JSON-RPC error reaches the host alone."
    ),
];

fn valid(talk: &mut Talk) -> Result<(), Finding> {
    let Some(calls) = talk.calls()? else { return Ok(()) };
    for call in calls.iter().filter(|call| call.answer.result().is_some()) {
        schema::result(talk, "CallToolResult", &call.answer)?;
    }
    if calls.iter().all(|call| call.result.is_null()) {
        return talk.not_tried("no allowed call gave a result");
    }
    Ok(())
}

/// Looks at the results of all calls: what is wrong with one, or nothing if there was nothing to look at.
fn each(
    talk: &mut Talk,
    nothing: &str,
    flaw: impl Fn(&Called) -> Option<Option<Finding>>,
) -> Result<(), Finding> {
    let Some(calls) = talk.calls()? else { return Ok(()) };
    let mut tried = false;
    for call in calls.iter() {
        match flaw(call) {
            None => {}
            Some(None) => tried = true,
            Some(Some(finding)) => {
                return Err(Finding::new(
                    finding.expected,
                    format!("{} ({})", finding.got, shown(call.name.as_bytes())),
                ));
            }
        }
    }
    if tried { Ok(()) } else { talk.not_tried(nothing) }
}

fn has_failed(call: &Called) -> bool {
    call.result["isError"] == true
}

fn blocks(call: &Called) -> &[Value] {
    call.result["content"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn output_schema(talk: &mut Talk) -> Result<(), Finding> {
    if talk.revision() < Revision::V2025_06_18 {
        return talk.not_tried("there is no outputSchema before 2025-06-18");
    }
    each(talk, "no allowed call of a tool with an outputSchema that can be judged gave a result", |call| {
        let schema =
            call.tool.get("outputSchema").filter(|_| call.result.is_object() && !has_failed(call))?;
        let Some(structured) = call.result.get("structuredContent") else {
            return Some(Some(Finding::new("structuredContent, as the tool has an outputSchema", "none")));
        };
        match judge(schema, schema, structured) {
            Fit::Fits => Some(None),
            Fit::Unknown => None,
            Fit::Misfit(misfit) => Some(Some(Finding::new(
                "structuredContent that fits the outputSchema",
                format!("one where {misfit}"),
            ))),
        }
    })
}

fn structured_text(talk: &mut Talk) -> Result<(), Finding> {
    each(talk, "no allowed call gave structured content", |call| {
        let structured = call.result.get("structuredContent")?;
        let same = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|text| text == *structured);
        let there = blocks(call).iter().filter_map(|block| block["text"].as_str()).any(same);
        Some((!there).then(|| Finding::new("a text block with the same JSON", "none")))
    })
}

fn media(talk: &mut Talk) -> Result<(), Finding> {
    each(talk, "no allowed call gave anything but text", |call| {
        let mut found = blocks(call).iter().filter_map(media_flaw).peekable();
        found.peek()?;
        Some(found.flatten().next())
    })
}

fn uris(talk: &mut Talk) -> Result<(), Finding> {
    each(talk, "no allowed call gave a resource", |call| {
        let uri = |block: &Value| {
            let uri = block.get("uri").or_else(|| block.get("resource")?.get("uri"))?;
            uri.as_str().map(str::to_owned)
        };
        let mut uris = blocks(call).iter().filter_map(uri).peekable();
        uris.peek()?;
        Some(uris.find(|uri| !is_uri(uri)).map(|odd| Finding::new("a URI", shown(odd.as_bytes()))))
    })
}

fn error_text(talk: &mut Talk) -> Result<(), Finding> {
    each(talk, "no allowed call failed", |call| {
        let says = |block: &Value| block["text"].as_str().is_some_and(|text| !text.trim().is_empty());
        has_failed(call).then(|| {
            (!blocks(call).iter().any(says)).then(|| Finding::new("a text about the failure", "none"))
        })
    })
}

/// Calls the tools that change nothing with an argument that is an object where none may be.
fn wrong_argument(talk: &mut Talk) -> Result<(), Finding> {
    if talk.revision() < Revision::V2025_11_25 {
        return talk.not_tried("it is not said before 2025-11-25");
    }
    if !talk.may_call_what_only_reads() {
        return talk
            .not_tried("no tool is called with anything else than --call says, but for --read-only-calls");
    }
    let list = talk.list(Lists::Tools)?;
    let plain = |of: &Value| matches!(of["type"].as_str(), Some("string" | "integer" | "number" | "boolean"));
    for tool in list.entries().filter(|tool| only_reads(tool)) {
        let mut properties = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        let Some((name, _)) = properties.find(|(_, of)| plain(of)) else { continue };
        let arguments = json!({ name: {} }).to_string();
        let tool_name = tool["name"].as_str().unwrap_or_default().to_owned();
        let wrong = talk.call(tool_name, tool.clone(), &arguments)?;
        if wrong.answer.code().is_some() {
            return Err(Finding::new("a result with isError", wrong.answer.text()));
        }
        return Ok(());
    }
    talk.not_tried("no tool with a plain argument says that it changes nothing")
}
