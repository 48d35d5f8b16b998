//! The waist of a server and the calls under way, for whatever lock a runtime keeps them behind.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::error::ConfigError;
use crate::jsonrpc::RawJson;
use crate::mcp::Method;
use crate::server::event::{Principal, Reply};
use crate::server::govern::Governed;
use crate::time::Instant;
use crate::waist::{
    Admitted, Bindings, Brake, Call, End, ErrorClass, Halt, Record, Rejection, Spend, Tier, Trust, Waist,
};

/// What of a server's requests passes its waist, and how it is declared there.
#[derive(Clone, Debug)]
pub struct Declared {
    governed: Governed,
    trust: Trust,
    tier: Option<Tier>,
    /// Somebody looks at what a call is done to.
    subjects: bool,
}

impl Declared {
    /// The call that a request of `principal` is; none: it passes by. Hashes what is asked for if somebody looks at that:
    /// better done before the gate is locked.
    #[must_use]
    pub fn call(&self, method: &Method, params: &RawJson, principal: &Principal) -> Option<Call> {
        let mut call = self.governed.call(method, params, principal, self.subjects)?;
        (call.trust, call.tier) = (self.trust, self.tier);
        Some(call)
    }
}

/// What all governed calls of a server pass: one waist for all its connections, and the calls under way that a halt by
/// hand is to stop, each with what cancels it, a `C` of the runtime's.
pub struct Gate<C> {
    waist: Waist,
    run: Option<Arc<str>>,
    /// Calls under way can be stopped by hand.
    kill_switch: bool,
    /// By their start.
    open: BTreeMap<u64, C>,
}

impl<C> fmt::Debug for Gate<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("waist", &self.waist)
            .field("open", &self.open.len())
            .finish_non_exhaustive()
    }
}

impl<C> Gate<C> {
    /// A gate that is bound so. None: nothing is bound, and everything passes by.
    ///
    /// A panic in a hook passes through the gate: wrap hooks before, if it is not to.
    ///
    /// # Errors
    /// A limit is out of its bounds.
    pub fn new(
        bindings: Bindings,
        governed: Governed,
        trust: Trust,
        tier: Option<Tier>,
    ) -> Result<Option<(Self, Declared)>, ConfigError> {
        let subjects = bindings.brakes.max_repeats != 0 || !bindings.hooks.is_empty();
        let kill_switch = bindings.brakes.kill_switch;
        let (run, open) = (bindings.scope.run.clone(), bindings.open_without_policy);
        let waist = Waist::new(bindings)?;
        if open && !waist.is_bound() {
            return Ok(None);
        }
        let gate = Self { waist, run, kill_switch, open: BTreeMap::new() };
        Ok(Some((gate, Declared { governed, trust, tier, subjects })))
    }

    /// Whether the call may be worked on. What is admitted must [`end`](Self::end); `cancel` gives what stops it before.
    ///
    /// # Errors
    /// It may not: answer with [`refused`](crate::server::govern::refused).
    pub fn begin(
        &mut self,
        call: &Call,
        cancel: impl FnOnce() -> C,
        now: Instant,
    ) -> Result<Admitted, Rejection> {
        let admitted = self.waist.begin(call, now)?;
        if self.kill_switch
            && let Some(start) = admitted.sequence()
        {
            self.open.insert(start, cancel());
        }
        Ok(admitted)
    }

    /// The work of a call is over.
    ///
    /// # Errors
    /// It was stopped by hand meanwhile: whatever it came to, it is refused.
    pub fn end(&mut self, admitted: Admitted, end: End, now: Instant) -> Result<(), Rejection> {
        // A halt by hand has taken out the calls that it stopped.
        let start = admitted.sequence().filter(|_| self.kill_switch);
        let stopped = start.is_some_and(|start| self.open.remove(&start).is_none());
        self.waist.end(admitted, end, now);
        if stopped { Err(Rejection::Halted(Halt { brake: Brake::Operator, since: now })) } else { Ok(()) }
    }

    /// Halts the run by hand. The calls under way are to be cancelled. None: no brake is on.
    pub fn halt(&mut self, now: Instant) -> Option<(Halt, Vec<C>)> {
        let halt = self.waist.halt(self.run.as_deref(), now)?;
        Some((halt, core::mem::take(&mut self.open).into_values().collect()))
    }

    /// Which brake has halted the run.
    #[must_use]
    pub fn halted(&self) -> Option<Halt> {
        self.waist.halted(self.run.as_deref())
    }

    /// What calls told that they used up since the last reset; counted only while a brake is on.
    #[must_use]
    pub fn spent(&self) -> Spend {
        self.waist.spent(self.run.as_deref())
    }

    /// Lifts the halt, which it returns, and forgets what the brakes counted.
    pub fn reset_halt(&mut self) -> Option<Halt> {
        self.waist.reset(self.run.as_deref())
    }

    /// The oldest record that nobody has taken yet.
    pub fn poll_record(&mut self) -> Option<Record> {
        self.waist.poll_record()
    }

    /// Records that were given up because too many waited.
    #[must_use]
    pub fn lost_records(&self) -> u64 {
        self.waist.lost_records()
    }
}

/// What a handler said about its own work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    spent: Spend,
    class: Option<ErrorClass>,
}

