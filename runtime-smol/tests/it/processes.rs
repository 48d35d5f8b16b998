//! Processes: what is left of them, which is nothing.

use std::io::BufRead as _;
use std::process::Stdio;

use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::sanswire::error::CloseReason;
use sanswire_smol::{Client, Command, ConnectError, Ended};

use crate::common::{
    ANY, Env, Folder, begin, block_on, child, connect, eventually, kill, options, outcome, runs, text_of,
    tool, trials,
};

trials! {
    each: a_death_is_seen_while_nobody_calls, a_death_ends_the_open_calls,
        nothing_is_left_of_servers_that_were_dropped;
    once: a_program_that_is_not_there, a_server_that_dies_on_the_probe_is_tried_again,
        its_last_words_are_kept, a_killed_parent_leaves_no_child, the_child_leads_a_group,
        a_sandbox_is_asked, a_tap_sees_both_ways
}

/// The other process of `a_killed_parent_leaves_no_child`.
pub(crate) fn hang() {
    block_on(async {
        let client = connect(&ANY, &["ignore-eof"]).await;
        println!("{}", client.pid().unwrap());
        outcome(&client, "hold", "{}").await
    });
}

async fn a_death_is_seen_while_nobody_calls(env: Env) {
    let client = connect(&env, &[]).await;
    kill(client.pid().unwrap());
    eventually("it is seen", || client.exit().is_some()).await;
    assert_eq!(client.is_closed(), Some(CloseReason::Eof));
    let exit = client.close().await;
    assert_eq!(exit.ended, Ended::Already);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit.status.unwrap()), Some(9));
}

async fn a_death_ends_the_open_calls(env: Env) {
    let client = connect(&env, &[]).await;
    let open = [begin(&client, "hold", "{}"), begin(&client, "hold", "{}")];
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#).await, "a");
    kill(client.pid().unwrap());
    for pending in open {
        assert_eq!(pending.await, Outcome::Lost { maybe_ran: true });
    }
    client.close().await;
}

async fn nothing_is_left_of_servers_that_were_dropped(env: Env) {
    let mut pids = Vec::new();
    for flags in [&[][..], &["ignore-eof"], &[], &["ignore-eof"]] {
        let mut options = env.options();
        options.stop.eof = std::time::Duration::from_millis(30);
        let client = Client::connect(&child(flags), options).await.unwrap();
        let _open = begin(&client, "hold", "{}");
        pids.extend(client.pid());
    }
    eventually("all are gone", || pids.iter().all(|pid| !runs(*pid))).await;
}

async fn a_program_that_is_not_there() {
    let error = Client::connect(&Command::new("/no/such/program"), options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Spawn { .. }), "{error}");
    let command = child(&[]).current_dir("/no/such/folder");
    let error = Client::connect(&command, options()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Directory { .. }), "{error}");
}

async fn a_server_that_dies_on_the_probe_is_tried_again() {
    let client = connect(&ANY, &["die-on-probe"]).await;
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#).await, "a");
    client.close().await;
    let mut options = options();
    options.restart = false;
    match Client::connect(&child(&["die-on-probe"]), options).await.unwrap_err() {
        ConnectError::Closed { reason, exit, .. } => {
            assert_eq!(*reason, CloseReason::DiedOnProbe);
            assert_eq!(exit.unwrap().status.and_then(|status| status.code()), Some(3));
        }
        other => panic!("{other}"),
    }
}

async fn its_last_words_are_kept() {
    let client = connect(&ANY, &[]).await;
    assert_eq!(tool(&client, "complain", r#"{"text":"first words\n"}"#).await, "ok");
    assert_eq!(client.stderr_tail(), "first words\n");
    let words = "w".repeat(50_000);
    assert_eq!(tool(&client, "complain", &format!(r#"{{"text":"{words}"}}"#)).await, "ok");
    let exit = client.close().await;
    assert!(exit.stderr_tail.ends_with(&words), "{}", exit.stderr_tail.len());
}

async fn a_killed_parent_leaves_no_child() {
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .arg("--parent")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pid: u32 = line.trim().parse().unwrap();
    assert!(runs(pid));
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("the child is gone with it", || !runs(pid)).await;
}

async fn the_child_leads_a_group() {
    let client = connect(&ANY, &[]).await;
    let pid = client.pid().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let group = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(2)).unwrap().to_owned();
    // In a process namespace of its own /proc may count otherwise than we do; a group of 0 is of another namespace.
    assert_eq!(group, pid.to_string());
    client.kill().await;
}

struct Sandbox;

impl sanswire_smol::Wrap for Sandbox {
    fn wrap(&self, command: Command) -> std::io::Result<sanswire_smol::Wrapped> {
        match command.arguments().iter().any(|argument| argument == "modern") {
            true => Err(std::io::ErrorKind::Unsupported.into()),
            false => Ok(command.under("/usr/bin/env", ["WRAPPED=yes"]).into()),
        }
    }
}

async fn a_sandbox_is_asked() {
    let mut options = options();
    options.wrap = Some(std::sync::Arc::new(Sandbox));
    let client = Client::connect(&child(&[]), options.clone()).await.unwrap();
    let environ = std::fs::read(format!("/proc/{}/environ", client.pid().unwrap())).unwrap();
    assert!(environ.split(|byte| *byte == 0).any(|variable| variable == b"WRAPPED=yes"));
    assert_eq!(client.unwrapped(), None);
    client.close().await;
    let refused = Client::connect(&child(&["modern"]), options.clone()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Wrap { .. }), "{refused}");
    options.allow_unwrapped = true;
    let client = Client::connect(&child(&["modern"]), options).await.unwrap();
    assert!(client.unwrapped().is_some());
    client.close().await;
}

#[derive(Default)]
struct Seen(std::sync::Mutex<Vec<(sanswire_smol::Direction, String)>>);

impl sanswire_smol::Tap for Seen {
    fn message(&self, direction: sanswire_smol::Direction, _: std::time::Duration, line: &[u8]) {
        self.0.lock().unwrap().push((direction, String::from_utf8_lossy(line).into_owned()));
    }
}

async fn a_tap_sees_both_ways() {
    use sanswire_smol::Direction::{Received, Sent};
    let seen = std::sync::Arc::new(Seen::default());
    let mut options = options();
    options.tap = Some(seen.clone());
    let client = Client::connect(&child(&[]), options).await.unwrap();
    assert_eq!(text_of(outcome(&client, "echo", r#"{"text":"tapped"}"#).await), "tapped");
    client.close().await;
    let seen = seen.0.lock().unwrap();
    let which: Vec<_> =
        seen.iter().filter(|(_, line)| line.contains("tapped")).map(|(direction, _)| *direction).collect();
    assert_eq!(which, [Sent, Received]);
    let _ = Folder::new;
}
