//! What is known of the server before it is checked.

use std::time::Duration;

use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::{Era, Revision};

use crate::finding::{Finding, shown};
use crate::plan::Plan;
use crate::report::{Found, Unspoken};
use crate::talk::{Answer, Talk};
use crate::transcript::Transcript;

/// What the server said of itself when it was opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The result of `initialize` or `server/discover`.
    pub(crate) opened: Option<RawJson>,
    /// How long that took from its start, with no other process of it beside.
    pub(crate) first_answer: Option<Duration>,
}

impl Facts {
    fn of(answer: &Answer, first_answer: Option<Duration>) -> Self {
        let result = answer.result().and_then(|result| RawJson::from_slice(result.as_bytes(), 512).ok());
        Self { opened: result, first_answer }
    }

    /// Whether it declares this capability.
    pub(crate) fn declares(&self, capability: &str) -> bool {
        self.capabilities().and_then(|all| all.get(capability)).is_some()
    }

    /// The capabilities that it declares, if it says any.
    pub(crate) fn capabilities(&self) -> Option<JsonRef<'_>> {
        self.opened.as_ref()?.view().get("capabilities")
    }

    /// The methods that list what it declares.
    pub(crate) fn lists(&self) -> Vec<&'static str> {
        [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")]
            .into_iter()
            .filter_map(|(capability, list)| self.declares(capability).then_some(list))
            .collect()
    }

    /// Whether it declares this of a capability: `subscribe` of `resources`.
    pub(crate) fn declares_part(&self, capability: &str, part: &str) -> bool {
        let declared = self.capabilities().and_then(|all| all.get(capability)?.get(part)?.as_bool());
        declared == Some(true)
    }

    /// Its name and version, as it says them.
    pub(crate) fn name(&self) -> Option<String> {
        let view = self.opened.as_ref()?.view();
        let info = view
            .get("serverInfo")
            .or_else(|| view.get("_meta")?.get("io.modelcontextprotocol/serverInfo"))?;
        let part = |name| info.get(name).and_then(JsonRef::str).map(|text| text.decode());
        Some(format!("{} {}", part("name")?, part("version").unwrap_or_default()).trim().to_owned())
    }
}

/// What came of asking a server how it speaks.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The revisions that it speaks, with what it said in each.
    pub(crate) speaks: Vec<(Revision, Facts)>,
    /// Those that it does not.
    pub(crate) unspoken: Vec<Unspoken>,
    /// Why it could not be spoken to at all.
    pub(crate) silent: Option<Found>,
}

/// Opens the server in each revision, with a process for each.
pub(crate) fn survey(plan: &Plan) -> Survey {
    let mut survey = Survey { speaks: Vec::new(), unspoken: Vec::new(), silent: None };
    for revision in plan.revisions.iter().rev().copied() {
        let mut talk = match Talk::start(plan, revision, Facts::default()) {
            Ok(talk) => talk,
            Err(error) => {
                let finding = Finding::new("a program that can be started", error);
                survey.silent.get_or_insert(Found { finding, transcript: Transcript::new() });
                break;
            }
        };
        let why = match talk.open() {
            Ok(answer) if speaks(&answer, revision) => {
                survey.speaks.push((revision, Facts::of(&answer, talk.habits().first_answer)));
                continue;
            }
            Ok(answer) => answers_with(&answer, revision),
            Err(finding) => {
                let why = format!("it answers with {}", finding.got);
                survey.silent.get_or_insert(Found { finding, transcript: talk.into_transcript() });
                why
            }
        };
        survey.unspoken.push(Unspoken { revision, why });
    }
    survey.speaks.reverse();
    survey.unspoken.reverse();
    survey
}

/// What a server says that speaks something else.
fn answers_with(answer: &Answer, revision: Revision) -> String {
    let text = |it: JsonRef<'_>| it.str().map(|text| shown(text.decode().as_bytes()));
    let said = match (answer.code(), answer.result(), revision.era()) {
        (Some(code), ..) => Some(format!("the error {code}")),
        (_, Some(result), Era::Legacy) => result.get("protocolVersion").and_then(text),
        (_, Some(result), Era::Modern) => result
            .get("supportedVersions")
            .map(|all| all.elements().take(10).filter_map(text).collect::<Vec<_>>().join(", ")),
        (_, None, _) => None,
    };
    format!("it answers with {}", said.unwrap_or_else(|| answer.text()))
}

fn speaks(answer: &Answer, revision: Revision) -> bool {
    let Some(result) = answer.result() else { return false };
    let is = |it: JsonRef<'_>| it.str().is_some_and(|text| text.eq_str(revision.as_str()));
    match revision.era() {
        Era::Legacy => result.get("protocolVersion").is_some_and(is),
        Era::Modern => result.get("supportedVersions").is_some_and(|all| all.elements().any(is)),
    }
}
