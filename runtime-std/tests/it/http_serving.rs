//! The served half over HTTP, met by bytes: both eras, answers whole and in pieces, on connections that are kept.

use std::io::Write;
use std::sync::mpsc::channel;
use std::time::Duration;

use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire_std::{Call, HttpOptions, Refusals, Server, Tool, bind_loopback};

use crate::common::{LONG, raw, trials};
use crate::http_peer::{Site, call, listen, modern, post, said};
use crate::served::server;

trials!(
    h_191_a_call_is_answered_by_one_object,
    what_is_told_meanwhile_makes_a_stream_of_the_answer,
    a_connection_is_used_again_and_again,
    requests_that_are_sent_ahead_are_answered_in_turn,
    a_request_that_comes_byte_by_byte_delays_no_other,
    many_connections_are_served_at_once,
    a_slow_call_blocks_no_other,
    a_client_that_is_gone_cancels_its_call,
    a_session_goes_on_without_the_connection_of_its_call,
    h_192_a_session_is_opened_used_and_ended,
    h_192_what_is_no_request_is_refused_by_its_status,
    a_call_lets_go_of_its_connection_and_its_client_comes_back,
    a_handler_asks_and_the_answer_comes_by_another_connection,
    a_question_of_2026_is_asked_in_rounds,
    a_change_is_told_to_all,
    a_handler_that_panics_is_answered,
    h_193_who_has_no_token_is_sent_away_before_the_body,
    a_page_of_elsewhere_is_sent_away,
    what_a_setting_refuses_is_told,
);

const MINUTE: &str = r#"{"ms":60000}"#;

/// A member of a message's parameters.
fn param<'a>(message: &'a RawJson, name: &str) -> Option<JsonRef<'a>> {
    message.view().get("params")?.get(name)
}

pub(crate) fn method(message: &RawJson) -> String {
    let method = message.view().get("method").and_then(JsonRef::str);
    method.map(|method| method.decode().into_owned()).unwrap_or_default()
}

fn h_191_a_call_is_answered_by_one_object() {
    // H-191
    let site = Site::start(&[]);
    let mut wire = site.connect();
    wire.send(&call(7, "echo", r#"{"text":"seven"}"#));
    let answer = wire.answer();
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    assert_eq!(answer.said(), (7, "seven".into()));
    site.stop();
}

fn what_is_told_meanwhile_makes_a_stream_of_the_answer() {
    let site = Site::start(&[]);
    let mut wire = site.connect();
    wire.send(&call(1, "progress", r#"{"n":3,"ms":1}"#));
    wire.stream();
    for n in 1..=3 {
        let event = wire.event().unwrap();
        assert_eq!(method(&event), "notifications/progress");
        assert_eq!(param(&event, "progress").and_then(JsonRef::as_u64), Some(n));
    }
    assert_eq!(said(&wire.event().unwrap()), (1, "done".into()));
    assert_eq!(wire.event(), None);
    wire.echoes(2);
    let mut session = site.session();
    session.send(
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"progress","arguments":{"n":2},"_meta":{"progressToken":1}}}"#,
    );
    let (events, last) = session.wire.outcome();
    assert_eq!(events.iter().map(method).collect::<Vec<_>>(), ["notifications/progress"; 2]);
    assert_eq!(said(&last), (3, "done".into()));
    site.stop();
}

fn a_connection_is_used_again_and_again() {
    let site = Site::start(&[]);
    let mut wire = site.connect();
    for id in 0..200 {
        wire.echoes(id);
    }
    // Nothing is called `/`, and the connection goes on.
    wire.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(wire.answer().status, 404);
    wire.echoes(200);
    wire.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(wire.answer().status / 100, 4);
    assert!(wire.ended());
    site.stop();
}

fn requests_that_are_sent_ahead_are_answered_in_turn() {
    let site = Site::start(&[]);
    let mut wire = site.connect();
    let echo = |id: u64| call(id, "echo", &format!(r#"{{"text":"{id}"}}"#));
    let slow = call(100, "stubborn", r#"{"ms":20}"#);
    let ahead = (0..100).map(echo).collect::<String>() + &slow + &(101..200).map(echo).collect::<String>();
    let mut writes = wire.stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || writes.write_all(ahead.as_bytes()).unwrap());
    for id in 0..200 {
        let text = if id == 100 { "slept".into() } else { id.to_string() };
        assert_eq!(wire.answer().said(), (id, text));
    }
    writer.join().unwrap();
    site.stop();
}

fn a_request_that_comes_byte_by_byte_delays_no_other() {
    let site = Site::start(&[]);
    let (mut slow, mut quick) = (site.connect(), site.connect());
    for (n, byte) in (0..).zip(call(1, "echo", r#"{"text":"at last"}"#).as_bytes()) {
        slow.stream.write_all(&[*byte]).unwrap();
        quick.echoes(n);
    }
    assert_eq!(slow.answer().said(), (1, "at last".into()));
    site.stop();
}

fn many_connections_are_served_at_once() {
    let site = Site::start(&[]);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let mut wire = site.connect();
                (0..50).for_each(|id| wire.echoes(id));
            });
        }
    });
    site.stop();
}

