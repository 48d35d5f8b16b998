//! Rounds of input: what a call that is allowed asks of the client before it gives a result, and how it goes on.
//!
//! Each check makes the call anew: rounds stand by themselves, and a client may never come back.

use serde_json::{Map, Value, json};

use super::{schema, shown};
use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::{Allowed, Answer, Meta, Talk};

const SERVER: Source = Source::Spec("basic/patterns/mrtr#server-requirements-basic-workflow");
/// What a client says that can answer everything.
const EVERYTHING: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#;
/// So many rounds a call may take before clients give it up.
const MOST: usize = 10;

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "rounds-valid",
        "what a call asks of the client is valid",
        SERVER,
        Must,
        Speaks::Modern,
        ["tools"],
        valid,
        "inputRequests is an object of requests: elicitation/create, sampling/createMessage or roots/list, each with a method and its parameters and without an id. A client gives up the whole call where one does not fit."
    ),
    shared!(
        "rounds-something",
        "a call that asks has inputRequests or requestState",
        SERVER,
        Must,
        Speaks::Modern,
        ["tools"],
        something,
        "A result of the type input_required that has neither gives the client nothing to come back with."
    ),
    shared!(
        "rounds-declared",
        "a call asks only for what the client has declared",
        SERVER,
        Must,
        Speaks::Modern,
        ["tools"],
        declared,
        "Look into the capabilities of this request: a client that declares no elicitation has no way to ask its user. Do without, or refuse with -32021."
    ),
    shared!(
        "rounds-answered",
        "a call goes on with the answers that it asked for",
        SERVER,
        Should,
        Speaks::Modern,
        ["tools"],
        answered,
        "The retry is a request of its own, with another id, the same parameters, the answers by their keys and the state as it was given. That the user declines is an answer too: say so in a result."
    ),
    shared!(
        "rounds-end",
        "a call that has its answers comes to an end",
        Source::Practice,
        Advice,
        Speaks::Modern,
        ["tools"],
        ends,
        "Clients give a call up after some ten rounds. Keep in the state what was answered before, and ask only for what is missing."
    ),
    shared!(
        "rounds-missing-answers",
        "a call that comes back without an answer is not refused",
        SERVER,
        Should,
        Speaks::Modern,
        ["tools"],
        missing,
        "Whoever comes back without an answer that is needed is asked for it once more, in another result of the type input_required. Without one that is not needed the call goes on."
    ),
    shared!(
        "rounds-unknown-answers",
        "answers that nobody asked for are ignored",
        SERVER,
        Should,
        Speaks::Modern,
        ["tools"],
        unknown,
        "Take from inputResponses what was asked for, and pass over the rest."
    ),
    shared!(
        "rounds-malformed-answers",
        "an answer that is none is refused",
        SERVER,
        Should,
        Speaks::Modern,
        ["tools"],
        malformed,
        "inputResponses come from outside. Look whether each is what its request calls for, and refuse with an error of JSON-RPC what is not: -32602."
    ),
    shared!(
        "rounds-changed-state",
        "a state that was changed on the way is answered, and does no harm",
        SERVER,
        Must,
        Speaks::Modern,
        ["tools"],
        changed_state,
        "requestState comes back from outside: anybody may have written it. Protect it if anything depends on it, refuse what does not fit, and go on serving others."
    ),
];

/// A call that asks for input, and how it was made.
struct Asking {
    call: Allowed,
    answer: Answer,
    result: Value,
}

impl Asking {
    /// What it asks, by key.
    fn requests(&self) -> impl Iterator<Item = (&String, &str)> {
        let requests = self.result["inputRequests"].as_object().into_iter().flatten();
        requests.map(|(key, request)| (key, request["method"].as_str().unwrap_or_default()))
    }

    fn has_requests(&self) -> bool {
        self.requests().next().is_some()
    }

    /// An answer to each; none if there is something that no client answers.
    fn answers(&self) -> Option<Answers> {
        let answer = |method: &str| {
            Some(match method {
                "elicitation/create" => json!({"action": "decline"}),
                "sampling/createMessage" => json!({
                    "role": "assistant", "model": "sanswire-check", "stopReason": "endTurn",
                    "content": {"type": "text", "text": "This is a check; there is no model."},
                }),
                "roots/list" => json!({"roots": []}),
                _ => return None,
            })
        };
        self.requests().map(|(key, method)| Some((key.clone(), answer(method)?))).collect()
    }
}

fn meta(talk: &Talk) -> Meta {
    Meta { capabilities: Some(EVERYTHING.into()), ..talk.meta() }
}

fn is_asking(answer: &Answer) -> bool {
    answer.result().is_some_and(super::asks_for_input)
}

/// The first call that is allowed and asks for something. Where there is none it is noted why.
fn asking(talk: &mut Talk) -> Result<Option<Asking>, Finding> {
    let Some(calls) = talk.allowed()? else { return Ok(None) };
    for call in calls {
        let meta = meta(talk);
        let answer = talk.request_with("tools/call", &meta, &call.members())?;
        if is_asking(&answer) {
            let result = answer.value().unwrap_or_default();
            return Ok(Some(Asking { call, answer, result }));
        }
    }
    talk.not_tried("no allowed call asks for input")?;
    Ok(None)
}

/// Answers, by the keys of what was asked.
type Answers = Map<String, Value>;

