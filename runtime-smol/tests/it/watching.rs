//! The watch: what happens while nobody waits.

use std::sync::atomic::Ordering;

use async_executor::LocalExecutor;
use sanswire_smol::{Client, Watch};

use crate::common::{
    ANY, Count, Env, begin, child, eventually, in_process, options, poll_once, streamed, text_of, tool,
    trials,
};

trials! {
    each: a_ping_is_answered_while_nobody_calls, a_ping_is_answered_while_a_leader_does_not_come;
    once: without_anybody_who_watches_calls_go_on, a_watch_may_be_run_again,
        of_two_runs_one_does_the_work, what_a_run_leaves_is_done_by_the_next, one_watch_looks_after_many
}

async fn a_ping_is_answered_while_nobody_calls(env: Env) {
    let (client, server) = streamed(&env, &[]).await;
    for n in 1..=3 {
        server.ping();
        eventually("it is answered", || server.pongs.load(Ordering::SeqCst) == n).await;
    }
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#).await, "a");
    server.ping();
    eventually("and after a call", || server.pongs.load(Ordering::SeqCst) == 4).await;
}

async fn a_ping_is_answered_while_a_leader_does_not_come(env: Env) {
    let (client, server) = streamed(&env, &[]).await;
    let (_, waker) = Count::new();
    let mut led = begin(&client, "hold", "{}");
    for n in 1..=3 {
        assert!(poll_once(&mut led, &waker).is_pending());
        server.ping();
        eventually("it is answered", || server.pongs.load(Ordering::SeqCst) == n).await;
    }
}

async fn without_anybody_who_watches_calls_go_on() {
    let mut options = options();
    options.watch = Some(Watch::new());
    let client = Client::connect(&child(&[]), options).await.unwrap();
    let first = begin(&client, "echo", r#"{"text":"1"}"#);
    let second = begin(&client, "echo", r#"{"text":"2"}"#);
    assert_eq!(text_of(second.await), "2");
    assert_eq!(text_of(first.await), "1");
    assert_eq!(tool(&client, "notify", r#"{"n":1}"#).await, "ok");
    assert!(client.next_notification().await.is_some());
    assert!(client.close().await.status.is_some());
}

async fn a_watch_may_be_run_again() {
    let (stream, server) = in_process(&[]);
    let watch = Watch::new();
    let mut options = ANY.options();
    options.watch = Some(watch.clone());
    let _client = Client::connect_stream(stream, options).await.unwrap();
    for n in 1..=3 {
        let executor = LocalExecutor::new();
        executor.spawn(watch.run()).detach();
        server.ping();
        // The run goes with its executor.
        executor.run(eventually("it is answered", || server.pongs.load(Ordering::SeqCst) == n)).await;
    }
}

async fn of_two_runs_one_does_the_work() {
    let (stream, server) = in_process(&[]);
    let watch = Watch::new();
    let mut options = ANY.options();
    options.watch = Some(watch.clone());
    let executor = LocalExecutor::new();
    let (first, second) = (executor.spawn(watch.run()), executor.spawn(watch.run()));
    executor
        .run(async {
            let _client = Client::connect_stream(stream, options).await.unwrap();
            server.ping();
            eventually("it is answered", || server.pongs.load(Ordering::SeqCst) == 1).await;
            first.cancel().await;
            server.ping();
            eventually("by the other", || server.pongs.load(Ordering::SeqCst) == 2).await;
        })
        .await;
    drop(second);
}

async fn what_a_run_leaves_is_done_by_the_next() {
    let (stream, server) = in_process(&[]);
    let watch = Watch::new();
    let mut options = ANY.options();
    options.watch = Some(watch.clone());
    let _client = Client::connect_stream(stream, options).await.unwrap();
    let ((first, works), (second, stands_by)) = (Count::new(), Count::new());
    let (mut run, mut other) = (Box::pin(watch.run()), Box::pin(watch.run()));
    assert!(poll_once(&mut run, &works).is_pending());
    assert!(poll_once(&mut other, &stands_by).is_pending());
    // What is left of connecting comes to rest.
    let mut rests = first.get();
    loop {
        async_io::Timer::after(std::time::Duration::from_millis(100)).await;
        assert!(poll_once(&mut run, &works).is_pending());
        if first.get() == std::mem::replace(&mut rests, first.get()) {
            break;
        }
    }
    let (told, seen) = (first.get(), second.get());
    server.ping();
    assert!(first.after(told));
    drop(run);
    assert!(second.after(seen), "nobody told the other");
    assert!(poll_once(&mut other, &stands_by).is_pending());
    eventually("it is answered", || server.pongs.load(Ordering::SeqCst) == 1).await;
}

async fn one_watch_looks_after_many() {
    let mut all = Vec::new();
    for _ in 0..32 {
        all.push(streamed(&ANY, &[]).await);
    }
    for (_, server) in &all {
        server.ping();
    }
    eventually("all are answered", || all.iter().all(|(_, server)| server.pongs.load(Ordering::SeqCst) == 1))
        .await;
    let watches = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("sanswire-watch"))
        .count();
    assert_eq!(watches, 1);
}
