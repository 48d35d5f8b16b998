//! The fuzz targets: each has seeds, which keep its rules, as do the inputs that once broke something.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sanswire_tests::properties::conversations::{CLIENT_OPS, PAIR, SERVER_OPS};
use sanswire_tests::properties::{TARGETS, check_client_ops, check_pair, check_server_ops};
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
    for name in &listed {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} is not built");
    }
}

#[test]
fn a_conversation_is_the_same_as_bytes() {
    for seed in 0..300 {
        let script = Script::of(seed);
        let worlds = match script.world {
            World::BadServer => CLIENT_OPS,
            World::BadClient => SERVER_OPS,
            World::Pair | World::Http | World::Host => PAIR,
        };
        assert_eq!(Script::from_bytes(worlds, &script.bytes(worlds)), script);
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
    fn a_site_keeps_its_rules_whatever_its_connections_bring(
        pieces in prop::collection::vec(
            prop_oneof![
                6 => prop::sample::select(pieces_of_requests()),
                3 => (0xf8_u8..=0xff).prop_map(|act| vec![act]),
                1 => prop::collection::vec(any::<u8>(), 0..20),
            ],
            0..40,
        ),
    ) {
        check_http_site(&[vec![1], pieces.concat()].concat());
    }
}

/// Heads, bodies and what happens meanwhile, of the seeds of a site.
fn pieces_of_requests() -> Vec<Vec<u8>> {
    let seeds =
        files(&top().join("fuzz/seeds/http_site")).into_iter().map(|file| fs::read(file).expect("a seed"));
    let sent = seeds.filter(|seed| seed[0] % 2 == 1);
    sent.flat_map(|seed| {
        seed[1..]
            .split_inclusive(|byte| *byte == b'\n' || *byte >= 0xf8)
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    })
    .collect()
}
