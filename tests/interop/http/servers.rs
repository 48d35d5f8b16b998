//! The servers that can listen: each is what it is over pipes, on a port.

use std::process::Command;
use std::sync::Arc;
use std::thread;

use libtest_mimic::Failed;
use sanswire::client::{RequestOptions, Start, Verdict};
use sanswire::mcp::{Era, Method, Revision};
use sanswire_std::{Client, HttpTarget};
use serde_json::{Value, json};

use crate::child::{self, Done};
use crate::equal;
use crate::http::listening::{Listening, free_port};
use crate::installed::{Folder, Installation, clean};
use crate::library::{calls, era_of, names, options, revision_of, verdict_of};
use crate::servers::{self, Server};

/// How a server is made to listen.
#[derive(Debug)]
pub(crate) struct Web {
    pub(crate) name: &'static str,
    /// Which of [`servers::SERVERS`] it is.
    server: &'static str,
    /// `{port}` stands for the port, here and in `env`.
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    path: &'static str,
}

/// All of them: five SDKs in four languages, and the transport of 2024-11-05, which nothing but its answers tells.
pub(crate) const SERVERS: &[Web] = &[
    Web {
        name: "everything-http",
        server: "everything",
        args: &["streamableHttp"],
        env: &[("PORT", "{port}")],
        ..STREAMABLE
    },
    Web {
        name: "everything-sse",
        server: "everything",
        args: &["sse"],
        env: &[("PORT", "{port}")],
        path: "/sse",
    },
    Web {
        name: "context7-http",
        server: "context7",
        args: &["--transport", "http", "--port", "{port}"],
        ..STREAMABLE
    },
    Web {
        name: "mcp-time-http",
        server: "mcp-time",
        args: &["--transport", "stream", "--address", "http://127.0.0.1:{port}/mcp"],
        ..STREAMABLE
    },
    Web { name: "cortex-http", server: "cortex", env: &[("HTTP_PORT", "{port}")], ..STREAMABLE },
    Web {
        name: "motherduck-http",
        server: "motherduck",
        args: &["--transport", "http", "--port", "{port}"],
        ..STREAMABLE
    },
];

const STREAMABLE: Web = Web { name: "", server: "", args: &[], env: &[], path: "/mcp" };

type Check = fn(&Web, &Installation) -> Result<(), Failed>;

/// What is tried of each, and whether the binary is needed for it.
pub(crate) fn checks() -> Vec<(&'static str, Check, bool)> {
    vec![
        ("library::finds_its_era_and_calls", from_nothing, false),
        ("library::keeps_a_pinned_revision", pinned, false),
        ("library::is_shared_by_threads", shared, false),
        ("binary::lists_and_calls", binary, true),
    ]
}

impl Web {
    /// What is known of it over pipes.
    pub(crate) fn server(&self) -> &'static Server {
        let of_that_name = |server: &&Server| server.name == self.server;
        servers::SERVERS.iter().find(of_that_name).expect("each row names a server")
    }

    fn start(&self, installation: &Installation, folder: &Folder) -> Result<Listening, Failed> {
        let port = free_port()?;
        let launch = installation.launch(self.server(), folder.path());
        let fill = |text: &str| text.replace("{port}", &port.to_string());
        let mut command = launch.command();
        command.args(self.args.iter().map(|arg| fill(arg)));
        command.envs(self.env.iter().map(|(name, value)| (*name, fill(value))));
        Listening::start(command, port)
    }
}

fn connect(listening: &Listening, web: &Web, start: Start) -> Result<Client, Failed> {
    let target = HttpTarget::new(&listening.url(web.path)).map_err(|fault| fault.to_string())?;
    Ok(Client::connect_http(&target, options(start))?)
}

/// It broke no rule until its end.
fn ended_well(client: &Client) -> Result<(), Failed> {
    client.close();
    equal(&client.violations(), &Vec::new(), "violations")?;
    let stats = client.stats();
    equal(&(stats.junk_lines, stats.late_responses), &(0, 0), "messages of no use")
}

