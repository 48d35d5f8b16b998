use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::assign::{RESERVE, SPARE};
use super::*;
use crate::client::{Config, Event, Link as _, Outcome, RequestHandle, RequestOptions, Start};
use crate::http::Url;
use crate::http::client::Target;
use crate::jsonrpc::RawJson;
use crate::mcp::{Method, Revision};

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#;
const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

/// A pool, and a network that does as it is told.
struct Rig {
    pool: Pool,
    now: Instant,
    actions: Vec<Action>,
    finished: Vec<(RequestHandle, Outcome)>,
}

impl Rig {
    /// A session of 2026-07-28 is open, over the first connection.
    fn open(most: usize) -> Self {
        Self::with(Config::new("rig", "1"), most)
    }

    fn with(config: Config, most: usize) -> Self {
        Self::answered(config, most, DISCOVERED)
    }

    /// The first request was answered so.
    fn answered(config: Config, most: usize, result: &str) -> Self {
        let target = Target::new(Url::parse("http://h:1/mcp").unwrap());
        let now = Instant::from_millis(1000);
        let client = Client::new(config, target, [1; 32], now).unwrap();
        let pool = Pool::new(client, h1::Limits::default(), most, now);
        let mut rig = Self { pool, now, actions: Vec::new(), finished: Vec::new() };
        rig.run();
        let first = rig.dialed();
        rig.answer(first, "", result);
        assert!(rig.pool.session().revision().is_some());
        rig
    }

    /// Does what needs no decision, and keeps what is asked for.
    fn run(&mut self) {
        loop {
            self.pool.carry_out(self.now);
            let Some(action) = self.pool.poll_action() else { break };
            self.actions.push(action);
        }
        while let Some(event) = self.pool.client_mut().poll_event() {
            if let Event::Finished { request, outcome } = event {
                self.finished.push((request, outcome));
            }
        }
    }

    /// What was asked for since the last time.
    fn asked(&mut self) -> Vec<Action> {
        self.run();
        core::mem::take(&mut self.actions)
    }

    /// The one action since the last time: a connection is asked for, and made.
    fn dialed(&mut self) -> ConnectionHandle {
        let asked = self.asked();
        let [Action::Dial { connection, .. }] = asked.as_slice() else { panic!("{asked:?}") };
        self.pool.handle_connected(*connection, self.now);
        *connection
    }

    fn looked(&mut self, connection: ConnectionHandle) {
        assert_eq!(self.asked(), [Action::Look { connection }]);
        self.pool.handle_looked(connection, self.now);
    }

