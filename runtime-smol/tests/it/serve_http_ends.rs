//! Serving over HTTP: what becomes of a call whose client goes, and of everything when the server is stopped.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_io::Timer;
use sanswire_smol::sanswire::jsonrpc::JsonRef;
use sanswire_smol::{Server, Tool};

use crate::common::{Env, eventually, trials};
use crate::http_peer::{Session, Wire, call, listen, until_stopped, with};
use crate::serve_http::{Running, options, server};

trials! {
    each: a_client_that_is_gone_cancels_its_call, a_stop_lets_what_is_open_finish;
    once: who_sends_ahead_and_is_gone_cancels_its_call, a_client_that_ends_its_output_counts_as_gone,
        a_stop_ends_streams_in_good_order, a_stop_for_now_cancels, a_stop_waits_no_longer_than_the_drain,
        a_stop_waits_for_nobody_who_does_not_read, a_stopped_server_serves_nobody
}

async fn a_stop_lets_what_is_open_finish(_: Env) {
    let (server, seen) = server();
    until_stopped(&server, options(), async |address, stopper| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "nap", r#"{"ms":200}"#)).await;
        let mut rests = Wire::connect(address).await;
        rests.echoes(2).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        stopper.stop();
        assert!(rests.ended().await, "whoever has nothing open is let go");
        assert_eq!(wire.answer().await.said(), (1, "awake".into()));
        assert!(wire.ended().await);
    })
    .await;
}

async fn a_client_that_is_gone_cancels_its_call(_: Env) {
    let (server, seen) = server();
    with(&server, options(), async |address| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "wait", "{}")).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        drop(wire);
        eventually("it was told", || seen.cancelled.load(Ordering::SeqCst) == 1).await;
        eventually("it is over", || seen.running.load(Ordering::SeqCst) == 0).await;
    })
    .await;
}

async fn who_sends_ahead_and_is_gone_cancels_its_call() {
    let (server, seen) = server();
    with(&server, options(), async |address| {
        // More than is read while there is an answer to be waited for.
        let ahead = call(2, "echo", &format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000)));
        for round in 0..2 {
            let mut wire = Wire::connect(address).await;
            wire.send(&(call(1, "wait", "{}") + &ahead)).await;
            eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
            if round == 0 {
                wire.end_output();
                assert!(wire.ended().await);
            }
            drop(wire);
            eventually("it was told", || seen.cancelled.load(Ordering::SeqCst) == round + 1).await;
            eventually("it is over", || seen.running.load(Ordering::SeqCst) == 0).await;
        }
        // One who stays is answered.
        let mut wire = Wire::connect(address).await;
        wire.send(&(call(1, "nap", r#"{"ms":1500}"#) + &ahead)).await;
        assert_eq!(wire.answer().await.said(), (1, "awake".into()));
        assert_eq!(wire.answer().await.said().0, 2);
    })
    .await;
}

async fn a_client_that_ends_its_output_counts_as_gone() {
    let (server, seen) = server();
    with(&server, options(), async |address| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "wait", "{}")).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        wire.end_output();
        eventually("it was told", || seen.cancelled.load(Ordering::SeqCst) == 1).await;
        assert!(wire.ended().await);
        // One that was answered before may read to the end.
        let mut wire = Wire::connect(address).await;
        wire.send(&call(2, "blob", r#"{"bytes":8000000}"#)).await;
        Timer::after(Duration::from_millis(200)).await;
        wire.end_output();
        assert_eq!(wire.answer().await.said().1.len(), 8_000_000);
        assert!(wire.ended().await);
    })
    .await;
}

async fn a_stop_ends_streams_in_good_order() {
    let (server, _) = server();
    until_stopped(&server, options(), async |address, stopper| {
        let mut modern = Wire::connect(address).await;
        modern.send(&listen(1)).await;
        modern.stream().await;
        assert!(modern.event().await.is_some(), "it is acknowledged");
        let mut legacy = Session::open(address).await;
        legacy.ask("GET", "Accept: text/event-stream\r\n").await;
        legacy.wire.stream().await;
        stopper.stop();
        while let Some(last) = modern.event().await {
            assert_eq!(last.view().get("id").and_then(JsonRef::as_u64), Some(1), "{}", last.as_str());
        }
        assert!(modern.ended().await);
        assert!(legacy.wire.event().await.is_none());
        assert!(legacy.wire.ended().await);
    })
    .await;
}

async fn a_stop_for_now_cancels() {
    let (server, seen) = server();
    until_stopped(&server, options(), async |address, stopper| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "wait", "{}")).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        stopper.stop_now();
        eventually("it was told", || seen.cancelled.load(Ordering::SeqCst) == 1).await;
        assert!(wire.ended().await || wire.head().await.is_some());
    })
    .await;
    assert_eq!(seen.running.load(Ordering::SeqCst), 0);
}

async fn a_stop_waits_no_longer_than_the_drain() {
    let (_, seen) = server();
    let naps = seen.clone();
    let server = Server::builder("s", "1")
        .tool("deaf", Tool::new("Does not listen"), move |(), _| {
            let seen = naps.clone();
            async move {
                let _running = Running::begin(&seen);
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .config(|config| config.limits.drain = Duration::from_millis(100))
        .build()
        .unwrap();
    until_stopped(&server, options(), async |address, stopper| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "deaf", "{}")).await;
        eventually("it runs", || seen.running.load(Ordering::SeqCst) == 1).await;
        stopper.stop();
    })
    .await;
    assert_eq!(seen.running.load(Ordering::SeqCst), 0, "it is dropped with the server's future");
}

async fn a_stop_waits_for_nobody_who_does_not_read() {
    let (server, _) = server();
    let mut kept = None;
    until_stopped(&server, options(), async |address, stopper| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "blob", r#"{"bytes":15000000}"#)).await;
        assert!(wire.head().await.is_some());
        kept = Some(wire);
        stopper.stop();
    })
    .await;
}

async fn a_stopped_server_serves_nobody() {
    let (server, _) = server();
    server.stopper().stop();
    until_stopped(&server, options(), async |_, _| {}).await;
}
