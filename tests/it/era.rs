//! Which era a server belongs to, found on both links.

use std::time::Duration;

use sanswire::client::Verdict;
use sanswire::client::era::next_start;
use sanswire::error::CloseReason;
use sanswire::mcp::{Era, Method, Revision};
use sanswire_tests::client::{Client, config, on_all_links, on_both_links, pinned};
use sanswire_tests::peer::{Server, discover_result, initialize_result};
use serde_json::json;

const META: &str = "io.modelcontextprotocol/";

#[test]
fn a_modern_server_is_found_by_the_first_message() {
    // P-058 P-075 P-039 P-040
    on_all_links(|on| {
        let mut client = Client::start(on, config(), Server::modern());
        let peer = client.until_ready();
        assert_eq!((peer.era, peer.revision), (Era::Modern, Revision::V2026_07_28));
        assert_eq!(peer.server.name, "new");
        assert_eq!(peer.instructions.as_deref(), Some("be kind"));
        assert!(peer.capabilities.has("tools"));
        assert_eq!(client.verdicts(), [Verdict::Modern]);
        client.still_works();
        assert_eq!(client.link.server().methods(), ["server/discover", "tools/list"]);
        for method in ["server/discover", "tools/list"] {
            let meta = &client.last(method).message["params"]["_meta"];
            assert_eq!(meta[format!("{META}protocolVersion")], "2026-07-28");
            assert_eq!(meta[format!("{META}clientCapabilities")], json!({}));
            assert_eq!(meta[format!("{META}clientInfo")], json!({"name": "harness", "version": "1"}));
        }
    });
}

#[test]
fn a_legacy_server_that_refuses_the_probe_is_asked_to_shake_hands() {
    // P-058 P-061 P-077
    on_all_links(|on| {
        let mut client = Client::start(on, config(), Server::legacy("2025-11-25"));
        let peer = client.until_ready();
        assert_eq!((peer.era, peer.revision), (Era::Legacy, Revision::V2025_11_25));
        assert_eq!(client.verdicts(), [Verdict::Legacy]);
        client.still_works();
        let expected = ["server/discover", "initialize", "notifications/initialized", "tools/list"];
        assert_eq!(client.link.server().methods(), expected);
        assert!(client.elapsed_ms() < 100, "a refusal costs no waiting");
    });
}

#[test]
fn b_31_any_refusal_but_the_modern_ones_leads_to_one_handshake() {
    // P-059 P-061 P-026
    for code in [-32602, -32600, -32601, -32000, -32001, -32003, -32004, -32603, -32700, 7, -32019, -32023] {
        on_all_links(|on| {
            let server = Server::legacy("2025-06-18").refusing("server/discover", code);
            let mut client = Client::start(on, config(), server);
            assert_eq!(client.until_ready().revision, Revision::V2025_06_18, "{code}");
            assert_eq!(client.count("initialize"), 1, "{code}");
            assert_eq!(client.verdicts(), [Verdict::Legacy], "{code}");
            client.still_works();
        });
    }
}

#[test]
fn b_31_an_error_without_an_id_counts_while_only_the_probe_is_open() {
    // P-061
    for error in [
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}),
        json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "bad"}}),
    ] {
        on_all_links(|on| {
            let error = error.clone();
            let server = Server::legacy("2025-11-25")
                .with("server/discover", move |_, out| out.message(error.clone()));
            let mut client = Client::start(on, config(), server);
            assert_eq!(client.until_ready().era, Era::Legacy);
            assert!(client.elapsed_ms() < 100, "nobody waited for the hedge");
            client.still_works();
        });
    }
}

#[test]
fn b_31_control_an_unsupported_version_never_falls_back_for_itself() {
    // P-060 P-057
    on_all_links(|on| {
        let server = Server::legacy("2025-11-25").with("server/discover", |request, out| {
            let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
            out.error_with(request, -32022, data);
        });
        let mut client = Client::start(on, config(), server);
        client.until_closed();
        assert_eq!(client.count("initialize"), 0);
        assert_eq!(client.verdicts(), [Verdict::ModernOther]);
        assert_eq!(client.count("server/discover"), 2, "one retry with the version it named");
    });
}

#[test]
fn the_other_modern_errors_never_fall_back() {
    // P-060
    for code in [-32020, -32021] {
        on_all_links(|on| {
            let server = Server::legacy("2025-11-25").refusing("server/discover", code);
            let mut client = Client::start(on, config(), server);
            let reason = client.until_closed();
            assert!(
                matches!(&reason, CloseReason::Refused { method: Method::ServerDiscover, error } if error.code == code),
                "{reason:?}"
            );
            assert_eq!(client.count("initialize"), 0);
        });
    }
}

#[test]
fn an_unsupported_version_with_only_legacy_in_common_opens_with_that_version() {
    // P-057 P-078
    on_all_links(|on| {
        let server = Server::legacy("2025-06-18").with("server/discover", |request, out| {
            let data = json!({"supported": ["2027-01-01", "2025-06-18"], "requested": "2026-07-28"});
            out.error_with(request, -32022, data);
        });
        let mut client = Client::start(on, config(), server);
        assert_eq!(client.until_ready().revision, Revision::V2025_06_18);
        assert_eq!(client.last("initialize").message["params"]["protocolVersion"], "2025-06-18");
        client.still_works();
    });
}

