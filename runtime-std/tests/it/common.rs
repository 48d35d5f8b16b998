//! What the tests share.

use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use sanswire_std::sanswire::client::{Outcome, RequestOptions};
use sanswire_std::sanswire::jsonrpc::RawJson;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::{Client, Command, ConnectOptions};

pub(crate) use sanswire_std::HttpTarget;

/// Longer than anything here should take on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Where nobody listens: no system gives this port to whoever asks for any.
pub(crate) const NOBODY: std::net::SocketAddr =
    std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

/// Whether this is built for the fallback, as it is on systems that are no Unix.
pub(crate) const PLAIN: bool = cfg!(any(not(unix), sanswire_plain));

/// What the fallback cannot do, and why.
const NEEDS_UNIX: [(&str, &str); 17] = [
    ("stray_prints_stay_off_the_wire", "needs descriptors"),
    ("handlers_find_nothing_to_read", "needs descriptors"),
    ("a_client_that_vanishes_cancels_its_calls", "needs a poll that tells of pipes nobody reads"),
    ("a_listing_needs_no_thread", "needs a poll instead of threads"),
    ("a_handler_that_never_ends_is_left_behind", "needs a poll instead of threads"),
    ("without_a_thread_to_be_had_questions_are_answered", "needs a poll instead of threads"),
    ("who_has_served_has_its_output_back_though_a_handler_goes_on", "needs descriptors"),
    ("a_killed_parent_in_mid_call_leaves_no_child", "needs the kernel to kill a child with its parent"),
    ("h_120_the_child_leads_a_group_of_its_own", "needs process groups"),
    ("grandchildren_are_gone_too", "needs process groups"),
    ("h_120_killing_takes_grandchildren_along", "needs process groups"),
    ("p_126_a_server_that_ignores_the_end_is_terminated", "needs SIGTERM"),
    (
        "requests_of_many_bytes_do_not_pile_up",
        "needs a poll that tells of connections in the order they wrote",
    ),
    ("without_descriptors_a_connection_that_rests_makes_room", "needs descriptors"),
    ("without_descriptors_those_who_wait_are_served_later", "needs descriptors"),
    ("over_a_unix_socket", "needs Unix sockets"),
    ("a_unix_server_that_accepts_nobody_is_given_up", "needs Unix sockets"),
];

/// The list of a module's tests.
macro_rules! trials {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(crate::common::trial(stringify!($name), $name)),+]
        }
    };
}
pub(crate) use trials;

pub(crate) fn trial(name: &'static str, test: fn()) -> Trial {
    let trial = Trial::test(name, move || {
        test();
        Ok::<(), Failed>(())
    });
    match NEEDS_UNIX.iter().find(|(needs, _)| PLAIN && *needs == name) {
        Some((_, why)) => trial.with_kind(*why).with_ignored_flag(true),
        None => trial,
    }
}

/// A server that is this program.
pub(crate) fn child(arguments: &[&str]) -> Command {
    Command::new(std::env::current_exe().unwrap()).arg("--child").args(arguments.iter().copied())
}

/// A server that is a shell script; `$CHILD` in it starts this program as a server.
pub(crate) fn shell(script: &str) -> Command {
    let program = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    Command::new("/bin/sh").arg("-c").arg(script.replace("$CHILD", &format!("{program} --child")))
}

pub(crate) fn options() -> ConnectOptions {
    ConnectOptions::new("test", "0")
}

pub(crate) fn connect(arguments: &[&str]) -> Client {
    Client::connect(&child(arguments), options()).unwrap()
}

pub(crate) fn no_options() -> RequestOptions {
    RequestOptions::default()
}

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

/// The outcome of a tool.
pub(crate) fn outcome(client: &Client, tool: &str, arguments: &str) -> Outcome {
    client.call_tool(tool, Some(&raw(arguments)), &no_options()).unwrap()
}

/// The text that a tool gives.
pub(crate) fn tool(client: &Client, tool: &str, arguments: &str) -> String {
    text_of(outcome(client, tool, arguments))
}

pub(crate) fn text_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::Complete(result) => CallToolResult::new(result).text(),
        other => panic!("{other:?}"),
    }
}

/// Waits until `done`; panics after [`LONG`].
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !done() {
        assert!(Instant::now() < end, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `work`, which must not take longer than `bound`.
pub(crate) fn within<T>(bound: Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    let took = started.elapsed();
    assert!(took < bound, "took {took:?}, not within {bound:?}");
    result
}

/// Whether a process runs: a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

pub(crate) fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
}
