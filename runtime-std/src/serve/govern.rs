//! The waist on the served side: one for all connections of a server.

use std::sync::Arc;

use sanswire::Instant;
use sanswire::error::ConfigError;
use sanswire::server::Reply;
use sanswire::server::govern::{Governed, refused};
use sanswire::waist::{
    Admitted, Call as Effect, End, ErrorClass, Halt, Hook, Refusal, Rejection, Spend, Tier, Trust, Waist,
};

use crate::clock::Clock;
use crate::serve::answer::caught;
use crate::serve::call::Call;
use crate::serve::options::ServerOptions;
use crate::serve::records::{Ledger, RecordStats};

/// Lets calls through, or not. The default lets all through.
#[derive(Default)]
pub(crate) struct Governor {
    /// None: nothing is bound.
    bound: Option<Bound>,
}

struct Bound {
    ledger: Arc<Ledger>,
    clock: Clock,
    governed: Governed,
    /// Somebody looks at what a call is done to.
    subjects: bool,
    trust: Trust,
    tier: Option<Tier>,
    run: Option<Arc<str>>,
}

impl Governor {
    pub(crate) fn new(options: ServerOptions) -> Result<Self, ConfigError> {
        let ServerOptions { mut bindings, governed, trust, tier, records, .. } = options;
        let subjects = bindings.brakes.max_repeats != 0 || !bindings.hooks.is_empty();
        let (run, open) = (bindings.scope.run.clone(), bindings.open_without_policy);
        bindings.hooks = bindings.hooks.into_iter().map(Contained::wrap).collect();
        let waist = Waist::new(bindings)?;
        if open && !waist.is_bound() {
            return Ok(Self { bound: None });
        }
        let clock = Clock::start();
        let ledger = Ledger::new(waist, records, clock);
        Ok(Self { bound: Some(Bound { ledger, clock, governed, subjects, trust, tier, run }) })
    }

    /// Whether the call may be worked on; if not, its answer. What is admitted must [`end`](Self::end).
    pub(crate) fn begin(&self, call: &Call<'_>) -> Result<Option<Admitted>, Reply> {
        let Some(bound) = &self.bound else { return Ok(None) };
        let effect =
            bound.governed.call(call.method(), call.params(), &call.context().principal, bound.subjects);
        let Some(mut effect) = effect else { return Ok(None) };
        (effect.trust, effect.tier) = (bound.trust, bound.tier);
        effect.principal = call.context().principal.name().map(Into::into);
        let now = bound.clock.now();
        let mut state = bound.ledger.lock();
        let admitted = state.waist.begin(&effect, now);
        bound.ledger.recorded(&mut state);
        drop(state);
        admitted.map(Some).map_err(|rejection| refused(call.method(), &rejection))
    }

    /// The work of a call is over. No reply: its handler panicked.
    pub(crate) fn end(&self, admitted: Option<Admitted>, call: &Call<'_>, reply: Option<&Reply>) {
        let (Some(bound), Some(admitted)) = (&self.bound, admitted) else { return };
        let (spent, said) = call.told();
        let class = match reply {
            _ if call.is_cancelled() => Some(ErrorClass::Cancelled),
            None => Some(ErrorClass::Terminal),
            Some(reply) => match reply.error_class(call.method()) {
                Some(ErrorClass::Terminal) => said.or(Some(ErrorClass::Terminal)),
                other => other,
            },
        };
        let now = bound.clock.now();
        let mut state = bound.ledger.lock();
        state.waist.end(admitted, End { error: class, spent }, now);
        bound.ledger.recorded(&mut state);
    }

    pub(crate) fn halted(&self) -> Option<Halt> {
        let bound = self.bound.as_ref()?;
        bound.ledger.lock().waist.halted(bound.run.as_deref())
    }

    pub(crate) fn spent(&self) -> Spend {
        let spent = |bound: &Bound| bound.ledger.lock().waist.spent(bound.run.as_deref());
        self.bound.as_ref().map(spent).unwrap_or_default()
    }

    pub(crate) fn reset_halt(&self) -> Option<Halt> {
        let bound = self.bound.as_ref()?;
        let mut state = bound.ledger.lock();
        let halt = state.waist.reset(bound.run.as_deref());
        bound.ledger.recorded(&mut state);
        halt
    }

    pub(crate) fn record_stats(&self) -> RecordStats {
        self.bound.as_ref().map(|bound| bound.ledger.stats()).unwrap_or_default()
    }

    /// Waits for the records of what is over, for a bounded time.
    pub(crate) fn flush(&self) {
        if let Some(bound) = &self.bound {
            bound.ledger.flush();
        }
    }
}

impl Drop for Governor {
    fn drop(&mut self) {
        if let Some(bound) = &self.bound {
            bound.ledger.stop();
        }
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
