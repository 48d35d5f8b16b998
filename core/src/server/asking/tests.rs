//! The rounds of a call in 2026-07-28, the questions of an older one, and what a client may try.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::mcp::types::log::LogLevel;
use crate::server::event::{InputRound, Principal, Who};

const NOW: u64 = 1_000;
const UNTIL: u64 = 1_600;
const PARAMS: &str = r#"{"name":"t","arguments":{"a":1}}"#;

fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn seal() -> Seal {
    Seal::new([7; 32])
}

fn context(revision: Revision, state: Option<&str>, responses: Option<&str>) -> Context {
    let mut capabilities = ClientCapabilities::default();
    (capabilities.elicitation_form, capabilities.sampling, capabilities.roots) = (true, true, true);
    let round = InputRound { responses: responses.map(raw), state: state.map(String::from) };
    Context {
        revision,
        principal: Principal::anonymous(),
        capabilities,
        log_level: Some(LogLevel::Info),
        wants_progress: false,
        round: (round.state.is_some() || round.responses.is_some()).then(|| Box::new(round)),
        client: Who::Unsaid,
    }
}

fn begin(context: &Context) -> Result<Asking, StateFault> {
    Asking::new(context, &Method::ToolsCall, &raw(PARAMS), &seal(), 4, NOW)
}

/// A run of a modern call that was given these answers.
fn run(state: Option<&str>, responses: &str) -> Asking {
    begin(&context(Revision::V2026_07_28, state, Some(responses))).expect("the state is good")
}

fn form() -> InputRequest {
    let params = raw(r#"{"message":"who?","requestedSchema":{"type":"object",
        "properties":{"name":{"type":"string","maxLength":5}},"required":["name"]}}"#);
    InputRequest { kind: InputKind::ElicitForm, params: Some(params) }
}

