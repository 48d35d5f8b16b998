//! Which era a message belongs to: the handshake, requests that stand alone, and both on one stream.

use sanswire::mcp::{Era, Revision};
use sanswire::server::Event;
use sanswire_tests::served::{LEGACY, MODERN, Rig, config, meta, modern, modern_with, request};
use serde_json::{Value, json};

fn initialize(version: Value) -> Value {
    let client = json!({"name": "lines", "version": "0"});
    request(1, "initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

fn serving(revisions: &[Revision]) -> Rig {
    let mut config = config();
    config.revisions = revisions.to_vec();
    Rig::new(config)
}

#[test]
fn b_29_version_not_negotiated() {
    // P-080 P-081 P-082 P-083 C-19
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-29.jsonl"));
    assert_eq!(rig.one()["result"]["protocolVersion"], "2025-06-18");
    for version in LEGACY {
        let answer = Rig::new(config()).ask(initialize(json!(version)));
        assert_eq!(answer["result"]["protocolVersion"], version, "a supported version comes back");
        assert!(answer["result"]["capabilities"]["tools"].is_object(), "P-231: {answer}");
        assert_eq!(answer["result"]["serverInfo"], json!({"name": "served", "version": "1.0"}));
    }
    for other in ["1999-01-01", MODERN, ""] {
        let answer = Rig::new(config()).ask(initialize(json!(other)));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{other:?} gets the newest");
    }
    let mut old = serving(&[Revision::V2025_03_26, Revision::V2024_11_05]);
    assert_eq!(old.ask(initialize(json!("2025-11-25")))["result"]["protocolVersion"], "2025-03-26");
    for missing in [json!(null), json!(5), json!([])] {
        let mut rig = Rig::new(config());
        assert_eq!(rig.refused(initialize(missing)), -32602);
        assert_eq!(rig.refused(request(2, "initialize", json!({}))), -32602);
        let answer = rig.ask(initialize(json!("2025-06-18")));
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "the session can still be opened");
    }
}

#[test]
fn b_25_ping_before_initialize() {
    // P-016 P-096
    let mut rig = Rig::new(config());
    rig.send_raw(include_bytes!("../cases/b-25.jsonl"));
    let said = rig.take();
    assert_eq!(said.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(said.iter().all(|answer| answer.get("result").is_some()), "{said:#?}");
    assert_eq!(said[0]["result"], json!({}));
    assert_eq!(said[3]["result"]["tools"].as_array().unwrap().len(), 3);
    let mut early = Rig::new(config());
    for method in ["tools/list", "tools/call", "resources/read", "logging/setLevel", "no/such"] {
        assert_eq!(early.refused(request(9, method, json!({"name": "a"}))), -32602, "{method}");
    }
    assert!(early.open.is_empty());
    early.initialize("2025-11-25", json!({}));
    early.still_works();
}

#[test]
fn a_second_initialize_is_refused_and_changes_nothing() {
    // P-076
    let mut rig = Rig::legacy(config(), "2025-03-26");
    assert_eq!(rig.refused(initialize(json!("2025-11-25"))), -32600);
    assert_eq!(rig.side.machine.session().legacy_revision(), Some(Revision::V2025_03_26));
    rig.still_works();
}

#[test]
fn a_modern_request_stands_alone_before_and_after_a_handshake() {
    // P-043 P-049 P-050 P-067 P-072
    let mut rig = Rig::new(config());
    for step in 0..3 {
        let discovered = rig.ask(modern(format!("d{step}"), "server/discover", json!({})));
        assert_eq!(discovered["result"]["resultType"], "complete");
        let call = modern_with(
            format!("c{step}"),
            "tools/call",
            json!({"name": "a"}),
            json!({"io.modelcontextprotocol/clientCapabilities": {"roots": {}}}),
        );
        let reported = rig.report(call);
        assert_eq!(reported.context.era(), Era::Modern);
        assert!(reported.context.capabilities.roots && !reported.context.capabilities.sampling);
        assert_eq!(reported.context.client().unwrap().name, "lines");
        let plain = rig.report(modern(format!("p{step}"), "tools/call", json!({"name": "a"})));
        assert!(plain.context.capabilities.is_empty(), "nothing is taken over from an earlier request");
        if step == 1 {
            rig.initialize("2025-06-18", json!({"sampling": {}}));
        }
        if step == 2 {
            let legacy = rig.report(request("l", "tools/call", json!({"name": "a"})));
            assert_eq!(legacy.context.revision, Revision::V2025_06_18);
            assert!(legacy.context.capabilities.sampling && !legacy.context.capabilities.roots);
        }
    }
}

#[test]
fn discover_says_what_is_served() {
    // P-073 P-074 P-261 P-262
    let mut with = config();
    with.instructions = Some("be kind".into());
    let mut rig = Rig::new(with);
    let answer = rig.ask(modern("x", "server/discover", json!({})));
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["supportedVersions"],
        json!([MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    );
    assert_eq!(result["capabilities"]["tools"], json!({"listChanged": true}));
    assert_eq!(result["instructions"], "be kind");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].as_u64().is_some());
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({"name": "served", "version": "1.0"})
    );
    let answer =
        Rig::bare(sanswire::server::Config::new("s", "1")).ask(modern(1, "server/discover", json!({})));
    assert_eq!(answer["result"]["capabilities"], json!({}), "nothing is declared that is not offered");
    for gone in ["tasks", "roots"] {
        assert!(result["capabilities"].get(gone).is_none(), "P-444");
    }
}

