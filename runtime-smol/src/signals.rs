//! Who is woken when something of a connection is ready.
//!
//! What a connection waits for (its input, its output, its stderr, the time) is registered with wakers of the
//! connection's own, [`Bells`]. They note what happened and wake whoever leads at that moment. So another leader needs no
//! new registration, and one that was woken by something else need not ask the system what there is.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};

use crate::shared::Shared;
use crate::wake::wake;
use crate::watch::Watch;

/// What happened: the input can be read.
pub(crate) const READ: u8 = 1;
/// There is room to write.
pub(crate) const WRITE: u8 = 2;
/// The server said something on stderr.
pub(crate) const STDERR: u8 = 4;
/// A deadline, perhaps.
pub(crate) const TIME: u8 = 8;
/// Something of one of many connections, which knows for itself what.
pub(crate) const NET: u8 = 16;

/// Nobody has the connection locked.
const FREE: u8 = 0;
/// Somebody has.
const HELD: u8 = 1;
/// Somebody has, and something happened: whoever unlocks it wakes the leader.
const OWED: u8 = 2;

/// What happened to one connection and was not looked at yet, and who is to look.
pub(crate) struct Signals {
    fired: AtomicU8,
    target: Mutex<Target>,
    /// The watch looks now and then whether a leader that was woken has come.
    listed: AtomicBool,
    /// The connection stands in the queue of the watch.
    posted: AtomicBool,
    /// Whether the connection is locked: [`FREE`], [`HELD`] or [`OWED`].
    held: AtomicU8,
    watch: Watch,
    shared: Weak<Shared>,
}

/// Who leads.
#[derive(Debug)]
pub(crate) enum Target {
    Task(Waker),
    Watch,
}

/// Which task a target is, to be compared while that target stands and nothing else can have its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId(usize, usize);

impl TaskId {
    pub(crate) fn of(waker: &Waker) -> Self {
        Self(waker.data().addr(), std::ptr::from_ref(waker.vtable()).addr())
    }
}

impl Signals {
    pub(crate) fn new(watch: Watch, shared: Weak<Shared>) -> Self {
        Self {
            // Nobody has looked yet.
            fired: AtomicU8::new(READ | STDERR),
            target: Mutex::new(Target::Watch),
            listed: AtomicBool::new(false),
            posted: AtomicBool::new(false),
            held: AtomicU8::new(FREE),
            watch,
            shared,
        }
    }

    pub(crate) const fn watch(&self) -> &Watch {
        &self.watch
    }

    fn target(&self) -> MutexGuard<'_, Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that there is more to do, for a [`ring`](Self::ring) that follows.
    pub(crate) fn note(&self, what: u8) {
        self.fired.fetch_or(what, Ordering::SeqCst);
    }

    /// What happened since the last look.
    pub(crate) fn take(&self) -> u8 {
        if self.fired.load(Ordering::SeqCst) == 0 { 0 } else { self.fired.swap(0, Ordering::SeqCst) }
    }

    /// Whether something happened that nobody has looked at.
    pub(crate) fn is_waiting(&self) -> bool {
        self.fired.load(Ordering::SeqCst) != 0
    }

    /// Wakes the leader. Not to be called under the lock of the connection: whoever is woken may be anybody's code.
    pub(crate) fn ring(&self) {
        let waker = match &*self.target() {
            Target::Task(waker) => Some(waker.clone()),
            Target::Watch => None,
        };
        let Some(waker) = waker else { return self.post() };
        // A task that is woken need not be polled: somebody has to look after it.
        if !self.listed.load(Ordering::SeqCst) && !self.listed.swap(true, Ordering::SeqCst) {
            self.watch.enlist(self.shared.clone());
        }
        wake(waker);
    }

    /// The connection was locked. Streams may ring their bells while they are asked, and whoever leads is woken once that is
    /// over.
    pub(crate) fn hold(&self) {
        // Nothing is published by it. A thread that does not see it yet rings, and finds the lock taken: as before it.
        self.held.store(HELD, Ordering::Relaxed);
    }

    /// It is about to be unlocked. Whether the leader is to be [rung](Self::ring) after that.
    pub(crate) fn release(&self) -> bool {
        self.held.swap(FREE, Ordering::SeqCst) == OWED
    }

    /// Whether somebody has the connection locked, who rings then.
    fn is_held(&self) -> bool {
        let owed = self.held.compare_exchange(HELD, OWED, Ordering::SeqCst, Ordering::SeqCst);
        owed.map_or_else(|held| held == OWED, |_| true)
    }

    /// The waker of the task that leads.
    pub(crate) fn leader(&self) -> Option<Waker> {
        match &*self.target() {
            Target::Task(waker) => Some(waker.clone()),
            Target::Watch => None,
        }
    }

    /// From here on this is whom everything wakes. Who it was before; what happened before this call and was not looked
    /// at ([`is_waiting`](Self::is_waiting)) has woken that one.
    #[must_use = "a waker is dropped outside of the lock: that may run anybody's code"]
    pub(crate) fn point(&self, target: Target) -> Target {
        std::mem::replace(&mut *self.target(), target)
    }

    fn post(&self) {
        if !self.posted.swap(true, Ordering::SeqCst) {
            self.watch.post(self.shared.clone());
        }
    }

    /// The watch has come for what it was sent for.
    pub(crate) fn collected(&self) {
        self.posted.store(false, Ordering::SeqCst);
    }

    /// The watch looks no longer. False: it must, something has happened meanwhile.
    pub(crate) fn unlist(&self) -> bool {
        self.listed.store(false, Ordering::SeqCst);
        !self.is_waiting() || self.listed.swap(true, Ordering::SeqCst)
    }
}

/// Who is told what happened.
pub(crate) trait Fire: Send + Sync + 'static {
    /// Something happened.
    fn fire(&self, what: u8);
}

impl Fire for Signals {
    /// If something else did and was not looked at, the leader is on its way.
    fn fire(&self, what: u8) {
        if self.fired.fetch_or(what, Ordering::SeqCst) == 0 && !self.is_held() {
            self.ring();
        }
    }
}

/// The wakers of a connection, one for each thing that can happen.
pub(crate) struct Bells {
    pub(crate) read: Waker,
    pub(crate) write: Waker,
    pub(crate) stderr: Waker,
    pub(crate) time: Waker,
}

impl Bells {
    pub(crate) fn new<S: Fire>(signals: &Arc<S>) -> Self {
        let bell = |what| bell(signals, what);
        Self { read: bell(READ), write: bell(WRITE), stderr: bell(STDERR), time: bell(TIME) }
    }
}

/// A waker that tells of one thing.
pub(crate) fn bell<S: Fire>(signals: &Arc<S>, what: u8) -> Waker {
    Waker::from(Arc::new(Bell { signals: Arc::clone(signals), what }))
}

struct Bell<S> {
    signals: Arc<S>,
    what: u8,
}

impl<S: Fire> Wake for Bell<S> {
    fn wake(self: Arc<Self>) {
        self.signals.fire(self.what);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.signals.fire(self.what);
    }
}
