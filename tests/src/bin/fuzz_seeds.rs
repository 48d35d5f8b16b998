//! Writes seeds of fuzz targets whose inputs nobody can write by hand: `fuzz_seeds [FOLDER]`, by default `fuzz/seeds`.

use std::path::Path;
use std::{env, fs, io};

use sanswire::client::params;
use sanswire::jsonrpc::{ErrorObject, RawJson};
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::mcp::{Method, Revision};
use sanswire::server::{Catalog, Notice, Reply};
use sanswire_tests::linked::{Linked, client_config};
use sanswire_tests::properties::client_bytes::{ANSWER, CALL, GO_ON, WRITE};
use sanswire_tests::properties::conversations::{CLIENT_OPS, PAIR, SERVER_OPS};
use sanswire_tests::properties::http_exchange::exchange;
use sanswire_tests::schema::{self, Example};
use sanswire_tests::seed::Rng;
use sanswire_tests::served::{modern, modern_with};
use sanswire_tests::simulation::{Script, World};
use serde_json::{Value, json};

/// So many of each kind.
const EACH: usize = 6;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| "fuzz/seeds".into());
    for (target, worlds) in [("pair", PAIR), ("client_ops", CLIENT_OPS), ("server_ops", SERVER_OPS)] {
        for (name, bytes) in conversations(worlds) {
            write(&folder, target, &name, &bytes)?;
        }
    }
    for target in ["http_site", "http_endpoint", "http_pool"] {
        for len in [150, 400, 1000] {
            let mut rng = Rng::new(len as u64);
            let mut bytes: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            bytes[0] = 0;
            write(&folder, target, &format!("choices-{len}"), &bytes)?;
        }
    }
    for (name, bytes) in values() {
        write(&folder, "schema_round_trip", &name, &bytes)?;
    }
    for (setting, revision) in [(1, 4), (2, 3), (3, 1), (6, 0)] {
        let revision = Revision::ALL[revision];
        write(&folder, "client_bytes", &format!("calls-{revision}"), &calls(setting, revision))?;
    }
    for (name, bytes) in exchanges() {
        write(&folder, "http_exchange", name, &bytes)?;
    }
    for (revision, method) in (0..5_u8).zip([0, 5, 9, 17, 40]) {
        write(&folder, "legality", &format!("known-{method}"), &[revision, method])?;
    }
    for (revision, name) in [(3, "tools/call"), (4, "com.example/do"), (4, "notifications/other")] {
        let bytes = [&[revision, 0xff], name.as_bytes()].concat();
        write(&folder, "legality", &name.replace('/', "-"), &bytes)?;
    }
    Ok(())
}

/// The examples of the specification, each as the type that it is.
fn values() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(u8, String, Value)> = Vec::new();
    for Example { of, name, value } in schema::examples() {
        let params = || value["params"].clone();
        let each = |list: &str| value[list].as_array().cloned().unwrap_or_default();
        let found: Vec<(u8, Value)> = match &*of {
            "Tool" => vec![(0, value)],
            "Resource" => vec![(1, value)],
            "ListResourceTemplatesResult" => {
                each("resourceTemplates").into_iter().map(|one| (2, one)).collect()
            }
            "ListPromptsResult" => each("prompts").into_iter().map(|one| (3, one)).collect(),
            "SubscriptionsListenRequest" => vec![(4, params())],
            "ClientCapabilities" => vec![(5, value)],
            "CallToolRequestParams" => vec![(7, value)],
            "GetPromptRequestParams" => vec![(8, value)],
            "CompleteRequestParams" => vec![(9, value)],
            "ElicitRequest" | "CreateMessageRequest" | "ListRootsRequest" => {
                let answer = json!({"action": "accept", "content": {"name": "x"}, "roots": [], "role": "assistant",
                    "model": "m"});
                vec![(10, json!({"method": value["method"], "params": params(), "answer": answer}))]
            }
            "CallToolResult" => vec![(11, value)],
            "InternalError" | "UnsupportedProtocolVersionError" => vec![(12, value["error"].clone())],
            "LoggingMessageNotificationParams" => vec![(13, value)],
            "ProgressNotificationParams" => vec![(14, value)],
            _ => continue,
        };
        all.extend(found.into_iter().map(|(kind, value)| (kind, name.clone(), value)));
    }
    all.push((6, "implementation".into(), json!({"name": "n", "title": "N", "version": "1"})));
    let revisions = (0..5_u8).cycle();
    let all = all.into_iter().zip(revisions);
    all.map(|((kind, name, value), revision)| {
        (name, [&[revision, kind], value.to_string().as_bytes()].concat())
    })
    .collect()
}

