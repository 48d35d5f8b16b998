//! The client over HTTP, against servers whose every byte is scripted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use sanswire_smol::sanswire::client::{Outcome, RequestOptions};
use sanswire_smol::sanswire::error::{CloseReason, Violation};
use sanswire_smol::sanswire::http::client::Kind;
use sanswire_smol::sanswire::mcp::{Era, Method};
use sanswire_smol::{Client, ConnectError, Direction, Ended, Tap, Watch};

use crate::common::{Env, LONG, begin, eventually, no_options, outcome, raw, text_of, tool, trials};
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};

trials!(
    each:
        calls_share_one_connection,
        both_eras,
        events_come_before_the_answer,
        many_calls_of_one_task_at_once,
        as_many_connections_as_were_allowed,
        a_call_whose_future_is_dropped_closes_its_connection,
        a_call_that_timed_out_closes_its_connection,
        a_connection_that_ended_while_idle_is_not_used,
        nothing_is_sent_twice,
        a_broken_stream_is_resumed,
        a_forgotten_session_is_opened_anew_once,
        the_get_stream_is_read_while_nobody_calls,
        a_client_that_goes_closes_its_connections,
        a_cork_holds_requests_back,
        keep_alive_is_taken_at_its_word,
        big_messages_both_ways;
    once:
        close_deletes_the_session,
        the_oldest_transport,
        a_fault_of_http_is_named,
        an_answer_that_nobody_waits_for_is_read_by_the_watch,
        a_tap_sees_messages_and_how_it_came_to_them,
);

async fn connect(env: &Env, peer: &Peer) -> Client {
    Client::connect_http(&peer.target(), env.options()).await.unwrap()
}

fn no_more(request: &Request, answer: &mut Answer<'_>) {
    match &*request.verb {
        "GET" => answer.status(405),
        _ => answer.result(&says("hello")),
    }
}

/// What threads of a server tell: how often.
#[derive(Clone, Default)]
struct Told(Arc<AtomicUsize>);

