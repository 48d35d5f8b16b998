//! How tools were defined when somebody last looked.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::binding::DefinitionHash;
use super::pin::Pin;
use crate::host::Provenance;
use crate::jsonrpc::{JsonRef, Kind, RawJson};

/// The most tools.
const MAX_PINS: usize = 10_000;

/// The most bytes of what they say.
const MAX_BYTES: usize = 16 << 20;

/// How tools were defined when somebody last looked: to tell that one is defined otherwise now, and how.
///
/// Says nothing of whether a tool may be called. Written as one line of JSON for each tool, sorted; reads and writes no
/// file itself. Holds at most 10,000 tools, and 16 MiB of what they say: beyond that only their hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    pins: BTreeMap<Provenance, Pin>,
    bytes: usize,
}

/// A line that is no pin, and was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPin {
    /// Which, from 1.
    pub line: usize,
}

impl fmt::Display for DroppedPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} does not say how a tool was defined; it was left out", self.line)
    }
}

impl Pins {
    /// Reads all lines. Those that cannot be read are told and left out, as are those of more tools than are held and
    /// those about a tool that stands above.
    #[must_use]
    pub fn read(text: &str) -> (Self, Vec<DroppedPin>) {
        let (mut pins, mut dropped) = (Self::default(), Vec::new());
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let read = read_line(line).filter(|(tool, _)| !pins.pins.contains_key(tool));
            if !read.is_some_and(|(tool, pin)| pins.pin(&tool, pin)) {
                dropped.push(DroppedPin { line: index + 1 });
            }
        }
        (pins, dropped)
    }

    /// Remembers how a tool is defined, in the place of how it was. False: too many are remembered.
    pub fn pin(&mut self, tool: &Provenance, pin: Pin) -> bool {
        if self.pins.len() >= MAX_PINS && !self.pins.contains_key(tool) {
            return false;
        }
        self.unpin(tool);
        let fits = self.bytes.saturating_add(pin.bytes()) <= MAX_BYTES;
        let pin = if fits { pin } else { Pin::bare(pin.definition()) };
        self.bytes += pin.bytes();
        self.pins.insert(tool.clone(), pin);
        true
    }

    /// Forgets a tool. False: it was not known.
    pub fn unpin(&mut self, tool: &Provenance) -> bool {
        let gone = self.pins.remove(tool);
        self.bytes -= gone.as_ref().map_or(0, Pin::bytes);
        gone.is_some()
    }

    /// How a tool was defined.
    #[must_use]
    pub fn get(&self, tool: &Provenance) -> Option<&Pin> {
        self.pins.get(tool)
    }

    /// The same, if that was otherwise than now: [`diff`](Pin::diff) tells how.
    #[must_use]
    pub fn changed(&self, tool: &Provenance, definition: DefinitionHash) -> Option<&Pin> {
        self.get(tool).filter(|pin| pin.definition() != definition)
    }

    /// All of them, sorted by server and tool.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Provenance, &Pin)> {
        self.pins.iter()
    }
}

impl fmt::Display for Pins {
    /// The text to keep: every line ends in a line feed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pins.iter().try_for_each(|(tool, pin)| {
            let definition = alloc::format!("{}", pin.definition());
            let line = RawJson::object(|w| {
                w.string("server", &tool.server).string("tool", &tool.tool).string("definition", &definition);
                w.array_of_strings("lines", pin.lines().iter().map(String::as_str));
            });
            writeln!(f, "{}", line.as_str())
        })
    }
}

