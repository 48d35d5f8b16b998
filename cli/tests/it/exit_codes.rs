use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::home::{Home, Ran, wait};

const RPC_ERROR: &str = r#""error":{"code":-32000,"message":"broken","data":{"why":"x"}}"#;
const TOOL_ERROR: &str = r#""result":{"content":[{"type":"text","text":"it broke"}],"isError":true}"#;

type Run<'a> = &'a dyn Fn(&[&str]) -> Ran;

#[test]
fn b_107_each_kind_of_end_has_its_status_with_and_without_json() {
    let home = Home::new();
    let fake = |words: &[&str], variables: &[(&str, &str)]| home.run_fake(words, variables);
    let cases: [(&str, i32, &str, Run<'_>); 10] = [
        ("a JSON-RPC error", 5, "server_error", &|json| {
            fake(&[&["call", "--yes", "t"], json].concat(), &[("CALL", RPC_ERROR)])
        }),
        ("an unknown tool", 5, "not_found", &|json| home.run(&[&["call", "demo/nope"], json].concat())),
        ("an unknown server", 5, "not_found", &|json| {
            home.run(&[&["call", "--yes", "nope/t"], json].concat())
        }),
        ("a timeout", 4, "timed_out", &|json| {
            home.run(&[&["call", "demo/slow", "seconds=30", "--timeout", "1"], json].concat())
        }),
        ("a server that is gone in mid-call", 4, "connection_lost", &|json| {
            fake(&[&["call", "--yes", "t"], json].concat(), &[("ON_CALL", "echo last words >&2; exit 3")])
        }),
        ("no such program", 4, "not_started", &|json| {
            home.run(&[&["call", "--yes", "t"], json, &["--", "/nowhere/server"]].concat())
        }),
        ("nobody at the address", 4, "unreachable", &|json| {
            home.run(&[&["call", "--yes", "t", "--tcp", "127.0.0.1:1"], json].concat())
        }),
        ("arguments that are not JSON", 1, "usage", &|json| {
            home.run(&[&["call", "demo/add", "a:=one", "b=2"], json].concat())
        }),
        ("an answer that is too long", 13, "too_large", &|json| {
            let long = "head -c 17000000 /dev/zero | tr '\\0' ' '; printf ' '";
            fake(
                &[&["call", "--yes", "t"], json].concat(),
                &[(
                    "ON_CALL",
                    &format!(
                        "printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{{}}' $id; {long}; printf '}}\\n'; id=9999"
                    ),
                )],
            )
        }),
        ("wrong usage", 1, "usage", &|json| home.run(&[&["call"], json].concat())),
    ];
    for (what, status, code, run) in cases {
        let ran = run(&[]);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{what}: {ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{what}: {ran:?}");
        let ran = run(&["--json"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{what}: {ran:?}");
        let error = ran.error();
        assert_eq!((&error["code"], &error["exit"]), (&code.into(), &status.into()), "{what}: {ran:?}");
        assert!(error["message"].is_string(), "{what}: {ran:?}");
    }
}

#[test]
fn b_107_a_tool_that_fails_is_5_and_its_result_is_the_document() {
    let home = Home::new();
    let ran = home.run_fake(&["call", "--yes", "t"], &[("CALL", TOOL_ERROR)]);
    assert_eq!((ran.status, ran.stdout.as_str()), (5, ""));
    assert!(ran.stderr.contains("it broke"), "{ran:?}");
    let ran = home.run_fake(&["call", "--yes", "t", "--json"], &[("CALL", TOOL_ERROR)]);
    assert_eq!((ran.status, ran.stderr.as_str()), (5, ""));
    assert_eq!(ran.json()["isError"], true);
}

#[test]
fn b_107_what_happens_after_the_result_does_not_change_the_status() {
    let home = Home::new();
    let stubborn = [("ON_START", "trap '' TERM"), ("ON_CALL", "reply \"$call\"; exec sleep 1000")];
    let ran = home.run_fake(&["call", "--yes", "t"], &stubborn);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "ok\n"), "{ran:?}");
    let dies = [("ON_CALL", "reply \"$call\"; exit 9")];
    assert_eq!(home.run_fake(&["call", "--yes", "t"], &dies).ok(), "ok\n");
}

#[test]
fn b_107_details_of_the_servers_error_are_kept_for_programs() {
    let error = Home::new().run_fake(&["call", "--yes", "t", "--json"], &[("CALL", RPC_ERROR)]).error();
    assert_eq!(error["rpc"]["code"], -32000);
    assert_eq!(error["rpc"]["data"]["why"], "x");
    let lost = Home::new()
        .run_fake(&["call", "--yes", "t", "--json"], &[("ON_CALL", "echo last words >&2; sleep 0.2; exit 3")])
        .error();
    assert_eq!(lost["stderr"], "last words");
    assert!(lost["message"].as_str().unwrap().contains("exited with status 3"), "{lost}");
}

#[test]
fn an_internal_error_comes_with_what_the_server_wrote_last() {
    let home = Home::new();
    let lines = r"i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i >&2; done";
    let panics = format!(r#"{lines}; printf 'panicked: \033[2J%s\n' "$MY_TOKEN" >&2"#);
    let internal = r#""error":{"code":-32603,"message":"internal error"}"#;
    let variables = [("CALL", internal), ("ON_CALL", panics.as_str())];
    let secret = ["--env", "MY_TOKEN=sesame-open"];
    let ran = home.run_fake(&[&["call", "--yes", "t"][..], &secret].concat(), &variables);
    assert_eq!((ran.status, ran.stdout.as_str()), (5, ""), "{ran:?}");
    assert!(ran.stderr.contains("internal error (error -32603)"), "{ran:?}");
    assert!(ran.stderr.contains("  its standard error ends with:\n  | line 30\n"), "{ran:?}");
    assert!(ran.stderr.contains("  | panicked: ") && ran.stderr.contains("***"), "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains("sesame"), "{ran:?}");
    assert!(!ran.stderr.contains("the server exited"), "{ran:?}");
    let error = home.run_fake(&[&["call", "--yes", "t", "--json"][..], &secret].concat(), &variables).error();
    assert_eq!(error["rpc"]["code"], -32603);
    assert!(error["stderr"].as_str().unwrap().starts_with("line 30\n"), "{error}");
    // Of a tool that the server knows to have failed, it has said itself what there is to say.
    let other = home.run_fake(&["call", "--yes", "t"], &[("CALL", RPC_ERROR), ("ON_CALL", lines)]);
    assert!(!other.stderr.contains("line 40"), "{other:?}");
    // Without a word nothing is made up.
    let silent = home.run_fake(&["call", "--yes", "t", "--json"], &[("CALL", internal)]).error();
    assert!(silent["stderr"].is_null(), "{silent}");
}

#[test]
fn b_107_a_closed_pipe_is_no_error() {
    let home = Home::new();
    // Far more than a pipe holds.
    let big = r#"call="\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"first\\n$(head -c 400000 /dev/zero | tr '\0' x)\"}]}""#;
    let fake = home.path.join("fake.sh");
    let words = ["call", "--yes", "t", "--", "sh", fake.to_str().unwrap()];
    let mut child = home
        .command(&words)
        .env("ON_CALL", big)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "first\n");
    assert_eq!(wait(&mut child), 0);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn b_107_a_document_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    for words in [&["completions", "bash"][..], &["call", "demo/echo", "text=x"], &["--help"], &["--version"]]
    {
        let status =
            Home::new().command(words).stdout(full.try_clone().unwrap()).stderr(Stdio::null()).status();
        assert_eq!(status.unwrap().code(), Some(1), "{words:?}");
    }
}
