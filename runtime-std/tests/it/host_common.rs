//! What the tests of hosts share.

use std::sync::{Arc, Mutex};

use sanswire_std::host::{
    Answer, ApprovalRequest, Approver, CallEnd, CallOutcome, CallRequest, Event, Host, HostBuilder,
    HostConfig, HostObserver, Launch, Target,
};
use sanswire_std::sanswire::host::link::Status;
use sanswire_std::sanswire::host::policy::ServerMode;
use sanswire_std::sanswire::host::{Provenance, ServerConfig};
use sanswire_std::{Command, StopLadder};

use crate::common::{LONG, child, eventually, options, raw};

/// A server that is this program, stopped without much patience.
pub(crate) fn launch(arguments: &[&str]) -> Launch {
    let arguments: Vec<_> = ["hosted"].iter().chain(arguments).copied().collect();
    launch_command(child(&arguments))
}

pub(crate) fn launch_command(command: Command) -> Launch {
    let mut options = options();
    let rung = std::time::Duration::from_millis(500);
    options.stop = StopLadder::new(rung, rung, LONG);
    // So that each attempt is one start.
    options.restart = false;
    Launch::command(command, options)
}

/// A server whose calls pass.
pub(crate) fn allowed() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.mode = ServerMode::Allow;
    config.connect_timeout = Some(LONG);
    config
}

/// With more time for calls than any test has.
pub(crate) fn config() -> HostConfig {
    let mut config = HostConfig::default();
    config.timeouts.default = LONG * 3;
    config
}

pub(crate) fn builder() -> HostBuilder {
    Host::builder(config())
}

/// A host of one server called `it` whose calls pass, once it can be called.
pub(crate) fn host(arguments: &[&str]) -> Host {
    let host = builder().server("it", allowed(), launch(arguments)).open().unwrap();
    assert!(host.wait_started(LONG));
    assert_eq!(status(&host, "it"), Status::Connected);
    host
}

pub(crate) fn status(host: &Host, server: &str) -> Status {
    host.state(server).unwrap().status
}

pub(crate) fn until(host: &Host, server: &str, wanted: Status) {
    eventually(wanted.as_str(), || status(host, server) == wanted);
}

pub(crate) fn request(server: &str, tool: &str, arguments: &str) -> CallRequest {
    CallRequest::new("call", Target::Tool(Provenance::new(server, tool)), Some(raw(arguments)))
}

pub(crate) fn call(host: &Host, server: &str, tool: &str, arguments: &str) -> CallOutcome {
    host.call(request(server, tool, arguments)).unwrap().outcome
}

/// The text of a call that went well.
pub(crate) fn text(outcome: CallOutcome) -> String {
    match outcome {
        CallOutcome::Completed(result) => result.presented.text,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn pid(host: &Host, server: &str) -> u32 {
    host.client(server).unwrap().pid().unwrap()
}

/// An approver that is a closure.
pub(crate) struct Asks<F>(pub(crate) F);

impl<F: Fn(&ApprovalRequest) -> Option<Answer> + Send + Sync> Approver for Asks<F> {
    fn ask(&self, request: &ApprovalRequest) -> Option<Answer> {
        (self.0)(request)
    }
}

/// An observer that keeps what it saw.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Event>>>);

impl Seen {
    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn find<T>(&self, find: impl Fn(&Event) -> Option<T>) -> Option<T> {
        self.0.lock().unwrap().iter().find_map(find)
    }
}

impl HostObserver for Seen {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

pub(crate) fn ended(end: CallEnd) -> &'static str {
    end.outcome.as_str()
}
