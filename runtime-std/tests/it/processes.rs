//! Processes while they serve: stderr, environment, death.

use std::io::{BufRead, BufReader};
use std::process::{Command as SystemCommand, Stdio};
use std::time::Duration;

use sanswire_std::sanswire::client::{Outcome, RequestOptions};
use sanswire_std::sanswire::error::{ApiError, CloseReason};
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::{Client, Ended, InheritEnv, StderrMode};

use crate::common::{
    LONG, PLAIN, child, connect, eventually, kill, no_options, options, outcome, raw, runs, tool, trials,
    within,
};

trials!(
    a_killed_parent_in_mid_call_leaves_no_child,
    b_57_stderr_without_line_ends_before_each_of_20_replies,
    b_57_stderr_lines_before_each_of_20_replies,
    b_57_one_mebibyte_of_stderr_does_not_stall_a_call,
    stderr_goes_nowhere_if_so_chosen,
    stderr_is_kept_while_nobody_calls,
    p_118_stderr_is_no_error,
    b_59_open_calls_end_with_the_server,
    b_61_killed_between_two_calls,
    b_61_reads_no_more,
    an_idle_client_answers_a_ping,
    an_idle_client_sees_the_server_die,
    h_120_the_child_leads_a_group_of_its_own,
    h_128_declared_variables_win,
    the_allow_list_lets_eight_variables_through,
    the_working_folder_is_the_one_that_was_set,
);

fn a_killed_parent_in_mid_call_leaves_no_child() {
    let mut parent = SystemCommand::new(std::env::current_exe().unwrap())
        .arg("--parent")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let server: u32 = line.trim().parse().unwrap();
    assert!(runs(server));
    std::thread::sleep(Duration::from_millis(50));
    kill(parent.id());
    parent.wait().unwrap();
    eventually("the server is gone", || !runs(server));
}

fn twenty_calls(flag: &str) {
    let client = connect(&[flag]);
    within(LONG, || {
        for n in 0..20 {
            assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
        }
    });
    eventually("the tail is read", || client.stderr_tail().len() == 64 * 1024);
    assert_eq!(client.close().ended, Ended::OnEof);
}

fn b_57_stderr_without_line_ends_before_each_of_20_replies() {
    twenty_calls("stderr=262144");
}

fn b_57_stderr_lines_before_each_of_20_replies() {
    twenty_calls("stderr-line=262144");
}

