//! Servers on the web that answer as they should.

use serde_json::{Value, json};

use crate::home::{Home, run};
use crate::pty::Terminal;
use crate::web::{Asked, Demo, Web, answer, json_answer, legacy};

#[test]
fn every_verb_speaks_to_an_address() {
    let home = Home::new();
    let demo = Demo::start(&home);
    for (words, says) in [
        (&["tools"][..], "echo(text: string)"),
        (&["inspect", "echo"], "Input schema"),
        (&["call", "--yes", "echo", "text=hi"], "hi\n"),
        (&["resources"], "demo://readme"),
        (&["read", "demo://readme"], "# demo"),
        (&["prompts"], "greet"),
        (&["policy", "explain", "echo", "text=hi"], "ask"),
        (&["doctor"], "in short     it works\n"),
    ] {
        let ran = home.run(&[words, &["--url", &demo.url]].concat());
        assert!(ran.status == 0 && ran.stdout.contains(says), "{words:?}: {ran:?}");
    }
    // Both eras, as on a pipe.
    for era in ["modern", "legacy", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] {
        let ran = home.run(&["call", "--yes", "echo", "text=hi", "--url", &demo.url, "--era", era]);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, "hi\n"), "{era}: {ran:?}");
    }
    assert_eq!(
        home.run(&["call", "--yes", "echo", "--url", &demo.url, "--transport", "http", "text=x"]).ok(),
        "x\n"
    );
    let nobody = demo.url.clone();
    assert_eq!(demo.end("-TERM"), 0);
    let ran = home.run(&["tools", "--url", &nobody]);
    assert!(ran.status == 4 && ran.stderr.contains("check the address"), "{ran:?}");
    let ran = home.run(&["tools", "--url", &nobody, "--json"]);
    assert_eq!(ran.error()["exit"], 4);
}

#[test]
fn servers_of_a_file_start_over_http() {
    let home = Home::new();
    let demo = Demo::start(&home);
    for entry in [
        json!({"url": demo.url}),
        json!({"url": demo.url, "type": "http"}),
        json!({"url": demo.url, "type": "streamable-http"}),
        json!({"url": demo.url, "transport": "streamableHttp"}),
        json!({"serverUrl": demo.url, "type": "auto", "proxy": "none"}),
    ] {
        home.configure(&json!({"w": entry, "approval": {"command": "x", "disabled": true}}).to_string());
        assert_eq!(home.run(&["call", "--yes", "w/echo", "text=hi"]).ok(), "hi\n", "{entry}");
        let checked = home.run(&["servers", "--check", "--json", "w"]).json();
        let row = &checked["servers"][0];
        assert_eq!(
            (&row["state"], &row["transport"], &row["offered"]),
            (&"connected".into(), &"http".into(), &11.into())
        );
        assert_eq!(row["command"], demo.url.as_str());
    }
    // A question is asked as for any other.
    let mut terminal = Terminal::start(&home, &["call", "w/echo", "text=hi"], &[]);
    terminal.expect("May w/echo be called?");
    terminal.expect("Call it?");
    terminal.expect_keys();
    terminal.send("j\r");
    let (status, screen) = terminal.wait();
    assert!(status == 0 && screen.ends_with("hi\r\n"), "{screen:?}");
    // Other programs' entries are connected to in their own words, when they are named.
    home.write(".cursor/mcp.json", &json!({"mcpServers": {"c": {"url": demo.url}}}).to_string());
    home.write(
        "config/Code/User/mcp.json",
        &json!({"servers": {"v": {"type": "http", "url": demo.url}}}).to_string(),
    );
    home.write(".codex/config.toml", &format!("[mcp_servers.x]\nurl = \"{}\"\n", demo.url));
    home.write(
        ".codeium/windsurf/mcp_config.json",
        &json!({"mcpServers": {"s": {"serverUrl": demo.url}}}).to_string(),
    );
    for name in ["c", "v", "x", "s"] {
        assert_eq!(home.run(&["call", "--yes", name, "echo", "text=hi"]).ok(), "hi\n", "{name}");
    }
    home.run(&["import", "cursor"]).ok();
    assert_eq!(home.run(&["call", "--yes", "c/echo", "text=hi"]).ok(), "hi\n");
    home.run(&["add", "added", "--url", &demo.url, "--approval", "allow"]).ok();
    assert_eq!(home.run(&["call", "added/echo", "text=hi"]).ok(), "hi\n");
}

