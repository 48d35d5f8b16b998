use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::mcp::types::collection::Collection;
use crate::mcp::types::tool::Tool;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn page(text: &str) -> Page<Tool> {
    Page::read(&json(text))
}

fn names(page: &Page<Tool>) -> Vec<&str> {
    page.items.iter().map(Tool::key).collect()
}

#[test]
fn b_39_a_null_cursor_ends_the_listing_and_null_items_count_as_empty() {
    let listed = page(r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"nextCursor":null}"#);
    assert_eq!(names(&listed), ["echo"]);
    assert_eq!(listed.next_cursor, None);
    assert_eq!(listed.warnings, []);

    let empty = page(r#"{"tools":null,"nextCursor":null}"#);
    assert_eq!(names(&empty), Vec::<&str>::new());
    assert_eq!(empty.next_cursor, None);
    assert_eq!(empty.warnings, [PageWarning::NoItems("tools")]);
}

/// P-256, P-257, P-258.
#[test]
fn p_257_an_empty_cursor_is_a_cursor_and_only_absence_ends_a_listing() {
    // P-257
    let table: &[(&str, Option<&str>, &[PageWarning])] = &[
        (r#"{"tools":[]}"#, None, &[]),
        (r#"{"tools":[],"nextCursor":null}"#, None, &[]),
        (r#"{"tools":[],"nextCursor":""}"#, Some(""), &[]),
        (r#"{"tools":[],"nextCursor":" a\n\u00e9 "}"#, Some(" a\né "), &[]),
        (r#"{"tools":[],"nextCursor":"null"}"#, Some("null"), &[]),
        (r#"{"tools":[],"nextCursor":7}"#, None, &[PageWarning::CursorNotText(Kind::Number)]),
    ];
    for (text, cursor, warnings) in table {
        let page = page(text);
        assert_eq!(page.next_cursor.as_deref(), *cursor, "{text}");
        assert_eq!(page.warnings, *warnings, "{text}");
    }
}

#[test]
fn a_page_of_the_wrong_shape_is_empty_with_a_warning() {
    let table = [
        ("[]", PageWarning::NotAnObject(Kind::Array)),
        ("null", PageWarning::NotAnObject(Kind::Null)),
        ("{}", PageWarning::NoItems("tools")),
        (r#"{"tools":{}}"#, PageWarning::ItemsNotAnArray("tools", Kind::Object)),
        (r#"{"tools":"none"}"#, PageWarning::ItemsNotAnArray("tools", Kind::String)),
    ];
    for (text, warning) in table {
        let page = page(text);
        assert_eq!((page.items.len(), page.set_aside_total), (0, 0), "{text}");
        assert_eq!(page.warnings, [warning], "{text}");
        assert!(!warning.to_string().is_empty());
    }
}

#[test]
fn a_malformed_element_is_set_aside_and_hides_no_other() {
    let listed = page(
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},7,{"inputSchema":{}},{"name":null},{"name":5},
        {"name":"b","inputSchema":{"type":"object","properties":{"x":{"$ref":"https://a.example/x"}}}},
        {"name":"c","inputSchema":{"type":"object"}}]}"#,
    );
    assert_eq!(names(&listed), ["a", "c"]);
    let reasons: Vec<_> = listed
        .set_aside
        .iter()
        .map(|aside| (aside.index, aside.name.as_deref(), aside.reason.to_string()))
        .collect();
    let expected = [
        (1, None, "it is a number, not an object"),
        (2, None, "it has no name"),
        (3, None, "it has no name"),
        (4, None, "its name is a number"),
        (
            5,
            Some("b"),
            "its input schema is unusable: it refers to \"https://a.example/x\", which is outside of it and is not \
             fetched",
        ),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(index, name, why)| (*index, *name, why.to_string())).collect();
    assert_eq!(reasons, expected);
    assert_eq!(listed.set_aside_total, 5);
    assert!(listed.set_aside.iter().all(|aside| aside.to_string().contains("was set aside: ")));
}

/// P-239, H-022.
#[test]
fn h_022_of_two_elements_with_one_name_the_first_stays() {
    // H-022
    let listed = page(
        r#"{"tools":[{"name":"b","title":"first","inputSchema":{}},{"name":"a","inputSchema":{}},
        {"name":"\u0062","title":"second","inputSchema":{}},{"name":"B","inputSchema":{}}]}"#,
    );
    assert_eq!(names(&listed), ["b", "a", "B"], "order as advertised, names case-sensitive");
    assert_eq!(listed.items.first().and_then(Tool::title).as_deref(), Some("first"));
    let aside: Vec<_> = listed.set_aside.iter().map(|aside| (aside.index, aside.name.as_deref())).collect();
    assert_eq!(aside, [(2, Some("b"))]);
    assert_eq!(listed.set_aside.first().map(|aside| &aside.reason), Some(&SetAsideReason::Duplicate));
}

#[test]
fn what_a_page_can_make_us_keep_is_bounded() {
    let many = format!(r#"{{"tools":[{}],"nextCursor":"n"}}"#, vec!["0"; 3000].join(","));
    let page = Page::<Tool>::read_up_to(&json(&many), 2500);
    assert_eq!((page.set_aside.len(), page.set_aside_total), (MAX_SET_ASIDE, 2500));
    assert_eq!(page.warnings, [PageWarning::TooManyItems { limit: 2500 }]);
    assert_eq!(page.next_cursor.as_deref(), Some("n"));

    let long = format!(r#"{{"tools":[{{"name":"{}","inputSchema":{{"$ref":"x"}}}}]}}"#, "é".repeat(200));
    let name = Page::<Tool>::read(&json(&long)).set_aside.pop().and_then(|aside| aside.name);
    assert_eq!(name, Some("é".repeat(MAX_SET_ASIDE_NAME / 2)));
}

#[test]
fn p_264_a_cache_hint_that_is_absent_or_negative_means_stale_and_private() {
    // P-264
    let table = [
        (r#"{"tools":[],"ttlMs":300000,"cacheScope":"public"}"#, (300_000, true)),
        (r#"{"tools":[],"ttlMs":-1,"cacheScope":"private"}"#, (0, false)),
        (r#"{"tools":[]}"#, (0, false)),
    ];
    for (text, expected) in table {
        let cache = page(text).cache;
        assert_eq!((cache.ttl_ms, cache.public), expected, "{text}");
    }
}

/// P-239, across pages. The strictest page decides how long the whole may be kept.
#[test]
fn a_listing_keeps_the_first_of_a_name_over_all_its_pages() {
    let mut listing = Collection::new();
    listing.add(page(r#"{"tools":[{"name":"b"},{"name":"a"},5],"ttlMs":9,"cacheScope":"public"}"#));
    listing.add(page(r#"{"tools":[{"name":"c"},{"name":"a","title":"late"}],"ttlMs":5}"#));
    let found: Vec<_> = listing.items().iter().map(Tool::name).collect();
    assert_eq!(found, ["b", "a", "c"]);
    assert_eq!((listing.pages(), listing.set_aside_total()), (2, 2));
    let aside: Vec<_> =
        listing.set_aside_items().iter().map(|aside| (aside.page, aside.what.index)).collect();
    assert_eq!(aside, [(0, 2), (1, 1)]);
    assert_eq!((listing.cache().ttl_ms, listing.cache().public), (5, false));
    assert_eq!(listing.find("a").and_then(Tool::title), None);
    assert_eq!(listing.find("c").map(Tool::name), Some("c"));
    assert!(listing.find("d").is_none());
}

proptest! {
    /// Every element is either usable or set aside, in order, and no name comes twice.
    #[test]
    fn no_element_is_lost(elements in prop::collection::vec(
        prop_oneof![
            "[a-c]{1,2}".prop_map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)),
            Just("null".to_string()),
            Just(r#"{"name":[]}"#.to_string()),
            Just(r#"{"name":"x","inputSchema":{"$ref":"y"}}"#.to_string()),
        ],
        0..40,
    )) {
        let page = page(&format!(r#"{{"tools":[{}]}}"#, elements.join(",")));
        prop_assert_eq!(page.items.len() + page.set_aside_total, elements.len());
        let mut sorted = names(&page);
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), page.items.len());
        prop_assert!(page.items.iter().map(|tool| tool.raw().as_bytes().as_ptr().addr()).is_sorted());
        // Read again from what is kept: the same.
        for tool in &page.items {
            let again = Tool::read(tool.raw().to_compact());
            prop_assert_eq!(again.as_ref(), Ok(tool));
        }
    }

    #[test]
    fn a_name_in_a_diagnostic_is_cut_at_a_character(name in "\\PC{0,300}") {
        let text = RawJson::serialize(&name).expect("text");
        let cut: String = text.view().str().map(name_of).unwrap_or_default();
        prop_assert!(cut.len() <= MAX_SET_ASIDE_NAME && name.starts_with(&cut));
    }
}
