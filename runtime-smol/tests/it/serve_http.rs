//! Serving over HTTP: what clients see of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use sanswire_smol::{Elicited, HttpOptions, Schema, Server, Tool};

use crate::common::{Env, eventually, trials};
use crate::http_peer::{Session, Wire, call, listen, method, modern, patient, said, with};

trials! {
    each: a_call_is_answered_in_both_eras, what_is_told_meanwhile_makes_a_stream_of_the_answer,
        a_slow_call_blocks_no_other, a_change_is_told_to_all,
        a_session_goes_on_without_the_connection_of_its_call;
    once: a_connection_is_used_again_and_again, requests_that_are_sent_ahead_are_answered_in_turn,
        a_request_that_comes_byte_by_byte_delays_no_other, many_connections_are_served_at_once,
        a_session_is_opened_used_and_ended, a_call_lets_go_of_its_connection_and_its_client_comes_back,
        a_handler_asks_and_the_answer_comes_by_another_connection, a_handler_that_panics_is_answered,
        a_client_that_never_reads_delays_no_other
}

/// How many handlers were dropped before their end, and how many are at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) running: Arc<AtomicUsize>,
    pub(crate) most: Arc<AtomicUsize>,
    pub(crate) cancelled: Arc<AtomicUsize>,
}

/// While a handler runs.
pub(crate) struct Running(Seen);

impl Running {
    pub(crate) fn begin(seen: &Seen) -> Self {
        let now = seen.running.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most.fetch_max(now, Ordering::SeqCst);
        Self(seen.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) fn server() -> (Server, Seen) {
    let seen = Seen::default();
    let (naps, waits) = (seen.clone(), seen.clone());
    let echo = Tool::new("Gives back").string("text", "What");
    let server = Server::builder("smol", "1")
        .tool("echo", echo, |(), call| async move { call.argument::<String>("text") })
        .tool("nap", Tool::new("Takes its time").integer("ms", "How long"), move |(), call| {
            let seen = naps.clone();
            async move {
                let _running = Running::begin(&seen);
                Timer::after(Duration::from_millis(call.argument("ms")?)).await;
                Ok("awake")
            }
        })
        .tool("wait", Tool::new("Waits to be cancelled"), move |(), call| {
            let seen = waits.clone();
            async move {
                let _running = Running::begin(&seen);
                call.cancelled().await;
                seen.cancelled.fetch_add(1, Ordering::SeqCst);
                Ok("nobody reads this")
            }
        })
        .tool("report", Tool::new("Reports, and takes its time"), |(), call| async move {
            call.progress(1.0, None, None);
            Timer::after(Duration::from_millis(200)).await;
            Ok("reported")
        })
        .tool("steps", Tool::new("Tells of its steps"), |(), call| async move {
            for step in 1..=3 {
                call.progress(f64::from(step), Some(3.0), None);
            }
            Ok("done")
        })
        .tool("blob", Tool::new("Is long").integer("bytes", "How long"), |(), call| async move {
            Ok("x".repeat(call.argument("bytes")?))
        })
        .tool("later", Tool::new("Lets go of its client"), |(), call| async move {
            assert!(call.close_stream(), "its client can come back");
            Timer::after(Duration::from_millis(20)).await;
            Ok("worth the wait")
        })
        .tool("ask", Tool::new("Asks"), |(), call| async move {
            let form = Schema::object().property("name", Schema::string());
            let said = call.elicit("who", "Who is there?", &form).await?;
            Ok(match said {
                Elicited::Accepted(content) => content.as_str().to_owned(),
                other => format!("{other:?}"),
            })
        })
        .tool("panic", Tool::new("Breaks"), |(), _| async {
            Timer::after(Duration::from_millis(1)).await;
            panic!("in a handler");
            #[expect(unreachable_code, reason = "it has a type")]
            Ok("")
        })
        .config(|config| config.limits.drain = Duration::from_secs(30))
        .build()
        .unwrap();
    (server, seen)
}

pub(crate) fn options() -> HttpOptions {
    patient()
}

async fn a_call_is_answered_in_both_eras(_: Env) {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut modern = Wire::connect(address).await;
        let mut session = Session::open(address).await;
        for n in 0..20 {
            modern.echoes(n).await;
            session.call(n, "echo", r#"{"text":"legacy"}"#).await;
            assert_eq!(session.wire.answer().await.said(), (n, "legacy".into()));
        }
    })
    .await;
}

async fn what_is_told_meanwhile_makes_a_stream_of_the_answer(_: Env) {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "steps", "{}")).await;
        wire.stream().await;
        for _ in 0..3 {
            assert_eq!(method(&wire.event().await.unwrap()), "notifications/progress");
        }
        assert_eq!(said(&wire.event().await.unwrap()), (1, "done".into()));
        assert!(wire.event().await.is_none());
        wire.echoes(2).await;
    })
    .await;
}

