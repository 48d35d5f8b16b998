//! A client over HTTP that is recorded against a server in a table, and replayed.

use sanswire::Instant;
use sanswire::client::{Config, Event, Link as _, Outcome, RequestOptions};
use sanswire::http::Url;
use sanswire::http::client::Target;
use sanswire::http::pool::{Action, ConnectionHandle};
use sanswire::jsonrpc::RawJson;

use super::{Recording, Secrets, recorded, replay};
use crate::recording::RecordedPool;

const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}"#;
const SAID: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"hunter2"}]}}"#;

/// One session: an answer that is one message, and one that comes as events, `most` bytes at a time.
pub(super) fn web(recording: &Recording, most: usize) {
    let recorder = recording.recorder("web", Secrets::new(["hunter2".to_owned()]));
    let mut target = Target::new(Url::parse("http://h.example/mcp?key=abc").unwrap());
    target.add_field("Authorization", b"Bearer t0ken-of-mine").unwrap();
    let config = Config::new("test", "1");
    let mut pool = RecordedPool::new(config, target, 4, [7; 32], Instant::ZERO, Some(&recorder)).unwrap();
    let mut now = 0;
    let mut tick = || {
        now += 1;
        Instant::from_millis(now)
    };
    let whole = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: a=biscuit\r\nContent-Length: {}\r\n\r\n{DISCOVERED}",
        DISCOVERED.len()
    );
    let event = format!("data: {SAID}\n\n");
    let events = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{event}",
        event.len()
    );
    for answer in [whole, events] {
        let connection = send(&mut pool, &mut tick);
        for piece in answer.as_bytes().chunks(most) {
            pool.read_buffer(connection).unwrap().extend_from_slice(piece);
            pool.handle_read(connection, tick());
        }
        while let Some(event) = pool.poll_event() {
            match event {
                Event::Ready(_) => {
                    let arguments = RawJson::parse_str(r#"{"password":"open sesame"}"#).unwrap();
                    let options = RequestOptions::default();
                    pool.call_tool("any", Some(&arguments), &options, tick()).unwrap();
                }
                Event::Finished { outcome, .. } => assert!(matches!(outcome, Outcome::Complete(_))),
                _ => {}
            }
        }
    }
    pool.handle_timeout(tick());
    pool.close(tick());
    pool.carry_out(tick());
    assert!(matches!(pool.poll_event(), Some(Event::Closed(_))));
}

/// Does what the pool asks for, until a request has been written. On which connection.
fn send(pool: &mut RecordedPool, tick: &mut impl FnMut() -> Instant) -> ConnectionHandle {
    while pool.has_output() {
        pool.carry_out(tick());
        while let Some(action) = pool.poll_action() {
            match action {
                Action::Dial { connection, .. } => pool.handle_connected(connection, tick()),
                Action::Look { connection } => pool.handle_looked(connection, tick()),
                Action::Write { connection } => {
                    let len = pool.transmit(connection).len();
                    pool.handle_written(connection, len, tick());
                    return connection;
                }
                _ => {}
            }
        }
    }
    panic!("nothing was sent");
}

#[test]
fn b_99_a_client_over_http_is_the_same_again_however_it_was_cut() {
    for most in [usize::MAX, 100, 7, 1] {
        let text = recorded(|recording| web(recording, most));
        let replayed = replay(text.as_bytes()).unwrap();
        assert_eq!((replayed.connections, replayed.unfinished, replayed.difference), (1, 0, None), "{most}");
        assert!(replayed.inputs > 8 && replayed.outputs > replayed.inputs);
        for secret in ["hunter2", "t0ken-of-mine", "biscuit", "open sesame", "abc"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[test]
fn nothing_in_a_file_over_http_makes_a_replay_panic() {
    let text = recorded(|recording| web(recording, 50));
    let bytes = text.as_bytes();
    for at in (0..bytes.len()).step_by(17) {
        let mut damaged = bytes.to_vec();
        damaged[at] = if damaged[at].is_ascii_digit() { b'9' } else { b'x' };
        let _ = replay(damaged.as_slice());
    }
}