#[test]
fn a_discover_result_with_only_legacy_in_common_opens_with_that_version() {
    // P-057
    on_all_links(|on| {
        let server = Server::legacy("2025-03-26").with("server/discover", |request, out| {
            out.result(request, discover_result(&["2025-03-26", "2027-01-01"]));
        });
        let mut client = Client::start(on, config(), server);
        assert_eq!(client.until_ready().revision, Revision::V2025_03_26);
        assert_eq!(client.last("initialize").message["params"]["protocolVersion"], "2025-03-26");
    });
}

#[test]
fn nothing_in_common_is_reported_with_what_the_server_speaks() {
    // P-057 P-090
    let answers: [(&str, i64); 2] = [("a result", 0), ("an error", -32022)];
    for (what, code) in answers {
        on_all_links(|on| {
            let server = Server::legacy("2025-11-25").with("server/discover", move |request, out| {
                if code == 0 {
                    out.result(request, discover_result(&["2027-01-01", "2028-02-02"]));
                } else {
                    let data = json!({"supported": ["2027-01-01", "2028-02-02"], "requested": "2026-07-28"});
                    out.error_with(request, code, data);
                }
            });
            let mut client = Client::start(on, config(), server);
            let supported = vec!["2027-01-01".to_owned(), "2028-02-02".to_owned()];
            assert_eq!(client.until_closed(), CloseReason::Incompatible { supported }, "{what}");
            assert_eq!(client.count("initialize"), 0, "{what}");
            assert_eq!(client.verdicts(), [Verdict::ModernOther], "{what}");
        });
    }
}

#[test]
fn a_result_that_is_no_discover_result_means_legacy() {
    // P-061
    for result in [json!({}), json!({"tools": []}), json!({"supportedVersions": "2026-07-28"})] {
        on_all_links(|on| {
            let result = result.clone();
            let server = Server::legacy("2025-11-25")
                .with("server/discover", move |request, out| out.result(request, result.clone()));
            let mut client = Client::start(on, config(), server);
            assert_eq!(client.until_ready().era, Era::Legacy);
        });
    }
}

#[test]
fn a_silent_legacy_server_costs_two_seconds_once_and_is_remembered() {
    // P-061 P-065
    on_both_links(|on| {
        let server = Server::legacy("2025-11-25").silent_on("server/discover");
        let mut client = Client::start(on, config(), server);
        assert_eq!(client.until_ready().era, Era::Legacy);
        assert!((2000..2100).contains(&client.elapsed_ms()), "{} ms", client.elapsed_ms());
        assert_eq!(client.verdicts(), [Verdict::Legacy]);
        client.still_works();

        let mut again = config();
        again.start = sanswire::client::Start::Remembered(client.verdicts().pop().unwrap());
        let server = Server::legacy("2025-11-25").silent_on("server/discover");
        let client = Client::ready(on, again, server);
        assert!(client.elapsed_ms() < 100, "{} ms", client.elapsed_ms());
        assert_eq!(client.count("server/discover"), 0);
    });
}

#[test]
fn the_hedge_is_a_bare_handshake_with_the_newest_legacy_version() {
    // P-077 P-079
    on_both_links(|on| {
        let server = Server::legacy("2025-11-25").silent_on("server/discover");
        let mut client = Client::ready(on, config(), server);
        let initialize = client.last("initialize");
        assert_eq!(initialize.message["params"]["protocolVersion"], "2025-11-25");
        assert_eq!(initialize.message["params"]["capabilities"], json!({}));
        assert_eq!(initialize.message["params"]["clientInfo"]["name"], "harness");
        assert!(initialize.message["params"].get("_meta").is_none(), "{}", initialize.text);
        client.still_works();
    });
}

#[test]
fn nothing_is_sent_beside_probe_and_handshake_before_the_handshake_is_answered() {
    // P-086
    on_both_links(|on| {
        let server = Server::mute().with("initialize", |request, out| {
            out.after(Duration::from_secs(9)).result(request, initialize_result("2025-11-25"));
        });
        let mut client = Client::start(on, config(), server);
        client.wait_ms(10_000);
        assert_eq!(client.link.server().methods(), ["server/discover", "initialize"]);
        client.until_ready();
    });
}

#[test]
fn a_slow_modern_server_is_not_mistaken_for_an_old_one() {
    // P-061 P-065
    on_both_links(|on| {
        let server = Server::modern().with("server/discover", |request, out| {
            out.after(Duration::from_secs(3)).result(request, discover_result(&["2026-07-28"]));
        });
        let mut client = Client::start(on, config(), server);
        assert_eq!(client.until_ready().era, Era::Modern);
        assert_eq!(client.count("initialize"), 1, "the hedge went out and was refused");
        assert_eq!(client.verdicts(), [Verdict::Modern]);
        client.still_works();
    });
}

