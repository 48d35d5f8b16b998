//! The end of a connection: its stream is closed, or its process is stopped, on a thread of its own, since that waits.

use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as SystemInstant};

use async_io::Async;
use sanswire::Instant;
use sanswire::error::CloseReason;
use sanswire_system::os::{Child, Exiting, Pipes};
use sanswire_system::{Ended, Exit};

use crate::ends::MAX_READS;
use crate::link::Link;
use crate::shared::{Shared, State};
use crate::wire::{self, Got, Wire};

/// How long a tap may take to tell the last messages of a connection.
pub(crate) const TAP_PATIENCE: Duration = Duration::from_secs(1);
/// The longest wait where nothing can end it early.
const LOOK: Duration = Duration::from_millis(10);
const STACK: usize = 128 * 1024;

/// A stream that is being closed.
#[derive(Default)]
pub(crate) struct Leaving(Option<(Wire, Instant, SystemInstant)>);

impl Leaving {
    /// When it is closed whatever it says.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.0.as_ref().map(|(_, until, _)| *until)
    }
}

/// What comes after the end of a connection, on a thread.
pub(crate) struct Parting(Arc<Mutex<Option<Work>>>);

struct Work {
    shared: Arc<Shared>,
    process: Option<Process>,
}

/// A process that is to be stopped.
struct Process {
    child: Child,
    left: Left,
    output: Option<OwnedFd>,
    by_itself: bool,
    started: SystemInstant,
}

impl Shared {
    /// The connection is over: lets go of its stream and its process.
    pub(crate) fn part(&self, state: &mut State, now: Instant) {
        let Some(shared) = self.me.upgrade() else { return };
        let started = SystemInstant::now();
        let by_itself = matches!(state.closed, Some(CloseReason::Eof | CloseReason::DiedOnProbe));
        let asked = matches!(state.closed, Some(CloseReason::Local));
        if state.peer.is_none() && !by_itself && !asked {
            // No session came about: there is nothing that it would have to bring to a good end.
            state.patience_until = Some(started);
        }
        let patience = state.link.session().config().limits.close_flush;
        let wire = match &mut state.link {
            Link::Line(line) => line.take_wire(),
            Link::Http(net) => {
                net.shut_down(&self.signals, now);
                None
            }
        };
        match (state.child.take(), wire) {
            (Some(child), wire) => {
                let (input, output) = match wire {
                    Some(Wire::Pipes { input, output, .. }) => {
                        (input.into_inner().ok(), output.into_inner().ok())
                    }
                    _ => (None, None),
                };
                let stderr = state.stderr.take().and_then(|stderr| Async::into_inner(stderr).ok());
                let (hurry, hurried) = UnixStream::pair().map_or((None, None), |(a, b)| (Some(a), Some(b)));
                for end in [&hurry, &hurried].into_iter().flatten() {
                    let _ = end.set_nonblocking(true);
                }
                state.hurry = hurry;
                let left = Left { shared: Arc::clone(&shared), input, stderr, hurried };
                let process = Process { child, left, output, by_itself, started };
                state.after().parting = Some(Parting::new(Work { shared, process: Some(process) }));
            }
            (None, Some(wire)) => {
                state.leaving = Leaving(Some((wire, now.saturating_add(patience), started)));
                self.take_leave(state, now);
            }
            (None, None) => self.gone(state, started),
        }
    }

    /// Closes the stream of a connection that is over, as far as that goes without waiting.
    pub(crate) fn take_leave(&self, state: &mut State, now: Instant) {
        let Some((wire, until, started)) = &mut state.leaving.0 else { return };
        if wire.poll_close(&self.bells.write).is_ready() || *until <= now {
            let started = *started;
            state.leaving = Leaving(None);
            self.gone(state, started);
        }
    }

    /// There is no process, and no stream any more.
    fn gone(&self, state: &mut State, started: SystemInstant) {
        state.alarm.stop();
        state.exit = Some(Exit::new(None, Ended::NotAProcess, started.elapsed(), String::new()));
        match (&self.tap, self.me.upgrade()) {
            (Some(_), Some(shared)) => {
                state.after().parting = Some(Parting::new(Work { shared, process: None }));
            }
            _ => state.over = true,
        }
        state.wake_guests(self);
    }
}

