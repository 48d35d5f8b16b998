//! Who reads for whom: leaders that do not come, that go, that are moved.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use async_executor::Executor;
use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::{Pending, Watch};

use crate::common::{
    ANY, Count, Env, LONG, begin, connect, eventually, poll_once, streamed, text_of, tool, trials,
};

trials! {
    each: a_leader_that_is_not_polled_holds_nobody_up, tasks_share_a_client;
    once: a_leader_that_goes_passes_the_lead_on, a_leader_that_was_woken_and_goes_passes_that_on, a_leader_that_unwinds_passes_the_lead_on,
        a_call_may_be_moved_to_another_task, who_sleeps_is_woken_once_for_an_answer,
        a_call_is_not_served_by_who_waits_for_notifications, no_wake_is_lost_over_pipes,
        no_wake_is_lost_over_a_stream
}

/// Nobody runs the watch: what is woken is woken by those who lead.
fn unwatched() -> sanswire_smol::ConnectOptions {
    let mut options = ANY.options();
    options.watch = Some(Watch::new());
    options
}

async fn a_leader_that_is_not_polled_holds_nobody_up(env: Env) {
    let client = connect(&env, &[]).await;
    let (woken, waker) = Count::new();
    let mut led = begin(&client, "hold", "{}");
    assert!(poll_once(&mut led, &waker).is_pending());
    // It leads, is woken for every answer, and does not come.
    for n in 0..20 {
        assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)).await, n.to_string());
    }
    assert!(woken.get() >= 1);
    assert_eq!(tool(&client, "release", "{}").await, "ok");
    assert_eq!(text_of(led.await), "released");
    client.close().await;
}

async fn tasks_share_a_client(env: Env) {
    let client = connect(&env, &[]).await;
    let executor = Executor::new();
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            let client = client.clone();
            executor.spawn(async move {
                for n in 0..25 {
                    let text = format!("{task}.{n}");
                    assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{text}"}}"#)).await, text);
                    if n % 5 == 0 {
                        // Some go at various moments.
                        let mut dropped = begin(&client, "hold", "{}");
                        assert!(futures_lite::future::poll_once(&mut dropped).await.is_none());
                    }
                }
            })
        })
        .collect();
    executor
        .run(async {
            for task in tasks {
                task.await;
            }
        })
        .await;
    client.close().await;
}

async fn no_wake_is_lost_over_pipes() {
    let client = sanswire_smol::Client::connect(&crate::common::child(&[]), unwatched()).await.unwrap();
    nothing_is_lost(&client);
    client.close().await;
}

async fn no_wake_is_lost_over_a_stream() {
    let (stream, _) = crate::common::in_process(&[]);
    nothing_is_lost(&sanswire_smol::Client::connect_stream(stream, unwatched()).await.unwrap());
}

/// Threads call, wait, give up and come back in all orders. Nobody looks after those who are not woken, so one wake that is
/// lost leaves a call for ever.
fn nothing_is_lost(client: &sanswire_smol::Client) {
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            scope.spawn(move || {
                let mut random = thread + 1;
                let mut next = move |below: u64| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (random >> 33) % below
                };
                let (_, waker) = Count::new();
                for n in 0..300 {
                    let text = format!("{thread}.{n}");
                    let mut call = begin(client, "echo", &format!(r#"{{"text":"{text}"}}"#));
                    match next(4) {
                        0 => drop(call),
                        1 => {
                            let _ = poll_once(&mut call, &waker);
                            // Its answer may come meanwhile, or another's, which it is told of if it leads.
                            std::thread::sleep(std::time::Duration::from_micros(20 * next(10)));
                        }
                        2 => {
                            // Two at once in one task, the later one first.
                            let mut later = begin(client, "echo", r#"{"text":"later"}"#);
                            let first = poll_once(&mut call, &waker);
                            let second = poll_once(&mut later, &waker);
                            let rest = |polled: Poll<Outcome>, pending: Pending| async move {
                                if let Poll::Ready(outcome) = polled { outcome } else { pending.await }
                            };
                            let both = futures_lite::future::zip(rest(second, later), rest(first, call));
                            let (later, call) = crate::common::by_hand(both);
                            assert_eq!((text_of(later), text_of(call)), ("later".into(), text));
                        }
                        _ => assert_eq!(text_of(crate::common::by_hand(call)), text),
                    }
                }
            });
        }
    });
}

async fn a_leader_that_goes_passes_the_lead_on() {
    let (stream, server) = crate::common::in_process(&[]);
    let client = sanswire_smol::Client::connect_stream(stream, unwatched()).await.unwrap();
    let ((_, leads), (slept, sleeps)) = (Count::new(), Count::new());
    let mut leader = begin(&client, "hold", "{}");
    let mut sleeper = begin(&client, "hold", "{}");
    assert!(poll_once(&mut leader, &leads).is_pending());
    assert!(poll_once(&mut sleeper, &sleeps).is_pending());
    eventually("both are there", || server.held.lock().unwrap().len() == 2).await;
    drop(leader);
    let seen = slept.get();
    server.release();
    assert!(slept.after(seen), "nobody told the one that sleeps");
    assert!(poll_once(&mut sleeper, &sleeps).is_ready());
}

