//! Giving requests up, answers that come late, and the end of a connection.

use sanswire::client::{Outcome, RequestOptions};
use sanswire::error::{ApiError, CloseReason, Violation};
use sanswire::mcp::{Era, Method};
use sanswire_tests::client::{Client, On, config, on_both_links};
use sanswire_tests::peer::Server;
use serde_json::json;

fn both_eras(scenario: impl Fn(Client, Era)) {
    on_both_links(|on| {
        scenario(Client::legacy(on), Era::Legacy);
        scenario(Client::modern(on), Era::Modern);
    });
}

#[test]
fn a_cancel_ends_the_request_at_once_and_names_it() {
    // P-123 P-286 P-285 P-291 P-200 P-476 H-074
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.wait_ms(10);
        client.link.cancel(call, Some("the user \"left\"\n")).unwrap();
        assert_eq!(client.finish(call), Outcome::Cancelled);
        client.wait_ms(10);
        let request = client.last("tools/call");
        if client.on.has_streams() && era == Era::Modern {
            assert_eq!(client.link.server().closed_streams, [request.stream.unwrap()]);
            assert_eq!(client.count("notifications/cancelled"), 0);
        } else {
            let notice = client.last("notifications/cancelled").message;
            assert_eq!(
                notice["params"],
                json!({"requestId": request.message["id"], "reason": "the user \"left\"\n"})
            );
        }
        client.still_works();
    });
}

#[test]
fn only_what_is_open_can_be_cancelled() {
    // P-285 P-286
    both_eras(|mut client, _| {
        let call = client.call();
        client.complete(call);
        assert_eq!(client.link.cancel(call, None), Err(ApiError::UnknownRequest));
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.link.cancel(call, None).unwrap();
        assert_eq!(client.link.cancel(call, None), Err(ApiError::UnknownRequest));
        client.wait_ms(10);
        assert!(client.count("notifications/cancelled") <= 1);
        client.still_works();
    });
}

#[test]
fn a_reason_is_cut_between_characters() {
    on_both_links(|on| {
        let mut client = Client::legacy(on);
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.link.cancel(call, Some(&"é".repeat(300))).unwrap();
        client.wait_ms(10);
        let notice = client.last("notifications/cancelled").message;
        assert_eq!(notice["params"]["reason"].as_str().unwrap(), "é".repeat(128));
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.link.cancel(call, None).unwrap();
        client.wait_ms(10);
        let notice = client.last("notifications/cancelled").message;
        assert!(notice["params"].get("reason").is_none());
    });
}

#[test]
fn late_response_after_cancel_is_counted_and_dropped() {
    // P-293 P-294
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |request, out| {
            let result = json!({"resultType": "complete", "content": []});
            out.after(std::time::Duration::from_millis(100)).result(request, result.clone());
            out.after(std::time::Duration::from_millis(200)).error(request, -1, "again");
        });
        let call = client.call();
        client.wait_ms(10);
        client.link.cancel(call, None).unwrap();
        client.wait_ms(500);
        assert_eq!(client.outcome(call), Some(Outcome::Cancelled));
        let stats = client.link.session().stats().clone();
        // A closed stream brings nothing, and an answered one ends.
        let expected = match (client.on, era) {
            (On::Line, _) => 2,
            (On::Exchanges | On::Http, Era::Legacy) => 1,
            (On::Exchanges | On::Http, Era::Modern) => 0,
        };
        assert_eq!(stats.late_responses, expected);
        assert_eq!(stats.violations, 0);
        client.still_works();
    });
}

#[test]
fn a_second_answer_is_counted_and_dropped() {
    // P-294 H-197
    on_both_links(|on| {
        let mut client = Client::legacy(on);
        client.link.server_mut().on("tools/call", |request, out| {
            out.result(request, json!({"content": [], "n": 1}));
            out.push().result(request, json!({"content": [], "n": 2}));
        });
        let call = client.call();
        assert_eq!(client.complete(call)["n"], 1);
        client.wait_ms(10);
        assert_eq!(client.link.session().stats().late_responses, 1);
        assert!(client.violations().is_empty());
        client.still_works();
    });
}

