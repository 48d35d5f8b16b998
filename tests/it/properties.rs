//! The bodies that the fuzz targets run, on generated inputs and on inputs that once broke something.

use proptest::prelude::*;
use sanswire_tests::properties::{
    check_envelope, check_frame_line, check_frame_sse, check_host, check_http_h1, check_server_bytes,
};
use std::fs;
use std::path::Path;

/// Text that is JSON, or nearly so: tokens and members, some of them of an envelope, put together and damaged.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:e}")),
        Just("1.50E+3".to_owned()),
        Just("-0".to_owned()),
        Just("123456789012345678901234".to_owned()),
        Just(r#""2.0""#.to_owned()),
        Just(r#""2\u002e0""#.to_owned()),
        Just(r#""\ud83d""#.to_owned()),
        Just(r#""\ud83d\ude00\n\/\"""#.to_owned()),
        Just(r#""tools/call""#.to_owned()),
        ".*".prop_map(|text| serde_json::Value::from(text).to_string()),
        "[a-z {}\\[\\]:,]{0,90}".prop_map(|text| format!("\"{text}\"")),
        Just(r#"{"code":-32600,"message":"no","data":[1]}"#.to_owned()),
    ];
    let name = prop_oneof![
        4 => prop_oneof![
            Just("jsonrpc"), Just("id"), Just("method"), Just("params"), Just("result"), Just("error")
        ].prop_map(|name| format!("\"{name}\"")),
        1 => Just(r#""\u0069d""#.to_owned()),
        1 => Just(r#""m\u0065thod""#.to_owned()),
        1 => "[a-z]{0,12}".prop_map(|name| format!("\"{name}\"")),
    ];
    let space = prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\r\n\t ")];
    let value = scalar.prop_recursive(6, 60, 6, move |inner| {
        let space = space.clone();
        let members = proptest::collection::vec((name.clone(), inner.clone(), space.clone()), 0..6);
        prop_oneof![
            (proptest::collection::vec(inner, 0..5), space).prop_map(|(items, space)| {
                format!("[{space}{}{space}]", items.join(&format!("{space},")))
            }),
            members.prop_map(|members| {
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(name, value, space)| format!("{space}{name}{space}:{space}{value}{space}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    let envelope = (
        prop_oneof![6 => Just(r#""jsonrpc":"2.0""#), 1 => Just(r#""jsonrpc":"1.0""#), 1 => Just(r#""x":0"#)],
        proptest::sample::subsequence(vec!["id", "method", "params", "result", "error"], 0..4),
        proptest::collection::vec(value.clone(), 5),
        any::<bool>(),
    )
        .prop_map(|(version, names, values, last)| {
            let mut members: Vec<_> =
                names.iter().zip(values).map(|(name, value)| format!("\"{name}\":{value}")).collect();
            members.insert(if last { members.len() } else { 0 }, version.to_owned());
            format!("{{{}}}", members.join(","))
        });
    let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (prop_oneof![3 => envelope, 1 => value], prop_oneof![3 => Just(false), 1 => Just(true)], damage).prop_map(
        |(text, damaged, damage)| {
            let mut text = text.into_bytes();
            for (at, byte) in damage.into_iter().filter(|_| damaged) {
                let at = at.index(text.len());
                text[at] = byte;
            }
            text
        },
    )
}

/// What a host meets: results, listings and arguments, with whatever else in their places, and names.
fn for_a_host() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        Just("text".to_owned()),
        Just("image".to_owned()),
        "[a-c._ \n\u{202e}\u{7}日]{0,6}",
        "[a-z]{60,70}",
    ];
    let text = text.prop_map(|text| serde_json::Value::from(text).to_string());
    let name = prop_oneof![
        Just("name"),
        Just("type"),
        Just("text"),
        Just("data"),
        Just("mimeType"),
        Just("uri"),
        Just("resource"),
        Just("description"),
        Just("inputSchema"),
        Just("outputSchema"),
        Just("annotations"),
        Just("isError"),
    ];
    let any_json = nearly_json().prop_map(|text| match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(_) => String::from_utf8(text).unwrap_or_default(),
        Err(_) => "null".to_owned(),
    });
    let member = (name, prop_oneof![3 => text.clone(), 1 => any_json])
        .prop_map(|(name, value)| format!("\"{name}\":{value}"));
    let object =
        proptest::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")));
    let array = proptest::collection::vec(prop_oneof![5 => object, 1 => text.clone()], 0..8);
    let outer = prop_oneof![Just("content"), Just("tools"), Just("structuredContent")];
    prop_oneof![
        (outer, array).prop_map(|(name, items)| format!("{{\"{name}\":[{}]}}", items.join(",")).into_bytes()),
        (".{0,80}", ".{0,80}").prop_map(|(server, tool)| format!("{server}\n{tool}").into_bytes()),
        nearly_json(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_envelope_agrees_with_serde_json_on_text_that_is_nearly_json(text in nearly_json()) {
        check_envelope(&text);
    }

    #[test]
    fn the_envelope_agrees_with_serde_json_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        check_envelope(&bytes);
    }

    #[test]
    fn what_a_host_shows_is_within_bounds_and_accounted_for(data in for_a_host()) {
        check_host(&data);
    }

    #[test]
    fn lines_do_not_depend_on_how_the_stream_was_cut(
        limit in any::<u8>(),
        cuts in any::<u8>(),
        lines in proptest::collection::vec((nearly_json(), prop_oneof![Just("\n"), Just("\r\n"), Just("\n \n")]), 0..6),
        repeats in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut data = vec![limit, cuts];
        for (line, end) in lines {
            data.extend(line);
            data.extend(end.as_bytes());
        }
        for at in repeats {
            data.insert(2 + at.index(data.len() - 1), 0xfe);
        }
        check_frame_line(&data);
    }
}

/// The seeds of the fuzz target: whole conversations, cut into lines and acts.
fn conversations() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/server_bytes");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the seeds").map(|file| file.expect("one").path()).collect();
    files.sort();
    let pieces = files.iter().flat_map(|file| {
        let seed = fs::read(file).expect("a seed");
        seed[1..]
            .split_inclusive(|byte| *byte == b'\n' || *byte >= 0xf8)
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    });
    pieces.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_server_keeps_its_rules_whatever_it_is_sent_and_its_application_does(
        setting in any::<u8>(),
        steps in proptest::collection::vec(
            prop_oneof![
                6 => prop::sample::select(conversations()),
                3 => (0xf8_u8..=0xff).prop_map(|act| vec![act]),
                1 => nearly_json().prop_map(|mut text| { text.push(b'\n'); text }),
                1 => proptest::collection::vec(any::<u8>(), 0..20),
            ],
            0..60,
        ),
    ) {
        // H-227
        check_server_bytes(&[vec![setting], steps.concat()].concat());
    }
}

#[test]
fn the_seeds_of_served_conversations_keep_the_rules() {
    // H-227
    each_file("../../fuzz/seeds/server_bytes", check_server_bytes);
}

/// Runs `check` on every file of a folder of `tests/regressions`, which there has to be.
fn each_file(folder: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(folder);
    let files: Vec<_> = fs::read_dir(&folder).expect("the folder is there").collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        check(&fs::read(file.expect("a readable folder").path()).expect("a readable file"));
    }
}

#[test]
fn envelopes_that_once_broke_something_do_not_any_more() {
    each_file("envelope", check_envelope);
}

#[test]
fn lines_that_once_broke_something_do_not_any_more() {
    each_file("frame_line", check_frame_line);
}

#[test]
fn the_seeds_of_event_streams_come_to_what_the_standard_says() {
    each_file("../../fuzz/seeds/frame_sse", check_frame_sse);
}

#[test]
fn the_seeds_of_what_a_host_meets_keep_the_rules() {
    each_file("../../fuzz/seeds/host", check_host);
}

/// Lines and bodies of the seeds of HTTP, to be put together anew.
fn pieces_of_http() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/http_h1");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the seeds").map(|file| file.expect("one").path()).collect();
    files.sort();
    let pieces = files.iter().flat_map(|file| {
        let seed = fs::read(file).expect("a seed");
        seed[2..].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
    });
    pieces.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn http_does_not_depend_on_how_the_stream_was_cut(
        setting in any::<u8>(),
        cuts in any::<u8>(),
        pieces in proptest::collection::vec(
            prop_oneof![
                9 => prop::sample::select(pieces_of_http()),
                1 => proptest::collection::vec(any::<u8>(), 0..20),
            ],
            0..30,
        ),
    ) {
        check_http_h1(&[vec![setting, cuts], pieces.concat()].concat());
    }
}

#[test]
fn the_seeds_of_http_keep_the_rules() {
    each_file("../../fuzz/seeds/http_h1", check_http_h1);
}
