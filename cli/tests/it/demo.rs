use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

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

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const VERSIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A demo server that is talked to line by line.
struct Talk {
    _home: Home,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Talk {
    fn start(words: &[&str]) -> Self {
        let home = Home::new();
        let mut command = home.command(&[&["demo-server"], words].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (read, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                read.send(serde_json::from_str(&line.unwrap()).unwrap()).unwrap();
            }
        });
        Self { _home: home, child, input, lines }
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("it says more")
    }

    /// What has this id; what comes before is passed over.
    fn answer(&mut self, id: u32) -> Value {
        loop {
            let line = self.next();
            if line["id"] == id && line.get("method").is_none() {
                return line;
            }
        }
    }

    fn ask(&mut self, id: u32, request: &Value) -> Value {
        self.say(request);
        self.answer(id)
    }

    /// Ends its input, and gives what it still says.
    fn end(mut self) -> Vec<Value> {
        drop(self.input.take());
        assert_eq!(crate::home::wait(&mut self.child), 0);
        self.lines.iter().collect()
    }
}

/// Of a tool's result, the first text.
fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
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
    assert_eq!(answers["10"]["result"]["supportedVersions"], json!(VERSIONS));
    assert_eq!(answers["1"]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers["2"]["result"]["resultType"], Value::Null);
    assert_eq!(answers["11"]["result"]["resultType"], "complete");
    assert_eq!(answers["11"]["result"]["content"][0]["text"], "hi");
    assert_eq!(answers["3"]["result"]["content"][0]["text"], "ho");
    assert_eq!(answers["12"]["error"]["code"], -32601);
    assert_eq!(answers["4"]["error"]["code"], -32601);
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
    assert_eq!(answers["1"]["error"]["data"]["supported"], json!(VERSIONS));
    assert_eq!(answers["2"]["error"]["code"], -32021);
    assert_eq!(answers["3"]["error"]["code"], -32602);
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
    let mut talk = Talk::start(&[]);
    let asked = talk.ask(1, &modern(1, "tools/call", json!({"name": "ask"})));
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(asked["result"]["inputRequests"]["name"]["method"], "elicitation/create");
    let answered = |answer: Value| {
        let state = &asked["result"]["requestState"];
        json!({"name": "ask", "requestState": state, "inputResponses": {"name": answer}})
    };
    for (id, answer, greeting) in [
        (2, json!({"action": "accept", "content": {"name": "Ada"}}), "Hello, Ada!"),
        (3, json!({"action": "decline"}), "You would rather not say."),
        (4, json!({"action": "cancel"}), "You did not answer."),
    ] {
        let answer = talk.ask(id, &modern(id, "tools/call", answered(answer)));
        assert_eq!(said(&answer), greeting);
    }
    assert_eq!(talk.end(), Vec::<Value>::new());
}

