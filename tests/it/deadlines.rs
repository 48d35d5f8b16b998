//! Deadlines of requests, and what progress does to them.

use std::time::Duration;

use sanswire::client::{Deadline, Outcome, RequestOptions};
use sanswire::mcp::{Era, Method};
use sanswire_tests::client::{Client, on_both_links};
use serde_json::json;

const SECOND: Duration = Duration::from_secs(1);

fn both_eras(scenario: impl Fn(Client, Era)) {
    on_both_links(|on| {
        scenario(Client::legacy(on), Era::Legacy);
        scenario(Client::modern(on), Era::Modern);
    });
}

/// How the server is told that an answer is no longer wanted: by a notice with the id, or, where a modern exchange
/// has its own stream, by the end of that stream.
fn assert_called_off(client: &mut Client, era: Era, method: &str) {
    client.wait_ms(10);
    let request = client.last(method);
    if client.on.has_streams() && era == Era::Modern {
        assert_eq!(client.link.server().closed_streams, [request.stream.unwrap()]);
        assert_eq!(client.count("notifications/cancelled"), 0);
    } else {
        assert!(client.link.server().closed_streams.is_empty());
        assert_eq!(client.count("notifications/cancelled"), 1);
        let notice = client.last("notifications/cancelled").message;
        assert_eq!(notice["params"]["requestId"], request.message["id"]);
        assert!(notice.get("id").is_none());
    }
}

#[test]
fn a_silent_request_ends_after_the_idle_time_and_is_called_off() {
    // P-091 P-092 P-095 P-123 P-252 P-476 H-073 H-074
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |_, _| {});
        let start = client.elapsed_ms();
        let call = client.call();
        let outcome = client.finish(call);
        let limit = Duration::from_secs(30);
        assert_eq!(outcome, Outcome::TimedOut { which: Deadline::Idle, limit, mistyped_reply: false });
        assert_eq!(client.elapsed_ms() - start, 30_000);
        assert_called_off(&mut client, era, "tools/call");
        client.still_works();
    });
}

#[test]
fn deadlines_are_set_for_each_request() {
    // P-093
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |_, _| {});
        let mut options = RequestOptions::default();
        options.idle = Some(SECOND);
        let quick = client.request_with(Method::ToolsCall, Some(r#"{"name":"a"}"#), &options);
        let start = client.elapsed_ms();
        let outcome = client.finish(quick);
        assert!(matches!(outcome, Outcome::TimedOut { limit: SECOND, .. }), "{outcome:?}");
        assert_eq!(client.elapsed_ms() - start, 1000);
        assert_called_off(&mut client, era, "tools/call");
    });
}

#[test]
fn progress_keeps_a_request_alive() {
    // P-094
    both_eras(|mut client, _| {
        client.link.server_mut().on("tools/call", |request, out| {
            for n in 1..10_u32 {
                out.after(SECOND * 20 * n).progress(request, f64::from(n));
            }
            out.after(SECOND * 200).result(request, json!({"resultType": "complete", "content": []}));
        });
        let call = client.call();
        client.complete(call);
        assert_eq!(client.progress(call).len(), 9);
        client.still_works();
    });
}

#[test]
fn b_53_progress_does_not_move_the_hard_limit() {
    // P-094 P-092
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |request, out| {
            for n in 1..13_u32 {
                out.after(Duration::from_millis(800) * n).progress(request, f64::from(n));
            }
        });
        let mut options = RequestOptions::default();
        options.idle = Some(SECOND);
        options.absolute = Some(SECOND * 5);
        let start = client.elapsed_ms();
        let call = client.request_with(Method::ToolsCall, Some(r#"{"name":"a"}"#), &options);
        let outcome = client.finish(call);
        assert!(matches!(outcome, Outcome::TimedOut { which: Deadline::Absolute, .. }), "{outcome:?}");
        assert_eq!(client.elapsed_ms() - start, 5000);
        assert_called_off(&mut client, era, "tools/call");
        client.wait_ms(8000);
        assert_eq!(client.progress(call).len(), 6, "none after the end");
        client.still_works();
    });
}

#[test]
fn progress_that_does_not_grow_keeps_nothing_alive() {
    // P-279 P-094
    both_eras(|mut client, _| {
        client.link.server_mut().on("tools/call", |request, out| {
            for n in 1..100_u32 {
                out.after(SECOND * 10 * n).progress(request, 5.0 - f64::from(n / 2));
            }
        });
        let start = client.elapsed_ms();
        let call = client.call();
        let outcome = client.finish(call);
        assert!(matches!(outcome, Outcome::TimedOut { which: Deadline::Idle, .. }), "{outcome:?}");
        // The first report came after ten seconds and counts.
        assert!((40_000..40_100).contains(&(client.elapsed_ms() - start)));
        assert_eq!(client.progress(call).len(), 1);
        client.still_works();
    });
}

#[test]
fn progress_of_one_request_keeps_no_other_alive() {
    // P-281
    both_eras(|mut client, _| {
        client.link.server_mut().on("tools/call", |request, out| {
            for n in 1..7_u32 {
                out.after(SECOND * 10 * n).progress(request, f64::from(n));
            }
        });
        client.link.server_mut().on("prompts/list", |_, _| {});
        let call = client.call();
        let list = client.request(Method::PromptsList, None);
        let outcome = client.finish(list);
        assert!(matches!(outcome, Outcome::TimedOut { .. }), "{outcome:?}");
        assert_eq!(client.outcome(call), None);
    });
}

#[test]
fn b_53_reply_after_timeout() {
    // P-293 P-294 P-092
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |request, out| {
            let name = request["params"]["name"].as_str().unwrap().to_owned();
            let wait = if name == "two" { SECOND * 3 } else { Duration::ZERO };
            let result = json!({"resultType": "complete", "content": [], "name": name});
            out.after(wait).result(request, result);
        });
        let mut options = RequestOptions::default();
        options.idle = Some(SECOND);
        let two = client.request_with(Method::ToolsCall, Some(r#"{"name":"two"}"#), &options);
        client.wait_ms(5);
        let three = client.request_with(Method::ToolsCall, Some(r#"{"name":"three"}"#), &options);
        assert_eq!(client.complete(three)["name"], "three");
        assert!(matches!(client.finish(two), Outcome::TimedOut { limit: SECOND, .. }));
        client.wait_ms(5000);
        let four = client.request_with(Method::ToolsCall, Some(r#"{"name":"four"}"#), &options);
        assert_eq!(client.complete(four)["name"], "four");
        let notices = client.count("notifications/cancelled") + client.link.server().closed_streams.len();
        assert_eq!(notices, 1, "called off once");
        // Where the stream was closed the late answer went nowhere; elsewhere it was counted and dropped.
        let closed = client.on.has_streams() && era == Era::Modern;
        assert_eq!(client.link.session().stats().late_responses, u64::from(!closed));
        assert!(client.violations().is_empty(), "a slow server uses up no budget");
        client.still_works();
    });
}

#[test]
fn absurd_durations_neither_overflow_nor_fire() {
    both_eras(|mut client, _| {
        let mut options = RequestOptions::default();
        options.idle = Some(Duration::MAX);
        options.absolute = Some(Duration::MAX);
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.request_with(Method::ToolsCall, Some(r#"{"name":"a"}"#), &options);
        client.wait(Duration::from_secs(1_000_000));
        assert_eq!(client.outcome(call), None);
        client.still_works();
    });
}
