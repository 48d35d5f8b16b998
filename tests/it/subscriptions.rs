//! `subscriptions/listen` and what comes by it.

use std::time::Duration;

use sanswire::client::{Outcome, RequestHandle, RequestOptions, params};
use sanswire::error::{ApiError, Violation};
use sanswire::mcp::Method;
use sanswire_tests::client::{Client, On, config, json, on_all_links, on_both_links};
use sanswire_tests::peer::Server;
use serde_json::{Value, json};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";
const LISTEN: &str = "subscriptions/listen";

fn listen(client: &mut Client) -> (RequestHandle, Value) {
    let filter = params::listen(&json(r#"{"toolsListChanged":true}"#));
    let request =
        client.link.request(Method::SubscriptionsListen, Some(filter), &RequestOptions::default()).unwrap();
    client.wait_ms(5);
    (request, client.last(LISTEN).message["id"].clone())
}

fn changed(tag: Option<&Value>) -> Value {
    let params = tag.map_or(json!({}), |tag| json!({"_meta": {TAG: tag}}));
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params})
}

#[test]
fn the_acknowledgement_and_what_follows_belong_to_the_subscription() {
    // P-122 P-297
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (request, id) = listen(&mut client);
        let filter = client.last(LISTEN).message["params"]["notifications"].clone();
        assert_eq!(filter, json!({"toolsListChanged": true}));
        client.push_during(LISTEN, changed(Some(&id)));
        client.wait_ms(5);
        let told = client.notifications();
        assert_eq!(told.len(), 2);
        let (method, params, subscription) = &told[0];
        assert_eq!((method, subscription), (&Method::SubscriptionsAcknowledged, &Some(request)));
        assert_eq!(params.as_ref().unwrap()["notifications"], filter);
        assert_eq!((&told[1].0, told[1].2), (&Method::ToolsListChanged, Some(request)));
        assert!(client.violations().is_empty());
        client.still_works();
    });
}

#[test]
fn two_subscriptions_are_told_apart() {
    // P-122
    on_both_links(|on| {
        let mut client = Client::modern(on);
        let (one, first) = listen(&mut client);
        let (two, second) = listen(&mut client);
        assert_ne!(first, second);
        for tag in [&second, &first, &second] {
            client.push(changed(Some(tag)));
        }
        client.wait_ms(5);
        let whose: Vec<_> = client.notifications().into_iter().skip(2).map(|told| told.2).collect();
        assert_eq!(whose, [Some(two), Some(one), Some(two)]);
    });
}

#[test]
fn a_subscription_knows_no_deadline() {
    // P-091
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (request, id) = listen(&mut client);
        client.wait(Duration::from_secs(100_000));
        assert_eq!(client.outcome(request), None);
        client.push_during(LISTEN, changed(Some(&id)));
        client.wait_ms(5);
        assert_eq!(client.notifications().len(), 2);
        client.still_works();
    });
}

#[test]
fn a_change_outside_every_subscription_is_delivered_and_flagged_once() {
    // P-122
    on_both_links(|on| {
        let mut client = Client::modern(on);
        listen(&mut client);
        for _ in 0..3 {
            client.push(changed(None));
        }
        client.wait_ms(5);
        let told = client.notifications();
        assert_eq!(told.len(), 4);
        assert!(told[1..].iter().all(|told| told.2.is_none()));
        assert_eq!(
            client.violations(),
            [Violation::UntaggedNotification { method: Method::ToolsListChanged }]
        );
        client.still_works();
    });
}

#[test]
fn a_tag_that_names_no_subscription_is_dropped() {
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (request, id) = listen(&mut client);
        for tag in [json!(4711), json!(id.to_string())] {
            client.push(changed(Some(&tag)));
        }
        client.link.cancel(request, None).unwrap();
        client.push(changed(Some(&id)));
        client.wait_ms(5);
        let delivered = client.notifications().len();
        // A tag of the wrong type is no tag at all.
        assert!(delivered <= 2, "{:?}", client.notifications());
        assert!(client.notifications().iter().skip(1).all(|told| told.2.is_none()));
        client.still_works();
    });
}

