//! The served half over streams: what clients of ours see of it.

use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::future::{or, zip};
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use sanswire_smol::sanswire::client::listing::Listed;
use sanswire_smol::sanswire::client::{Outcome, Progress, RequestOptions, Start};
use sanswire_smol::sanswire::jsonrpc::RawJson;
use sanswire_smol::sanswire::mcp::{Method, Revision};
use sanswire_smol::{Client, Server, Tool, ToolError};

use crate::common::{ANY, Env, LONG, trials};

trials! {
    each: a_call_is_answered, calls_run_side_by_side, a_call_is_cancelled_by_dropping_it, progress_reaches_the_caller,
        a_server_that_stops_lets_calls_finish, a_list_that_changes_is_told;
    once: a_handler_that_panics_is_answered, what_is_not_known_is_refused, places_are_shared_by_a_listener,
        a_client_that_vanishes_cancels_its_calls, a_server_that_is_dropped_cancels, requests_of_one_read_leave_in_order,
        a_stopped_server_serves_nobody
}

fn server() -> Server {
    let echo = Tool::new("Gives back").string("text", "What");
    Server::builder("smol", "1")
        .tool("echo", echo, |(), call| async move { call.argument::<String>("text") })
        .tool("nap", Tool::new("Takes its time").integer("ms", "How long"), |(), call| async move {
            Timer::after(Duration::from_millis(call.argument("ms")?)).await;
            Ok("awake")
        })
        .tool("steps", Tool::new("Tells of its steps"), |(), call| async move {
            for step in 1..=3 {
                call.progress(f64::from(step), Some(3.0), None);
            }
            Ok("done")
        })
        .tool("fail", Tool::new("Does not work"), |(), _| async {
            Err::<String, _>(ToolError::Failed("it is broken".into()))
        })
        .tool("panic", Tool::new("Breaks"), |(), _| async {
            Timer::after(Duration::from_millis(1)).await;
            panic!("in a handler");
            #[expect(unreachable_code, reason = "it has a type")]
            Ok("")
        })
        .build()
        .unwrap()
}

/// A client of `server` over a socket pair, while `use_it` lasts.
async fn with<T>(env: &Env, server: &Server, use_it: impl AsyncFnOnce(&Client) -> T) -> T {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let client = async {
        let client = Client::connect_stream(Async::new(ours).unwrap(), env.options()).await.unwrap();
        let used = use_it(&client).await;
        client.close().await;
        used
    };
    let (served, used) = zip(server.serve_unix_stream(theirs), client).await;
    served.unwrap();
    used
}

async fn call(client: &Client, tool: &str, arguments: &str) -> Outcome {
    let arguments = RawJson::parse_str(arguments).unwrap();
    client.call_tool(tool, Some(&arguments), &RequestOptions::default()).await.unwrap()
}

