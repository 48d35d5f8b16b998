//! Rounds of input: what is read, what is sent back.

use alloc::vec::Vec;

use crate::client::input::{InputAnswers, InputRequired};
use crate::error::ApiError;
use crate::exchange::Partition;
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::Method;
use crate::mcp::types::input::{InputAnswer, InputKind};

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

fn read(result: &str) -> Result<InputRequired, &'static str> {
    let params = json(r#"{"_meta":{"progressToken":4},"name":"t","arguments":{"a":1}}"#);
    InputRequired::read(&json(result), Method::ToolsCall, params, 1, Partition::default())
}

const ASKS: &str = r#"{"resultType":"input_required","requestState":"a\u00e9\/b",
    "inputRequests":{"k":{"method":"elicitation/create","params":{"message":"who?"}}}}"#;

#[test]
fn the_next_round_has_the_first_parameters_the_answers_and_the_state_to_the_byte() {
    // P-321, P-322, P-477: original parameters, the same keys, the state's very escapes.
    let call = read(ASKS).unwrap();
    assert_eq!(
        call.requests().iter().map(|asked| asked.request.kind).collect::<Vec<_>>(),
        [InputKind::ElicitForm]
    );
    let answers = InputAnswers::collect(&call, |_| InputAnswer::accept(Some(&json(r#"{"name":"x"}"#))));
    let params = call.next_params(&answers).unwrap();
    assert_eq!(
        params.as_str(),
        r#"{"name":"t","arguments":{"a":1},"inputResponses":{"k":{"action":"accept","content":{"name":"x"}}},"requestState":"a\u00e9\/b"}"#
    );
}

#[test]
fn no_state_is_sent_where_none_came() {
    // P-324
    let call =
        read(r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}"#).unwrap();
    let mut answers = InputAnswers::new();
    answers.set("k", InputAnswer::Result(json(r#"{"roots":[]}"#)));
    let params = call.next_params(&answers).unwrap();
    assert!(!params.as_str().contains("requestState"), "{}", params.as_str());
    let bare = read(r#"{"resultType":"input_required","requestState":"s"}"#).unwrap();
    let params = bare.next_params(&InputAnswers::new()).unwrap();
    assert!(!params.as_str().contains("inputResponses"), "{}", params.as_str());
}

#[test]
fn answers_fit_the_questions_or_nothing_is_sent() {
    let call = read(ASKS).unwrap();
    let bad = |answers: &InputAnswers| matches!(call.next_params(answers), Err(ApiError::BadParams(_)));
    assert!(bad(&InputAnswers::new()), "unanswered");
    let mut unknown = InputAnswers::collect(&call, |_| InputAnswer::Decline);
    assert!(!bad(&unknown));
    unknown.set("other", InputAnswer::Decline);
    assert!(bad(&unknown), "not asked");
    let mut error = InputAnswers::new();
    error.set("k", InputAnswer::Error(ErrorObject::new(-1, "no")));
    assert!(bad(&error), "a round has no place for an error");
    let mut array = InputAnswers::new();
    array.set("k", InputAnswer::Result(json("[]")));
    assert!(bad(&array), "an answer is an object");
    let sampling = read(
        r#"{"inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}"#,
    )
    .unwrap();
    let declined = InputAnswers::collect(&sampling, |_| InputAnswer::Decline);
    assert!(sampling.next_params(&declined).is_err(), "sampling cannot be declined");
}

#[test]
fn a_malformed_question_is_named() {
    // P-309, P-310, P-311
    for (text, why) in [
        (r#"{"resultType":"input_required"}"#, "neither inputRequests nor requestState is there"),
        (r#"{"requestState":5}"#, "requestState is no string"),
        (r#"{"inputRequests":[]}"#, "inputRequests is no object"),
        (r#"{"inputRequests":{"k":{}}}"#, "an input request has no method"),
        (r#"{"inputRequests":{"k":{"method":"tools/call"}}}"#, "an input request is of an unknown kind"),
        (
            r#"{"inputRequests":{"k":{"method":"roots/list","params":3}}}"#,
            "an input request's params is no object",
        ),
        (
            r#"{"inputRequests":{"k":{"method":"roots/list"},"\u006b":{"method":"roots/list"}}}"#,
            "an input request's key stands twice",
        ),
    ] {
        assert_eq!(read(text).map(|_| ()), Err(why), "{text}");
    }
}

#[test]
fn a_missing_mode_means_a_form() {
    // P-365
    for (params, kind) in [
        (r#"{"message":"m"}"#, Some(InputKind::ElicitForm)),
        (r#"{"mode":null}"#, Some(InputKind::ElicitForm)),
        (r#"{"mode":"form"}"#, Some(InputKind::ElicitForm)),
        (r#"{"mode":"url","url":"https://x"}"#, Some(InputKind::ElicitUrl)),
        (r#"{"mode":"voice"}"#, None),
    ] {
        let request =
            crate::mcp::types::input::InputRequest::new(&Method::ElicitationCreate, Some(json(params)));
        assert_eq!(request.map(|request| request.kind), kind, "{params}");
    }
}
