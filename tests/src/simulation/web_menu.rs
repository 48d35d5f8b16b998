//! What a server over HTTP that misbehaves does, by name.

use super::web_answers::{BROKEN, PLAIN, STATUSES};
use super::web_server::{To, WebAsked, WebEntry, WebServer};
use super::web_streams::STREAMS;

pub(super) const fn entry(
    name: &'static str,
    cases: &'static [&'static str],
    to: To,
    act: fn(&mut WebServer, &WebAsked, u32),
) -> WebEntry {
    WebEntry { name, cases, to, act }
}

/// What such a server does about a request: in answer to it, or whenever it likes. The first is what a good one does.
pub const WEB_MENU: &[WebEntry] = &joined();

const COUNT: usize = PLAIN.len() + BROKEN.len() + STATUSES.len() + STREAMS.len();

const fn joined() -> [WebEntry; COUNT] {
    let mut all = [const { entry("", &[], To::Any, |_, _, _| {}) }; COUNT];
    let parts: [&[WebEntry]; 4] = [PLAIN, BROKEN, STATUSES, STREAMS];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut n = 0;
        while n < parts[part].len() {
            let WebEntry { name, cases, to, act } = &parts[part][n];
            all[at] = entry(name, cases, *to, *act);
            (n, at) = (n + 1, at + 1);
        }
        part += 1;
    }
    all
}

/// What a good server answers.
pub(super) fn good(server: &mut WebServer, asked: &WebAsked, n: u32) {
    match asked.to {
        To::Call if n % 3 == 0 => {
            let answer = asked.answer(n);
            server.event(&answer);
        }
        To::Call | To::Any => {
            let answer = asked.answer(n);
            server.json(&answer);
        }
        To::Note => server.reply(202, "", ""),
        To::Get if asked.verb == "DELETE" => server.reply(200, "", ""),
        To::Get => match server.pushes {
            true => {
                server.begin("");
                server.chunk(": here\n\n");
            }
            false => server.reply(405, "", ""),
        },
    }
}

/// So many of [`WEB_OPENINGS`] are as they should be.
pub const PLAIN_WEB_OPENINGS: usize = 4;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn initialized(server: &mut WebServer, asked: &WebAsked, version: &str, fields: &str, n: u32) {
    let id = asked.rpc.id;
    let content = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"old","version":"1"}}}}}}"#
    );
    if n % 5 == 0 {
        server.begin(fields);
        server.chunk(&format!("event: message\r\ndata: {content}\r\n\r\n"));
        server.finish();
    } else {
        server.reply(200, &format!("Content-Type: application/json\r\n{fields}"), &content);
    }
}

fn discovered(server: &mut WebServer, asked: &WebAsked, versions: &str) {
    let id = asked.rpc.id;
    server.json(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":[{versions}],"capabilities":{{"tools":{{}}}},"ttlMs":60000,"cacheScope":"public"}}}}"#
    ));
}

fn session(server: &mut WebServer) -> String {
    server.sessions += 1;
    format!("Mcp-Session-Id: s-{}\r\n", server.sessions)
}

fn is_probe(asked: &WebAsked) -> bool {
    asked.rpc.method == "server/discover"
}

fn refuse(server: &mut WebServer, asked: &WebAsked, status: u16, code: i64) {
    let error = asked.error(code);
    server.reply(status, "Content-Type: application/json\r\n", &error);
}

fn legacy(server: &mut WebServer, asked: &WebAsked, n: u32) {
    match (is_probe(asked), &*asked.verb) {
        (true, _) => refuse(server, asked, 400, -32601),
        (_, "GET") => server.reply(405, "", ""),
        _ => {
            let fields = session(server);
            initialized(server, asked, LEGACY[1 + n as usize % 3], &fields, n);
        }
    }
}

