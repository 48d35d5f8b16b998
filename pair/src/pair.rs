//! Two machines, two faulty pipes, one virtual clock.

use std::fmt::Write as _;
use std::time::Duration;

use sanswire::Instant;

use crate::link::{Link, Shape};
use crate::seed::Rng;
use crate::watch::{Side, Watched};

/// A run that takes more steps than this spins.
const MAX_STEPS: usize = 200_000;
/// How often one instant may be gone over before it counts as spinning.
const MAX_ROUNDS: usize = 1_000_000;

/// Two machines that talk over two links in virtual time. Every call checks the machine contract, so a scenario
/// that runs in a pair tests it for nothing.
///
/// `a` is the client in most pairs: [`ready`](Self::ready), [`call_tool`](Self::call_tool) and
/// [`outcome`](Self::outcome) are there for one. What else a machine can do is called on
/// [`Side::machine`](crate::watch::Side::machine), with [`now`](Self::now) as its instant.
#[derive(Debug)]
pub struct Pair<A: Watched, B: Watched> {
    /// One side.
    pub a: Side<A>,
    /// The other.
    pub b: Side<B>,
    /// From `a` to `b`.
    pub a_to_b: Link,
    /// From `b` to `a`.
    pub b_to_a: Link,
    now: Instant,
    rng: Rng,
    /// Write no more than so many bytes at once, by the seed.
    pub small_writes: Option<usize>,
    /// Make calls on `a` that nobody asked for: they must be harmless.
    pub fidget: bool,
    log: Vec<(Instant, String)>,
}

impl<A: Watched, B: Watched> Pair<A, B> {
    /// A pair at `now`, with links of these shapes.
    pub fn new(a: A, b: B, shapes: [Shape; 2], seed: u64, now: Instant) -> Self {
        let mut rng = Rng::new(seed);
        let [to_b, to_a] = shapes;
        Self {
            a: Side::new(a),
            b: Side::new(b),
            a_to_b: Link::new(to_b, rng.fork()),
            b_to_a: Link::new(to_a, rng.fork()),
            now,
            rng,
            small_writes: None,
            fidget: false,
            log: Vec::new(),
        }
    }

    /// The time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Does everything that can be done at this instant.
    ///
    /// # Panics
    /// If a machine breaks its contract.
    pub fn settle(&mut self) {
        self.a.machine.handle_timeout(self.now);
        self.b.machine.handle_timeout(self.now);
        for _ in 0..MAX_ROUNDS {
            if self.fidget {
                let earlier =
                    Instant::from_micros(self.now.as_micros().saturating_sub(self.rng.number() % 9999));
                self.a.machine.handle_timeout(earlier);
                self.a.machine.handle_read(earlier);
                self.a.machine.handle_written(0, earlier);
                let _ = (self.a.machine.wants_read(), self.a.machine.poll_timeout());
            }
            let mut most = || self.small_writes.map_or(usize::MAX, |most| 1 + self.rng.below(most));
            let sizes = (most(), most());
            let (a, b, log) = (&mut self.a, &mut self.b, &mut self.log);
            let one = turn("a", a, &mut self.a_to_b, &mut self.b_to_a, sizes.0, self.now, log);
            let two = turn("b", b, &mut self.b_to_a, &mut self.a_to_b, sizes.1, self.now, log);
            if !one && !two {
                self.a.machine.handle_timeout(self.now);
                self.b.machine.handle_timeout(self.now);
                let more = self.a.machine.transmit().len().min(self.a_to_b.room())
                    + self.b.machine.transmit().len().min(self.b_to_a.room())
                    + (!self.a.holding && self.a.take_events(self.now) > 0) as usize
                    + (!self.b.holding && self.b.take_events(self.now) > 0) as usize;
                if more == 0 {
                    check_deadline("a", &self.a, self.now);
                    check_deadline("b", &self.b, self.now);
                    return;
                }
            }
        }
        panic!("the pair spins at {}\n{}", Show(self.now), self.report());
    }

