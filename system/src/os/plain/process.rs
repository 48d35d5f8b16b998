//! A child process and how it is stopped where there are neither groups nor signals.

use std::marker::PhantomData;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::exit::Ended;
use crate::options::StopLadder;
use crate::os::{ABOUT_TO_EXIT, KILL_WAIT, LAST_WAIT, LOOK, Pipes, after, is_over};

/// A child sees the end of its stdin when this process ends, and nothing else.
pub const fn bind_to_parent(_: &mut Command) {}

/// What tells of the exit of a child: nothing does here.
#[derive(Clone, Copy, Debug)]
pub struct Exiting<'a>(PhantomData<&'a ()>);

/// A child process.
#[derive(Debug)]
pub struct Child {
    child: std::process::Child,
}

impl Child {
    /// A child that was started after [`bind_to_parent`].
    #[must_use]
    pub const fn new(child: std::process::Child) -> Self {
        Self { child }
    }

    /// The system's number for it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, for a server that nobody has spoken to yet. Blocks until it is gone.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn exited(&mut self) -> bool {
        // Somebody else has waited for it if that fails.
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until `done`, `until` or the end of patience, looking after the pipes; whether it was done.
    fn wait(
        &mut self,
        pipes: &mut dyn Pipes,
        until: Instant,
        done: impl FnMut(&mut Self, &dyn Pipes) -> bool,
    ) -> bool {
        self.wait_on(pipes, |pipes| pipes.patience_until().map_or(until, |end| end.min(until)), done)
    }

    fn wait_on(
        &mut self,
        pipes: &mut dyn Pipes,
        until: impl Fn(&dyn Pipes) -> Instant,
        mut done: impl FnMut(&mut Self, &dyn Pipes) -> bool,
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
            look = (look * 2).min(LOOK);
            pipes.wait(Exiting(PhantomData), left.min(look));
        }
    }

    /// Closes the child's stdin, waits for it, and ends it if it does not end; then waits for whoever else holds
    /// its pipes open. `by_itself`: it ended its output unasked. Takes `ladder.total` at most (and a moment for
    /// the kernel); where patience ends before, it is ended then.
    pub fn stop(
        mut self,
        ladder: &StopLadder,
        pipes: &mut dyn Pipes,
        by_itself: bool,
        close_stdin: impl FnOnce(),
    ) -> (Option<ExitStatus>, Ended) {
        let end = after(ladder.total);
        let rung = |patience: Duration| after(patience).min(end);
        let gone = |this: &mut Self, _: &dyn Pipes| this.exited();
        let patience = if by_itself { ABOUT_TO_EXIT } else { Duration::ZERO };
        let exited = self.wait(pipes, rung(patience), gone);
        let mut ended = if exited { Ended::Already } else { Ended::OnEof };
        let mut kill = !exited && is_over(pipes);
        if kill {
            // It is not even to see the end of its stdin.
            let _ = self.child.kill();
        }
        close_stdin();
        kill = kill || !self.wait(pipes, rung(ladder.eof), gone);
        if kill {
            ended = Ended::OnKill;
            let _ = self.child.kill();
            let last = end.min(after(KILL_WAIT)).max(after(LAST_WAIT));
            if !self.wait_on(pipes, |_| last, gone) {
                return (None, ended);
            }
        }
        // Its last words are with the threads that read still. Whoever holds a pipe open is a relative that outlived
        // it, and saw the end of its stdin too: nothing more can be done about it here.
        let soon = after(LAST_WAIT);
        let last = if ended == Ended::OnKill { soon } else { rung(ladder.term).max(soon) };
        self.wait(pipes, last, |_, pipes| pipes.all_closed());
        (self.child.wait().ok(), ended)
    }
}
