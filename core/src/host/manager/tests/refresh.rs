//! Listings that change while their server is connected.

use super::*;
use crate::client::Deadline;
use crate::host::Provenance;
use crate::host::policy::Grants;

fn set(mode: RefreshMode) -> impl FnOnce(&mut HostConfig) {
    move |config| config.refresh.mode = mode
}

/// Servers that are connected and were listed a while ago.
fn calm(servers: &[&str], set: impl FnOnce(&mut HostConfig)) -> World {
    let mut world = World::up(servers, set);
    world.wait(1_000);
    world
}

impl World {
    /// The server says that its tools changed, and lists these.
    fn relist(&mut self, server: &str, tools: &[&str]) {
        self.wait(1_000);
        self.changed(server);
        self.page(server, &page(tools));
    }

    fn listens(&self, server: &str) -> Option<&Asked> {
        let key = RequestKey::Listen(self.client(server));
        self.asked.iter().find(|asked| asked.key == key)
    }

    fn end_listen(&mut self, server: &str, outcome: Ended) {
        let client = self.client(server);
        let before = self.asked.len();
        self.asked.retain(|asked| asked.key != RequestKey::Listen(client));
        assert_eq!(self.asked.len() + 1, before, "{server} is not listened to");
        self.manager.handle_listen(client, &outcome, self.now);
        self.drain();
    }
}

#[test]
fn what_changed_is_offered_from_the_next_turn_on_by_default() {
    // H-207, H-211
    assert_eq!(HostConfig::default().refresh.mode, RefreshMode::Staged);
    let mut world = calm(&["a", "b"], |_| ());
    world.changed("a");
    let asked = world.listing("a").expect("it is read anew");
    assert_eq!(asked.options.absolute, Some(Duration::from_secs(30)));
    assert!(!world.is_asked("b"));
    world.page("a", &page(&["t=other", "u"]));
    assert_eq!(world.told(), ["a staged +mcp__a__u ~mcp__a__t"]);
    assert_eq!(world.offered(), ["mcp__a__t", "mcp__b__t"]);
    assert_eq!(world.state("a").tools.unwrap().tools.len(), 1, "what is staged is not shown");
    world.begin_turn();
    assert_eq!(world.told(), ["a +mcp__a__u ~mcp__a__t"]);
    assert_eq!(world.offered(), ["mcp__a__t", "mcp__a__u", "mcp__b__t"]);
    world.begin_turn();
    assert_eq!(world.told(), [""; 0]);
    // The last listing before the turn counts.
    world.relist("a", &["t=other"]);
    world.relist("a", &["t=other", "v"]);
    world.relist("a", &["v", "t=other"]);
    assert_eq!(world.told(), ["a staged -mcp__a__u", "a staged +mcp__a__v -mcp__a__u"]);
    world.relist("a", &["t=other", "u"]);
    assert_eq!(world.told(), ["a staged"], "nothing will change after all");
    world.begin_turn();
    assert_eq!(world.told(), [""; 0]);
}

