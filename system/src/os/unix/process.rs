//! A child process and how it is stopped.

use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::exit::Ended;
use crate::options::StopLadder;
use crate::os::{ABOUT_TO_EXIT, KILL_WAIT, LAST_WAIT, LOOK, Pipes, after, is_over, to_timespec};

/// A child that leads a process group of its own.
#[derive(Debug)]
pub struct Child {
    child: std::process::Child,
    pid: Option<Pid>,
    /// Becomes readable when the child exits.
    #[cfg(target_os = "linux")]
    pidfd: Option<std::os::fd::OwnedFd>,
}

/// What tells of the exit of a child, where something does.
#[derive(Clone, Copy, Debug)]
pub struct Exiting<'a>(Option<BorrowedFd<'a>>);

impl<'a> Exiting<'a> {
    /// Waits until the child exits, something can be read from one of these or they have ended, or `timeout` is over: what
    /// [`Pipes::wait`] does with the pipes that are open and whatever wakes it. Blocks.
    pub fn wait(self, fds: impl IntoIterator<Item = BorrowedFd<'a>>, timeout: Duration) {
        let mut fds: Vec<PollFd<'_>> =
            fds.into_iter().chain(self.0).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let _ = rustix::event::poll(&mut fds, Some(&to_timespec(timeout)));
    }
}

impl Child {
    /// A child that was started after [`bind_to_parent`](crate::os::bind_to_parent).
    #[must_use]
    pub fn new(child: std::process::Child) -> Self {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self {
            child,
            pid,
            #[cfg(target_os = "linux")]
            pidfd: pid
                .and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()),
        }
    }

    /// The system's number for it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it and its group at once, for a server that nobody has spoken to yet. Blocks until it is gone.
    pub fn kill(mut self) {
        self.signal_group(Signal::KILL);
        let _ = self.child.wait();
    }

    /// Whether it has exited. It stays a zombie, so its number, and its group's, is not given to anybody else.
    fn exited(&self) -> bool {
        let Some(pid) = self.pid else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(pid), options) {
            Ok(found) => found.is_some(),
            // Somebody else has waited for it.
            Err(errno) => errno == Errno::CHILD,
        }
    }

    /// Waits until `done`, `until` or the end of patience, looking after the pipes; whether it was done.
    fn wait(&self, pipes: &mut dyn Pipes, until: Instant, done: impl Fn(&Self, &dyn Pipes) -> bool) -> bool {
        self.wait_on(pipes, |pipes| pipes.patience_until().map_or(until, |end| end.min(until)), done)
    }

    fn wait_on(
        &self,
        pipes: &mut dyn Pipes,
        until: impl Fn(&dyn Pipes) -> Instant,
        done: impl Fn(&Self, &dyn Pipes) -> bool,
    ) -> bool {
        let mut look = Duration::from_millis(1);
        loop {
            pipes.drain();
            if done(self, pipes) {
                return true;
            }
            let left = until(pipes).saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.sleep(pipes, left, &mut look);
        }
    }

    /// Until the child exits, a pipe has something, somebody wakes, or `left` is over.
    fn sleep(&self, pipes: &dyn Pipes, left: Duration, look: &mut Duration) {
        #[cfg(target_os = "linux")]
        let exit = self.pidfd.as_ref().map(AsFd::as_fd).filter(|_| !self.exited());
        #[cfg(not(target_os = "linux"))]
        let exit: Option<BorrowedFd<'_>> = None;
        // It may have exited since the caller looked: then nothing here tells of it.
        let timeout = if exit.is_some() {
            left
        } else {
            *look = (*look * 2).min(LOOK);
            left.min(*look)
        };
        pipes.wait(Exiting(exit), timeout);
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = self.pid {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    /// Closes the child's stdin, waits for it, and helps if it does not end; then ends what is left of its group,
    /// and reaps. `by_itself`: it ended its output unasked. Takes `ladder.total` at most (and a moment for the
    /// kernel); where patience ends before, the group is killed then.
    pub fn stop(
        mut self,
        ladder: &StopLadder,
        pipes: &mut dyn Pipes,
        by_itself: bool,
        close_stdin: impl FnOnce(),
    ) -> (Option<ExitStatus>, Ended) {
        let end = after(ladder.total);
        let rung = |patience: Duration| after(patience).min(end);
        let gone = |this: &Self, _: &dyn Pipes| this.exited();
        let patience = if by_itself { ABOUT_TO_EXIT } else { Duration::ZERO };
        let exited = self.wait(pipes, rung(patience), gone);
        let mut ended = if exited { Ended::Already } else { Ended::OnEof };
        let mut kill = !exited && is_over(pipes);
        if kill {
            // It is not even to see the end of its stdin.
            self.signal_group(Signal::KILL);
        }
        close_stdin();
        if !kill && !self.wait(pipes, rung(ladder.eof), gone) {
            kill = is_over(pipes);
            if !kill {
                ended = Ended::OnTerm;
                self.signal_group(Signal::TERM);
                kill = !self.wait(pipes, rung(ladder.term), gone);
            }
        }
        if kill {
            ended = Ended::OnKill;
            self.signal_group(Signal::KILL);
            let last = end.min(after(KILL_WAIT)).max(after(LAST_WAIT));
            if !self.wait_on(pipes, |_| last, gone) {
                // Not even SIGKILL ends a process that waits in the kernel. It is left to the system.
                return (None, ended);
            }
        }
        pipes.drain();
        // The child is a zombie still, so the group's number is its own. Whoever holds a pipe open is a relative
        // that outlived it, the real server behind a launcher perhaps: it saw the end of its stdin too.
        if ended != Ended::OnKill && !pipes.all_closed() {
            if ended != Ended::OnTerm {
                self.signal_group(Signal::TERM);
            }
            self.wait(pipes, rung(ladder.term), |_, pipes| pipes.all_closed());
        }
        self.signal_group(Signal::KILL);
        (self.child.wait().ok(), ended)
    }
}
