//! One text for one value: what is hashed when two JSON texts are compared by what they say.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::encode::write_string;
use super::{JsonRef, Kind};

/// Appends a value without white space, with members in the order of their names' bytes and strings with the fewest
/// escapes. Numbers stay as they are written. Of members that stand twice the first counts.
///
/// Recurses as deep as the value nests, which its reader has bounded. O(n log n).
pub fn write_canonical(out: &mut Vec<u8>, value: JsonRef<'_>) {
    match value.kind() {
        Kind::Object => {
            write_members(out, value.members().map(|(name, value)| (name.decode(), value)).collect())
        }
        Kind::Array => {
            out.push(b'[');
            for (n, element) in value.elements().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                write_canonical(out, element);
            }
            out.push(b']');
        }
        Kind::String => write_string(out, &value.str().map(|text| text.decode()).unwrap_or_default()),
        Kind::Null | Kind::Bool | Kind::Number => out.extend_from_slice(value.as_bytes()),
    }
}

/// As [`write_canonical`], an object of these members.
pub(crate) fn write_members(out: &mut Vec<u8>, mut members: Vec<(Cow<'_, str>, JsonRef<'_>)>) {
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.dedup_by(|(later, _), (first, _)| later == first);
    out.push(b'{');
    for (n, (name, value)) in members.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_string(out, &name);
        out.push(b':');
        write_canonical(out, value);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;
    use alloc::string::String;

    #[test]
    fn what_says_the_same_is_written_the_same() {
        let table = [
            (r#" { "b" : [ 1 , 2.0 ] , "a" : { } } "#, r#"{"a":{},"b":[1,2.0]}"#),
            (r#"{"\u0061":"\u00e9\/","a":2}"#, "{\"a\":\"é/\"}"),
            (r#"[null,true,-0,1e5,"\n"]"#, r#"[null,true,-0,1e5,"\n"]"#),
            (r#"{"aa":1,"a":2,"Z":3}"#, r#"{"Z":3,"a":2,"aa":1}"#),
        ];
        for (text, canonical) in table {
            let mut out = Vec::new();
            write_canonical(&mut out, RawJson::parse_str(text).expect(text).view());
            assert_eq!(String::from_utf8(out).expect("text"), canonical, "{text}");
        }
    }
}
