//! One text for one value without changing a token of it: what is kept where white space would cost.

use alloc::vec::Vec;

use super::reader::string_end;
use super::{JsonRef, words};

/// Appends a value without the white space between its tokens. Order, numbers and escapes stay as they are.
pub fn write_compact(out: &mut Vec<u8>, value: JsonRef<'_>) {
    parts(value, |part| out.extend_from_slice(part));
}

/// How many bytes [`write_compact`] appends. Allocates nothing.
#[must_use]
pub fn compact_len(value: JsonRef<'_>) -> usize {
    let mut len = 0;
    parts(value, |part| len += part.len());
    len
}

/// The text between white space, strings whole. One pass.
fn parts<'a>(value: JsonRef<'a>, mut take: impl FnMut(&'a [u8])) {
    let mut rest = value.as_bytes();
    while !rest.is_empty() {
        let (front, back) = rest.split_at(words::find_quote(rest, 0).min(rest.len()));
        // Most of what stands between two strings is one or two bytes.
        if front.iter().all(|b| *b > b' ') {
            take(front);
        } else {
            front.split(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).for_each(&mut take);
        }
        let end = if back.is_empty() { 0 } else { (string_end(back, 1) + 1).min(back.len()) };
        let (string, behind) = back.split_at(end);
        take(string);
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::jsonrpc::RawJson;

    fn compact(text: &str) -> String {
        let raw = RawJson::parse_str(text).expect(text);
        let mut out = Vec::new();
        write_compact(&mut out, raw.view());
        assert_eq!(compact_len(raw.view()), out.len(), "{text}");
        String::from_utf8(out).expect(text)
    }

    #[test]
    fn only_white_space_between_tokens_goes() {
        let table = [
            (" { \"b\" : [ 1 ,\r\n 2.0 ] ,\t\"a\" : { } } ", "{\"b\":[1,2.0],\"a\":{}}"),
            (r#"{"a b":" \" } ","c":"\\"}"#, r#"{"a b":" \" } ","c":"\\"}"#),
            (r#"[ "\u0041" , 1e5 , true ]"#, r#"["\u0041",1e5,true]"#),
            ("\"\"", "\"\""),
            ("  7 ", "7"),
            (r#"{"a":1 ,"a":2}"#, r#"{"a":1,"a":2}"#),
        ];
        for (text, expected) in table {
            assert_eq!(compact(text), expected, "{text}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[a\"\\\\,: {}é\n]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-d\"\\\\ ]{0,3}", inner, 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_spread_out_comes_back_as_it_was(value in values()) {
            prop_assert_eq!(compact(&serde_json::to_string_pretty(&value).expect("text")), value.to_string());
        }
    }
}
