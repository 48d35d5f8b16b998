//! Handlers, filters and changes that do what they should not, and whoever calls its own server.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use futures_lite::future::{poll_once, yield_now};
use sanswire_smol::sanswire::client::{Outcome, Start};
use sanswire_smol::sanswire::jsonrpc::JsonRef;
use sanswire_smol::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_smol::sanswire::mcp::{Method, Revision, codes};
use sanswire_smol::sanswire::server::{ListKind, ToolFilter};
use sanswire_smol::{Call, Client, Schema, Server, Tool};

use crate::common::{LONG, block_on, no_options, options, outcome, tool};

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    type Test = (&'static str, fn());
    let tests: [Test; 11] = [
        ("a_handler_may_break_in_every_way", a_handler_may_break_in_every_way),
        ("a_call_that_is_kept_does_no_harm", a_call_that_is_kept_does_no_harm),
        ("a_handler_may_be_a_client_of_its_server", a_handler_may_be_a_client_of_its_server),
        ("a_question_may_be_asked_from_elsewhere", a_question_may_be_asked_from_elsewhere),
        ("a_handler_may_stop_its_server", a_handler_may_stop_its_server),
        ("whoever_comes_during_a_change_is_served", whoever_comes_during_a_change_is_served),
        ("of_changes_at_once_none_is_lost", of_changes_at_once_none_is_lost),
        ("what_is_listed_can_be_called", what_is_listed_can_be_called),
        ("a_change_that_panics_changes_nothing", a_change_that_panics_changes_nothing),
        ("a_closure_that_goes_may_change_the_server", a_closure_that_goes_may_change_the_server),
        ("a_filter_that_panics_shows_nothing", a_filter_that_panics_shows_nothing),
    ];
    tests.map(|(name, test)| crate::common::trial(name.into(), test)).into()
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
        std::thread::spawn(move || async_io::block_on(serves.serve_tcp(listener)).unwrap());
        Self { server, address }
    }

    fn client(&self) -> Client {
        block_on(Client::connect_tcp(self.address, options())).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.server.stopper().stop_now();
    }
}

fn server() -> Server {
    Server::builder("besieged", "1")
        .tool("echo", Tool::new("Echoes"), |(), _| async { Ok("echoed") })
        .build()
        .unwrap()
}

fn echoes(client: &Client) {
    assert_eq!(block_on(tool(client, "echo", "{}")), "echoed");
}

/// The names of the tools that a client sees.
fn listed(client: &Client) -> Vec<String> {
    let Outcome::Complete(list) = block_on(client.call(Method::ToolsList, None, &no_options())).unwrap()
    else {
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

/// Panics when it is dropped, unless something else does.
struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "as it was asked to");
    }
}

/// What is thrown panics when it is dropped.
fn throw() {
    std::panic::panic_any(PanicsWhenDropped);
}

