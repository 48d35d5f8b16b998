//! Requests that wait, are cancelled, find no room, and questions that are over.

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::server::config::Config;
use crate::server::kit::Schema;

const NOW: Instant = Instant::ZERO;

#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Cancel for Flag {
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Flag {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

type Tested = Desk<Flag, &'static str>;

fn desk(change: impl FnOnce(&mut Config)) -> Tested {
    let mut config = Config::new("s", "1");
    change(&mut config);
    let mut machine = LineConnection::new(config, [0; 32], NOW).expect("usable");
    for tool in [
        r#"{"name":"t"}"#,
        r#"{"name":"typed","outputSchema":{"type":"object","properties":{"a":{}},"required":["a"]}}"#,
    ] {
        machine.catalog_mut().tool(&RawJson::parse_str(tool).expect(tool)).expect(tool);
    }
    Desk::new(machine)
}

/// Takes in what came, and tells whoever was cancelled.
fn take_in(desk: &mut Tested) {
    desk.take_in(NOW).tell(|waiter, outcome| panic!("nothing was asked: {waiter}, {outcome:?}"));
}

fn read(desk: &mut Tested, line: &str) {
    assert_eq!(desk.machine.handle_input(format!("{line}\n").as_bytes(), NOW), line.len() + 1);
    take_in(desk);
}

fn call(desk: &mut Tested, id: u32, tool: &str) {
    let meta = concat!(
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{}}"#
    );
    let params = format!(r#"{{"name":"{tool}",{meta}}}"#);
    read(desk, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
}

fn cancel(desk: &mut Tested, id: u32) {
    let params = format!(r#"{{"requestId":{id}}}"#);
    read(desk, &format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
}

/// What was sent since the last look.
fn sent(desk: &mut Tested) -> String {
    let mut all = String::new();
    loop {
        take_in(desk);
        let bytes = desk.machine.transmit();
        if bytes.is_empty() {
            return all;
        }
        all += core::str::from_utf8(bytes).expect("text");
        let len = bytes.len();
        desk.machine.handle_written(len, NOW);
    }
}

fn finish(desk: &mut Tested, done: Request<Flag>, reply: Reply) {
    desk.finish(done.request, done.params, reply, NOW);
}

#[test]
fn requests_are_handed_out_in_order_and_no_more_at_once_than_may_run() {
    let mut desk = desk(|_| ());
    assert!(!desk.may_run(1) && desk.next_request().is_none());
    call(&mut desk, 1, "t");
    call(&mut desk, 2, "t");
    let first = desk.next_request().expect("it waits");
    assert!(!desk.may_run(1) && desk.may_run(2));
    finish(&mut desk, first, Reply::text("one"));
    assert!(desk.may_run(1));
    let second = desk.next_request().expect("it waits");
    assert!(!desk.may_run(9), "none waits any more");
    finish(&mut desk, second, Reply::text("two"));
    let sent = sent(&mut desk);
    let lines: Vec<_> = sent.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("one") && lines[1].contains("two"), "{sent}");
}

#[test]
fn a_cancel_finds_what_waits_and_what_is_at_work() {
    let mut desk = desk(|_| ());
    for id in 1..=3 {
        call(&mut desk, id, "t");
    }
    let first = desk.next_request().expect("it waits");
    cancel(&mut desk, 1);
    cancel(&mut desk, 2);
    assert!(first.cancel.is_set());
    finish(&mut desk, first, Reply::text("one"));
    let third = desk.next_request().expect("it waits");
    assert!(!third.cancel.is_set() && desk.next_request().is_none());
    assert_eq!(desk.waiting_bytes, 0);
    finish(&mut desk, third, Reply::text("three"));
    let sent = sent(&mut desk);
    assert!(sent.contains("three") && !sent.contains("one"), "{sent}");
}

#[test]
fn requests_of_too_many_bytes_are_refused_and_cancels_make_room() {
    let mut desk = desk(|config| config.limits.max_queued_event_bytes = 4096);
    let mut id = 0;
    let refused = loop {
        id += 1;
        call(&mut desk, id, "t");
        let sent = sent(&mut desk);
        if !sent.is_empty() {
            break sent;
        }
        assert!(id < 100);
    };
    assert!(refused.contains(&format!(r#""id":{id},"#)) && refused.contains("try again later"), "{refused}");
    cancel(&mut desk, 1);
    call(&mut desk, 100, "t");
    assert_eq!(sent(&mut desk), "", "it waits");
    let first = desk.next_request().expect("they wait");
    finish(&mut desk, first, Reply::text("two"));
    assert!(sent(&mut desk).starts_with(r#"{"jsonrpc":"2.0","id":2,"#));
}

#[test]
fn an_answer_that_finds_no_room_waits_for_it_unless_it_is_cancelled() {
    let mut desk = desk(|config| config.limits.max_queued_out_bytes = 4096);
    for id in 1..=4 {
        call(&mut desk, id, "t");
    }
    let work: Vec<_> = (0..3).filter_map(|_| desk.next_request()).collect();
    let texts = ["one", "two", "three"].map(|word| word.repeat(2000));
    for (done, text) in work.into_iter().zip(&texts) {
        finish(&mut desk, done, Reply::text(text));
    }
    assert!(!desk.may_run(9), "its client does not read");
    let first = String::from_utf8(desk.machine.transmit().into()).expect("text");
    let all_but_one = first.len() - 1;
    desk.machine.handle_written(all_but_one, NOW);
    assert_eq!(desk.unsent.len(), 2);
    cancel(&mut desk, 2);
    assert_eq!(desk.unsent.len(), 1, "nothing is kept for nobody");
    let sent = first + &sent(&mut desk).split_off(1);
    assert!(sent.contains(&texts[0]) && sent.contains(&texts[2]) && !sent.contains(&texts[1]));
    assert_eq!(sent.lines().count(), 2);
    assert!(desk.may_run(1));
}

#[test]
fn an_answer_that_the_session_refuses_is_told_as_an_error() {
    let mut desk = desk(|_| ());
    call(&mut desk, 1, "typed");
    let typed = desk.next_request().expect("it waits");
    finish(&mut desk, typed, Reply::text("secret"));
    let sent = sent(&mut desk);
    assert!(
        sent.contains("-32603") && sent.contains("could not be sent") && !sent.contains("secret"),
        "{sent}"
    );
}

#[test]
fn what_is_open_is_cancelled_with_the_connection() {
    let mut desk = desk(|_| ());
    call(&mut desk, 1, "t");
    call(&mut desk, 2, "t");
    let first = desk.next_request().expect("it waits");
    let second = Arc::clone(&desk.open[1].1);
    drop(desk);
    assert!(first.cancel.is_set() && second.is_set());
}

#[test]
fn a_question_is_over_once_and_after_the_cancels_of_its_time() {
    let mut desk = desk(|_| ());
    let capabilities = r#"{"elicitation":{}}"#;
    let client = r#"{"name":"c","version":"1"}"#;
    let params =
        format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{client}}}"#);
    read(&mut desk, &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#));
    read(&mut desk, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    read(&mut desk, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    drop(sent(&mut desk));
    let work = desk.next_request().expect("it waits");
    let question = Schema::object().optional("a", Schema::string()).form("what?");
    desk.ask(work.request, &question, "waiter", NOW).expect("it can be asked");
    let asked = sent(&mut desk);
    let id = asked.split(r#""id":"#).nth(1).and_then(|rest| rest.split(',').next()).expect("an id");
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for line in [&*answer, cancel, &*answer] {
        assert_eq!(desk.machine.handle_input(format!("{line}\n").as_bytes(), NOW), line.len() + 1);
    }
    let over = desk.take_in(NOW);
    assert!(!work.cancel.is_set(), "it is told when nothing is locked");
    assert!(matches!(&over.answered[..], [("waiter", PeerOutcome::Result(_))]), "{over:?}");
    let mut told = 0;
    over.tell(|_, _| {
        assert!(work.cancel.is_set(), "whoever is woken finds it so");
        told += 1;
    });
    assert_eq!(told, 1);
}

#[test]
fn the_end_is_seen_when_all_was_said() {
    let mut desk = desk(|_| ());
    call(&mut desk, 1, "t");
    let work = desk.next_request().expect("it waits");
    desk.machine.handle_eof(NOW);
    take_in(&mut desk);
    assert!(!desk.is_closed(), "an answer is open");
    finish(&mut desk, work, Reply::text("one"));
    assert!(sent(&mut desk).contains("one"));
    assert!(desk.is_closed());
}
