//! What an earlier connection learnt: it saves time, and what proves wrong is corrected.

use std::time::Duration;

use sanswire::client::era::next_start;
use sanswire::client::{Start, Verdict};
use sanswire::error::CloseReason;
use sanswire::exchange::HttpRefusal;
use sanswire::mcp::Era;
use sanswire_tests::client::{Client, On, config, on_all_links, on_both_links, remembering};
use sanswire_tests::peer::{End, Server, discover_result};

#[test]
fn remembered_legacy_opens_with_the_handshake() {
    // P-065
    on_all_links(|on| {
        for verdict in [Verdict::Legacy, Verdict::Died] {
            let mut client = Client::ready(on, remembering(verdict), Server::legacy("2025-11-25"));
            assert_eq!(client.link.server().methods()[0], "initialize");
            client.still_works();
            assert_eq!(client.count("server/discover"), 0);
        }
    });
}

#[test]
fn remembered_modern_is_probed_without_a_hedge() {
    // P-065
    on_all_links(|on| {
        let server = Server::modern().with("server/discover", |request, out| {
            out.after(Duration::from_secs(6)).result(request, discover_result(&["2026-07-28"]));
        });
        let mut client = Client::start(on, remembering(Verdict::Modern), server);
        assert_eq!(client.until_ready().era, Era::Modern);
        assert_eq!(client.count("initialize"), 0, "a slow server that is known to be modern is waited for");
        assert!(client.elapsed_ms() >= 6000);
    });
}

#[test]
fn remembered_modern_that_has_become_legacy_is_corrected() {
    // P-065
    on_all_links(|on| {
        let mut client = Client::ready(on, remembering(Verdict::Modern), Server::legacy("2025-11-25"));
        assert_eq!(client.verdicts(), [Verdict::Legacy]);
        client.still_works();
    });
}

#[test]
fn remembered_legacy_that_refuses_the_handshake_is_asked_what_it_is() {
    // P-065
    on_all_links(|on| {
        let mut client = Client::start(on, remembering(Verdict::Legacy), Server::modern());
        assert_eq!(client.until_ready().era, Era::Modern);
        assert_eq!(client.link.server().methods()[..2], ["initialize", "server/discover"]);
        assert_eq!(client.verdicts(), [Verdict::Modern]);
        client.still_works();
    });
}

#[test]
fn remembered_other_versions_are_asked_for_again() {
    on_all_links(|on| {
        let mut client = Client::ready(on, remembering(Verdict::ModernOther), Server::modern());
        assert_eq!(client.link.server().methods()[0], "server/discover");
        client.still_works();
    });
}

#[test]
fn remembered_modern_that_has_become_silent_is_forgotten() {
    // P-065
    on_both_links(|on| {
        let server = || Server::legacy("2025-11-25").silent_on("server/discover");
        let remembered = remembering(Verdict::Modern);
        let mut client = Client::start(on, remembered.clone(), server());
        let reason = client.until_closed();
        assert!(matches!(reason, CloseReason::ConnectTimeout { .. }), "{reason:?}");
        let mut config = config();
        config.start =
            next_start(&reason, &remembered.start, 0).expect("once more, as if nothing were known");
        let mut client = Client::start(on, config, server());
        assert_eq!(client.until_ready().era, Era::Legacy);
        assert_eq!(client.verdicts(), [Verdict::Legacy]);
    });
}

#[test]
fn remembered_legacy_that_refuses_without_a_word_is_forgotten() {
    // P-065
    for status in [400, 404, 405] {
        let server = || Server::modern().with("initialize", move |_, out| out.end(End::Refused(status)));
        let remembered = remembering(Verdict::Legacy);
        let mut client = Client::start(On::Exchanges, remembered.clone(), server());
        let reason = client.until_closed();
        assert_eq!(reason, CloseReason::HttpRefused(HttpRefusal::new(status).into()));
        let mut config = config();
        config.start =
            next_start(&reason, &remembered.start, 0).expect("once more, as if nothing were known");
        let client = Client::ready(On::Exchanges, config, server());
        assert_eq!(client.verdicts(), [Verdict::Modern]);
    }
    let legacy = remembering(Verdict::Legacy).start;
    for status in [401, 403, 429, 500, 503] {
        assert_eq!(
            next_start(&CloseReason::HttpRefused(HttpRefusal::new(status).into()), &legacy, 0),
            None,
            "{status}"
        );
    }
}

#[test]
fn a_server_that_dies_of_the_probe_is_started_once_more_with_the_handshake_first() {
    // P-061 P-065
    let server = Server::legacy("2025-11-25").with("server/discover", |_, out| out.close());
    let mut client = Client::start(On::Line, config(), server);
    let reason = client.until_closed();
    assert_eq!(reason, CloseReason::DiedOnProbe);
    assert_eq!(client.verdicts(), [Verdict::Died]);
    assert!(client.elapsed_ms() < 100, "death is seen at once");

    let next = next_start(&reason, &Start::Unknown, 0).expect("one more attempt");
    assert_eq!(next, Start::Remembered(Verdict::Died));
    let mut config = config();
    config.start = next;
    let server = Server::legacy("2025-11-25").with("server/discover", |_, out| out.close());
    let mut client = Client::ready(On::Line, config, server);
    assert_eq!(client.verdicts(), [Verdict::Legacy]);
    client.still_works();
}

#[test]
fn a_server_that_refuses_the_probe_and_then_ends_is_started_once_more_as_well() {
    // P-065
    let server = Server::legacy("2025-11-25").with("initialize", |_, out| out.close());
    let mut client = Client::start(On::Line, config(), server);
    let reason = client.until_closed();
    assert_eq!(reason, CloseReason::DiedOnProbe);
    assert_eq!(client.verdicts(), [Verdict::Died]);
    assert!(next_start(&reason, &Start::Unknown, 0).is_some());
}

#[test]
fn what_to_open_next_is_decided_once_and_never_against_a_pin() {
    // P-065
    let died = CloseReason::DiedOnProbe;
    let timeout = CloseReason::ConnectTimeout { waiting_for: sanswire::mcp::Method::Initialize, limit_ms: 1 };
    let modern = Start::Remembered(Verdict::Modern);
    let legacy = Start::Remembered(Verdict::Legacy);
    let pinned = Start::Pinned(sanswire::mcp::Revision::V2026_07_28);
    let dead = Some(Start::Remembered(Verdict::Died));
    for (reason, start, attempt, next) in [
        (&died, &Start::Unknown, 0, dead.clone()),
        (&died, &Start::Unknown, 1, None),
        (&died, &modern, 0, dead),
        (&died, &pinned, 0, None),
        (&CloseReason::Eof, &legacy, 0, Some(Start::Unknown)),
        (&timeout, &legacy, 0, Some(Start::Unknown)),
        (&timeout, &legacy, 1, None),
        (&timeout, &Start::Unknown, 0, None),
        (&CloseReason::Local, &legacy, 0, None),
        (&CloseReason::Eof, &Start::Unknown, 0, None),
    ] {
        assert_eq!(next_start(reason, start, attempt), next, "{reason:?} {start:?} {attempt}");
    }
}

#[test]
fn an_end_after_the_handshake_is_no_death_of_the_probe() {
    let server = Server::legacy("2025-11-25").with("initialize", |_, out| out.close());
    let mut client = Client::start(On::Line, remembering(Verdict::Legacy), server);
    assert_eq!(client.until_closed(), CloseReason::Eof);
    assert!(client.verdicts().is_empty());
}
