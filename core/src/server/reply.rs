//! Results on their way out, encoded straight from what the application gave: its payload is copied once.

use alloc::vec::Vec;

use crate::error::ApiError;
use crate::jsonrpc::{
    Cursor, JsonRef, JsonStr, Kind, ObjectWriter, RawJson, RequestId, copy_without_breaks, finish_line,
};
use crate::mcp::types::completion::MAX_VALUES;
use crate::mcp::types::input::KeyedInput;
use crate::mcp::types::lifecycle::CacheHint;
use crate::mcp::{Era, Method, Revision, meta};
use crate::server::config::Config;
use crate::server::plain::is_text_result;
use crate::server::{input, revise};

/// What every result of a session repeats.
#[derive(Debug)]
pub(super) struct Replies {
    /// `"io.modelcontextprotocol/serverInfo":{…}`, or nothing.
    server_info: Vec<u8>,
    /// What stands between the id and the members of a modern result that has no `_meta` of its own.
    pub(super) modern_head: Vec<u8>,
    reads: CacheHint,
}

/// A member of a result that may need care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Meta,
    ResultType,
    Ttl,
    Scope,
    /// `content`, `contents`, `messages` or `completion`, where the method's result has it.
    Body,
    Structured,
    Other,
}

/// What was found in a result, in one pass over its members.
struct Found<'a> {
    meta: Option<JsonRef<'a>>,
    structured: Option<JsonRef<'a>>,
    has_ttl: bool,
    has_scope: bool,
    /// The body holds what this revision does not have.
    body_needs_care: bool,
    /// The content of a tool's result has blocks.
    has_blocks: bool,
    /// All members may be copied as they stand.
    as_it_is: bool,
}

impl Replies {
    pub(super) fn new(config: &Config) -> Self {
        let mut server_info = Vec::new();
        if config.announce_server {
            let mut object = ObjectWriter::begin(&mut server_info);
            object.object(meta::SERVER_INFO, |w| config.server.write(w));
            object.end();
            server_info.remove(0);
            server_info.pop();
        }
        let mut replies = Self { server_info, modern_head: Vec::new(), reads: config.cache.reads };
        let mut modern_head = br#","result":{"resultType":"complete""#.to_vec();
        replies.meta(&mut modern_head, None, None);
        modern_head.push(b',');
        replies.modern_head = modern_head;
        replies
    }

    /// About how long the answer with this result gets.
    pub(super) fn size(&self, result: &RawJson) -> usize {
        96 + self.server_info.len() + result.len()
    }

