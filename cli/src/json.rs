//! JSON of our own making, and JSON for people to read.

use sanswire::jsonrpc::{JsonRef, Kind, ObjectWriter, RawJson};

/// An object that `write` fills.
pub(crate) fn object(write: impl FnOnce(&mut ObjectWriter<'_>)) -> RawJson {
    RawJson::object(write)
}

/// A member that is there and not `null`.
pub(crate) fn member<'a>(value: JsonRef<'a>, name: &str) -> Option<JsonRef<'a>> {
    value.get(name).filter(|found| !found.is_null())
}

/// A member that is a string.
pub(crate) fn text(value: JsonRef<'_>, name: &str) -> Option<String> {
    Some(value.get(name)?.str()?.decode().into_owned())
}

/// The value with one member or element a line, two spaces a level; short arrays of plain values on one line.
pub(crate) fn pretty(value: JsonRef<'_>) -> String {
    let mut out = String::new();
    write_pretty(&mut out, value, 0);
    out
}

fn write_pretty(out: &mut String, value: JsonRef<'_>, level: usize) {
    match value.kind() {
        Kind::Object if value.members().next().is_some() => {
            out.push('{');
            for (n, (name, value)) in value.members().enumerate() {
                break_line(out, n > 0, level + 1);
                out.push('"');
                out.push_str(&String::from_utf8_lossy(name.raw()));
                out.push_str("\": ");
                write_pretty(out, value, level + 1);
            }
            break_line(out, false, level);
            out.push('}');
        }
        Kind::Array if value.as_bytes().len() > 72 || value.elements().any(is_container) => {
            out.push('[');
            for (n, value) in value.elements().enumerate() {
                break_line(out, n > 0, level + 1);
                write_pretty(out, value, level + 1);
            }
            break_line(out, false, level);
            out.push(']');
        }
        Kind::Array => {
            out.push('[');
            for (n, value) in value.elements().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                write_pretty(out, value, level);
            }
            out.push(']');
        }
        Kind::Object => out.push_str("{}"),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
            out.push_str(&String::from_utf8_lossy(value.as_bytes()));
        }
    }
}

fn break_line(out: &mut String, comma: bool, level: usize) {
    out.push_str(if comma { ",\n" } else { "\n" });
    out.extend(std::iter::repeat_n("  ", level));
}

fn is_container(value: JsonRef<'_>) -> bool {
    matches!(value.kind(), Kind::Object | Kind::Array)
}
