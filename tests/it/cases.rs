//! Cases from public reports that fit no other file: what is in results and listings.

use sanswire::client::listing::Step;
use sanswire::client::{Listing, Outcome, Verdict};
use sanswire::error::Violation;
use sanswire::jsonrpc::{Kind, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::call_result::{CallToolResult, ResultFlaw};
use sanswire::mcp::types::content::{Content, ContentBlock};
use sanswire::mcp::types::flaw::Flaw;
use sanswire::mcp::types::page::{Page, PageWarning, SetAsideReason};
use sanswire::mcp::types::resource::Resource;
use sanswire::mcp::types::tool::{Tool, ToolNote, tools};
use sanswire_tests::client::{Client, on_all_links, on_both_links, remembering, value};
use sanswire_tests::peer::{Server, replay};
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
    on_all_links(|on| {
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
    on_all_links(|on| {
        let mut client = Client::legacy(on);
        client.link.server_mut().on("ping", |request, out| out.result(request, json!([1])));
        let ping = client.request(Method::Ping, None);
        assert!(matches!(client.finish(ping), Outcome::Invalid(Violation::BadResult { .. })));
        client.still_works();
    });
}

/// A request's result, as it came.
fn raw(client: &mut Client, method: Method) -> RawJson {
    let request = client.request(method, None);
    match client.finish(request) {
        Outcome::Complete(result) => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn b_39_nextcursor_null() {
    // P-258
    on_all_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-39.jsonl"));
        let limits = client.link.session().config().limits.clone();
        let page = raw(&mut client, Method::ToolsList);
        let step = Listing::new(Method::ToolsList, &limits).next(Outcome::Complete(page.clone()));
        assert!(matches!(step, Step::Done(listed) if listed.cut.is_none()), "null ends the listing");
        assert_eq!(tools(&page).items.len(), 1);

        let page = raw(&mut client, Method::ResourcesList);
        let step = Listing::new(Method::ResourcesList, &limits).next(Outcome::Complete(page.clone()));
        assert!(matches!(step, Step::Done(listed) if listed.cut.is_none()));
        let page = Page::<Resource>::read(&page);
        assert!(page.items.is_empty());
        assert!(matches!(page.warnings[..], [PageWarning::NoItems("resources")]), "{:?}", page.warnings);
        standing_check(client);
    });
}

#[test]
fn b_41_anyof_root_drops_all() {
    on_all_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-41.jsonl"));
        let page = tools(&raw(&mut client, Method::ToolsList));
        let names: Vec<&str> = page.items.iter().map(Tool::name).collect();
        assert_eq!(names, ["one", "two", "three"]);
        assert_eq!(page.items[1].notes(), [ToolNote::InputSchemaRootType]);
        let schema = value(&page.items[1].effective_input_schema());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["anyOf"].as_array().unwrap().len(), 2);

        for (odd, note) in [
            (json!({"name": "two", "inputSchema": {}}), ToolNote::InputSchemaRootType),
            (json!({"name": "two", "inputSchema": true}), ToolNote::InputSchemaNotAnObject(Kind::Bool)),
            (json!({"name": "two", "inputSchema": "x"}), ToolNote::InputSchemaNotAnObject(Kind::String)),
            (json!({"name": "two"}), ToolNote::NoInputSchema),
        ] {
            let schema = json!({"type": "object"});
            let all = json!([{"name": "one", "inputSchema": schema}, odd, {"name": "three", "inputSchema": schema}]);
            client.link.server_mut().on("tools/list", move |request, out| {
                out.result(request, json!({"tools": all.clone()}));
            });
            let page = tools(&raw(&mut client, Method::ToolsList));
            let names: Vec<&str> = page.items.iter().map(Tool::name).collect();
            assert_eq!(names, ["one", "two", "three"]);
            assert_eq!(page.items[1].notes(), [note]);
            assert_eq!(value(&page.items[1].effective_input_schema())["type"], "object");
            assert!(page.items[0].notes().is_empty() && page.items[2].notes().is_empty());
        }
        client.still_works();
    });
}

