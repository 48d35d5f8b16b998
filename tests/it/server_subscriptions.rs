//! Who is told when something changes, and when.

use sanswire::server::Config;
use sanswire_tests::served::{LEGACY, Rig, complete, config, modern, raw, request};
use serde_json::{Value, json};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(id: impl Into<Value>, filter: Value) -> Value {
    modern(id, "subscriptions/listen", json!({"notifications": filter}))
}

fn everything() -> Value {
    json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["x:y"]})
}

fn rig() -> Rig {
    let mut rig = Rig::new(config());
    rig.side.machine.catalog_mut().prompt(&raw(&json!({"name": "p"}))).unwrap();
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    rig
}

fn change_all(rig: &mut Rig) {
    rig.side.machine.tools_changed(rig.now);
    rig.side.machine.prompts_changed(rig.now);
    rig.side.machine.resources_changed(rig.now);
    rig.side.machine.resource_updated("x:y", rig.now).unwrap();
    rig.drain();
}

fn methods(said: &[Value]) -> Vec<&str> {
    said.iter().map(|said| said["method"].as_str().unwrap_or("answer")).collect()
}

#[test]
fn an_acknowledgement_comes_first_and_lists_what_is_agreed_to() {
    // P-048 P-299 P-300 P-301
    for id in [json!("L"), json!(4), json!("")] {
        let mut rig = rig();
        rig.send(&listen(id.clone(), everything()));
        let ack = rig.one();
        assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(ack["params"], json!({"_meta": {ID: id}, "notifications": everything()}));
        change_all(&mut rig);
        rig.wait_ms(600);
        let told = rig.take();
        assert!(told.iter().all(|told| told["params"]["_meta"][ID] == id), "{told:#?}");
        assert_eq!(
            methods(&told),
            [
                "notifications/resources/updated",
                "notifications/tools/list_changed",
                "notifications/prompts/list_changed",
                "notifications/resources/list_changed",
            ]
        );
        assert_eq!(told[0]["params"]["uri"], "x:y");
    }
    let mut few = Config::new("few", "1");
    few.capabilities.list_changed = false;
    let mut rig = Rig::new(few);
    rig.send(&listen(1, everything()));
    assert_eq!(rig.one()["params"]["notifications"], json!({}), "nothing of it is offered");
    let mut odd = Rig::new(config());
    odd.send(&listen(
        1,
        json!({"toolsListChanged": true, "promptsListChanged": true, "taskIds": ["t"], "x": 1}),
    ));
    assert_eq!(
        odd.one()["params"]["notifications"],
        json!({"toolsListChanged": true}),
        "there are no prompts"
    );
}

#[test]
fn a_listen_needs_a_filter_and_there_are_only_so_many() {
    let mut config = config();
    config.limits.max_subscriptions = 2;
    config.limits.max_resource_subscriptions = 3;
    let mut rig = Rig::new(config);
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    for bad in [json!({}), json!({"notifications": null}), json!({"notifications": []})] {
        assert_eq!(rig.refused(modern(1, "subscriptions/listen", bad)), -32602);
    }
    rig.send(&listen(1, json!({"resourceSubscriptions": ["x:1", "x:1", "x:2"]})));
    assert_eq!(rig.one()["params"]["notifications"], json!({"resourceSubscriptions": ["x:1", "x:2"]}));
    rig.send(&listen(2, json!({"resourceSubscriptions": ["x:3", "x:4", format!("x:{}", "y".repeat(5000))]})));
    assert_eq!(
        rig.one()["params"]["notifications"],
        json!({"resourceSubscriptions": ["x:3"]}),
        "no more than agreed"
    );
    assert_eq!(rig.refused(listen(3, json!({}))), -32603);
    rig.still_works();
}

#[test]
fn only_what_was_asked_for_is_told_and_each_subscription_by_its_own_name() {
    // P-298 P-305
    let mut rig = rig();
    rig.send(&listen("tools", json!({"toolsListChanged": true})));
    rig.send(&listen("both", json!({"toolsListChanged": true, "promptsListChanged": true})));
    rig.send(&listen("none", json!({})));
    rig.send(&listen("y", json!({"resourceSubscriptions": ["x:y"]})));
    rig.take();
    change_all(&mut rig);
    rig.side.machine.resource_updated("x:other", rig.now).unwrap();
    rig.side.machine.resource_updated("x:y/part", rig.now).unwrap();
    rig.wait_ms(600);
    let told: Vec<_> = rig
        .take()
        .iter()
        .map(|told| (told["method"].as_str().unwrap().to_owned(), told["params"]["_meta"][ID].clone()))
        .collect();
    let expected = [
        ("notifications/resources/updated", "y"),
        ("notifications/resources/updated", "y"),
        ("notifications/tools/list_changed", "tools"),
        ("notifications/tools/list_changed", "both"),
        ("notifications/prompts/list_changed", "both"),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(method, id)| (method.to_owned(), json!(id))).collect();
    assert_eq!(told, expected);
}

#[test]
fn a_cancelled_subscription_is_told_nothing_more() {
    // P-306
    let mut rig = rig();
    rig.send(&listen(1, everything()));
    rig.take();
    rig.side.machine.tools_changed(rig.now);
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    change_all(&mut rig);
    rig.wait_ms(600);
    assert_eq!(rig.take(), [] as [Value; 0]);
    assert_eq!(rig.side.machine.session().listening(), 0);
    rig.send(&listen(1, json!({})));
    assert_eq!(rig.take().len(), 1, "its id is free again");
}

