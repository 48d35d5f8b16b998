//! The guide holds together: short pages, all of them in the summary, links that lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sanswire::host::HostConfig;
use sanswire::host::catalog::MAX_EXPOSED_BYTES;
use sanswire::limits::Limits;
use sanswire_std::{ServerOptions, StopLadder};

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

#[test]
fn the_page_of_limits_has_all_of_them_with_their_defaults() {
    let page = fs::read_to_string(guide().join("limits.md")).unwrap();
    let limits = Limits::default();
    let count = |n: usize| if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) };
    let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
    let time = |time: Duration| match time.as_secs() {
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    };
    let rows = [
        ("max_message_bytes", mib(limits.max_message_bytes)),
        ("max_json_depth", limits.max_json_depth.to_string()),
        ("max_in_flight", count(limits.max_in_flight)),
        ("max_subscriptions", count(limits.max_subscriptions)),
        ("max_peer_requests", count(limits.max_peer_requests)),
        ("max_queued_out_bytes", mib(limits.max_queued_out_bytes)),
        ("max_queued_events", count(limits.max_queued_events)),
        ("max_queued_event_bytes", mib(limits.max_queued_event_bytes)),
        ("violation_budget", count(limits.violation_budget as usize)),
        ("max_junk_lines", format!("{} in a row", limits.max_junk_lines)),
        ("max_resource_subscriptions", count(limits.max_resource_subscriptions)),
        ("max_input_rounds", count(limits.max_input_rounds as usize)),
        ("max_pages", count(limits.max_pages as usize)),
        ("max_items", count(limits.max_items)),
        ("max_list_bytes", mib(limits.max_list_bytes)),
        ("connect", time(limits.connect)),
        ("request_idle", time(limits.request_idle)),
        ("request_absolute", time(limits.request_absolute)),
        ("peer_request", time(limits.peer_request)),
        ("probe_hedge", time(limits.probe_hedge)),
        ("close_flush", time(limits.close_flush)),
        ("drain", time(limits.drain)),
        ("list_changed_debounce", format!("{} ms", limits.list_changed_debounce.as_millis())),
    ];
    // `Debug` prints each field once.
    assert_eq!(rows.len(), format!("{limits:?}").matches(": ").count(), "a limit has no row here");
    for (name, value) in rows {
        // Several of a row stand in the same order in both of its cells.
        let row = page.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{name}`")));
        let cells: Vec<&str> = row.unwrap_or_else(|| panic!("{name} is missing")).split('|').collect();
        let place = cells[1].split(", ").position(|cell| cell.trim() == format!("`{name}`")).unwrap();
        let shown = cells[2].trim();
        // A comma between digits belongs to a number.
        assert_eq!(shown.split(", ").nth(place), Some(value.as_str()), "{name}: {shown}");
    }
}

#[test]
fn the_numbers_in_the_text_are_those_of_the_code() {
    let kib = |bytes: usize| format!("{} KiB", bytes >> 10);
    let host = HostConfig::default();
    let minutes = |time: Duration| time.as_secs() / 60;
    assert_eq!(minutes(host.pages.life), 30, "half an hour");
    assert_eq!(host.policy.ask_on_repeat, 3, "the third one");
    assert_eq!(host.reconnect.max_attempts, 3, "three times in vain");
    assert_eq!((minutes(host.approvals.expiry), minutes(ServerOptions::default().state_lifetime)), (10, 10));
    for (page, text) in [
        ("hosts.md", format!("no more than {MAX_EXPOSED_BYTES} characters")),
        ("hosts.md", format!("schema ({})", kib(host.definitions.max_schema_bytes))),
        ("hosts.md", format!("description ({})", kib(host.definitions.max_description_bytes))),
        ("hosts.md", format!("of a server ({},000)", host.definitions.max_tools / 1000)),
        ("hosts.md", format!("Up to {} they", kib(host.exposure.eager_bytes))),
        ("hosts.md", format!("cut at {}", kib(host.results.max_result_bytes))),
        ("hosts.md", "kept for half an hour".into()),
        ("hosts.md", "tried three times in vain".into()),
        ("policy.md", "from the third identical call".into()),
        ("policy.md", format!("{} questions at once", host.approvals.max_open)),
        ("policy.md", "good for ten minutes".into()),
        ("serving.md", "lasts ten minutes".into()),
        ("serving.md", format!("`Limits::drain` ({} s)", Limits::default().drain.as_secs())),
        ("clients.md", format!("longer than the {} s", Limits::default().request_idle.as_secs())),
        ("troubleshooting.md", format!("within {} s", StopLadder::default().total.as_secs())),
    ] {
        let words: Vec<_> =
            fs::read_to_string(guide().join(page)).unwrap().split_whitespace().map(str::to_owned).collect();
        assert!(words.join(" ").contains(&text), "{page}: {text}");
    }
}