#[test]
fn what_is_sent_is_what_the_file_and_the_command_line_say() {
    // H-151, H-152
    let home = Home::new();
    let web = Web::new(|asked| legacy(asked, "ok"));
    home.configure(
        &json!({"w": {
            "url": web.url(), "era": "legacy", "bearer_env": "TOKEN",
            "headers": {"X-Team": "${TEAM:-blue}", "X-Line": "a\r\nEvil: b"}
        }})
        .to_string(),
    );
    let mut command = home.command(&["call", "--yes", "w/t"]);
    command.env("TOKEN", "Bearer tok-1");
    assert_eq!(run(command, "").ok(), "ok\n");
    let url = web.url();
    let mut command = home.command(&[
        "call",
        "--yes",
        "t",
        "--url",
        &url,
        "--era",
        "legacy",
        "-H",
        "Authorization: ${T}",
        "-H",
        "X-Team: red",
    ]);
    command.env("T", "tok-2");
    assert_eq!(run(command, "").ok(), "ok\n");
    // P-461
    let asked = web.asked();
    assert!(asked.iter().all(|asked| !asked.target.contains("tok")), "{asked:?}");
    let (first, second): (Vec<_>, Vec<_>) =
        asked.iter().partition(|asked| asked.fields.get("x-team").is_some_and(|team| team == "blue"));
    assert!(!first.is_empty() && !second.is_empty());
    for asked in first {
        assert_eq!(asked.fields["authorization"], "Bearer tok-1", "{asked:?}");
        assert!(asked.fields["x-line"] == "aEvil: b" && !asked.fields.contains_key("evil"), "{asked:?}");
    }
    for asked in second {
        assert_eq!(
            (asked.fields["authorization"].as_str(), asked.fields["x-team"].as_str()),
            ("Bearer tok-2", "red")
        );
    }
    for (words, says) in [
        (&["-H", "Mcp-Session-Id: 1"][..], "belongs to the transport"),
        (&["-H", "mcp-param-x: 1"], "belongs to the transport"),
        (&["-H", "Content-Type: text/plain"], "belongs to the transport"),
        (&["-H", "no colon s3cret"], "not Name: value"),
        (&["-H", "A: ${SURELY_NOT_SET}"], "SURELY_NOT_SET is not set"),
        (&["--bearer-env", "SURELY_NOT_SET"], "SURELY_NOT_SET is not set"),
        (&["--bearer-env", "ghp_s3cret"], "the variable that bearer_env names is not set"),
        (&["--bearer-env", "HOME", "-H", "Authorization: x"], "leave one out"),
        (&["--client-key", "k"], "--client-cert"),
        (&["--public-only", "--proxy", "http://127.0.0.1:1"], "do not go together"),
        (&["--env", "A=b"], "no environment"),
    ] {
        let before = web.asked().len();
        let ran = home.run(&[&["tools", "--url", &url], words].concat());
        assert!(ran.status == 1 && ran.stderr.contains(says), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("s3cret") && web.asked().len() == before, "{ran:?}");
    }
    for words in [&["tools", "-H", "A: b", "--", "x"][..], &["tools", "--tcp", "127.0.0.1:1", "--sse"]] {
        let ran = home.run(words);
        assert!(ran.status == 1 && ran.stderr.contains("--url"), "{ran:?}");
    }
    for url in ["ftp://x", "https://", "https://u:s3cret@x/", "http://x/ s3cret"] {
        let ran = home.run(&["tools", "--url", url]);
        assert!(ran.status == 1 && !ran.stderr.contains("s3cret"), "{ran:?}");
    }
}

#[test]
fn a_command_that_a_hint_names_speaks_to_the_same_address() {
    let home = Home::new();
    let demo = Demo::start(&home);
    let ran = home.run(&[
        "inspect",
        "nope",
        "--url",
        &demo.url,
        "-H",
        "A: b c",
        "--transport",
        "http",
        "--proxy",
        "none",
        "--era",
        "modern",
    ]);
    assert_eq!(ran.status, 5, "{ran:?}");
    let line = ran.stderr.lines().find_map(|line| line.trim().strip_suffix(" lists what it has"));
    let line = line.unwrap_or_else(|| panic!("no hint: {ran:?}"));
    let url = &demo.url;
    let expected =
        format!("sanswire tools --era modern --url {url} --header 'A: b c' --transport http --proxy none");
    assert_eq!(line, expected);
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let words = words.join(" ").replace("'A: b c'", "A:b");
    let words: Vec<&str> = words.split(' ').collect();
    assert!(home.run(&words).ok().contains("echo(text: string)"));
}

#[test]
fn a_server_of_the_older_way_is_found_out_or_named() {
    let home = Home::new();
    let old = older();
    let url = old.url();
    for words in [&["--sse"][..], &["--transport", "sse"], &[]] {
        let ran = home.run(&[&["call", "--yes", "t", "--url", &url], words].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (0, "old\n"), "{words:?}: {ran:?}");
    }
    let ran = home.run(&["tools", "--url", &url, "--transport", "http"]);
    assert!(ran.status == 4 && ran.stderr.contains("405"), "{ran:?}");
    home.configure(
        &json!({"old": {"url": url, "type": "sse"}, "new": {"url": url, "type": "http"}}).to_string(),
    );
    assert_eq!(home.run(&["call", "--yes", "old/t"]).ok(), "old\n");
    assert_eq!(home.run(&["call", "--yes", "new/t"]).status, 4);
}

