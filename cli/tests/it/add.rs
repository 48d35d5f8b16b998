use crate::home::Home;

const OWN: &str = "config/sanswire/config.json";

fn file(home: &Home) -> serde_json::Value {
    serde_json::from_str(&home.read(OWN)).unwrap()
}

#[test]
fn a_server_is_put_in_switched_off_and_on_and_taken_out_and_the_rest_stays_to_the_byte() {
    // H-161, H-162
    let home = Home::new();
    let text = "// mine\n{\n\t\"theirs\": [1,2,], # odd\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"} // first\n\t}\n}\n";
    home.write(OWN, text);
    let said =
        home.run(&["add", "b-1", "--env", "K=${HOME}", "--approval", "deny", "--", "sh", "-c", "a b"]).ok();
    assert!(
        said.starts_with("Saved b-1 in /") && said.contains(OWN) && said.contains("from the next start on"),
        "{said}"
    );
    let with = text.replace(
        "{\"command\": \"x\"} // first\n",
        "{\"command\": \"x\"}, // first\n\t\t\"b-1\": {\n\t\t\t\"command\": \"sh\",\n\t\t\t\"args\": [\"-c\", \"a b\"],\n\t\t\t\"env\": {\n\t\t\t\t\"K\": \"${HOME}\"\n\t\t\t},\n\t\t\t\"approval\": \"deny\"\n\t\t}\n",
    );
    assert_eq!(home.read(OWN), with);
    let said = home.run(&["disable", "b-1"]).ok();
    assert!(said.starts_with("Disabled b-1 in /"), "{said}");
    assert!(home.run(&["servers", "b-1"]).ok().contains("disabled"));
    assert!(home.run(&["enable", "b-1"]).ok().starts_with("Enabled b-1 in /"));
    assert_eq!(home.read(OWN), with);
    let said = home.run(&["rm", "b-1"]).ok();
    assert!(said.starts_with("Removed b-1 in /") && said.contains("from the next start on"), "{said}");
    assert_eq!(home.read(OWN), text);
    let ran = home.run(&["remove", "b-1"]);
    assert!(ran.status == 5 && ran.stderr.contains("there is no server \"b-1\""), "{ran:?}");
    let ran = home.run(&["remove"]);
    assert!(ran.status == 1 && ran.stderr.contains("Usage: sanswire remove"), "{ran:?}");
    // H-163: other names of the verbs; anything else, and nothing at all, shows how the program is used.
    home.run(&["new", "c", "--", "x"]).ok();
    assert!(home.run(&["list"]).ok().contains("c "));
    assert_eq!(home.run(&["list", "--json"]).json(), home.run(&["servers", "--json"]).json());
    home.run(&["rm", "c"]).ok();
    let ran = home.run(&["reload"]);
    assert!(ran.status == 1 && ran.stderr.contains("Usage: sanswire"), "{ran:?}");
    let ran = home.run(&[]);
    assert!(ran.status == 1 && ran.stderr.contains("Usage: sanswire"), "{ran:?}");
    assert!(["servers", "add", "remove"].iter().all(|verb| ran.stderr.contains(verb)), "{ran:?}");
    assert_eq!(home.read(OWN), text);
}

