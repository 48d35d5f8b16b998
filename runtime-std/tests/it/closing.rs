//! Many connections that end at once, and who waits for one that ends.

use std::sync::mpsc::channel;
use std::time::Duration;

use sanswire_std::sanswire::error::CloseReason;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::{Client, Closer, ConnectError, ConnectOptions, Ended, StopLadder, close_all};

use crate::common::{
    LONG, PLAIN, child, connect, eventually, kill, no_options, options, raw, runs, shell, tool, trials,
    within,
};

trials!(
    h_123_one_stuck_server_does_not_hold_up_the_rest,
    h_123_servers_are_stopped_side_by_side,
    h_123_what_is_stuck_already_is_stopped_as_well,
    h_123_what_does_not_leave_is_dropped,
    what_a_cork_holds_back_leaves_before_the_end,
    h_124_closed_again_they_give_the_first_result,
    sockets_are_closed_with_the_rest,
    h_123_who_is_still_connecting_is_stopped_within_the_bound,
    h_122_a_child_outlives_its_connect_limit,
    h_122_h_120_a_session_that_fails_kills_the_group_at_once,
    h_120_killing_takes_grandchildren_along,
    h_125_killing_skips_the_ladder,
    h_126_each_rung_of_the_ladder_is_configuration,
    who_waits_for_a_notification_is_woken_by_the_end,
    what_was_told_before_the_end_is_taken_first,
);

/// Patient with every rung.
fn patient() -> ConnectOptions {
    let mut options = options();
    options.stop = StopLadder::new(LONG, LONG, 3 * LONG);
    options
}

/// A server that neither the end of its stdin nor SIGTERM ends.
fn stubborn() -> Client {
    Client::connect(&shell("trap '' TERM; exec $CHILD ignore-eof"), patient()).unwrap()
}

fn h_123_one_stuck_server_does_not_hold_up_the_rest() {
    // H-123
    let clients = [connect(&[]), stubborn(), connect(&[])];
    let pids = clients.each_ref().map(|client| client.pid().unwrap());
    let exits = within(LONG, || close_all(clients, Duration::from_secs(4)));
    let ended: Vec<_> = exits.iter().map(|exit| (exit.ended, exit.status.is_some())).collect();
    assert_eq!(ended, [(Ended::OnEof, true), (Ended::OnKill, true), (Ended::OnEof, true)]);
    assert!(!pids.into_iter().any(runs));
}

fn h_123_servers_are_stopped_side_by_side() {
    // H-123
    // Each ends when the other one has seen the end of its stdin too.
    let path = |n| std::env::temp_dir().join(format!("sanswire-side-{}-{n}", std::process::id()));
    let (one, two) = (path(1), path(2));
    let script = |mine: &std::path::Path, other: &std::path::Path| {
        format!("$CHILD; touch {}; until [ -e {} ]; do sleep 0.01; done", mine.display(), other.display())
    };
    let clients = [script(&one, &two), script(&two, &one)]
        .map(|script| Client::connect(&shell(&script), patient()).unwrap());
    let exits = within(LONG, || close_all(clients, LONG));
    for exit in exits {
        assert_eq!((exit.ended, exit.status.unwrap().code()), (Ended::OnEof, Some(0)));
    }
    let _ = (std::fs::remove_file(one), std::fs::remove_file(two));
}

fn h_123_what_is_stuck_already_is_stopped_as_well() {
    // H-123
    let client = stubborn();
    let other = client.clone();
    // Somebody waits for it on the first rung of its own ladder.
    let closing = std::thread::spawn(move || other.close());
    eventually("it is being closed", || client.is_closed().is_some());
    let exits = within(LONG, || close_all([client], Duration::from_secs(1)));
    assert_eq!(exits[0].ended, Ended::OnKill);
    assert_eq!(closing.join().unwrap(), exits[0]);
}

