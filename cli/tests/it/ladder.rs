//! Finding out what is wrong with one server, step by step: what it has, one call with all that was said, the same by
//! hand; and what can be done to it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::home::{Home, run};
use crate::pty::Terminal;

fn messages(trace: &str, direction: &str) -> Vec<Value> {
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["direction"] == direction).map(|mut line| line["message"].take()).collect()
}

fn answers(messages: Vec<Value>) -> BTreeMap<String, Value> {
    messages
        .into_iter()
        .filter(|message| !message["id"].is_null())
        .map(|m| (m["id"].to_string(), m))
        .collect()
}

#[test]
fn what_a_trace_shows_can_be_said_by_hand_and_is_answered_the_same() {
    // H-217
    for era in ["legacy", "modern"] {
        let home = Home::new();
        assert!(home.run(&["tools", "demo"]).ok().contains("  echo("));
        let call = ["call", "demo/echo", "text=hi", "--era", era, "--trace", "t.jsonl"];
        assert_eq!(home.run(&call).ok(), "hi\n");
        let trace = home.read("work/t.jsonl");
        let (sent, received) = (messages(&trace, "sent"), messages(&trace, "received"));
        let last = sent.last().unwrap();
        assert_eq!(
            (&last["method"], &last["params"]["arguments"]),
            (&"tools/call".into(), &json!({"text": "hi"}))
        );
        let input: String = sent.iter().map(|message| format!("{message}\n")).collect();
        let by_hand = run(home.command(&["demo-server"]), &input).ok();
        let by_hand = by_hand.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let received = answers(received);
        assert_eq!(received[&last["id"].to_string()]["result"]["content"][0]["text"], "hi");
        assert_eq!(answers(by_hand), received);
    }
}

#[test]
fn the_program_says_who_it_is() {
    // H-205
    for (era, at) in
        [("legacy", "/params/clientInfo"), ("modern", "/params/_meta/io.modelcontextprotocol~1clientInfo")]
    {
        let home = Home::new();
        home.run(&["tools", "demo", "--era", era, "--trace", "t.jsonl"]).ok();
        let first = messages(&home.read("work/t.jsonl"), "sent").remove(0);
        let who = json!({"name": "sanswire", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!(first.pointer(at), Some(&who), "{first}");
    }
}

#[test]
fn one_server_is_looked_into_started_anew_and_taken_out() {
    // H-174
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let tools = r#"[{"name":"a","description":"\n  Does a.\nAnd more that is not shown."},{"name":"b","title":"B, in short"}]"#;
    let entry = json!({"command": "sh", "args": [fake], "env": {"TOOLS": tools}});
    home.configure(&json!({"one": entry, "other": entry}).to_string());
    let listed = home.run(&["tools", "one"]).ok();
    assert_eq!(listed, "one (fake 1, 2025-11-25)\n  a()\n      Does a.\n  b()\n      B, in short\n");
    let anew = home.run(&["reconnect", "one"]).ok();
    assert!(anew.contains("connected, 2 tools") && !anew.contains("other "), "{anew}");
    home.run(&["remove", "one"]).ok();
    assert_eq!(home.run(&["tools", "one"]).status, 5);
    assert!(home.run(&["tools", "other"]).ok().contains("  a()\n      Does a.\n"));
}

#[test]
fn a_tool_is_told_of_by_the_names_of_the_configuration_whatever_its_server_calls_itself() {
    // H-219
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let tools =
        r#"[{"name":"t","title":"g/safe","annotations":{"title":"g/safe"},"inputSchema":{"type":"object"}}]"#;
    let entry = json!({"command": "sh", "args": [fake], "env": {"TOOLS": tools}});
    home.configure(&json!({"f": entry, "g": entry}).to_string());
    let failing = r#""result":{"content":[{"type":"text","text":"no"}],"isError":true}"#;
    for (call, told) in [
        (failing, "f/t failed:\nno\n"),
        (r#""error":{"code":1,"message":"no"}"#, "f/t: the server says: no (error 1)\n"),
    ] {
        let mut command = home.command(&["call", "--yes", "f/t"]);
        command.env("CALL", call);
        let ran = run(command, "");
        assert!(ran.status == 5 && ran.stderr.contains(told), "{ran:?}");
        assert!(!ran.stderr.contains("g/") && !ran.stderr.contains("fake 1"), "{ran:?}");
    }
    let mut command = home.command(&["call", "--yes", "f/t", "--json"]);
    command.env("CALL", r#""error":{"code":1,"message":"no"}"#);
    let error = run(command, "").error();
    assert!(error["server"] == "f" && error["message"].as_str().unwrap().starts_with("f/t: "), "{error}");
    let mut terminal = Terminal::start(&home, &["call", "f/t"], &[]);
    let asked = terminal.expect("Call it?");
    assert!(asked.contains("May f/t be called?") && !asked.contains("g/"), "{asked}");
    terminal.expect_keys();
    terminal.send("\r");
    let (status, shown) = terminal.wait();
    assert!(
        status == 10 && shown.contains("f/t was not called: declined") && !shown.contains("g/"),
        "{shown}"
    );
}