fn a_slow_call_blocks_no_other() {
    let site = Site::start(&[]);
    let mut slow: Vec<_> = (0..20).map(|_| site.connect()).collect();
    let mut quick = site.connect();
    slow.iter_mut().for_each(|wire| wire.send(&call(1, "meet", r#"{"n":20}"#)));
    (0..20).for_each(|id| quick.echoes(id));
    for wire in &mut slow {
        assert_eq!(said(&wire.outcome().1), (1, "met".into()));
    }
    site.stop();
}

fn a_client_that_is_gone_cancels_its_call() {
    // H-191
    let site = Site::start(&["threads=1", "drain=50"]);
    let (mut gone, mut client) = (site.connect(), site.connect());
    // Whether it runs already or waits for a thread.
    for wire in [&mut gone, &mut site.connect()] {
        wire.send(&call(1, "sleep", MINUTE));
        wire.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    client.echoes(3);
    site.stop();
}

/// A server whose one tool tells how it was left.
fn waits() -> (Server, std::sync::mpsc::Receiver<bool>, std::sync::mpsc::Sender<()>) {
    let (tell, told) = channel();
    let (go_on, goes_on) = channel();
    let goes_on = std::sync::Mutex::new(goes_on);
    let run = move |(): (), call: &Call<'_>| {
        tell.send(false).unwrap();
        while goes_on.lock().unwrap().recv_timeout(Duration::from_millis(5)).is_err() {
            if call.is_cancelled() {
                break;
            }
        }
        tell.send(call.is_cancelled()).unwrap();
        Ok("over")
    };
    let server = Server::builder("waits", "1").tool("wait", Tool::new("Waits"), run).build().unwrap();
    (server, told, go_on)
}

fn a_session_goes_on_without_the_connection_of_its_call() {
    let (server, told, go_on) = waits();
    let site = Site::with(server, HttpOptions::default());
    let session = site.session();
    let mut gone = session.beside(&site);
    gone.call(1, "wait", "{}");
    assert!(!told.recv_timeout(LONG).unwrap());
    drop(gone);
    // It is seen by the time that another connection is answered.
    let mut other = session.beside(&site);
    for id in 2..10 {
        other.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(said(&other.wire.outcome().1).0, id);
    }
    go_on.send(()).unwrap();
    assert!(!told.recv_timeout(LONG).unwrap(), "it was cancelled");
    // What the client says is what cancels.
    let mut calls = session.beside(&site);
    calls.call(20, "wait", "{}");
    assert!(!told.recv_timeout(LONG).unwrap());
    other.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":20}}"#);
    assert_eq!(other.wire.answer().status, 202);
    assert!(told.recv_timeout(LONG).unwrap());
    site.stop();
}

fn h_192_what_is_no_request_is_refused_by_its_status() {
    // H-192
    let site = Site::start(&[]);
    let mut wire = site.connect();
    let head = "Host: localhost\r\nAccept: text/event-stream\r\n\r\n";
    for (verb, status) in [("GET", 405), ("DELETE", 405), ("PUT", 405), ("OPTIONS", 405)] {
        wire.send(&format!("{verb} /mcp HTTP/1.1\r\n{head}"));
        assert_eq!(wire.answer().status, status, "{verb}");
    }
    wire.send(&post(&[], "{"));
    let answer = wire.answer();
    let code =
        answer.json().view().get("error").and_then(|error| error.get("code")).and_then(JsonRef::as_i64);
    assert_eq!((answer.status, code), (400, Some(-32700)));
    wire.echoes(1);
    site.stop();
}

fn a_call_lets_go_of_its_connection_and_its_client_comes_back() {
    let run = |(): (), call: &Call<'_>| {
        call.progress(1.0, None, None);
        let gone = call.close_stream();
        call.progress(2.0, None, None);
        Ok(gone.to_string())
    };
    let server = Server::builder("lets go", "1").tool("go", Tool::new("Goes"), run).build().unwrap();
    let site = Site::with(server, HttpOptions::default());
    let mut session = site.session();
    session.send(
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"go","_meta":{"progressToken":1}}}"#,
    );
    session.wire.stream();
    let (mut last, mut told) = (String::new(), Vec::new());
    while let Some(event) = session.wire.next_event() {
        last = event.id.unwrap_or(last);
        told.extend(event.message);
    }
    let progress = |message: &RawJson| param(message, "progress").and_then(JsonRef::as_u64);
    assert_eq!(told.iter().map(progress).collect::<Vec<_>>(), [Some(1)]);
    // The connection itself is kept.
    session.resume(&last);
    session.wire.stream();
    assert_eq!(progress(&session.wire.event().unwrap()), Some(2));
    assert_eq!(said(&session.wire.event().unwrap()), (3, "true".into()));
    assert_eq!(session.wire.event(), None);
    // Where nobody could come back, it stays.
    let mut wire = site.connect();
    wire.send(&call(4, "go", "{}"));
    assert_eq!(said(&wire.outcome().1), (4, "false".into()));
    site.stop();
}

