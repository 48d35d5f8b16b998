//! Ending connections from elsewhere, and many of them within a bound: what is begun, and when patience ends. Whoever waits
//! for the end does that by itself.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sanswire::error::CloseReason;

use crate::os::after;

/// The part of the bound that is kept for the system to end what was killed: a quarter, and no more than this.
const KILL_TIME: Duration = Duration::from_secs(1);

/// When patience ends, so that all is over within `total`.
#[must_use]
pub fn patience_of(total: Duration) -> Instant {
    after(total.saturating_sub(KILL_TIME.min(total / 4)))
}

/// A connection that can be ended from elsewhere. Nothing of it waits.
pub trait Closable {
    /// Why it is over, if it is.
    fn closed(&self) -> Option<CloseReason>;

    /// Gives up what is open; it ends once what waits has left.
    fn begin_close(&self);

    /// Ends it, and drops what waits to be written.
    fn cut_off(&self);

    /// Sets an end to all patience with its process, now or when that is being stopped.
    fn hurry(&self, until: Instant);
}

/// The connections that end together, open or being opened. Keeps none of them open.
pub struct Closing<C>(Mutex<Held<C>>);

struct Held<C> {
    closed: bool,
    /// When patience with the servers ends.
    patience_until: Option<Instant>,
    connections: Vec<Weak<C>>,
}

impl<C> Default for Closing<C> {
    fn default() -> Self {
        Self(Mutex::new(Held { closed: false, patience_until: None, connections: Vec::new() }))
    }
}

impl<C: Closable> Closing<C> {
    /// From here on the connection ends with the others: at once, if they were ended before.
    pub fn attach(&self, connection: &Arc<C>) {
        let mut held = self.held();
        if held.closed {
            let patience_until = held.patience_until;
            drop(held);
            if let Some(until) = patience_until {
                connection.hurry(until);
            }
            connection.begin_close();
        } else {
            held.connections.retain(|connection| connection.strong_count() > 0);
            held.connections.push(Arc::downgrade(connection));
        }
    }

    /// Whether it was ended.
    pub fn is_closed(&self) -> bool {
        self.held().closed
    }

    /// Whether a connection was opened with it, or is being opened so far that it ends by itself.
    pub fn has_begun(&self) -> bool {
        self.held().connections.iter().any(|connection| connection.strong_count() > 0)
    }

    /// Has every connection end, each in good order. What would be opened later ends at once.
    pub fn begin(&self) {
        self.open(None).iter().for_each(|connection| connection.begin_close());
    }

    /// As [`begin`](Self::begin), and what waits is dropped and processes are killed. One that ended by itself is only
    /// closed: its exit status and its last words are its own then.
    pub fn begin_kill(&self) {
        let now = Instant::now();
        for connection in self.open(Some(now)) {
            // Its keeper may have begun to close it meanwhile.
            if matches!(connection.closed(), None | Some(CloseReason::Local)) {
                connection.hurry(now);
                connection.cut_off();
            }
        }
    }

    /// What is open or being opened, for whoever waits for its end; nothing will be from now on. `patience`: what would be
    /// opened later has no more of it than until then.
    pub fn take(&self, patience: Option<Instant>) -> Vec<Arc<C>> {
        let mut held = self.held();
        held.close(patience);
        std::mem::take(&mut held.connections).iter().filter_map(Weak::upgrade).collect()
    }

    fn open(&self, patience: Option<Instant>) -> Vec<Arc<C>> {
        let mut held = self.held();
        held.close(patience);
        held.connections.iter().filter_map(Weak::upgrade).collect()
    }

    fn held(&self) -> MutexGuard<'_, Held<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Held<C> {
    fn close(&mut self, patience: Option<Instant>) {
        self.closed = true;
        self.patience_until = patience.or(self.patience_until);
    }
}

impl<C: Closable> fmt::Debug for Closing<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closing").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Connection {
        closed: Mutex<Option<CloseReason>>,
        asked: Mutex<Vec<&'static str>>,
    }

    impl Connection {
        fn ended(reason: CloseReason) -> Arc<Self> {
            Arc::new(Self { closed: Mutex::new(Some(reason)), ..Self::default() })
        }

        fn ask(&self, what: &'static str) {
            self.asked.lock().unwrap().push(what);
        }

        fn asked(&self) -> Vec<&'static str> {
            self.asked.lock().unwrap().clone()
        }
    }

    impl Closable for Connection {
        fn closed(&self) -> Option<CloseReason> {
            self.closed.lock().unwrap().clone()
        }

        fn begin_close(&self) {
            self.ask("close");
        }

        fn cut_off(&self) {
            self.ask("cut off");
        }

        fn hurry(&self, _: Instant) {
            self.ask("hurry");
        }
    }

    #[test]
    fn what_is_attached_later_ends_at_once() {
        let closing = Closing::default();
        closing.begin();
        let late = Arc::new(Connection::default());
        closing.attach(&late);
        assert_eq!(late.asked(), ["close"]);
        assert!(!closing.has_begun(), "nothing keeps it");

        assert!(closing.take(Some(Instant::now())).is_empty());
        let later = Arc::new(Connection::default());
        closing.attach(&later);
        assert_eq!(later.asked(), ["hurry", "close"], "the patience of the others is its own");
    }

    #[test]
    fn what_ended_by_itself_is_not_killed() {
        let closing = Closing::default();
        let all = [
            Arc::new(Connection::default()),
            Connection::ended(CloseReason::Local),
            Connection::ended(CloseReason::Eof),
        ];
        all.iter().for_each(|connection| closing.attach(connection));
        closing.begin_kill();
        assert_eq!(all[0].asked(), ["hurry", "cut off"]);
        assert_eq!(all[1].asked(), ["hurry", "cut off"], "it was only begun to be closed");
        assert!(all[2].asked().is_empty());
    }

    #[test]
    fn no_connection_is_kept_open_and_none_is_taken_twice() {
        let closing = Closing::default();
        let (gone, there) = (Arc::new(Connection::default()), Arc::new(Connection::default()));
        closing.attach(&gone);
        drop(gone);
        closing.attach(&there);
        closing.begin();
        assert_eq!((there.asked(), closing.is_closed()), (vec!["close"], true));
        assert_eq!(closing.take(None).len(), 1, "what was begun is there for whoever waits");
        assert!(closing.take(None).is_empty() && !closing.has_begun());
    }
}
