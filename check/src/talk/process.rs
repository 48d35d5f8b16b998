//! The process of the conversation: its pipes and its end.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::{Habits, Talk};
use crate::transcript::From;

impl Talk {
    /// How it has spoken since it was started.
    pub(crate) const fn habits(&self) -> &Habits {
        &self.habits
    }

    /// How long its first answer took: this time, or when it was started alone if that was quicker.
    pub(crate) fn first_answer(&self) -> Duration {
        let now = self.habits.first_answer.unwrap_or(Duration::MAX);
        self.facts.first_answer.map_or(now, |alone| alone.min(now))
    }

    /// The longest start about which nothing is said.
    pub(crate) const fn slow_start(&self) -> Duration {
        self.plan.slow_start
    }

    /// The longest start that is waited for.
    pub(crate) const fn longest_start(&self) -> Duration {
        self.plan.start
    }

    /// At least this time, and longer where the machine is slow or busy: what its start took, as often.
    pub(crate) fn patience(&self, least: Duration, starts: u32) -> Duration {
        least.max(self.facts.first_answer.unwrap_or_default().saturating_mul(starts))
    }

    /// Reads nothing of what it says, or goes on reading.
    pub(crate) fn hold_output(&mut self, hold: bool) {
        let said: &[u8] = if hold { b"its output is not read" } else { b"its output is read again" };
        self.transcript.push(From::Event, said);
        self.process.hold_output(hold);
    }

    /// Closes its output, from the next line on.
    pub(crate) fn close_output(&mut self) {
        self.transcript.push(From::Event, b"its output is closed");
        self.process.close_output();
    }

    /// Ends its input, behind what was said.
    pub(crate) fn end_input(&mut self) {
        self.transcript.push(From::Event, b"the end of standard input");
        self.process.end_input();
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        self.transcript.push(From::Event, b"it is killed");
        self.process.kill();
    }

    /// Asks it to end, with SIGTERM where there are signals.
    pub(crate) fn terminate(&mut self) {
        self.transcript.push(From::Event, b"SIGTERM");
        self.process.terminate();
    }

    /// How it exited, if it does so within this time: its output is read meanwhile.
    pub(crate) fn exit(&mut self, within: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + within;
        loop {
            let now = Instant::now();
            while self.hear((now + Duration::from_millis(20)).min(until)) {}
            if let Some(status) = self.process.exit(now) {
                self.transcript.push(From::Event, status.to_string().as_bytes());
                return Some(status);
            }
            if now >= until {
                return None;
            }
            if self.over {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Whether its output ends within this time.
    pub(crate) fn output_ends(&mut self, within: Duration) -> bool {
        let until = Instant::now() + within;
        while self.hear(until) {}
        self.over
    }
}
