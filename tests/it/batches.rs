//! JSON-RPC batches, which one revision has.

use std::time::Duration;

use sanswire::client::Verdict;
use sanswire::error::Violation;
use sanswire_tests::client::{Client, On, on_all_links, remembering};
use sanswire_tests::peer::Server;
use serde_json::{Value, json};

fn legacy(server: Server) -> Client {
    Client::ready(On::Line, remembering(Verdict::Legacy), server)
}

#[test]
fn batches_are_taken_under_their_one_revision_only() {
    // P-014
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = Server::legacy(version).with("tools/call", |request, out| {
            out.raw(format!(
                "[{}, {}, {}, 7]\n",
                json!({"jsonrpc": "2.0", "id": 70, "method": "ping"}),
                json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
                json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": [], "n": 1}}),
            ));
            out.raw("[]\n");
            out.after(Duration::from_millis(10)).result(request, json!({"content": [], "n": 2}));
        });
        let mut client = legacy(server);
        let call = client.call();
        let batches = version == "2025-03-26";
        assert_eq!(client.complete(call)["n"], if batches { 1 } else { 2 }, "{version}");
        client.wait_ms(20);
        assert_eq!(client.notifications().len(), usize::from(batches), "{version}");
        assert_eq!(client.link.server().responses().len(), usize::from(batches), "{version}");
        let told = client.violations();
        assert_eq!(told.len(), 2, "{version}: {told:?}");
        assert_eq!(told.contains(&Violation::Batch), !batches, "{version}: {told:?}");
        // P-015
        assert!(client.link.server().received[0].text.starts_with('{'));
        client.still_works();
    }
}

#[test]
fn a_batch_of_answers_completes_every_call() {
    // P-014
    on_all_links(|on| {
        let mut calls: Vec<Value> = Vec::new();
        let server = Server::legacy("2025-03-26").with("tools/call", move |request, out| {
            calls.push(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}));
            if calls.len() == 5 {
                let batch = Value::Array(std::mem::take(&mut calls)).to_string();
                out.push().raw(format!("{batch}\n"));
            }
        });
        let mut client = Client::ready(on, remembering(Verdict::Legacy), server);
        let calls: Vec<_> = (0..5).map(|_| client.call()).collect();
        for call in calls {
            client.complete(call);
        }
        assert!(client.violations().is_empty());
        client.still_works();
    });
}

#[test]
fn behind_the_limit_of_a_batch_only_answers_are_taken() {
    let mut config = remembering(Verdict::Legacy);
    config.limits.max_queued_events = 10;
    let server = Server::legacy("2025-03-26").with("tools/call", |request, out| {
        let ping = json!({"jsonrpc": "2.0", "id": 70, "method": "ping"});
        let mut batch = vec![ping; 100];
        batch.push(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}));
        out.raw(format!("{}\n", Value::Array(batch)));
    });
    let mut client = Client::ready(On::Line, config, server);
    let call = client.call();
    client.complete(call);
    client.wait_ms(10);
    assert_eq!(client.link.server().responses().len(), 10);
    assert_eq!(client.violations(), [Violation::BatchTooLong { limit: 10 }]);
    client.still_works();
}
