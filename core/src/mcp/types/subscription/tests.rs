use alloc::format;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<SubscriptionFilter, Flaw> {
    SubscriptionFilter::read(RawJson::parse_str(text).expect(text).view())
}

#[test]
fn p_297_only_what_is_asked_for_is_written() {
    // P-297
    let table = [
        (SubscriptionFilter::new(), "{}"),
        (SubscriptionFilter::new().tools(), r#"{"toolsListChanged":true}"#),
        (
            SubscriptionFilter::new()
                .prompts()
                .resources()
                .resource("file:///a")
                .resource("b\"")
                .resource("file:///a"),
            r#"{"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","b\""]}"#,
        ),
    ];
    for (filter, expected) in table {
        assert_eq!(filter.to_json().as_str(), expected);
    }
}

#[test]
fn p_297_a_filter_needs_a_notifications_object_and_reads_what_it_can() {
    // P-297
    assert_eq!(read("{}"), Err(Flaw::Missing("notifications")));
    assert_eq!(read(r#"{"notifications":null}"#), Err(Flaw::Missing("notifications")));
    let wrong = Flaw::WrongKind { member: "notifications", found: Kind::Bool };
    assert_eq!(read(r#"{"notifications":true}"#), Err(wrong));
    let nothing = r#"{"notifications":{"toolsListChanged":null,"promptsListChanged":false,"resourcesListChanged":1,
        "resourceSubscriptions":null,"taskIds":["1"]}}"#;
    assert_eq!(read(nothing), Ok(SubscriptionFilter::new()));
    let some =
        r#"{"_meta":{},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["u:\u0061",5]}}"#;
    assert_eq!(read(some), Ok(SubscriptionFilter::new().tools().resource("u:a")));
}

#[test]
fn p_302_what_was_refused_and_what_was_never_asked_for_is_told_apart() {
    // P-302
    let asked = SubscriptionFilter::new().tools().prompts().resource("a").resource("b");
    let agreed = SubscriptionFilter::new().tools().resources().resource("b").resource("c");
    let difference = asked.compare(&agreed);
    assert_eq!(difference.refused, SubscriptionFilter::new().prompts().resource("a"));
    assert_eq!(difference.unasked, SubscriptionFilter::new().resources().resource("c"));
    assert!(!difference.is_none());
    assert!(asked.compare(&asked).is_none());
}

proptest! {
    #[test]
    fn a_filter_that_was_written_reads_the_same(
        flags in any::<[bool; 3]>(),
        uris in prop::collection::btree_set("\\PC{0,12}", 0..5),
    ) {
        let filter = SubscriptionFilter {
            tools_list_changed: flags[0],
            prompts_list_changed: flags[1],
            resources_list_changed: flags[2],
            resource_subscriptions: uris.into_iter().collect(),
        };
        let params = format!(r#"{{"notifications":{}}}"#, filter.to_json().as_str());
        prop_assert_eq!(read(&params), Ok(filter));
    }
}
