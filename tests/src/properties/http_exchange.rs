//! One POST after the other at an endpoint: what its head says and what its body says, and what comes back.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::Era;
use sanswire::server::Reply;
use serde_json::Value;

use crate::served::MODERN;
use crate::web::{PLAIN, Web, config, head, refs};

/// In an input, what happens; these bytes are in no UTF-8 text.
const SEND: u8 = 0xf8;
const LEAVE: u8 = 0xf9;
const ANSWER: u8 = 0xfa;
const ANSWER_LONG: u8 = 0xfb;
const WAIT: u8 = 0xfc;

/// Takes requests from `data`, as lines `Name: value`, an empty line and a body, and what happens to them: sent, left
/// alone, answered.
///
/// # Panics
/// If a request is reported whose head does not say what its body says, or one is refused for that whose head does; if
/// something comes after the last of an answer, or somebody leaves and the work goes on.
pub fn check_http_exchange(data: &[u8]) {
    let mut web = Web::new(config());
    let mut text = Vec::new();
    let mut last = None;
    for byte in data {
        match *byte {
            SEND => last = Some(send(&mut web, &std::mem::take(&mut text))),
            LEAVE => {
                if let Some(n) = last.take() {
                    leave(&mut web, n);
                }
            }
            ANSWER | ANSWER_LONG if !web.open.is_empty() => {
                let long = "x".repeat(3000);
                let place = web.open.len() - 1;
                let text = if *byte == ANSWER { "x" } else { &*long };
                web.respond(place, &Reply::text(text)).expect("what is open can be answered");
            }
            WAIT => web.pass(7000),
            byte => text.push(byte),
        }
    }
    send(&mut web, &text);
    while !web.open.is_empty() {
        web.respond(0, &Reply::text("the end")).expect("what is open can be answered");
    }
}

/// Sends what stands in `text`. Its exchange.
fn send(web: &mut Web, text: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(text);
    let (lines, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let given: Vec<(&str, &str)> = lines.lines().filter_map(|line| line.split_once(": ")).take(40).collect();
    let fits = |(name, value): &&(&str, &str)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
    };
    let mut fields: Vec<(&str, &str)> = PLAIN.to_vec();
    fields.extend(given.iter().filter(fits));
    let (open, seen) = (web.open.len(), web.told.len());
    let n = web.send(head("POST", "/mcp", &fields), body.as_bytes());
    let answer = &web.answers[&n];
    // Of members that stand twice serde_json sees the last.
    let once = RawJson::parse(body.to_owned().into(), 100).is_ok_and(|body| !repeats(body.view()));
    let message: Option<Value> = serde_json::from_str(body).ok().filter(|_| once);
    if let Some(message) = &message {
        if let Some(reported) = web.open.get(open)
            && reported.context.era() == Era::Modern
        {
            assert_eq!(differs(&fields, message, false), None, "{lines}\n\n{body}\nwas reported");
            assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], MODERN);
            assert_eq!(message["method"], reported.method.as_str());
        }
        if answer.code() == Some(-32020) && is_whole(message) {
            let said = differs(&fields, message, true);
            assert!(said.is_some(), "{lines}\n\n{body}\nwas refused: {answer:?}");
        }
    }
    assert!(web.told.len() >= seen);
    assert!(
        answer.head.is_some() || answer.cut || web.open.len() > open || web.endpoint.exchanges() > 0,
        "{answer:?}"
    );
    n
}

/// A client leaves: what it asked for in the newest era is wanted no more.
fn leave(web: &mut Web, n: u64) {
    if web.answers[&n].over || web.answers[&n].cut || web.answers[&n].gone {
        return;
    }
    let (open, cancelled) = (web.open.clone(), web.cancelled.len());
    web.leave(n);
    let over = |gone: &crate::web::Reported| !web.open.iter().any(|open| open.request == gone.request);
    let over: Vec<_> = open.into_iter().filter(over).collect();
    for gone in over {
        let again = web.endpoint.respond(gone.session, gone.request, &Reply::text("late"), web.now);
        assert!(again.is_err(), "what nobody waits for was answered");
        web.drain();
    }
    assert!(web.cancelled.len() <= cancelled + 1, "one exchange has one request");
}

/// Whether a message has all that a request of the newest revision needs.
fn is_whole(message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    message["id"].is_u64()
        && message["method"].is_string()
        && meta["io.modelcontextprotocol/protocolVersion"] == MODERN
        && meta["io.modelcontextprotocol/clientCapabilities"].is_object()
}

