//! Ids that come back wrong, and errors without one.

use std::time::Duration;

use sanswire::client::{Outcome, RequestOptions, Verdict};
use sanswire::error::Violation;
use sanswire::mcp::Method;
use sanswire_tests::client::{Client, On, on_all_links, on_both_links, remembering};
use sanswire_tests::peer::{Server, initialize_result, replay};
use serde_json::json;

#[test]
fn b_13_reply_id_becomes_string() {
    // P-007
    on_all_links(|on| {
        let mut client = Client::legacy(on);
        client.link.server_mut().on("tools/call", |request, out| {
            let id = request["id"].to_string();
            out.message(json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
        });
        let mut options = RequestOptions::default();
        options.idle = Some(Duration::from_secs(1));
        let call = client.request_with(Method::ToolsCall, Some(r#"{"name":"a"}"#), &options);
        let outcome = client.finish(call);
        assert!(matches!(outcome, Outcome::TimedOut { mistyped_reply: true, .. }), "{outcome:?}");
        let told = client.violations();
        assert!(matches!(told[..], [Violation::UnknownResponseId { type_differs: true, .. }]), "{told:?}");
        client.still_works();
    });
}

#[test]
fn b_13_a_switch_takes_the_canonical_spelling_and_no_other() {
    for (spelling, taken) in [("{}", true), ("0{}", false), ("{}.0", false), (" {}", false), ("+{}", false)] {
        on_all_links(|on| {
            let mut config = remembering(Verdict::Legacy);
            config.lenient_ids = true;
            let server = Server::legacy("2025-11-25").with("tools/call", move |request, out| {
                let id = spelling.replace("{}", &request["id"].to_string());
                out.message(json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
            });
            let mut client = Client::ready(on, config, server);
            let call = client.call();
            let complete = matches!(client.finish(call), Outcome::Complete(_));
            assert_eq!(complete, taken, "{spelling}");
            client.still_works();
        });
    }
}

#[test]
fn b_13_the_switch_opens_the_whole_file() {
    let mut config = remembering(Verdict::Legacy);
    config.lenient_ids = true;
    let mut client = Client::start(On::Line, config, replay(include_bytes!("../cases/b-13.jsonl")));
    client.until_ready();
    client.still_works();
}

#[test]
fn b_15_null_id_error_reply() {
    // P-008 P-004
    on_all_links(|on| {
        let server = replay(include_bytes!("../cases/b-15.jsonl"));
        let mut client = Client::ready(on, remembering(Verdict::Legacy), server);
        client.still_works();
        let told = client.violations();
        let codes: Vec<i64> = told
            .iter()
            .map(|told| match told {
                Violation::UnattributedError { code } => *code,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(codes, [-32700, -32600]);
    });
}

#[test]
fn b_15_an_error_without_an_id_fails_no_open_call() {
    // P-008
    on_both_links(|on| {
        let mut client = Client::modern(on);
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.wait_ms(5);
        client.push(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "x"}}));
        client.wait_ms(5);
        assert_eq!(client.outcome(call), None);
        assert_eq!(client.violations(), [Violation::UnattributedError { code: -32603 }]);
        client.still_works();
    });
}

#[test]
fn an_error_without_an_id_does_not_end_the_handshake() {
    on_all_links(|on| {
        let server = Server::legacy("2025-11-25").with("initialize", |request, out| {
            out.push().message(json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "x"}}));
            out.after(Duration::from_millis(50)).result(request, initialize_result("2025-11-25"));
        });
        let mut client = Client::ready(on, remembering(Verdict::Legacy), server);
        client.still_works();
    });
}
