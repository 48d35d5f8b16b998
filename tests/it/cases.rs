//! Cases from public reports that fit no other file: what is in results and listings.

use sanswire::client::{Outcome, Verdict};
use sanswire::error::Violation;
use sanswire::mcp::Method;
use sanswire_tests::client::{Client, on_both_links, remembering};
use sanswire_tests::peer::replay;
use serde_json::json;

fn playing(on: sanswire_tests::client::On, file: &[u8]) -> Client {
    Client::ready(on, remembering(Verdict::Legacy), replay(file))
}

fn standing_check(mut client: Client) {
    client.link.server_mut().on("tools/list", |request, out| out.result(request, json!({"tools": []})));
    client.still_works();
}

#[test]
fn b_23_empty_result_as_array() {
    on_both_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-23.jsonl"));
        assert!(client.peer().unwrap().capabilities.has("tools"), "an empty array declares as well");
        let ping = client.request(Method::Ping, None);
        assert_eq!(client.complete(ping), json!({}));
        let list = client.request(Method::ToolsList, None);
        assert_eq!(client.complete(list)["tools"][0]["name"], "echo");
        assert_eq!(client.violations(), [Violation::EmptyArrayAsObject], "told once");
        standing_check(client);
    });
}

#[test]
fn b_23_a_filled_array_fails_its_own_call() {
    on_both_links(|on| {
        let mut client = Client::legacy(on);
        client.link.server_mut().on("ping", |request, out| out.result(request, json!([1])));
        let ping = client.request(Method::Ping, None);
        assert!(matches!(client.finish(ping), Outcome::Invalid(Violation::BadResult { .. })));
        client.still_works();
    });
}

#[test]
fn b_39_nextcursor_null() {
    // P-258
    on_both_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-39.jsonl"));
        for (method, items) in [(Method::ToolsList, 1), (Method::ResourcesList, 0)] {
            let limits = client.link.session().config().limits.clone();
            let mut listing = sanswire::client::Listing::new(method, &limits);
            let (method, params) = listing.first();
            let request = client.link.request(method, params, &Default::default()).unwrap();
            let outcome = client.finish(request);
            let sanswire::client::listing::Step::Done(listed) = listing.next(outcome) else {
                panic!("null ends the listing")
            };
            assert_eq!(listed.cut, None);
            let page = sanswire_tests::client::value(&listed.pages[0]);
            assert_eq!(page["tools"].as_array().map_or(0, Vec::len), items);
        }
        standing_check(client);
    });
}

#[test]
fn b_41_anyof_root_drops_all() {
    on_both_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-41.jsonl"));
        let list = client.request(Method::ToolsList, None);
        let tools = client.complete(list)["tools"].clone();
        assert_eq!(tools.as_array().unwrap().len(), 3, "the session leaves tools alone");
        standing_check(client);
    });
}

#[test]
fn b_43_content_null_members() {
    on_both_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-43.jsonl"));
        let call = client.call();
        let result = client.complete(call);
        assert_eq!(result["content"].as_array().unwrap().len(), 3);
        assert_eq!(result["content"][0]["text"], "hi");
        assert!(client.violations().is_empty());
        standing_check(client);
    });
}

#[test]
fn b_45_structured_only_result() {
    on_both_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-45.jsonl"));
        let expected = [
            json!({"content": [], "structuredContent": {"status": "available", "n": 5}}),
            json!({"structuredContent": [1, 2]}),
            json!({"content": [], "structuredContent": 0}),
            json!({}),
        ];
        for expected in expected {
            let call = client.call();
            assert_eq!(client.complete(call), expected, "both members as they were sent");
        }
        assert!(client.violations().is_empty());
        standing_check(client);
    });
}

#[test]
fn b_55_capability_without_handler() {
    // P-089 P-403 P-096 P-364 P-372
    on_both_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-55.jsonl"));
        assert_eq!(client.last("initialize").message["params"]["capabilities"], json!({}));
        let call = client.call();
        assert_eq!(client.complete(call)["content"][0]["text"], "done");
        client.wait_ms(10);
        let responses = client.link.server().responses();
        assert_eq!(responses.len(), 5);
        for (response, id) in responses.iter().zip(50..) {
            assert_eq!(response["id"], id);
            if id == 54 {
                assert_eq!(response["result"], json!({}));
            } else {
                assert_eq!(response["error"]["code"], -32601, "{id}");
            }
        }
        assert_eq!(client.link.session().stats().refused_requests, 4);
        standing_check(client);
    });
}

#[test]
fn b_55_on_a_modern_session_nothing_is_answered() {
    // P-022 P-120
    on_both_links(|on| {
        let mut client = Client::modern(on);
        let requests = ["elicitation/create", "sampling/createMessage", "roots/list", "no/such", "ping"];
        for (id, method) in (50..).zip(requests) {
            client.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
        }
        client.wait_ms(10);
        assert!(client.link.server().responses().is_empty());
        let told = client.violations();
        assert!(told.iter().all(|told| matches!(told, Violation::WrongDirection { .. })), "{told:?}");
        assert_eq!(client.link.session().stats().dropped_requests, 5);
        client.still_works();
    });
}
