//! Recordings that are kept, replayed by what is there today.

use super::web::web;
use super::{recorded, replay, rounds, session};

/// Recordings of an earlier day: of [`session`], of [`rounds`], and of [`web`].
const OLDER: [(&str, &str); 3] = [
    ("session", include_str!("../older/session.jsonl")),
    ("rounds", include_str!("../older/rounds.jsonl")),
    ("web", include_str!("../older/web.jsonl")),
];

/// What a machine does with the same inputs stays the same, unless somebody means to change it. With a new version, or a
/// change that is meant, they are made anew by the test below this one; within a version, who has a recording can rely on it.
#[test]
fn what_older_recordings_show_is_done_today() {
    for (name, text) in OLDER {
        let replayed = replay(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((replayed.connections, replayed.difference), (1, None), "{name}");
        assert!(replayed.inputs > 5 && replayed.unfinished == 0 && !replayed.full, "{name}");
    }
}

#[test]
#[ignore = "writes files into the source: for a new version, or after a change of what machines do"]
fn write_the_older_recordings_anew() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/recording/older");
    for (name, text) in [
        ("session.jsonl", recorded(|recording| session(recording, 200))),
        ("rounds.jsonl", recorded(|recording| rounds(recording, 200))),
        ("web.jsonl", recorded(|recording| web(recording, 200))),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}
