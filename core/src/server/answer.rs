//! What an application's result must be before it is sent, beyond being an object: what a client has to be able to
//! rely on.

use crate::error::ApiError;
use crate::jsonrpc::{JsonRef, Kind, RawJson};
use crate::mcp::Method;
use crate::mcp::types::content::{Content, ContentBlock, Role};
use crate::mcp::types::schema::{JsonTypes, property_types};

/// Whether `result` may answer `method`. `schema` is what the tool said its structured results look like.
///
/// # Errors
/// [`ApiError::BadParams`]
pub(super) fn check(method: &Method, schema: Option<&RawJson>, result: &RawJson) -> Result<(), ApiError> {
    let why = match (method, schema) {
        (Method::ToolsCall, Some(schema)) => structured(schema.view(), result.view()),
        (Method::PromptsGet, _) => messages(result.view()),
        _ => None,
    };
    why.map_or(Ok(()), |why| Err(ApiError::BadParams(why)))
}

/// A tool that says what its results look like gives such results, unless it failed. Looked at are the types and what
/// is required, at the top: this is no validator.
///
/// Spec: MCP server/tools, "Output Schema".
fn structured(schema: JsonRef<'_>, result: JsonRef<'_>) -> Option<&'static str> {
    if result.get("isError").and_then(JsonRef::as_bool) == Some(true) {
        return None;
    }
    let Some(value) = result.get("structuredContent") else {
        return Some("this tool has an outputSchema, so its result needs structuredContent");
    };
    let is = JsonTypes::of(value);
    let named = |kind: JsonRef<'_>| kind.str().and_then(JsonTypes::named).unwrap_or(JsonTypes::ANY);
    let may_be = match schema.get("type") {
        None => JsonTypes::ANY,
        Some(kinds) if kinds.kind() == Kind::Array => {
            kinds.elements().map(named).fold(JsonTypes::NONE, JsonTypes::union)
        }
        Some(kind) => named(kind),
    };
    if !takes(may_be, value, is) {
        return Some("structuredContent is not of the type that the tool's outputSchema says");
    }
    if value.kind() != Kind::Object {
        return None;
    }
    let mut required =
        schema.get("required").into_iter().flat_map(JsonRef::elements).filter_map(JsonRef::str);
    if !required.all(|name| value.get(&name.decode()).is_some()) {
        return Some("structuredContent lacks a member that the tool's outputSchema requires");
    }
    let fits = value.members().all(|(name, value)| {
        property_types(schema, &name.decode()).is_none_or(|types| takes(types, value, JsonTypes::of(value)))
    });
    (!fits).then_some("a member of structuredContent is not of the type that the tool's outputSchema says")
}

/// Whether `types` admit a value. A whole number may be written with a fraction or an exponent.
fn takes(types: JsonTypes, value: JsonRef<'_>, is: JsonTypes) -> bool {
    let whole = || value.as_f64().is_some_and(|number| number % 1.0 == 0.0);
    types.contains(is) || types.contains(JsonTypes::INTEGER) && whole()
}

