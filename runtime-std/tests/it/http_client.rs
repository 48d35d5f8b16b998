//! The client over HTTP, against servers whose every byte is scripted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use sanswire_std::sanswire::client::{Outcome, RequestOptions};
use sanswire_std::sanswire::error::{CloseReason, Violation};
use sanswire_std::sanswire::http::h1::Fault;
use sanswire_std::sanswire::mcp::{Era, Method};
use sanswire_std::{Client, ConnectError, Direction, Ended, Tap};

use crate::common::{
    LONG, PLAIN, eventually, no_options, options, outcome, raw, text_of, tool, trials, within,
};
use crate::http_script::{Peer, legacy, modern, says};

trials!(
    calls_share_one_connection,
    both_eras,
    events_come_before_the_answer,
    bytes_one_by_one,
    many_calls_of_one_thread_at_once,
    as_many_connections_as_were_allowed,
    a_cancelled_call_closes_its_connection,
    a_call_that_timed_out_closes_its_connection,
    a_connection_that_ended_while_idle_is_not_used,
    a_connection_that_ended_with_its_answer_is_not_used,
    nothing_is_sent_twice,
    a_fault_of_http_is_named,
    b_73_a_stream_that_ends_without_a_reply,
    b_75_a_forgotten_session_is_opened_anew_once,
    b_77_a_refused_get_stream_changes_nothing,
    the_get_stream_is_read_while_nobody_calls,
    a_stream_that_floods_holds_no_call_up,
    close_deletes_the_session,
    dropped_while_a_call_is_open,
    nobody_listens_there,
    a_connection_that_is_never_accepted_is_given_up,
    a_tap_sees_messages,
    a_cork_holds_requests_back,
    keep_alive_is_taken_at_its_word,
);

fn connect(peer: &Peer) -> Client {
    Client::connect_http(&peer.target(), options()).unwrap()
}

fn no_more(request: &crate::http_script::Request, answer: &mut crate::http_script::Answer<'_>) {
    match &*request.verb {
        "GET" => answer.status(405),
        _ => answer.result(&says("hello")),
    }
}

fn calls_share_one_connection() {
    let peer = modern(no_more);
    let client = connect(&peer);
    for _ in 0..50 {
        assert_eq!(tool(&client, "any", "{}"), "hello");
    }
    assert_eq!(peer.connections(), 1);
    assert_eq!(client.pid(), None);
    assert_eq!(client.close().ended, Ended::NotAProcess);
    eventually("its end", || peer.ended() == 1);
}

