//! The thread that leads when nobody calls, so that pings are answered, notifications delivered and a death is
//! seen. It starts the child and lives as long, and stops it in the end.

use std::time::{Duration, Instant};

use sanswire::error::CloseReason;
use sanswire_system::os::{Child, Exiting, Pipes};
use sanswire_system::{Ended, Exit, StopLadder};

use crate::link::Link;
use crate::os::{Source, discard, wait_for_exit};
use crate::shared::{Lead, Shared};

/// How long the lead may lie unused before the watcher takes it.
const TICK: Duration = Duration::from_millis(10);

impl Shared {
    /// The watcher's life, up to the child's end.
    pub(crate) fn watch(&self, child: Option<Child>, ladder: &StopLadder) {
        let mut ends = Ends { shared: self, exit: None };
        self.watch_calls();
        ends.exit = Some(self.end(child, ladder));
    }

    fn watch_calls(&self) {
        let mut state = self.lock();
        let mut seen = 0;
        while state.closed.is_none() {
            if state.leads != seen {
                // Callers lead. A look now and then costs them nothing.
                seen = state.leads;
                self.unlock(state);
                std::thread::park_timeout(TICK);
                state = self.lock();
                continue;
            }
            match state.lead {
                // One caller has led all the while: it says when it stops.
                Lead::Caller => {
                    state.watcher_sleeps = true;
                    self.unlock(state);
                    std::thread::park();
                    state = self.lock();
                    if !state.watcher_sleeps {
                        seen = state.leads;
                    }
                    state.watcher_sleeps = false;
                }
                Lead::Nobody | Lead::Watcher => {
                    state.lead = Lead::Watcher;
                    let mut now = self.clock.now();
                    while state.lead == Lead::Watcher && state.closed.is_none() {
                        (state, now) = self.turn(state, Lead::Watcher, now, None);
                    }
                    if state.lead == Lead::Watcher {
                        state.lead = Lead::Nobody;
                    }
                }
            }
        }
        self.unlock(state);
    }

    /// Closes the connection and stops the child.
    fn end(&self, child: Option<Child>, ladder: &StopLadder) -> Exit {
        let started = Instant::now();
        let mut state = self.lock();
        let by_itself = matches!(state.closed, Some(CloseReason::Eof | CloseReason::DiedOnProbe));
        let asked = matches!(state.closed, Some(CloseReason::Local));
        if state.peer.is_none() && !by_itself && !asked {
            // No session came about: there is nothing that it would have to bring to a good end.
            state.patience_until = Some(started);
        }
        let output = state.output.take();
        if let Link::Http(net) = &mut state.machine {
            net.shut_down(self, self.clock.now());
        }
        // A leader that still waits for it keeps it open.
        self.wake_leader(&mut state);
        self.unlock(state);
        let close = || {
            if let Some(output) = output {
                output.shutdown();
            }
        };
        let (status, ended) = match child {
            Some(child) => {
                let mut pipes = Left { shared: self, input_open: true };
                child.stop(ladder, &mut pipes, by_itself, close)
            }
            None => {
                close();
                (None, Ended::NotAProcess)
            }
        };
        let mut state = self.lock();
        if let Some(log) = &mut state.log {
            log.finish();
        }
        let stderr_tail = state.ring.text();
        Exit::new(status, ended, started.elapsed(), stderr_tail)
    }
}

/// Tells that the watcher is at its end, by unwinding too: `close` waits for it.
struct Ends<'a> {
    shared: &'a Shared,
    exit: Option<Exit>,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let unknown = || Exit::new(None, Ended::OnKill, Duration::ZERO, String::new());
        state.exit = Some(self.exit.take().unwrap_or_else(unknown));
        self.shared.changed.notify_all();
    }
}

/// The pipes of a connection that is over.
struct Left<'a> {
    shared: &'a Shared,
    input_open: bool,
}

impl Left<'_> {
    fn open(&self) -> [Option<&Source>; 2] {
        let stderr_open = self.shared.lock().stderr_open;
        let input = self.shared.source.as_ref().filter(|_| self.input_open);
        [input, self.shared.stderr.as_ref().filter(|_| stderr_open)]
    }
}

impl Pipes for Left<'_> {
    fn all_closed(&self) -> bool {
        self.open().iter().all(Option::is_none)
    }

    fn patience_until(&self) -> Option<Instant> {
        self.shared.lock().patience_until
    }

    fn wait(&self, exit: Exiting<'_>, timeout: Duration) {
        wait_for_exit(exit, &self.shared.watch_wake, self.open(), timeout);
    }

    fn drain(&mut self) {
        self.shared.watch_wake.clear();
        if let Some(source) = self.shared.source.as_ref().filter(|_| self.input_open) {
            self.input_open = !discard(source);
        }
        let mut state = self.shared.lock();
        if state.stderr_open {
            self.shared.read_stderr(&mut state);
        }
    }
}
