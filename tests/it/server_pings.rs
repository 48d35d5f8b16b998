//! What a server sends a legacy client that belongs to no request: pings, and log messages.

use std::time::Duration;

use sanswire::error::ApiError;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::{CloseReason, Config, KeepAlive, LineConnection};
use sanswire::{Instant, Machine};
use sanswire_tests::served::{LEGACY, Rig, config, modern, raw, request};
use serde_json::{Value, json};

fn pinging(every: u64, timeout: u64) -> Config {
    let mut config = config();
    let (every, timeout) = (Duration::from_secs(every), Duration::from_secs(timeout));
    config.keep_alive = Some(KeepAlive { every, timeout });
    config
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

#[test]
fn a_silent_client_is_pinged_and_its_answer_is_enough() {
    // P-097
    for revision in LEGACY {
        let mut rig = Rig::legacy(pinging(30, 10), revision);
        rig.take();
        rig.wait_ms(29_999);
        assert_eq!(rig.take(), [] as [Value; 0]);
        for (n, answer) in [
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "what?"}}),
            json!({"jsonrpc": "2.0", "id": 3, "result": 5}),
        ]
        .into_iter()
        .enumerate()
        {
            rig.wait_ms(if n == 0 { 1 } else { 30_000 });
            assert_eq!(rig.one(), ping(n as u64 + 1));
            rig.wait_ms(9000);
            rig.send(&answer);
            assert_eq!((rig.take(), rig.violations()), (vec![], vec![]), "{answer}");
        }
        rig.still_works();
    }
    let mut quiet = Rig::legacy(config(), "2025-11-25");
    quiet.take();
    quiet.wait_ms(100_000_000);
    assert_eq!((quiet.take(), quiet.closed()), (vec![], None), "off unless it is asked for");
}

#[test]
fn a_client_that_answers_no_ping_is_gone() {
    // P-098
    let mut rig = Rig::legacy(pinging(30, 10), "2025-11-25");
    let call = rig.report(request(1, "tools/call", json!({"name": "a"})));
    rig.wait_ms(30_000);
    assert_eq!(rig.one(), ping(1));
    rig.wait_ms(9999);
    assert_eq!(rig.closed(), None);
    rig.wait_ms(1);
    assert_eq!(rig.cancelled, [call.request]);
    assert_eq!(rig.closed(), Some(CloseReason::PingTimedOut));
    assert_eq!(rig.side.machine.poll_timeout(), None);
}

#[test]
fn whoever_says_something_is_not_pinged() {
    // P-099
    let mut rig = Rig::legacy(pinging(30, 10), "2025-11-25");
    rig.take();
    for n in 0..20 {
        rig.wait_ms(29_000);
        let line = ["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n", "junk\n"][n % 2];
        rig.send_raw(line.as_bytes());
        assert!(rig.take().iter().all(|said| said["method"] != "ping"), "it was heard of");
    }
    rig.wait_ms(30_000);
    assert_eq!(rig.one(), ping(1));
    for _ in 0..5 {
        rig.wait_ms(9000);
        rig.send(&json!({"jsonrpc": "2.0", "method": "notifications/x"}));
    }
    assert_eq!(rig.take(), [] as [Value; 0], "one ping is open, and no other is sent");
    assert_eq!(rig.closed(), None, "it talks, so it lives");
    let mut hasty = pinging(30, 10);
    hasty.keep_alive = Some(KeepAlive { every: Duration::from_millis(999), timeout: Duration::from_secs(1) });
    let error = LineConnection::new(hasty, [0; 32], Instant::ZERO).unwrap_err();
    assert_eq!((error.field, error.min), ("keep_alive.every", 1000));
}

#[test]
fn nobody_is_pinged_without_a_session_or_near_the_end() {
    let mut rig = Rig::new(pinging(30, 10));
    rig.ask(modern(1, "tools/list", json!({})));
    rig.ask(request(2, "ping", json!({})));
    rig.wait_ms(1_000_000);
    assert_eq!(rig.take(), [] as [Value; 0], "2026-07-28 has no pings");
    let mut rig = Rig::legacy(pinging(30, 10), "2025-11-25");
    rig.report(request(1, "tools/call", json!({"name": "a"})));
    rig.side.machine.shutdown(Duration::from_secs(3600), rig.now);
    rig.wait_ms(100_000);
    assert_eq!((rig.take(), rig.closed()), (vec![], None), "it is waited for already");
}