async fn a_slow_call_blocks_no_other(_: Env) {
    let (server, seen) = server();
    with(&server, options(), async |address| {
        let mut slow = Wire::connect(address).await;
        slow.send(&call(1, "nap", r#"{"ms":300}"#)).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        Wire::connect(address).await.echoes(2).await;
        assert_eq!(slow.answer().await.said(), (1, "awake".into()));
    })
    .await;
}

async fn a_change_is_told_to_all(_: Env) {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut modern = Wire::connect(address).await;
        modern.send(&listen(1)).await;
        modern.stream().await;
        assert_eq!(method(&modern.event().await.unwrap()), "notifications/subscriptions/acknowledged");
        let mut legacy = Session::open(address).await;
        legacy.ask("GET", "Accept: text/event-stream\r\n").await;
        legacy.wire.stream().await;
        server.add_tool("more", Tool::new("New"), |(), _| async { Ok("") }).unwrap();
        assert_eq!(method(&modern.event().await.unwrap()), "notifications/tools/list_changed");
        assert_eq!(method(&legacy.wire.event().await.unwrap()), "notifications/tools/list_changed");
        let mut wire = Wire::connect(address).await;
        wire.send(&call(2, "more", "{}")).await;
        assert_eq!(wire.answer().await.said(), (2, String::new()));
    })
    .await;
}

async fn a_session_goes_on_without_the_connection_of_its_call(_: Env) {
    let (server, seen) = server();
    with(&server, options(), async |address| {
        let mut session = Session::open(address).await;
        let params = r#"{"name":"report","arguments":{},"_meta":{"progressToken":"p"}}"#;
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        session.send(&call).await;
        session.wire.stream().await;
        let mut last = None;
        let told = loop {
            let (id, message) = session.wire.next_event().await.unwrap();
            last = id.or(last);
            if let Some(message) = message {
                break message;
            }
        };
        assert_eq!(method(&told), "notifications/progress");
        let id = last.expect("a stream that can be taken up again");
        let mut again = session.beside(address).await;
        drop(session);
        again.ask("GET", &format!("Accept: text/event-stream\r\nLast-Event-ID: {id}\r\n")).await;
        again.wire.stream().await;
        assert_eq!(said(&again.wire.event().await.unwrap()), (1, "reported".into()));
        assert_eq!(seen.cancelled.load(Ordering::SeqCst), 0);
    })
    .await;
}

async fn a_connection_is_used_again_and_again() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut wire = Wire::connect(address).await;
        for n in 0..200 {
            wire.echoes(n).await;
        }
        wire.send(&call(1, "blob", r#"{"bytes":3000000}"#)).await;
        assert_eq!(wire.answer().await.said().1.len(), 3_000_000);
        wire.echoes(2).await;
    })
    .await;
}

async fn requests_that_are_sent_ahead_are_answered_in_turn() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut wire = Wire::connect(address).await;
        let one = |n: u64| call(n, "echo", &format!(r#"{{"text":"{n}"}}"#));
        let all: String = (0..50).map(one).collect();
        wire.send(&all).await;
        for n in 0..50 {
            assert_eq!(wire.answer().await.said(), (n, n.to_string()));
        }
    })
    .await;
}

async fn a_request_that_comes_byte_by_byte_delays_no_other() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let (mut slow, mut quick) = (Wire::connect(address).await, Wire::connect(address).await);
        for (n, byte) in (0..).zip(call(999, "echo", r#"{"text":"slow"}"#).split("")) {
            slow.send(byte).await;
            if n % 20 == 0 {
                quick.echoes(n).await;
            }
        }
        assert_eq!(slow.answer().await.said(), (999, "slow".into()));
    })
    .await;
}

