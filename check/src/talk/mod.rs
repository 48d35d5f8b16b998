//! A conversation with the server: what a check is written in.

mod another;
mod calls;
mod habits;
mod lists;
mod meta;
mod opening;
mod others;
mod process;
mod unasked;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};
use sanswire::mcp::{Era, Revision};

use crate::facts::Facts;
use crate::finding::{Finding, shown};
use crate::plan::Plan;
use crate::process::{Heard, Process};
use crate::transcript::{From, Transcript};

pub(crate) use self::calls::{Allowed, Called, only_reads};
pub(crate) use self::habits::Habits;
pub(crate) use self::lists::{List, Lists, Page};
pub(crate) use self::meta::Meta;
pub(crate) use self::others::Manner;

/// How long what is owed may come behind an answer to something later: servers may answer in any order.
const GRACE: Duration = Duration::from_millis(150);
/// Nobody's schemas are deeper.
const DEPTH: u16 = 512;

/// A conversation with one process of the server, in one revision.
#[derive(Debug)]
pub struct Talk {
    process: Process,
    transcript: Transcript,
    revision: Revision,
    facts: Facts,
    ids: u64,
    /// Answers that came and that nobody has asked for yet.
    answers: VecDeque<RawJson>,
    /// What came and is neither an answer nor a request.
    notices: VecDeque<RawJson>,
    /// What it asked of us.
    asked: Vec<RawJson>,
    /// How its requests are answered.
    manner: Manner,
    /// Lines that are no message at all.
    junk: Vec<Vec<u8>>,
    /// How the server is started, for whoever needs another.
    plan: Plan,
    habits: Habits,
    /// Whether anything was answered.
    answered: bool,
    over: bool,
    /// Why the check had nothing to try.
    not_tried: Option<String>,
    /// What was listed in this connection.
    lists: Vec<Arc<List>>,
    /// What was called in it.
    calls: Option<Arc<Vec<Called>>>,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer(RawJson);

impl Answer {
    /// The message as it came.
    pub(crate) fn message(&self) -> JsonRef<'_> {
        self.0.view()
    }

    pub(crate) fn result(&self) -> Option<JsonRef<'_>> {
        self.message().get("result")
    }

    pub(crate) fn code(&self) -> Option<i64> {
        self.message().get("error")?.get("code")?.as_i64()
    }

    pub(crate) fn text(&self) -> String {
        shown(self.0.as_bytes())
    }

    /// As it came.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The result, decoded; none where there is no result, or it is deeper than 128 levels.
    pub(crate) fn value(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(self.result()?.as_bytes()).ok()
    }
}

impl Talk {
    pub(crate) fn start(plan: &Plan, revision: Revision, facts: Facts) -> std::io::Result<Self> {
        let process = Process::start(&plan.command)?;
        Ok(Self {
            process,
            transcript: Transcript::new(),
            revision,
            facts,
            ids: 0,
            answers: VecDeque::new(),
            notices: VecDeque::new(),
            asked: Vec::new(),
            manner: Manner::default(),
            junk: Vec::new(),
            plan: plan.clone(),
            habits: Habits::new(),
            answered: false,
            over: false,
            not_tried: None,
            lists: Vec::new(),
            calls: None,
        })
    }

    pub(crate) const fn is_modern(&self) -> bool {
        matches!(self.revision.era(), Era::Modern)
    }

    /// The revision that is spoken.
    pub(crate) const fn revision(&self) -> Revision {
        self.revision
    }

    /// What is known of the server.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// There is nothing here that the check could try, and why: it is told as not tried, unless it finds something. The last
    /// word of a check: `return talk.not_tried("no prompt is listed")`.
    #[allow(clippy::unnecessary_wraps, reason = "what a check ends with")]
    pub(crate) fn not_tried(&mut self, why: impl Into<String>) -> Result<(), Finding> {
        self.not_tried = Some(why.into());
        Ok(())
    }

    /// Why the check that ran last had nothing to try.
    pub(crate) const fn take_not_tried(&mut self) -> Option<String> {
        self.not_tried.take()
    }

    pub(crate) fn into_transcript(mut self) -> Transcript {
        self.listen_to_stderr();
        self.transcript
    }

    /// What was said so far; what came and nobody asked for is forgotten, so that it is not blamed on another check.
    pub(crate) fn turn_over(&mut self) -> Transcript {
        self.listen_to_stderr();
        self.habits.has_started();
        self.answers.clear();
        self.notices.clear();
        self.asked.clear();
        self.junk.clear();
        std::mem::replace(&mut self.transcript, Transcript::new())
    }

