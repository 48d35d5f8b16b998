use crate::home::{Home, run};

const SECRET: &str = "s3cr3t-\"quoted\"-value";

#[test]
fn b_99_secrets_of_the_configuration_are_nowhere_to_be_seen() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let quoted = SECRET.replace('"', "\\\"");
    home.configure(&format!(
        r#"{{"s":{{"command":"sh","args":["{fake}","-e","API_KEY={quoted}","--token","{quoted}","${{FROM_ENV}}"],
            "env":{{"TOKEN":"{quoted}"}}}},
           "missing":{{"command":"/nowhere","args":["--api-key={quoted}"],"env":{{"TOKEN":"{quoted}"}}}},
           "dies":{{"command":"sh","args":["-c","echo key is $TOKEN >&2; exit 1"],"env":{{"TOKEN":"{quoted}"}}}}}}"#
    ));
    let echo = r#"call="\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"token $(printf %s "$TOKEN" | sed 's/"/\\"/g') and $(printf %s "$TOKEN" | base64)\"}]}""#;
    let noisy = "printf 'token %s\\n' \"$TOKEN\" >&2; printf '%070d%s\\n' 0 \"$TOKEN\"";
    let mut all = String::new();
    for words in [
        &["call", "--yes", "s/t", "--trace", "trace.jsonl", "--json"][..],
        &["servers"],
        &["servers", "--check"],
        &["servers", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["call", "--yes", "missing/t"],
        &["call", "--yes", "missing/t", "--json"],
        &["call", "--yes", "dies/t"],
        &["call", "--yes", "dies/t", "--json"],
    ] {
        let mut command = home.command(words);
        command.env("ON_CALL", echo).env("ON_START", noisy).env("FROM_ENV", SECRET);
        let ran = run(command, "");
        // The result of a call is the user's own.
        if !words.contains(&"s/t") {
            all.push_str(&ran.stdout);
        } else {
            assert!(ran.stdout.contains("s3cr3t"), "{ran:?}");
        }
        all.push_str(&ran.stderr);
    }
    let trace = home.read("work/trace.jsonl");
    all.push_str(&trace);
    for spelling in ["s3cr3t", "quoted", "czNjcjN0LSJxdW90ZWQiLXZhbHVl"] {
        let seen: Vec<&str> = all.lines().filter(|line| line.contains(spelling)).collect();
        assert!(seen.is_empty(), "{spelling}: {seen:#?}");
    }
    assert!(all.contains("token ***") && all.contains("--token"), "{all}");
    for line in trace.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["at"].is_number() && line["server"] == "s", "{line}");
        assert!(line["message"]["jsonrpc"] == "2.0" || line["text"].is_string(), "{line}");
        assert!(["sent", "received"].contains(&line["direction"].as_str().unwrap()), "{line}");
    }
}

#[test]
fn a_trace_shows_lines_that_are_no_json_too() {
    let home = Home::new();
    home.run_fake(&["call", "--yes", "t", "--trace", "t.jsonl"], &[("ON_START", "echo not json")]).ok();
    assert!(home.read("work/t.jsonl").contains("\"text\":\"not json\""));
    let ran = home.run(&["call", "demo/echo", "text=x", "--trace", "/nowhere/t"]);
    assert_eq!(ran.status, 1);
}

#[test]
fn b_99_secrets_inside_of_arguments_and_values_are_found() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    home.configure(&format!(
        r#"{{"s":{{"command":"sh","args":["{fake}","postgres://u:s3cr3t-one@h/db","--header","Authorization: Bearer s3cr3t-two==",
            "https://h/?a=b&api_key=s3cr3t-three","plain s3cr3t-seven","${{S}}","{{\"token\":\"s3cr3t-four\"}}"],
            "env":{{"REF":"${{S}}","TOKEN":"s3cr3t-seven","URL":"http://u:s3cr3t-five@h","PRIVATE_KEY":"-----BEGIN\ns3cr3t-six\n-----END","P":"s3cr3t-&<sëven>"}}}}}}"#
    ));
    let says = r#"{"code":1,"message":"s3cr3t-one s3cr3t-two== s3cr3t-three s3cr3t-four s3cr3t-five s3cr3t-six","data":["s3cr3t-\u0026\u003cs\u00ebven\u003e","s3cr3t-%26%3Cs%C3%ABven%3E"]}"#;
    for words in [
        &["call", "--yes", "s/t", "--trace", "t.jsonl"][..],
        &["call", "--yes", "s/t", "--json"],
        &["servers"],
        &["servers", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let mut command = home.command(words);
        command.env("CALL", format!("\"error\":{says}")).env("S", "s3cr3t-eight");
        let ran = run(command, "");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("***") && !all.contains("s3cr3t"), "{words:?}: {all}");
    }
    assert!(!home.read("work/t.jsonl").contains("s3cr3t"));
    // What a reference says is no secret.
    assert!(home.run(&["servers"]).ok().contains("'plain ***' '${S}'"));
}

#[test]
fn b_99_what_is_not_secret_stays_readable() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    home.configure(&format!(r#"{{"s":{{"command":"sh","args":["{fake}","${{HOME}}/notes","${{N:-2}}"]}}}}"#));
    let shown = home.run(&["doctor", "s", "--trace", "t.jsonl"]).ok();
    assert!(shown.contains(&format!("{}/notes 2", home.path.display())), "{shown}");
    assert!(home.read("work/t.jsonl").contains("\"jsonrpc\":\"2.0\""));
}

#[test]
fn a_trace_that_cannot_be_written_is_told_of() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let ran = Home::new().run(&["call", "demo/echo", "text=x", "--trace", "/dev/full"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "x\n"));
    assert!(ran.stderr.contains("warning: the trace is incomplete"), "{ran:?}");
}