fn accepted(name: &str) -> String {
    alloc::format!(r#"{{"action":"accept","content":{{"name":"{name}"}}}}"#)
}

/// The keys that a run ends with, and its state.
fn suspended(asking: &Asking) -> (Vec<String>, String) {
    match asking.suspend(&seal(), UNTIL) {
        Some(Reply::InputRequired { requests, state: Some(state) }) => {
            (requests.into_iter().map(|asked| asked.key).collect(), state)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn earlier_answers_travel_with_the_client_and_later_ones_join_them() {
    // P-320: what is missing is asked for again
    let mut first = run(None, r#"{"a":{"action":"accept","content":{"name":"ann"}}}"#);
    assert_eq!(first.ask("a", &form()), Ok(Asked::Put), "nothing was asked yet, so nothing is answered");
    assert_eq!(first.ask("b", &form()), Ok(Asked::Put));
    assert_eq!(first.ask("b", &form()), Ok(Asked::Put), "once is enough");
    let (keys, state) = suspended(&first);
    assert_eq!(keys, ["a", "b"]);

    let mut second = run(Some(&state), &alloc::format!(r#"{{"b":{}}}"#, accepted("bob")));
    assert_eq!(second.ask("a", &form()), Ok(Asked::Put));
    assert_eq!(second.ask("b", &form()), Ok(Asked::Answered(raw(&accepted("bob")))));
    let (keys, state) = suspended(&second);
    assert_eq!(keys, ["a"]);

    let mut third = run(Some(&state), &alloc::format!(r#"{{"a":{}}}"#, accepted("ann")));
    for (key, name) in [("a", "ann"), ("b", "bob"), ("a", "ann")] {
        assert_eq!(third.ask(key, &form()), Ok(Asked::Answered(raw(&accepted(name)))));
    }
    assert_eq!(third.suspend(&seal(), UNTIL), None);
}

#[test]
fn an_answer_to_what_was_not_asked_is_ignored() {
    // P-319
    let mut first = run(None, "{}");
    assert_eq!(first.ask("a", &form()), Ok(Asked::Put));
    let (_, state) = suspended(&first);
    let both = alloc::format!(r#"{{"a":{},"admin":{}}}"#, accepted("ann"), accepted("root"));
    let mut second = run(Some(&state), &both);
    assert_eq!(second.ask("admin", &form()), Ok(Asked::Put));
    let (_, state) = suspended(&second);
    // What is known cannot be changed by answering once more.
    let mut third = run(Some(&state), &alloc::format!(r#"{{"a":{}}}"#, accepted("eve")));
    assert_eq!(third.ask("a", &form()), Ok(Asked::Answered(raw(&accepted("ann")))));
}

#[test]
fn a_state_that_is_not_this_calls_is_refused() {
    // P-314, P-315, P-316
    let mut first = run(None, "{}");
    assert_eq!(first.ask("a", &form()), Ok(Asked::Put));
    let (_, state) = suspended(&first);
    let good = context(Revision::V2026_07_28, Some(&state), None);
    let open = |context: &Context, method: &Method, params: &str, seal: &Seal, now| {
        Asking::new(context, method, &raw(params), seal, 4, now).map(|_| ())
    };
    let tool = &Method::ToolsCall;
    assert_eq!(open(&good, tool, PARAMS, &seal(), UNTIL - 1), Ok(()));
    assert_eq!(open(&good, tool, PARAMS, &seal(), UNTIL), Err(StateFault::Expired));
    assert_eq!(open(&good, tool, PARAMS, &Seal::new([8; 32]), NOW), Err(StateFault::Forged));
    let other = r#"{"name":"t","arguments":{"a":2}}"#;
    assert_eq!(open(&good, tool, other, &seal(), NOW), Err(StateFault::Forged));
    assert_eq!(open(&good, &Method::PromptsGet, PARAMS, &seal(), NOW), Err(StateFault::Forged));
    let mut somebody = good.clone();
    somebody.principal = Principal::named("eve");
    assert_eq!(open(&somebody, tool, PARAMS, &seal(), NOW), Err(StateFault::Forged));
    let junk = context(Revision::V2026_07_28, Some("junk"), None);
    assert_eq!(open(&junk, tool, PARAMS, &seal(), NOW), Err(StateFault::Malformed));
    // Sealed with our key, but by somebody who keeps something else in it.
    let binding = Binding::new(&good.principal, tool, &raw(PARAMS));
    let strange = seal().seal(&binding, b"step 2", UNTIL);
    let strange = context(Revision::V2026_07_28, Some(&strange), None);
    assert_eq!(open(&strange, tool, PARAMS, &seal(), NOW), Err(StateFault::Malformed));
}

#[test]
fn what_the_client_did_not_declare_is_not_asked() {
    // P-312
    let url = r#"{"mode":"url","message":"m","url":"https://a/","elicitationId":"e"}"#;
    let url = InputRequest { kind: InputKind::ElicitUrl, params: Some(raw(url)) };
    for revision in [Revision::V2026_07_28, Revision::V2025_11_25] {
        let mut asking = begin(&context(revision, None, None)).unwrap();
        let Err(fault) = asking.ask("a", &url) else { panic!("{revision}") };
        let AskFault::Undeclared(missing) = &fault else { panic!("{fault}") };
        assert!(missing.elicitation_url && !missing.elicitation_form);
        let error = fault.to_error().expect("it is the client's");
        assert_eq!(error.code, codes::MISSING_CLIENT_CAPABILITY);
        assert!(error.data.is_some_and(|data| data.as_str().contains("elicitation")));
        assert_eq!(asking.suspend(&seal(), UNTIL), None);
    }
}

#[test]
fn an_answer_that_does_not_fit_is_an_error() {
    // P-318
    let sample =
        InputRequest { kind: InputKind::Sample, params: Some(raw(r#"{"messages":[],"maxTokens":5}"#)) };
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let table = [
        (form(), r#"{"action":"accept","content":{"name":"ann"}}"#, true),
        (form(), r#"{"action":"decline"}"#, true),
        (form(), r#"{"action":"cancel","content":{}}"#, true),
        (form(), r#"{"action":"accept","content":{"name":"much too long"}}"#, false),
        (form(), r#"{"action":"accept","content":{}}"#, false),
        (form(), r#"{"action":"accept"}"#, false),
        (form(), r#"{"action":"perhaps"}"#, false),
        (form(), r#"{"action":1}"#, false),
        (form(), "{}", false),
        (sample.clone(), r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}"#, true),
        (sample.clone(), r#"{"role":"assistant"}"#, false),
        (sample, r#"{"content":{}}"#, false),
        (roots.clone(), r#"{"roots":[]}"#, true),
        (roots.clone(), r#"{"roots":[{"uri":"file:///a"}]}"#, true),
        (roots.clone(), r#"{"roots":[{}]}"#, false),
        (roots, r#"{"roots":{}}"#, false),
    ];
    for (request, answer, fits) in table {
        let mut first = run(None, "{}");
        assert_eq!(first.ask("k", &request), Ok(Asked::Put));
        let (_, state) = suspended(&first);
        let modern = run(Some(&state), &alloc::format!(r#"{{"k":{answer}}}"#)).ask("k", &request);
        let mut older = begin(&context(Revision::V2025_11_25, None, None)).unwrap();
        assert_eq!(older.ask("k", &request), Ok(Asked::Put));
        let legacy = older.answer("k", raw(answer));
        if fits {
            assert_eq!(modern, Ok(Asked::Answered(raw(answer))), "{answer}");
            assert_eq!(legacy, Ok(raw(answer)), "{answer}");
        } else {
            let (Err(modern), Err(legacy)) = (modern, legacy) else { panic!("{answer}") };
            assert_eq!(modern.to_error().map(|error| error.code), Some(codes::INVALID_PARAMS), "{answer}");
            assert_eq!(modern, legacy, "{answer}");
        }
    }
}

#[test]
fn a_question_of_an_older_session_is_answered_in_the_same_run() {
    let mut asking = begin(&context(Revision::V2025_11_25, None, None)).unwrap();
    assert_eq!(asking.ask("a", &form()), Ok(Asked::Put));
    assert_eq!(asking.suspend(&seal(), UNTIL), None, "it has no such answer");
    asking.answer("a", raw(&accepted("ann"))).unwrap();
    assert_eq!(asking.ask("a", &form()), Ok(Asked::Answered(raw(&accepted("ann")))));
    assert_eq!(asking.ask("b", &form()), Ok(Asked::Put));
    asking.give_up("b");
    assert_eq!(asking.ask("b", &form()), Ok(Asked::Put));
}

#[test]
fn questions_and_state_are_bounded() {
    let mut many = run(None, "{}");
    for key in ["a", "b", "c", "d"] {
        assert_eq!(many.ask(key, &form()), Ok(Asked::Put));
    }
    assert_eq!(many.ask("e", &form()), Err(AskFault::TooMany { limit: 4 }));
    assert_eq!(suspended(&many).0.len(), 4);

    let long = InputRequest {
        kind: InputKind::ElicitForm,
        params: Some(raw(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#)),
    };
    let answer =
        alloc::format!(r#"{{"action":"accept","content":{{"text":"{}"}}}}"#, "x".repeat(MAX_STATE_BYTES));
    let mut first = run(None, "{}");
    assert_eq!(first.ask("long", &long), Ok(Asked::Put));
    let (_, state) = suspended(&first);
    let mut second = run(Some(&state), &alloc::format!(r#"{{"long":{answer}}}"#));
    assert_eq!(second.ask("long", &long), Ok(Asked::Answered(raw(&answer))), "the last answer may be long");
    let Err(AskFault::StateTooLong { len, limit }) = second.ask("more", &form()) else { panic!() };
    assert!(len > limit);
    assert_eq!(second.suspend(&seal(), UNTIL), None);
}

#[test]
fn a_method_without_rounds_asks_nothing() {
    // P-308
    let context = context(Revision::V2026_07_28, None, None);
    let params = raw(r#"{"ref":{},"argument":{}}"#);
    let mut asking = Asking::new(&context, &Method::CompletionComplete, &params, &seal(), 4, NOW).unwrap();
    assert!(matches!(asking.ask("a", &form()), Err(AskFault::Refused(_))));
    assert_eq!(asking.suspend(&seal(), UNTIL), None);
    let lacking = InputRequest { kind: InputKind::Sample, params: Some(raw("{}")) };
    assert!(matches!(run(None, "{}").ask("a", &lacking), Err(AskFault::Refused(ApiError::BadParams(_)))));
}

proptest! {
    #[test]
    fn what_a_handler_learns_is_the_first_answer_to_each_question_it_asked(
        // Which keys the client answers in each round, asked for or not, and whether the handler asks all at once.
        rounds in prop::collection::vec([any::<bool>(); 4], 0..12),
        at_once in any::<bool>(),
    ) {
        const KEYS: [&str; 4] = ["a", "b", "c", "d"];
        let mut expected: BTreeMap<&str, String> = BTreeMap::new();
        let (mut state, mut asked): (Option<String>, Vec<String>) = (None, Vec::new());
        let everything = core::iter::once([false; 4]).chain(rounds).chain([[true; 4]; 4]);
        for (round, given) in everything.enumerate() {
            let given: Vec<_> = KEYS.into_iter().zip(given).filter(|(_, given)| *given).map(|(key, _)| key).collect();
            let answer = |key: &&str| alloc::format!(r#""{key}":{}"#, accepted(&alloc::format!("{round}")));
            let responses: Vec<_> = given.iter().map(answer).collect();
            let mut handler = run(state.as_deref(), &alloc::format!("{{{}}}", responses.join(",")));
            for key in given.into_iter().filter(|given| asked.iter().any(|asked| asked == given)) {
                expected.entry(key).or_insert_with(|| accepted(&alloc::format!("{round}")));
            }
            for key in KEYS {
                let wanted = expected.get(key).map_or(Asked::Put, |answer| Asked::Answered(raw(answer)));
                prop_assert_eq!(handler.ask(key, &form()), Ok(wanted.clone()));
                if wanted == Asked::Put && !at_once {
                    break;
                }
            }
            if handler.suspend(&seal(), UNTIL).is_none() {
                break;
            }
            let (keys, sealed) = suspended(&handler);
            (asked, state) = (keys, Some(sealed));
        }
        prop_assert_eq!(expected.len(), 4, "four rounds that answer everything are enough");
    }
}
