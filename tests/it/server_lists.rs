//! Listings of a server: pages, cursors, order, and what each revision is shown.

use sanswire::server::{ListKind, Principal, ToolFilter};
use sanswire_tests::served::{LEGACY, MODERN, Rig, config, modern, raw, request};
use serde_json::{Value, json};

/// All pages of a listing, from any rig.
fn pages(rig: &mut Rig, message: fn(&str, Value) -> Value, method: &str, member: &str) -> Vec<Vec<Value>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let answer = rig.ask(message(method, params));
        let result = &answer["result"];
        pages.push(result[member].as_array().unwrap_or_else(|| panic!("{answer}")).clone());
        match result.get("nextCursor") {
            Some(next) => params = json!({"cursor": next.as_str().expect("a cursor is text")}),
            None => return pages,
        }
        assert!(pages.len() < 100);
    }
}

fn plain(method: &str, params: Value) -> Value {
    request(1, method, params)
}

fn alone(method: &str, params: Value) -> Value {
    modern(1, method, params)
}

fn filled(page_size: usize, count: usize) -> Rig {
    let mut config = config();
    config.page_size = page_size;
    let mut rig = Rig::bare(config);
    for n in 0..count {
        let catalog = rig.side.machine.catalog_mut();
        catalog.tool(&raw(&json!({"name": format!("t{n}")}))).unwrap();
        catalog.resource(&raw(&json!({"uri": format!("x:{n}"), "name": n.to_string()}))).unwrap();
        catalog.resource_template(&raw(&json!({"uriTemplate": format!("y:{{{n}}}"), "name": "n"}))).unwrap();
        catalog.prompt(&raw(&json!({"name": format!("p{n}")}))).unwrap();
    }
    rig.initialize("2025-11-25", json!({}));
    rig
}

#[test]
fn a_listing_comes_in_pages_in_the_order_of_definition() {
    // P-232 P-233 P-234 P-341 P-355 H-176; b_39 on the server's side: no cursor on the last page
    let mut rig = filled(10, 25);
    for message in [plain as fn(&str, Value) -> Value, alone] {
        for (method, member, key, prefix) in [
            ("tools/list", "tools", "name", "t"),
            ("resources/list", "resources", "uri", "x:"),
            ("resources/templates/list", "resourceTemplates", "uriTemplate", "y:"),
            ("prompts/list", "prompts", "name", "p"),
        ] {
            let pages = pages(&mut rig, message, method, member);
            assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 5], "{method}");
            for (n, item) in pages.concat().iter().enumerate() {
                let expected =
                    if key == "uriTemplate" { format!("y:{{{n}}}") } else { format!("{prefix}{n}") };
                assert_eq!(item[key], expected);
            }
        }
    }
    assert_eq!(pages(&mut filled(25, 25), plain, "tools/list", "tools").len(), 1, "no page after the last");
    let empty = filled(25, 0).ask(modern(1, "server/discover", json!({})));
    assert_eq!(empty["result"]["capabilities"].get("tools"), None);
}

#[test]
fn a_cursor_that_was_not_given_out_is_refused() {
    // P-259 P-260
    let mut rig = filled(10, 25);
    let cursor = rig.ask(plain("tools/list", json!({})))["result"]["nextCursor"].as_str().unwrap().to_owned();
    let prompts = rig.ask(plain("prompts/list", json!({})))["result"]["nextCursor"].clone();
    let mut bent = cursor.clone();
    bent.replace_range(..1, if cursor.starts_with('9') { "8" } else { "9" });
    for bad in [json!(""), json!("x"), json!(5), json!({}), json!(bent), prompts, json!("a".repeat(100_000))]
    {
        assert_eq!(rig.refused(plain("tools/list", json!({"cursor": bad}))), -32602);
        assert_eq!(rig.refused(alone("tools/list", json!({"cursor": bad}))), -32602);
    }
    assert!(rig.ask(plain("tools/list", json!({"cursor": null})))["result"].is_object(), "null is absent");
    let next = json!({"cursor": cursor});
    let same = [rig.ask(plain("tools/list", next.clone())), rig.ask(plain("tools/list", next.clone()))];
    assert_eq!(same[0], same[1], "a cursor may be used again");
    rig.side.machine.catalog_mut().remove(ListKind::Tools, "t3");
    assert_eq!(rig.refused(plain("tools/list", next)), -32602, "the list is another now");
}

#[test]
fn a_cursor_holds_in_another_process_that_has_the_key() {
    // P-052
    let with_key = |key: [u8; 32]| {
        let mut config = config();
        config.page_size = 2;
        config.cursor_key = Some(key);
        Rig::new(config)
    };
    let cursor = with_key([1; 32]).ask(alone("tools/list", json!({})))["result"]["nextCursor"].clone();
    let next = alone("tools/list", json!({"cursor": cursor}));
    assert_eq!(with_key([1; 32]).ask(next.clone())["result"]["tools"][0]["name"], "echo");
    assert_eq!(with_key([2; 32]).refused(next), -32602);
}