    /// An id that was not used yet.
    pub(crate) const fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// The line of a request, without its line feed, as the revision wants it. `members`: of its parameters, without the
    /// braces.
    pub(crate) fn line(&self, id: &str, method: &str, members: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{}}}"#, self.params(members))
    }

    /// `,"params":{...}`, or nothing where there is nothing to say.
    pub(crate) fn params(&self, members: &str) -> String {
        if !self.is_modern() {
            return if members.is_empty() { String::new() } else { format!(r#","params":{{{members}}}"#) };
        }
        format!(r#","params":{}"#, Meta::of(self.revision).params(members))
    }

    /// Puts something into the proof that was not said just now.
    pub(crate) fn note(&mut self, from: From, text: &str) {
        self.transcript.push(from, text.as_bytes());
    }

    /// Says bytes, as they are.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.transcript.push(From::Check, bytes);
        if !self.process.say(bytes) {
            self.transcript.push(From::Event, b"the server takes nothing more");
        }
    }

    /// Says a line.
    pub(crate) fn say_line(&mut self, line: &str) {
        self.say(format!("{line}\n").as_bytes());
    }

    /// Asks, and gives the id.
    pub(crate) fn ask(&mut self, method: &str, members: &str) -> String {
        let id = self.id().to_string();
        let line = self.line(&id, method, members);
        self.say_line(&line);
        id
    }

    /// Asks and waits for the answer.
    pub(crate) fn request(&mut self, method: &str, members: &str) -> Result<Answer, Finding> {
        let id = self.ask(method, members);
        self.answer_to(&id)
    }

    /// Something that every server answers in this revision without doing anything: the method, for whatever has to be a
    /// request.
    pub(crate) const fn harmless(&self) -> &'static str {
        if self.is_modern() { "server/discover" } else { "ping" }
    }

    /// Whether it still answers.
    pub(crate) fn is_alive(&mut self) -> bool {
        !self.over && self.request(self.harmless(), "").is_ok()
    }

    /// Opens the connection as the revision wants it.
    pub(crate) fn open(&mut self) -> Result<Answer, Finding> {
        if self.is_modern() {
            return self.request("server/discover", "");
        }
        let answer = self.initialize("{}")?;
        if answer.result().is_some() {
            self.initialized();
        }
        Ok(answer)
    }

    /// The answer to the request with this id, as it stands in JSON.
    pub(crate) fn answer_to(&mut self, id: &str) -> Result<Answer, Finding> {
        let patience = if self.answered { self.plan.answer } else { self.plan.start };
        let until = Instant::now() + patience;
        loop {
            if let Some(answer) = self.take(id) {
                self.answered = true;
                self.habits.answered();
                return Ok(answer);
            }
            if !self.hear(until) {
                let expected = format!("an answer with the id {id}");
                if self.over {
                    return Err(Finding::new(expected, "the end of its output"));
                }
                let came = self.answers.back().map(|it| format!(", but {}", shown(it.as_bytes())));
                let none = format!("none within {} s{}", patience.as_secs_f32(), came.unwrap_or_default());
                return Err(Finding::new(expected, none));
            }
        }
    }

    /// The answer with this id, if one comes before something that is asked now is answered, or soon after.
    pub(crate) fn answer_before_next(&mut self, id: &str) -> Result<Option<Answer>, Finding> {
        self.request(self.harmless(), "")?;
        let until = Instant::now() + GRACE;
        loop {
            if let Some(answer) = self.take(id) {
                return Ok(Some(answer));
            }
            if !self.hear(until) {
                return Ok(None);
            }
        }
    }

    fn take(&mut self, id: &str) -> Option<Answer> {
        let at = self.answers.iter().position(|answer| {
            answer.view().get("id").is_some_and(|found| found.as_bytes() == id.as_bytes())
        })?;
        self.answers.remove(at).map(Answer)
    }

    /// All answers that came and belong to nothing that was waited for.
    pub(crate) fn strays(&mut self) -> Vec<RawJson> {
        self.answers.drain(..).collect()
    }

    /// All lines that are no message, since the last time.
    pub(crate) fn junk(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.junk)
    }

    /// Takes what comes next; whether something came.
    fn hear(&mut self, until: Instant) -> bool {
        self.listen_to_stderr();
        let (bytes, ended) = match self.process.hear(until) {
            None => return false,
            Some(Heard::Line { bytes, ended }) => (bytes, ended),
            Some(Heard::TooLong) => {
                self.transcript.push(From::Event, b"a line that is longer than any may be");
                self.over = true;
                return false;
            }
            Some(Heard::End) => {
                if !self.over {
                    self.transcript.push(From::Event, b"the end of standard output");
                }
                self.over = true;
                return false;
            }
        };
        self.transcript.push(From::Server, &bytes);
        let message = RawJson::from_slice(self.habits.said(&bytes), DEPTH).ok();
        match message.filter(|message| ended && message.view().kind() == Kind::Object) {
            None => self.junk.push(bytes),
            Some(message) => {
                let view = message.view();
                match (view.get("method"), view.get("id")) {
                    (Some(_), Some(id)) => {
                        if let Some(answer) = self.answer_of_ours(view, id) {
                            self.say_line(&answer);
                        }
                        self.asked.push(message);
                    }
                    (Some(_), None) => self.notices.push_back(message),
                    (None, _) => self.answers.push_back(message),
                }
            }
        }
        true
    }

    fn listen_to_stderr(&mut self) {
        let said = self.process.complaints();
        self.habits.complained(&said);
        for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.transcript.push(From::Stderr, line);
        }
    }

    /// Ends the server's input; how it exited, if it did by then.
    pub(crate) fn leave(&mut self, within: Duration) -> Option<std::process::ExitStatus> {
        self.transcript.push(From::Event, b"the end of standard input");
        self.process.end_input();
        let until = Instant::now() + within;
        while self.hear(until) {}
        self.process.exit(until)
    }
}
