//! Real servers, pinned under `.ci/servers` and installed by `.ci/install-servers`.
//!
//! Each server gives a few trials of its own. One that is not installed is skipped and counted, as `ignored` in
//! the closing line; with `SANSWIRE_INTEROP=required` it fails, unless its package has nothing for this machine
//! or its installation is noted as failed.

mod raw;
mod servers;

use std::env;
use std::io::Write as _;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::json;

use raw::{Broken, Era, Raw, Reply};
use servers::{Folder, Installation, Presence, Probe, SERVERS, Server, UnknownTool};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let installation = Installation::locate();
    let required = env::var_os("SANSWIRE_INTEROP").is_some_and(|value| value == "required");
    let mut trials = Vec::new();
    let mut absent = Vec::new();
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
        for (kind, check) in checks(server) {
            let installation = installation.clone();
            let run = move || {
                if presence != Presence::Installed {
                    return Err("not installed: run .ci/install-servers".into());
                }
                check(server, &installation)
            };
            trials.push(Trial::test(format!("{}::{kind}", server.name), run).with_ignored_flag(skip));
        }
    }
    if !absent.is_empty() && !arguments.list {
        // A closed stderr is no reason to fail.
        let _ = writeln!(
            std::io::stderr(),
            "interop: {} of {} servers are not installed and skipped: {}",
            absent.len(),
            SERVERS.len(),
            absent.join(", ")
        );
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Check = fn(&Server, &Installation) -> Result<(), Failed>;

fn checks(server: &Server) -> Vec<(&'static str, Check)> {
    let mut checks: Vec<(&'static str, Check)> = vec![("raw_probe", raw_probe), ("raw_legacy", raw_legacy)];
    if matches!(server.probe, Probe::Modern(_)) {
        checks.push(("raw_modern", raw_modern));
    }
    checks
}

/// `server/discover` as the first message.
fn raw_probe(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "raw-probe")?;
    let mut raw = Raw::spawn(installation.command(server, folder.path()))?;
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
    let mut raw = Raw::spawn(installation.command(server, folder.path()))?;
    let listing = raw.legacy_listing()?;
    equal(&listing.version.as_str(), &server.version, "protocolVersion")?;
    as_listed(server, &listing)?;
    calls(server, &folder, &mut raw, Era::Legacy)?;
    ended_well(raw)
}

/// The same on a connection of the new era.
fn raw_modern(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "raw-modern")?;
    let mut raw = Raw::spawn(installation.command(server, folder.path()))?;
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

fn equal<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T, what: &str) -> Result<(), Failed> {
    if got == expected { Ok(()) } else { Err(format!("{what}: got {got:?}, expected {expected:?}").into()) }
}
