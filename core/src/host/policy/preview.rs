//! What somebody is shown of a call's arguments before it is let through.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::host::Mask;
use crate::jsonrpc::{JsonRef, Kind};

/// Bounds of a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreviewLimits {
    /// Characters of a name, and of a value, that are shown; three dots where there are more are among them. Default: 60.
    pub max_chars: usize,
    /// Arguments that are shown. Where there are more, one further line says how many. Default: 40.
    pub max_lines: usize,
}

impl Default for PreviewLimits {
    fn default() -> Self {
        Self { max_chars: 60, max_lines: 40 }
    }
}

/// A call's arguments for a person: a line `name: value` for each, in the order of the names' bytes.
///
/// Strings are shown without quotes, numbers as they are written, objects and arrays as `{...}`; what could deceive is
/// written out and secrets are hidden ([`Mask`]), so that a value is one line. Of names that stand twice each is shown.
/// No arguments are `no arguments`.
///
/// For display only: what is approved, and sent, are the arguments themselves. O(bytes), and keeps no more than
/// [`PreviewLimits::max_lines`] of them in hand, whatever is sent.
#[must_use]
pub fn preview(arguments: Option<JsonRef<'_>>, limits: &PreviewLimits, mask: &Mask) -> String {
    let shown = |text: &str| mask.line_within(text, limits.max_chars);
    let Some(arguments) = arguments.filter(|arguments| !arguments.is_null()) else { return NOTHING.into() };
    if arguments.kind() != Kind::Object {
        return shown(&text_of(arguments));
    }
    let (lines, more) = first_by_name(arguments, limits.max_lines);
    if lines.is_empty() && more == 0 {
        return NOTHING.into();
    }
    let lines = lines.iter().map(|(name, value)| format!("{}: {}", shown(name), shown(&text_of(*value))));
    let mut lines: Vec<_> = lines.collect();
    if more > 0 {
        lines.push(format!("... and {more} more"));
    }
    lines.join("\n")
}

const NOTHING: &str = "no arguments";

