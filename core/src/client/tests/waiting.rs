//! What waits for an embedder: outcomes and progress with whom to wake, and notifications.

use alloc::vec::Vec;

use crate::client::calls::Calls;
use crate::client::event::{Outcome, Progress, RequestHandle};
use crate::client::notices::{Notices, Notification};
use crate::jsonrpc::RawJson;
use crate::mcp::Method;

fn progress(n: u32) -> Progress {
    Progress { progress: f64::from(n), total: None, message: None }
}

fn notice(text: &str) -> Notification {
    Notification::new(None, Method::LogMessage, Some(RawJson::parse_str(text).unwrap()))
}

#[test]
fn an_outcome_wakes_who_sleeps_once_and_is_taken_once() {
    let mut calls = Calls::default();
    let call = RequestHandle(1);
    calls.insert(call, false);
    assert_eq!(calls.set_waiter(call, Some("a")), None);
    assert_eq!(calls.set_waiter(call, Some("b")), Some("a"));
    assert_eq!(calls.waiter(call), Some(&"b"));
    assert_eq!(calls.take_finished(call), None);
    assert!(!calls.is_finished(call));
    assert_eq!(calls.finish(call, Outcome::Cancelled), Some("b"));
    assert!(calls.is_finished(call));
    assert_eq!(calls.waiter(call), None);
    assert_eq!(calls.take_finished(call), Some(Outcome::Cancelled));
    assert_eq!(calls.take_finished(call), None);
    assert_eq!(calls.set_waiter(call, Some("c")), Some("c"), "whom nothing will wake is handed back");
}

#[test]
fn the_oldest_sleeper_is_named_once() {
    let mut calls = Calls::default();
    for n in 1..=3 {
        calls.insert(RequestHandle(n), false);
    }
    calls.set_waiter(RequestHandle(3), Some(3));
    calls.set_waiter(RequestHandle(2), Some(2));
    assert_eq!(calls.sleepers(), 2);
    assert_eq!(calls.sleeper(), Some((RequestHandle(2), 2)));
    assert_eq!(calls.sleeper(), Some((RequestHandle(3), 3)));
    assert_eq!(calls.sleeper(), None);
}

#[test]
fn reports_wait_within_a_bound_and_only_where_they_are_wanted() {
    let mut calls: Calls<u8> = Calls::default();
    let (told, deaf) = (RequestHandle(1), RequestHandle(2));
    calls.insert(told, true);
    calls.insert(deaf, false);
    calls.set_waiter(told, Some(7));
    calls.set_waiter(deaf, Some(8));
    assert_eq!(calls.report(deaf, progress(0)), None);
    assert_eq!(calls.report(told, progress(0)), Some(7));
    for n in 1..100 {
        assert_eq!(calls.report(told, progress(n)), None);
    }
    assert_eq!(calls.take_progress(deaf), None);
    assert_eq!(calls.next_progress(told), Some(progress(36)));
    let rest = calls.take_progress(told).unwrap();
    assert_eq!((rest.len(), rest.back()), (63, Some(&progress(99))));
    assert_eq!(calls.take_progress(told), None);
}

#[test]
fn an_old_call_does_not_keep_the_places_of_later_ones() {
    let mut calls: Calls<u8> = Calls::default();
    calls.insert(RequestHandle(1), false);
    for n in 2..10_000 {
        calls.insert(RequestHandle(n), false);
        assert_eq!(calls.remove(RequestHandle(n)), None);
        assert!(calls.places() <= 70, "{}", calls.places());
    }
    assert_eq!(calls.finish(RequestHandle(1), Outcome::Cancelled), None);
    assert_eq!(calls.remove(RequestHandle(1)), Some(Outcome::Cancelled));
    assert_eq!(calls.places(), 0);
}

#[test]
fn the_oldest_notifications_go_where_a_reader_is_slow() {
    let mut notices = Notices::default();
    for n in 0..1030u32 {
        notices.push(notice(&alloc::format!(r#"{{"n":{n}}}"#)));
    }
    assert_eq!(notices.lost(), 6);
    assert_eq!(notices.pop().unwrap(), notice(r#"{"n":6}"#));
    let rest: Vec<_> = core::iter::from_fn(|| notices.pop()).collect();
    assert_eq!((rest.len(), rest.last()), (1023, Some(&notice(r#"{"n":1029}"#))));

    let long = alloc::format!(r#""{}""#, "x".repeat(5 * 1024 * 1024));
    notices.push(notice(&long));
    notices.push(notice(&long));
    assert_eq!(notices.lost(), 7, "two of 5 MiB do not both wait");
    let longer = alloc::format!(r#""{}""#, "x".repeat(9 * 1024 * 1024));
    notices.push(notice(&longer));
    assert_eq!(notices.pop(), Some(notice(&longer)), "one alone waits whatever its size");
    assert_eq!(notices.pop(), None);
}
