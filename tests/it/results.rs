//! Results under 2026-07-28: their kinds.

use sanswire::client::Outcome;
use sanswire::error::Violation;
use sanswire::mcp::Method;
use sanswire_tests::client::{Client, On, on_all_links};
use serde_json::{Value, json};

fn result_of(client: &mut Client, method: &str, result: Value) -> Outcome {
    client.link.server_mut().on(method, move |request, out| out.result(request, result.clone()));
    let request = client.request(Method::from_name(method), None);
    client.finish(request)
}

#[test]
fn b_33_legacy_server_answers_modern_request() {
    // P-018 P-264
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let tools = json!({"tools": [{"name": "search", "inputSchema": {"type": "object"}}]});
        for _ in 0..3 {
            assert!(matches!(result_of(&mut client, "tools/list", tools.clone()), Outcome::Complete(_)));
        }
        assert_eq!(client.violations(), [Violation::MissingResultType], "told once");

        let mut odd = tools;
        odd["resultType"] = json!("complete");
        odd["ttlMs"] = json!(-5);
        odd["cacheScope"] = json!("shared");
        let Outcome::Complete(listing) = result_of(&mut client, "tools/list", odd) else { panic!() };
        let hint = sanswire::mcp::types::lifecycle::CacheHint::read(listing.view());
        assert_eq!((hint.ttl_ms, hint.public), (0, false));

        let later = json!({"resultType": "later", "tools": []});
        let outcome = result_of(&mut client, "tools/list", later);
        // P-019
        let Outcome::Invalid(violation) = outcome else { panic!("{outcome:?}") };
        assert_eq!(violation, Violation::UnknownResultType { name: "later".into() });
        assert!(violation.to_string().contains("later"));
        assert_eq!(client.violations().len(), 1, "the call carries it");
        client.link.server_mut().on("tools/list", |request, out| {
            out.result(request, json!({"resultType": "complete", "tools": []}));
        });
        client.still_works();
    });
}

#[test]
fn kinds_of_extensions_that_nobody_declared_are_invalid() {
    // P-020 P-426 P-019
    on_all_links(|on| {
        let mut client = Client::modern(on);
        for kind in [json!("task"), json!("Complete"), json!(""), json!(1), json!(null)] {
            let outcome = result_of(&mut client, "tools/call", json!({"resultType": kind, "content": []}));
            assert!(matches!(outcome, Outcome::Invalid(_)), "{kind}: {outcome:?}");
        }
        client.still_works();
    });
}

#[test]
fn an_extension_that_only_the_client_declares_changes_nothing() {
    // P-069 P-071
    on_all_links(|on| {
        let mut config = sanswire_tests::client::config();
        let extensions = sanswire_tests::client::json(r#"{"com.example/tasks":{"a":1}}"#);
        config.capabilities.extensions = Some(sanswire::mcp::types::lifecycle::RawCapabilities(extensions));
        let mut client = Client::ready(on, config, sanswire_tests::peer::Server::modern());
        client.still_works();
        let meta = client.last("tools/list").message["params"]["_meta"].clone();
        let declared = &meta["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*declared, json!({"extensions": {"com.example/tasks": {"a": 1}}}));
        let outcome = result_of(&mut client, "tools/call", json!({"resultType": "task", "taskId": "t"}));
        assert!(matches!(outcome, Outcome::Invalid(Violation::UnknownResultType { .. })), "{outcome:?}");
        client.still_works();
    });
}

#[test]
fn input_is_asked_for_in_answer_to_three_methods_only() {
    // P-308
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let asks = json!({"resultType": "input_required", "requestState": "s"});
        for method in ["tools/call", "prompts/get", "resources/read"] {
            let outcome = result_of(&mut client, method, asks.clone());
            assert!(matches!(outcome, Outcome::InputRequired(_)), "{method}: {outcome:?}");
        }
        for method in ["resources/list", "prompts/list", "completion/complete", "server/discover"] {
            let outcome = result_of(&mut client, method, asks.clone());
            assert!(
                matches!(outcome, Outcome::Invalid(Violation::BadResult { .. })),
                "{method}: {outcome:?}"
            );
        }
        client.still_works();
    });
}

#[test]
fn a_legacy_result_has_no_kind() {
    on_all_links(|on| {
        let mut client = Client::legacy(on);
        for kind in ["later", "input_required"] {
            let outcome = result_of(&mut client, "tools/call", json!({"resultType": kind, "content": []}));
            assert!(matches!(outcome, Outcome::Complete(_)), "{outcome:?}");
        }
        assert!(client.violations().is_empty());
    });
}

#[test]
fn unknown_members_of_a_result_stay_readable() {
    on_all_links(|on| {
        let mut client = Client::modern(on);
        client.link.server_mut().on("tools/call", |request, out| {
            let id = &request["id"];
            out.raw(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\"content\":[],\
                 \"com.example/x\":1.50,\"n\":12345678901234567890123}}}}\n"
            ));
        });
        let call = client.call();
        let Outcome::Complete(result) = client.finish(call) else { panic!() };
        assert!(result.as_str().contains(r#""com.example/x":1.50,"n":12345678901234567890123"#));
    });
}

#[test]
fn an_empty_array_for_an_object_is_taken_and_told_once() {
    on_all_links(|on| {
        for mut client in [Client::modern(on), Client::legacy(on)] {
            for _ in 0..3 {
                client.link.server_mut().on("tools/call", |request, out| out.result(request, json!([])));
                let call = client.call();
                let Outcome::Complete(result) = client.finish(call) else { panic!() };
                assert_eq!(result.as_str(), "{}");
            }
            let told = client.violations();
            assert_eq!(told.iter().filter(|told| **told == Violation::EmptyArrayAsObject).count(), 1);
        }
    });
}

#[test]
fn too_long_an_answer_fails_its_own_call() {
    // H-196
    on_all_links(|on| {
        let mut config = sanswire_tests::client::config();
        config.limits.max_message_bytes = 8192;
        let mut client = Client::ready(on, config, sanswire_tests::peer::Server::modern());
        client.link.server_mut().on("tools/call", |request, out| {
            out.result(request, json!({"resultType": "complete", "content": [], "x": "y".repeat(10_000)}));
        });
        let call = client.call();
        let outcome = client.finish(call);
        assert!(matches!(outcome, Outcome::TooLarge { limit: 8192, len } if len > 10_000), "{outcome:?}");
        client.still_works();
        if on == On::Line {
            client.push(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "z".repeat(9000)}}));
            client.wait_ms(10);
            assert!(matches!(client.violations()[..], [Violation::MessageTooLong { limit: 8192, .. }]));
            client.still_works();
        }
    });
}

#[test]
fn a_modern_server_may_still_say_not_found_in_the_old_way() {
    // P-345
    on_all_links(|on| {
        for mut client in [Client::modern(on), Client::legacy(on)] {
            client
                .link
                .server_mut()
                .on("resources/read", |request, out| out.error(request, -32002, "no such resource"));
            let read = client.request(Method::ResourcesRead, Some(r#"{"uri":"file:///x"}"#));
            let outcome = client.finish(read);
            let Outcome::Error(error) = outcome else { panic!("{outcome:?}") };
            assert_eq!(error.code, sanswire::mcp::codes::RESOURCE_NOT_FOUND);
            assert!(client.violations().is_empty());
            client.still_works();
        }
    });
}