fn modern(server: &mut WebServer, asked: &WebAsked, _: u32) {
    match is_probe(asked) {
        true => discovered(server, asked, r#""2026-07-28""#),
        false => refuse(server, asked, 404, -32601),
    }
}

/// How such a server meets a client that opens a session.
pub const WEB_OPENINGS: &[WebEntry] = &[
    entry("legacy", &["B-29"], To::Any, legacy),
    entry("modern", &[], To::Any, modern),
    entry("dual", &[], To::Any, |server, asked, n| match is_probe(asked) {
        true => discovered(server, asked, r#""2025-11-25","2026-07-28""#),
        false => legacy(server, asked, n),
    }),
    entry("no-session-id", &[], To::Any, |server, asked, n| match asked.rpc.method == "initialize" {
        true => {
            server.sessions += 1;
            initialized(server, asked, LEGACY[1 + n as usize % 3], "", n);
        }
        false => legacy(server, asked, n),
    }),
    entry("strange-session-id", &["B-75"], To::Any, |server, asked, n| {
        match asked.rpc.method == "initialize" {
            true => {
                server.sessions += 1;
                let fields = [
                    "Mcp-Session-Id: a b\r\n",
                    "Mcp-Session-Id:\r\n",
                    "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n",
                    "mcp-session-id: ~!x\r\n",
                    "MCP-SESSION-ID: ok\r\n",
                ];
                initialized(server, asked, LEGACY[1 + n as usize % 3], fields[n as usize % 5], n);
            }
            false => legacy(server, asked, n),
        }
    }),
    entry("refuses-the-probe", &["B-31"], To::Any, |server, asked, n| match is_probe(asked) {
        true => match n % 8 {
            0 => server.reply(404, "", ""),
            1 => server.reply(405, "Content-Type: text/plain\r\n", "no"),
            2 => server.reply(400, "Content-Type: text/html\r\n", "<p>no</p>"),
            3 => refuse(server, asked, 200, -32602),
            4 => refuse(server, asked, 400, -32000),
            5 => server.reply(
                400,
                "Content-Type: application/json\r\n",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#,
            ),
            6 => server.json("{}"),
            _ => server.reply(202, "", ""),
        },
        false => legacy(server, asked, n),
    }),
    entry("modern-code-for-the-probe", &["B-31"], To::Any, |server, asked, n| {
        refuse(server, asked, 400, [-32020, -32021, -32022][n as usize % 3]);
    }),
    entry("challenges", &["B-89"], To::Any, |server, _, n| {
        let fields = ["", "WWW-Authenticate: Bearer resource_metadata=\"https://a.example/x\"\r\n"];
        server.reply([401, 403][n as usize % 2], fields[(n >> 8) as usize % 2], "who are you?");
    }),
    entry("points-elsewhere", &["B-81"], To::Any, |server, asked, n| {
        let to = ["/mcp/", "/mcp", "http://localhost:8080/x", "http://elsewhere.example/", "//h/", ""];
        let status = [307, 308, 302][(n >> 8) as usize % 3];
        if asked.rpc.id % 2 == 0 || n % 7 == 0 {
            server.reply(status, &format!("Location: {}\r\n", to[n as usize % 6]), "");
        } else {
            legacy(server, asked, n);
        }
    }),
    entry("oldest-transport", &["B-31"], To::Any, |server, asked, n| match &*asked.verb {
        "GET" => {
            server.sessions += 1;
            server.begin("");
            let to = ["/messages", "/messages?s=1", "http://elsewhere.example/", ""][n as usize % 4];
            server.chunk(&format!("event: endpoint\ndata: {to}\n\n"));
            if n % 5 == 0 {
                server.later(u64::from(n % 9000));
                server.finish();
            }
        }
        _ if n % 3 == 0 => server.reply(405, "", ""),
        _ => server.reply([400, 404, 405][n as usize % 3], "", "no"),
    }),
    entry("late", &[], To::Any, |server, asked, n| {
        server.later(u64::from(n % 18_000));
        legacy(server, asked, n);
    }),
    entry("dies", &["B-59"], To::Any, |server, asked, n| match n % 3 {
        0 => server.close(),
        1 if is_probe(asked) => server.close(),
        1 => legacy(server, asked, n),
        _ => {
            server.raw("HTTP/1.1 200 OK\r\nContent-Le");
            server.close();
        }
    }),
    entry("is-no-server", &["B-73"], To::Any, |server, _, n| match n % 4 {
        0 => server.raw("SSH-2.0-x\r\n"),
        1 => server.raw([0x16, 3, 1, 0, 2, 1, 0]),
        2 => server.reply(200, "Content-Type: text/html\r\n", "<html>"),
        _ => server.reply(503, "Retry-After: 1\r\n", ""),
    }),
    entry("mute", &[], To::Any, |_, _, _| {}),
    entry("strange-result", &["B-23", "B-29"], To::Any, |server, asked, n| {
        let result = [
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":[]}}"#,
            r#"{"protocolVersion":20251125}"#,
            "[]",
            r#"{"protocolVersion":"2026-07-28"}"#,
            r#"{"supportedVersions":[1,null,"2026-07-28"],"capabilities":[]}"#,
        ];
        let id = asked.rpc.id;
        server.sessions += 1;
        server.json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result[n as usize % 5]));
    }),
];
