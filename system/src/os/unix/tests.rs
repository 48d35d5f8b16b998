//! Children that are stopped by whoever reads their pipes in a way of its own.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::exit::Ended;
use crate::launch::start;
use crate::options::{StderrMode, StopLadder};
use crate::os::{Child, ChildEnds, Exiting, Pipes, after, to_timespec};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);

/// A child's stdout, read as any file.
struct Stdout {
    file: File,
    open: bool,
    got: Vec<u8>,
    patience_until: Option<Instant>,
}

impl Pipes for Stdout {
    fn drain(&mut self) {
        let mut room = [0; 4096];
        while self.open {
            match self.file.read(&mut room) {
                Ok(0) => self.open = false,
                Ok(len) => self.got.extend_from_slice(&room[..len]),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    return;
                }
            }
        }
    }

    fn all_closed(&self) -> bool {
        !self.open
    }

    fn patience_until(&self) -> Option<Instant> {
        self.patience_until
    }

    fn wait(&self, exit: Exiting<'_>, timeout: Duration) {
        exit.wait(self.open.then(|| self.file.as_fd()), timeout);
    }
}

fn shell(script: &str) -> (Child, ChildEnds) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    start(command, &StderrMode::Discard).unwrap()
}

impl Stdout {
    fn new(ends: ChildEnds) -> (Self, OwnedFd) {
        let ChildEnds { stdin, stdout, .. } = ends;
        (Self { file: stdout.into(), open: true, got: Vec::new(), patience_until: None }, stdin)
    }

    fn wait_for_more(&mut self) {
        let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
        assert_eq!(rustix::event::poll(&mut fds, Some(&to_timespec(LONG))), Ok(1));
        self.drain();
    }

    /// Waits for all that the child writes before it is spoken to.
    fn wait_for_ready(&mut self) {
        while !self.got.ends_with(b"ready\n") {
            assert!(self.open, "it is gone");
            self.wait_for_more();
        }
    }
}

/// Stops what the script starts, after it has said that it is ready.
fn stopped(
    script: &str,
    (eof, term): (Duration, Duration),
    patience: Option<Duration>,
) -> (Option<ExitStatus>, Ended, Stdout) {
    let (child, ends) = shell(script);
    let (mut stdout, stdin) = Stdout::new(ends);
    stdout.wait_for_ready();
    stdout.patience_until = patience.map(after);
    let ladder = StopLadder::new(eof, term, 3 * LONG);
    let (status, ended) = child.stop(&ladder, &mut stdout, false, || drop(stdin));
    (status, ended, stdout)
}

#[test]
fn one_that_ends_with_its_stdin_is_asked_no_more() {
    let (status, ended, stdout) = stopped("echo ready; cat; echo bye; exit 7", (LONG, LONG), None);
    assert_eq!((status.unwrap().code(), ended), (Some(7), Ended::OnEof));
    assert!(!stdout.open && stdout.got == b"ready\nbye\n", "what it wrote while it was stopped is read");
}

#[test]
fn one_that_goes_on_gets_the_signals_one_after_the_other() {
    let (status, ended, _) = stopped("echo ready; exec sleep 1000", (SHORT, LONG), None);
    assert_eq!((status.unwrap().signal(), ended), (Some(15), Ended::OnTerm));
    let deaf = "trap '' TERM; echo ready; sleep 1000";
    let (status, ended, _) = stopped(deaf, (SHORT, SHORT), None);
    assert_eq!((status.unwrap().signal(), ended), (Some(9), Ended::OnKill));
}

#[test]
fn where_patience_is_over_nothing_is_asked() {
    let (status, ended, _) = stopped("echo ready; cat; exit 7", (LONG, LONG), Some(Duration::ZERO));
    assert_eq!((status.unwrap().signal(), ended), (Some(9), Ended::OnKill));
}

#[test]
fn who_is_left_of_its_group_goes_with_it() {
    let (status, ended, stdout) = stopped("sleep 1000 & echo ready; cat; exit 7", (LONG, LONG), None);
    assert_eq!((status.unwrap().code(), ended), (Some(7), Ended::OnEof));
    assert!(!stdout.open, "a relative that holds it open gets SIGTERM");
    let (child, ends) = shell("sleep 1000 & echo ready; cat");
    let (mut stdout, _stdin) = Stdout::new(ends);
    stdout.wait_for_ready();
    child.kill();
    while stdout.open {
        stdout.wait_for_more();
    }
}
