use std::fs;

use crate::home::Home;
use crate::pty::{seen, seen_after};

#[test]
fn json_is_exactly_what_the_server_sent() {
    let result = r#"{ "content" : [],"x":1.0, "y":"\u00e9\/", "_meta":{"k":12345678901234567890} }"#;
    let ran =
        Home::new().run_fake(&["call", "--yes", "t", "--json"], &[("CALL", &format!("\"result\":{result}"))]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, &*format!("{result}\n"), ""));
}

#[test]
fn b_45_structured_content_is_shown_where_there_is_no_other() {
    for (result, shown) in [
        (r#"{"content":[],"structuredContent":{"a": 1}}"#, "{\"a\": 1}\n"),
        (r#"{"structuredContent":[1,2]}"#, "[1,2]\n"),
        (r#"{"content":[],"structuredContent":0}"#, "0\n"),
        (r#"{"content":[],"structuredContent":null}"#, "null\n"),
        (r#"{"content":[{"type":"text","text":"hi"}],"structuredContent":{"a":1}}"#, "hi\n"),
        (r#"{"content":[]}"#, ""),
    ] {
        let ran = Home::new().run_fake(&["call", "--yes", "t"], &[("CALL", &format!("\"result\":{result}"))]);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, shown), "{result}: {ran:?}");
    }
    let ran = Home::new().run_fake(&["call", "--yes", "t"], &[("CALL", "\"result\":{}")]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("warning: fake.sh") || ran.stderr.contains("neither content"), "{ran:?}");
}

const BLOCKS: &str = r#""result":{"content":[
{"type":"text","text":"one"},
{"type":"image","mimeType":"image/jpeg","data":"/9j/4A=="},
{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="},
{"type":"resource","resource":{"uri":"file:///x","mimeType":"application/pdf","blob":"JVBERg=="}},
{"type":"resource","resource":{"uri":"file:///t","text":"inside"}},
{"type":"resource_link","uri":"file:///l","name":"link\u001b[2J"},
{"type":"image","mimeType":"image/png"},
{"type":"hologram","x":1}]}"#;

#[test]
fn every_kind_of_block_has_a_line() {
    let call = BLOCKS.replace('\n', "");
    let shown = Home::new().run_fake(&["call", "--yes", "t"], &[("CALL", &call)]).ok();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines,
        [
            "one",
            "[image image/jpeg, 4 bytes; --out DIR saves it]",
            "[audio audio/wav, 4 bytes; --out DIR saves it]",
            "[resource application/pdf, 4 bytes; --out DIR saves it]",
            "inside",
            "[resource link\\x1b[2J: file:///l]",
            "[unusable block image: it has no data]",
            r#"{"type":"image","mimeType":"image/png"}"#,
            "[block of unknown type hologram]",
            r#"{"type":"hologram","x":1}"#,
        ]
    );
}

#[test]
fn out_saves_binary_content_with_the_right_endings_and_overwrites_nothing() {
    let home = Home::new();
    let call = BLOCKS.replace('\n', "");
    let shown = home.run_fake(&["call", "--yes", "t", "--out", "got"], &[("CALL", &call)]).ok();
    assert!(shown.contains("saved as got/t.jpg]") && shown.contains("saved as got/t.wav]"), "{shown}");
    assert_eq!(fs::read(home.path.join("work/got/t.jpg")).unwrap(), b"\xff\xd8\xff\xe0");
    assert_eq!(home.read("work/got/t.pdf"), "%PDF");
    home.write("work/got/t-2.jpg", "mine");
    let ran = home.run_fake(&["call", "--yes", "t", "--json", "--out", "got"], &[("CALL", &call)]);
    assert!(ran.json()["content"].is_array());
    assert_eq!(ran.stderr, "got/t-3.jpg\ngot/t-2.wav\ngot/t-2.pdf\n");
    assert_eq!(home.read("work/got/t-2.jpg"), "mine");
}

#[test]
fn out_never_leaves_its_folder() {
    let home = Home::new();
    let tools = r#"[{"name":"../../../evil","inputSchema":{"type":"object"}}]"#;
    let call = r#""result":{"content":[{"type":"image","mimeType":"../../x/../png","data":"aGk="}]}"#;
    home.run_fake(&["call", "--yes", "../../../evil", "--out", "got"], &[("TOOLS", tools), ("CALL", call)])
        .ok();
    let names: Vec<_> =
        fs::read_dir(home.path.join("work/got")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["evil.bin"]);
    let bad = r#""result":{"content":[{"type":"image","mimeType":"image/png","data":"$$"}]}"#;
    let ran = home.run_fake(&["call", "--yes", "t", "--out", "got"], &[("CALL", bad)]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("not in Base64"), "{ran:?}");
}

const STEERING: &str = "\\u001b[31mred\\u0007\\u009b2J\\u202egpj";

#[test]
fn b_03_no_control_character_of_a_server_reaches_what_we_format() {
    let home = Home::new();
    let tools = format!(
        r#"[{{"name":"t{STEERING}","description":"d{STEERING}","inputSchema":{{"type":"object","properties":{{"p{STEERING}":{{"type":"string"}}}}}}}}]"#
    );
    let failing = format!(r#""result":{{"content":[{{"type":"text","text":"{STEERING}"}}],"isError":true}}"#);
    let refusing = format!(r#""error":{{"code":1,"message":"{STEERING}"}}"#);
    let noisy = "printf '\\033[31mnoise\\033]0;title\\007\\n'; printf '\\033[31mnoise\\n' >&2";
    for ran in [
        home.run_fake(&["tools"], &[("TOOLS", &tools)]),
        home.run_fake(&["inspect", "t\u{1b}[31mred\u{7}\u{9b}2J\u{202e}gpj"], &[("TOOLS", &tools)]),
        home.run_fake(&["call", "--yes", "t"], &[("CALL", &failing)]),
        home.run_fake(&["call", "--yes", "t"], &[("CALL", &refusing)]),
        home.run_fake(&["call", "--yes", "t", "--json"], &[("CALL", &refusing)]),
        home.run_fake(&["doctor"], &[("ON_START", noisy)]),
        home.run_fake(&["call", "--yes", "t"], &[("ON_START", noisy), ("ON_CALL", "exit 1")]),
    ] {
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("red") || all.contains("noise"), "{ran:?}");
        assert!(!all.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{ran:?}");
    }
}

#[test]
fn text_goes_into_a_pipe_as_it_came_and_harmless_onto_a_terminal() {
    let call = format!(r#""result":{{"content":[{{"type":"text","text":"{STEERING}"}}]}}"#);
    let home = Home::new();
    let ran = home.run_fake(&["call", "--yes", "t"], &[("CALL", &call)]);
    assert_eq!(ran.stdout, "\u{1b}[31mred\u{7}\u{9b}2J\u{202e}gpj\n");
    for words in ["call --yes t", "--json call --yes t"] {
        let words = format!("{} {words} -- {}", env!("CARGO_BIN_EXE_sanswire"), home.fake());
        let seen = seen(&home, &words, &[("CALL", &call)], "");
        assert!(seen.contains("red"), "{seen:?}");
        assert!(!seen.contains("\u{1b}[31m") && !seen.contains(['\u{7}', '\u{9b}', '\u{202e}']), "{seen:?}");
    }
}

#[test]
fn a_terminal_gets_a_spinner_and_a_bar_after_a_moment_and_nothing_before() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_sanswire");
    let quick = seen(&home, &format!("{program} call demo/echo text=hello"), &[], "");
    assert_eq!(quick.replace('\r', ""), "hello\n");
    let slow = seen(&home, &format!("{program} call demo/slow seconds=1"), &[("TERM", "xterm")], "");
    assert!(slow.contains("step 5 of 10") && slow.contains("%"), "{slow:?}");
    let silent = home.run(&["call", "demo/slow", "seconds=0.6"]);
    assert_eq!(silent.stderr, "");
}

#[test]
fn no_color_is_honoured() {
    let home = Home::new();
    let words = format!("{} tools demo", env!("CARGO_BIN_EXE_sanswire"));
    assert!(seen(&home, &words, &[("TERM", "xterm")], "").contains("\u{1b}[1m"));
    assert!(!seen(&home, &words, &[("TERM", "xterm"), ("NO_COLOR", "1")], "").contains('\u{1b}'));
}

#[test]
fn a_question_of_a_servers_is_answered_on_the_terminal_in_both_eras() {
    let home = Home::new();
    for era in ["legacy", "modern"] {
        let words = format!("{} call demo/ask --era {era}", env!("CARGO_BIN_EXE_sanswire"));
        let seen = seen(&home, &words, &[("TERM", "xterm")], "\rAda\r");
        assert!(
            seen.contains("demo asks: What is your name?") && seen.contains("Hello, Ada!"),
            "{era}: {seen:?}"
        );
    }
    let ran = home.run(&["call", "demo/ask"]);
    assert_eq!(ran.status, 5);
    assert!(ran.stderr.contains("a capability that the request did not declare"), "{ran:?}");
    assert!(ran.stderr.contains("it asks a question: run this on a terminal"), "{ran:?}");
    // What else may be lacking no terminal gives.
    let lacks = |what: &str| {
        let data = format!(r#"{{"requiredCapabilities":{{"{what}":{{}}}}}}"#);
        let call = format!(r#""error":{{"code":-32021,"message":"no","data":{data}}}"#);
        home.run_fake(&["call", "--yes", "t", "--json"], &[("CALL", &call)]).error()["hint"].to_string()
    };
    assert!(lacks("elicitation").contains("terminal"));
    assert_eq!(lacks("sampling"), "null");
}

#[test]
fn b_03_a_question_steers_no_terminal_and_its_default_is_shown_as_it_is_taken() {
    let home = Home::new();
    let words = format!("{} call --yes t -- {}", env!("CARGO_BIN_EXE_sanswire"), home.fake());
    for (default, taken) in [("d\\u001b[31mred\\u0007", "Ada"), ("plain", "plain")] {
        let ask = format!(
            r#"{{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{{"message":"m{STEERING}","requestedSchema":{{"type":"object","properties":{{"f":{{"type":"string","title":"t{STEERING}","default":"{default}"}}}},"required":["f"]}}}}}}"#
        );
        let on_call = "printf '%s\\n' \"$ASK\"; IFS= read -r answer; call=$(printf %s \"$answer\" | sed 's/.*\"f\":\\(\"[^\"]*\"\\).*/\"result\":{\"content\":[{\"type\":\"text\",\"text\":\\1}]}/')";
        let keys = if default == "plain" { "\r\r" } else { "\rAda\r" };
        let seen = seen(&home, &words, &[("TERM", "xterm"), ("ASK", &ask), ("ON_CALL", on_call)], keys);
        assert!(seen.trim_end().ends_with(taken), "{seen:?}");
        assert!(!seen.contains("\u{1b}[31m") && !seen.contains(['\u{7}', '\u{9b}', '\u{202e}']), "{seen:?}");
    }
}

#[test]
fn b_03_what_nobody_sees_is_written_out() {
    let ran = Home::new().run_fake(
        &["call", "--yes", "t"],
        &[("CALL", r#""error":{"code":1,"message":"a\u3164\udb40\udd01b\ufe01\u034f\u2764\ufe0f"}"#)],
    );
    assert!(ran.stderr.contains("a\\u{3164}\\u{e0101}b\\u{fe01}\\u{34f}\u{2764}\u{fe0f}"), "{ran:?}");
}

#[test]
fn what_cannot_be_saved_takes_nothing_from_the_rest() {
    let home = Home::new();
    let content = r#"{"content":[{"type":"text","text":"before"},{"type":"image","mimeType":"image/png","data":"$$"},{"type":"image","mimeType":"image/png","data":"aGk="},{"type":"text","text":"after"}]"#;
    let call = format!("\"result\":{content}}}");
    let ran = home.run_fake(&["call", "--yes", "t", "--out", "got"], &[("CALL", &call)]);
    let lines = "before\n[image image/png, not saved: binary content is not in Base64]\n\
        [image image/png, 2 bytes, saved as got/t.png]\nafter\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (1, lines), "{ran:?}");
    assert!(ran.stderr.contains("error: binary content"), "{ran:?}");
    let ran = home.run_fake(&["call", "--yes", "t", "--out", "got", "--json"], &[("CALL", &call)]);
    assert_eq!((ran.status, ran.stdout), (1, format!("{content}}}\n")));
    let failed = format!("\"result\":{content},\"isError\":true}}");
    let ran = home.run_fake(&["call", "--yes", "t", "--out", "got"], &[("CALL", &failed)]);
    assert_eq!(ran.status, 5);
    assert!(ran.stderr.contains("after"), "{ran:?}");
}

#[test]
fn no_line_of_a_server_looks_like_one_of_ours() {
    let home = Home::new();
    let refusing = r#""error":{"code":1,"message":"first\nerror: second\nwarning: third"}"#;
    let ran = home.run_fake(&["call", "--yes", "t"], &[("CALL", refusing)]);
    assert!(ran.stderr.contains("first\n  error: second\n  warning: third (error 1)\n"), "{ran:?}");
    let gone = home.run_fake(&["tools"], &[("ON_START", "printf 'a\\nerror: b\\n' >&2; exit 1")]);
    assert_eq!(gone.stderr.matches("\nerror").count(), 0, "{gone:?}");
}

#[test]
fn questions_are_asked_one_after_the_other() {
    let home = Home::new();
    let ask = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"elicitation/create","params":{{"message":"question {id}\nerror: x","requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#
        )
    };
    let both = format!("{}\n{}", ask("a"), ask("b"));
    let on_call = "printf '%s\\n' \"$ASK\"; IFS= read -r one; IFS= read -r two";
    for quiet in ["", "-q"] {
        let words = format!("{} {quiet} call --yes t -- {}", env!("CARGO_BIN_EXE_sanswire"), home.fake());
        let variables = [("TERM", "xterm"), ("ASK", both.as_str()), ("ON_CALL", on_call)];
        let seen = seen_after(&home, &words, &variables, "What now?", "\r\r");
        let (first, second) = (seen.find("What now?: Answer"), seen.rfind("asks: question"));
        assert!(first.is_some() && first < second, "{quiet}: {seen:?}");
        assert!(seen.contains("\r\n  error: x") && seen.ends_with("ok\r\n"), "{quiet}: {seen:?}");
    }
}