/// One that asks for what can be answered, and the answers.
fn answerable(talk: &mut Talk) -> Result<Option<(Asking, Answers)>, Finding> {
    let Some(asking) = asking(talk)? else { return Ok(None) };
    match asking.answers().filter(|_| asking.has_requests()) {
        Some(answers) => Ok(Some((asking, answers))),
        None => {
            talk.not_tried("the call asks for nothing that a client answers")?;
            Ok(None)
        }
    }
}

/// Comes back with answers and the state, and waits for what is said to that.
fn retry(talk: &mut Talk, of: &Asking, answers: &Value, state: Option<&str>) -> Result<Answer, Finding> {
    let mut members = of.call.members();
    members += &format!(r#","inputResponses":{answers}"#);
    if let Some(state) = state {
        members += &format!(r#","requestState":{}"#, Value::from(state));
    }
    let meta = meta(talk);
    talk.request_with("tools/call", &meta, &members)
}

fn state(of: &Asking) -> Option<&str> {
    of.result["requestState"].as_str()
}

fn valid(talk: &mut Talk) -> Result<(), Finding> {
    let Some(asking) = asking(talk)? else { return Ok(()) };
    schema::input_required(talk, &asking.answer)?;
    let strange = ["id", "jsonrpc"];
    let requests = asking.result["inputRequests"].as_object().into_iter().flatten();
    for (key, request) in requests {
        if strange.iter().any(|name| request.get(name).is_some()) {
            let got = format!("{} at {}", shown(request.to_string().as_bytes()), shown(key.as_bytes()));
            return Err(Finding::new("a request without an id of its own", got));
        }
    }
    Ok(())
}

fn something(talk: &mut Talk) -> Result<(), Finding> {
    let Some(asking) = asking(talk)? else { return Ok(()) };
    if asking.result.get("inputRequests").is_some() || asking.result.get("requestState").is_some() {
        return Ok(());
    }
    Err(Finding::new("inputRequests or requestState", asking.answer.text()))
}

fn declared(talk: &mut Talk) -> Result<(), Finding> {
    if asking(talk)?.is_none() {
        return Ok(());
    }
    let Some(calls) = talk.allowed()? else { return Ok(()) };
    for call in calls {
        let answer = talk.request("tools/call", &call.members())?;
        let asks = |result: Value| result["inputRequests"].as_object().is_some_and(|all| !all.is_empty());
        if is_asking(&answer) && answer.value().is_some_and(asks) {
            let expected = "no inputRequests, as the request declares no capability";
            return Err(Finding::new(expected, answer.text()));
        }
    }
    Ok(())
}

fn answered(talk: &mut Talk) -> Result<(), Finding> {
    let Some((asking, answers)) = answerable(talk)? else { return Ok(()) };
    let answer = retry(talk, &asking, &answers.into(), state(&asking))?;
    if answer.result().is_some() {
        return Ok(());
    }
    Err(Finding::new("a result, of whatever type", answer.text()))
}

fn ends(talk: &mut Talk) -> Result<(), Finding> {
    let Some((mut asking, mut answers)) = answerable(talk)? else { return Ok(()) };
    for _ in 0..MOST {
        let answer = retry(talk, &asking, &answers.into(), state(&asking))?;
        if !is_asking(&answer) {
            return Ok(());
        }
        let result = answer.value().unwrap_or_default();
        asking = Asking { answer, result, ..asking };
        let Some(next) = asking.answers() else {
            return talk.not_tried("the call asks for something that no client answers");
        };
        answers = next;
    }
    Err(Finding::new(format!("an end within {MOST} rounds"), asking.answer.text()))
}

fn missing(talk: &mut Talk) -> Result<(), Finding> {
    let Some((asking, _)) = answerable(talk)? else { return Ok(()) };
    let answer = retry(talk, &asking, &json!({}), state(&asking))?;
    if answer.result().is_some() {
        return Ok(());
    }
    Err(Finding::new("a result, as a rule another of the type input_required", answer.text()))
}

fn unknown(talk: &mut Talk) -> Result<(), Finding> {
    let Some((first, answers)) = answerable(talk)? else { return Ok(()) };
    if retry(talk, &first, &answers.into(), state(&first))?.result().is_none() {
        return talk.not_tried("the call is refused without such an answer too");
    }
    let Some((again, mut answers)) = answerable(talk)? else { return Ok(()) };
    answers.insert("sanswire/no-such".into(), json!({"action": "cancel"}));
    let answer = retry(talk, &again, &answers.into(), state(&again))?;
    if answer.result().is_some() {
        return Ok(());
    }
    Err(Finding::new("a result, as without the answer to sanswire/no-such", answer.text()))
}

fn malformed(talk: &mut Talk) -> Result<(), Finding> {
    let Some((asking, answers)) = answerable(talk)? else { return Ok(()) };
    let broken: Answers = answers.into_iter().map(|(key, _)| (key, json!(7))).collect();
    let answer = retry(talk, &asking, &broken.into(), state(&asking))?;
    if answer.code().is_some() {
        return Ok(());
    }
    Err(Finding::new("an error", answer.text()))
}

fn changed_state(talk: &mut Talk) -> Result<(), Finding> {
    let Some((asking, answers)) = answerable(talk)? else { return Ok(()) };
    let Some(state) = state(&asking) else { return talk.not_tried("the call gives no requestState") };
    let changed = format!("{state}sanswire-check");
    retry(talk, &asking, &answers.into(), Some(&changed)).map(drop)
}
