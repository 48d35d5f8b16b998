//! Connections of a host that are lost, and listings that change.

use std::time::Duration;

use sanswire_std::StopLadder;
use sanswire_std::host::{CallOutcome, Event, Host, Launch};
use sanswire_std::sanswire::host::RefreshMode;
use sanswire_std::sanswire::host::link::Status;

use crate::common::{LONG, child, eventually, kill, options, runs, trials, within};
use crate::host_common::{
    Seen, allowed, builder, call, config, ended, host, launch, pid, request, status, text, until,
};
use crate::hosted::Record;

trials!(
    h_225_after_a_kill_there_are_two_handshakes_and_one_listing,
    h_105_h_225_a_call_that_its_server_dies_of_is_made_once,
    h_108_h_225_after_four_starts_it_is_given_up,
    h_108_one_that_dies_whenever_it_is_ready_is_given_up,
    h_114_by_hand_it_is_tried_again,
    h_107_calls_wait_for_the_connection_that_comes,
    h_109_many_calls_that_are_lost_at_once_start_one_attempt,
    h_111_h_224_closed_while_it_reconnects,
    h_110_a_reconnect_by_hand_replaces_the_process,
    many_reconnects_at_once_leave_one_process,
    h_112_one_that_is_slow_to_end_does_not_fill_the_system,
    h_207_a_changed_listing_is_offered_at_the_next_turn,
    h_207_a_changed_listing_of_a_modern_server_is_offered_at_once_if_so_set,
    h_101_a_server_that_no_longer_lists_keeps_its_tools,
    h_075_a_server_whose_calls_take_too_long_is_asked_whether_it_answers,
    h_075_a_server_that_answers_nothing_is_opened_anew,
);

