//! Where a text is cut, and what says so.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::error::ConfigError;

/// The most that [`ResultCap::max_result_bytes`] may be.
pub const MAX_RESULT_CEILING: usize = 1 << 20;

/// How much of a result is shown at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultCap {
    /// Bytes of a result's text; the marker of a text that was cut comes on top. Default: 64 KiB, at least 1, at most
    /// [`MAX_RESULT_CEILING`]: services of language models refuse outputs of some megabytes, and the call is then made
    /// again and again.
    pub max_result_bytes: usize,
    /// What says that a text was cut.
    pub marker: Marker,
    /// Whether text is masked before. Default: yes. Off, control characters and secrets in results reach the model.
    pub mask: bool,
}

impl Default for ResultCap {
    fn default() -> Self {
        Self { max_result_bytes: 64 * 1024, marker: Marker::default(), mask: true }
    }
}

/// What says that a text was cut, behind what is left of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Marker {
    /// `<truncated output shown=S total=T>` on a line of its own. The default.
    #[default]
    ShownTotal,
    /// `[mcp output truncated: T bytes total, S kept]` after a blank line.
    BytesTotalKept,
}

impl Marker {
    /// The marker of that name: `shown_total` or `bytes_total_kept`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::ShownTotal, Self::BytesTotalKept].into_iter().find(|marker| marker.as_str() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ShownTotal => "shown_total",
            Self::BytesTotalKept => "bytes_total_kept",
        }
    }

    pub(super) fn text(self, shown: usize, total: usize) -> String {
        match self {
            Self::ShownTotal => format!("\n<truncated output shown={shown} total={total}>"),
            Self::BytesTotalKept => {
                format!("\n\n[mcp output truncated: {total} bytes total, {shown} kept]")
            }
        }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text within its bound.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capped {
    /// What is shown, with the marker behind it if something was cut away.
    pub text: String,
    /// How many bytes of the whole are shown, the marker left out.
    pub shown: usize,
    /// The bytes of the whole.
    pub total: usize,
    /// What was cut away.
    pub rest: String,
}

impl ResultCap {
    /// Whether the bound can be kept.
    ///
    /// # Errors
    /// [`ConfigError`] if it is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if (1..=MAX_RESULT_CEILING).contains(&self.max_result_bytes) {
            return Ok(());
        }
        let got = u64::try_from(self.max_result_bytes).unwrap_or(u64::MAX);
        Err(ConfigError { field: "max_result_bytes", min: 1, max: 1 << 20, got })
    }

    /// Cuts a text that is longer than the bound, at the last character that fits as a whole.
    ///
    /// O(bytes of the text); a text that fits is handed back as it is.
    #[must_use]
    pub fn cut(&self, mut text: String) -> Capped {
        let total = text.len();
        let max = self.max_result_bytes.clamp(1, MAX_RESULT_CEILING);
        if total <= max {
            return Capped { text, shown: total, total, rest: String::new() };
        }
        let shown = boundary(&text, max);
        let marker = self.marker.text(shown, total);
        let mut front = String::with_capacity(shown + marker.len());
        front.push_str(text.get(..shown).unwrap_or_default());
        front.push_str(&marker);
        text.drain(..shown);
        Capped { text: front, shown, total, rest: text }
    }
}

