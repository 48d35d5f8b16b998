//! Servers that are started in a sandbox.

use std::io::{ErrorKind, Seek, Write};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use sanswire_std::{Client, Command, ConnectError, ConnectOptions, InheritEnv, Wrap, Wrapped};

use crate::common::{PLAIN, child, options, tool, trials};
use crate::served::server;

trials!(
    h_129_h_127_a_process_is_started_in_the_sandbox_once,
    h_129_what_is_reached_over_a_socket_is_not_wrapped,
    h_130_all_of_a_command_survives_a_launcher,
    h_130_h_121_what_the_connection_needs_is_set_on_what_the_sandbox_gives_back,
    h_131_declared_variables_pass_the_filter_but_not_a_removal_by_name,
    h_131_a_sandbox_loosens_no_filter,
    h_132_a_start_is_released_once_whether_it_worked_or_not,
    h_132_every_attempt_is_released,
    h_132_a_release_that_panics_ends_nothing,
    a_sandbox_that_fails_starts_nothing,
    h_133_without_a_sandbox_it_is_refused_or_told_of,
);

/// A sandbox that is a closure, and how often it was asked.
struct Sandbox<F> {
    make: F,
    asked: AtomicUsize,
}

impl<F: Fn(Command) -> std::io::Result<Wrapped> + Send + Sync> Wrap for Sandbox<F> {
    fn wrap(&self, command: Command) -> std::io::Result<Wrapped> {
        self.asked.fetch_add(1, SeqCst);
        (self.make)(command)
    }
}

/// Options with that sandbox, and the sandbox.
fn in_sandbox<F>(make: F) -> (ConnectOptions, Arc<Sandbox<F>>)
where
    F: Fn(Command) -> std::io::Result<Wrapped> + Send + Sync + 'static,
{
    let sandbox = Arc::new(Sandbox { make, asked: AtomicUsize::new(0) });
    let mut options = options();
    options.wrap = Some(Arc::clone(&sandbox) as Arc<dyn Wrap>);
    (options, sandbox)
}

fn has(env: &str, line: &str) -> bool {
    env.lines().any(|found| found == line)
}

fn h_129_h_127_a_process_is_started_in_the_sandbox_once() {
    // H-129, H-127
    let (options, sandbox) = in_sandbox(|command| Ok(command.under("/usr/bin/env", ["WRAPPED=1"]).into()));
    let client = Client::connect(&child(&[]), options).unwrap();
    for _ in 0..3 {
        assert!(has(&tool(&client, "env", "{}"), "WRAPPED=1"));
    }
    assert_eq!(client.unwrapped(), None);
    client.close();
    assert_eq!(sandbox.asked.load(SeqCst), 1);
}

