//! What `check` makes of its report: formats, files, baselines.

use crate::home::{Home, Ran};

/// Says what is no message, and two secrets: on standard output and on standard error.
const NOISY: &[(&str, &str)] =
    &[("ON_START", r#"printf '%s\n' "banner $TOKEN"; printf '%s\n' "log $TOKEN" >&2"#)];
/// It is spelled otherwise in JSON, in XML and in HTML.
const SECRET: &str = r#"s3cr3t<&"t0ken">\end"#;

fn noisy(home: &Home, words: &[&str]) -> Ran {
    let token = format!("TOKEN={SECRET}");
    let mut all = vec!["check", "--env", &token, "--only", "framing-stdout"];
    all.extend(words);
    home.run_fake(&all, NOISY)
}

#[test]
fn a_report_is_printed_and_written_in_every_format_and_holds_no_secret() {
    let home = Home::new();
    let files = ["r.txt", "r.json", "r.xml", "r.sarif", "r.html", "r.md", "github=r.log", "shields=r.badge"];
    let mut words = Vec::new();
    files.iter().for_each(|file| words.extend(["--report", file]));
    let ran = noisy(&home, &words);
    assert_eq!(ran.status, 6, "{ran:?}");
    let mut texts: Vec<_> =
        files.iter().map(|file| home.read(&format!("work/{}", file.rsplit('=').next().unwrap()))).collect();
    for format in ["text", "json", "junit", "sarif", "github", "html", "badge", "shields"] {
        let ran = noisy(&home, &["--format", format]);
        assert_eq!(ran.status, 6, "{ran:?}");
        texts.push(ran.stdout);
    }
    for text in &texts {
        assert!(!text.contains("s3cr3t") && !text.contains("t0ken"), "{text}");
    }
    let begins = [
        "fake 1",
        r#"{"report":1,"#,
        "<?xml",
        r#"{"$schema":"#,
        "<!DOCTYPE html>",
        "**fake 1**",
        "::error ",
        r#"{"schemaVersion":1,"#,
    ];
    for (text, begin) in texts.iter().zip(begins) {
        assert!(text.starts_with(begin), "{text}");
    }
    for text in &texts[..5] {
        assert!(text.contains("banner ***"), "{text}");
    }
    // Who reads these sees what was said.
    for text in [&texts[0], &texts[1], &texts[2], &texts[4]] {
        assert!(text.contains("log ***"), "{text}");
    }
    assert_eq!(texts[1].len(), noisy(&home, &["--json"]).stdout.len());
}

#[test]
fn what_a_baseline_accepts_does_not_fail_and_what_is_stale_is_told() {
    let home = Home::new();
    let ran = noisy(&home, &["--write-baseline", "known.json"]);
    assert_eq!(ran.status, 6, "{ran:?}");
    let known = home.read("work/known.json");
    assert!(
        known.contains(r#"{"check":"framing-stdout-pure","revision":"2025-11-25","note":"expected messages"#),
        "{known}"
    );
    assert!(!known.contains("s3cr3t"), "{known}");
    let shown = noisy(&home, &["--baseline", "known.json"]).ok();
    assert!(
        shown.contains("\nAccepted by the baseline\n  MUST    framing-stdout-pure (2025-11-25): "),
        "{shown}"
    );
    // The server was mended.
    let words = ["check", "--only", "framing-stdout", "--baseline", "known.json"];
    let shown = home.run_fake(&words, &[]).ok();
    assert!(shown.contains("take it out\n  framing-stdout-pure (2025-11-25)\n"), "{shown}");
}

#[test]
fn what_cannot_be_read_or_written_is_said_before_anything_is_started() {
    let home = Home::new();
    home.write("work/odd.json", "[]");
    for (words, says) in [
        (&["--baseline", "none.json"][..], "--write-baseline none.json makes one"),
        (&["--baseline", "odd.json"], "baseline is not the number 1"),
        (&["--report", "none/r.html"], "there is no folder none"),
        (&["--write-baseline", "none/b.json"], "there is no folder none"),
        (&["--report", "r.pdf"], "FORMAT=FILE"),
        (&["--format", "yaml"], "not one of text, json"),
        (&["--json", "--format", "html"], "--json and another --format"),
        (&["--record", "r.bin"], "--report FILE.json"),
    ] {
        let mut all = vec!["check", "--only", "framing"];
        all.extend(words);
        let ran = home.run_fake(&all, &[("ON_START", "echo started >>started")]);
        let said = format!("{}{}", ran.stderr, ran.stdout);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(said.contains(says), "{ran:?}");
        assert!(!home.path.join("work/started").exists(), "{words:?}");
    }
}

#[test]
fn what_passed_is_listed_where_it_is_wanted() {
    let home = Home::new();
    let words = ["check", "demo", "--only", "framing-split"];
    assert!(!home.run(&words).ok().contains("framing-split-line"));
    let shown = home.run(&["check", "demo", "--only", "framing-split", "-v"]).ok();
    assert!(shown.contains("\nPassed\n  framing-split-line: "), "{shown}");
}
