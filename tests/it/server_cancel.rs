//! Cancels, and what crosses them.

use sanswire::error::ApiError;
use sanswire::server::{Event, Notice, Reply};
use sanswire_tests::served::{Rig, config, modern, modern_with, request};
use serde_json::{Value, json};

fn cancel(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}})
}

#[test]
fn b_51_cancel_meets_finished_handler() {
    // P-285 P-287 P-294 P-296 P-013
    let file = include_bytes!("../cases/b-51.jsonl");
    for answers_first in [true, false] {
        let mut rig = Rig::new(config());
        rig.tool(&json!({"name": "fast"}));
        for line in file.split_inclusive(|byte| *byte == b'\n') {
            rig.send_raw(line);
            let request = rig.open.keys().next().copied();
            if let Some(request) = request.filter(|_| answers_first) {
                rig.respond(request, &Reply::text("done")).unwrap();
            }
        }
        let answered: Vec<_> = rig.take().iter().map(|answer| answer["id"].clone()).collect();
        let expected = if answers_first { vec![1, 2, 3] } else { vec![1, 3] };
        assert_eq!(answered, expected);
        assert_eq!(rig.cancelled.len(), usize::from(!answers_first));
        assert_eq!(rig.violations(), [], "a cancel that comes too late is no fault");
        rig.still_works();
    }
}

#[test]
fn nothing_more_is_sent_for_a_cancelled_request() {
    // P-124 P-125 P-292 P-295; golden rule 2
    for message in [
        request("c", "tools/call", json!({"name": "a", "_meta": {"progressToken": 1}})),
        modern_with("c", "tools/call", json!({"name": "a"}), json!({"progressToken": 1})),
    ] {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        let reported = rig.report(message);
        let mut withdrawn = cancel("c");
        withdrawn["params"]["reason"] = json!("changed my mind ".repeat(100));
        rig.send(&withdrawn);
        assert_eq!(rig.cancelled, [reported.request]);
        let progress = Notice::Progress { progress: 1.0, total: None, message: None };
        assert_eq!(rig.notify(reported.request, &progress), Err(ApiError::UnknownRequest));
        assert_eq!(rig.respond(reported.request, &Reply::text("x")), Err(ApiError::UnknownRequest));
        assert_eq!(rig.take(), [] as [Value; 0]);
        let Some((_, Event::Cancelled { reason: Some(reason), .. })) = rig.side.events.last() else {
            panic!("the reason is told")
        };
        assert_eq!(reason.len(), 256);
        rig.still_works();
    }
}

#[test]
fn a_cancel_overtakes_what_the_application_has_not_even_taken() {
    // H-195
    let mut rig = Rig::new(config());
    let call = modern(1, "tools/call", json!({"name": "a"}));
    rig.send_raw(
        format!("{call}\n{}\n{}\n", cancel(1), modern(1, "tools/call", json!({"name": "b"}))).as_bytes(),
    );
    assert_eq!(rig.cancelled.len(), 1);
    assert_eq!(rig.open.len(), 1, "the id was free again");
    assert_eq!(rig.open.values().next().unwrap().params["name"], "b");
}

#[test]
fn an_id_of_another_type_cancels_nothing() {
    let mut rig = Rig::new(config());
    rig.report(modern(1, "tools/call", json!({"name": "a"})));
    for other in [json!("1"), json!(1.0), json!(null), json!([1]), json!(2)] {
        rig.send(&cancel(other));
    }
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
    assert_eq!((rig.cancelled.len(), rig.open.len()), (0, 1));
    assert_eq!(rig.side.machine.session().stats().dropped_notifications, 6);
}

#[test]
fn a_slow_call_blocks_nothing() {
    // H-195 P-051
    let mut rig = Rig::legacy(config(), "2025-11-25");
    let slow = rig.report(request(1, "tools/call", json!({"name": "a"})));
    rig.still_works();
    let quick = rig.report(modern(2, "tools/call", json!({"name": "b"})));
    rig.respond(quick.request, &Reply::text("quick")).unwrap();
    assert_eq!(rig.one()["id"], 2);
    rig.respond(slow.request, &Reply::text("slow")).unwrap();
    assert_eq!(rig.one()["id"], 1);
}