fn h_129_what_is_reached_over_a_socket_is_not_wrapped() {
    // H-129
    let (options, sandbox) = in_sandbox(|_| Err(ErrorKind::Unsupported.into()));
    #[cfg(not(sanswire_plain))]
    let again = options.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving =
        std::thread::spawn(move || server(&[]).serve_tcp_stream(listener.accept().unwrap().0).unwrap());
    Client::connect_tcp(address, options).unwrap().close();
    serving.join().unwrap();
    #[cfg(not(sanswire_plain))]
    {
        let path = std::env::temp_dir().join(format!("sanswire-wrap-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let serving =
            std::thread::spawn(move || server(&[]).serve_unix_stream(listener.accept().unwrap().0).unwrap());
        Client::connect_unix(&path, again).unwrap().close();
        serving.join().unwrap();
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!(sandbox.asked.load(SeqCst), 0);
}

fn h_130_all_of_a_command_survives_a_launcher() {
    // H-130
    // A descriptor that the launcher reads, as a sandbox may have its rules.
    let mut rules = tempfile();
    rules.write_all(b"rule 7\n").unwrap();
    rules.rewind().unwrap();
    rustix::io::fcntl_setfd(&rules, rustix::io::FdFlags::empty()).unwrap();
    let script = format!("read -r RULE </dev/fd/{}; export RULE; exec \"$@\"", rules.as_raw_fd());
    let (mut options, _) =
        in_sandbox(move |command| Ok(command.under("/bin/sh", ["-c", &script, "launcher"]).into()));
    options.config.limits.connect = crate::common::LONG;
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let command = child(&["stderr=5"]).current_dir(&folder).env("DECLARED", "a b");
    let client = Client::connect(&command, options).unwrap();
    let env = tool(&client, "env", "{}");
    assert!(has(&env, "DECLARED=a b") && has(&env, "RULE=rule 7"), "{env}");
    assert_eq!(tool(&client, "cwd", "{}"), folder.to_string_lossy());
    // The argument arrived: it says something before each reply.
    assert!(client.close().stderr_tail.starts_with("xxxxx"));
}

/// A file without a name.
fn tempfile() -> std::fs::File {
    let path = std::env::temp_dir().join(format!("sanswire-rules-{}", std::process::id()));
    let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

fn h_130_h_121_what_the_connection_needs_is_set_on_what_the_sandbox_gives_back() {
    // H-130, H-121
    // A group to put it into. This process's own may not be seen from inside a container.
    let mut other = std::process::Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
    let group = i32::try_from(other.id()).unwrap();
    let (options, _) = in_sandbox(move |command| {
        Ok(Wrapped::new(command).prepare(move |system| {
            system.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(group);
            system.arg("stderr=5");
        }))
    });
    let client = Client::connect(&child(&[]), options).unwrap();
    if !PLAIN {
        assert_eq!(tool(&client, "group", "{}"), client.pid().unwrap().to_string());
    }
    tool(&client, "echo", "{}");
    assert!(client.close().stderr_tail.starts_with("xxxxx"));
    other.kill().unwrap();
    other.wait().unwrap();
}

fn h_131_declared_variables_pass_the_filter_but_not_a_removal_by_name() {
    // H-131
    let seen = Arc::new(Mutex::new(String::new()));
    let shown = Arc::clone(&seen);
    let (options, _) = in_sandbox(move |command| {
        *shown.lock().unwrap() = format!("{command:?}");
        let command = command.inherit_env(InheritEnv::AllowList).env("OWN", "sandbox").env("BOTH", "sandbox");
        Ok(command.env_remove("SECRET").env_remove("HOME").into())
    });
    let command = child(&[]).env("SECRET", "1").env("BOTH", "declared").env("EXTRA", "1");
    let client = Client::connect(&command, options).unwrap();
    let env = tool(&client, "env", "{}");
    for expected in ["OWN=sandbox", "BOTH=declared", "EXTRA=1"] {
        assert!(has(&env, expected), "{expected}: {env}");
    }
    for kept in ["SECRET=", "HOME=", "CARGO"] {
        assert!(!env.lines().any(|line| line.starts_with(kept)), "{kept}: {env}");
    }
    assert!(!seen.lock().unwrap().contains("EXTRA"), "the sandbox sees no declared variable");
}

fn h_131_a_sandbox_loosens_no_filter() {
    // H-131
    let program = std::env::current_exe().unwrap();
    let (options, _) = in_sandbox(move |_| Ok(Command::new(&program).arg("--child").into()));
    let command = child(&[]).inherit_env(InheritEnv::AllowList).env("EXTRA", "1").env_remove("LANG");
    let client = Client::connect(&command, options).unwrap();
    let env = tool(&client, "env", "{}");
    let allowed = ["HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "EXTRA"];
    for line in env.lines() {
        assert!(allowed.contains(&line.split_once('=').unwrap().0), "{line}");
    }
    assert!(has(&env, "EXTRA=1"));
}

/// Options whose sandbox counts what it releases, and that count.
fn counting(program: Option<&'static str>) -> (ConnectOptions, Arc<AtomicUsize>) {
    let released = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&released);
    let (options, _) = in_sandbox(move |command| {
        let counter = Arc::clone(&counter);
        let wrapped = Wrapped::new(program.map_or(command, Command::new));
        Ok(wrapped.on_release(move || {
            counter.fetch_add(1, SeqCst);
        }))
    });
    (options, released)
}

fn h_132_a_start_is_released_once_whether_it_worked_or_not() {
    // H-132
    let (options, released) = counting(None);
    let client = Client::connect(&child(&[]), options).unwrap();
    assert_eq!(released.load(SeqCst), 1, "as soon as it has started");
    client.close();
    assert_eq!(released.load(SeqCst), 1);
    let (options, released) = counting(Some("no-such-launcher"));
    let error = Client::connect(&child(&[]), options).unwrap_err();
    assert_eq!(released.load(SeqCst), 1);
    // What could not be started is the launcher.
    assert!(
        matches!(&error, ConnectError::Spawn { program, .. } if program == "no-such-launcher"),
        "{error}"
    );
}

fn h_132_every_attempt_is_released() {
    // H-132
    let (options, released) = counting(None);
    let client = Client::connect(&child(&["die-on-probe"]), options).unwrap();
    assert_eq!(released.load(SeqCst), 2, "it was started once more");
    client.close();
}

fn h_132_a_release_that_panics_ends_nothing() {
    // H-132
    let (options, _) = in_sandbox(|command| Ok(Wrapped::new(command).on_release(|| panic!("on purpose"))));
    let client = Client::connect(&child(&[]), options).unwrap();
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
}

/// A server that leaves a file behind if it is started, and the file.
fn leaving_a_trace() -> (Command, std::path::PathBuf) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("sanswire-started-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
    let path = std::env::temp_dir().join(name);
    (Command::new("/usr/bin/touch").arg(&path), path)
}

fn a_sandbox_that_fails_starts_nothing() {
    let (mut options, _) = in_sandbox(|_| Err(std::io::Error::other("no room \u{1b}[1m left")));
    // Not having been made is not the same as not being there.
    options.allow_unwrapped = true;
    let (command, trace) = leaving_a_trace();
    let error = Client::connect(&command, options).unwrap_err();
    assert!(matches!(error, ConnectError::Wrap { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("no room \\u{1b}[1m left") && text.contains("not started; correct"), "{text}");
    assert!(text.contains("/usr/bin/touch"), "{text}");
    assert!(!trace.exists());
}

fn h_133_without_a_sandbox_it_is_refused_or_told_of() {
    // H-133
    let none = || std::io::Error::new(ErrorKind::Unsupported, "this kernel is too old");
    let (mut options, _) = in_sandbox(move |_| Err(none()));
    let (command, trace) = leaving_a_trace();
    let error = Client::connect(&command, options.clone()).unwrap_err();
    assert!(matches!(error, ConnectError::Wrap { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("no sandbox") && text.contains("too old") && text.contains("install"), "{text}");
    assert!(!trace.exists());
    options.allow_unwrapped = true;
    let client = Client::connect(&child(&[]).env("EXTRA", "1"), options).unwrap();
    assert_eq!(client.unwrapped(), Some("this kernel is too old"));
    assert!(has(&tool(&client, "env", "{}"), "EXTRA=1"));
}