fn h_192_a_session_is_opened_used_and_ended() {
    // H-192
    let site = Site::start(&[]);
    let mut session = site.session();
    session.call(1, "echo", r#"{"text":"one"}"#);
    assert_eq!(said(&session.wire.outcome().1), (1, "one".into()));
    let mut stranger = site.connect();
    stranger.send(&post(&[("MCP-Protocol-Version", "2025-11-25")], crate::peer::ping(1).trim_end()));
    assert_eq!(stranger.answer().status, 400);
    stranger.send(&post(&[("Mcp-Session-Id", "nobody")], crate::peer::ping(1).trim_end()));
    assert_eq!(stranger.answer().status, 404);
    session.delete();
    assert_eq!(session.wire.answer().status, 200);
    session.send(crate::peer::ping(2).trim_end());
    assert_eq!(session.wire.answer().status, 404);
    site.stop();
}

fn a_handler_asks_and_the_answer_comes_by_another_connection() {
    let site = Site::start(&[]);
    let mut session = site.session();
    let mut answers = session.beside(&site);
    session.call(1, "ask", "{}");
    session.wire.stream();
    let asked = session.wire.event().unwrap();
    assert_eq!(method(&asked), "elicitation/create");
    let id = asked.view().get("id").and_then(JsonRef::as_u64).unwrap();
    answers.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#));
    assert_eq!(answers.wire.answer().status, 202);
    let (_, text) = said(&session.wire.event().unwrap());
    assert_eq!(raw(&text).view().get("action").and_then(JsonRef::str).unwrap().decode(), "decline");
    assert_eq!(session.wire.event(), None);
    site.stop();
}

fn a_question_of_2026_is_asked_in_rounds() {
    let site = Site::start(&[]);
    let mut wire = site.connect();
    let ask = |id, more: &str| {
        let meta = concat!(
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#
        );
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"ask"{more},{meta}}}}}"#
        );
        post(
            &[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "ask")],
            &body,
        )
    };
    wire.send(&ask(1, ""));
    let (_, first) = wire.outcome();
    let result = first.view().get("result").unwrap();
    assert_eq!(result.get("resultType").and_then(JsonRef::str).unwrap().decode(), "input_required");
    let state = std::str::from_utf8(result.get("requestState").unwrap().as_bytes()).unwrap();
    let answer = r#"{"k":{"action":"accept","content":{}}}"#;
    wire.send(&ask(2, &format!(r#","inputResponses":{answer},"requestState":{state}"#)));
    let (id, text) = said(&wire.outcome().1);
    assert_eq!((id, raw(&text).view().get("action").is_some()), (2, true));
    site.stop();
}

fn a_change_is_told_to_all() {
    let site = Site::start(&[]);
    let mut session = site.session();
    let mut pushed = session.beside(&site);
    pushed.get();
    pushed.wire.stream();
    let mut listens = site.connect();
    listens.send(&listen(9));
    listens.stream();
    let acknowledged = listens.event().unwrap();
    assert_eq!(method(&acknowledged), "notifications/subscriptions/acknowledged");
    session.call(1, "change", "{}");
    assert_eq!(said(&session.wire.outcome().1), (1, "soon".into()));
    assert_eq!(method(&listens.event().unwrap()), "notifications/tools/list_changed");
    assert_eq!(method(&pushed.wire.event().unwrap()), "notifications/tools/list_changed");
    let mut wire = site.connect();
    wire.send(&modern(3, "tools/list", None, ""));
    let (_, list) = wire.outcome();
    let tools = list.view().get("result").and_then(|result| result.get("tools")).unwrap();
    let named = |tool: JsonRef<'_>| tool.get("name").and_then(JsonRef::str).unwrap().decode() == "new";
    assert!(tools.elements().any(named), "{}", list.as_str());
    site.stop();
}

fn a_handler_that_panics_is_answered() {
    let site = Site::start(&[]);
    let mut wire = site.connect();
    wire.send(&call(1, "panic", "{}"));
    let (_, answer) = wire.outcome();
    let code = answer.view().get("error").and_then(|error| error.get("code")).and_then(JsonRef::as_i64);
    assert_eq!(code, Some(-32603));
    wire.echoes(2);
    site.stop();
}

fn h_193_who_has_no_token_is_sent_away_before_the_body() {
    // H-193, P-134
    let run = |(): (), call: &Call<'_>| Ok(call.context().principal.name().unwrap_or("?").to_owned());
    let server = Server::builder("guarded", "1").tool("who", Tool::new("Says who"), run).build().unwrap();
    let options = HttpOptions::default().token("alice", "s3cret").token("bob", "other");
    let site = Site::with(server, options);
    for wrong in ["", "Authorization: Bearer s3cre\r\n", "Authorization: Basic s3cret\r\n"] {
        let mut wire = site.connect();
        // The body never comes.
        wire.send(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{wrong}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        ));
        let answer = wire.answer();
        assert_eq!(answer.status, 401);
        assert!(answer.field("www-authenticate").is_some());
        assert!(wire.ended());
    }
    for (token, name) in [("s3cret", "alice"), ("other", "bob")] {
        let mut wire = site.connect();
        let request = call(1, "who", "{}");
        let (first, rest) = request.split_once("\r\n").unwrap();
        wire.send(&format!("{first}\r\nAuthorization: Bearer {token}\r\n{rest}"));
        assert_eq!(said(&wire.outcome().1), (1, name.into()));
    }
    site.stop();
}

fn a_page_of_elsewhere_is_sent_away() {
    // P-133
    assert!(bind_loopback(0).unwrap().local_addr().unwrap().ip().is_loopback());
    let site = Site::start(&[]);
    for (fields, status) in [
        ("Host: localhost\r\nOrigin: https://example.org", 403),
        ("Host: localhost\r\nOrigin: http://localhost:5173", 200),
        ("Host: 127.0.0.1:80", 200),
    ] {
        let mut wire = site.connect();
        wire.send(&call(1, "echo", r#"{"text":"in"}"#).replace("Host: localhost", fields));
        assert_eq!(wire.answer().status, status, "{fields}");
    }
    let mut wire = site.connect();
    wire.send(&call(1, "echo", r#"{"text":"in"}"#).replace("Host: localhost", "Host: example.org"));
    assert_eq!(wire.answer().status / 100, 4);
    site.stop();
}

fn what_a_setting_refuses_is_told() {
    let refusals = Refusals::new();
    let mut options = HttpOptions::default();
    options.refusals = Some(refusals.clone());
    let site = Site::with(server(&[]), options);
    assert_eq!((refusals.next(Duration::ZERO), refusals.total()), (None, 0));
    let ask = |fields: &str| {
        let mut wire = site.connect();
        wire.send(&call(1, "echo", r#"{"text":"in"}"#).replace("Host: localhost", fields));
        wire.answer().status
    };
    // Who waits for it is woken.
    let told = std::thread::scope(|scope| {
        let waits = scope.spawn(|| refusals.next(LONG));
        assert_eq!(ask("Host: localhost\r\nOrigin: https://user:secret@one.example"), 403);
        waits.join().unwrap().unwrap()
    });
    assert_eq!((told.setting, &*told.value, told.count), ("origins", "one.example", 1));
    for n in 0..500 {
        assert_eq!(ask(&format!("Host: localhost\r\nOrigin: https://{n}.example")), 403);
    }
    assert_eq!(ask("Host: two.example\r\nAuthorization: Bearer secret"), 403);
    assert_eq!(ask("Host: localhost"), 200);
    // One report for each setting, however many were refused.
    let told: Vec<_> = std::iter::from_fn(|| refusals.next(Duration::ZERO)).collect();
    let all: Vec<_> = told.iter().map(|one| (one.setting, &*one.value, one.count)).collect();
    assert_eq!(all, [("origins", "https://0.example", 500), ("hosts", "two.example", 1)]);
    assert_eq!(refusals.total(), 502);
    site.stop();
}
