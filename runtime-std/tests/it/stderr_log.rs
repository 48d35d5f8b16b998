//! What servers write to stderr, and where it goes.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as SystemCommand, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sanswire_std::host::{Host, Launch};
use sanswire_std::sanswire::host::{HostConfig, Mask, ServerConfig};
use sanswire_std::{Client, Command, ConnectError, ConnectOptions, StderrLog, StderrMode, Wrap, Wrapped};

use crate::common::{LONG, PLAIN, child, eventually, options, shell, tool, trials, within};
use crate::served::server;

trials!(
    h_115_the_log_stands_beside_the_sessions,
    h_115_the_file_is_its_owners_and_added_to,
    h_116_without_a_log_a_terminal_is_left_alone,
    h_118_inherited_it_is_this_process_s,
    h_117_lines_of_many_servers_stay_whole,
    h_117_the_servers_of_a_host_share_a_log_under_their_names,
    h_117_what_is_reached_over_a_socket_has_none,
    h_119_lines_are_prefixed_bounded_and_fit_to_be_read,
    h_119_b_99_secrets_are_hidden_in_the_log,
    h_119_b_99_a_host_hides_its_secrets_in_the_log,
    h_119_the_file_is_bounded,
    h_119_a_log_that_cannot_be_opened_fails_nobody,
    h_119_a_log_that_fails_later_fails_nobody,
    a_log_waits_for_nobody,
    b_57_a_log_keeps_the_last_words_as_well,
    what_a_server_said_before_it_failed_is_in_the_log,
    a_server_without_a_name_is_called_by_its_program,
);

