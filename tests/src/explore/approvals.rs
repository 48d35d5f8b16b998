//! Calls that somebody is asked about: yes, always, no, late, twice, given up, and tools that change meanwhile.

use std::fmt;
use std::time::Duration;

use sanswire::client::Outcome;
use sanswire::error::CloseReason;
use sanswire::host::policy::{Answer, ApprovalHandle};
use sanswire::host::{CallHandle, ClientHandle, HostConfig, RefreshMode, RequestKey, ServerConfig};
use sanswire::jsonrpc::RawJson;

use super::host::{Named, SERVER, Side, Stage, Told};
use super::{Rule, Rules, World};

const NAMED: Named = Named {
    once: Rule::ApprovalCallOnce,
    spin: Rule::ApprovalNoSpin,
    close: Rule::ApprovalCloseEnds,
    mute: Rule::ApprovalMuteEnds,
};

const ARGUMENTS: [&str; 2] = [r#"{"x":1}"#, r#"{"x":2}"#];

/// How it begins.
#[derive(Clone, Copy, Debug)]
pub enum Begin {
    /// Nobody has called.
    Fresh,
    /// A call was let through while its server was lost, and waits for it. Another definition of its tool was listed before,
    /// and is offered from the next turn on.
    Released,
}

/// Something that may happen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Somebody calls, with these arguments.
    Call(usize),
    /// A question is answered, open or not.
    Answer(ApprovalHandle, Answer),
    /// A call is given up.
    Cancel(CallHandle),
    /// The tool is defined otherwise from now on.
    Change,
    /// A turn begins.
    Turn,
    /// A call is answered.
    Answered(RequestKey),
    /// The connection is lost.
    Lost(ClientHandle),
    /// A connection is ready.
    Ready(ClientHandle),
    /// Nobody is there to be asked any more, or again.
    Approver(bool),
    /// The next deadline comes.
    Deadline,
}

/// The host, and what was noted.
pub struct Asked {
    side: Side,
    approver: bool,
    /// The definitions for which it was said that the tool may always be called.
    always: Vec<u32>,
}

impl Asked {
    fn check(&mut self, rules: &mut Rules) {
        self.side.list_all(rules);
        for told in std::mem::take(&mut self.side.told) {
            if let Told::Sent(handle) = told {
                self.sent(handle, rules);
            }
        }
        let asking =
            self.side.questions.values().any(|question| question.answer.is_none() && !question.ended);
        rules.hold(Rule::ApprovalNobody, self.approver || !asking, || format!("{:?}", self.side.questions));
        for (handle, question) in &self.side.questions {
            let about = self.side.host.asked_about(*handle);
            let open = question.answer.is_none() && !question.ended;
            rules.hold(Rule::ApprovalQuestionEnds, open != about.is_empty(), || {
                format!("{question:?} is about {about:?}")
            });
        }
    }

    /// A call is sent: something has to have let it pass.
    fn sent(&mut self, handle: CallHandle, rules: &mut Rules) {
        let side = &mut self.side;
        let call = &side.calls[&handle];
        rules.hold(Rule::ApprovalRunsOnce, call.sent.len() == 1 && !call.cancelled, || format!("{call:?}"));
        let version = side.offered;
        let granted = self.always.contains(&version);
        let mut own = side.questions.values_mut().find(|question| {
            question.first == Some(handle)
                && matches!(question.answer, Some(Answer::AllowOnce | Answer::AlwaysAllow))
                && question.version == version
        });
        if let Some(question) = &mut own {
            question.passed += 1;
            let same = question.arguments == call.arguments && call.params.contains(call.arguments);
            rules.hold(Rule::ApprovalSameCall, same, || format!("{call:?} by {question:?}"));
            rules.hold(Rule::ApprovalPassesOne, question.passed == 1, || format!("{question:?}"));
        }
        let let_pass = own.is_some() || granted;
        rules.hold(Rule::ApprovalOwn, let_pass, || {
            format!("{call:?}, {handle:?}, definition {version}, {:?}", side.questions)
        });
    }

    fn answer(&mut self, handle: ApprovalHandle, answer: Answer, rules: &mut Rules) {
        let side = &mut self.side;
        let first = side.host.asked_about(handle).first().copied();
        let question = &side.questions[&handle];
        let open = question.answer.is_none() && !question.ended;
        let (version, now) = (question.version, side.now);
        // Noted before: what it lets pass is told of within.
        if open && let Some(question) = side.questions.get_mut(&handle) {
            (question.answer, question.first) = (Some(answer), first);
        }
        let same = version == side.offered;
        if open && same && answer == Answer::AlwaysAllow {
            self.always.push(version);
        }
        let counted = side.host.answer(handle, answer, now);
        rules.hold(Rule::ApprovalFirstAnswer, counted == open, || {
            format!("{answer:?} to {handle:?}: {counted}, {:?}", side.questions)
        });
    }
}