#[test]
fn a_discover_result_before_the_handshake_is_refused_waits_for_the_refusal() {
    on_both_links(|on| {
        let server = Server::modern()
            .with("server/discover", |request, out| {
                out.after(Duration::from_secs(3)).result(request, discover_result(&["2026-07-28"]));
            })
            .with("initialize", |request, out| {
                out.after(Duration::from_secs(3)).error(request, -32601, "no");
            });
        let mut client = Client::start(on, config(), server);
        client.wait_ms(4000);
        assert!(client.peer().is_none());
        assert_eq!(client.until_ready().era, Era::Modern);
        assert!(client.elapsed_ms() >= 5000);
    });
}

#[test]
fn a_dual_server_that_answers_the_probe_late_stays_legacy_and_is_remembered_as_modern() {
    // P-065
    on_both_links(|on| {
        let server = Server::dual("2025-11-25").with("server/discover", |request, out| {
            out.after(Duration::from_secs(5)).result(request, discover_result(&["2026-07-28"]));
        });
        let mut client = Client::start(on, config(), server);
        assert_eq!(client.until_ready().era, Era::Legacy);
        client.wait_ms(4000);
        assert_eq!(client.verdicts(), [Verdict::Legacy, Verdict::Modern]);
        assert_eq!(client.link.session().revision(), Some(Revision::V2025_11_25));
        client.still_works();
    });
}

#[test]
fn a_dual_server_whose_late_probe_answer_comes_beside_the_handshake_is_remembered_as_modern() {
    on_both_links(|on| {
        let server = Server::dual("2025-11-25")
            .with("server/discover", |request, out| {
                out.after(Duration::from_millis(2500)).result(request, discover_result(&["2026-07-28"]));
            })
            .with("initialize", |request, out| {
                out.after(Duration::from_secs(3)).result(request, initialize_result("2025-11-25"));
            });
        let mut client = Client::start(on, config(), server);
        assert_eq!(client.until_ready().era, Era::Legacy);
        client.wait_ms(1000);
        assert_eq!(client.verdicts().pop(), Some(Verdict::Modern));
    });
}

#[test]
fn a_late_refusal_of_the_probe_changes_nothing() {
    on_all_links(|on| {
        let server = Server::legacy("2025-11-25").with("server/discover", |request, out| {
            out.after(Duration::from_secs(4)).error(request, -32601, "no");
        });
        let mut client = Client::ready(on, config(), server);
        client.wait_ms(4000);
        assert_eq!(client.verdicts(), [Verdict::Legacy]);
        assert!(client.violations().is_empty());
        client.still_works();
    });
}

#[test]
fn silence_on_both_ends_the_attempt_at_the_connect_limit() {
    // P-090 P-091
    on_both_links(|on| {
        let mut client = Client::start(on, config(), Server::mute());
        let reason = client.until_closed();
        let waiting_for = Method::Initialize;
        assert_eq!(reason, CloseReason::ConnectTimeout { waiting_for, limit_ms: 15_000 });
        assert_eq!(client.elapsed_ms(), 15_000);
        assert_eq!(next_start(&reason, &config().start, 0), None);
    });
}

#[test]
fn a_pin_asks_for_that_revision_and_takes_no_other() {
    // P-062 P-078
    on_all_links(|on| {
        for revision in Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy) {
            let mut client = Client::start(on, pinned(revision), Server::legacy(revision.as_str()));
            assert_eq!(client.until_ready().revision, revision);
            let methods = client.link.server().methods();
            assert_eq!(methods.first(), Some(&"initialize"), "no probe under a pin");
            assert_eq!(client.last("initialize").message["params"]["protocolVersion"], revision.as_str());
        }
        let mut client = Client::start(on, pinned(Revision::V2025_06_18), Server::legacy("2025-11-25"));
        let supported = vec!["2025-11-25".to_owned()];
        assert_eq!(client.until_closed(), CloseReason::Incompatible { supported });

        let mut client = Client::start(on, pinned(Revision::V2026_07_28), Server::legacy("2025-11-25"));
        let reason = client.until_closed();
        assert!(matches!(reason, CloseReason::Refused { method: Method::ServerDiscover, .. }), "{reason:?}");
        assert_eq!(client.count("initialize"), 0);
        assert_eq!(next_start(&reason, &pinned(Revision::V2026_07_28).start, 0), None);

        let mut client = Client::ready(on, pinned(Revision::V2026_07_28), Server::modern());
        client.still_works();
    });
}

#[test]
fn a_pin_to_the_modern_revision_is_not_hedged() {
    // P-062
    on_all_links(|on| {
        let server = Server::legacy("2025-11-25").silent_on("server/discover");
        let mut client = Client::start(on, pinned(Revision::V2026_07_28), server);
        let reason = client.until_closed();
        let waiting_for = Method::ServerDiscover;
        assert_eq!(reason, CloseReason::ConnectTimeout { waiting_for, limit_ms: 15_000 });
        assert_eq!(client.count("initialize"), 0);
    });
}