#[test]
fn a_version_that_is_not_served_is_named_with_those_that_are() {
    // P-055 P-056
    let mut rig = serving(&[Revision::V2025_11_25, Revision::V2026_07_28]);
    for version in ["1900-01-01", "2025-11-25", ""] {
        let mut meta = meta();
        meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let answer = rig.ask(request(1, "tools/list", json!({"_meta": meta})));
        assert_eq!(answer["error"]["code"], -32022, "{version}");
        assert_eq!(
            answer["error"]["data"],
            json!({"supported": [MODERN, "2025-11-25"], "requested": version})
        );
    }
    let mut legacy_only = serving(&[Revision::V2025_11_25]);
    let answer = legacy_only.ask(modern(1, "server/discover", json!({})));
    assert_eq!(answer["error"]["data"], json!({"supported": ["2025-11-25"], "requested": MODERN}));
}

#[test]
fn what_every_modern_request_needs_is_asked_for() {
    // P-041
    let mut rig = Rig::new(config());
    let full = meta();
    for (name, value) in [
        ("io.modelcontextprotocol/clientCapabilities", json!(null)),
        ("io.modelcontextprotocol/clientCapabilities", json!([])),
        ("io.modelcontextprotocol/protocolVersion", json!(20260728)),
        ("io.modelcontextprotocol/protocolVersion", json!(null)),
    ] {
        let mut meta = full.clone();
        meta[name] = value.clone();
        assert_eq!(rig.refused(request(1, "tools/list", json!({"_meta": meta}))), -32602, "{name} = {value}");
        let mut meta = full.clone();
        meta.as_object_mut().unwrap().remove(name);
        assert_eq!(rig.refused(request(1, "tools/list", json!({"_meta": meta}))), -32602, "without {name}");
    }
    let mut meta = full;
    meta.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    assert!(rig.ask(request(1, "tools/list", json!({"_meta": meta})))["result"].is_object());
}

#[test]
fn methods_of_one_era_are_unknown_in_the_other() {
    // P-443 P-485 H-175
    let mut rig = Rig::legacy(config(), "2025-11-25");
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "tasks/result",
        "tasks/list",
        "sampling/createMessage",
        "roots/list",
        "no/such",
        "notifications/initialized",
    ] {
        assert_eq!(rig.refused(modern(1, method, json!({"level": "info"}))), -32601, "{method}");
    }
    for method in
        ["server/discover", "subscriptions/listen", "tasks/get", "tasks/list", "no/such", "roots/list"]
    {
        assert_eq!(rig.refused(request(1, method, json!({}))), -32601, "{method}");
    }
    rig.still_works();
}

#[test]
fn a_server_of_one_era_names_its_versions_to_the_other() {
    // P-066
    let mut rig = serving(&[Revision::V2026_07_28]);
    let answer = rig.ask(initialize(json!("2025-06-18")));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"], json!({"supported": [MODERN], "requested": "2025-06-18"}));
    assert_eq!(rig.refused(request(2, "ping", json!({}))), -32602);
    assert!(rig.ask(modern(3, "tools/list", json!({})))["result"].is_object());
}

#[test]
fn the_session_tells_when_the_client_is_ready_and_its_roots_changed() {
    let mut rig = Rig::new(config());
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    rig.initialize("2025-11-25", json!({"roots": {"listChanged": true}}));
    rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    for stray in ["notifications/unheard/of", "notifications/progress", "tools/list"] {
        rig.send(&json!({"jsonrpc": "2.0", "method": stray, "params": {}}));
    }
    let told = rig.side.events.iter().filter_map(|(_, event)| match event {
        Event::Notification { method, .. } => Some(method.as_str().to_owned()),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, ["notifications/initialized", "notifications/roots/list_changed"]);
    assert_eq!(rig.take(), [] as [Value; 0], "P-013: none of them is answered");
    assert_eq!(rig.side.machine.session().stats().dropped_notifications, 5);
    rig.still_works();
}
