//! What `--record` writes, and what `replay` says of it.

use std::fs;

use serde_json::{Value, json};

use crate::home::{Home, Ran, run};
use crate::web::Demo;

const SECRET: &str = "s3cr3t-\"quoted\"-value";

/// The lines of a recording.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn replay(home: &Home, text: &str) -> Ran {
    home.write("work/again", text);
    home.run(&["replay", "again", "--json"])
}

#[test]
fn a_call_is_the_same_again_in_both_eras() {
    for era in ["legacy", "modern", "auto"] {
        let home = Home::new();
        let slow = ["call", "demo/slow", "seconds=0.2", "steps=3", "--era", era, "--record", "r"];
        home.run(&slow).ok();
        let text = home.read("work/r");
        let is_input = |line: &&Value| line["in"].is_string();
        let inputs = lines(&text).iter().filter(is_input).count();
        let said = home.run(&["replay", "r"]).ok();
        let (first, rest) = said.split_once('\n').unwrap();
        assert!(first.starts_with(&format!("the same: {inputs} inputs, ")) && rest.is_empty(), "{said}");
        let said = home.run(&["replay", "r", "--json"]).json();
        assert_eq!((&said["same"], &said["inputs"]), (&json!(true), &json!(inputs)), "{said}");
        assert_eq!((&said["connections"], &said["unfinished"]), (&json!(1), &json!(0)), "{said}");
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(home.path.join("work/r")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn one_byte_of_an_answer_is_found_where_it_is() {
    let home = Home::new();
    home.run(&["call", "demo/echo", "text=hello", "--record", "r"]).ok();
    let text = home.read("work/r");
    // The answer that was read, not the request that was written.
    let (number, line) = text
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains("\"in\":\"read\"") && line.contains("hello"))
        .unwrap();
    let edited = text.replacen(line, &line.replacen("hello", "hallo", 1), 1);
    let input: Value = serde_json::from_str(line).unwrap();
    home.write("work/edited", &edited);
    let ran = home.run(&["replay", "edited", "--json"]);
    assert_eq!(ran.status, 6);
    let told = &ran.json()["difference"];
    assert_eq!((&told["input"], &told["at"], &told["connection"]), (&input["n"], &input["at"], &json!(0)));
    assert_eq!(
        (&told["line"], &told["what"], &told["server"]),
        (&json!(number + 2), &json!("event"), &json!("demo"))
    );
    assert!(told["expected"].as_str().unwrap().contains("hello"), "{told}");
    assert!(told["got"].as_str().unwrap().contains("hallo"), "{told}");
    let ran = home.run(&["replay", "edited"]);
    assert_eq!(ran.status, 6);
    let starts =
        format!("different in line {}, after input {} of connection 0 (demo), at 0.", number + 2, input["n"]);
    assert!(ran.stdout.starts_with(&starts) && ran.stdout.contains("\n  now:      …"), "{ran:?}");
}

#[test]
fn several_servers_are_several_connections() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    home.configure(&format!(
        r#"{{"a":{{"command":"sh","args":["{fake}"]}},"b":{{"command":"sh","args":["{fake}"]}}}}"#
    ));
    home.run(&["tools", "a", "b", "demo", "--record", "r"]).ok();
    let said = replay(&home, &home.read("work/r")).json();
    assert_eq!((&said["same"], &said["unfinished"]), (&json!(true), &json!(0)), "{said}");
    let mut servers: Vec<String> = lines(&home.read("work/r"))
        .iter()
        .filter(|line| line["in"] == "begin")
        .map(|line| line["server"].as_str().unwrap().to_owned())
        .collect();
    servers.sort();
    assert_eq!(servers, ["a", "b", "demo"]);
}

#[test]
fn b_99_no_secret_of_the_configuration_stands_in_a_recording() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let quoted = SECRET.replace('"', "\\\"");
    home.configure(&format!(
        r#"{{"s":{{"command":"sh","args":["{fake}","--token","{quoted}"],"env":{{"TOKEN":"{quoted}"}}}}}}"#
    ));
    let echo = r#"call="\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"token $(printf %s "$TOKEN" | sed 's/"/\\"/g') and $(printf %s "$TOKEN" | base64)\"}]}""#;
    let noisy = "printf 'token %s\\n' \"$TOKEN\"; printf '%070d%s\\n' 0 \"$TOKEN\"";
    for era in ["auto", "legacy"] {
        let words = [
            "call",
            "--yes",
            "s/t",
            "--era",
            era,
            "--record",
            "r",
            "--args",
            r#"{"password":"open sesame"}"#,
        ];
        let mut command = home.command(&words);
        command.env("ON_CALL", echo).env("ON_START", noisy);
        assert!(run(command, "").ok().contains("s3cr3t"), "what a call gives is the user's own");
        let text = home.read("work/r");
        for spelling in ["s3cr3t", "quoted", "czNjcjN0LSJxdW90ZWQiLXZhbHVl", "open sesame"] {
            let seen: Vec<&str> = text.lines().filter(|line| line.contains(spelling)).collect();
            assert!(seen.is_empty(), "{spelling}: {seen:#?}");
        }
        assert!(text.contains("token ****"), "{text}");
        assert_eq!(replay(&home, &text).json()["same"], true);
    }
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let home = Home::new();
    home.run(&["call", "demo/echo", "text=hello", "--record", "r"]).ok();
    let text = home.read("work/r");
    let last = text.lines().count();
    let version = env!("CARGO_PKG_VERSION");
    for (text, says) in [
        (String::new(), "it is empty".to_owned()),
        ("garbage\n".into(), "it is no recording".into()),
        ("\u{1}\u{2}\u{0}".into(), "it is no recording".into()),
        (format!("{}\nx\n", text.lines().next().unwrap()), "line 2 is no JSON object".into()),
        (text[..text.len() - 5].into(), format!("line {last}, the last one, was cut off")),
        (text.replacen(version, "0.0.9", 1), "version 0.0.9 recorded it".into()),
        (text.replacen("\"n\":3,", "", 1), "`n` is missing".into()),
        (format!("{}{}", text.lines().next().unwrap(), " ".repeat(65 << 20)), "line 1 is longer than".into()),
    ] {
        let ran = replay(&home, &text);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{says}");
        let error = ran.error();
        assert!(error["message"].as_str().unwrap().contains(&says), "{says}: {error}");
    }
    assert_eq!(home.run(&["replay", "nowhere"]).status, 1);
    assert_eq!(home.run(&["replay", "."]).status, 1);
    // Cut between two lines, it is the same as far as it goes.
    let cut: String = text.split_inclusive('\n').take(4).collect();
    home.write("work/cut", &cut);
    let said = home.run(&["replay", "cut"]).ok();
    assert!(said.starts_with("the same: ") && said.contains("ends in the middle of a connection"), "{said}");
}

