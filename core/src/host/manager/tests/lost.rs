//! Lost, tried anew, given up, shut.

use super::*;
use crate::client::Verdict;

#[test]
fn one_that_is_lost_as_soon_as_it_is_opened_is_given_up() {
    // H-108
    let mut world = World::up(&["a"], |_| ());
    // Whatever lasts, or is called, is not held against a server.
    for _ in 0..4 {
        world.lose("a");
        world.ready("a");
        world.wait(10_000);
    }
    for _ in 0..4 {
        world.lose("a");
        world.ready("a");
        assert_eq!(world.way("a"), "go");
    }
    world.lose("a");
    world.told();
    for _ in 0..2 {
        world.ready("a");
        world.wait(9_999);
        world.lose("a");
        assert_eq!(world.state("a").status, Status::Reconnecting);
    }
    world.ready("a");
    world.lose("a");
    assert_eq!(world.state("a").status, Status::Unavailable);
    assert!(world.told().ends_with(&["a unavailable".into(), "! a: the server ended its output".into()]));
    assert_eq!(world.opens(), [""; 0]);
}

#[test]
fn a_lost_connection_is_opened_anew_and_what_is_offered_stays() {
    // H-103, H-106, H-107, H-110
    let mut world = World::up(&["a", "b"], |_| ());
    let (first, b) = (world.client("a"), world.client("b"));
    assert_eq!(world.way("a"), "go");
    world.lose("a");
    assert_eq!(world.offered(), ["mcp__a__t", "mcp__b__t"]);
    assert_eq!([world.way("a"), world.way("a")], ["wait", "wait"], "one attempt for all");
    assert_ne!(world.client("a"), first);
    assert_eq!(world.until("a"), Instant::from_millis(15_000));
    world.ready_as("a", Revision::V2025_06_18, r#"{"tools":{}}"#);
    assert!(!world.is_asked("a"), "its listing is not read again");
    assert_eq!(world.offered(), ["mcp__a__t", "mcp__b__t"]);
    assert_eq!(world.told(), ["a reconnecting", "a connected", "a speaks 2025-06-18: 1 tools"]);
    assert_eq!(world.state("a").revision, Some(Revision::V2025_06_18));
    assert_eq!(world.settled(), ["a"], "the waiting calls go on once");
    assert_eq!((world.way("a").as_str(), world.client("b")), ("go", b));
}

#[test]
fn a_call_that_waited_for_an_attempt_fails_with_it_and_starts_no_other() {
    // H-107
    let mut world = World::new(&["a"], |_| ());
    assert_eq!(world.way("a"), "wait");
    world.lose("a");
    assert_eq!(world.manager.poll_settled().as_deref(), Some("a"));
    assert_eq!(world.way("a"), "failed: the server ended its output");
    assert_eq!((world.manager.poll_settled(), world.opens().len()), (None, 0));
    assert_eq!(world.way("a"), "wait", "the next one does");
    assert_eq!(world.opens(), ["a"]);
}

#[test]
fn each_attempt_has_the_whole_time_and_a_pause_before_it_if_one_is_set() {
    // H-103, H-112
    let mut world = World::up(&["a"], |config| {
        config.reconnect.backoff = Duration::from_secs(2);
        config.servers.get_mut("a").unwrap().connect_timeout = Some(Duration::from_secs(1));
    });
    world.lose("a");
    assert_eq!(world.until("a"), Instant::from_millis(1_000));
    world.wait(1_000);
    assert!(!world.is_open("a"), "the pause");
    assert_eq!(world.manager.poll_timeout(), Some(Instant::from_millis(3_000)));
    world.wait(2_000);
    assert_eq!(world.until("a"), Instant::from_millis(4_000));
    world.wait(1_000);
    assert_eq!(world.way("a"), "wait");
    assert!(world.is_open("a"), "a call ends the pause");
    world.wait(1_000);
    assert_eq!(world.statuses(), ["unavailable"]);
    assert_eq!(world.manager.poll_timeout(), None);
    let late = "it was not ready within 1000 ms (connect_timeout)";
    assert_eq!(world.state("a").error.as_deref(), Some(late));
}

#[test]
fn what_comes_of_a_connection_that_was_replaced_is_dropped() {
    // H-109
    let mut world = World::up(&["a"], |_| ());
    let first = world.client("a");
    world.manager.lost(first, world.now);
    world.drain();
    let second = world.client("a");
    world.told();
    world.manager.lost(first, world.now);
    world.manager.handle_not_opened(first, "late", world.now);
    let page = RawJson::parse_str(&page(&["other"])).unwrap();
    world.manager.handle_outcome(first, Ok(Outcome::Complete(page)), world.now);
    for event in [
        client::Event::Closed(CloseReason::Eof),
        client::Event::Verdict(Verdict::Modern),
        client::Event::Ready(peer(Revision::V2025_11_25, "{}").into()),
    ] {
        world.event(first, event);
    }
    assert_eq!((world.client("a"), world.told().len(), world.statuses()), (second, 0, vec!["reconnecting"]));
    assert_eq!(world.state("a").error.as_deref(), Some("the connection was lost"));
    assert_eq!(world.offered(), ["mcp__a__t"]);
    // Of a server that never was, and of a connection to come.
    let nobody = ClientHandle { slot: 9, ..first };
    world.event(nobody, client::Event::Closed(CloseReason::Eof));
    world.connect("a", &[]);
    world.event(second, client::Event::Ready(peer(Revision::V2025_06_18, "{}").into()));
    assert_eq!(world.told(), ["a connected", "a speaks 2025-11-25: 1 tools"], "ready comes once");
}

#[test]
fn closing_shuts_everything_and_nothing_is_opened_any_more() {
    // H-098, H-111
    let mut world = World::new(&["a", "b", "c", "d"], |config| {
        config.max_starting = 2;
        config.servers.get_mut("d").unwrap().enabled = false;
    });
    world.connect("a", &["t"]);
    assert_eq!(world.opens(), ["a", "b", "c"]);
    let b = world.client("b");
    assert_eq!(world.way("b"), "wait");
    let _ = (world.told(), world.settled());
    world.manager.close(world.now);
    world.drain();
    assert_eq!(world.opens(), [""; 0]);
    assert_eq!(world.told(), ["a unavailable", "b unavailable", "c unavailable"]);
    assert_eq!(world.settled(), ["b", "c"], "who waits goes on, once");
    assert!(world.manager.is_started(), "nobody waits for it any more");
    world.event(b, client::Event::Ready(peer(Revision::V2025_11_25, "{}").into()));
    for server in ["a", "b", "c"] {
        assert_eq!(world.way(server), "unavailable: ");
        assert!(!world.manager.reconnect(server, world.now) && !world.manager.refresh(server, world.now));
    }
    world.manager.close(world.now);
    world.wait(1_000_000);
    assert_eq!((world.opens().len(), world.told().len(), world.settled().len()), (0, 0, 0));
    assert_eq!(world.statuses(), ["unavailable", "unavailable", "unavailable", "disabled"]);
}

#[test]
fn a_server_that_still_waits_for_its_turn_is_not_opened_after_the_end() {
    // H-098
    let mut world = World::new(&["a", "b"], |config| config.max_starting = 1);
    world.manager.close(world.now);
    world.drain();
    assert_eq!(world.opened.len(), 1, "b never was");
    assert_eq!(world.manager.shared.starting.taken(), 0);
}

#[test]
fn a_person_can_reconnect_one_server_whatever_was_before() {
    // H-114, H-215
    let mut world = World::up(&["a", "b"], |_| ());
    let (first, b) = (world.client("a"), world.client("b"));
    for _ in 0..4 {
        world.lose("a");
    }
    assert_eq!(world.statuses(), ["unavailable", "connected"]);
    for _ in 0..2 {
        assert!(world.manager.reconnect("a", world.now));
        world.drain();
    }
    let again = world.client("a");
    assert_ne!(again, first);
    world.lose("a");
    world.lose("a");
    world.ready("a");
    assert_eq!(world.statuses(), ["connected", "connected"], "failures are counted anew");
    // Its listing is read again, beside the calls: the tools that it had are offered until then.
    assert!(world.is_asked("a"));
    assert_eq!((world.way("a").as_str(), world.offered().len()), ("go", 2));
    world.page("a", &page(&["t"]));
    assert!(!world.is_asked("a"));
    // One that is connected is shut and opened anew.
    let before = world.client("a");
    assert!(world.manager.reconnect("a", world.now));
    world.drain();
    assert_ne!(world.client("a"), before);
    assert_eq!(world.client("b"), b, "no other is touched");
    assert!(!world.manager.reconnect("c", world.now), "there is no such server");
}

/// A server whose calls have exchanges of their own.
fn by_exchanges(config: &mut HostConfig) {
    for server in config.servers.values_mut() {
        server.carrier = Carrier::Exchanges;
    }
}

#[test]
fn a_call_that_had_an_exchange_of_its_own_is_lost_alone() {
    // H-104
    let mut world = World::up(&["a"], by_exchanges);
    let first = world.client("a");
    for _ in 0..3 {
        Reach::lost(&mut world.manager, first, world.now);
        world.drain();
        assert_eq!((world.client("a"), world.way("a").as_str()), (first, "go"));
    }
    assert_eq!(world.told(), [""; 0]);
    // Whoever does not answer at all, and whoever says that it is over, is opened anew.
    Reach::gone(&mut world.manager, first, world.now);
    world.drain();
    let second = world.client("a");
    assert_ne!(second, first);
    world.ready("a");
    assert_eq!(world.way("a"), "go");
    world.lose("a");
    assert_ne!(world.client("a"), second);
    // Over a pipe one is all.
    let mut world = World::up(&["a"], |_| ());
    let first = world.client("a");
    Reach::lost(&mut world.manager, first, world.now);
    world.drain();
    assert_ne!(world.client("a"), first);
}

#[test]
fn a_listing_that_had_an_exchange_of_its_own_is_lost_alone() {
    for outcome in [Outcome::Lost { maybe_ran: true }, Outcome::SessionGone { maybe_ran: false }] {
        let mut world = World::up(&["a"], by_exchanges);
        let first = world.client("a");
        assert!(world.manager.refresh("a", world.now));
        world.drain();
        world.outcome("a", Ok(outcome.clone()));
        assert_eq!((world.client("a"), world.way("a").as_str()), (first, "go"));
        assert_eq!(world.offered(), ["mcp__a__t"]);
        assert!(world.state("a").listing_failed && world.state("a").error.is_some(), "{outcome:?}");
        assert!(world.manager.refresh("a", world.now), "it can be read anew");
        world.drain();
        world.page("a", &page(&["u"]));
        assert!(!world.state("a").listing_failed);
        // The first one belongs to the opening.
        let mut world = World::new(&["a"], by_exchanges);
        let first = world.client("a");
        world.ready("a");
        world.outcome("a", Ok(outcome.clone()));
        assert!(!world.open.contains_key(&first), "{outcome:?}");
    }
}