impl Told {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { spent: Spend { tokens: 0, cost: 0 }, class: None }
    }

    /// It used up this, besides what it told before.
    pub const fn spend(&mut self, spent: Spend) {
        self.spent.tokens = self.spent.tokens.saturating_add(spent.tokens);
        self.spent.cost = self.spent.cost.saturating_add(spent.cost);
    }

    /// What kind of failure it is, should it fail. Without it a failure is [terminal](ErrorClass::Terminal).
    pub const fn fails_as(&mut self, class: ErrorClass) {
        self.class = Some(class);
    }

    /// How the work went, for the waist. `reply`: none, if the handler broke down.
    #[must_use]
    pub fn end(self, method: &Method, reply: Option<&Reply>, is_cancelled: bool) -> End {
        let error = match reply {
            _ if is_cancelled => Some(ErrorClass::Cancelled),
            None => Some(ErrorClass::Terminal),
            Some(reply) => match reply.error_class(method) {
                Some(ErrorClass::Terminal) => self.class.or(Some(ErrorClass::Terminal)),
                other => other,
            },
        };
        End { error, spent: self.spent }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::waist::{Grant, Scope};

    fn gate(change: impl FnOnce(&mut Bindings)) -> Option<(Gate<u8>, Declared)> {
        let mut bindings = Bindings::default();
        change(&mut bindings);
        Gate::new(bindings, Governed::Tools, Trust::Trusted, None).expect("usable")
    }

    fn call(declared: &Declared, name: &str) -> Call {
        let params = RawJson::object(|w| {
            w.string("name", name);
        });
        declared.call(&Method::ToolsCall, &params, &Principal::anonymous()).expect("tools are governed")
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO.saturating_add(core::time::Duration::from_secs(seconds))
    }

    #[test]
    fn with_nothing_bound_there_is_no_gate() {
        assert!(gate(|_| ()).is_none());
        for bind in [
            (|bindings| bindings.open_without_policy = false) as fn(&mut Bindings),
            |bindings| bindings.always_record = true,
            |bindings| bindings.scope = Scope::run("r"),
            |bindings| bindings.grant = Some(Grant::default().into()),
        ] {
            assert!(gate(bind).is_some());
        }
    }

    #[test]
    fn a_halt_by_hand_gives_what_is_under_way_and_refuses_what_it_comes_to() {
        let (mut gate, declared) = gate(|bindings| bindings.brakes.kill_switch = true).expect("bound");
        let call = call(&declared, "t");
        let early = gate.begin(&call, || 1, at(0)).expect("nothing is halted");
        let late = gate.begin(&call, || 2, at(1)).expect("nothing is halted");
        let end = Told::new().end(&Method::ToolsCall, Some(&Reply::text("a")), false);
        assert_eq!(gate.end(early, end, at(2)), Ok(()), "it was over before");
        let (halt, stopped) = gate.halt(at(3)).expect("a brake is on");
        assert_eq!((halt.brake, stopped), (Brake::Operator, vec![2]));
        assert!(matches!(gate.end(late, end, at(4)), Err(Rejection::Halted(_))));
        assert!(matches!(gate.begin(&call, || 3, at(5)), Err(Rejection::Halted(_))));
        assert_eq!(gate.halted(), Some(halt));
        assert_eq!(gate.reset_halt(), Some(halt));
        let again = gate.begin(&call, || 4, at(6)).expect("it was lifted");
        assert_eq!(gate.end(again, end, at(7)), Ok(()));
    }

    #[test]
    fn what_can_not_be_stopped_by_hand_is_not_kept() {
        let (mut gate, declared) = gate(|bindings| bindings.brakes.max_calls = 9).expect("bound");
        let admitted = gate.begin(&call(&declared, "t"), || panic!("nobody asks"), at(0)).expect("admitted");
        let (_, stopped) = gate.halt(at(1)).expect("a brake is on");
        assert!(stopped.is_empty());
        let mut told = Told::new();
        told.spend(Spend { tokens: 2, cost: 0 });
        told.spend(Spend { tokens: u64::MAX, cost: 1 });
        let end = told.end(&Method::ToolsCall, None, false);
        assert_eq!(gate.end(admitted, end, at(2)), Ok(()));
        assert_eq!(gate.spent(), Spend { tokens: u64::MAX, cost: 1 });
    }

    #[test]
    fn how_the_work_went_is_the_handlers_word_where_it_failed() {
        let mut told = Told::new();
        told.fails_as(ErrorClass::Transient);
        let class = |reply: Option<&Reply>, cancelled| told.end(&Method::ToolsCall, reply, cancelled).error;
        let (fine, failed) = (Reply::text("a"), Reply::tool_error("a"));
        assert_eq!(class(Some(&fine), false), None);
        assert_eq!(class(Some(&failed), false), Some(ErrorClass::Transient));
        assert_eq!(class(Some(&failed), true), Some(ErrorClass::Cancelled));
        assert_eq!(class(None, false), Some(ErrorClass::Terminal), "it broke down");
        let unsaid = Told::new().end(&Method::ToolsCall, Some(&failed), false);
        assert_eq!(unsaid.error, Some(ErrorClass::Terminal));
    }
}