impl Told {
    fn tell(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    async fn reach(&self, often: usize) {
        eventually("word of the server", || self.0.load(Ordering::SeqCst) >= often).await;
    }
}

async fn calls_share_one_connection(env: Env) {
    let peer = modern(no_more);
    let client = connect(&env, &peer).await;
    for _ in 0..50 {
        assert_eq!(tool(&client, "any", "{}").await, "hello");
    }
    assert_eq!(peer.connections(), 1);
    assert_eq!((client.pid(), client.http_kind()), (None, Some(Kind::Streamable)));
    assert_eq!(client.close().await.ended, Ended::NotAProcess);
    eventually("its end", || peer.ended() == 1).await;
}

async fn both_eras(env: Env) {
    let (old, new) = (legacy(no_more), modern(no_more));
    let (older, newer) = (connect(&env, &old).await, connect(&env, &new).await);
    assert_eq!(older.peer().era, Era::Legacy);
    assert_eq!(newer.peer().era, Era::Modern);
    for client in [&older, &newer] {
        assert_eq!(tool(client, "any", "{}").await, "hello");
    }
    let calls: Vec<_> = old.requests().into_iter().filter(|request| request.is("tools/call")).collect();
    assert_eq!(calls[0].field("mcp-session-id"), Some("session-1"));
    assert_eq!(calls[0].field("mcp-protocol-version"), Some("2025-11-25"));
}

async fn events_come_before_the_answer(env: Env) {
    let peer = modern(|request, answer| {
        answer.stream();
        let token =
            request.body.split("\"progressToken\":").nth(1).unwrap().split([',', '}']).next().unwrap();
        for n in 1..=3 {
            answer.event(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{n}}}}}"#
            ));
        }
        let reply = answer.reply(&says("late"));
        answer.last_event(&reply);
    });
    let client = connect(&env, &peer).await;
    for _ in 0..3 {
        let mut seen = Vec::new();
        let params = Some(raw(r#"{"name":"any"}"#));
        let options = no_options();
        let call = client.call_with(Method::ToolsCall, params, &options, |progress| {
            seen.push(progress.progress);
        });
        assert_eq!(text_of(call.await.unwrap()), "late");
        assert_eq!(seen, [1.0, 2.0, 3.0]);
    }
    // A stream that ended with its answer leaves the connection as good as it was.
    assert_eq!(peer.connections(), 1);
}

/// A server that answers the calls of waves of so many once all of a wave have come.
fn in_waves(size: usize) -> Peer {
    let waiting = Arc::new((Mutex::new(0_usize), std::sync::Condvar::new()));
    modern(move |request, answer| {
        let (come, changed) = &*waiting;
        let mut here = come.lock().unwrap();
        *here += 1;
        let wave = here.div_ceil(size) * size;
        changed.notify_all();
        let (here, late) = changed.wait_timeout_while(here, LONG, |here| *here < wave).unwrap();
        drop(here);
        assert!(!late.timed_out(), "they do not come at once");
        let name = request.body.split("\"say\":\"").nth(1).unwrap().split('"').next().unwrap();
        answer.result(&says(name));
    })
}

async fn many_calls_of_one_task_at_once(env: Env) {
    let peer = in_waves(32);
    let client = connect(&env, &peer).await;
    for wave in 0..3 {
        let calls: Vec<_> =
            (0..32).map(|n| begin(&client, "any", &format!(r#"{{"say":"{wave}-{n}"}}"#))).collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(text_of(call.await), format!("{wave}-{n}"));
        }
    }
    // Each wave uses those of the one before.
    assert_eq!(peer.connections(), 32);
}

async fn as_many_connections_as_were_allowed(env: Env) {
    let peer = modern(no_more);
    let mut target = peer.target();
    target.max_connections = 3;
    let client = Client::connect_http(&target, env.options()).await.unwrap();
    let calls: Vec<_> = (0..100).map(|_| begin(&client, "any", "{}")).collect();
    for call in calls {
        assert_eq!(text_of(call.await), "hello");
    }
    assert!(peer.connections() <= 3, "{}", peer.connections());
    assert_eq!(peer.count("tools/call"), 100);
}

async fn a_call_whose_future_is_dropped_closes_its_connection(env: Env) {
    let come = Told::default();
    let tell = come.clone();
    let peer = modern(move |request, answer| match request.body.contains("slow") {
        true => {
            answer.stream();
            tell.tell();
            answer.wait_for_the_end();
            tell.tell();
        }
        false => answer.result(&says("hello")),
    });
    let client = connect(&env, &peer).await;
    let call = begin(&client, "slow", "{}");
    come.reach(1).await;
    drop(call);
    come.reach(2).await;
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    assert_eq!(peer.connections(), 2);
}

async fn a_call_that_timed_out_closes_its_connection(env: Env) {
    let come = Told::default();
    let tell = come.clone();
    let peer = modern(move |_, answer| {
        answer.wait_for_the_end();
        tell.tell();
    });
    let client = connect(&env, &peer).await;
    let mut brief = RequestOptions::default();
    brief.idle = Some(Duration::from_millis(100));
    let outcome = client.call_tool("any", None, &brief).await.unwrap();
    assert!(matches!(outcome, Outcome::TimedOut { .. }), "{outcome:?}");
    come.reach(1).await;
}

async fn a_connection_that_ended_while_idle_is_not_used(env: Env) {
    // Says that it keeps the connection, and closes it.
    let peer = modern(|_, answer| {
        answer.result(&says("hello"));
        answer.close();
    });
    let client = connect(&env, &peer).await;
    for n in 1..=5 {
        assert_eq!(tool(&client, "any", "{}").await, "hello");
        eventually("its end", || peer.ended() == n).await;
    }
    assert_eq!(peer.count("tools/call"), 5);
    assert_eq!(peer.connections(), 5);
}

async fn nothing_is_sent_twice(env: Env) {
    let answers = [
        "",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata",
    ];
    for text in answers {
        let peer = modern(move |request, answer| match request.body.contains("broken") {
            true => {
                answer.raw(text);
                answer.close();
            }
            false => answer.result(&says("hello")),
        });
        let client = connect(&env, &peer).await;
        // On a fresh connection and on one that has served.
        for _ in 0..2 {
            let before = peer.count("tools/call");
            let outcome = outcome(&client, "broken", "{}").await;
            assert!(matches!(outcome, Outcome::Lost { maybe_ran: true }), "{text:?}: {outcome:?}");
            assert_eq!(tool(&client, "any", "{}").await, "hello");
            assert_eq!(peer.count("tools/call"), before + 2, "{text:?}");
        }
    }
}

async fn a_broken_stream_is_resumed(env: Env) {
    let asked = Mutex::new(String::new());
    let peer = legacy(move |request, answer| {
        if request.verb == "GET" && request.field("last-event-id") == Some("7") {
            let reply = asked.lock().unwrap().clone();
            answer.stream();
            answer.last_event(&reply);
        } else if request.verb == "GET" {
            answer.status(405);
        } else {
            *asked.lock().unwrap() = answer.reply(&says("the rest"));
            answer
                .raw("HTTP/1.1 200 .\r\nContent-Type: text/event-stream\r\n\r\nid: 7\nretry: 10\ndata:\n\n");
            answer.close();
        }
    });
    let client = connect(&env, &peer).await;
    assert_eq!(tool(&client, "any", "{}").await, "the rest");
    assert_eq!(peer.count("tools/call"), 1);
}

async fn a_forgotten_session_is_opened_anew_once(env: Env) {
    // The session of that number is the one that the server knows.
    let (current, opened) = (Arc::new(AtomicUsize::new(1)), AtomicUsize::new(0));
    let known = Arc::clone(&current);
    let peer = Peer::start(move |request, answer| match (&*request.verb, request.method()) {
        ("POST", "server/discover") => answer.status(400),
        ("POST", "initialize") => {
            assert_eq!(request.field("mcp-session-id"), None);
            let number = opened.fetch_add(1, Ordering::Relaxed) + 1;
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}"#;
            let message = answer.reply(result);
            answer.json(200, &format!("Mcp-Session-Id: s-{number}\r\n"), &message);
        }
        ("GET", _) => answer.status(405),
        _ if request.field("mcp-session-id") != Some(&*format!("s-{}", known.load(Ordering::Relaxed))) => {
            answer.status(404);
        }
        (_, method) if method.starts_with("notifications/") => answer.status(202),
        _ => answer.result(&says("hello")),
    });
    let client = connect(&env, &peer).await;
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    current.store(2, Ordering::Relaxed);
    let cork = client.cork();
    let calls: Vec<_> = (0..10).map(|_| begin(&client, "any", "{}")).collect();
    drop(cork);
    for call in calls {
        let outcome = call.await;
        // Some may have come so late that they met the new session.
        let fine = matches!(outcome, Outcome::SessionGone { maybe_ran: false } | Outcome::Complete(_));
        assert!(fine, "{outcome:?}");
    }
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    assert_eq!(peer.count("initialize"), 2);
    assert!(peer.count("tools/call") <= 12, "none is made twice");
    // What was listed before may not hold.
    assert_eq!(client.next_notification().await.unwrap().method, Method::ToolsListChanged);
}

async fn the_get_stream_is_read_while_nobody_calls(env: Env) {
    let peer = legacy(|request, answer| match &*request.verb {
        "GET" => {
            answer.stream();
            answer.event(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
            answer.event(r#"{"jsonrpc":"2.0","id":"p-1","method":"ping"}"#);
            answer.wait_for_the_end();
        }
        _ if request.method().is_empty() => answer.status(202),
        _ => answer.result(&says("hello")),
    });
    let client = connect(&env, &peer).await;
    // Its ping is answered by a request of our own.
    eventually("the answer", || {
        peer.requests().iter().any(|it| it.body.contains("\"p-1\"") && it.body.contains("result"))
    })
    .await;
    assert_eq!(client.try_next_notification().unwrap().method, Method::ToolsListChanged);
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn close_deletes_the_session() {
    // P-215
    let peer = legacy(no_more);
    // Nobody leads once it is closed, so what the close leaves open stays so.
    let mut options = crate::common::options();
    options.watch = Some(Watch::new());
    let client = Client::connect_http(&peer.target(), options).await.unwrap();
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    client.close().await;
    let requests = peer.requests();
    let last = requests.last().unwrap();
    assert_eq!((&*last.verb, last.field("mcp-session-id")), ("DELETE", Some("session-1")));
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
    drop(client);
}

async fn a_client_that_goes_closes_its_connections(env: Env) {
    let come = Told::default();
    let tell = come.clone();
    let peer = modern(move |_, answer| {
        tell.tell();
        answer.wait_for_the_end();
    });
    let client = connect(&env, &peer).await;
    let call = begin(&client, "any", "{}");
    come.reach(1).await;
    drop(client);
    assert_eq!(call.await, Outcome::Cancelled);
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn a_cork_holds_requests_back(env: Env) {
    let peer = modern(no_more);
    let client = connect(&env, &peer).await;
    let cork = client.cork();
    let calls: Vec<_> = (0..4).map(|_| begin(&client, "any", "{}")).collect();
    // The watch leads meanwhile, and begins none of them.
    async_io::Timer::after(Duration::from_millis(100)).await;
    assert_eq!(peer.count("tools/call"), 0);
    drop(cork);
    eventually("the requests", || peer.count("tools/call") == 4).await;
    for call in calls {
        assert_eq!(text_of(call.await), "hello");
    }
}

async fn keep_alive_is_taken_at_its_word(env: Env) {
    let peer = modern(|_, answer| {
        let reply = answer.reply(&says("hello"));
        answer.json(200, "Keep-Alive: timeout=1\r\n", &reply);
    });
    let client = connect(&env, &peer).await;
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    // We close it: not the server, which keeps it for ever.
    eventually("its end", || peer.ended() == 1).await;
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    assert_eq!(peer.connections(), 2);
}

async fn big_messages_both_ways(env: Env) {
    // More than a socket holds, so that there is no room to write in between.
    let text = "x".repeat(3_000_000);
    let peer = modern(|request, answer| {
        let said = request.body.split("\"say\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        answer.result(&says(&said));
    });
    let client = connect(&env, &peer).await;
    for _ in 0..2 {
        assert_eq!(tool(&client, "any", &format!(r#"{{"say":"{text}"}}"#)).await, text);
    }
    assert_eq!(peer.connections(), 1);
}

async fn the_oldest_transport() {
    let stream = Arc::new(Mutex::new(None::<mpsc::Sender<String>>));
    let peer = Peer::start(move |request, answer| match &*request.verb {
        "GET" => {
            let (tell, told) = mpsc::channel();
            *stream.lock().unwrap() = Some(tell);
            answer.raw(
                "HTTP/1.1 200 .\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /post\n\n",
            );
            while let Ok(message) = told.recv() {
                answer.raw(format!("data: {message}\n\n"));
            }
        }
        _ if request.target == "/post" => {
            let result = match request.method() {
                "initialize" => {
                    r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}"#
                        .to_owned()
                }
                "tools/call" => says("hello"),
                _ => String::new(),
            };
            if !result.is_empty() {
                let reply = answer.reply(&result);
                stream.lock().unwrap().as_ref().unwrap().send(reply).unwrap();
            }
            answer.status(202);
        }
        _ => answer.status(405),
    });
    let client = connect(&crate::common::ANY, &peer).await;
    assert_eq!(client.http_kind(), Some(Kind::Sse));
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    client.close().await;
}

async fn a_fault_of_http_is_named() {
    let peer = Peer::start(|_, answer| answer.raw("SSH-2.0-secret\r\n\r\n"));
    let error = Client::connect_http(&peer.target(), crate::common::options()).await.unwrap_err();
    let ConnectError::Closed { reason, .. } = &error else { panic!("{error:?}") };
    assert!(matches!(&**reason, CloseReason::Protocol(Violation::Http(_))), "{reason:?}");
    let told = error.to_string();
    assert!(told.contains("Check the address") && !told.contains("secret"), "{told}");
}

async fn an_answer_that_nobody_waits_for_is_read_by_the_watch() {
    let peer = modern(no_more);
    let client = connect(&crate::common::ANY, &peer).await;
    let mut call = begin(&client, "any", "{}");
    eventually("the answer", || call.try_take().is_some()).await;
    let calls: Vec<_> = (0..8).map(|_| begin(&client, "any", "{}")).collect();
    eventually("what was asked", || peer.count("tools/call") == 9).await;
    drop(calls);
    assert_eq!(text_of(client.call_tool("any", None, &no_options()).await.unwrap()), "hello");
}

#[derive(Default)]
struct Lines {
    messages: Mutex<Vec<(Direction, String)>>,
    reached: AtomicUsize,
}

impl Tap for Lines {
    fn message(&self, direction: Direction, _: Duration, line: &[u8]) {
        self.messages.lock().unwrap().push((direction, String::from_utf8(line.to_vec()).unwrap()));
    }

    fn reached(&self, _: Duration, how: &sanswire_smol::Reached) {
        assert!(how.address.ip().is_loopback() && how.tls.is_none() && how.proxy.is_none(), "{how:?}");
        self.reached.fetch_add(1, Ordering::Relaxed);
    }
}

async fn a_tap_sees_messages_and_how_it_came_to_them() {
    let peer = modern(|request, answer| {
        let reply = answer.reply(&says("hello"));
        if request.body.contains("streamed") {
            answer.stream();
            answer.event(&reply);
            return answer.end_stream();
        }
        // Over several lines, as some servers do.
        answer.json(200, "", &reply.replace(",\"result\"", ",\r\n \"result\""));
    });
    let lines = Arc::new(Lines::default());
    let mut options = crate::common::options();
    options.tap = Some(Arc::clone(&lines) as Arc<dyn Tap>);
    let client = Client::connect_http(&peer.target(), options).await.unwrap();
    assert_eq!(tool(&client, "whole", "{}").await, "hello");
    assert_eq!(tool(&client, "streamed", "{}").await, "hello");
    client.close().await;
    assert_eq!(lines.reached.load(Ordering::Relaxed), 1);
    let lines = lines.messages.lock().unwrap();
    let told: Vec<_> = lines.iter().map(|(direction, _)| *direction).collect();
    let round = [Direction::Sent, Direction::Received];
    assert_eq!(told, [round, round, round].concat());
    assert!(lines.iter().all(|(_, line)| line.starts_with("{\"jsonrpc\"") && !line.contains(['\n', '\r'])));
    assert!(lines[2].1.contains("whole") && lines[5].1.contains("hello"), "{lines:?}");
}