/// How many tools were listed.
fn names(listed: &Listed) -> usize {
    assert_eq!(listed.cut, None);
    listed.pages.iter().map(|page| page.as_str().matches(r#""inputSchema""#).count()).sum()
}

fn text(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Complete(result) => result.as_str(),
        other => panic!("{other:?}"),
    }
}

async fn a_call_is_answered(env: Env) {
    let server = server();
    with(&env, &server, async |client| {
        for n in 0..20 {
            let outcome = call(client, "echo", &format!(r#"{{"text":"no {n}"}}"#)).await;
            assert!(text(&outcome).contains(&format!("no {n}")), "{outcome:?}");
        }
        let failed = call(client, "fail", "{}").await;
        assert!(text(&failed).contains("it is broken") && text(&failed).contains("isError"), "{failed:?}");
    })
    .await;
}

async fn calls_run_side_by_side(env: Env) {
    let server = server();
    with(&env, &server, async |client| {
        let options = RequestOptions::default();
        let nap = RawJson::parse_str(r#"{"ms":60000}"#).unwrap();
        let sleeps = client.start_tool("nap", Some(&nap), &options).unwrap();
        // One that lasts holds up neither calls, listings nor pings.
        let quick = call(client, "echo", r#"{"text":"quick"}"#).await;
        assert!(text(&quick).contains("quick"));
        let listed = client.list(Method::ToolsList, &options).await.unwrap();
        assert_eq!(names(&listed), 5);
        sleeps.cancel(None);
    })
    .await;
}

async fn a_call_is_cancelled_by_dropping_it(env: Env) {
    let told = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&told);
    let server = Server::builder("s", "1")
        .tool("wait", Tool::new("Waits to be cancelled"), move |(), call| {
            let seen = Arc::clone(&seen);
            async move {
                call.cancelled().await;
                seen.fetch_add(1, Ordering::SeqCst);
                Ok("nobody reads this")
            }
        })
        .build()
        .unwrap();
    with(&env, &server, async |client| {
        let wait = client.start_tool("wait", None, &RequestOptions::default()).unwrap();
        let patience = async {
            Timer::after(Duration::from_millis(50)).await;
            None
        };
        assert!(or(async { Some(wait.await) }, patience).await.is_none(), "it is given up by now");
        while told.load(Ordering::SeqCst) == 0 {
            Timer::after(Duration::from_millis(2)).await;
        }
    })
    .await;
}

async fn progress_reaches_the_caller(env: Env) {
    let server = server();
    let steps = with(&env, &server, async |client| {
        let mut steps = Vec::new();
        let params = RawJson::parse_str(r#"{"name":"steps","arguments":{}}"#).unwrap();
        let mut note = |progress: &Progress| steps.push(progress.progress);
        let options = RequestOptions::default();
        client.call_with(Method::ToolsCall, Some(params), &options, &mut note).await.unwrap();
        steps
    })
    .await;
    assert_eq!(steps, [1.0, 2.0, 3.0]);
}

async fn a_server_that_stops_lets_calls_finish(env: Env) {
    let server = server();
    let stopper = server.stopper();
    let outcome = with(&env, &server, async |client| {
        let nap = RawJson::parse_str(r#"{"ms":100}"#).unwrap();
        let nap = client.start_tool("nap", Some(&nap), &RequestOptions::default()).unwrap();
        // It is there once another call that came later is answered.
        call(client, "echo", r#"{"text":"x"}"#).await;
        stopper.stop();
        nap.await
    })
    .await;
    assert!(text(&outcome).contains("awake"), "{outcome:?}");
}

async fn a_list_that_changes_is_told(env: Env) {
    let server = server();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let client = async {
        // This revision tells without being asked to.
        let mut options = env.options();
        options.config.start = Start::Pinned(Revision::V2025_11_25);
        let client = Client::connect_stream(Async::new(ours).unwrap(), options).await.unwrap();
        let options = RequestOptions::default();
        client.list(Method::ToolsList, &options).await.unwrap();
        server.add_tool("more", Tool::new("One more"), |(), _| async { Ok("more") }).unwrap();
        assert_eq!(client.next_notification().await.unwrap().method, Method::ToolsListChanged);
        assert!(text(&call(&client, "more", "{}").await).contains("more"));
        assert_eq!(names(&client.list(Method::ToolsList, &options).await.unwrap()), 6);
        assert!(server.remove_tool("more"));
        assert_eq!(client.next_notification().await.unwrap().method, Method::ToolsListChanged);
        assert_eq!(names(&client.list(Method::ToolsList, &options).await.unwrap()), 5);
        client.close().await;
    };
    let (served, ()) = zip(server.serve_unix_stream(theirs), client).await;
    served.unwrap();
}

async fn a_handler_that_panics_is_answered() {
    let server = server();
    with(&ANY, &server, async |client| {
        match call(client, "panic", "{}").await {
            Outcome::Error(error) => assert_eq!(error.code.to_string(), "-32603"),
            other => panic!("{other:?}"),
        }
        assert!(text(&call(client, "echo", r#"{"text":"on"}"#).await).contains("on"));
    })
    .await;
}

async fn what_is_not_known_is_refused() {
    let server = server();
    with(&ANY, &server, async |client| {
        match call(client, "nothing", "{}").await {
            Outcome::Error(error) => assert_eq!(error.code.to_string(), "-32602"),
            other => panic!("{other:?}"),
        }
        let outcome = call(client, "echo", r#"{"text":7}"#).await;
        assert!(text(&outcome).contains("isError"), "{outcome:?}");
    })
    .await;
}

/// One client has half of the places at most, and what waits runs when one is free.
async fn places_are_shared_by_a_listener() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (Arc::clone(&running), Arc::clone(&most));
    let server = Server::builder("s", "1")
        .tool("work", Tool::new("Works"), move |(), _| {
            let (running, most) = counts.clone();
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                Timer::after(Duration::from_millis(20)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok("done")
            }
        })
        .build()
        .unwrap();
    server.set_max_handlers(4);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients = async {
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(Client::connect_tcp(address, ANY.options()).await.unwrap());
        }
        let options = RequestOptions::default();
        let alone: Vec<_> = (0..6).map(|_| clients[0].start_tool("work", None, &options).unwrap()).collect();
        for pending in alone {
            assert!(text(&pending.await).contains("done"));
        }
        assert_eq!(most.load(Ordering::SeqCst), 2, "half of the places");
        let all: Vec<_> =
            (0..30).map(|n| clients[n % 3].start_tool("work", None, &options).unwrap()).collect();
        for pending in all {
            assert!(text(&pending.await).contains("done"));
        }
        assert_eq!(most.load(Ordering::SeqCst), 4, "all places, and no more");
        for client in clients {
            client.close().await;
        }
        server.stopper().stop();
    };
    zip(async { server.serve_tcp(listener).await.unwrap() }, clients).await;
}

async fn a_client_that_vanishes_cancels_its_calls() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let ended = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&ended);
    let server = Server::builder("s", "1")
        .tool("wait", Tool::new("Waits"), move |(), call| {
            let seen = Arc::clone(&seen);
            async move {
                seen.fetch_add(1, Ordering::SeqCst);
                call.cancelled().await;
                seen.fetch_add(10, Ordering::SeqCst);
                Ok("")
            }
        })
        .build()
        .unwrap();
    let client = async {
        let options = ANY.options();
        let client = Client::connect_stream(Async::new(ours).unwrap(), options).await.unwrap();
        let wait = client.start_tool("wait", None, &RequestOptions::default()).unwrap();
        while ended.load(Ordering::SeqCst) == 0 {
            Timer::after(Duration::from_millis(2)).await;
        }
        client.kill().await;
        drop(wait);
    };
    let (served, ()) = zip(server.serve_unix_stream(theirs), client).await;
    served.unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 11);
}

async fn a_server_that_is_dropped_cancels() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (ours, theirs) = UnixStream::pair().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let begun = Arc::new(AtomicUsize::new(0));
    let (held, seen) = (Arc::clone(&count), Arc::clone(&begun));
    let server = Server::builder("s", "1")
        .tool("wait", Tool::new("Waits"), move |(), _| {
            let (held, seen) = (Dropped(Arc::clone(&held)), Arc::clone(&seen));
            async move {
                let _held = held;
                seen.fetch_add(1, Ordering::SeqCst);
                Timer::after(LONG).await;
                Ok("")
            }
        })
        .build()
        .unwrap();
    let client = async {
        let client = Client::connect_stream(Async::new(ours).unwrap(), ANY.options()).await.unwrap();
        let wait = client.start_tool("wait", None, &RequestOptions::default()).unwrap();
        while begun.load(Ordering::SeqCst) == 0 {
            Timer::after(Duration::from_millis(2)).await;
        }
        Some((client, wait))
    };
    let serving = async {
        server.serve_unix_stream(theirs).await.unwrap();
        None
    };
    // The server's future goes as soon as the client's is ready.
    let (client, wait) = or(client, serving).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1, "what the handler held is gone");
    assert!(matches!(wait.await, Outcome::Lost { .. }));
    client.close().await;
}

async fn requests_of_one_read_leave_in_order() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = server();
    let client = async {
        let mut stream = Async::new(ours).unwrap();
        let mut lines = String::new();
        for id in 0..200 {
            lines += &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{id}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
            );
            lines.push('\n');
        }
        stream.write_all(lines.as_bytes()).await.unwrap();
        stream.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.unwrap();
        let ids: Vec<_> = answers
            .lines()
            .map(|line| RawJson::parse_str(line).unwrap().view().get("id").unwrap().as_i64().unwrap())
            .collect();
        assert_eq!(ids, (0..200).collect::<Vec<_>>());
    };
    let (served, ()) = zip(server.serve_unix_stream(theirs), client).await;
    served.unwrap();
}

async fn a_stopped_server_serves_nobody() {
    let server = server();
    server.stopper().stop();
    let (ours, theirs) = UnixStream::pair().unwrap();
    server.serve_unix_stream(theirs).await.unwrap();
    let mut stream = Async::new(ours).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    server.serve_tcp(listener).await.unwrap();
}
