//! What may happen, by name.

use super::peer::{Asked, BadServer};

/// Something that a peer may do.
pub struct Entry {
    /// Its name in a script.
    pub name: &'static str,
    /// The cases of public reports that it shows.
    pub cases: &'static [&'static str],
    /// Does it, about a request.
    pub act: fn(&mut BadServer, &Asked, u32),
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const fn entry(
    name: &'static str,
    cases: &'static [&'static str],
    act: fn(&mut BadServer, &Asked, u32),
) -> Entry {
    Entry { name, cases, act }
}

/// What the application of a client does.
pub const CLIENT_ACTS: &[&str] = &[
    "call",
    "call-again",
    "call-more",
    "call-big",
    "call-much",
    "hurry",
    "patient",
    "ping",
    "list-tools",
    "list-resources",
    "list-prompts",
    "get-prompt",
    "read-resource",
    "listen",
    "unknown-method",
    "resume",
    "resume-badly",
    "cancel",
    "cancel-what-is-over",
    "answer",
    "decline",
    "answer-twice",
    "notify",
    "bad-params",
    "hold",
    "take",
    "take-one",
    "close",
];

/// What the application of a server does.
pub const SERVER_ACTS: &[&str] = &[
    "answer",
    "answer-newest",
    "answer-big",
    "fail",
    "refuse",
    "bad-answer",
    "answer-what-is-over",
    "progress",
    "log",
    "ask",
    "ask-by-result",
    "add-tool",
    "remove-tool",
    "add-resource",
    "list-changed",
    "resource-updated",
    "hold",
    "take",
    "end-subscriptions",
    "shutdown",
    "close",
];

/// What the application of a host does.
pub const HOST_ACTS: &[&str] = &[
    "call",
    "call-again",
    "call-more",
    "call-through-a-meta-tool",
    "call-unknown",
    "cancel",
    "allow",
    "deny",
    "allow-twice",
    "resume",
    "no-approver",
    "next-turn",
    "reconnect",
    "refresh",
    "plan-mode",
    "hold",
    "take",
    "close",
];

/// What pipes do.
pub const LINK_ACTS: &[&str] = &[
    "stall-to-server",
    "stall-to-client",
    "break-to-server",
    "break-to-client",
    "break-to-server-soon",
    "break-to-client-soon",
    "break-both",
    "unread-by-server",
    "unread-by-client",
];

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn initialized(peer: &mut BadServer, asked: &Asked, version: &str) {
    let result = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"old","version":"1"}}}}"#
    );
    peer.result(asked.id, &result);
}

fn discovered(peer: &mut BadServer, asked: &Asked, versions: &str) {
    let result = format!(
        r#"{{"resultType":"complete","supportedVersions":[{versions}],"capabilities":{{"tools":{{}}}},"ttlMs":60000,"cacheScope":"public"}}"#
    );
    peer.result(asked.id, &result);
}

fn is_probe(asked: &Asked) -> bool {
    asked.method == "server/discover"
}

fn legacy(peer: &mut BadServer, asked: &Asked, n: u32) {
    match is_probe(asked) {
        true => peer.error(asked.id, -32601),
        false => initialized(peer, asked, LEGACY[n as usize % 4]),
    }
}

