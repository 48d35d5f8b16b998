//! The demo server over HTTP: who gets in, and how it ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use crate::home::{Home, run, until};
use crate::web::Demo;

/// The status of an answer to this request, whose head goes on with `fields`.
fn status(demo: &Demo, line: &str, fields: &str) -> u16 {
    let mut stream = TcpStream::connect(demo.host()).unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\n{fields}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}")).parse().unwrap()
}

#[test]
fn only_who_shows_the_token_gets_in() {
    let home = Home::new();
    let words = ["--http", "127.0.0.1:0", "--token-env", "DEMO_TOKEN", "--path", "/tools"];
    let demo = Demo::start_with(&home, &words, &[("DEMO_TOKEN", "s3cr3t-demo")]);
    assert!(demo.url.ends_with("/tools"), "{}", demo.url);
    let call = |token: Option<&str>| {
        let mut words = vec!["call", "--yes", "echo", "text=hi", "--url", &demo.url];
        if token.is_some() {
            words.extend(["--bearer-env", "T"]);
        }
        let mut command = home.command(&words);
        command.envs(token.map(|token| ("T", token)));
        run(command, "")
    };
    let ran = call(None);
    assert!(ran.status == 3 && ran.stderr.contains("--bearer-env NAME"), "{ran:?}");
    let ran = call(Some("s3cr3t-wrong"));
    assert!(ran.status == 3 && !ran.stderr.contains("s3cr3t"), "{ran:?}");
    assert_eq!(call(Some("s3cr3t-demo")).ok(), "hi\n");
    assert_eq!(demo.end("-INT"), 0);
    for (value, says) in [("", "not set"), ("a b", "no token")] {
        let mut command =
            home.command(&["demo-server", "--http", "127.0.0.1:0", "--token-env", "DEMO_TOKEN"]);
        command.env("DEMO_TOKEN", value);
        let ran = run(command, "");
        assert!(ran.status == 1 && ran.stderr.contains(says), "{ran:?}");
    }
}

#[test]
fn only_names_that_are_welcome_get_in() {
    let home = Home::new();
    let demo = Demo::start(&home);
    let host = format!("Host: {}\r\n", demo.host());
    assert_eq!(status(&demo, "GET /elsewhere", &host), 404);
    assert_eq!(status(&demo, "POST /mcp", "Host: evil.example\r\n"), 403);
    assert_eq!(status(&demo, "POST /mcp", &format!("{host}Origin: https://evil.example\r\n")), 403);
    assert_ne!(status(&demo, "POST /mcp", &format!("{host}Origin: http://localhost:1\r\n")), 403);
    assert_ne!(status(&demo, "POST /mcp", &host), 403);
    let words =
        ["--http", "127.0.0.1:0", "--allow-host", "tools.example", "--allow-origin", "https://app.example"];
    let demo = Demo::start_with(&home, &words, &[]);
    let host = "Host: tools.example\r\n";
    assert_ne!(status(&demo, "POST /mcp", host), 403);
    assert_ne!(status(&demo, "POST /mcp", &format!("{host}Origin: https://app.example\r\n")), 403);
    assert_eq!(status(&demo, "POST /mcp", &format!("{host}Origin: https://evil.example\r\n")), 403);
    assert_eq!(status(&demo, "POST /mcp", "Host: evil.example\r\n"), 403);
    assert_eq!(home.run(&["call", "--yes", "echo", "text=hi", "--url", &demo.url]).ok(), "hi\n");
}

#[test]
fn an_address_that_others_reach_needs_a_token_or_a_word() {
    let home = Home::new();
    let ran = home.run(&["demo-server", "--http", "0.0.0.0:0"]);
    assert!(ran.status == 1 && ran.stderr.contains("--token-env NAME, or say --anybody"), "{ran:?}");
    for (words, variables) in [
        (&["--http", "0.0.0.0:0", "--anybody"][..], &[][..]),
        (&["--http", "0.0.0.0:0", "--token-env", "T"], &[("T", "s3cr3t")]),
    ] {
        let demo = Demo::start_with(&home, words, variables);
        let port = demo.host().rsplit(':').next().unwrap().to_owned();
        let url = format!("http://127.0.0.1:{port}/mcp");
        let mut command = home.command(&[
            "call",
            "--yes",
            "echo",
            "text=hi",
            "--url",
            &url,
            "-H",
            "Authorization: ${T:-x}",
        ]);
        command.envs(variables.iter().copied());
        assert_eq!(run(command, "").ok(), "hi\n");
        assert_eq!(demo.end("-TERM"), 0);
    }
    for (words, says) in [
        (&["--http", "127.0.0.1:0", "--path", "mcp"][..], "--path takes"),
        (&["--http", "127.0.0.1:0", "--path", "/a?b"], "--path takes"),
        (&["--http", "127.0.0.1:0", "--allow-host", "http://x"], "--allow-host takes"),
        (&["--http", "127.0.0.1:0", "--allow-origin", "x"], "--allow-origin takes"),
        (&["--http", "127.0.0.1:0", "--tcp", "127.0.0.1:0"], "cannot be used with"),
        (&["--path", "/x"], "--http"),
        (&["--anybody"], "--http"),
        (&["--http", "nowhere"], "cannot be listened on"),
    ] {
        let ran = home.run(&[&["demo-server"], words].concat());
        assert!(ran.status == 1 && ran.stderr.contains(says), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("listening on"), "{words:?}: {ran:?}");
    }
}

#[test]
fn a_signal_lets_what_is_under_way_finish() {
    let home = Home::new();
    let demo = Demo::start(&home);
    let words = ["call", "--yes", "slow", "seconds=1", "steps=2", "--url", &demo.url, "--trace", "t.jsonl"];
    let child = home.command(&words).stdout(Stdio::piped()).spawn().unwrap();
    until("it is under way", || {
        let trace = std::fs::read_to_string(home.path.join("work/t.jsonl")).unwrap_or_default();
        trace.contains("notifications/progress")
    });
    assert_eq!(demo.end("-TERM"), 0);
    let ran = child.wait_with_output().unwrap();
    assert_eq!(
        (ran.status.code(), &*String::from_utf8_lossy(&ran.stdout)),
        (Some(0), "Took 1 s in 2 steps.\n")
    );
}
