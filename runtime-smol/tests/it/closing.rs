//! The end of a connection, in every state of it.

use std::time::Duration;

use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::sanswire::error::{ApiError, CloseReason};
use sanswire_smol::{Client, Closer, ConnectError, Ended, StopLadder, close_all};

use crate::common::{
    ANY, Env, Folder, begin, child, connect, eventually, in_process, no_options, options, outcome, poll_once,
    runs, streamed, text_of, tool, trials,
};

trials! {
    each: closing_twice_is_the_same, open_calls_end_with_the_connection, the_last_to_go_ends_it,
        a_closer_ends_what_is_being_opened, killing_waits_for_nothing;
    once: a_begun_close_takes_its_course, a_server_that_reads_no_more, a_stubborn_server_is_terminated,
        many_are_stopped_side_by_side, a_closer_has_a_bound, a_stream_that_ends, a_dropped_stream_is_closed,
        a_pending_call_outlives_the_client, a_full_pipe_does_not_hold_up_the_end
}

fn ladder(ms: u64) -> StopLadder {
    StopLadder::new(Duration::from_millis(ms), Duration::from_millis(ms), Duration::from_secs(10))
}

async fn closing_twice_is_the_same(env: Env) {
    let client = connect(&env, &[]).await;
    let pid = client.pid().unwrap();
    let (first, second) = futures_lite::future::zip(client.close(), client.clone().close()).await;
    assert_eq!(first, second);
    assert_eq!(client.close().await, first);
    assert_eq!(client.exit(), Some(first));
    assert_eq!(client.is_closed(), Some(CloseReason::Local));
    assert!(!runs(pid));
    assert!(matches!(client.ping(&no_options()).await, Err(ApiError::Closed)));
    assert_eq!(client.next_notification().await, None);
}

async fn open_calls_end_with_the_connection(env: Env) {
    let client = connect(&env, &[]).await;
    let (polled, waker) = crate::common::Count::new();
    let mut led = begin(&client, "hold", "{}");
    let mut sleeps = begin(&client, "hold", "{}");
    let not_polled = begin(&client, "hold", "{}");
    assert!(poll_once(&mut led, &waker).is_pending() && poll_once(&mut sleeps, &waker).is_pending());
    client.close().await;
    assert!(polled.get() >= 2, "both were woken");
    for pending in [led, sleeps, not_polled] {
        assert_eq!(pending.await, Outcome::Cancelled);
    }
}

async fn the_last_to_go_ends_it(env: Env) {
    let client = connect(&env, &[]).await;
    let (pid, clone) = (client.pid().unwrap(), client.clone());
    drop(client);
    assert_eq!(tool(&clone, "echo", r#"{"text":"a"}"#).await, "a");
    drop(clone);
    eventually("the server is gone", || !runs(pid)).await;
}

async fn a_closer_ends_what_is_being_opened(env: Env) {
    let folder = Folder::new("closer");
    let path = folder.0.join("pid");
    let closer = Closer::new();
    let mut options = env.options();
    options.closer = Some(closer.clone());
    options.stop = ladder(50);
    let command = child(&["silent", &format!("pid={}", path.display())]);
    let end = async {
        eventually("the server runs", || std::fs::read_to_string(&path).is_ok_and(|text| !text.is_empty()))
            .await;
        closer.close().await;
    };
    let (opened, ()) = futures_lite::future::zip(Client::connect(&command, options.clone()), end).await;
    match opened.unwrap_err() {
        ConnectError::Closed { reason, .. } => assert_eq!(*reason, CloseReason::Local),
        other => panic!("{other}"),
    }
    assert!(!runs(std::fs::read_to_string(&path).unwrap().parse().unwrap()));
    let late = Client::connect(&child(&[]), options).await.unwrap_err();
    assert!(matches!(late, ConnectError::Closed { .. }), "{late}");
}

async fn killing_waits_for_nothing(env: Env) {
    let client = connect(&env, &["ignore-eof"]).await;
    let exit = client.kill().await;
    assert_eq!(exit.ended, Ended::OnKill);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit.status.unwrap()), Some(9));
}

async fn a_begun_close_takes_its_course() {
    let client = connect(&ANY, &[]).await;
    assert!(futures_lite::future::poll_once(client.close()).await.is_none());
    eventually("it ends", || client.exit().is_some()).await;
    assert!(!runs(client.pid().unwrap()));
}

