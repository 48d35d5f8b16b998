//! Several servers at once: what `servers` says of each, and that none is left behind.

use std::process::Command;

use crate::home::Home;
use crate::pty::Terminal;

/// Five servers that work in one way or another, and four that do not. Each writes the number of its process down.
fn many(home: &Home) {
    let (fake, pids) = (home.path.join("fake.sh"), home.path.join("pids"));
    let (fake, pids) = (fake.display(), pids.display());
    let entry = |name: &str, env: &str, more: &str| {
        let note = format!("echo $$ >> {pids}");
        format!(
            r#""{name}":{{"command":"sh","args":["{fake}"],"env":{{"ON_START":"{note}; {}"{}}}{more}}}"#,
            if name == "hang" { "while :; do sleep 0.1; done" } else { "" },
            if env.is_empty() { String::new() } else { format!(",{env}") },
        )
    };
    let broken = r#""TOOLS":"[{\"name\":\"good\"},{\"name\":\"\"},7,{\"name\":\"good\"}]""#;
    let dots = r#""TOOLS":"[{\"name\":\"a.b\"},{\"name\":\"c\"}]""#;
    let entries = [
        entry("one", "", ""),
        entry("dots", dots, ""),
        entry("filtered", dots, r#","blocked_tools":["c","gone"]"#),
        entry("denied", "", r#","approval":"deny""#),
        entry("bare", r#""TOOLS":"[]""#, ""),
        entry("broken", broken, ""),
        entry("deaf", r#""ON_LIST":"exit 7""#, ""),
        entry("hang", "", r#","connect_timeout":3"#),
        entry("off", "", r#","enabled":false"#),
        r#""missing":{"command":"no-such-program-at-all"}"#.into(),
    ];
    home.configure(&format!("{{{}}}", entries.join(",")));
}

fn of<'j>(json: &'j serde_json::Value, name: &str) -> &'j serde_json::Value {
    json["servers"].as_array().unwrap().iter().find(|server| server["name"] == name).expect(name)
}

fn none_is_left(home: &Home, started: usize) {
    let pids = home.read("pids");
    assert_eq!(pids.lines().count(), started, "{pids}");
    for pid in pids.lines() {
        let alive = Command::new("kill").args(["-0", pid]).output().unwrap().status.success();
        assert!(!alive, "process {pid} is left");
    }
}

#[test]
fn each_server_is_told_as_it_is_and_the_slow_one_delays_nobody() {
    // H-014, H-087, H-091, H-097, H-101, H-171, H-218
    let home = Home::new();
    many(&home);
    let ran = home.run(&["servers", "--check", "--json"]);
    assert_eq!(ran.status, 4, "{ran:?}");
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let state = |name: &str| of(&json, name)["state"].as_str().unwrap().to_owned();
    for name in ["one", "dots", "filtered", "denied", "bare", "broken"] {
        assert_eq!(state(name), "connected", "{json}");
        assert!(
            of(&json, name)["started_ms"].as_u64().unwrap() < 3000,
            "it waited for the one that hangs: {json}"
        );
    }
    assert_eq!((state("hang"), state("missing")), ("failed".into(), "failed".into()));
    assert_eq!(state("off"), "disabled");
    assert!(of(&json, "missing")["message"].as_str().unwrap().contains("no-such-program-at-all"));
    assert!(of(&json, "hang")["message"].as_str().unwrap().contains("connect"), "{json}");
    let tools = |name: &str| {
        let row = |tool: &serde_json::Value| {
            let text = |key: &str| tool[key].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", text("name"), text("outcome"), text("exposed"))
        };
        of(&json, name)["tools"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(tools("one"), ["t registered mcp__one__t"]);
    assert_eq!(tools("dots"), ["a.b registered mcp__dots__a_b__5e1255fb", "c registered mcp__dots__c"]);
    assert_eq!(tools("filtered")[1], "c filtered -");
    assert!(of(&json, "filtered")["warnings"][0].as_str().unwrap().contains("gone"));
    assert_eq!(tools("denied"), ["t denied -"]);
    assert_eq!(tools("bare"), Vec::<String>::new());
    assert_eq!(tools("broken")[0], "good registered mcp__broken__good");
    assert!(tools("broken")[1..].iter().all(|tool| tool.contains(" skipped -")), "{json}");
    none_is_left(&home, 8);
}

#[test]
fn the_summary_counts_what_is_in_use_and_gaps_have_a_cause() {
    // H-170, H-172, H-173
    let home = Home::new();
    many(&home);
    let ran = home.run(&["servers", "--check"]);
    let line = |start: &str| ran.stdout.lines().find(|line| line.starts_with(start)).expect(start);
    assert!(line("one ").contains("local") && line("one ").contains("connected, 1 tool: fake 1"), "{ran:?}");
    assert!(line("filtered ").contains("connected, 1 of 2 tools"), "{ran:?}");
    assert!(line("missing ").contains("failed: "), "{ran:?}");
    assert!(line("off ").contains("disabled"), "{ran:?}");
    assert!(ran.stdout.contains("    left out: c (filtered: blocked_tools names it)\n"), "{ran:?}");
    assert!(ran.stdout.contains("    it advertises no tools\n"), "{ran:?}");
    // Those that are off stand in neither number.
    assert!(ran.stdout.contains(" of 9 connected, "), "{ran:?}");
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.ends_with("config/sanswire/config.json"), "{last}");
    let none = Home::new();
    none.configure("{}");
    assert!(!none.run(&["servers", "--check"]).stdout.contains("connected"));
}

#[test]
fn what_a_model_is_told_has_final_names_and_its_size() {
    // H-014, H-145
    let home = Home::new();
    many(&home);
    let words = ["tools", "--exposed", "one", "dots", "filtered", "denied", "missing"];
    let ran = home.run(&[&words[..], &["--json"]].concat());
    assert_eq!(ran.status, 4);
    assert!(ran.stderr.contains("no-such-program-at-all"), "{ran:?}");
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> =
        json.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let all = ["mcp__dots__a_b__5e1255fb", "mcp__dots__c", "mcp__filtered__a_b__d31fc03a", "mcp__one__t"];
    assert_eq!(names[..4], all, "{names:?}");
    let ran = home.run(&words);
    assert!(ran.stdout.contains("4 of 4 tools told one by one"), "{ran:?}");
    home.write(
        "config/sanswire/config.json",
        &home.read("config/sanswire/config.json").replacen('{', r#"{"sanswire":{"exposure":"lazy"},"#, 1),
    );
    let ran = home.run(&words);
    assert!(ran.stdout.contains("mcp_call\n") && !ran.stdout.contains("mcp__one__t"), "{ran:?}");
    assert!(ran.stdout.contains("0 of 4 tools told one by one"), "{ran:?}");
}

#[test]
fn a_server_that_is_reconnected_is_found_out_anew_and_no_other_is_touched() {
    // H-214
    let home = Home::new();
    many(&home);
    let probes = || home.read("work/t.jsonl").matches("server/discover").count();
    let trace = ["--trace", "t.jsonl"];
    home.run(&[&["tools", "one"], &trace[..]].concat()).ok();
    assert_eq!(probes(), 1);
    home.run(&[&["tools", "one"], &trace[..]].concat()).ok();
    assert_eq!(probes(), 0, "it is known to be of the older kind");
    let shown = home.run(&[&["reconnect", "one"], &trace[..]].concat()).ok();
    assert_eq!(probes(), 1);
    assert!(shown.contains("connected, 1 tool") && !shown.contains("dots"), "{shown}");
    none_is_left(&home, 3);
}

#[test]
fn while_servers_start_a_terminal_shows_each_and_a_signal_ends_all() {
    // H-216
    let home = Home::new();
    many(&home);
    let mut terminal = Terminal::start(&home, &["servers", "--check", "one", "hang"], &[("TERM", "xterm")]);
    terminal.expect("hang connecting");
    terminal.expect("✓ one connected, 1 tools");
    let (status, shown) = terminal.wait();
    assert_eq!(status, 4);
    assert!(shown.contains("1 of 2 connected, 1 tool"), "{shown}");
    none_is_left(&home, 2);
    let mut terminal = Terminal::start(&home, &["servers", "--check", "one", "hang"], &[("TERM", "xterm")]);
    terminal.expect("✓ one connected");
    terminal.send("\u{3}");
    assert_eq!(terminal.wait().0, 130);
    none_is_left(&home, 4);
}
