//! Secrets that get into a file of ours as they are: that is said, without them, with what to do instead.

use crate::home::{Home, Ran};
use crate::pty::Terminal;

const OWN: &str = "config/sanswire/config.json";

/// The members that a run warns of.
fn told(ran: &Ran, name: &str) -> Vec<String> {
    assert!(ran.status == 0 && !ran.stderr.contains("s3cret") && !ran.stdout.contains("s3cret"), "{ran:?}");
    let start = format!("warning: {name}: ");
    let warnings = ran.stderr.lines().filter_map(|line| line.strip_prefix(start.as_str()));
    let member = |line: &str| {
        let (member, rest) = line.split_once(' ').expect(line);
        assert!(rest.contains("stands in the file as plain text; "), "{line}");
        assert!(rest.contains("${NAME}") != rest.contains("HTTPS_PROXY"), "{line}");
        member.to_owned()
    };
    warnings.map(member).collect()
}

#[test]
fn what_is_imported_with_secrets_in_it_says_which_members_hold_them() {
    // H-153
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers":{
            "web":{"url":"https://x/mcp?v=2&api_key=s3cret-1","headers":{
                "Authorization":"Bearer s3cret-2","X-Api-Key":"s3cret-3","X-Region":"eu-central-1"}},
            "program":{"command":"x","args":["-y","mcp-remote","https://x","--header","Authorization: Bearer s3cret-4",
                "--token","s3cret-5"],"env":{"API_TOKEN":"s3cret-6","DB":"postgres://me:s3cret-7@h/d","LEVEL":"debugging"}},
            "clean":{"command":"x","args":["--token","${env:T}"],"env":{"API_TOKEN":"${env:T}"}},
            "cleanweb":{"url":"https://x/mcp?v=2","headers":{"Authorization":"Bearer ${env:T}"}}}}"#,
    );
    let import = |words: &[&str]| {
        let mut command = home.command(&[&["import"], words].concat());
        command.env("T", "t0ken");
        crate::home::run(command, "")
    };
    let web = ["url", "headers.Authorization", "headers.X-Api-Key"];
    let program = ["args[4]", "args[6]", "env.API_TOKEN", "env.DB"];
    let dry = import(&["--dry-run"]);
    assert!(!home.path.join(OWN).exists(), "{dry:?}");
    let ran = import(&[]);
    for ran in [&dry, &ran] {
        assert_eq!(
            (told(ran, "web"), told(ran, "program")),
            (web.map(str::to_owned).into(), program.map(str::to_owned).into())
        );
        assert_eq!(ran.stderr.lines().count(), web.len() + program.len(), "{ran:?}");
    }
    // What was said is true.
    assert_eq!(home.read(OWN).matches("s3cret").count(), web.len() + program.len());
    // Where what is said on standard error is for programs, the document says it.
    std::fs::remove_file(home.path.join(OWN)).unwrap();
    let ran = import(&["--json"]);
    assert_eq!(ran.stderr, "");
    let said = ran.json();
    assert_eq!(said["servers"][0]["plain_secrets"], serde_json::json!(web));
    assert_eq!(said["servers"][1]["plain_secrets"], serde_json::json!(program));
    assert!(said["servers"][2].get("plain_secrets").is_none(), "{said}");
}

#[test]
fn an_address_that_cannot_be_used_is_not_written_down() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"user":{"url":"https://me:s3cret@x/mcp"},"ws":{"url":"ws://x"},"fine":{"url":"https://x"}}}"#,
    );
    let ran = home.run(&["import"]);
    assert!(ran.status == 0 && !format!("{ran:?}").contains("s3cret"), "{ran:?}");
    for says in [
        "left out user from cursor: its url cannot be used: names and passwords do not belong into an address",
        "left out ws from cursor: its url cannot be used: an address begins with http://",
        "imported fine from cursor",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
    }
    assert!(!home.read(OWN).contains("s3cret"));
}

#[test]
fn what_is_added_with_secrets_in_it_says_which_members_hold_them() {
    // H-153
    let home = Home::new();
    for (words, members) in [
        (&["--url", "https://x", "-H", "Authorization: Bearer s3cret"][..], &["headers.Authorization"][..]),
        (
            &["--url", "https://x", "-H", "X-Api-Key: s3cret", "-H", "X-Region: eu-central-1"],
            &["headers.X-Api-Key"],
        ),
        (&["--url", "https://x", "-H", "Authorization: Bearer ${T:-s3cret}"], &["headers.Authorization"]),
        (&["--url", "https://x", "-H", "Authorization: Bearer ${T}", "-H", "X-Api-Key: ${K:-}"], &[]),
        (&["--url", "https://x/?token=s3cret"], &["url"]),
        (&["--url", "https://x/?page=s3cret"], &[]),
        (&["--url", "https://x", "--bearer-env", "T"], &[]),
        (&["--url", "https://x", "--proxy", "http://me:s3cret@p:1"], &["proxy"]),
        (&["--env", "API_KEY=s3cret", "--env", "PLAIN=x", "--", "x"], &["env.API_KEY"]),
        (&["--", "x", "-y", "--bearer", "s3cret", "--token=s3cret"], &["args[2]", "args[3]"]),
        (&["--env", "API_KEY=${T}", "--", "x", "--token=${T}"], &[]),
    ] {
        let ran = home.run(&[&["add", "k"], words].concat());
        assert_eq!(told(&ran, "k"), members, "{words:?}: {ran:?}");
        home.run(&["rm", "k"]).ok();
    }
    let said = home.run(&["add", "k", "--json", "--env", "API_KEY=s3cret", "--", "x"]);
    assert_eq!(
        (said.json()["plain_secrets"].clone(), &*said.stderr),
        (serde_json::json!(["env.API_KEY"]), "")
    );
    // What was told to a question counts as well.
    let mut terminal = Terminal::start(&home, &["add", "asked"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("\r");
    terminal.expect("Command: ");
    terminal.send("x --api-key s3cret\r");
    terminal.expect("Arguments, if any: ");
    terminal.send("\r");
    terminal.expect("warning: asked: args[1] holds what looks like a secret");
    assert_eq!(terminal.wait().0, 0);
}
