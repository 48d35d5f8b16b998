//! The servers through the command line, beside what the raw protocol shows.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::child::{self, Done};
use crate::installed::{Folder, Installation, Launch, clean};
use crate::raw::{self, Raw};
use crate::servers::{Probe, Server};
use crate::{Check, equal};

/// How long the binary waits for an answer to its probe alone.
const HEDGE_MS: u64 = 2000;
/// The statuses it promises.
const DONE: i32 = 0;
const TOOL: i32 = 5;

pub(crate) fn checks(server: &Server) -> Vec<(&'static str, Check)> {
    let mut checks: Vec<(&'static str, Check)> = vec![
        ("lists_the_tools_of_the_raw_protocol", lists),
        ("does_not_find_a_tool_that_is_not_there", unknown_tool),
        ("reports_its_era_and_version_as_its_doctor", doctor),
    ];
    if server.call.is_some() {
        checks.push(("calls_a_tool", calls));
    }
    checks
}

/// Twice: the second time with what was remembered of the first.
fn lists(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let run = Run::prepare(server, installation, "binary-lists")?;
    let mut raw = Raw::spawn(run.launch.command())?;
    let shown = if server.is_modern() { raw.modern_listing()? } else { raw.legacy_listing(raw::LEGACY)? };
    raw.finish()?;
    let remembered = if server.is_modern() { "server/discover" } else { "initialize" };
    for (time, opening) in [("first", "server/discover"), ("second", remembered)] {
        let trace = run.folder.path().join(format!("{time}.trace"));
        let options = [OsStr::new("tools"), OsStr::new("--json"), OsStr::new("--trace"), trace.as_ref()];
        let listed = run.binary(options)?.document(DONE)?;
        let tools = listed["tools"].as_array().ok_or("no tools")?;
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default()).collect();
        equal(&names, &shown.tools.iter().map(String::as_str).collect(), &format!("the {time} time, tools"))?;
        equal(&first_sent(&fs::read_to_string(trace)?), &Some(opening.into()), "the first request")?;
    }
    Ok(())
}

fn first_sent(trace: &str) -> Option<String> {
    let mut lines = trace.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let sent = lines.find(|line| line["direction"] == "sent")?;
    Some(sent["message"]["method"].as_str()?.to_owned())
}

fn calls(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let Some(call) = &server.call else { return Ok(()) };
    let run = Run::prepare(server, installation, "binary-calls")?;
    let arguments = call.arguments(run.folder.path());
    let done = run.binary(["call", "--yes", call.tool, "--args", &arguments])?;
    equal(&done.status, &Some(DONE), &format!("the status, {done:?}"))?;
    if !done.stdout.contains(call.text) {
        return Err(format!("{}: expected {:?} in {:?}", call.tool, call.text, done.stdout).into());
    }
    // As a program would: each argument a word, the result as it came.
    let run = Run::prepare(server, installation, "binary-calls-json")?;
    let arguments: Value = serde_json::from_str(&call.arguments(run.folder.path()))?;
    let words = arguments.as_object().into_iter().flatten().map(|(name, value)| format!("{name}:={value}"));
    let words: Vec<_> =
        ["call", "--yes", "--json", call.tool].map(String::from).into_iter().chain(words).collect();
    let result = run.binary(&words)?.document(DONE)?;
    let blocks = result["content"].as_array().ok_or("no content")?;
    let found =
        blocks.iter().any(|block| block["text"].as_str().is_some_and(|text| text.contains(call.text)));
    if found { Ok(()) } else { Err(format!("{}: expected {:?} in {result}", call.tool, call.text).into()) }
}

fn unknown_tool(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let run = Run::prepare(server, installation, "binary-unknown")?;
    let done = run.binary(["call", "--yes", "--json", "no-such-tool"])?;
    equal(&(done.status, done.stdout.as_str()), &(Some(TOOL), ""), &format!("status and output, {done:?}"))?;
    let said: Value = serde_json::from_str(&done.stderr)?;
    equal(
        &(&said["error"]["code"], &said["error"]["exit"]),
        &(&json!("not_found"), &json!(TOOL)),
        "the error",
    )
}

fn doctor(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let run = Run::prepare(server, installation, "binary-doctor")?;
    let report = run.binary(["doctor", "--json"])?.document(DONE)?;
    // A server that starts slower than the probe is waited for is shaken hands with: either era may come out.
    let hedged =
        report["started_ms"].as_u64().is_none_or(|took| took >= HEDGE_MS) && report["era"] == "legacy";
    let (era, revision) = match server.probe {
        Probe::Modern(revision) if !hedged => ("modern", revision),
        Probe::Modern(_) | Probe::Refused(_) | Probe::Dies => ("legacy", server.version),
    };
    let (name, version) = server.identity;
    for (member, expected) in [
        ("works", json!(true)),
        ("era", json!(era)),
        ("revision", json!(revision)),
        ("server", json!({ "name": name, "version": version })),
        ("tools", json!(server.tools)),
        ("set_aside", json!([])),
        ("violation_count", json!(0)),
        ("junk_lines", json!(0)),
    ] {
        equal(&report[member], &expected, member)?;
    }
    // On a busy machine the binary may have lost its patience, but it need not have been harsh.
    let ending = report["ending"].as_str().unwrap_or_default();
    let gentle = ending.contains("after its input ended") || ending.contains("on SIGTERM");
    if gentle { Ok(()) } else { Err(format!("the ending: {ending:?}").into()) }
}

/// One server, its folder, and the binary.
struct Run {
    binary: PathBuf,
    folder: Folder,
    launch: Launch,
}

impl Run {
    fn prepare(server: &Server, installation: &Installation, purpose: &str) -> Result<Self, Failed> {
        let binary = installation.binary.clone().ok_or("not built: cargo build -p sanswire-cli")?;
        let folder = Folder::make(server, purpose)?;
        let launch = installation.launch(server, folder.path());
        Ok(Self { binary, folder, launch })
    }

    /// Runs the binary with these words on the server. Slow servers get more time than most people would give.
    fn binary<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Result<Done, Failed> {
        let mut command = clean(Command::new(&self.binary), &self.launch.dir);
        command.args(words).args(["--timeout", "60"]);
        for (name, value) in &self.launch.env {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg("--").arg(&self.launch.program).args(&self.launch.args);
        child::run(command)
    }
}
