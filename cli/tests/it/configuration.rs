use crate::home::{Home, run};

/// A server that keeps its arguments and a variable.
const KEEP: &str = r#"for word; do printf '%s\n' "$word"; done >args.txt
printf '%s\n' "${V-unset}" "${SECRET-unset}" >env.txt
pwd >cwd.txt
set --
. "$FAKE"
"#;

fn home_with(entry: &str) -> Home {
    let home = Home::new();
    home.write("keep.sh", KEEP);
    let keep = home.path.join("keep.sh");
    home.configure(&entry.replace("KEEP", keep.to_str().unwrap()));
    home
}

fn call(home: &Home, words: &[&str], variables: &[(&str, &str)]) -> crate::home::Ran {
    let mut command = home.command(&[&["call", "--yes", "s/t"], words].concat());
    command.env("FAKE", home.path.join("fake.sh")).envs(variables.iter().copied());
    run(command, "")
}

#[test]
fn b_109_references_are_put_in_once_where_the_documentation_says() {
    let home = home_with(
        r#"{"s":{"command":"sh","args":["KEEP","${VAR}","${NOPE:-d e}","$VAR","$${VAR}","a${VAR}b"],"env":{"V":"<${VAR}>"}}}"#,
    );
    let value = "sp ace \"q\" ${OTHER} 'x' *";
    assert_eq!(call(&home, &[], &[("VAR", value), ("OTHER", "no")]).ok(), "ok\n");
    let expected = format!("{value}\nd e\n$VAR\n${{VAR}}\na{value}b\n");
    assert_eq!(home.read("work/args.txt"), expected);
    assert_eq!(home.read("work/env.txt"), format!("<{value}>\nunset\n"));
}

