//! A terminal of its own for a program, with somebody in front of it who reads and types.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::home::{Home, until, wait};

/// How long anything may take to be shown.
const PATIENCE: Duration = Duration::from_secs(60);

/// In it the words are handed to the process that becomes the program, as a JSON array.
const BECOME: &str = "SANSWIRE_TEST_BECOME";

/// A program on a terminal of 100 columns and 30 lines, which is its controlling one.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Screen>,
    /// What was looked at already.
    read: usize,
}

#[derive(Default)]
struct Screen {
    shown: Mutex<Shown>,
    changed: Condvar,
}

#[derive(Default)]
struct Shown {
    bytes: Vec<u8>,
    over: bool,
}

impl Terminal {
    /// Starts `sanswire` with these words in that home.
    pub(crate) fn start(home: &Home, words: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::open(home, &[&[env!("CARGO_BIN_EXE_sanswire")], words].concat(), variables)
    }

    /// Starts a line in the shell: for what takes a pipe, or more than one program.
    pub(crate) fn shell(home: &Home, line: &str, variables: &[(&str, &str)]) -> Self {
        Self::open(home, &["/bin/sh", "-c", line], variables)
    }

    fn open(home: &Home, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let path = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).unwrap();
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let terminal = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
        // Without unsafe code nothing can be done between fork and exec: this program is started once more, takes
        // the terminal and then becomes the other one.
        let mut command = home.prepare(&std::env::current_exe().unwrap());
        let child = command
            .args(["--ignored", "--exact", "pty::becomes_the_program", "--nocapture", "--test-threads=1"])
            .env("TERM", "dumb")
            .envs(variables.iter().copied())
            .env(BECOME, serde_json::to_string(words).unwrap())
            .stdin(Stdio::from(terminal))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        drop(command);
        let keys = File::from(controller);
        let screen = Arc::new(Screen::default());
        let (mut from, onto) = (keys.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            loop {
                // Where nobody has the terminal open any more that is an end on some systems, an error on others.
                let read = from.read(&mut some).unwrap_or(0);
                let mut shown = onto.shown.lock().unwrap_or_else(PoisonError::into_inner);
                shown.bytes.extend_from_slice(some.get(..read).unwrap());
                shown.over = read == 0;
                onto.changed.notify_all();
                if shown.over {
                    return;
                }
            }
        });
        Self { child, keys, screen, read: 0 }
    }

    /// Waits until a text stands behind what was waited for before; gives all up to its end.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        let mut shown = self.screen.shown.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let new = shown.bytes.get(self.read..).unwrap_or_default();
            if let Some(at) = new.windows(text.len()).position(|window| window == text.as_bytes()) {
                let seen = String::from_utf8_lossy(new.get(..at + text.len()).unwrap()).into_owned();
                self.read += at + text.len();
                return seen;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !shown.over && !left.is_zero(),
                "{text:?} was never shown, but {:?}",
                String::from_utf8_lossy(new)
            );
            let (now, _) =
                self.screen.changed.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner);
            shown = now;
        }
    }

    /// Waits until a prompt reads single keys: before that, Ctrl-C is a signal to everything on the terminal.
    #[track_caller]
    pub(crate) fn expect_keys(&self) {
        until("it reads keys", || !tcgetattr(&self.keys).unwrap().local_modes.contains(LocalModes::ICANON));
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Sends a signal to the program alone, as `kill` names it.
    pub(crate) fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Waits for the end; gives the exit status and all that was ever shown.
    #[track_caller]
    pub(crate) fn wait(mut self) -> (i32, String) {
        let status = wait(&mut self.child);
        let end = Instant::now() + PATIENCE;
        let mut shown = self.screen.shown.lock().unwrap_or_else(PoisonError::into_inner);
        while !shown.over {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "something holds the terminal");
            let (now, _) =
                self.screen.changed.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner);
            shown = now;
        }
        let seen = String::from_utf8_lossy(&shown.bytes).into_owned();
        drop(shown);
        (status, seen)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is seen of a line in the shell while these keys are typed ahead.
#[track_caller]
pub(crate) fn seen(home: &Home, line: &str, variables: &[(&str, &str)], keys: &str) -> String {
    let mut terminal = Terminal::shell(home, line, variables);
    terminal.send(keys);
    terminal.wait().1
}

/// As [`seen`], with keys that are typed once something was shown.
#[track_caller]
pub(crate) fn seen_after(
    home: &Home,
    line: &str,
    variables: &[(&str, &str)],
    asked: &str,
    keys: &str,
) -> String {
    let mut terminal = Terminal::shell(home, line, variables);
    terminal.expect(asked);
    terminal.expect_keys();
    terminal.send(keys);
    terminal.wait().1
}

/// No test: what [`Terminal`] starts, to become the program that it means.
#[test]
#[ignore = "is run by the tests that need a terminal"]
fn becomes_the_program() {
    let Some(words) = std::env::var_os(BECOME) else { return };
    let words: Vec<String> = serde_json::from_str(words.to_str().unwrap()).unwrap();
    let (program, arguments) = words.split_first().unwrap();
    // Whoever runs the tests may have these ignored, as behind `nohup` or an `&` in a script. That outlives exec, a
    // handler does not: behind it the program finds them as a terminal's programs do.
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default()).unwrap();
    }
    setsid().unwrap();
    let terminal = std::io::stdin();
    ioctl_tiocsctty(&terminal).unwrap();
    let onto = || Stdio::from(rustix::io::dup(&terminal).unwrap());
    let failed =
        Command::new(program).args(arguments).env_remove(BECOME).stdout(onto()).stderr(onto()).exec();
    panic!("{program}: {failed}");
}

#[test]
fn a_program_on_it_has_a_controlling_terminal_that_sends_signals() {
    let home = Home::new();
    let line = "tty <&0; stty size; trap 'exit 7' INT; echo ready; while :; do sleep 0.01; done";
    let mut terminal = Terminal::shell(&home, line, &[("SHOWN", "x")]);
    let seen = terminal.expect("ready\r\n");
    assert!(seen.starts_with("/dev/") && seen.contains("\r\n30 100\r\n"), "{seen:?}");
    terminal.send("\u{3}");
    assert_eq!(terminal.wait().0, 7);
    let variables = Terminal::shell(&home, "env", &[("SHOWN", "x")]).wait().1;
    let variables: BTreeMap<_, _> = variables.lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!((variables["SHOWN"], variables["HOME"]), ("x", home.path.to_str().unwrap()));
    assert!(!variables.contains_key(BECOME), "{variables:?}");
    let hello = Terminal::start(&home, &["call", "demo/echo", "text=hello"], &[]).wait();
    assert_eq!(hello, (0, "hello\r\n".into()));
}
