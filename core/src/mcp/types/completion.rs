//! Suggestions for an argument's value.

use alloc::string::String;
use alloc::vec::Vec;

use super::flaw::{Flaw, flag, member};
use crate::jsonrpc::{JsonRef, JsonStr, Kind, RawJson};

/// The most values a result may hold; what is beyond is left out.
pub const MAX_VALUES: usize = 100;

/// The result of `completion/complete`.
///
/// Spec: MCP server/utilities/completion; schema, `CompleteResult`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The suggestions, best first, at most [`MAX_VALUES`]. What is no text is left out.
    pub values: Vec<String>,
    /// How many there are in all, if the server knows.
    pub total: Option<u64>,
    /// Whether there are more than came: the server says so, or sent more than it may.
    pub has_more: bool,
}

impl Completion {
    /// Reads a result.
    ///
    /// # Errors
    /// What is missing; take it as no suggestions.
    pub fn read(result: &RawJson) -> Result<Self, Flaw> {
        let completion = member(result.view(), "completion").ok_or(Flaw::Missing("completion"))?;
        if completion.kind() != Kind::Object {
            return Err(Flaw::WrongKind { member: "completion", found: completion.kind() });
        }
        let values = member(completion, "values").ok_or(Flaw::Missing("values"))?;
        if values.kind() != Kind::Array {
            return Err(Flaw::WrongKind { member: "values", found: values.kind() });
        }
        let text = |value: JsonRef<'_>| value.str().map(JsonStr::decode).map(|text| text.into_owned());
        Ok(Self {
            values: values.elements().take(MAX_VALUES).filter_map(text).collect(),
            total: completion.get("total").and_then(JsonRef::as_u64),
            has_more: flag(Some(completion), "hasMore", false) || values.elements().nth(MAX_VALUES).is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};

    fn read(text: &str) -> Result<Completion, Flaw> {
        Completion::read(&RawJson::parse_str(text).expect(text))
    }

    #[test]
    fn a_result_is_read_as_far_as_it_goes() {
        let full = read(r#"{"completion":{"values":["python",5,"pytorch"],"total":10,"hasMore":true}}"#);
        let expected =
            Completion { values: vec!["python".into(), "pytorch".into()], total: Some(10), has_more: true };
        assert_eq!(full, Ok(expected));
        let bare = read(r#"{"completion":{"values":[],"total":null,"hasMore":null}}"#);
        assert_eq!(bare, Ok(Completion::default()));
        assert_eq!(read("{}"), Err(Flaw::Missing("completion")));
        assert_eq!(read("[]"), Err(Flaw::Missing("completion")));
        assert_eq!(read(r#"{"completion":{}}"#), Err(Flaw::Missing("values")));
        let wrong = Flaw::WrongKind { member: "completion", found: Kind::Array };
        assert_eq!(read(r#"{"completion":[]}"#), Err(wrong));
        let wrong = Flaw::WrongKind { member: "values", found: Kind::String };
        assert_eq!(read(r#"{"completion":{"values":"a"}}"#), Err(wrong));
    }

    #[test]
    fn no_more_than_a_hundred_values_are_taken() {
        for (sent, kept, more) in [(99, 99, false), (100, 100, false), (101, 100, true)] {
            let values = vec![r#""v""#; sent].join(",");
            let read = read(&format!(r#"{{"completion":{{"values":[{values}]}}}}"#)).expect("values");
            assert_eq!((read.values.len(), read.has_more), (kept, more), "{sent}");
        }
    }
}
