//! Writes seeds of fuzz targets whose inputs nobody can write by hand: `fuzz_seeds [FOLDER]`, by default `fuzz/seeds`.

use std::path::Path;
use std::{env, fs, io};

use sanswire_tests::properties::conversations::{CLIENT_OPS, PAIR, SERVER_OPS};
use sanswire_tests::seed::Rng;
use sanswire_tests::simulation::{Script, World};

/// So many of each kind.
const EACH: usize = 6;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| "fuzz/seeds".into());
    for (target, worlds) in [("pair", PAIR), ("client_ops", CLIENT_OPS), ("server_ops", SERVER_OPS)] {
        for (name, bytes) in conversations(worlds) {
            write(&folder, target, &name, &bytes)?;
        }
    }
    for target in ["http_site", "http_endpoint", "http_pool"] {
        for len in [150, 400, 1000] {
            let mut rng = Rng::new(len as u64);
            let mut bytes: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            bytes[0] = 0;
            write(&folder, target, &format!("choices-{len}"), &bytes)?;
        }
    }
    Ok(())
}

/// Conversations of the simulation in these worlds, each as the bytes of an input.
fn conversations(worlds: &[World]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for world in worlds {
        let scripts = (0..).map(|seed| (seed, Script::of(seed)));
        let fit = scripts.filter(|(_, script)| script.world == *world && script.steps.len() < 24);
        all.extend(
            fit.take(EACH).map(|(seed, script)| (format!("{}-{seed}", world.name()), script.bytes(worlds))),
        );
    }
    all
}

fn write(folder: &str, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new(folder).join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}
