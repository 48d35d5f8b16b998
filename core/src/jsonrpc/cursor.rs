//! Walking down into valid JSON without measuring first what is walked into.

use super::grammar::skip_space;
use super::reader::{string_end, value_end};
use super::{JsonRef, JsonStr};

/// A place in valid JSON, moved by hand.
///
/// [`JsonRef::members`] and [`JsonRef::elements`] find the end of each value before they hand it out, so a long text
/// three levels down is passed over three times. This passes over it once.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Before `value`.
    pub(crate) fn new(value: JsonRef<'a>) -> Self {
        Self { bytes: value.as_bytes(), at: 0 }
    }

    /// Goes into the object or array here, which begins with `open`; stays if something else is here.
    #[inline]
    pub(crate) fn enter(&mut self, open: u8) -> bool {
        let enters = self.bytes.get(self.at) == Some(&open);
        self.at += usize::from(enters);
        enters
    }

    /// The name of the object's next member, to stand before its value. `None`: the object is over and behind.
    #[inline(always)]
    pub(crate) fn member(&mut self) -> Option<JsonStr<'a>> {
        let mut open = self.at + usize::from(self.bytes.get(self.at) == Some(&b','));
        if self.bytes.get(open) != Some(&b'"') {
            if !self.element() {
                return None;
            }
            open = self.at;
        }
        let end = string_end(self.bytes, open + 1);
        let name = self.bytes.get(open + 1..end)?;
        let colon = skip_space(self.bytes, end + 1);
        self.at = skip_space(self.bytes, colon + 1);
        Some(JsonStr::trusted(name))
    }

    /// Whether the array has another element, to stand before it. If not, the array is over and behind.
    pub(crate) fn element(&mut self) -> bool {
        let mut at = skip_space(self.bytes, self.at);
        if self.bytes.get(at) == Some(&b',') {
            at = skip_space(self.bytes, at + 1);
        }
        let over = matches!(self.bytes.get(at), None | Some(b']' | b'}'));
        self.at = at + usize::from(over);
        !over
    }

    /// The value here, to stand behind it.
    #[inline]
    pub(crate) fn value(&mut self) -> JsonRef<'a> {
        let end = value_end(self.bytes, self.at);
        let value = JsonRef::trusted(self.bytes.get(self.at..end).unwrap_or_default());
        self.at = end;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Kind, RawJson};
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Walks by hand as deep as `depth`, and takes the rest whole.
    fn walk(at: &mut Cursor<'_>, depth: u32) -> Value {
        if depth > 0 && at.enter(b'{') {
            let mut all = serde_json::Map::new();
            while let Some(name) = at.member() {
                all.insert(name.decode().into_owned(), walk(at, depth - 1));
            }
            return Value::Object(all);
        }
        if depth > 0 && at.enter(b'[') {
            let mut all = Vec::new();
            while at.element() {
                all.push(walk(at, depth - 1));
            }
            return Value::Array(all);
        }
        serde_json::from_slice(at.value().as_bytes()).expect("a value")
    }

    #[test]
    fn only_what_begins_like_that_is_gone_into() {
        for (text, open, other) in [("[1]", b'[', b'{'), (r#"{"a":1}"#, b'{', b'[')] {
            let raw = RawJson::parse_str(text).expect("valid");
            let mut at = Cursor::new(raw.view());
            assert!(!at.enter(other));
            assert!(at.enter(open) && !at.enter(open));
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a\"\\\\,:{}\\[\\] é]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-d\"\\\\]{0,3}", inner, 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_walk_by_hand_sees_what_is_there(value in values(), depth in 0u32..6, spread in any::<bool>()) {
            let text = if spread { serde_json::to_string_pretty(&value).expect("text") } else { value.to_string() };
            let raw = RawJson::parse_str(&text).expect("valid");
            let mut at = Cursor::new(raw.view());
            prop_assert_eq!(walk(&mut at, depth), value);
            prop_assert!(!at.element());
            prop_assert_eq!(at.value().kind(), Kind::Null);
            prop_assert!(at.member().is_none());
        }
    }
}
