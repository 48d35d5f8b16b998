//! The servers through `sanswire_std::Client`, beside what the raw protocol shows.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use sanswire::client::{Outcome, RequestOptions, Start, Verdict};
use sanswire::error::CloseReason;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::mcp::types::collection::Collection;
use sanswire::mcp::types::tool::Tool;
use sanswire::mcp::{Era, Method, Revision};
use sanswire_std::{Client, ConnectError, ConnectOptions, Direction, Ended, StopLadder, Tap};

use crate::installed::{Folder, Installation, Launch};
use crate::raw::{self, Listing, Raw};
use crate::servers::{Probe, Server, UnknownTool};
use crate::{Check, equal};

pub(crate) fn checks(server: &Server) -> Vec<(&'static str, Check)> {
    let mut checks: Vec<(&'static str, Check)> = vec![
        ("finds_its_era_and_sees_the_tools_of_the_raw_protocol", from_nothing),
        ("keeps_a_pinned_revision_or_says_what_the_server_speaks", pinned),
        ("opens_as_it_remembers", remembered),
        ("in_a_hurry_finds_an_era_that_works", hurried),
    ];
    if server.probe == Probe::Dies {
        checks.push(("starts_it_once_more_after_it_died_on_the_probe", restarted));
    }
    checks
}

// P-058 P-061
fn from_nothing(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "library")?;
    let launch = installation.launch(server, folder.path());
    let shown = shown(server, &launch, era_of(server))?;
    let (client, sent) = connect(&launch, Start::Unknown)?;
    equal(&sent.first(), &Some("server/discover".to_owned()), "the first request")?;
    let peer = client.peer();
    equal(&(peer.era, peer.revision.as_str()), &(era_of(server), revision_of(server)), "era and revision")?;
    equal(&(&*peer.server.name, &*peer.server.version), &server.identity, "the introduction")?;
    equal(&client.verdict(), &Some(verdict_of(server)), "what is to be remembered")?;
    lists(&client, &shown)?;
    calls(server, &folder, &client)?;
    ended_well(&client)
}

/// Every revision is pinned in turn. All servers here speak every date up to that of their best answer.
fn pinned(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "pinned")?;
    let launch = installation.launch(server, folder.path());
    let legacy = shown(server, &launch, Era::Legacy)?;
    let modern = if server.is_modern() { Some(shown(server, &launch, Era::Modern)?) } else { None };
    for revision in Revision::ALL {
        let folder = Folder::make(server, &format!("pinned-{revision}"))?;
        let launch = installation.launch(server, folder.path());
        let (spoken, shown) = match revision.era() {
            Era::Legacy => (revision.as_str() <= server.version, Some(&legacy)),
            Era::Modern => (server.is_modern(), modern.as_ref()),
        };
        let connected = connect(&launch, Start::Pinned(revision));
        match (spoken, shown, connected) {
            (true, Some(shown), Ok((client, sent))) => {
                let opening = if revision.era() == Era::Modern { "server/discover" } else { "initialize" };
                equal(&sent.first(), &Some(opening.to_owned()), "the first request")?;
                equal(&client.peer().revision, &revision, "the revision")?;
                lists(&client, shown)?;
                calls(server, &folder, &client)?;
                ended_well(&client)?;
            }
            (false, _, Err(ConnectError::Closed { reason, .. })) => refused(server, revision, &reason)?,
            (_, _, got) => return Err(format!("pinned to {revision}: got {got:?}").into()),
        }
    }
    Ok(())
}

fn refused(server: &Server, revision: Revision, reason: &CloseReason) -> Result<(), Failed> {
    let as_expected = match (reason, revision.era(), server.probe) {
        (CloseReason::Incompatible { supported }, Era::Legacy, _) => supported[..] == [server.version],
        (CloseReason::Refused { method, error }, Era::Modern, Probe::Refused(code)) => {
            *method == Method::ServerDiscover && error.code == code
        }
        (CloseReason::DiedOnProbe, Era::Modern, Probe::Dies) => true,
        _ => false,
    };
    if as_expected { Ok(()) } else { Err(format!("pinned to {revision}: refused with {reason:?}").into()) }
}

