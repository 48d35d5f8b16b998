//! Real servers, pinned under `.ci/servers` and installed by `.ci/install-servers`: seen without the library,
//! through the library, and through the binary.
//!
//! Each server gives a few trials of its own, named `SERVER::raw::…`, `SERVER::library::…` and
//! `SERVER::binary::…`. Those of a server that is not installed, and those of a binary that is not built
//! (`cargo build -p sanswire-cli`), are skipped and counted, as `ignored` in the closing line. With
//! `SANSWIRE_INTEROP=required` they fail, unless the server's package has nothing for this machine or its
//! installation is noted as failed.

mod binary;
mod installed;
mod library;
mod protocol;
mod raw;
mod servers;

use std::env;
use std::io::Write as _;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use installed::{Installation, Presence};
use servers::{SERVERS, Server};

type Check = fn(&Server, &Installation) -> Result<(), Failed>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let installation = Installation::locate();
    let required = env::var_os("SANSWIRE_INTEROP").is_some_and(|value| value == "required");
    let mut trials = Vec::new();
    let mut absent = Vec::new();
    let mut without_binary = 0;
    for server in SERVERS {
        let presence = installation.presence(server);
        let skip = match presence {
            Presence::Installed => false,
            Presence::Unavailable => true,
            Presence::Missing => !required,
        };
        if skip {
            absent.push(server.name);
        }
        let layers = [
            ("raw", protocol::checks(server), skip),
            ("library", library::checks(server), skip),
            ("binary", binary::checks(server), skip || installation.binary.is_none() && !required),
        ];
        for (layer, checks, ignored) in layers {
            if ignored && !skip {
                without_binary += checks.len();
            }
            for (sentence, check) in checks {
                let installation = installation.clone();
                let run = move || {
                    if presence != Presence::Installed {
                        return Err("not installed: run .ci/install-servers".into());
                    }
                    check(server, &installation)
                };
                let name = format!("{}::{layer}::{sentence}", server.name);
                trials.push(Trial::test(name, run).with_ignored_flag(ignored));
            }
        }
    }
    if !arguments.list {
        if !absent.is_empty() {
            let (absent, servers) = (absent.join(", "), SERVERS.len());
            note(&format!("not all of {servers} servers are installed; skipped: {absent}"));
        }
        if without_binary > 0 {
            note(&format!("the binary is not built; {without_binary} trials of it are skipped"));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn note(text: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "interop: {text}");
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T, what: &str) -> Result<(), Failed> {
    if got == expected { Ok(()) } else { Err(format!("{what}: got {got:?}, expected {expected:?}").into()) }
}