    fn call(&mut self, tool: &str) -> RequestHandle {
        let params = RawJson::parse_str(&format!(r#"{{"name":"{tool}"}}"#)).unwrap();
        let options = RequestOptions::default();
        self.pool.client_mut().request(Method::ToolsCall, Some(params), &options, self.now).unwrap()
    }

    /// All that a connection sends.
    fn sent(&mut self, connection: ConnectionHandle) -> String {
        let mut all = Vec::new();
        while !self.pool.transmit(connection).is_empty() {
            let waits = self.pool.transmit(connection).to_vec();
            self.pool.handle_written(connection, waits.len(), self.now);
            all.extend(waits);
        }
        String::from_utf8(all).unwrap()
    }

    fn says(&mut self, connection: ConnectionHandle, text: &str) {
        let buffer = self.pool.read_buffer(connection).unwrap();
        assert!(buffer.capacity() - buffer.len() >= text.len());
        buffer.extend_from_slice(text.as_bytes());
        self.pool.handle_read(connection, self.now);
    }

    /// What a connection is to carry leaves, and is answered.
    fn answer(&mut self, connection: ConnectionHandle, fields: &str, result: &str) {
        self.run();
        let sent = self.sent(connection);
        let id = sent.split(r#""id":"#).nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        self.says(connection, &format!("{head}{fields}Content-Length: {}\r\n\r\n{body}", body.len()));
        self.run();
        self.actions.clear();
    }

    fn outcome(&mut self, request: RequestHandle) -> Option<Outcome> {
        self.run();
        let place = self.finished.iter().position(|(finished, _)| *finished == request)?;
        Some(self.finished.remove(place).1)
    }

    fn connections(&self) -> Vec<ConnectionHandle> {
        self.pool.connections().map(|(connection, _)| connection).collect()
    }
}

const FIRST: ConnectionHandle = ConnectionHandle::numbered(1);
const SECOND: ConnectionHandle = ConnectionHandle::numbered(2);

#[test]
fn a_connection_that_has_served_is_looked_at_and_serves_again() {
    let mut rig = Rig::open(4);
    let call = rig.call("t");
    rig.looked(FIRST);
    assert_eq!(rig.asked(), [Action::Write { connection: FIRST }]);
    rig.answer(FIRST, "", DONE);
    assert!(matches!(rig.outcome(call), Some(Outcome::Complete(_))));
    assert_eq!(rig.connections(), [FIRST]);
}

#[test]
fn an_end_that_waited_to_be_read_is_found_before_anything_is_sent() {
    let mut rig = Rig::open(4);
    let call = rig.call("t");
    assert_eq!(rig.asked(), [Action::Look { connection: FIRST }]);
    rig.pool.handle_eof(FIRST, false, rig.now);
    rig.pool.handle_looked(FIRST, rig.now);
    let asked = rig.asked();
    let [Action::Close { connection: FIRST }, Action::Dial { connection: SECOND, .. }] = asked.as_slice()
    else {
        panic!("{asked:?}")
    };
    rig.pool.handle_connected(SECOND, rig.now);
    // Nothing has been carried by it: there is nothing to look for.
    assert_eq!(rig.asked(), [Action::Write { connection: SECOND }]);
    rig.answer(SECOND, "", DONE);
    assert!(matches!(rig.outcome(call), Some(Outcome::Complete(_))));
}

#[test]
fn what_was_put_on_an_old_connection_goes_over_another_unless_a_byte_has_left() {
    for bytes in [0, 1] {
        let mut rig = Rig::open(4);
        let call = rig.call("t");
        rig.looked(FIRST);
        rig.pool.handle_written(FIRST, bytes, rig.now);
        rig.pool.handle_eof(FIRST, true, rig.now);
        if bytes == 0 {
            assert_eq!(rig.outcome(call), None);
            let asked = rig.asked();
            assert!(matches!(asked.last(), Some(Action::Dial { connection: SECOND, .. })), "{asked:?}");
        } else {
            assert!(matches!(rig.outcome(call), Some(Outcome::Lost { maybe_ran: true, .. })));
            assert!(!rig.pool.has_output());
        }
    }
}

#[test]
fn a_new_connection_that_takes_nothing_is_not_tried_again() {
    let mut rig = Rig::open(4);
    let first = rig.call("a");
    rig.looked(FIRST);
    rig.asked();
    let second = rig.call("b");
    assert_eq!(rig.dialed(), SECOND);
    rig.run();
    rig.pool.handle_write_closed(SECOND, rig.now);
    assert!(matches!(rig.outcome(second), Some(Outcome::Lost { maybe_ran: false, .. })));
    assert_eq!(rig.outcome(first), None);
}

#[test]
fn there_are_no_more_than_allowed_but_for_what_others_may_wait_for() {
    let mut rig = Rig::open(1);
    rig.call("long");
    rig.looked(FIRST);
    rig.asked();
    let waits = rig.call("waits");
    assert_eq!(rig.asked(), [], "there is no room for another one");
    for more in 0..4 {
        let method = Method::Other("notifications/of_ours".into());
        rig.pool.client_mut().notify(method, None, rig.now).unwrap();
        assert_eq!(rig.asked().len(), usize::from(more < RESERVE), "one more, for so many");
    }
    rig.answer(FIRST, "", DONE);
    // What is urgent goes first, whoever came first.
    for _ in 0..4 {
        rig.pool.handle_looked(FIRST, rig.now);
        assert!(rig.sent(FIRST).contains("notifications/of_ours"));
        rig.says(FIRST, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        rig.run();
    }
    rig.pool.handle_looked(FIRST, rig.now);
    rig.answer(FIRST, "", DONE);
    assert!(matches!(rig.outcome(waits), Some(Outcome::Complete(_))));
}

#[test]
fn a_call_that_is_given_up_while_its_connection_is_looked_at_costs_no_connection() {
    let mut rig = Rig::open(4);
    let call = rig.call("t");
    assert_eq!(rig.asked(), [Action::Look { connection: FIRST }]);
    rig.pool.client_mut().cancel(call, None, rig.now).unwrap();
    assert_eq!(rig.asked(), []);
    rig.pool.handle_looked(FIRST, rig.now);
    assert_eq!(rig.asked(), []);
    let next = rig.call("t");
    rig.looked(FIRST);
    rig.answer(FIRST, "", DONE);
    assert!(matches!(rig.outcome(next), Some(Outcome::Complete(_))));
}

#[test]
fn a_call_that_is_given_up_later_closes_its_connection() {
    let mut rig = Rig::open(4);
    let call = rig.call("t");
    rig.looked(FIRST);
    rig.sent(FIRST);
    rig.actions.clear();
    rig.pool.client_mut().cancel(call, None, rig.now).unwrap();
    let asked = rig.asked();
    assert_eq!(asked.last(), Some(&Action::Close { connection: FIRST }), "{asked:?}");
    assert!(rig.connections().is_empty());
}

/// Of a session of an older revision, whose server has no stream to push on.
fn legacy(most: usize) -> Rig {
    let mut config = Config::new("rig", "1");
    config.start = Start::Pinned(Revision::V2025_11_25);
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let mut rig = Rig::answered(config, most, result);
    for (sent, status) in [("notifications/initialized", "202 Accepted"), ("GET ", "405 No")] {
        rig.pool.handle_looked(FIRST, rig.now);
        assert!(rig.sent(FIRST).contains(sent));
        rig.says(FIRST, &format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
        rig.run();
    }
    rig.actions.clear();
    rig
}

#[test]
fn a_call_that_is_given_up_before_its_connection_is_there_never_leaves() {
    let mut rig = legacy(1);
    let runs = rig.call("runs");
    rig.looked(FIRST);
    rig.asked();
    rig.sent(FIRST);
    let waits = rig.call("waits");
    assert_eq!(rig.asked(), []);
    rig.pool.client_mut().cancel(waits, None, rig.now).unwrap();
    assert_eq!(rig.asked(), [], "there is nothing to tell of what nobody has heard of");
    assert!(rig.pool.waiting.is_empty());
    assert_eq!(rig.outcome(waits), Some(Outcome::Cancelled));
    // Whoever has heard of it is told.
    rig.pool.client_mut().cancel(runs, None, rig.now).unwrap();
    let asked = rig.asked();
    assert!(matches!(asked.as_slice(), [Action::Dial { connection: SECOND, .. }]), "{asked:?}");
}

#[test]
fn one_that_rests_is_closed_in_time_or_when_its_server_says() {
    for (fields, millis) in
        [("", 50_000), ("Keep-Alive: timeout=5\r\n", 4000), ("Keep-Alive: max=9, timeout=1\r\n", 500)]
    {
        let mut rig = Rig::open(4);
        rig.call("t");
        rig.looked(FIRST);
        rig.answer(FIRST, fields, DONE);
        let until = rig.now.saturating_add(Duration::from_millis(millis));
        assert_eq!(rig.pool.poll_timeout(), Some(until));
        rig.pool.handle_timeout(until);
        assert_eq!(rig.asked(), [Action::Close { connection: FIRST }]);
        assert_eq!(rig.pool.poll_timeout(), None);
    }
}

#[test]
fn a_stream_is_watched_by_the_system() {
    let mut rig = Rig::open(4);
    rig.call("t");
    rig.looked(FIRST);
    rig.sent(FIRST);
    rig.asked();
    rig.says(
        FIRST,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    assert_eq!(rig.asked(), [Action::KeepAlive { connection: FIRST }]);
}

#[test]
fn a_dial_that_fails_ends_what_it_was_for_and_nothing_else() {
    let mut rig = Rig::open(4);
    let _first = rig.call("a");
    rig.looked(FIRST);
    rig.asked();
    let (second, third) = (rig.call("b"), rig.call("c"));
    let asked = rig.asked();
    let [Action::Dial { connection, .. }, Action::Dial { connection: other, .. }] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    rig.pool.handle_connect_failed(*connection, rig.now);
    assert!(matches!(rig.outcome(second), Some(Outcome::Lost { maybe_ran: false, .. })));
    rig.pool.handle_connected(*other, rig.now);
    assert_eq!(rig.asked(), [Action::Write { connection: *other }]);
    rig.answer(*other, "", DONE);
    assert!(matches!(rig.outcome(third), Some(Outcome::Complete(_))));
}

/// A call is under way, and a connection that was begun for another hangs, which is not waited for any more.
fn with_a_dial_that_hangs(most: usize) -> Rig {
    let mut rig = Rig::open(most);
    rig.call("a");
    rig.looked(FIRST);
    rig.asked();
    rig.sent(FIRST);
    let given_up = rig.call("b");
    let asked = rig.asked();
    assert!(matches!(asked.as_slice(), [Action::Dial { connection: SECOND, .. }]), "{asked:?}");
    rig.pool.client_mut().cancel(given_up, None, rig.now).unwrap();
    assert_eq!(rig.asked(), []);
    rig
}

#[test]
fn a_dial_that_hangs_is_not_waited_for_by_those_it_was_not_begun_for() {
    for most in [2, 4] {
        let mut rig = with_a_dial_that_hangs(most);
        let began = rig.now;
        rig.now = began.saturating_add(SPARE / 2);
        let call = rig.call("c");
        assert_eq!(rig.asked(), [], "it may be there in a moment");
        assert_eq!(rig.pool.poll_timeout(), Some(began.saturating_add(SPARE)));
        rig.now = began.saturating_add(SPARE);
        rig.pool.handle_timeout(rig.now);
        assert!(rig.pool.has_output());
        let mut asked = rig.asked();
        let Some(Action::Dial { connection, .. }) = asked.pop() else { panic!("{asked:?}") };
        // Where there may be no more it has to go.
        let closed = if most == 2 { &[Action::Close { connection: SECOND }][..] } else { &[] };
        assert_eq!(asked, closed);
        // Its own is waited for as long as that takes.
        let later = began.saturating_add(SPARE * 5);
        assert!(rig.pool.poll_timeout().is_none_or(|at| at > later));
        rig.pool.handle_timeout(later);
        assert_eq!(rig.asked(), []);
        rig.pool.handle_connected(connection, rig.now);
        rig.answer(connection, "", DONE);
        assert!(matches!(rig.outcome(call), Some(Outcome::Complete(_))));
    }
}

#[test]
fn a_dial_that_hung_before_a_call_came_is_not_waited_for_at_all() {
    let mut rig = with_a_dial_that_hangs(4);
    rig.now = rig.now.saturating_add(SPARE * 2);
    rig.call("c");
    let asked = rig.asked();
    assert!(matches!(asked.as_slice(), [Action::Dial { .. }]), "{asked:?}");
    // What comes late is of use all the same.
    rig.pool.handle_connected(SECOND, rig.now);
    assert_eq!(rig.asked(), [Action::Write { connection: SECOND }]);
}

#[test]
fn whose_connection_another_took_does_not_wait_for_the_one_that_hangs() {
    let mut rig = with_a_dial_that_hangs(4);
    rig.pool.handle_connect_failed(SECOND, rig.now);
    let (first, second) = (rig.call("c"), rig.call("d"));
    let asked = rig.asked();
    let [Action::Dial { .. }, Action::Dial { connection, .. }] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    // The older call takes what was begun for the younger one.
    rig.pool.handle_connected(*connection, rig.now);
    rig.answer(*connection, "", DONE);
    assert!(matches!(rig.outcome(first), Some(Outcome::Complete(_))));
    rig.pool.handle_eof(*connection, false, rig.now);
    assert_eq!(rig.outcome(second), None);
    rig.now = rig.now.saturating_add(SPARE);
    rig.pool.handle_timeout(rig.now);
    let asked = rig.asked();
    assert!(matches!(asked.last(), Some(Action::Dial { .. })), "{asked:?}");
}

#[test]
fn what_is_over_makes_no_connection_and_keeps_none() {
    let mut rig = Rig::open(4);
    let first = rig.call("a");
    rig.looked(FIRST);
    rig.sent(FIRST);
    rig.asked();
    let second = rig.call("b");
    let asked = rig.asked();
    assert!(matches!(asked.as_slice(), [Action::Dial { connection: SECOND, .. }, ..]), "{asked:?}");
    rig.pool.shut_down(rig.now);
    assert_eq!(rig.asked(), [Action::Close { connection: SECOND }, Action::Close { connection: FIRST }]);
    assert!(matches!(rig.outcome(first), Some(Outcome::Lost { maybe_ran: true, .. })));
    assert!(matches!(rig.outcome(second), Some(Outcome::Lost { maybe_ran: false, .. })));
    let late = rig.call("c");
    assert_eq!(rig.asked(), []);
    assert!(matches!(rig.outcome(late), Some(Outcome::Lost { maybe_ran: false, .. })));
    // Its end comes too late to be wanted.
    rig.pool.handle_connected(SECOND, rig.now);
    assert_eq!(rig.asked(), [Action::Close { connection: SECOND }]);
}

#[test]
fn what_waits_has_output_once_something_came_in_and_not_before() {
    let mut rig = Rig::open(1);
    rig.call("a");
    rig.looked(FIRST);
    rig.asked();
    let sent = rig.sent(FIRST);
    rig.call("waits");
    assert!(rig.pool.has_output());
    assert_eq!(rig.asked(), []);
    assert!(!rig.pool.has_output(), "there is nothing to be done about it");
    let id = sent.split(r#""id":"#).nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{DONE}}}"#);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    rig.says(FIRST, &format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()));
    assert!(rig.pool.has_output(), "there is room for it");
    rig.looked(FIRST);
}

#[test]
fn an_answer_is_not_read_while_events_wait_and_an_end_is() {
    let mut config = Config::new("rig", "1");
    config.limits.max_queued_events = 1;
    let mut rig = Rig::with(config, 4);
    rig.call("t");
    rig.looked(FIRST);
    rig.sent(FIRST);
    rig.asked();
    rig.call("u");
    assert_eq!(rig.dialed(), SECOND);
    rig.asked();
    rig.sent(SECOND);
    let reads = |rig: &Rig| [FIRST, SECOND].map(|connection| rig.pool.wants_read(connection));
    assert_eq!(reads(&rig), [true, true]);
    // The one is over with an event that nobody has taken, and carries nothing; the other may bring more.
    rig.says(FIRST, "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(reads(&rig), [true, false]);
    assert_eq!(rig.pool.connections().collect::<Vec<_>>(), [(FIRST, true), (SECOND, false)]);
    rig.run();
    assert_eq!(reads(&rig), [true, true]);
}

#[test]
fn a_session_that_breaks_off_leaves_nothing_to_write_on_other_connections() {
    let mut config = Config::new("rig", "1");
    config.limits.violation_budget = 0;
    let mut rig = Rig::with(config, 4);
    rig.call("first");
    rig.looked(FIRST);
    assert_eq!(rig.asked(), [Action::Write { connection: FIRST }]);
    rig.sent(FIRST);
    let second = rig.call("second");
    let over = rig.dialed();
    assert_eq!(rig.asked(), [Action::Write { connection: over }]);
    assert!(!rig.pool.transmit(over).is_empty(), "it is about to leave");
    // No message at all: one violation too many.
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\n";
    rig.says(FIRST, head);
    rig.says(FIRST, "data: 7\n\n");
    assert!(rig.pool.session().close_reason().is_some(), "the session is over");
    assert!(rig.pool.transmit(over).is_empty(), "what is said not to have run does not leave");
    assert!(matches!(rig.outcome(second), Some(Outcome::Lost { maybe_ran: false })));
}

#[test]
fn a_call_that_ran_out_of_time_before_it_left_never_leaves() {
    let mut rig = Rig::open(4);
    let params = RawJson::parse_str(r#"{"name":"t"}"#).unwrap();
    let options = RequestOptions { idle: Some(Duration::from_secs(1)), ..RequestOptions::default() };
    let client = rig.pool.client_mut();
    let call = client.request(Method::ToolsCall, Some(params), &options, rig.now).unwrap();
    rig.looked(FIRST);
    assert_eq!(rig.asked(), [Action::Write { connection: FIRST }]);
    rig.now = rig.now.saturating_add(Duration::from_secs(2));
    rig.pool.handle_timeout(rig.now);
    assert!(rig.pool.transmit(FIRST).is_empty());
    assert!(matches!(rig.outcome(call), Some(Outcome::TimedOut { .. })));
}
