//! How a server is stopped.

use std::time::Duration;

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::error::{ApiError, CloseReason};
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::{Client, Closer, ConnectError, Ended, StopLadder};

use crate::common::{
    LONG, PLAIN, child, connect, eventually, kill, no_options, options, raw, runs, shell, tool, trials,
    within,
};

trials!(
    p_126_a_server_that_ends_with_its_stdin_is_not_signalled,
    p_126_a_server_that_ignores_the_end_is_terminated,
    h_123_h_126_a_server_that_ignores_everything_is_gone_within_the_bound,
    grandchildren_are_gone_too,
    h_124_closing_twice_returns_the_first_result,
    closing_from_two_threads_at_once,
    the_last_clone_closes,
    a_relative_that_holds_the_pipes_delays_the_end_within_the_bound,
    open_calls_are_cancelled_by_close,
    a_call_in_another_thread_is_cancelled_by_close,
    a_server_that_takes_its_time_is_waited_for,
    what_waits_leaves_before_the_end,
    a_closer_ends_what_is_being_opened_what_is_open_and_what_would_be,
);

fn quick() -> sanswire_std::ConnectOptions {
    let mut options = options();
    options.stop =
        StopLadder::new(Duration::from_millis(100), Duration::from_millis(200), Duration::from_secs(5));
    options
}

fn p_126_a_server_that_ends_with_its_stdin_is_not_signalled() {
    // P-126
    let client = connect(&[]);
    let pid = client.pid().unwrap();
    let exit = within(LONG, || client.close());
    assert_eq!((exit.ended, exit.status.unwrap().code()), (Ended::OnEof, Some(0)));
    assert!(!runs(pid));
    assert_eq!(client.is_closed(), Some(CloseReason::Local));
}

fn p_126_a_server_that_ignores_the_end_is_terminated() {
    // P-126
    let client = Client::connect(&child(&["ignore-eof"]), quick()).unwrap();
    let pid = client.pid().unwrap();
    let exit = within(LONG, || client.close());
    assert_eq!(exit.ended, Ended::OnTerm);
    assert_eq!(exit.to_string(), "was ended by signal 15 (SIGTERM)");
    assert!(exit.took >= Duration::from_millis(100), "{:?}", exit.took);
    assert!(!runs(pid));
}

fn h_123_h_126_a_server_that_ignores_everything_is_gone_within_the_bound() {
    // H-123, H-126
    let client = Client::connect(&shell("trap '' TERM; exec $CHILD ignore-eof"), quick()).unwrap();
    let pid = client.pid().unwrap();
    let exit = within(LONG, || client.close());
    assert_eq!(exit.ended, Ended::OnKill);
    // Without SIGTERM there is nothing to wait for between the end of its stdin and the kill.
    let least = Duration::from_millis(if PLAIN { 100 } else { 300 });
    assert!(exit.took >= least && exit.took < Duration::from_secs(5), "{:?}", exit.took);
    assert!(!runs(pid));
}

fn grandchildren_are_gone_too() {
    let client = Client::connect(&child(&[]), quick()).unwrap();
    // It ignores SIGTERM and holds stdout open.
    let grandchild: u32 = tool(&client, "grandchild", "{}").parse().unwrap();
    assert!(runs(grandchild));
    let exit = within(LONG, || client.close());
    assert_eq!(exit.ended, Ended::OnEof);
    eventually("the grandchild is gone", || !runs(grandchild));
}

fn h_124_closing_twice_returns_the_first_result() {
    // H-124
    let client = connect(&[]);
    let first = client.close();
    assert_eq!(client.close(), first);
    assert_eq!(client.exit(), Some(first));
    assert_eq!(client.call(Method::ToolsList, None, &no_options()), Err(ApiError::Closed));
}

fn closing_from_two_threads_at_once() {
    let client = Client::connect(&child(&["ignore-eof"]), quick()).unwrap();
    let other = client.clone();
    let thread = std::thread::spawn(move || other.close());
    let mine = within(LONG, || client.close());
    assert_eq!(thread.join().unwrap(), mine);
}