#[test]
fn an_answer_to_what_was_never_asked_is_a_violation() {
    // P-007 H-197
    both_eras(|mut client, _| {
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.wait_ms(10);
        for id in [json!(4711), json!(0), json!(-1), json!("x"), json!(1.5)] {
            client.push(json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        }
        client.wait_ms(10);
        let told = client.violations();
        assert_eq!(told.len(), 5, "{told:?}");
        let unknown =
            |told: &Violation| matches!(told, Violation::UnknownResponseId { type_differs: false, .. });
        assert_eq!(told.iter().filter(|told| unknown(told)).count(), 4);
        assert_eq!(client.outcome(call), None, "none of it is another's");
        client.still_works();
    });
}

#[test]
fn close_gives_up_what_is_open_and_tells_the_server() {
    // P-291 P-123 H-203
    both_eras(|mut client, era| {
        client.link.server_mut().on("tools/call", |_, _| {});
        let calls = [client.call(), client.call()];
        client.wait_ms(10);
        client.link.close();
        assert_eq!(client.until_closed(), CloseReason::Local);
        client.wait_ms(100);
        for call in calls {
            assert_eq!(client.outcome(call), Some(Outcome::Cancelled));
        }
        let notices = client.count("notifications/cancelled");
        let closed = client.link.server().closed_streams.len();
        let by_stream = client.on.has_streams() && era == Era::Modern;
        assert_eq!((notices, closed), if by_stream { (0, 2) } else { (2, 0) });
        assert_eq!(
            client.link.request(Method::ToolsList, None, &RequestOptions::default()),
            Err(ApiError::Closed)
        );
        client.link.close();
        client.wait_ms(10_000);
    });
}

#[test]
fn the_end_of_the_servers_output_loses_what_is_open() {
    // P-090 H-198
    for modern in [false, true] {
        let mut client = if modern { Client::modern(On::Line) } else { Client::legacy(On::Line) };
        client.link.server_mut().on("tools/call", |_, out| out.close());
        let calls = [client.call(), client.call()];
        assert_eq!(client.until_closed(), CloseReason::Eof);
        for call in calls {
            assert_eq!(client.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
        }
        let [call, _] = calls;
        assert_eq!(client.link.cancel(call, None), Err(ApiError::UnknownRequest));
        let later = client.link.request(Method::ToolsList, None, &RequestOptions::default());
        assert_eq!(later, Err(ApiError::Closed), "a later one fails at once");
    }
}

#[test]
fn the_violation_budget_ends_the_connection_when_it_is_used_up() {
    on_both_links(|on| {
        let mut config = config();
        config.limits.violation_budget = 5;
        let mut client = Client::ready(on, config, Server::modern().silent_on("tools/call"));
        let call = client.call();
        for _ in 0..5 {
            client.push_raw("nonsense\n");
        }
        client.wait_ms(10);
        assert_eq!(client.violations().len(), 5);
        client.still_works();
        client.push_raw("nonsense\n");
        let reason = client.until_closed();
        assert!(matches!(reason, CloseReason::Protocol(Violation::Malformed(_))), "{reason:?}");
        assert_eq!(client.outcome(call), Some(Outcome::Lost { maybe_ran: true }));
    });
}

#[test]
fn server_cancels_of_our_requests_change_nothing() {
    // P-289 P-296
    both_eras(|mut client, _| {
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.wait_ms(10);
        let id = client.last("tools/call").message["id"].clone();
        for params in
            [json!({"requestId": id}), json!({"requestId": 99}), json!({}), json!({"requestId": null})]
        {
            client.push(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
        }
        client.push(json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
        client.wait_ms(10);
        assert_eq!(client.outcome(call), None);
        client.still_works();
    });
}
