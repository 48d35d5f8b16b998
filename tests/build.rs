//! Makes doc-tests of the guide in `docs/guide`: one module a page, whose Rust is compiled and run.
//!
//! A page shows what its reader needs and no more. What a snippet needs besides stands above it in a comment that no
//! reader sees (`<!-- setup` … `-->`, and `<!-- then` for what follows it), and `sanswire demo-server` is the server that was
//! built here.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// How a page starts the demo server.
const DEMO: &str = r#"Command::new("sanswire").arg("demo-server")"#;

fn main() {
    let guide = Path::new("../docs/guide");
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    println!("cargo::rerun-if-changed={}", guide.display());
    let summary = fs::read_to_string(guide.join("SUMMARY.md")).expect("the guide has a summary");
    let mut modules = String::new();
    for (_, link) in summary.lines().filter_map(|line| line.split_once("](")) {
        let page = link.trim_end().trim_end_matches(')');
        let text = fs::read_to_string(guide.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        let name = page.trim_end_matches(".md");
        fs::write(Path::new(&out).join(page), doc_tests(&text)).expect("the folder of this script");
        let _ = writeln!(
            modules,
            "#[cfg(doctest)]\n#[doc = include_str!(concat!(env!(\"OUT_DIR\"), \"/{page}\"))]\nmod {name} {{}}"
        );
    }
    fs::write(Path::new(&out).join("guide.rs"), modules).expect("the folder of this script");
}

/// The page with whole programs for its snippets.
fn doc_tests(page: &str) -> String {
    let mut out = String::new();
    let (mut setup, mut then) = (String::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let "<!-- setup" | "<!-- then" = line {
            let to = if line == "<!-- setup" { &mut setup } else { &mut then };
            for hidden in lines.by_ref().take_while(|line| *line != "-->") {
                let _ = writeln!(to, "# {hidden}");
            }
        } else if line.starts_with("```rust") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let code = code.join("\n").replace(DEMO, "sanswire_tests::guide::demo()");
            let whole = code.contains("fn main()");
            let (before, after) = if whole {
                ("", "")
            } else {
                ("# fn main() -> Result<(), Box<dyn std::error::Error>> {\n", "# Ok(())\n# }\n")
            };
            let _ = write!(out, "{line}\n{before}{setup}{code}\n{then}{after}```\n");
            (setup, then) = (String::new(), String::new());
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    assert!(setup.is_empty() && then.is_empty(), "a comment for the tests stands above no snippet");
    out
}
