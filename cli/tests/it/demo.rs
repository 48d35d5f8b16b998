use serde_json::{Value, json};

use crate::home::{Home, run};

/// The answers to these lines, by id; and everything that has none.
fn talk(lines: &[Value]) -> (std::collections::BTreeMap<String, Value>, Vec<Value>) {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    talk_raw(&input)
}

fn talk_raw(input: &str) -> (std::collections::BTreeMap<String, Value>, Vec<Value>) {
    let ran = run(Home::new().command(&["demo-server"]), input);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let mut answers = std::collections::BTreeMap::new();
    let mut others = Vec::new();
    for line in ran.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        match (line.get("method"), line.get("id")) {
            (None, Some(id)) => assert!(answers.insert(id.to_string(), line).is_none(), "twice"),
            _ => others.push(line),
        }
    }
    (answers, others)
}

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "progressToken": id,
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}})
}

#[test]
fn it_serves_both_eras_on_one_stream() {
    let (answers, others) = talk(&[
        modern(10, "server/discover", json!({})),
        initialize("2025-06-18"),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        modern(11, "tools/call", json!({"name": "echo", "arguments": {"text": "hi"}})),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "ho"}}}),
        modern(12, "initialize", json!({})),
        json!({"jsonrpc": "2.0", "id": 4, "method": "server/discover"}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}),
    ]);
    assert_eq!(others, Vec::<Value>::new());
    assert_eq!(answers["10"]["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(answers["1"]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers["2"]["result"]["resultType"], Value::Null);
    assert_eq!(answers["11"]["result"]["resultType"], "complete");
    assert_eq!(answers["11"]["result"]["content"][0]["text"], "hi");
    assert_eq!(answers["3"]["result"]["content"][0]["text"], "ho");
    assert_eq!(answers["12"]["error"]["code"], -32601);
    assert_eq!(answers["4"]["error"]["code"], -32602);
    assert_eq!(answers["5"]["result"], json!({}));
}

#[test]
fn versions_and_capabilities_are_checked_by_request() {
    let mut other = modern(1, "tools/list", json!({}));
    other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let mut none = modern(2, "tools/call", json!({"name": "ask"}));
    none["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let (answers, _) = talk(&[other, none, json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})]);
    assert_eq!(answers["1"]["error"]["code"], -32022);
    assert_eq!(answers["1"]["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(answers["2"]["error"]["code"], -32021);
    assert_eq!(answers["3"]["error"]["code"], -32600);
    let (answers, _) = talk(&[initialize("1999-01-01")]);
    assert_eq!(answers["1"]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn a_cancelled_call_gets_no_answer_and_progress_carries_its_token() {
    let (answers, others) = talk(&[
        modern(1, "tools/call", json!({"name": "slow", "arguments": {"seconds": 30}})),
        modern(2, "tools/call", json!({"name": "slow", "arguments": {"seconds": 0.3, "steps": 3}})),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    ]);
    assert_eq!(answers.keys().collect::<Vec<_>>(), ["2"]);
    let steps: Vec<_> =
        others.iter().map(|step| (&step["params"]["progressToken"], &step["params"]["progress"])).collect();
    assert_eq!(steps, [(&json!(2), &json!(1)), (&json!(2), &json!(2))]);
}

#[test]
fn admitted_work_is_finished_after_the_end_of_input() {
    let (answers, _) =
        talk(&[modern(1, "tools/call", json!({"name": "slow", "arguments": {"seconds": 0.4}}))]);
    assert_eq!(answers["1"]["result"]["content"][0]["text"], "Took 0.4 s in 10 steps.");
}

#[test]
fn b_01_lines_that_are_no_message_end_nothing() {
    let (answers, others) = talk_raw(
        "plain words\n\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n[]\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":5}\n{\"jsonrpc\":\"2.0\",\"method\":6}\n{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}",
    );
    assert_eq!(answers["1"]["result"], json!({}));
    assert_eq!(answers["2"]["error"]["code"], -32600);
    assert_eq!(answers["3"]["result"], json!({}));
    let codes: Vec<_> = others.iter().map(|other| other["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [-32700, -32600, -32600]);
}

#[test]
fn ask_asks_in_the_way_of_the_era() {
    let (answers, others) = talk(&[
        modern(1, "tools/call", json!({"name": "ask"})),
        modern(
            2,
            "tools/call",
            json!({"name": "ask", "inputResponses": {"name": {"action": "accept", "content": {"name": "Ada"}}}}),
        ),
        modern(3, "tools/call", json!({"name": "ask", "inputResponses": {"name": {"action": "decline"}}})),
    ]);
    assert_eq!(answers["1"]["result"]["resultType"], "input_required");
    assert_eq!(answers["1"]["result"]["inputRequests"]["name"]["method"], "elicitation/create");
    assert_eq!(answers["2"]["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(answers["3"]["result"]["content"][0]["text"], "You would rather not say.");
    assert!(others.is_empty());
}

#[test]
fn in_a_session_ask_sends_a_request_of_its_own_and_waits() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;
    let home = Home::new();
    let mut child =
        home.command(&["demo-server"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask"}});
    writeln!(input, "{}\n{call}", initialize("2025-11-25")).unwrap();
    assert_eq!(lines.next().unwrap()["id"], 1);
    let question = lines.next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let content = json!({"action": "accept", "content": {"name": "Ada"}});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": question["id"], "result": content})).unwrap();
    assert_eq!(lines.next().unwrap()["result"]["content"][0]["text"], "Hello, Ada!");
    // A question that nobody will answer any more.
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ask"}});
    writeln!(input, "{call}").unwrap();
    drop(input);
    let said = lines.find(|line| line["id"] == 3).unwrap();
    assert_eq!(said["result"]["content"][0]["text"], "The client could not ask: its input is over.");
    assert_eq!(crate::home::wait(&mut child), 0);
}

#[test]
fn a_subscription_is_acknowledged() {
    let (answers, others) =
        talk(&[modern(7, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))]);
    assert!(answers.is_empty());
    assert_eq!(others[0]["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(others[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
}
