//! The descriptors of a server, one kind after the other.

mod listen;
mod poller;
mod stdio;

use std::process::Command;

const CHILD: &str = "SANSWIRE_TEST_CHILD";

/// A process of its own that runs one ignored test of this module.
fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let module = module_path!().split_once("::").unwrap().1;
    command.args([&format!("{module}::{test}"), "--exact", "--ignored", "--nocapture"]).env(CHILD, "1");
    command
}

/// Whether this is such a process: what it does to itself is no good for others.
fn in_child() -> bool {
    std::env::var_os(CHILD).is_some()
}
