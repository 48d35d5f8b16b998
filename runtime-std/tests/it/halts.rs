//! One waist for all connections of a server: what halts one halts all.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::JoinHandle;

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::sanswire::server::Governed;
use sanswire_std::sanswire::waist::{Bindings, Brake, ErrorClass, Grant, RecordKind, Scope, Spend};
use sanswire_std::{Builder, Call, Client, Resource, Server, Stopper, Tool, ToolError};
use serde::de::IgnoredAny;

use crate::common::{LONG, eventually, no_options, options, outcome, raw, text_of, tool, trials};

trials!(
    too_many_calls_halt_every_connection,
    a_run_is_halted_as_one,
    the_same_call_again_and_again_halts_whoever_makes_it,
    failures_halt_and_cancels_do_not,
    what_handlers_spend_halts,
    a_call_under_way_goes_on_and_counts,
    a_halt_by_hand_stops_what_is_under_way,
    however_many_call_at_once_no_more_pass_than_may,
    a_grant_of_tools_locks_no_resource_unless_all_is_governed,
    records_of_all_connections_are_one_row,
    a_server_may_be_governed_without_closures,
);

/// A server that listens, in this process.
struct Listening {
    server: Server,
    address: SocketAddr,
    stopper: Stopper,
    serves: Option<JoinHandle<()>>,
}

impl Listening {
    fn new(server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stopper, serving) = (server.stopper(), server.clone());
        let serves = Some(std::thread::spawn(move || serving.serve_tcp(listener).unwrap()));
        Self { server, address, stopper, serves }
    }

    fn client(&self) -> Client {
        Client::connect_tcp(self.address, options()).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stopper.stop();
        self.serves.take().unwrap().join().unwrap();
    }
}