#[test]
fn in_a_session_ask_sends_a_request_of_its_own_and_waits() {
    let mut talk = Talk::start(&[]);
    talk.ask(1, &initialize("2025-11-25"));
    talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    talk.say(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask"}}));
    let question = talk.next();
    assert_eq!(question["method"], "elicitation/create");
    let content = json!({"action": "accept", "content": {"name": "Ada"}});
    talk.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": content}));
    assert_eq!(said(&talk.answer(2)), "Hello, Ada!");
    // A question that nobody will answer any more.
    talk.say(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ask"}}));
    assert_eq!(talk.next()["method"], "elicitation/create");
    let last = talk.end();
    let failed = last.iter().find(|line| line["id"] == 3).expect("an answer");
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(said(failed), "the connection ended before the answer came");
}

#[test]
fn a_subscription_is_acknowledged_and_ends_with_the_input() {
    let (answers, others) =
        talk(&[modern(7, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))]);
    assert_eq!(others[0]["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(others[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    assert_eq!(answers["7"]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
}

#[test]
fn tools_give_what_they_say() {
    let mut talk = Talk::start(&[]);
    let mut id = 0;
    let mut call = |name: &str, arguments: Value| {
        id += 1;
        talk.ask(id, &modern(id, "tools/call", json!({"name": name, "arguments": arguments})))
    };
    assert_eq!(
        call("add", json!({"a": 2, "b": 40}))["result"]["structuredContent"].to_string(),
        r#"{"sum":42}"#
    );
    assert_eq!(call("add", json!({"a": 0.5, "b": 1}))["result"]["structuredContent"], json!({"sum": 1.5}));
    let big = i64::MAX;
    assert_eq!(
        call("add", json!({"a": big, "b": big}))["result"]["structuredContent"]["sum"],
        2.0 * big as f64
    );
    let refused = call("add", json!({"a": "2", "b": 40}));
    assert_eq!(refused["result"]["isError"], true);
    assert!(said(&refused).contains("a must be a number"), "{refused}");
    assert_eq!(said(&call("big", json!({"bytes": 70_000}))).len(), 70_000);
    assert!(said(&call("big", json!({"bytes": 1 << 24}))).contains("at most"));
    let structured = call("structured", json!({}));
    assert_eq!(structured["result"]["structuredContent"]["place"]["city"], "London");
    assert_eq!(call("image", json!({}))["result"]["content"][0]["mimeType"], "image/png");
    let failed = call("fail", json!({"message": "no"}));
    assert_eq!((said(&failed), &failed["result"]["isError"]), ("no", &true.into()));
    assert_eq!(said(&call("fail", json!({}))), "This tool always fails.");
    assert_eq!(call("nope", json!({}))["error"]["code"], -32602);
}

#[test]
fn what_changes_is_told_to_who_listens() {
    let mut talk = Talk::start(&[]);
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["demo://counter"]});
    talk.say(&modern(9, "subscriptions/listen", json!({"notifications": wanted})));
    assert_eq!(talk.next()["method"], "notifications/subscriptions/acknowledged");
    let names = |list: &Value| {
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    talk.say(&modern(1, "tools/call", json!({"name": "toggle"})));
    let mut told = [talk.next(), talk.next()];
    told.sort_by_key(|line| line.get("method").is_some());
    assert_eq!(said(&told[0]), "There is a tool extra now.");
    assert_eq!(told[1]["method"], "notifications/tools/list_changed");
    assert!(names(&talk.ask(2, &modern(2, "tools/list", json!({})))).contains(&"extra".into()));
    assert_eq!(said(&talk.ask(3, &modern(3, "tools/call", json!({"name": "extra"})))), "Here I am.");
    talk.say(&modern(4, "tools/call", json!({"name": "toggle"})));
    let mut told = [talk.next(), talk.next()];
    told.sort_by_key(|line| line.get("method").is_some());
    assert_eq!(told[1]["method"], "notifications/tools/list_changed");
    assert!(!names(&talk.ask(5, &modern(5, "tools/list", json!({})))).contains(&"extra".into()));
    assert_eq!(talk.ask(6, &modern(6, "tools/call", json!({"name": "extra"})))["error"]["code"], -32602);
    talk.say(&modern(7, "tools/call", json!({"name": "count"})));
    let mut told = [talk.next(), talk.next()];
    told.sort_by_key(|line| line.get("method").is_some());
    assert_eq!((said(&told[0]), &told[1]["method"]), ("1", &"notifications/resources/updated".into()));
    let read = talk.ask(8, &modern(8, "resources/read", json!({"uri": "demo://counter"})));
    assert_eq!(read["result"]["contents"][0]["text"], "1");
}

#[test]
fn log_messages_are_sent_to_who_wants_them() {
    let mut talk = Talk::start(&[]);
    let log = |id, level: &str, least: &str| {
        let arguments = json!({"level": level, "message": "hi"});
        let mut call = modern(id, "tools/call", json!({"name": "log", "arguments": arguments}));
        call["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!(least);
        call
    };
    talk.say(&log(1, "warning", "info"));
    let message = talk.next();
    assert_eq!(message["method"], "notifications/message");
    assert_eq!((&message["params"]["level"], &message["params"]["data"]), (&"warning".into(), &"hi".into()));
    talk.answer(1);
    talk.say(&log(2, "debug", "info"));
    assert_eq!(talk.next()["id"], 2, "nothing below the level");
    assert_eq!(talk.ask(3, &log(3, "loud", "info"))["result"]["isError"], true);
}

#[test]
fn what_is_not_granted_is_listed_and_denied() {
    // H-183
    let mut talk = Talk::start(&["--allow", "echo", "--allow", "add"]);
    let listed = talk.ask(1, &modern(1, "tools/list", json!({})));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 11);
    let echo = json!({"name": "echo", "arguments": {"text": "hi"}});
    assert_eq!(said(&talk.ask(2, &modern(2, "tools/call", echo))), "hi");
    let denied = talk.ask(3, &modern(3, "tools/call", json!({"name": "image"})));
    assert_eq!(denied["result"]["isError"], true);
    assert!(said(&denied).contains("grant"), "{denied}");
    let read = talk.ask(4, &modern(4, "resources/read", json!({"uri": "demo://readme"})));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("# demo"));
}

#[test]
fn no_tool_is_granted_that_is_not_there_and_those_that_are_are_named() {
    let home = Home::new();
    let ran = home.run(&["demo-server", "--allow", "echo", "--allow", "ecko"]);
    assert!(ran.status == 1 && ran.stdout.is_empty(), "{ran:?}");
    let named = ran.stderr.split_once("possible values: ").and_then(|(_, rest)| rest.split_once(']'));
    let named: Vec<String> = named.expect(&ran.stderr).0.split(", ").map(str::to_owned).collect();
    // They are those that it has, once the one that comes and goes is there.
    let mut talk = Talk::start(&["--allow", "toggle", "--allow", "extra"]);
    talk.ask(1, &modern(1, "tools/call", json!({"name": "toggle"})));
    let listed = talk.ask(2, &modern(2, "tools/list", json!({})));
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let mut listed: Vec<String> = listed["result"]["tools"].as_array().unwrap().iter().map(name).collect();
    let mut sorted = named;
    sorted.sort();
    listed.sort();
    assert_eq!(sorted, listed);
    assert_eq!(said(&talk.ask(3, &modern(3, "tools/call", json!({"name": "extra"})))), "Here I am.");
}

#[test]
fn a_signal_lets_what_is_under_way_finish() {
    let mut talk = Talk::start(&[]);
    talk.say(&modern(1, "tools/call", json!({"name": "slow", "arguments": {"seconds": 0.5, "steps": 2}})));
    assert_eq!(talk.next()["method"], "notifications/progress");
    let id = talk.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(said(&talk.answer(1)), "Took 0.5 s in 2 steps.");
    assert_eq!(crate::home::wait(&mut talk.child), 0);
}
