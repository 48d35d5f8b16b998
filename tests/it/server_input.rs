//! What a server asks of a client: by a result that wants input, or by a request of its own.

use sanswire::error::{ApiError, Violation};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::{InputKind, InputRequest, KeyedInput};
use sanswire::server::state::{Binding, Seal, StateFault};
use sanswire::server::{PeerOutcome, Reply};
use sanswire_tests::served::{LEGACY, Reported, Rig, complete, config, modern, modern_with, raw, request};
use serde_json::{Value, json};

fn form() -> InputRequest {
    let params =
        json!({"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}});
    InputRequest { kind: InputKind::ElicitForm, params: Some(raw(&params)) }
}

fn roots() -> InputRequest {
    InputRequest { kind: InputKind::ListRoots, params: None }
}

fn sample(tools: bool) -> InputRequest {
    let mut params = json!({"messages": [], "maxTokens": 5});
    if tools {
        params["tools"] = json!([]);
    }
    InputRequest { kind: InputKind::Sample, params: Some(raw(&params)) }
}

fn asking(requests: &[(&str, InputRequest)], state: Option<&str>) -> Reply {
    let requests = requests.iter().cloned();
    let requests = requests.map(|(key, request)| KeyedInput { key: key.into(), request }).collect();
    Reply::InputRequired { requests, state: state.map(Into::into) }
}

fn declaring(id: u64, capabilities: Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    modern_with(id, "tools/call", json!({"name": "a", "arguments": {"x": 1}}), meta)
}

#[test]
fn a_call_asks_by_its_result_and_goes_on_with_the_answers() {
    // P-307 P-309 P-310 P-311 P-313 P-317 P-319
    let mut rig = Rig::new(config());
    let all = json!({"elicitation": {}, "roots": {}, "sampling": {}});
    let ask = asking(&[("who", form()), ("where", roots()), ("what", sample(false))], Some("s\u{e9}\n"));
    let result = rig.answered(declaring(1, all.clone()), &ask)["result"].clone();
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["requestState"], "s\u{e9}\n");
    let asked = &result["inputRequests"];
    assert_eq!(asked["who"]["method"], "elicitation/create");
    assert_eq!(asked["where"], json!({"method": "roots/list"}), "no id, no version, no empty params");
    assert_eq!(asked["what"]["params"], json!({"messages": [], "maxTokens": 5}));
    assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());

    let mut retry = declaring(2, all);
    retry["params"]["requestState"] = json!("s\u{e9}\n");
    retry["params"]["inputResponses"] = json!({"who": {"action": "accept"}, "stranger": {}});
    let reported = rig.report(retry);
    let round = reported.context.round.unwrap();
    assert_eq!(round.state.as_deref(), Some("s\u{e9}\n"));
    assert_eq!(round.response("who").unwrap().as_str(), r#"{"action":"accept"}"#);
    assert!(round.response("where").is_none(), "what is missing can be asked for again");
    rig.respond(reported.request, &asking(&[("where", roots())], None)).unwrap();
    let again = rig.one()["result"].clone();
    assert_eq!((&again["resultType"], again.get("requestState")), (&json!("input_required"), None));
    let only_state = rig.answered(declaring(3, json!({})), &asking(&[], Some("later")));
    assert_eq!(only_state["result"].get("inputRequests"), None);
}

#[test]
fn what_the_request_did_not_declare_is_not_asked_but_named() {
    // P-044 P-312 P-366 P-384
    let mut rig = Rig::new(config());
    let url = json!({"mode": "url", "message": "m", "url": "https://a/"});
    let url = InputRequest { kind: InputKind::ElicitUrl, params: Some(raw(&url)) };
    for (declared, ask, missing) in [
        (json!({}), form(), json!({"elicitation": {"form": {}}})),
        (json!({"elicitation": {"url": {}}}), form(), json!({"elicitation": {"form": {}}})),
        (json!({"elicitation": {}}), url, json!({"elicitation": {"url": {}}})),
        (json!({"elicitation": {}}), roots(), json!({"roots": {}})),
        (json!({"roots": {}}), sample(false), json!({"sampling": {}})),
        (json!({"sampling": {}}), sample(true), json!({"sampling": {"tools": {}}})),
    ] {
        let ask = asking(&[("k", ask)], None);
        let error = rig.answered(declaring(1, declared), &ask)["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]),
            (&json!(-32021), &json!({"requiredCapabilities": missing}))
        );
    }
    rig.initialize("2025-11-25", json!({"elicitation": {}, "roots": {}, "sampling": {}}));
    let error = rig.answered(declaring(2, json!({})), &asking(&[("k", roots())], None))["error"].clone();
    assert_eq!(error["code"], -32021, "P-043: what the session declared does not count");
}

#[test]
fn only_three_methods_ask_by_their_result() {
    // P-308
    let mut rig = Rig::legacy(config(), "2025-11-25");
    let catalog = rig.side.machine.catalog_mut();
    catalog.prompt(&raw(&json!({"name": "p"}))).unwrap();
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    let ask = asking(&[], Some("s"));
    let reference = json!({"type": "ref/prompt", "name": "p"});
    let complete_params = json!({"ref": reference, "argument": {"name": "a", "value": ""}});
    for (message, good) in [
        (modern(1, "tools/call", json!({"name": "a"})), true),
        (modern(2, "prompts/get", json!({"name": "p"})), true),
        (modern(3, "resources/read", json!({"uri": "x:y"})), true),
        (modern(4, "completion/complete", complete_params), false),
        (request(5, "tools/call", json!({"name": "a"})), false),
    ] {
        let reported = rig.report(message.clone());
        let answer = rig.respond(reported.request, &ask);
        assert_eq!(answer.is_ok(), good, "{message}");
        if good {
            let result = rig.one()["result"].clone();
            assert_eq!(result["resultType"], "input_required");
            assert!(result.get("ttlMs").is_none(), "and is not kept");
        }
    }
    let reported = rig.report(modern(6, "tools/call", json!({"name": "a"})));
    let twice = asking(&[("k", roots()), ("k", roots())], None);
    for bad in [asking(&[], None), twice] {
        assert!(matches!(rig.respond(reported.request, &bad), Err(ApiError::BadParams(_))));
    }
}

#[test]
fn answers_of_the_wrong_shape_are_refused() {
    // P-318
    let mut rig = Rig::new(config());
    for (name, bad) in [
        ("inputResponses", json!([])),
        ("inputResponses", json!("x")),
        ("inputResponses", json!({"k": 5})),
        ("inputResponses", json!({"k": null})),
        ("requestState", json!(5)),
        ("requestState", json!({})),
    ] {
        let mut message = declaring(1, json!({}));
        message["params"][name] = bad.clone();
        assert_eq!(rig.refused(message), -32602, "{name}: {bad}");
    }
    let mut message = declaring(1, json!({}));
    message["params"]["inputResponses"] = json!(null);
    message["params"]["requestState"] = json!(null);
    assert!(rig.report(message).context.round.is_none());
}

#[test]
fn a_sealed_state_is_taken_back_from_whom_it_was_given_to() {
    // P-314 P-315 P-316
    let seal = Seal::new([3; 32]);
    let mut rig = Rig::new(config());
    let binding = |reported: &Reported| {
        Binding::new(&reported.context.principal, &Method::ToolsCall, &raw(&reported.params))
    };
    let reported = rig.report(declaring(1, json!({})));
    let sealed = seal.seal(&binding(&reported), b"price 5", 2000);
    rig.respond(reported.request, &asking(&[], Some(&sealed))).unwrap();
    let state = rig.one()["result"]["requestState"].as_str().unwrap().to_owned();
    let mut retry = declaring(2, json!({}));
    retry["params"]["requestState"] = json!(state);
    let again = rig.report(retry.clone());
    let came = again.context.round.clone().unwrap().state.unwrap();
    assert_eq!(seal.open(&binding(&again), &came, 1999), Ok(b"price 5".to_vec()));
    assert_eq!(seal.open(&binding(&again), &came, 2000), Err(StateFault::Expired));
    retry["id"] = json!(3);
    retry["params"]["arguments"]["x"] = json!(2);
    let other = rig.report(retry);
    let fault = seal.open(&binding(&other), &came, 0).unwrap_err();
    rig.respond(other.request, &Reply::Error(fault.to_error())).unwrap();
    assert_eq!(rig.one()["error"]["code"], -32602);
}

fn session(revision: &str, capabilities: Value) -> (Rig, Reported) {
    let mut rig = Rig::new(config());
    rig.initialize(revision, capabilities);
    let reported = rig.report(request(1, "tools/call", json!({"name": "a"})));
    (rig, reported)
}

fn answer(id: impl Into<Value>, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": result})
}

#[test]
fn a_session_is_asked_by_requests_of_our_own() {
    // P-005 P-087
    for revision in LEGACY {
        let (mut rig, reported) = session(revision, json!({"roots": {}, "sampling": {}, "elicitation": {}}));
        let first = rig.request_input(reported.request, &roots()).unwrap();
        let second = rig.request_input(reported.request, &sample(false)).unwrap();
        assert_ne!(first, second);
        let asked = rig.take();
        assert_eq!(asked[0], json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}));
        assert_eq!((&asked[1]["id"], &asked[1]["method"]), (&json!(2), &json!("sampling/createMessage")));
        rig.send(&answer(2, json!({"role": "assistant"})));
        rig.send(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}));
        let outcomes = rig.outcomes();
        assert!(
            matches!(&outcomes[0], PeerOutcome::Result(result) if result.as_str() == r#"{"role":"assistant"}"#)
        );
        assert!(matches!(&outcomes[1], PeerOutcome::Error(error) if error.code == -1));
        let elicited = rig.request_input(reported.request, &form());
        assert_eq!(elicited.is_ok(), revision >= "2025-06-18", "{revision}");
        if revision == "2025-06-18" {
            assert!(rig.take().last().unwrap()["params"].get("mode").is_none(), "it knows no modes");
        }
        rig.respond(reported.request, &Reply::text("x")).unwrap();
        assert_eq!(rig.violations(), []);
    }
}