impl Parting {
    fn new(work: Work) -> Self {
        Self(Arc::new(Mutex::new(Some(work))))
    }

    /// Goes on on a thread of its own. Where there is none to be had, the process is killed at once.
    pub(crate) fn begin(self) {
        let given = Arc::clone(&self.0);
        let take = |work: &Mutex<Option<Work>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = std::thread::Builder::new().name("sanswire-stop".into()).stack_size(STACK);
        let started = thread.spawn(move || {
            if let Some(work) = take(&given) {
                work.run(true);
            }
        });
        if started.is_err()
            && let Some(work) = take(&self.0)
        {
            work.run(false);
        }
    }
}

impl Work {
    fn run(self, may_wait: bool) {
        let Self { shared, process } = self;
        let mut telling = Telling { shared: &shared, exit: None };
        if let Some(process) = process {
            telling.exit = Some(process.stop(&shared, may_wait));
            telling.tell();
        }
        if let (Some(tap), true) = (&shared.tap, may_wait) {
            tap.finish(TAP_PATIENCE);
        }
    }
}

impl Process {
    fn stop(mut self, shared: &Shared, may_wait: bool) -> Exit {
        let output = self.output.take();
        let (status, ended) = if may_wait {
            self.child.stop(&shared.ladder, &mut self.left, self.by_itself, || drop(output))
        } else {
            self.child.kill();
            (None, Ended::OnKill)
        };
        let mut state = shared.lock();
        if let Some(log) = &mut state.log {
            log.finish();
        }
        Exit::new(status, ended, self.started.elapsed(), state.ring.text())
    }
}

/// Tells how it ended, by unwinding too: `close` waits for it.
struct Telling<'a> {
    shared: &'a Shared,
    exit: Option<Exit>,
}

impl Telling<'_> {
    fn tell(&mut self) {
        let mut state = self.shared.lock();
        state.hurry = None;
        state.exit = self.exit.take().or_else(|| state.exit.take());
        state.wake_guests(self.shared);
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.exit.get_or_insert_with(|| Exit::new(None, Ended::OnKill, Duration::ZERO, String::new()));
        state.over = true;
        state.wake_guests(self.shared);
    }
}

/// The pipes of a connection that is over.
struct Left {
    shared: Arc<Shared>,
    input: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// Something comes in when patience is over.
    hurried: Option<UnixStream>,
}

impl Pipes for Left {
    fn drain(&mut self) {
        if let Some(hurried) = &mut self.hurried {
            while matches!(hurried.read(&mut [0; 64]), Ok(64)) {}
        }
        // Within a bound: what is written without end must not keep anybody from being stopped.
        let mut room = Vec::with_capacity(16 * 1024);
        for _ in 0..MAX_READS {
            let Some(input) = &self.input else { break };
            room.clear();
            match wire::read_stderr(input.as_fd(), &mut room) {
                Got::Bytes { full: true, .. } => {}
                Got::Bytes { .. } | Got::Nothing => break,
                Got::End { .. } => self.input = None,
            }
        }
        let mut state = self.shared.lock();
        for _ in 0..MAX_READS {
            let Some(stderr) = &self.stderr else { break };
            match self.shared.take_stderr(&mut state, stderr.as_fd()) {
                Got::Bytes { full: true, .. } => {}
                Got::Bytes { .. } | Got::Nothing => break,
                Got::End { .. } => self.stderr = None,
            }
        }
    }

    fn all_closed(&self) -> bool {
        self.input.is_none() && self.stderr.is_none()
    }

    fn patience_until(&self) -> Option<SystemInstant> {
        self.shared.lock().patience_until
    }

    fn wait(&self, exit: Exiting<'_>, timeout: Duration) {
        let timeout = if self.hurried.is_some() { timeout } else { timeout.min(LOOK) };
        let pipes = [&self.input, &self.stderr].into_iter().flatten().map(|pipe| pipe.as_fd());
        exit.wait(pipes.chain(self.hurried.as_ref().map(|hurried| hurried.as_fd())), timeout);
    }
}
