//! What a server on the web is sent and nobody is to see; and servers of strangers.

use serde_json::json;

use crate::home::{Home, run};
use crate::pty::{seen, seen_after};
use crate::web::{Web, answer, json_answer, legacy};

/// Spellings under which one of these values would be seen.
const SPELLINGS: [&str; 6] =
    ["s3cr3t", "czNjcjN0", "s%33cr3t", "hunter2-pw", "dTpodW50ZXIyLXB3", "query-val"];

#[test]
fn b_99_what_a_server_on_the_web_is_sent_is_nowhere_to_be_seen() {
    let home = Home::new();
    // It says everything that it was told, where it is refused and where not.
    let echo = |asked: &crate::web::Asked| {
        let told: Vec<&String> = asked.fields.values().collect();
        // What stands behind the name of a scheme alone, and what a pair of name and password holds.
        let bare: Vec<&str> = told.iter().filter_map(|value| value.rsplit(' ').next()).collect();
        let pair = if asked.fields.contains_key("x-basic") { "hunter2-pw" } else { "" };
        format!("{} {told:?} {bare:?} {pair}", asked.target)
    };
    let talkative =
        Web::new(move |asked| legacy(asked, "ok").replace("no such method", &echo(asked).replace('"', "'")));
    let refusing = Web::new(move |asked| {
        let said = echo(asked);
        let field = format!(
            "WWW-Authenticate: Bearer error=\"invalid_token\", realm=\"{}\"\r\n",
            said.replace('"', "'")
        );
        json_answer(
            "401 Unauthorized",
            &field,
            &json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": said}}),
        )
    });
    let failing = Web::new(move |asked| answer("500 Oh", "Content-Type: text/plain\r\n", &echo(asked)));
    let entry = |web: &Web| {
        json!({
            "url": format!("{}?api_key=s3cr3t-query&profile=query-value", web.url()),
            "bearer_env": "T", "timeout": 20,
            "headers": {"X-Api-Key": "s3cr3t-key", "X-Plain": "s3cr3t-plain", "X-Ref": "${REF}", "X-Basic": "Basic dTpodW50ZXIyLXB3"}
        })
    };
    home.configure(
        &json!({"talks": entry(&talkative), "refuses": entry(&refusing), "fails": entry(&failing)})
            .to_string(),
    );
    let mut all = String::new();
    for words in [
        &["call", "--yes", "talks/t", "--trace", "a.jsonl"][..],
        &["call", "--yes", "talks/t", "--json"],
        &["tools", "talks", "--era", "modern", "--trace", "b.jsonl"],
        &["tools", "refuses", "--trace", "c.jsonl"],
        &["tools", "refuses", "--json"],
        &["tools", "fails", "--trace", "d.jsonl"],
        &["tools", "fails", "--json"],
        &["servers"],
        &["servers", "--json"],
        &["servers", "--check"],
        &["servers", "--check", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["call", "--yes", "talks", "nope"],
        &["policy", "explain", "talks/t"],
    ] {
        let mut command = home.command(words);
        command.env("T", "s3cr3t-token").env("REF", "s3cr3t-ref");
        let ran = run(command, "");
        all.push_str(&ran.stdout);
        all.push_str(&ran.stderr);
    }
    let url = format!("{}?api_key=s3cr3t-query", refusing.url());
    for words in [&["tools"][..], &["tools", "--json"], &["call", "t"], &["doctor"]] {
        let more = ["--url", &url, "-H", "Authorization: Bearer s3cr3t-token", "-H", "X-Api-Key: s3cr3t-key"];
        let ran = home.run(&[words, &more].concat());
        all.push_str(&ran.stdout);
        all.push_str(&ran.stderr);
    }
    for trace in ["a", "b", "c", "d"] {
        all.push_str(&home.read(&format!("work/{trace}.jsonl")));
    }
    for spelling in SPELLINGS {
        let seen: Vec<&str> = all.lines().filter(|line| line.contains(spelling)).collect();
        assert!(seen.is_empty(), "{spelling}: {seen:#?}");
    }
    // They were sent, and would have been seen.
    for web in [&talkative, &refusing, &failing] {
        let asked = web.asked();
        assert!(
            asked.iter().any(|asked| asked.target == "/mcp?api_key=s3cr3t-query&profile=query-value"),
            "{asked:?}"
        );
        assert!(asked.iter().any(|asked| asked.fields["authorization"] == "Bearer s3cr3t-token"));
    }
    assert!(all.contains("***") && all.contains("/mcp"), "{all}");
}

#[test]
fn a_server_of_a_project_is_sent_nothing_before_it_is_allowed() {
    let home = Home::new();
    let web = Web::new(|asked| legacy(asked, "ok"));
    let entry = json!({"w": {
        "url": format!("{}?k=lit3ral", web.url()), "era": "legacy", "bearer_env": "TOKEN",
        "headers": {"X-Ref": "${REF}", "X-Lit": "lit3ral"}
    }});
    let file = json!({"mcpServers": entry}).to_string();
    home.write("work/.sanswire.json", &file);
    assert!(home.run(&["servers"]).ok().contains("not allowed yet"));
    for words in [
        &["call", "--yes", "w/t"][..],
        &["tools", "w"],
        &["doctor", "w"],
        &["servers", "--check", "w"],
        &["tools"],
    ] {
        let ran = home.run(words);
        assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
    }
    assert_eq!(home.run(&["tools", "w", "--json"]).error()["code"], "not_trusted");
    let line = format!("{} call --yes w/t", env!("CARGO_BIN_EXE_sanswire"));
    let variables = [("TOKEN", "s3cr3t-token"), ("REF", "s3cr3t-ref")];
    let refused = seen(&home, &line, &variables, "n\r");
    for shown in
        ["would send to:", &web.url(), "k=***", "with X-Ref: '${REF}'", "with X-Lit: ", "'Bearer ${TOKEN}'"]
    {
        assert!(refused.contains(shown), "{shown}: {refused:?}");
    }
    assert!(!refused.contains("lit3ral") && !refused.contains("s3cr3t"), "{refused:?}");
    assert_eq!(web.asked().len(), 0, "nothing was sent");
    let allowed = seen_after(&home, &line, &variables, "stays as it is?", "y\r");
    assert!(allowed.ends_with("ok\r\n"), "{allowed:?}");
    let again = |home: &Home| {
        let mut command = home.command(&["call", "--yes", "w/t"]);
        command.envs(variables);
        run(command, "")
    };
    assert_eq!(again(&home).ok(), "ok\n");
    home.write("work/.sanswire.json", &file.replace("lit3ral", "0ther"));
    assert_eq!(again(&home).status, 1, "it is another file");
    // What another program has in the project is a stranger's as well.
    home.write("work/.cursor/mcp.json", &json!({"mcpServers": {"c": {"url": web.url()}}}).to_string());
    let before = web.asked().len();
    assert_eq!(home.run(&["tools", "c"]).status, 1);
    assert_eq!(web.asked().len(), before);
    assert_eq!(home.run(&["call", "--yes", "c/t", "--trust", "--era", "legacy"]).ok(), "ok\n");
}
