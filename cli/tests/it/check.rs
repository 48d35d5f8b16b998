//! `check`: that it starts what is meant, says what it found, and ends as it says. What the checks themselves find is
//! tested where they are.

use crate::home::Home;

#[test]
fn a_server_that_keeps_the_rules_passes() {
    let home = Home::new();
    let shown = home.run(&["check", "demo", "--only", "framing", "--only", "ids"]).ok();
    assert!(shown.starts_with("sanswire-demo "), "{shown}");
    assert!(
        shown.contains("\n  speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28\n"),
        "{shown}"
    );
    assert!(shown.ends_with(" passed, 0 failed, 0 to mend, 0 of advice, 0 not tried\n"), "{shown}");
}

#[test]
fn a_rule_that_is_broken_is_told_with_its_proof() {
    let home = Home::new();
    // It says what is no message, and holds a secret that must not be shown.
    let variables = [("ON_START", "echo Server is running with $TOKEN")];
    let ran =
        home.run_fake(&["check", "--env", "TOKEN=s3cr3t-t0ken", "--only", "framing-stdout"], &variables);
    assert_eq!(ran.status, 6, "{ran:?}");
    assert!(
        ran.stdout.contains("\nMUST framing-stdout-pure: standard output carries messages and nothing else\n  in        2025-11-25\n"),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("  expected  messages alone\n  got       Server is running with ***\n"),
        "{ran:?}"
    );
    let ran = home.run_fake(
        &["check", "--env", "TOKEN=s3cr3t-t0ken", "--json", "--only", "framing-stdout"],
        &variables,
    );
    let report = ran.json();
    assert_eq!((ran.status, &report["status"], &report["counts"]["failed"]), (6, &6.into(), &1.into()));
    let result = &report["results"][0];
    assert_eq!((&result["verdict"], &result["strength"]), (&"found".into(), &"must".into()), "{report}");
    assert!(result["source"].as_str().unwrap().contains("/2025-11-25/basic/transports"), "{report}");
    assert!(result["transcript"].as_array().unwrap().iter().any(|it| it["from"] == "server"), "{report}");
    assert!(!ran.stdout.contains("s3cr3t"), "{ran:?}");
}

#[test]
fn what_cannot_be_checked_is_said() {
    let home = Home::new();
    for (words, status, says) in [
        (&["check"][..], 1, "there is no server to check"),
        (&["check", "demo", "--only", "no-such"], 1, "no check's name begins with no-such"),
        (&["check", "nobody"], 5, "nobody"),
        (
            &["check", "demo", "--call", "a", "--call", "b", "--args", "{}"],
            1,
            "--call is given 2 times, and --args 1 times",
        ),
        (&["check", "demo", "--call", "a", "--args", "[]"], 1, "--args is an array, not an object"),
        (&["check", "--era", "modern", "--timeout", "1", "--", "sleep", "100"], 4, ""),
        (&["check", "--", "true"], 4, ""),
        (&["check", "--", "/nowhere/server"], 4, ""),
    ] {
        let ran = home.run(words);
        assert_eq!(ran.status, status, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(says), "{words:?}: {ran:?}");
        if status == 4 {
            assert!(
                ran.stdout.starts_with("the server could not be checked: expected "),
                "{words:?}: {ran:?}"
            );
        }
    }
    home.configure(r#"{"w": {"url": "http://127.0.0.1:1/mcp"}}"#);
    let ran = home.run(&["check", "w"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("standard input and output"), "{ran:?}");
}

#[test]
fn no_tool_is_called_but_what_is_allowed() {
    let home = Home::new();
    let checked = |words: &[&str]| home.run(&[&["check", "demo", "--only", "content"], words].concat()).ok();
    assert!(checked(&[]).contains("no call is allowed: --call NAME, or --read-only-calls"));
    // The tool of the second call has an outputSchema and gives what fits it.
    let words =
        ["--call", "fail", "--args", "{}", "--call", "add", "--args", r#"{"a": 1, "b": 2}"#, "--json"];
    let report: serde_json::Value = serde_json::from_str(&checked(&words)).unwrap();
    let passed = |check: &str| {
        let mut of =
            report["results"].as_array().unwrap().iter().filter(|it| it["check"] == check).peekable();
        assert!(of.peek().is_some(), "{report}");
        of.all(|it| it["verdict"] == "passed")
    };
    assert!(passed("content-output-schema") && passed("content-error-text"), "{report}");
    assert!(!passed("content-media"), "{report}");
    let read = checked(&["--read-only-calls"]);
    assert!(!read.contains("content-media") && !read.contains("content-wrong-argument"), "{read}");
}

#[test]
fn the_checks_are_listed_without_a_server() {
    let home = Home::new();
    let lines = home.run(&["check", "--list"]).ok();
    let checks = home.run(&["check", "--list", "--json"]).json()["checks"].as_array().unwrap().len();
    assert_eq!(lines.lines().count(), checks);
    assert!(lines.contains("framing-stdout-pure (must): "), "{lines}");
}