fn h_225_after_a_kill_there_are_two_handshakes_and_one_listing() {
    // H-103, H-106, H-225
    let record = Record::new();
    let host = host(&[&record.flag()]);
    let before = pid(&host, "it");
    kill(before);
    eventually("there is another process", || host.client("it").is_some_and(|it| it.pid() != Some(before)));
    assert_ne!(text(call(&host, "it", "pid", "{}")), before.to_string());
    let counts = ["start", "initialize", "tools/list"].map(|what| record.count(what));
    assert_eq!(counts, [2, 2, 1]);
    // The first was killed, the second ends well.
    let exits = host.close();
    assert_eq!((exits.len(), exits[0].1.status.unwrap().code()), (1, Some(0)));
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

fn h_105_h_225_a_call_that_its_server_dies_of_is_made_once() {
    // H-105, H-225
    let record = Record::new();
    let host = host(&[&record.flag()]);
    let outcome = within(LONG, || call(&host, "it", "exit", r#"{"code":9}"#));
    assert!(matches!(outcome, CallOutcome::Disconnected { maybe_ran: true }), "{outcome:?}");
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"a"}"#)), "a");
    let calls = ["call exit", "call echo", "start"].map(|what| record.count(what));
    assert_eq!(calls, [1, 1, 2]);
}

fn h_108_h_225_after_four_starts_it_is_given_up() {
    // H-108, H-225
    let record = Record::new();
    let host = host(&["crash-again", &record.flag()]);
    kill(pid(&host, "it"));
    until(&host, "it", Status::Unavailable);
    assert_eq!(record.count("start"), 4);
    let CallOutcome::Unavailable { status, error } = call(&host, "it", "echo", "{}") else { panic!() };
    assert_eq!(status, Status::Unavailable);
    assert!(error.contains("exited with status 5"), "{error}");
    // Its tools are shown as they were.
    assert_eq!(host.state("it").unwrap().tools.unwrap().tools.len(), 8);
    assert_eq!(record.count("start"), 4);
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

fn h_108_one_that_dies_whenever_it_is_ready_is_given_up() {
    // H-108
    let record = Record::new();
    let host = host(&["die-ready-again", &record.flag()]);
    kill(pid(&host, "it"));
    until(&host, "it", Status::Unavailable);
    assert_eq!((record.count("start"), record.count("initialize")), (4, 4));
}

fn h_114_by_hand_it_is_tried_again() {
    // H-114
    let record = Record::new();
    let host = host(&["crash-again", &record.flag()]);
    kill(pid(&host, "it"));
    until(&host, "it", Status::Unavailable);
    assert!(host.reconnect("it"));
    eventually("it is given up again", || record.count("start") == 7);
    until(&host, "it", Status::Unavailable);
    assert!(!host.reconnect("nobody"));
}

fn h_107_calls_wait_for_the_connection_that_comes() {
    // H-107
    let record = Record::new();
    let host = host(&["slow-again", &record.flag()]);
    kill(pid(&host, "it"));
    until(&host, "it", Status::Reconnecting);
    let calls: Vec<_> = (0..4)
        .map(|n| {
            let host = host.clone();
            let arguments = format!(r#"{{"text":"{n}"}}"#);
            std::thread::spawn(move || text(call(&host, "it", "echo", &arguments)))
        })
        .collect();
    let said: Vec<_> = calls.into_iter().map(|call| within(LONG, || call.join().unwrap())).collect();
    assert_eq!(said, ["0", "1", "2", "3"]);
    assert_eq!(record.count("start"), 2);
}

fn h_109_many_calls_that_are_lost_at_once_start_one_attempt() {
    // H-109
    let record = Record::new();
    let host = host(&[&record.flag()]);
    let calls: Vec<_> = (0..8)
        .map(|n| {
            let host = host.clone();
            std::thread::spawn(move || call(&host, "it", "hold", &format!(r#"{{"n":{n}}}"#)).as_str())
        })
        .collect();
    eventually("they are under way", || record.count("call") == 8);
    kill(pid(&host, "it"));
    calls.into_iter().for_each(|call| assert_eq!(within(LONG, || call.join().unwrap()), "disconnected"));
    until(&host, "it", Status::Connected);
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"a"}"#)), "a");
    assert_eq!((record.count("start"), record.count("call hold")), (2, 8));
}

fn h_111_h_224_closed_while_it_reconnects() {
    // H-111, H-224
    let record = Record::new();
    let host = host(&["hang-again", &record.flag()]);
    kill(pid(&host, "it"));
    until(&host, "it", Status::Reconnecting);
    let call = host.start(request("it", "echo", "{}")).unwrap();
    let waits = std::thread::spawn(move || ended(call.wait()));
    eventually("it is started again", || record.count("start") == 2);
    within(LONG, || host.close());
    assert_eq!(within(LONG, || waits.join().unwrap()), "cancelled");
    assert_eq!(status(&host, "it"), Status::Unavailable);
    assert_eq!(record.count("start"), 2);
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

fn h_110_a_reconnect_by_hand_replaces_the_process() {
    // H-110
    let record = Record::new();
    // The old one takes its time to end, which nobody waits for.
    let host = host(&["ignore-eof", &record.flag()]);
    let before = pid(&host, "it");
    assert!(host.reconnect("it"));
    let after = text(call(&host, "it", "pid", "{}"));
    assert_ne!(after, before.to_string());
    eventually("the old one is gone", || !runs(before));
    assert_eq!(text(call(&host, "it", "pid", "{}")), after);
    assert_eq!(record.count("start"), 2);
}

fn many_reconnects_at_once_leave_one_process() {
    let record = Record::new();
    let host = host(&[&record.flag()]);
    for _ in 0..20 {
        assert!(host.reconnect("it"));
    }
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"a"}"#)), "a");
    let now = pid(&host, "it");
    eventually("the others are gone", || record.pids().iter().filter(|pid| runs(**pid)).eq([&now]));
    within(LONG, || host.close());
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

fn h_112_one_that_is_slow_to_end_does_not_fill_the_system() {
    // H-112
    let record = Record::new();
    let mut options = options();
    options.stop = StopLadder::new(Duration::from_secs(1), LONG, LONG);
    let launch = Launch::command(child(&["hosted", "ignore-eof", &record.flag()]), options);
    let host = builder().server("it", allowed(), launch).open().unwrap();
    assert!(host.wait_started(LONG));
    for _ in 0..12 {
        assert!(host.reconnect("it"));
        until(&host, "it", Status::Connected);
        let running = record.pids().into_iter().filter(|pid| runs(*pid)).count();
        assert!(running <= 5, "{running}");
    }
    assert_eq!(record.pids().len(), 13);
}

fn grown(host: &Host) -> bool {
    host.with(|machine| machine.registry().find("it", "grown").is_some())
}

fn h_207_a_changed_listing_is_offered_at_the_next_turn() {
    // H-207, H-211
    let (record, seen) = (Record::new(), Seen::default());
    let host =
        builder().server("it", allowed(), launch(&[&record.flag()])).observer(seen.clone()).open().unwrap();
    assert!(host.wait_started(LONG));
    assert_eq!(text(call(&host, "it", "grow", "{}")), "grown");
    let change = |event: &Event| match event {
        Event::Tools { change, staged: true, .. } => Some(change.clone()),
        _ => None,
    };
    eventually("the change is told", || seen.find(change).is_some());
    assert!(!grown(&host));
    host.begin_turn();
    assert!(grown(&host));
    assert_eq!(record.count("tools/list"), 2);
}

fn h_207_a_changed_listing_of_a_modern_server_is_offered_at_once_if_so_set() {
    // H-207
    let mut config = config();
    config.refresh.mode = RefreshMode::Live;
    let record = Record::new();
    let host =
        Host::builder(config).server("it", allowed(), launch(&["modern", &record.flag()])).open().unwrap();
    assert!(host.wait_started(LONG));
    eventually("it is listened for", || record.count("subscriptions/listen") == 1);
    assert_eq!(text(call(&host, "it", "grow", "{}")), "grown");
    eventually("it is offered", || grown(&host));
}

fn h_101_a_server_that_no_longer_lists_keeps_its_tools() {
    // H-101
    let mut short = allowed();
    short.connect_timeout = Some(Duration::from_secs(2));
    let host = builder().server("it", short, launch(&["list-once"])).open().unwrap();
    assert!(host.wait_started(LONG));
    assert!(host.refresh("it"));
    eventually("that it failed is told", || host.state("it").unwrap().listing_failed);
    let state = host.state("it").unwrap();
    assert_eq!((state.status, state.tools.unwrap().tools.len()), (Status::Connected, 8));
    let error = state.error.unwrap();
    assert!(error.contains("no answer"), "{error}");
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"a"}"#)), "a");
}

/// A host that asks a server after two calls in a row that took too long whether it still answers.
fn asks_the_mute(arguments: &[&str], limit: Duration) -> Host {
    let mut config = config();
    config.timeouts.default = Duration::from_millis(100);
    (config.probe.after, config.probe.limit) = (2, limit);
    let host = Host::builder(config).server("it", allowed(), launch(arguments)).open().unwrap();
    assert!(host.wait_started(LONG));
    host
}

fn h_075_a_server_whose_calls_take_too_long_is_asked_whether_it_answers() {
    // H-075
    for kind in ["legacy", "modern"] {
        let record = Record::new();
        let host = asks_the_mute(&[&record.flag(), kind, "list-once"], LONG);
        let asked =
            || if kind == "modern" { record.count("server/discover") - 1 } else { record.count("ping") };
        // A listing that hangs holds it up no more than anything else does.
        assert!(host.refresh("it"));
        eventually("it is asked for its listing", || record.count("tools/list") == 2);
        for calls in 1..=2 {
            assert_eq!(ended(host.call(request("it", "hold", "{}")).unwrap()), "timeout");
            assert!(calls == 2 || asked() == 0, "{kind}");
        }
        eventually("it is asked", || asked() == 1);
        assert_eq!((status(&host, "it"), record.pids().len()), (Status::Connected, 1), "{kind}");
    }
}

fn h_075_a_server_that_answers_nothing_is_opened_anew() {
    // H-075
    let record = Record::new();
    let host = asks_the_mute(&[&record.flag(), "no-ping"], Duration::from_millis(100));
    for _ in 0..2 {
        assert_eq!(ended(host.call(request("it", "hold", "{}")).unwrap()), "timeout");
    }
    eventually("it is started again", || record.pids().len() == 2);
    assert_eq!(record.count("ping"), 1);
    until(&host, "it", Status::Connected);
}
