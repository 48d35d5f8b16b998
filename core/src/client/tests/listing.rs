//! Listings: the end of one, its caps, and what it may be kept for.

use alloc::format;

use crate::client::event::Outcome;
use crate::client::listing::{Cut, Listing, Step};
use crate::jsonrpc::RawJson;
use crate::limits::Limits;
use crate::mcp::Method;

fn page(text: &str) -> Outcome {
    Outcome::Complete(RawJson::parse_str(text).unwrap())
}

fn next_params(step: Step) -> RawJson {
    match step {
        Step::Request(Method::ToolsList, Some(params)) => params,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_a_missing_cursor_ends_a_listing() {
    // P-257: an empty cursor is a cursor. P-256: it goes back as it came. P-258: absent or null ends it.
    let mut listing = Listing::new(Method::ToolsList, &Limits::default());
    assert_eq!(listing.first(), (Method::ToolsList, None));
    let params = next_params(listing.next(page(r#"{"tools":[{}],"nextCursor":""}"#)));
    assert_eq!(params.as_str(), r#"{"cursor":""}"#);
    let params = next_params(listing.next(page(r#"{"tools":[{}],"nextCursor":"a\"\u00e9\ud800"}"#)));
    assert_eq!(params.as_str(), r#"{"cursor":"a\"\u00e9\ud800"}"#);
    let Step::Done(listed) = listing.next(page(r#"{"tools":[{}],"nextCursor":null}"#)) else { panic!() };
    assert_eq!((listed.pages.len(), listed.cut, listed.cursor_repeated), (3, None, false));
}

#[test]
fn an_endless_cursor_ends_at_each_cap_with_what_was_listed() {
    let small = Limits { max_pages: 3, max_items: 100, max_list_bytes: 1 << 20, ..Limits::default() };
    let items = Limits { max_pages: 100, max_items: 5, ..small.clone() };
    let bytes = Limits { max_pages: 100, max_list_bytes: 100, ..small.clone() };
    for (limits, cut, pages) in
        [(small, Cut::Pages(3), 3), (items, Cut::Items(5), 3), (bytes, Cut::Bytes(100), 3)]
    {
        let mut listing = Listing::new(Method::ToolsList, &limits);
        let mut asked = 0;
        let listed = loop {
            asked += 1;
            match listing.next(page(r#"{"tools":[{},{}],"nextCursor":"again"}"#)) {
                Step::Request(..) => assert!(asked < 50),
                Step::Done(listed) => break listed,
            }
        };
        assert_eq!((listed.cut, listed.pages.len()), (Some(cut), pages));
        assert!(listed.cursor_repeated);
    }
}

#[test]
fn a_failed_page_keeps_the_pages_before_it() {
    let mut listing = Listing::new(Method::ToolsList, &Limits::default());
    listing.next(page(r#"{"tools":[],"nextCursor":"2"}"#));
    let Step::Done(listed) = listing.next(Outcome::Cancelled) else { panic!() };
    assert_eq!((listed.pages.len(), listed.cut), (1, Some(Cut::Failed(Outcome::Cancelled))));
}

#[test]
fn the_shortest_and_strictest_cache_hint_holds_for_the_whole() {
    // P-264: absent, negative or unusable lifetimes count as none.
    for (ttl, expected) in [("7", 7), ("-5", 0), ("\"9\"", 0), ("null", 0)] {
        let mut listing = Listing::new(Method::ToolsList, &Limits::default());
        listing.next(page(r#"{"tools":[],"nextCursor":"2","ttlMs":50,"cacheScope":"public"}"#));
        let last = format!(r#"{{"tools":[],"ttlMs":{ttl},"cacheScope":"shared"}}"#);
        let Step::Done(listed) = listing.next(page(&last)) else { panic!() };
        assert_eq!((listed.cache.ttl_ms, listed.cache.public), (expected, false), "{ttl}");
    }
}
