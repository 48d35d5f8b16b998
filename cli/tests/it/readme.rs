use crate::home::{Home, run};

#[test]
fn the_first_command_of_the_readme_prints_hello_on_a_fresh_machine() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    assert!(readme.contains("\ncargo run -q -p sanswire-cli -- call demo/echo text=hello\n"));
    let ran = Home::new().run(&["call", "demo/echo", "text=hello"]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, "hello\n", ""));
}

#[test]
fn it_works_where_there_is_no_home_at_all() {
    let home = Home::new();
    let mut command = home.command(&["call", "demo/echo", "text=hello"]);
    command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    assert_eq!(run(command, "").ok(), "hello\n");
}

#[test]
fn every_way_to_name_a_target_is_the_same() {
    let home = Home::new();
    for words in [
        &["call", "demo/echo", "text=x"][..],
        &["call", "demo.echo", "text=x"],
        &["call", "demo", "echo", "text=x"],
        &["--quiet", "call", "demo/echo", "text=x"],
        &["call", "demo/echo", "text=x", "--era", "legacy"],
        &["call", "demo/echo", "text=x", "--era", "modern"],
        &["call", "demo/echo", "text=x", "--era", "2024-11-05"],
    ] {
        assert_eq!(home.run(words).ok(), "x\n", "{words:?}");
    }
    let ran = home.run(&["call", "demo"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("which tool") && ran.stderr.contains("sanswire tools demo"), "{ran:?}");
}

#[test]
fn help_and_version_are_no_errors_and_completions_are_scripts() {
    let home = Home::new();
    assert!(home.run(&["--help"]).ok().contains("Exit status"));
    assert!(home.run(&["call", "--help"]).ok().contains("NAME:=JSON"));
    assert!(home.run(&["--version"]).ok().starts_with("sanswire "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&["completions", shell]).ok().contains("doctor"), "{shell}");
    }
}
