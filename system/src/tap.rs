//! Messages on their way to a [`Tap`]: cut out of the bytes by whoever moves them, told by a thread of their own.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sanswire::http::{ResponseHead, Verb};

use crate::http::Reached;
use crate::options::{Direction, Tap};

mod exchanges;

pub use exchanges::Exchanges;

/// The longest line that is told whole.
pub const MAX_LINE: usize = 1024 * 1024;
/// What may wait for a slow tap.
const MAX_WAITING: usize = 8 * 1024 * 1024;
/// What a waiting line costs beside its bytes: a blank one is not for nothing.
const LINE: usize = 64;
const STACK: usize = 512 * 1024;

/// Cuts one direction's bytes into lines.
#[derive(Debug, Default)]
pub struct Splitter {
    line: Vec<u8>,
}

/// One for each direction.
#[derive(Debug, Default)]
pub struct Splitters {
    /// What is sent.
    pub sent: Splitter,
    /// What is received.
    pub received: Splitter,
}

impl Splitter {
    /// Some of them: `tell` gets every line that is whole now, cut to [`MAX_LINE`].
    pub fn feed(&mut self, mut bytes: &[u8], mut tell: impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = bytes.split_at(end);
            self.append(head);
            tell(&self.line);
            self.line.clear();
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.append(bytes);
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
    }
}

/// Lines that wait to be told.
#[derive(Debug)]
pub struct TapQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// What is told.
#[derive(Debug)]
pub enum News {
    /// A message.
    Line(Direction, Box<[u8]>),
    /// A connection over HTTP was made.
    Reached(Box<Reached>),
    /// An answer over HTTP began.
    Answered(Box<(Verb, ResponseHead)>),
}

impl News {
    /// What it costs to keep it.
    fn cost(&self) -> usize {
        LINE + match self {
            Self::Line(_, line) => line.len(),
            Self::Reached(_) => size_of::<Reached>(),
            Self::Answered(answer) => {
                let fields = answer.1.fields.iter().map(|(name, value)| name.len() + value.len() + LINE);
                fields.sum::<usize>() + LINE
            }
        }
    }

    fn tell(&self, at: Duration, tap: &dyn Tap) {
        match self {
            Self::Line(direction, line) => tap.message(*direction, at, line),
            Self::Reached(how) => tap.reached(at, how),
            Self::Answered(answer) => tap.answered(at, &answer.0, &answer.1),
        }
    }
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<(Duration, News)>,
    bytes: usize,
    lost: u64,
    telling: bool,
    over: bool,
}

impl TapQueue {
    /// A queue, and the thread that tells what comes into it. The thread ends after [`finish`](Self::finish).
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(tap: Arc<dyn Tap>) -> std::io::Result<Arc<Self>> {
        let queue = Arc::new(Self { waiting: Mutex::default(), changed: Condvar::new() });
        let told = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("sanswire-tap".into()).stack_size(STACK);
        thread.spawn(move || told.tell(&*tap))?;
        Ok(queue)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One message.
    pub fn push(&self, direction: Direction, at: Duration, line: &[u8]) {
        self.push_news(at, News::Line(direction, line.into()));
    }

    /// What happened `at` this time of the connection. What a slow tap leaves is dropped, the oldest first.
    pub fn push_news(&self, at: Duration, news: News) {
        let mut waiting = self.lock();
        waiting.bytes += news.cost();
        waiting.lines.push_back((at, news));
        while waiting.bytes > MAX_WAITING {
            if let Some((_, news)) = waiting.lines.pop_front() {
                waiting.bytes -= news.cost();
                waiting.lost += 1;
            }
        }
        self.changed.notify_all();
    }

    fn tell(&self, tap: &dyn Tap) {
        let mut waiting = self.lock();
        loop {
            let lost = std::mem::take(&mut waiting.lost);
            let Some((at, news)) = waiting.lines.pop_front() else {
                if waiting.over {
                    return;
                }
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            waiting.bytes -= news.cost();
            waiting.telling = true;
            drop(waiting);
            if lost > 0 {
                tap.lost(lost);
            }
            news.tell(at, tap);
            waiting = self.lock();
            waiting.telling = false;
            self.changed.notify_all();
        }
    }

    /// No more will come. Blocks until everything was told, for `patience` at most.
    pub fn finish(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let mut waiting = self.lock();
        waiting.over = true;
        self.changed.notify_all();
        while !waiting.lines.is_empty() || waiting.telling {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_byte_do_not_wait_for_nothing() {
        let queue = TapQueue { waiting: Mutex::default(), changed: Condvar::new() };
        for _ in 0..1_000_000 {
            queue.push(Direction::Received, Duration::ZERO, b"");
        }
        let waiting = queue.lock();
        let held = waiting.lines.capacity() * size_of::<(Duration, News)>();
        assert!(held <= 2 * MAX_WAITING, "{held}");
        assert_eq!(waiting.lost + waiting.lines.len() as u64, 1_000_000);
    }
}
