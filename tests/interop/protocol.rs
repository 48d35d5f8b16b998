//! What the servers are known to answer, seen without the library: that the table is true.

use libtest_mimic::Failed;
use serde_json::json;

use crate::installed::{Folder, Installation};
use crate::raw::{self, Broken, Era, Raw, Reply};
use crate::servers::{Probe, Server, UnknownTool};
use crate::{Check, equal};

pub(crate) fn checks(server: &Server) -> Vec<(&'static str, Check)> {
    let mut checks: Vec<(&'static str, Check)> = vec![
        ("answers_the_probe_as_the_table_says", raw_probe),
        ("shakes_hands_lists_and_calls_as_the_table_says", raw_legacy),
    ];
    if server.is_modern() {
        checks.push(("lists_and_calls_in_the_new_era_as_the_table_says", raw_modern));
    }
    checks
}

/// `server/discover` as the first message.
fn raw_probe(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "raw-probe")?;
    let mut raw = Raw::spawn(installation.launch(server, folder.path()).command())?;
    let answer = raw.request(Era::Modern, "server/discover", json!({}));
    match (server.probe, answer) {
        (Probe::Modern(version), Ok(Reply::Result(result))) => {
            equal(&result["supportedVersions"], &json!([version]), "supportedVersions")?;
        }
        (Probe::Refused(expected), Ok(Reply::Error { code, .. })) => equal(&code, &expected, "code")?,
        (Probe::Dies, Err(Broken::Closed(_))) => return Ok(()),
        (expected, answer) => return Err(format!("expected {expected:?}, got {answer:?}").into()),
    }
    ended_well(raw)
}

/// The handshake of the old era, the listing, a call, a call of no tool.
fn raw_legacy(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "raw-legacy")?;
    let mut raw = Raw::spawn(installation.launch(server, folder.path()).command())?;
    let listing = raw.legacy_listing(raw::LEGACY)?;
    equal(&listing.version.as_str(), &server.version, "protocolVersion")?;
    as_listed(server, &listing)?;
    calls(server, &folder, &mut raw, Era::Legacy)?;
    ended_well(raw)
}

/// The same on a connection of the new era.
fn raw_modern(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "raw-modern")?;
    let mut raw = Raw::spawn(installation.launch(server, folder.path()).command())?;
    let listing = raw.modern_listing()?;
    as_listed(server, &listing)?;
    calls(server, &folder, &mut raw, Era::Modern)?;
    ended_well(raw)
}

fn as_listed(server: &Server, listing: &raw::Listing) -> Result<(), Failed> {
    let (name, version) = &listing.identity;
    equal(&(name.as_str(), version.as_str()), &server.identity, "serverInfo")?;
    equal(&listing.tools.len(), &server.tools, &format!("tools, which are {:?}", listing.tools))
}

fn calls(server: &Server, folder: &Folder, raw: &mut Raw, era: Era) -> Result<(), Failed> {
    if let Some(call) = &server.call {
        let (text, is_error) = raw.call(era, call.tool, &call.arguments(folder.path()))?;
        if is_error || !text.contains(call.text) {
            return Err(format!("{}: expected {:?} in {text:?}", call.tool, call.text).into());
        }
    }
    let absent = json!({ "name": "no-such-tool", "arguments": {} });
    match (server.unknown_tool, raw.request(era, "tools/call", absent)) {
        (UnknownTool::Error(expected), Ok(Reply::Error { code, .. })) => {
            equal(&code, &expected, "code for an unknown tool")
        }
        (UnknownTool::Result, Ok(Reply::Result(result))) => {
            equal(&result["isError"], &json!(true), "isError for an unknown tool")
        }
        (expected, answer) => {
            Err(format!("unknown tool on {}: expected {expected:?}, got {answer:?}", server.sdk).into())
        }
    }
}

fn ended_well(raw: Raw) -> Result<(), Failed> {
    let status = raw.finish()?;
    if status.success() { Ok(()) } else { Err(format!("ended with {status}").into()) }
}
