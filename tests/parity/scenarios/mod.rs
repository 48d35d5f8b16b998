//! The scenarios, each written once.

mod calls;
mod endings;
mod faults;
mod hosted;
mod openings;

use std::rc::Rc;
use std::time::Duration;

use sanswire::client::{Config, Outcome, RequestHandle, RequestOptions, Start};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::mcp::{Method, Revision};
use sanswire_std::StopLadder;

use crate::axes::{Cell, Runtime};
use crate::client::{Client, Fault, Setup, Site};
use crate::live::{Peer, Place};
use crate::pair::PairSite;
use crate::{on_smol, on_std, served};

/// A scenario: it panics where its rule is broken.
pub(crate) type Scenario = fn(&Bench);

/// Of a client that meets a scripted peer.
pub(crate) const TO_SCRIPTED: [(&str, Scenario); 31] = [
    ("connect", openings::connects),
    ("the revision is found", openings::finds_the_revision),
    ("nobody is there", openings::nobody_is_there),
    ("an opening that is refused", openings::is_refused),
    ("an opening that breaks off", openings::dies_at_once),
    ("an opening that takes too long", openings::is_given_up),
    ("closed while it connects", openings::is_closed_meanwhile),
    ("discovery", calls::discovers),
    ("calls", calls::calls),
    ("a hundred calls at once", calls::calls_at_once),
    ("errors", calls::errors),
    ("errors of tools", calls::fails),
    ("progress", calls::progresses),
    ("cancel", calls::cancels),
    ("a call that is let go of", calls::is_let_go_of),
    ("idle timeout", calls::idles),
    ("absolute timeout", calls::takes_too_long),
    ("a lot in both directions", calls::brings_much),
    ("an answer that is too big", faults::brings_too_much),
    ("input", calls::asks),
    ("a ping of the server's", calls::is_pinged),
    ("a change of a listing", calls::is_told_of_a_change),
    ("junk", faults::survives_junk),
    ("two answers", faults::survives_a_second_answer),
    ("a server that dies in a call", faults::loses_a_call),
    ("half-closed by the server", faults::is_half_closed),
    ("a session that is forgotten", faults::is_forgotten),
    ("two clients", endings::keeps_apart),
    ("shutdown in every state", endings::shuts_down),
    ("grandchildren end with it", endings::leaves_nothing_behind),
    ("a server that ignores the end", endings::stops_the_stubborn),
];

/// Of a client that meets a server of ours.
pub(crate) const TO_SERVED: [(&str, Scenario); 20] = [
    ("connect", openings::connects),
    ("the revision is found", openings::finds_the_revision),
    ("discovery", calls::discovers),
    ("calls", calls::calls),
    ("a hundred calls at once", calls::calls_at_once),
    ("errors", calls::errors),
    ("errors of tools", calls::fails),
    ("a handler that panics", calls::survives_a_panic),
    ("progress", calls::progresses),
    ("cancel", calls::cancels),
    ("idle timeout", calls::idles),
    ("absolute timeout", calls::takes_too_long),
    ("a lot in both directions", calls::brings_much),
    ("an answer that is too big", faults::brings_too_much),
    ("input", calls::asks),
    ("input of who cannot be asked", calls::cannot_be_asked),
    ("a change of a listing", calls::is_told_of_a_change),
    ("two clients", endings::keeps_apart),
    ("closed with a call open", endings::in_a_call),
    ("shut down by the server", endings::is_shut_down),
];

/// Of a host with a scripted server.
pub(crate) const HOSTED: [(&str, Scenario); 6] = [
    ("a host and its server", hosted::opens),
    ("reconnect, and nothing twice", hosted::reconnects),
    ("reconnect up to a cap", hosted::is_capped),
    ("closed while it reconnects", hosted::is_closed_meanwhile),
    ("a timeout loses nothing", hosted::times_out),
    ("a new listing at the next turn", hosted::is_told_of_a_change),
];

/// What the client says when it is asked.
pub(crate) const SAID: &str = r#"{"said":"yes"}"#;
/// Longer than anything here takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// How patiently programs are stopped.
pub(crate) fn patience() -> StopLadder {
    let rung = Duration::from_millis(300);
    StopLadder::new(rung, rung, Duration::from_secs(5))
}

/// One cell, and what its scenario may ask for.
pub(crate) struct Bench {
    pub(crate) cell: Cell,
}

impl Bench {
    pub(crate) const fn new(cell: Cell) -> Self {
        Self { cell }
    }

    pub(crate) const fn revision(&self) -> Revision {
        self.cell.revision
    }

    /// A server of these flags; see [`scripted`](crate::scripted).
    fn site(&self, flags: &[&str]) -> Rc<dyn Site> {
        if self.cell.runtime == Runtime::Pair {
            return Rc::new(PairSite::start(&self.cell, flags));
        }
        let peer = if self.cell.is_scripted() {
            Peer::start(self.cell.transport, self.cell.revision, flags)
        } else {
            assert!(flags.is_empty(), "a server of ours keeps its word");
            served::start(self.cell.half, self.cell.transport)
        };
        Rc::new(LiveSite { runtime: self.cell.runtime, peer })
    }

