//! The guide in `docs/guide`: its Rust is compiled and run, each page as the documentation of a module (`build.rs`). What it
//! asks of the command line is run by that crate's own tests.

use std::path::Path;
use std::process;

use sanswire_std::Command;

include!(concat!(env!("OUT_DIR"), "/guide.rs"));

/// The command of the demo server as it was built here: what a page means by `sanswire demo-server`. Builds it first where
/// nobody did.
///
/// # Panics
/// If that fails.
#[must_use]
pub fn demo() -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let program = target.join("debug").join(format!("sanswire{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let mut cargo = process::Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "sanswire-cli"]).current_dir(&root);
        assert!(cargo.status().unwrap().success(), "the demo server cannot be built");
    }
    Command::new(program).arg("demo-server")
}
