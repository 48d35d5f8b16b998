//! Calls over every kind of stream: answers, errors, progress, cancellation, time.

use std::time::Duration;

use sanswire_smol::sanswire::client::{Deadline, Outcome};
use sanswire_smol::sanswire::error::ApiError;
use sanswire_smol::sanswire::mcp::Method;
use sanswire_smol::{Client, Ended, Pending};

use crate::common::{
    Env, Folder, begin, connect, eventually, no_options, on_tcp, on_unix, outcome, raw, streamed, text_of,
    tool, trials,
};

trials! {
    each: over_a_process, over_tcp, over_a_unix_socket, over_a_stream, many_in_flight_from_one_task,
        progress_comes_before_the_end, a_dropped_call_is_cancelled_on_the_wire,
        a_call_that_nobody_answers_runs_out_of_time, a_big_message_goes_both_ways, notifications_come_in_order,
        a_wait_with_a_bound_leaves_the_call_open, a_server_that_reads_slowly_gets_it_all;
    once: names_are_looked_up, an_unknown_address_is_told, a_cork_joins_writes
}

async fn calls(client: &Client) {
    assert_eq!(client.peer().server.name, "child");
    assert_eq!(tool(client, "echo", r#"{"text":"a\nb"}"#).await, "a\nb");
    let listed = client.list(Method::ToolsList, &no_options()).await.unwrap();
    assert_eq!((listed.pages.len(), listed.cut), (3, None));
    match client.call(Method::Other("no/such".into()), None, &no_options()).await.unwrap() {
        Outcome::Error(error) => assert_eq!(error.code, -32601),
        other => panic!("{other:?}"),
    }
    let refused = client.call(Method::ToolsCall, Some(raw("[]")), &no_options()).await;
    assert!(matches!(refused, Err(ApiError::BadParams(_))), "{refused:?}");
    assert!(matches!(client.ping(&no_options()).await, Ok(Outcome::Complete(_))));
    client.notify(Method::Other("notifications/of_ours".into()), None).unwrap();
    for n in 0..50 {
        assert_eq!(tool(client, "echo", &format!(r#"{{"text":"{n}"}}"#)).await, n.to_string());
    }
}

async fn over_a_process(env: Env) {
    let client = connect(&env, &[]).await;
    calls(&client).await;
    let exit = client.close().await;
    assert_eq!((exit.ended, exit.status.and_then(|status| status.code())), (Ended::OnEof, Some(0)));
}

async fn over_tcp(env: Env) {
    let client = Client::connect_tcp(on_tcp(&[]), env.options()).await.unwrap();
    calls(&client).await;
    assert_eq!(client.close().await.ended, Ended::NotAProcess);
}

async fn over_a_unix_socket(env: Env) {
    let folder = Folder::new("unix");
    let client = Client::connect_unix(on_unix(&folder, &[]), env.options()).await.unwrap();
    calls(&client).await;
    assert_eq!(client.close().await.ended, Ended::NotAProcess);
}

async fn over_a_stream(env: Env) {
    let (client, _) = streamed(&env, &[]).await;
    calls(&client).await;
    assert_eq!(client.close().await.ended, Ended::NotAProcess);
}

async fn names_are_looked_up() {
    let port = on_tcp(&[]).port();
    let client = Client::connect_tcp(("localhost", port), crate::common::options()).await.unwrap();
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#).await, "a");
}

async fn an_unknown_address_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::connect_tcp(address, crate::common::options()).await.unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let error = Client::connect_unix("/nowhere/at/all", crate::common::options()).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

async fn many_in_flight_from_one_task(env: Env) {
    let client = connect(&env, &[]).await;
    let cork = client.cork();
    let mut open: Vec<Pending> =
        (0..64).map(|n| begin(&client, "echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
    drop(cork);
    // From the last to the first: each waits while most of the others have no one who waits for them.
    for n in (0..64).rev() {
        assert_eq!(text_of(open.pop().unwrap().await), n.to_string());
    }
    client.close().await;
}

async fn progress_comes_before_the_end(env: Env) {
    let client = connect(&env, &[]).await;
    let params = || Some(raw(r#"{"name":"progress","arguments":{"n":5}}"#));
    let mut told = Vec::new();
    let outcome = client
        .call_with(Method::ToolsCall, params(), &no_options(), |progress| told.push(progress.progress))
        .await
        .unwrap();
    assert_eq!(text_of(outcome), "done");
    assert_eq!(told, [1.0, 2.0, 3.0, 4.0, 5.0]);

    let mut pending = client.start_with_progress(Method::ToolsCall, params(), &no_options()).unwrap();
    assert_eq!(pending.next_progress().await.unwrap().total, Some(5.0));
    let mut rest = 0;
    while pending.next_progress().await.is_some() {
        rest += 1;
    }
    assert_eq!(rest, 4);
    assert_eq!(text_of(pending.await), "done");
    client.close().await;
}

async fn a_dropped_call_is_cancelled_on_the_wire(env: Env) {
    let (client, server) = streamed(&env, &[]).await;
    let mut dropped = begin(&client, "hold", "{}");
    assert!(futures_lite::future::poll_once(&mut dropped).await.is_none());
    drop(dropped);
    begin(&client, "hold", "{}").cancel(Some("no longer needed"));
    eventually("both are cancelled", || server.cancelled.lock().unwrap().len() == 2).await;
    let held = server.held.lock().unwrap().clone();
    assert_eq!(*server.cancelled.lock().unwrap(), held);
    let dropped = futures_lite::future::poll_once(outcome(&client, "hold", "{}")).await;
    assert!(dropped.is_none());
    eventually("a call that was begun and dropped too", || server.cancelled.lock().unwrap().len() == 3).await;
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#).await, "on");
}

async fn a_call_that_nobody_answers_runs_out_of_time(env: Env) {
    let client = connect(&env, &[]).await;
    let mut options = no_options();
    options.idle = Some(Duration::from_millis(50));
    let outcome = client.call_tool("hold", None, &options).await.unwrap();
    assert!(matches!(outcome, Outcome::TimedOut { which: Deadline::Idle, .. }), "{outcome:?}");
    assert_eq!(tool(&client, "cancelled", "{}").await.split(',').count(), 1);
    client.close().await;
}

async fn a_big_message_goes_both_ways(env: Env) {
    let client = connect(&env, &[]).await;
    let text = "y".repeat(3 << 20);
    assert_eq!(tool(&client, "len", &format!(r#"{{"text":"{text}"}}"#)).await, (3 << 20).to_string());
    assert_eq!(tool(&client, "big", r#"{"bytes":5000000}"#).await.len(), 5_000_000);
    client.close().await;
    let (client, _) = streamed(&env, &[]).await;
    assert_eq!(tool(&client, "len", &format!(r#"{{"text":"{text}"}}"#)).await, (3 << 20).to_string());
    assert_eq!(tool(&client, "big", r#"{"bytes":5000000}"#).await.len(), 5_000_000);
}

async fn notifications_come_in_order(env: Env) {
    let (client, server) = streamed(&env, &[]).await;
    assert_eq!(tool(&client, "notify", r#"{"n":3}"#).await, "ok");
    let data = |notice: sanswire_smol::Notification| {
        notice.params.unwrap().view().get("data").and_then(|data| data.as_u64()).unwrap()
    };
    for n in 0..3 {
        assert_eq!(data(client.next_notification().await.unwrap()), n);
    }
    assert!(client.try_next_notification().is_none());
    // One that comes while it is waited for, and one that a dropped wait leaves for the next.
    assert!(futures_lite::future::poll_once(client.next_notification()).await.is_none());
    server.notify(7);
    assert_eq!(data(client.next_notification().await.unwrap()), 7);
    let (closed, _) = futures_lite::future::zip(client.next_notification(), client.close()).await;
    assert_eq!(closed, None);
}

async fn a_wait_with_a_bound_leaves_the_call_open(env: Env) {
    let client = connect(&env, &[]).await;
    let mut held = begin(&client, "hold", "{}");
    assert_eq!(held.wait_timeout(Duration::from_millis(20)).await, None);
    assert_eq!(held.try_take(), None);
    assert_eq!(tool(&client, "release", "{}").await, "ok");
    assert_eq!(held.wait_timeout(Duration::from_secs(60)).await.map(text_of).unwrap(), "released");
    assert_eq!(held.wait_timeout(Duration::from_secs(60)).await, None);
    assert_eq!(held.await, Outcome::Cancelled);
    client.close().await;
}

async fn a_server_that_reads_slowly_gets_it_all(env: Env) {
    let client = connect(&env, &[]).await;
    let block = begin(&client, "block", r#"{"ms":100}"#);
    // More than a pipe holds, while nobody reads.
    let text = "z".repeat(100_000);
    let open: Vec<_> = (0..20).map(|_| begin(&client, "len", &format!(r#"{{"text":"{text}"}}"#))).collect();
    for pending in open {
        assert_eq!(text_of(pending.await), "100000");
    }
    assert_eq!(text_of(block.await), "ok");
    client.close().await;
}

async fn a_cork_joins_writes() {
    let (client, server) = streamed(&crate::common::ANY, &[]).await;
    let cork = client.cork();
    let mut held = begin(&client, "hold", "{}");
    async_io::Timer::after(Duration::from_millis(50)).await;
    assert!(server.held.lock().unwrap().is_empty(), "it was held back");
    // Whoever waits for a call pulls the cork.
    assert!(futures_lite::future::poll_once(&mut held).await.is_none());
    eventually("it left", || server.held.lock().unwrap().len() == 1).await;
    drop(cork);
}
