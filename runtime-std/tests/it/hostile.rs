//! What was found by trying to break the runtime.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_std::sanswire::client::{Start, Verdict};
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::{Client, ConnectError, Direction, Responder, StopLadder, Tap};

use crate::common::{LONG, child, eventually, no_options, options, raw, shell, trials, within};

trials!(
    a_patience_without_an_end_is_one,
    a_unix_server_that_accepts_nobody_is_given_up,
    an_answer_that_is_too_long_is_told_and_not_kept_back,
    a_variable_that_would_declare_another_is_refused,
    a_bad_limit_is_named_before_anybody_is_dialled,
);

fn a_patience_without_an_end_is_one() {
    let max = Duration::MAX;
    for ladder in [StopLadder::new(max, max, max), StopLadder::new(max, LONG, Duration::from_secs(5))] {
        let mut options = options();
        options.stop = ladder;
        let client = Client::connect(&child(&[]), options).unwrap();
        let exit = within(LONG, || client.close());
        assert!(exit.status.is_some_and(|status| status.success()), "{exit:?}");
    }
}

fn a_unix_server_that_accepts_nobody_is_given_up() {
    let path = std::env::temp_dir().join(format!("sanswire-full-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    // Fill its queue: the system takes 4096 at most, this bound is only for the test to end.
    let mut waiting: Vec<UnixStream> = Vec::new();
    let full = (0..20_000).any(|_| match try_connect(&path) {
        Some(stream) => {
            waiting.push(stream);
            false
        }
        None => true,
    });
    assert!(full);
    let mut options = options();
    options.config.limits.connect = Duration::from_millis(200);
    let error = within(LONG, || Client::connect_unix(&path, options)).unwrap_err();
    assert!(matches!(error, ConnectError::Dial { .. }), "{error:?}");
    drop(listener);
    std::fs::remove_file(path).unwrap();
}

/// A connection, if there is one at once.
fn try_connect(path: &std::path::Path) -> Option<UnixStream> {
    let (tell, told) = std::sync::mpsc::channel();
    let path = path.to_owned();
    std::thread::spawn(move || drop(tell.send(UnixStream::connect(path))));
    told.recv_timeout(Duration::from_millis(500)).ok()?.ok()
}

struct Long;

impl Responder for Long {
    fn respond(&self, _: &InputRequest) -> InputAnswer {
        InputAnswer::Result(raw(&format!(r#"{{"x":"{}"}}"#, "x".repeat(9000))))
    }
}

#[derive(Default)]
struct Sent(Mutex<Vec<String>>);

impl Tap for Sent {
    fn message(&self, direction: Direction, _: Duration, line: &[u8]) {
        if direction == Direction::Sent {
            self.0.lock().unwrap().push(String::from_utf8_lossy(line).into_owned());
        }
    }
}

fn an_answer_that_is_too_long_is_told_and_not_kept_back() {
    let sent = Arc::new(Sent::default());
    let mut options = options();
    options.config.start = Start::Remembered(Verdict::Legacy);
    options.config.capabilities.roots = true;
    options.config.limits.max_message_bytes = 4096;
    options.responder = Some(Arc::new(Long));
    options.tap = Some(Arc::clone(&sent) as Arc<dyn Tap>);
    let script = r#"read a
        echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}}'
        read a
        echo '{"jsonrpc":"2.0","id":"q","method":"roots/list"}'
        while read a; do :; done"#;
    let client = Client::connect(&shell(script), options).unwrap();
    let told = |line: &String| line.contains(r#""id":"q""#) && line.contains("too long");
    eventually("the server is told", || sent.0.lock().unwrap().iter().any(told));
    client.close();
}

fn a_variable_that_would_declare_another_is_refused() {
    for name in ["PATH=/tmp", "=", "", "A="] {
        let error = Client::connect(&child(&[]).env(name, "x"), options()).unwrap_err();
        assert!(matches!(error, ConnectError::Spawn { .. }), "{error:?}");
        assert!(error.to_string().contains("environment variable"), "{error}");
    }
    let client = Client::connect(&child(&[]).env("A", "x=y"), options()).unwrap();
    client.call(Method::ToolsList, None, &no_options()).unwrap();
}

fn a_bad_limit_is_named_before_anybody_is_dialled() {
    let mut options = options();
    options.config.limits.connect = Duration::ZERO;
    let error = Client::connect_tcp("127.0.0.1:1", options).unwrap_err();
    assert!(matches!(error, ConnectError::Config(_)), "{error:?}");
}
