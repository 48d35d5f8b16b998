//! The guide holds together: short pages, all of them in the summary, links that lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide")
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// What a heading is called in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
}

#[test]
fn every_page_is_in_the_summary_and_short() {
    let summary = fs::read_to_string(guide().join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> = links(&summary).map(str::to_owned).collect();
    let there = fs::read_dir(guide()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<_> = there.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
    for page in there {
        let lines = fs::read_to_string(guide().join(&page)).unwrap().lines().count();
        assert!(lines <= 200, "{page} has {lines} lines");
    }
}

#[test]
fn every_link_of_the_guide_leads_somewhere() {
    let mut seen = 0;
    for file in fs::read_dir(guide()).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for link in links(&text).filter(|link| !link.starts_with("http")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { path.clone() } else { guide().join(file) };
            assert!(to.exists(), "{}: {link}", path.display());
            if !heading.is_empty() {
                let target = fs::read_to_string(&to).unwrap();
                let headings = target.lines().filter_map(|line| line.strip_prefix('#'));
                let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#')));
                assert!(anchors.any(|anchor| anchor == heading), "{}: {link}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}
