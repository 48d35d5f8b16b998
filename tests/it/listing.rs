//! Listings, page by page.

use sanswire::client::listing::{Cut, Listed, Step};
use sanswire::client::{Listing, RequestOptions};
use sanswire::limits::Limits;
use sanswire::mcp::Method;
use sanswire_tests::client::{Client, On, on_all_links, value};
use serde_json::{Value, json};

/// Lists to the end.
fn list(client: &mut Client, method: Method, limits: &Limits) -> Listed {
    let mut listing = Listing::new(method, limits);
    let (mut method, mut params) = listing.first();
    loop {
        let request = client.link.request(method, params, &RequestOptions::default()).unwrap();
        let outcome = client.finish(request);
        match listing.next(outcome) {
            Step::Done(listed) => return listed,
            Step::Request(next, with) => (method, params) = (next, with),
        }
    }
}

/// A client whose `tools/list` gives these pages; each cursor must come back for the next.
fn paged(on: On, pages: Vec<Value>) -> Client {
    let mut client = Client::modern(on);
    client.link.server_mut().on("tools/list", move |request, out| {
        let cursor = request["params"].get("cursor");
        let at = match cursor {
            None => Some(0),
            Some(cursor) => {
                pages.iter().position(|page| page.get("nextCursor") == Some(cursor)).map(|at| at + 1)
            }
        };
        match at {
            Some(at) => out.result(request, pages[at].clone()),
            None => out.error(request, -32602, "no such cursor"),
        }
    });
    client
}

fn page(names: &[&str], next: Option<Value>) -> Value {
    let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "inputSchema": {}})).collect();
    let mut page = json!({"resultType": "complete", "tools": tools, "ttlMs": 5000, "cacheScope": "public"});
    if let Some(next) = next {
        page["nextCursor"] = next;
    }
    page
}

fn names(listed: &Listed) -> Vec<String> {
    let pages = listed.pages.iter().map(value);
    let tools = pages.flat_map(|page| page["tools"].as_array().cloned().unwrap_or_default());
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn cursors_are_followed_whatever_they_look_like() {
    // P-255 P-256 P-257 P-258 H-021
    on_all_links(|on| {
        let cursors = ["", " ", "0", "null", "a\"b\\c/é🦀\u{0}\n", "eyJhIjoxfQ=="];
        let mut pages: Vec<Value> = cursors
            .iter()
            .enumerate()
            .map(|(n, cursor)| page(&[&n.to_string()], Some(json!(cursor))))
            .collect();
        pages.push(page(&["x", "y", "z"], None));
        let mut client = paged(on, pages);
        let listed = list(&mut client, Method::ToolsList, &Limits::default());
        assert_eq!(names(&listed), ["0", "1", "2", "3", "4", "5", "x", "y", "z"]);
        assert_eq!((listed.cut, listed.cursor_repeated), (None, false));
        let sent: Vec<_> = client.link.server().with_method("tools/list");
        assert!(sent[0].message["params"].get("cursor").is_none());
        for (received, cursor) in sent[1..].iter().zip(cursors) {
            assert_eq!(received.message["params"]["cursor"], cursor);
        }
    });
}

#[test]
fn null_and_absence_end_a_listing() {
    // P-258
    on_all_links(|on| {
        for last in [page(&["a"], None), page(&["a"], Some(json!(null))), page(&[], None)] {
            let mut client = paged(on, vec![last]);
            let listed = list(&mut client, Method::ToolsList, &Limits::default());
            assert_eq!(listed.pages.len(), 1);
            assert_eq!(listed.cut, None);
            assert_eq!(client.count("tools/list"), 1);
        }
    });
}

#[test]
fn a_cursor_that_repeats_goes_on_until_a_cap() {
    // P-256 H-021
    on_all_links(|on| {
        let mut client = Client::modern(on);
        client.link.server_mut().on("tools/list", |request, out| {
            out.result(request, page(&["a", "b"], Some(json!("same"))));
        });
        let mut limits = Limits::default();
        limits.max_pages = 5;
        let listed = list(&mut client, Method::ToolsList, &limits);
        assert_eq!((listed.pages.len(), listed.cut), (5, Some(Cut::Pages(5))));
        assert!(listed.cursor_repeated);

        let mut limits = Limits::default();
        limits.max_items = 7;
        let listed = list(&mut client, Method::ToolsList, &limits);
        assert_eq!((listed.pages.len(), listed.cut), (4, Some(Cut::Items(7))));

        let mut limits = Limits::default();
        limits.max_list_bytes = 1000;
        let listed = list(&mut client, Method::ToolsList, &limits);
        assert_eq!(listed.cut, Some(Cut::Bytes(1000)));
        assert!(listed.pages.len() < 20);
    });
}

#[test]
fn a_page_that_fails_leaves_what_was_listed() {
    on_all_links(|on| {
        let mut client = paged(on, vec![page(&["a"], Some(json!("gone")))]);
        client.link.server_mut().on("tools/list", |request, out| match request["params"].get("cursor") {
            None => out.result(request, page(&["a"], Some(json!("gone")))),
            Some(_) => out.error(request, -32602, "bad cursor"),
        });
        let listed = list(&mut client, Method::ToolsList, &Limits::default());
        assert_eq!(names(&listed), ["a"]);
        assert!(matches!(listed.cut, Some(Cut::Failed(_))), "{:?}", listed.cut);
    });
}

#[test]
fn a_whole_listing_is_kept_as_briefly_as_its_strictest_page_allows() {
    // P-264
    on_all_links(|on| {
        let mut strict = page(&["b"], Some(json!("2")));
        strict["ttlMs"] = json!(10);
        let mut private = page(&["c"], None);
        private["cacheScope"] = json!("private");
        let mut client = paged(on, vec![page(&["a"], Some(json!("1"))), strict, private]);
        let listed = list(&mut client, Method::ToolsList, &Limits::default());
        assert_eq!((listed.cache.ttl_ms, listed.cache.public), (10, false));

        for (ttl, scope, expected) in [
            (json!(0), json!("public"), (0, true)),
            (json!(-1), json!("public"), (0, true)),
            (json!(1.5), json!("public"), (0, true)),
            (json!("7"), json!("Public"), (0, false)),
            (json!(null), json!(null), (0, false)),
            (json!(7), json!("public"), (7, true)),
        ] {
            let mut one = page(&["a"], None);
            one["ttlMs"] = ttl.clone();
            one["cacheScope"] = scope.clone();
            let mut client = paged(on, vec![one]);
            let listed = list(&mut client, Method::ToolsList, &Limits::default());
            assert_eq!((listed.cache.ttl_ms, listed.cache.public), expected, "{ttl} {scope}");
        }
    });
}

#[test]
fn all_four_lists_count_their_own_items() {
    // P-361
    on_all_links(|on| {
        for (method, member) in [
            (Method::ToolsList, "tools"),
            (Method::PromptsList, "prompts"),
            (Method::ResourcesList, "resources"),
            (Method::ResourcesTemplatesList, "resourceTemplates"),
        ] {
            let mut client = Client::modern(on);
            client.link.server_mut().on(method.as_str(), move |request, out| {
                out.result(request, json!({"resultType": "complete", member: [{}, {}], "nextCursor": "n"}));
            });
            let mut limits = Limits::default();
            limits.max_items = 3;
            let listed = list(&mut client, method, &limits);
            assert_eq!((listed.pages.len(), listed.cut), (2, Some(Cut::Items(3))));
        }
    });
}
