//! Many threads, one client.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sanswire_std::sanswire::client::{Outcome, RequestOptions};
use sanswire_std::sanswire::mcp::Method;

use crate::common::{LONG, connect, eventually, no_options, outcome, raw, text_of, tool, trials, within};

trials!(
    two_hundred_threads_get_their_own_replies,
    one_held_call_does_not_hold_the_other_199,
    a_slow_progress_callback_delays_nobody,
    p_091_a_follower_times_out_at_its_own_deadline,
    p_091_a_leader_times_out_at_its_own_deadline,
    a_panic_in_a_progress_callback_passes_the_lead_on,
    full_pipes_in_both_directions_do_not_deadlock,
    full_pipes_with_many_threads_do_not_deadlock,
);

fn threads(count: usize, work: impl Fn(usize) + Sync) {
    let together = Barrier::new(count);
    std::thread::scope(|scope| {
        for n in 0..count {
            let (work, together) = (&work, &together);
            std::thread::Builder::new()
                .stack_size(256 * 1024)
                .spawn_scoped(scope, move || {
                    together.wait();
                    work(n);
                })
                .unwrap();
        }
    });
}

fn two_hundred_threads_get_their_own_replies() {
    let client = connect(&[]);
    within(LONG, || {
        threads(200, |n| {
            for round in 0..20 {
                let text = format!("{n} in {round}");
                assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{text}"}}"#)), text);
            }
        });
    });
}

fn one_held_call_does_not_hold_the_other_199() {
    let client = connect(&[]);
    let done = AtomicUsize::new(0);
    within(LONG, || {
        threads(200, |n| {
            if n == 0 {
                assert_eq!(tool(&client, "hold", "{}"), "released");
                return;
            }
            assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
            if done.fetch_add(1, Ordering::SeqCst) == 198 {
                // All others are done, and this was the last of them.
                eventually("it is held", || tool(&client, "held", "{}") == "1");
                tool(&client, "release", "{}");
            }
        });
    });
}

fn a_slow_progress_callback_delays_nobody() {
    let client = connect(&[]);
    let inside = Barrier::new(2);
    let leave = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = 0;
            let params = raw(r#"{"name":"progress","arguments":{"n":3,"ms":0}}"#);
            let outcome = client
                .call_with(Method::ToolsCall, Some(params), &no_options(), &mut |_| {
                    seen += 1;
                    if seen == 1 {
                        inside.wait();
                        leave.wait();
                    }
                })
                .unwrap();
            assert_eq!(text_of(outcome), "done");
            assert_eq!(seen, 3);
        });
        inside.wait();
        // The callback is stuck; everybody else is served.
        within(LONG, || {
            for n in 0..50 {
                assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
            }
        });
        leave.wait();
    });
}

fn brief(idle: u64) -> RequestOptions {
    let mut options = RequestOptions::default();
    options.idle = Some(Duration::from_millis(idle));
    options
}

/// A call that waits long, and beside it one with a deadline of 200 ms that comes `first` or second.
fn times_out(first: bool) {
    let client = connect(&[]);
    std::thread::scope(|scope| {
        let long = || {
            scope.spawn(|| assert_eq!(tool(&client, "slow", r#"{"ms":2500}"#), "slow"));
            std::thread::sleep(Duration::from_millis(50));
        };
        if !first {
            long();
        }
        let brief_call = scope.spawn(|| {
            let started = Instant::now();
            let outcome = client.call_tool("hold", None, &brief(200)).unwrap();
            (outcome, started.elapsed())
        });
        if first {
            std::thread::sleep(Duration::from_millis(50));
            long();
        }
        let (outcome, took) = brief_call.join().unwrap();
        assert!(matches!(outcome, Outcome::TimedOut { .. }), "{outcome:?}");
        assert!(took >= Duration::from_millis(200) && took < Duration::from_millis(2000), "{took:?}");
    });
    assert_eq!(tool(&client, "cancelled", "{}").split(',').count(), 1);
}

fn p_091_a_follower_times_out_at_its_own_deadline() {
    // P-091
    times_out(false);
}

fn p_091_a_leader_times_out_at_its_own_deadline() {
    // P-091
    times_out(true);
}

fn a_panic_in_a_progress_callback_passes_the_lead_on() {
    let client = connect(&[]);
    let held = std::thread::scope(|scope| {
        let held = scope.spawn(|| tool(&client, "hold", "{}"));
        let panics = scope.spawn(|| {
            let params = raw(r#"{"name":"progress","arguments":{"n":1,"ms":60000}}"#);
            client.call_with(Method::ToolsCall, Some(params), &no_options(), &mut |_| panic!("on purpose"))
        });
        assert!(panics.join().is_err());
        within(LONG, || {
            assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
            eventually("it is held", || tool(&client, "held", "{}") == "1");
            tool(&client, "release", "{}");
            held.join().unwrap()
        })
    });
    assert_eq!(held, "released");
    // The call of the thread that panicked was given up.
    eventually("it was cancelled", || !tool(&client, "cancelled", "{}").is_empty());
}

const BIG: usize = 3_000_000;

fn full_pipes_in_both_directions_do_not_deadlock() {
    let client = connect(&[]);
    let text = "y".repeat(BIG);
    within(LONG, || {
        // Each reply is written before the next request is read.
        let mut open = Vec::new();
        for _ in 0..4 {
            let params = raw(&format!(r#"{{"name":"echo","arguments":{{"text":"{text}"}}}}"#));
            open.push(client.start(Method::ToolsCall, Some(params), &no_options()).unwrap());
        }
        for call in open {
            assert_eq!(text_of(call.wait()).len(), BIG);
        }
    });
}

fn full_pipes_with_many_threads_do_not_deadlock() {
    let client = connect(&["stderr=100000"]);
    let text = "z".repeat(300_000);
    within(LONG, || {
        threads(8, |_| {
            for _ in 0..3 {
                let outcome = outcome(&client, "echo", &format!(r#"{{"text":"{text}"}}"#));
                assert_eq!(text_of(outcome).len(), 300_000);
            }
        });
    });
}