#[test]
fn a_subscription_ends_by_its_result() {
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (request, id) = listen(&mut client);
        let result = json!({"resultType": "complete", "_meta": {TAG: id}});
        client.push_during(LISTEN, json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let ended = client.complete(request);
        assert_eq!(ended["_meta"][TAG], id);
        client.still_works();
    });
}

#[test]
fn a_subscription_ends_by_the_servers_cancel() {
    // P-289 P-290
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (request, id) = listen(&mut client);
        client.link.server_mut().on("tools/call", |_, _| {});
        let call = client.call();
        client.wait_ms(5);
        let other = client.last("tools/call").message["id"].clone();
        for id in [&other, &id] {
            let cancelled =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            client.push_during(LISTEN, cancelled);
        }
        client.wait_ms(5);
        assert!(
            matches!(client.outcome(request), Some(Outcome::Complete(_))),
            "{:?}",
            client.outcome(request)
        );
        assert_eq!(client.outcome(call), None, "no other request ends that way");
        client.still_works();
    });
}

#[test]
fn a_client_ends_a_subscription_by_a_cancel() {
    // P-123
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (request, id) = listen(&mut client);
        client.link.cancel(request, None).unwrap();
        client.wait_ms(5);
        assert_eq!(client.outcome(request), Some(Outcome::Cancelled));
        if on == On::Line {
            let notice = client.last("notifications/cancelled").message;
            assert_eq!(notice["params"]["requestId"], id);
        } else {
            assert_eq!(client.link.server().closed_streams.len(), 1);
        }
        client.still_works();
    });
}

#[test]
fn a_stream_that_breaks_loses_the_subscription_only() {
    // P-150
    let mut client = Client::modern(On::Exchanges);
    let (request, _) = listen(&mut client);
    client.end_during(LISTEN, sanswire_tests::peer::End::Broken);
    assert_eq!(client.finish(request), Outcome::Lost { maybe_ran: true });
    listen(&mut client);
    assert_eq!(client.count(LISTEN), 2);
    client.still_works();
}

#[test]
fn subscriptions_have_a_limit_of_their_own() {
    on_all_links(|on| {
        let mut config = config();
        config.limits.max_subscriptions = 2;
        config.limits.max_in_flight = 1;
        let mut client = Client::ready(on, config, Server::modern());
        listen(&mut client);
        let (second, _) = listen(&mut client);
        let options = RequestOptions::default();
        let params = Some(json(r#"{"notifications":{}}"#));
        let refused = client.link.request(Method::SubscriptionsListen, params.clone(), &options);
        assert_eq!(refused, Err(ApiError::TooManyInFlight { limit: 2 }));
        client.still_works();
        client.link.cancel(second, None).unwrap();
        client.link.request(Method::SubscriptionsListen, params, &options).unwrap();
    });
}

#[test]
fn log_messages_and_progress_need_no_tag() {
    on_all_links(|on| {
        let mut client = Client::modern(on);
        client.link.server_mut().on("tools/call", |request, out| {
            out.notify("notifications/message", json!({"level": "info", "data": "x"}));
            out.progress(request, 1.0);
            out.result(request, json!({"resultType": "complete", "content": []}));
        });
        let call = client.call();
        client.complete(call);
        assert_eq!(client.notifications().len(), 1);
        assert_eq!(client.notifications()[0].0, Method::LogMessage);
        assert!(client.violations().is_empty());
    });
}

#[test]
fn what_only_clients_or_other_revisions_send_is_a_violation() {
    // P-088
    on_both_links(|on| {
        let mut client = Client::modern(on);
        for method in
            ["notifications/initialized", "notifications/roots/list_changed", "notifications/tasks/status"]
        {
            client.push(json!({"jsonrpc": "2.0", "method": method}));
        }
        client.wait_ms(5);
        let told = client.violations();
        assert_eq!(told.len(), 3);
        assert!(told.iter().all(|told| matches!(told, Violation::WrongDirection { .. })), "{told:?}");
        assert!(client.notifications().is_empty());

        let mut client = Client::legacy(on);
        client.push(json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}));
        client.push(changed(None));
        client.wait_ms(5);
        assert_eq!(client.violations().len(), 1);
        assert_eq!(client.notifications().len(), 1, "a legacy change needs no tag");
        client.still_works();
    });
}
