//! What was found by trying to break the served half.

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::channel;

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::jsonrpc::JsonRef;
use sanswire_std::sanswire::mcp::{Method, codes};
use sanswire_std::sanswire::server::{ListKind, ToolFilter};
use sanswire_std::{Call, Client, Server, Tool};

use crate::common::{LONG, no_options, options, outcome, tool, trials};
use crate::peer::{Peer, call, cancel, command, ping};

trials!(
    who_has_served_has_its_output_back_though_a_handler_goes_on,
    without_a_thread_to_be_had_questions_are_answered,
    requests_of_many_bytes_do_not_pile_up,
    whoever_comes_during_a_change_is_served,
    of_changes_at_once_none_is_lost,
    what_is_listed_can_be_called,
    a_change_that_panics_changes_nothing,
    a_closure_that_goes_may_change_the_server,
    a_filter_that_panics_shows_nothing,
);

const MINUTE: &str = r#"{"ms":60000}"#;

fn who_has_served_has_its_output_back_though_a_handler_goes_on() {
    let mut peer = Peer::start(&["drain=100", "goes-on"]);
    peer.send(&(call(1, "stubborn", MINUTE) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    peer.input = None;
    assert_eq!(peer.lines.line(), "served");
    // It served again: its input was back as well, at its end.
    assert!(peer.lines.ended());
    assert!(peer.exit().success());
}

fn without_a_thread_to_be_had_questions_are_answered() {
    let mut command = command(&[]);
    // More than there is: no thread can be started.
    command.env("RUST_MIN_STACK", (1u64 << 46).to_string());
    let mut peer = Peer::open(command);
    peer.send(&call(100, "threads", "{}"));
    assert_eq!(peer.lines.answer(), (100, "1".into()));
    for answer in [r#""result":{"action":"decline"}"#, r#""error":{"code":1,"message":"no"}"#] {
        peer.send(&call(101, "ask", "{}"));
        let id = peer.lines.next().view().get("id").and_then(JsonRef::as_u64).unwrap();
        peer.send(&(ping(102) + &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n")));
        assert_eq!(peer.lines.answer().0, 102);
        assert_eq!(peer.lines.answer().0, 101);
    }
    // What nobody answers ends with its call.
    peer.send(&call(103, "ask", "{}"));
    peer.lines.next();
    peer.send(&cancel(103));
    assert!(peer.lines.next().as_str().contains("notifications/cancelled"));
    peer.finish();
}

fn requests_of_many_bytes_do_not_pile_up() {
    const BYTES: usize = 100_000;
    let big = |id| call(id, "echo", &format!(r#"{{"text":"{}"}}"#, "x".repeat(BYTES)));
    let mut peer = Peer::start(&["threads=1", "max-waiting=250000"]);
    peer.send(&(call(1, "sleep", MINUTE) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    // The third finds room for its first bytes, what comes after it does not.
    for id in 10..20 {
        peer.send(&big(id));
    }
    for id in 13..20 {
        let refused = peer.lines.next();
        let (at, code) = (refused.view().get("id"), refused.view().get("error").and_then(|e| e.get("code")));
        assert_eq!((at.and_then(JsonRef::as_u64), code.and_then(JsonRef::as_i64)), (Some(id), Some(-32603)));
    }
    // One that is cancelled makes room for another.
    peer.send(&(cancel(10) + &big(20) + &ping(21)));
    assert_eq!(peer.lines.answer().0, 21);
    peer.send(&cancel(1));
    for id in [11, 12, 20] {
        assert_eq!(peer.lines.answer(), (id, "x".repeat(BYTES)));
    }
    // And so does one that has run.
    (30..36).for_each(|id| {
        peer.send(&big(id));
        assert_eq!(peer.lines.answer().0, id);
    });
    peer.finish();
}

/// A server that listens until it goes.
struct Listening {
    server: Server,
    address: SocketAddr,
}

impl Listening {
    fn new(server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serves = server.clone();
        std::thread::spawn(move || serves.serve_tcp(listener).unwrap());
        Self { server, address }
    }

    fn client(&self) -> Client {
        Client::connect_tcp(self.address, options()).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.server.stopper().stop_now();
    }
}

fn server() -> Server {
    Server::builder("besieged", "1")
        .tool("echo", Tool::new("Echoes"), |_: (), _| Ok("echoed"))
        .build()
        .unwrap()
}

/// The names of the tools that a client sees.
fn listed(client: &Client) -> Vec<String> {
    let Outcome::Complete(list) = client.call(Method::ToolsList, None, &no_options()).unwrap() else {
        panic!("no list")
    };
    let tools = list.view().get("tools").into_iter().flat_map(JsonRef::elements);
    let name = |tool: JsonRef<'_>| tool.get("name").and_then(JsonRef::str).unwrap().decode().into_owned();
    tools.map(name).collect()
}

/// Does it on another thread, and fails if that waits for itself.
fn without_a_deadlock(work: impl FnOnce() + Send + 'static) {
    let (tell, done) = channel();
    std::thread::spawn(move || {
        work();
        tell.send(()).unwrap();
    });
    done.recv_timeout(LONG).unwrap();
}

fn whoever_comes_during_a_change_is_served() {
    let listening = Listening::new(server());
    without_a_deadlock(move || {
        listening.server.update(ListKind::Tools, |_| {
            let client = listening.client();
            assert_eq!(tool(&client, "echo", "{}"), "echoed");
            listening.server.resource_updated("file:///a");
        });
    });
}

fn of_changes_at_once_none_is_lost() {
    let listening = Listening::new(server());
    let client = listening.client();
    for round in 0..200 {
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let server = listening.server.clone();
                scope.spawn(move || {
                    server.add_tool(&format!("{name}{round}"), Tool::new("x"), |_: (), _| Ok(""))
                });
            }
        });
        let seen = listed(&client).len();
        assert_eq!(seen, 1 + 4 * (round + 1));
    }
}

fn what_is_listed_can_be_called() {
    let listening = Listening::new(server());
    let client = listening.client();
    for _ in 0..300 {
        std::thread::scope(|scope| {
            let (adds, removes) = (listening.server.clone(), listening.server.clone());
            scope.spawn(move || adds.add_tool("a", Tool::new("x"), |_: (), _| Ok("there")).unwrap());
            scope.spawn(move || removes.remove_tool("a"));
        });
        if listed(&client).contains(&"a".into()) {
            assert_eq!(tool(&client, "a", "{}"), "there");
        }
    }
}

fn a_change_that_panics_changes_nothing() {
    let listening = Listening::new(server());
    let panics = || {
        listening.server.update(ListKind::Tools, |catalog| {
            assert!(!catalog.remove(ListKind::Tools, "echo"), "as it was asked to");
        });
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    let client = listening.client();
    assert_eq!(listed(&client), ["echo"]);
    assert_eq!(tool(&client, "echo", "{}"), "echoed");
    // And the next one is made.
    listening.server.add_tool("b", Tool::new("x"), |_: (), _| Ok("ran")).unwrap();
    assert_eq!(listed(&client), ["echo", "b"]);
}

/// Changes a server when it goes.
struct Last(Server);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.remove_tool("echo");
    }
}

fn a_closure_that_goes_may_change_the_server() {
    without_a_deadlock(|| {
        let server = server();
        for _ in 0..2 {
            let last = Last(server.clone());
            let run = move |_: (), _: &Call<'_>| {
                let _ = &last;
                Ok("ran")
            };
            server.add_tool("last", Tool::new("x"), run).unwrap();
        }
        assert!(server.remove_tool("last"));
        assert!(!server.remove_tool("echo"));
    });
}

fn a_filter_that_panics_shows_nothing() {
    let filter = ToolFilter::new(|_, name| {
        assert_ne!(name, "cursed", "as it was asked to");
        true
    });
    let server = Server::builder("besieged", "1")
        .tool("cursed", Tool::new("x"), |_: (), _| Ok("ran"))
        .tool("echo", Tool::new("Echoes"), |_: (), _| Ok("echoed"))
        .config(|config| config.tool_filter = Some(filter))
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let client = listening.client();
    assert_eq!(listed(&client), ["echo"]);
    let hidden = outcome(&client, "cursed", "{}");
    assert!(matches!(&hidden, Outcome::Error(error) if error.code == codes::INVALID_PARAMS), "{hidden:?}");
    assert_eq!(tool(&client, "echo", "{}"), "echoed");
}
