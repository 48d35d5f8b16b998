//! Progress reports.

use sanswire::client::Verdict;
use sanswire_tests::client::{Client, on_all_links, on_both_links, remembering};
use sanswire_tests::peer::replay;
use serde_json::{Value, json};

/// A call that is open, and the id it has.
fn open_call(client: &mut Client) -> (sanswire::client::RequestHandle, Value) {
    client.link.server_mut().on("tools/call", |_, _| {});
    let call = client.call();
    client.wait_ms(10);
    (call, client.last("tools/call").message["id"].clone())
}

fn report(params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

#[test]
fn b_49_progress_after_reply() {
    // P-281 P-282 P-279
    on_all_links(|on| {
        let mut client =
            Client::ready(on, remembering(Verdict::Legacy), replay(include_bytes!("../cases/b-49.jsonl")));
        let first = client.call();
        client.complete(first);
        let second = client.call();
        assert_eq!(client.complete(second)["content"][0]["text"], "next");
        let progress = client.progress(first);
        assert_eq!(progress.len(), 1);
        assert!((progress[0].progress - 0.5).abs() < f64::EPSILON);
        assert!(client.violations().is_empty());
        assert!(client.link.session().stats().dropped_notifications >= 4 || on.has_streams());
        client.link.server_mut().on("tools/list", |request, out| out.result(request, json!({"tools": []})));
        client.still_works();
    });
}

#[test]
fn a_report_is_told_with_its_total_and_words() {
    // P-283
    on_all_links(|on| {
        for mut client in [Client::legacy(on), Client::modern(on)] {
            let (call, id) = open_call(&mut client);
            let long = "é".repeat(5000);
            for params in [
                json!({"progressToken": id, "progress": 0}),
                json!({"progressToken": id, "progress": 0.25, "total": 1.5, "message": "quarter"}),
                json!({"progressToken": id, "progress": 1e3, "total": null, "message": long}),
            ] {
                client.push_during("tools/call", report(params));
            }
            client.wait_ms(10);
            let told = client.progress(call);
            assert_eq!(told.len(), 3);
            assert_eq!((told[1].total, told[1].message.as_deref()), (Some(1.5), Some("quarter")));
            assert_eq!(told[2].total, None);
            assert_eq!(told[2].message.as_ref().unwrap().len(), 4096, "cut between characters");
            client.still_works();
        }
    });
}

#[test]
fn unusable_reports_are_dropped_and_counted() {
    // P-281 P-277
    on_both_links(|on| {
        for mut client in [Client::legacy(on), Client::modern(on)] {
            let (call, id) = open_call(&mut client);
            let before = client.link.session().stats().dropped_notifications;
            let bad = [
                json!({"progressToken": id.to_string(), "progress": 1}),
                json!({"progressToken": 99_999, "progress": 1}),
                json!({"progressToken": null, "progress": 1}),
                json!({"progress": 1}),
                json!({"progressToken": id}),
                json!({"progressToken": id, "progress": "50%"}),
                json!({"progressToken": id, "progress": null}),
                json!({"progressToken": [id], "progress": 1}),
                json!([]),
            ];
            let count = bad.len() as u64 - 1;
            for params in bad {
                client.push_during("tools/call", report(params));
            }
            client.push_raw(format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{id},\"progress\":1e999}}}}\n"
            ));
            client.wait_ms(10);
            assert!(client.progress(call).is_empty());
            let dropped = client.link.session().stats().dropped_notifications - before;
            assert_eq!(dropped, count + 1, "the list is no notification at all");
            client.still_works();
        }
    });
}

#[test]
fn equal_and_smaller_values_are_dropped() {
    // P-279
    on_all_links(|on| {
        let mut client = Client::modern(on);
        let (call, id) = open_call(&mut client);
        for progress in [1.0, 1.0, 0.5, 2.0, 1.9, f64::from(u32::MAX)] {
            client.push_during("tools/call", report(json!({"progressToken": id, "progress": progress})));
        }
        client.wait_ms(10);
        let told: Vec<f64> = client.progress(call).iter().map(|told| told.progress).collect();
        assert_eq!(told, [1.0, 2.0, f64::from(u32::MAX)]);
        assert!(client.violations().is_empty());
    });
}
