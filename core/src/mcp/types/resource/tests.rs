use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;
use crate::mcp::types::page::PageWarning;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

#[test]
fn b_39_resources_that_are_null_count_as_none_with_a_warning() {
    let page = resources(&json(r#"{"resources":null,"nextCursor":null}"#));
    assert_eq!((page.items.len(), page.next_cursor), (0, None));
    assert_eq!(page.warnings, [PageWarning::NoItems("resources")]);
}

#[test]
fn resources_are_told_apart_by_address_and_read_one_by_one() {
    let page = resources(&json(
        r#"{"resources":[{"uri":"file:///a","name":"a.rs","title":"A","description":"d","mimeType":"text/x-rust",
        "size":5,"annotations":{"audience":["user"]}},{"uri":"file:///a","name":"again"},{"uri":"file:///b"},
        {"name":"c"},{"uri":"file:///d","name":"d","size":-1,"title":null,"mimeType":null}]}"#,
    ));
    let [first, last] = page.items.as_slice() else { panic!("two resources: {page:?}") };
    assert_eq!((first.uri(), first.name(), first.size()), ("file:///a", "a.rs", Some(5)));
    assert_eq!(first.display_title(), "A");
    assert_eq!(first.description().as_deref(), Some("d"));
    assert_eq!(first.mime_type().as_deref(), Some("text/x-rust"));
    assert!(first.annotations().for_user);
    assert_eq!((last.display_title().as_ref(), last.mime_type(), last.size()), ("d", None, None));
    let reasons: Vec<_> = page
        .set_aside
        .iter()
        .map(|aside| (aside.index, aside.name.as_deref(), aside.reason.to_string()))
        .collect();
    let expected = [
        (1, Some("file:///a"), "an earlier one has the same name".to_string()),
        (2, Some("file:///b"), "it has no name".to_string()),
        (3, None, "it has no uri".to_string()),
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn templates_are_read_like_resources() {
    let page = resource_templates(&json(
        r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files"},{"uri":"file:///a","name":"no"}]}"#,
    ));
    assert_eq!(page.items.iter().map(ResourceTemplate::uri_template).collect::<Vec<_>>(), ["file:///{path}"]);
    assert_eq!(page.set_aside_total, 1);
}

#[test]
fn contents_are_read_one_by_one() {
    let result = ReadResourceResult::new(json(
        r#"{"contents":[{"uri":"file:///a","mimeType":"text/plain","text":"x"},{"uri":"file:///b","blob":"AA=="},
        {"uri":"file:///c"},5]}"#,
    ));
    let seen: Vec<_> = result
        .contents()
        .map(|(_, contents)| match contents.map(|contents| contents.body()) {
            Ok(Body::Text(text)) => text.decode().into_owned(),
            Ok(Body::Blob(blob)) => blob.decode().into_owned(),
            Err(flaw) => flaw.to_string(),
        })
        .collect();
    assert_eq!(seen, ["x", "AA==", "it has neither text nor blob", "it is a number, not an object"]);
    for empty in ["{}", r#"{"contents":null}"#, r#"{"contents":{}}"#, "[]"] {
        assert_eq!(ReadResourceResult::new(json(empty)).contents().count(), 0, "{empty}");
    }
}
