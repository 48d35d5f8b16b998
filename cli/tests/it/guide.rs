//! What the guide in `docs/guide` has a reader type.

use std::fs;
use std::path::{Path, PathBuf};

use crate::home::{Home, Ran, run};

fn pages() -> Vec<(String, String)> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide");
    let summary = fs::read_to_string(guide.join("SUMMARY.md")).unwrap();
    let links = summary.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')'));
    links.map(|page| (page.into(), fs::read_to_string(guide.join(page)).unwrap())).collect()
}

/// A fenced block: what kind it is, its text, and what stands between it and the next one.
fn blocks(page: &str) -> Vec<(&str, String, String)> {
    let mut blocks: Vec<(&str, String, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) if !inside => {
                blocks.push((kind, String::new(), String::new()));
                inside = true;
            }
            Some(_) => inside = false,
            None => {
                if let Some((_, text, after)) = blocks.last_mut() {
                    let to = if inside { text } else { after };
                    *to += line;
                    to.push('\n');
                }
            }
        }
    }
    blocks
}

/// Runs a script in this home, with the program in the path.
fn shell(home: &Home, script: &str) -> Ran {
    let mut command = home.prepare(Path::new("/bin/sh"));
    let program = PathBuf::from(env!("CARGO_BIN_EXE_sanswire"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    command.env("PATH", path).args(["-euc", script]);
    run(command, "")
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let mut ran = 0;
    for (name, page) in pages() {
        // What one command of a page writes down the next one finds.
        let home = Home::new();
        let blocks = blocks(&page);
        for (n, (kind, script, after)) in blocks.iter().enumerate() {
            if *kind != "sh" {
                // `sh elsewhere`: what needs more than this machine has for certain.
                assert!(
                    ["rust", "rust,no_run", "json", "toml", "yaml", "text", "sh elsewhere"].contains(kind),
                    "{name}: {kind}"
                );
                continue;
            }
            ran += 1;
            let said = shell(&home, script);
            assert_eq!(said.status, 0, "{name}: {script}{said:?}");
            // A text right behind a command is what it prints.
            if let Some(("text", text, _)) = blocks.get(n + 1).filter(|_| after.trim().is_empty()) {
                assert_eq!(said.stdout, *text, "{name}: {script}{said:?}");
            }
        }
    }
    assert!(ran > 0);
}
