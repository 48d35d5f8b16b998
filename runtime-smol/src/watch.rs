//! Who leads when nobody waits, so that pings are answered, notifications delivered and a death is seen; and who looks after
//! leaders that do not come.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_io::Timer;

use crate::jobs::Job;
use crate::shared::Shared;
use crate::wake::wake;

/// How long a leader that was woken may take to come: between one and two of these.
const TICK: Duration = Duration::from_millis(10);
/// Connections and jobs in one poll, so that nobody starves beside it.
const TURNS: usize = 64;
/// Answers of the embedder's run here. Only what is touched becomes memory.
const STACK: usize = 512 * 1024;

/// Looks after connections, any number of them, while nobody waits for them, and runs what a
/// [`Responder`](crate::Responder) answers to servers of the older revisions.
///
/// A connection whose [`ConnectOptions::watch`](crate::ConnectOptions::watch) is not set is looked after by a thread of
/// this process's, started with the first and named `sanswire-watch`. A program that wants no thread makes a watch of its
/// own and runs it on its executor:
///
/// ```
/// # use sanswire_smol::{ConnectOptions, Watch};
/// # let executor = async_executor::LocalExecutor::new();
/// let watch = Watch::new();
/// executor.spawn(watch.run()).detach();
/// let mut options = ConnectOptions::new("example", "1.0");
/// options.watch = Some(watch);
/// ```
///
/// Clones are the same watch. One that nobody runs looks after nothing: calls go on, since they drive their connection
/// themselves, but what a server says between them waits for the next; and a future that drives it, is woken and never polled
/// again holds up the others.
#[derive(Clone, Default)]
pub struct Watch(Arc<Inner>);

#[derive(Default)]
struct Inner {
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<Weak<Shared>>,
    jobs: VecDeque<Arc<Job>>,
    /// Connections whose leader was woken.
    listed: Vec<Weak<Shared>>,
    /// Who runs this, the first of them in truth.
    runners: Vec<(u64, Waker)>,
    last: u64,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.jobs.is_empty() && self.listed.is_empty()
    }

    fn runner(&self) -> Option<Waker> {
        self.runners.first().map(|(_, waker)| waker.clone())
    }
}

impl Watch {
    /// One that nobody runs yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks after the connections that were made with this watch, for ever. Embedder code runs in it:
    /// responders. Where it is run twice, one run does the work until it is dropped.
    pub fn run(&self) -> impl Future<Output = Infallible> + Send + use<> {
        let mut queue = self.queue();
        queue.last += 1;
        Run { watch: self.clone(), number: queue.last, tick: None }
    }

    /// The watch of this process, which runs on a thread.
    pub(crate) fn of_this_process() -> io::Result<Self> {
        static WATCH: Mutex<Option<Watch>> = Mutex::new(None);
        let mut present = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watch) = &*present {
            return Ok(watch.clone());
        }
        let watch = Self::new();
        let run = watch.run();
        // This must not wait with async-io's `block_on`: that would take the reactor, and all that happens to connections
        // of other threads would cost them a change of threads.
        std::thread::Builder::new()
            .name("sanswire-watch".into())
            .stack_size(STACK)
            .spawn(move || match futures_lite::future::block_on(run) {})?;
        *present = Some(watch.clone());
        Ok(watch)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, put: impl FnOnce(&mut Queue)) {
        let runner = {
            let mut queue = self.queue();
            put(&mut queue);
            queue.runner()
        };
        if let Some(runner) = runner {
            wake(runner);
        }
    }

    /// There is something to do for a connection that this leads.
    pub(crate) fn post(&self, connection: Weak<Shared>) {
        self.put(|queue| {
            // Nobody runs this, perhaps ever: what is gone must not pile up.
            if queue.runners.is_empty() && queue.ready.len().is_power_of_two() {
                queue.ready.retain(|connection| connection.strong_count() > 0);
                queue.listed.retain(|connection| connection.strong_count() > 0);
            }
            queue.ready.push_back(connection);
        });
    }

    /// A leader was woken, and may not come.
    pub(crate) fn enlist(&self, connection: Weak<Shared>) {
        self.put(|queue| queue.listed.push(connection));
    }

    /// A job can go on.
    pub(crate) fn schedule(&self, job: Arc<Job>) {
        self.put(|queue| queue.jobs.push_back(job));
    }

    /// One thing that is to be done, and how many turns that counts for. Zero: there is none.
    fn step(&self) -> usize {
        let (connection, job) = {
            let mut queue = self.queue();
            let connection = queue.ready.pop_front();
            let job = queue.jobs.pop_front();
            (connection, job)
        };
        let mut turns = usize::from(connection.is_some() || job.is_some());
        if let Some(connection) = connection.and_then(|connection| connection.upgrade())
            && connection.watch_turn()
        {
            // Who runs this has others to run.
            turns = TURNS;
        }
        if let Some(job) = job {
            job.go_on();
        }
        turns
    }

    /// Looks at all whose leaders were woken. Whether any of them are to be looked at again.
    fn look(&self) -> bool {
        let mut listed = std::mem::take(&mut self.queue().listed);
        listed.retain(|connection| connection.upgrade().is_some_and(|connection| connection.look()));
        let mut queue = self.queue();
        queue.listed.append(&mut listed);
        !queue.listed.is_empty()
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("runs", &!self.queue().runners.is_empty()).finish()
    }
}

/// The life of a watch.
struct Run {
    watch: Watch,
    number: u64,
    tick: Option<Timer>,
}

impl Run {
    /// Whether this run is the one that works.
    fn settle(&self, waker: &Waker) -> bool {
        let mut queue = self.watch.queue();
        let place = queue.runners.iter().position(|(number, _)| *number == self.number);
        let spent = match place.and_then(|place| queue.runners.get_mut(place)) {
            Some((_, known)) if known.will_wake(waker) => None,
            Some((_, known)) => Some(std::mem::replace(known, waker.clone())),
            None => {
                queue.runners.push((self.number, waker.clone()));
                None
            }
        };
        let first = queue.runners.first().is_some_and(|(number, _)| *number == self.number);
        drop(queue);
        drop(spent);
        first
    }
}

impl Future for Run {
    type Output = Infallible;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Infallible> {
        let this = self.get_mut();
        if !this.settle(cx.waker()) {
            return Poll::Pending;
        }
        let mut turns = 0;
        loop {
            let some = this.watch.step();
            if some == 0 {
                break;
            }
            turns += some;
            if turns >= TURNS {
                cx.waker().wake_by_ref();
                break;
            }
        }
        if this.tick.is_none() && this.watch.queue().listed.is_empty() {
            return Poll::Pending;
        }
        loop {
            let tick = this.tick.get_or_insert_with(|| Timer::after(TICK));
            if Pin::new(tick).poll(cx).is_pending() {
                return Poll::Pending;
            }
            this.tick = None;
            if !this.watch.look() {
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let (spent, next) = {
            let mut queue = self.watch.queue();
            let place = queue.runners.iter().position(|(number, _)| *number == self.number);
            let spent = place.map(|place| queue.runners.remove(place));
            // Whoever is first now does what this one left.
            (spent, queue.runner().filter(|_| !queue.is_empty()))
        };
        drop(spent);
        if let Some(next) = next {
            wake(next);
        }
    }
}
