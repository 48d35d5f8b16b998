//! Answers of one piece: good ones, those that lie about themselves, and those that refuse.

use super::web_menu::{entry, good};
use super::web_server::{To, WebEntry};

const JSON: &str = "Content-Type: application/json\r\n";

/// What the content of an answer says, more or less well.
pub(super) const PLAIN: &[WebEntry] = &[
    entry("good", &["B-79"], To::Any, good),
    entry("error", &[], To::Call, |server, asked, n| {
        let error = asked.error([-32603, -32602, -32601, 1, -32042][n as usize % 5]);
        match n % 2 {
            0 => server.json(&error),
            _ => server.event(&error),
        }
    }),
    entry("type-with-parameters", &["B-79"], To::Call, |server, asked, n| {
        let kind = [
            "application/json; charset=utf-8",
            "Application/JSON",
            "application/json;charset=\"UTF-8\"",
            " application/json ",
        ];
        let answer = asked.answer(n);
        server.reply(200, &format!("Content-Type:{}\r\n", kind[n as usize % 4]), &answer);
    }),
    entry("late", &["B-53"], To::Any, |server, asked, n| {
        server.later(u64::from(n) % [50, 1500, 5000, 45_000][(n >> 16) as usize % 4]);
        good(server, asked, n);
    }),
    entry("mute", &[], To::Any, |_, _, _| {}),
    entry("twice", &[], To::Any, |server, asked, n| {
        good(server, asked, n);
        if n % 3 == 0 {
            server.later(u64::from(n % 3000));
        }
        good(server, asked, n.wrapping_add(1));
    }),
    entry("wrong-id", &["B-85"], To::Call, |server, asked, n| {
        let mut other = asked.clone();
        other.rpc.id =
            [asked.rpc.id + 1, asked.rpc.id + 1000, 0, asked.rpc.id.saturating_sub(1)][n as usize % 4];
        let answer = other.answer(n);
        match n % 3 {
            0 => server.event(&answer),
            _ => server.json(&answer),
        }
    }),
    entry("string-id", &["B-13"], To::Call, |server, asked, n| {
        let id = asked.rpc.id;
        server.json(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"n":{n}}}}}"#));
    }),
    entry("error-without-id", &["B-15"], To::Call, |server, _, n| {
        let id = ["", r#""id":null,"#][n as usize % 2];
        let error = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"message":"?"}}}}"#);
        match n % 3 {
            0 => server.event(&error),
            1 => server.reply(400, JSON, &error),
            _ => server.json(&error),
        }
    }),
    entry("no-json", &["B-69"], To::Call, |server, asked, n| {
        let id = asked.rpc.id;
        let text = [
            "nonsense".to_owned(),
            "{".to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{}}}}"#),
            format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{{}}}}"#),
            "null".to_owned(),
            "[]".to_owned(),
        ];
        match n % 3 {
            0 => server.event(&text[(n >> 8) as usize % 8]),
            _ => server.json(&text[(n >> 8) as usize % 8]),
        }
    }),
    entry("nothing", &["B-73"], To::Call, |server, _, n| {
        server.json(["", "  \r\n", "\u{feff}"][n as usize % 3]);
    }),
    entry("a-batch", &["B-19"], To::Call, |server, asked, n| {
        let answer = asked.answer(n);
        server.json(&format!("[{answer}]"));
    }),
    entry("at-the-limit", &["B-09"], To::Call, |server, asked, n| {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"x":""#, asked.rpc.id);
        let end = r#""}}"#;
        let room = server.limit + n as usize % 3 - 1 - start.len() - end.len();
        let text = format!("{start}{}{end}", "x".repeat(room));
        match n % 2 {
            0 => server.event(&text),
            _ => server.json(&text),
        }
    }),
    entry("huge", &["B-09"], To::Any, |server, asked, n| {
        let long = "x".repeat(server.limit + n as usize % 3000);
        let id = asked.rpc.id;
        let text = match n % 3 {
            0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":"{long}"}}}}"#),
            1 => format!(r#"{{"result":{{"id":7,"x":"{long}"}},"jsonrpc":"2.0","id":{id}}}"#),
            _ => long,
        };
        match (n >> 8) % 3 {
            0 => server.event(&text),
            1 => server.reply(400, JSON, &text),
            _ => server.json(&text),
        }
    }),
    entry("compressed", &["B-83"], To::Call, |server, asked, n| {
        let coding = ["gzip", "br", "identity", "zstd", "identity, gzip"][n as usize % 5];
        let answer = asked.answer(n);
        let kind = ["application/json", "text/event-stream"][(n >> 8) as usize % 2];
        server.reply(200, &format!("Content-Type: {kind}\r\nContent-Encoding: {coding}\r\n"), &answer);
    }),
    entry("says-more-than-it-should", &["B-65"], To::Note, |server, _, n| {
        let text = ["null", "{}", "", r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "x"][n as usize % 5];
        server.reply([200, 202, 204, 299][(n >> 8) as usize % 4], JSON, text);
    }),
];

