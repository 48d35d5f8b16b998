//! Clients that are recorded, and what they did done again.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_std::recording::{Recording, Replayed, Secrets, replay};
use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::{Client, ConnectOptions, Responder};

use crate::common::{child, no_options, options, outcome, raw, tool, trials};

trials!(
    what_a_client_did_is_the_same_again,
    a_call_that_asks_is_the_same_again,
    a_server_that_was_started_twice_is_two_connections,
    threads_at_once_are_the_same_again,
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
