//! What a server asks of a client under the older revisions.

use std::time::Duration;

use sanswire::client::{Config, Event, PeerRequestHandle, RequestHandle, ServerRequests, Verdict};
use sanswire::error::ApiError;
use sanswire::jsonrpc::ErrorObject;
use sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use sanswire_tests::client::{Client, On, json, on_all_links, remembering};
use sanswire_tests::peer::Server;
use serde_json::{Value, json};

fn declaring(set: impl Fn(&mut Config)) -> Config {
    let mut config = remembering(Verdict::Legacy);
    set(&mut config);
    config
}

fn all(config: &mut Config) {
    config.capabilities.elicitation_form = true;
    config.capabilities.elicitation_url = true;
    config.capabilities.sampling = true;
    config.capabilities.sampling_tools = true;
    config.capabilities.roots = true;
}

fn start(on: On, config: Config) -> Client {
    Client::ready(on, config, Server::legacy("2025-11-25"))
}

type Asked = (PeerRequestHandle, InputRequest, Option<RequestHandle>);

fn asked(client: &Client) -> Vec<Asked> {
    client.find(|event| match event {
        Event::PeerRequest { handle, request, during } => Some((*handle, request.clone(), *during)),
        _ => None,
    })
}

fn ended(client: &Client) -> Vec<PeerRequestHandle> {
    client.find(|event| match event {
        Event::PeerRequestEnded { handle } => Some(*handle),
        _ => None,
    })
}

fn ask(client: &mut Client, id: impl Into<Value>, method: &str, params: Value) {
    let id: Value = id.into();
    client.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    client.wait_ms(5);
}

fn code_of(client: &Client, id: &Value) -> Option<i64> {
    let responses = client.link.server().responses();
    responses.iter().find(|response| response["id"] == *id)?["error"]["code"].as_i64()
}

#[test]
fn a_ping_is_answered_at_once_under_its_id() {
    // P-096 P-007
    on_all_links(|on| {
        let mut client = Client::legacy(on);
        for id in [json!(1), json!("1"), json!(""), json!(-7), json!("é\"")] {
            ask(&mut client, id.clone(), "ping", json!({}));
            let expected = json!({"jsonrpc": "2.0", "id": id, "result": {}});
            assert_eq!(client.link.server().responses().last(), Some(&&expected));
        }
        client.push_raw("{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"ping\"}\n");
        client.wait_ms(5);
        let text = client.link.server().received.last().unwrap().text.clone();
        assert!(text.contains("\"id\":123456789012345678901234567890"), "{text}");
    });
}