    /// A client of the cell's revision, of a server of these flags.
    fn open(&self, flags: &[&str]) -> Session {
        self.open_with(flags, self.setup())
    }

    fn open_with(&self, flags: &[&str], setup: Setup) -> Session {
        let site = self.site(flags);
        let client = site.connect(&setup).unwrap_or_else(|fault| panic!("{fault:?}"));
        Session { site, client, cell: self.cell }
    }

    /// Pinned to the cell's revision.
    pub(crate) fn setup(&self) -> Setup {
        let mut config = Config::new("parity", "0");
        config.start = Start::Pinned(self.cell.revision);
        config.capabilities.elicitation_form = true;
        config.limits.close_flush = Duration::from_secs(2);
        // So that what is to be seen at once does not come of a deadline later.
        config.limits.request_idle = LONG * 10;
        Setup { config, close_after: None }
    }

    /// Connects to a place where nobody is.
    fn nobody(&self) -> Option<Fault> {
        let place = Peer::nobody(self.cell.transport);
        connect(self.cell.runtime, &place, &self.setup()).err()
    }
}

fn connect(runtime: Runtime, place: &Place, setup: &Setup) -> Result<Box<dyn Client>, Fault> {
    match runtime {
        Runtime::Std => on_std::connect(place, setup),
        Runtime::Smol | Runtime::SmolThreads => on_smol::connect(runtime, place, setup),
        Runtime::Pair => panic!("a pair is no place"),
    }
}

struct LiveSite {
    runtime: Runtime,
    peer: Peer,
}

impl Site for LiveSite {
    fn connect(&self, setup: &Setup) -> Result<Box<dyn Client>, Fault> {
        connect(self.runtime, &self.peer.place, setup)
    }

    fn record(&self) -> Vec<String> {
        self.peer.record.entries()
    }
}

/// A client that is ready, and its server.
struct Session {
    site: Rc<dyn Site>,
    client: Box<dyn Client>,
    cell: Cell,
}

fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

fn no_options() -> RequestOptions {
    RequestOptions::default()
}

/// The parameters of a call.
fn call_of(tool: &str, arguments: &str) -> RawJson {
    raw(&format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#))
}

fn text_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::Complete(result) => CallToolResult::new(result).text(),
        other => panic!("{other:?}"),
    }
}

/// What is put on record of the openings of a session, in order.
fn opening(cell: &Cell) -> &'static [&'static str] {
    if cell.is_modern() {
        &["start", "server/discover"]
    } else {
        &["start", "initialize", "notifications/initialized"]
    }
}

impl Session {
    /// Another client of the same server.
    fn beside(&self, setup: &Setup) -> Self {
        let client = self.site.connect(setup).unwrap_or_else(|fault| panic!("{fault:?}"));
        Self { site: Rc::clone(&self.site), client, cell: self.cell }
    }

    fn start(&mut self, tool: &str, arguments: &str) -> RequestHandle {
        self.start_with(tool, arguments, &no_options())
    }

    fn start_with(&mut self, tool: &str, arguments: &str, options: &RequestOptions) -> RequestHandle {
        self.client.start(Method::ToolsCall, call_of(tool, arguments), options).unwrap()
    }

    fn outcome(&mut self, tool: &str, arguments: &str) -> Outcome {
        let request = self.start(tool, arguments);
        self.client.wait(request)
    }

    fn tool(&mut self, tool: &str, arguments: &str) -> String {
        text_of(self.outcome(tool, arguments))
    }

    /// The standing check: the connection goes on.
    fn goes_on(&mut self) {
        assert_eq!(self.tool("echo", r#"{"text":"on"}"#), "on");
        assert_eq!(self.client.closed(), None);
    }

    /// What of the record begins so.
    fn recorded(&self, start: &str) -> Vec<String> {
        self.site.record().into_iter().filter(|entry| entry.starts_with(start)).collect()
    }

    fn count(&self, start: &str) -> usize {
        self.recorded(start).len()
    }

    /// Waits until the record shows so much that begins so, and lets the connection go on meanwhile.
    fn until(&mut self, start: &str, count: usize) {
        let (mut waited, step) = (Duration::ZERO, Duration::from_millis(5));
        while self.count(start) < count {
            assert!(waited < LONG, "no {start} ({count}): {:?}", self.site.record());
            waited += step;
            self.client.pass(step);
        }
    }

    /// The id of the last call of this tool, as the server saw it.
    fn id_of(&self, tool: &str) -> String {
        let calls = self.recorded(&format!("call {tool} "));
        calls.last().and_then(|call| call.rsplit(' ').next()).map(str::to_owned).unwrap()
    }

    /// Waits until the server knows that the call of this tool is not waited for any more.
    fn until_given_up(&mut self, tool: &str) {
        self.until(&format!("call {tool}"), 1);
        let id = self.id_of(tool);
        // Where each exchange has a stream of its own and no session, to close it says so.
        let entry = if self.cell.is_scripted() && self.cell.is_http() && self.cell.is_modern() {
            format!("closed call {tool} {id}")
        } else {
            format!("cancelled {id}")
        };
        self.until(&entry, 1);
        assert_eq!(self.count(&entry), 1);
    }
}
