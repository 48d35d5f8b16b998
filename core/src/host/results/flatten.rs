//! A result as one text.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::host::Mask;
use crate::jsonrpc::{JsonStr, write_compact};
use crate::mcp::types::call_result::CallToolResult;
use crate::mcp::types::content::Content;

/// The text of a result that has none.
pub const NO_CONTENT: &str = "(no content)";

/// The text of a failed result that has none.
pub const EMPTY_ERROR: &str = "tool error";

/// The most characters of a media type, an address or a type in a placeholder.
const MAX_DETAIL: usize = 128;

/// The text of a result: its text blocks with a line feed between two, and in the place of any other block a line that
/// names its kind, such as `[image: image/png]`.
///
/// Blocks that cannot be read, and those of types that are not known, are named together where several follow each
/// other. A result without any text gives its structured content as JSON, unless that is `null`; one without that as
/// well gives [`NO_CONTENT`], or [`EMPTY_ERROR`] if it says that it failed. Never empty, and at most a few bytes longer
/// than the result. Text is not masked here, but what stands in placeholders is.
///
/// Spec: MCP server/tools, "Tool Result".
#[must_use]
pub fn flatten(result: &CallToolResult) -> String {
    let mut lines = Lines::default();
    for block in result.content() {
        match block.content() {
            Content::Text(text) => lines.text(text),
            Content::Image(image) => lines.placeholder("image", Some(image.mime_type)),
            Content::Audio(audio) => lines.placeholder("audio", Some(audio.mime_type)),
            Content::Resource(resource) => lines.placeholder("resource", Some(resource.uri())),
            Content::ResourceLink(link) => lines.placeholder("resource link", Some(link.uri)),
            Content::Unknown { kind, .. } => lines.unknown(kind),
        }
    }
    lines.tell_unknown();
    if lines.says_something {
        return lines.out;
    }
    match result.structured_content().filter(|value| !value.is_null()) {
        Some(value) => {
            let mut out = Vec::new();
            write_compact(&mut out, value);
            // JSON is UTF-8.
            String::from_utf8(out).unwrap_or_default()
        }
        None if result.is_error() => EMPTY_ERROR.into(),
        None => NO_CONTENT.into(),
    }
}

#[derive(Default)]
struct Lines<'a> {
    out: String,
    begun: bool,
    /// Not every line is empty.
    says_something: bool,
    /// Blocks in a row that nobody knows, and the type of the first.
    unknown: usize,
    kind: Option<JsonStr<'a>>,
}

impl<'a> Lines<'a> {
    fn begin(&mut self) {
        if self.begun {
            self.out.push('\n');
        }
        self.begun = true;
    }

    fn text(&mut self, text: JsonStr<'a>) {
        self.tell_unknown();
        self.begin();
        let from = self.out.len();
        text.decode_into(&mut self.out);
        self.says_something |= self.out.len() > from;
    }

    fn placeholder(&mut self, kind: &str, detail: Option<JsonStr<'a>>) {
        self.tell_unknown();
        self.write_placeholder(kind, detail);
    }

    fn write_placeholder(&mut self, kind: &str, detail: Option<JsonStr<'a>>) {
        self.begin();
        self.says_something = true;
        let detail = detail.map(|detail| Mask::default().line_within(&detail.decode(), MAX_DETAIL));
        let _ = match detail.filter(|detail| !detail.is_empty()) {
            Some(detail) => write!(self.out, "[{kind}: {detail}]"),
            None => write!(self.out, "[{kind}]"),
        };
    }

    fn unknown(&mut self, kind: Option<JsonStr<'a>>) {
        if self.unknown == 0 {
            self.kind = kind;
        }
        self.unknown += 1;
    }

