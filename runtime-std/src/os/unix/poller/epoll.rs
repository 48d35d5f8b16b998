//! Linux: the kernel keeps the list, and a wait costs what it found.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec};
use rustix::io::Errno;

use super::Pollable;
use super::alarm::Alarm;
use crate::os::{PollEvent, Want};

/// How many events one wait takes out. Those that are left come first in the next.
const AT_ONCE: usize = 256;
/// Under which the wake is watched.
const WAKE: u64 = u64::MAX;
/// Under which the alarm is watched.
const ALARM: u64 = u64::MAX - 1;

/// Waits for any number of connections and listeners, and for a wake. Everything may be called from any thread at
/// any time, also during a wait, which sees what was added or changed meanwhile; but one thread waits at a time.
///
/// What is watched is reported by every wait for as long as it is so (level-triggered).
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    event: OwnedFd,
    alarm: Alarm,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        // Edge-triggered: each wake ends one wait, and nobody has to read the number that it counts up.
        epoll::add(&epoll, &event, EventData::new_u64(WAKE), EventFlags::IN | EventFlags::ET)?;
        let alarm = Alarm::new()?;
        epoll::add(&epoll, &alarm, EventData::new_u64(ALARM), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { epoll, event, alarm })
    }

    /// Watches `what` and reports it under `key`, which is none of the two greatest. Take it out by
    /// [`remove`](Self::remove) before dropping it.
    pub(crate) fn add(&self, key: u64, what: &impl Pollable, want: Want) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, what.descriptor(), EventData::new_u64(key), flags(want))?)
    }

    /// Changes what is reported of `what`, which was added under `key`.
    pub(crate) fn set(&self, key: u64, what: &impl Pollable, want: Want) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, what.descriptor(), EventData::new_u64(key), flags(want))?)
    }

    /// Watches `what` no more. Events that a wait has given already are not taken back.
    pub(crate) fn remove(&self, _key: u64, what: &impl Pollable) -> io::Result<()> {
        match epoll::delete(&self.epoll, what.descriptor()) {
            Err(Errno::NOENT) => Ok(()),
            done => Ok(done?),
        }
    }

    /// Waits until something happens, and replaces what is in `events` by it. Returns without any when it was
    /// woken, when `timeout` is over, and sometimes for no reason. `None`: for ever.
    pub(crate) fn wait(&self, events: &mut Vec<PollEvent>, timeout: Option<Duration>) -> io::Result<()> {
        events.clear();
        let timeout = match timeout {
            Some(Duration::ZERO) => Some(Timespec::default()),
            Some(timeout) => {
                self.alarm.set(timeout)?;
                None
            }
            None => None,
        };
        let mut room = [const { MaybeUninit::uninit() }; AT_ONCE];
        let found = match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((found, _)) => found,
            Err(Errno::INTR) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        };
        // Out of the packed struct first.
        let found = found.iter().map(|event| ({ event.data }.u64(), { event.flags }));
        for (key, found) in found {
            match key {
                WAKE => {}
                ALARM => self.alarm.rang(),
                key => {
                    let over = found.intersects(EventFlags::ERR | EventFlags::HUP);
                    let readable = over || found.contains(EventFlags::IN);
                    let writable = over || found.contains(EventFlags::OUT);
                    events.push(PollEvent { key, readable, writable });
                }
            }
        }
        Ok(())
    }

    /// Ends the present wait, or the next one if nobody waits. Several wakes may end one wait together.
    pub(crate) fn wake(&self) {
        let wake = || rustix::io::write(&self.event, &1u64.to_ne_bytes());
        if wake() == Err(Errno::AGAIN) {
            // It has counted as far as it can.
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
            let _ = wake();
        }
    }
}

fn flags(want: Want) -> EventFlags {
    // The system tells of ends and faults unasked: edge-triggered, only when they come.
    let mut flags = if want == Want::NOTHING { EventFlags::ET } else { EventFlags::empty() };
    flags.set(EventFlags::IN, want.read);
    flags.set(EventFlags::OUT, want.write);
    flags
}