fn modern(peer: &mut BadServer, asked: &Asked, _: u32) {
    match is_probe(asked) {
        true => discovered(peer, asked, r#""2026-07-28""#),
        false => peer.error(asked.id, -32601),
    }
}

fn dual(peer: &mut BadServer, asked: &Asked, n: u32) {
    match is_probe(asked) {
        true => discovered(peer, asked, r#""2025-11-25","2026-07-28""#),
        false => initialized(peer, asked, LEGACY[n as usize % 4]),
    }
}

/// So many of [`OPENINGS`] are as they should be.
pub const PLAIN_OPENINGS: usize = 3;

/// How a server meets a client that opens the connection. Both kinds of opening come here.
pub const OPENINGS: &[Entry] = &[
    entry("legacy", &["B-29"], legacy),
    entry("modern", &[], modern),
    entry("dual", &[], dual),
    entry("banner", &["B-03"], |peer, asked, n| {
        peer.raw("Starting \u{1b}[32mserver\u{1b}[0m\n[info] ready\n\n42\n");
        legacy(peer, asked, n);
    }),
    entry("talks-before", &["B-27"], |peer, asked, n| {
        peer.notify("notifications/resources/list_changed", "{}");
        peer.notify("notifications/message", r#"{"level":"info","data":"hello"}"#);
        peer.request("90", "ping", "{}");
        legacy(peer, asked, n);
    }),
    entry("null-id-errors-before", &["B-15"], |peer, asked, n| {
        if !is_probe(asked) {
            peer.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#);
            peer.line(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#);
        }
        legacy(peer, asked, n);
    }),
    entry("refuses-the-probe", &["B-31"], |peer, asked, n| match is_probe(asked) {
        true => match n % 7 {
            0 => peer.error(asked.id, -32602),
            1 => peer.error(asked.id, -32600),
            2 => peer.error(asked.id, -32000),
            3 => peer.line(r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"?"}}"#),
            4 => peer.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"?"}}"#),
            5 => peer.result(asked.id, "{}"),
            _ => peer.result(asked.id, "[]"),
        },
        false => legacy(peer, asked, n),
    }),
    entry("other-versions", &["B-31", "B-29"], |peer, asked, n| {
        let versions = ["\"2026-07-28\"", "\"2031-01-01\"", "\"2025-06-18\"", ""][n as usize % 4];
        match is_probe(asked) {
            true if peer.opened == 1 || n % 3 == 0 => peer.line(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32022,"message":"?","data":{{"supported":[{versions}]}}}}}}"#,
                asked.id
            )),
            true => modern(peer, asked, n),
            false if n % 2 == 0 => initialized(peer, asked, "1999-01-01"),
            false => legacy(peer, asked, n),
        }
    }),
    entry("modern-code-for-the-probe", &["B-31"], |peer, asked, n| {
        peer.error(asked.id, [-32020, -32021][n as usize % 2]);
    }),
    entry("silent-on-the-probe", &["B-31"], |peer, asked, n| {
        if !is_probe(asked) {
            legacy(peer, asked, n);
        }
    }),
    entry("late-on-both", &[], |peer, asked, n| {
        peer.later(u64::from(n % 18_000));
        dual(peer, asked, n);
    }),
    entry("answers-the-probe-last", &[], |peer, asked, n| {
        if is_probe(asked) {
            peer.later(2500);
        }
        dual(peer, asked, n);
    }),
    entry("refuses-both", &[], |peer, asked, n| {
        peer.error(asked.id, [-32603, -32602, -32022, -32001][n as usize % 4]);
    }),
    entry("dies-on-the-probe", &["B-59"], |peer, asked, n| match is_probe(asked) {
        true => peer.close(),
        false => legacy(peer, asked, n),
    }),
    entry("dies-at-once", &["B-59"], |peer, asked, n| {
        if n % 2 == 0 {
            peer.raw("error: no API key");
        } else if n % 3 == 0 {
            peer.raw(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"#, asked.id));
        }
        peer.close();
    }),
    entry("mute", &[], |_, _, _| {}),
    entry("string-id", &["B-13"], |peer, asked, n| match is_probe(asked) {
        true => peer.error(asked.id, -32601),
        false => {
            let id = asked.id;
            peer.line(&format!(
                r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"protocolVersion":"2025-11-25"}}}}"#
            ));
            if n % 2 == 0 {
                legacy(peer, asked, n);
            }
        }
    }),
    entry("strange-result", &["B-23", "B-29"], |peer, asked, n| {
        let result = [
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":[]}}"#,
            r#"{"protocolVersion":20251125}"#,
            r#"{"capabilities":{}}"#,
            "[]",
            "null",
            r#"{"protocolVersion":"2026-07-28"}"#,
            r#"{"protocolVersion":"2025-06-18","capabilities":null,"serverInfo":null,"instructions":null}"#,
            r#"{"supportedVersions":"2026-07-28"}"#,
            r#"{"supportedVersions":[1,null,"2026-07-28"],"capabilities":[]}"#,
            r#"{"resultType":"input_required","supportedVersions":["2026-07-28"]}"#,
        ];
        peer.result(asked.id, result[n as usize % result.len()]);
    }),
    entry("answers-twice", &[], |peer, asked, n| {
        dual(peer, asked, n);
        dual(peer, asked, n.wrapping_add(1));
    }),
    entry("malformed", &[], |peer, asked, n| {
        let id = asked.id;
        match n % 4 {
            0 => peer.line(&format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{{}}}}"#)),
            1 => peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{}}}}"#)),
            2 => peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}"#)),
            _ => {
                let long = "x".repeat(peer.limit);
                peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":"{long}"}}}}"#));
            }
        }
        legacy(peer, asked, n);
    }),
];