fn h_123_what_does_not_leave_is_dropped() {
    // H-123
    let mut options = patient();
    options.config.limits.close_flush = 10 * LONG;
    let client = Client::connect(&child(&["ignore-eof"]), options).unwrap();
    let blocked = client
        .start(Method::ToolsCall, Some(raw(r#"{"name":"block","arguments":{"ms":600000}}"#)), &no_options())
        .unwrap();
    // More than a pipe holds.
    let text = "x".repeat(4_000_000);
    let waiting = client
        .start(Method::ToolsCall, Some(raw(&format!(r#"{{"name":"{text}"}}"#))), &no_options())
        .unwrap();
    let exits = within(LONG, || close_all([client], Duration::from_secs(4)));
    assert_eq!(exits[0].ended, Ended::OnKill);
    assert!(exits[0].status.is_some(), "it was still there");
    drop((blocked, waiting));
}

fn what_a_cork_holds_back_leaves_before_the_end() {
    let client = connect(&[]);
    let other = client.clone();
    let cork = other.cork();
    let held = client
        .start(
            Method::ToolsCall,
            Some(raw(r#"{"name":"complain","arguments":{"text":"heard"}}"#)),
            &no_options(),
        )
        .unwrap();
    let exits = within(LONG, || close_all([client], LONG));
    drop((cork, held));
    assert_eq!(exits[0].stderr_tail, "heard\n");
}

fn h_124_closed_again_they_give_the_first_result() {
    // H-124
    let clients = [connect(&[]), connect(&[])];
    let pid = clients[0].pid().unwrap();
    kill(pid);
    // Sending a signal does not wait for it to work.
    eventually("it is gone", || !runs(pid));
    let first = clients[0].close();
    let exits = close_all(clients.clone(), LONG);
    assert_eq!((exits[0].ended, exits[1].ended), (Ended::Already, Ended::OnEof));
    assert_eq!(exits[0], first);
    assert_eq!(close_all(clients.clone(), LONG), exits);
    assert_eq!(clients[1].close(), exits[1]);
    assert!(close_all([], LONG).is_empty());
}

fn sockets_are_closed_with_the_rest() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        crate::served::server(&[]).serve_tcp_stream(listener.accept().unwrap().0).unwrap();
    });
    let client = Client::connect_tcp(address, options()).unwrap();
    let exits = within(LONG, || close_all([client, connect(&[])], LONG));
    assert_eq!((exits[0].ended, exits[1].ended), (Ended::NotAProcess, Ended::OnEof));
    serving.join().unwrap();
}

fn h_123_who_is_still_connecting_is_stopped_within_the_bound() {
    // H-123
    let closer = Closer::new();
    let mut options = patient();
    options.config.limits.connect = 10 * LONG;
    options.closer = Some(closer.clone());
    let path = std::env::temp_dir().join(format!("sanswire-opening-{}", std::process::id()));
    let script = format!("trap '' TERM; touch {}; exec $CHILD silent ignore-eof", path.display());
    let late = options.clone();
    let opening = std::thread::spawn(move || Client::connect(&shell(&script), options));
    eventually("it is started", || path.exists());
    let _ = std::fs::remove_file(path);
    assert!(within(LONG, || closer.close_within(Duration::from_secs(4))), "all are gone");
    let mut failures = vec![opening.join().unwrap().unwrap_err()];
    // Too late for the closer to wait for, and stopped all the same.
    let stubborn = shell("trap '' TERM; exec $CHILD silent ignore-eof");
    failures.push(within(LONG, || Client::connect(&stubborn, late).unwrap_err()));
    for error in failures {
        let ConnectError::Closed { reason, exit: Some(exit), .. } = error else { panic!("{error:?}") };
        assert_eq!((*reason, exit.ended), (CloseReason::Local, Ended::OnKill));
    }
}

fn h_122_a_child_outlives_its_connect_limit() {
    // H-122
    let mut options = options();
    options.config.limits.connect = Duration::from_secs(3);
    let client = Client::connect(&child(&[]), options).unwrap();
    std::thread::sleep(Duration::from_millis(3300));
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    assert_eq!(client.close().ended, Ended::OnEof);
}

fn h_122_h_120_a_session_that_fails_kills_the_group_at_once() {
    // H-122, H-120
    // It ignores everything, and so does its own child. The ladder is longer than this test may take.
    let path = std::env::temp_dir().join(format!("sanswire-group-{}", std::process::id()));
    let script = format!(
        "trap '' TERM; sleep 300 & echo $! >{0}.new; mv {0}.new {0}; exec $CHILD silent ignore-eof",
        path.display()
    );
    let mut options = patient();
    options.config.limits.connect = Duration::from_secs(2);
    let error = within(LONG, || Client::connect(&shell(&script), options).unwrap_err());
    let ConnectError::Closed { reason, exit: Some(exit), .. } = error else { panic!("{error:?}") };
    assert!(matches!(*reason, CloseReason::ConnectTimeout { .. }), "{reason:?}");
    assert_eq!(exit.ended, Ended::OnKill);
    let sleeper: u32 = std::fs::read_to_string(&path).unwrap().trim().parse().unwrap();
    let _ = std::fs::remove_file(path);
    if PLAIN {
        kill(sleeper);
    } else {
        eventually("the group is gone", || !runs(sleeper));
    }
}

fn h_120_killing_takes_grandchildren_along() {
    // H-120
    let client = stubborn();
    let grandchild: u32 = tool(&client, "grandchild", "{}").parse().unwrap();
    assert_eq!(within(LONG, || client.kill()).ended, Ended::OnKill);
    eventually("the grandchild is gone", || !runs(grandchild));
}

fn h_125_killing_skips_the_ladder() {
    // H-125
    let client = stubborn();
    let held = client.start(Method::ToolsCall, Some(raw(r#"{"name":"hold"}"#)), &no_options()).unwrap();
    let exit = within(LONG, || client.kill());
    assert_eq!(exit.to_string(), "was ended by signal 9 (SIGKILL)");
    assert_eq!(client.is_closed(), Some(CloseReason::Local));
    assert_eq!((client.kill(), client.close()), (exit.clone(), exit));
    drop(held);
    // One that ends with its stdin is killed before it gets so far.
    let client = Client::connect(&child(&["dawdle=60000"]), patient()).unwrap();
    assert_eq!(within(LONG, || client.kill()).ended, Ended::OnKill);
}

fn h_126_each_rung_of_the_ladder_is_configuration() {
    // H-126
    let stop = |eof: Duration, term: Duration| {
        let mut options = options();
        options.stop = StopLadder::new(eof, term, 3 * LONG);
        let client = Client::connect(&shell("trap '' TERM; exec $CHILD dawdle=1000"), options).unwrap();
        within(LONG, || client.close()).ended
    };
    let short = Duration::from_millis(10);
    assert_eq!(stop(LONG, short), Ended::OnEof);
    assert_eq!(stop(short, LONG), if PLAIN { Ended::OnKill } else { Ended::OnTerm });
    assert_eq!(stop(short, short), Ended::OnKill);
}

fn who_waits_for_a_notification_is_woken_by_the_end() {
    for by_itself in [true, false] {
        let client = stubborn();
        let (tell, told) = channel();
        let waits = client.clone();
        std::thread::spawn(move || {
            let _ = tell.send(None);
            let _ = tell.send(Some((waits.next_notification(Duration::MAX), waits.is_closed())));
        });
        assert_eq!(told.recv_timeout(LONG).unwrap(), None);
        // It sleeps by now, or is about to.
        std::thread::sleep(Duration::from_millis(100));
        let closes = client.clone();
        let reason = if by_itself {
            kill(client.pid().unwrap());
            CloseReason::Eof
        } else {
            // The process is there for long after.
            std::thread::spawn(move || closes.close());
            CloseReason::Local
        };
        assert_eq!(told.recv_timeout(LONG / 2).unwrap(), Some((None, Some(reason))));
        assert_eq!(within(LONG, || client.next_notification(Duration::MAX)), None);
        client.kill();
    }
}

fn what_was_told_before_the_end_is_taken_first() {
    let client = connect(&[]);
    tool(&client, "notify", r#"{"n":2}"#);
    client.close();
    let next = || within(LONG, || client.next_notification(Duration::MAX)).map(|told| told.method);
    assert_eq!([next(), next(), next()], [Some(Method::LogMessage), Some(Method::LogMessage), None]);
}
