//! Whether servers answer.

use super::*;

fn check(world: &mut World) -> usize {
    let asked = world.manager.check_health(world.now);
    world.drain();
    asked
}

#[test]
fn each_connected_server_is_asked_for_its_listing_and_told() {
    // H-102
    let mut world = World::up(&["a", "b", "c"], |config| config.refresh.mode = RefreshMode::Live);
    world.lose("c");
    world.told();
    assert_eq!(check(&mut world), 2, "those that are connected");
    let asked = world.listing("a").unwrap();
    assert_eq!((&asked.method, asked.options.absolute), (&Method::ToolsList, Some(Duration::from_secs(10))));
    assert_eq!(check(&mut world), 2, "one question is enough");
    world.page("a", r#"{"tools":[{"name":"other"}],"nextCursor":"2"}"#);
    assert!(!world.is_asked("a"), "a page tells enough");
    world.outcome("b", error(-32603, "no\u{7}"));
    assert_eq!(world.told(), ["a health ok", "b health error -32603: no\\u{7}"]);
    assert_eq!(world.offered(), ["mcp__a__t", "mcp__b__t", "mcp__c__t"], "nothing changes by it");
    assert_eq!((world.state("b").error, world.state("b").listing_failed), (None, false));
    assert_eq!(world.told(), [""; 0]);
}

#[test]
fn a_server_that_does_not_answer_in_time_is_told_and_stays() {
    // H-102
    let mut world = World::up(&["a"], |_| ());
    check(&mut world);
    assert_eq!(world.manager.poll_timeout(), Some(Instant::from_millis(10_000)));
    world.wait(9_999);
    assert_eq!(world.told(), [""; 0]);
    world.wait(1);
    assert_eq!(world.told(), ["a health no answer within 10000 ms"]);
    assert_eq!(world.statuses(), ["connected"]);
    // What was asked is still open: its end tells the next one who asks.
    check(&mut world);
    world.page("a", &page(&["t"]));
    assert_eq!(world.told(), ["a health ok"]);
}

#[test]
fn a_listing_that_is_read_tells_as_well_and_what_changes_meanwhile_is_read() {
    // H-102, H-207
    let mut world = World::up(&["a", "b"], |config| config.refresh.mode = RefreshMode::Live);
    world.wait(1_000);
    world.changed("a");
    check(&mut world);
    world.changed("b");
    world.page("a", &page(&["u"]));
    world.page("b", &page(&["ignored"]));
    assert_eq!(world.told(), ["a health ok", "a +mcp__a__u -mcp__a__t", "b health ok"]);
    world.page("b", &page(&["v"]));
    assert_eq!(world.offered(), ["mcp__a__u", "mcp__b__v"]);
}

#[test]
fn nothing_else_is_asked_of_a_server_while_it_is_asked_whether_it_answers() {
    // H-102, H-207
    let mut world = World::up(&["a", "b"], |config| config.max_starting = 1);
    world.wait(1_000);
    world.changed("a");
    world.changed("b");
    assert!(!world.is_asked("b"), "its listing waits for its turn");
    check(&mut world);
    assert!(world.is_asked("b"));
    world.page("a", &page(&["t"]));
    assert_eq!(world.manager.shared.relisting.taken(), 0, "it gave its turn up");
    world.page("b", &page(&["t"]));
    assert_eq!(world.told(), ["a health ok", "b health ok"]);
    assert!(world.is_asked("b"), "now it is read");
    world.page("b", &page(&["u"]));
    assert_eq!(world.told(), ["b staged +mcp__b__u -mcp__b__t"]);
}

#[test]
fn a_connection_that_ends_is_not_healthy() {
    // H-102
    let ends: [fn(&mut World); 3] = [
        |world| world.lose("a"),
        |world| world.outcome("a", Ok(Outcome::Lost { maybe_ran: true })),
        |world| {
            assert!(world.manager.reconnect("a", world.now));
            world.drain();
        },
    ];
    for end in ends {
        let mut world = World::up(&["a"], |_| ());
        check(&mut world);
        end(&mut world);
        assert!(world.told().contains(&"a health the connection was lost".into()));
        assert_eq!(world.statuses(), ["reconnecting"]);
        world.ready("a");
        world.wait(100_000);
        assert!(!world.told().iter().any(|told| told.contains("health")), "it is told once");
    }
}
