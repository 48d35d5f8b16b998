//! Connections of a host that are lost, and listings that change.

use std::time::Duration;

use futures_lite::future::zip;
use sanswire_smol::StopLadder;
use sanswire_smol::host::{CallOutcome, Event, Host, Launch};
use sanswire_smol::sanswire::host::RefreshMode;
use sanswire_smol::sanswire::host::link::Status;

use crate::common::{ANY, Env, LONG, eventually, kill, options, runs, trials};
use crate::host_common::{
    Seen, all, allowed, builder, call, config, echoes, ended, host, hosted, launch, pid, request, started,
    status, text, until,
};
use crate::hosted::Record;

trials! {
    each: h_225_after_a_kill_there_are_two_handshakes_and_one_listing,
        h_105_h_225_a_call_that_its_server_dies_of_is_made_once, h_107_calls_wait_for_the_connection_that_comes,
        h_109_many_calls_that_are_lost_at_once_start_one_attempt, h_111_h_224_closed_while_it_reconnects,
        h_110_a_reconnect_by_hand_replaces_the_process, many_reconnects_at_once_leave_one_process,
        h_207_a_changed_listing_is_offered_at_the_next_turn,
        h_207_a_changed_listing_of_a_modern_server_is_offered_at_once_if_so_set,
        h_075_a_server_that_answers_nothing_is_opened_anew;
    once: h_108_h_225_after_four_starts_it_is_given_up, h_108_one_that_dies_whenever_it_is_ready_is_given_up,
        h_114_by_hand_it_is_tried_again, h_112_one_that_is_slow_to_end_does_not_fill_the_system,
        h_101_a_server_that_no_longer_lists_keeps_its_tools,
        h_075_a_server_whose_calls_take_too_long_is_asked_whether_it_answers
}

