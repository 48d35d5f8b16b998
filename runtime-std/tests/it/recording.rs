//! Clients that are recorded, and what they did done again.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_std::recording::{Recording, RecordingStop, Replayed, Secrets, replay};
use sanswire_std::sanswire::client::{Outcome, Start, Verdict};
use sanswire_std::sanswire::http::client::Kind;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::{Client, ConnectOptions, HttpTarget, Responder};

use crate::http_peer::Site;
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};

use crate::common::{child, no_options, options, outcome, raw, tool, trials};

trials!(
    what_a_client_did_is_the_same_again,
    a_call_that_asks_is_the_same_again,
    a_server_that_was_started_twice_is_two_connections,
    threads_at_once_are_the_same_again,
    a_client_over_http_is_the_same_again,
    secrets_of_heads_addresses_and_streams_are_not_recorded,
    what_goes_wrong_over_http_is_the_same_again,
    the_oldest_transport_is_the_same_again,
    a_recording_over_http_that_was_changed_is_found_out,
    a_recording_over_http_keeps_its_bound,
);

/// Bytes that are kept for the test.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The options with a recorder in them, and what it records.
fn recorded() -> (ConnectOptions, Kept) {
    let kept = Kept::default();
    let recording = Recording::new(kept.clone(), Recording::MAX_BYTES).unwrap();
    let mut options = options();
    options.recorder = Some(recording.recorder("child", Secrets::new(["hunter2".to_owned()])));
    (options, kept)
}

fn replayed(kept: &Kept) -> (Replayed, String) {
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    let replayed = replay(text.as_bytes()).unwrap();
    assert_eq!(replayed.difference, None);
    assert_eq!((replayed.unfinished, replayed.full), (0, false));
    (replayed, text)
}

