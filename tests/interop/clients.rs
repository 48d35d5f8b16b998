//! The clients of the official SDKs, as they are used: each runs one script against the demo server, in each way
//! of speaking that it can be made to use.
//!
//! The scripts say what the SDK made of each answer ([`script`]); what passed between the two is taken down on the
//! way ([`wire`]). They are pinned under `.ci/clients`, where the programs stand too.

use std::env;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;

use crate::installed::{Folder, Installation, clean};
use crate::{child, equal, script, tap, wire};

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// The folder of its installation; `.ci/install-clients` fills each on its own.
    pub(crate) folder: &'static str,
    program: Program,
    pub(crate) runs: &'static [Run],
    /// Whether it was built to speak HTTP as well.
    pub(crate) over_http: bool,
}

/// How its program is started.
#[derive(Debug, Clone, Copy)]
enum Program {
    /// A script below `.ci/clients`, by node, with the installed modules.
    Node(&'static str),
    /// A script below `.ci/clients`, by the installed Python.
    Python(&'static str),
    /// Compiled, below the installation.
    Compiled(&'static str),
}

/// One way of speaking.
#[derive(Debug)]
pub(crate) struct Run {
    /// What the script is told.
    pub(crate) mode: &'static str,
    /// The method of the client's first request, for each start of the server; the last one is talked to.
    pub(crate) openings: &'static [&'static str],
    /// The revision that is spoken then.
    pub(crate) revision: &'static str,
}

const fn run(mode: &'static str, openings: &'static [&'static str], revision: &'static str) -> Run {
    Run { mode, openings, revision }
}

const HANDSHAKE: &[&str] = &["initialize"];
const DISCOVERY: &[&str] = &["server/discover"];
/// It needs to know nothing beforehand.
const STRAIGHT: &[&str] = &["tools/list"];
/// It asks a server that it ends for it, and starts another one.
const ASKED_BEFORE: &[&str] = &["server/discover", "tools/list"];

/// All of them. "default" is what the SDK does when it is told nothing.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "typescript-1",
        over_http: true,
        folder: "typescript",
        program: Program::Node("typescript/v1.cjs"),
        runs: &[run("default", HANDSHAKE, "2025-11-25")],
    },
    Client {
        name: "typescript-2",
        over_http: true,
        folder: "typescript",
        program: Program::Node("typescript/v2.cjs"),
        runs: &[
            run("default", HANDSHAKE, "2025-11-25"),
            run("auto", ASKED_BEFORE, "2026-07-28"),
            run("2026-07-28", ASKED_BEFORE, "2026-07-28"),
            run("2025-06-18", HANDSHAKE, "2025-06-18"),
            run("2025-03-26", HANDSHAKE, "2025-03-26"),
            run("2024-11-05", HANDSHAKE, "2024-11-05"),
        ],
    },
    Client {
        name: "python-1",
        over_http: true,
        folder: "python-1",
        program: Program::Python("python/v1.py"),
        runs: &[run("default", HANDSHAKE, "2025-11-25")],
    },
    Client {
        name: "python-2",
        over_http: true,
        folder: "python-2",
        program: Program::Python("python/v2.py"),
        runs: &[
            run("default", DISCOVERY, "2026-07-28"),
            // Told the revision, it begins without asking.
            run("2026-07-28", STRAIGHT, "2026-07-28"),
            run("legacy", HANDSHAKE, "2025-11-25"),
        ],
    },
    Client {
        name: "rmcp",
        over_http: false,
        folder: "rmcp",
        program: Program::Compiled("debug/rmcp-client"),
        runs: &[
            // It offers 2026-07-28 in `initialize`, which knows no such revision.
            run("default", HANDSHAKE, "2025-11-25"),
            run("auto", DISCOVERY, "2026-07-28"),
            run("2026-07-28", DISCOVERY, "2026-07-28"),
            run("2025-06-18", HANDSHAKE, "2025-06-18"),
            run("2025-03-26", HANDSHAKE, "2025-03-26"),
            run("2024-11-05", HANDSHAKE, "2024-11-05"),
        ],
    },
];

/// Runs the script in one way of speaking, and looks at it from both sides.
pub(crate) fn check(client: &Client, run: &Run, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::empty(client.name, run.mode)?;
    let mut command = client.command(installation, folder.path());
    command.args([run.mode, "--"]).args(tapped(installation, folder.path())?);
    let done = child::run(command)?;
    equal(&(done.status, done.stderr.as_str()), &(Some(0), ""), &format!("status and complaints, {done:?}"))?;
    let records = tap::records(folder.path())?;
    script::check(&done.stdout, run)?;
    wire::check(&records, run)
}

impl Client {
    pub(crate) fn command(&self, installation: &Installation, dir: &Path) -> Command {
        let installed = installation.clients(self.folder);
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/clients");
        match self.program {
            Program::Node(script) => {
                let mut command = clean(Command::new("node"), dir);
                command.env("NODE_PATH", installed.join("node_modules")).arg(scripts.join(script));
                command
            }
            Program::Python(script) => {
                let mut command = clean(Command::new(installed.join("bin/python")), dir);
                // Nothing is written beside the scripts.
                command.arg("-B").arg(scripts.join(script));
                command
            }
            Program::Compiled(program) => clean(Command::new(installed.join(program)), dir),
        }
    }
}

/// The tools that the demo server lets be called. It lists others too.
pub(crate) const GRANTED: [&str; 8] = ["echo", "add", "slow", "fail", "ask", "log", "count", "toggle"];

/// The words that start the demo server with the tap in between, which leaves its record in `folder`.
pub(crate) fn tapped(installation: &Installation, folder: &Path) -> Result<Vec<String>, Failed> {
    let binary = installation.binary.as_ref().ok_or("not built: cargo build -p sanswire-cli")?;
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a path that is no text");
    let mut words = vec![text(&env::current_exe()?)?, tap::FLAG.into(), text(folder)?, text(binary)?];
    words.push("demo-server".into());
    words.extend(GRANTED.iter().flat_map(|tool| ["--allow".into(), (*tool).into()]));
    Ok(words)
}
