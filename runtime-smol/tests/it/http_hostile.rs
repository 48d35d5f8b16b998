//! Servers over HTTP, and proxies before them, that end anywhere, say too much, or never come to an end.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::{poll_once, zip};
use sanswire_smol::sanswire::client::{Outcome, RequestOptions};
use sanswire_smol::sanswire::error::CloseReason;
use sanswire_smol::{Client, ConnectError, DialFault, DialStep, Proxy, ProxyAddress, ProxyFault};

use crate::common::{Env, LONG, begin, eventually, no_options, options, outcome, raw, text_of, tool, trials};
use crate::http_dial::{target, unreachable};
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};

trials!(
    each:
        an_answer_that_ends_at_any_byte_is_whole_or_none,
        a_stream_that_ends_at_any_byte_is_resumed_or_lost,
        what_nobody_asked_for_answers_no_call,
        an_answer_that_trickles_is_taken_and_one_without_end_is_not,
        an_answer_may_come_before_its_request_is_read,
        a_stream_that_floods_holds_no_call_up,
        a_leader_that_is_forgotten_holds_nobody_up,
        a_proxy_that_hangs_holds_up_no_other_call,
        calls_from_many_tasks_to_a_server_that_breaks_off;
    once:
        a_proxy_may_end_at_any_byte,
        a_proxy_that_says_more_later_is_no_server,
        a_proxy_that_does_not_answer_is_given_up_and_let_go,
);

/// What a call names as `"what":n`.
fn number(request: &Request, what: &str) -> usize {
    let rest = request.body.split(&format!("\"{what}\":")).nth(1).unwrap();
    rest.split([',', '}']).next().unwrap().parse().unwrap()
}

/// The forms that an answer comes in.
const FORMS: usize = 6;

/// An answer with this message in it.
fn form(which: usize, message: &str) -> String {
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n\r\n";
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let event = format!("data: {message}\n\n");
    match which {
        0 => format!("{json}Content-Length: {}\r\n\r\n{message}", message.len()),
        1 => {
            let (one, two) = message.split_at(20);
            format!("{json}{chunked}14\r\n{one}\r\n{:x};x=y\r\n{two}\r\n0\r\nX: y\r\n\r\n", two.len())
        }
        2 => format!("{json}\r\n{message}"),
        3 => format!("{events}{chunked}{:x}\r\n{event}\r\n0\r\n\r\n", event.len()),
        4 => format!("{events}\r\n: x\n\ndata: {note}\n\n{event}"),
        _ => format!(
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n{json}Content-Length: {}\r\n\r\n{message}",
            message.len()
        ),
    }
}

/// So much of a form, and the end of the connection where that is one: a request that met a connection which ends without
/// a word would be lost.
fn ends_at(answer: &mut Answer<'_>, request: &Request, text: &str, cut: usize) {
    answer.raw(&text[..cut.min(text.len())]);
    if cut < text.len() || matches!(number(request, "form"), 2 | 4) {
        answer.close();
    }
}

