//! Requests: how they are written, and what the answers to them may be.

use sanswire::client::{LogLevel, Outcome, RequestOptions};
use sanswire::error::{ApiError, Violation};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::{Method, Revision};
use sanswire_tests::client::{Client, config, json, on_all_links, value};
use sanswire_tests::peer::Server;
use serde_json::json;

const IMC: &str = "io.modelcontextprotocol/";

/// A modern and a legacy client, on both links.
fn everywhere(scenario: impl Fn(Client)) {
    on_all_links(|on| {
        scenario(Client::legacy(on));
        scenario(Client::modern(on));
    });
}

/// The server answers `tools/call` with this message; `$id` in it is the call's id.
fn answered_with(client: &mut Client, message: &str) -> Outcome {
    let message = message.to_owned();
    client.link.server_mut().on("tools/call", move |request, out| {
        out.raw(format!("{}\n", message.replace("$id", &request["id"].to_string())));
    });
    let call = client.call();
    let outcome = client.finish(call);
    client.still_works();
    outcome
}

#[test]
fn ids_are_integers_and_never_come_twice() {
    // P-003 P-004 P-005 P-006
    everywhere(|mut client| {
        for _ in 0..20 {
            client.call();
            client.request(Method::ToolsList, None);
        }
        client.wait_ms(50);
        let server = client.link.server();
        let ids: Vec<u64> = server
            .received
            .iter()
            .filter_map(|received| received.message.get("id"))
            .map(|id| id.as_u64().expect("an integer"))
            .collect();
        assert!(ids.len() >= 41);
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        for received in &server.received {
            let is_request = !received.message["method"].as_str().unwrap().starts_with("notifications/");
            // P-012
            assert_eq!(received.message.get("id").is_some(), is_request, "{}", received.text);
        }
    });
}

#[test]
fn every_request_has_a_progress_token_of_its_own() {
    // P-277 P-278
    everywhere(|mut client| {
        for _ in 0..5 {
            client.call();
        }
        client.wait_ms(50);
        let calls = client.link.server().with_method("tools/call");
        let token = |at: usize| calls[at].message["params"]["_meta"]["progressToken"].as_u64().unwrap();
        let mut tokens: Vec<u64> = (0..5).map(token).collect();
        tokens.dedup();
        assert_eq!(tokens.len(), 5);
    });
}

#[test]
fn parameters_arrive_as_they_were_given() {
    everywhere(|mut client| {
        let params = r#"{"name":"echo","arguments":{"n":1.0,"e":"\u00e9\/","x":[]},"unknown":{"a":null}}"#;
        client.request(Method::ToolsCall, Some(params));
        client.wait_ms(10);
        let text = client.last("tools/call").text;
        for member in [r#""arguments":{"n":1.0,"e":"\u00e9\/","x":[]}"#, r#""unknown":{"a":null}"#] {
            assert!(text.contains(member), "{text}");
        }
    });
}

#[test]
fn a_line_break_between_tokens_never_reaches_the_wire() {
    // P-115 P-117
    everywhere(|mut client| {
        let request =
            client.request(Method::ToolsCall, Some("{\n \"name\":\r\n\"echo\",\"arguments\":{\"a\"\n:1}\n}"));
        client.complete(request);
        assert_eq!(client.last("tools/call").message["params"]["arguments"], json!({"a": 1}));
        assert!(client.link.server().junk.is_empty());
    });
}