fn text_of(value: JsonRef<'_>) -> Cow<'_, str> {
    match (value.kind(), value.str()) {
        (Kind::Object | Kind::Array, _) => Cow::Borrowed("{...}"),
        (_, Some(text)) => text.decode(),
        // JSON is UTF-8.
        (_, None) => Cow::Borrowed(core::str::from_utf8(value.as_bytes()).unwrap_or_default()),
    }
}

type Argument<'a> = (Cow<'a, str>, JsonRef<'a>);

/// The first `max` members by name, those of one name as they come, and how many there are besides.
fn first_by_name(object: JsonRef<'_>, max: usize) -> (Vec<Argument<'_>>, usize) {
    let (mut first, mut more): (Vec<Argument<'_>>, _) = (Vec::new(), 0);
    for (name, value) in object.members() {
        let name = name.decode();
        let place = first.partition_point(|(known, _)| *known <= name);
        first.insert(place, (name, value));
        if first.len() > max {
            first.truncate(max);
            more += 1;
        }
    }
    (first, more)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::jsonrpc::RawJson;

    fn of(arguments: &str) -> String {
        let arguments = RawJson::parse_str(arguments).expect(arguments);
        preview(Some(arguments.view()), &PreviewLimits::default(), &Mask::default())
    }

    #[test]
    fn arguments_are_shown_one_a_line_sorted_by_name() {
        // H-054, H-055, H-056, H-057, H-058
        let x = |n| "x".repeat(n);
        let table = [
            (json!({}), "no arguments".to_string()),
            (json!({"text": "hi"}), "text: hi".into()),
            (json!({"b": "2", "a": "1"}), "a: 1\nb: 2".into()),
            (json!({"s": x(60)}), format!("s: {}", x(60))),
            (json!({"s": x(61)}), format!("s: {}...", x(57))),
            (json!({"s": "日".repeat(61)}), format!("s: {}...", "日".repeat(57))),
            (
                json!({"o": {"k": 1}, "l": [1, 2], "e": {}, "m": []}),
                "e: {...}\nl: {...}\nm: {...}\no: {...}".into(),
            ),
            (
                json!({"t": true, "f": false, "n": 3, "d": 1.5, "z": -2}),
                "d: 1.5\nf: false\nn: 3\nt: true\nz: -2".into(),
            ),
            (json!({"n": null}), "n: null".into()),
            (json!({"id": 1_234_567}), "id: 1234567".into()),
            (json!({"a": "x", "a1": "y", "a b": "z"}), "a: x\na b: z\na1: y".into()),
            (json!({"cmd": "ls\npath: safe"}), "cmd: ls\\npath: safe".into()),
            (json!({"s": "ab\u{202e}cd\u{7}"}), "s: ab\\u{202e}cd\\u{7}".into()),
            (json!({"text": x(57) + "abcd"}), format!("text: {}...", x(57))),
            (json!({x(61): 1}), format!("{}...: 1", x(57))),
            (json!({"a\nb": "", "": 0}), ": 0\na\\nb: ".into()),
        ];
        for (arguments, expected) in table {
            assert_eq!(of(&arguments.to_string()), expected, "{arguments}");
            let members = arguments.as_object().unwrap().iter().rev();
            let members: Vec<_> = members.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
            assert_eq!(of(&format!("{{{}}}", members.join(","))), expected, "backwards: {arguments}");
        }
    }

    #[test]
    fn numbers_are_shown_as_they_are_written_and_held_to_their_bound() {
        // H-055, H-057
        let digits = "9".repeat(61);
        let table = [
            (r#"{"n":1.0}"#.to_string(), "n: 1.0".to_string()),
            (r#"{"n":1E+6}"#.into(), "n: 1E+6".into()),
            (r#"{"n":-0}"#.into(), "n: -0".into()),
            (format!(r#"{{"n":{digits}}}"#), format!("n: {}...", &digits[..57])),
            (r#"{"a":1,"b":0,"a":2}"#.into(), "a: 1\na: 2\nb: 0".into()),
            (r#"{"\u0062":1,"a":2}"#.into(), "a: 2\nb: 1".into()),
            ("null".into(), "no arguments".into()),
            ("[1]".into(), "{...}".into()),
            (r#""text""#.into(), "text".into()),
        ];
        for (arguments, expected) in table {
            assert_eq!(of(&arguments), expected, "{arguments}");
        }
        assert_eq!(preview(None, &PreviewLimits::default(), &Mask::default()), "no arguments");
    }

    #[test]
    fn lines_have_a_bound_and_what_is_beyond_is_counted() {
        // H-058
        let many: Map<_, _> = (0..41).map(|n| (format!("k{n:02}"), json!(n))).collect();
        let shown = of(&Value::from(many).to_string());
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!((lines.len(), lines[39], lines[40]), (41, "k39: 39", "... and 1 more"));
    }

    #[test]
    fn secrets_are_hidden_before_anything_is_cut() {
        let secret = "0123456789".repeat(8);
        let arguments = RawJson::parse_str(&json!({"k": format!("Bearer {secret}")}).to_string()).unwrap();
        let shown = preview(Some(arguments.view()), &PreviewLimits::default(), &Mask::new([secret]));
        assert_eq!(shown, "k: Bearer ***");
    }

    proptest! {
        #[test]
        fn a_preview_is_bounded_and_has_a_line_for_each_argument(
            arguments in prop::collection::btree_map("[ab\n\u{202e}: ]{0,4}|x{58,64}", "(?s).{0,70}", 0..12), max_lines in 0usize..8,
        ) {
            // H-054, H-058
            let object: Map<_, _> = arguments.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let raw = RawJson::parse_str(&Value::from(object).to_string()).unwrap();
            let limits = PreviewLimits { max_lines, ..PreviewLimits::default() };
            let shown = preview(Some(raw.view()), &limits, &Mask::default());
            let lines: Vec<_> = shown.split('\n').collect();
            let more = arguments.len().saturating_sub(max_lines);
            prop_assert_eq!(lines.len(), (arguments.len() - more + usize::from(more > 0)).max(1));
            prop_assert!(lines.iter().all(|line| line.chars().count() <= 122), "{shown}");
            for (line, name) in lines.iter().zip(arguments.keys().take(max_lines)) {
                let name = Mask::default().line_within(name, 60);
                prop_assert!(line.starts_with(&format!("{name}: ")), "{line:?} {name:?}");
            }
        }
    }
}
