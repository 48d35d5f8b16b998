use crate::home::{Home, run};
use crate::pty::{seen, seen_after};

fn project(file: &str) -> Home {
    let home = Home::new();
    let fake = home.path.join("fake.sh");
    home.write(
        &format!("work/{file}"),
        &format!(r#"{{"mcpServers":{{"p":{{"command":"sh","args":["{}"],"env":{{"ON_START":"touch started"}}}}}}}}"#, fake.display()),
    );
    home
}

const FILES: [&str; 3] = [".sanswire.json", ".mcp.json", ".cursor/mcp.json"];

#[test]
fn a_server_of_a_project_does_not_start_unasked() {
    for file in FILES {
        let home = project(file);
        assert!(home.run(&["servers"]).ok().contains("not allowed yet"), "{file}");
        for words in
            [&["call", "--yes", "p/t"][..], &["tools", "p"], &["doctor", "p"], &["servers", "--check", "p"]]
        {
            let ran = home.run(words);
            assert_eq!(ran.status, 1, "{file}: {ran:?}");
        }
        let ran = home.run(&["call", "--yes", "p/t", "--json"]);
        assert_eq!(ran.error()["code"], "not_trusted");
        assert!(!home.path.join("work/started").exists(), "{file}");
        // Once, and only once.
        assert_eq!(home.run(&["call", "--yes", "p/t", "--trust"]).ok(), "ok\n");
        assert_eq!(home.run(&["call", "--yes", "p/t"]).status, 1);
    }
}

#[test]
fn a_server_of_a_project_sees_the_short_list_of_the_environment() {
    for (member, seen) in
        [("", "unset"), (r#","inherit_env":"all""#, "leaks"), (r#","inherit_env":"list""#, "unset")]
    {
        let home = Home::new();
        let fake = home.path.join("fake.sh");
        let start = "printf %s ${SECRET-unset} >seen";
        home.write(
            "work/.sanswire.json",
            &format!(
                r#"{{"mcpServers":{{"p":{{"command":"sh","args":["{}"],"env":{{"ON_START":"{start}"}}{member}}}}}}}"#,
                fake.display()
            ),
        );
        let mut command = home.command(&["call", "--yes", "p/t", "--trust"]);
        command.env("SECRET", "leaks");
        assert_eq!(run(command, "").ok(), "ok\n");
        assert_eq!(home.read("work/seen"), seen, "{member}");
    }
}

#[test]
fn the_file_is_found_from_below_and_the_server_starts_in_its_folder() {
    let home = project(".sanswire.json");
    std::fs::create_dir_all(home.path.join("work/a/b")).unwrap();
    let mut command = home.command(&["call", "--yes", "p/t", "--trust"]);
    command.current_dir(home.path.join("work/a/b"));
    assert_eq!(run(command, "").ok(), "ok\n");
    assert!(home.path.join("work/started").exists());
}

#[test]
fn the_answer_holds_until_the_file_changes() {
    let home = project(".mcp.json");
    let words = format!("{} call --yes p/t", env!("CARGO_BIN_EXE_sanswire"));
    let refused = seen(&home, &words, &[], "n\r");
    assert!(refused.contains("with ON_START='touch started'"), "{refused:?}");
    assert!(
        refused.contains("has not been allowed") && !home.path.join("work/started").exists(),
        "{refused:?}"
    );
    let allowed = seen(&home, &words, &[], "y\r");
    assert!(allowed.contains("fake.sh") && allowed.ends_with("ok\r\n"), "{allowed:?}");
    assert_eq!(home.run(&["call", "--yes", "p/t"]).ok(), "ok\n");
    let text = home.read("work/.mcp.json").replace("touch started", "touch other");
    home.write("work/.mcp.json", &text);
    assert_eq!(home.run(&["call", "--yes", "p/t"]).status, 1);
    assert!(!home.path.join("work/other").exists());
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.run(&["call", "demo/echo", "text=x", "--trace", "t.jsonl"]).ok();
    let verdict =
        std::fs::read_dir(home.path.join("state/sanswire/verdicts")).unwrap().next().unwrap().unwrap();
    for path in [verdict.path(), home.path.join("work/t.jsonl")] {
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            path.display()
        );
    }
}

#[test]
fn what_would_be_run_is_shown_on_one_line_and_ctrl_c_ends_the_program() {
    let home = Home::new();
    home.write(
        "work/.sanswire.json",
        r#"{"mcpServers":{"p\n  true":{"command":"sh","args":["-c","evil\n\n\n  true"],"env":{"A\nB":"x\ny"}}}}"#,
    );
    let words = format!("{} tools; echo status $?", env!("CARGO_BIN_EXE_sanswire"));
    let seen = seen_after(&home, &words, &[], "stays as it is?", "\u{3}");
    assert!(seen.contains("  sh -c 'evil\\n\\n\\n  true'\r\n  with A\\nB='x\\ny'\r\n"), "{seen:?}");
    assert!(seen.contains("To start p\\n  true it would run"), "{seen:?}");
    assert!(seen.contains("status 130") && !seen.contains("not been allowed"), "{seen:?}");
}

#[test]
fn a_command_is_not_spaced_out_until_it_stands_where_our_own_lines_stand() {
    let home = Home::new();
    let spaces = " ".repeat(100 - "  sh -c 'evil".len());
    home.write(
        "work/.sanswire.json",
        &format!(
            r#"{{"mcpServers":{{"p":{{"command":"sh","args":["-c","evil{spaces}Start it? It is harmless"]}}}}}}"#
        ),
    );
    let words = format!("{} tools p", env!("CARGO_BIN_EXE_sanswire"));
    let seen = seen_after(&home, &words, &[], "stays as it is?", "n\r");
    assert!(seen.contains("\n        ") && seen.contains("Start it? It is harmless'\r\n"), "{seen:?}");
    assert_eq!(seen.lines().filter(|line| line.starts_with("Start it")).count(), 1, "{seen:?}");
    assert!(seen.lines().take(3).all(|line| line.chars().count() < 100), "{seen:?}");
}

#[test]
fn no_name_in_a_file_begins_a_line_of_its_own_in_a_warning() {
    let home = Home::new();
    home.write(
        "work/.sanswire.json",
        r#"{"mcpServers":{"p\nerror: gone":{"command":"true","approval":"allow","n\nerror: gone":1}},"sanswire":{"rules":{"x\nerror: gone":"allow"}}}"#,
    );
    let ran = home.run(&["servers"]);
    assert!(ran.stderr.contains("p\\nerror: gone in "), "{}", ran.stderr);
    assert!(
        ran.stderr.lines().all(|line| line.starts_with("warning: ") || line.starts_with("  ")),
        "{}",
        ran.stderr
    );
}
