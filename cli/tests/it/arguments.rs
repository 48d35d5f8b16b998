use crate::home::{Home, Ran, run};

const OPEN: &str = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}}]"#;

/// The shell server that keeps the line of the call.
fn called(home: &Home, words: &[&str]) -> String {
    let keep = "printf '%s\\n' \"$line\" >line.txt";
    let mut all = vec!["call", "--yes", "t"];
    all.extend(words);
    home.run_fake(&all, &[("TOOLS", OPEN), ("ON_CALL", keep)]).ok();
    let line = home.read("work/line.txt");
    let (_, arguments) = line.split_once("\"arguments\":").unwrap();
    arguments.trim_end().strip_suffix("}}").unwrap().split("}}").next().unwrap().to_owned()
}

fn sent(words: &[&str]) -> serde_json::Value {
    let home = Home::new();
    home.write("work/text.txt", "12");
    home.write("work/value.json", "{\"a\": [1]}\n");
    let keep = "printf '%s\\n' \"$line\" >line.txt";
    let mut all = vec!["call", "--yes", "t"];
    all.extend(words);
    home.run_fake(&all, &[("TOOLS", OPEN), ("ON_CALL", keep)]).ok();
    let line: serde_json::Value = serde_json::from_str(&home.read("work/line.txt")).unwrap();
    line["params"]["arguments"].clone()
}

