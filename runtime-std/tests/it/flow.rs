//! One client, one thread: pending calls, cork, progress, notifications, tap, big messages.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sanswire_std::sanswire::client::{Outcome, Progress};
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::{Client, Direction, Pending, Tap};

use crate::common::{
    LONG, child, connect, eventually, no_options, options, outcome, raw, text_of, tool, trials, within,
};

trials!(
    many_calls_of_one_thread_are_under_way_at_once,
    a_dropped_pending_is_cancelled_on_the_wire,
    a_cancelled_pending_tells_the_reason,
    waiting_can_be_given_up_and_taken_up_again,
    a_cork_joins_what_is_started,
    a_wait_pulls_the_cork,
    progress_comes_in_order_on_the_callers_thread,
    progress_nobody_asked_for_is_dropped,
    notifications_come_without_a_call,
    a_slow_reader_loses_the_oldest_notifications,
    the_end_wakes_who_waits_for_notifications,
    a_tap_sees_every_message,
    a_slow_tap_delays_nobody,
    b_09_a_reply_of_8_mebibytes,
    a_recycled_result_is_used_again,
    the_lead_lies_with_the_watcher_between_calls,
    a_listing_is_whole,
);

fn start(client: &Client, tool: &str, arguments: &str) -> Pending {
    let params = raw(&format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#));
    client.start(Method::ToolsCall, Some(params), &no_options()).unwrap()
}

fn many_calls_of_one_thread_are_under_way_at_once() {
    let client = connect(&[]);
    let held: Vec<_> = (0..20).map(|_| start(&client, "hold", "{}")).collect();
    eventually("all are there", || tool(&client, "held", "{}") == "20");
    tool(&client, "release", "{}");
    within(LONG, || held.into_iter().for_each(|call| assert_eq!(text_of(call.wait()), "released")));
}

fn a_dropped_pending_is_cancelled_on_the_wire() {
    let client = connect(&[]);
    let held = start(&client, "hold", "{}");
    drop(held);
    eventually("the server was told", || !tool(&client, "cancelled", "{}").is_empty());
    // The late answer harms nobody.
    tool(&client, "release", "{}");
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    assert_eq!(client.stats().late_responses, 1);
    assert!(client.violations().is_empty());
}

fn a_cancelled_pending_tells_the_reason() {
    let tap = Arc::new(Log::default());
    let mut options = options();
    options.tap = Some(tap.clone());
    let client = Client::connect(&child(&[]), options).unwrap();
    start(&client, "hold", "{}").cancel(Some("changed my mind"));
    client.close();
    assert!(tap.all().iter().any(|(_, line)| line.contains("changed my mind")));
}

fn waiting_can_be_given_up_and_taken_up_again() {
    let client = connect(&[]);
    let mut held = start(&client, "hold", "{}");
    let started = Instant::now();
    assert_eq!(held.wait_timeout(Duration::from_millis(100)), None);
    assert!(started.elapsed() >= Duration::from_millis(100));
    assert_eq!(held.try_take(), None);
    tool(&client, "release", "{}");
    assert_eq!(text_of(held.wait_timeout(LONG).unwrap()), "released");
    assert_eq!(held.wait_timeout(LONG), None);
    drop(held);
    assert_eq!(tool(&client, "cancelled", "{}"), "");
}

fn a_cork_joins_what_is_started() {
    let client = connect(&[]);
    let cork = client.cork();
    let calls: Vec<_> = (0..30).map(|n| start(&client, "echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
    drop(cork);
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(text_of(call.wait()), n.to_string());
    }
    // The word that the session is ready may have come with them.
    let most: usize = tool(&client, "most in a read", "{}").parse().unwrap();
    assert!(most >= 30, "{most}");
}

fn a_wait_pulls_the_cork() {
    let client = connect(&[]);
    let cork = client.cork();
    let call = start(&client, "echo", r#"{"text":"a"}"#);
    assert_eq!(text_of(within(LONG, || call.wait())), "a");
    assert_eq!(tool(&client, "echo", r#"{"text":"b"}"#), "b");
    drop(cork);
}

fn progress_comes_in_order_on_the_callers_thread() {
    let client = connect(&[]);
    let thread = std::thread::current().id();
    let mut seen = Vec::new();
    let params = raw(r#"{"name":"progress","arguments":{"n":5,"ms":100}}"#);
    let outcome = client
        .call_with(Method::ToolsCall, Some(params), &no_options(), &mut |progress: &Progress| {
            assert_eq!(std::thread::current().id(), thread);
            seen.push((progress.progress, progress.total));
        })
        .unwrap();
    assert_eq!(text_of(outcome), "done");
    assert_eq!(seen, (1..=5).map(|n| (f64::from(n), Some(5.0))).collect::<Vec<_>>());
}

fn progress_nobody_asked_for_is_dropped() {
    let client = connect(&[]);
    assert_eq!(tool(&client, "progress", r#"{"n":500,"ms":0}"#), "done");
}

fn notifications_come_without_a_call() {
    let client = connect(&[]);
    tool(&client, "notify", r#"{"n":3}"#);
    for n in 0..3 {
        let notice = client.next_notification(LONG).unwrap();
        assert_eq!(notice.method, Method::LogMessage);
        let data = notice.params.unwrap().view().get("data").and_then(|data| data.as_u64());
        assert_eq!(data, Some(n));
    }
    assert_eq!(client.next_notification(Duration::ZERO), None);
    assert_eq!(client.notifications_lost(), 0);
}

fn a_slow_reader_loses_the_oldest_notifications() {
    let client = connect(&[]);
    tool(&client, "notify", r#"{"n":1500}"#);
    assert_eq!(client.notifications_lost(), 476);
    let first = client.next_notification(LONG).unwrap().params.unwrap();
    assert_eq!(first.view().get("data").and_then(|data| data.as_u64()), Some(476));
}

fn the_end_wakes_who_waits_for_notifications() {
    let client = connect(&[]);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| client.next_notification(Duration::from_secs(3600)));
        std::thread::sleep(Duration::from_millis(50));
        client.close();
        assert_eq!(within(LONG, || waits.join().unwrap()), None);
    });
}

#[derive(Default)]
struct Log {
    lines: Mutex<Vec<(Direction, String)>>,
    delay: Duration,
}

impl Log {
    fn all(&self) -> Vec<(Direction, String)> {
        self.lines.lock().unwrap().clone()
    }
}

impl Tap for Log {
    fn message(&self, direction: Direction, _: Duration, line: &[u8]) {
        std::thread::sleep(self.delay);
        assert!(!line.contains(&b'\n'));
        self.lines.lock().unwrap().push((direction, String::from_utf8_lossy(line).into_owned()));
    }
}

fn a_tap_sees_every_message() {
    let tap = Arc::new(Log::default());
    let mut options = options();
    options.tap = Some(tap.clone());
    let client = Client::connect(&child(&[]), options).unwrap();
    tool(&client, "echo", r#"{"text":"a"}"#);
    client.close();
    let seen = tap.all();
    let methods =
        ["server/discover", "-32601", "\"initialize\"", "serverInfo", "initialized", "tools/call", "content"];
    assert_eq!(seen.len(), methods.len(), "{seen:?}");
    for (n, (direction, line)) in seen.iter().enumerate() {
        assert!(line.contains(methods[n]), "{line}");
        let sent = [0, 2, 4, 5].contains(&n);
        assert_eq!(*direction, if sent { Direction::Sent } else { Direction::Received });
    }
}

fn a_slow_tap_delays_nobody() {
    let tap = Arc::new(Log { delay: Duration::from_secs(5), ..Log::default() });
    let mut options = options();
    options.tap = Some(tap);
    within(Duration::from_secs(4), || {
        let client = Client::connect(&child(&[]), options).unwrap();
        for _ in 0..20 {
            tool(&client, "echo", r#"{"text":"a"}"#);
        }
        // Which waits a second for the tap, and no longer.
        client.close();
    });
}

fn b_09_a_reply_of_8_mebibytes() {
    let client = connect(&[]);
    for bytes in [70_000, 1 << 20, 8 << 20] {
        let text = within(LONG, || tool(&client, "big", &format!(r#"{{"bytes":{bytes}}}"#)));
        assert_eq!(text.len(), bytes);
    }
    let text = "x".repeat(8 << 20);
    let len = within(LONG, || tool(&client, "len", &format!(r#"{{"text":"{text}"}}"#)));
    assert_eq!(len, (8 << 20).to_string());
    // Beyond the limit only its own call fails.
    let outcome = within(LONG, || outcome(&client, "big", r#"{"bytes":17000000}"#));
    assert!(matches!(outcome, Outcome::TooLarge { .. }), "{outcome:?}");
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
}

fn a_recycled_result_is_used_again() {
    let client = connect(&[]);
    for _ in 0..5 {
        let Outcome::Complete(result) = outcome(&client, "big", r#"{"bytes":1000000}"#) else { panic!() };
        client.recycle(result);
    }
}

fn the_lead_lies_with_the_watcher_between_calls() {
    let client = connect(&[]);
    for pause in [0, 1, 15, 40, 0, 15] {
        std::thread::sleep(Duration::from_millis(pause));
        assert_eq!(within(LONG, || tool(&client, "echo", r#"{"text":"a"}"#)), "a");
    }
    // A call that is led for long, so that the watcher sleeps, and then nobody.
    assert_eq!(tool(&client, "slow", r#"{"ms":200}"#), "slow");
    tool(&client, "ping me", r#"{"ms":50}"#);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(tool(&client, "pongs", "{}"), "1");
}

fn a_listing_is_whole() {
    let client = connect(&[]);
    let listed = client.list(Method::ToolsList, &no_options()).unwrap();
    assert_eq!((listed.pages.len(), listed.cut), (1, None));
}