async fn h_225_after_a_kill_there_are_two_handshakes_and_one_listing(env: Env) {
    // H-103, H-106, H-225
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let before = pid(&host, "it");
    kill(before);
    eventually("there is another process", || host.client("it").is_some_and(|it| it.pid() != Some(before)))
        .await;
    assert_ne!(text(call(&host, "it", "pid", "{}").await), before.to_string());
    let counts = ["start", "initialize", "tools/list"].map(|what| record.count(what));
    assert_eq!(counts, [2, 2, 1]);
    // The first was killed, the second ends well.
    let exits = host.close().await;
    assert_eq!((exits.len(), exits[0].1.status.unwrap().code()), (1, Some(0)));
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

async fn h_105_h_225_a_call_that_its_server_dies_of_is_made_once(env: Env) {
    // H-105, H-225
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let outcome = call(&host, "it", "exit", r#"{"code":9}"#).await;
    assert!(matches!(outcome, CallOutcome::Disconnected { maybe_ran: true }), "{outcome:?}");
    echoes(&host, "it").await;
    let calls = ["call exit", "call echo", "start"].map(|what| record.count(what));
    assert_eq!(calls, [1, 1, 2]);
}

async fn h_108_h_225_after_four_starts_it_is_given_up() {
    // H-108, H-225
    let record = Record::new();
    let host = host(&ANY, &["crash-again", &record.flag()]).await;
    kill(pid(&host, "it"));
    until(&host, "it", Status::Unavailable).await;
    assert_eq!(record.count("start"), 4);
    let CallOutcome::Unavailable { status, error } = call(&host, "it", "echo", "{}").await else { panic!() };
    assert_eq!(status, Status::Unavailable);
    assert!(error.contains("exited with status 5"), "{error}");
    // Its tools are shown as they were.
    assert_eq!(host.state("it").unwrap().tools.unwrap().tools.len(), 8);
    assert_eq!(record.count("start"), 4);
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

async fn h_108_one_that_dies_whenever_it_is_ready_is_given_up() {
    // H-108
    let record = Record::new();
    let host = host(&ANY, &["die-ready-again", &record.flag()]).await;
    kill(pid(&host, "it"));
    until(&host, "it", Status::Unavailable).await;
    assert_eq!((record.count("start"), record.count("initialize")), (4, 4));
}

async fn h_114_by_hand_it_is_tried_again() {
    // H-114
    let record = Record::new();
    let host = host(&ANY, &["crash-again", &record.flag()]).await;
    kill(pid(&host, "it"));
    until(&host, "it", Status::Unavailable).await;
    assert!(host.reconnect("it"));
    eventually("it is given up again", || record.count("start") == 7).await;
    until(&host, "it", Status::Unavailable).await;
    assert!(!host.reconnect("nobody"));
}

async fn h_107_calls_wait_for_the_connection_that_comes(env: Env) {
    // H-107
    let record = Record::new();
    let host = host(&env, &["slow-again", &record.flag()]).await;
    kill(pid(&host, "it"));
    until(&host, "it", Status::Reconnecting).await;
    let host = &host;
    let calls = (0..4).map(|n| async move {
        let arguments = format!(r#"{{"text":"{n}"}}"#);
        text(call(host, "it", "echo", &arguments).await)
    });
    assert_eq!(all(calls).await, ["0", "1", "2", "3"]);
    assert_eq!(record.count("start"), 2);
}

async fn h_109_many_calls_that_are_lost_at_once_start_one_attempt(env: Env) {
    // H-109
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let hold = |n| host.start(request("it", "hold", &format!(r#"{{"n":{n}}}"#))).unwrap();
    let calls: Vec<_> = (0..8).map(hold).collect();
    let kills = async {
        eventually("they are under way", || record.count("call") == 8).await;
        kill(pid(&host, "it"));
    };
    let (ends, ()) = zip(all(calls), kills).await;
    assert!(ends.iter().all(|end| ended(end) == "disconnected"), "{ends:?}");
    until(&host, "it", Status::Connected).await;
    echoes(&host, "it").await;
    assert_eq!((record.count("start"), record.count("call hold")), (2, 8));
}

async fn h_111_h_224_closed_while_it_reconnects(env: Env) {
    // H-111, H-224
    let record = Record::new();
    let host = host(&env, &["hang-again", &record.flag()]).await;
    kill(pid(&host, "it"));
    until(&host, "it", Status::Reconnecting).await;
    let call = host.start(request("it", "echo", "{}")).unwrap();
    let closes = async {
        eventually("it is started again", || record.count("start") == 2).await;
        host.close().await
    };
    let (end, _) = zip(call, closes).await;
    assert_eq!(ended(&end), "cancelled");
    assert_eq!(status(&host, "it"), Status::Unavailable);
    assert_eq!(record.count("start"), 2);
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

async fn h_110_a_reconnect_by_hand_replaces_the_process(env: Env) {
    // H-110
    let record = Record::new();
    // The old one takes its time to end, which nobody waits for.
    let host = host(&env, &["ignore-eof", &record.flag()]).await;
    let before = pid(&host, "it");
    assert!(host.reconnect("it"));
    let after = text(call(&host, "it", "pid", "{}").await);
    assert_ne!(after, before.to_string());
    eventually("the old one is gone", || !runs(before)).await;
    assert_eq!(text(call(&host, "it", "pid", "{}").await), after);
    assert_eq!(record.count("start"), 2);
}

async fn many_reconnects_at_once_leave_one_process(env: Env) {
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    for _ in 0..20 {
        assert!(host.reconnect("it"));
    }
    echoes(&host, "it").await;
    let now = pid(&host, "it");
    eventually("the others are gone", || record.pids().iter().filter(|pid| runs(**pid)).eq([&now])).await;
    host.close().await;
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

async fn h_112_one_that_is_slow_to_end_does_not_fill_the_system() {
    // H-112
    let record = Record::new();
    let mut options = options();
    options.stop = StopLadder::new(Duration::from_secs(1), LONG, LONG);
    let launch = Launch::command(hosted(&["ignore-eof", &record.flag()]), options);
    let host = started(builder(&ANY).server("it", allowed(), launch)).await;
    for _ in 0..12 {
        assert!(host.reconnect("it"));
        until(&host, "it", Status::Connected).await;
        let running = record.pids().into_iter().filter(|pid| runs(*pid)).count();
        assert!(running <= 5, "{running}");
    }
    assert_eq!(record.pids().len(), 13);
}

fn grown(host: &Host) -> bool {
    host.with(|machine| machine.registry().find("it", "grown").is_some())
}

async fn h_207_a_changed_listing_is_offered_at_the_next_turn(env: Env) {
    // H-207, H-211
    let (record, seen) = (Record::new(), Seen::default());
    let host = builder(&env).server("it", allowed(), launch(&[&record.flag()])).observer(seen.clone());
    let host = started(host).await;
    assert_eq!(text(call(&host, "it", "grow", "{}").await), "grown");
    let change = |event: &Event| match event {
        Event::Tools { change, staged: true, .. } => Some(change.clone()),
        _ => None,
    };
    eventually("the change is told", || seen.find(change).is_some()).await;
    assert!(!grown(&host));
    host.begin_turn();
    assert!(grown(&host));
    assert_eq!(record.count("tools/list"), 2);
}

async fn h_207_a_changed_listing_of_a_modern_server_is_offered_at_once_if_so_set(env: Env) {
    // H-207
    let mut config = config();
    config.refresh.mode = RefreshMode::Live;
    let record = Record::new();
    let host =
        env.watching(Host::builder(config)).server("it", allowed(), launch(&["modern", &record.flag()]));
    let host = started(host).await;
    eventually("it is listened for", || record.count("subscriptions/listen") == 1).await;
    assert_eq!(text(call(&host, "it", "grow", "{}").await), "grown");
    eventually("it is offered", || grown(&host)).await;
}

async fn h_101_a_server_that_no_longer_lists_keeps_its_tools() {
    // H-101
    let mut short = allowed();
    short.connect_timeout = Some(Duration::from_secs(2));
    let host = started(builder(&ANY).server("it", short, launch(&["list-once"]))).await;
    assert!(host.refresh("it"));
    eventually("that it failed is told", || host.state("it").unwrap().listing_failed).await;
    let state = host.state("it").unwrap();
    assert_eq!((state.status, state.tools.unwrap().tools.len()), (Status::Connected, 8));
    let error = state.error.unwrap();
    assert!(error.contains("no answer"), "{error}");
    echoes(&host, "it").await;
}

/// A host that asks a server after two calls in a row that took too long whether it still answers.
async fn asks_the_mute(env: &Env, flags: &[&str], limit: Duration) -> Host {
    let mut config = config();
    config.timeouts.default = Duration::from_millis(100);
    (config.probe.after, config.probe.limit) = (2, limit);
    started(env.watching(Host::builder(config)).server("it", allowed(), launch(flags))).await
}

async fn h_075_a_server_whose_calls_take_too_long_is_asked_whether_it_answers() {
    // H-075
    for kind in ["legacy", "modern"] {
        let record = Record::new();
        let host = asks_the_mute(&ANY, &[&record.flag(), kind, "list-once"], LONG).await;
        let asked =
            || if kind == "modern" { record.count("server/discover") - 1 } else { record.count("ping") };
        // A listing that hangs holds it up no more than anything else does.
        assert!(host.refresh("it"));
        eventually("it is asked for its listing", || record.count("tools/list") == 2).await;
        for calls in 1..=2 {
            assert_eq!(ended(&host.call(request("it", "hold", "{}")).await.unwrap()), "timeout");
            assert!(calls == 2 || asked() == 0, "{kind}");
        }
        eventually("it is asked", || asked() == 1).await;
        assert_eq!((status(&host, "it"), record.pids().len()), (Status::Connected, 1), "{kind}");
    }
}

async fn h_075_a_server_that_answers_nothing_is_opened_anew(env: Env) {
    // H-075
    let record = Record::new();
    let host = asks_the_mute(&env, &[&record.flag(), "no-ping"], Duration::from_millis(100)).await;
    for _ in 0..2 {
        assert_eq!(ended(&host.call(request("it", "hold", "{}")).await.unwrap()), "timeout");
    }
    eventually("it is started again", || record.pids().len() == 2).await;
    assert_eq!(record.count("ping"), 1);
    until(&host, "it", Status::Connected).await;
}
