//! What the files lead to, told without calling anything.

use serde_json::{Value, json};

use crate::home::{Home, run};
use crate::pty::Terminal;

/// A home with the servers `f` and `g`, some rules, and a tool of `f` that is left out.
fn home() -> Home {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let server = |more: Value| {
        let mut server = json!({"command": "sh", "args": [fake], "env": {"ON_START": "touch started", "ON_CALL": "touch called"}});
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server
    };
    let file = json!({
        "mcpServers": {
            "f": server(json!({"trust_annotations": true, "blocked_tools": ["gone"]})),
            "g": server(json!({"approval": "allow"})),
        },
        "sanswire": {"rules": {"f/rm_*": "deny", "g/ask": "ask"}},
    });
    home.write("config/sanswire/config.json", &file.to_string());
    home
}

const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"r","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"rm_x","inputSchema":{"type":"object"}},{"name":"gone","inputSchema":{"type":"object"}}]"#;

fn explained(home: &Home, words: &[&str]) -> Value {
    let mut command = home.command(&[&["policy", "explain", "--json"], words].concat());
    command.env("TOOLS", TOOLS);
    run(command, "").json()
}

#[test]
fn a_decision_is_explained_step_by_step_and_nothing_is_called() {
    let home = home();
    let cases = [
        (&["f/t"][..], "deny", "no_approver"),
        (&["f/t", "--yes"], "call", "skip_prompts"),
        (&["f/r"], "call", "trusted_read_only"),
        (&["f/rm_x", "--yes"], "deny", "rule_deny"),
        (&["g/t"], "call", "server_allow"),
        (&["g/t", "--plan"], "deny", "no_approver"),
        (&["f/r", "--offline"], "deny", "no_approver"),
        (&["demo/echo", "text=x"], "call", "server_allow"),
    ];
    for (words, verdict, reason) in cases {
        let told = explained(&home, words);
        assert_eq!(
            (&told["verdict"], &told["reason"]),
            (&verdict.into(), &reason.into()),
            "{words:?}: {told}"
        );
        let steps = told["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 12, "{told}");
        let decided: Vec<_> = steps.iter().filter(|step| step["decided"].is_string()).collect();
        assert_eq!((&decided[0]["step"], &decided[0]["decided"]), (&reason.into(), &verdict.into()));
        assert!(steps.iter().all(|step| step["why"].is_string() && step["applies"].is_boolean()));
    }
    assert_eq!(explained(&home, &["f/t", "n=5", "--args", r#"{"m":"x"}"#])["preview"], "m: x\nn: 5");
    let left_out = explained(&home, &["f/gone"]);
    assert_eq!(
        left_out,
        json!({"server": "f", "tool": "gone", "verdict": "left_out", "why": "blocked_tools names it"})
    );
    assert_eq!(home.run(&["policy", "explain", "f/none"]).status, 5);
    assert!(!home.path.join("work/called").exists());
    // Without its server nothing is started at all.
    let home = self::home();
    explained(&home, &["f/t", "--offline"]);
    assert!(!home.path.join("work/started").exists());
    let text = home.run(&["policy", "explain", "f/t", "a=b", "--offline"]).ok();
    assert!(text.starts_with("f/t would be denied: nobody can be asked"), "{text}");
    assert!(text.contains("\n  a: b\n") && text.contains("no_approver"), "{text}");
    assert!(text.contains("note: what the tool says of its effects is not known"), "{text}");
}

#[test]
fn where_somebody_can_be_asked_it_says_so() {
    let home = home();
    for (words, says) in [
        (&["policy", "explain", "f/t"][..], "f/t would be asked about"),
        (&["policy", "explain", "f/t", "--headless"], "f/t would be denied"),
    ] {
        let (status, seen) = Terminal::start(&home, words, &[("TOOLS", TOOLS)]).wait();
        assert!(status == 0 && seen.starts_with(says), "{seen}");
    }
    // What is allowed in this session counts.
    let line = "$P call f/t; $P policy explain f/t --headless; $P policy explain f/t --headless --offline";
    let variables = [("TOOLS", TOOLS), ("P", env!("CARGO_BIN_EXE_sanswire"))];
    let mut terminal = Terminal::shell(&home, line, &variables);
    terminal.expect("Call it?");
    terminal.expect_keys();
    terminal.send("jj\r");
    let (_, seen) = terminal.wait();
    assert_eq!(seen.matches("f/t would be called: allowed before").count(), 2, "{seen}");
    assert!(seen.contains("note: it counts as allowed if it is still defined as it was then"), "{seen}");
}

#[test]
fn a_table_of_expectations_is_compared_with_the_files() {
    let home = home();
    let rows = r#"
{"server":"f","tool":"t","expect":"ask"}
{"server":"f","tool":"t","approver":false,"expect":"deny","reason":"no_approver"}
{"server":"f","tool":"t","granted":true,"expect":"call","reason":"session_grant"}
{"server":"f","tool":"t","hints":{"readOnlyHint":true},"expect":"call"}
{"server":"f","tool":"t","hints":{"destructiveHint":false,"openWorldHint":false},"plan":true,"expect":"call","reason":"trusted_closed_harmless"}
{"server":"f","tool":"rm_all","yes":true,"expect":"deny","reason":"rule_deny"}
{"server":"f","tool":"gone","expect":"left_out"}
{"server":"g","tool":"t","expect":"call"}
{"server":"g","tool":"t","nth":3,"expect":"ask","reason":"repeat"}
{"server":"g","tool":"ask","expect":"ask"}
{"server":"demo","tool":"echo","approver":false,"expect":"call"}
"#;
    home.write("work/rows.jsonl", rows);
    assert_eq!(home.run(&["policy", "test", "rows.jsonl"]).ok(), "11 decisions, all as expected\n");
    let array = format!("[{}]", rows.trim().replace('\n', ","));
    assert_eq!(run(home.command(&["policy", "test", "-"]), &array).ok(), "11 decisions, all as expected\n");
    assert!(!home.path.join("work/started").exists());
    // One that is not so is a finding, each in its place.
    for (n, line) in rows.trim().lines().enumerate() {
        let mut wrong: Value = serde_json::from_str(line).unwrap();
        let other = if wrong["expect"] == "deny" { "call" } else { "deny" };
        wrong["expect"] = other.into();
        let file = format!("{}\n{wrong}\n", rows.trim());
        home.write("work/wrong.jsonl", &file);
        let ran = home.run(&["policy", "test", "wrong.jsonl"]);
        assert_eq!(ran.status, 6, "{wrong}: {ran:?}");
        assert!(ran.stdout.starts_with("1 of 12 decisions are not as expected:\n"), "{ran:?}");
        let ran = home.run(&["policy", "test", "wrong.jsonl", "--json"]);
        assert_eq!((ran.status, &ran.json()["failed"]), (6, &1.into()), "{n}");
        assert_eq!(
            (&ran.json()["failures"][0]["row"], &ran.json()["failures"][0]["expect"]),
            (&12.into(), &other.into())
        );
    }
    home.write("work/wrong.jsonl", r#"{"server":"f","tool":"t","expect":"ask","reason":"repeat"}"#);
    let ran = home.run(&["policy", "test", "wrong.jsonl"]);
    assert!(ran.status == 6 && ran.stdout.contains("ask (repeat)"), "{ran:?}");
}

#[test]
fn a_row_that_could_not_fail_is_an_error() {
    let home = home();
    for (rows, says) in [
        ("", "expects nothing"),
        ("[]", "expects nothing"),
        (r#"{"server":"f","tool":"t"}"#, "row 1: expect is no text"),
        (r#"{"server":"f","tool":"t","expect":"allow"}"#, "not one of call, ask, deny, left_out"),
        (r#"{"server":"f","tool":"t","expect":"ask","aprover":false}"#, "did you mean approver?"),
        (r#"{"server":"f","tool":"t","expect":"ask","plan":1}"#, "plan is not true or false"),
        (r#"{"server":"f","tool":"t","expect":"ask","hints":{"readonly":true}}"#, "decides nothing"),
        (r#"{"server":"f","tool":"t","expect":"ask","expect":"call"}"#, "\"expect\" stands there twice"),
        (r#"{"server":"f","tool":"t","expect":"ask","nth":0}"#, "nth is no whole number"),
        ("{\"server\":\"g\",\"tool\":\"t\",\"expect\":\"call\"}\n7", "row 2: it is a number"),
        ("{\"server\":\"g\",\n\"tool\":\"t\"}", "line 1: "),
    ] {
        let ran = run(home.command(&["policy", "test", "-"]), rows);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{rows}: {ran:?}");
        assert!(ran.stderr.contains(says), "{rows}: {ran:?}");
    }
    let ran = run(home.command(&["policy", "test", "-"]), r#"{"server":"ff","tool":"t","expect":"ask"}"#);
    assert!(ran.status == 5 && ran.stderr.contains("there is no server \"ff\""), "{ran:?}");
}

#[test]
fn limits_are_all_there_and_add_up() {
    let home = Home::new();
    let limits = home.run(&["limits", "--json"]).json();
    assert_eq!(limits["limits"]["max_message_bytes"], 16 << 20);
    assert_eq!(limits["limits"]["request_idle_seconds"], 30.0);
    let worst = &limits["worst_case_bytes"];
    for name in ["connection_to_a_server", "connection_of_a_client"] {
        // At least what waits to be read and written, and no more than anybody could have.
        assert!(
            worst[name].as_u64().unwrap() > 64 << 20 && worst[name].as_u64().unwrap() < 1 << 30,
            "{worst}"
        );
    }
    let [connection, host, all] =
        ["connection_to_a_server", "host", "host_with_connections"].map(|name| worst[name].as_u64().unwrap());
    assert_eq!(all, host + connection, "the built-in server is the only one");
    home.configure(r#"{"w":{"url":"http://127.0.0.1:1/mcp"}}"#);
    let with = home.run(&["limits", "--json"]).json();
    let [host, all, client, wire] =
        ["host", "host_with_connections", "client_over_http", "connection_over_http"]
            .map(|name| with["worst_case_bytes"][name].as_u64().unwrap());
    // Beside the built-in one.
    assert_eq!(all, host + connection + client + 64 * wire);
    std::fs::remove_file(home.path.join("config/sanswire/config.json")).unwrap();
    let text = home.run(&["limits"]).ok();
    assert!(text.contains("max_message_bytes") && text.contains("16 MiB"), "{text}");
    let mib = worst["connection_to_a_server"].as_u64().unwrap() >> 20;
    assert!(text.contains(&format!("  {mib}")), "{text}");
    assert_eq!(home.run(&["limits", "--json", "--timeout", "5"]).json()["limits"]["connect_seconds"], 5.0);
}
