//! The era by what a transport like HTTP says: statuses, and bodies behind them.

use sanswire::client::era::next_start;
use sanswire::client::{Outcome, Start, Verdict};
use sanswire::error::{CloseReason, Violation};
use sanswire::exchange::{Challenge, HttpRefusal};
use sanswire::mcp::{Era, Method, Revision};
use sanswire_tests::client::{Client, On, config};
use sanswire_tests::peer::{End, Server, discover_result};
use serde_json::json;

#[test]
fn b_31_a_refusal_without_a_usable_body_leads_to_one_handshake() {
    // P-064 P-061
    for status in [400, 404, 405, 422] {
        let server =
            Server::legacy("2025-06-18").with("server/discover", move |_, out| out.end(End::Refused(status)));
        let mut client = Client::start(On::Exchanges, config(), server);
        let peer = client.until_ready();
        assert_eq!((peer.era, peer.revision), (Era::Legacy, Revision::V2025_06_18), "{status}");
        assert_eq!(client.count("initialize"), 1, "{status}");
        assert_eq!(client.verdicts(), [Verdict::Legacy], "{status}");
        client.still_works();
    }
}

#[test]
fn b_31_control_statuses_without_a_word_on_the_era_never_fall_back() {
    for status in [300, 308, 406, 413, 415, 429, 431, 500, 502, 503] {
        let server =
            Server::legacy("2025-11-25").with("server/discover", move |_, out| out.end(End::Refused(status)));
        let mut client = Client::start(On::Exchanges, config(), server);
        assert_eq!(client.until_closed(), CloseReason::HttpRefused(HttpRefusal::new(status).into()));
        assert_eq!(client.count("initialize"), 0, "{status}");
        assert!(client.verdicts().is_empty(), "{status}: nothing to remember");
    }
}

#[test]
fn b_31_control_a_challenge_is_not_an_era() {
    for status in [401, 403] {
        let server = Server::legacy("2025-11-25")
            .with("server/discover", move |_, out| out.end(End::Challenged(status)));
        let mut client = Client::start(On::Exchanges, config(), server);
        assert_eq!(client.until_closed(), CloseReason::Challenged(Challenge::new(status, None).into()));
        assert_eq!(client.count("initialize"), 0);
        assert!(client.verdicts().is_empty());
    }
}

#[test]
fn the_body_of_a_refusal_is_read_before_falling_back() {
    // P-063 P-060
    let server = Server::legacy("2025-11-25").with("server/discover", |request, out| {
        out.error_with(request, -32022, json!({"supported": ["2027-01-01"], "requested": "2026-07-28"}));
        out.end(End::Refused(400));
    });
    let mut client = Client::start(On::Exchanges, config(), server);
    let supported = vec!["2027-01-01".to_owned()];
    assert_eq!(client.until_closed(), CloseReason::Incompatible { supported });
    assert_eq!(client.count("initialize"), 0);
}

#[test]
fn an_answer_that_breaks_off_leads_to_one_handshake() {
    // P-061
    for end in [End::Finished, End::Broken] {
        let server = Server::legacy("2025-11-25").with("server/discover", move |_, out| out.end(end));
        let mut client = Client::start(On::Exchanges, config(), server);
        assert_eq!(client.until_ready().era, Era::Legacy);
        assert_eq!(client.count("initialize"), 1);
    }
}

#[test]
fn a_handshake_that_is_refused_too_ends_the_attempt() {
    // P-090
    let server = Server::legacy("2025-11-25")
        .with("server/discover", |_, out| out.end(End::Refused(404)))
        .with("initialize", |_, out| out.end(End::Refused(404)));
    let mut client = Client::start(On::Exchanges, config(), server);
    assert_eq!(client.until_closed(), CloseReason::HttpRefused(HttpRefusal::new(404).into()));
}

#[test]
fn a_handshake_without_an_answer_is_no_disagreement_on_versions() {
    let unanswered = Violation::Unanswered { method: Method::Initialize };
    for (end, reason) in
        [(End::Broken, CloseReason::Eof), (End::Finished, CloseReason::Protocol(unanswered.clone()))]
    {
        let server = Server::legacy("2025-11-25")
            .with("server/discover", move |_, out| out.end(end))
            .with("initialize", move |_, out| out.end(end));
        let mut client = Client::start(On::Exchanges, config(), server);
        assert_eq!(client.until_closed(), reason);
        // What was remembered of it may have been wrong.
        let remembered = Start::Remembered(Verdict::Legacy);
        assert_eq!(next_start(&reason, &remembered, 0), Some(Start::Unknown));
    }
}