async fn an_answer_that_ends_at_any_byte_is_whole_or_none(env: Env) {
    let peer = modern(|request, answer| {
        if !request.body.contains("\"form\"") {
            return answer.result(&says("hello"));
        }
        let text = form(number(request, "form"), &answer.reply(&says("whole")));
        ends_at(answer, request, &text, number(request, "cut"));
    });
    let client = Client::connect_http(&peer.target(), env.options()).await.unwrap();
    for which in 0..FORMS {
        let (mut complete, mut calls) = (0, 0);
        for cut in 0.. {
            let arguments = format!(r#"{{"form":{which},"cut":{cut}}}"#);
            let outcome = outcome(&client, "any", &arguments).await;
            calls += 1;
            match outcome {
                Outcome::Complete(_) => complete += 1,
                // What only the end of the connection bounds may be no message then.
                Outcome::Invalid(_) if which == 2 => assert_eq!(complete, 0),
                Outcome::Lost { maybe_ran: true } => assert_eq!(complete, 0, "{which} {cut}"),
                other => panic!("{which} {cut}: {other:?}"),
            }
            // The end, and what stands behind a whole event.
            if complete == 20 || complete > 0 && !matches!(which, 3 | 4) {
                break;
            }
        }
        assert!(calls > 100, "{which}: {calls}");
        assert_eq!(tool(&client, "any", "{}").await, "hello");
        assert!(peer.count("tools/call") > calls);
    }
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn a_stream_that_ends_at_any_byte_is_resumed_or_lost(env: Env) {
    let rest = Arc::new(std::sync::Mutex::new(String::new()));
    let peer = legacy(move |request, answer| match &*request.verb {
        "GET" if request.field("last-event-id") == Some("7") => {
            answer.stream();
            let reply = rest.lock().unwrap().clone();
            answer.last_event(&reply);
        }
        "GET" => answer.status(405),
        _ => {
            let reply = answer.reply(&says("whole"));
            rest.lock().unwrap().clone_from(&reply);
            let text = format!(
                "HTTP/1.1 200 .\r\nContent-Type: text/event-stream\r\n\r\nid: 7\nretry: 1\ndata:\n\nid: 8\ndata: {reply}\n\n"
            );
            answer.raw(&text[..number(request, "cut").min(text.len())]);
            answer.close();
        }
    });
    let client = Client::connect_http(&peer.target(), env.options()).await.unwrap();
    let named = "HTTP/1.1 200 .\r\nContent-Type: text/event-stream\r\n\r\nid: 7\nretry: 1\ndata:\n\n".len();
    let cuts: Vec<_> = (0..named + 5).chain((named + 5..named + 150).step_by(13)).collect();
    for cut in &cuts {
        let cut = *cut;
        let outcome = outcome(&client, "any", &format!(r#"{{"cut":{cut}}}"#)).await;
        match outcome {
            Outcome::Complete(_) => assert!(cut >= named - 1, "{cut}"),
            Outcome::Lost { maybe_ran: true } => assert!(cut < named, "{cut}"),
            other => panic!("{cut}: {other:?}"),
        }
    }
    assert_eq!(peer.count("tools/call"), cuts.len(), "none is made twice");
    assert_eq!(peer.count("initialize"), 1);
    client.close().await;
}

async fn what_nobody_asked_for_answers_no_call(env: Env) {
    let peer = modern(|request, answer| {
        let message = answer.reply(&says("first"));
        match request.body.contains("twice") {
            // The second one looks like the answer to the next request.
            true => {
                let id: u64 = request.id().unwrap().parse().unwrap();
                let next = message.replace(&format!("\"id\":{id}"), &format!("\"id\":{}", id + 1));
                let next = next.replace("first", "stolen");
                answer.raw(form(0, &message) + &form(0, &next));
            }
            false => answer.result(&says("hello")),
        }
    });
    let client = Client::connect_http(&peer.target(), env.options()).await.unwrap();
    for _ in 0..20 {
        assert_eq!(tool(&client, "any", r#"{"say":"twice"}"#).await, "first");
        assert_eq!(tool(&client, "any", "{}").await, "hello");
    }
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn an_answer_that_trickles_is_taken_and_one_without_end_is_not(env: Env) {
    let ended = Arc::new(AtomicUsize::new(0));
    let tell = Arc::clone(&ended);
    let peer = modern(move |request, answer| {
        if !request.body.contains("endless") {
            let text = form(number(request, "form"), &answer.reply(&says("whole")));
            answer.dribble(&text);
            return ends_at(answer, request, "", 0);
        }
        match number(request, "form") {
            0 => answer.raw("HTTP/1.1 200 OK\r\n"),
            1 => answer
                .raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"),
            _ => answer.stream(),
        }
        let drop = match number(request, "form") {
            0 => "X: y\r\n",
            1 => " ",
            _ => "3\r\n:\n\n\r\n",
        };
        while !answer.has_ended() {
            answer.raw(drop);
            std::thread::sleep(Duration::from_millis(5));
        }
        tell.fetch_add(1, Ordering::SeqCst);
    });
    let client = Client::connect_http(&peer.target(), env.options()).await.unwrap();
    for which in 0..FORMS {
        assert_eq!(tool(&client, "any", &format!(r#"{{"form":{which}}}"#)).await, "whole");
    }
    let mut brief = RequestOptions::default();
    brief.idle = Some(Duration::from_millis(100));
    brief.absolute = Some(Duration::from_millis(300));
    for which in 0..3 {
        let arguments = raw(&format!(r#"{{"how":"endless","form":{which}}}"#));
        let outcome = client.call_tool("any", Some(&arguments), &brief).await.unwrap();
        assert!(matches!(outcome, Outcome::TimedOut { .. }), "{which}: {outcome:?}");
        eventually("its connection is closed", || ended.load(Ordering::SeqCst) == which + 1).await;
    }
    assert_eq!(tool(&client, "any", r#"{"form":0}"#).await, "whole");
}

/// Reads one head, and not what stands behind it.
fn read_head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

async fn an_answer_may_come_before_its_request_is_read(env: Env) {
    const LEN: usize = 3_000_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                loop {
                    let head = read_head(&mut stream);
                    let Some(length) =
                        head.to_ascii_lowercase().split("content-length: ").nth(1).map(str::to_owned)
                    else {
                        return;
                    };
                    let mut body = vec![0; length.split('\r').next().unwrap().parse().unwrap()];
                    let early = body.len() > LEN;
                    // Enough of it to know whom to answer.
                    let known = body.len().min(200);
                    stream.read_exact(&mut body[..known]).unwrap();
                    let text = String::from_utf8_lossy(&body[..known]).into_owned();
                    let id =
                        text.split("\"id\":").nth(1).unwrap().split([',', '}']).next().unwrap().to_owned();
                    let result = if early {
                        says(&"y".repeat(LEN))
                    } else {
                        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#.into()
                    };
                    if !early {
                        stream.read_exact(&mut body[known..]).unwrap();
                    }
                    let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                    stream.write_all(form(0, &message).as_bytes()).unwrap();
                    if early && stream.read_exact(&mut body[known..]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let client =
        Client::connect_http(&target(&format!("http://{address}/mcp")), env.options()).await.unwrap();
    let text = "x".repeat(LEN);
    for _ in 0..2 {
        let said = tool(&client, "any", &format!(r#"{{"say":"{text}"}}"#)).await;
        assert!(said.len() == LEN);
    }
}

async fn a_stream_that_floods_holds_no_call_up(env: Env) {
    let flooded = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&flooded);
    let peer = legacy(move |request, answer| match &*request.verb {
        "GET" => {
            answer.stream();
            let event =
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n".repeat(100);
            let chunk = format!("{:x}\r\n{event}\r\n", event.len());
            while !answer.has_ended() {
                answer.raw(&chunk);
                counts.fetch_add(100, Ordering::SeqCst);
            }
        }
        _ if request.method().is_empty() => answer.status(202),
        _ => answer.result(&says("hello")),
    });
    let client = Client::connect_http(&peer.target(), env.options()).await.unwrap();
    for _ in 0..5 {
        let before = flooded.load(Ordering::SeqCst);
        eventually("it goes on", || flooded.load(Ordering::SeqCst) > before + 1000).await;
        assert_eq!(tool(&client, "any", "{}").await, "hello");
    }
    assert!(client.notifications_lost() > 0, "what nobody takes is not kept");
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

/// Answers what names itself slow when this is so.
fn held(free: &Arc<AtomicBool>) -> Peer {
    let free = Arc::clone(free);
    modern(move |request, answer| {
        while request.body.contains("slow") && !free.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        answer.result(&says("hello"));
    })
}

async fn a_leader_that_is_forgotten_holds_nobody_up(env: Env) {
    let free = Arc::new(AtomicBool::new(false));
    let peer = held(&free);
    let client = Client::connect_http(&peer.target(), env.options()).await.unwrap();
    let nothing = no_options();
    // Each leads when it is forgotten, and what it waits for never comes.
    for _ in 0..3 {
        let slow = raw(r#"{"how":"slow"}"#);
        let mut call = Box::pin(client.start_tool("any", Some(&slow), &nothing).unwrap());
        assert!(poll_once(&mut call).await.is_none());
        std::mem::forget(call);
        for _ in 0..5 {
            assert_eq!(tool(&client, "any", "{}").await, "hello");
        }
        let (first, second) = zip(tool(&client, "a", "{}"), tool(&client, "b", "{}")).await;
        assert_eq!((&*first, &*second), ("hello", "hello"));
    }
    // The answers of the forgotten come while others wait.
    free.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(tool(&client, "any", "{}").await, "hello");
    }
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

/// A proxy whose connections are `work`'s, by their number.
fn proxy(work: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let work = Arc::new(work);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let work = Arc::clone(&work);
            std::thread::spawn(move || work(number, stream));
        }
    });
    Proxy::At(ProxyAddress::parse(&format!("http://{address}")).unwrap())
}

/// What a proxy does that does its work, with the head read.
fn tunnel(mut stream: TcpStream, to: SocketAddr) {
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let mut server = TcpStream::connect(to).unwrap();
    let (mut back, mut forth) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut forth);
        let _ = forth.shutdown(Shutdown::Both);
    });
    let _ = std::io::copy(&mut stream, &mut server);
    let _ = server.shutdown(Shutdown::Both);
}

fn address_of(peer: &Peer) -> SocketAddr {
    ([127, 0, 0, 1], peer.target().target.url.authority().port).into()
}

async fn a_proxy_that_hangs_holds_up_no_other_call(env: Env) {
    for most in [2, 8] {
        let free = Arc::new(AtomicBool::new(false));
        let peer = held(&free);
        let to = address_of(&peer);
        let hung = Arc::new(AtomicUsize::new(0));
        let tell = Arc::clone(&hung);
        let by = proxy(move |number, mut stream| {
            read_head(&mut stream);
            if number != 1 {
                return tunnel(stream, to);
            }
            tell.store(1, Ordering::SeqCst);
            while matches!(stream.read(&mut [0; 64]), Ok(1..)) {}
            tell.store(2, Ordering::SeqCst);
        });
        let mut target = target(&format!("http://{to}/mcp"));
        target.proxy = by;
        target.max_connections = most;
        let mut options = env.options();
        options.config.limits.connect = LONG * 10;
        let client = Client::connect_http(&target, options).await.unwrap();
        let slow = begin(&client, "any", r#"{"how":"slow"}"#);
        eventually("it is asked", || peer.count("tools/call") == 1).await;
        // Its connection hangs; it is not wanted any more.
        let given_up = begin(&client, "any", "{}");
        eventually("the proxy is asked", || hung.load(Ordering::SeqCst) == 1).await;
        drop(given_up);
        assert_eq!(tool(&client, "any", "{}").await, "hello");
        free.store(true, Ordering::SeqCst);
        assert_eq!(text_of(slow.await), "hello");
        client.close().await;
        eventually("what hung is closed", || hung.load(Ordering::SeqCst) == 2).await;
        eventually("the end of all connections", || peer.ended() == peer.connections()).await;
    }
}

async fn calls_from_many_tasks_to_a_server_that_breaks_off(env: Env) {
    let peer = modern(|request: &Request, answer: &mut Answer<'_>| {
        let how = request.body.len() + request.id().unwrap().parse::<usize>().unwrap();
        let text = form(how % FORMS, &answer.reply(&says("whole")));
        match how % 7 {
            0 => answer.raw(&text[..how * 13 % text.len()]),
            1 => {}
            2 => answer.status(503),
            _ => answer.raw(&text),
        }
        if how % 7 < 2 || matches!(how % FORMS, 2 | 4) {
            answer.close();
        }
    });
    let mut target = peer.target();
    target.max_connections = 4;
    let client = Client::connect_http(&target, env.options()).await.unwrap();
    let complete = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (client, complete) = (&client, &complete);
            scope.spawn(move || {
                crate::common::block_on(async {
                    for n in 0..40 {
                        let arguments = format!(r#"{{"n":"{}"}}"#, "x".repeat(thread + n));
                        let calls = (0..3).map(|_| begin(client, "any", &arguments));
                        for (number, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
                            if (n + number) % 5 == 0 {
                                continue;
                            }
                            match call.await {
                                Outcome::Complete(_) => _ = complete.fetch_add(1, Ordering::SeqCst),
                                Outcome::Lost { .. } | Outcome::Refused(_) | Outcome::Invalid(_) => {}
                                other => panic!("{other:?}"),
                            }
                        }
                    }
                });
            });
        }
    });
    assert!(complete.load(Ordering::SeqCst) > 100);
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn a_proxy_may_end_at_any_byte() {
    const ANSWER: &str = "HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\nContent-Length: 0\r\n\r\n";
    let by = proxy(move |number, mut stream| {
        read_head(&mut stream);
        let _ = stream.write_all(&ANSWER.as_bytes()[..number]);
    });
    let mut target = target("http://server.example/mcp");
    target.proxy = by;
    for cut in 0..ANSWER.len() {
        let (fault, text) = unreachable(&target).await;
        let DialFault::Proxy { fault, .. } = fault else { panic!("{cut}: {fault:?}") };
        assert_eq!(fault, ProxyFault::Ended, "{cut}: {text}");
    }
}

async fn a_proxy_that_says_more_later_is_no_server() {
    // It says yes twice, or has a body behind it, which would be the server's.
    for more in ["HTTP/1.1 200 OK\r\n\r\n", "hello"] {
        for later in [false, true] {
            let by = proxy(move |_, mut stream| {
                read_head(&mut stream);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").unwrap();
                if later {
                    std::thread::sleep(Duration::from_millis(20));
                }
                let _ = stream.write_all(more.as_bytes());
                while matches!(stream.read(&mut [0; 64]), Ok(1..)) {}
            });
            let mut target = target("http://server.example/mcp");
            target.proxy = by;
            let error = Client::connect_http(&target, options()).await.unwrap_err();
            match error {
                ConnectError::Reach(fault) if !later => {
                    assert!(
                        matches!(&*fault, DialFault::Proxy { fault: ProxyFault::Unasked, .. }),
                        "{fault:?}"
                    );
                }
                // By then it may be the server that speaks.
                ConnectError::Closed { reason, .. } if later => {
                    let why = &*reason;
                    assert!(matches!(why, CloseReason::HttpRefused(_) | CloseReason::Protocol(_)), "{why:?}");
                }
                other => panic!("{more:?} {later}: {other:?}"),
            }
        }
    }
}

async fn a_proxy_that_does_not_answer_is_given_up_and_let_go() {
    let gone = Arc::new(AtomicUsize::new(0));
    let tell = Arc::clone(&gone);
    let by = proxy(move |_, mut stream| {
        while matches!(stream.read(&mut [0; 64]), Ok(1..)) {}
        tell.fetch_add(1, Ordering::SeqCst);
    });
    let mut target = target("http://server.example/mcp");
    target.proxy = by;
    let mut brief = options();
    brief.config.limits.connect = Duration::from_millis(200);
    let error = Client::connect_http(&target, brief).await.unwrap_err();
    let ConnectError::Reach(fault) = &error else { panic!("{error:?}") };
    assert!(matches!(**fault, DialFault::TimedOut { during: DialStep::Proxy, .. }), "{fault:?}");
    eventually("its connection is closed", || gone.load(Ordering::SeqCst) == 1).await;
    // Nor is it held by who does not wait so long.
    let mut connecting = Box::pin(Client::connect_http(&target, options()));
    assert!(poll_once(&mut connecting).await.is_none());
    Timer::after(Duration::from_millis(20)).await;
    assert!(poll_once(&mut connecting).await.is_none());
    drop(connecting);
    eventually("its connection is closed", || gone.load(Ordering::SeqCst) == 2).await;
}
