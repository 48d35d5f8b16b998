//! A client that is recorded against a server in a table, and replayed.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use sanswire::client::{
    Config, Event, InputAnswers, Link as _, Outcome, RequestHandle, RequestOptions, Start, Verdict,
};
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::{Instant, Machine as _};

use super::{Difference, RecordedLine, Recording, RecordingStop, ReplayError, Secrets, replay};

mod damaged;
mod older;
mod web;

/// Bytes that are kept for the test.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A recorded client, the clock it is given, and what it wrote last.
struct Client {
    line: RecordedLine,
    now: u64,
    wrote: Vec<u8>,
    events: Vec<Event>,
}

impl Client {
    fn new(config: Config, recording: &Recording, secrets: &[&str]) -> Self {
        let secrets = Secrets::new(secrets.iter().map(|secret| (*secret).to_owned()));
        let recorder = recording.recorder("table", secrets);
        let line = RecordedLine::new(config, [7; 32], Instant::ZERO, Some(&recorder)).unwrap();
        Self { line, now: 0, wrote: Vec::new(), events: Vec::new() }
    }

    fn tick(&mut self) -> Instant {
        self.now += 1;
        Instant::from_millis(self.now)
    }

    /// Writes all that waits, `most` bytes at a time.
    fn write(&mut self, most: usize) {
        self.wrote.clear();
        while !self.line.transmit().is_empty() {
            let len = self.line.transmit().len().min(most);
            self.wrote.extend_from_slice(&self.line.transmit()[..len]);
            let now = self.tick();
            self.line.handle_written(len, now);
        }
    }

    /// Reads this, `most` bytes at a time, and takes the events.
    fn read(&mut self, text: &str, most: usize) {
        for piece in text.as_bytes().chunks(most) {
            let now = self.tick();
            assert_eq!(self.line.handle_input(piece, now), piece.len());
        }
        self.events.extend(std::iter::from_fn(|| self.line.poll_event()));
    }

    /// The id of the last request that was written.
    fn last_id(&self) -> String {
        let text = String::from_utf8_lossy(&self.wrote).into_owned();
        let last = text.lines().rfind(|line| line.contains("\"method\"") && line.contains("\"id\"")).unwrap();
        let last = RawJson::parse_str(last).unwrap();
        String::from_utf8(last.view().get("id").unwrap().as_bytes().to_vec()).unwrap()
    }

    fn answer(&mut self, result: &str, most: usize) {
        self.write(most);
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", self.last_id());
        self.read(&line, most);
    }

    fn call(&mut self, tool: &str, arguments: &str) -> RequestHandle {
        let arguments = RawJson::parse_str(arguments).unwrap();
        let now = self.tick();
        self.line.call_tool(tool, Some(&arguments), &RequestOptions::default(), now).unwrap()
    }

    fn close(mut self) -> Vec<Event> {
        let now = self.tick();
        self.line.close(now);
        self.write(usize::MAX);
        let now = self.tick();
        self.line.handle_eof(now);
        self.read("", 1);
        assert!(matches!(self.events.last(), Some(Event::Closed(_))), "{:?}", self.events);
        self.events
    }
}

const LEGACY: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"table","version":"1"}}"#;

fn legacy() -> Config {
    let mut config = Config::new("test", "1");
    config.start = Start::Remembered(Verdict::Legacy);
    config.capabilities.elicitation_form = true;
    config.capabilities.roots = true;
    config.capabilities.roots_list_changed = true;
    config
}