impl World for Asked {
    type Setup = Begin;
    type Step = Step;
    type End = bool;

    fn setups() -> Vec<Begin> {
        vec![Begin::Fresh, Begin::Released]
    }

    fn new(begin: &Begin, rules: &mut Rules) -> Self {
        let mut config = HostConfig::default();
        config.servers.insert(SERVER.into(), ServerConfig::default());
        config.refresh.mode = match begin {
            Begin::Fresh => RefreshMode::Live,
            Begin::Released => RefreshMode::Staged,
        };
        let mut side = Side::new(config, NAMED, rules);
        side.host.set_approver(true, side.now);
        let first = *side.clients.keys().next().expect("it is opened");
        side.ready(first);
        side.list_all(rules);
        side.told.clear();
        // A listing that has just been read is not read again at once.
        side.now = side.now.saturating_add(Duration::from_secs(2));
        side.host.handle_timeout(side.now);
        let mut this = Self { side, approver: true, always: vec![] };
        if matches!(begin, Begin::Released) {
            this.take(&Step::Change, rules);
            assert_eq!((this.side.version, this.side.offered), (2, 1), "it is staged");
            this.take(&Step::Call(0), rules);
            let question = *this.side.questions.keys().next().expect("it is asked about");
            this.take(&Step::Lost(first), rules);
            this.take(&Step::Answer(question, Answer::AllowOnce), rules);
            assert!(
                this.side.calls.values().all(|call| call.end.is_none() && call.sent.is_empty()),
                "it waits"
            );
        }
        this
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.side.calls.len() < 3 {
            steps.extend([Step::Call(0), Step::Call(1)]);
        }
        for (handle, question) in &self.side.questions {
            if question.answer.is_none() && !question.ended {
                let answers = [Answer::AllowOnce, Answer::AlwaysAllow, Answer::Deny, Answer::Failed];
                steps.extend(answers.map(|answer| Step::Answer(*handle, answer)));
            } else {
                // Late, or once more.
                steps.push(Step::Answer(*handle, Answer::AlwaysAllow));
            }
        }
        steps.extend(self.side.open_calls().into_iter().map(Step::Cancel));
        if self.side.version < 3 {
            steps.push(Step::Change);
        }
        if self.side.version > self.side.offered {
            steps.push(Step::Turn);
        }
        for (client, stage) in &self.side.clients {
            match stage {
                Stage::Ready => steps.push(Step::Lost(*client)),
                Stage::Opening => steps.push(Step::Ready(*client)),
                Stage::Ended | Stage::Shut => {}
            }
        }
        let calls = self.side.requests.keys().filter(|key| matches!(key, RequestKey::Call(_)));
        steps.extend(calls.map(|key| Step::Answered(*key)));
        steps.push(Step::Approver(!self.approver));
        if self.side.host.poll_timeout().is_some() {
            steps.push(Step::Deadline);
        }
        steps
    }

    fn take(&mut self, step: &Step, rules: &mut Rules) {
        match step {
            Step::Call(which) => self.side.call(ARGUMENTS[*which]),
            Step::Answer(handle, answer) => self.answer(*handle, *answer, rules),
            Step::Cancel(call) => self.side.cancel(*call),
            Step::Change => self.side.change(),
            Step::Turn => self.side.turn(),
            Step::Answered(key) => {
                let result = RawJson::parse_str(r#"{"content":[]}"#).expect("JSON");
                self.side.outcome(*key, Ok(Outcome::Complete(result)));
            }
            Step::Lost(client) => self.side.end(*client, CloseReason::Eof, true),
            Step::Ready(client) => self.side.ready(*client),
            Step::Approver(there) => {
                self.approver = *there;
                self.side.host.set_approver(*there, self.side.now);
            }
            Step::Deadline => drop(self.side.deadline()),
        }
        self.check(rules);
    }

    fn tell(&self, into: &mut dyn fmt::Write) -> fmt::Result {
        write!(into, "{} {:?} ", self.approver, self.always)?;
        self.side.tell(into)
    }

    fn ends(&self) -> Vec<bool> {
        vec![true, false]
    }

    fn end(mut self, closes: bool, rules: &mut Rules) {
        if closes {
            return self.side.close(rules);
        }
        // A question is good for ten minutes; a call that was let through before has half a minute.
        self.side.mute(Duration::from_secs(631), rules);
    }
}
