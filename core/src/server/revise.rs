//! What an older revision does not have, left out of what is listed and answered.
//!
//! Applications write in the shape of the newest revision. A member that a revision does not define is dropped, a
//! content block that it does not know becomes text. Members that no revision defines are kept: all objects are open.
//!
//! Spec: MCP schema of each revision.

use alloc::borrow::Cow;
use alloc::format;

use crate::jsonrpc::{ArrayWriter, Cursor, JsonRef, Kind, ObjectWriter, RawJson};
use crate::mcp::Revision;
use crate::mcp::types::content::{Content, ContentBlock};
use crate::server::catalog::ListKind;

/// Appends a definition as `revision` lists it.
pub(super) fn write_item(w: &mut ArrayWriter<'_>, kind: ListKind, item: &RawJson, revision: Revision) {
    if revision >= Revision::V2026_07_28 {
        w.raw(item.view());
        return;
    }
    w.object(|w| {
        for (name, value) in item.view().members() {
            let name = name.decode();
            if revision < item_member_since(kind, &name) || is_foreign_schema(kind, &name, value) {
                continue;
            }
            if name == "annotations" && kind != ListKind::Tools {
                write_annotations(w, value, revision);
            } else if name == "arguments" && kind == ListKind::Prompts {
                w.array("arguments", |w| {
                    for argument in value.elements() {
                        w.object(|w| copy(w, argument, |name| name != "title" || revision >= TITLES));
                    }
                });
            } else {
                w.raw(&name, value);
            }
        }
    });
}

/// Titles, `_meta` of objects, output schemas, structured results and resource links came with this revision.
const TITLES: Revision = Revision::V2025_06_18;

fn item_member_since(kind: ListKind, name: &str) -> Revision {
    match name {
        "title" | "_meta" => TITLES,
        "icons" => Revision::V2025_11_25,
        "outputSchema" if kind == ListKind::Tools => TITLES,
        "annotations" if kind == ListKind::Tools => Revision::V2025_03_26,
        _ => Revision::V2024_11_05,
    }
}

/// Before 2026-07-28 structured results are objects, so a schema of anything else is of no use.
fn is_foreign_schema(kind: ListKind, name: &str, value: JsonRef<'_>) -> bool {
    let is_object = |schema: JsonRef<'_>| {
        schema.get("type").and_then(JsonRef::str).is_some_and(|kind| kind.eq_str("object"))
    };
    kind == ListKind::Tools && name == "outputSchema" && !is_object(value)
}

fn write_annotations(w: &mut ObjectWriter<'_>, value: JsonRef<'_>, revision: Revision) {
    if value.kind() == Kind::Object {
        w.object("annotations", |w| copy(w, value, |name| name != "lastModified" || revision >= TITLES));
    }
}

/// Copies the members that are not null and that `keeps` keeps.
fn copy(w: &mut ObjectWriter<'_>, object: JsonRef<'_>, keeps: impl Fn(&str) -> bool) {
    for (name, value) in object.members().filter(|(_, value)| !value.is_null()) {
        let name = name.decode();
        if keeps(&name) {
            w.raw(&name, value);
        }
    }
}

/// Goes through the blocks at `at`: whether they cannot go to `revision` as they are, and whether there are any.
pub(super) fn look_at_blocks(at: &mut Cursor<'_>, revision: Revision) -> (bool, bool) {
    // Icons in links are the only thing between the two newest with a handshake.
    let icons = revision < Revision::V2025_11_25;
    let mut needs = revision < TITLES;
    let mut any = false;
    if !at.enter(b'[') {
        at.value();
        return (needs, any);
    }
    while at.element() {
        any = true;
        if !at.enter(b'{') {
            at.value();
            continue;
        }
        while let Some(name) = at.member() {
            let value = at.value();
            needs |= value.is_null() || icons && name.eq_str("icons");
        }
    }
    (needs, any)
}

/// Appends content blocks as `revision` has them; never a null member.
pub(super) fn write_blocks(w: &mut ArrayWriter<'_>, blocks: JsonRef<'_>, revision: Revision) {
    for block in blocks.elements() {
        if block.kind() == Kind::Object {
            w.object(|w| write_block(w, block, revision));
        } else {
            w.raw(block);
        }
    }
}

fn write_block(w: &mut ObjectWriter<'_>, raw: JsonRef<'_>, revision: Revision) {
    let text = match ContentBlock::read(raw).content() {
        Content::ResourceLink(link) if revision < TITLES => {
            Some(format!("{}: {}", link.name.decode(), link.uri.decode()))
        }
        Content::Audio(media) if revision < Revision::V2025_03_26 => {
            Some(format!("[audio, {}: left out, since this client cannot take it]", media.mime_type.decode()))
        }
        _ => None,
    };
    if let Some(text) = text {
        w.string("type", "text").string("text", &text);
        return;
    }
    for (name, value) in raw.members().filter(|(_, value)| !value.is_null()) {
        let name = name.decode();
        match name.as_ref() {
            "_meta" if revision < TITLES => {}
            "icons" if revision < Revision::V2025_11_25 => {}
            "annotations" => write_annotations(w, value, revision),
            "resource" if value.kind() == Kind::Object => {
                w.object("resource", |w| copy(w, value, |name| name != "_meta" || revision >= TITLES));
            }
            _ => {
                w.raw(&name, value);
            }
        }
    }
}

/// Appends the messages of a prompt.
pub(super) fn write_messages(w: &mut ArrayWriter<'_>, messages: JsonRef<'_>, revision: Revision) {
    for message in messages.elements() {
        if message.kind() != Kind::Object {
            w.raw(message);
            continue;
        }
        w.object(|w| {
            for (name, value) in message.members().filter(|(_, value)| !value.is_null()) {
                if name.eq_str("content") && value.kind() == Kind::Object {
                    w.object("content", |w| write_block(w, value, revision));
                } else {
                    w.raw(&name.decode(), value);
                }
            }
        });
    }
}

/// Appends the contents of a resource.
pub(super) fn write_contents(w: &mut ArrayWriter<'_>, contents: JsonRef<'_>, revision: Revision) {
    for content in contents.elements() {
        if content.kind() == Kind::Object {
            w.object(|w| copy(w, content, |name| name != "_meta" || revision >= TITLES));
        } else {
            w.raw(content);
        }
    }
}

/// Whether `structuredContent` of this kind can go to `revision`.
pub(super) fn takes_structured(value: JsonRef<'_>, revision: Revision) -> bool {
    revision >= Revision::V2026_07_28 || revision >= TITLES && value.kind() == Kind::Object
}

/// The value as the text of a block.
pub(super) fn as_text(value: JsonRef<'_>) -> Cow<'_, str> {
    alloc::string::String::from_utf8_lossy(value.as_bytes())
}

/// A text block that says this.
pub(super) fn text_block(w: &mut ArrayWriter<'_>, text: &str) {
    w.object(|w| {
        w.string("type", "text").string("text", text);
    });
}