/// Answers whose frame is wrong.
pub(super) const BROKEN: &[WebEntry] = &[
    entry("too-short-a-length", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let len = n as usize % answer.len();
        server.raw(format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: {len}\r\n\r\n{answer}"));
    }),
    entry("too-long-a-length", &["B-73"], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let len = answer.len() + 1 + n as usize % 50;
        server.raw(format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: {len}\r\n\r\n{answer}"));
        if n % 2 == 0 {
            server.later(u64::from(n % 9000));
            server.close();
        }
    }),
    entry("odd-length", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let len = answer.len();
        let length = [
            format!("+{len}"),
            format!("0x{len:x}"),
            format!("{len}, {len}"),
            format!("{len}\r\nContent-Length: {}", len + 1),
            format!("{len}\r\nContent-Length: {len}"),
            "-1".into(),
            "99999999999999999999".into(),
            format!("{len}\r\nTransfer-Encoding: chunked"),
        ];
        let length = &length[n as usize % 8];
        server.raw(format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: {length}\r\n\r\n{answer}"));
    }),
    entry("odd-head", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let len = answer.len();
        let head = [
            format!("HTTP/1.1 200 OK\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("HTTP/1.1 200 OK\r\nContent-Type : application/json\r\nContent-Length: {len}\r\n\r\n"),
            format!("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("HTTP/1.1 200 OK\r\nX: a\0b\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("HTTP/2.0 200 OK\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("HTTP/1.1 20 OK\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("ICY 200 OK\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("\r\nHTTP/1.1 200 OK\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("HTTP/1.1 200\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            format!("HTTP/1.1 200 OK\r\nno colon\r\n{JSON}Content-Length: {len}\r\n\r\n"),
            "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n".into(),
        ];
        server.raw(format!("{}{answer}", head[n as usize % 11]));
    }),
    entry("endless-head", &[], To::Any, |server, _, n| {
        server.raw("HTTP/1.1 200 OK\r\n");
        let line = ["X-Y: some more of it\r\n", "a:\r\n", "b"][n as usize % 3];
        server.raw(line.repeat(2 * server.head / line.len()));
    }),
    entry("slow-head", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let text = format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: {}\r\n\r\n{answer}", answer.len());
        for (step, piece) in text.as_bytes().chunks(1 + n as usize % 40).enumerate() {
            server.later(step as u64 * [1, 40, 400, 4000][(n >> 8) as usize % 4]);
            server.raw(piece);
        }
    }),
    entry("no-length", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        server.raw(format!("HTTP/1.{} 200 OK\r\n{JSON}\r\n{answer}", n % 2));
        if n % 4 != 0 {
            server.later(u64::from(n % 5000));
            server.close();
        }
    }),
    entry("older-version", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let keep = ["", "Connection: keep-alive\r\n"][n as usize % 2];
        server
            .raw(format!("HTTP/1.0 200 OK\r\n{JSON}{keep}Content-Length: {}\r\n\r\n{answer}", answer.len()));
    }),
    entry("says-wait-first", &[], To::Any, |server, asked, n| {
        for _ in 0..n % 4 {
            server.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
        }
        good(server, asked, n);
    }),
    entry("ends-behind-it", &["B-73"], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let says = ["", "Connection: close\r\n", "Keep-Alive: timeout=1\r\n"][n as usize % 3];
        server.reply(200, &format!("{JSON}{says}"), &answer);
        server.close();
    }),
    entry("more-behind-it", &[], To::Any, |server, asked, n| {
        good(server, asked, n);
        if n % 2 == 0 {
            server.later(u64::from(n % 2000));
        }
        server
            .raw(["x", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", "\r\n"][n as usize % 3]);
    }),
    entry("cut-anywhere", &["B-73"], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let text = match n % 2 {
            0 => format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: {}\r\n\r\n{answer}", answer.len()),
            _ => format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\ndata: {answer}\n\n\r\n0\r\n\r\n",
                answer.len() + 8
            ),
        };
        let len = (n >> 8) as usize % (text.len() + 1);
        server.raw(&text.as_bytes()[..len]);
        server.close();
    }),
    entry("dies", &["B-73"], To::Any, |server, _, n| {
        server.later(u64::from(n % 40));
        server.close();
    }),
];