/// What the first connection learnt spares the second one the search.
fn remembered(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "remembered")?;
    let launch = installation.launch(server, folder.path());
    let (client, _) = connect(&launch, Start::Unknown)?;
    let verdict = client.verdict().ok_or("nothing to remember")?;
    let tools = names(&client)?;
    ended_well(&client)?;
    let (client, sent) = connect(&launch, Start::Remembered(verdict.clone()))?;
    equal(&names(&client)?, &tools, "the tools of the second connection")?;
    equal(&client.verdict(), &Some(verdict), "what is to be remembered")?;
    ended_well(&client)?;
    // Everything that was sent is known only after the end.
    let expected: &[&str] = match era_of(server) {
        Era::Legacy => &["initialize", "notifications/initialized", "tools/list"],
        Era::Modern => &["server/discover", "tools/list"],
    };
    equal(
        &sent.at_least(expected.len()),
        &expected.iter().map(|&method| method.to_owned()).collect(),
        "what was sent",
    )
}

/// Where the handshake is sent beside a probe that has had no time to be answered, either era may come out, and
/// works.
fn hurried(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "hurried")?;
    let launch = installation.launch(server, folder.path());
    let mut options = options(Start::Unknown);
    options.config.limits.probe_hedge = Duration::from_millis(1);
    let (client, _) = connect_with(&launch, options)?;
    let peer = client.peer();
    let expected = match peer.era {
        Era::Legacy => server.version,
        Era::Modern => revision_of(server),
    };
    equal(&peer.revision.as_str(), &expected, "the revision")?;
    equal(&client.verdict(), &Some(verdict_of(server)), "what is to be remembered")?;
    lists(&client, &shown(server, &launch, peer.era)?)?;
    calls(server, &folder, &client)?;
    ended_well(&client)
}

/// It is given up at its death unless it may be started once more.
fn restarted(server: &Server, installation: &Installation) -> Result<(), Failed> {
    let folder = Folder::make(server, "restarted")?;
    let launch = installation.launch(server, folder.path());
    let mut once = options(Start::Unknown);
    once.restart = false;
    match connect_with(&launch, once) {
        Err(ConnectError::Closed { reason, .. }) if *reason == CloseReason::DiedOnProbe => {}
        got => return Err(format!("without a restart: got {got:?}").into()),
    }
    let (client, sent) = connect(&launch, Start::Unknown)?;
    calls(server, &folder, &client)?;
    ended_well(&client)?;
    let opening = ["server/discover", "initialize", "notifications/initialized"];
    let opening: Vec<_> = opening.iter().map(|&method| method.to_owned()).collect();
    equal(&sent.at_least(3).get(..3), &Some(&opening[..]), "how both connections were opened")
}

pub(crate) fn era_of(server: &Server) -> Era {
    if server.is_modern() { Era::Modern } else { Era::Legacy }
}

/// The date that a client without a wish of its own ends up with.
pub(crate) fn revision_of(server: &Server) -> &'static str {
    match server.probe {
        Probe::Modern(revision) => revision,
        Probe::Refused(_) | Probe::Dies => server.version,
    }
}

pub(crate) fn verdict_of(server: &Server) -> Verdict {
    if server.is_modern() { Verdict::Modern } else { Verdict::Legacy }
}

/// What the raw protocol shows in that era.
fn shown(server: &Server, launch: &Launch, era: Era) -> Result<Listing, Failed> {
    let mut raw = Raw::spawn(launch.command())?;
    let listing = match era {
        Era::Legacy => raw.legacy_listing(raw::LEGACY)?,
        Era::Modern => raw.modern_listing()?,
    };
    raw.finish()?;
    equal(&listing.tools.len(), &server.tools, "tools, by the raw protocol")?;
    Ok(listing)
}

/// The methods of what was sent, oldest first.
#[derive(Debug, Default)]
struct Sent(Mutex<Vec<String>>);

impl Sent {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was sent first. A tap is told on a thread of its own, which may be a while late.
    fn first(&self) -> Option<String> {
        self.at_least(1).first().cloned()
    }