/// A folder of its own, gone with this.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sanswire-log-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn log(&self) -> Arc<StderrLog> {
        Arc::new(StderrLog::beside(self.0.join("session.jsonl")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn into_log(log: &Arc<StderrLog>, name: &str) -> ConnectOptions {
    let mut options = options();
    options.stderr = StderrMode::Log(Arc::clone(log));
    options.server_name = Some(name.into());
    options
}

/// What is in the log after a server said this.
pub(crate) fn logged(log: &Arc<StderrLog>, name: &str, said: &str) -> String {
    let client = Client::connect(&child(&[]), into_log(log, name)).unwrap();
    tool(&client, "complain", &format!(r#"{{"text":"{said}"}}"#));
    client.close();
    std::fs::read_to_string(log.path()).unwrap_or_default()
}

fn h_115_the_log_stands_beside_the_sessions() {
    // H-115
    for (session, log) in [
        ("run/7.jsonl", "run/7-mcp.jsonl"),
        ("run/7", "run/7-mcp.log"),
        ("a.b/7.", "a.b/7-mcp.log"),
        ("a.b/7", "a.b/7-mcp.log"),
        ("7.tar.gz", "7.tar-mcp.gz"),
        (".hidden", ".hidden-mcp.log"),
        ("/", "/-mcp.log"),
    ] {
        assert_eq!(StderrLog::beside(session).path(), Path::new(log), "{session}");
    }
}

fn h_115_the_file_is_its_owners_and_added_to() {
    // H-115
    let folder = Folder::new();
    let session = folder.0.join("a/b/session.log");
    for n in 1..3 {
        // Without a mask of the process's own the modes are what was asked for.
        let logs = SystemCommand::new("/bin/sh")
            .args(["-c", "umask 0; exec \"$0\" --parent log \"$1\""])
            .args([std::env::current_exe().unwrap().as_path(), &session])
            .status()
            .unwrap();
        assert!(logs.success());
        let text = std::fs::read_to_string(folder.0.join("a/b/session-mcp.log")).unwrap();
        assert_eq!(text, "[one] hello\n".repeat(n), "it is added to");
    }
    if !PLAIN {
        let mode = |path: &str| std::fs::metadata(folder.0.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a/b/session-mcp.log"), mode("a/b"), mode("a")), (0o600, 0o755, 0o755));
    }
}

fn h_116_without_a_log_a_terminal_is_left_alone() {
    // H-116
    let folder = Folder::new();
    let by_default = |log, interactive| StderrMode::by_default(log, interactive);
    assert!(matches!(by_default(Some(folder.log()), true), StderrMode::Log(_)));
    assert!(matches!(by_default(Some(folder.log()), false), StderrMode::Log(_)));
    assert!(matches!(by_default(None, true), StderrMode::Ring), "nothing is shown");
    assert!(matches!(by_default(None, false), StderrMode::Inherit));
}

fn h_118_inherited_it_is_this_process_s() {
    // H-118, H-116
    let stderr_of = |interactive: &str| {
        let parent = SystemCommand::new(std::env::current_exe().unwrap())
            .args(["--parent", "stderr", interactive])
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(parent.status.success(), "{parent:?}");
        String::from_utf8(parent.stderr).unwrap()
    };
    assert_eq!(stderr_of("no"), "to whom it may concern\n");
    assert_eq!(stderr_of("yes"), "");
}

fn h_117_lines_of_many_servers_stay_whole() {
    // H-117
    let folder = Folder::new();
    let log = folder.log();
    std::thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let log = Arc::clone(&log);
            scope.spawn(move || {
                let client = Client::connect(&child(&["stderr-line=6400"]), into_log(&log, name)).unwrap();
                for _ in 0..20 {
                    tool(&client, "echo", "{}");
                }
                client.close();
            });
        }
    });
    let text = std::fs::read_to_string(log.path()).unwrap();
    for name in ["one", "two", "three"] {
        let prefix = format!("[{name}] ");
        let lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
        let said: Vec<_> = (0..2000).map(|n| format!("{:063}", n % 100)).collect();
        assert!(lines == said, "{name}: {} lines", lines.len());
    }
    assert_eq!((text.lines().count(), log.stats().lines), (6000, 6000));
}

fn h_117_the_servers_of_a_host_share_a_log_under_their_names() {
    // H-117, H-119
    let folder = Folder::new();
    let log = folder.log();
    let launch = || {
        let mut options = options();
        options.stderr = StderrMode::Log(Arc::clone(&log));
        Launch::command(shell("echo hello >&2; exec $CHILD"), options)
    };
    let mut host = Host::builder(HostConfig::default());
    for name in ["one", "two"] {
        host = host.server(name, ServerConfig::default(), launch());
    }
    let host = host.open().unwrap();
    host.wait_started(LONG);
    host.close();
    let text = std::fs::read_to_string(log.path()).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["[one] hello", "[two] hello"]);
}

fn h_117_what_is_reached_over_a_socket_has_none() {
    // H-117
    let folder = Folder::new();
    let log = folder.log();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving =
        std::thread::spawn(move || server(&[]).serve_tcp_stream(listener.accept().unwrap().0).unwrap());
    Client::connect_tcp(address, into_log(&log, "remote")).unwrap().close();
    serving.join().unwrap();
    assert!(!log.path().exists());
}

fn h_119_lines_are_prefixed_bounded_and_fit_to_be_read() {
    // H-119
    let folder = Folder::new();
    let text = logged(&folder.log(), "a\u{1b}]b", r"\u001b[31mred\u202e\r\nnext");
    assert_eq!(text, "[a\\u{1b}]b] \\u{1b}[31mred\\u{202e}\n[a\\u{1b}]b] next\n");
    let folder = Folder::new();
    let log = folder.log();
    let client = Client::connect(&child(&["stderr=1000000"]), into_log(&log, "a")).unwrap();
    tool(&client, "echo", "{}");
    client.close();
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(text, format!("[a] {}...\n", "x".repeat(4093)));
}

fn h_119_b_99_secrets_are_hidden_in_the_log() {
    // H-119
    let folder = Folder::new();
    let log = folder.log();
    log.set_mask(Mask::new(["hunter2"]));
    assert_eq!(logged(&log, "one", "the key is hunter2"), "[one] the key is ***\n");
}

fn h_119_b_99_a_host_hides_its_secrets_in_the_log() {
    // H-119
    let of_a_host = |said_before: Option<Mask>| {
        let folder = Folder::new();
        let log = folder.log();
        said_before.into_iter().for_each(|mask| log.set_mask(mask));
        let launch =
            Launch::command(shell("echo hunter2 and s3cret >&2; exec $CHILD"), into_log(&log, "one"));
        let mut config = HostConfig::default();
        config.mask = Mask::new(["hunter2"]);
        let host = Host::builder(config).server("one", ServerConfig::default(), launch).open().unwrap();
        assert!(host.wait_started(LONG));
        host.close();
        std::fs::read_to_string(log.path()).unwrap()
    };
    assert_eq!(of_a_host(None), "[one] *** and s3cret\n");
    // Whoever said what to hide knows better.
    assert_eq!(of_a_host(Some(Mask::new(["s3cret"]))), "[one] hunter2 and ***\n");
    assert_eq!(of_a_host(Some(Mask::default())), "[one] hunter2 and s3cret\n");
}

fn h_119_the_file_is_bounded() {
    // H-119
    let folder = Folder::new();
    let log = Arc::new(StderrLog::at(folder.0.join("small.log")).max_bytes(1000));
    let client = Client::connect(&child(&["stderr-line=6400"]), into_log(&log, "one")).unwrap();
    tool(&client, "echo", "{}");
    client.close();
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    let (old, new) = (read("small.log.1"), read("small.log"));
    assert!(old.len() <= 1000 && new.len() <= 1000, "{} {}", old.len(), new.len());
    // The newest are there, and nothing is between those that are there.
    let lines: Vec<_> =
        old.lines().chain(new.lines()).map(|line| line.trim_start_matches("[one] ")).collect();
    let said: Vec<_> = (100 - lines.len()..100).map(|n| format!("{n:063}")).collect();
    assert!(lines.len() > 14 && lines == said, "{lines:?}");
    assert_eq!((log.stats().lines, log.stats().failed), (100, 0));
    assert_eq!(log.stats().rotated, 7);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2);
    // A bound that no line fits in, and nowhere to put the full file, are no reason to go on without an end.
    let log = Arc::new(StderrLog::at(folder.0.join("none.log")).max_bytes(10));
    assert_eq!(logged(&log, "one", "0123456789"), "");
    assert_eq!(log.stats().failed, 1);
    let log = Arc::new(StderrLog::at(folder.0.join("stuck.log")).max_bytes(20));
    std::fs::create_dir_all(folder.0.join("stuck.log.1/full")).unwrap();
    assert_eq!(logged(&log, "one", "0123456789"), "[one] 0123456789\n");
    assert_eq!(logged(&log, "one", "0123456789"), "[one] 0123456789\n");
    assert_eq!((log.stats().failed, log.stats().rotated), (1, 0));
}