#[test]
fn a_session_that_was_opened_anew_is_listed_anew() {
    // P-214: what was read in the old one is stale.
    let mut world = calm(&["a", "b"], |_| ());
    let introduction = peer(Revision::V2025_11_25, r#"{"tools":{}}"#);
    world.event(world.client("a"), client::Event::Renewed(introduction.into()));
    assert!(world.is_asked("a") && !world.is_asked("b"));
    world.page("a", &page(&["u"]));
    world.begin_turn();
    assert_eq!(world.offered(), ["mcp__a__u", "mcp__b__t"]);
}

#[test]
fn what_changed_is_offered_at_once_if_so_set() {
    // H-207
    let mut world = calm(&["a"], set(RefreshMode::Live));
    world.relist("a", &["u"]);
    assert_eq!(world.told(), ["a +mcp__a__u -mcp__a__t"]);
    assert_eq!(world.offered(), ["mcp__a__u"]);
    world.begin_turn();
    assert_eq!(world.told(), [""; 0]);
}

#[test]
fn what_was_offered_first_stays_if_so_set() {
    // H-210
    let mut world = calm(&["a", "b"], |config| {
        config.refresh.mode = RefreshMode::Frozen;
        config.refresh.poll = Some(Duration::from_secs(60));
    });
    world.changed("a");
    world.wait(100_000);
    assert!(!world.is_asked("a"));
    world.lose("b");
    world.ready_as("b", Revision::V2026_07_28, LIST_CHANGED);
    assert!(world.listens("b").is_none() && !world.is_asked("b"));
    world.wait(100_000);
    world.told();
    // Somebody asks for it: not within a turn.
    assert!(world.manager.refresh("a", world.now));
    world.drain();
    world.page("a", &page(&["u"]));
    assert_eq!(world.told(), ["a staged +mcp__a__u -mcp__a__t"]);
    assert_eq!(world.offered(), ["mcp__a__t", "mcp__b__t"]);
}

#[test]
fn filters_bounds_and_names_apply_to_each_listing() {
    // H-211
    let mut world = calm(&["a"], |config| {
        config.refresh.mode = RefreshMode::Live;
        config.servers.get_mut("a").unwrap().filter.blocked_tools = vec!["bl*".into()];
        config.definitions.max_schema_bytes = 64;
    });
    world.told();
    world.changed("a");
    let big = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(64));
    let listed =
        format!(r#"{{"tools":[{{"name":"t"}},{{"name":"blocked"}},{{"name":"big","inputSchema":{big}}}]}}"#);
    world.page("a", &listed);
    let outcomes: Vec<_> = world.state("a").tools.unwrap().tools.iter().map(|t| t.outcome.as_str()).collect();
    assert_eq!(outcomes, ["registered", "filtered", "skipped"]);
    assert_eq!(world.offered(), ["mcp__a__t"]);
}

#[test]
fn a_listing_that_says_the_same_does_nothing() {
    // H-208
    let mut world = World::new(&["a"], set(RefreshMode::Live));
    let tool = |schema: &str| format!(r#"{{"name":"t","description":"d","inputSchema":{schema}}}"#);
    let listed = |tools: &[String]| format!(r#"{{"tools":[{}]}}"#, tools.join(","));
    world.ready("a");
    let other = r#"{"name":"u"}"#.to_owned();
    world.page("a", &listed(&[tool(r#"{"type":"object","title":"x"}"#), other.clone()]));
    world.told();
    let before = world.state("a").tools.unwrap();
    let (spaced, turned) =
        (tool(r#"{ "type" : "object", "title":"x"}"#), tool(r#"{"title":"x","type":"object"}"#));
    for (tools, same) in [
        ([spaced, other.clone()], true),
        ([other.clone(), turned], true),
        ([tool(r#"{"type":"object","title":"y"}"#), other.clone()], false),
    ] {
        world.wait(1_000);
        world.changed("a");
        world.page("a", &listed(&tools));
        let after = world.state("a").tools.unwrap();
        assert_eq!(Arc::ptr_eq(&before, &after), same, "{tools:?}");
        assert_eq!(world.told().len(), usize::from(!same), "{tools:?}");
    }
}

#[test]
fn a_refresh_that_fails_keeps_the_tools_and_the_error() {
    // H-209, H-104
    let limit = Duration::from_secs(30);
    let late = || Ok(Outcome::TimedOut { which: Deadline::Absolute, limit, mistyped_reply: false });
    type Failure = (fn() -> Ended, &'static str);
    let failures: [Failure; 2] = [
        (|| error(-32603, "no"), "its tools could not be listed: error -32603: no"),
        (
            || Err(ApiError::TooManyInFlight { limit: 1 }),
            "its tools could not be listed: 1 requests are open already; wait for one to finish",
        ),
    ];
    for (failure, why) in failures {
        let mut world = calm(&["a"], set(RefreshMode::Live));
        let client = world.client("a");
        for outcome in [failure(), late(), failure()] {
            world.wait(1_000);
            world.changed("a");
            world.outcome("a", outcome);
            assert_eq!((world.client("a"), world.offered()), (client, vec!["mcp__a__t"]));
        }
        assert_eq!(world.told(), [format!("! a list: {why}")], "told until one succeeds");
        let state = world.state("a");
        assert_eq!((state.listing_failed, state.error.as_deref()), (true, Some(why)));
        // Half of a listing is none.
        world.wait(1_000);
        world.changed("a");
        world.page("a", r#"{"tools":[{"name":"x"}],"nextCursor":"2"}"#);
        world.outcome("a", failure());
        assert_eq!(world.offered(), ["mcp__a__t"]);
        world.relist("a", &["t"]);
        let state = world.state("a");
        assert_eq!((state.listing_failed, state.error, world.told().len()), (false, None, 0));
    }
}

#[test]
fn pages_that_take_too_long_together_are_a_failure() {
    // H-207
    let mut world = calm(&["a"], |_| ());
    world.changed("a");
    world.wait(29_999);
    world.page("a", r#"{"tools":[{"name":"x"}],"nextCursor":"2"}"#);
    assert_eq!(world.listing("a").unwrap().options.absolute, Some(Duration::from_millis(1)));
    world.wait(1);
    world.page("a", r#"{"tools":[{"name":"y"}],"nextCursor":"3"}"#);
    assert_eq!(world.told(), ["! a list: its tools could not be listed: no answer in time"]);
    assert!(!world.is_asked("a"));
}

#[test]
fn a_connection_lost_with_its_listing_is_opened_anew() {
    // H-103, H-207
    let mut world = calm(&["a"], |_| ());
    let first = world.client("a");
    world.changed("a");
    world.outcome("a", Ok(Outcome::Lost { maybe_ran: true }));
    assert_eq!((world.told(), world.statuses()), (vec!["a reconnecting".into()], vec!["reconnecting"]));
    world.ready("a");
    assert_ne!(world.client("a"), first);
    // What the connection before was asked is nobody's any more.
    let page = RawJson::parse_str(&page(&["late"])).unwrap();
    world.manager.handle_outcome(first, Ok(Outcome::Complete(page)), world.now);
    world.drain();
    assert_eq!(world.offered(), ["mcp__a__t"]);
}

#[test]
fn there_is_one_listing_at_a_time_and_one_more_for_what_changed_meanwhile() {
    // H-207
    let mut world = calm(&["a"], set(RefreshMode::Live));
    for _ in 0..3 {
        world.changed("a");
    }
    world.page("a", &page(&["u"]));
    assert!(!world.is_asked("a"), "a server is not asked without a pause");
    assert_eq!(world.manager.poll_timeout(), Some(Instant::from_millis(2_000)));
    world.wait(999);
    assert!(!world.is_asked("a"));
    world.wait(1);
    world.page("a", &page(&["v"]));
    world.wait(100_000);
    assert!(!world.is_asked("a"));
    assert_eq!(world.told(), ["a +mcp__a__u -mcp__a__t", "a +mcp__a__v -mcp__a__u"]);
    // Also while the first one is read.
    let mut world = World::new(&["a"], set(RefreshMode::Live));
    world.ready("a");
    world.changed("a");
    world.page("a", &page(&["t"]));
    world.wait(1_000);
    assert!(world.is_asked("a"));
    world.changed("a");
    world.lose("a");
    world.ready("a");
    world.wait(100_000);
    assert!(!world.is_asked("a"), "that was another connection");
}

#[test]
fn a_listing_is_read_again_from_time_to_time_if_so_set() {
    // H-208
    let mut world = World::up(&["a"], |config| {
        config.refresh.poll = Some(Duration::from_secs(60));
    });
    world.wait(59_999);
    assert!(!world.is_asked("a"));
    world.wait(1);
    world.wait(10_000);
    world.page("a", &page(&["t"]));
    assert_eq!(
        world.manager.poll_timeout(),
        Some(Instant::from_millis(130_000)),
        "from the end of the one before"
    );
    world.wait(59_000);
    world.changed("a");
    world.outcome("a", error(1, ""));
    assert_eq!(world.manager.poll_timeout(), Some(Instant::from_millis(189_000)));
    world.lose("a");
    world.ready("a");
    assert_eq!(world.manager.poll_timeout(), Some(Instant::from_millis(189_000)));
    let none = World::up(&["a"], |config| config.refresh.poll = Some(Duration::ZERO));
    assert_eq!(none.manager.poll_timeout(), None);
}

#[test]
fn a_tool_that_is_defined_otherwise_loses_its_grant() {
    // H-068, H-211
    let mut world = calm(&["a"], |_| ());
    let tool = Provenance::new("a", "t");
    let hash = |world: &World| world.manager.registry().find("a", "t").unwrap().definition.hash;
    let mut grants = Grants::default();
    grants.allow(&tool, hash(&world));
    world.relist("a", &["t=other"]);
    assert!(grants.holds(&tool, hash(&world)), "staged: what is offered is what was allowed");
    world.begin_turn();
    assert!(!grants.holds(&tool, hash(&world)));
}

#[test]
fn a_modern_server_is_asked_to_tell_of_changes_before_it_is_listed() {
    // H-207 P-129
    let mut world = World::new(&["a", "b", "c"], set(RefreshMode::Live));
    let modern = Revision::V2026_07_28;
    world.ready_as("a", modern, LIST_CHANGED);
    world.ready_as("b", modern, r#"{"tools":{}}"#);
    world.ready_as("c", Revision::V2025_11_25, LIST_CHANGED);
    assert!(world.listens("b").is_none() && world.listens("c").is_none());
    let asked = world.listens("a").unwrap();
    let first = world.asked.iter().find(|asked| asked.client == world.client("a")).unwrap();
    assert_eq!((first.key, &asked.method), (asked.key, &Method::SubscriptionsListen));
    let params = asked.params.as_ref().map(RawJson::as_str);
    assert_eq!(params, Some(r#"{"notifications":{"toolsListChanged":true}}"#));
    assert_eq!((asked.options.idle, asked.options.absolute), (None, None));
    world.page("a", &page(&["t"]));
    world.changed("a");
    world.wait(1_000);
    assert!(world.is_asked("a"));
    world.page("a", &page(&["t"]));
    // One that ends is made again, and what changed meanwhile is read.
    for outcome in [
        Ok(Outcome::Complete(RawJson::empty_object())),
        Ok(Outcome::Lost { maybe_ran: true }),
        Ok(Outcome::Cancelled),
    ] {
        world.end_listen("a", outcome);
        assert_eq!(world.statuses()[0], "connected");
        world.wait(29_999);
        assert!(world.listens("a").is_none() && !world.is_asked("a"));
        world.wait(1);
        assert!(world.listens("a").is_some());
        world.page("a", &page(&["t"]));
    }
    world.end_listen("a", error(-32601, "no"));
    world.wait(1_000_000);
    assert!(world.listens("a").is_none(), "one that is refused is not");
    // It ends with its connection.
    world.lose("a");
    world.ready_as("a", modern, LIST_CHANGED);
    assert!(world.listens("a").is_some() && !world.is_asked("a"));
}

#[test]
fn only_so_many_listings_are_read_anew_at_once() {
    // H-207
    let mut world = calm(&["a", "b", "c"], |config| {
        config.max_starting = 2;
        config.refresh.poll = Some(Duration::from_secs(60));
    });
    let asked = |world: &World| ["a", "b", "c"].map(|server| world.is_open(server) && world.is_asked(server));
    world.wait(59_000);
    assert_eq!(asked(&world), [true, true, false]);
    world.changed("c");
    world.wait(10_000);
    world.page("b", &page(&["t"]));
    assert_eq!(asked(&world), [true, false, true]);
    assert_eq!(
        world.listing("c").unwrap().options.absolute,
        Some(Duration::from_secs(30)),
        "from its turn on"
    );
    // A place is free when its connection ends, and nobody waits who is gone.
    world.wait(1_000);
    world.changed("b");
    world.lose("c");
    assert_eq!(asked(&world), [true, true, false]);
    world.ready("c");
    world.wait(1_000);
    assert!(world.manager.refresh("c", world.now));
    world.drain();
    world.lose("c");
    world.page("a", &page(&["t"]));
    world.page("b", &page(&["t"]));
    assert_eq!(world.manager.shared.relisting.taken(), 0);
    assert_eq!(asked(&world), [false; 3]);
}