async fn a_server_that_reads_no_more() {
    let (client, _) = streamed(&ANY, &["deaf"]).await;
    let sent = client.call_tool("echo", None, &no_options()).await;
    assert!(matches!(sent, Ok(Outcome::Lost { .. }) | Err(ApiError::Closed)), "{sent:?}");
    client.close().await;
}

async fn a_stubborn_server_is_terminated() {
    let mut options = options();
    options.stop =
        StopLadder::new(Duration::from_millis(30), Duration::from_secs(3), Duration::from_secs(60));
    let client = Client::connect(&child(&["ignore-eof"]), options).await.unwrap();
    let grandchild: u32 = tool(&client, "grandchild", "{}").await.parse().unwrap();
    let exit = client.close().await;
    assert_eq!(exit.ended, Ended::OnTerm);
    assert!(!runs(client.pid().unwrap()));
    eventually("the rest of its group too", || !runs(grandchild)).await;
}

async fn many_are_stopped_side_by_side() {
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(connect(&ANY, &["ignore-eof"]).await);
    }
    clients.push(connect(&ANY, &[]).await);
    let pids: Vec<_> = clients.iter().filter_map(Client::pid).collect();
    let exits = close_all(clients, Duration::from_secs(2)).await;
    assert_eq!(exits.len(), 5);
    assert!(exits.iter().all(|exit| exit.status.is_some()), "{exits:?}");
    assert!(pids.into_iter().all(|pid| !runs(pid)));
    assert!(matches!(exits.last(), Some(exit) if exit.ended == Ended::OnEof));
}

async fn a_closer_has_a_bound() {
    let closer = Closer::new();
    let mut options = options();
    options.closer = Some(closer.clone());
    options.stop =
        StopLadder::new(Duration::from_secs(60), Duration::from_secs(60), Duration::from_secs(120));
    let stubborn = Client::connect(&child(&["ignore-eof"]), options.clone()).await.unwrap();
    let (stream, server) = in_process(&[]);
    let other = Client::connect_stream(stream, options).await.unwrap();
    assert!(closer.close_within(Duration::from_millis(500)).await);
    assert_eq!(stubborn.exit().map(|exit| exit.ended), Some(Ended::OnKill));
    assert!(!runs(stubborn.pid().unwrap()));
    assert_eq!(other.is_closed(), Some(CloseReason::Local));
    eventually("the server sees the end", || server.ended()).await;
}

async fn a_stream_that_ends() {
    let (stream, server) = in_process(&[]);
    let client = Client::connect_stream(stream, options()).await.unwrap();
    let held = begin(&client, "hold", "{}");
    eventually("the call is there", || server.held.lock().unwrap().len() == 1).await;
    server.end();
    assert_eq!(held.await, Outcome::Lost { maybe_ran: true });
    assert_eq!(client.is_closed(), Some(CloseReason::Eof));
    assert_eq!(client.close().await.ended, Ended::NotAProcess);
}

async fn a_dropped_stream_is_closed() {
    let (client, server) = streamed(&ANY, &[]).await;
    drop(client);
    eventually("the server sees the end", || server.ended()).await;
}

async fn a_pending_call_outlives_the_client() {
    let client = connect(&ANY, &[]).await;
    let held = begin(&client, "hold", "{}");
    drop(client);
    assert_eq!(held.await, Outcome::Cancelled);
}

async fn a_full_pipe_does_not_hold_up_the_end() {
    let mut options = options();
    options.stop = ladder(30);
    let client = Client::connect(&child(&[]), options).await.unwrap();
    let pid = client.pid().unwrap();
    let block = begin(&client, "block", r#"{"ms":60000}"#);
    let text = "z".repeat(100_000);
    let open: Vec<_> = (0..20).map(|_| begin(&client, "len", &format!(r#"{{"text":"{text}"}}"#))).collect();
    drop((block, open, client));
    eventually("the server is gone", || !runs(pid)).await;

    let client = connect(&ANY, &[]).await;
    let slow = begin(&client, "block", r#"{"ms":100}"#);
    let answer = outcome(&client, "len", &format!(r#"{{"text":"{text}"}}"#)).await;
    assert_eq!(text_of(answer), "100000");
    drop(slow);
    client.close().await;
}