fn from_nothing(web: &Web, installation: &Installation) -> Result<(), Failed> {
    let server = web.server();
    let folder = Folder::make(server, web.name)?;
    let listening = web.start(installation, &folder)?;
    let client = connect(&listening, web, Start::Unknown)?;
    let peer = client.peer();
    equal(&(peer.era, peer.revision.as_str()), &(era_of(server), revision_of(server)), "era and revision")?;
    equal(&(&*peer.server.name, &*peer.server.version), &server.identity, "the introduction")?;
    equal(&client.verdict(), &Some(verdict_of(server)), "what is to be remembered")?;
    equal(&names(&client)?.len(), &server.tools, "tools")?;
    calls(server, &folder, &client)?;
    ended_well(&client)
}

/// Every revision that it speaks is pinned in turn, at one and the same server.
fn pinned(web: &Web, installation: &Installation) -> Result<(), Failed> {
    let server = web.server();
    let folder = Folder::make(server, &format!("{}-pinned", web.name))?;
    let listening = web.start(installation, &folder)?;
    for revision in Revision::ALL {
        let spoken = match revision.era() {
            Era::Legacy => revision.as_str() <= server.version,
            Era::Modern => server.is_modern(),
        };
        let connected = connect(&listening, web, Start::Pinned(revision));
        if !spoken {
            equal(&connected.is_err(), &true, &format!("that {revision} is refused"))?;
            continue;
        }
        let client = connected?;
        equal(&client.peer().revision, &revision, "the revision")?;
        equal(&names(&client)?.len(), &server.tools, "tools")?;
        calls(server, &folder, &client)?;
        ended_well(&client)?;
    }
    Ok(())
}

/// Many calls at once, on connections of their own.
fn shared(web: &Web, installation: &Installation) -> Result<(), Failed> {
    let server = web.server();
    let folder = Folder::make(server, &format!("{}-shared", web.name))?;
    let listening = web.start(installation, &folder)?;
    let client = Arc::new(connect(&listening, web, Start::Remembered(verdict_of(server)))?);
    let of_one = |client: &Client| -> Result<(), String> {
        for _ in 0..4 {
            let listed = client.list(Method::ToolsList, &RequestOptions::default());
            let listed = listed.map_err(|error| error.to_string())?;
            if listed.cut.is_some() || listed.pages.is_empty() {
                return Err(format!("{listed:?}"));
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| of_one(&client))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "it panicked".to_owned())?)
    })?;
    equal(&client.verdict(), &Some(verdict_of(server)), "what is to be remembered")?;
    ended_well(&client)
}

/// The statuses that the binary promises.
const DONE: i32 = 0;
const TOOL: i32 = 5;

fn binary(web: &Web, installation: &Installation) -> Result<(), Failed> {
    let server = web.server();
    let folder = Folder::make(server, &format!("{}-binary", web.name))?;
    let listening = web.start(installation, &folder)?;
    let program = installation.binary.as_ref().ok_or("not built: cargo build -p sanswire-cli")?;
    let url = listening.url(web.path);
    let run = |words: &[&str]| -> Result<Done, Failed> {
        let mut command = clean(Command::new(program), folder.path());
        command.args(words).args(["--timeout", "60", "--url", &url]);
        child::run(command)
    };
    let listed = run(&["tools", "--json"])?.document(DONE)?;
    equal(&listed["tools"].as_array().map(Vec::len), &Some(server.tools), "tools")?;
    let report = run(&["doctor", "--json"])?.document(DONE)?;
    let era = if verdict_of(server) == Verdict::Modern { "modern" } else { "legacy" };
    for (member, expected) in
        [("works", json!(true)), ("era", json!(era)), ("revision", json!(revision_of(server)))]
    {
        equal(&report[member], &expected, member)?;
    }
    if let Some(call) = &server.call {
        let arguments = call.arguments(folder.path());
        let done = run(&["call", "--yes", call.tool, "--args", &arguments])?;
        if done.status != Some(DONE) || !done.stdout.contains(call.text) {
            return Err(format!("{}: expected {:?} in {done:?}", call.tool, call.text).into());
        }
    }
    let done = run(&["call", "--yes", "--json", "no-such-tool"])?;
    equal(&done.status, &Some(TOOL), &format!("the status of a call of no tool, {done:?}"))?;
    let said: Value = serde_json::from_str(&done.stderr)?;
    equal(&said["error"]["code"], &json!("not_found"), "the error")
}
