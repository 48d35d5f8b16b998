//! Connections that do not come about, and what is said of them.

use std::time::Duration;

use sanswire_std::sanswire::client::{Start, Verdict};
use sanswire_std::sanswire::error::CloseReason;
use sanswire_std::{Client, Command, ConnectError, Ended, StopLadder};

use crate::common::{LONG, PLAIN, child, eventually, options, runs, shell, tool, trials, within};

trials!(
    a_missing_program_is_named_with_a_remedy,
    a_file_that_may_not_be_executed_is_named_with_a_remedy,
    a_missing_folder_is_named,
    a_bad_limit_is_named_and_nothing_is_started,
    b_59_exits_at_once_with_status_7,
    b_59_exits_at_once_with_nothing_to_say,
    b_59_exits_a_moment_after_its_output_ended,
    b_59_exits_after_reading_the_first_message,
    b_59_killed_by_a_signal,
    b_59_output_closed_and_alive,
    h_122_a_silent_server_fails_at_the_connect_limit_and_is_killed,
    a_program_that_speaks_no_mcp_is_quoted,
    dies_on_the_probe_and_is_started_once_more,
    without_restart_it_is_started_once,
    a_wrong_memory_is_corrected,
);

fn failure(command: &Command) -> (CloseReason, Option<sanswire_std::Exit>, String, String) {
    let error = within(LONG, || Client::connect(command, options())).unwrap_err();
    let text = error.to_string();
    match error {
        ConnectError::Closed { reason, exit, stderr_tail, .. } => {
            (*reason, exit.map(|exit| *exit), stderr_tail, text)
        }
        other => panic!("{other:?}"),
    }
}

fn a_missing_program_is_named_with_a_remedy() {
    let error = Client::connect(&Command::new("no-such-program-here"), options()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("no-such-program-here") && text.contains("PATH") && text.contains("install"),
        "{text}"
    );
}

fn a_file_that_may_not_be_executed_is_named_with_a_remedy() {
    let path = std::env::temp_dir().join(format!("sanswire-plain-{}", std::process::id()));
    std::fs::write(&path, "hello").unwrap();
    let error = Client::connect(&Command::new(&path), options()).unwrap_err().to_string();
    assert!(error.contains("chmod +x"), "{error}");
    std::fs::remove_file(path).unwrap();
}

fn a_missing_folder_is_named() {
    let error = Client::connect(&child(&[]).current_dir("/no/such/folder"), options()).unwrap_err();
    assert!(matches!(error, ConnectError::Directory { .. }), "{error:?}");
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
}

fn a_bad_limit_is_named_and_nothing_is_started() {
    let mut options = options();
    options.config.limits.max_message_bytes = 1;
    let error = Client::connect(&Command::new("no-such-program-here"), options).unwrap_err();
    assert!(matches!(error, ConnectError::Config(_)), "{error:?}");
}

fn b_59_exits_at_once_with_status_7() {
    let (_, exit, stderr, text) = failure(&shell("echo missing API key >&2; exit 7"));
    let exit = exit.unwrap();
    assert_eq!(exit.status.unwrap().code(), Some(7));
    assert_eq!(exit.ended, Ended::Already);
    assert_eq!(stderr, "missing API key\n");
    assert!(text.contains("exited with status 7") && text.contains("missing API key"), "{text}");
}

fn b_59_exits_at_once_with_nothing_to_say() {
    let (_, exit, stderr, text) = failure(&shell("exit 0"));
    assert_eq!(exit.unwrap().status.unwrap().code(), Some(0));
    assert_eq!(stderr, "");
    assert!(text.contains("exited with status 0"), "{text}");
}

fn b_59_exits_a_moment_after_its_output_ended() {
    // It reads no stdin, so nothing but its own exit ends it, and that is what is told of.
    let (_, exit, _, text) = failure(&shell("exec >&-; sleep 0.02; exit 7"));
    let exit = exit.unwrap();
    assert_eq!((exit.status.unwrap().code(), exit.ended), (Some(7), Ended::Already));
    assert!(text.contains("exited with status 7"), "{text}");
}

fn b_59_exits_after_reading_the_first_message() {
    let (reason, exit, _, text) = failure(&child(&["die-on-probe", "die-on-initialize"]));
    assert_eq!(reason, CloseReason::Eof);
    assert_eq!(exit.unwrap().status.unwrap().code(), Some(4));
    assert!(text.contains("exited with status 4"), "{text}");
}

fn b_59_killed_by_a_signal() {
    let (_, exit, stderr, text) = failure(&shell("printf 'out of \\033[1mluck' >&2; kill -9 $$"));
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit.unwrap().status.unwrap()), Some(9));
    assert_eq!(stderr, "out of \\u{1b}[1mluck");
    assert!(text.contains("signal 9 (SIGKILL)") && text.contains("luck"), "{text}");
}

fn b_59_output_closed_and_alive() {
    let mut options = options();
    options.stop = StopLadder::new(Duration::from_millis(50), Duration::from_secs(2), LONG);
    let error = within(LONG, || Client::connect(&child(&["mute"]), options)).unwrap_err();
    let text = error.to_string();
    let ConnectError::Closed { exit: Some(exit), .. } = error else { panic!("{text}") };
    assert_eq!(exit.ended, if PLAIN { Ended::OnKill } else { Ended::OnTerm });
    assert!(text.contains("closed its output"), "{text}");
}

fn h_122_a_silent_server_fails_at_the_connect_limit_and_is_killed() {
    // H-122
    let mut options = options();
    options.config.limits.connect = Duration::from_millis(300);
    let error = within(LONG, || Client::connect(&child(&["silent"]), options)).unwrap_err();
    let text = error.to_string();
    let ConnectError::Closed { reason, exit: Some(exit), .. } = error else { panic!("{text}") };
    assert!(matches!(*reason, CloseReason::ConnectTimeout { limit_ms: 300, .. }), "{reason:?}");
    assert_eq!(exit.ended, Ended::OnKill);
    assert!(text.contains("silent") && text.contains("300 ms"), "{text}");
}

fn a_program_that_speaks_no_mcp_is_quoted() {
    let (_, _, _, text) = failure(&shell("echo usage: thing FILE; exit 2"));
    assert!(text.contains("usage: thing FILE") && text.contains("status 2"), "{text}");
}

fn dies_on_the_probe_and_is_started_once_more() {
    let client = Client::connect(&child(&["die-on-probe"]), options()).unwrap();
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    assert_eq!(client.verdict(), Some(Verdict::Legacy));
}

fn without_restart_it_is_started_once() {
    let mut options = options();
    options.restart = false;
    let error = Client::connect(&child(&["die-on-probe"]), options).unwrap_err();
    let ConnectError::Closed { reason, exit: Some(exit), .. } = error else { panic!("{error:?}") };
    assert_eq!(*reason, CloseReason::DiedOnProbe);
    assert_eq!(exit.status.unwrap().code(), Some(3));
}

fn a_wrong_memory_is_corrected() {
    let mut options = options();
    options.config.start = Start::Remembered(Verdict::Legacy);
    // Dies on `initialize`, so what was remembered is wrong; then it dies no more.
    let marker = std::env::temp_dir().join(format!("sanswire-marker-{}", std::process::id()));
    let script = format!(
        "if [ -e {0} ]; then rm {0}; exec $CHILD modern; fi; touch {0}; exec $CHILD die-on-initialize",
        marker.display()
    );
    let client = Client::connect(&shell(&script), options).unwrap();
    assert_eq!(client.verdict(), Some(Verdict::Modern));
    let pid = client.pid().unwrap();
    client.close();
    eventually("the server is gone", || !runs(pid));
}
