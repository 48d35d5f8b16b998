//! Every rule and every failure seen is named by a test, or stands in `docs/traceability.md` with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The ids in a text: `P-012`, `H-031`, `B-05`, and `b_05_` of a test's name, as `B-05`.
fn ids(text: &str) -> BTreeSet<String> {
    let bytes = text.as_bytes();
    let mut found = BTreeSet::new();
    for at in 0..bytes.len().saturating_sub(3) {
        let (kind, joint) = (bytes[at], bytes[at + 1]);
        let named = kind == b'b' && joint == b'_';
        if !(matches!(kind, b'P' | b'H' | b'B') && joint == b'-' || named) {
            continue;
        }
        if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') {
            continue;
        }
        let digits = bytes[at + 2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = bytes.get(at + 2 + digits).copied();
        if (2..=3).contains(&digits) && (!named || ends == Some(b'_')) {
            found.insert(format!(
                "{}-{}",
                char::from(kind.to_ascii_uppercase()),
                &text[at + 2..at + 2 + digits]
            ));
        }
    }
    found
}

/// What the tests below `folder` name: files of tests as they are, others from their first `#[cfg(test)]` on.
fn named_below(folder: &Path, tests: bool, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            // What is built or installed is no test of ours.
            if !name.starts_with('.') && !["target", "node_modules", "corpus", "artifacts"].contains(&name) {
                named_below(&path, tests || name == "tests" || name == "fuzz", found);
            }
        } else if [".rs", ".py", ".sh", ".mjs"].iter().any(|end| name.ends_with(end))
            && name != "traceability.rs"
        {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let from = if tests || name == "tests.rs" { Some(0) } else { text.find("#[cfg(test)]") };
            found.extend(from.map(|from| ids(&text[from..])).unwrap_or_default());
        }
    }
}

#[test]
fn every_rule_is_named_by_a_test_or_stands_in_the_list_with_the_reason() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut named = BTreeSet::new();
    named_below(top, false, &mut named);
    let list = fs::read_to_string(top.join("docs/traceability.md")).expect("the list");
    // The head and the reasons may name rules as well; the lists are lines of ids alone.
    let listed: Vec<String> = list
        .lines()
        .filter(|line| !line.is_empty() && line.split(' ').all(|word| ids(word).contains(word)))
        .flat_map(|line| line.split(' ').map(str::to_owned))
        .collect();
    let unnamed: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(unnamed.len(), listed.len(), "an id stands in the list twice");
    let both: Vec<_> = unnamed.intersection(&named).collect();
    assert!(both.is_empty(), "a test names them, so they leave the list: {both:?}");
    let all: BTreeSet<String> = (1..=492)
        .map(|n| format!("P-{n:03}"))
        .chain((1..=247).map(|n| format!("H-{n:03}")))
        .chain((1..=111).step_by(2).map(|n| format!("B-{n:02}")))
        .collect();
    let missing: Vec<_> = all.iter().filter(|id| !named.contains(*id) && !unnamed.contains(*id)).collect();
    assert!(missing.is_empty(), "neither a test nor the list names them: {missing:?}");
    let strange: Vec<_> = named.union(&unnamed).filter(|id| !all.contains(*id)).collect();
    assert!(strange.is_empty(), "no such rule: {strange:?}");
}