fn h_119_a_log_that_cannot_be_opened_fails_nobody() {
    // H-119
    let folder = Folder::new();
    let blocked = folder.0.join("session");
    std::fs::write(&blocked, "a file where a folder is wanted").unwrap();
    let log = Arc::new(StderrLog::beside(blocked.join("session.log")));
    assert_eq!(logged(&log, "one", "hello"), "");
    let stats = log.stats();
    assert_eq!((stats.lines, stats.failed), (0, 1));
    let fault = stats.fault.unwrap();
    assert!(fault.contains("session-mcp.log") && fault.contains("choose another path"), "{fault}");
    // The next server finds it mended.
    std::fs::remove_file(&blocked).unwrap();
    assert_eq!(logged(&log, "two", "hello"), "[two] hello\n");
}

fn h_119_a_log_that_fails_later_fails_nobody() {
    // H-119
    let folder = Folder::new();
    let log = Arc::new(StderrLog::at(folder.0.join("f.log")).max_bytes(30));
    let client = Client::connect(&child(&[]), into_log(&log, "one")).unwrap();
    tool(&client, "complain", r#"{"text":"first"}"#);
    eventually("it is written", || log.stats().lines == 1);
    // No room any more, and none can be made.
    std::fs::remove_file(log.path()).unwrap();
    std::fs::create_dir(log.path()).unwrap();
    std::fs::create_dir_all(folder.0.join("f.log.1/full")).unwrap();
    tool(&client, "complain", r#"{"text":"more than fits"}"#);
    eventually("it is told", || log.stats().failed == 1);
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    assert_eq!(client.is_closed(), None);
}

fn a_log_waits_for_nobody() {
    let folder = Folder::new();
    let log = folder.log();
    let made = SystemCommand::new("mkfifo").arg(log.path()).status().unwrap();
    assert!(made.success());
    within(LONG, || {
        assert_eq!(logged_nowhere(&log), 1);
        // With a reader that never reads it could be opened.
        let reader = std::fs::File::options().read(true).write(true).open(log.path()).unwrap();
        assert_eq!(logged_nowhere(&log), 2);
        drop(reader);
    });
    // What a link leads to is somebody else's file.
    let other = folder.0.join("other");
    std::fs::write(&other, "").unwrap();
    std::fs::remove_file(log.path()).unwrap();
    std::os::unix::fs::symlink(&other, log.path()).unwrap();
    assert_eq!(logged_nowhere(&log), 3);
    assert_eq!(std::fs::read_to_string(other).unwrap(), "");
}

/// How many lines failed after one more was said.
fn logged_nowhere(log: &Arc<StderrLog>) -> u64 {
    let client = Client::connect(&child(&[]), into_log(log, "one")).unwrap();
    tool(&client, "complain", r#"{"text":"hello"}"#);
    assert_eq!(client.close().stderr_tail, "hello\n");
    log.stats().failed
}

fn b_57_a_log_keeps_the_last_words_as_well() {
    let folder = Folder::new();
    let log = folder.log();
    let client = Client::connect(&child(&["stderr=262144"]), into_log(&log, "one")).unwrap();
    within(LONG, || {
        for n in 0..20 {
            assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
        }
    });
    eventually("the tail is read", || client.stderr_tail().len() == 64 * 1024);
    assert_eq!(client.close().stderr_tail.len(), 64 * 1024);
}

fn what_a_server_said_before_it_failed_is_in_the_log() {
    let folder = Folder::new();
    let log = folder.log();
    let mut options = into_log(&log, "one");
    options.restart = false;
    let error = Client::connect(&shell("printf 'missing key' >&2; exit 7"), options).unwrap_err();
    let ConnectError::Closed { stderr_tail, .. } = error else { panic!("{error:?}") };
    assert_eq!(stderr_tail, "missing key");
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), "[one] missing key\n");
}

struct Launcher;

impl Wrap for Launcher {
    fn wrap(&self, command: Command) -> std::io::Result<Wrapped> {
        Ok(command.under("/usr/bin/env", ["-"]).into())
    }
}

fn a_server_without_a_name_is_called_by_its_program() {
    let folder = Folder::new();
    let log = folder.log();
    let mut options = into_log(&log, "");
    options.server_name = None;
    options.restart = false;
    let _ = Client::connect(&shell("echo gone >&2"), options.clone()).unwrap_err();
    // Not by the launcher that a sandbox puts before it.
    options.wrap = Some(Arc::new(Launcher));
    let _ = Client::connect(&shell("echo again >&2"), options).unwrap_err();
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), "[sh] gone\n[sh] again\n");
}
