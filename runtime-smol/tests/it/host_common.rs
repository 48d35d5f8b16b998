//! What the tests of hosts share.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use sanswire_smol::host::{
    Answer, ApprovalRequest, Approver, Asking, CallEnd, CallOutcome, CallRequest, Event, Host, HostBuilder,
    HostConfig, HostObserver, Launch, Observing, Target,
};
use sanswire_smol::sanswire::host::link::Status;
use sanswire_smol::sanswire::host::policy::ServerMode;
use sanswire_smol::sanswire::host::{Provenance, ServerConfig};
use sanswire_smol::{Command, ConnectOptions, StopLadder};

use crate::common::{Env, LONG, child, eventually, options, raw};

/// A server that is this program, stopped without much patience.
pub(crate) fn launch(flags: &[&str]) -> Launch {
    launch_command(hosted(flags))
}

pub(crate) fn hosted(flags: &[&str]) -> Command {
    let flags: Vec<_> = ["hosted"].iter().chain(flags).copied().collect();
    child(&flags)
}

pub(crate) fn launch_command(command: Command) -> Launch {
    Launch::command(command, impatient())
}

pub(crate) fn impatient() -> ConnectOptions {
    let mut options = options();
    let rung = Duration::from_millis(500);
    options.stop = StopLadder::new(rung, rung, LONG);
    // So that each attempt is one start.
    options.restart = false;
    options
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

pub(crate) fn builder(env: &Env) -> HostBuilder {
    env.watching(Host::builder(config()))
}

pub(crate) async fn started(builder: HostBuilder) -> Host {
    let host = builder.open().unwrap();
    assert!(host.wait_started(LONG).await);
    host
}

/// A host of one server called `it` whose calls pass, once it can be called.
pub(crate) async fn host(env: &Env, flags: &[&str]) -> Host {
    let host = started(builder(env).server("it", allowed(), launch(flags))).await;
    assert_eq!(status(&host, "it"), Status::Connected);
    host
}

pub(crate) fn status(host: &Host, server: &str) -> Status {
    host.state(server).unwrap().status
}

pub(crate) async fn until(host: &Host, server: &str, wanted: Status) {
    eventually(wanted.as_str(), || status(host, server) == wanted).await;
}

pub(crate) fn request(server: &str, tool: &str, arguments: &str) -> CallRequest {
    CallRequest::new("call", Target::Tool(Provenance::new(server, tool)), Some(raw(arguments)))
}

pub(crate) async fn call(host: &Host, server: &str, tool: &str, arguments: &str) -> CallOutcome {
    host.call(request(server, tool, arguments)).await.unwrap().outcome
}

/// The text of a call that went well.
pub(crate) fn text(outcome: CallOutcome) -> String {
    match outcome {
        CallOutcome::Completed(result) => result.presented.text,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn echoes(host: &Host, server: &str) {
    assert_eq!(text(call(host, server, "echo", r#"{"text":"a"}"#).await), "a");
}

pub(crate) fn pid(host: &Host, server: &str) -> u32 {
    host.client(server).unwrap().pid().unwrap()
}

pub(crate) fn ended(end: &CallEnd) -> &'static str {
    end.outcome.as_str()
}

/// What all of them give, side by side.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        for (future, value) in &mut futures {
            if value.is_none()
                && let Poll::Ready(ready) = Pin::new(future).poll(cx)
            {
                *value = Some(ready);
            }
        }
        if futures.iter().all(|(_, value)| value.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    futures.into_iter().map(|(_, value)| value.unwrap()).collect()
}

/// An approver that answers at once.
pub(crate) struct Says<F>(pub(crate) F);

impl<F: Fn(&ApprovalRequest) -> Option<Answer> + Send + Sync> Approver for Says<F> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> Asking<'a> {
        Box::pin(async { (self.0)(request) })
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
    fn event<'a>(&'a self, event: &'a Event) -> Observing<'a> {
        self.0.lock().unwrap().push(event.clone());
        Box::pin(async {})
    }
}
