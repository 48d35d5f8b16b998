//! What `add` asks on a terminal.

use crate::home::{Home, until};
use crate::pty::Terminal;

const OWN: &str = "config/sanswire/config.json";

fn file(home: &Home) -> serde_json::Value {
    serde_json::from_str(&home.read(OWN)).unwrap()
}

#[test]
fn on_a_terminal_it_asks_for_the_kind_the_name_and_the_rest() {
    // H-157
    let home = Home::new();
    home.configure(r#"{"taken":{"command":"x"}}"#);
    let mut terminal = Terminal::start(&home, &["add"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("\r");
    for (name, why) in
        [("", "a name is needed"), ("my_server", "letters, digits and hyphens"), ("taken", "already")]
    {
        terminal.expect("Name: ");
        terminal.send(&format!("{name}\r"));
        terminal.expect(why);
    }
    terminal.expect("Name: ");
    terminal.send("filx\u{7f}es\r");
    terminal.expect("Command: ");
    terminal.send(" \r");
    terminal.expect("a command is needed");
    terminal.expect("Command: ");
    terminal.send("\"/opt/my server\" -y\r");
    terminal.expect("Arguments, if any: ");
    terminal.send("--root \"/a b\" \"open\r");
    terminal.expect("is not closed, and was dropped");
    let (status, seen) = terminal.wait();
    assert!(status == 0 && seen.contains("Saved files in "), "{seen:?}");
    let entry = &file(&home)["mcpServers"]["files"];
    assert_eq!(
        *entry,
        serde_json::json!({"command": "/opt/my server", "args": ["-y", "--root", "/a b", "open"]})
    );

    let mut terminal = Terminal::start(&home, &["add", "web"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("j\r");
    terminal.expect("Address: ");
    terminal.send("example.com\r");
    terminal.expect("begins with http:// or https://");
    terminal.expect("Address: ");
    terminal.send("https://example.com/mcp\r");
    terminal.expect("How does it speak?");
    terminal.send("\r");
    terminal.expect("Headers, if any");
    terminal.send("Accept: x\r");
    terminal.expect("belongs to the transport");
    terminal.expect("Headers, if any");
    terminal.send("A: b, lost, C: d\r");
    terminal.expect("\"lost\" is not Name: value, and was dropped");
    terminal.expect("Variable that holds a token for it, if any: ");
    terminal.send("sk-123\r");
    terminal.expect("not the token");
    terminal.expect("Variable that holds a token for it, if any: ");
    terminal.send("WEB_TOKEN\r");
    assert_eq!(terminal.wait().0, 0);
    let entry = &file(&home)["mcpServers"]["web"];
    assert_eq!(
        *entry,
        serde_json::json!({
            "url": "https://example.com/mcp", "headers": {"A": "b", "C": "d"}, "bearer_env": "WEB_TOKEN"
        })
    );

    // Who says by a header who asks is not asked for a token.
    let mut terminal = Terminal::start(&home, &["add", "old"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("j\r");
    terminal.expect("Address: ");
    terminal.send("https://example.com/sse\r");
    terminal.expect("How does it speak?");
    terminal.expect_keys();
    terminal.send("jj\r");
    terminal.expect("Headers, if any");
    terminal.send("Authorization: ${T}\r");
    assert_eq!(terminal.wait().0, 0);
    let entry = &file(&home)["mcpServers"]["old"];
    assert_eq!(
        *entry,
        serde_json::json!({
            "url": "https://example.com/sse", "type": "sse", "headers": {"Authorization": "${T}"}
        })
    );

    let mut terminal = Terminal::start(&home, &["add", "bare"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("\r");
    terminal.expect("Command: ");
    terminal.send("x\r");
    terminal.expect("Arguments, if any: ");
    terminal.send("\r");
    assert_eq!(terminal.wait().0, 0);
    assert_eq!(file(&home)["mcpServers"]["bare"], serde_json::json!({"command": "x"}));
}

#[test]
fn how_tools_are_told_is_for_all_servers_and_no_new_one_changes_it() {
    // H-142
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let set = r#"{"sanswire":{"exposure":"lazy"},"mcpServers":{"#;
    home.write(OWN, &format!(r#"{set}"a":{{"command":"sh","args":["{fake}"]}}}}}}"#));
    let mut terminal = Terminal::start(&home, &["add", "b"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("\r");
    terminal.expect("Command: ");
    terminal.send(&format!("sh {fake}\r"));
    terminal.expect("Arguments, if any: ");
    terminal.send("\r");
    assert_eq!(terminal.wait().0, 0);
    home.run(&["add", "c", "--", "sh", &fake]).ok();
    let text = home.read(OWN);
    assert!(text.starts_with(set) && text.matches("exposure").count() == 1, "{text}");
    let names = ["a", "b", "c"];
    let told = |words: &[&str]| home.run(&[&["tools", "--exposed"], words].concat()).ok();
    assert!(told(&names).contains("0 of 3 tools told one by one"), "{}", told(&names));
    for name in names {
        assert!(told(&[name]).contains("0 of 1 tools told one by one"), "{}", told(&[name]));
    }
    home.write(OWN, &text.replace("lazy", "eager"));
    assert!(told(&names).contains("3 of 3 tools told one by one"), "{}", told(&names));
}

#[test]
fn escape_leaves_at_every_question_and_nothing_was_written() {
    // H-157
    let steps: [(&str, &str); 8] = [
        ("What kind of server?", "\r"),
        ("Name: ", "files\r"),
        ("Command: ", "x\r"),
        ("Arguments, if any: ", ""),
        ("Address: ", "https://x\r"),
        ("How does it speak?", "\r"),
        ("Headers, if any", "\r"),
        ("Variable that holds a token", ""),
    ];
    let home = Home::new();
    let lasts = [(false, 0), (false, 1), (false, 2), (false, 3), (true, 4), (true, 5), (true, 6), (true, 7)];
    for (web, last) in lasts {
        let mut terminal = Terminal::start(&home, &["add"], &[]);
        for (n, (question, keys)) in steps.iter().enumerate() {
            if n > last || (web && (2..4).contains(&n)) {
                continue;
            }
            terminal.expect(question);
            terminal.expect_keys();
            terminal.send(if n == last {
                "\u{1b}"
            } else if n == 0 && web {
                "j\r"
            } else {
                keys
            });
        }
        let (status, seen) = terminal.wait();
        assert!(status == 1 && seen.contains("nothing was written"), "{last}: {seen:?}");
        assert!(!home.path.join("config").join("sanswire/config.json").exists(), "{last}");
    }
    let mut terminal = Terminal::start(&home, &["add"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("\u{3}");
    assert_eq!(terminal.wait().0, 130);
    until("nothing is there", || !home.path.join(OWN).exists());
}

#[cfg(unix)]
#[test]
fn ctrl_d_leaves_a_line_in_which_nothing_stands() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["add"], &[]);
    terminal.expect("What kind of server?");
    terminal.expect_keys();
    terminal.send("\r");
    terminal.expect("Name: ");
    terminal.expect_keys();
    // In a line in which something stands it does nothing.
    terminal.send("a\u{4}b\r");
    terminal.expect("Command: ");
    terminal.expect_keys();
    terminal.send("\u{4}");
    let (status, seen) = terminal.wait();
    assert!(status == 1 && seen.contains("Name: ab\r\n") && seen.contains("nothing was written"), "{seen:?}");
    assert!(!home.path.join(OWN).exists());
}