#[test]
fn a_subscription_that_the_server_ends_gets_a_result_and_the_notice() {
    // P-289 P-290 P-303 P-304
    let mut rig = rig();
    rig.send(&listen("L", everything()));
    rig.take();
    rig.side.machine.end_subscriptions(rig.now);
    let said = rig.take();
    assert_eq!(said[0]["id"], "L");
    assert_eq!(said[0]["result"]["resultType"], "complete");
    assert_eq!(said[0]["result"]["_meta"][ID], "L");
    assert_eq!(said[0]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "served");
    assert_eq!(said[1]["method"], "notifications/cancelled");
    assert_eq!(said[1]["params"], json!({"_meta": {ID: "L"}, "requestId": "L"}));
    assert_eq!(said.len(), 2);
    change_all(&mut rig);
    rig.wait_ms(600);
    assert_eq!(rig.take(), [] as [Value; 0]);
}

#[test]
fn changes_are_announced_once_after_a_moment_of_quiet_to_a_session_that_is_ready() {
    // P-235 P-342 P-356 P-087 H-194
    for revision in LEGACY {
        let mut rig = rig();
        change_all(&mut rig);
        rig.wait_ms(1000);
        assert_eq!(rig.take(), [] as [Value; 0], "before there is a session");
        let answer = rig.ask(request(1, "initialize", json!({"protocolVersion": revision})));
        assert_eq!(answer["result"]["capabilities"]["tools"]["listChanged"], true);
        change_all(&mut rig);
        rig.wait_ms(1000);
        assert_eq!(rig.take(), [] as [Value; 0], "before it is ready");
        rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        for _ in 0..4 {
            change_all(&mut rig);
            rig.wait_ms(100);
        }
        rig.wait_ms(99);
        assert_eq!(rig.take(), [] as [Value; 0], "499 ms after the first change");
        rig.wait_ms(1);
        let told = rig.take();
        assert_eq!(
            methods(&told),
            [
                "notifications/tools/list_changed",
                "notifications/prompts/list_changed",
                "notifications/resources/list_changed",
            ]
        );
        assert!(told.iter().all(|told| told["params"] == json!({})), "untagged");
        rig.wait_ms(5000);
        assert_eq!(rig.take(), [] as [Value; 0]);
    }
}

#[test]
fn what_was_not_declared_is_not_announced() {
    let mut quiet = config();
    quiet.capabilities.list_changed = false;
    let mut rig = Rig::legacy(quiet, "2025-11-25");
    rig.take();
    rig.side.machine.tools_changed(rig.now);
    rig.wait_ms(1000);
    assert_eq!(rig.take(), [] as [Value; 0]);
}

#[test]
fn a_session_is_told_of_the_resources_it_watches() {
    let mut rig = rig();
    rig.initialize("2025-11-25", json!({}));
    let update = |rig: &mut Rig| {
        rig.take();
        rig.side.machine.resource_updated("x:y", rig.now).unwrap();
        rig.take()
    };
    assert_eq!(update(&mut rig), [] as [Value; 0]);
    let refused = rig.report(request(1, "resources/subscribe", json!({"uri": "x:y"})));
    let no = sanswire::server::Reply::resource_not_found("x:y");
    rig.respond(refused.request, &no).unwrap();
    assert_eq!(update(&mut rig), [] as [Value; 0], "the application refused");
    rig.answered(request(2, "resources/subscribe", json!({"uri": "x:y"})), &complete(&json!({})));
    let told = update(&mut rig);
    assert_eq!(
        told,
        [json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x:y"}})]
    );
    assert!(rig.side.machine.session().is_watched("x:y"));
    rig.answered(request(3, "resources/unsubscribe", json!({"uri": "x:y"})), &complete(&json!({})));
    assert_eq!(update(&mut rig), [] as [Value; 0]);
    assert!(!rig.side.machine.session().is_watched("x:y"));
}

#[test]
fn a_session_watches_only_so_many_resources_those_it_is_about_to_included() {
    let mut few = config();
    few.limits.max_resource_subscriptions = 2;
    let mut rig = Rig::legacy(few, "2025-11-25");
    rig.side.machine.catalog_mut().resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    let subscribe = |id: u64| request(id, "resources/subscribe", json!({"uri": format!("x:{id}")}));
    let one = rig.report(subscribe(1));
    rig.report(subscribe(2));
    assert_eq!(rig.refused(subscribe(3)), -32603);
    rig.respond(one.request, &complete(&json!({}))).unwrap();
    assert_eq!(rig.refused(subscribe(3)), -32603);
    let gone = request(4, "resources/unsubscribe", json!({"uri": "x:1"}));
    rig.take();
    rig.answered(gone, &complete(&json!({})));
    rig.report(subscribe(3));
}

#[test]
fn announcements_wait_while_the_client_reads_nothing() {
    let mut small = config();
    small.limits.max_queued_out_bytes = 4096;
    let mut rig = Rig::legacy(small, "2025-11-25");
    rig.stuck = true;
    let reported = rig.open.len();
    rig.send(&request(1, "tools/call", json!({"name": "a"})));
    assert_eq!(rig.open.len(), reported + 1);
    let handle = *rig.open.keys().next().unwrap();
    rig.respond(handle, &sanswire::server::Reply::text(&"x".repeat(5000))).unwrap();
    for _ in 0..1000 {
        rig.side.machine.tools_changed(rig.now);
        rig.wait_ms(1000);
    }
    let machine = &rig.side.machine;
    assert!(machine.retained_bytes() < 40_000, "{}", machine.retained_bytes());
    rig.stuck = false;
    let told = rig.take();
    assert_eq!(methods(&told), ["answer", "notifications/tools/list_changed"]);
}
