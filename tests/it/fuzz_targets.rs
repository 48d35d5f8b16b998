//! The fuzz targets: each has seeds, which keep its rules, as do the inputs that once broke something.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sanswire::mcp::Method;
use sanswire_tests::properties::conversations::{CLIENT_OPS, PAIR, SERVER_OPS};
use sanswire_tests::properties::{
    TARGETS, check_client_bytes, check_client_ops, check_http_exchange, check_legality, check_pair,
    check_schema_round_trip, check_server_ops,
};
use sanswire_tests::simulation::{Script, World};
use sanswire_tests::site_chaos::check_http_site;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The files of a folder, which need not be there, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files
}

fn names(folder: &Path) -> BTreeSet<String> {
    let stem = |file: PathBuf| file.file_stem().expect("a name").to_string_lossy().into_owned();
    files(folder).into_iter().map(stem).collect()
}

#[test]
fn the_seeds_of_each_target_and_what_once_broke_it_keep_the_rules() {
    for (name, check) in TARGETS {
        let seeds = files(&top().join("fuzz/seeds").join(name));
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for file in seeds.into_iter().chain(files(&top().join("tests/regressions").join(name))) {
            let bytes = fs::read(&file).expect("a readable file");
            if let Err(failure) = std::panic::catch_unwind(|| check(&bytes)) {
                eprintln!("that was {}", file.display());
                std::panic::resume_unwind(failure);
            }
        }
    }
}

#[test]
fn each_target_has_a_program_and_each_program_a_target() {
    let listed: BTreeSet<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&top().join("fuzz/fuzz_targets")), listed);
    assert_eq!(names(&top().join("fuzz/seeds")), listed);
    assert!(names(&top().join("tests/regressions")).is_subset(&listed));
    let manifest = fs::read_to_string(top().join("fuzz/Cargo.toml")).expect("the manifest");
    let floors = fs::read_to_string(top().join("fuzz/floors")).expect("the floors");
    for name in &listed {
        assert!(floors.lines().any(|line| line.starts_with(&format!("{name} "))), "{name} has no floor");
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} is not built");
    }
}

#[test]
fn a_conversation_is_the_same_as_bytes() {
    for seed in 0..300 {
        let script = Script::of(seed);
        let worlds = match script.world {
            World::BadServer | World::BadHttpServer => CLIENT_OPS,
            World::BadClient | World::BadHttpClient => SERVER_OPS,
            World::Pair | World::Http | World::Host => PAIR,
        };
        assert_eq!(Script::from_bytes(worlds, &script.bytes(worlds)), script);
    }
}

/// Inputs of a target that are made of the lines, heads and acts of its seeds, put together anew.
fn mixed(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds: Vec<_> = files(&top().join("fuzz/seeds").join(target))
        .into_iter()
        .map(|file| fs::read(file).expect("a seed"))
        .collect();
    let pieces: Vec<Vec<u8>> = seeds
        .iter()
        .flat_map(|seed| {
            seed[1..].split_inclusive(|byte| *byte == b'\n' || *byte >= 0xf8).map(<[u8]>::to_vec)
        })
        .collect();
    let piece = prop_oneof![
        6 => prop::sample::select(pieces),
        3 => (0xf8_u8..=0xff).prop_map(|act| vec![act]),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    (any::<u8>(), prop::collection::vec(piece, 0..40))
        .prop_map(|(setting, pieces)| [vec![setting], pieces.concat()].concat())
}

/// A seed of a target, with a few bytes that are others.
fn damaged(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds: Vec<_> = files(&top().join("fuzz/seeds").join(target))
        .into_iter()
        .map(|file| fs::read(file).expect("a seed"))
        .collect();
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&b"\"{}[]:,0 \\unltefas"[..])];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), byte), 0..4);
    (prop::sample::select(seeds), 0_u8..5, changes).prop_map(|(mut seed, first, changes)| {
        seed[0] = first;
        for (at, byte) in changes {
            let at = at.index(seed.len());
            seed[at] = byte;
        }
        seed
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_client_keeps_its_rules_whatever_it_is_sent_and_its_application_does(data in mixed("client_bytes")) {
        check_client_bytes(&data);
    }

    #[test]
    fn what_is_written_is_read_as_it_was_meant_in_every_revision(data in damaged("schema_round_trip")) {
        check_schema_round_trip(&data);
    }

    #[test]
    fn who_may_send_what_is_what_the_schemas_say(revision in 0_u8..5, known in any::<u8>(), name in "[a-z/_]{0,20}") {
        check_legality(&[&[revision, known], name.as_bytes()].concat());
    }

    #[test]
    fn heads_and_bodies_agree_or_are_refused(data in prop_oneof![mixed("http_exchange"), damaged("http_exchange")]) {
        check_http_exchange(&data);
    }
}

#[test]
fn who_may_send_what_is_what_the_schemas_say_of_each_known_method() {
    for revision in 0..5 {
        for known in 0..u8::try_from(Method::KNOWN.len()).expect("few") {
            check_legality(&[revision, known]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn conversations_of_any_bytes_keep_the_golden_rules(data in prop::collection::vec(any::<u8>(), 0..200)) {
        check_pair(&data);
        check_client_ops(&data);
        check_server_ops(&data);
    }

    #[test]
    fn a_site_keeps_its_rules_whatever_is_chosen(data in prop::collection::vec(any::<u8>(), 0..900)) {
        check_http_site(&[&[0][..], &data].concat());
    }

    #[test]
    fn a_site_keeps_its_rules_whatever_its_connections_bring(data in mixed("http_site")) {
        check_http_site(&[&[1][..], &data].concat());
    }
}
