//! What clients sent.

use super::{Asked, SECRET, file};

/// What clients sent to servers of ours.
///
/// # Panics
/// Never.
#[must_use]
pub fn requests() -> Vec<Asked> {
    let report = std::str::from_utf8(file!("b-79.bin")).unwrap();
    [content_types(report), accepted_types(report), hosts(report)].concat()
}

fn row(case: &'static str, what: impl Into<String>, request: &str, status: u16) -> Asked {
    let (line, rest) = request.split_once("\r\n").unwrap();
    // Nothing of it may come back.
    let request = format!("{line}\r\nAuthorization: Bearer {SECRET}\r\nCookie: a={SECRET}\r\n{rest}");
    let (kind, holds) = match status {
        200 => (Some("application/json"), r#""protocolVersion":"2025-11-25""#),
        // It is no request to the endpoint at all.
        400 => (Some("text/plain; charset=utf-8"), "host"),
        _ => (Some("application/json"), r#""error":{"code":"#),
    };
    Asked { case, what: what.into(), bytes: request.into_bytes(), hosts: &[], status, kind, holds }
}

fn content_types(report: &str) -> Vec<Asked> {
    let mut rows = vec![row("b_79", "the report", report, 200)];
    for (kind, status) in [
        ("Application/JSON", 200),
        ("application/json;charset=\"UTF-8\"", 200),
        ("application/json; charset=latin1", 415),
        ("text/plain", 415),
        ("", 415),
    ] {
        let field = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        let request = report.replace("Content-Type: application/json; charset=utf-8\r\n", &field);
        rows.push(row("b_79", format!("content of the type {kind:?}"), &request, status));
    }
    rows
}

fn accepted_types(report: &str) -> Vec<Asked> {
    let accepting = |accept: &str, status| {
        let request = report.replace("Accept: application/json, text/event-stream\r\n", accept);
        row("b_79", format!("{accept:?}"), &request, status)
    };
    let mut stream = accepting("Accept: text/event-stream\r\n", 200);
    stream.kind = Some("text/event-stream");
    vec![
        accepting("Accept: */*\r\n", 200),
        accepting("Accept: Text/Event-Stream , APPLICATION/json\r\n", 200),
        accepting("Accept: application/json\r\n", 200),
        accepting("Accept: text/html\r\n", 406),
        stream,
    ]
}

fn hosts(report: &str) -> Vec<Asked> {
    let host = |lines: &str, status| {
        let request = report.replace("Host: 127.0.0.1\r\n", lines);
        row("b_87", format!("{lines:?}"), &request, status)
    };
    let target = |target: &str, host: &str, status| {
        let request = report.replace("POST /mcp ", &format!("POST {target} "));
        let request = request.replace("Host: 127.0.0.1\r\n", &format!("Host: {host}\r\n"));
        row("b_87", format!("{target} at {host}"), &request, status)
    };
    let named = |lines: &str, status| {
        let hosts: &[&str] = &["mcp.example.invalid", "other.example.invalid:8443"];
        Asked { hosts, ..host(lines, status) }
    };
    vec![
        host("Host: 127.0.0.1:8080\r\n", 200),
        host("Host: localhost\r\n", 200),
        host("Host: [::1]:8080\r\n", 200),
        host("Host: LOCALHOST:8080\r\n", 200),
        host("Host: mcp.example.invalid\r\n", 403),
        host("Host: mcp.example.invalid\r\nX-Forwarded-Host: localhost\r\n", 403),
        host("Host: localhost.example.invalid\r\n", 403),
        host("Host: localhost\r\nHost: localhost\r\n", 400),
        host("", 400),
        target("http://localhost:8080/mcp", "localhost:8080", 200),
        target("http://mcp.example.invalid/mcp", "mcp.example.invalid", 403),
        target("http://localhost/mcp", "mcp.example.invalid", 400),
        named("Host: mcp.example.invalid:443\r\n", 200),
        named("Host: other.example.invalid:8443\r\n", 200),
        named("Host: other.example.invalid\r\n", 403),
        named("Host: localhost\r\n", 200),
    ]
}
