//! Which connection waits for what time.

use alloc::collections::BTreeSet;

use crate::server::kit::ConnectionKey as Key;
use crate::time::Instant;

/// The next alarm of each connection. One that would be later than the one that is set costs nothing: the connection
/// is asked again when that one goes off. So connections that rest cost no look at them.
pub(super) struct Alarms {
    set: BTreeSet<(Instant, Key)>,
}

impl Alarms {
    pub(super) const fn new() -> Self {
        Self { set: BTreeSet::new() }
    }

    /// `key` wants to be told the time at `at`; `is` is its alarm so far. Its alarm from now on.
    pub(super) fn set(&mut self, key: Key, is: Option<Instant>, at: Option<Instant>) -> Option<Instant> {
        match (is, at) {
            (Some(is), Some(at)) if is <= at => Some(is),
            (_, Some(at)) => {
                self.forget(key, is);
                self.set.insert((at, key));
                Some(at)
            }
            (is, None) => is,
        }
    }

    pub(super) fn forget(&mut self, key: Key, is: Option<Instant>) {
        if let Some(is) = is {
            self.set.remove(&(is, key));
        }
    }

    /// The next that has gone off; it is set no more.
    pub(super) fn due(&mut self, now: Instant) -> Option<Key> {
        let (at, _) = *self.set.first()?;
        if at > now {
            return None;
        }
        self.set.pop_first().map(|(_, key)| key)
    }

    pub(super) fn first(&self) -> Option<Instant> {
        self.set.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::{Alarms, Key};
    use crate::time::Instant;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn a_later_time_waits_for_the_alarm_that_is_set_and_an_earlier_one_takes_its_place() {
        let mut alarms = Alarms::new();
        let (a, b) = (Key::from_u64(1), Key::from_u64(2));
        let is = alarms.set(a, None, Some(at(50)));
        let is = alarms.set(a, is, Some(at(70)));
        assert_eq!((is, alarms.first()), (Some(at(50)), Some(at(50))));
        let is = alarms.set(a, is, None);
        let is = alarms.set(a, is, Some(at(20)));
        alarms.set(b, None, Some(at(30)));
        assert_eq!((is, alarms.first()), (Some(at(20)), Some(at(20))));
        assert_eq!([alarms.due(at(19)), alarms.due(at(30)), alarms.due(at(30))], [None, Some(a), Some(b)]);
        assert_eq!(alarms.due(at(100)), None);
    }

    #[test]
    fn who_is_gone_leaves_nothing() {
        let mut alarms = Alarms::new();
        let is = alarms.set(Key::from_u64(1), None, Some(at(50)));
        alarms.forget(Key::from_u64(1), is);
        assert_eq!(alarms.first(), None);
    }
}
