//! What a client over HTTP that misbehaves does, by name.

use super::web_caller::{WebCaller, WebCallerEntry};

const fn entry(
    name: &'static str,
    cases: &'static [&'static str],
    act: fn(&mut WebCaller, u32),
) -> WebCallerEntry {
    WebCallerEntry { name, cases, act }
}

const NAME: &str = r#""name":"a""#;

/// A call as text, whole and good, of the newest era.
fn good(caller: &mut WebCaller) -> (String, String) {
    caller.count += 1;
    let k = caller.count;
    let content = format!(
        r#"{{"jsonrpc":"2.0","id":{k},"method":"tools/call","params":{{"name":"a","_meta":{{"x/k":{k},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: a\r\n";
    (caller.text("POST", fields, &content), content)
}

/// What a client does.
pub const WEB_CALLER_MENU: &[WebCallerEntry] = &[
    entry("opens", &["B-29"], |caller, n| {
        let version = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "1999-01-01"][n as usize % 5];
        let kept = std::mem::take(&mut caller.sessions);
        caller.message(
            "initialize",
            &format!(
                r#""protocolVersion":"{version}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"bad","version":"0"}}"#
            ),
            false,
            n,
        );
        caller.sessions = kept;
    }),
    entry("calls", &[], |caller, n| caller.message("tools/call", NAME, n % 2 == 0, n)),
    entry("calls-much", &[], |caller, n| {
        for step in 0..n % 6 {
            caller.message("tools/call", NAME, step % 2 == 0, n);
        }
    }),
    entry("lists", &[], |caller, n| {
        caller.message(
            ["tools/list", "prompts/list", "x/y", "ping"][(n >> 4) as usize % 4],
            "",
            n % 2 == 0,
            n,
        );
    }),
    entry("listens", &[], |caller, n| {
        caller.message("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#, true, n);
    }),
    entry("same-id", &["B-17"], |caller, n| {
        for _ in 0..2 {
            caller.message_as("7", "tools/call", NAME, n % 2 == 0, n);
        }
    }),
    entry("tells", &["B-51"], |caller, n| {
        let content = [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                n % 60
            ),
            r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#.to_owned(),
        ];
        let text = caller.text("POST", &caller.session(n), &content[(n >> 8) as usize % 3]);
        // The answer to nothing is told of under the id that it bears.
        caller.send(&text, Some(vec!["1".into()]));
    }),
    entry("gets", &["B-77"], |caller, n| {
        let last = match n % 3 {
            0 => String::new(),
            1 => "Last-Event-ID: 9-9\r\n".to_owned(),
            _ => caller.seen.last().map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n")),
        };
        let text = caller.text("GET", &format!("{}{last}", caller.session(n)), "");
        caller.send(&text, None);
    }),
    entry("deletes", &[], |caller, n| {
        let text = caller.text("DELETE", &caller.session(n), "");
        caller.send(&text, None);
    }),
    entry("names-no-session", &["B-75"], |caller, n| {
        let session = ["Mcp-Session-Id: none\r\n", "Mcp-Session-Id:\r\n", ""][n as usize % 3];
        let text = caller.text("POST", session, r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
        caller.send(&text, Some(vec!["5".into()]));
    }),
    entry("head-disagrees", &["B-35"], |caller, n| {
        let (text, _) = good(caller);
        let id = caller.count.to_string();
        let (from, to) = [
            ("Mcp-Name: a", "Mcp-Name: b"),
            ("Mcp-Name: a", "Mcp-Name: =?base64?YQ==?="),
            ("Mcp-Method: tools/call", "Mcp-Method: tools/list"),
            ("MCP-Protocol-Version: 2026-07-28", "MCP-Protocol-Version: 2025-11-25"),
            ("Mcp-Name: a", "Mcp-Name: a\r\nMcp-Name: a"),
            ("Mcp-Method: ", "mcp-METHOD: "),
        ][n as usize % 6];
        caller.send(&text.replace(from, to), Some(vec![id]));
    }),
    entry("other-types", &["B-79"], |caller, n| {
        let (text, _) = good(caller);
        let id = caller.count.to_string();
        let kind = [
            "application/json; charset=utf-8",
            "Application/JSON",
            "application/json; charset=latin1",
            "text/plain",
        ];
        let accept = ["*/*", "application/json", "text/event-stream", "image/png"];
        let text = text
            .replace("Content-Type: application/json", &format!("Content-Type: {}", kind[n as usize % 4]));
        let text = text.replace("application/json, text/event-stream", accept[(n >> 8) as usize % 4]);
        caller.send(&text, Some(vec![id]));
    }),
    entry("other-hosts", &["B-87"], |caller, n| {
        let (text, _) = good(caller);
        let id = caller.count.to_string();
        let host = [
            "127.0.0.1:8080",
            "[::1]",
            "LOCALHOST",
            "mcp.example.invalid",
            "localhost\r\nOrigin: http://evil.example",
        ];
        caller.send(
            &text.replace("Host: localhost:8080", &format!("Host: {}", host[n as usize % 5])),
            Some(vec![id]),
        );
    }),
    entry("elsewhere", &[], |caller, n| {
        let (text, _) = good(caller);
        let id = caller.count.to_string();
        let to =
            ["GET /elsewhere ", "PUT /mcp ", "OPTIONS * ", "HEAD /mcp ", "POST http://localhost:8080/mcp "];
        match n % 5 {
            // The answer to HEAD has no content whatever it says.
            3 => caller.raw(text.replacen("POST /mcp ", to[3], 1)),
            n => caller.send(&text.replacen("POST /mcp ", to[n as usize], 1), Some(vec![id])),
        }
    }),
    entry("no-json", &["B-19"], |caller, n| {
        let content = [
            "nonsense",
            "{",
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
        ][(n >> 4) as usize % 6];
        let text = caller.text("POST", &caller.session(n), content);
        caller.send(&text, Some(vec!["1".into(), "2".into()]));
    }),
    entry("chunks", &[], |caller, n| {
        let (text, content) = good(caller);
        let id = caller.count.to_string();
        let len = content.len();
        let head =
            text[..text.len() - len].replace(&format!("Content-Length: {len}"), "Transfer-Encoding: chunked");
        match n % 4 {
            0 => caller.raw(format!("{head}{:x}\r\n{content}\r\n0\r\n\r\n", len + 1)),
            1 => caller.raw(format!("{head}0x{len:x}\r\n{content}\r\n0\r\n\r\n")),
            _ => caller.send(&format!("{head}{len:x};a=b\r\n{content}\r\n0\r\nX: y\r\n\r\n"), Some(vec![id])),
        }
    }),
    entry("lies-about-the-length", &[], |caller, n| {
        let (text, content) = good(caller);
        let len = content.len();
        let lie = [
            format!("Content-Length: {}", len - 5),
            format!("Content-Length: {}", len + 5),
            format!("Content-Length: {len}\r\nContent-Length: {}", len + 1),
            format!("Content-Length: {len}\r\nTransfer-Encoding: chunked"),
            format!("Content-Length: +{len}"),
            "Content-Length: 99999999999999".to_owned(),
        ];
        caller.raw(text.replace(&format!("Content-Length: {len}"), &lie[n as usize % 6]));
    }),
    entry("garbage", &[], |caller, n| {
        let bytes: [&[u8]; 6] = [
            b"GET\r\n\r\n",
            b"\x16\x03\x01",
            b"POST /mcp HTTP/1.1\nHost: localhost\n\n",
            b"\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"x",
        ];
        caller.raw(bytes[n as usize % 6]);
    }),
    entry("endless-head", &[], |caller, n| {
        caller.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
        caller.raw(["X-Y: some more of it\r\n", "a"][n as usize % 2].repeat(4000));
    }),
    entry("trickles", &[], |caller, n| {
        let (text, _) = good(caller);
        for (step, piece) in text.as_bytes().chunks(1 + n as usize % 60).enumerate() {
            caller.later(step as u64 * [1, 40, 400, 4000][(n >> 8) as usize % 4]);
            caller.raw(piece);
        }
    }),
    entry("cut-anywhere", &["B-63"], |caller, n| {
        let (text, _) = good(caller);
        caller.raw(&text.as_bytes()[..(n >> 8) as usize % (text.len() + 1)]);
        if n % 3 != 0 {
            caller.close();
        }
    }),
    entry("huge", &["B-09"], |caller, n| {
        let (text, content) = good(caller);
        let id = caller.count.to_string();
        let long = content.replacen(
            '{',
            &format!("{{\"x\":\"{}\",", "x".repeat(caller.limit - 300 + n as usize % 900)),
            1,
        );
        let text = text.replace(&content, &long);
        let text = text.replace(
            &format!("Content-Length: {}", content.len()),
            &format!("Content-Length: {}", long.len()),
        );
        caller.send(&text, Some(vec![id]));
    }),
    entry("expects", &[], |caller, n| {
        let (text, content) = good(caller);
        let id = caller.count.to_string();
        let head = text[..text.len() - content.len()].replacen("\r\n", "\r\nExpect: 100-continue\r\n", 1);
        if n % 2 == 0 {
            caller.send(&head, Some(vec![id]));
            return caller.rest(&content);
        }
        // Others may come between.
        caller.raw(head);
        caller.later(u64::from(n % 3000));
        caller.raw(content);
    }),
    entry("leaves", &["B-63"], |caller, n| {
        caller.later(u64::from(n % 50));
        caller.close();
    }),
];