fn both_eras() {
    let (old, new) = (legacy(no_more), modern(no_more));
    let (older, newer) = (connect(&old), connect(&new));
    assert_eq!(older.peer().era, Era::Legacy);
    assert_eq!(newer.peer().era, Era::Modern);
    for client in [&older, &newer] {
        assert_eq!(tool(client, "any", "{}"), "hello");
    }
    let calls: Vec<_> = old.requests().into_iter().filter(|request| request.is("tools/call")).collect();
    assert_eq!(calls[0].field("mcp-session-id"), Some("session-1"));
    assert_eq!(calls[0].field("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(calls[0].target, "/mcp");
}

fn events_come_before_the_answer() {
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
    let client = connect(&peer);
    for _ in 0..3 {
        let mut seen = Vec::new();
        let params = raw(r#"{"name":"any"}"#);
        let outcome = client
            .call_with(Method::ToolsCall, Some(params), &no_options(), &mut |progress| {
                seen.push(progress.progress)
            })
            .unwrap();
        assert_eq!(text_of(outcome), "late");
        assert_eq!(seen, [1.0, 2.0, 3.0]);
    }
    // A stream that ended with its answer leaves the connection as good as it was.
    assert_eq!(peer.connections(), 1);
}

fn bytes_one_by_one() {
    let peer = modern(|_, answer| {
        let reply = answer.reply(&says("a€𝄞b"));
        let len = reply.len();
        answer.dribble(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len}\r\n\r\n{reply}"
        ));
    });
    let client = connect(&peer);
    for _ in 0..3 {
        assert_eq!(tool(&client, "any", "{}"), "a€𝄞b");
    }
    let peer = modern(|_, answer| {
        let reply = answer.reply(&says("a€𝄞b"));
        let event = format!(": hm\r\n\r\ndata: {reply}\r\n\r\n");
        answer.dribble(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        for byte in event.as_bytes() {
            answer.dribble([b"1\r\n", &[*byte] as &[u8], b"\r\n"].concat());
        }
        answer.dribble("0\r\n\r\n");
    });
    let client = connect(&peer);
    for _ in 0..3 {
        assert_eq!(tool(&client, "any", "{}"), "a€𝄞b");
    }
}

/// A server that answers the calls of `waves` of so many once all of a wave have come.
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

fn many_calls_of_one_thread_at_once() {
    let peer = in_waves(64);
    let client = connect(&peer);
    for wave in 0..3 {
        let calls: Vec<_> = (0..64)
            .map(|n| {
                let arguments = raw(&format!(r#"{{"say":"{wave}-{n}"}}"#));
                client.start_tool("any", Some(&arguments), &no_options()).unwrap()
            })
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(text_of(call.wait()), format!("{wave}-{n}"));
        }
    }
    // Each wave uses those of the one before.
    assert_eq!(peer.connections(), 64);
}

fn as_many_connections_as_were_allowed() {
    let peer = modern(no_more);
    let mut target = peer.target();
    target.max_connections = 3;
    let client = Client::connect_http(&target, options()).unwrap();
    let calls: Vec<_> = (0..100).map(|_| client.start_tool("any", None, &no_options()).unwrap()).collect();
    for call in calls {
        assert_eq!(text_of(call.wait()), "hello");
    }
    assert!(peer.connections() <= 3, "{}", peer.connections());
    assert_eq!(peer.count("tools/call"), 100);
}

fn a_cancelled_call_closes_its_connection() {
    let (tell, told) = mpsc::channel();
    let peer = modern(move |request, answer| match request.body.contains("slow") {
        true => {
            answer.stream();
            tell.send(()).unwrap();
            answer.wait_for_the_end();
            tell.send(()).unwrap();
        }
        false => answer.result(&says("hello")),
    });
    let client = connect(&peer);
    let call = client.start_tool("slow", None, &no_options()).unwrap();
    told.recv_timeout(LONG).unwrap();
    call.cancel(None);
    told.recv_timeout(LONG).unwrap();
    assert_eq!(tool(&client, "any", "{}"), "hello");
    assert_eq!(peer.connections(), 2);
}

fn a_call_that_timed_out_closes_its_connection() {
    let (tell, told) = mpsc::channel();
    let peer = modern(move |_, answer| {
        answer.wait_for_the_end();
        tell.send(()).unwrap();
    });
    let client = connect(&peer);
    let mut brief = RequestOptions::default();
    brief.idle = Some(Duration::from_millis(100));
    let outcome = client.call_tool("any", None, &brief).unwrap();
    assert!(matches!(outcome, Outcome::TimedOut { .. }), "{outcome:?}");
    told.recv_timeout(LONG).unwrap();
}

fn a_connection_that_ended_while_idle_is_not_used() {
    // Says that it keeps the connection, and closes it.
    let peer = modern(|_, answer| {
        answer.result(&says("hello"));
        answer.close();
    });
    let client = connect(&peer);
    for n in 1..=5 {
        assert_eq!(tool(&client, "any", "{}"), "hello");
        eventually("its end", || peer.ended() == n);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(peer.count("tools/call"), 5);
    assert_eq!(peer.connections(), 5);
}

fn a_connection_that_ended_with_its_answer_is_not_used() {
    // An end that comes later may meet the next request: only where it comes with the answer is it surely seen.
    if PLAIN || cfg!(not(target_os = "linux")) {
        return;
    }
    let peer = modern(|_, answer| answer.result_and_end(&says("hello")));
    let mut target = peer.target();
    target.max_connections = 1;
    let client = Client::connect_http(&target, options()).unwrap();
    // Each leaves as soon as the one before it was answered.
    let cork = client.cork();
    let calls: Vec<_> = (0..50).map(|_| client.start_tool("any", None, &no_options()).unwrap()).collect();
    drop(cork);
    for call in calls {
        assert_eq!(text_of(within(LONG, || call.wait())), "hello");
    }
    assert_eq!((peer.count("tools/call"), peer.connections()), (50, 50));
}

fn nothing_is_sent_twice() {
    let answers = [
        "",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
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
        let client = connect(&peer);
        // On a fresh connection and on one that has served.
        for _ in 0..2 {
            let before = peer.count("tools/call");
            let outcome = outcome(&client, "broken", "{}");
            assert!(matches!(outcome, Outcome::Lost { maybe_ran: true }), "{text:?}: {outcome:?}");
            assert_eq!(tool(&client, "any", "{}"), "hello");
            assert_eq!(peer.count("tools/call"), before + 2, "{text:?}");
        }
    }
}

fn a_fault_of_http_is_named() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let long = format!("{head}X: {}\r\n\r\n", "x".repeat(70_000));
    let many = format!("{head}{}\r\n", "X: y\r\n".repeat(200));
    let both = format!("{head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = format!("{head}Transfer-Encoding: chunked\r\n\r\nsecret\r\n");
    let stream = chunk.replace("application/json", "text/event-stream");
    type Is = fn(Fault) -> bool;
    let table: [(&str, Is); 8] = [
        ("HTTP/2.0 200 OK\r\n\r\n", |fault| matches!(fault, Fault::Version | Fault::Head(_))),
        ("SSH-2.0-secret\r\n\r\n", |fault| matches!(fault, Fault::Version | Fault::Head(_))),
        ("HTTP/1.1 200 OK\r\nsecret : y\r\n\r\n", |fault| matches!(fault, Fault::Head(_))),
        (&long, |fault| fault == Fault::HeadTooLong),
        (&many, |fault| fault == Fault::TooManyFields),
        (&both, |fault| matches!(fault, Fault::Framing(_) | Fault::Head(_))),
        (&chunk, |fault| matches!(fault, Fault::Framing(_))),
        (&stream, |fault| matches!(fault, Fault::Framing(_))),
    ];
    for (text, expected) in table {
        let answers = text.to_owned();
        let peer = modern(move |request, answer| match request.body.contains("broken") {
            true => answer.raw(&answers),
            false => answer.result(&says("hello")),
        });
        let client = connect(&peer);
        let outcome = within(LONG, || outcome(&client, "broken", "{}"));
        let Outcome::Invalid(Violation::Http(fault)) = outcome else { panic!("{text:.60}: {outcome:?}") };
        assert!(expected(fault), "{text:.60}: {fault:?}");
        assert!(!format!("{fault:?} {fault}").contains("secret"), "{fault:?}");
        assert_eq!(tool(&client, "any", "{}"), "hello", "it is the end of that call alone");
        // What opens the conversation, too.
        let answers = text.to_owned();
        let peer = Peer::start(move |_, answer| answer.raw(&answers));
        let error = Client::connect_http(&peer.target(), options()).unwrap_err();
        let ConnectError::Closed { reason, .. } = &error else { panic!("{error:?}") };
        assert!(
            matches!(&**reason, CloseReason::Protocol(Violation::Http(fault)) if expected(*fault)),
            "{reason:?}"
        );
        let told = error.to_string();
        assert!(told.contains("Check the address") && !told.contains("secret"), "{told}");
    }
}

fn b_73_a_stream_that_ends_without_a_reply() {
    let streams = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n: hello\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
    ];
    for stream in streams {
        let peer = modern(move |_, answer| answer.raw(stream));
        let client = connect(&peer);
        let outcome = within(LONG, || outcome(&client, "any", "{}"));
        assert!(!matches!(outcome, Outcome::Complete(_) | Outcome::TimedOut { .. }), "{outcome:?}");
        assert_eq!(peer.count("tools/call"), 1);
    }
}

fn b_75_a_forgotten_session_is_opened_anew_once() {
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
        (_, "tools/list") => answer.result(r#"{"tools":[]}"#),
        _ => answer.result(&says("hello")),
    });
    let client = connect(&peer);
    assert_eq!(tool(&client, "any", "{}"), "hello");
    current.store(2, Ordering::Relaxed);
    let cork = client.cork();
    let calls: Vec<_> = (0..10).map(|_| client.start_tool("any", None, &no_options()).unwrap()).collect();
    let list = client.start(Method::ToolsList, None, &no_options()).unwrap();
    drop(cork);
    for call in calls {
        let outcome = within(LONG, || call.wait());
        // Some may have come so late that they met the new session.
        let fine = matches!(outcome, Outcome::SessionGone { maybe_ran: false } | Outcome::Complete(_));
        assert!(fine, "{outcome:?}");
    }
    // To list once more does no harm.
    assert!(matches!(list.wait(), Outcome::Complete(_)));
    assert_eq!(tool(&client, "any", "{}"), "hello");
    assert_eq!(peer.count("initialize"), 2);
    assert!(peer.count("tools/call") <= 12, "none is made twice");
    // What was listed before may not hold.
    assert_eq!(client.next_notification(LONG).unwrap().method, Method::ToolsListChanged);
}

fn b_77_a_refused_get_stream_changes_nothing() {
    for status in [405, 404, 406, 400, 403, 501] {
        let peer = legacy(move |request, answer| match &*request.verb {
            "GET" => answer.status(status),
            _ => answer.result(&says("hello")),
        });
        let client = connect(&peer);
        for _ in 0..3 {
            assert_eq!(tool(&client, "any", "{}"), "hello");
        }
        assert_eq!(client.is_closed(), None);
        let gets = peer.requests().into_iter().filter(|request| request.verb == "GET").count();
        assert!(gets <= 1, "{status}: {gets}");
    }
}

fn the_get_stream_is_read_while_nobody_calls() {
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
    let client = connect(&peer);
    let notice = client.next_notification(LONG).unwrap();
    assert_eq!(notice.method, Method::ToolsListChanged);
    // Its ping is answered by a request of our own.
    eventually("the answer", || {
        peer.requests().iter().any(|it| it.body.contains("\"p-1\"") && it.body.contains("result"))
    });
    assert_eq!(tool(&client, "any", "{}"), "hello");
    client.close();
}

fn a_stream_that_floods_holds_no_call_up() {
    let flooded = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&flooded);
    let peer = legacy(move |request, answer| match &*request.verb {
        "GET" => {
            answer.stream();
            let event =
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n".repeat(10);
            while !answer.has_ended() {
                answer.raw(format!("{:x}\r\n{event}\r\n", event.len()));
                counts.fetch_add(10, Ordering::SeqCst);
            }
        }
        _ => answer.result(&says("hello")),
    });
    let client = connect(&peer);
    for _ in 0..5 {
        let before = flooded.load(Ordering::SeqCst);
        eventually("it goes on", || flooded.load(Ordering::SeqCst) > before + 1000);
        assert_eq!(tool(&client, "any", "{}"), "hello");
    }
    assert!(client.notifications_lost() > 0, "what nobody takes is not kept");
    client.close();
    eventually("the end of all connections", || peer.ended() == peer.connections());
}

fn close_deletes_the_session() {
    // P-215
    let peer = legacy(no_more);
    let client = connect(&peer);
    assert_eq!(tool(&client, "any", "{}"), "hello");
    client.close();
    let requests = peer.requests();
    let last = requests.last().unwrap();
    assert_eq!((&*last.verb, last.field("mcp-session-id")), ("DELETE", Some("session-1")));
    eventually("the end of all connections", || peer.ended() == peer.connections());
}

fn dropped_while_a_call_is_open() {
    let (tell, told) = mpsc::channel();
    let peer = modern(move |_, answer| {
        tell.send(()).unwrap();
        answer.wait_for_the_end();
    });
    let client = connect(&peer);
    let calling = client.clone();
    let call = std::thread::spawn(move || outcome(&calling, "any", "{}"));
    told.recv_timeout(LONG).unwrap();
    client.close();
    assert_eq!(call.join().unwrap(), Outcome::Cancelled);
    drop(client);
    eventually("the end of all connections", || peer.ended() == peer.connections());
}

fn nobody_listens_there() {
    let address = crate::common::NOBODY;
    let target = sanswire_std::HttpTarget::new(&format!("http://{address}/mcp")).unwrap();
    let error = within(LONG, || Client::connect_http(&target, options()).unwrap_err());
    assert!(matches!(error, ConnectError::Reach(_)), "{error:?}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

fn a_connection_that_is_never_accepted_is_given_up() {
    // Calls are taken by the system, and answered by nobody.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target =
        sanswire_std::HttpTarget::new(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    let mut options = options();
    options.config.limits.connect = Duration::from_millis(200);
    let error = within(LONG, || Client::connect_http(&target, options).unwrap_err());
    let ConnectError::Closed { reason, .. } = error else { panic!("{error:?}") };
    assert!(matches!(*reason, CloseReason::ConnectTimeout { .. }), "{reason:?}");
}

#[derive(Default)]
struct Lines(Mutex<Vec<(Direction, String)>>);

impl Tap for Lines {
    fn message(&self, direction: Direction, _: Duration, line: &[u8]) {
        self.0.lock().unwrap().push((direction, String::from_utf8(line.to_vec()).unwrap()));
    }
}

fn a_tap_sees_messages() {
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
    let mut options = options();
    options.tap = Some(Arc::clone(&lines) as Arc<dyn Tap>);
    let client = Client::connect_http(&peer.target(), options).unwrap();
    assert_eq!(tool(&client, "whole", "{}"), "hello");
    assert_eq!(tool(&client, "streamed", "{}"), "hello");
    client.close();
    let lines = lines.0.lock().unwrap();
    let told: Vec<_> = lines.iter().map(|(direction, _)| *direction).collect();
    let round = [Direction::Sent, Direction::Received];
    assert_eq!(told, [round, round, round].concat());
    assert!(lines.iter().all(|(_, line)| line.starts_with("{\"jsonrpc\"") && !line.contains(['\n', '\r'])));
    assert!(lines[2].1.contains("whole") && lines[3].1.contains("hello"), "{lines:?}");
    assert!(lines[4].1.contains("streamed") && lines[5].1.contains("hello"), "{lines:?}");
}

fn a_cork_holds_requests_back() {
    let peer = modern(no_more);
    let client = connect(&peer);
    let cork = client.cork();
    let calls: Vec<_> = (0..4).map(|_| client.start_tool("any", None, &no_options()).unwrap()).collect();
    // The watcher leads meanwhile, and begins none of them.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(peer.count("tools/call"), 0);
    drop(cork);
    eventually("the requests", || peer.count("tools/call") == 4);
    for call in calls {
        assert_eq!(text_of(call.wait()), "hello");
    }
}

fn keep_alive_is_taken_at_its_word() {
    let peer = modern(|_, answer| {
        let reply = answer.reply(&says("hello"));
        answer.json(200, "Keep-Alive: timeout=1\r\n", &reply);
    });
    let client = connect(&peer);
    assert_eq!(tool(&client, "any", "{}"), "hello");
    // We close it, and before that second is over if the machine lets us: not the server, which keeps it for ever.
    within(LONG / 2, || eventually("its end", || peer.ended() == 1));
    assert_eq!(tool(&client, "any", "{}"), "hello");
    assert_eq!(peer.connections(), 2);
}
