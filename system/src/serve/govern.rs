//! The waist on the served side: one for all connections of a server.

use std::sync::Arc;

use sanswire::Instant;
use sanswire::error::ConfigError;
use sanswire::server::Reply;
use sanswire::server::govern::{Declared, Gate, Told, refused};
use sanswire::server::kit::Request;
use sanswire::waist::{Admitted, Call as Effect, End, ErrorClass, Halt, Hook, Refusal, Rejection, Spend};

use crate::clock::Clock;
use crate::contain::caught;
use crate::records::{Ledger, RecordStats};
use crate::serve::cancel::Cancel;
use crate::serve::options::ServerOptions;

/// Lets calls through, or not. The default lets all through.
///
/// What governs stands behind a pointer that only [`Governor::new`] makes, so that a program which binds nothing does
/// not carry its code.
#[derive(Default)]
pub struct Governor {
    /// None: nothing is bound.
    bound: Option<Box<dyn Govern>>,
}

/// What all governed calls pass.
trait Govern: Send + Sync {
    fn begin(&self, asked: &Request<Cancel>) -> Result<Option<Admitted>, Reply>;
    fn end(
        &self,
        admitted: Admitted,
        asked: &Request<Cancel>,
        told: Told,
        reply: Option<&Reply>,
    ) -> Option<Reply>;
    fn halt(&self) -> Option<Halt>;
    fn halted(&self) -> Option<Halt>;
    fn spent(&self) -> Spend;
    fn reset_halt(&self) -> Option<Halt>;
    fn record_stats(&self) -> RecordStats;
    fn flush(&self);
}

impl Governor {
    /// What lets through what the options say.
    ///
    /// # Errors
    /// A limit is out of its bounds.
    pub fn new(options: ServerOptions) -> Result<Self, ConfigError> {
        let ServerOptions { mut bindings, governed, trust, tier, records, .. } = options;
        bindings.hooks = bindings.hooks.into_iter().map(Contained::wrap).collect();
        let Some((gate, declared)) = Gate::new(bindings, governed, trust, tier)? else {
            return Ok(Self { bound: None });
        };
        let clock = Clock::start();
        let ledger = Ledger::new(gate, records, clock);
        Ok(Self { bound: Some(Box::new(Bound { ledger, clock, declared })) })
    }

    /// Whether anything is bound.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        self.bound.is_some()
    }

    /// Whether the call may be worked on; if not, its answer. What is admitted must [`end`](Self::end).
    pub fn begin(&self, asked: &Request<Cancel>) -> Result<Option<Admitted>, Reply> {
        self.bound.as_ref().map_or(Ok(None), |bound| bound.begin(asked))
    }

    /// The work of a call is over. No reply: its handler panicked. Gives the answer instead, if the call was stopped by
    /// hand meanwhile.
    pub fn end(
        &self,
        admitted: Option<Admitted>,
        asked: &Request<Cancel>,
        told: Told,
        reply: Option<&Reply>,
    ) -> Option<Reply> {
        self.bound.as_ref()?.end(admitted?, asked, told, reply)
    }

    /// Halts the run by hand, and cancels what is under way.
    pub fn halt(&self) -> Option<Halt> {
        self.bound.as_ref()?.halt()
    }

    /// Which brake has halted the run.
    #[must_use]
    pub fn halted(&self) -> Option<Halt> {
        self.bound.as_ref()?.halted()
    }

    /// What calls told that they used up.
    #[must_use]
    pub fn spent(&self) -> Spend {
        self.bound.as_ref().map(|bound| bound.spent()).unwrap_or_default()
    }

    /// Lifts the halt, which it returns.
    pub fn reset_halt(&self) -> Option<Halt> {
        self.bound.as_ref()?.reset_halt()
    }

    /// What became of records that nobody got.
    #[must_use]
    pub fn record_stats(&self) -> RecordStats {
        self.bound.as_ref().map(|bound| bound.record_stats()).unwrap_or_default()
    }

    /// Waits for the records of what is over, for a bounded time. Blocks.
    pub fn flush(&self) {
        if let Some(bound) = &self.bound {
            bound.flush();
        }
    }
}

struct Bound {
    ledger: Arc<Ledger<Arc<Cancel>>>,
    clock: Clock,
    declared: Declared,
}

impl Govern for Bound {
    fn begin(&self, asked: &Request<Cancel>) -> Result<Option<Admitted>, Reply> {
        let effect = self.declared.call(&asked.method, &asked.params, &asked.context.principal);
        let Some(effect) = effect else { return Ok(None) };
        let now = self.clock.now();
        let mut state = self.ledger.lock();
        let admitted = state.gate.begin(&effect, || Arc::clone(&asked.cancel), now);
        self.ledger.recorded(&mut state);
        drop(state);
        admitted.map(Some).map_err(|rejection| refused(&asked.method, &rejection))
    }

    fn end(
        &self,
        admitted: Admitted,
        asked: &Request<Cancel>,
        told: Told,
        reply: Option<&Reply>,
    ) -> Option<Reply> {
        let end = told.end(&asked.method, reply, asked.cancel.is_set());
        let now = self.clock.now();
        let mut state = self.ledger.lock();
        let ended = state.gate.end(admitted, end, now);
        self.ledger.recorded(&mut state);
        drop(state);
        ended.err().map(|rejection| refused(&asked.method, &rejection))
    }

    fn halt(&self) -> Option<Halt> {
        let now = self.clock.now();
        let mut state = self.ledger.lock();
        let (halt, stopped) = state.gate.halt(now)?;
        self.ledger.recorded(&mut state);
        drop(state);
        stopped.iter().for_each(|cancel| cancel.set());
        Some(halt)
    }

    fn halted(&self) -> Option<Halt> {
        self.ledger.lock().gate.halted()
    }

    fn spent(&self) -> Spend {
        self.ledger.lock().gate.spent()
    }

    fn reset_halt(&self) -> Option<Halt> {
        let mut state = self.ledger.lock();
        let halt = state.gate.reset_halt();
        self.ledger.recorded(&mut state);
        halt
    }

    fn record_stats(&self) -> RecordStats {
        self.ledger.stats()
    }

    fn flush(&self) {
        self.ledger.flush();
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.ledger.stop();
    }
}

/// A hook whose panics refuse: it is called under the lock that all calls need.
struct Contained {
    name: &'static str,
    hook: Box<dyn Hook>,
}

impl Contained {
    fn wrap(hook: Box<dyn Hook>) -> Box<dyn Hook> {
        let name = caught(|| hook.name()).unwrap_or("hook");
        Box::new(Self { name, hook })
    }
}

impl Hook for Contained {
    fn name(&self) -> &'static str {
        self.name
    }

    fn before(&mut self, call: &Effect, now: Instant) -> Result<(), Refusal> {
        caught(|| self.hook.before(call, now)).unwrap_or_else(|| {
            Err(Refusal { class: ErrorClass::Terminal, why: "it failed, so nothing passes".into() })
        })
    }

    fn after(&mut self, call: &Effect, outcome: Result<&End, &Rejection>, now: Instant) {
        let _ = caught(|| self.hook.after(call, outcome, now));
    }
}