#[test]
fn every_form_arrives_as_it_was_meant() {
    for (words, value) in [
        (&["n=1", "s=1"][..], r#"{"n":1,"s":"1"}"#),
        (&["s:=1"], r#"{"s":1}"#),
        (&["n=@text.txt", "s=@text.txt"], r#"{"n":12,"s":"12"}"#),
        (&["s:=@value.json"], r#"{"s":{"a":[1]}}"#),
        (&["--args", r#"{"n":1,"x":[null]}"#], r#"{"n":1,"x":[null]}"#),
        (&["--args", "@value.json", "n=2"], r#"{"a":[1],"n":2}"#),
        (&[], "{}"),
    ] {
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        assert_eq!(sent(words), value, "{words:?}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    let home = Home::new();
    let sent = called(&home, &["n=12345678901234567890123"]);
    assert!(sent.contains("12345678901234567890123"), "{sent}");
}

#[test]
fn args_come_from_standard_input_when_asked() {
    let home = Home::new();
    let mut command = home.command(&["call", "demo/add", "--args", "-", "--json"]);
    command.env("X", "y");
    let ran = run(command, r#"{"a":1,"b":2.5}"#);
    assert_eq!(ran.json()["structuredContent"]["sum"], 3.5);
}

#[test]
fn what_is_wrong_with_arguments_is_said_before_the_call() {
    let home = Home::new();
    for (words, says) in [
        (&["call", "demo/add", "a=one", "b=2"][..], "a must be number"),
        (&["call", "demo/add", "a=1"], "needs b (number)"),
        (&["call", "demo/add", "a=1", "b=2", "bb=3"], "has no argument \"bb\""),
        (&["call", "demo/add", "a=one"], "a must be number; \"one\" is not; demo/add needs b (number)"),
        (
            &["call", "demo/add", "--args", r#"{"a":"x"}"#],
            "a must be number; a string is not; demo/add needs b",
        ),
        (
            &["call", "demo/add", "--args", r#"{"a":"x","b":[]}"#],
            "a must be number; a string is not; b must be",
        ),
        (&["call", "demo/add", "--args", r#"{"a":null}"#, "b=2"], "a must be number; null is not"),
        (&["call", "demo/add", "a:=null", "c=1"], "a must be number; null is not; demo/add has no argument"),
        (&["call", "demo/add", "a=1", "a=2", "b=3"], "a is given twice"),
        (&["call", "demo/echo", "text"], "is no argument"),
        (&["call", "demo/echo", "text=@nowhere"], "nowhere cannot be read"),
        (&["call", "demo/echo", "--args", "[]"], "--args is an array"),
    ] {
        let ran = home.run(words);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
    }
    // What is overruled is not looked at, and what a schema leaves open is nobody's fault.
    let overruled = home.run(&["call", "demo/add", "--args", r#"{"a":"x","b":2}"#, "a=1"]);
    assert_eq!(overruled.ok(), home.run(&["call", "demo/add", "a=1", "b=2"]).ok());
    let hint = home.run(&["call", "demo/add", "a:=null", "b=2"]).stderr;
    assert!(hint.contains("to give no a, leave it out"), "{hint}");
    let hint = home.run(&["call", "demo/echo", "text=@somebody"]).stderr;
    assert!(hint.contains("text:='\"@somebody\"'"), "{hint}");
}

#[test]
fn b_111_words_behind_the_dashes_are_taken_as_they_are() {
    let home = Home::new();
    let odd = [
        "--config=dev env.json",
        "",
        "it's",
        r"back\ slash",
        "a\"b",
        "tab\tend",
        "|",
        "*",
        "~",
        "$HOME",
        "--json",
    ];
    let keep = home.write(
        "with space/keep args.sh",
        "for word; do printf '%s\\n' \"$word\"; done >args.txt\n. \"$FAKE\"\n",
    );
    let mut words = vec!["call", "--yes", "t", "--", "sh", keep.to_str().unwrap()];
    words.extend(odd);
    let mut command = home.command(&words);
    command.env("FAKE", home.path.join("fake.sh"));
    assert_eq!(run(command, "").ok(), "ok\n");
    assert_eq!(home.read("work/args.txt"), odd.map(|word| format!("{word}\n")).concat());
}

#[test]
fn b_111_a_command_in_a_file_is_one_program_and_never_split() {
    let home = Home::new();
    home.configure(r#"{"one":{"command":"sh -c true"},"list":{"command":["sh","-c","exit 7"]}}"#);
    let ran = home.run(&["call", "--yes", "one/t"]);
    assert_eq!(ran.status, 4);
    assert!(
        ran.stderr.contains("no program sh -c true") && ran.stderr.contains("words of their own"),
        "{ran:?}"
    );
    let ran = home.run(&["call", "--yes", "list/t"]);
    assert!(ran.stderr.contains("exited with status 7"), "{ran:?}");
}

#[test]
fn what_is_said_twice_is_an_error_and_no_server_starts_for_wrong_words() {
    let home = Home::new();
    for words in [
        &["prompt", "p", "a=1", "a=2"][..],
        &["complete", "p", "a=1", "a=2"],
        &["call", "--yes", "t", "--args", "{\"a\":1,\"a\":2}"],
        &["call", "--yes", "t", "--args", "[1]"],
        &["call", "--yes", "t", "--args", "@/nowhere"],
    ] {
        let ran = home.run_fake(words, &[("ON_START", "touch started")]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{words:?}: {ran:?}");
        assert!(!home.path.join("work/started").exists(), "{words:?}");
    }
}

/// The command that a hint of `ran` names: what stands before `says`.
#[track_caller]
fn advice(ran: &Ran, says: &str) -> String {
    let line = ran.stderr.lines().find_map(|line| line.trim().strip_suffix(says));
    let line = line.unwrap_or_else(|| panic!("no hint: {ran:?}"));
    line.strip_prefix("sanswire ").unwrap().to_owned()
}

/// Runs a command as a shell would take it.
fn in_shell(home: &Home, line: &str, variables: &[(&str, &str)]) -> Ran {
    let program = env!("CARGO_BIN_EXE_sanswire");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{program} {line}")]).current_dir(home.path.join("work")).env_clear();
    shell.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &home.path);
    shell.env("XDG_STATE_HOME", home.path.join("state"));
    shell.envs(variables.iter().copied());
    run(shell, "")
}

#[test]
fn a_command_that_a_hint_names_works_as_it_stands() {
    const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]"#;
    let home = Home::new();
    let text = home.read("fake.sh");
    home.write("a place/it's fake.sh", &text);
    let entry = r#"{"mcpServers":{"my server":{"command":"sh","args":["../a place/it's fake.sh"]}}}"#;
    home.write("work/own file.json", entry);
    let tools = [("TOOLS", TOOLS)];
    let start = |words: &[&str]| {
        let mut command = home.command(words);
        command.envs(tools);
        run(command, "")
    };
    for server in [
        &["--era", "legacy", "--", "sh", "../a place/it's fake.sh", "-x", "two words"][..],
        &["--cwd", "../a place", "--", "sh", "it's fake.sh"],
    ] {
        let needs = start(&[&["call", "--yes", "t"], server].concat());
        assert_eq!(needs.status, 1, "{needs:?}");
        let told = in_shell(&home, &advice(&needs, " tells more"), &tools).ok();
        assert!(told.contains("t(n: integer)"), "{told}");
        let unknown = start(&[&["call", "--yes", "zzz"], server].concat());
        assert_eq!(unknown.status, 5, "{unknown:?}");
        let told = in_shell(&home, &advice(&unknown, " lists what it has"), &tools).ok();
        assert!(told.contains("t(n: integer)"), "{told}");
    }
    let config = ["--config", "own file.json", "--inherit-env", "all"];
    let unknown = start(&[&["call", "--yes", "zzz/t"], &config[..]].concat());
    let told = in_shell(&home, &advice(&unknown, " lists all; a server in no file goes behind --"), &[]).ok();
    assert!(told.contains("my server"), "{told}");
    for (words, says) in [
        (&["call", "--yes", "my server/t"][..], " tells more"),
        (&["call", "--yes", "my server/zzz"], " lists what it has"),
        (&["call", "--yes", "my server"], " lists them"),
    ] {
        let ran = start(&[words, &config[..]].concat());
        let told = in_shell(&home, &advice(&ran, says), &tools).ok();
        assert!(told.contains("t(n: integer)"), "{told}");
    }
}

#[test]
fn a_command_that_a_hint_names_holds_no_secret() {
    let home = Home::new();
    let fake = home.path.join("fake.sh");
    let server = ["--", "sh", fake.to_str().unwrap(), "--token=sesame-open"];
    for json in [&[][..], &["--json"]] {
        let ran = home.run(&[&["call", "--yes", "zzz"][..], json, &server].concat());
        assert!(ran.stderr.contains("--token=***") && !ran.stderr.contains("sesame"), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_hint_names_the_socket_that_was_named() {
    let home = Home::new();
    let mut server = home
        .command(&["demo-server", "--unix", "a socket"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    crate::home::until("it listens", || home.path.join("work/a socket").exists());
    let ran = home.run(&["call", "--yes", "add", "a=1", "--unix", "a socket"]);
    let line = advice(&ran, " tells more");
    let told = in_shell(&home, &line, &[]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(line, "inspect add --unix 'a socket'");
    assert!(told.ok().contains("add("), "{line}");
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_read_no_further_than_a_message_may_go() {
    let home = Home::new();
    for words in [
        &["call", "demo/echo", "text=@/dev/zero"][..],
        &["call", "demo/echo", "text:=@/dev/zero"],
        &["call", "demo/echo", "--args", "@/dev/zero"],
        &["policy", "test", "/dev/zero"],
    ] {
        let ran = home.run(words);
        assert_eq!((ran.status, ran.stdout.as_str()), (13, ""), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("/dev/zero is longer than a message may be: 16777216 bytes"), "{ran:?}");
    }
}