fn repeats(value: JsonRef<'_>) -> bool {
    let mut seen = BTreeSet::new();
    value.members().any(|(name, value)| !seen.insert(name.decode().into_owned()) || repeats(value))
        || value.elements().any(repeats)
}

/// Where the head says something else than the body of a modern request, by code of our own. `odd`: what an argument
/// of another kind than its schema says comes to.
fn differs(fields: &[(&str, &str)], message: &Value, odd: bool) -> Option<String> {
    let all = |wanted: &str| -> Vec<_> {
        fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).collect()
    };
    let field = |wanted: &str| {
        let mut found = all(wanted).into_iter();
        match (found.next(), found.next()) {
            // What is no ASCII stands there in Base64 or not at all.
            (Some((_, value)), None) if value.is_ascii() => Some(value.trim_matches([' ', '\t'])),
            _ => None,
        }
    };
    let same = |name: &str, expected: &Value| {
        let text = expected.as_str()?;
        (field(name).and_then(decoded).as_deref() != Some(text)).then(|| format!("{name} and {expected}"))
    };
    let plain = |name: &str, expected: &Value| {
        let text = expected.as_str()?;
        (field(name) != Some(text)).then(|| format!("{name} and {expected}"))
    };
    let params = &message["params"];
    plain("MCP-Protocol-Version", &params["_meta"]["io.modelcontextprotocol/protocolVersion"])
        .or_else(|| plain("Mcp-Method", &message["method"]))
        .or_else(|| match message["method"].as_str() {
            Some("tools/call" | "prompts/get") if params["name"].is_string() => {
                same("Mcp-Name", &params["name"])
            }
            Some("resources/read") if params["uri"].is_string() => same("Mcp-Name", &params["uri"]),
            Some("tools/call" | "prompts/get" | "resources/read") => odd.then(|| "no name".into()),
            _ => None,
        })
        .or_else(|| {
            let marked = message["method"] == "tools/call" && params["name"] == "marked";
            let arguments = &params["arguments"];
            let none = |name: &str| (!all(name).is_empty()).then(|| format!("{name} and none"));
            let region = || match &arguments["region"] {
                Value::String(_) => same("Mcp-Param-Region", &arguments["region"]),
                Value::Null => none("Mcp-Param-Region"),
                other => odd.then(|| format!("region {other}")),
            };
            let limit = || match &arguments["limit"] {
                Value::Null => none("Mcp-Param-Limit"),
                Value::Number(limit) if limit.as_i64().is_some_and(|limit| limit.abs() < 1 << 53) => {
                    let found = field("Mcp-Param-Limit").and_then(|text| text.parse().ok());
                    (found != limit.as_i64()).then(|| format!("limit {limit}"))
                }
                other => odd.then(|| format!("limit {other}")),
            };
            if marked { region().or_else(limit) } else { None }
        })
}

/// The text that a field stands for: `=?base64?…?=`, or itself.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(marked) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(value.into());
    };
    let digits: Vec<u32> = marked.trim_end_matches('=').bytes().map(digit).collect::<Option<_>>()?;
    if marked.len() - digits.len() > 2 || !marked.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let number = group.iter().fold(0, |number, digit| number << 6 | digit) << (6 * (4 - group.len()));
        let number = number.to_be_bytes();
        let (whole, rest) = number[1..].split_at(group.len() - 1);
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(whole);
    }
    String::from_utf8(bytes).ok().map(Cow::from)
}

fn digit(byte: u8) -> Option<u32> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    DIGITS.iter().position(|digit| *digit == byte).and_then(|place| u32::try_from(place).ok())
}

/// A request as an input: the fields it needs, with these for others of the same name, and its body.
#[must_use]
pub fn exchange(body: &Value, instead: &[(&str, &str)]) -> Vec<u8> {
    let fields = crate::web::modern_fields(body);
    let own = refs(&fields).into_iter().filter(|(name, _)| PLAIN.iter().all(|(plain, _)| plain != name));
    let kept = own.filter(|(name, _)| instead.iter().all(|(other, _)| other != name));
    let mut out = String::new();
    for (name, value) in kept.chain(instead.iter().copied()) {
        out += &format!("{name}: {value}\n");
    }
    let mut out = format!("{out}\n{body}").into_bytes();
    out.push(SEND);
    out
}