fn the_last_clone_closes() {
    let client = connect(&[]);
    let pid = client.pid().unwrap();
    let clone = client.clone();
    drop(client);
    assert_eq!(tool(&clone, "echo", r#"{"text":"a"}"#), "a");
    drop(clone);
    assert!(!runs(pid));
}

fn a_relative_that_holds_the_pipes_delays_the_end_within_the_bound() {
    // It is no more than a sleep, so it ends by itself where nobody can end it.
    let client = Client::connect(&shell("sleep 8 & exec $CHILD"), quick()).unwrap();
    let exit = within(Duration::from_secs(5), || client.close());
    assert_eq!((exit.ended, exit.status.unwrap().code()), (Ended::OnEof, Some(0)));
}

fn open_calls_are_cancelled_by_close() {
    let client = connect(&[]);
    let held = client.start(Method::ToolsCall, Some(raw(r#"{"name":"hold"}"#)), &no_options()).unwrap();
    client.close();
    assert_eq!(held.wait(), Outcome::Cancelled);
}

fn a_call_in_another_thread_is_cancelled_by_close() {
    let client = connect(&[]);
    let other = client.clone();
    let thread = std::thread::spawn(move || other.call_tool("hold", None, &no_options()));
    eventually("it is held", || tool(&client, "held", "{}") == "1");
    within(LONG, || client.close());
    assert_eq!(thread.join().unwrap(), Ok(Outcome::Cancelled));
}

fn a_server_that_takes_its_time_is_waited_for() {
    let client = connect(&["dawdle=500"]);
    let exit = within(LONG, || client.close());
    assert_eq!(exit.ended, Ended::OnEof);
    assert!(exit.took >= Duration::from_millis(400), "{:?}", exit.took);
}

fn what_waits_leaves_before_the_end() {
    let client = connect(&[]);
    let cork = client.cork();
    let text = "x".repeat(1_000_000);
    // More than a pipe holds.
    let held = client
        .start(
            Method::ToolsCall,
            Some(raw(&format!(r#"{{"name":"complain","arguments":{{"text":"{text}"}}}}"#))),
            &no_options(),
        )
        .unwrap();
    let exit = within(LONG, || client.close());
    drop((cork, held));
    assert!(exit.stderr_tail.contains("xxxx"), "{} bytes", exit.stderr_tail.len());
}

fn a_closer_ends_what_is_being_opened_what_is_open_and_what_would_be() {
    let closer = Closer::new();
    let mut options = quick();
    options.closer = Some(closer.clone());
    let client = Client::connect(&child(&[]), options.clone()).unwrap();
    let open = client.pid().unwrap();
    let path = std::env::temp_dir().join(format!("closer-{}", std::process::id()));
    let script = format!("sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 600'; true", path.display());
    let opening = std::thread::spawn({
        let options = options.clone();
        move || Client::connect(&shell(&script), options)
    });
    eventually("it is started", || path.exists());
    let pid: u32 = std::fs::read_to_string(&path).unwrap().trim().parse().unwrap();
    let _ = std::fs::remove_file(&path);
    within(LONG, || closer.close());
    assert!(!runs(open));
    // Behind a launcher: without process groups it is told by the end of its stdin, which this one does not read.
    if PLAIN {
        kill(pid);
    } else {
        // The signal is out. Nobody here is its parent, so when it has worked is the system's affair.
        eventually("what is behind the launcher is gone", || !runs(pid));
    }
    assert_eq!(client.is_closed(), Some(CloseReason::Local));
    for error in [opening.join().unwrap().unwrap_err(), {
        within(LONG, || Client::connect(&child(&["silent"]), options).unwrap_err())
    }] {
        assert!(
            matches!(&error, ConnectError::Closed { reason, .. } if **reason == CloseReason::Local),
            "{error}"
        );
    }
    closer.close();
}