#[test]
fn what_cannot_be_asked_is_refused_at_once() {
    // P-021 P-089 P-121 P-312 P-404
    let (mut rig, reported) = session("2025-11-25", json!({"roots": {}}));
    let error = rig.request_input(reported.request, &form()).unwrap_err();
    assert_eq!(error, ApiError::MissingCapability { kind: InputKind::ElicitForm });
    let alone = rig.report(declaring(2, json!({"roots": {}})));
    let error = rig.request_input(alone.request, &roots()).unwrap_err();
    assert!(matches!(error, ApiError::WrongEra { .. }), "a modern client is asked by a result");
    rig.respond(reported.request, &Reply::text("x")).unwrap();
    let error = rig.request_input(reported.request, &roots()).unwrap_err();
    assert_eq!(error, ApiError::UnknownRequest);

    let mut early = Rig::new(config());
    early.ask(request(
        1,
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}}),
    ));
    let reported = early.report(request(2, "tools/call", json!({"name": "a"})));
    assert_eq!(early.request_input(reported.request, &roots()), Err(ApiError::NotReady), "P-087");

    let mut few = config();
    few.limits.max_peer_requests = 1;
    let mut few = Rig::new(few);
    few.initialize("2025-11-25", json!({"roots": {}}));
    let reported = few.report(request(1, "tools/call", json!({"name": "a"})));
    few.request_input(reported.request, &roots()).unwrap();
    let error = few.request_input(reported.request, &roots()).unwrap_err();
    assert_eq!(error, ApiError::TooManyInFlight { limit: 1 });
}

