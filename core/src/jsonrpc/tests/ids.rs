use super::*;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;

fn id(text: &str) -> Result<RequestId, IdFault> {
    RequestId::parse(json(text).view())
}

#[test]
fn b_11_ids_come_back_with_their_type_and_digits() {
    // P-007
    let exact = [
        "\"init-1\"",
        "\"2\"",
        "\"\"",
        "-5",
        "0",
        "-0",
        "2",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "-9223372036854775809",
        "12345678901234567890",
        "1234567890123456789",
        "123456789012345678901234567890",
        r#""a\"b\\c""#,
        "\"\u{e9}\u{1f600}\"",
    ];
    for text in exact {
        assert_eq!(written(|out| id(text).unwrap().write_json(out)), text);
    }
}

#[test]
fn b_13_an_id_never_equals_one_of_another_type_or_spelling_of_digits() {
    let all =
        ["2", "\"2\"", "0", "-0", "\"02\"", "\"2.0\"", "\" 2\"", "9007199254740993", "9007199254740992"];
    let distinct: BTreeSet<_> = all.iter().map(|text| id(text).unwrap()).collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn strings_are_equal_by_value_however_they_are_escaped() {
    assert_eq!(id(r#""\u0061/b""#), id(r#""a\/b""#));
    assert_eq!(id(r#""\ud83d\ude00""#), id("\"\u{1f600}\""));
    assert_eq!(id("\"x\"").unwrap(), RequestId::from("x"));
}

#[test]
fn an_id_has_at_most_512_bytes() {
    let of = |len: usize| format!("\"{}\"", "x".repeat(len - 2));
    assert!(id(&of(MAX_ID_BYTES)).is_ok());
    assert_eq!(id(&of(MAX_ID_BYTES + 1)), Err(IdFault::TooLong));
    assert!(id(&"9".repeat(MAX_ID_BYTES)).is_ok());
    assert_eq!(id(&"9".repeat(MAX_ID_BYTES + 1)), Err(IdFault::TooLong));
    assert_eq!(id(&format!("{}.5", "9".repeat(MAX_ID_BYTES))), Err(IdFault::Fractional));
}

#[test]
fn getters_tell_integers_from_strings() {
    assert_eq!((id("7").unwrap().as_i64(), id("7").unwrap().as_str()), (Some(7), None));
    assert_eq!((id("\"7\"").unwrap().as_i64(), id("\"7\"").unwrap().as_str()), (None, Some("7")));
    assert_eq!(id("9223372036854775808").unwrap().as_i64(), None);
    assert_eq!(RequestId::from(u64::MAX).to_string(), "18446744073709551615");
    assert_eq!(RequestId::from(u64::MAX), id("18446744073709551615").unwrap());
    assert_eq!(RequestId::from(7u64), RequestId::from(7i64));
    assert_eq!(RequestId::from("a\nb").to_string(), "\"a\\nb\"");
}

#[test]
fn an_id_says_what_it_holds_and_only_what_is_long_is_on_the_heap() {
    let heap = |text: &str| id(text).unwrap().heap_bytes();
    assert_eq!([heap("7"), heap("-9223372036854775808"), heap("\"\"")], [0; 3]);
    assert_eq!([heap("\"\\u0061bc\""), heap("-0"), heap("9223372036854775808")], [3, 2, 19]);
    assert_eq!(
        format!("{:?} {:?} {:?}", id("7").unwrap(), id("\"7\"").unwrap(), id("-0").unwrap()),
        "RequestId(7) RequestId(\"7\") RequestId(-0)"
    );
}