    /// Waits until so many are told.
    fn at_least(&self, count: usize) -> Vec<String> {
        let late = Instant::now() + Duration::from_secs(60);
        while self.all().len() < count && Instant::now() < late {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.all()
    }
}

impl Tap for Sent {
    fn message(&self, direction: Direction, _at: Duration, line: &[u8]) {
        if direction == Direction::Sent {
            let message: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
            let method = message["method"].as_str().unwrap_or("none").to_owned();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(method);
        }
    }
}

/// Patient enough that a busy machine changes nothing.
pub(crate) fn options(start: Start) -> ConnectOptions {
    let mut options = ConnectOptions::new("sanswire-interop", "0");
    options.config.start = start;
    options.config.limits.connect = Duration::from_secs(60);
    options.config.limits.probe_hedge = Duration::from_secs(30);
    options.stop = StopLadder::new(Duration::from_secs(20), Duration::from_secs(2), Duration::from_secs(30));
    options
}

fn connect(launch: &Launch, start: Start) -> Result<(Client, Arc<Sent>), ConnectError> {
    connect_with(launch, options(start))
}

fn connect_with(launch: &Launch, mut options: ConnectOptions) -> Result<(Client, Arc<Sent>), ConnectError> {
    let sent = Arc::new(Sent::default());
    options.tap = Some(Arc::clone(&sent) as Arc<dyn Tap>);
    Ok((Client::connect(&launch.for_library(), options)?, sent))
}

pub(crate) fn names(client: &Client) -> Result<Vec<String>, Failed> {
    let listed = client.list(Method::ToolsList, &RequestOptions::default())?;
    if let Some(cut) = listed.cut {
        return Err(format!("the listing was cut: {cut:?}").into());
    }
    let tools = Collection::<Tool>::read(&listed.pages);
    if tools.set_aside_total() > 0 || !tools.warnings().is_empty() {
        let aside = tools.set_aside_items().iter().map(|aside| aside.what.to_string());
        let warnings = tools.warnings().iter().map(|warning| warning.what.to_string());
        let all: Vec<_> = aside.chain(warnings).collect();
        return Err(format!("{} tools set aside: {all:?}", tools.set_aside_total()).into());
    }
    Ok(tools.items().iter().map(|tool| tool.name().to_owned()).collect())
}

fn lists(client: &Client, shown: &Listing) -> Result<(), Failed> {
    equal(&names(client)?, &shown.tools, "the tools")
}

pub(crate) fn calls(server: &Server, folder: &Folder, client: &Client) -> Result<(), Failed> {
    let options = RequestOptions::default();
    if let Some(call) = &server.call {
        let arguments = RawJson::parse_str(&call.arguments(folder.path()))?;
        let outcome = client.call_tool(call.tool, Some(&arguments), &options)?;
        let Outcome::Complete(result) = outcome else {
            return Err(format!("{}: got {outcome:?}", call.tool).into());
        };
        let result = CallToolResult::new(result);
        let text = result.text();
        if result.is_error() || result.flaw().is_some() || !text.contains(call.text) {
            return Err(format!("{}: expected {:?} in {text:?}", call.tool, call.text).into());
        }
    }
    let outcome = client.call_tool("no-such-tool", Some(&RawJson::empty_object()), &options)?;
    match (server.unknown_tool, outcome) {
        (UnknownTool::Error(code), Outcome::Error(error)) => equal(&error.code, &code, "an unknown tool"),
        (UnknownTool::Result, Outcome::Complete(result)) => {
            equal(&CallToolResult::new(result).is_error(), &true, "isError of an unknown tool")
        }
        (expected, got) => Err(format!("unknown tool: expected {expected:?}, got {got:?}").into()),
    }
}

/// It ends at the end of its input, in good order, and broke no rule until then.
fn ended_well(client: &Client) -> Result<(), Failed> {
    let exit = client.close();
    if exit.ended != Ended::OnEof || !exit.status.is_some_and(|status| status.success()) {
        return Err(format!("ended badly: {exit:?}").into());
    }
    let stats = client.stats();
    equal(&client.violations(), &Vec::new(), "violations")?;
    equal(&(stats.junk_lines, stats.late_responses), &(0, 0), "lines of no use")
}
