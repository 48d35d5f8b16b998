//! Progress and log messages of a server.

use sanswire::error::ApiError;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{Config, Notice, Reply};
use sanswire_tests::served::{LEGACY, Rig, config, modern, modern_with, raw, request};
use serde_json::{Value, json};

fn progress(progress: f64) -> Notice {
    Notice::Progress { progress, total: Some(10.0), message: Some("on it".into()) }
}

fn log(level: LogLevel) -> Notice {
    Notice::Log { level, logger: Some("l".into()), data: raw(&json!({"n": 1})) }
}

#[test]
fn progress_needs_a_token_grows_and_ends_with_the_request() {
    // P-277 P-279 P-280 P-281 P-282
    for token in [json!("t"), json!(7), json!(0)] {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        let meta = json!({"progressToken": token});
        for message in [
            request(1, "tools/call", json!({"name": "a", "_meta": meta})),
            modern_with(1, "tools/call", json!({"name": "a"}), meta.clone()),
        ] {
            rig.take();
            let reported = rig.report(message);
            assert!(reported.context.wants_progress);
            for step in [0.0, 0.5, 3.0] {
                rig.notify(reported.request, &progress(step)).unwrap();
            }
            for stale in [3.0, 1.0, f64::NAN, f64::INFINITY] {
                let error = rig.notify(reported.request, &progress(stale)).unwrap_err();
                assert!(matches!(error, ApiError::BadParams(_)), "{stale}");
            }
            let told = rig.take();
            assert_eq!(told.len(), 3);
            assert_eq!(told[1]["method"], "notifications/progress");
            let params = json!({"progressToken": token, "progress": 0.5, "total": 10, "message": "on it"});
            assert_eq!(told[1]["params"], params);
            rig.respond(reported.request, &Reply::text("x")).unwrap();
            assert_eq!(rig.notify(reported.request, &progress(9.0)), Err(ApiError::UnknownRequest));
            assert_eq!(rig.take().len(), 1);
        }
    }
    let mut rig = Rig::legacy(config(), "2025-11-25");
    for meta in [
        json!({}),
        json!({"progressToken": null}),
        json!({"progressToken": 1.5}),
        json!({"progressToken": []}),
    ] {
        let reported = rig.report(request(1, "tools/call", json!({"name": "a", "_meta": meta})));
        assert!(!reported.context.wants_progress, "{meta}");
        rig.notify(reported.request, &progress(1.0)).unwrap();
        assert_eq!(rig.take(), [] as [Value; 0], "nobody asked");
        rig.respond(reported.request, &Reply::text("x")).unwrap();
    }
    let mut old = Rig::legacy(config(), "2024-11-05");
    let message = request(1, "tools/call", json!({"name": "a", "_meta": {"progressToken": 1}}));
    let reported = old.report(message);
    old.notify(reported.request, &progress(1.0)).unwrap();
    assert!(old.one()["params"].get("message").is_none(), "the oldest revision has no words");
}

#[test]
fn a_modern_request_gets_the_log_messages_it_asked_for() {
    // P-328 P-329 P-330
    let mut rig = Rig::new(config());
    let silent = rig.report(modern(1, "tools/call", json!({"name": "a"})));
    assert_eq!(silent.context.log_level, None);
    let loud = json!({"io.modelcontextprotocol/logLevel": "warning"});
    let loud = rig.report(modern_with(2, "tools/call", json!({"name": "a"}), loud));
    for level in LogLevel::ALL {
        rig.notify(silent.request, &log(level)).unwrap();
        rig.notify(loud.request, &log(level)).unwrap();
    }
    let told = rig.take();
    let levels: Vec<_> = told.iter().map(|told| told["params"]["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["warning", "error", "critical", "alert", "emergency"]);
    assert_eq!(told[0]["params"], json!({"level": "warning", "logger": "l", "data": {"n": 1}}));
    for bad in [json!("loud"), json!("Warning"), json!(3), json!({})] {
        let meta = json!({"io.modelcontextprotocol/logLevel": bad});
        assert_eq!(rig.refused(modern_with(3, "tools/call", json!({"name": "a"}), meta)), -32602, "{bad}");
    }
}

#[test]
fn a_session_has_one_level_for_all() {
    // P-330
    for revision in LEGACY {
        let mut rig = Rig::legacy(config(), revision);
        let reported = rig.report(request(1, "tools/call", json!({"name": "a"})));
        let told = |rig: &mut Rig| {
            for level in LogLevel::ALL {
                rig.notify(reported.request, &log(level)).unwrap();
            }
            rig.take().len()
        };
        assert_eq!(told(&mut rig), 7, "before it is set the server decides: info and above");
        let level = |level: Value| request(2, "logging/setLevel", json!({"level": level}));
        assert_eq!(rig.ask(level(json!("error")))["result"], json!({}));
        assert_eq!(told(&mut rig), 4);
        for bad in [json!("loud"), json!(null), json!(5)] {
            assert_eq!(rig.refused(level(bad)), -32602);
        }
        assert_eq!(told(&mut rig), 4, "a bad level changes nothing");
    }
}

#[test]
fn log_messages_that_were_not_offered_are_not_sent() {
    // P-327
    let mut rig = Rig::legacy(Config::new("quiet", "1"), "2025-11-25");
    let level = json!({"io.modelcontextprotocol/logLevel": "debug"});
    for message in [
        request(1, "tools/call", json!({"name": "a"})),
        modern_with(2, "tools/call", json!({"name": "a"}), level),
    ] {
        let reported = rig.report(message);
        assert_eq!(reported.context.log_level, None);
        assert!(rig.notify(reported.request, &log(LogLevel::Error)).is_err());
    }
    assert_eq!(rig.take(), [] as [Value; 0]);
}