#[test]
fn a_page_ends_where_the_message_would_get_too_long() {
    let mut config = config();
    config.limits.max_message_bytes = 64 * 1024;
    let mut rig = Rig::bare(config);
    for n in 0..20 {
        rig.tool(&json!({"name": format!("t{n}"), "description": "d".repeat(10_000)}));
    }
    rig.tool(&json!({"name": "huge", "description": "d".repeat(100_000)}));
    let pages = pages(&mut rig, alone, "tools/list", "tools");
    assert!(pages.len() > 3, "{}", pages.len());
    assert_eq!(pages.concat().len(), 20, "what fits no message is left out");
}

#[test]
fn modern_listings_say_how_long_they_may_be_kept_all_pages_alike() {
    // P-261 P-272
    let mut rig = filled(10, 25);
    let mut params = json!({});
    for _ in 0..3 {
        let result = rig.ask(alone("tools/list", params))["result"].clone();
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("private")));
        assert_eq!(result["resultType"], "complete");
        params = json!({"cursor": result["nextCursor"]});
    }
    let legacy = rig.ask(plain("tools/list", json!({})))["result"].clone();
    assert_eq!(legacy.as_object().unwrap().keys().collect::<Vec<_>>(), ["nextCursor", "tools"]);
}

#[test]
fn each_revision_is_shown_what_it_knows() {
    let full = json!({
        "name": "t", "title": "T", "description": "d", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "icons": [], "_meta": {"m": 1},
        "execution": {"taskSupport": "required"}, "x-own": 1,
    });
    let mut any = full.clone();
    any["name"] = json!("any");
    any["outputSchema"] = json!({"type": "array"});
    let since = [
        ("title", "2025-06-18"),
        ("outputSchema", "2025-06-18"),
        ("annotations", "2025-03-26"),
        ("icons", "2025-11-25"),
        ("_meta", "2025-06-18"),
        ("execution", "9999"),
    ];
    for revision in LEGACY.into_iter().chain([MODERN]) {
        let mut rig = Rig::bare(config());
        rig.tool(&full);
        rig.tool(&any);
        let icons = json!({"uri": "x:y", "name": "r", "title": "R", "icons": [], "size": 3,
            "annotations": {"priority": 1, "lastModified": "2025"}});
        rig.side.machine.catalog_mut().resource(&raw(&icons)).unwrap();
        let arguments = json!([{"name": "a", "title": "A", "required": true}]);
        let prompt = json!({"name": "p", "title": "P", "arguments": arguments});
        rig.side.machine.catalog_mut().prompt(&raw(&prompt)).unwrap();
        let mut message: fn(&str, Value) -> Value = alone;
        if revision != MODERN {
            rig.initialize(revision, json!({}));
            message = plain;
        }
        let tools = rig.ask(message("tools/list", json!({})))["result"]["tools"].clone();
        for (member, since) in since {
            assert_eq!(tools[0].get(member).is_some(), revision >= since, "{revision}: {member}");
        }
        assert_eq!((&tools[0]["x-own"], &tools[0]["description"]), (&json!(1), &json!("d")));
        let any_output = tools[1].get("outputSchema").is_some();
        assert_eq!(any_output, revision == MODERN, "{revision}: an output that is no object");
        let resource = rig.ask(message("resources/list", json!({})))["result"]["resources"][0].clone();
        assert_eq!(resource.get("title").is_some(), revision >= "2025-06-18");
        assert_eq!(resource["annotations"].get("lastModified").is_some(), revision >= "2025-06-18");
        assert_eq!((&resource["size"], &resource["annotations"]["priority"]), (&json!(3), &json!(1)));
        let prompt = rig.ask(message("prompts/list", json!({})))["result"]["prompts"][0].clone();
        assert_eq!(prompt["arguments"][0].get("title").is_some(), revision >= "2025-06-18");
        assert_eq!(prompt["arguments"][0]["required"], true);
    }
}

#[test]
fn a_filter_shows_each_principal_its_own_on_full_pages() {
    let mut config = config();
    config.page_size = 4;
    let even = |tool: &str| tool[1..].parse::<u32>().is_ok_and(|n| n.is_multiple_of(2));
    config.tool_filter = Some(ToolFilter::new(move |principal: &Principal, tool: &str| {
        principal.name() == Some("all") || even(tool)
    }));
    let mut rig = Rig::bare(config);
    for n in 0..20 {
        rig.tool(&json!({"name": format!("t{n}")}));
    }
    let few = pages(&mut rig, alone, "tools/list", "tools");
    assert_eq!(few.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
    rig.side.machine.set_principal(Principal::named("all"));
    assert_eq!(pages(&mut rig, alone, "tools/list", "tools").concat().len(), 20);
}