#[test]
fn a_request_of_ours_ends_once_whatever_happens() {
    // P-091 P-092
    let open = || {
        let (mut rig, reported) = session("2025-11-25", json!({"roots": {}}));
        rig.request_input(reported.request, &roots()).unwrap();
        rig.take();
        (rig, reported)
    };
    let withdrawn =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});

    let (mut rig, _) = open();
    rig.wait_ms(600_000);
    assert_eq!(rig.outcomes(), [PeerOutcome::TimedOut]);
    assert_eq!(rig.one(), withdrawn);
    rig.send(&answer(1, json!({})));
    assert_eq!(
        (rig.outcomes().len(), rig.violations().len()),
        (1, 0),
        "a late answer is counted and dropped"
    );
    assert_eq!(rig.side.machine.session().stats().late_responses, 1);

    let (mut rig, reported) = open();
    rig.respond(reported.request, &Reply::text("never mind")).unwrap();
    assert_eq!(rig.outcomes(), [PeerOutcome::Cancelled]);
    let said = rig.take();
    assert!(said.contains(&withdrawn) && said.len() == 2, "{said:?}");

    let (mut rig, _) = open();
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(rig.outcomes(), [PeerOutcome::Cancelled], "its own call was cancelled");
    assert_eq!(rig.cancelled.len(), 1);

    let (mut rig, _) = open();
    rig.end();
    assert_eq!(rig.outcomes(), [PeerOutcome::Lost]);

    for (line, expected) in [
        (answer(1, json!([])).to_string(), "Result"),
        (answer(1, json!([5])).to_string(), "Invalid"),
        (answer(1, json!("x")).to_string(), "Invalid"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#.to_owned(), "Invalid"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#.to_owned(), "Invalid"),
        (answer(1, json!({"x": "y".repeat(17 << 20)})).to_string(), "TooLarge"),
    ] {
        let (mut rig, _) = open();
        rig.send_raw(format!("{line}\n").as_bytes());
        let outcome = format!("{:?}", rig.outcomes());
        assert!(outcome.starts_with(&format!("[{expected}")), "{outcome}");
        assert_eq!(rig.take(), [] as [Value; 0], "an answer is never answered");
    }
}

#[test]
fn answers_to_nothing_are_violations_and_complete_nothing() {
    // P-022
    let (mut rig, reported) = session("2025-11-25", json!({"roots": {}}));
    rig.request_input(reported.request, &roots()).unwrap();
    for stray in [json!("1"), json!(2), json!(0), json!(-1), json!("x")] {
        rig.send(&answer(stray.clone(), json!({})));
        let Some(Violation::UnknownResponseId { type_differs, .. }) = rig.violations().pop() else {
            panic!("{stray} is not told")
        };
        assert_eq!(type_differs, stray == "1");
    }
    assert_eq!(rig.outcomes(), []);
    rig.send(&request(1, "ping", json!({})));
    rig.send(&answer(1, json!({"roots": []})));
    assert_eq!(rig.outcomes().len(), 1, "ids of the two sides do not meet");
    rig.respond(reported.request, &complete(&json!({"content": []}))).unwrap();
}
