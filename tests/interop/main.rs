//! Real servers, pinned under `.ci/servers` and installed by `.ci/install-servers`: seen without the library,
//! through the library, and through the binary. Real clients, pinned under `.ci/clients` and installed by
//! `.ci/install-clients`: served by the demo server.
//!
//! Each server gives a few trials of its own, named `SERVER::raw::…`, `SERVER::library::…` and
//! `SERVER::binary::…`; each client one for each way of speaking, named `CLIENT::MODE::…`. Those of a server or a
//! client that is not installed, and those of a binary that is not built (`cargo build -p sanswire-cli`), are
//! skipped and counted, as `ignored` in the closing line. With `SANSWIRE_INTEROP=required` they fail, unless the
//! server's package has nothing for this machine or the installation is noted as failed.

mod binary;
mod child;
mod clients;
mod http;
mod inspector;
mod installed;
mod library;
mod protocol;
mod raw;
mod script;
mod servers;
mod tap;
mod together;
mod wire;

use std::env;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use clients::CLIENTS;
use installed::{Installation, Presence};
use servers::{SERVERS, Server};

type Check = fn(&Server, &Installation) -> Result<(), Failed>;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    if let [flag, words @ ..] = words.as_slice()
        && flag == tap::FLAG
    {
        return tap::run(words);
    }
    let arguments = Arguments::from_args();
    let mut plan = Plan {
        installation: Installation::locate(),
        required: env::var_os("SANSWIRE_INTEROP").is_some_and(|value| value == "required"),
        trials: Vec::new(),
        without_binary: 0,
    };
    let servers = plan.servers();
    let clients = plan.clients();
    if !arguments.list {
        let all_clients = CLIENTS.len() + 1 + http::clients::PROGRAMS.len() + http::bridges::BRIDGES.len();
        for (what, count, absent) in [("servers", SERVERS.len(), servers), ("clients", all_clients, clients)]
        {
            if !absent.is_empty() {
                note(&format!("not all of {count} {what} are installed; skipped: {}", absent.join(", ")));
            }
        }
        if plan.without_binary > 0 {
            note(&format!("the binary is not built; {} trials of it are skipped", plan.without_binary));
        }
    }
    libtest_mimic::run(&arguments, plan.trials).exit_code()
}

/// What will be tried.
struct Plan {
    installation: Installation,
    /// Whether what is missing is a failure.
    required: bool,
    trials: Vec<Trial>,
    /// How many are skipped because there is no binary.
    without_binary: usize,
}

impl Plan {
    /// Plans those of the servers; the names of the absent ones.
    fn servers(&mut self) -> Vec<&'static str> {
        let mut absent = Vec::new();
        for server in SERVERS {
            let presence = self.installation.presence(server);
            if presence.skips(self.required) {
                absent.push(server.name);
            }
            let layers = [
                ("raw", protocol::checks(server), false),
                ("library", library::checks(server), false),
                ("binary", binary::checks(server), true),
            ];
            for (layer, checks, of_binary) in layers {
                for (sentence, check) in checks {
                    let name = format!("{}::{layer}::{sentence}", server.name);
                    let run = move |installation: &Installation| check(server, installation);
                    self.add(name, presence, "servers", of_binary, run);
                }
            }
        }
        for web in http::servers::SERVERS {
            let presence = self.installation.presence(web.server());
            for (sentence, check, of_binary) in http::servers::checks() {
                let run = move |installation: &Installation| check(web, installation);
                self.add(format!("{}::{sentence}", web.name), presence, "servers", of_binary, run);
            }
        }
        // Whatever is there, as long as it is enough.
        let here = SERVERS.iter().filter(|server| self.installation.presence(server) == Presence::Installed);
        let presence = if here.count() >= together::LEAST { Presence::Installed } else { Presence::Missing };
        self.add(
            "all::binary::tells_the_truth_about_each".into(),
            presence,
            "servers",
            true,
            together::check,
        );
        absent
    }

    /// Plans those of the clients; the names of the absent ones.
    fn clients(&mut self) -> Vec<&'static str> {
        let mut absent = Vec::new();
        for client in CLIENTS {
            let presence = self.installation.presence_of_clients(client.folder);
            if presence.skips(self.required) {
                absent.push(client.name);
            }
            for run in client.runs {
                let name = format!("{}::{}::is_served_in_{}", client.name, run.mode, run.revision);
                let run = move |installation: &Installation| clients::check(client, run, installation);
                self.add(name, presence, "clients", true, run);
            }
            for run in client.runs.iter().filter(|_| client.over_http) {
                let name = format!("{}::{}::is_served_over_http_in_{}", client.name, run.mode, run.revision);
                let run = move |installation: &Installation| http::clients::check(client, run, installation);
                self.add(name, presence, "clients", true, run);
            }
        }
        let presence = self.installation.presence_of_clients(inspector::FOLDER);
        if presence.skips(self.required) {
            absent.push(inspector::FOLDER);
        }
        for era in inspector::ERAS {
            let name = format!("{}::{}::is_served_in_{}", inspector::FOLDER, era.0, era.2);
            let run = move |installation: &Installation| inspector::check(*era, installation);
            self.add(name, presence, "clients", true, run);
            let name = format!("{}::{}::is_served_over_http_in_{}", inspector::FOLDER, era.0, era.2);
            let run = move |installation: &Installation| http::clients::inspect(era.0, installation);
            self.add(name, presence, "clients", true, run);
        }
        self.over_http(&mut absent);
        absent
    }

    /// Plans the programs that know HTTP, and tell nothing of what they make of it but a result.
    fn over_http(&mut self, absent: &mut Vec<&'static str>) {
        for program in http::clients::PROGRAMS {
            let presence = program.place.presence(&self.installation);
            if presence.skips(self.required) {
                absent.push(program.name);
            }
            let run = move |installation: &Installation| http::clients::call(program, installation);
            self.add(
                format!("{}::is_served_over_http", program.name),
                presence,
                program.place.lane(),
                true,
                run,
            );
        }
        for bridge in http::bridges::BRIDGES {
            let presence = bridge.place.presence(&self.installation);
            if presence.skips(self.required) {
                absent.push(bridge.name);
            }
            let run = move |installation: &Installation| http::bridges::check(bridge, installation);
            self.add(
                format!("{}::is_served_over_http", bridge.name),
                presence,
                bridge.place.lane(),
                true,
                run,
            );
        }
    }

    fn add(
        &mut self,
        name: String,
        presence: Presence,
        what: &'static str,
        of_binary: bool,
        run: impl FnOnce(&Installation) -> Result<(), Failed> + Send + 'static,
    ) {
        let skip = presence.skips(self.required);
        let without_binary = of_binary && self.installation.binary.is_none() && !self.required;
        self.without_binary += usize::from(without_binary && !skip);
        let installation = self.installation.clone();
        let run = move || {
            if presence != Presence::Installed {
                return Err(format!("not installed: run .ci/install-{what}").into());
            }
            run(&installation)
        };
        self.trials.push(Trial::test(name, run).with_ignored_flag(skip || without_binary));
    }
}

fn note(text: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "interop: {text}");
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T, what: &str) -> Result<(), Failed> {
    if got == expected { Ok(()) } else { Err(format!("{what}: got {got:?}, expected {expected:?}").into()) }
}