#[test]
fn what_was_added_is_what_starts() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let start = "printf %s \"$1-$V\" >seen";
    home.run(&[
        "add",
        "s",
        "--env",
        &format!("ON_START={start}"),
        "--env",
        "V=v",
        "--cwd",
        ".",
        "--timeout",
        "30",
        "--",
        "sh",
        &fake,
        "a b",
    ])
    .ok();
    assert_eq!(home.run(&["call", "--yes", "s/t"]).ok(), "ok\n");
    assert_eq!(home.read("work/seen"), "a b-v");
    assert_eq!(file(&home)["mcpServers"]["s"]["timeout"], 30.0);
    let said = home
        .run(&[
            "add",
            "w",
            "--url",
            "HTTPS://x/mcp",
            "--sse",
            "-H",
            "Authorization: Bearer ${T:-t}",
            "-H",
            "A: b, c",
            "--json",
        ])
        .json();
    assert_eq!(said["saved"], "w");
    let w = &file(&home)["mcpServers"]["w"];
    assert_eq!(w["type"], "sse");
    assert_eq!(w["headers"], serde_json::json!({"Authorization": "Bearer ${T:-t}", "A": "b, c"}));
    home.run(&[
        "add",
        "all",
        "--url",
        "https://x/mcp",
        "--transport",
        "http",
        "--bearer-env",
        "T",
        "--ca-file",
        "ca.pem",
        "--client-cert",
        "/c.pem",
        "--client-key",
        "/k.pem",
        "--proxy",
        "none",
        "--public-only",
    ])
    .ok();
    let expected = serde_json::json!({
        "url": "https://x/mcp", "type": "http", "bearer_env": "T",
        "ca_file": home.path.join("work/ca.pem").display().to_string(), "client_cert": "/c.pem",
        "client_key": "/k.pem", "proxy": "none", "public_only": true
    });
    assert_eq!(file(&home)["mcpServers"]["all"], expected);
    // H-153
    for (words, told) in [
        (&["--url", "https://x", "-H", "Authorization: Bearer s3cret"][..], true),
        (&["--url", "https://x", "-H", "Authorization: ${T}"], false),
        (&["--env", "API_KEY=s3cret", "--", "x"], true),
        (&["--env", "API_KEY=${T}", "--env", "PLAIN=x", "--", "x"], false),
    ] {
        let ran = home.run(&[&["add", "k"], words].concat());
        assert_eq!(ran.stderr.contains("stands in the file as plain text"), told, "{words:?}: {ran:?}");
        assert!(
            ran.status == 0 && !ran.stderr.contains("s3cret") && !ran.stdout.contains("s3cret"),
            "{ran:?}"
        );
        home.run(&["rm", "k"]).ok();
    }
    // In the project, and in a file that is named.
    assert!(home.run(&["add", "p", "--project", "--", "x"]).ok().contains("work/.sanswire.json"));
    assert!(home.run(&["servers", "p"]).ok().contains("not allowed yet"));
    let ran = home.run(&["add", "s", "--project", "--", "x"]);
    assert!(ran.status == 0 && ran.stderr.contains("this one answers to s@project"), "{ran:?}");
    home.write("work/.sanswire.json", "{");
    home.run(&["add", "beside", "--", "x"]).ok();
    std::fs::remove_file(home.path.join("work/.sanswire.json")).unwrap();
    home.run(&["--config", "other.json", "add", "o", "--", "x"]).ok();
    assert!(home.read("work/other.json").contains("\"o\""));
}

