//! What an approval holds for, to the byte.

use alloc::vec::Vec;
use core::fmt;

use sha2::{Digest, Sha256};

use crate::host::Provenance;
use crate::jsonrpc::{JsonRef, write_canonical, write_members};
use crate::mcp::types::tool::Tool;

/// What a tool is defined by. Its icons, its metadata and what nobody knows are not among it.
const DEFINING: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// SHA-256 of a tool's definition: its name, title, description, both schemas and annotations, as one JSON text with
/// sorted members, without white space and with numbers as they are written. `null` counts as absent.
///
/// `Display` writes it in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionHash(pub [u8; 32]);

impl DefinitionHash {
    /// The hash of a tool as its server sent it.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        let members = tool.raw().view().members().map(|(name, value)| (name.decode(), value));
        let defining = members.filter(|(name, value)| DEFINING.contains(&&**name) && !value.is_null());
        let mut text = Vec::new();
        write_members(&mut text, defining.collect());
        Self(Sha256::digest(text).into())
    }

    /// Reads it as it is written: 64 lowercase hexadecimal digits.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        let (pairs, more) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != hash.len() || !more.is_empty() {
            return None;
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(hash))
    }
}

impl fmt::Display for DefinitionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// SHA-256 of a call's arguments, written as a definition is: what says the same has the same hash, but `1` and `1.0`
/// have not. No arguments are an empty object.
///
/// Of names that stand twice the first counts, so arguments with the same hash may differ in what stands behind it:
/// send those that were approved, not others of the same hash. `Display` writes it in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArgumentsHash(pub [u8; 32]);

impl ArgumentsHash {
    /// The hash of these arguments. O(n log n).
    #[must_use]
    pub fn of(arguments: Option<JsonRef<'_>>) -> Self {
        let mut text = Vec::new();
        match arguments {
            Some(arguments) => write_canonical(&mut text, arguments),
            None => text.extend_from_slice(b"{}"),
        }
        Self(Sha256::digest(text).into())
    }
}

impl fmt::Display for ArgumentsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

const fn digit(text: u8) -> Option<u8> {
    match text {
        b'0'..=b'9' => Some(text - b'0'),
        b'a'..=b'f' => Some(text - b'a' + 10),
        _ => None,
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// What an approval holds for: this tool, as it is defined, with these arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The tool.
    pub tool: Provenance,
    /// Its definition.
    pub definition: DefinitionHash,
    /// The arguments.
    pub arguments: ArgumentsHash,
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;
    use crate::jsonrpc::RawJson;
    use crate::mcp::types::page::ListItem;

    fn definition(text: &str) -> DefinitionHash {
        DefinitionHash::of(&Tool::read(RawJson::parse_str(text).expect(text)).expect(text))
    }

    fn arguments(text: &str) -> ArgumentsHash {
        ArgumentsHash::of(Some(RawJson::parse_str(text).expect(text).view()))
    }

    #[test]
    fn a_definition_is_all_that_a_model_and_a_person_decide_by() {
        // H-068
        let whole = concat!(
            r#"{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","a":1},"#,
            r#""outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#
        );
        let hash = definition(whole);
        for (from, to) in [
            (r#""name":"t""#, r#""name":"u""#),
            (r#""title":"T""#, r#""title":"U""#),
            (r#""description":"d""#, r#""description":"d ""#),
            (r#""a":1"#, r#""a":1.0"#),
            (r#"{"type":"object"}"#, r#"{"type":"array"}"#),
            (r#""readOnlyHint":true"#, r#""readOnlyHint":false"#),
        ] {
            assert_ne!(definition(&whole.replace(from, to)), hash, "{to}");
        }
        for (from, to) in [
            (r#""a":1"#, r#" "a" : 1 "#),
            (r#""d""#, r#""\u0064""#),
            (r#"{"name":"t","#, r#"{"name":"t","icons":[],"_meta":{"x":1},"x":null,"#),
            (r#""title":"T","description":"d""#, r#""description":"d","title":"T""#),
        ] {
            assert_eq!(definition(&whole.replace(from, to)), hash, "{to}");
        }
        assert_eq!(definition(r#"{"name":"t","title":null}"#), definition(r#"{"name":"t"}"#));
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = DefinitionHash(core::array::from_fn(|n| u8::try_from(n * 8).unwrap_or(255)));
        let text = hash.to_string();
        assert_eq!(DefinitionHash::read(&text), Some(hash));
        let wrong = [&text[1..], "", &format!("{text}0"), &text.replace('f', "F"), &text.replace('0', "g")];
        assert!(wrong.iter().all(|wrong| DefinitionHash::read(wrong).is_none()));
        assert_eq!(DefinitionHash::read(&"é".repeat(32)), None);
    }

    #[test]
    fn arguments_that_say_the_same_have_one_hash() {
        assert_eq!(arguments(r#"{"a":1,"b":"é"}"#), arguments(r#" { "b" : "\u00e9" , "a" : 1 } "#));
        assert_ne!(arguments(r#"{"a":1}"#), arguments(r#"{"a":1.0}"#));
        assert_ne!(arguments(r#"{"a":[1,2]}"#), arguments(r#"{"a":[2,1]}"#));
        assert_eq!(ArgumentsHash::of(None), arguments("{}"));
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(ArgumentsHash::of(None).to_string(), empty);
        assert_eq!(format!("{}", DefinitionHash([0xab; 32])), "ab".repeat(32));
    }
}