#[test]
fn a_declared_request_is_told_and_takes_one_answer() {
    // P-364 P-383 P-399
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        ask(&mut client, "e", "elicitation/create", json!({"message": "name?", "requestedSchema": {}}));
        ask(
            &mut client,
            "u",
            "elicitation/create",
            json!({"mode": "url", "message": "go", "url": "https://x/"}),
        );
        ask(&mut client, "s", "sampling/createMessage", json!({"messages": [], "maxTokens": 1, "tools": []}));
        client.push(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}));
        client.wait_ms(5);
        let told = asked(&client);
        let kinds: Vec<_> = told.iter().map(|(_, request, _)| request.kind).collect();
        let expected = [InputKind::ElicitForm, InputKind::ElicitUrl, InputKind::Sample, InputKind::ListRoots];
        assert_eq!(kinds, expected);
        assert_eq!(told[0].1.message().as_deref(), Some("name?"));
        let answers = [
            InputAnswer::accept(Some(&json(r#"{"name":"a"}"#))),
            InputAnswer::Decline,
            InputAnswer::Result(json(r#"{"role":"assistant","content":{},"model":"m"}"#)),
            InputAnswer::Result(json(r#"{"roots":[{"uri":"file:///a"}]}"#)),
        ];
        for ((handle, ..), answer) in told.iter().zip(&answers) {
            client.link.answer(*handle, answer).unwrap();
            assert_eq!(client.link.answer(*handle, answer), Err(ApiError::UnknownRequest));
        }
        client.wait_ms(5);
        let responses = client.link.server().responses();
        let results: Vec<_> =
            responses.iter().map(|said| (said["id"].clone(), said["result"].clone())).collect();
        assert_eq!(results[0], (json!("e"), json!({"action": "accept", "content": {"name": "a"}})));
        assert_eq!(results[1], (json!("u"), json!({"action": "decline"})));
        assert_eq!(results[2].1["model"], "m");
        assert_eq!(results[3], (json!("r"), json!({"roots": [{"uri": "file:///a"}]})));
        assert_eq!(responses.len(), 4);
        client.still_works();
    });
}

#[test]
fn where_no_decline_exists_an_error_is_sent() {
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        ask(&mut client, 1, "sampling/createMessage", json!({"messages": [], "maxTokens": 1}));
        ask(&mut client, 2, "roots/list", json!({}));
        ask(&mut client, 3, "roots/list", json!({}));
        let told = asked(&client);
        client.link.answer(told[0].0, &InputAnswer::Decline).unwrap();
        client.link.answer(told[1].0, &InputAnswer::Cancel).unwrap();
        client.link.answer(told[2].0, &InputAnswer::Error(ErrorObject::new(-32603, "disk"))).unwrap();
        client.wait_ms(5);
        assert_eq!(code_of(&client, &json!(1)), Some(-1), "the user refused");
        // P-403
        assert_eq!(code_of(&client, &json!(2)), Some(-32603));
        assert_eq!(code_of(&client, &json!(3)), Some(-32603));
    });
}

#[test]
fn what_was_not_declared_is_refused() {
    // P-089 P-403
    on_all_links(|on| {
        let one = |set: fn(&mut Config), method: &str| {
            let mut client = start(on, declaring(set));
            for other in ["elicitation/create", "sampling/createMessage", "roots/list"] {
                ask(&mut client, other, other, json!({"message": "m", "messages": [], "maxTokens": 1}));
                let expected = (other != method).then_some(-32601);
                assert_eq!(code_of(&client, &json!(other)), expected, "{method} declared, {other} asked");
            }
            assert_eq!(asked(&client).len(), 1);
        };
        one(|config| config.capabilities.roots = true, "roots/list");
        one(|config| config.capabilities.sampling = true, "sampling/createMessage");
        one(|config| config.capabilities.elicitation_form = true, "elicitation/create");
    });
}

#[test]
fn modes_that_were_not_declared_are_refused() {
    // P-365 P-372 P-385
    on_all_links(|on| {
        let form = |config: &mut Config| config.capabilities.elicitation_form = true;
        let url = |config: &mut Config| config.capabilities.elicitation_url = true;
        let sampling = |config: &mut Config| config.capabilities.sampling = true;
        let elicit = "elicitation/create";
        let sample = "sampling/createMessage";
        type Case<'a> = (&'a dyn Fn(&mut Config), &'a str, Value, bool);
        let cases: [Case<'_>; 11] = [
            (&form, elicit, json!({"message": "m"}), true),
            (&form, elicit, json!({"message": "m", "mode": null}), true),
            (&form, elicit, json!({"message": "m", "mode": "form"}), true),
            (&form, elicit, json!({"message": "m", "mode": "url"}), false),
            (&form, elicit, json!({"message": "m", "mode": "voice"}), false),
            (&url, elicit, json!({"message": "m", "mode": "url"}), true),
            (&url, elicit, json!({"message": "m"}), false),
            (&sampling, sample, json!({"messages": [], "maxTokens": 1}), true),
            (&sampling, sample, json!({"messages": [], "maxTokens": 1, "tools": null}), true),
            (&sampling, sample, json!({"messages": [], "maxTokens": 1, "tools": []}), false),
            (
                &sampling,
                sample,
                json!({"messages": [], "maxTokens": 1, "toolChoice": {"mode": "auto"}}),
                false,
            ),
        ];
        for (set, method, params, told) in cases {
            let mut client = start(on, declaring(set));
            ask(&mut client, 9, method, params.clone());
            assert_eq!(asked(&client).len(), usize::from(told), "{params}");
            assert_eq!(code_of(&client, &json!(9)), (!told).then_some(-32602), "{params}");
        }
    });
}

#[test]
fn elicitation_is_unknown_to_revisions_before_it() {
    // P-088
    on_all_links(|on| {
        for version in ["2024-11-05", "2025-03-26"] {
            let mut client = Client::ready(on, declaring(all), Server::legacy(version));
            ask(&mut client, 1, "elicitation/create", json!({"message": "m"}));
            assert_eq!(code_of(&client, &json!(1)), Some(-32601), "{version}");
            ask(&mut client, 2, "roots/list", json!({}));
            assert_eq!(asked(&client).len(), 1);
        }
    });
}

#[test]
fn dropping_all_answers_nothing_but_pings() {
    // H-199
    on_all_links(|on| {
        let config = declaring(|config| {
            all(config);
            config.server_requests = ServerRequests::DropAll;
        });
        let mut client = start(on, config);
        for method in ["elicitation/create", "sampling/createMessage", "roots/list", "no/such"] {
            ask(&mut client, method, method, json!({"message": "m"}));
        }
        ask(&mut client, "p", "ping", json!({}));
        client.push_raw("{\"jsonrpc\":\"2.0\",\"id\":\"m\",\"method\":\"roots/list\",\"params\":[1]}\n");
        client.wait_ms(5);
        assert!(asked(&client).is_empty());
        let responses = client.link.server().responses();
        assert_eq!(responses, [&json!({"jsonrpc": "2.0", "id": "p", "result": {}})]);
        assert_eq!(client.link.session().stats().dropped_requests, 5);
        client.still_works();
    });
}

#[test]
fn an_unanswered_request_runs_out_and_is_declined_for_the_application() {
    // P-091
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        ask(&mut client, "e", "elicitation/create", json!({"message": "m"}));
        ask(&mut client, "s", "sampling/createMessage", json!({"messages": [], "maxTokens": 1}));
        client.wait(Duration::from_secs(599));
        assert!(ended(&client).is_empty());
        client.wait(Duration::from_secs(2));
        let told = asked(&client);
        assert_eq!(ended(&client), [told[0].0, told[1].0]);
        let responses = client.link.server().responses();
        assert_eq!(responses[0]["result"], json!({"action": "cancel"}));
        assert!(responses[1]["error"]["code"].is_i64());
        let late = client.link.answer(told[0].0, &InputAnswer::Decline);
        assert_eq!(late, Err(ApiError::UnknownRequest));
        assert_eq!(client.link.server().responses().len(), 2);
    });
}

