//! The handshake of the older revisions.

use std::time::Duration;

use sanswire::client::{RequestOptions, Verdict};
use sanswire::error::{ApiError, CloseReason, Violation};
use sanswire::mcp::{Era, Method, Revision};
use sanswire_tests::client::{Client, config, on_all_links, on_both_links, remembering};
use sanswire_tests::peer::{Server, echo_tool, initialize_result};
use serde_json::json;

fn legacy() -> sanswire::client::Config {
    remembering(Verdict::Legacy)
}

#[test]
fn every_legacy_version_is_accepted_from_the_answer() {
    // P-078 P-079 P-088 H-202
    on_all_links(|on| {
        for revision in Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy) {
            let mut client = Client::start(on, legacy(), Server::legacy(revision.as_str()));
            let peer = client.until_ready();
            assert_eq!(peer.revision, revision);
            assert_eq!(client.last("initialize").message["params"]["protocolVersion"], "2025-11-25");
            client.still_works();
        }
    });
}

#[test]
fn the_opening_is_initialize_then_initialized_then_requests() {
    // P-076 P-077 P-085 P-001 P-003 H-202
    on_all_links(|on| {
        let mut client = Client::legacy(on);
        client.still_works();
        let methods = client.link.server().methods();
        assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list"]);
        let initialize = client.last("initialize").message;
        assert_eq!(initialize["jsonrpc"], "2.0");
        assert!(initialize["id"].is_u64());
        let params = initialize["params"].as_object().unwrap();
        let members: Vec<_> = params.keys().map(String::as_str).collect();
        assert_eq!(members, ["capabilities", "clientInfo", "protocolVersion"]);
        let initialized = client.last("notifications/initialized").message;
        assert_eq!(initialized, json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    });
}

#[test]
fn a_server_that_knows_three_methods_is_enough() {
    // H-206
    on_both_links(|on| {
        let init = json!({
            "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "s", "version": "0"}
        });
        // Whatever else it is sent it says nothing to.
        let server = Server::mute()
            .with("initialize", move |request, out| out.result(request, init.clone()))
            .with("tools/list", |request, out| out.result(request, json!({"tools": [echo_tool()]})))
            .with("tools/call", |request, out| out.result(request, json!({"content": []})));
        let mut client = Client::ready(on, config(), server);
        assert!(client.elapsed_ms() < 3000, "{} ms", client.elapsed_ms());
        client.still_works();
        let call = client.call();
        assert_eq!(client.complete(call), json!({"content": []}));
        assert!(client.violations().is_empty());
    });
}

#[test]
fn what_the_server_says_of_itself_is_told() {
    on_all_links(|on| {
        let client = Client::legacy(on);
        let peer = client.peer().unwrap();
        assert_eq!(peer.era, Era::Legacy);
        assert_eq!((peer.server.name.as_str(), peer.server.version.as_str()), ("old", "1"));
        assert!(peer.capabilities.has("logging") && !peer.capabilities.has("resources"));
        assert!(peer.capabilities.flag("tools", "listChanged"));
        assert_eq!(sanswire_tests::client::value(&peer.raw), initialize_result("2025-11-25"));
    });
}

#[test]
fn an_unknown_version_in_the_answer_closes_the_connection() {
    // P-084 P-090
    for version in ["1999-01-01", "2026-07-28", "2025-11-26", "", "latest"] {
        on_all_links(|on| {
            let mut client = Client::start(on, legacy(), Server::legacy(version));
            let supported = vec![version.to_owned()];
            assert_eq!(client.until_closed(), CloseReason::Incompatible { supported });
            assert_eq!(client.link.server().methods(), ["initialize"], "nothing follows");
        });
    }
}

#[test]
fn an_answer_without_a_version_closes_the_connection() {
    // P-090
    on_all_links(|on| {
        let server = Server::legacy("x").with("initialize", |request, out| out.result(request, json!({})));
        let mut client = Client::start(on, legacy(), server);
        let reason = client.until_closed();
        assert!(matches!(reason, CloseReason::Protocol(Violation::BadResult { .. })), "{reason:?}");
    });
}

#[test]
fn nothing_is_asked_before_ready() {
    // P-086 P-076
    on_all_links(|on| {
        let server = Server::legacy("2025-11-25").with("initialize", |request, out| {
            out.after(Duration::from_secs(1)).result(request, initialize_result("2025-11-25"));
        });
        let mut client = Client::start(on, legacy(), server);
        let options = RequestOptions::default();
        for method in [Method::ToolsList, Method::Ping] {
            assert_eq!(client.link.request(method, None, &options), Err(ApiError::NotReady));
        }
        assert_eq!(client.link.notify(Method::RootsListChanged, None), Err(ApiError::NotReady));
        client.until_ready();
        client.still_works();
    });
}

#[test]
fn initialize_is_never_cancelled() {
    // P-287 P-090 H-074
    on_all_links(|on| {
        let mut client = Client::start(on, legacy(), Server::mute());
        client.wait_ms(100);
        client.link.close();
        client.until_closed();
        client.wait_ms(100);
        assert_eq!(client.link.server().methods(), ["initialize"]);

        let mut client = Client::start(on, legacy(), Server::mute());
        let reason = client.until_closed();
        assert!(matches!(reason, CloseReason::ConnectTimeout { limit_ms: 15_000, .. }), "{reason:?}");
        client.wait_ms(100);
        assert_eq!(client.link.server().methods(), ["initialize"]);
    });
}

#[test]
fn a_ping_during_the_handshake_is_answered() {
    // P-096 P-007
    on_both_links(|on| {
        let server = Server::legacy("2025-11-25").with("initialize", |request, out| {
            out.push().request(json!("p-1"), "ping", json!({}));
            out.after(Duration::from_secs(1)).result(request, initialize_result("2025-11-25"));
        });
        let mut client = Client::start(on, legacy(), server);
        client.wait_ms(500);
        assert_eq!(client.link.server().responses(), [&json!({"jsonrpc": "2.0", "id": "p-1", "result": {}})]);
        client.until_ready();
        client.still_works();
    });
}

#[test]
fn other_requests_during_the_handshake_are_refused() {
    on_both_links(|on| {
        let server = Server::legacy("2025-11-25").with("initialize", |request, out| {
            out.push().request(json!(5), "roots/list", json!({}));
            out.after(Duration::from_secs(1)).result(request, initialize_result("2025-11-25"));
        });
        let mut config = legacy();
        config.capabilities.roots = true;
        let mut client = Client::start(on, config, server);
        client.until_ready();
        let responses = client.link.server().responses();
        assert_eq!(responses.len(), 1);
        assert_eq!(responses[0]["error"]["code"], -32601);
        client.still_works();
    });
}

#[test]
fn b_27_notification_before_init_reply() {
    // P-096
    on_all_links(|on| {
        let server = sanswire_tests::peer::replay(include_bytes!("../cases/b-27.jsonl"));
        let mut client = Client::start(on, legacy(), server);
        client.until_ready();
        client.wait_ms(10);
        assert_eq!(client.link.server().responses(), [&json!({"jsonrpc": "2.0", "id": 90, "result": {}})]);
        assert!(client.notifications().is_empty(), "nothing is told before `Ready`");
        assert_eq!(client.link.session().stats().dropped_notifications, 2);
        let methods = client.link.server().methods();
        assert_eq!(methods.last(), Some(&"notifications/initialized"));
        client.link.server_mut().on("tools/list", |request, out| out.result(request, json!({"tools": []})));
        client.still_works();
    });
}

#[test]
fn what_is_declared_is_written_and_nothing_else() {
    // P-089 P-383 P-399 P-364 P-479
    on_all_links(|on| {
        let mut config = legacy();
        config.capabilities.roots = true;
        config.capabilities.sampling = true;
        config.capabilities.sampling_tools = true;
        config.capabilities.elicitation_form = true;
        config.capabilities.elicitation_url = true;
        let client = Client::ready(on, config, Server::legacy("2025-11-25"));
        assert_eq!(
            client.last("initialize").message["params"]["capabilities"],
            json!({"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}})
        );
    });
}

#[test]
fn a_refused_handshake_ends_with_the_servers_word() {
    // P-090
    on_all_links(|on| {
        let server = Server::legacy("x").refusing("initialize", -32000).refusing("server/discover", -32000);
        let mut client = Client::start(on, legacy(), server);
        let reason = client.until_closed();
        assert!(matches!(&reason, CloseReason::Refused { error, .. } if error.code == -32000), "{reason:?}");
    });
}

#[test]
fn what_the_server_calls_itself_changes_nothing() {
    // P-047
    on_all_links(|on| {
        let run = |info: serde_json::Value| {
            let server = Server::legacy("2025-11-25").with("initialize", move |request, out| {
                let mut result = initialize_result("2025-11-25");
                result["serverInfo"] = info.clone();
                out.result(request, result);
            });
            let mut client = Client::ready(on, legacy(), server);
            let call = client.call();
            client.complete(call);
            client.still_works();
            let received = &client.link.server().received;
            received.iter().map(|received| received.text.clone()).collect::<Vec<_>>()
        };
        let usual = run(json!({"name": "old", "version": "1"}));
        for info in [
            json!({"name": "claude", "version": "0.0.1"}),
            json!({}),
            json!(null),
            json!([1]),
            json!({"name": 7}),
        ] {
            assert_eq!(run(info), usual);
        }
    });
}
