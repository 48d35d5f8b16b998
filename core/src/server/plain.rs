//! The commonest result, one block of text: written with one allocation, and known again at a glance.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::jsonrpc::{RawJson, RequestId, string_end, write_string};
use crate::mcp::{Era, Method, Revision};
use crate::server::reply::Replies;

const HEAD: &[u8; 34] = br#"{"content":[{"type":"text","text":"#;
const TAIL: &[u8; 3] = b"}]}";
const ERROR_TAIL: &[u8; 18] = br#"}],"isError":true}"#;
/// From this length on a text is written from where it lies: its pages cost more than two writes.
pub(super) const LONG: usize = 64 * 1024;
/// What stands behind the result.
const ANSWER_TAIL: &[u8] = b"}\n";

/// The result of a tool: one block of text.
pub(super) fn text_result(text: &str, is_error: bool) -> RawJson {
    let tail = if is_error { &ERROR_TAIL[..] } else { TAIL };
    // A short text seldom has anything to escape, a long one has its line breaks.
    let escapes = if text.len() < 256 { 0 } else { text.len() / 16 };
    let mut out = Vec::with_capacity(HEAD.len() + text.len() + 2 + escapes + tail.len());
    out.extend_from_slice(HEAD);
    write_string(&mut out, text);
    out.extend_from_slice(tail);
    RawJson::written(out)
}

/// Whether `result`, an object, is one that [`text_result`] writes: then nothing in it needs care in any revision, and
/// it holds no line break.
pub(super) fn is_text_result(result: &[u8]) -> bool {
    let Some(text) = result.strip_prefix(HEAD).filter(|text| text.first() == Some(&b'"')) else {
        return false;
    };
    let rest = text.get(string_end(text, 1) + 1..).unwrap_or_default();
    rest == TAIL || rest == ERROR_TAIL
}

impl Replies {
    /// Appends the answer of one block of text.
    pub(super) fn text(&self, out: &mut Vec<u8>, id: &RequestId, modern: bool, result: &[u8]) {
        self.text_head(out, id, modern);
        out.extend_from_slice(result.get(usize::from(modern)..).unwrap_or_default());
        out.extend_from_slice(ANSWER_TAIL);
    }

    /// Appends what stands before the result of one block of text, of which the first byte is left out if `modern`.
    fn text_head(&self, out: &mut Vec<u8>, id: &RequestId, modern: bool) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        id.write_json(out);
        let head = if modern { self.modern_head.as_slice() } else { br#","result":"# };
        out.extend_from_slice(head);
    }

    /// The answer of one long block of text in three parts, of which the second is the result itself and not copied.
    /// `None`: it is something else, so short that a copy is cheaper, or a small part of what it would keep alive.
    pub(super) fn long_text(
        &self,
        id: &RequestId,
        method: &Method,
        revision: Revision,
        result: &RawJson,
    ) -> Option<(Vec<u8>, Bytes, &'static [u8])> {
        if result.retained_len() / 2 > result.len()
            || *method != Method::ToolsCall
            || !is_text_result(result.as_bytes())
        {
            return None;
        }
        let modern = revision.era() == Era::Modern;
        let mut head = Vec::with_capacity(64 + self.modern_head.len());
        self.text_head(&mut head, id, modern);
        Some((head, result.bytes().slice(usize::from(modern)..), ANSWER_TAIL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn a_text_comes_back_and_is_known_again(
            text in prop_oneof![any::<String>(), "[a\"\\\\\n]{0,600}"], is_error in any::<bool>(),
        ) {
            let raw = text_result(&text, is_error);
            prop_assert!(is_text_result(raw.as_bytes()));
            let mut expected = json!({"content": [{"type": "text", "text": text}]});
            if is_error {
                expected["isError"] = json!(true);
            }
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(raw.as_str()).expect("JSON"), expected);
        }
    }

    #[test]
    fn what_is_more_or_less_than_one_text_is_not_one() {
        for other in [
            "{}",
            r#"{"content":[{"type":"text","text":null}]}"#,
            r#"{"content":[{"type":"text","text":"a","annotations":null}]}"#,
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            r#"{"content":[{"type":"text","text":"a"}],"other":"}]}"}"#,
            r#"{"content":[{"type":"text","text":"a"}],"isError":false}"#,
            r#"{"content":[{"type":"text","text":"a","x":"\"}]}"}]}"#,
            r#"{"content":[{"type":"text", "text":"a"}]}"#,
        ] {
            assert!(!is_text_result(other.as_bytes()), "{other}");
        }
    }
}
