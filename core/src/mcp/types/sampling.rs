//! The messages of a sampling request: whether they are messages, and whether uses of tools and their results
//! belong together.
//!
//! Spec: MCP 2025-11-25 and later, client/sampling, "Message Content Constraints"; schema, `SamplingMessage`.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use core::fmt;

use super::content::Role;
use super::flaw::{member, string};
use crate::jsonrpc::{JsonRef, JsonStr, Kind};

/// What is wrong with the messages of a sampling request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessagesFault {
    /// They are no array.
    NotAnArray,
    /// A message lacks its role, which is `user` or `assistant`, or its content.
    NotAMessage,
    /// A message of the user's holds results of tools and something else.
    MixedResults,
    /// A use of a tool is not followed by its result in the next message, or a result belongs to no use.
    Unmatched,
}

impl MessagesFault {
    /// Why, in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotAnArray => "the messages of a sampling request must be an array",
            Self::NotAMessage => "a sampling message needs a role, user or assistant, and content",
            Self::MixedResults => "a message with results of tools must hold nothing else",
            Self::Unmatched => {
                "each use of a tool needs its result in the next message, and no other has one"
            }
        }
    }
}

impl fmt::Display for MessagesFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for MessagesFault {}

/// Checks the messages of a sampling request. One pass; keeps the ids of one message at a time.
///
/// # Errors
/// The first thing that is wrong with them.
pub fn check_messages(messages: JsonRef<'_>) -> Result<(), MessagesFault> {
    if messages.kind() != Kind::Array {
        return Err(MessagesFault::NotAnArray);
    }
    // Uses of tools in the message before, whose results are due.
    let mut due: BTreeSet<Cow<'_, str>> = BTreeSet::new();
    for message in messages.elements() {
        let role = string(message, "role").and_then(Role::named).ok_or(MessagesFault::NotAMessage)?;
        let content = member(message, "content").ok_or(MessagesFault::NotAMessage)?;
        let (mut uses, mut results, mut others) = (BTreeSet::new(), BTreeSet::new(), false);
        for block in blocks(content)? {
            let kind = string(block, "type").ok_or(MessagesFault::NotAMessage)?;
            let id = |name| string(block, name).map(JsonStr::decode).ok_or(MessagesFault::NotAMessage);
            if role == Role::Assistant && kind.eq_str("tool_use") {
                uses.insert(id("id")?);
            } else if role == Role::User && kind.eq_str("tool_result") {
                results.insert(id("toolUseId")?);
            } else {
                others = true;
            }
        }
        if !results.is_empty() && others {
            return Err(MessagesFault::MixedResults);
        }
        if results != due {
            return Err(MessagesFault::Unmatched);
        }
        due = uses;
    }
    if due.is_empty() { Ok(()) } else { Err(MessagesFault::Unmatched) }
}

/// The blocks of a message: one, or several in an array.
fn blocks(content: JsonRef<'_>) -> Result<impl Iterator<Item = JsonRef<'_>>, MessagesFault> {
    let one = (content.kind() == Kind::Object).then_some(content);
    if one.is_none() && content.kind() != Kind::Array {
        return Err(MessagesFault::NotAMessage);
    }
    let several = one.is_none().then(|| content.elements());
    Ok(one.into_iter().chain(several.into_iter().flatten()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;
    use alloc::format;

    fn checked(text: &str) -> Result<(), MessagesFault> {
        check_messages(RawJson::parse_str(text).expect(text).view())
    }

    const TEXT: &str = r#"{"type":"text","text":"t"}"#;

    fn says(role: &str, content: &str) -> alloc::string::String {
        format!(r#"{{"role":"{role}","content":{content}}}"#)
    }

    #[test]
    fn a_message_has_a_role_and_content() {
        // P-390
        for good in ["[]".into(), format!("[{},{}]", says("user", TEXT), says("assistant", TEXT))] {
            assert_eq!(checked(&good), Ok(()), "{good}");
        }
        assert_eq!(checked(&format!("[{}]", says("user", &format!("[{TEXT},{TEXT}]")))), Ok(()));
        assert_eq!(checked("{}"), Err(MessagesFault::NotAnArray));
        for bad in [
            "5".into(),
            r#"{"role":"user"}"#.into(),
            format!(r#"{{"content":{TEXT}}}"#),
            says("system", TEXT),
            says("user", "null"),
            says("user", r#""t""#),
            says("user", "[5]"),
            says("user", r#"{"text":"t"}"#),
            says("assistant", r#"{"type":"tool_use","name":"n","input":{}}"#),
        ] {
            assert_eq!(checked(&format!("[{bad}]")), Err(MessagesFault::NotAMessage), "{bad}");
        }
    }

    #[test]
    fn results_stand_alone_and_each_belongs_to_one_use() {
        // P-387 P-388
        let uses = |ids: &[&str]| {
            let uses =
                ids.iter().map(|id| format!(r#"{{"type":"tool_use","id":"{id}","name":"n","input":{{}}}}"#));
            says("assistant", &format!("[{TEXT},{}]", uses.collect::<alloc::vec::Vec<_>>().join(",")))
        };
        let result = |id: &str| format!(r#"{{"type":"tool_result","toolUseId":"{id}","content":[]}}"#);
        let results = |ids: &[&str]| {
            let results = ids.iter().map(|id| result(id));
            says("user", &format!("[{}]", results.collect::<alloc::vec::Vec<_>>().join(",")))
        };
        let text = says("user", TEXT);
        let mixed = says("user", &format!("[{},{TEXT}]", result("a")));
        for (messages, expected) in [
            (format!("[{text},{},{},{text}]", uses(&["a", "b"]), results(&["b", "a"])), Ok(())),
            (format!("[{},{}]", uses(&["a"]), says("user", &result("a"))), Ok(())),
            (format!("[{},{mixed}]", uses(&["a"])), Err(MessagesFault::MixedResults)),
            (format!("[{mixed}]"), Err(MessagesFault::MixedResults)),
            (format!("[{},{}]", uses(&["a", "b"]), results(&["a"])), Err(MessagesFault::Unmatched)),
            (format!("[{},{}]", uses(&["a"]), results(&["a", "b"])), Err(MessagesFault::Unmatched)),
            (format!("[{},{text},{}]", uses(&["a"]), results(&["a"])), Err(MessagesFault::Unmatched)),
            (format!("[{}]", uses(&["a"])), Err(MessagesFault::Unmatched)),
            (format!("[{}]", results(&["a"])), Err(MessagesFault::Unmatched)),
        ] {
            assert_eq!(checked(&messages), expected, "{messages}");
        }
    }
}