#[test]
fn b_109_an_unset_variable_is_an_error_that_names_it_and_the_file() {
    let home = home_with(r#"{"s":{"command":"sh","args":["KEEP"],"env":{"V":"${API_TOKEN}"}}}"#);
    let ran = call(&home, &[], &[]);
    assert_eq!(ran.status, 1);
    for part in ["API_TOKEN", "config/sanswire/config.json", "env.V", "${API_TOKEN:-…}"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
    assert!(!home.path.join("work/args.txt").exists());
    // It is nobody else's concern.
    assert_eq!(home.run(&["call", "demo/echo", "text=x"]).ok(), "x\n");
}

#[test]
fn b_109_elsewhere_the_text_stays_and_a_warning_names_the_place() {
    let home = home_with(
        r#"{"s":{"command":"${SHELL_}","cwd":"${DIR}"},"w":{"url":"https://${HOST}","type":"${T}"}}"#,
    );
    let ran = home.run(&["servers"]);
    for place in ["command", "cwd", "url", "type"] {
        assert!(ran.stderr.contains(&format!(": {place} stays as it is written")), "{place}: {ran:?}");
    }
    let ran = call(&home, &[], &[("SHELL_", "sh")]);
    assert!(ran.stderr.contains("${"), "{ran:?}");
    assert_eq!(home.run(&["servers", "--quiet"]).stderr, "");
}

#[test]
fn files_may_hold_comments_and_trailing_commas_and_say_where_they_are_wrong() {
    let home = home_with("{}");
    home.write(
        "config/sanswire/config.json",
        "{ // mine\n \"mcpServers\": { /* two */ \"s\": {\"command\": \"true\",}, },\n}",
    );
    assert!(home.run(&["servers"]).ok().contains("true"));
    home.write("config/sanswire/config.json", "{\n  \"mcpServers\": {\n    \"s\" {}\n}}");
    let ran = home.run(&["servers"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("config.json:3:9: not JSON"), "{ran:?}");
    assert_eq!(home.run(&["--config", "nowhere.json", "servers"]).status, 1);
    let other = home.write("other.json", r#"{"mcpServers":{"mine":{"command":"true"}}}"#);
    assert!(home.run(&["--config", other.to_str().unwrap(), "servers"]).ok().contains("mine"));
}

#[test]
fn no_servers_is_no_error_and_an_entry_that_is_none_is_named() {
    // H-154
    let home = home_with("{}");
    for text in ["", "{}", r#"{"mcpServers":null}"#, r#"{"mcpServers":{}}"#] {
        home.write("config/sanswire/config.json", text);
        let ran = home.run(&["servers"]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{text}: {ran:?}");
        assert_eq!(home.run(&["tools"]).status, 1, "{text}");
    }
    for (entry, says) in [
        ("{}", "neither command nor url"),
        ("[]", "an array, not an object"),
        (r#"{"command":""}"#, "command is empty"),
        (r#"{"command":5}"#, "command is a number"),
        (r#"{"command":"x","url":"y"}"#, "both command and url"),
        (r#"{"command":"x","args":"y"}"#, "args is a string"),
        (r#"{"command":"x","args":[{}]}"#, "args[0] is an object"),
        (r#"{"command":"x","env":{"A":[]}}"#, "env.A is an array"),
        (r#"{"command":"x","timeout":-1}"#, "timeout is not a number of seconds"),
        (r#"{"command":"x","era":"old"}"#, "era is not auto"),
    ] {
        home.configure(&format!(r#"{{"odd one":{entry}}}"#));
        let ran = home.run(&["call", "--yes", "odd one/t"]);
        assert_eq!(ran.status, 1, "{entry}: {ran:?}");
        assert!(ran.stderr.contains("odd one in /") && ran.stderr.contains(says), "{entry}: {ran:?}");
        assert!(home.run(&["servers"]).ok().contains("unusable"), "{entry}");
    }
}

#[test]
fn members_and_options_decide_folder_environment_and_patience() {
    // H-147, H-150, H-167
    let home = home_with(
        r#"{"s":{"command":"sh","args":["KEEP"],"cwd":"sub","env":{"V":1},"inherit_env":"list","timeout":0.5}}"#,
    );
    std::fs::create_dir_all(home.path.join("config/sanswire/sub")).unwrap();
    let fake = home.path.join("fake.sh");
    let given = format!("FAKE={}", fake.display());
    let ran = call(&home, &["--env", &given], &[("SECRET", "leaks")]);
    assert_eq!(ran.ok(), "ok\n");
    assert_eq!(home.read("config/sanswire/sub/env.txt"), "1\nunset\n");
    let ran = call(
        &home,
        &["--env", &given, "--env", "V=2", "--inherit-env", "all", "--cwd", "."],
        &[("SECRET", "leaks")],
    );
    assert_eq!(ran.ok(), "ok\n");
    assert_eq!(home.read("work/env.txt"), "2\nleaks\n");
    let slow = call(&home, &["--env", &given, "--env", "ON_CALL=sleep 5"], &[]);
    assert_eq!(slow.status, 4, "{slow:?}");
    assert!(slow.stderr.contains("0.5 s"), "{slow:?}");
}

#[test]
fn a_name_may_be_anything() {
    // H-149
    let fake = |home: &Home| home.path.join("fake.sh").display().to_string();
    for name in ["my server_1", "a/b.c", "com.example/x", "demo", "ü"] {
        let home = Home::new();
        home.configure(&format!(
            r#"{{"{name}":{{"command":"sh","args":["{}"]}},"a":{{"command":"/nowhere"}}}}"#,
            fake(&home)
        ));
        assert_eq!(home.run(&["call", "--yes", &format!("{name}/t")]).ok(), "ok\n", "{name}");
        assert_eq!(home.run(&["call", "--yes", name, "t"]).ok(), "ok\n", "{name}");
        // What `add` would not take is said where servers are looked at, and nowhere else.
        let said = home.run(&["servers"]).stderr.contains("it is used all the same");
        assert_eq!(said, name != "demo", "{name}");
    }
}

#[test]
fn the_era_is_remembered_and_what_proves_wrong_is_forgotten() {
    let home = Home::new();
    let traced = |extra: &[&str], variables: &[(&str, &str)]| {
        let words = [&["call", "--yes", "t", "--trace", "t.jsonl"], extra].concat();
        assert_eq!(home.run_fake(&words, variables).ok(), "ok\n");
        home.read("work/t.jsonl").lines().next().unwrap().to_owned()
    };
    assert!(traced(&[], &[]).contains("server/discover"));
    assert!(traced(&[], &[]).contains("\"initialize\""));
    assert!(traced(&["--era", "legacy"], &[]).contains("\"initialize\""));
    let ran = home.run_fake(&["call", "--yes", "t", "--era", "modern"], &[]);
    assert_eq!(ran.status, 4, "{ran:?}");
    assert_eq!(home.run(&["--era", "old", "servers"]).status, 1);
}

#[test]
fn other_programs_files_are_shown_and_start_only_when_named() {
    let home = Home::new();
    home.write("keep.sh", KEEP);
    let keep = home.path.join("keep.sh").display().to_string();
    let fake = home.path.join("fake.sh").display().to_string();
    let entry =
        |args: &str| format!(r#"{{"command":"sh","args":["{keep}",{args}],"env":{{"FAKE":"{fake}"}}}}"#);
    let work = home.path.join("work").display().to_string();
    home.write(
        ".claude.json",
        &format!(
            r#"{{"mcpServers":{{"user":{},"same":{}}},"projects":{{"{work}":{{"mcpServers":{{"local":{}}}}}}}}}"#,
            entry(r#""${VAR}","${NOPE:-d}","${NOPE}""#),
            entry(r#""claude""#),
            entry(r#""l""#)
        ),
    );
    home.write(
        "config/Claude/claude_desktop_config.json",
        &format!(r#"{{"mcpServers":{{"desk":{}}}}}"#, entry(r#""${VAR}""#)),
    );
    home.write(
        ".cursor/mcp.json",
        &format!(
            r#"{{"mcpServers":{{"same":{},"cur":{},"web":{{"url":"https://x"}}}}}}"#,
            entry(r#""cursor""#),
            entry(r#""${env:VAR}","${userHome}","${VAR}""#)
        ),
    );
    let shown = home.run(&["servers"]).ok();
    for part in
        ["user", "local", "desk", "cur", "same@cursor", "claude-desktop (~/config/", "not connected", "demo"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // None of them is meant where none is named.
    assert!(home.run(&["tools"]).ok().starts_with("demo"));
    assert!(!home.path.join("work/args.txt").exists());
    let home_path = home.path.display().to_string();
    for (name, args) in [
        ("user", "v\nd\n${NOPE}\n".to_owned()),
        ("local", "l\n".into()),
        ("desk", "${VAR}\n".into()),
        ("cur", format!("v\n{home_path}\n${{VAR}}\n")),
        ("same", "claude\n".into()),
        ("same@cursor", "cursor\n".into()),
    ] {
        let mut command = home.command(&["call", "--yes", name, "t"]);
        command.env("VAR", "v").env("SECRET", "leaks");
        let ran = run(command, "");
        assert_eq!((ran.status, ran.stdout.as_str()), (0, "ok\n"), "{name}: {ran:?}");
        assert_eq!(home.read("work/args.txt"), args, "{name}");
        assert_eq!(home.read("work/env.txt"), "unset\nunset\n", "{name}");
        let warned = ran.stderr.contains("the variable NOPE is not set");
        assert_eq!(warned, name == "user", "{ran:?}");
    }
    home.write(".cursor/mcp.json", "{");
    let ran = home.run(&["call", "demo/echo", "text=x"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "x\n"));
    assert!(ran.stderr.contains(".cursor/mcp.json:1:2: not JSON"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_has_no_end_or_is_none_is_not_read() {
    let home = Home::new();
    for (name, words) in [(".sanswire.json", &["servers"][..]), ("named", &["servers", "--config", "named"])]
    {
        let path = home.path.join("work").join(name);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let ran = home.run(words);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stderr.contains("no file") || ran.stderr.contains("16777216 bytes"), "{ran:?}");
        std::fs::remove_file(&path).unwrap();
    }
    let made = std::process::Command::new("mkfifo").arg(home.path.join("work/.sanswire.json")).status();
    if made.is_ok_and(|made| made.success()) {
        let ran = home.run(&["call", "demo/echo", "text=x"]);
        assert!(ran.status == 1 && ran.stderr.contains("no file"), "{ran:?}");
    }
}

#[test]
fn a_flag_that_is_none_starts_nothing() {
    let home = Home::new();
    for flag in [r#""disabled":"yes""#, r#""disabled":1"#, r#""enabled":"no""#] {
        let fake = home.path.join("fake.sh").display().to_string();
        home.configure(&format!(r#"{{"s":{{"command":"sh","args":["{fake}"],{flag}}}}}"#));
        let ran = home.run(&["call", "--yes", "s/t"]);
        assert_eq!(ran.status, 1, "{flag}: {ran:?}");
        assert!(ran.stderr.contains("not true or false"), "{flag}: {ran:?}");
    }
}

#[test]
fn the_address_of_a_server_on_the_web_is_shown_without_what_is_secret_and_else_as_it_is() {
    let home = Home::new();
    home.configure(
        r#"{"a":{"url":"https://u:p@ss@host/@scope/x?key=1"},"b":{"url":"https://host/@scope/x#y"}}"#,
    );
    let shown = home.run(&["servers"]).ok();
    assert_eq!(shown.lines().filter(|line| line.trim() == "https://host/@scope/x").count(), 2, "{shown}");
}

#[test]
fn no_server_of_any_file_is_used_in_a_run_that_says_so() {
    // H-156
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    home.configure(&format!(
        r#"{{"s":{{"command":"sh","args":["{fake}"],"env":{{"ON_START":"touch started"}}}}}}"#
    ));
    for words in [
        &["call", "--yes", "s/t"][..],
        &["tools", "s"],
        &["tools"],
        &["doctor"],
        &["servers", "--check"],
        &["call", "demo/echo", "text=x"],
    ] {
        let ran = home.run(&[&["--no-mcp"], words].concat());
        assert!(ran.status != 0 || words == ["servers", "--check"], "{words:?}: {ran:?}");
        assert!(
            ran.status == 0 || ran.stderr.contains("--no-mcp leaves all of them out"),
            "{words:?}: {ran:?}"
        );
    }
    assert!(!home.path.join("work/started").exists());
    // No file is even read.
    home.write("config/sanswire/config.json", "{");
    assert!(!home.run(&["--no-mcp", "servers"]).ok().contains("demo"));
    assert_eq!(home.run_fake(&["--no-mcp", "call", "--yes", "t"], &[]).ok(), "ok\n");
}

#[test]
fn a_tool_and_the_start_may_have_limits_of_their_own() {
    let home = Home::new();
    let fake = home.path.join("fake.sh").display().to_string();
    let entry = |members: &str| {
        home.configure(&format!(
            r#"{{"s":{{"command":"sh","args":["{fake}"],"env":{{"ON_CALL":"sleep 1"}},{members}}}}}"#
        ));
        home.run(&["call", "--yes", "s/t"])
    };
    assert_eq!(entry(r#""timeout":0.2,"connect_timeout":30,"tool_timeouts":{"t":30}"#).ok(), "ok\n");
    let slow = entry(r#""timeout":30,"tool_timeouts":{"t":0.2}"#);
    assert!(slow.status == 4 && slow.stderr.contains("0.2 s"), "{slow:?}");
    home.configure(&format!(r#"{{"s":{{"command":"sh","args":["{fake}"],"env":{{"ON_START":"sleep 3"}},"timeout":30,"connect_timeout":0.2}}}}"#));
    let slow = home.run(&["call", "--yes", "s/t"]);
    assert!(slow.status == 4 && slow.stderr.contains("200 ms"), "{slow:?}");
}