fn read_line(line: &str) -> Option<(Provenance, Pin)> {
    let value = RawJson::parse_str(line).ok()?;
    let value = value.view();
    let text = |value: JsonRef<'_>| Some(value.str()?.decode().into_owned());
    let member = |name| text(value.get(name)?);
    let tool = Provenance::new(member("server")?, member("tool")?);
    let definition = DefinitionHash::read(&member("definition")?)?;
    let lines = value.get("lines").filter(|lines| lines.kind() == Kind::Array)?;
    let lines: Option<Vec<_>> = lines.elements().map(text).collect();
    Some((tool, Pin::restored(definition, lines?)))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;
    use crate::host::Mask;
    use crate::host::catalog::{Definition, DefinitionLimits};
    use crate::mcp::types::page::ListItem;
    use crate::mcp::types::tool::Tool;

    fn defined(members: &str) -> Definition {
        let text = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}}{members}}}"#);
        let tool = Tool::read(RawJson::parse_str(&text).expect(&text)).expect(&text);
        Definition::of("s", &tool, &DefinitionLimits::default(), &Mask::default()).expect(&text)
    }

    #[test]
    fn a_changed_definition_is_known_and_told() {
        // H-068
        let tool = Provenance::new("s", "t");
        let was = defined(r#","description":"Adds.","annotations":{"readOnlyHint":true}"#);
        let now =
            defined(r#","title":"T","description":"Adds.","annotations":{"readOnlyHint":false,"title":"x"}"#);
        let mut pins = Pins::default();
        assert!(pins.changed(&tool, was.hash).is_none() && pins.pin(&tool, was.pin()));
        assert!(pins.changed(&tool, was.hash).is_none());
        let (mut pins, dropped) = Pins::read(&pins.to_string());
        assert_eq!(dropped, []);
        let then = pins.changed(&tool, now.hash).expect("it is another");
        let told = then.diff(&now.pin(), &Mask::default());
        assert_eq!(
            told,
            ["+ title: T", "- annotations.readOnlyHint: true", "+ annotations.readOnlyHint: false"]
        );
        let other =
            defined(r#","description":"Adds.","annotations":{"readOnlyHint":true,"idempotentHint":true}"#);
        let told = then.diff(&other.pin(), &Mask::default());
        assert_eq!(told, ["it is defined otherwise, in a part of it that is not kept"]);
        assert!(pins.pin(&tool, now.pin()) && pins.changed(&tool, now.hash).is_none());
        assert!(pins.unpin(&tool) && !pins.unpin(&tool) && pins == Pins::default());
    }

    #[test]
    fn what_is_no_line_of_this_kind_is_left_out_and_told() {
        let hash = "0".repeat(64);
        let good = format!(r#"{{"server":"s","tool":"t","definition":"{hash}","lines":["a"],"more":1}}"#);
        let bad = [
            good.clone(),
            "x".into(),
            "{}".into(),
            good.replace(r#""s""#, "1"),
            good.replace("00", "0"),
            good.replace(r#"["a"]"#, r#"["a",1]"#),
            good.replace(r#"["a"]"#, r#"{"a":1}"#),
        ];
        let text = format!("{good}\n\n{}\r\n", bad.join("\n"));
        let (pins, dropped) = Pins::read(&text);
        assert_eq!(pins.iter().len(), 1);
        assert_eq!(dropped.iter().map(|dropped| dropped.line).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(pins.to_string(), format!("{}\n", good.replace(r#","more":1"#, "")));
        assert!(dropped[0].to_string().starts_with("line 3 "), "{}", dropped[0]);
    }

    #[test]
    fn pins_have_a_bound() {
        let mut pins = Pins::default();
        let long = Pin::restored(DefinitionHash([1; 32]), (0..600).map(|n| format!("{n:0100}")));
        for n in 0..MAX_PINS {
            assert!(pins.pin(&Provenance::new("s", format!("t{n}")), long.clone()));
            assert!(pins.bytes <= MAX_BYTES);
        }
        assert!(!pins.pin(&Provenance::new("s", "more"), long.clone()));
        let last = pins.get(&Provenance::new("s", format!("t{}", MAX_PINS - 1))).unwrap();
        assert_eq!((last.definition(), last.lines().len()), (long.definition(), 0), "its hash is kept");
        let bytes = |pins: &Pins| pins.pins.values().map(Pin::bytes).sum::<usize>();
        assert_eq!(pins.bytes, bytes(&pins));
        assert!(pins.pin(&Provenance::new("s", "t0"), Pin::bare(long.definition())));
        assert_eq!(pins.bytes, bytes(&pins));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            all in prop::collection::vec((".{0,6}", "(?s).{0,6}", any::<[u8; 32]>(), prop::collection::vec("(?s).{0,9}", 0..4)), 0..5),
        ) {
            let mut pins = Pins::default();
            for (server, tool, hash, lines) in all {
                prop_assert!(pins.pin(&Provenance::new(server, tool), Pin::restored(DefinitionHash(hash), lines)));
            }
            let (again, dropped) = Pins::read(&pins.to_string());
            prop_assert_eq!((again, dropped.len()), (pins, 0));
        }

        #[test]
        fn any_text_is_read(text in "(?s).{0,60}|[{}\\[\\]\":,a-z0-9\n ]{0,60}") {
            let (pins, dropped) = Pins::read(&text);
            prop_assert!(pins.iter().len() + dropped.len() <= text.lines().count());
        }
    }
}
