//! What a server asks of people and models, and what it makes of their answers, in both ways of asking.

use sanswire::error::ApiError;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::elicited::Elicited;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::server::{PeerOutcome, Reply};
use sanswire_tests::served::{Reported, Rig, config, modern, modern_with, raw, request};
use serde_json::{Value, json};

fn asking(kind: InputKind, params: &Value) -> InputRequest {
    InputRequest { kind, params: Some(raw(params)) }
}

fn form() -> InputRequest {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    asking(InputKind::ElicitForm, &json!({"message": "how many?", "requestedSchema": schema}))
}

fn sample(extra: Value) -> InputRequest {
    let mut params = json!({"messages": [], "maxTokens": 5});
    for (name, value) in extra.as_object().unwrap() {
        params[name] = value.clone();
    }
    asking(InputKind::Sample, &params)
}

/// A call in a session whose client declared everything, and one that stands alone and did as well.
fn calls(capabilities: &Value) -> [(Rig, Reported); 2] {
    let mut session = Rig::new(config());
    session.initialize("2025-11-25", capabilities.clone());
    let call = session.report(request(1, "tools/call", json!({"name": "a"})));
    let mut alone = Rig::new(config());
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    let other = alone.report(modern_with(1, "tools/call", json!({"name": "a"}), meta));
    [(session, call), (alone, other)]
}

fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {}})
}

/// Asks in the way that the call's revision has.
fn ask(rig: &mut Rig, call: &Reported, ask: &InputRequest) -> Result<(), ApiError> {
    if call.context.era() == sanswire::mcp::Era::Legacy {
        return rig.request_input(call.request, ask).map(|_| ());
    }
    let requests = vec![KeyedInput { key: "k".into(), request: ask.clone() }];
    rig.respond(call.request, &Reply::InputRequired { requests, state: None })
}

fn refuses(bad: &InputRequest, why: &str) {
    for (mut rig, call) in calls(&everything()) {
        let answer = ask(&mut rig, &call, bad);
        assert!(matches!(answer, Err(ApiError::BadParams(_))), "{why}: {answer:?}");
        assert_eq!(rig.take(), [] as [Value; 0]);
    }
}

fn accepts(good: &InputRequest) {
    for (mut rig, call) in calls(&everything()) {
        ask(&mut rig, &call, good).unwrap();
        let said = rig.one().to_string();
        assert!(!said.contains("error"), "{said}");
    }
}

#[test]
fn forms_are_for_what_may_be_seen_and_urls_lead_to_safe_places() {
    // P-367 P-381 P-483
    accepts(&form());
    let field = |field: Value| {
        let schema = json!({"type": "object", "properties": {"f": field}});
        asking(InputKind::ElicitForm, &json!({"message": "m", "requestedSchema": schema}))
    };
    refuses(&field(json!({"type": "string", "format": "password"})), "a password");
    refuses(&field(json!({"type": "string", "writeOnly": true})), "a secret");
    refuses(&field(json!({"type": "object"})), "no field");
    let url = |url: &str| {
        let params = json!({"mode": "url", "message": "m", "url": url, "elicitationId": "e"});
        asking(InputKind::ElicitUrl, &params)
    };
    accepts(&url("https://a.example/connect?id=5"));
    accepts(&url("http://localhost:3000/"));
    for bad in ["http://a.example/", "https://ann:token@a.example/", "javascript:x", "file:///a", "a.example"]
    {
        refuses(&url(bad), bad);
    }
}

#[test]
fn messages_for_a_model_belong_together() {
    // P-387 P-388 P-390
    let text = json!({"type": "text", "text": "t"});
    let uses =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "u", "name": "n", "input": {}}]});
    let result = json!({"type": "tool_result", "toolUseId": "u", "content": []});
    let answered = json!({"role": "user", "content": [result]});
    let messages = |messages: Value| sample(json!({"messages": messages}));
    accepts(&messages(json!([{"role": "user", "content": text}, uses, answered])));
    refuses(&messages(json!([uses, {"role": "user", "content": [result, text]}])), "P-387: mixed");
    refuses(&messages(json!([uses, {"role": "user", "content": text}])), "P-388: no result");
    refuses(&messages(json!([answered])), "P-388: nobody asked");
    refuses(&messages(json!([{"content": text}])), "P-390: no role");
    refuses(&messages(json!([{"role": "user"}])), "P-390: no content");
    refuses(&messages(json!({})), "no messages");
}

#[test]
fn what_servers_know_goes_to_a_model_only_where_that_was_declared() {
    // P-386
    for context in ["thisServer", "allServers"] {
        accepts(&sample(json!({"includeContext": context})));
        let ask_for = sample(json!({"includeContext": context}));
        let [(mut session, call), (mut alone, other)] = calls(&json!({"sampling": {}}));
        let error = ask(&mut session, &call, &ask_for).unwrap_err();
        assert_eq!(error, ApiError::MissingCapability { kind: InputKind::Sample });
        ask(&mut alone, &other, &ask_for).unwrap();
        let error = alone.one()["error"].clone();
        assert_eq!(error["data"], json!({"requiredCapabilities": {"sampling": {"context": {}}}}));
    }
    let [(mut session, call), (mut alone, other)] = calls(&json!({"sampling": {}}));
    let none = sample(json!({"includeContext": "none"}));
    ask(&mut session, &call, &none).unwrap();
    ask(&mut alone, &other, &none).unwrap();
    assert!(alone.one().get("result").is_some());
}