async fn a_leader_that_was_woken_and_goes_passes_that_on() {
    let (stream, server) = crate::common::in_process(&[]);
    let client = sanswire_smol::Client::connect_stream(stream, unwatched()).await.unwrap();
    let ((led, leads), (slept, sleeps)) = (Count::new(), Count::new());
    let mut leader = begin(&client, "hold", "{}");
    let mut sleeper = begin(&client, "hold", "{}");
    assert!(poll_once(&mut leader, &leads).is_pending());
    assert!(poll_once(&mut sleeper, &sleeps).is_pending());
    eventually("both are there", || server.held.lock().unwrap().len() == 2).await;
    let (told, seen) = (led.get(), slept.get());
    server.release();
    assert!(led.after(told));
    assert_eq!(slept.get(), seen);
    drop(leader);
    assert!(slept.after(seen), "what the leader was told went with it");
    let end = std::time::Instant::now() + LONG;
    while poll_once(&mut sleeper, &sleeps).is_pending() {
        assert!(std::time::Instant::now() < end);
        std::thread::yield_now();
    }
}

async fn a_leader_that_unwinds_passes_the_lead_on() {
    let (stream, server) = crate::common::in_process(&[]);
    let client = sanswire_smol::Client::connect_stream(stream, unwatched()).await.unwrap();
    let ((_, leads), (slept, sleeps)) = (Count::new(), Count::new());
    let mut sleeper = begin(&client, "hold", "{}");
    let failed = catch_unwind(AssertUnwindSafe(|| {
        let mut leader = begin(&client, "hold", "{}");
        assert!(poll_once(&mut leader, &leads).is_pending());
        assert!(poll_once(&mut sleeper, &sleeps).is_pending());
        panic!("as it should");
    }));
    assert!(failed.is_err());
    eventually("both were there", || server.held.lock().unwrap().len() == 2).await;
    let seen = slept.get();
    server.release();
    assert!(slept.after(seen), "nobody told the one that sleeps");
    assert!(poll_once(&mut sleeper, &sleeps).is_ready());
}

async fn a_call_may_be_moved_to_another_task() {
    let (stream, server) = crate::common::in_process(&[]);
    let client = sanswire_smol::Client::connect_stream(stream, unwatched()).await.unwrap();
    let (first, second) = (Count::new(), Count::new());
    let mut leads = begin(&client, "hold", "{}");
    let mut sleeps = begin(&client, "hold", "{}");
    for (_, waker) in [&first, &second] {
        assert!(poll_once(&mut leads, waker).is_pending());
        assert!(poll_once(&mut sleeps, waker).is_pending());
    }
    eventually("both are there", || server.held.lock().unwrap().len() == 2).await;
    let (before, seen) = (first.0.get(), second.0.get());
    server.release();
    assert!(second.0.after(seen));
    let end = std::time::Instant::now() + LONG;
    while poll_once(&mut sleeps, &second.1).is_pending() {
        assert!(std::time::Instant::now() < end);
        std::thread::yield_now();
    }
    assert_eq!(text_of(leads.await), "released");
    assert_eq!(first.0.get(), before, "the task it came from is left alone");
}

async fn who_sleeps_is_woken_once_for_an_answer() {
    let (client, server) = streamed(&ANY, &[]).await;
    let (leading, leads) = Count::new();
    let mut leader = begin(&client, "hold", "{}");
    assert!(poll_once(&mut leader, &leads).is_pending());
    let sleepers: Vec<_> = (0..8)
        .map(|_| {
            let (count, waker) = Count::new();
            let mut pending = begin(&client, "hold", "{}");
            assert!(poll_once(&mut pending, &waker).is_pending());
            (pending, count)
        })
        .collect();
    eventually("all are there", || server.held.lock().unwrap().len() == 9).await;
    server.release();
    assert!(leading.after(0));
    let _ = poll_once(&mut leader, &leads);
    for (pending, count) in sleepers {
        assert_eq!(text_of(pending.await), "released");
        assert_eq!(count.get(), 1);
    }
}

async fn a_call_is_not_served_by_who_waits_for_notifications() {
    let (stream, server) = crate::common::in_process(&[]);
    let client = sanswire_smol::Client::connect_stream(stream, unwatched()).await.unwrap();
    let ((reads, reader), (calls, caller)) = (Count::new(), Count::new());
    let reading = Arc::new(client.clone());
    let mut notice = Box::pin(async move { reading.next_notification().await });
    assert!(poll_once(&mut notice, &reader).is_pending());
    let mut call = begin(&client, "hold", "{}");
    assert!(poll_once(&mut call, &caller).is_pending());
    eventually("it is there", || server.held.lock().unwrap().len() == 1).await;
    server.release();
    assert!(calls.after(0));
    assert!(poll_once(&mut call, &caller).is_ready());
    assert_eq!(reads.get(), 0, "a task that had nothing to do with it");
    // It leads again.
    server.notify(1);
    assert!(reads.after(0));
    assert!(poll_once(&mut notice, &reader).is_ready());
}