/// What a server does about a request: in answer to it, or whenever it likes.
pub const SERVER_MENU: &[Entry] = &[
    entry("result", &[], |peer, asked, n| {
        let result = asked.result(n);
        peer.result(asked.id, &result);
    }),
    entry("error", &[], |peer, asked, n| {
        peer.error(asked.id, [-32603, -32602, -32601, 1, -32042][n as usize % 5]);
    }),
    entry("error-with-much", &[], |peer, asked, n| {
        let data = ["null", "[1,{}]", "\"text\"", "{\"a\":{\"b\":null}}"][n as usize % 4];
        let id = asked.id;
        peer.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"é\u0000","data":{data}}}}}"#
        ));
    }),
    entry("strange-error", &[], |peer, asked, n| {
        let error = [
            "{}",
            r#"{"code":"x","message":"m"}"#,
            r#"{"code":1}"#,
            r#"{"message":"m"}"#,
            "null",
            "\"no\"",
            r#"{"code":1.5,"message":"m"}"#,
            r#"{"code":99999999999999999999,"message":"m"}"#,
        ];
        let id = asked.id;
        peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error[n as usize % error.len()]));
    }),
    entry("double-answer", &[], |peer, asked, n| {
        let result = asked.result(n);
        peer.result(asked.id, &result);
        if n % 2 == 0 { peer.result(asked.id, &result) } else { peer.error(asked.id, -32603) }
    }),
    entry("late-answer", &["B-53"], |peer, asked, n| {
        peer.later(u64::from(n) % [50, 1500, 5000, 45_000][(n >> 16) as usize % 4]);
        let result = asked.result(n);
        peer.result(asked.id, &result);
    }),
    entry("wrong-id", &[], |peer, asked, n| {
        let id = [asked.id + 1, asked.id + 1000, 0, asked.id.saturating_sub(1)][n as usize % 4];
        let result = asked.result(n);
        peer.result(id, &result);
    }),
    entry("string-id", &["B-13"], |peer, asked, n| {
        let id = asked.id;
        let id =
            [format!("{id}"), format!("0{id}"), format!("{id}.0"), format!(" {id}")][n as usize % 4].clone();
        peer.line(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#));
        if n % 3 == 0 {
            let result = asked.result(n);
            peer.result(asked.id, &result);
        }
    }),
    entry("number-id", &["B-11"], |peer, asked, n| {
        let id = asked.id;
        let id = [
            format!("{id}.0"),
            format!("{id}e0"),
            format!("-{id}"),
            "9007199254740993".into(),
            "18446744073709551617".into(),
            "true".into(),
            "[]".into(),
            "{}".into(),
        ][n as usize % 8]
            .clone();
        peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }),
    entry("null-id-error", &["B-15"], |peer, _, n| match n % 2 {
        0 => peer.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#),
        _ => peer.line(r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"?"}}"#),
    }),
    entry("progress", &["B-49"], |peer, asked, n| {
        let token = asked.id;
        let progress = ["0.5", "1", "2", "1e3", "-1", "0"][n as usize % 6];
        let rest = ["", r#","total":4"#, r#","message":"half é""#, r#","total":null,"message":null"#];
        let rest = rest[(n >> 8) as usize % 4];
        peer.notify(
            "notifications/progress",
            &format!(r#"{{"progressToken":{token},"progress":{progress}{rest}}}"#),
        );
    }),
    entry("progress-for-long", &["B-53"], |peer, asked, n| {
        let token = asked.id;
        for step in 1..=(n % 12) {
            peer.later(u64::from(step) * [700, 2500][(n >> 8) as usize % 2]);
            peer.notify(
                "notifications/progress",
                &format!(r#"{{"progressToken":{token},"progress":{step}}}"#),
            );
        }
    }),
    entry("progress-after-reply", &["B-49"], |peer, asked, n| {
        let token = asked.id;
        peer.notify("notifications/progress", &format!(r#"{{"progressToken":{token},"progress":0.5}}"#));
        let result = asked.result(n);
        peer.result(asked.id, &result);
        for params in [
            format!(r#"{{"progressToken":{token},"progress":1.0}}"#),
            r#"{"progressToken":99,"progress":1}"#.into(),
            r#"{"progressToken":null,"progress":1}"#.into(),
            format!(r#"{{"progressToken":{token},"progress":"50%"}}"#),
        ] {
            peer.notify("notifications/progress", &params);
        }
    }),
    entry("long-line", &["B-09"], |peer, asked, n| {
        let id = asked.id;
        let long = "x".repeat(peer.limit - 200 + n as usize % 120);
        peer.result(id, &format!(r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#));
    }),
    entry("line-at-the-limit", &["B-09"], |peer, asked, n| {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"x":""#, asked.id);
        let end = r#""}}"#;
        let room = peer.limit + n as usize % 3 - 1 - start.len() - end.len();
        peer.line(&format!("{start}{}{end}", "x".repeat(room)));
    }),
    entry("huge-line", &["B-09"], |peer, asked, n| {
        let id = asked.id;
        let long = "x".repeat(peer.limit + n as usize % 3000);
        match n % 3 {
            0 => peer.result(id, &format!(r#"{{"x":"{long}"}}"#)),
            1 => peer.line(&format!(r#"{{"result":{{"id":7,"x":"{long}"}},"jsonrpc":"2.0","id":{id}}}"#)),
            _ => peer.line(&long),
        }
    }),
    entry("huge-request", &["B-09"], |peer, _, n| {
        let long = "x".repeat(peer.limit);
        peer.request(&(500 + n % 9).to_string(), "roots/list", &format!(r#"{{"x":"{long}"}}"#));
    }),
    entry("line-separators", &["B-05"], |peer, asked, n| {
        peer.result(
            asked.id,
            &format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{n}\u{2028}\u{2029}\u{85}\\u000b\"}}]}}"),
        );
    }),
    entry("many-byte-characters", &["B-07"], |peer, asked, n| {
        peer.result(asked.id, &format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"é日😀{n}\"}}]}}"));
    }),
    entry("lone-surrogate", &[], |peer, asked, _| {
        peer.result(asked.id, r#"{"content":[{"type":"text","text":"\ud83d"}]}"#);
    }),
    entry("bad-utf8", &[], |peer, asked, n| {
        let mut line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"x":""#, asked.id).into_bytes();
        line.extend([[0xff, 0xfe], [0xc3, 0x28], [0xed, 0xa0]][n as usize % 3]);
        line.extend(b"\"}}\n");
        peer.raw(line);
    }),
    entry("junk", &["B-03"], |peer, _, n| {
        peer.line(
            ["junk é \u{1b}[0m", "42", "{", "\"text\"", "null", "}{", "\u{feff}{}", "{\"jsonrpc\":\"2.0\"}"]
                [n as usize % 8],
        );
    }),
    entry("blank-lines", &[], |peer, asked, n| {
        peer.raw("\n\r\n   \n\t\n");
        let result = asked.result(n);
        peer.raw(format!(" {{\"jsonrpc\" : \"2.0\", \"result\":{result} , \"id\":{}}} \r\n", asked.id));
    }),
    entry("batch", &["B-19"], |peer, asked, n| {
        let (id, result) = (asked.id, asked.result(n));
        match n % 4 {
            0 => peer.line(&format!(r#"[{{"jsonrpc":"2.0","id":{id},"result":{result}}}]"#)),
            1 => peer.line(&format!(
                r#"[{{"jsonrpc":"2.0","id":{id},"result":{result}}},1,{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}]"#
            )),
            2 => peer.line("[]"),
            _ => peer.line(&format!(r#"[{}]"#, vec!["7"; n as usize % 40].join(","))),
        }
    }),
    entry("empty-array-result", &["B-23"], |peer, asked, _| peer.result(asked.id, "[]")),
    entry("no-object-result", &["B-23"], |peer, asked, n| {
        peer.result(asked.id, ["[1]", "null", "\"x\"", "3", "false"][n as usize % 5]);
    }),
    entry("malformed", &[], |peer, asked, n| {
        let id = asked.id;
        let line = [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{"code":1,"message":"m"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
            format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{{}}}}"#),
            format!(r#"{{"id":{id},"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":01}}}}"#),
            format!(r#"{{'jsonrpc':'2.0','id':{id},'result':{{}}}}"#),
        ];
        peer.line(&line[n as usize % line.len()]);
    }),
    entry("deep", &[], |peer, asked, n| {
        let deep = [3, 60, 126, 127, 128, 300][n as usize % 6];
        peer.result(asked.id, &format!(r#"{{"x":{}{}}}"#, "[".repeat(deep), "]".repeat(deep)));
    }),
    entry("strange-result-type", &["B-33"], |peer, asked, n| {
        let kind =
            ["\"later\"", "null", "3", "\"Complete\"", "\"complete\",\"ttlMs\":-5,\"cacheScope\":\"shared\""];
        peer.result(
            asked.id,
            &format!(r#"{{"resultType":{},"content":[],"tools":[]}}"#, kind[n as usize % 5]),
        );
    }),
    entry("no-result-type", &["B-33"], |peer, asked, n| {
        peer.result(asked.id, &format!(r#"{{"content":[],"tools":[],"n":{n}}}"#));
    }),
    entry("asks-by-result", &[], |peer, asked, n| {
        let requests = [
            r#"{"k":{"method":"roots/list"}}"#,
            r#"{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}"#,
            r#"{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}"#,
            "{}",
            "null",
            "[]",
            r#"{"k":{"method":"nobody/knows"}}"#,
            r#"{"k":3}"#,
        ][n as usize % 8];
        let state =
            [r#""requestState":"s\u00e9""#, r#""requestState":null"#, r#""requestState":7"#, r#""x":1"#];
        let state = state[(n >> 8) as usize % 4];
        peer.result(
            asked.id,
            &format!(r#"{{"resultType":"input_required","inputRequests":{requests},{state}}}"#),
        );
    }),
    entry("strange-page", &["B-39", "B-41", "B-23"], |peer, asked, n| {
        let page = [
            r#"{"tools":[],"nextCursor":null}"#,
            r#"{"tools":null,"resources":null,"prompts":null,"nextCursor":null}"#,
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object","properties":[]}}],"nextCursor":""}"#,
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"anyOf":[{}]}},{"name":"c"}]}"#,
            r#"{"tools":[{"name":"a","inputSchema":true},7,{}],"nextCursor":7}"#,
            r#"{"tools":{},"resources":"x","prompts":3}"#,
            r#"{"tools":[{"name":"d","inputSchema":{"type":"object","properties":{"f":{"$ref":"https://x.invalid/s"}}}}]}"#,
        ];
        peer.result(asked.id, page[n as usize % page.len()]);
    }),
    entry("page", &["B-47"], |peer, asked, n| {
        let mut page = asked.result(n);
        page.pop();
        page.push_str(&format!(r#","nextCursor":"c\u00e9{}"}}"#, n % 5));
        peer.result(asked.id, &page);
    }),
    entry("endless-cursor", &[], |peer, asked, n| {
        let page = match n % 2 {
            0 => {
                r#"{"tools":[{"name":"a"}],"resources":[{"uri":"x:a"}],"prompts":[{"name":"a"}],"nextCursor":"same"}"#
            }
            _ => r#"{"tools":[],"resources":[],"prompts":[],"nextCursor":""}"#,
        };
        peer.result(asked.id, page);
    }),
    entry("list-changes-meanwhile", &["B-101"], |peer, asked, n| {
        peer.notify("notifications/tools/list_changed", "{}");
        let mut page = asked.result(n);
        page.pop();
        page.push_str(r#","nextCursor":"more"}"#);
        peer.result(asked.id, &page);
        peer.notify("notifications/tools/list_changed", "{}");
    }),
    entry("null-members", &["B-43"], |peer, asked, n| {
        let result = [
            r#"{"content":[{"type":"text","text":"a","annotations":null,"_meta":null}],"isError":null}"#,
            r#"{"content":[{"type":"image","data":"","mimeType":null}],"structuredContent":null}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"x:y","text":null,"blob":null}}]}"#,
        ];
        peer.result(asked.id, result[n as usize % 3]);
    }),
    entry("structured-only", &["B-45"], |peer, asked, n| {
        let result = [
            r#"{"content":[],"structuredContent":{"a":1}}"#,
            r#"{"structuredContent":[1]}"#,
            r#"{"content":[],"structuredContent":0}"#,
            "{}",
        ];
        peer.result(asked.id, result[n as usize % 4]);
    }),
    entry("asks", &["B-55"], |peer, _, n| {
        peer.own += 1;
        let id = [format!("{}", peer.own), format!("\"s{}\"", peer.own), "1".into(), "-1".into()];
        let id = id[(n >> 8) as usize % 4].clone();
        let (method, params) = [
            ("ping", "{}"),
            ("roots/list", "{}"),
            ("sampling/createMessage", r#"{"messages":[],"maxTokens":9}"#),
            ("elicitation/create", r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#),
            (
                "elicitation/create",
                r#"{"mode":"url","message":"m","url":"https://x.invalid","elicitationId":"e"}"#,
            ),
            ("no/such", "{}"),
            ("tools/call", r#"{"name":"x"}"#),
            ("initialize", "{}"),
        ][n as usize % 8];
        peer.request(&id, method, params);
    }),
    entry("asks-badly", &["B-21", "B-55"], |peer, _, n| {
        let params = ["null", "[]", "\"x\"", "7", "{\"messages\":7}"][n as usize % 5];
        let method =
            ["ping", "roots/list", "sampling/createMessage", "elicitation/create"][(n >> 8) as usize % 4];
        peer.request(&format!("{}", 300 + n % 7), method, params);
    }),
    entry("asks-twice-with-one-id", &["B-17"], |peer, _, n| {
        for _ in 0..2 {
            peer.request(&format!("{}", 400 + n % 3), "roots/list", "{}");
        }
    }),
    entry("withdraws", &[], |peer, _, n| {
        let id = [format!("{}", peer.own), format!("\"s{}\"", peer.own), "1".into(), "400".into()];
        let params = format!(r#"{{"requestId":{},"reason":"r"}}"#, id[n as usize % 4]);
        peer.notify("notifications/cancelled", &params);
    }),
    entry("cancels-what-was-asked", &["B-51"], |peer, asked, n| {
        let id = asked.id;
        let params = [
            format!(r#"{{"requestId":{id}}}"#),
            format!(r#"{{"requestId":"{id}"}}"#),
            "{}".into(),
            r#"{"requestId":null}"#.into(),
            "[]".into(),
        ];
        peer.notify("notifications/cancelled", &params[n as usize % 5]);
    }),
    entry("tells", &[], |peer, _, n| {
        let (method, params) = [
            ("notifications/tools/list_changed", "{}"),
            ("notifications/prompts/list_changed", "null"),
            ("notifications/resources/updated", r#"{"uri":"x:y"}"#),
            ("notifications/message", r#"{"level":"info","data":"d"}"#),
            ("notifications/message", r#"{"level":7}"#),
            ("notifications/no/such", "{}"),
            ("notifications/initialized", "{}"),
            ("tools/call", "{}"),
            ("notifications/roots/list_changed", "{}"),
        ][n as usize % 9];
        peer.notify(method, params);
    }),
    entry("tells-subscriber", &[], |peer, asked, n| {
        let id = asked.id;
        let method = [
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
            "notifications/resources/updated",
        ][n as usize % 3];
        let tag =
            [format!("{id}"), format!("\"{id}\""), "99".into(), "null".into()][(n >> 8) as usize % 4].clone();
        peer.notify(
            method,
            &format!(
                r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{tag}}},"notifications":{{}}}}"#
            ),
        );
    }),
    entry("flood", &[], |peer, asked, n| {
        let id = asked.id;
        let line = [
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
            r#"{"jsonrpc":"2.0","id":600,"method":"ping"}"#.into(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
            r#"{"jsonrpc":"2.0","id":7777,"result":{}}"#.into(),
            "x".into(),
            r#"{"jsonrpc":"2.0","id":601,"method":"roots/list"}"#.into(),
        ];
        let line = &line[n as usize % 6];
        peer.raw(format!("{line}\n").repeat((n >> 8) as usize % 60));
    }),
    entry("trickle", &[], |peer, asked, n| {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}\n", asked.id, asked.result(n));
        let size = 1 + n as usize % 30;
        for (step, piece) in line.as_bytes().chunks(size).enumerate() {
            peer.later(step as u64 * [1, 40, 400][(n >> 8) as usize % 3]);
            peer.raw(piece);
        }
    }),
    entry("half-a-line", &["B-59"], |peer, asked, n| {
        peer.raw(format!(r#"{{"jsonrpc":"2.0","id":{},"resu"#, asked.id));
        if n % 2 == 0 {
            peer.close();
        }
    }),
    entry("last-line-without-end", &["B-63"], |peer, asked, n| {
        let result = asked.result(n);
        peer.raw(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked.id));
        peer.close();
    }),
    entry("dies", &["B-59"], |peer, _, n| {
        if n % 4 != 0 {
            peer.later(u64::from(n % 3000));
        }
        peer.close();
    }),
    entry("mute", &[], |_, _, _| {}),
];
