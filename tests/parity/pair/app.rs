//! The served half of a pair: what its application does with the tools, in virtual time, on whatever link.

use std::time::Duration;

use sanswire::Instant;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Era;
use sanswire::mcp::types::input::{InputRequest, KeyedInput};
use sanswire::server::{Context, Notice, PeerOutcome, Reply, RequestHandle};

use crate::served::{Job, form, job};

/// A server's machine, whatever link it stands behind. `Of` names the session, `Asked` a question to its client.
pub(super) trait Half {
    type Of: Copy + PartialEq;
    type Asked: Copy + PartialEq;
    fn respond(&mut self, of: Self::Of, request: RequestHandle, reply: &Reply, now: Instant);
    fn notify(&mut self, of: Self::Of, request: RequestHandle, notice: &Notice, now: Instant);
    /// Asks the client, if it can be asked.
    fn ask(
        &mut self,
        of: Self::Of,
        request: RequestHandle,
        input: &InputRequest,
        now: Instant,
    ) -> Option<Self::Asked>;
    /// Lists one tool more.
    fn grow(&mut self, now: Instant);
    /// Ends, once what is open is over.
    fn stop(&mut self, drain: Duration, now: Instant);
}

/// A call under way.
struct Open<O, A> {
    of: O,
    request: RequestHandle,
    number: u64,
    /// What it waits for.
    waits: Waits<A>,
}

enum Waits<A> {
    Forever,
    /// The next step, how many are left behind it, and how long each takes.
    Step {
        at: Instant,
        done: u64,
        all: u64,
        every: Duration,
    },
    Answer(A),
}

/// What answers.
pub(super) struct App<O, A> {
    open: Vec<Open<O, A>>,
    calls: u64,
    pub(super) record: Vec<String>,
}

impl<O: Copy + PartialEq, A: Copy + PartialEq> App<O, A> {
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), calls: 0, record: vec!["start".into()] }
    }

    /// A call came.
    pub(super) fn handle_call(
        &mut self,
        half: &mut impl Half<Of = O, Asked = A>,
        (of, request): (O, RequestHandle),
        (params, context): (&RawJson, &Context),
        now: Instant,
    ) {
        let (name, job) = job(params);
        let number = self.calls;
        self.calls += 1;
        self.record.push(format!("call {name} {number}"));
        if let Some(waits) = self.begin(half, (of, request), job, context, now) {
            self.open.push(Open { of, request, number, waits });
        }
    }

    /// Nobody waits for a call any more.
    pub(super) fn handle_cancelled(&mut self, of: O, request: RequestHandle) {
        if let Some(place) = self.open.iter().position(|open| open.of == of && open.request == request) {
            let open = self.open.swap_remove(place);
            self.record.push(format!("cancelled {}", open.number));
        }
    }

    /// A question is over.
    pub(super) fn handle_answered(
        &mut self,
        half: &mut impl Half<Of = O, Asked = A>,
        (of, asked): (O, A),
        outcome: &PeerOutcome,
        now: Instant,
    ) {
        let waits =
            |open: &Open<O, A>| open.of == of && matches!(open.waits, Waits::Answer(of) if of == asked);
        if let (Some(place), PeerOutcome::Result(result)) = (self.open.iter().position(waits), outcome) {
            self.record.push("response".into());
            let open = self.open.swap_remove(place);
            half.respond(of, open.request, &Reply::text(result.as_str()), now);
        }
    }

    /// What a call goes on waiting for, if it is not answered at once.
    fn begin(
        &mut self,
        half: &mut impl Half<Of = O, Asked = A>,
        (of, request): (O, RequestHandle),
        job: Job,
        context: &Context,
        now: Instant,
    ) -> Option<Waits<A>> {
        let reply = match job {
            Job::Say(text) => Reply::text(&text),
            Job::Fail(text) => Reply::tool_error(&text),
            Job::Hold => return Some(Waits::Forever),
            Job::Sleep(every) => {
                return Some(Waits::Step { at: now.saturating_add(every), done: 0, all: 0, every });
            }
            Job::Steps(all, every) => {
                return Some(Waits::Step { at: now.saturating_add(every), done: 0, all, every });
            }
            Job::Change => {
                half.grow(now);
                Reply::text("changed")
            }
            Job::Ask if context.era() == Era::Legacy => match half.ask(of, request, &form(), now) {
                Some(asked) => return Some(Waits::Answer(asked)),
                None => Reply::tool_error("cannot be asked"),
            },
            Job::Ask => match context.round.as_ref().and_then(|round| round.response("k")) {
                Some(answer) => Reply::text(answer.as_str()),
                None if context.capabilities.elicitation_form => Reply::InputRequired {
                    requests: vec![KeyedInput { key: "k".into(), request: form() }],
                    state: None,
                },
                None => Reply::tool_error("cannot be asked"),
            },
            Job::Panic => panic!("a machine runs no handlers"),
            Job::Stop => {
                half.respond(of, request, &Reply::text("stopped"), now);
                half.stop(Duration::from_secs(10), now);
                return None;
            }
        };
        half.respond(of, request, &reply, now);
        None
    }

    pub(super) fn handle_timeout(&mut self, half: &mut impl Half<Of = O, Asked = A>, now: Instant) {
        let mut place = 0;
        while let Some(open) = self.open.get_mut(place) {
            let (of, request) = (open.of, open.request);
            match &mut open.waits {
                Waits::Step { at, done, all, every } if *at <= now => {
                    if *all > 0 {
                        *done += 1;
                        let progress =
                            Notice::Progress { progress: *done as f64, total: None, message: None };
                        half.notify(of, request, &progress, now);
                    }
                    *at = at.saturating_add(*every);
                    if *done >= *all {
                        let text = if *all > 0 { "done" } else { "slept" };
                        self.open.swap_remove(place);
                        half.respond(of, request, &Reply::text(text), now);
                    }
                }
                _ => place += 1,
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let due = self.open.iter().filter_map(|open| match open.waits {
            Waits::Step { at, .. } => Some(at),
            _ => None,
        });
        due.min()
    }
}
