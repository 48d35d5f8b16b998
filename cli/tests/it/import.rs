use crate::home::{Home, run};
use crate::pty::seen_after;

const OWN: &str = "config/sanswire/config.json";

fn file(home: &Home) -> serde_json::Value {
    serde_json::from_str(&home.read(OWN)).unwrap()
}

fn import(home: &Home, words: &[&str]) -> crate::home::Ran {
    let mut command = home.command(&[&["import"], words].concat());
    command.env("TOKEN", "tok").env("DIR", "/d");
    run(command, "")
}

fn filled() -> Home {
    let home = Home::new();
    home.write(
        ".claude.json",
        r#"{"mcpServers":{
            "one":{"command":"${DIR}/x","args":["$${TOKEN:-d}"],"env":{}},
            "two":{"command":"x","args":["${TOKEN}","${NOPE:-d}"],"env":{"TOKEN":"${TOKEN}"},"timeout":5000},
            "unset":{"command":"x","env":{"A":"${NOPE}"}},
            "secret":{"url":"https://x/?k=${TOKEN}"}}}"#,
    );
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers":{
            "two":{"command":"other"},
            "web":{"url":"https://x","headers":{"Authorization":"Bearer ${env:TOKEN}","Accept":"x"}},
            "home":{"command":"x","args":["${userHome}","${workspaceFolder}"]},
            "plain":{"command":"${userHome}/bin/x","args":["${/}","${TOKEN}"],"cwd":"sub","trust":true,"approval":"allow"}}}"#,
    );
    home.write(
        "config/Code/User/mcp.json",
        r#"{"servers":{"asks":{"command":"x","env":{"K":"${input:key}"}},"old":{"type":"sse","url":"https://x"}}}"#,
    );
    home.write(
        ".codex/config.toml",
        "[mcp_servers.cx]\ncommand = 'x'\nargs = ['${TOKEN}']\nenv_vars = ['TOKEN']\nenabled_tools = ['a']\ndisabled_tools = ['b']\nstartup_timeout_sec = 3\nenabled = false\n",
    );
    home.write("work/.mcp.json", r#"{"mcpServers":{"strange":{"command":"touch","args":["started"]}}}"#);
    home
}

#[test]
fn servers_of_all_programs_are_taken_over_in_our_own_words() {
    let home = filled();
    assert!(home.run(&["servers"]).stderr.contains("sanswire import copies those of other programs"));
    assert!(!Home::new().run(&["servers"]).stderr.contains("import"));
    let ran = import(&home, &["--dry-run"]);
    assert!(ran.stdout.contains("would import web from cursor") && !home.path.join(OWN).exists(), "{ran:?}");
    let said = import(&home, &[]).ok();
    for line in [
        "imported two from claude-code\n",
        "left out one from claude-code: args[0] has a dollar sign before a reference",
        "left out unset from claude-code: the variable NOPE is not set; env.A needs it\n",
        "left out secret from claude-code: url holds TOKEN, which would be written down in it\n",
        "left out two from cursor: there is one of this name",
        "imported web from cursor\n  the header Accept belongs to the transport",
        "left out home from cursor: args[1] depends on the folder that is open\n",
        "left out asks from vscode: env.K needs the input \"key\", which VS Code asks for\n",
        "imported old from vscode\n",
        "imported cx from codex\n",
        "Saved in /",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("strange"), "{said}");
    let home_path = home.path.display();
    let expected = serde_json::json!({
        "two": {"command": "x", "args": ["${TOKEN}", "${NOPE:-d}"], "env": {"TOKEN": "${TOKEN}"}, "inherit_env": "list", "timeout": 5},
        "web": {"url": "https://x", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "plain": {"command": format!("{home_path}/bin/x"), "args": ["/", "$${TOKEN}"], "cwd": format!("{home_path}/.cursor/sub"), "inherit_env": "list"},
        "old": {"url": "https://x", "type": "sse"},
        "cx": {"command": "x", "args": ["$${TOKEN}"], "env": {"TOKEN": "${TOKEN}"}, "inherit_env": "list", "allowed_tools": ["a"], "blocked_tools": ["b"], "connect_timeout": 3, "disabled": true},
    });
    assert_eq!(file(&home)["mcpServers"], expected);
    assert!(!home.read(OWN).contains("tok\""), "no secret is written down");
    // Once more changes nothing.
    let text = home.read(OWN);
    assert!(!import(&home, &[]).ok().contains("imported"));
    assert_eq!(home.read(OWN), text);
    assert!(home.run(&["servers"]).ok().contains("web@cursor"));
    assert_eq!(home.run(&["servers"]).stderr, "");
}

#[test]
fn a_program_and_servers_can_be_named() {
    let home = filled();
    assert!(import(&home, &["cursor", "web"]).ok().contains("imported web from cursor"));
    assert_eq!(file(&home)["mcpServers"].as_object().unwrap().len(), 1);
    assert!(import(&home, &["two"]).stdout.contains("imported two from claude-code"));
    let ran = import(&home, &["unset"]);
    assert!(ran.status == 1 && ran.stdout.contains("left out unset"), "{ran:?}");
    let ran = import(&home, &["curser"]);
    assert!(ran.status == 5 && ran.stderr.contains("did you mean cursor?"), "{ran:?}");
    let ran = import(&home, &["zed", "web"]);
    assert!(ran.status == 5 && ran.stderr.contains("to import from zed"), "{ran:?}");
    assert_eq!(import(&home, &["zed"]).ok(), "There is nothing to import.\n");
    let listed = import(&home, &["vscode", "--json"]).json();
    assert_eq!(
        listed["servers"][1],
        serde_json::json!({"name": "old", "source": "vscode", "imported": true})
    );
    assert!(listed["servers"][0]["left_out"].as_str().unwrap().contains("input"), "{listed}");
}

#[test]
fn what_comes_with_a_project_is_taken_over_only_if_it_is_meant_and_trusted() {
    let home = filled();
    let ran = import(&home, &["strange"]);
    assert_eq!(ran.status, 5, "{ran:?}");
    let ran = import(&home, &["claude-code-project"]);
    assert!(ran.status == 1 && ran.stderr.contains("has not been allowed"), "{ran:?}");
    assert!(!home.path.join(OWN).exists());
    assert!(import(&home, &["claude-code-project", "--dry-run"]).ok().contains("would import strange"));
    import(&home, &["claude-code-project", "--trust"]).ok();
    let entry = &file(&home)["mcpServers"]["strange"];
    assert_eq!(entry["cwd"], home.path.join("work").display().to_string());
    assert!(!home.path.join("work/started").exists());
    // Nor does a secret get to an address of theirs.
    home.write(
        "work/.cursor/mcp.json",
        r#"{"mcpServers":{"far":{"url":"https://x","headers":{"A":"${env:TOKEN}"}}}}"#,
    );
    let ran = import(&home, &["cursor-project"]);
    assert!(ran.status == 1 && ran.stderr.contains("has not been allowed"), "{ran:?}");
    assert!(!home.read(OWN).contains("far"));
    let line = format!("{} import cursor-project", env!("CARGO_BIN_EXE_sanswire"));
    let seen = seen_after(&home, &line, &[("TOKEN", "tok")], "stays as it is?", "y\r");
    assert!(seen.contains("would send to:\r\n  https://x\r\n  with A: '${env:TOKEN}'"), "{seen:?}");
    assert!(home.read(OWN).contains("far"));
}