#[test]
fn own_metadata_goes_in_by_the_options_and_names_of_the_protocol_are_refused() {
    // P-035 P-039
    everywhere(|mut client| {
        let mut options = RequestOptions::default();
        options.meta = Some(json(r#"{"com.example/a":{"b":[1]},"traceparent":"x"}"#));
        let call = client.request_with(Method::ToolsCall, Some(r#"{"name":"echo"}"#), &options);
        client.complete(call);
        let meta = client.last("tools/call").message["params"]["_meta"].clone();
        assert_eq!(meta["com.example/a"], json!({"b": [1]}));
        assert_eq!(meta["traceparent"], "x");
        assert!(meta["progressToken"].is_u64());
        let before = client.link.server().received.len();
        for name in ["progressToken", &format!("{IMC}protocolVersion"), &format!("{IMC}clientInfo")] {
            let mut options = RequestOptions::default();
            options.meta = Some(json(&json!({name: 1}).to_string()));
            let refused = client.link.request(Method::ToolsList, None, &options);
            assert!(matches!(refused, Err(ApiError::BadParams(_))), "{name}");
        }
        client.wait_ms(50);
        assert_eq!(client.link.server().received.len(), before, "nothing was sent");
        client.still_works();
    });
}

#[test]
fn what_cannot_be_sent_is_refused_and_changes_nothing() {
    everywhere(|mut client| {
        let options = RequestOptions::default();
        let before = client.link.server().received.len();
        for params in [
            "[]",
            "null",
            "1",
            r#"{"_meta":{}}"#,
            r#"{"\u005fmeta":{}}"#,
            r#"{"inputResponses":{}}"#,
            r#"{"requestState":"x"}"#,
        ] {
            let refused = client.link.request(Method::ToolsCall, Some(json(params)), &options);
            // P-326
            assert!(matches!(refused, Err(ApiError::BadParams(_))), "{params}: {refused:?}");
        }
        for method in [Method::Initialized, Method::Cancelled, Method::Progress] {
            let refused = client.link.request(method.clone(), None, &options);
            assert!(matches!(refused, Err(ApiError::BadParams(_))), "{method}");
        }
        // P-285 P-086
        for method in [Method::Cancelled, Method::Initialized, Method::ToolsList] {
            let refused = client.link.notify(method.clone(), None);
            assert!(matches!(refused, Err(ApiError::BadParams(_))), "{method}");
        }
        client.wait_ms(50);
        assert_eq!(client.link.server().received.len(), before, "nothing was sent");
        client.still_works();
    });
}

#[test]
fn methods_of_another_revision_or_direction_are_refused() {
    // P-088
    everywhere(|mut client| {
        let revision = client.link.session().revision().unwrap();
        let options = RequestOptions::default();
        let never = [Method::Initialize, Method::RootsList, Method::ElicitationCreate];
        let foreign: &[Method] = if revision == Revision::V2026_07_28 {
            &[Method::Ping, Method::ResourcesSubscribe, Method::LoggingSetLevel, Method::TasksGet]
        } else {
            &[Method::SubscriptionsListen, Method::ServerDiscover]
        };
        for method in never.iter().chain(foreign) {
            let refused = client.link.request(method.clone(), None, &options);
            assert_eq!(refused, Err(ApiError::WrongEra { method: method.clone(), revision }));
        }
        client.still_works();
    });
}

#[test]
fn a_method_that_no_revision_knows_passes() {
    everywhere(|mut client| {
        let method = Method::Other("example/thing".into());
        client.link.server_mut().on("example/thing", |request, out| {
            out.result(request, json!({"resultType": "complete", "y": 1}));
        });
        let request = client.request(method, Some(r#"{"x":1}"#));
        assert_eq!(client.complete(request)["y"], 1);
        assert_eq!(client.last("example/thing").message["params"]["x"], 1);
    });
}

#[test]
fn capabilities_and_identity_of_one_request_are_its_own() {
    // P-039 P-040 P-383 P-399
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let mut options = RequestOptions::default();
        let capabilities =
            sanswire::mcp::types::lifecycle::ClientCapabilities { roots: true, ..Default::default() };
        options.capabilities = Some(capabilities);
        options.client = Some(sanswire::mcp::types::lifecycle::Implementation::new("other", "9"));
        options.log_level = Some(LogLevel::Warning);
        let call = client.request_with(Method::ToolsCall, Some(r#"{"name":"echo"}"#), &options);
        client.complete(call);
        let meta = client.last("tools/call").message["params"]["_meta"].clone();
        assert_eq!(meta[format!("{IMC}clientCapabilities")], json!({"roots": {}}));
        assert_eq!(meta[format!("{IMC}clientInfo")]["name"], "other");
        assert_eq!(meta[format!("{IMC}logLevel")], "warning");
        client.still_works();
        let meta = client.last("tools/list").message["params"]["_meta"].clone();
        assert_eq!(meta[format!("{IMC}clientCapabilities")], json!({}));
        assert_eq!(meta[format!("{IMC}clientInfo")]["name"], "harness");
        assert!(meta.get(format!("{IMC}logLevel")).is_none());
    });
}

#[test]
fn a_log_level_of_the_connection_goes_with_every_request() {
    on_all_links(|on| {
        let mut config = config();
        config.log_level = Some(LogLevel::Debug);
        let mut client = Client::ready(on, config, Server::modern());
        client.still_works();
        let meta = client.last("tools/list").message["params"]["_meta"].clone();
        assert_eq!(meta[format!("{IMC}logLevel")], "debug");
    });
}

#[test]
fn a_legacy_request_carries_no_modern_metadata() {
    // P-088
    on_all_links(|on| {
        let mut client = Client::legacy(on);
        client.still_works();
        let meta = client.last("tools/list").message["params"]["_meta"].clone();
        assert_eq!(meta.as_object().unwrap().keys().collect::<Vec<_>>(), ["progressToken"]);
    });
}

#[test]
fn the_peers_errors_stay_what_they_are() {
    // P-010 P-031
    everywhere(|mut client| {
        let text =
            r#"{"jsonrpc":"2.0","id":$id,"error":{"code":-32002,"message":"no é","data":{"uri":"a:b"}}}"#;
        let Outcome::Error(error) = answered_with(&mut client, text) else { panic!() };
        assert_eq!((error.code, error.message.as_str()), (-32002, "no é"));
        assert_eq!(error.data.as_ref().map(value), Some(json!({"uri": "a:b"})));
        assert!(client.violations().is_empty());
    });
}

#[test]
fn an_unusable_answer_ends_its_own_call_only() {
    // P-001 P-009 P-010
    everywhere(|mut client| {
        for text in [
            r#"{"jsonrpc":"2.0","id":$id,"result":{},"error":{"code":1,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":$id}"#,
            r#"{"jsonrpc":"2.0","id":$id,"error":{"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":$id,"error":{"code":1.5,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":$id,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":$id,"error":"x"}"#,
            r#"{"id":$id,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":$id,"result":{}}"#,
            r#"{"jsonrpc":2.0,"id":$id,"result":{}}"#,
        ] {
            let outcome = answered_with(&mut client, text);
            assert!(matches!(outcome, Outcome::Invalid(Violation::Malformed(_))), "{text}: {outcome:?}");
        }
        for result in ["[1]", "null", "3", "\"x\"", "true"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{result}}}"#);
            let outcome = answered_with(&mut client, &text);
            assert!(matches!(outcome, Outcome::Invalid(Violation::BadResult { .. })), "{text}: {outcome:?}");
        }
    });
}

#[test]
fn a_request_never_completes_a_call() {
    // P-022 H-200
    everywhere(|mut client| {
        client.link.server_mut().on("tools/call", |request, out| {
            out.message(json!({"jsonrpc": "2.0", "id": request["id"], "method": "ping", "result": {}}));
            out.message(json!({"jsonrpc": "2.0", "id": request["id"], "method": "ping"}));
        });
        let call = client.call();
        client.wait_ms(100);
        assert_eq!(client.outcome(call), None);
        client.still_works();
    });
}

#[test]
fn many_requests_at_once_each_get_their_own_answer() {
    // P-007 H-197
    everywhere(|mut client| {
        client.link.server_mut().on("tools/call", |request, out| {
            let n = request["params"]["arguments"]["n"].as_u64().unwrap();
            let result = json!({"resultType": "complete", "content": [], "n": n});
            out.after(std::time::Duration::from_millis(500 - n)).result(request, result);
        });
        let calls: Vec<_> = (0..200)
            .map(|n| {
                let params = format!(r#"{{"name":"echo","arguments":{{"n":{n}}}}}"#);
                client.request(Method::ToolsCall, Some(&params))
            })
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(client.complete(call)["n"], n);
        }
    });
}

#[test]
fn limits_on_open_requests_and_on_their_size_are_the_callers_error() {
    // H-196
    on_all_links(|on| {
        let mut config = config();
        config.limits.max_in_flight = 3;
        config.limits.max_message_bytes = 4096;
        let mut client = Client::ready(on, config, Server::modern().silent_on("tools/call"));
        let first = client.call();
        client.call();
        client.call();
        let options = RequestOptions::default();
        let refused = client.link.request(Method::ToolsList, None, &options);
        assert_eq!(refused, Err(ApiError::TooManyInFlight { limit: 3 }));
        client.link.cancel(first, None).unwrap();
        let big = RawJson::parse_str(&format!(r#"{{"name":"{}"}}"#, "x".repeat(5000))).unwrap();
        let refused = client.link.request(Method::ToolsCall, Some(big), &options);
        assert!(matches!(refused, Err(ApiError::TooLarge { limit: 4096, .. })), "{refused:?}");
        client.still_works();
    });
}