    /// Appends the answer to `id`: `result`, in the shape that `revision` has for `method`. Ends in LF.
    ///
    /// # Errors
    /// The result cannot be one.
    pub(super) fn complete(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        method: &Method,
        revision: Revision,
        result: &RawJson,
    ) -> Result<(), ApiError> {
        let modern = revision.era() == Era::Modern;
        if *method == Method::ToolsCall && is_text_result(result.as_bytes()) {
            self.text(out, id, modern, result.as_bytes());
            return Ok(());
        }
        let view = result.view();
        if view.kind() != Kind::Object {
            return Err(ApiError::BadParams("the result is no object"));
        }
        let mut found = find(view, method, revision)?;
        found.as_it_is &= found.structured.is_none_or(|value| revise::takes_structured(value, revision));
        head(out, id);
        if modern {
            out.extend_from_slice(br#""resultType":"complete""#);
            self.meta(out, found.meta, None);
            if *method == Method::ResourcesRead {
                hints(out, self.reads, found.has_ttl, found.has_scope);
            }
        }
        if *method == Method::ToolsCall && !found.has_blocks {
            found.as_it_is = false;
            content_of(out, found.structured);
        }
        if found.as_it_is {
            let members = view.as_bytes().get(1..view.as_bytes().len() - 1).unwrap_or_default().trim_ascii();
            if !members.is_empty() {
                comma(out);
                copy_without_breaks(out, members);
            }
        } else {
            for (name, value) in view.members() {
                self.member(out, name, value, method, revision, &found);
            }
        }
        out.extend_from_slice(b"}}");
        finish_line(out);
        Ok(())
    }

    /// Appends one member of a result that cannot be copied as a whole.
    fn member(
        &self,
        out: &mut Vec<u8>,
        name: JsonStr<'_>,
        value: JsonRef<'_>,
        method: &Method,
        revision: Revision,
        found: &Found<'_>,
    ) {
        let modern = revision.era() == Era::Modern;
        let keeps = match part(name, method) {
            Part::Meta => !modern && value.kind() == Kind::Object,
            Part::ResultType => false,
            Part::Ttl => modern && value.as_u64().is_some(),
            Part::Scope => modern && value.kind() == Kind::String,
            // An empty content was made up for.
            Part::Body => (*method != Method::ToolsCall || found.has_blocks) && !value.is_null(),
            Part::Structured => revise::takes_structured(value, revision),
            Part::Other => !value.is_null(),
        };
        if !keeps {
            return;
        }
        comma(out);
        out.push(b'"');
        out.extend_from_slice(name.raw());
        out.extend_from_slice(b"\":");
        if found.body_needs_care && part(name, method) == Part::Body {
            return body(out, value, method, revision);
        }
        copy_without_breaks(out, value.as_bytes());
    }

    /// Appends `"_meta":{…}` with our name, what the application gave, and the subscription it belongs to.
    fn meta(&self, out: &mut Vec<u8>, own: Option<JsonRef<'_>>, subscription: Option<&RequestId>) {
        let own = own.filter(|own| own.kind() == Kind::Object);
        if self.server_info.is_empty() && own.is_none() && subscription.is_none() {
            return;
        }
        comma(out);
        out.extend_from_slice(br#""_meta":{"#);
        out.extend_from_slice(&self.server_info);
        if let Some(id) = subscription {
            comma(out);
            out.push(b'"');
            out.extend_from_slice(meta::SUBSCRIPTION_ID.as_bytes());
            out.extend_from_slice(b"\":");
            id.write_json(out);
        }
        let ours = |name: JsonStr<'_>| {
            !self.server_info.is_empty() && name.eq_str(meta::SERVER_INFO)
                || subscription.is_some() && name.eq_str(meta::SUBSCRIPTION_ID)
        };
        for (name, value) in own.into_iter().flat_map(JsonRef::members).filter(|(name, _)| !ours(*name)) {
            comma(out);
            out.push(b'"');
            out.extend_from_slice(name.raw());
            out.extend_from_slice(b"\":");
            copy_without_breaks(out, value.as_bytes());
        }
        out.push(b'}');
    }

    /// A result of the session's own making.
    pub(super) fn own(
        &self,
        id: &RequestId,
        revision: Revision,
        cache: Option<CacheHint>,
        members: impl FnOnce(&mut ObjectWriter<'_>),
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        head(&mut out, id);
        if revision.era() == Era::Modern {
            out.extend_from_slice(br#""resultType":"complete""#);
            self.meta(&mut out, None, None);
            if let Some(cache) = cache {
                hints(&mut out, cache, false, false);
            }
        }
        rest(&mut out, members);
        out
    }

    /// The last message of a subscription that we end.
    pub(super) fn end_of_listen(&self, id: &RequestId) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        head(&mut out, id);
        out.extend_from_slice(br#""resultType":"complete""#);
        self.meta(&mut out, None, Some(id));
        rest(&mut out, |_| {});
        out
    }

    /// A call that cannot go on without input.
    pub(super) fn input_required(
        &self,
        id: &RequestId,
        requests: &[KeyedInput],
        state: Option<&str>,
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        head(&mut out, id);
        out.extend_from_slice(br#""resultType":"input_required""#);
        self.meta(&mut out, None, None);
        rest(&mut out, |w| {
            if !requests.is_empty() {
                w.object("inputRequests", |w| {
                    for asked in requests {
                        w.object(&asked.key, |w| {
                            w.string("method", input::method(asked.request.kind).as_str());
                            if let Some(params) = &asked.request.params {
                                w.raw("params", params.view());
                            }
                        });
                    }
                });
            }
            if let Some(state) = state {
                w.string("requestState", state);
            }
        });
        out
    }
}

fn head(out: &mut Vec<u8>, id: &RequestId) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write_json(out);
    out.extend_from_slice(br#","result":{"#);
}

/// Members behind those that are there, and the end of the message.
fn rest(out: &mut Vec<u8>, members: impl FnOnce(&mut ObjectWriter<'_>)) {
    let mut object = ObjectWriter::resume(out);
    members(&mut object);
    object.end();
    out.push(b'}');
    finish_line(out);
}

fn comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'{')) {
        out.push(b',');
    }
}

fn hints(out: &mut Vec<u8>, cache: CacheHint, has_ttl: bool, has_scope: bool) {
    if !has_ttl {
        out.extend_from_slice(br#","ttlMs":"#);
        crate::jsonrpc::write_u64(out, cache.ttl_ms);
    }
    if !has_scope {
        let scope =
            if cache.public { &br#","cacheScope":"public""#[..] } else { br#","cacheScope":"private""# };
        out.extend_from_slice(scope);
    }
}

fn part(name: JsonStr<'_>, method: &Method) -> Part {
    match known(name.raw(), method) {
        Part::Other if name.is_escaped() => known(name.decode().as_bytes(), method),
        part => part,
    }
}

#[inline]
fn known(name: &[u8], method: &Method) -> Part {
    match (name, method) {
        (b"content", Method::ToolsCall)
        | (b"contents", Method::ResourcesRead)
        | (b"messages", Method::PromptsGet)
        | (b"completion", Method::CompletionComplete) => Part::Body,
        (b"structuredContent", Method::ToolsCall) => Part::Structured,
        (b"_meta", _) => Part::Meta,
        (b"resultType", _) => Part::ResultType,
        (b"ttlMs", _) => Part::Ttl,
        (b"cacheScope", _) => Part::Scope,
        _ => Part::Other,
    }
}

fn find<'a>(view: JsonRef<'a>, method: &Method, revision: Revision) -> Result<Found<'a>, ApiError> {
    let modern = revision.era() == Era::Modern;
    let mut found = Found {
        meta: None,
        structured: None,
        has_ttl: false,
        has_scope: false,
        body_needs_care: false,
        has_blocks: false,
        as_it_is: true,
    };
    let mut at = Cursor::new(view);
    at.enter(b'{');
    let mut seen = 0_u8;
    while let Some(name) = at.member() {
        let part = part(name, method);
        // Two readers of what stands twice read two different results.
        let bit = if part == Part::Other { 0 } else { 1 << part as u8 };
        if seen & bit != 0 {
            return Err(ApiError::BadParams("a member of the result stands twice"));
        }
        seen |= bit;
        if part == Part::Body && *method == Method::ToolsCall {
            // Gone through once, and not once more to find its end.
            (found.body_needs_care, found.has_blocks) = revise::look_at_blocks(&mut at, revision);
            found.as_it_is &= !found.body_needs_care && found.has_blocks;
            continue;
        }
        let value = at.value();
        match part {
            Part::Meta => {
                found.as_it_is &= !modern && value.kind() == Kind::Object;
                found.meta = Some(value);
            }
            Part::ResultType => {
                if !value.str().is_some_and(|kind| kind.eq_str("complete")) {
                    return Err(ApiError::BadParams("resultType is the session's to write"));
                }
                found.as_it_is = false;
            }
            Part::Ttl => {
                found.has_ttl = value.as_u64().is_some();
                found.as_it_is &= modern && found.has_ttl;
            }
            Part::Scope => {
                found.has_scope = value.kind() == Kind::String;
                found.as_it_is &= modern && found.has_scope;
            }
            Part::Body => {
                found.body_needs_care |= needs_care(value, method, revision);
                found.as_it_is &= !value.is_null() && !found.body_needs_care;
            }
            Part::Structured => {
                found.structured = Some(value);
            }
            Part::Other => found.as_it_is &= !value.is_null(),
        }
    }
    Ok(found)
}

/// The content of a tool's result that has none: its structured result as text, if it has one.
fn content_of(out: &mut Vec<u8>, structured: Option<JsonRef<'_>>) {
    comma(out);
    let content = RawJson::object(|w| {
        w.array("content", |w| {
            if let Some(structured) = structured {
                revise::text_block(w, &revise::as_text(structured));
            }
        });
    });
    let content = content.as_bytes();
    out.extend_from_slice(content.get(1..content.len() - 1).unwrap_or_default());
}

fn needs_care(value: JsonRef<'_>, method: &Method, revision: Revision) -> bool {
    match method {
        Method::ResourcesRead | Method::PromptsGet => revision < Revision::V2025_06_18,
        Method::CompletionComplete => {
            value.get("values").is_some_and(|values| values.elements().nth(MAX_VALUES).is_some())
        }
        _ => false,
    }
}

/// Appends the main part of a result, member by member.
fn body(out: &mut Vec<u8>, value: JsonRef<'_>, method: &Method, revision: Revision) {
    let raw = RawJson::object(|w| {
        if *method == Method::CompletionComplete {
            w.object("body", |w| completion(w, value));
            return;
        }
        w.array("body", |w| match method {
            Method::PromptsGet => revise::write_messages(w, value, revision),
            Method::ResourcesRead => revise::write_contents(w, value, revision),
            _ => revise::write_blocks(w, value, revision),
        });
    });
    out.extend_from_slice(raw.view().get("body").map(JsonRef::as_bytes).unwrap_or_default());
}

/// No more than the most values that a result may hold.
///
/// Spec: MCP schema, `CompleteResult`.
fn completion(w: &mut ObjectWriter<'_>, value: JsonRef<'_>) {
    for (name, value) in value.members().filter(|(name, value)| !value.is_null() && !name.eq_str("hasMore")) {
        if name.eq_str("values") {
            w.array("values", |w| {
                for value in value.elements().take(MAX_VALUES) {
                    w.raw(value);
                }
            });
        } else {
            w.raw(&name.decode(), value);
        }
    }
    w.bool("hasMore", true);
}

#[cfg(test)]
mod tests;