#[test]
fn a_trace_is_read_as_far_as_it_says_anything() {
    for era in ["legacy", "modern"] {
        let home = Home::new();
        home.run(&["call", "demo/slow", "seconds=0.1", "steps=2", "--era", era, "--trace", "t"]).ok();
        let said = home.run(&["replay", "t"]).ok();
        assert!(said.starts_with("nothing to compare: "), "{said}");
        assert!(said.contains(" progress; no violation\n"), "{said}");
    }
    let home = Home::new();
    let junk = [("ON_CALL", "echo not json; call='\"error\":{\"code\":5,\"message\":\"m\"}'")];
    assert_eq!(home.run_fake(&["call", "--yes", "t", "--era", "legacy", "--trace", "t"], &junk).status, 5);
    let said = home.run(&["replay", "t", "--json"]).json();
    let heard = &said["servers"][0];
    assert_eq!(said["same"], Value::Null);
    assert_eq!((&heard["server"], &heard["answered_with_an_error"]), (&json!("sh"), &json!(1)), "{said}");
    let line = home.read("work/t").lines().position(|line| line.contains("not json")).unwrap() + 1;
    assert_eq!(heard["violations"][0]["line"], line, "{said}");
    home.write("work/t", &format!("{}nonsense\n", home.read("work/t")));
    let ran = home.run(&["replay", "t"]);
    assert!(ran.status == 1 && ran.stderr.contains("is no line of a trace"), "{ran:?}");
}

#[test]
fn what_goes_over_http_is_recorded_without_secrets() {
    let home = Home::new();
    let demo = Demo::start(&home);
    let url = format!("{}?api=key-of-mine", demo.url);
    let ran = home.run(&["call", "--yes", "echo", "text=hi", "--url", &url, "--record", "r"]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.contains("not recorded")), (0, "hi\n", false));
    let said = home.run(&["replay", "r"]).ok();
    assert!(said.starts_with("the same: ") && said.lines().count() == 1, "{said}");
    let text = home.read("work/r");
    assert!(!text.contains("key-of-mine") && text.contains("?api=***********"), "{text}");
    // What came is another: that is told, with the line of what it changes.
    home.write("work/r", &text.replacen(r#"\"text\":\"hi\""#, r#"\"text\":\"ho\""#, 1));
    let line =
        text.lines().position(|line| line.contains(r#""text":"hi"}"#) && line.contains("\"event\"")).unwrap()
            + 1;
    let ran = home.run(&["replay", "r"]);
    assert_eq!(ran.status, 6, "{ran:?}");
    assert!(ran.stdout.contains(&format!("different in line {line},")), "{line}: {ran:?}");
    demo.end("-INT");
}

#[test]
fn a_recording_that_cannot_be_written_is_told_of() {
    let home = Home::new();
    let ran = home.run(&["call", "demo/echo", "text=x", "--record", "/nowhere/r"]);
    assert_eq!(ran.status, 1);
    if fs::exists("/dev/full").unwrap() {
        let ran = home.run(&["call", "demo/echo", "text=x", "--record", "/dev/full"]);
        assert!(ran.status == 1 && ran.stderr.contains("the recording cannot be written"), "{ran:?}");
    }
}