fn what_a_client_did_is_the_same_again() {
    for flags in [&[][..], &["modern"]] {
        let (options, kept) = recorded();
        let client = Client::connect(&child(flags), options).unwrap();
        client.call_tool("echo", Some(&raw(r#"{"text":"hunter2"}"#)), &no_options()).unwrap();
        client.list(Method::ToolsList, &no_options()).unwrap();
        if flags.is_empty() {
            assert_eq!(tool(&client, "big", r#"{"bytes":300000}"#).len(), 300_000);
            let mut seen = 0;
            let params = raw(r#"{"name":"progress","arguments":{"n":5}}"#);
            let done = client.call_with(Method::ToolsCall, Some(params), &no_options(), &mut |_| seen += 1);
            assert!(matches!(done, Ok(Outcome::Complete(_))) && seen > 0, "{done:?}");
            let mut short = no_options();
            short.idle = Some(Duration::from_millis(20));
            let late = client.call_tool("hold", None, &short).unwrap();
            assert!(matches!(late, Outcome::TimedOut { .. }), "{late:?}");
            drop(client.start_tool("hold", None, &no_options()).unwrap());
        }
        client.close();
        let (replayed, text) = replayed(&kept);
        assert_eq!(replayed.connections, 1);
        assert!(replayed.inputs > 5 && replayed.outputs > replayed.inputs, "{replayed:?}");
        assert!(!text.contains("hunter2"), "{flags:?}");
    }
}

fn a_call_that_asks_is_the_same_again() {
    struct Bob;
    impl Responder for Bob {
        fn respond(&self, _: &InputRequest) -> InputAnswer {
            InputAnswer::accept(Some(&raw(r#"{"name":"hunter2"}"#)))
        }
    }
    for flags in [&[][..], &["modern"]] {
        let (mut options, kept) = recorded();
        options.config.capabilities.elicitation_form = true;
        options.responder = Some(Arc::new(Bob));
        let client = Client::connect(&child(flags), options).unwrap();
        let outcome = outcome(&client, "ask", "{}");
        assert!(matches!(outcome, Outcome::Complete(_)), "{outcome:?}");
        client.close();
        let (_, text) = replayed(&kept);
        let asked = if flags.is_empty() { "\"in\":\"answer\"" } else { "\"in\":\"resume\"" };
        assert!(text.contains(asked) && !text.contains("hunter2"), "{text}");
    }
}

fn a_server_that_was_started_twice_is_two_connections() {
    let (options, kept) = recorded();
    Client::connect(&child(&["die-on-probe"]), options).unwrap().close();
    assert_eq!(replayed(&kept).0.connections, 2);
}

fn threads_at_once_are_the_same_again() {
    let (options, kept) = recorded();
    let client = Client::connect(&child(&[]), options).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..20 {
                    assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
                }
            });
        }
    });
    client.close();
    let (_, text) = replayed(&kept);
    assert_eq!(text.matches("\"outcome\":\"complete\"").count(), 160);
}

fn a_client_over_http_is_the_same_again() {
    struct Bob;
    impl Responder for Bob {
        fn respond(&self, _: &InputRequest) -> InputAnswer {
            InputAnswer::accept(Some(&raw(r#"{"name":"hunter2"}"#)))
        }
    }
    let site = Site::start(&[]);
    for start in [Start::Unknown, Start::Remembered(Verdict::Legacy)] {
        let (mut options, kept) = recorded();
        options.config.start = start.clone();
        options.config.capabilities.elicitation_form = true;
        options.responder = Some(Arc::new(Bob));
        let target = HttpTarget::new(&format!("http://{}/mcp", site.address)).unwrap();
        let client = Client::connect_http(&target, options).unwrap();
        client.call_tool("echo", Some(&raw(r#"{"text":"hunter2"}"#)), &no_options()).unwrap();
        client.list(Method::ToolsList, &no_options()).unwrap();
        assert_eq!(tool(&client, "big", r#"{"bytes":300000}"#).len(), 300_000);
        let mut seen = 0;
        let params = raw(r#"{"name":"progress","arguments":{"n":5,"ms":1}}"#);
        let done = client.call_with(Method::ToolsCall, Some(params), &no_options(), &mut |_| seen += 1);
        assert!(matches!(done, Ok(Outcome::Complete(_))) && seen > 0, "{done:?}");
        assert!(matches!(outcome(&client, "ask", "{}"), Outcome::Complete(_)));
        let mut short = no_options();
        short.idle = Some(Duration::from_millis(20));
        let late = client.call_tool("sleep", Some(&raw(r#"{"ms":60000}"#)), &short).unwrap();
        assert!(matches!(late, Outcome::TimedOut { .. }), "{late:?}");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..10 {
                        assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
                    }
                });
            }
        });
        client.close();
        let (replayed, text) = replayed(&kept);
        assert_eq!((replayed.connections, replayed.passed_over.len()), (1, 0));
        assert!(replayed.inputs > 100 && replayed.outputs > replayed.inputs, "{replayed:?}");
        assert!(!text.contains("hunter2"), "{start:?}");
        let bodies = text.lines().filter(|line| line.contains(r#""in":"body""#)).count();
        assert!(bodies > 45 && text.matches(r#""effect":{"kind":"open""#).count() > 45, "{bodies}");
    }
    site.stop();
}

/// What no recording may tell: the key in the address, the credential, a cookie, the session's id, and what a stream says.
const HIDDEN: [&str; 6] = ["key-of-mine", "t0ken-of-mine", "biscuit", "session-1", "open sesame", "hunter2"];

fn secrets_of_heads_addresses_and_streams_are_not_recorded() {
    let peer = legacy(|request, answer| match &*request.verb {
        "GET" => answer.status(405),
        _ => {
            answer.raw(
                "HTTP/1.1 200 .\r\nSet-Cookie: a=biscuit\r\nContent-Type: text/event-stream\r\n\
                 Transfer-Encoding: chunked\r\n\r\n",
            );
            let said = answer.reply(concat!(
                r#"{"content":[{"type":"text","text":"hunter2 t0ken-of-mine"}],"#,
                r#""structuredContent":{"password":"open sesame","n":7}}"#
            ));
            // In pieces, none of which is the whole of a secret.
            for piece in format!("id: 1\ndata: {said}\n\n").as_bytes().chunks(3) {
                answer.raw(format!("{:x}\r\n", piece.len()));
                answer.raw(piece);
                answer.raw("\r\n");
            }
            answer.end_stream();
        }
    });
    let (options, kept) = recorded();
    let url = peer.target().target.url.as_str().to_owned() + "?api=key-of-mine";
    let mut target = HttpTarget::new(&url).unwrap();
    target.target.add_field("Authorization", b"Bearer t0ken-of-mine").unwrap();
    let client = Client::connect_http(&target, options).unwrap();
    assert_eq!(tool(&client, "any", r#"{"password":"open sesame"}"#), "hunter2 t0ken-of-mine");
    client.close();
    let requests = peer.requests();
    assert!(requests.iter().all(|request| request.target == "/mcp?api=key-of-mine"));
    assert!(requests.iter().any(|request| request.field("mcp-session-id") == Some("session-1")));
    let (_, text) = replayed(&kept);
    // What came in pieces is put together again.
    let pieces = text.lines().filter(|line| line.contains(r#""in":"body""#)).map(raw);
    let together: String =
        pieces.map(|line| line.view().get("text").unwrap().str().unwrap().decode().into_owned()).collect();
    assert!(together.contains(r#""password":"***********","n":7"#), "{together}");
    for secret in HIDDEN {
        assert!(!text.contains(secret) && !together.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains("/mcp?api=***********"));
}

fn what_goes_wrong_over_http_is_the_same_again() {
    type Wrong = fn(&Request, &mut Answer<'_>);
    let wrongs: [Wrong; 9] = [
        |_, answer| answer.status(404),
        |_, answer| answer.status(500),
        |_, answer| {
            answer.raw(
                "HTTP/1.1 401 .\r\nContent-Length: 15\r\nContent-Type: text/plain\r\nWWW-Authenticate: Bearer \
                 resource_metadata=\"https://x.example/meta\", scope=\"a b\"\r\n\r\nwho are you, eh?",
            );
            answer.close();
        },
        |_, answer| {
            answer.raw(
                "HTTP/1.1 200 .\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"a\":\"b",
            );
            answer.close();
        },
        |_, answer| answer.json(200, "", "{\"jsonrpc\": no JSON"),
        |_, answer| answer.raw("HTTP/1.1 200 .\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>"),
        |_, answer| {
            answer.raw("HTTP/1.1 2x0 .\r\n\r\n");
            answer.close();
        },
        |request, answer| {
            // A stream that ends before its answer, and is fetched no more.
            if request.verb == "POST" {
                answer.stream();
                answer.event(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#);
                answer.end_stream();
            } else {
                answer.status(405);
            }
        },
        |request, answer| match &*request.target {
            "/mcp" => {
                answer.raw("HTTP/1.1 307 .\r\nLocation: /there?id=elsewhere\r\nContent-Length: 0\r\n\r\n")
            }
            _ => answer.result(&says("there")),
        },
    ];
    for (n, wrong) in wrongs.into_iter().enumerate() {
        for kind in [legacy as fn(Wrong) -> Peer, modern] {
            let peer = kind(wrong);
            let (options, kept) = recorded();
            let client = Client::connect_http(&peer.target(), options).unwrap();
            let _ = client.call_tool("any", None, &no_options());
            client.close();
            let (replayed, text) = replayed(&kept);
            assert!(replayed.inputs > 3 && !text.contains("elsewhere"), "{n}: {text}");
        }
    }
    // Nobody is there.
    let (options, kept) = recorded();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = HttpTarget::new(&format!("http://{nobody}/mcp")).unwrap();
    assert!(Client::connect_http(&target, options).is_err());
    let (_, text) = replayed(&kept);
    assert!(text.contains(r#""how":"unreachable""#), "{text}");
}

fn the_oldest_transport_is_the_same_again() {
    // The stream on which a session's answers come, and what they are.
    let (to_stream, lines) = std::sync::mpsc::channel::<String>();
    let lines = Mutex::new(lines);
    let to_stream = Mutex::new(to_stream);
    let peer = Peer::start(move |request, answer| {
        if request.verb == "GET" {
            answer.stream();
            let endpoint = "event: endpoint\ndata: /messages?sessionId=elsewhere\n\n";
            answer.raw(format!("{:x}\r\n{endpoint}\r\n", endpoint.len()));
            for line in lines.lock().unwrap().iter() {
                answer.event(&line);
                if answer.has_ended() {
                    return;
                }
            }
            return answer.close();
        }
        assert_eq!(request.target, "/messages?sessionId=elsewhere");
        answer.status(202);
        let result = match request.method() {
            "initialize" => r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}"#.to_owned(),
            "tools/call" => says("hunter2"),
            _ => return,
        };
        let _ = to_stream.lock().unwrap().send(answer.reply(&result));
    });
    let (options, kept) = recorded();
    let mut target = peer.target();
    target.target.kind = Kind::Sse;
    let client = Client::connect_http(&target, options).unwrap();
    assert_eq!(tool(&client, "any", "{}"), "hunter2");
    client.close();
    let (_, text) = replayed(&kept);
    assert!(!text.contains("hunter2") && !text.contains("elsewhere"), "{text}");
    assert!(text.contains("/messages?sessionId=*********"), "{text}");
}

/// A short session over HTTP.
fn short() -> String {
    let peer = modern(|_, answer| answer.result(&says("hello")));
    let (options, kept) = recorded();
    let client = Client::connect_http(&peer.target(), options).unwrap();
    assert_eq!(tool(&client, "greet", "{}"), "hello");
    client.close();
    replayed(&kept).1
}

fn a_recording_over_http_that_was_changed_is_found_out() {
    let text = short();
    let line_of = |part: &str| text.lines().position(|line| line.contains(part)).unwrap() as u64 + 1;
    for (from, to, what) in [
        (r#""name":"greet","#, r#""name":"greed","#, "effect"),
        (r#""verb":"POST""#, r#""verb":"GET""#, "effect"),
        (r#""reads":true"#, r#""reads":false"#, "what it waits for"),
        (r#""outcome":"complete""#, r#""outcome":"error""#, "event"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert!(changed != text, "{from}");
        let told = replay(changed.as_bytes()).unwrap().difference.expect("nothing differs");
        assert_eq!((told.what, told.line), (what, line_of(from)), "{from}: {told:?}");
    }
    // What came is another: what is told of it is, too.
    let changed = text.replacen(r#"\"text\":\"hello\""#, r#"\"text\":\"hallo\""#, 1);
    let told = replay(changed.as_bytes()).unwrap().difference.expect("nothing differs");
    assert_eq!((told.what, told.line), ("event", line_of(r#""text":"hello""#)), "{told:?}");
    // An exchange that ended in another way.
    let ended = text.rfind(r#""how":"whole""#).unwrap();
    let changed =
        text[..ended].to_owned() + &text[ended..].replacen(r#""how":"whole""#, r#""how":"broken""#, 1);
    assert!(replay(changed.as_bytes()).unwrap().difference.is_some());
}

fn a_recording_over_http_keeps_its_bound() {
    let whole = short().len() as u64;
    for max in [whole - 1, whole / 2, 3000] {
        let peer = modern(|_, answer| answer.result(&says("hello")));
        let kept = Kept::default();
        let recording = Recording::new(kept.clone(), max).unwrap();
        let mut options = options();
        options.recorder = Some(recording.recorder("web", Secrets::default()));
        let client = Client::connect_http(&peer.target(), options).unwrap();
        for _ in 0..10 {
            assert_eq!(tool(&client, "greet", "{}"), "hello");
        }
        client.close();
        assert_eq!(recording.stopped(), Some(RecordingStop::Full));
        let text = kept.0.lock().unwrap().clone();
        assert!(text.len() as u64 <= max);
        let replayed = replay(text.as_slice()).unwrap();
        assert!(replayed.full && replayed.difference.is_none(), "{replayed:?}");
    }
}