fn a_handler_may_break_in_every_way() {
    let server = Server::builder("besieged", "1")
        .tool("echo", Tool::new("Echoes"), |(), _| async { Ok("echoed") })
        .tool("begins", Tool::new("Breaks before it waits"), |(), _| {
            throw();
            async { Ok("") }
        })
        .tool("waits", Tool::new("Breaks when it has waited"), |(), _| async {
            yield_now().await;
            throw();
            Ok("")
        })
        .tool("ends", Tool::new("Breaks when it goes"), |(), _| {
            let breaks = PanicsWhenDropped;
            async move {
                let _breaks = &breaks;
                yield_now().await;
                Ok("nobody reads this")
            }
        })
        .tool("goes", Tool::new("Breaks when it is dropped"), |(), _| {
            let breaks = PanicsWhenDropped;
            async move {
                let _breaks = &breaks;
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let client = listening.client();
    for _ in 0..5 {
        for broken in ["begins", "waits", "ends"] {
            let said = block_on(outcome(&client, broken, "{}"));
            assert!(
                matches!(&said, Outcome::Error(error) if error.code == codes::INTERNAL_ERROR),
                "{broken}: {said:?}"
            );
        }
        let other = listening.client();
        let goes = other.start_tool("goes", None, &no_options()).unwrap();
        echoes(&other);
        block_on(other.kill());
        drop(goes);
        echoes(&client);
    }
}

fn a_call_that_is_kept_does_no_harm() {
    let kept = Arc::new(Mutex::new(Vec::<Call>::new()));
    let keeps = Arc::clone(&kept);
    let server = Server::builder("besieged", "1")
        .tool("echo", Tool::new("Echoes"), |(), _| async { Ok("echoed") })
        .tool("keep", Tool::new("Keeps its call"), move |(), call| {
            keeps.lock().unwrap().push(call);
            async { Ok("kept") }
        })
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let client = listening.client();
    let form = Schema::object().optional("said", Schema::string());
    let use_all = || {
        for call in &*kept.lock().unwrap() {
            call.progress(1.0, None, None);
            let asked = block_on(call.elicit("k", "what?", &form));
            assert!(asked.is_err(), "{asked:?}");
            assert_eq!(call.method(), &Method::ToolsCall);
        }
    };
    for _ in 0..3 {
        assert_eq!(block_on(tool(&client, "keep", "{}")), "kept");
        use_all();
        echoes(&client);
    }
    block_on(client.close());
    use_all();
    listening.server.stopper().stop_now();
    use_all();
}

fn a_handler_may_be_a_client_of_its_server() {
    let address = Arc::new(Mutex::new(None));
    let known = Arc::clone(&address);
    let server = Server::builder("besieged", "1")
        .tool("echo", Tool::new("Echoes"), |(), _| async { Ok("echoed") })
        .tool("again", Tool::new("Calls this server"), move |(), call| {
            let address: SocketAddr = known.lock().unwrap().unwrap();
            async move {
                let client = Client::connect_tcp(address, options()).await?;
                call.server().resource_updated("file:///a");
                let said = tool(&client, "echo", "{}").await;
                client.close().await;
                Ok(said)
            }
        })
        .build()
        .unwrap();
    let listening = Listening::new(server);
    *address.lock().unwrap() = Some(listening.address);
    let client = listening.client();
    let again: Vec<_> = (0..10).map(|_| client.start_tool("again", None, &no_options()).unwrap()).collect();
    for pending in again {
        assert_eq!(crate::common::text_of(block_on(pending)), "echoed");
    }
}

/// What is asked by another task than the one that serves leaves though nothing wakes that one.
fn a_question_may_be_asked_from_elsewhere() {
    let server = Server::builder("besieged", "1")
        .tool("ask", Tool::new("Has a thread ask"), |(), call| {
            std::thread::spawn(move || {
                let form = Schema::object().optional("said", Schema::string());
                // Whatever began the call is over by then.
                std::thread::sleep(Duration::from_millis(20));
                block_on(call.elicit("k", "what?", &form))
            });
            async {
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let mut options = options();
    options.config.start = Start::Pinned(Revision::V2025_11_25);
    options.config.capabilities.elicitation_form = true;
    let (asked, was_asked) = channel();
    options.responder = Some(Arc::new(move |_: InputRequest| {
        asked.send(()).unwrap();
        async { InputAnswer::Cancel }
    }));
    let client = block_on(Client::connect_tcp(listening.address, options)).unwrap();
    let pending = client.start_tool("ask", None, &no_options()).unwrap();
    was_asked.recv_timeout(LONG / 8).unwrap();
    pending.cancel(None);
}

fn a_handler_may_stop_its_server() {
    for at_once in [false, true] {
        let server = Server::builder("besieged", "1")
            .tool("stop", Tool::new("Stops it"), move |(), call| async move {
                let stopper = call.server().stopper();
                if at_once {
                    stopper.stop_now()
                } else {
                    stopper.stop()
                }
                yield_now().await;
                Ok(call.is_cancelled().to_string())
            })
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || async_io::block_on(server.serve_tcp(listener)).unwrap());
        let client = block_on(Client::connect_tcp(address, options())).unwrap();
        let said = block_on(outcome(&client, "stop", "{}"));
        match said {
            Outcome::Lost { .. } | Outcome::Cancelled if at_once => {}
            Outcome::Error(_) if at_once => {}
            said => assert_eq!(crate::common::text_of(said), "false"),
        }
        block_on(client.close());
        block_on(crate::common::eventually("it ends", || thread.is_finished()));
        thread.join().unwrap();
    }
}

fn whoever_comes_during_a_change_is_served() {
    let listening = Listening::new(server());
    without_a_deadlock(move || {
        listening.server.update(ListKind::Tools, |_| {
            echoes(&listening.client());
            listening.server.resource_updated("file:///a");
        });
    });
}

fn of_changes_at_once_none_is_lost() {
    let listening = Listening::new(server());
    let client = listening.client();
    for round in 0..100 {
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let server = listening.server.clone();
                scope.spawn(move || {
                    server.add_tool(&format!("{name}{round}"), Tool::new("x"), |(), _| async { Ok("") })
                });
            }
        });
        assert_eq!(listed(&client).len(), 1 + 4 * (round + 1));
    }
}

fn what_is_listed_can_be_called() {
    let listening = Listening::new(server());
    let client = listening.client();
    let seen = AtomicUsize::new(0);
    for _ in 0..300 {
        let at_once = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                at_once.wait();
                listening.server.add_tool("a", Tool::new("x"), |(), _| async { Ok("there") }).unwrap();
            });
            scope.spawn(|| {
                at_once.wait();
                listening.server.remove_tool("a")
            });
        });
        if listed(&client).contains(&"a".into()) {
            seen.fetch_add(1, Ordering::SeqCst);
            assert_eq!(block_on(tool(&client, "a", "{}")), "there");
        }
    }
    assert!(seen.into_inner() > 0, "it was never there");
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
    echoes(&client);
    // And the next one is made.
    listening.server.add_tool("b", Tool::new("x"), |(), _| async { Ok("ran") }).unwrap();
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
            let run = move |(), _| {
                let _ = &last;
                async { Ok("ran") }
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
        .tool("cursed", Tool::new("x"), |(), _| async { Ok("ran") })
        .tool("echo", Tool::new("Echoes"), |(), _| async { Ok("echoed") })
        .config(|config| config.tool_filter = Some(filter))
        .build()
        .unwrap();
    let listening = Listening::new(server);
    let client = listening.client();
    assert_eq!(listed(&client), ["echo"]);
    let hidden = block_on(outcome(&client, "cursed", "{}"));
    assert!(matches!(&hidden, Outcome::Error(error) if error.code == codes::INVALID_PARAMS), "{hidden:?}");
    echoes(&client);
    assert!(block_on(poll_once(client.next_notification())).is_none());
}
