//! Futures that are dropped at every point where they wait.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use sanswire_smol::sanswire::client::RequestOptions;
use sanswire_smol::sanswire::mcp::Method;
use sanswire_smol::{Client, StopLadder};

use crate::common::{
    Count, Folder, begin, block_on, child, eventually, in_process, no_options, options, outcome, raw, runs,
    text_of, tool,
};

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    type Test = (&'static str, fn());
    let tests: [Test; 6] = [
        ("connecting_may_be_given_up_at_any_point", connecting_may_be_given_up_at_any_point),
        ("a_call_may_be_given_up_at_any_point", a_call_may_be_given_up_at_any_point),
        ("a_listing_may_be_given_up_at_any_point", a_listing_may_be_given_up_at_any_point),
        ("a_call_with_progress_may_be_given_up_at_any_point", progress_may_be_given_up_at_any_point),
        ("a_round_of_input_may_be_given_up_at_any_point", a_round_of_input_may_be_given_up_at_any_point),
        ("closing_may_be_given_up_at_any_point", closing_may_be_given_up_at_any_point),
    ];
    tests.map(|(name, test)| crate::common::trial(name.into(), test)).into()
}

/// Polls `future` when it is woken, `polls` times at most, and drops it then. Whether it was ready.
pub(crate) fn give_up_after<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let (count, waker) = Count::new();
    for _ in 0..polls {
        let seen = count.get();
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        assert!(count.after(seen), "never woken");
    }
    None
}

/// Gives up after no poll, one, two ..., until it is ready. Each time `check` is run. What is done at once, since the
/// answer was quicker than the first poll, is tried again: one has to be given up while it waits.
pub(crate) fn at_every_point<T, F: Future<Output = T>>(mut make: impl FnMut() -> F, mut check: impl FnMut()) {
    let mut waited = false;
    for _ in 0..50 {
        for polls in 0..1000 {
            let ready = give_up_after(polls, make()).is_some();
            check();
            if ready {
                break;
            }
            assert!(polls < 999, "never ready");
            waited |= polls > 0;
        }
        if waited {
            return;
        }
    }
    panic!("there was no point where it waited");
}

fn connecting_may_be_given_up_at_any_point() {
    let folder = Folder::new("steps");
    let path = folder.0.join("pid");
    let flag = format!("pid={}", path.display());
    let make = || {
        let mut options = options();
        let moment = std::time::Duration::from_millis(20);
        options.stop = StopLadder::new(moment, moment, std::time::Duration::from_secs(10));
        // One that would outlive its pipes.
        Client::connect(&child(&["ignore-eof", &flag]), options)
    };
    at_every_point(make, || {
        block_on(async {
            eventually("the server is gone", || {
                let pid = std::fs::read_to_string(&path).ok().and_then(|text| text.parse().ok());
                pid.is_none_or(|pid| !runs(pid))
            })
            .await;
        });
        let _ = std::fs::remove_file(&path);
    });
    // One that was given up may come so far as to write its number later: none is left of those either.
    block_on(async {
        eventually("no child is left", || !has_child(&flag)).await;
    });
}

/// Whether a child of this process runs that was given this flag. Each is its thread's.
pub(crate) fn has_child(flag: &str) -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let children = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")));
    // A thread may end meanwhile.
    let children: Vec<u32> = children
        .filter_map(Result::ok)
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    children.into_iter().any(|pid| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(flag))
            && runs(pid)
    })
}

fn a_call_may_be_given_up_at_any_point() {
    let client = block_on(Client::connect(&child(&[]), options())).unwrap();
    let call = || client.call(Method::ToolsList, None, &NO_OPTIONS);
    at_every_point(call, || {
        assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on");
    });
    block_on(client.close());
}

static NO_OPTIONS: std::sync::LazyLock<RequestOptions> = std::sync::LazyLock::new(no_options);

fn a_listing_may_be_given_up_at_any_point() {
    let client = block_on(Client::connect(&child(&[]), options())).unwrap();
    at_every_point(
        || client.list(Method::ToolsList, &NO_OPTIONS),
        || assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on"),
    );
    block_on(client.close());
}

fn progress_may_be_given_up_at_any_point() {
    let client = block_on(Client::connect(&child(&[]), options())).unwrap();
    let make = || {
        let params = raw(r#"{"name":"progress","arguments":{"n":3}}"#);
        client.call_with(Method::ToolsCall, Some(params), &NO_OPTIONS, |_| ())
    };
    at_every_point(make, || assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on"));
    block_on(client.close());
}

fn a_round_of_input_may_be_given_up_at_any_point() {
    use sanswire_smol::sanswire::mcp::types::input::{InputAnswer, InputRequest};
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(std::sync::Arc::new(|_: InputRequest| async {
        futures_lite::future::yield_now().await;
        InputAnswer::Cancel
    }));
    let client = block_on(Client::connect(&child(&["modern"]), options)).unwrap();
    at_every_point(
        || client.call_tool("ask", None, &NO_OPTIONS),
        || {
            let answer = block_on(outcome(&client, "ask", "{}"));
            assert!(text_of(answer).contains("cancel"));
        },
    );
    block_on(client.close());
}

fn closing_may_be_given_up_at_any_point() {
    for polls in 0..1000 {
        let client = block_on(Client::connect(&child(&[]), options())).unwrap();
        let pid = client.pid().unwrap();
        let held = begin(&client, "hold", "{}");
        let ready = give_up_after(polls, client.close()).is_some();
        drop((client, held));
        block_on(eventually("the server is gone", || !runs(pid)));
        let (stream, server) = in_process(&[]);
        let client = block_on(Client::connect_stream(stream, options())).unwrap();
        give_up_after(polls, client.close());
        drop(client);
        block_on(eventually("the stream is closed", || server.ended()));
        if ready {
            return;
        }
    }
    panic!("never ready");
}