/// What a tool does that needs a number: one step with the client's answer.
fn step(outcome: &RawJson) -> Result<Reply, ()> {
    match form().elicited(outcome) {
        Ok(Elicited::Accepted(content)) => Ok(Reply::text(content.as_str())),
        Ok(Elicited::Declined) => Ok(Reply::tool_error("declined")),
        Ok(Elicited::Cancelled) => Ok(Reply::tool_error("cancelled")),
        Err(_) => Err(()),
    }
}

#[test]
fn every_answer_of_a_person_ends_in_a_result_and_a_wrong_one_in_another_question() {
    // P-320 P-378 P-379
    let answers = [
        (json!({"action": "accept", "content": {"n": 3}}), Some(r#"{"n":3}"#)),
        (json!({"action": "decline"}), Some("declined")),
        (json!({"action": "cancel"}), Some("cancelled")),
        (json!({"action": "accept", "content": {"n": "three"}}), None),
        (json!({"action": "accept"}), None),
        (json!({"action": "perhaps"}), None),
        (json!({}), None),
    ];
    for (answer, expected) in answers {
        let [(mut session, call), _] = calls(&everything());
        ask(&mut session, &call, &form()).unwrap();
        assert_eq!(session.one()["id"], 1);
        session.send(&json!({"jsonrpc": "2.0", "id": 1, "result": answer}));
        let PeerOutcome::Result(result) = session.outcomes().remove(0) else { panic!("{answer}") };
        match (step(&result), expected) {
            (Ok(reply), Some(text)) => {
                session.respond(call.request, &reply).unwrap();
                assert_eq!(session.one()["result"]["content"][0]["text"], text);
            }
            (Err(()), None) => {
                ask(&mut session, &call, &form()).unwrap();
                assert_eq!(session.one()["method"], "elicitation/create", "{answer}: asked again");
            }
            (step, _) => panic!("{answer}: {step:?}"),
        }

        let [_, (mut alone, call)] = calls(&everything());
        ask(&mut alone, &call, &form()).unwrap();
        alone.take();
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": everything()});
        let mut retry = modern_with(2, "tools/call", json!({"name": "a"}), meta);
        retry["params"]["inputResponses"] = json!({"k": answer, "stranger": {}});
        let call = alone.report(retry);
        let round = call.context.round.clone().unwrap();
        let result = match step(&round.response("k").unwrap()) {
            Ok(reply) => {
                alone.respond(call.request, &reply).unwrap();
                alone.one()["result"].clone()
            }
            Err(()) => {
                ask(&mut alone, &call, &form()).unwrap();
                alone.one()["result"].clone()
            }
        };
        assert_eq!(result["content"][0]["text"].as_str(), expected, "{answer}");
        assert_eq!(result["resultType"] == "input_required", expected.is_none(), "{answer}");
    }
}

#[test]
fn answers_that_are_missing_are_asked_for_again() {
    // P-320
    let mut rig = Rig::new(config());
    let declared = json!({"io.modelcontextprotocol/clientCapabilities": everything()});
    for responses in [json!({}), json!({"stranger": {"action": "accept"}}), json!(null)] {
        let mut retry = modern_with(2, "tools/call", json!({"name": "a"}), declared.clone());
        retry["params"]["inputResponses"] = responses.clone();
        retry["params"]["requestState"] = json!("s");
        let call = rig.report(retry);
        let round = call.context.round.clone().unwrap();
        assert!(round.response("k").is_none());
        ask(&mut rig, &call, &form()).unwrap();
        let result = rig.one()["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{responses}");
        assert!(result["inputRequests"]["k"].is_object());
    }
}

#[test]
fn a_client_that_fails_is_told_from_a_person_who_does_not_want() {
    // P-379
    let fail = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no window"}});
    type IsIt = fn(&PeerOutcome) -> bool;
    let lines: [(&str, IsIt); 3] = [
        (&fail.to_string(), |outcome| matches!(outcome, PeerOutcome::Error(error) if error.code == -32603)),
        (r#"{"jsonrpc":"2.0","id":1,"result":"yes"}"#, |outcome| matches!(outcome, PeerOutcome::Invalid(_))),
        ("", |outcome| *outcome == PeerOutcome::TimedOut),
    ];
    for (line, is_it) in lines {
        let [(mut rig, call), _] = calls(&everything());
        ask(&mut rig, &call, &form()).unwrap();
        if line.is_empty() {
            rig.wait_ms(600_000);
        } else {
            rig.send_raw(format!("{line}\n").as_bytes());
        }
        rig.take();
        let outcomes = rig.outcomes();
        assert!(outcomes.len() == 1 && is_it(&outcomes[0]), "{outcomes:?}");
        rig.respond(call.request, &Reply::tool_error("the client failed")).unwrap();
        assert_eq!(rig.one()["result"]["isError"], true, "and the call goes on");
    }
    let mut rig = Rig::new(config());
    rig.report(modern(1, "tools/call", json!({"name": "a"})));
    rig.still_works();
}