    /// In one line for all in a row: a million empty blocks must not become a million lines.
    fn tell_unknown(&mut self) {
        match core::mem::take(&mut self.unknown) {
            0 => {}
            1 => self.write_placeholder("unknown block", self.kind),
            many => {
                self.begin();
                self.says_something = true;
                let _ = write!(self.out, "[{many} unknown blocks]");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;
    use crate::jsonrpc::RawJson;

    fn flat(result: &str) -> String {
        flatten(&CallToolResult::new(RawJson::parse_str(result).expect(result)))
    }

    fn of_blocks(blocks: &str) -> String {
        flat(&format!(r#"{{"content":[{blocks}]}}"#))
    }

    #[test]
    fn text_blocks_are_lines_and_others_are_named_in_their_place() {
        // H-077
        let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
        let audio = r#"{"type":"audio","data":"AAAA","mimeType":"audio/wav"}"#;
        let resource = r#"{"type":"resource","resource":{"uri":"file:///a.txt","text":"inside"}}"#;
        let link = r#"{"type":"resource_link","uri":"file:///b.txt","name":"b"}"#;
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let table = [
            (text("one"), "one"),
            (format!("{},{}", text("one"), text("two\\nlines")), "one\ntwo\nlines"),
            (format!("{},{image},{}", text("before"), text("after")), "before\n[image: image/png]\nafter"),
            (
                format!("{audio},{resource},{link}"),
                "[audio: audio/wav]\n[resource: file:///a.txt]\n[resource link: file:///b.txt]",
            ),
            (format!("{},{},{}", text("a"), text(""), text("b")), "a\n\nb"),
            (text("\\ud83c\\udf89 \\u0007"), "🎉 \u{7}"),
            (r#"{"type":"video","src":"x"}"#.into(), "[unknown block: video]"),
            (format!(r#"{},{{"type":"image"}},7,null,{}"#, text("a"), text("b")), "a\n[3 unknown blocks]\nb"),
            (r#"{"type":"image","data":"","mimeType":"a\n\u202eb"}"#.into(), "[image: a\\n\\u{202e}b]"),
            (r#"{"type":"image","data":"","mimeType":""}"#.into(), "[image]"),
        ];
        for (blocks, expected) in table {
            assert_eq!(of_blocks(&blocks), expected, "{blocks}");
        }
        let long = format!(r#"{{"type":"resource_link","uri":"{}","name":"n"}}"#, "x".repeat(1000));
        assert_eq!(of_blocks(&long).len(), "[resource link: ]".len() + MAX_DETAIL);
    }

    #[test]
    fn a_result_without_text_is_never_an_empty_message() {
        // H-078
        let table = [
            (r#"{"content":[]}"#, "(no content)"),
            ("{}", "(no content)"),
            (r#"{"content":[{"type":"text","text":""}]}"#, "(no content)"),
            (r#"{"content":[{"type":"text","text":""},{"type":"text","text":""}]}"#, "(no content)"),
            (r#"{"content":[{"type":"text","text":"\n"}]}"#, "\n"),
            (r#"{"content":"text"}"#, "(no content)"),
            ("[]", "(no content)"),
            (r#"{"content":[],"isError":true}"#, "tool error"),
            (r#"{"content":[],"structuredContent":{ "a" : [1.0, "x y"] }}"#, r#"{"a":[1.0,"x y"]}"#),
            (r#"{"structuredContent":[1]}"#, "[1]"),
            (r#"{"structuredContent":0,"isError":true}"#, "0"),
            (r#"{"structuredContent":null}"#, "(no content)"),
            (r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}}"#, "t"),
            (
                r#"{"content":[{"type":"audio","data":"","mimeType":"a/b"}],"structuredContent":1}"#,
                "[audio: a/b]",
            ),
        ];
        for (result, expected) in table {
            assert_eq!(flat(result), expected, "{result}");
        }
    }

    #[test]
    fn there_is_one_form_and_it_neither_leaves_out_nor_runs_together_nor_gives_the_result_whole() {
        // H-083, H-084, C-16, C-17
        let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let (a, b, empty) = (text("a"), text("b"), text(""));
        assert_eq!(of_blocks(&format!("{a},{b}")), "a\nb", "two texts are two lines");
        assert_eq!(
            of_blocks(&format!("{empty},{a},{empty},{b}")),
            "\na\n\nb",
            "an empty text keeps its line"
        );
        assert_eq!(of_blocks(image), "[image: image/png]", "what is no text is named, without what is in it");
        assert_eq!(of_blocks(&format!("{a},{image},{b}")), "a\n[image: image/png]\nb");
        assert_eq!(flat(r#"{"content":[],"_meta":{"a":1}}"#), NO_CONTENT, "the result itself is no text");
        let failed = |content: &str| flat(&format!(r#"{{"content":[{content}],"isError":true}}"#));
        assert_eq!((failed(""), failed(&empty)), ("tool error".into(), "tool error".into()));
        assert_eq!(failed(&format!("{image},{b}")), "[image: image/png]\nb");
    }

    proptest! {
        #[test]
        fn a_text_is_never_empty_and_hardly_longer_than_its_result(
            blocks in prop::collection::vec(prop_oneof![
                Just("{}"), Just("1"), Just(r#"{"type":"t"}"#), Just(r#"{"type":"text","text":""}"#),
                Just(r#"{"type":"text","text":"\u0007a"}"#), Just(r#"{"type":"image","data":"","mimeType":""}"#),
                Just("{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"\u{2800}\u{2800}\u{2800}\u{2800}\u{2800}\u{2800}\u{2800}\u{2800}\"}"),
                Just(r#"{"type":"resource","resource":{"uri":"","text":""}}"#),
            ], 0..60)
        ) {
            let result = format!(r#"{{"content":[{}]}}"#, blocks.join(","));
            let text = flat(&result);
            prop_assert!(!text.is_empty());
            prop_assert!(text.len() <= 2 * result.len() + 32, "{} of {}", text.len(), result.len());
        }
    }
}