fn b_57_one_mebibyte_of_stderr_does_not_stall_a_call() {
    let client = connect(&["stderr=1048576"]);
    within(LONG, || assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a"));
}

fn stderr_goes_nowhere_if_so_chosen() {
    let mut options = options();
    options.stderr = StderrMode::Discard;
    let client = Client::connect(&child(&["stderr=1048576"]), options).unwrap();
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    assert_eq!(client.stderr_tail(), "");
}

fn stderr_is_kept_while_nobody_calls() {
    let client = connect(&[]);
    tool(&client, "complain", r#"{"text":"\u001b[31mred\u0007"}"#);
    let kept = || client.stderr_tail().contains("\\u{1b}[31mred\\u{7}\n");
    if PLAIN {
        // The thread that reads it may come a moment after the one that reads the reply.
        eventually("it is kept", kept);
    }
    assert!(kept(), "{}", client.stderr_tail());
}

fn p_118_stderr_is_no_error() {
    // P-118
    let client = connect(&["stderr=100"]);
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    assert_eq!(client.is_closed(), None);
    assert!(client.violations().is_empty());
}

fn b_59_open_calls_end_with_the_server() {
    let client = connect(&[]);
    let mut held = Vec::new();
    for _ in 0..3 {
        let params = raw(r#"{"name":"hold"}"#);
        held.push(client.start(Method::ToolsCall, Some(params), &no_options()).unwrap());
    }
    let last = within(LONG, || outcome(&client, "exit", r#"{"code":9,"text":"giving up"}"#));
    assert_eq!(last, Outcome::Lost { maybe_ran: true });
    for call in held {
        assert_eq!(within(LONG, || call.wait()), Outcome::Lost { maybe_ran: true });
    }
    assert_eq!(client.is_closed(), Some(CloseReason::Eof));
    let exit = client.close();
    assert_eq!((exit.status.unwrap().code(), exit.ended), (Some(9), Ended::Already));
    assert_eq!(exit.stderr_tail, "giving up\n");
    assert_eq!(exit.to_string(), "exited with status 9");
}

fn b_61_killed_between_two_calls() {
    let client = connect(&[]);
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    kill(client.pid().unwrap());
    // Before or after the end of its output was seen: lost, or refused.
    let result = within(LONG, || client.call_tool("echo", Some(&raw(r#"{"text":"b"}"#)), &no_options()));
    assert!(matches!(result, Ok(Outcome::Lost { .. }) | Err(ApiError::Closed)), "{result:?}");
    eventually("the end was seen", || client.is_closed().is_some());
    let result = client.call_tool("echo", Some(&raw(r#"{"text":"c"}"#)), &no_options());
    assert_eq!(result, Err(ApiError::Closed));
    let exit = client.close();
    assert_eq!(exit.ended, Ended::Already);
    assert_eq!(exit.to_string(), "was ended by signal 9 (SIGKILL)");
}

fn b_61_reads_no_more() {
    let client = connect(&["deaf", "ignore-eof"]);
    // It closes its stdin when it is told that the session is ready.
    let mut result = Ok(Outcome::Cancelled);
    within(LONG, || {
        while !matches!(result, Ok(Outcome::Lost { .. }) | Err(ApiError::Closed)) {
            let mut options = RequestOptions::default();
            options.idle = Some(Duration::from_millis(300));
            result = client.call_tool("echo", Some(&raw(r#"{"text":"b"}"#)), &options);
        }
    });
    eventually("it was given up", || client.is_closed().is_some());
}

fn an_idle_client_answers_a_ping() {
    let client = connect(&[]);
    tool(&client, "ping me", r#"{"ms":100}"#);
    std::thread::sleep(Duration::from_millis(400));
    // Nothing was called meanwhile, so the pong was there before this call.
    assert_eq!(tool(&client, "pongs", "{}"), "1");
}

fn an_idle_client_sees_the_server_die() {
    let client = connect(&[]);
    tool(&client, "echo", r#"{"text":"a"}"#);
    std::thread::sleep(Duration::from_millis(50));
    kill(client.pid().unwrap());
    eventually("the end is seen without a call", || client.is_closed() == Some(CloseReason::Eof));
    eventually("and its exit", || client.exit().is_some());
}

fn h_120_the_child_leads_a_group_of_its_own() {
    // H-120
    let client = connect(&[]);
    assert_eq!(tool(&client, "group", "{}"), client.pid().unwrap().to_string());
}

fn h_128_declared_variables_win() {
    // H-128
    let command = child(&[]).env("HOME", "/declared").env("EXTRA", "1");
    let client = Client::connect(&command, options()).unwrap();
    let env = tool(&client, "env", "{}");
    assert!(env.lines().any(|line| line == "HOME=/declared") && env.lines().any(|line| line == "EXTRA=1"));
    // What is not declared is inherited.
    assert!(env.lines().any(|line| line.starts_with("PATH=")), "{env}");
}

fn the_allow_list_lets_eight_variables_through() {
    let command = child(&[]).env("LANG", "declared").env("EXTRA", "1").inherit_env(InheritEnv::AllowList);
    let client = Client::connect(&command, options()).unwrap();
    let env = tool(&client, "env", "{}");
    let allowed = ["HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "EXTRA"];
    for line in env.lines() {
        let (name, _) = line.split_once('=').unwrap();
        assert!(allowed.contains(&name), "{name}");
    }
    assert!(env.lines().any(|line| line == "LANG=declared"));
    assert!(std::env::vars().count() > 9, "this test sees nothing in so small an environment");
}

fn the_working_folder_is_the_one_that_was_set() {
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let client = Client::connect(&child(&[]).current_dir(&folder), options()).unwrap();
    assert_eq!(tool(&client, "cwd", "{}"), folder.to_string_lossy());
}
