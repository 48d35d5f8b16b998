//! The same scenarios over every transport and in every revision: what holds over pipes holds over sockets and HTTP.
//!
//! Each transport and revision prints its row: a dot for what passed, a dash where the revision has no such thing.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use libtest_mimic::Trial;
use sanswire_std::sanswire::client::{Outcome, Start};
use sanswire_std::sanswire::error::CloseReason;
use sanswire_std::sanswire::jsonrpc::RawJson;
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::sanswire::mcp::types::tool::tools;
use sanswire_std::sanswire::mcp::{Era, Method, Revision, codes};
use sanswire_std::{
    Client, Command, ConnectError, ConnectOptions, HttpOptions, HttpTarget, Pending, Responder, Server,
};

use crate::common::{LONG, eventually, no_options, options, outcome, raw, text_of, tool};
use crate::served::server;

/// How a client gets to the served half.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Transport {
    Stdio,
    Tcp,
    Http,
}

const TRANSPORTS: [Transport; 3] = [Transport::Stdio, Transport::Tcp, Transport::Http];

/// A served half, and the way to it.
enum Site {
    Child,
    Socket { server: Server, address: String, transport: Transport, serving: Option<JoinHandle<()>> },
}

impl Site {
    fn start(transport: Transport) -> Self {
        if transport == Transport::Stdio {
            return Self::Child;
        }
        let server = server(&[]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serves = server.clone();
        let serving = std::thread::spawn(move || match transport {
            Transport::Http => serves.serve_http(listener, HttpOptions::default()).unwrap(),
            Transport::Stdio | Transport::Tcp => serves.serve_tcp(listener).unwrap(),
        });
        Self::Socket { server, address, transport, serving: Some(serving) }
    }

    const fn transport(&self) -> Transport {
        match self {
            Self::Child => Transport::Stdio,
            Self::Socket { transport, .. } => *transport,
        }
    }

    fn connect(&self, options: ConnectOptions) -> Result<Client, ConnectError> {
        match self {
            Self::Child => {
                let program = std::env::current_exe().unwrap();
                Client::connect(&Command::new(program).arg("--served"), options)
            }
            Self::Socket { address, transport: Transport::Http, .. } => {
                Client::connect_http(&HttpTarget::new(&format!("http://{address}/mcp")).unwrap(), options)
            }
            Self::Socket { address, .. } => Client::connect_tcp(address, options),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Self::Socket { server, serving, .. } = self {
            server.stopper().stop();
            let ended = serving.take().map(JoinHandle::join);
            assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()));
        }
    }
}

struct Accepts;

