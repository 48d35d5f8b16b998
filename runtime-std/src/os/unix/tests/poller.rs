//! Both pollers, on sockets.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::os::unix::poller::{Pollable, Poller, list};
use crate::os::{PollEvent, Want};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);
const BOTH: Want = Want { read: true, write: true };

struct Fd(Arc<OwnedFd>);

impl Pollable for Fd {
    fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.0
    }
}

fn pair() -> (Fd, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (Fd(Arc::new(ours.into())), theirs)
}

/// Who holds thousands of descriptors.
static MANY: Mutex<()> = Mutex::new(());

/// Five thousand pairs, or as many as this process may have.
fn pairs() -> Vec<(Fd, UnixStream)> {
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    (0..most.saturating_sub(300).div_euclid(2).min(5000)).map(|_| pair()).collect()
}

/// The same tests for the one that this system uses, and for the one of other Unixes.
macro_rules! tests {
    ($poller:ident, $kind:ty) => {
        mod $poller {
            use super::*;

            fn wait(poller: &$kind, timeout: Duration) -> Vec<PollEvent> {
                let mut events = vec![PollEvent { key: 99, readable: true, writable: true }];
                poller.wait(&mut events, Some(timeout)).unwrap();
                events
            }

            #[test]
            fn one_is_active_among_thousands() {
                let poller = <$kind>::new().unwrap();
                let _many = MANY.lock().unwrap();
                let mut pairs = pairs();
                let (all, last) = (pairs.len(), pairs.len() - 1);
                for (key, (ours, _)) in (0u64..).zip(&pairs) {
                    poller.add(key, ours, Want::READ).unwrap();
                }
                assert!(wait(&poller, SHORT).is_empty());
                rustix::io::write(&pairs[last].1, b"x").unwrap();
                let active = [PollEvent { key: last as u64, readable: true, writable: false }];
                // As long as nobody reads.
                assert_eq!(wait(&poller, LONG), active);
                assert_eq!(wait(&poller, LONG), active);
                rustix::io::read(&*pairs[last].0.0, &mut [0; 8]).unwrap();
                assert!(wait(&poller, SHORT).is_empty());
                // All at once: none is left out, however many one wait tells of.
                for (_, theirs) in &pairs {
                    rustix::io::write(theirs, b"x").unwrap();
                }
                let mut told = 0;
                while told < all {
                    let events = wait(&poller, LONG);
                    assert!(!events.is_empty());
                    told += events.len();
                    for event in events {
                        let (ours, _) = &pairs[usize::try_from(event.key).unwrap()];
                        assert_eq!(rustix::io::read(&*ours.0, &mut [0; 8]), Ok(1));
                    }
                }
                assert_eq!((told, wait(&poller, SHORT).len()), (all, 0));
                for (key, (ours, _)) in (0u64..).zip(&pairs) {
                    poller.remove(key, ours).unwrap();
                }
                // All ended, and nobody wants to know.
                pairs.iter_mut().for_each(|(_, theirs)| *theirs = UnixStream::pair().unwrap().0);
                assert!(wait(&poller, SHORT).is_empty());
            }

            #[test]
            fn only_what_is_wanted_is_told() {
                let poller = <$kind>::new().unwrap();
                let (ours, theirs) = pair();
                poller.add(7, &ours, Want::NOTHING).unwrap();
                rustix::io::write(&theirs, b"x").unwrap();
                assert!(wait(&poller, SHORT).is_empty());
                let told = |readable, writable| [PollEvent { key: 7, readable, writable }];
                poller.set(7, &ours, Want { read: false, write: true }).unwrap();
                assert_eq!(wait(&poller, LONG), told(false, true));
                poller.set(7, &ours, Want::READ).unwrap();
                assert_eq!(wait(&poller, LONG), told(true, false));
                poller.set(7, &ours, BOTH).unwrap();
                assert_eq!(wait(&poller, LONG), told(true, true));
                poller.set(7, &ours, Want::NOTHING).unwrap();
                assert!(wait(&poller, SHORT).is_empty());
                // Half an end is told of to those who read.
                theirs.shutdown(std::net::Shutdown::Write).unwrap();
                assert!(wait(&poller, SHORT).is_empty());
                drop(theirs);
                // A whole one to all, and once to those who want nothing.
                assert_eq!(wait(&poller, LONG), told(true, true));
                assert!(wait(&poller, SHORT).is_empty());
                poller.set(7, &ours, Want::READ).unwrap();
                assert_eq!(wait(&poller, LONG), told(true, true));
                assert_eq!(wait(&poller, LONG), told(true, true));
                poller.set(7, &ours, Want::NOTHING).unwrap();
                assert_eq!(wait(&poller, LONG), told(true, true));
                assert!(wait(&poller, SHORT).is_empty());
                poller.remove(7, &ours).unwrap();
                poller.remove(7, &ours).unwrap();
                assert!(wait(&poller, SHORT).is_empty());
            }

            #[test]
            fn a_wake_ends_one_wait_now_or_later() {
                let poller = <$kind>::new().unwrap();
                let (ours, _theirs) = pair();
                poller.add(0, &ours, Want::READ).unwrap();
                let started = Instant::now();
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        std::thread::sleep(SHORT);
                        poller.wake();
                        poller.wake();
                    });
                    assert!(wait(&poller, LONG).is_empty());
                });
                // Nobody waits for the second one, if it came late.
                poller.wake();
                assert!(wait(&poller, LONG).is_empty());
                assert!(started.elapsed() < LONG);
                // A short wait behind long ones that were woken is short.
                let started = Instant::now();
                assert!(wait(&poller, SHORT).is_empty());
                assert!((SHORT..LONG / 2).contains(&started.elapsed()));
            }

            #[test]
            fn a_change_from_another_thread_is_seen_by_who_waits() {
                let poller = <$kind>::new().unwrap();
                let (ours, theirs) = pair();
                poller.add(5, &ours, Want::NOTHING).unwrap();
                rustix::io::write(&theirs, b"x").unwrap();
                let started = Instant::now();
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        std::thread::sleep(SHORT);
                        poller.set(5, &ours, Want::READ).unwrap();
                    });
                    let mut events = Vec::new();
                    while events.is_empty() {
                        poller.wait(&mut events, Some(LONG)).unwrap();
                        assert!(started.elapsed() < LONG);
                    }
                    assert_eq!(events, [PollEvent { key: 5, readable: true, writable: false }]);
                });
            }

            #[test]
            fn a_wait_is_never_shorter_than_asked() {
                let poller = <$kind>::new().unwrap();
                for timeout in [100, 1500, 2000, 5100].map(Duration::from_micros) {
                    let started = Instant::now();
                    assert!(wait(&poller, timeout).is_empty());
                    assert!(started.elapsed() >= timeout);
                }
                poller.wake();
                assert!(wait(&poller, Duration::MAX).is_empty());
            }
        }
    };
}

tests!(used_here, Poller);
tests!(of_other_systems, list::Poller);
