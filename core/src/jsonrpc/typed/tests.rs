use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Debug;
use core::num::NonZeroU8;
use core::ops::{Bound, Range};

use proptest::prelude::*;
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde_json::Value;

use crate::jsonrpc::{Misfit, RawJson};

fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn read<T: DeserializeOwned + Debug>(text: &str) -> Result<T, String> {
    raw(text).view().read().map_err(|misfit| misfit.to_string())
}

fn misfit<T: DeserializeOwned + Debug>(text: &str) -> String {
    read::<T>(text).expect_err(text)
}

#[test]
fn what_fits_is_read() {
    assert_eq!(read(r#"{"start":1,"end":2}"#), Ok(Range { start: 1u8, end: 2 }));
    assert_eq!(read(r#"[1,"\u0061",[true,null]]"#), Ok((1i64, String::from("a"), (true, None::<u8>))));
    assert_eq!(read(r#"{"Ok":[1.5]}"#), Ok(Ok::<Vec<f32>, ()>([1.5].into())));
    assert_eq!(read(r#"{"Err":null}"#), Ok(Err::<u8, ()>(())));
    assert_eq!(read("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(read("-9223372036854775808"), Ok(i64::MIN));
    assert_eq!(read::<char>(r#""x""#), Ok('x'));
    assert_eq!(read::<()>(r#"{"whatever":1}"#), Ok(()));
    assert_eq!(read::<Box<str>>(r#""""#), Ok("".into()));
    assert_eq!(read::<Value>("-0").map(|value| value.to_string()), Ok("-0.0".into()));
    for unit in [r#""Unbounded""#, r#"{"Unbounded":null}"#, r#"{"Unbounded":{}}"#] {
        assert_eq!(read(unit), Ok(Bound::<u8>::Unbounded));
    }
}

#[test]
fn a_number_without_a_fraction_is_an_integer_however_it_is_written() {
    assert_eq!(read("5.0"), Ok(5u8));
    assert_eq!(read("-1e3"), Ok(-1000i16));
    assert_eq!(read("7"), Ok(7.0f64));
    assert!(read::<u64>("1e19").is_err(), "beyond what a float is sure of");
    assert_eq!(read("9007199254740992.0"), Ok(9_007_199_254_740_992i64));
    assert_eq!(read("-9007199254740992.0"), Ok(-9_007_199_254_740_992i64));
    assert!(read::<i64>("9007199254740994.0").is_err());
    assert!(read::<i64>("-9007199254740994.0").is_err());
}

#[test]
fn text_without_escapes_is_borrowed() {
    let plain = raw(r#""abc""#);
    assert_eq!(plain.view().read::<&str>().as_deref(), Ok("abc"));
    assert!(raw(r#""a\n""#).view().read::<&str>().is_err(), "nothing to borrow from");
    assert_eq!(raw(r#""a\n""#).view().read::<Cow<'_, str>>().as_deref(), Ok("a\n"));
}

#[test]
fn a_misfit_names_the_place_and_what_is_expected_and_not_the_value() {
    type Map<T> = BTreeMap<String, T>;
    let table: &[(&str, String)] = &[
        ("a must be a number, not a string", misfit::<Map<f64>>(r#"{"a":"secret"}"#)),
        (
            "a.b[1] must be true or false, not null",
            misfit::<Map<Map<Vec<bool>>>>(r#"{"a":{"b":[true,null]}}"#),
        ),
        ("[0][1] must be an integer from 0 to 255", misfit::<Vec<Vec<u8>>>("[[1,256]]")),
        ("[0].a must be an integer from 0 to 255", misfit::<Vec<Map<u8>>>(r#"[{"a":1.5}]"#)),
        ("a must be an integer, not an object", misfit::<Map<i64>>(r#"{"a":{}}"#)),
        ("it must be an object, not an array", misfit::<Map<u8>>("[]")),
        (r#""" must be an integer from 0 to 255, not null"#, misfit::<Map<u8>>(r#"{"":null}"#)),
        ("it must be an array, not an object", misfit::<Vec<u8>>("{}")),
        ("it must be a number", misfit::<f64>("1e999")),
        ("end is missing", misfit::<Range<u8>>(r#"{"start":1}"#)),
        ("start is given twice", misfit::<Range<u8>>(r#"{"start":1,"start":2,"end":1}"#)),
        ("more is not known; there is start, end", misfit::<Range<u8>>(r#"{"more":1}"#)),
        ("it must be one of Ok, Err", misfit::<Result<(), ()>>(r#""secret""#)),
        ("it must be an object with the member Ok, not a string", misfit::<Result<u8, u8>>(r#""Ok""#)),
        ("Ok must be an integer from 0 to 255, not null", misfit::<Result<u8, u8>>(r#"{"Ok":null}"#)),
        ("it must be a string, or an object of one member, not a number", misfit::<Result<(), ()>>("1")),
        ("it must have 2 elements at most", misfit::<(u8, u8)>("[1,2,3]")),
        ("a must be a nonzero u8", misfit::<Map<NonZeroU8>>(r#"{"a":0}"#)),
        ("it must be a tuple of size 2", misfit::<(u8, u8)>("[1]")),
        ("Unbounded must be an object, not a number", misfit::<Bound<u8>>(r#"{"Unbounded":1}"#)),
        ("it must be a string, not a boolean", misfit::<String>("true")),
        ("it must be an object, not a number", misfit::<()>("1")),
    ];
    for (expected, said) in table {
        assert_eq!(said, expected);
        assert!(!said.contains("secret"));
    }
    let path = |text| raw(text).view().read::<Map<Vec<u8>>>().unwrap_err().path().to_string();
    assert_eq!((path("[]"), path(r#"{"a":[0,{}]}"#)), (String::new(), "a[1]".into()));
    let name = "n".repeat(1000);
    assert_eq!(path(&alloc::format!(r#"{{"{name}":1}}"#)).len(), 64, "names of the peer's are cut");
}

#[test]
fn a_type_of_its_own_tells_of_kinds_and_never_of_values() {
    let of = |found| Misfit::invalid_type(found, &"a colour").to_string();
    let table = [
        (Unexpected::Bool(true), "a boolean"),
        (Unexpected::Unsigned(77), "a number"),
        (Unexpected::Signed(-77), "a number"),
        (Unexpected::Float(7.7), "a number"),
        (Unexpected::Str("secret"), "a string"),
        (Unexpected::Char('s'), "a string"),
        (Unexpected::Unit, "null"),
        (Unexpected::Option, "null"),
        (Unexpected::Seq, "an array"),
        (Unexpected::Map, "an object"),
    ];
    for (found, kind) in table {
        assert_eq!(of(found), alloc::format!("it must be a colour, not {kind}"));
    }
    for found in [Unexpected::Bytes(b"secret"), Unexpected::Enum, Unexpected::Other("secret")] {
        assert_eq!(of(found), "it must be a colour");
    }
    assert_eq!(
        Misfit::invalid_value(Unexpected::Str("secret"), &"a colour").to_string(),
        "it must be a colour"
    );
    assert_eq!(Misfit::invalid_length(77, &"three of them").to_string(), "it must be three of them");
    assert_eq!(
        Misfit::unknown_variant("secret", &["red", "blue"]).to_string(),
        "it must be one of red, blue"
    );
    assert_eq!(Misfit::unknown_field("x", &[]).to_string(), "x is not known; nothing is expected here");
    let said = Misfit::custom("it is too bright").in_element(2).in_member("light");
    assert_eq!((said.to_string(), said.path()), ("light[2]: it is too bright".into(), "light[2]"));
    // A number of the right kind is not told its kind.
    let number = |expected: &str| Misfit::invalid_type(Unexpected::Float(0.5), &expected).to_string();
    assert_eq!(number("an integer"), "it must be an integer");
    assert_eq!(number("a number"), "it must be a number");
    assert_eq!(number("a number of a kind"), "it must be a number of a kind, not a number");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        Just(Value::from(-0.0)),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(".*", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_read_as_serde_json_reads_it(value in any_json()) {
        let raw = raw(&value.to_string());
        prop_assert_eq!(raw.view().read::<Value>().ok(), Some(value));
    }

    #[test]
    fn nothing_valid_makes_reading_panic(value in any_json()) {
        let text = raw(&value.to_string());
        drop(text.view().read::<Vec<(u8, Option<String>)>>());
        drop(text.view().read::<BTreeMap<String, Result<i8, Vec<char>>>>());
        drop(text.view().read::<Range<f32>>());
        drop(text.view().read::<(BTreeMap<char, u64>, bool)>());
    }
}
