//! Answers by what their heads say of their content, and of where else to ask.

use sanswire::client::Outcome;
use sanswire::exchange::{HttpRefusal, RefusedFor};

use super::{Answer, To, complete, file};

const CALL: To = To::Legacy("tools/call", 2);
const DONE: &str = r#"{"content":[]}"#;

/// An answer with these fields and this content.
fn answer(fields: &str, body: &[u8]) -> Vec<u8> {
    let mut all = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    all.extend_from_slice(body);
    all
}

fn refused(status: u16, why: RefusedFor) -> Outcome {
    let mut refusal = HttpRefusal::new(status);
    refusal.why = why;
    Outcome::Refused(refusal)
}

pub(super) fn rows() -> Vec<Answer> {
    [types(), redirects(), codings()].concat()
}

fn types() -> Vec<Answer> {
    let body = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{DONE}}}"#);
    let row = |kind: &'static str| {
        Answer::new("b_79", kind, CALL, answer(&format!("Content-Type: {kind}\r\n"), body.as_bytes()))
    };
    let other = |kind| row(kind).gives(refused(200, RefusedFor::ContentType(kind.into())));
    vec![
        row("application/json; charset=utf-8").gives(complete(DONE)),
        row("Application/JSON").gives(complete(DONE)),
        row("application/json;charset=\"UTF-8\"").gives(complete(DONE)),
        other("text/plain"),
        other("application/jsonp"),
    ]
}

fn redirects() -> Vec<Answer> {
    let to = |status: u16, location: &str| {
        format!("HTTP/1.1 {status} .\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
    };
    let followed = |what, bytes: &[u8], request: &str| {
        Answer::new("b_81", what, CALL, bytes).gives(complete(DONE)).asks(&[request])
    };
    let stopped = |what, status, location: &str, why| {
        Answer::new("b_81", what, CALL, to(status, location)).gives(refused(status, why))
    };
    // Nobody is asked there: whoever did would find nobody, which is another outcome.
    let elsewhere = |what, location: &str, origin: &str| {
        stopped(what, 307, location, RefusedFor::OtherOrigin(origin.into()))
    };
    let again = "POST /mcp/ tools/call 2";
    vec![
        followed("the report", file!("b-81.bin"), "POST /mcp/docs/d1 tools/call 2"),
        followed("a slash", to(307, "/mcp/").as_bytes(), again),
        followed("a fragment", to(308, "other#there").as_bytes(), "POST /other tools/call 2"),
        followed("a query", to(308, "?x=1").as_bytes(), "POST /mcp?x=1 tools/call 2"),
        elsewhere("another host", "http://other.invalid/mcp", "http://other.invalid"),
        elsewhere("another scheme", "https://127.0.0.1/mcp", "https://127.0.0.1"),
        elsewhere("another port", "http://127.0.0.1:9/mcp", "http://127.0.0.1:9"),
        stopped("another method", 303, "/mcp/", RefusedFor::Moved("/mcp/".into())),
        stopped("nowhere", 308, "http://", RefusedFor::Redirect),
        Answer::new("b_81", "round and round", CALL, to(307, "/mcp/"))
            .always()
            .gives(refused(307, RefusedFor::TooManyRedirects(5)))
            .asks(&[again; 5]),
    ]
}

fn codings() -> Vec<Answer> {
    let row = |what, kind: &str, coding: &str, body: &[u8]| {
        let fields = format!("Content-Type: {kind}\r\nContent-Encoding: {coding}\r\n");
        let why = RefusedFor::ContentCoding(coding.into());
        Answer::new("b_83", what, CALL, answer(&fields, body)).gives(refused(200, why))
    };
    let json = "application/json";
    let plain = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{DONE}}}"#);
    let bomb = [&b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"[..], &[0; 1 << 20]].concat();
    vec![
        Answer::new("b_83", "the report", CALL, *file!("b-83.bin"))
            .gives(refused(200, RefusedFor::ContentCoding("gzip".into()))),
        row("br", json, "br", b"\x0b\x02\x80{}\x03"),
        row("zstd", json, "zstd", b"\x28\xb5\x2f\xfd\x04\x00\x11\x00\x00{}"),
        row("a mark on plain JSON", json, "gzip", plain.as_bytes()),
        row("a stream", "text/event-stream", "gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"),
        row("much of it", json, "gzip", &bomb),
        Answer::new(
            "b_83",
            "none",
            CALL,
            answer("Content-Type: application/json\r\nContent-Encoding: identity\r\n", plain.as_bytes()),
        )
        .gives(complete(DONE)),
    ]
}
