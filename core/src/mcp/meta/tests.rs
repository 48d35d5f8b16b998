use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::trace::{check, is_baggage, is_traceparent, is_tracestate};
use super::*;

/// P-032, P-034.
#[test]
fn p_032_p_034_keys_follow_the_grammar() {
    // P-032, P-034
    type Parts = Result<(Option<&'static str>, &'static str), MetaKeyFault>;
    let table: &[(&str, Parts)] = &[
        ("name", Ok((None, "name"))),
        ("", Ok((None, ""))),
        ("com.example/name", Ok((Some("com.example"), "name"))),
        ("com.example/", Ok((Some("com.example"), ""))),
        ("a/b", Ok((Some("a"), "b"))),
        ("a-1.b2/1", Ok((Some("a-1.b2"), "1"))),
        ("A.B/x-y_z.w", Ok((Some("A.B"), "x-y_z.w"))),
        ("1a/b", Err(MetaKeyFault::Prefix)),
        ("a-/b", Err(MetaKeyFault::Prefix)),
        ("-a/b", Err(MetaKeyFault::Prefix)),
        ("/b", Err(MetaKeyFault::Prefix)),
        ("a./b", Err(MetaKeyFault::Prefix)),
        ("a..c/b", Err(MetaKeyFault::Prefix)),
        ("a_b/c", Err(MetaKeyFault::Prefix)),
        ("com.1x/b", Err(MetaKeyFault::Prefix)),
        ("é.fr/b", Err(MetaKeyFault::Prefix)),
        ("_name", Err(MetaKeyFault::Name)),
        ("name_", Err(MetaKeyFault::Name)),
        (".", Err(MetaKeyFault::Name)),
        ("na me", Err(MetaKeyFault::Name)),
        ("a/b/c", Err(MetaKeyFault::Name)),
        ("a/é", Err(MetaKeyFault::Name)),
        ("a/b$c", Err(MetaKeyFault::Name)),
    ];
    for (key, expected) in table {
        let found = MetaKey::parse(key).map(|key| (key.prefix(), key.name()));
        assert_eq!(found, *expected, "{key:?}");
    }
}

/// P-035, P-036: which prefixes are the protocol's, in the order of `Revision::ALL`.
#[test]
fn p_035_p_036_reserved_prefixes_differ_by_revision() {
    // P-035, P-036
    let table: &[(&str, [bool; 5])] = &[
        ("io.modelcontextprotocol/x", [false, false, false, true, true]),
        ("com.mcp.tools/x", [false, false, true, true, true]),
        ("dev.mcp/", [false, false, false, true, true]),
        ("modelcontextprotocol.io/x", [false, false, true, false, false]),
        ("mcp.dev/x", [false, false, true, false, false]),
        ("tools.mcp.com/x", [false, false, true, true, true]),
        ("api.modelcontextprotocol.org/x", [false, false, true, true, true]),
        ("com.example.mcp/x", [false, false, false, false, false]),
        ("a.b.mcp.c/x", [false, false, true, false, false]),
        ("mcp/x", [false, false, false, false, false]),
        ("com.mcps/x", [false, false, false, false, false]),
        ("io.modelcontextprotocol.x/y", [false, false, true, true, true]),
        ("progressToken", [true, true, true, true, true]),
        ("traceparent", [false, false, false, false, true]),
        ("tracestate", [false, false, false, false, true]),
        ("baggage", [false, false, false, false, true]),
        ("mcp", [false, false, false, false, false]),
        ("com.example/progressToken", [false, false, false, false, false]),
    ];
    for (key, expected) in table {
        let parsed = MetaKey::parse(key).expect("a key of the table");
        for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
            assert_eq!(parsed.reserved(revision), *expected, "{key} {revision}");
        }
    }
}

#[test]
fn every_key_of_the_protocol_parses_and_is_reserved_under_its_newest_revision() {
    for key in [
        PROGRESS_TOKEN,
        PROTOCOL_VERSION,
        CLIENT_CAPABILITIES,
        CLIENT_INFO,
        LOG_LEVEL,
        SERVER_INFO,
        SUBSCRIPTION_ID,
        RELATED_TASK,
        MODEL_IMMEDIATE_RESPONSE,
        TRACEPARENT,
        TRACESTATE,
        BAGGAGE,
    ] {
        assert_eq!(MetaKey::parse(key).map(|key| key.reserved(Revision::V2026_07_28)), Ok(true), "{key}");
    }
}

