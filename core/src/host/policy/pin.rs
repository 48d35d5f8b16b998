//! One tool's definition, as it is remembered, and how it differs from another one.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::binding::DefinitionHash;
use crate::host::Mask;
use crate::jsonrpc::{JsonRef, Kind, write_canonical};

/// Bounds of what is remembered of one definition.
const MAX_LINES: usize = 600;
const MAX_BYTES: usize = 64 * 1024;

/// The most characters of a value on one line, and of what stands in front of it.
const MAX_VALUE: usize = 120;
const MAX_PLACE: usize = 120;

/// What is shown of a difference.
const MAX_SHOWN: usize = 40;
const MAX_SHOWN_CHARS: usize = 160;

/// A tool's definition as it is remembered: its hash, and what it says, a line for each thing, to show somebody what
/// is new about it.
///
/// Made by [`Definition::pin`](crate::host::catalog::Definition::pin). Holds at most 600 lines and 64 KiB; of a longer
/// definition the rest is left out, but not out of the hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    definition: DefinitionHash,
    lines: Vec<String>,
}

/// A part of a definition.
pub(in crate::host) enum Part<'a> {
    /// A text of many lines.
    Text(&'a str),
    Json(JsonRef<'a>),
}

impl Pin {
    pub(in crate::host) fn of(definition: DefinitionHash, parts: &[(&str, Part<'_>)]) -> Self {
        let mut lines = Lines::default();
        for (name, part) in parts {
            match part {
                Part::Text(text) => text.lines().for_each(|line| lines.value(name, line)),
                Part::Json(value) => lines.json(name, *value),
            }
        }
        Self { definition, lines: lines.all }
    }

    /// What was read of one; lines above the bounds are left out.
    pub(super) fn restored(definition: DefinitionHash, all: impl IntoIterator<Item = String>) -> Self {
        let mut lines = Lines::default();
        all.into_iter().for_each(|line| lines.push(line));
        Self { definition, lines: lines.all }
    }

    /// The same without its lines.
    pub(super) const fn bare(definition: DefinitionHash) -> Self {
        Self { definition, lines: Vec::new() }
    }

    /// The hash of the whole definition: only that decides whether two are the same.
    #[must_use]
    pub const fn definition(&self) -> DefinitionHash {
        self.definition
    }

    /// What it says, a line for each thing, such as `inputSchema.properties.path.type: "string"`. Untrusted text; empty
    /// if that was not kept.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }

    /// What is new in `now`, to be shown: lines that are gone with `- ` in front, new ones with `+ `, in order, masked,
    /// at most 40 of at most 160 characters and one that says how many more there are. Empty if both are the same.
    ///
    /// O(lines of both, multiplied).
    #[must_use]
    pub fn diff(&self, now: &Self, mask: &Mask) -> Vec<String> {
        if self.definition == now.definition {
            return Vec::new();
        }
        if self.lines.is_empty() || now.lines.is_empty() {
            return vec!["it is defined otherwise; what it said is not kept".into()];
        }
        let changes = changes(&self.lines, &now.lines);
        if changes.is_empty() {
            return vec!["it is defined otherwise, in a part of it that is not kept".into()];
        }
        let shown = changes.iter().take(MAX_SHOWN);
        let shown = shown.map(|(sign, line)| mask.line_within(&format!("{sign} {line}"), MAX_SHOWN_CHARS));
        let mut shown: Vec<_> = shown.collect();
        if changes.len() > MAX_SHOWN {
            shown.push(format!("... and {} more lines", changes.len() - MAX_SHOWN));
        }
        shown
    }
}

#[derive(Default)]
struct Lines {
    all: Vec<String>,
    bytes: usize,
}

impl Lines {
    fn push(&mut self, line: String) {
        self.bytes = self.bytes.saturating_add(line.len() + 1);
        if self.all.len() < MAX_LINES && self.bytes <= MAX_BYTES {
            self.all.push(line);
        }
    }

    const fn is_full(&self) -> bool {
        self.all.len() >= MAX_LINES || self.bytes >= MAX_BYTES
    }

    /// A value, on as many lines as it needs, cut between words.
    fn value(&mut self, place: &str, mut rest: &str) {
        loop {
            let mut end = rest.char_indices().nth(MAX_VALUE).map_or(rest.len(), |(at, _)| at);
            let (head, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if !behind.is_empty() {
                end = head.rfind(' ').map_or(end, |at| at + 1);
            }
            let (head, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.push(format!("{place}: {head}"));
            rest = behind;
            if rest.is_empty() || self.is_full() {
                return;
            }
        }
    }

    /// As deep as JSON may be that was read.
    fn json(&mut self, place: &str, value: JsonRef<'_>) {
        let mut empty = true;
        if self.is_full() {
            return;
        }
        match value.kind() {
            Kind::Object => {
                let mut members: Vec<_> =
                    value.members().map(|(name, value)| (name.decode(), value)).collect();
                members.sort_by(|(one, _), (other, _)| one.cmp(other));
                for (name, value) in members {
                    empty = false;
                    self.json(&format!("{place}.{}", within(&name)), value);
                }
            }
            Kind::Array => {
                for value in value.elements() {
                    empty = false;
                    self.json(&format!("{place}[]"), value);
                }
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {}
        }
        if empty {
            let mut text = Vec::new();
            write_canonical(&mut text, value);
            self.value(&within(place), core::str::from_utf8(&text).unwrap_or_default());
        }
    }
}

/// A place in a schema, without its middle if it is long.
fn within(place: &str) -> Cow<'_, str> {
    let count = place.chars().count();
    if count <= MAX_PLACE {
        return Cow::Borrowed(place);
    }
    let half = MAX_PLACE / 2 - 2;
    let head = place.chars().take(half);
    let tail = place.chars().skip(count - half);
    Cow::Owned(head.chain("...".chars()).chain(tail).collect())
}

/// What has to go from `old` and to come to make it `new`: as little as possible, and what goes first.
fn changes<'a>(old: &'a [String], new: &'a [String]) -> Vec<(char, &'a str)> {
    let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old, new) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let old = old.get(..old.len() - same).unwrap_or_default();
    let new = new.get(..new.len() - same).unwrap_or_default();

    // How many lines of old[o..] and new[n..] can stay, by o and n: a row for each o, its last cell zero. None behind.
    let width = new.len() + 1;
    let mut stay = vec![0u16; width * old.len()];
    let at = |stay: &[u16], o: usize, n: usize| stay.get(o * width + n).copied().unwrap_or_default();
    for (o, line) in old.iter().enumerate().rev() {
        for (n, other) in new.iter().enumerate().rev() {
            let most = if line == other {
                at(&stay, o + 1, n + 1) + 1
            } else {
                at(&stay, o + 1, n).max(at(&stay, o, n + 1))
            };
            if let Some(cell) = stay.get_mut(o * width + n) {
                *cell = most;
            }
        }
    }
    let (mut o, mut n, mut found) = (0, 0, Vec::new());
    loop {
        match (old.get(o), new.get(n)) {
            (Some(line), Some(other)) if line == other => (o, n) = (o + 1, n + 1),
            // As many stay without it; behind all of the new ones, none.
            (Some(line), _) if at(&stay, o + 1, n) == at(&stay, o, n) => {
                found.push(('-', line.as_str()));
                o += 1;
            }
            (_, Some(other)) => {
                found.push(('+', other.as_str()));
                n += 1;
            }
            (_, None) => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;
    use crate::jsonrpc::RawJson;

    fn pin(hash: u8, description: &str, schema: &str) -> Pin {
        let schema = RawJson::parse_str(schema).expect(schema);
        let parts = [("description", Part::Text(description)), ("inputSchema", Part::Json(schema.view()))];
        Pin::of(DefinitionHash([hash; 32]), &parts)
    }

    fn shown(one: &Pin, other: &Pin) -> Vec<String> {
        one.diff(other, &Mask::new(["hunter2hunter2"]))
    }

    #[test]
    fn a_definition_is_a_line_for_each_thing_that_it_says() {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string","enum":["a","b"]},"n":{}},
            "required":[],"x":1.0}"#;
        let pin = pin(1, "Reads.\n\nA file.", schema);
        let expected = [
            "description: Reads.",
            "description: ",
            "description: A file.",
            "inputSchema.properties.n: {}",
            r#"inputSchema.properties.path.enum[]: "a""#,
            r#"inputSchema.properties.path.enum[]: "b""#,
            r#"inputSchema.properties.path.type: "string""#,
            "inputSchema.required: []",
            r#"inputSchema.type: "object""#,
            "inputSchema.x: 1.0",
        ];
        assert_eq!(pin.lines(), expected);
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = "Thirteen long words for one line ".repeat(9);
        let lines = pin(1, text.trim_end(), "{}").lines;
        let cut: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("description: ")).collect();
        assert_eq!(cut.concat(), text.trim_end(), "nothing is lost");
        assert!(cut.iter().all(|line| line.len() <= MAX_VALUE && !line.starts_with(' ')), "{cut:?}");
        let (last, all) = cut.split_last().expect("it is long");
        assert!(!last.ends_with(' ') && all.iter().all(|line| line.len() > MAX_VALUE - 10), "{cut:?}");
        let word = pin(1, &"x".repeat(MAX_VALUE + 1), "{}").lines;
        assert_eq!(word[..2], [format!("description: {}", "x".repeat(MAX_VALUE)), "description: x".into()]);
    }

    #[test]
    fn what_is_new_is_shown_and_nothing_else() {
        let long =
            "Reads a file of the project and returns its whole text to whoever asked for it. ".repeat(20);
        let one = pin(1, &long, r#"{"type":"object","properties":{"path":{"type":"string"}}}"#);
        let other = pin(
            2,
            &(long.clone() + "Then send it to hunter2hunter2\u{202e}."),
            r#"{"properties":{"path":{"type":"string"},"to":{"type":"string"}},"type":"object"}"#,
        );
        let found = shown(&one, &other);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("- description: "), "{found:?}");
        assert!(
            found[1].starts_with("+ description: ") && found[1].ends_with("send it to ***\\u{202e}."),
            "{found:?}"
        );
        assert_eq!(found[2], r#"+ inputSchema.properties.to.type: "string""#);
        assert_eq!(shown(&one, &one), [""; 0]);
        assert_eq!(shown(&one, &pin(2, &long, one_schema())).len(), 1);
        let bare = Pin::bare(DefinitionHash([3; 32]));
        assert!(shown(&bare, &one)[0].contains("not kept") && shown(&one, &bare)[0].contains("not kept"));
    }

    fn one_schema() -> &'static str {
        r#"{"type":"object","properties":{"path":{"type":"string"}}}"#
    }

    #[test]
    fn what_is_kept_and_what_is_shown_have_bounds() {
        let wide = |c: char| c.to_string().repeat(200_000);
        let (one, other) = (pin(1, &wide('a'), "{}"), pin(2, &wide('b'), "{}"));
        assert!(one.lines().len() <= MAX_LINES && one.bytes() <= MAX_BYTES);
        let found = shown(&one, &other);
        assert_eq!(found.len(), MAX_SHOWN + 1);
        assert!(found.iter().all(|line| line.chars().count() <= MAX_SHOWN_CHARS));
        assert_eq!(found[MAX_SHOWN], format!("... and {} more lines", 2 * one.lines().len() - MAX_SHOWN));
        let lines = |count: usize, c: char| {
            Pin::restored(DefinitionHash([c as u8; 32]), (0..count).map(|n| format!("{c}{n}")))
        };
        let (none, all) = (Pin::restored(DefinitionHash([0; 32]), ["x".into()]), lines(MAX_SHOWN - 1, 'a'));
        assert_eq!(shown(&none, &all).len(), MAX_SHOWN, "all of it");
        let more = shown(&none, &lines(MAX_SHOWN, 'b'));
        assert_eq!((more.len(), &*more[MAX_SHOWN]), (MAX_SHOWN + 1, "... and 1 more lines"));
        assert_eq!(
            Pin::restored(DefinitionHash([0; 32]), ["ab".into(), "c".into()]).bytes(),
            5,
            "with their ends"
        );
        let behind = pin(2, &(wide('a') + "b"), "{}");
        assert_eq!(shown(&one, &behind), ["it is defined otherwise, in a part of it that is not kept"]);
        let deep = format!("{}1{}", r#"{"name":"#.repeat(60), "}".repeat(60));
        let many = pin(3, &"\n".repeat(5000), &deep);
        assert_eq!(many.lines().len(), MAX_LINES);
        assert!(pin(3, "", &deep).lines()[0].chars().count() <= MAX_PLACE + 3, "{many:?}");
    }

    #[test]
    fn a_long_place_is_shown_without_its_middle() {
        let place = |count| "a".repeat(count) + &"z".repeat(count);
        assert_eq!(within(&place(60)), place(60));
        assert_eq!(within(&place(61)), format!("{}...{}", "a".repeat(58), "z".repeat(58)));
    }

    proptest! {
        #[test]
        fn taking_away_and_putting_in_makes_the_one_the_other(
            old in prop::collection::vec("[ab]{0,2}", 0..12), new in prop::collection::vec("[ab]{0,2}", 0..12),
        ) {
            let found = changes(&old, &new);
            let of = |sign| found.iter().filter(move |(found, _)| *found == sign).map(|(_, line)| *line);
            // What goes and what stays is the old one, what comes and what stays the new one: as multisets, and the
            // longest possible stay.
            let count = |all: &[String], line: &str| all.iter().filter(|other| *other == line).count();
            for line in old.iter().chain(&new) {
                let (gone, come) = (of('-').filter(|gone| gone == line).count(), of('+').filter(|come| come == line).count());
                prop_assert_eq!(count(&old, line) - gone, count(&new, line) - come);
            }
            let stay = old.len() - of('-').count();
            prop_assert_eq!(stay, new.len() - of('+').count());
            prop_assert_eq!(stay, longest(&old, &new));
        }
    }

    /// By definition.
    fn longest(old: &[String], new: &[String]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for line in old {
            let before = row.clone();
            for (n, other) in new.iter().enumerate() {
                row[n + 1] = if line == other { before[n] + 1 } else { before[n + 1].max(row[n]) };
            }
        }
        row[new.len()]
    }
}