/// What a server of ours says to a client of ours, and what the client's application does meanwhile.
fn calls(setting: u8, revision: Revision) -> Vec<u8> {
    let tool = RawJson::parse_str(r#"{"name":"t"}"#).expect("JSON");
    let mut catalog = Catalog::new();
    catalog.tool(&tool).expect("a tool");
    let mut linked = Linked::new(client_config(revision), catalog);
    let mut out = vec![setting, WRITE];
    out.append(&mut linked.said);
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    for round in 0..3 {
        linked.ask(Method::ToolsCall, Some(params::call_tool("t", None))).expect("a call");
        let (request, ..) = linked.reported().expect("it is reported");
        out.extend([CALL, WRITE]);
        let progress = Notice::Progress { progress: 1.0, total: Some(2.0), message: Some("half".into()) };
        linked.server.notify(request, &progress, linked.now).expect("progress is wanted");
        let asking = Reply::InputRequired {
            requests: vec![KeyedInput { key: "k".into(), request: roots.clone() }],
            state: Some("s".into()),
        };
        match (round, revision) {
            (1, Revision::V2026_07_28) => {
                linked.reply(request, &asking).expect("the client has roots");
            }
            (1, _) => {
                linked.server.request_input(request, &roots, linked.now).expect("the client has roots");
                linked.pump();
                out.append(&mut linked.said);
                out.extend([ANSWER, WRITE]);
                linked.reply(request, &Reply::text("x")).expect("it is open");
            }
            (2, _) => linked.reply(request, &Reply::Error(ErrorObject::new(7, "no"))).expect("it is open"),
            _ => linked.reply(request, &Reply::text("x")).expect("it is open"),
        }
        out.append(&mut linked.said);
        out.push(GO_ON);
    }
    out
}

/// Requests over HTTP whose heads say what they should, and some that do not.
fn exchanges() -> Vec<(&'static str, Vec<u8>)> {
    let call = |name: &str, arguments: Value| {
        modern_with(
            1,
            "tools/call",
            json!({"name": name, "arguments": arguments}),
            json!({"progressToken": 1}),
        )
    };
    let marked = call("marked", json!({"region": "eu", "limit": 7}));
    let fields = [("Mcp-Param-Region", "eu"), ("Mcp-Param-Limit", "7")];
    let coded = [("Mcp-Name", "=?base64?YQ==?=")];
    let read = modern(2, "resources/read", json!({"uri": "x:y"}));
    // 0xf9 leaves, 0xfa answers.
    vec![
        ("call", [exchange(&call("a", json!({})), &[]), vec![0xfa]].concat()),
        ("marked", [exchange(&marked, &fields), vec![0xfb, 0xf9]].concat()),
        ("unmarked", exchange(&marked, &[])),
        ("coded", [exchange(&call("a", json!({})), &coded), vec![0xf9, 0xfa]].concat()),
        ("other-name", exchange(&call("a", json!({})), &[("Mcp-Name", "b")])),
        ("other-version", exchange(&call("a", json!({})), &[("MCP-Protocol-Version", "2025-11-25")])),
        ("read", [exchange(&read, &[]), vec![0xfc, 0xfa]].concat()),
        ("discover", exchange(&modern(3, "server/discover", json!({})), &[])),
    ]
}

/// Conversations of the simulation in these worlds, each as the bytes of an input.
fn conversations(worlds: &[World]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for world in worlds {
        let scripts = (0..).map(|seed| (seed, Script::of(seed)));
        let fit = scripts.filter(|(_, script)| script.world == *world && script.steps.len() < 24);
        all.extend(
            fit.take(EACH).map(|(seed, script)| (format!("{}-{seed}", world.name()), script.bytes(worlds))),
        );
    }
    all
}

fn write(folder: &str, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new(folder).join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}
