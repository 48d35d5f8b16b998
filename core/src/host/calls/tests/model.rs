//! Whatever is done in whatever order: each call ends once, and none is made that was not let through as it is.

use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::host::calls::table::State;
use crate::host::config::Replay;
use crate::host::policy::{ApprovalHandle, ApprovalLimits, CallRules, DefinitionHash, RuleDecision, RuleKey};

/// Of `s`, whose calls pass, `u` is denied; those of `r` are asked about.
const TOOLS: [(&str, &str); 4] = [("s", "t"), ("s", "u"), ("r", "t"), ("r", "u")];
const ARGUMENTS: [&str; 4] = ["", "{}", r#"{"a":1}"#, r#"{ "a" : 1 }"#];
const ANSWERS: [Answer; 4] = [Answer::AllowOnce, Answer::AlwaysAllow, Answer::Deny, Answer::Failed];
const ROADS: [Road; 3] = [Road::Open, Road::Pending, Road::Shut];

#[derive(Clone, Debug)]
enum Op {
    Begin {
        tool: usize,
        arguments: usize,
        owner: bool,
    },
    /// Of the questions that were ever put, so late and second answers are among these.
    Answer(usize, usize),
    Cancel(usize),
    Outcome(usize, usize),
    Resume(usize),
    Road(bool, usize),
    Settle(bool),
    /// A server lists its tools as they were first, as others, or without `t`.
    Offer(bool, usize),
    Plan(bool),
    Approver(bool),
    Skip(bool),
    Revoke,
    Turn,
    Pass(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // Mostly the latest ones, and now and then some that are long over.
    let nth = || prop_oneof![3 => 0..2usize, 1 => 2..8usize];
    let op = prop_oneof![
        8 => (0..4usize, 0..4usize, any::<bool>())
            .prop_map(|(tool, arguments, owner)| Op::Begin { tool, arguments, owner }),
        6 => (nth(), 0..4usize).prop_map(|(n, answer)| Op::Answer(n, answer)),
        2 => nth().prop_map(Op::Cancel),
        4 => (nth(), 0..6usize).prop_map(|(n, outcome)| Op::Outcome(n, outcome)),
        2 => nth().prop_map(Op::Resume),
        3 => (any::<bool>(), 0..3usize).prop_map(|(s, road)| Op::Road(s, road)),
        3 => any::<bool>().prop_map(Op::Settle),
        3 => (any::<bool>(), 0..3usize).prop_map(|(s, tools)| Op::Offer(s, tools)),
        1 => any::<bool>().prop_map(Op::Plan),
        1 => prop::bool::weighted(0.8).prop_map(Op::Approver),
        1 => prop::bool::weighted(0.2).prop_map(Op::Skip),
        1 => Just(Op::Revoke),
        1 => Just(Op::Turn),
        3 => (1..40_000u64).prop_map(Op::Pass),
    ];
    prop::collection::vec(op, 0..60)
}

/// Where a call stands, seen from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Asked(ApprovalHandle),
    /// It was let through: waits for its server, or was sent.
    Through,
    Over,
}

/// What is known of a call.
#[derive(Debug)]
struct Known {
    tool: (&'static str, &'static str),
    arguments: &'static str,
    stand: Stand,
    /// Somebody was asked about it at any time.
    asked: bool,
    /// As which definition it was let through.
    through: Option<DefinitionHash>,
    /// It was sent before, and is at present.
    made: bool,
    sent: bool,
}

struct Model {
    world: World,
    plan: bool,
    approver: bool,
    skip: bool,
    known: BTreeMap<CallHandle, Known>,
    /// What this step answered.
    answered: Option<(ApprovalHandle, Answer)>,
}

impl Model {
    fn stand(&self, call: CallHandle) -> Stand {
        match self.world.calls.table.get(call).map(|open| &open.state) {
            None => Stand::Over,
            Some(State::Asked(question)) => Stand::Asked(*question),
            Some(State::Waiting(_) | State::Sent { .. } | State::Parked { .. }) => Stand::Through,
            Some(State::Deciding) => panic!("{call:?} was left undecided"),
        }
    }

    fn present(&self, (server, tool): (&str, &str)) -> Option<DefinitionHash> {
        Some(self.world.servers.registry.find(server, tool)?.definition.hash)
    }

    fn handle(&self, n: usize) -> CallHandle {
        self.known.keys().rev().nth(n).copied().unwrap_or(CallHandle(10_000))
    }

    /// All that can be seen of the calls.
    fn seen(&self) -> (Vec<Stand>, [usize; 5]) {
        let World { sent, ends, asked, ended, cancelled, .. } = &self.world;
        let stands = self.known.keys().map(|call| self.stand(*call)).collect();
        (stands, [sent.len(), ends.len(), asked.len(), ended.len(), cancelled.len()])
    }

    fn run(&mut self, op: &Op) {
        let (world, server) = (&mut self.world, |s: bool| if s { "s" } else { "r" });
        match *op {
            Op::Begin { tool, arguments, owner } => {
                let ((server, name), arguments) = (TOOLS[tool], ARGUMENTS[arguments]);
                let target = Target::Tool(Provenance::new(server, name));
                let sent = (!arguments.is_empty()).then(|| json(arguments));
                let mut request = CallRequest::new("c", target, sent);
                request.owner = Principal::named(if owner { "ann" } else { "bob" });
                let offered = self.world.servers.registry.find(server, name).is_some();
                match self.world.begin(request) {
                    Ok(call) => {
                        assert!(offered);
                        let (tool, stand) = (TOOLS[tool], self.stand(call));
                        let asked = matches!(stand, Stand::Asked(_));
                        let through = self.present(tool).filter(|_| stand == Stand::Through);
                        assert!(through.is_none() || self.may_pass(tool), "{tool:?}");
                        let known =
                            Known { tool, arguments, stand, asked, through, made: false, sent: false };
                        assert!(self.known.insert(call, known).is_none(), "{call:?} is used twice");
                    }
                    Err(why) => assert_eq!((why, offered), (CallRefused::UnknownTool, false)),
                }
            }
            Op::Answer(n, answer) => {
                let Some(asked) = world.asked.iter().rev().nth(n).map(|asked| asked.handle) else { return };
                let open = self.known.values().any(|known| known.stand == Stand::Asked(asked));
                let before = self.seen();
                self.answered = open.then_some((asked, ANSWERS[answer]));
                assert_eq!(self.world.answer_to(asked, ANSWERS[answer]), open);
                assert!(open || self.seen() == before, "an answer to nothing did something");
            }
            Op::Cancel(n) => {
                let call = self.handle(n);
                let open = self.known.contains_key(&call) && self.stand(call) != Stand::Over;
                assert_eq!(self.world.cancel(call), open);
            }
            Op::Outcome(n, outcome) => {
                let call = self.handle(n);
                let before = (!self.world.is_sent(call)).then(|| self.seen());
                let input = crate::client::InputRequired::read(
                    &json(r#"{"requestState":"x"}"#),
                    Method::ToolsCall,
                    json("{}"),
                    1,
                    crate::exchange::Partition::default(),
                );
                self.world.outcome(
                    call,
                    match outcome {
                        0 => Ok(Outcome::Complete(json("{}"))),
                        1 => Ok(Outcome::Lost { maybe_ran: true }),
                        2 => Ok(Outcome::Lost { maybe_ran: false }),
                        3 => Ok(Outcome::InputRequired(Box::new(input.unwrap()))),
                        4 => Ok(Outcome::Cancelled),
                        _ => Err(ApiError::OutboundFull),
                    },
                );
                assert!(
                    before.is_none_or(|before| before == self.seen()),
                    "an outcome of nothing did something"
                );
            }
            Op::Resume(n) => {
                let (call, answers) = (self.handle(n), crate::client::InputAnswers::new());
                let world = &mut self.world;
                world.calls.resume(call, answers, &mut world.servers, at(world.now));
                world.drain();
            }
            Op::Road(s, road) => {
                world.road(server(s), ROADS[road]);
                if ROADS[road] != Road::Pending {
                    world.settled(server(s));
                }
            }
            Op::Settle(s) => world.settled(server(s)),
            Op::Offer(s, tools) => {
                let listed = [
                    r#"{"name":"t"},{"name":"u"}"#,
                    r#"{"name":"t","description":"new"},{"name":"u","annotations":{"readOnlyHint":true}}"#,
                    r#"{"name":"u"}"#,
                ];
                world.offer(server(s), listed[tools]);
            }
            Op::Plan(on) => {
                self.plan = on;
                world.calls.set_plan_mode(on);
            }
            Op::Approver(there) => {
                self.approver = there;
                world.calls.set_approver(there, at(world.now));
                world.drain();
            }
            Op::Skip(on) => {
                self.skip = on;
                world.calls.set_skip_prompts(on);
            }
            Op::Revoke => world.calls.grants_mut().clear(),
            Op::Turn => world.calls.begin_turn(),
            Op::Pass(millis) => world.pass(millis),
        }
    }

    /// Whether a call of this tool may pass without anybody being asked.
    fn may_pass(&self, tool: (&'static str, &'static str)) -> bool {
        let granted = self.world.calls.grants().definition(&Provenance::new(tool.0, tool.1));
        let granted = self.approver && granted.is_some() && granted == self.present(tool);
        tool != ("s", "u") && (self.skip || granted || tool.0 == "s" && !self.plan)
    }

    /// What has become of every call by this step.
    fn check(&mut self, op: &Op, replay: bool) {
        let answered = self.answered.take();
        let mut passed: BTreeMap<ApprovalHandle, usize> = BTreeMap::new();
        let mut next = Vec::new();
        for (call, known) in &self.known {
            let (before, now) = (known.stand, self.stand(*call));
            let end = self.world.ends.get(call).map(|end| &end.outcome);
            assert_eq!(end.is_some(), now == Stand::Over, "{call:?}");
            let unavailable = matches!(end, Some(CallOutcome::Unavailable { .. }));
            match (before, now) {
                (Stand::Over, now) => assert_eq!(now, Stand::Over, "{call:?} is open again"),
                (Stand::Asked(question), Stand::Asked(other)) if question == other => {}
                (Stand::Asked(question), now) if now != Stand::Over || unavailable => {
                    let (_, answer) =
                        answered.filter(|(to, _)| *to == question).expect("nobody answered that");
                    assert!(matches!(answer, Answer::AllowOnce | Answer::AlwaysAllow), "{call:?} {op:?}");
                    if !matches!(now, Stand::Asked(_)) {
                        // What was allowed for longer meanwhile lets any number pass.
                        let tool = Provenance::new(known.tool.0, known.tool.1);
                        let (granted, present) =
                            (self.world.calls.grants().definition(&tool), self.present(known.tool));
                        let asked = self.world.asked.iter().find(|asked| asked.handle == question);
                        if granted != present {
                            let passed = passed.entry(question).or_default();
                            *passed += 1;
                            assert!(*passed == 1, "{question:?} let two pass");
                            let asked_as = asked.map(|asked| asked.definition);
                            assert_eq!(asked_as, present, "{question:?} was about another tool");
                        }
                    }
                }
                (Stand::Through, Stand::Asked(_)) => {
                    assert_ne!(
                        known.through,
                        self.present(known.tool),
                        "{call:?} is asked about for nothing"
                    );
                }
                (Stand::Asked(_) | Stand::Through, _) => {}
            }
            assert!(
                !matches!(end, Some(CallOutcome::Denied(_))) || !known.made || replay,
                "{call:?} was denied"
            );
            next.push((*call, now));
        }
        for (call, now) in next {
            let present = self.known.get(&call).and_then(|known| self.present(known.tool));
            let known = self.known.get_mut(&call).expect("it is known");
            if now == Stand::Through && known.stand != Stand::Through {
                known.through = present;
            }
            known.asked |= matches!(now, Stand::Asked(_));
            known.stand = now;
        }
        for (call, known) in &mut self.known {
            let sent = self.world.sent.iter().find(|sent| sent.call == *call);
            let begins = sent.filter(|sent| !known.sent && !sent.params.starts_with("InputAnswers"));
            if let Some(sent) = begins {
                assert!(known.stand == Stand::Through && known.tool != ("s", "u"));
                let Known { arguments, tool: (server, tool), .. } = *known;
                let sends =
                    if arguments.is_empty() { String::new() } else { format!(r#","arguments":{arguments}"#) };
                assert_eq!(sent.params, format!(r#"{{"name":"{tool}"{sends}}}"#), "to the byte");
                let present =
                    self.world.servers.registry.find(server, tool).map(|found| found.definition.hash);
                assert!(!known.asked || known.through == present, "{call:?} was allowed as another tool");
            }
            (known.sent, known.made) = (sent.is_some(), known.made || sent.is_some());
        }
        let questions: BTreeSet<_> = self
            .known
            .values()
            .filter_map(|known| match known.stand {
                Stand::Asked(question) => Some(question),
                Stand::Through | Stand::Over => None,
            })
            .collect();
        assert!(questions.len() <= 3 && self.world.calls.questions.keys().eq(questions.iter()));
        assert!(questions.is_empty() || self.approver, "there is nobody to ask");
    }
}

proptest! {
    #[test]
    fn every_call_ends_once_and_only_what_was_let_through_is_made(ops in ops(), replay in any::<bool>()) {
        // H-049, H-234, H-236
        let world = World::new(|config| {
            config.servers.get_mut("s").unwrap().mode = ServerMode::Allow;
            config.policy.rules = CallRules::of([(RuleKey::read("s/u").unwrap(), RuleDecision::Deny)]);
            config.approvals = ApprovalLimits { max_open: 3, max_open_per_owner: 2, ..ApprovalLimits::default() };
            config.replay = if replay { Replay::UnsentOnly } else { Replay::Never };
        });
        let known = BTreeMap::new();
        let mut model = Model { world, plan: false, approver: true, skip: false, known, answered: None };
        for op in &ops {
            model.run(op);
            model.check(op, replay);
        }
        model.world.calls.close(at(model.world.now));
        model.world.drain();
        prop_assert!(model.known.keys().eq(model.world.ends.keys()));
        prop_assert_eq!(model.world.calls.retained_bytes(), 0);
        prop_assert_eq!(model.world.calls.poll_timeout(), None);
        prop_assert!(model.world.sent.is_empty() && model.world.calls.questions.is_empty());
    }
}