/// Answers that refuse, each by its status.
pub(super) const STATUSES: &[WebEntry] = &[
    entry("refuses-by-status", &["B-77"], To::Any, |server, _, n| {
        let status = [400, 402, 404, 405, 406, 410, 413, 415, 418, 429, 500, 501, 502, 503, 599];
        let kind = ["", "Content-Type: text/plain\r\n", JSON][(n >> 8) as usize % 3];
        server.reply(status[n as usize % 15], kind, ["", "Cannot", "{}"][(n >> 16) as usize % 3]);
    }),
    entry("refuses-in-words", &[], To::Call, |server, asked, n| {
        let error = asked.error([-32603, -32600, -32601, -32020, -32021, -32022, 7][n as usize % 7]);
        server.reply([400, 404, 500, 403, 503][(n >> 8) as usize % 5], JSON, &error);
    }),
    entry("modern-error", &["B-35"], To::Call, |server, asked, n| {
        let id = asked.rpc.id;
        let data = [r#"{"supported":["2026-07-28"]}"#, r#"{"supported":[]}"#, "{}"][n as usize % 3];
        let code = [-32022, -32020, -32021][(n >> 8) as usize % 3];
        let error =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"?","data":{data}}}}}"#);
        server.reply([400, 200][(n >> 16) as usize % 2], JSON, &error);
    }),
    entry("forgets-the-session", &["B-75"], To::Any, |server, asked, n| {
        let error = asked.error(-32001);
        match n % 2 {
            0 => server.reply(404, JSON, &error),
            _ => server.reply(404, "", ""),
        }
    }),
    entry("names-another-session", &["B-75"], To::Any, |server, asked, n| {
        server.sessions += 1;
        let answer = asked.answer(n);
        let fields = format!("{JSON}Mcp-Session-Id: changed-{}\r\n", server.sessions);
        server.reply(200, &fields, &answer);
    }),
    entry("points-elsewhere", &["B-81"], To::Any, |server, _, n| {
        let to = [
            "/mcp/",
            "/mcp",
            "/elsewhere",
            "http://other.example/mcp",
            "//other.example/",
            "https://localhost:8080/mcp",
            "",
            "/a b",
        ];
        let status = [307, 308, 301, 302, 303, 300, 304][(n >> 8) as usize % 7];
        server.reply(status, &format!("Location: {}\r\n", to[n as usize % 8]), "");
    }),
    entry("challenges", &["B-89"], To::Any, |server, asked, n| {
        let fields = ["", "WWW-Authenticate: Bearer\r\n", "WWW-Authenticate: Bearer scope=\"a b\"\r\n"];
        let error = asked.error(-32001);
        let text = ["", "who?", &error][(n >> 8) as usize % 3];
        server.reply([401, 403][n as usize % 2], fields[(n >> 16) as usize % 3], text);
    }),
    entry("takes-it-and-says-nothing", &["B-73"], To::Any, |server, _, n| {
        server.reply([202, 204, 205, 200][n as usize % 4], "", "");
    }),
    entry("another-type", &["B-73"], To::Any, |server, asked, n| {
        let kind = ["text/html", "application/jsonp", "text/plain; charset=x", "application/json, text/html"];
        let answer = asked.answer(n);
        server.reply(200, &format!("Content-Type: {}\r\n", kind[n as usize % 4]), &answer);
    }),
];
