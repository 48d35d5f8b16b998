//! What a client that misbehaves does, by name.

use super::bad_client::{BadClient, ClientEntry};

const fn entry(
    name: &'static str,
    cases: &'static [&'static str],
    act: fn(&mut BadClient, u32),
) -> ClientEntry {
    ClientEntry { name, cases, act }
}

const VERSIONS: [&str; 8] = [
    r#""2025-11-25""#,
    r#""2025-06-18""#,
    r#""2025-03-26""#,
    r#""2024-11-05""#,
    r#""1999-01-01""#,
    r#""2026-07-28""#,
    "null",
    "7",
];

fn initialize(client: &mut BadClient, version: &str) {
    let modern = std::mem::replace(&mut client.modern, false);
    client.request(
        "initialize",
        &format!(
            r#""protocolVersion":{version},"capabilities":{{"roots":{{}},"elicitation":{{}},"sampling":{{}}}},"clientInfo":{{"name":"bad","version":"0"}}"#
        ),
    );
    client.modern = modern;
}

fn call(client: &mut BadClient, id: &str, n: u32) {
    let name = ["a", "b", "c", "nowhere"][n as usize % 4];
    client.request_as(id, "tools/call", &format!(r#""name":"{name}","arguments":{{"n":{n}}}"#));
}

fn new_id(client: &BadClient) -> String {
    format!("{}", 10 + client.count)
}

/// What a client does.
pub const CLIENT_MENU: &[ClientEntry] = &[
    entry("opens", &["B-29"], |client, n| {
        initialize(client, VERSIONS[n as usize % 4]);
        client.notify("notifications/initialized", "{}");
    }),
    entry("opens-strangely", &["B-29"], |client, n| initialize(client, VERSIONS[n as usize % 8])),
    entry("says-initialized", &["B-25"], |client, _| client.notify("notifications/initialized", "null")),
    entry("discovers", &[], |client, n| {
        client.modern = n % 4 != 0;
        client.request("server/discover", "");
    }),
    entry("changes-era", &["B-37"], |client, _| client.modern = !client.modern),
    entry("calls", &[], |client, n| {
        let id = new_id(client);
        call(client, &id, n);
    }),
    entry("calls-much", &[], |client, n| {
        for _ in 0..n % 12 {
            let id = new_id(client);
            call(client, &id, n);
        }
    }),
    entry("string-id", &["B-11"], |client, n| {
        let id = [r#""init-1""#, r#""2""#, r#""""#, r#""é\u0041""#, r#""11""#][n as usize % 5];
        call(client, id, n);
    }),
    entry("number-id", &["B-11"], |client, n| {
        let id = ["-5", "0", "9007199254740993", "1.0", "1e3", "-0", "9223372036854775807"][n as usize % 7];
        call(client, id, n);
    }),
    entry("no-id", &["B-15"], |client, n| {
        let id = ["null", "true", "[]", "{}", "1.5"][n as usize % 5];
        call(client, id, n);
    }),
    entry("same-id-twice", &["B-17"], |client, n| {
        let id = client.some_id(n);
        call(client, &id, n);
        if n % 2 == 0 {
            call(client, &id, n.wrapping_add(1));
        }
    }),
    entry("pings", &["B-25"], |client, _| client.request("ping", "")),
    entry("lists", &["B-39"], |client, n| {
        let method =
            ["tools/list", "resources/list", "prompts/list", "resources/templates/list"][n as usize % 4];
        client.request(method, "");
    }),
    entry("lists-on", &["B-39"], |client, n| {
        let cursor = match (n % 6, &client.cursor) {
            (0, _) | (_, None) => ["\"x\"", "7", "null", "\"\"", "{}"][(n >> 8) as usize % 5].to_owned(),
            (_, Some(cursor)) => format!("{cursor:?}"),
        };
        client.request("tools/list", &format!(r#""cursor":{cursor}"#));
    }),
    entry("reads", &[], |client, n| {
        let uri = ["\"x:y\"", "\"x:none\"", "7", "\"\""][n as usize % 4];
        client.request("resources/read", &format!(r#""uri":{uri}"#));
    }),
    entry("gets-a-prompt", &[], |client, n| {
        let params = [r#""name":"p""#, r#""name":"p","arguments":{"a":7}"#, r#""name":"none""#, ""];
        client.request("prompts/get", params[n as usize % 4]);
    }),
    entry("completes", &[], |client, n| {
        let params = [
            r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}"#,
            r#""ref":{"type":"ref/other"},"argument":{"name":"a","value":""}"#,
            r#""ref":7"#,
        ];
        client.request("completion/complete", params[n as usize % 3]);
    }),
    entry("watches", &[], |client, n| {
        let method = ["resources/subscribe", "resources/unsubscribe"][n as usize % 2];
        client.request(method, r#""uri":"x:y""#);
    }),
    entry("listens", &[], |client, n| {
        let filter = [
            r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:y"]}"#,
            r#""notifications":{}"#,
            r#""notifications":{"promptsListChanged":"yes"}"#,
            "",
        ];
        client.request("subscriptions/listen", filter[n as usize % 4]);
    }),
    entry("sets-level", &[], |client, n| {
        let level = ["\"debug\"", "\"loud\"", "7"][n as usize % 3];
        client.request("logging/setLevel", &format!(r#""level":{level}"#));
    }),
    entry("unknown-method", &["B-21"], |client, n| {
        let method = ["no/such", "sampling/createMessage", "notifications/cancelled", "tasks/list", ""]
            [n as usize % 5];
        client.request(method, "");
    }),
    entry("bad-params", &["B-21"], |client, n| {
        let id = new_id(client);
        client.count += 1;
        client.ids.push(id.clone());
        let params = ["null", "[]", "\"x\"", "7", "{}"][n as usize % 5];
        let method = ["tools/list", "tools/call", "resources/read", "ping"][(n >> 8) as usize % 4];
        client.mouth.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
    }),
    entry("bad-arguments", &["B-21"], |client, n| {
        let params = [
            r#""name":"a","arguments":null"#,
            r#""name":"a","arguments":[]"#,
            r#""name":7"#,
            r#""arguments":{}"#,
            r#""name":"a","inputResponses":7"#,
            r#""name":"a","requestState":7"#,
        ];
        client.request("tools/call", params[n as usize % 6]);
    }),
    entry("goes-on-with-a-call", &[], |client, n| {
        let params = [
            r#""name":"a","arguments":{},"inputResponses":{"k":{"roots":[]}},"requestState":"s\"é""#,
            r#""name":"a","arguments":{},"requestState":"forged""#,
            r#""name":"a","arguments":{},"inputResponses":{"other":{}}"#,
        ];
        client.request("tools/call", params[n as usize % 3]);
    }),
    entry("bad-meta", &["B-33"], |client, n| {
        let id = new_id(client);
        client.count += 1;
        client.ids.push(id.clone());
        let meta = [
            r#"{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}"#,
            r#"{"io.modelcontextprotocol/protocolVersion":7}"#,
            r#"{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#,
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#,
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":7}"#,
            "7",
            "null",
            r#"{"progressToken":{}}"#,
        ];
        client.mouth.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a","_meta":{}}}}}"#,
            meta[n as usize % 8]
        ));
    }),
    entry("cancels", &["B-51"], |client, n| {
        let id = client.some_id(n);
        client.notify("notifications/cancelled", &format!(r#"{{"requestId":{id},"reason":"é"}}"#));
        if n % 3 == 0 {
            client.notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#));
        }
    }),
    entry("calls-and-cancels", &["B-51"], |client, n| {
        let id = new_id(client);
        call(client, &id, n / 4 * 4);
        client.notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#));
        client.request("ping", "");
    }),
    entry("cancels-nothing", &["B-51"], |client, n| {
        let params = [r#"{"requestId":77}"#, r#"{"requestId":"2"}"#, "{}", "null", r#"{"requestId":null}"#];
        client.notify("notifications/cancelled", params[n as usize % 5]);
    }),
    entry("answers", &[], |client, n| {
        let Some((id, _)) = client.asked.get(n as usize % client.asked.len().max(1)).cloned() else { return };
        let answer = [
            r#""result":{"roots":[]}"#,
            r#""result":{"action":"accept","content":{}}"#,
            r#""error":{"code":-1,"message":"no"}"#,
            r#""result":[]"#,
            r#""result":7"#,
            r#""result":{},"error":{"code":1,"message":"m"}"#,
            r#""error":{}"#,
        ];
        client.mouth.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, answer[n as usize % 7]));
    }),
    entry("answers-nothing", &["B-13", "B-15"], |client, n| {
        let id = ["1", "\"1\"", "99", "null", "-1"][n as usize % 5];
        let answer = [r#""result":{}"#, r#""error":{"code":-32601,"message":"?"}"#][(n >> 8) as usize % 2];
        client.mouth.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
    }),
    entry("answers-hugely", &["B-09"], |client, n| {
        let Some((id, _)) = client.asked.get(n as usize % client.asked.len().max(1)).cloned() else { return };
        let long = "x".repeat(client.limit);
        client.mouth.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":"{long}"}}}}"#));
    }),
    entry("tells", &[], |client, n| {
        let (method, params) = [
            ("notifications/roots/list_changed", "{}"),
            ("notifications/progress", r#"{"progressToken":1,"progress":1}"#),
            ("notifications/no/such", "{}"),
            ("notifications/message", "[]"),
            ("tools/call", "{}"),
            ("notifications/initialized", "[]"),
        ][n as usize % 6];
        client.notify(method, params);
    }),
    entry("junk", &["B-01"], |client, n| {
        let line = [
            "this is no JSON",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}",
            "{",
            "42",
            "\"x\"",
            "null",
            "{}",
        ];
        client.mouth.line(line[n as usize % 7]);
    }),
    entry("much-junk", &["B-01"], |client, n| client.mouth.raw("x\n".repeat(n as usize % 9))),
    entry("blank-lines", &[], |client, n| {
        client.mouth.raw("\n\r\n  \n");
        let id = new_id(client);
        client.count += 1;
        let meta = client.meta();
        client.mouth.raw(format!(" {{\"jsonrpc\" :\"2.0\",\"method\":\"tools/call\", \"params\":{{\"name\":\"a\",\"arguments\":{{\"n\":{n}}},{meta}}},\"id\":{id}}}\r\n"));
    }),
    entry("bad-utf8", &[], |client, n| {
        let mut line = br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":""#.to_vec();
        line.extend([[0xff, 0xfe], [0xc3, 0x28], [0xed, 0xa0]][n as usize % 3]);
        line.extend(b"\"}}\n");
        client.mouth.raw(line);
    }),
    entry("separators-and-many-bytes", &["B-05", "B-07"], |client, n| {
        client.request(
            "tools/call",
            &format!(
                "\"name\":\"a\",\"arguments\":{{\"x\":\"\u{2028}\u{2029}\u{85}é日😀{n}\\u000b\\ud83d\"}}"
            ),
        );
    }),
    entry("malformed", &["B-19"], |client, n| {
        let id = new_id(client);
        client.count += 1;
        let line = [
            format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"ping"}}"#),
            format!(r#"{{"id":{id},"method":"ping"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"method":"ping"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":7}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"a":01}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(300)),
        ];
        client.mouth.line(&line[n as usize % 9]);
    }),
    entry("batch", &["B-19"], |client, n| {
        let one = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let text = match n % 5 {
            0 => "[]".to_owned(),
            1 => format!("[{},{}]", one(70_000 + n % 100), one(80_000 + n % 100)),
            2 => format!(
                "[{},7,{}]",
                one(70_000 + n % 100),
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
            ),
            3 => format!("[{}]", vec![one(90_000); n as usize % 20].join(",")),
            _ => r#"[{"jsonrpc":"2.0","id":60000,"method":"tools/call","params":{"name":"a"}}]"#.to_owned(),
        };
        client.mouth.line(&text);
    }),
    entry("deep", &[], |client, n| {
        let deep = [3, 60, 124, 125, 126, 300][n as usize % 6];
        let nested = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
        client.request("tools/call", &format!(r#""name":"a","arguments":{{"x":{nested}}}"#));
    }),
    entry("long-line", &["B-09"], |client, n| {
        let long = "x".repeat(client.limit - 400 + n as usize % 300);
        client.request("tools/call", &format!(r#""name":"a","arguments":{{"x":"{long}"}}"#));
    }),
    entry("line-at-the-limit", &["B-09"], |client, n| {
        let id = new_id(client);
        client.count += 1;
        let meta = client.meta();
        let start = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a",{meta},"arguments":{{"x":""#
        );
        let end = r#""}}}"#;
        let room = client.limit + n as usize % 3 - 1 - start.len() - end.len();
        client.mouth.line(&format!("{start}{}{end}", "x".repeat(room)));
    }),
    entry("huge-line", &["B-09"], |client, n| {
        let long = "x".repeat(client.limit + n as usize % 3000);
        match n % 3 {
            0 => client.request("tools/call", &format!(r#""name":"a","arguments":{{"x":"{long}"}}"#)),
            1 => client.mouth.line(&long),
            _ => client.notify("notifications/x", &format!(r#"{{"x":"{long}"}}"#)),
        }
    }),
    entry("trickle", &[], |client, n| {
        let id = new_id(client);
        client.count += 1;
        let meta = client.meta();
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"a\",{meta}}}}}\n"
        );
        for (step, piece) in line.as_bytes().chunks(1 + n as usize % 40).enumerate() {
            client.mouth.later(step as u64 * [1, 40, 400][(n >> 8) as usize % 3]);
            client.mouth.raw(piece);
        }
    }),
    entry("last-line-without-end", &["B-63"], |client, n| {
        for _ in 0..n % 5 {
            let id = new_id(client);
            call(client, &id, n);
        }
        client.mouth.raw(r#"{"jsonrpc":"2.0","id":4242,"method":"ping"}"#);
        client.mouth.close();
    }),
    entry("half-a-line", &[], |client, n| {
        client.mouth.raw(r#"{"jsonrpc":"2.0","id":4243,"meth"#);
        if n % 2 == 0 {
            client.mouth.close();
        }
    }),
    entry("ends", &["B-63"], |client, n| {
        if n % 3 == 0 {
            client.mouth.close();
        }
    }),
    entry("mute", &[], |_, _| {}),
];