/// The last place at or before `at` that is no place inside a character.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;
    use core::fmt::Write as _;

    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::host::results::flatten;
    use crate::jsonrpc::RawJson;
    use crate::mcp::types::call_result::CallToolResult;

    fn cap(marker: Marker, max_result_bytes: usize) -> ResultCap {
        ResultCap { max_result_bytes, marker, ..ResultCap::default() }
    }

    fn sha256(text: &str) -> String {
        let mut out = String::new();
        Sha256::digest(text).iter().for_each(|byte| write!(out, "{byte:02x}").unwrap());
        out
    }

    /// The text of a result with one block.
    fn of_one_block(text: &str) -> String {
        let result = serde_json::json!({"content": [{"type": "text", "text": text}]});
        flatten(&CallToolResult::new(RawJson::parse_str(&result.to_string()).unwrap()))
    }

    const MIB: usize = 1_048_576;

    /// Note, marker, limit, what is repeated, how often, bytes shown, the end of it, its hash.
    type Row<'a> = (&'a str, Marker, usize, &'a str, usize, usize, &'a str, &'a str);

    #[test]
    fn a_text_is_cut_at_its_limit_with_a_marker_outside_of_it() {
        // H-078, H-079, H-080, H-082
        let (shown, kept) = (Marker::ShownTotal, Marker::BytesTotalKept);
        #[rustfmt::skip]
        let table: [Row<'_>; 11] = [
            ("far over", shown, 1024, "X", 200_000, 1067, "X\n<truncated output shown=1024 total=200000>",
                "8d899c6317deec1afe2218e49d224eb6e5e4a97351a6b70c0fb99ffc0cf9c23d"),
            ("below", shown, 1024, "X", 32, 32, "XX",
                "9b955f934018bab805a22794ba7ee1462df77b37edf2c39090d18271b72cc29d"),
            ("at the limit", shown, 5, "abcde", 1, 5, "abcde",
                "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c"),
            ("one over", shown, 5, "abcdef", 1, 40, "abcde\n<truncated output shown=5 total=6>",
                "16426fc77f3e456e168624aaaca4f027bc0e8cba3478e19fb22ccde6f1ba0289"),
            ("default limit", shown, 65_536, "y", 65_537, 65_579, "y\n<truncated output shown=65536 total=65537>",
                "ef1f0e6c91fc042f6913df4c9673375c851edaf2088ff1920a57e95dc7addafc"),
            ("nothing", shown, 1024, "", 1, 12, "(no content)",
                "7daf3642552ce1fc9a509f24d5b82ad904e78f78eab1cd13f76617fd404ea923"),
            ("inside a character", shown, 4, "aé日b", 1, 38, "aé\n<truncated output shown=3 total=7>",
                "c3827367e6919ba6fa3745231bec0df0b51dc48c1591e96485855c7771ad1fe6"),
            ("one over 1 MiB", kept, MIB, "z", MIB + 1, 1_048_635,
                "z\n\n[mcp output truncated: 1048577 bytes total, 1048576 kept]",
                "74d5b3acf1f27e7de6049b5e80e2a763713dbb357557fc4c2c159e0ca922170c"),
            ("at 1 MiB", kept, MIB, "z", MIB, MIB, "zz",
                "3ac3338d67611f3edb444a8f730d5e3a6559d4640e7b1a2d5fa58bafbda3254a"),
            ("small", kept, 8, "123456789", 1, 55, "12345678\n\n[mcp output truncated: 9 bytes total, 8 kept]",
                "a168d92a94254f68e5ad7183e2c85b0a70e432427e5cb5551ad21873221915fa"),
            ("inside a character", kept, 4, "日本", 1, 50, "日\n\n[mcp output truncated: 6 bytes total, 3 kept]",
                "be6eaaadd2a857846ff1477ff2e8e49c39045509603a6f4be6b4e7f5a6405847"),
        ];
        for (note, marker, limit, unit, repeat, len, tail, hash) in table {
            let whole = of_one_block(&unit.repeat(repeat));
            let cut = cap(marker, limit).cut(whole.clone());
            assert_eq!(cut.text.len(), len, "{note}");
            assert!(cut.text.ends_with(tail), "{note}");
            assert_eq!(sha256(&cut.text), hash, "{note}");
            assert_eq!(cut.total, whole.len(), "{note}");
            assert_eq!(cut.rest, whole[cut.shown..], "{note}");
        }
        assert_eq!(ResultCap::default(), cap(shown, 65_536));
    }

    #[test]
    fn the_limit_has_a_floor_and_a_ceiling() {
        // H-079
        for (limit, fits) in [(0, false), (1, true), (MIB, true), (MIB + 1, false), (usize::MAX, false)] {
            assert_eq!(cap(Marker::ShownTotal, limit).check().is_ok(), fits, "{limit}");
        }
        let error = cap(Marker::ShownTotal, 0).check().unwrap_err();
        assert_eq!((error.field, error.min, error.max), ("max_result_bytes", 1, 1 << 20));
        assert_eq!(cap(Marker::ShownTotal, usize::MAX).cut("x".repeat(MIB + 1)).shown, MIB, "unchecked");
        for marker in [Marker::ShownTotal, Marker::BytesTotalKept] {
            assert_eq!(Marker::named(marker.as_str()), Some(marker));
        }
        assert_eq!(Marker::named("none"), None);
    }

    proptest! {
        #[test]
        fn front_and_rest_are_the_whole(text in "[aé日🎉]{0,40}", limit in 1usize..60) {
            // H-082
            let cut = cap(Marker::ShownTotal, limit).cut(text.clone());
            prop_assert!(cut.shown <= limit);
            prop_assert_eq!(cut.shown + cut.rest.len(), text.len());
            prop_assert_eq!(&cut.text[..cut.shown], &text[..cut.shown]);
            prop_assert!(text.ends_with(&cut.rest));
            prop_assert_eq!(cut.rest.is_empty(), text.len() <= limit);
            prop_assert!(cut.rest.is_empty() || limit - cut.shown < 4, "no more is left out than a character");
        }
    }
}