impl Responder for Accepts {
    fn respond(&self, _: &InputRequest) -> InputAnswer {
        InputAnswer::accept(Some(&raw(r#"{"said":"yes"}"#)))
    }
}

fn pinned(revision: Revision) -> ConnectOptions {
    let mut options = options();
    options.config.start = Start::Pinned(revision);
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(Accepts));
    options
}

/// One thing that must be the same everywhere. `false`: the revision has no such thing.
type Scenario = fn(&Site, Revision) -> bool;

const SCENARIOS: [(&str, Scenario); 17] = [
    ("connect", connects),
    ("discovery", discovers),
    ("call", calls),
    ("a hundred calls at once", calls_at_once),
    ("error", errors),
    ("tool error", fails),
    ("panic", panics),
    ("progress", progresses),
    ("cancel", cancels),
    ("idle timeout", times_out),
    ("big result", brings_much),
    ("oversize", brings_too_much),
    ("input", asks),
    ("list change", changes),
    ("two clients", keeps_apart),
    ("close with a call open", closes),
    ("shutdown by the server", is_shut_down),
];

fn connects(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    assert_eq!(client.peer().revision, revision);
    assert_eq!(client.peer().server.name, "served");
    assert_eq!(client.is_closed(), None);
    assert!(client.violations().is_empty(), "{:?}", client.violations());
    true
}

fn discovers(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let listed = client.list(Method::ToolsList, &no_options()).unwrap();
    let names: Vec<String> =
        listed.pages.iter().flat_map(|page| tools(page).items).map(|tool| tool.name().to_string()).collect();
    let expected = [
        "echo", "sleep", "stubborn", "meet", "big", "panic", "print", "swallow", "change", "stop",
        "stop-now", "progress", "ask", "threads",
    ];
    assert_eq!(names, expected);
    true
}

fn calls(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    for text in ["", "one", "zwei ✓", "a\nb\r\nc\u{2028}", "=?base64?eA==?="] {
        let arguments = RawJson::object(|w| {
            w.string("text", text);
        });
        assert_eq!(tool(&client, "echo", arguments.as_str()), text);
    }
    true
}

fn calls_at_once(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let cork = client.cork();
    let start = |n: usize| {
        let arguments = raw(&format!(r#"{{"text":"{n}"}}"#));
        client.start_tool("echo", Some(&arguments), &no_options()).unwrap()
    };
    let open: Vec<Pending> = (0..100).map(start).collect();
    drop(cork);
    for (n, pending) in open.into_iter().enumerate() {
        assert_eq!(text_of(pending.wait()), n.to_string());
    }
    true
}

fn errors(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let code = |outcome| match outcome {
        Outcome::Error(error) => error.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(outcome(&client, "no-such", "{}")), codes::INVALID_PARAMS);
    let method = Method::from_name("no/such");
    assert_eq!(code(client.call(method, None, &no_options()).unwrap()), codes::METHOD_NOT_FOUND);
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#), "on");
    true
}

fn fails(site: &Site, revision: Revision) -> bool {
    let mut options = pinned(revision);
    options.config.capabilities.elicitation_form = false;
    let client = site.connect(options).unwrap();
    let Outcome::Complete(result) = outcome(&client, "ask", "{}") else { panic!() };
    let is_error = result.view().get("isError").map(|flag| flag.as_bytes().to_vec());
    assert_eq!(is_error.as_deref(), Some(&b"true"[..]), "{}", result.as_str());
    true
}

fn panics(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let Outcome::Error(error) = outcome(&client, "panic", "{}") else { panic!() };
    assert_eq!(error.code, codes::INTERNAL_ERROR);
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#), "on");
    true
}

fn progresses(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let mut told = Vec::new();
    let params = raw(r#"{"name":"progress","arguments":{"n":3,"ms":1}}"#);
    let outcome = client.call_with(Method::ToolsCall, Some(params), &no_options(), &mut |progress| {
        told.push(progress.progress);
    });
    assert_eq!(text_of(outcome.unwrap()), "done");
    assert_eq!(told, [1.0, 2.0, 3.0]);
    true
}

const MINUTE: &str = r#"{"ms":60000}"#;

fn cancels(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let pending = client.start_tool("sleep", Some(&raw(MINUTE)), &no_options()).unwrap();
    assert_eq!(tool(&client, "echo", r#"{"text":"meanwhile"}"#), "meanwhile");
    pending.cancel(Some("enough"));
    drop(client.start_tool("sleep", Some(&raw(MINUTE)), &no_options()).unwrap());
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#), "on");
    true
}

fn times_out(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let mut options = no_options();
    options.idle = Some(Duration::from_millis(100));
    let outcome = client.call_tool("sleep", Some(&raw(MINUTE)), &options).unwrap();
    assert!(matches!(outcome, Outcome::TimedOut { .. }), "{outcome:?}");
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#), "on");
    true
}

fn brings_much(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    assert_eq!(tool(&client, "big", r#"{"bytes":3000000}"#).len(), 3_000_000);
    let text = "y".repeat(1_000_000);
    assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{text}"}}"#)), text);
    true
}

fn brings_too_much(site: &Site, revision: Revision) -> bool {
    let mut options = pinned(revision);
    options.config.limits.max_message_bytes = 64 * 1024;
    let client = site.connect(options).unwrap();
    let outcome = outcome(&client, "big", r#"{"bytes":200000}"#);
    assert!(matches!(outcome, Outcome::TooLarge { limit: 65_536, .. }), "{outcome:?}");
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#), "on");
    true
}

fn asks(site: &Site, revision: Revision) -> bool {
    if revision < Revision::V2025_06_18 {
        return false;
    }
    let client = site.connect(pinned(revision)).unwrap();
    let params = raw(r#"{"name":"ask","arguments":{}}"#);
    let outcome = client.complete(Method::ToolsCall, Some(params), &no_options(), &mut |_| {}).unwrap();
    let text = text_of(outcome);
    assert!(text.contains("yes"), "{text}");
    true
}

fn changes(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let listens = (revision.era() == Era::Modern).then(|| {
        let params = raw(r#"{"notifications":{"toolsListChanged":true}}"#);
        let pending = client.start(Method::SubscriptionsListen, Some(params), &no_options()).unwrap();
        let first = client.next_notification(LONG).unwrap();
        assert_eq!(first.method, Method::SubscriptionsAcknowledged);
        pending
    });
    // The stream on which a session is told of changes may be on its way still: the change is made until it is heard of.
    let mut told = None;
    eventually("the change is told", || {
        assert_eq!(tool(&client, "change", "{}"), "soon");
        told = client.next_notification(Duration::from_millis(300));
        told.is_some()
    });
    let told = told.unwrap();
    assert_eq!(told.method, Method::ToolsListChanged);
    assert_eq!(told.subscription, listens.as_ref().map(Pending::handle));
    true
}

fn keeps_apart(site: &Site, revision: Revision) -> bool {
    let (one, two) = (site.connect(pinned(revision)).unwrap(), site.connect(pinned(revision)).unwrap());
    let slow = one.start_tool("sleep", Some(&raw(MINUTE)), &no_options()).unwrap();
    assert_eq!(tool(&two, "echo", r#"{"text":"two"}"#), "two");
    two.close();
    assert_eq!(tool(&one, "echo", r#"{"text":"one"}"#), "one");
    drop(slow);
    true
}

fn closes(site: &Site, revision: Revision) -> bool {
    let client = site.connect(pinned(revision)).unwrap();
    let pending = client.start_tool("sleep", Some(&raw(MINUTE)), &no_options()).unwrap();
    client.close();
    assert_eq!(pending.wait(), Outcome::Cancelled);
    assert_eq!(client.is_closed(), Some(CloseReason::Local));
    let refused = client.call_tool("echo", None, &no_options());
    assert!(refused.is_err(), "{refused:?}");
    true
}

fn is_shut_down(site: &Site, revision: Revision) -> bool {
    // A site of its own, since it is gone behind it.
    let site = Site::start(site.transport());
    let client = site.connect(pinned(revision)).unwrap();
    let slow = raw(r#"{"name":"progress","arguments":{"n":3,"ms":100}}"#);
    let mut stopped = 0;
    // The server has it when it tells of it.
    let outcome = client.call_with(Method::ToolsCall, Some(slow), &no_options(), &mut |progress| {
        if progress.progress == 1.0 {
            assert_eq!(tool(&client, "stop", "{}"), "stopped");
            stopped += 1;
        }
    });
    assert_eq!((text_of(outcome.unwrap()).as_str(), stopped), ("done", 1), "what is open may finish");
    true
}

/// All of them, a trial for each transport and revision.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for transport in TRANSPORTS {
        for revision in Revision::ALL {
            let name = format!("parity_over_{transport:?}_in_{revision}").to_lowercase();
            trials.push(Trial::test(name, move || {
                // H-221
                let site = Site::start(transport);
                let row = SCENARIOS.map(|(name, scenario)| {
                    let passed =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scenario(&site, revision)));
                    match passed {
                        Ok(there) => {
                            if there {
                                '.'
                            } else {
                                '-'
                            }
                        }
                        Err(_) => panic!("{name}, over {transport:?}, in {revision}"),
                    }
                });
                println!("{transport:?} {revision} {}", row.iter().collect::<String>());
                Ok(())
            }));
        }
    }
    trials.push(crate::common::trial("parity_of_connecting_to_what_is_not_there", nobody_is_there));
    trials
}

fn nobody_is_there() {
    // H-221
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let pipe = Client::connect(&Command::new("/no/such/program"), options());
    assert!(matches!(pipe, Err(ConnectError::Spawn { .. })), "{pipe:?}");
    let tcp = Client::connect_tcp(&gone, options());
    assert!(matches!(tcp, Err(ConnectError::Dial { .. })), "{tcp:?}");
    let http = Client::connect_http(&HttpTarget::new(&format!("http://{gone}/mcp")).unwrap(), options());
    assert!(matches!(http, Err(ConnectError::Reach { .. })), "{http:?}");
}