#[test]
fn a_call_that_is_lost_says_what_its_connection_ended_for() {
    let home = Home::new();
    // Its one stream goes on to its end; what is said there to the call has no end, and is too long for a message.
    let web = older_saying(|asked, body| match asked.method().as_str() {
        "tools/call" => "event: endpoint\ndata: x\n\ndata: [1,\n\n".repeat(1100),
        _ => format!("event: message\ndata: {body}\n\n"),
    });
    let words = ["call", "--yes", "t", "--transport", "sse", "--url", &web.url()];
    let ran = home.run(&words);
    assert!(
        ran.status == 4 && ran.stderr.contains("it may have been carried out; the server broke the protocol"),
        "{ran:?}"
    );
    let error = home.run(&[&words[..], &["--json"]].concat()).error();
    assert_eq!(error["code"], "connection_lost");
}

/// A server of 2024-11-05: a stream of events, and beside it an address that requests are sent to.
fn older() -> Web {
    older_saying(|_, body| format!("event: message\ndata: {body}\n\n"))
}

/// One that says this on its stream to what was asked, beside whose answer would be `body`.
fn older_saying(says: impl Fn(&Asked, &str) -> String + Send + Sync + 'static) -> Web {
    use std::io::Write as _;
    use std::sync::{Arc, Mutex};
    let stream: Arc<Mutex<Option<std::net::TcpStream>>> = Arc::default();
    Web::streaming(move |asked, mut connection| match (asked.verb.as_str(), asked.target.as_str()) {
        ("GET", "/mcp") => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            let begin = format!("{head}event: endpoint\ndata: /messages?id=1\n\n");
            connection.write_all(begin.as_bytes()).unwrap();
            *stream.lock().unwrap() = Some(connection.try_clone().unwrap());
            // It lasts until the client goes.
            let _ = std::io::Read::read(&mut connection, &mut [0]);
        }
        ("POST", "/messages?id=1") => {
            let _ = connection.write_all(answer("202 Accepted", "", "").as_bytes());
            let full = legacy(asked, "old");
            let body = full.split_once("\r\n\r\n").unwrap().1;
            if !body.is_empty() {
                let body = body.replace("2025-11-25", "2024-11-05");
                let mut stream = stream.lock().unwrap();
                stream.as_mut().unwrap().write_all(says(asked, &body).as_bytes()).unwrap();
            }
        }
        _ => {
            let _ = connection.write_all(answer("405 Method Not Allowed", "", "").as_bytes());
        }
    })
}

#[test]
fn a_signal_ends_a_call_over_http() {
    let home = Home::new();
    let demo = Demo::start(&home);
    let mut command =
        home.command(&["call", "--yes", "slow", "seconds=60", "--url", &demo.url, "--trace", "t.jsonl"]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    crate::home::until("it is called", || {
        std::fs::read_to_string(home.path.join("work/t.jsonl"))
            .unwrap_or_default()
            .contains("notifications/progress")
    });
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(crate::home::wait(&mut child), 130);
    assert_eq!(demo.end("-INT"), 0, "nothing holds it up");
}

#[test]
fn a_tool_that_cannot_be_called_over_http_is_said_to_be_none_of_that_and_why() {
    let home = Home::new();
    let listed = |tools: Value| {
        Web::new(move |asked| {
            let message = asked.message();
            let result = match asked.method().as_str() {
                "server/discover" => json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "ttlMs": 0, "cacheScope": "private",
                }),
                _ => json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}),
            };
            json_answer("200 OK", "", &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        })
    };
    let bad = json!({"name": "bad", "inputSchema": {
        "type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}},
    }});
    let good = json!({"name": "good", "inputSchema": {"type": "object"}});
    for (tools, other) in
        [(json!([bad]), "says why none of its tools can be called"), (json!([bad, good]), "")]
    {
        let web = listed(tools);
        for words in [&["call", "--yes", "bad"][..], &["inspect", "bad"]] {
            let ran = home.run(&[words, &["--url", &web.url()]].concat());
            assert_eq!(ran.status, 5, "{ran:?}");
            assert!(
                ran.stderr.contains("bad cannot be called: ") && ran.stderr.contains("x-mcp-header"),
                "{ran:?}"
            );
        }
        let ran = home.run(&["tools", "--url", &web.url()]);
        assert!(ran.status == 0 && ran.stderr.contains("the tool \"bad\" cannot be called: "), "{ran:?}");
        let ran = home.run(&["call", "--yes", "other", "--url", &web.url()]);
        assert!(ran.status == 5 && ran.stderr.contains(other), "{ran:?}");
        assert!(!ran.stderr.contains("no tools at all"), "{ran:?}");
    }
    assert_eq!(listed(json!([])).asked().len(), 0);
}
