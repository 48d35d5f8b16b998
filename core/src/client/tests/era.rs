//! Every outcome of the probe and of the handshake, as tables.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::client::config::Start;
use crate::client::era::{EraSearch, Reply, Step, is_modern_answer, next_start};
use crate::client::event::{Peer, Verdict};
use crate::error::{CloseReason, Violation};
use crate::exchange::{HttpRefusal, RefusedFor};
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::{Era, Method, Revision};

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

fn discover(versions: &str) -> Reply {
    Reply::Result(json(&format!(
        r#"{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{}},"ttlMs":0,"cacheScope":"private"}}"#
    )))
}

fn initialized(version: &str) -> Reply {
    Reply::Result(json(&format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
    )))
}

fn error(code: i64) -> Reply {
    Reply::Error(ErrorObject::new(code, "no"))
}

fn unsupported(versions: &str) -> Reply {
    let mut error = ErrorObject::new(-32022, "no");
    error.data = Some(json(&format!(r#"{{"supported":{versions},"requested":"2026-07-28"}}"#)));
    Reply::Error(error)
}

fn ready(step: Step) -> (Box<Peer>, Verdict) {
    match step {
        Step::Ready(peer, verdict) => (peer, verdict),
        Step::Wait | Step::Discover(_) | Step::Initialize(_) | Step::Close(..) => {
            panic!("not ready: {step:?}")
        }
    }
}

fn probing() -> EraSearch {
    let (search, step) = EraSearch::start(&Start::Unknown);
    // P-058, P-062: the probe comes before anything else, and pins nothing.
    assert_eq!(step, Step::Discover(Revision::V2026_07_28));
    search
}

#[test]
fn a_discover_result_with_a_common_version_makes_it_modern() {
    // P-075
    let (peer, verdict) =
        ready(probing().probe_answered(discover(r#"["2027-01-01","2026-07-28","2025-11-25"]"#)));
    assert_eq!((peer.era, peer.revision, verdict), (Era::Modern, Revision::V2026_07_28, Verdict::Modern));
}

#[test]
fn a_discover_result_with_legacy_versions_only_leads_to_a_handshake_with_one_of_them() {
    let step = probing().probe_answered(discover(r#"["2025-03-26","2025-06-18"]"#));
    assert_eq!(step, Step::Initialize(Revision::V2025_06_18));
}

#[test]
fn nothing_in_common_is_incompatible_and_names_what_the_server_speaks() {
    // P-057
    for reply in [discover(r#"["2031-01-01"]"#), unsupported(r#"["2031-01-01"]"#)] {
        let step = probing().probe_answered(reply);
        let supported = vec![String::from("2031-01-01")];
        assert_eq!(step, Step::Close(CloseReason::Incompatible { supported }, Some(Verdict::ModernOther)));
    }
}

#[test]
fn no_single_code_decides_and_any_other_refusal_leads_to_the_handshake() {
    // P-059, P-061
    for code in [-32601, -32602, -32600, -32603, -32700, -32000, -32001, -32002, -32003, -32004, -32042, 0, 7]
    {
        assert_eq!(probing().probe_answered(error(code)), Step::Initialize(Revision::V2025_11_25), "{code}");
    }
    // P-019: a result of another kind is no introduction, whatever else it holds.
    let other = r#"{"resultType":"later","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    let junk = ["{}", r#"{"tools":[]}"#, other].map(|text| Reply::Result(json(text)));
    let junk = junk.into_iter().chain([Reply::Unusable]);
    for reply in junk {
        assert_eq!(probing().probe_answered(reply), Step::Initialize(Revision::V2025_11_25));
    }
}

#[test]
fn a_code_that_only_a_modern_server_can_send_never_leads_to_the_handshake() {
    // P-060
    for code in [-32020, -32021] {
        let step = probing().probe_answered(error(code));
        let Step::Close(CloseReason::Refused { method, error }, verdict) = step else {
            panic!("{code}: {step:?}")
        };
        assert_eq!((method, error.code, verdict), (Method::ServerDiscover, code, Some(Verdict::ModernOther)));
    }
}

#[test]
fn an_unsupported_version_error_picks_a_common_one() {
    // P-057
    let step = probing().probe_answered(unsupported(r#"["2025-11-25","2024-11-05"]"#));
    assert_eq!(step, Step::Initialize(Revision::V2025_11_25));
    let mut search = probing();
    assert_eq!(
        search.probe_answered(unsupported(r#"["2026-07-28"]"#)),
        Step::Discover(Revision::V2026_07_28),
        "once more with the version it names"
    );
    let step = search.probe_answered(unsupported(r#"["2026-07-28"]"#));
    assert!(matches!(step, Step::Close(CloseReason::Incompatible { .. }, _)), "but only once: {step:?}");
}

#[test]
fn a_silent_server_is_asked_to_shake_hands_beside_the_probe_and_its_reply_decides() {
    let mut search = probing();
    assert!(search.wants_hedge());
    assert_eq!(search.hedge(), Step::Initialize(Revision::V2025_11_25));
    assert!(!search.wants_hedge());
    assert_eq!(search.hedge(), Step::Wait, "once");
    // A late DiscoverResult waits for the handshake, leaves it alone, and is remembered.
    assert_eq!(search.probe_answered(discover(r#"["2026-07-28"]"#)), Step::Wait);
    let (peer, verdict) = ready(search.handshake_answered(initialized("2025-06-18")));
    assert_eq!((peer.revision, verdict), (Revision::V2025_06_18, Verdict::Modern));
}

#[test]
fn only_a_version_in_common_shows_a_modern_server_when_its_answer_comes_late() {
    let shows = |reply| match reply {
        Reply::Result(result) => is_modern_answer(&result),
        Reply::Error(_) | Reply::Unusable => panic!("no result"),
    };
    assert!(shows(discover(r#"["2025-11-25","2026-07-28"]"#)));
    assert!(
        !shows(discover(r#"["2025-11-25"]"#)) && !shows(discover("[]")) && !shows(initialized("2026-07-28"))
    );
}

#[test]
fn a_slow_modern_server_is_not_mistaken_for_an_old_one() {
    // It refuses the handshake first and answers the probe later, or the other way round.
    for code in [-32022, -32601, -32020] {
        let mut search = probing();
        search.hedge();
        assert_eq!(search.handshake_answered(error(code)), Step::Wait, "{code}");
        let (peer, _) = ready(search.probe_answered(discover(r#"["2026-07-28"]"#)));
        assert_eq!(peer.era, Era::Modern);

        let mut search = probing();
        search.hedge();
        assert_eq!(search.probe_answered(discover(r#"["2026-07-28"]"#)), Step::Wait);
        let (peer, _) = ready(search.handshake_answered(error(code)));
        assert_eq!(peer.era, Era::Modern);
    }
}

#[test]
fn a_server_that_refuses_both_is_reported_with_its_refusal_of_the_handshake() {
    let mut search = probing();
    search.hedge();
    assert_eq!(search.probe_answered(error(-32601)), Step::Wait);
    let step = search.handshake_answered(error(-32000));
    let Step::Close(CloseReason::Refused { method, error: refusal }, verdict) = step else {
        panic!("{step:?}")
    };
    assert_eq!((method, refusal.code, verdict), (Method::Initialize, -32000, None));

    let mut search = probing();
    search.hedge();
    assert_eq!(search.handshake_answered(error(-32000)), Step::Wait);
    let step = search.probe_answered(error(-32601));
    assert!(
        matches!(step, Step::Close(CloseReason::Refused { method: Method::Initialize, .. }, _)),
        "{step:?}"
    );
}

#[test]
fn what_was_remembered_opens_directly_and_is_corrected_when_wrong() {
    // P-065
    for verdict in [Verdict::Legacy, Verdict::Died] {
        let (mut search, step) = EraSearch::start(&Start::Remembered(verdict));
        assert_eq!(step, Step::Initialize(Revision::V2025_11_25));
        assert!(!search.wants_hedge() && !search.probed());
        assert_eq!(search.handshake_answered(error(-32022)), Step::Discover(Revision::V2026_07_28));
        let (_, verdict) = ready(search.probe_answered(discover(r#"["2026-07-28"]"#)));
        assert_eq!(verdict, Verdict::Modern);
    }
    let (mut search, step) = EraSearch::start(&Start::Remembered(Verdict::Modern));
    assert_eq!(step, Step::Discover(Revision::V2026_07_28));
    assert!(!search.wants_hedge(), "a modern server is waited for");
    assert_eq!(search.probe_answered(error(-32601)), Step::Initialize(Revision::V2025_11_25));
    assert_eq!(ready(search.handshake_answered(initialized("2025-11-25"))).1, Verdict::Legacy);
}

#[test]
fn a_pinned_revision_is_the_only_one() {
    let (mut search, step) = EraSearch::start(&Start::Pinned(Revision::V2025_03_26));
    assert_eq!(step, Step::Initialize(Revision::V2025_03_26));
    let step = search.handshake_answered(initialized("2025-06-18"));
    assert!(matches!(step, Step::Close(CloseReason::Incompatible { .. }, _)), "{step:?}");

    let (mut search, step) = EraSearch::start(&Start::Pinned(Revision::V2026_07_28));
    assert_eq!(step, Step::Discover(Revision::V2026_07_28));
    assert!(!search.wants_hedge());
    let step = search.probe_answered(error(-32601));
    assert!(matches!(step, Step::Close(CloseReason::Refused { .. }, None)), "{step:?}");

    let (mut search, _) = EraSearch::start(&Start::Pinned(Revision::V2025_11_25));
    let step = search.handshake_answered(error(-32022));
    assert!(matches!(step, Step::Close(CloseReason::Refused { .. }, None)), "{step:?}");
}

#[test]
fn each_legacy_version_is_taken_and_any_other_ends_the_connection() {
    // P-078, P-084, P-090
    for revision in Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy) {
        let mut search = probing();
        search.probe_answered(error(-32601));
        let (peer, verdict) = ready(search.handshake_answered(initialized(revision.as_str())));
        assert_eq!((peer.revision, verdict), (revision, Verdict::Legacy));
    }
    for other in ["2026-07-28", "1999-01-01", "", "2025-11-25 "] {
        let mut search = probing();
        search.probe_answered(error(-32601));
        let step = search.handshake_answered(initialized(other));
        assert!(matches!(step, Step::Close(CloseReason::Incompatible { .. }, _)), "{other:?}: {step:?}");
    }
    let mut search = probing();
    search.probe_answered(error(-32601));
    let step = search.handshake_answered(Reply::Result(json("{}")));
    assert!(matches!(step, Step::Close(CloseReason::Protocol(Violation::BadResult { .. }), _)), "{step:?}");
}

#[test]
fn a_peer_is_read_from_either_introduction() {
    let (peer, _) = ready(probing().probe_answered(Reply::Result(json(
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},
            "instructions":"use it","ttlMs":5,"cacheScope":"public",
            "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","title":"T","version":"v"}}}"#,
    ))));
    assert_eq!((peer.server.name.as_str(), peer.server.title.as_deref()), ("n", Some("T")));
    assert!(peer.capabilities.flag("tools", "listChanged") && !peer.capabilities.has("prompts"));
    // P-263
    assert_eq!((peer.cache.ttl_ms, peer.cache.public), (5, true));
    assert_eq!(peer.instructions.as_deref(), Some("use it"));
}

#[test]
fn what_to_open_next_follows_from_reason_and_attempt() {
    let unknown = Start::Unknown;
    let legacy = Start::Remembered(Verdict::Legacy);
    let died = Start::Remembered(Verdict::Died);
    let pinned = Start::Pinned(Revision::V2026_07_28);
    let refused = CloseReason::Refused { method: Method::Initialize, error: ErrorObject::new(-1, "no") };
    let table: Vec<(&Start, CloseReason, u32, Option<Start>)> = vec![
        (&unknown, CloseReason::DiedOnProbe, 0, Some(died.clone())),
        (&unknown, CloseReason::DiedOnProbe, 1, None),
        (&unknown, CloseReason::Eof, 0, None),
        (&unknown, CloseReason::Local, 0, None),
        (&Start::Remembered(Verdict::Modern), CloseReason::DiedOnProbe, 0, Some(died.clone())),
        (&legacy, CloseReason::Eof, 0, Some(unknown.clone())),
        (&legacy, refused, 0, Some(unknown.clone())),
        (&legacy, CloseReason::Local, 0, None),
        (&died, CloseReason::Eof, 1, None),
        (&pinned, CloseReason::DiedOnProbe, 0, None),
    ];
    for (start, reason, attempt, expected) in table {
        assert_eq!(next_start(&reason, start, attempt), expected, "{start:?} {reason:?} {attempt}");
    }
}

#[test]
fn a_server_that_was_remembered_and_knows_no_handshake_over_http_is_asked_anew() {
    let http = |status| CloseReason::HttpRefused(Box::new(HttpRefusal { status, why: RefusedFor::Status }));
    let both =
        |streamable, sse| CloseReason::NoTransport { streamable: Box::new(streamable), sse: Box::new(sse) };
    for start in [Start::Remembered(Verdict::Legacy), Start::Remembered(Verdict::Died)] {
        for status in [400, 404, 405] {
            assert_eq!(next_start(&http(status), &start, 0), Some(Start::Unknown), "{status}");
            assert_eq!(next_start(&http(status), &start, 1), None, "once");
            // Either way there will do.
            assert_eq!(
                next_start(&both(http(status), CloseReason::Unreachable), &start, 0),
                Some(Start::Unknown)
            );
            assert_eq!(
                next_start(&both(CloseReason::Unreachable, http(status)), &start, 0),
                Some(Start::Unknown)
            );
        }
        for status in [200, 401, 403, 406, 500, 503] {
            assert_eq!(next_start(&http(status), &start, 0), None, "{status} says nothing of the handshake");
        }
        assert_eq!(next_start(&CloseReason::Unreachable, &start, 0), None);
    }
    for start in [Start::Unknown, Start::Remembered(Verdict::Modern), Start::Pinned(Revision::V2025_11_25)] {
        assert_eq!(next_start(&http(404), &start, 0), None, "{start:?}");
    }
}

#[test]
fn silence_of_the_probe_is_waited_out_where_nothing_can_be_sent_beside_it() {
    let mut search = probing();
    search.never_hedge();
    assert!(!search.wants_hedge());
    assert_eq!(search.hedge(), Step::Wait);
    assert_eq!(search.probe_answered(error(-32601)), Step::Initialize(Revision::V2025_11_25));
}