#[test]
fn b_43_content_null_members() {
    on_all_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-43.jsonl"));
        let result = CallToolResult::new(raw(&mut client, Method::ToolsCall));
        let blocks: Vec<ContentBlock<'_>> = result.content().collect();
        assert_eq!(blocks.len(), 3);
        assert_eq!(blocks[0].text().as_deref(), Some("hi"));
        assert!(blocks[0].meta().is_none());
        assert!(matches!(
            blocks[1].content(),
            Content::Unknown { flaw: Some(Flaw::Missing("mimeType")), .. }
        ));
        assert!(matches!(blocks[2].content(), Content::Unknown { flaw: Some(_), .. }), "{:?}", blocks[2]);
        assert_eq!(blocks[1].raw().get("data").and_then(|data| data.str()).unwrap().decode(), "aGk=");
        assert!(!result.is_error());
        assert!(result.structured_content().unwrap().is_null(), "a value, since it is there");
        assert!(client.violations().is_empty());
        standing_check(client);
    });
}

#[test]
fn b_45_structured_only_result() {
    on_all_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-45.jsonl"));
        let expected = [
            json!({"content": [], "structuredContent": {"status": "available", "n": 5}}),
            json!({"structuredContent": [1, 2]}),
            json!({"content": [], "structuredContent": 0}),
            json!({}),
        ];
        for expected in expected {
            let result = raw(&mut client, Method::ToolsCall);
            assert_eq!(value(&result), expected, "both members as they were sent");
            let result = CallToolResult::new(result);
            assert_eq!(result.content().count(), 0);
            let structured = result.structured_content().map(|raw| raw.as_bytes().to_vec());
            let structured = structured.map(|raw| serde_json::from_slice::<serde_json::Value>(&raw).unwrap());
            assert_eq!(structured.as_ref(), expected.get("structuredContent"));
            let empty = expected == json!({});
            assert_eq!(result.flaw(), empty.then_some(ResultFlaw::Empty), "{expected}");
        }
        assert!(client.violations().is_empty());
        standing_check(client);
    });
}

#[test]
fn b_47_nested_defs() {
    // P-108
    on_all_links(|on| {
        let mut client = playing(on, include_bytes!("../cases/b-47.jsonl"));
        let listing = raw(&mut client, Method::ToolsList);
        let page = tools(&listing);
        let all = value(&listing)["tools"].as_array().unwrap().len();
        assert_eq!(page.items.len() + page.set_aside_total, all, "nothing is lost without a word");
        assert_eq!(page.items[0].name(), "plain");
        assert_eq!(page.set_aside[0].name.as_deref(), Some("q"), "it refers to a schema elsewhere");
        assert!(matches!(page.set_aside[0].reason, SetAsideReason::InputSchema(_)));
        standing_check(client);
    });
}

#[test]
fn b_55_capability_without_handler() {
    // P-089 P-403 P-096 P-364 P-372
    on_all_links(|on| {
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

#[test]
fn the_last_violation_is_answered_by_nothing() {
    // P-022
    on_both_links(|on| {
        let long = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\",\"x\":\"{}\"}}\n",
            "x".repeat(5000)
        );
        let malformed = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\",\"params\":[1]}\n";
        for line in [long.as_str(), malformed] {
            for (start, server) in
                [(Verdict::Modern, Server::modern()), (Verdict::Legacy, Server::legacy("2025-11-25"))]
            {
                let mut config = remembering(start);
                config.limits.violation_budget = 0;
                config.limits.max_message_bytes = 4096;
                let mut client = Client::ready(on, config, server);
                client.push_raw(line);
                client.until_closed();
                client.wait_ms(100);
                assert!(client.link.server().responses().is_empty());
            }
        }
    });
}