#[test]
fn a_withdrawn_request_needs_no_answer() {
    // P-292 P-296
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        ask(&mut client, 5, "roots/list", json!({}));
        ask(&mut client, "5", "roots/list", json!({}));
        let cancelled = "notifications/cancelled";
        client.push(json!({"jsonrpc": "2.0", "method": cancelled, "params": {"requestId": "5"}}));
        client.wait_ms(5);
        let told = asked(&client);
        assert_eq!(ended(&client), [told[1].0], "5 and \"5\" differ");
        let late = client.link.answer(told[1].0, &InputAnswer::Cancel);
        assert_eq!(late, Err(ApiError::UnknownRequest));
        client.link.answer(told[0].0, &InputAnswer::Result(json(r#"{"roots":[]}"#))).unwrap();
        client.wait_ms(5);
        assert_eq!(client.link.server().responses().len(), 1);
        client.push(json!({"jsonrpc": "2.0", "method": cancelled, "params": {"requestId": 5}}));
        client.wait_ms(5);
        assert_eq!(ended(&client).len(), 1);
        assert!(client.violations().is_empty());
        client.still_works();
    });
}

#[test]
fn more_than_the_limit_are_refused() {
    on_all_links(|on| {
        let config = declaring(|config| {
            all(config);
            config.limits.max_peer_requests = 2;
        });
        let mut client = start(on, config);
        for id in 1..=3 {
            ask(&mut client, id, "roots/list", json!({}));
        }
        assert_eq!(asked(&client).len(), 2);
        assert_eq!(code_of(&client, &json!(3)), Some(-32603));
        let first = asked(&client)[0].0;
        client.link.answer(first, &InputAnswer::Result(json(r#"{"roots":[]}"#))).unwrap();
        ask(&mut client, 4, "roots/list", json!({}));
        assert_eq!(asked(&client).len(), 3);
    });
}

#[test]
fn an_answer_that_is_no_object_is_the_callers_error() {
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        ask(&mut client, 1, "roots/list", json!({}));
        let handle = asked(&client)[0].0;
        let refused = client.link.answer(handle, &InputAnswer::Result(json("[]")));
        assert!(matches!(refused, Err(ApiError::BadParams(_))), "{refused:?}");
        client.link.answer(handle, &InputAnswer::Result(json(r#"{"roots":[]}"#))).unwrap();
    });
}

#[test]
fn the_call_a_request_belongs_to_is_known_where_it_has_a_stream() {
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        client.link.server_mut().on("tools/call", |request, out| {
            out.request(json!("q"), "roots/list", json!({}));
            out.after(Duration::from_millis(50)).result(request, json!({"content": []}));
        });
        let call = client.call();
        client.complete(call);
        let during = asked(&client)[0].2;
        assert_eq!(during, on.has_streams().then_some(call));
        client.still_works();
    });
}

#[test]
fn the_end_of_the_connection_ends_what_waits() {
    let mut client = start(On::Line, declaring(all));
    ask(&mut client, 1, "roots/list", json!({}));
    client.link.act(None, sanswire_tests::peer::Act::Close);
    client.until_closed();
    assert_eq!(ended(&client), [asked(&client)[0].0]);
}

#[test]
fn unknown_methods_are_refused_and_unknown_notifications_ignored() {
    // P-013 P-096
    on_all_links(|on| {
        let mut client = start(on, declaring(all));
        ask(&mut client, 1, "tools/list", json!({}));
        ask(&mut client, 2, "example/x", json!({}));
        client.push(json!({"jsonrpc": "2.0", "method": "notifications/example"}));
        client.push(json!({"jsonrpc": "2.0", "method": "roots/list"}));
        client.wait_ms(5);
        assert_eq!(code_of(&client, &json!(1)), Some(-32601));
        assert_eq!(code_of(&client, &json!(2)), Some(-32601));
        assert_eq!(client.link.server().responses().len(), 2);
        assert!(client.notifications().is_empty(), "a request without an id is no notification");
        assert_eq!(client.violations().len(), 1);
        client.still_works();
    });
}