/// The messages of a prompt are messages, and what they hold is whole.
///
/// Spec: MCP server/prompts, "Data Types"; schema, `GetPromptResult`.
fn messages(result: JsonRef<'_>) -> Option<&'static str> {
    let Some(messages) = result.get("messages").filter(|messages| messages.kind() == Kind::Array) else {
        return Some("the result of prompts/get needs messages, an array");
    };
    messages.elements().find_map(|message| {
        if message.get("role").and_then(JsonRef::str).and_then(Role::named).is_none() {
            return Some("a prompt's message needs a role, user or assistant");
        }
        match message.get("content") {
            Some(content) => block(content),
            None => Some("a prompt's message needs content"),
        }
    })
}

fn block(raw: JsonRef<'_>) -> Option<&'static str> {
    match ContentBlock::read(raw).content() {
        Content::Unknown { flaw: Some(_), .. } => Some("a prompt's content lacks what its type asks for"),
        Content::Image(media) | Content::Audio(media) => {
            let whole = is_base64(&media.data.decode()) && is_media_type(&media.mime_type.decode());
            (!whole).then_some("images and audio need data in Base64 and a mimeType")
        }
        Content::Resource(resource) => {
            let typed = resource.mime_type().is_some_and(|kind| is_media_type(&kind.decode()));
            (!typed).then_some("an embedded resource needs a mimeType")
        }
        Content::Text(_) | Content::ResourceLink(_) | Content::Unknown { flaw: None, .. } => None,
    }
}

/// Base64 with its padding, as JSON's `format: byte` has it.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// A type, a slash and a subtype, and parameters behind them.
fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let kind = text.split(';').next().unwrap_or_default().trim_end();
    kind.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    #[test]
    fn a_tool_gives_what_its_output_schema_says() {
        // P-242
        let object = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"t":{"type":"string"}}}"#;
        let either = r#"{"type":["array","null"]}"#;
        for (schema, result, fits) in [
            (object, r#"{"structuredContent":{"n":1}}"#, true),
            (object, r#"{"structuredContent":{"n":1e3,"other":[]}}"#, true),
            (object, r#"{"isError":true,"content":[]}"#, true),
            (object, r#"{"isError":false,"content":[]}"#, false),
            (object, r#"{"content":[]}"#, false),
            (object, r#"{"structuredContent":null}"#, false),
            (object, r#"{"structuredContent":[1]}"#, false),
            (object, r#"{"structuredContent":{}}"#, false),
            (object, r#"{"structuredContent":{"n":1.5}}"#, false),
            (object, r#"{"structuredContent":{"n":"1"}}"#, false),
            (object, r#"{"structuredContent":{"n":1,"t":5}}"#, false),
            (either, r#"{"structuredContent":[1]}"#, true),
            (either, r#"{"structuredContent":null}"#, true),
            (either, r#"{"structuredContent":{}}"#, false),
            ("{}", r#"{"structuredContent":5}"#, true),
            ("{}", "{}", false),
        ] {
            let answer = check(&Method::ToolsCall, Some(&raw(schema)), &raw(result));
            assert_eq!(answer.is_ok(), fits, "{schema} {result}");
        }
        assert!(check(&Method::ToolsCall, None, &raw("{}")).is_ok());
    }

    #[test]
    fn what_a_prompt_holds_is_whole() {
        // P-357 P-358
        let content = |content: &str| {
            let result = format!(r#"{{"messages":[{{"role":"user","content":{content}}}]}}"#);
            check(&Method::PromptsGet, None, &raw(&result))
        };
        for good in [
            r#"{"type":"text","text":"t"}"#,
            r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#,
            r#"{"type":"audio","data":"","mimeType":"audio/ogg; codecs=opus"}"#,
            r#"{"type":"resource","resource":{"uri":"x:y","mimeType":"text/plain","text":"t"}}"#,
            r#"{"type":"resource","resource":{"uri":"x:y","mimeType":"image/svg+xml","blob":"aGk="}}"#,
            r#"{"type":"resource_link","uri":"x:y","name":"n"}"#,
            r#"{"type":"later"}"#,
        ] {
            assert_eq!(content(good), Ok(()), "{good}");
        }
        for bad in [
            "null",
            r#""text""#,
            r#"{"type":"text"}"#,
            r#"{"type":"image","data":"aGk=","mimeType":"png"}"#,
            r#"{"type":"image","data":"aGk=","mimeType":"image/"}"#,
            r#"{"type":"image","data":"aGk","mimeType":"image/png"}"#,
            r#"{"type":"image","data":"a-k=","mimeType":"image/png"}"#,
            r#"{"type":"audio","data":"====","mimeType":"audio/ogg"}"#,
            r#"{"type":"audio","data":"aGk="}"#,
            r#"{"type":"resource","resource":{"uri":"x:y","text":"t"}}"#,
            r#"{"type":"resource","resource":{"mimeType":"text/plain","text":"t"}}"#,
            r#"{"type":"resource","resource":{"uri":"x:y","mimeType":"text/plain"}}"#,
        ] {
            assert!(content(bad).is_err(), "{bad}");
        }
        let text = r#"{"type":"text","text":"t"}"#;
        for bad in [
            "{}".into(),
            r#"{"messages":{}}"#.into(),
            r#"{"messages":[5]}"#.into(),
            r#"{"messages":[{"role":"user"}]}"#.into(),
            format!(r#"{{"messages":[{{"content":{text}}}]}}"#),
            format!(r#"{{"messages":[{{"role":"system","content":{text}}}]}}"#),
        ] {
            assert!(check(&Method::PromptsGet, None, &raw(&bad)).is_err(), "{bad}");
        }
    }
}
