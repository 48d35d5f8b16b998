//! The clients of the SDKs at the demo server over HTTP: the script that they run over pipes, which ends as it does
//! there. What passes between is seen by the script alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::clients::{Client, Run};
use crate::http::listening::Listening;
use crate::inspector;
use crate::installed::{Folder, Installation, Presence, clean};
use crate::{child, equal, script};

/// Runs the script in one way of speaking.
pub(crate) fn check(client: &Client, run: &Run, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::empty(client.name, &format!("http-{}", run.mode))?;
    let demo = Listening::demo(installation, folder.path())?;
    let mut command = client.command(installation, folder.path());
    command.args([run.mode, "--"]).arg(demo.url("/mcp"));
    let done = child::run(command)?;
    equal(&(done.status, done.stderr.as_str()), &(Some(0), ""), &format!("status and complaints, {done:?}"))?;
    script::check(&done.stdout, run)?;
    demo.finish()
}

/// The Inspector in one era.
pub(crate) fn inspect(era: &str, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::empty(inspector::FOLDER, &format!("http-{era}"))?;
    let demo = Listening::demo(installation, folder.path())?;
    inspector::check_at(&demo.url("/mcp"), era, folder.path(), installation)?;
    demo.finish()
}

/// A command line of its own: how it calls the tool `echo` with the text "hello".
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Whose installation it is in.
    pub(crate) place: Place,
    /// Below that.
    program: &'static str,
    /// `{url}` stands for the address.
    call: &'static [&'static str],
}

/// Where programs are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// With the servers of Python.
    Venv,
    /// With the clients, under this name.
    Client(&'static str),
}

/// All of them.
pub(crate) const PROGRAMS: &[Program] = &[
    Program {
        name: "fastmcp",
        place: Place::Venv,
        program: "bin/fastmcp",
        call: &["call", "{url}", "echo", "text=hello", "--json"],
    },
    Program {
        name: "mcporter",
        place: Place::BRIDGES,
        program: "node_modules/.bin/mcporter",
        call: &[
            "call",
            "--http-url",
            "{url}",
            "--allow-http",
            "--name",
            "demo",
            "echo",
            "text=hello",
            "--output",
            "json",
        ],
    },
];

impl Place {
    /// What stands between HTTP and pipes.
    pub(crate) const BRIDGES: Self = Self::Client("bridges");

    pub(crate) fn presence(self, installation: &Installation) -> Presence {
        match self {
            Self::Venv => installation.presence_of_servers("venv"),
            Self::Client(folder) => installation.presence_of_clients(folder),
        }
    }

    /// Whose installer fills it.
    pub(crate) const fn lane(self) -> &'static str {
        match self {
            Self::Venv => "servers",
            Self::Client(_) => "clients",
        }
    }

    pub(crate) fn folder(self, installation: &Installation) -> PathBuf {
        match self {
            Self::Venv => installation.servers("venv"),
            Self::Client(folder) => installation.clients(folder),
        }
    }
}

/// Its result is the tool's.
pub(crate) fn call(program: &Program, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::empty(program.name, "http")?;
    let demo = Listening::demo(installation, folder.path())?;
    let url = demo.url("/mcp");
    let mut command = program.command(installation, folder.path());
    command.args(program.call.iter().map(|word| word.replace("{url}", &url)));
    let result: Value = child::run(command)?.document(0)?;
    script::contains(&result, "/content/0/text", "hello")?;
    demo.finish()
}

impl Program {
    fn command(&self, installation: &Installation, dir: &Path) -> Command {
        clean(Command::new(self.place.folder(installation).join(self.program)), dir)
    }
}