#[test]
fn what_cannot_be_meant_is_refused_and_nothing_is_written() {
    // H-158, H-160
    let home = Home::new();
    for (words, says) in [
        (&["add", "my_server", "--", "x"][..], "letters, digits and hyphens"),
        (&["add", "a b", "--", "x"], "letters, digits and hyphens"),
        (&["add", " ", "--", "x"], "a name is needed"),
        (&["add", "a", "--", " "], "the command is empty"),
        (&["add", "a", "--url", "ftp://x"], "http:// or https://"),
        (&["add", "a", "--url", "https://"], "http:// or https://"),
        (&["add", "a", "--url", "https://x", "-H", "none"], "not Name: value"),
        (&["add", "a", "--url", "https://x", "-H", "Mcp-Session-Id: 1"], "belongs to the transport"),
        (&["add", "a", "--url", "https://x", "--env", "A=b"], "no environment"),
        (&["add", "a", "-H", "A: b", "--", "x"], "--url"),
        (&["add", "a", "--bearer-env", "T", "--", "x"], "--url"),
        (&["add", "a", "--url", "https://u:p@x"], "use a header"),
        (&["add", "a", "--url", "https://x/${T}"], "must be escaped"),
        (&["add", "a", "--url", "https://x", "--bearer-env", "T", "-H", "Authorization: x"], "leave one out"),
        (&["add", "a", "--project", "--approval", "allow", "--", "x"], "cannot allow calls"),
        (&["add", "a"], "how is the server reached?"),
        (&["add"], "on a terminal, sanswire add asks"),
        (&["enable", "demo"], "built in"),
    ] {
        let ran = home.run(words);
        assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{words:?}: {ran:?}");
    }
    assert!(!home.path.join("config").exists() && !home.path.join("work/.sanswire.json").exists());
    home.configure(r#"{"a":{"command":"x"}}"#);
    let text = home.read(OWN);
    let ran = home.run(&["add", "a", "--", "y"]);
    assert!(
        ran.status == 1 && ran.stderr.contains("already") && ran.stderr.contains("sanswire remove a"),
        "{ran:?}"
    );
    assert_eq!(home.read(OWN), text);
    home.write(OWN, "{");
    assert_eq!(home.run(&["add", "b", "--", "y"]).status, 1);
    assert_eq!(home.read(OWN), "{");
}

#[test]
fn what_a_run_that_was_killed_left_behind_is_gone_after_the_next_change() {
    let home = Home::new();
    home.run(&["add", "a", "--", "true"]).ok();
    home.write("config/sanswire/.config.json.new", "{\"mcpServers\":{\"a\":{\"env\":{\"TOKEN\":\"old-");
    home.run(&["add", "b", "--", "true"]).ok();
    let left = std::fs::read_dir(home.path.join("config/sanswire")).unwrap();
    let left: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["config.json"]);
    assert_eq!(file(&home)["mcpServers"].as_object().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn the_file_is_for_the_user_alone_links_are_followed_and_those_of_a_project_are_not() {
    // H-153
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    let kept = home.write("dotfiles/sanswire.json", "{}");
    std::fs::create_dir_all(home.path.join("config/sanswire")).unwrap();
    symlink("../../dotfiles/sanswire.json", home.path.join(OWN)).unwrap();
    home.run(&["add", "a", "--", "x"]).ok();
    assert!(home.read("dotfiles/sanswire.json").contains("\"a\""));
    assert!(std::fs::symlink_metadata(home.path.join(OWN)).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let stranger = home.write("stranger.json", "{}");
    symlink(&stranger, home.path.join("work/.sanswire.json")).unwrap();
    let ran = home.run(&["add", "p", "--project", "--", "x"]);
    assert!(ran.status == 1 && ran.stderr.contains("symbolic link in a project"), "{ran:?}");
    assert_eq!(home.read("stranger.json"), "{}");
    let names: Vec<_> = std::fs::read_dir(home.path.join("dotfiles"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["sanswire.json"]);
}

#[test]
fn two_at_once_both_land() {
    let home = Home::new();
    let children: Vec<_> = (0..12)
        .map(|n| {
            let mut command = home.command(&["add", &format!("s{n}"), "--", "x"]);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(file(&home)["mcpServers"].as_object().unwrap().len(), 12);
}

#[test]
fn files_of_other_programs_are_never_written() {
    let home = Home::new();
    let text = r#"{"mcpServers":{"c":{"command":"x"}}}"#;
    home.write(".cursor/mcp.json", text);
    home.write("work/.mcp.json", text);
    for words in [
        &["remove", "c"][..],
        &["disable", "c"],
        &["enable", "c@cursor"],
        &["--config", "../.cursor/mcp.json", "add", "n", "--", "x"],
        &["--config", ".mcp.json", "add", "n", "--", "x"],
        &["--config", ".mcp.json", "remove", "c"],
    ] {
        let ran = home.run(words);
        assert!(ran.status == 1 && ran.stderr.contains("never written"), "{words:?}: {ran:?}");
    }
    assert_eq!((home.read(".cursor/mcp.json"), home.read("work/.mcp.json")), (text.into(), text.into()));
}