    /// When something happens next.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        let arrivals = [
            self.a_to_b.next_arrival(self.now).filter(|_| self.b.reads()),
            self.b_to_a.next_arrival(self.now).filter(|_| self.a.reads()),
        ];
        let deadlines = [self.a.machine.poll_timeout(), self.b.machine.poll_timeout()];
        arrivals.into_iter().chain(deadlines).flatten().min()
    }

    /// Settles, then moves to the earliest deadline or arrival. False: nothing will ever happen again.
    pub fn step(&mut self) -> bool {
        self.settle();
        let Some(next) = self.next_at() else { return false };
        assert!(next > self.now, "time stands still\n{}", self.report());
        self.now = next;
        self.settle();
        true
    }

    /// Lets everything happen up to `to`, and makes it that time.
    pub fn run_to(&mut self, to: Instant) {
        self.settle();
        while self.next_at().is_some_and(|next| next <= to) {
            self.step();
        }
        self.now = self.now.max(to);
        self.settle();
    }

    /// Lets everything happen for `time`.
    pub fn run_for(&mut self, time: Duration) {
        self.run_to(self.now.saturating_add(time));
    }

    /// Steps until `done`.
    ///
    /// # Panics
    /// If that never comes, with what happened instead.
    pub fn run_until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        self.settle();
        for _ in 0..MAX_STEPS {
            if done(self) {
                return;
            }
            if !self.step() {
                break;
            }
        }
        assert!(done(self), "never {what}\n{}", self.report());
    }

    /// What happened, one line each, for a failure's text.
    #[must_use]
    pub fn report(&self) -> String {
        let mut out = String::new();
        for (at, line) in &self.log {
            let _ = writeln!(out, "{:>12} {line}", Show(*at).to_string());
        }
        out
    }
}

/// What one side can do now. True: something was done.
fn turn<M: Watched>(
    name: &str,
    side: &mut Side<M>,
    out: &mut Link,
    input: &mut Link,
    write: usize,
    now: Instant,
    log: &mut Vec<(Instant, String)>,
) -> bool {
    let mut busy = false;
    if side.reads() {
        if let Some(piece) = input.arrived(now) {
            let piece = piece.to_vec();
            let taken = side.read(&piece, now);
            input.take(taken);
            busy = true;
        } else if input.has_ended(now) && side.end_input(now) {
            log.push((now, format!("{name} sees the end")));
            busy = true;
        }
    }
    let len = side.machine.transmit().len().min(out.room()).min(write);
    if len > 0 {
        let bytes = side.write(len, now);
        log.push((now, format!("{name} sends {}", excerpt(&bytes))));
        out.send(&bytes, now);
        busy = true;
    }
    if out.is_cut() && side.end_output(now) {
        log.push((now, format!("{name} cannot send any more")));
        busy = true;
    }
    if !side.holding {
        let before = side.events.len();
        busy |= side.take_events(now) > 0;
        for (at, event) in &side.events[before..] {
            log.push((*at, format!("{name} tells {}", excerpt(format!("{event:?}").as_bytes()))));
        }
        if side.ledger.is_closed() {
            out.close(now);
            input.discard();
        }
    }
    busy
}

/// After `handle_timeout(now)` and a full drain the next deadline lies ahead.
fn check_deadline<M: Watched>(name: &str, side: &Side<M>, now: Instant) {
    if side.holding || !side.machine.transmit().is_empty() {
        return;
    }
    if let Some(at) = side.machine.poll_timeout() {
        assert!(at > now, "{name} is drained, and its deadline {} is not ahead", Show(at));
    }
    if side.ledger.is_closed() {
        assert!(!side.machine.wants_read(), "{name} is closed and wants to read");
        assert_eq!(side.machine.poll_timeout(), None, "{name} is closed and waits for a time");
    }
}

fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(240)]);
    let more = if bytes.len() > 240 { format!("… ({} bytes)", bytes.len()) } else { String::new() };
    format!("{}{more}", text.escape_debug())
}

/// An instant for people.
struct Show(Instant);

impl std::fmt::Display for Show {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}s", self.0.as_micros() / 1_000_000, self.0.as_micros() % 1_000_000)
    }
}
