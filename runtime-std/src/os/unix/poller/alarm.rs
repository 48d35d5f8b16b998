//! The end of a wait's patience, as a timer that stays set from one wait to the next.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use sanswire_system::os::to_timespec;

/// It may ring so much later than asked, as any timer of the system may. Ends that are computed anew for each wait differ
/// by less.
const SLACK: Duration = Duration::from_micros(50);

/// A descriptor that is readable once the time has come.
///
/// A timeout that is given to a wait costs the kernel a timer that is set and taken back each time, and most waits end
/// long before theirs. This one is set only when an earlier end comes than that it is set to; one that is too early
/// ends a wait for no reason, once, and the next wait sets it anew.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: OwnedFd,
    start: Instant,
    /// What it is set to, in nanoseconds after the start. It is not set: the greatest.
    at: AtomicU64,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        Ok(Self { timer, start: Instant::now(), at: AtomicU64::new(u64::MAX) })
    }

    /// Rings at the latest so long from now, which is not zero.
    pub(super) fn set(&self, patience: Duration) -> io::Result<()> {
        let at = self.start.elapsed().saturating_add(patience);
        let nanos = |at: Duration| u64::try_from(at.as_nanos()).unwrap_or(u64::MAX - 1);
        if self.at.load(Ordering::Relaxed) <= nanos(at.saturating_add(SLACK)) {
            return Ok(());
        }
        let once = Itimerspec { it_interval: Timespec::default(), it_value: to_timespec(patience) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        self.at.store(nanos(at), Ordering::Relaxed);
        Ok(())
    }

    /// It rang, and is not set any more.
    pub(super) fn rang(&self) {
        self.at.store(u64::MAX, Ordering::Relaxed);
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}