/// One session with all kinds of input in it, moved in pieces of `most` bytes.
fn session(recording: &Recording, most: usize) {
    let mut client = Client::new(legacy(), recording, &["hunter2", "s3cr\"et"]);
    client.answer(LEGACY, most);
    client.write(most);
    client.call("login", r#"{"user":"me","password":"open sesame","note":"hunter2"}"#);
    client.answer(r#"{"content":[{"type":"text","text":"hunter2 and s3cr\"et, is what env has"}]}"#, most);
    let request = client.call("slow", "{}");
    client.write(most);
    for progress in ["1", "1", "2.5"] {
        client.read(
            &format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{},\"progress\":{progress}}}}}\n",
                client.last_id()
            ),
            most,
        );
    }
    client.read("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n", most);
    client.read(
        "{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"Who?\",\"requestedSchema\":{}}}\n",
        most,
    );
    let Some(Event::PeerRequest { handle, .. }) = client.events.last() else { panic!("{:?}", client.events) };
    let (handle, now) = (*handle, client.tick());
    client.line.answer(handle, &InputAnswer::Decline, now).unwrap();
    assert!(client.line.answer(handle, &InputAnswer::Decline, now).is_err());
    let now = client.tick();
    client.line.notify(Method::from_name("notifications/roots/list_changed"), None, now).unwrap();
    client.write(most);
    let now = client.tick();
    client.line.cancel(request, Some("no more"), now).unwrap();
    client.write(most);
    client.read("no JSON: hunter2\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n", most);
    client.call("late", "{}");
    client.write(most);
    client.now += 600_000;
    let now = client.tick();
    client.line.handle_timeout(now);
    client.read("", 1);
    let timed_out =
        |event: &Event| matches!(event, Event::Finished { outcome: Outcome::TimedOut { .. }, .. });
    assert!(client.events.iter().any(timed_out), "{:?}", client.events);
    client.close();
}

fn recorded(record: impl FnOnce(&Recording)) -> String {
    let kept = Kept::default();
    let recording = Recording::new(kept.clone(), Recording::MAX_BYTES).unwrap();
    record(&recording);
    assert_eq!(recording.stopped(), None);
    kept.text()
}

#[test]
fn a_session_is_the_same_again_however_it_was_cut() {
    for most in [usize::MAX, 100, 7, 1] {
        let text = recorded(|recording| session(recording, most));
        let replayed = replay(text.as_bytes()).unwrap();
        assert_eq!(replayed.difference, None, "{most}");
        assert_eq!((replayed.connections, replayed.unfinished, replayed.full), (1, 0, false));
        let inputs = text.lines().filter(|line| line.contains("\"in\":")).count();
        assert_eq!(replayed.inputs, inputs as u64);
        assert!(replayed.outputs > replayed.inputs);
    }
}

#[test]
fn b_99_no_secret_stands_in_a_recording() {
    for most in [usize::MAX, 3] {
        let text = recorded(|recording| session(recording, most));
        // What was cut is put together again: a secret must not stand in two pieces either.
        let moved = |kind: &str| {
            let lines = text.lines().map(|line| RawJson::parse_str(line).unwrap());
            let of_kind = lines.filter(|line| {
                line.view().get("in").and_then(JsonRef::str).is_some_and(|of| of.eq_str(kind))
            });
            of_kind
                .map(|line| line.view().get("text").unwrap().str().unwrap().decode().into_owned())
                .collect::<String>()
        };
        for text in [text.clone(), moved("read"), moved("written")] {
            for secret in ["hunter2", "s3cr\"et", r#"s3cr\"et"#, r#"s3cr\\\"et"#, "open sesame"] {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
        assert!(
            moved("written").contains(r#""password":"***********","note":"*******""#),
            "{}",
            moved("written")
        );
        assert!(moved("read").contains("no JSON: *******"));
    }
}

/// The difference that comes of this change of a recording.
fn difference(text: &str, from: &str, to: &str) -> Difference {
    assert!(text.contains(from), "{from}");
    *replay(text.replacen(from, to, 1).as_bytes()).unwrap().difference.expect("nothing differs")
}

#[test]
fn what_differs_is_told_where_it_is() {
    let text = recorded(|recording| session(recording, usize::MAX));
    let line_of = |part: &str| text.lines().position(|line| line.contains(part)).unwrap() as u64 + 1;
    // One byte of an answer: the event of it differs.
    let told = difference(&text, "is what env has\\\"}]", "is what env hat\\\"}]");
    assert_eq!(told.line, line_of("is what env has\"}]"));
    assert_eq!((told.what, told.server.as_str()), ("event", "table"));
    assert!(told.expected.contains("is what env has") && told.got.contains("is what env hat"), "{told:?}");
    assert!(told.blotted);
    let of_input = text.lines().find(|line| line.contains("is what env has\\\"}]")).unwrap();
    assert!(of_input.contains(&format!("\"n\":{},\"at\":{}", told.input, told.at.as_micros())), "{of_input}");
    // The end of a message is gone: the machine waits for it, and goes on waiting for its call.
    let told = difference(&text, "is what env has\\\"}]}}\\n", "is what env has\\\"}]}}");
    assert_eq!((told.what, told.line), ("what it waits for", line_of("is what env has\\\"}]}}")));
    // An event that was recorded, and never happens.
    let event = text.lines().find(|line| line.contains("is what env has\"}]")).unwrap();
    assert_eq!(difference(&text, event, &format!("{event}\n{event}")).got, "nothing");
    // A recorded output that is not what the machine does, of each kind.
    for (from, to, what) in [
        ("\\\"method\\\":\\\"initialize\\\"", "\\\"method\\\":\\\"initialise\\\"", "bytes to write"),
        ("\"gave\":1", "\"gave\":2", "what a call gave back"),
        ("\"refused\":\"no such", "\"refused\":\"No such", "what a call gave back"),
        ("\"reads\":true", "\"reads\":false", "what it waits for"),
    ] {
        let told = difference(&text, from, to);
        assert_eq!((told.what, told.line), (what, line_of(from)), "{from}");
    }
    // A config that is another: the machine writes something else from the start.
    assert_eq!(difference(&text, "\"start\":\"legacy\"", "\"start\":\"unknown\"").line, 2);
}

/// A call of the newer era that asks before it answers, moved in pieces of `most` bytes.
fn rounds(recording: &Recording, most: usize) {
    let mut config = Config::new("test", "1");
    config.capabilities.elicitation_form = true;
    let mut client = Client::new(config, recording, &["hunter2"]);
    client.answer(
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#,
            most,
        );
    client.call("ask", "{}");
    client.answer(
            r#"{"resultType":"input_required","requestState":"hunter2","inputRequests":{"who":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{}}}}}}"#,
            most,
        );
    let Some(Event::Finished { outcome: Outcome::InputRequired(input), .. }) = client.events.pop() else {
        panic!("{:?}", client.events)
    };
    let mut answers = InputAnswers::new();
    answers.set("who", InputAnswer::accept(Some(&RawJson::parse_str(r#"{"pwd":"x y z"}"#).unwrap())));
    let now = client.tick();
    client.line.resume(&input, &answers, &RequestOptions::default(), now).unwrap();
    client.answer(r#"{"resultType":"complete","content":[]}"#, most);
    assert!(matches!(
        client.close().iter().rev().nth(1),
        Some(Event::Finished { outcome: Outcome::Complete(_), .. })
    ));
}

#[test]
fn rounds_of_input_are_replayed() {
    let text = recorded(|recording| rounds(recording, 5));
    assert!(
        text.contains("\"in\":\"resume\"") && !text.contains("hunter2") && !text.contains("x y z"),
        "{text}"
    );
    let replayed = replay(text.as_bytes()).unwrap();
    assert_eq!((replayed.difference, replayed.unfinished), (None, 0));
}

#[test]
fn a_recording_stops_where_it_is_full_and_is_the_same_up_to_there() {
    let whole = recorded(|recording| session(recording, usize::MAX)).len() as u64;
    for max in [whole - 1, whole / 2, 3000] {
        let kept = Kept::default();
        let recording = Recording::new(kept.clone(), max).unwrap();
        session(&recording, usize::MAX);
        assert_eq!(recording.stopped(), Some(RecordingStop::Full));
        assert!(kept.text().len() as u64 <= max);
        let replayed = replay(kept.text().as_bytes()).unwrap();
        assert!(replayed.full && replayed.difference.is_none(), "{replayed:?}");
    }
}

#[test]
fn a_disk_that_is_full_stops_the_recording_alone() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let recording = Recording::new(Full(3), Recording::MAX_BYTES).unwrap();
    session(&recording, usize::MAX);
    assert_eq!(recording.stopped(), Some(RecordingStop::Failed(io::ErrorKind::StorageFull)));
}

#[test]
fn several_connections_share_a_recording() {
    let text = recorded(|recording| {
        let mut one = Client::new(legacy(), recording, &[]);
        let mut two = Client::new(legacy(), recording, &[]);
        one.answer(LEGACY, 50);
        two.answer(LEGACY, 60);
        one.close();
        // The other is never closed.
        two.read("{\"jsonrpc\":\"2.0\",\"method\":\"x hunt", 9);
        recording.recorder("web", Secrets::default()).passed_over("for a reason");
    });
    let replayed = replay(text.as_bytes()).unwrap();
    assert_eq!((replayed.connections, replayed.difference), (2, None));
    assert_eq!(replayed.passed_over, ["web: for a reason"]);
    // It was dropped, and says so.
    assert_eq!(replayed.unfinished, 0);
    let cut: String = text.split_inclusive('\n').filter(|line| !line.contains("\"end\"")).collect();
    assert_eq!(replay(cut.as_bytes()).unwrap().unfinished, 2);
}

/// Half of a request leaves, and the server talks on: all of that waits for the other half.
fn stuck(recording: &Recording, max_held: usize) -> Client {
    let mut recorder = recording.recorder("table", Secrets::default());
    recorder.max_held = max_held;
    let line = RecordedLine::new(legacy(), [7; 32], Instant::ZERO, Some(&recorder)).unwrap();
    let mut client = Client { line, now: 0, wrote: Vec::new(), events: Vec::new() };
    client.answer(LEGACY, usize::MAX);
    client.write(usize::MAX);
    client.call("slow", "{}");
    let now = client.tick();
    client.line.handle_written(10, now);
    for _ in 0..1000 {
        client.read("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n", usize::MAX);
    }
    client
}

#[test]
fn what_waits_for_the_rest_of_a_message_is_bounded() {
    let text = recorded(|recording| {
        let mut client = stuck(recording, 1 << 20);
        client.write(usize::MAX);
        client.close();
    });
    let replayed = replay(text.as_bytes()).unwrap();
    assert!(replayed.difference.is_none() && replayed.inputs > 1000, "{replayed:?}");
    let kept = Kept::default();
    let recording = Recording::new(kept.clone(), Recording::MAX_BYTES).unwrap();
    stuck(&recording, 1 << 16);
    assert_eq!(recording.stopped(), Some(RecordingStop::Full));
    let replayed = replay(kept.text().as_bytes()).unwrap();
    assert!(replayed.full && replayed.difference.is_none(), "{replayed:?}");
}
