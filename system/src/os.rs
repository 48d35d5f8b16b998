//! The room for what differs between systems: how a process is started and stopped, random bytes, the file of a log,
//! and the standard input and output that this process was given.
//!
//! Two sides with the same names, chosen when this is compiled. `unix`, meant for Linux and macOS, has descriptors,
//! process groups and signals. `plain`, for systems that are no Unix, has nothing but std. `--cfg sanswire_plain` chooses
//! it on Unix as well, to test it there.

use std::time::{Duration, Instant};

#[cfg(any(not(unix), sanswire_plain))]
mod plain;
#[cfg(all(unix, not(sanswire_plain)))]
mod unix;

#[cfg(any(not(unix), sanswire_plain))]
pub use plain::*;
#[cfg(all(unix, not(sanswire_plain)))]
pub use unix::*;

/// The longest sleep between two looks where the system cannot tell of an exit.
const LOOK: Duration = Duration::from_millis(10);
/// A server whose output ended is given so long to exit by itself: most were about to, and then what they say is
/// their own exit status.
const ABOUT_TO_EXIT: Duration = Duration::from_millis(250);
/// How long a process that was killed is waited for at most.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// What the last wait is given even if the ladder's total is used up: a killed process ends at once, but not in
/// no time.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// What one read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// So many bytes; `full`: there may be more at once.
    Bytes {
        /// How many, at least one.
        len: usize,
        /// The read was as long as it could be.
        full: bool,
    },
    /// Nothing now.
    Nothing,
    /// Nothing ever again.
    End {
        /// The system says why, and not the peer that this is all.
        broken: bool,
    },
}

/// The pipes that a child's relatives may hold open, in the hands of a runtime. Reading them on while the child is
/// stopped lets it end in good order. [`Child::stop`] blocks on one of these, on a thread of its own.
pub trait Pipes {
    /// Takes what is there, and forgets all wakes so far.
    fn drain(&mut self);
    /// Whether the ends of all were seen.
    fn all_closed(&self) -> bool;
    /// When patience ends, if that was said. It may be said in the middle of a wait, with a wake.
    fn patience_until(&self) -> Option<Instant>;
    /// Waits until a pipe that is open has something or ends, somebody wakes, the child exits as far as `exit` can tell
    /// ([`Exiting::wait`]), or `timeout` is over. It may end early.
    fn wait(&self, exit: Exiting<'_>, timeout: Duration);
}

/// Whether patience is over.
fn is_over(pipes: &dyn Pipes) -> bool {
    pipes.patience_until().is_some_and(|end| end <= Instant::now())
}

/// The moment so long from now. Any patience is a patience: what the system's clock cannot count is taken as ten
/// years.
#[must_use]
pub fn after(patience: Duration) -> Instant {
    const YEARS: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
    let now = Instant::now();
    now.checked_add(patience.min(YEARS)).unwrap_or(now)
}

/// Random bytes, from the system's generator if it can.
#[must_use]
pub fn seed() -> [u8; 32] {
    random().unwrap_or_else(|_| random_by_std())
}

/// Random bytes by way of std's hash maps, whose keys are drawn from the system: 128 bits of it a thread.
#[must_use]
pub fn random_by_std() -> [u8; 32] {
    use std::hash::{BuildHasher as _, RandomState};
    let mut bytes = [0; 32];
    for (n, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&RandomState::new().hash_one(n).to_ne_bytes());
    }
    bytes
}