async fn many_connections_are_served_at_once() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut wires = Vec::new();
        for _ in 0..200 {
            wires.push(Wire::connect(address).await);
        }
        for round in 0..3 {
            for (n, wire) in (0..).zip(&mut wires) {
                wire.send(&call(n, "echo", &format!(r#"{{"text":"{round}"}}"#))).await;
            }
            for (n, wire) in (0..).zip(&mut wires) {
                assert_eq!(wire.answer().await.said(), (n, round.to_string()));
            }
        }
    })
    .await;
}

async fn a_session_is_opened_used_and_ended() {
    let (server, seen) = server();
    with(&server, options(), async |address| {
        let mut session = Session::open(address).await;
        let mut waits = session.beside(address).await;
        waits.call(1, "wait", "{}").await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        session.ask("DELETE", "").await;
        assert!((200..300).contains(&session.wire.answer().await.status));
        eventually("its calls are over with it", || seen.cancelled.load(Ordering::SeqCst) == 1).await;
        session.call(2, "echo", r#"{"text":"x"}"#).await;
        assert_eq!(session.wire.answer().await.status, 404, "it is gone");
    })
    .await;
}

async fn a_call_lets_go_of_its_connection_and_its_client_comes_back() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut session = Session::open(address).await;
        session.call(1, "later", "{}").await;
        session.wire.stream().await;
        let mut last = None;
        while let Some((id, message)) = session.wire.next_event().await {
            assert!(message.is_none(), "it is answered on another stream");
            last = id.or(last);
        }
        let last = last.expect("a place to come back to");
        session.ask("GET", &format!("Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n")).await;
        session.wire.stream().await;
        assert_eq!(said(&session.wire.event().await.unwrap()), (1, "worth the wait".into()));
    })
    .await;
}

async fn a_handler_asks_and_the_answer_comes_by_another_connection() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut session = Session::open(address).await;
        session.call(1, "ask", "{}").await;
        session.wire.stream().await;
        let question = session.wire.event().await.unwrap();
        assert_eq!(method(&question), "elicitation/create");
        let id = String::from_utf8(question.view().get("id").unwrap().as_bytes().to_vec()).unwrap();
        let mut beside = session.beside(address).await;
        let result = r#"{"action":"accept","content":{"name":"Ada"}}"#;
        beside.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
        assert_eq!(beside.wire.answer().await.status, 202);
        let (id, text) = said(&session.wire.event().await.unwrap());
        assert!(id == 1 && text.contains("Ada"), "{text}");

        // In 2026-07-28 the question is the answer.
        let mut wire = Wire::connect(address).await;
        let capable = r#""name":"ask","arguments":{}"#;
        let request = modern(2, "tools/call", Some("ask"), capable)
            .replace(r#"clientCapabilities":{}"#, r#"clientCapabilities":{"elicitation":{}}"#);
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let head: Vec<_> = head.lines().filter(|line| !line.starts_with("Content-Length")).collect();
        let length = format!("Content-Length: {}", body.len());
        wire.send(&format!("{}\r\n{length}\r\n\r\n{body}", head.join("\r\n"))).await;
        let answer = String::from_utf8(wire.answer().await.body).unwrap();
        assert!(answer.contains("input_required") || answer.contains("inputRequests"), "{answer}");
    })
    .await;
}

async fn a_handler_that_panics_is_answered() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "panic", "{}")).await;
        let body = String::from_utf8(wire.answer().await.body).unwrap();
        assert!(body.contains("the handler failed"), "{body}");
        wire.echoes(2).await;
    })
    .await;
}

async fn a_client_that_never_reads_delays_no_other() {
    let (server, _) = server();
    with(&server, options(), async |address| {
        let mut deaf = Vec::new();
        for n in 0..4 {
            let mut wire = Wire::connect(address).await;
            wire.send(&call(n, "blob", r#"{"bytes":8000000}"#)).await;
            deaf.push(wire);
        }
        let mut wire = Wire::connect(address).await;
        for n in 0..50 {
            wire.echoes(n).await;
        }
        for (n, wire) in (0..).zip(&mut deaf) {
            let (id, text) = wire.answer().await.said();
            assert_eq!((id, text.len()), (n, 8_000_000));
        }
    })
    .await;
}