/// A server with a few tools, of which all count how often they ran.
fn server(ran: &Arc<AtomicUsize>, bind: impl FnOnce(&mut Bindings)) -> Builder {
    let mut bindings = Bindings::default();
    bind(&mut bindings);
    let counted = |answer: fn(&Call<'_>) -> Result<&'static str, ToolError>| {
        let ran = Arc::clone(ran);
        move |_: IgnoredAny, call: &Call<'_>| {
            ran.fetch_add(1, Ordering::SeqCst);
            answer(call)
        }
    };
    Server::builder("governed", "0")
        .waist(bindings)
        .tool("echo", Tool::new("Echoes"), counted(|_| Ok("echoed")))
        .tool("fail", Tool::new("Fails"), counted(|_| Err(ToolError::new("no"))))
        .tool(
            "spend",
            Tool::new("Spends"),
            counted(|call| {
                call.spend(Spend { tokens: 40, cost: 1 });
                call.spend(Spend { tokens: 20, cost: 1 });
                Ok("spent")
            }),
        )
        .resource("file:///a", Resource::new("a"), |_, _: &Call<'_>| Ok("text"))
}

fn listening(bind: impl FnOnce(&mut Bindings)) -> (Listening, Arc<AtomicUsize>) {
    let ran = Arc::default();
    (Listening::new(server(&ran, bind).build().unwrap()), ran)
}

fn refused_with(client: &Client, tool: &str, arguments: &str) -> String {
    let Outcome::Complete(result) = outcome(client, tool, arguments) else { panic!("{tool} is no result") };
    let result = CallToolResult::new(result);
    assert!(result.is_error(), "{tool}: {}", result.text());
    result.text()
}

fn refused(client: &Client, tool: &str) -> String {
    refused_with(client, tool, "{}")
}

fn too_many_calls_halt_every_connection() {
    // H-185, H-186: calls of no run share one bucket
    let (listening, ran) = listening(|bindings| bindings.brakes.max_calls = 2);
    let (one, other) = (listening.client(), listening.client());
    assert_eq!((tool(&one, "echo", "{}"), tool(&other, "echo", "{}")), ("echoed".into(), "echoed".into()));
    assert_eq!(listening.server.halted(), None);
    for _ in 0..2 {
        for client in [&one, &other, &listening.client()] {
            let text = refused(client, "echo");
            assert!(text.contains("halted (rate)") && text.contains("Stop calling"), "{text}");
        }
    }
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    assert_eq!(listening.server.halted().map(|halt| halt.brake), Some(Brake::Rate));
    assert_eq!(listening.server.reset_halt().map(|halt| halt.brake), Some(Brake::Rate));
    assert_eq!(listening.server.halted(), None);
    assert_eq!((tool(&other, "echo", "{}"), tool(&one, "echo", "{}")), ("echoed".into(), "echoed".into()));
    refused(&one, "echo");
}

fn a_run_is_halted_as_one() {
    // H-177, H-185
    let (listening, _) = listening(|bindings| {
        bindings.scope = Scope::run("r7");
        bindings.brakes.max_calls = 1;
    });
    let (one, other) = (listening.client(), listening.client());
    assert_eq!(tool(&one, "echo", "{}"), "echoed");
    refused(&other, "echo");
    assert_eq!(listening.server.halted().map(|halt| halt.brake), Some(Brake::Rate));
    assert!(listening.server.reset_halt().is_some());
    assert_eq!(tool(&other, "echo", "{}"), "echoed");
}

fn the_same_call_again_and_again_halts_whoever_makes_it() {
    // H-184, H-185
    let (listening, _) = listening(|bindings| bindings.brakes.max_repeats = 2);
    let (one, other) = (listening.client(), listening.client());
    for n in 0..5 {
        let arguments = format!(r#"{{"n":{n}}}"#);
        assert_eq!(tool(&one, "echo", &arguments), "echoed");
    }
    assert_eq!(tool(&one, "echo", r#"{"a":1,"b":2}"#), "echoed");
    assert_eq!(tool(&other, "echo", r#"{"b":2,"a":1}"#), "echoed");
    let text = refused_with(&one, "echo", r#"{ "a" : 1, "b" : 2 }"#);
    assert!(text.contains("repeat"), "{text}");
    refused_with(&other, "echo", r#"{"n":9}"#);
}

fn failures_halt_and_cancels_do_not() {
    // H-184, H-185: the failure trips it, the next call is refused
    let (listening, _) = listening(|bindings| {
        bindings.brakes.error_percent = 50;
        bindings.brakes.error_samples = 4;
    });
    let (one, other) = (listening.client(), listening.client());
    assert_eq!((tool(&one, "echo", "{}"), tool(&one, "echo", "{}")), ("echoed".into(), "echoed".into()));
    assert_eq!((refused(&one, "fail"), refused(&other, "fail")), ("no".into(), "no".into()));
    assert!(refused(&one, "echo").contains("errors"));
    assert!(refused(&other, "echo").contains("errors"));
}

fn what_handlers_spend_halts() {
    // H-184, H-185
    let (listening, ran) = listening(|bindings| bindings.brakes.max_tokens = 100);
    let (one, other) = (listening.client(), listening.client());
    assert_eq!(tool(&one, "spend", "{}"), "spent");
    assert_eq!(listening.server.spent(), Spend { tokens: 60, cost: 2 });
    assert_eq!(tool(&other, "spend", "{}"), "spent");
    assert_eq!(listening.server.spent(), Spend { tokens: 120, cost: 4 });
    assert!(refused(&one, "echo").contains("tokens"));
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    assert!(listening.server.reset_halt().is_some());
    assert_eq!(listening.server.spent(), Spend::default());
}

fn a_call_under_way_goes_on_and_counts() {
    let (inside, leave) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (enters, leaves) = (Arc::clone(&inside), Arc::clone(&leave));
    let ran = Arc::default();
    let server = server(&ran, |bindings| bindings.brakes.max_tokens = 1)
        .tool("hold", Tool::new("Holds"), move |_: IgnoredAny, call: &Call<'_>| {
            enters.wait();
            leaves.wait();
            call.spend(Spend { tokens: 7, cost: 0 });
            Ok("held")
        })
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let (one, other) = (listening.client(), listening.client());
    let held = one.start(Method::ToolsCall, Some(raw(r#"{"name":"hold"}"#)), &no_options()).unwrap();
    inside.wait();
    assert_eq!(tool(&other, "spend", "{}"), "spent");
    refused(&other, "echo");
    leave.wait();
    assert_eq!(text_of(held.wait()), "held");
    assert_eq!(listening.server.spent().tokens, 67);
}

fn a_halt_by_hand_stops_what_is_under_way() {
    // H-185
    let (inside, seen) = (Arc::new(Barrier::new(3)), Arc::new(Mutex::new(Vec::new())));
    let (enters, records, ran) = (Arc::clone(&inside), Arc::clone(&seen), Arc::default());
    let server = server(&ran, |bindings| bindings.brakes.kill_switch = true)
        .tool("hold", Tool::new("Holds"), move |_: IgnoredAny, call: &Call<'_>| {
            enters.wait();
            assert!(call.sleep(LONG), "nobody stopped it");
            Ok("held")
        })
        .records(move |record, _| records.lock().unwrap().push((record.kind, record.error)))
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let (one, other) = (listening.client(), listening.client());
    let hold = |client: &Client| {
        client.start(Method::ToolsCall, Some(raw(r#"{"name":"hold"}"#)), &no_options()).unwrap()
    };
    assert_eq!(tool(&one, "echo", "{}"), "echoed");
    let held = [hold(&one), hold(&other)];
    inside.wait();
    assert_eq!(listening.server.halt().map(|halt| halt.brake), Some(Brake::Operator));
    for held in held {
        let Outcome::Complete(result) = held.wait() else { panic!() };
        let result = CallToolResult::new(result);
        assert!(result.is_error() && result.text().contains("operator"), "{}", result.text());
    }
    assert!(refused(&one, "echo").contains("operator"));
    assert!(refused(&other, "echo").contains("operator"));
    assert!(listening.server.reset_halt().is_some());
    assert_eq!(tool(&other, "echo", "{}"), "echoed");
    eventually("all is told", || seen.lock().unwrap().len() == 12);
    let seen = seen.lock().unwrap();
    let count = |kind, error| seen.iter().filter(|told| **told == (kind, error)).count();
    assert_eq!(count(RecordKind::End, Some(ErrorClass::Cancelled)), 2);
    assert_eq!(count(RecordKind::Rejected, Some(ErrorClass::BudgetExceeded)), 2);
    assert_eq!((count(RecordKind::Halt, None), count(RecordKind::Reset, None)), (1, 1));
}

fn however_many_call_at_once_no_more_pass_than_may() {
    // H-179
    let (listening, ran) = listening(|bindings| bindings.brakes.max_calls = 25);
    let passed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (client, passed) = (listening.client(), &passed);
            scope.spawn(move || {
                let call = || client.start(Method::ToolsCall, Some(raw(r#"{"name":"echo"}"#)), &no_options());
                let calls: Vec<_> = (0..20).map(|_| call().unwrap()).collect();
                for call in calls {
                    let Outcome::Complete(result) = call.wait() else { panic!() };
                    passed.fetch_add(usize::from(!CallToolResult::new(result).is_error()), Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!((passed.load(Ordering::SeqCst), ran.load(Ordering::SeqCst)), (25, 25));
}

fn a_grant_of_tools_locks_no_resource_unless_all_is_governed() {
    let read = |client: &Client| {
        let params = Some(raw(r#"{"uri":"file:///a"}"#));
        client.call(Method::ResourcesRead, params, &no_options()).unwrap()
    };
    for (governed, grant, passes) in [
        (Governed::Tools, &["echo"][..], true),
        (Governed::All, &["echo"], false),
        (Governed::All, &["echo", "resources/read"], true),
    ] {
        let ran = Arc::default();
        let bind = |bindings: &mut Bindings| bindings.grant = Some(Grant::of(grant.iter().copied()).into());
        let listening = Listening::new(server(&ran, bind).governed(governed).build().unwrap());
        let client = listening.client();
        match read(&client) {
            Outcome::Complete(result) => assert!(passes, "{governed:?} {grant:?}: {}", result.as_str()),
            Outcome::Error(error) => {
                assert!(!passes && error.message.contains("grant"), "{governed:?} {grant:?}: {error:?}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(tool(&client, "echo", "{}"), "echoed");
    }
}

fn records_of_all_connections_are_one_row() {
    // H-179
    let seen: Arc<Mutex<Vec<(u64, RecordKind)>>> = Arc::default();
    let (records, ran) = (Arc::clone(&seen), Arc::default());
    let server = server(&ran, |_| ())
        .records(move |record, _| records.lock().unwrap().push((record.sequence, record.kind)))
        .build()
        .unwrap();
    let listening = Listening::new(server);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let client = listening.client();
            scope.spawn(move || (0..10).for_each(|_| assert_eq!(tool(&client, "echo", "{}"), "echoed")));
        }
    });
    eventually("all are told", || seen.lock().unwrap().len() == 60);
    let seen = seen.lock().unwrap();
    assert!(seen.iter().map(|(sequence, _)| *sequence).eq(1..=60), "none is missing, none comes twice");
    assert_eq!(seen.iter().filter(|(_, kind)| *kind == RecordKind::Start).count(), 30);
}

fn a_server_may_be_governed_without_closures() {
    use sanswire_std::sanswire::server::{Catalog, Config, Reply};
    use sanswire_std::{Application, ServerOptions};

    struct Only;
    impl Application for Only {
        fn handle(&self, _: &Call<'_>) -> Reply {
            Reply::text("ran")
        }
    }
    let mut catalog = Catalog::new();
    for name in ["a", "b"] {
        catalog.tool(&raw(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#))).unwrap();
    }
    let mut options = ServerOptions::default();
    options.bindings.grant = Some(Grant::of(["a"]).into());
    let server = Server::with_options(Config::new("s", "0"), catalog.clone(), Only, options).unwrap();
    let listening = Listening::new(server);
    let client = listening.client();
    assert_eq!(tool(&client, "a", "{}"), "ran");
    refused(&client, "b");

    let mut options = ServerOptions::default();
    options.bindings.brakes.max_calls = u32::MAX;
    let error = Server::with_options(Config::new("s", "0"), catalog, Only, options).unwrap_err();
    assert_eq!(error.field, "max_calls");
}