#[test]
fn p_068_an_extension_identifier_needs_a_prefix() {
    // P-068
    let table = [
        ("io.modelcontextprotocol/tasks", Ok(())),
        ("com.example/thing-2", Ok(())),
        ("tasks", Err(MetaKeyFault::NoPrefix)),
        ("", Err(MetaKeyFault::NoPrefix)),
        ("1.example/tasks", Err(MetaKeyFault::Prefix)),
        ("com.example/-", Err(MetaKeyFault::Name)),
    ];
    for (id, expected) in table {
        assert_eq!(check_extension_id(id), expected, "{id:?}");
    }
}

#[test]
fn p_038_traceparent_follows_the_w3c_format() {
    // P-038
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = "b7ad6b7169203331";
    let good = [
        format!("00-{trace}-{parent}-01"),
        format!("00-{trace}-{parent}-ff"),
        format!("01-{trace}-{parent}-00"),
        format!("cc-{trace}-{parent}-01-what-the-future-holds"),
    ];
    for value in &good {
        assert!(is_traceparent(value), "{value}");
        assert_eq!(check("traceparent", value), Some(true));
    }
    let zeros = "0".repeat(32);
    let bad = [
        String::new(),
        format!("00-{trace}-{parent}"),
        format!("00-{trace}-{parent}-1"),
        format!("00-{trace}-{parent}-01-more"),
        format!("00-{trace}-{parent}-01-"),
        format!("cc-{trace}-{parent}-01more"),
        format!("ff-{trace}-{parent}-01"),
        format!("00-{zeros}-{parent}-01"),
        format!("00-{trace}-0000000000000000-01"),
        format!("00-{}-{parent}-01", trace.to_uppercase()),
        format!("0g-{trace}-{parent}-01"),
        format!(" 00-{trace}-{parent}-01"),
    ];
    for value in &bad {
        assert!(!is_traceparent(value), "{value}");
    }
}

#[test]
fn p_038_tracestate_follows_the_w3c_format() {
    // P-038
    let members = |n: usize| (0..n).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    for value in
        ["", "a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "t1@sys=x y", "a=1 , b=2,,", &members(32)]
    {
        assert!(is_tracestate(value), "{value}");
    }
    let long = format!("a={}", "x".repeat(257));
    for value in
        ["a", "=1", "a=", "A=1", "a=1,a=2", "a=b=c", "a b=1", "a=\u{e9}", "a=\u{7f}", &members(33), &long]
    {
        assert!(!is_tracestate(value), "{value}");
    }
}

#[test]
fn p_038_baggage_follows_the_w3c_format() {
    // P-038
    for value in ["a=1", "a=", "userId=alice,isProduction=false", "k = v ; p ; q = 2 , z=%20"] {
        assert!(is_baggage(value), "{value}");
    }
    for value in ["", "a", "a=1,", ",", "=1", "a=b c", "a=\"x\"", "a=1;=2", "a=\\", "a=\u{e9}", "a@b=1"] {
        assert!(!is_baggage(value), "{value}");
    }
    assert_eq!(check("other", "x"), None);
}

proptest! {
    #[test]
    fn a_key_that_parses_is_put_together_again(key in "[a-zA-Z0-9_./-]{0,24}|\\PC{0,8}") {
        if let Ok(parsed) = MetaKey::parse(&key) {
            let again = match parsed.prefix() {
                Some(prefix) => format!("{prefix}/{}", parsed.name()),
                None => parsed.name().into(),
            };
            prop_assert_eq!(again, key);
        }
    }

    #[test]
    fn no_text_makes_a_trace_check_panic(value in "\\PC{0,80}|[0-9a-f-]{50,60}|[a-z=,; \t]{0,40}") {
        for key in [TRACEPARENT, TRACESTATE, BAGGAGE] {
            prop_assert!(check(key, &value).is_some());
        }
    }
}