#[test]
fn a_probe_of_a_pinned_revision_without_an_answer_is_no_disagreement_on_versions() {
    let unanswered = Violation::Unanswered { method: Method::ServerDiscover };
    for (end, reason) in [
        (End::Broken, CloseReason::Eof),
        (End::Finished, CloseReason::Protocol(unanswered)),
        (End::Refused(404), CloseReason::HttpRefused(HttpRefusal::new(404).into())),
        (End::Refused(503), CloseReason::HttpRefused(HttpRefusal::new(503).into())),
    ] {
        let server = Server::modern().with("server/discover", move |_, out| out.end(end));
        let mut config = config();
        config.start = Start::Pinned(Revision::V2026_07_28);
        let mut client = Client::start(On::Exchanges, config, server);
        assert_eq!(client.until_closed(), reason);
        assert_eq!(client.count("initialize"), 0);
        assert!(client.verdicts().is_empty(), "nothing to remember");
    }
}

#[test]
fn an_answer_that_opens_nothing_since_it_cannot_be_read_is_told_as_that() {
    type Check = fn(&Violation) -> bool;
    let rows: [(&str, Check); 2] = [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{},"result":{}}"#, |why| {
            matches!(why, Violation::Malformed(_))
        }),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"long":"LONG"}}"#, |why| {
            matches!(why, Violation::MessageTooLong { .. })
        }),
    ];
    for start in [Start::Pinned(Revision::V2026_07_28), Start::Pinned(Revision::V2025_11_25), Start::Unknown]
    {
        for (answer, check) in rows {
            let says = move |request: &serde_json::Value, out: &mut sanswire_tests::peer::Out<'_>| {
                let answer = answer.replace("ID", &request["id"].to_string());
                out.raw(answer.replace("LONG", &"x".repeat(100_000)) + "\n");
            };
            let server = Server::modern().with("server/discover", says).with("initialize", says);
            let mut config = config();
            config.start = start.clone();
            config.limits.max_message_bytes = 64 * 1024;
            let mut client = Client::start(On::Line, config, server);
            let reason = client.until_closed();
            assert!(matches!(&reason, CloseReason::Protocol(why) if check(why)), "{start:?}: {reason:?}");
        }
    }
}

#[test]
fn a_request_that_is_refused_ends_alone() {
    let mut client = Client::modern(On::Exchanges);
    client.link.server_mut().on("tools/call", |_, out| out.end(End::Refused(503)));
    let call = client.call();
    assert!(matches!(client.finish(call), Outcome::Refused(refusal) if refusal.status == 503));
    client.link.server_mut().on("tools/call", |_, out| out.end(End::Challenged(401)));
    let call = client.call();
    assert!(matches!(client.finish(call), Outcome::Challenged(challenge) if challenge.status == 401));
    client.still_works();
}

#[test]
fn a_stream_that_breaks_loses_its_request_and_no_other() {
    // P-150
    let mut client = Client::modern(On::Exchanges);
    client.link.server_mut().on("tools/call", |_, out| out.end(End::Broken));
    let call = client.call();
    assert_eq!(client.finish(call), Outcome::Lost { maybe_ran: true });
    assert_eq!(client.count("tools/call"), 1, "nothing with side effects is repeated");
    client.still_works();
}

#[test]
fn an_answer_on_the_stream_of_another_exchange_completes_nothing() {
    let mut client = Client::modern(On::Exchanges);
    client.link.server_mut().on("tools/call", |_, _| {});
    client.link.server_mut().on("prompts/list", |_, _| {});
    let call = client.call();
    let list = client.request(Method::PromptsList, None);
    client.wait_ms(10);
    let id = client.last("tools/call").message["id"].clone();
    client.push_during(
        "prompts/list",
        json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": []}}),
    );
    client.wait_ms(10);
    assert_eq!(client.outcome(call), None);
    assert_eq!(client.outcome(list), None);
    assert_eq!(client.violations().len(), 1);
    client.still_works();
}

#[test]
fn a_slow_probe_is_hedged_here_as_well() {
    let server = Server::modern().with("server/discover", |request, out| {
        out.after(std::time::Duration::from_secs(3)).result(request, discover_result(&["2026-07-28"]));
    });
    let mut client = Client::start(On::Exchanges, config(), server);
    assert_eq!(client.until_ready().era, Era::Modern);
}
