//! Rounds of input under 2026-07-28.

use sanswire::client::{InputAnswers, Outcome, RequestOptions};
use sanswire::error::{ApiError, Violation};
use sanswire::mcp::Method;
use sanswire::mcp::types::input::{InputAnswer, InputKind};
use sanswire_tests::client::{Client, json, on_all_links};
use serde_json::{Value, json};

/// A client whose `tools/call` asks with this result until the request has `inputResponses` or `requestState`
/// with this round's number in it.
fn asking(on: sanswire_tests::client::On, rounds: Vec<String>) -> Client {
    let mut client = Client::modern(on);
    let mut rounds = rounds.into_iter();
    client.link.server_mut().on("tools/call", move |request, out| match rounds.next() {
        Some(result) => {
            let id = &request["id"];
            out.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"));
        }
        None => out.result(request, json!({"resultType": "complete", "content": []})),
    });
    client
}

fn form(key: &str) -> String {
    let request =
        json!({"method": "elicitation/create", "params": {"message": "name?", "requestedSchema": {}}});
    json!({"resultType": "input_required", "inputRequests": {key: request}, "requestState": key}).to_string()
}

fn accept() -> InputAnswer {
    InputAnswer::accept(Some(&json(r#"{"a":1}"#)))
}

#[test]
fn the_answers_go_back_under_their_keys_in_a_new_request() {
    // P-321 P-325 P-477 P-310
    on_all_links(|on| {
        let requests = json!({
            "e": {"method": "elicitation/create", "params": {"message": "name?", "requestedSchema": {}}},
            "u": {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "https://x/"}},
            "s": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 3}},
            "é/r": {"method": "roots/list"},
        });
        let first = json!({"resultType": "input_required", "inputRequests": requests}).to_string();
        let mut client = asking(on, vec![first]);
        let call = client.call();
        let input = client.input_required(call);
        assert_eq!((input.method(), input.round(), input.has_state()), (&Method::ToolsCall, 1, false));
        let kinds: Vec<_> =
            input.requests().iter().map(|asked| (asked.key.as_str(), asked.request.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("e", InputKind::ElicitForm),
                ("s", InputKind::Sample),
                ("u", InputKind::ElicitUrl),
                ("é/r", InputKind::ListRoots),
            ]
        );
        let answers = InputAnswers::collect(&input, |request| match request.kind {
            InputKind::ElicitForm => accept(),
            InputKind::ElicitUrl => InputAnswer::Cancel,
            InputKind::Sample => {
                InputAnswer::Result(json(r#"{"role":"assistant","model":"m","content":{}}"#))
            }
            _ => InputAnswer::Result(json(r#"{"roots":[]}"#)),
        });
        let again = client.link.resume(&input, &answers, &RequestOptions::default()).unwrap();
        client.complete(again);
        let calls = client.link.server().with_method("tools/call");
        let (one, two) = (&calls[0].message, &calls[1].message);
        assert_ne!(one["id"], two["id"]);
        assert_ne!(one["params"]["_meta"]["progressToken"], two["params"]["_meta"]["progressToken"]);
        assert_eq!(two["params"]["name"], "echo");
        assert_eq!(two["params"]["arguments"], one["params"]["arguments"]);
        let meta = &two["params"]["_meta"];
        // P-039
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        let said = &two["params"]["inputResponses"];
        assert_eq!(said["e"], json!({"action": "accept", "content": {"a": 1}}));
        assert_eq!(said["u"], json!({"action": "cancel"}));
        assert_eq!(said["s"]["model"], "m");
        assert_eq!(said["é/r"], json!({"roots": []}));
        assert_eq!(said.as_object().unwrap().len(), 4);
        // P-324
        assert!(two["params"].get("requestState").is_none());
        client.still_works();
    });
}

#[test]
fn the_state_goes_back_to_the_byte() {
    // P-322 P-323
    let states =
        [r#""plain""#, r#""\u00e9\/\"\\ \ud83e\udd80é🦀""#, r#""""#, r#""\u0000\t{}""#, r#""\ud800 alone""#];
    on_all_links(|on| {
        for state in states {
            let result = format!(r#"{{"resultType":"input_required","requestState": {state} }}"#);
            let mut client = asking(on, vec![result]);
            client.link.server_mut().junk.clear();
            let call = client.call();
            let input = client.input_required(call);
            assert!(input.has_state() && input.requests().is_empty());
            let again = client.link.resume(&input, &InputAnswers::new(), &RequestOptions::default()).unwrap();
            client.wait_ms(10);
            if state.contains("ud800 alone") {
                // serde_json does not read it; its bytes say all.
                let line = String::from_utf8(client.link.server().junk.last().unwrap().clone()).unwrap();
                assert!(line.contains(&format!(r#""requestState":{state}"#)), "{line}");
                continue;
            }
            client.complete(again);
            let text = client.last("tools/call").text;
            assert!(text.contains(&format!(r#""requestState":{state}"#)), "{text}");
            assert!(!text.contains("inputResponses"), "{text}");
        }
    });
}

#[test]
fn a_later_round_carries_the_first_parameters_and_only_its_own_answers() {
    // P-326 P-322
    on_all_links(|on| {
        let mut client = asking(on, vec![form("one"), form("two")]);
        let call = client.call();
        let input = client.input_required(call);
        let mut answers = InputAnswers::new();
        answers.set("one", accept());
        let call = client.link.resume(&input, &answers, &RequestOptions::default()).unwrap();
        let input = client.input_required(call);
        assert_eq!(input.round(), 2);
        let mut answers = InputAnswers::new();
        answers.set("two", InputAnswer::Decline);
        let call = client.link.resume(&input, &answers, &RequestOptions::default()).unwrap();
        client.complete(call);
        let calls = client.link.server().with_method("tools/call");
        let params = &calls[2].message["params"];
        assert_eq!(params["inputResponses"], json!({"two": {"action": "decline"}}));
        assert_eq!(params["requestState"], "two");
        assert_eq!(params["arguments"], json!({"a": 1}));
        assert_eq!(calls[2].text.matches("inputResponses").count(), 1);
        assert_eq!(calls[2].text.matches("requestState").count(), 1);
        // Other requests carry nothing of it.
        client.still_works();
        let text = client.last("tools/list").text;
        assert!(!text.contains("inputResponses") && !text.contains("requestState"));
    });
}

#[test]
fn answers_are_checked_before_anything_is_sent() {
    // P-477 P-321
    on_all_links(|on| {
        let requests = json!({
            "e": {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {}}},
            "r": {"method": "roots/list"},
        });
        let result = json!({"resultType": "input_required", "inputRequests": requests}).to_string();
        let mut client = asking(on, vec![result]);
        let call = client.call();
        let input = client.input_required(call);
        let sent = client.link.server().received.len();
        let roots = InputAnswer::Result(json(r#"{"roots":[]}"#));
        let options = RequestOptions::default();
        let wrong: [&[(&str, InputAnswer)]; 5] = [
            &[],
            &[("e", accept())],
            &[("e", accept()), ("r", InputAnswer::Decline)],
            &[("e", InputAnswer::Result(json("[]"))), ("r", roots.clone())],
            &[("e", accept()), ("r", roots.clone()), ("x", accept())],
        ];
        for pairs in wrong {
            let mut answers = InputAnswers::new();
            for (key, answer) in pairs {
                answers.set(key, answer.clone());
            }
            let refused = client.link.resume(&input, &answers, &options);
            assert!(matches!(refused, Err(ApiError::BadParams(_))), "{pairs:?}: {refused:?}");
        }
        client.wait_ms(5);
        assert_eq!(client.link.server().received.len(), sent);
        let mut answers = InputAnswers::new();
        answers.set("e", InputAnswer::Decline);
        answers.set("r", roots);
        let again = client.link.resume(&input, &answers, &options).unwrap();
        client.complete(again);
    });
}

#[test]
fn too_many_rounds_are_refused() {
    on_all_links(|on| {
        let mut client = asking(on, (0..20).map(|_| form("k")).collect());
        let mut answers = InputAnswers::new();
        answers.set("k", accept());
        let call = client.call();
        let mut input = client.input_required(call);
        let options = RequestOptions::default();
        for round in 2..=10 {
            let call = client.link.resume(&input, &answers, &options).unwrap();
            input = client.input_required(call);
            assert_eq!(input.round(), round);
        }
        let last = client.link.resume(&input, &answers, &options);
        match last {
            Ok(call) => {
                let input = client.input_required(call);
                let refused = client.link.resume(&input, &answers, &options);
                assert_eq!(refused, Err(ApiError::TooManyRounds { limit: 10 }));
            }
            refused => assert_eq!(refused, Err(ApiError::TooManyRounds { limit: 10 })),
        }
        client.still_works();
    });
}

#[test]
fn a_request_for_input_that_makes_no_sense_ends_the_call() {
    // P-309 P-310 P-311
    on_all_links(|on| {
        let results = [
            r#"{"resultType":"input_required"}"#,
            r#"{"resultType":"input_required","inputRequests":null,"requestState":null}"#,
            r#"{"resultType":"input_required","requestState":7}"#,
            r#"{"resultType":"input_required","inputRequests":[]}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"tools/call"}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":[]}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"a":{"method":"roots/list"}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"x"}}}}"#,
        ];
        let mut client = asking(on, results.iter().map(|result| (*result).to_owned()).collect());
        for result in results {
            let call = client.call();
            let outcome = client.finish(call);
            assert!(
                matches!(outcome, Outcome::Invalid(Violation::BadResult { .. })),
                "{result}: {outcome:?}"
            );
        }
        client.still_works();
    });
}

#[test]
fn input_rounds_work_for_prompts_and_resources() {
    // P-308
    on_all_links(|on| {
        for (method, params) in
            [(Method::PromptsGet, r#"{"name":"p"}"#), (Method::ResourcesRead, r#"{"uri":"a:b"}"#)]
        {
            let mut client = Client::modern(on);
            client.link.server_mut().on(method.as_str(), |request, out| {
                let answered = request["params"].get("requestState").is_some();
                let kind = if answered { "complete" } else { "input_required" };
                out.result(request, json!({"resultType": kind, "requestState": "s"}));
            });
            let request = client.request(method.clone(), Some(params));
            let input = client.input_required(request);
            let options = RequestOptions::default();
            let again = client.link.resume(&input, &InputAnswers::new(), &options).unwrap();
            client.complete(again);
            let sent: Value = client.last(method.as_str()).message["params"].clone();
            for (name, value) in serde_json::from_str::<Value>(params).unwrap().as_object().unwrap() {
                assert_eq!(sent[name], *value);
            }
        }
    });
}
