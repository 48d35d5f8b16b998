//! What a host makes of text and JSON of strangers: names, previews, results, listings.

use bytes::Bytes;
use sanswire::Instant;
use sanswire::host::catalog::{ListingSettings, MAX_EXPOSED_BYTES, Naming, Registry, ServerTools};
use sanswire::host::policy::{ArgumentsHash, PreviewLimits, preview};
use sanswire::host::results::{PageLimits, Pages, ResultCap, flatten, present};
use sanswire::host::{Mask, Provenance};
use sanswire::jsonrpc::{JsonRef, Kind, MAX_DEPTH, RawJson, compact_len, write_compact};
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::server::Principal;

/// Takes `data` for two names and, if it is JSON, for a call's arguments, a tool's result and a server's listing.
///
/// # Panics
/// If a rule is broken.
pub fn check_host(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let (server, tool) = text.split_once('\n').unwrap_or((text, ""));
        names_fit(server, tool);
        masked_text_is_fit(text);
    }
    if let Ok(raw) = RawJson::parse(Bytes::copy_from_slice(data), MAX_DEPTH) {
        arguments_are_shown_within_bounds(&raw);
        a_result_is_shown_to_its_last_character(&CallToolResult::new(raw.clone()));
        a_listing_is_accounted_for(&raw);
    }
}

fn names_fit(server: &str, tool: &str) {
    let distinct = Naming::default().name(server, tool);
    for name in [distinct.as_str(), Naming::default().name(tool, server).as_str()] {
        assert!((1..=MAX_EXPOSED_BYTES).contains(&name.len()), "{name}");
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')), "{name}");
    }
}

fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn masked_text_is_fit(text: &str) {
    let mask = Mask::default();
    let (line, lines) = (mask.line(text), mask.text(text));
    assert!(!line.chars().any(is_control), "{line:?}");
    assert!(!lines.chars().any(|c| is_control(c) && !matches!(c, '\n' | '\t')), "{lines:?}");
    assert_eq!((mask.line(&line), mask.text(&lines)), (line.clone(), lines.clone()));
    for max in [0, 3, 7, 60] {
        assert!(mask.line_within(text, max).chars().count() <= max.max(3));
        assert!(mask.text_within(text, max).len() <= max.max(3));
    }
    if let Some(half) = text
        .get(text.len() / 2..)
        .filter(|half| half.len() > 2 && half.chars().all(|c| c.is_ascii_graphic() && c != '*'))
    {
        let hidden = Mask::new([half]).text(text);
        // Behind an escape other text may happen to look like the secret.
        if mask.text(text) == text {
            assert!(!hidden.contains(half), "{half:?}");
        } else if !half.contains(['"', '\\']) {
            assert_eq!(hidden, mask.text(&text.replace(half, "***")), "{half:?}");
        }
    }
}

fn arguments_are_shown_within_bounds(raw: &RawJson) {
    let limits = PreviewLimits::default();
    let shown = preview(Some(raw.view()), &limits, &Mask::default());
    assert!(!shown.is_empty() || raw.view().str().is_some());
    let lines: Vec<_> = shown.split('\n').collect();
    let members = raw.view().members().count();
    assert_eq!(
        lines.len(),
        members.min(limits.max_lines) + usize::from(members > limits.max_lines || members == 0)
    );
    for line in lines {
        assert!(line.chars().count() <= 2 * limits.max_chars + 2, "{line:?}");
        assert!(!line.chars().any(is_control), "{line:?}");
    }

    let mut compact = Vec::new();
    write_compact(&mut compact, raw.view());
    assert_eq!(compact.len(), compact_len(raw.view()));
    assert_eq!(compact.len(), len_of_tokens(raw.view()));
    let compact = RawJson::parse(compact.into(), MAX_DEPTH).expect("still JSON");
    assert_eq!(ArgumentsHash::of(Some(compact.view())), ArgumentsHash::of(Some(raw.view())));
}

/// The bytes of a value without anything between its tokens.
fn len_of_tokens(value: JsonRef<'_>) -> usize {
    let inside: Vec<usize> = match value.kind() {
        Kind::Object => {
            let members = value.members();
            members.map(|(name, value)| name.raw().len() + 3 + len_of_tokens(value)).collect()
        }
        Kind::Array => value.elements().map(len_of_tokens).collect(),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => return value.as_bytes().len(),
    };
    2 + inside.len().saturating_sub(1) + inside.iter().sum::<usize>()
}

fn a_result_is_shown_to_its_last_character(result: &CallToolResult) {
    let whole = flatten(result);
    assert!(!whole.is_empty() && whole.len() <= 2 * result.raw().len() + 32, "{} bytes", whole.len());
    let mut cap = ResultCap::default();
    (cap.max_result_bytes, cap.mask) = (10, false);
    let mut limits = PageLimits::default();
    limits.page_bytes = 7;
    let mut pages = Pages::new(limits).expect("good limits");
    let (owner, now) = (Principal::anonymous(), Instant::ZERO);
    let shown = present(result, &cap, &Mask::default(), &mut pages, &owner, now);
    assert!(shown.shown <= 10 && shown.total == whole.len());
    let mut read = shown.text.get(..shown.shown).expect("between characters").to_owned();
    let mut next = shown.rest.map(|_| shown.shown);
    while let (Some(handle), Some(offset)) = (shown.rest, next) {
        let page = pages.page(&owner, handle, Some(offset), now).expect("it is kept");
        assert_eq!(page.offset, offset);
        read.push_str(page.text);
        next = page.next;
    }
    assert_eq!(read, whole);
}

fn a_listing_is_accounted_for(page: &RawJson) {
    let listed = page.view().get("tools").map_or(0, |tools| JsonRef::elements(tools).count());
    let read = |server| {
        ServerTools::read(server, &ListingSettings::default(), &Mask::default(), std::slice::from_ref(page))
    };
    let tools = read("s");
    assert_eq!(tools.tools.len() + tools.left_out, listed);
    let mut registry = Registry::default();
    let change = registry.set("s", tools.clone());
    assert_eq!(change.added.len(), registry.offered().len());
    assert!(registry.set("s", tools).is_empty(), "the same again changes nothing");
    registry.set("s_", read("s_"));
    let mut pairs: Vec<&Provenance> = Vec::new();
    for (name, offered) in registry.offered() {
        assert!((1..=MAX_EXPOSED_BYTES).contains(&name.len()), "{name}");
        assert!(!offered.definition.description.is_empty());
        assert!(!offered.definition.description.chars().any(|c| is_control(c) && !matches!(c, '\n' | '\t')));
        assert!(offered.definition.input_schema.len() <= 64 * 1024);
        pairs.push(&offered.tool);
    }
    let names = pairs.len();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), names, "a tool has two names");
}