#[test]
fn what_this_side_holds_up_is_not_held_against_the_client() {
    let mut config = pinging(30, 10);
    config.limits.max_queued_events = 1;
    let mut rig = Rig::legacy(config, "2025-11-25");
    rig.take();
    rig.wait_ms(30_000);
    assert_eq!(rig.one(), ping(1));
    // An event waits, so nothing is read.
    let call = request(1, "tools/call", json!({"name": "a"}));
    rig.side.read(format!("{call}\n").as_bytes(), rig.now);
    assert!(!rig.side.machine.wants_read());
    rig.now = rig.now.saturating_add(Duration::from_secs(3600));
    rig.side.machine.handle_timeout(rig.now);
    assert_eq!(rig.side.machine.session().close_reason(), None);
    rig.drain();
    rig.side.machine.handle_timeout(rig.now);
    rig.drain();
    assert_eq!(rig.closed(), None, "its answer could not be read before");
    rig.wait_ms(10_000);
    assert_eq!(rig.closed(), Some(CloseReason::PingTimedOut), "now it could");
}

#[test]
fn a_slow_reader_is_no_dead_one() {
    for reads in [true, false] {
        let mut config = pinging(30, 10);
        config.limits.max_queued_out_bytes = 4096;
        let mut rig = Rig::legacy(config, "2025-11-25");
        rig.take();
        rig.wait_ms(30_000);
        assert_eq!(rig.one(), ping(1));
        rig.stuck = true;
        // While so much waits, nothing is read, an answer to the ping included.
        let text = raw(&json!("x".repeat(1000)));
        while rig.side.machine.log(LogLevel::Error, None, &text, rig.now).is_ok() {}
        assert!(!rig.side.machine.wants_read());
        if reads {
            rig.side.write(100, rig.now);
            assert!(!rig.side.machine.wants_read());
        }
        rig.wait_ms(10_000);
        let reason = rig.side.machine.session().close_reason();
        assert_eq!(reason, (!reads).then_some(&CloseReason::PingTimedOut));
        rig.wait_ms(10_000);
        let reason = rig.side.machine.session().close_reason();
        assert_eq!(reason, Some(&CloseReason::PingTimedOut), "it stopped");
    }
}

#[test]
fn a_session_is_told_what_belongs_to_no_request() {
    // P-330 P-332
    let log = |rig: &mut Rig, level: LogLevel| {
        rig.side.machine.log(level, Some("disk"), &raw(&json!({"free": 5})), rig.now).unwrap();
        rig.take()
    };
    for revision in LEGACY {
        let mut rig = Rig::new(config());
        assert_eq!(log(&mut rig, LogLevel::Error), [] as [Value; 0], "whom to tell?");
        let params = json!({"protocolVersion": revision, "capabilities": {}});
        rig.ask(request(1, "initialize", params));
        let told = log(&mut rig, LogLevel::Info);
        let params = json!({"level": "info", "logger": "disk", "data": {"free": 5}});
        let expected = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
        assert_eq!(told, [expected], "also before the client is ready");
        assert_eq!(log(&mut rig, LogLevel::Debug), [] as [Value; 0]);
        rig.ask(request(2, "logging/setLevel", json!({"level": "error"})));
        assert_eq!(log(&mut rig, LogLevel::Warning), [] as [Value; 0]);
        assert_eq!(log(&mut rig, LogLevel::Error).len(), 1);
        let stats = rig.side.machine.session().stats();
        assert_eq!(stats.unwanted_notices, 3);
        rig.end();
        let closed = rig.side.machine.log(LogLevel::Error, None, &raw(&json!(0)), rig.now);
        assert_eq!(closed, Err(ApiError::Closed));
    }
    let mut rig = Rig::legacy(Config::new("quiet", "1"), "2025-11-25");
    let refused = rig.side.machine.log(LogLevel::Error, None, &raw(&json!(0)), rig.now);
    assert!(matches!(refused, Err(ApiError::BadParams(_))), "{refused:?}");
    let mut small = config();
    small.limits.max_message_bytes = 4096;
    let mut rig = Rig::legacy(small, "2025-11-25");
    rig.take();
    let refused = rig.side.machine.log(LogLevel::Error, None, &raw(&json!("x".repeat(5000))), rig.now);
    assert!(matches!(refused, Err(ApiError::TooLarge { .. })), "{refused:?}");
    let mut full = config();
    full.limits.max_queued_out_bytes = 4096;
    let mut rig = Rig::legacy(full, "2025-11-25");
    rig.stuck = true;
    let mut log = || rig.side.machine.log(LogLevel::Error, None, &raw(&json!("x".repeat(1000))), rig.now);
    assert_eq!((0..100).find_map(|_| log().err()), Some(ApiError::OutboundFull), "as fast as it is read");
}
