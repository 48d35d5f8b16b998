use alloc::string::{String, ToString};

use super::*;
use crate::jsonrpc::RawJson;
use crate::mcp::types::resource::Body;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

/// What a block is, in words.
fn seen(text: &str) -> String {
    let raw = json(text);
    let decode = |text: JsonStr<'_>| text.decode().into_owned();
    match ContentBlock::read(raw.view()).content() {
        Content::Text(text) => alloc::format!("text {}", decode(text)),
        Content::Image(media) => alloc::format!("image {} {}", decode(media.mime_type), decode(media.data)),
        Content::Audio(media) => alloc::format!("audio {} {}", decode(media.mime_type), decode(media.data)),
        Content::Resource(resource) => {
            let body = match resource.body() {
                Body::Text(text) => alloc::format!("text {}", decode(text)),
                Body::Blob(blob) => alloc::format!("blob {}", decode(blob)),
            };
            let mime = resource.mime_type().map_or_else(|| "-".into(), decode);
            alloc::format!("resource {} {mime} {body}", decode(resource.uri()))
        }
        Content::ResourceLink(link) => {
            let mime = link.mime_type.map_or_else(|| "-".into(), decode);
            alloc::format!("link {} {} {mime}", decode(link.uri), decode(link.name))
        }
        Content::Unknown { kind, flaw } => {
            let kind = kind.map_or_else(|| "-".into(), decode);
            alloc::format!("unknown {kind}: {}", flaw.map_or_else(|| "-".into(), |flaw| flaw.to_string()))
        }
    }
}

#[test]
fn a_block_is_what_its_type_and_members_say() {
    let table = [
        (r#"{"type":"text","text":"a\nb"}"#, "text a\nb"),
        (r#"{"text":"","type":"text"}"#, "text "),
        (r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#, "image image/png aGk="),
        (r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#, "audio audio/wav "),
        (r#"{"type":"resource","resource":{"uri":"file:///a","text":"t"}}"#, "resource file:///a - text t"),
        (
            r#"{"type":"resource","resource":{"uri":"u:x","mimeType":"a/b","blob":"AA==","text":null}}"#,
            "resource u:x a/b blob AA==",
        ),
        (
            r#"{"type":"resource","resource":{"uri":"u:x","blob":"AA==","text":"both"}}"#,
            "resource u:x - text both",
        ),
        (r#"{"type":"resource_link","uri":"u:x","name":"n"}"#, "link u:x n -"),
        (r#"{"type":"resource_link","uri":"u:x","name":"n","mimeType":"a/b"}"#, "link u:x n a/b"),
        (r#"{"type":"tool_use","id":"1","name":"n","input":{}}"#, "unknown tool_use: -"),
        (r#"{"type":"","text":"a"}"#, "unknown : -"),
        (r#"{"type":"Text","text":"a"}"#, "unknown Text: -"),
    ];
    for (text, expected) in table {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn a_block_that_lacks_something_is_unknown_with_the_reason() {
    let table = [
        ("5", "unknown -: it is a number, not an object"),
        ("[]", "unknown -: it is an array, not an object"),
        ("{}", "unknown -: it has no type"),
        (r#"{"type":null,"text":"a"}"#, "unknown -: it has no type"),
        (r#"{"type":1,"text":"a"}"#, "unknown -: its type is a number"),
        (r#"{"type":"text"}"#, "unknown text: it has no text"),
        (r#"{"type":"text","text":["a"]}"#, "unknown text: its text is an array"),
        (r#"{"type":"image","data":"AA=="}"#, "unknown image: it has no mimeType"),
        (r#"{"type":"image","mimeType":"image/png"}"#, "unknown image: it has no data"),
        (r#"{"type":"audio","data":5,"mimeType":"a/b"}"#, "unknown audio: its data is a number"),
        (r#"{"type":"resource"}"#, "unknown resource: it has no resource"),
        (r#"{"type":"resource","resource":"u"}"#, "unknown resource: its resource is a string"),
        (r#"{"type":"resource","resource":{"text":"t"}}"#, "unknown resource: it has no uri"),
        (r#"{"type":"resource","resource":{"uri":"u"}}"#, "unknown resource: it has neither text nor blob"),
        (r#"{"type":"resource","resource":{"uri":"u","text":1}}"#, "unknown resource: its text is a number"),
        (r#"{"type":"resource_link","uri":"u:x"}"#, "unknown resource_link: it has no name"),
        (r#"{"type":"resource_link","name":"n"}"#, "unknown resource_link: it has no uri"),
    ];
    for (text, expected) in table {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn annotations_say_for_whom_a_block_is_and_how_much_it_matters() {
    let read = |text: &str| {
        let raw = json(text);
        let found = ContentBlock::read(raw.view()).annotations();
        let modified = found.last_modified.map(|text| text.decode().into_owned());
        (found.for_user, found.for_assistant, found.priority, modified)
    };
    let none = (false, false, None, None);
    let table = [
        (r#"{"type":"text","text":"","annotations":null}"#, none.clone()),
        (r#"{"type":"text","text":"","annotations":[]}"#, none.clone()),
        (r#"{"annotations":{"audience":["user","robot",5],"priority":1.5}}"#, (true, false, None, None)),
        (r#"{"annotations":{"audience":"user","priority":"1"}}"#, none),
        (
            r#"{"annotations":{"audience":["assistant","user"],"priority":0.9,"lastModified":"2025-05-03T14:30:00Z"}}"#,
            (true, true, Some(0.9), Some("2025-05-03T14:30:00Z".to_string())),
        ),
        // As the examples of the specification write it: inside the resource.
        (
            r#"{"type":"resource","resource":{"uri":"u","text":"","annotations":{"audience":["user"],"priority":1}}}"#,
            (true, false, Some(1.0), None),
        ),
    ];
    for (text, expected) in table {
        assert_eq!(read(text), expected, "{text}");
    }
}
