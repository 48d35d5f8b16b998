//! Opened side by side, each in its time.

use super::*;
use crate::client::Verdict;

/// The settings of one server.
fn of<'a>(config: &'a mut HostConfig, server: &str) -> &'a mut ServerConfig {
    config.servers.get_mut(server).expect(server)
}

#[test]
fn servers_are_opened_side_by_side_each_in_its_own_time() {
    // H-070, H-087, H-089, H-091, H-092
    let mut world = World::new(&["c", "a", "b"], |config| {
        of(config, "b").connect_timeout = Some(Duration::from_secs(3));
        of(config, "c").connect_timeout = Some(Duration::ZERO);
    });
    assert_eq!(world.opens(), ["a", "b", "c"]);
    assert!(world.manager.states().iter().map(|state| &*state.name).eq(["a", "b", "c"]));
    assert_eq!(world.statuses(), ["connecting"; 3]);
    let untils = ["a", "b", "c"].map(|server| world.until(server).as_micros() / 1_000_000);
    assert_eq!(untils, [15, 3, 15], "nothing and zero mean the default");
    world.connect("c", &["t", "u"]);
    assert_eq!(
        world.told(),
        ["c +mcp__c__t +mcp__c__u", "c connected", "c speaks 2025-11-25: 2 tools"],
        "neither waits for the others"
    );
    world.wait(2_999);
    assert_eq!(world.told(), [""; 0]);
    world.wait(1);
    let late = "! b: it was not ready within 3000 ms (connect_timeout)";
    assert_eq!(world.told(), ["b failed", late]);
    assert!(!world.is_open("b"), "it is shut");
    // The first listing counts as well.
    world.ready("a");
    assert_eq!(world.listing("a").unwrap().options.absolute, Some(Duration::from_secs(12)));
    world.wait(12_000);
    let late = "! a: its tools were not listed within 15000 ms (connect_timeout)";
    assert_eq!(world.told(), ["a failed", late, "! 2 of 3", "started"]);
    assert_eq!(world.statuses(), ["failed", "failed", "connected"]);
    assert_eq!(world.opens(), ["c"]);
    assert_eq!(world.failed, ["b", "a"], "there is nothing that they have to bring to a good end");
    world.manager.close(world.now);
    world.drain();
    assert_eq!(world.opens(), [""; 0]);
    assert_eq!(world.failed, ["b", "a"], "but there is for one that could be called");
}

#[test]
fn only_so_many_start_at_once_and_a_slow_one_holds_up_nobody_else() {
    // H-087, H-091
    let mut world = World::new(&["a", "b", "c", "d"], |config| config.max_starting = 2);
    assert_eq!(world.opens(), ["a", "b"]);
    assert_eq!(world.statuses(), ["connecting"; 4]);
    world.wait(5_000);
    world.ready("b");
    assert_eq!(world.opens(), ["a", "b"], "a place is kept until the listing is read");
    world.page("b", &page(&["t"]));
    assert_eq!(world.opens(), ["a", "b", "c"]);
    assert_eq!(world.until("c"), Instant::from_millis(20_000), "its time begins with its turn");
    let c = world.client("c");
    world.manager.handle_not_opened(c, "no such program", world.now);
    world.drain();
    assert_eq!(world.opens(), ["a", "b", "d"], "in the order of their names");
    world.wait(10_000);
    assert_eq!(world.opens(), ["b", "d"], "the slow one is late; nobody waited for it");
    world.connect("d", &["t"]);
    assert_eq!(world.manager.shared.starting.taken(), 0);
    assert_eq!(world.statuses(), ["failed", "connected", "failed", "connected"]);
    // A call for one of them takes a place as well.
    assert_eq!([world.way("a"), world.way("c")], ["wait", "wait"]);
    world.lose("b");
    assert_eq!(world.opens(), ["a", "c", "d"], "b waits for its turn");
    assert_eq!(world.way("b"), "wait");
    world.connect("a", &["t"]);
    assert_eq!(world.opens(), ["a", "b", "c", "d"]);
}

#[test]
fn what_is_disabled_is_listed_and_never_started() {
    // H-088, H-090
    let mut off = World::new(&["a", "b"], |config| config.enabled = false);
    let mut one = World::new(&["a", "b"], |config| of(config, "b").enabled = false);
    assert_eq!((off.opens().len(), off.statuses()), (0, vec!["disabled"; 2]));
    assert_eq!((one.opens(), one.statuses()), (vec!["a"], vec!["connecting", "disabled"]));
    assert_eq!(off.told(), ["started"]);
    assert!(off.manager.is_started() && !one.manager.is_started());
    assert_eq!(off.way("a"), "disabled: ");
    assert!(!off.manager.reconnect("a", off.now) && !off.manager.refresh("a", off.now));
    off.drain();
    assert_eq!(off.opens().len(), 0);
    one.connect("a", &["t"]);
    assert_eq!(one.told()[1..], ["a connected", "a speaks 2025-11-25: 1 tools", "started"]);
    assert!(HostConfig::default().enabled && ServerConfig::default().enabled);
}

#[test]
fn when_all_were_tried_all_that_there_is_is_offered() {
    // H-093, H-100
    let mut world = World::new(&["a", "b", "c"], |_| ());
    world.connect("b", &["t"]);
    world.lose("a");
    assert!(!world.told().contains(&"started".into()));
    world.ready_as("c", Revision::V2026_07_28, LIST_CHANGED);
    assert!(
        world.asked.iter().any(|asked| matches!(asked.key, RequestKey::Listen(_))),
        "changes are watched"
    );
    assert!(!world.manager.is_started());
    world.page("c", &page(&["t"]));
    assert_eq!(world.told().last().map(String::as_str), Some("started"));
    assert_eq!(world.offered(), ["mcp__b__t", "mcp__c__t"]);
}

#[test]
fn that_all_were_tried_is_told_once_and_nothing_else_if_all_is_well() {
    // H-093, H-095, H-099
    let mut none = World::new(&[], |_| ());
    assert_eq!(none.told(), ["started"]);
    assert!(none.manager.is_started());
    let mut world = World::new(&["a", "b"], |_| ());
    world.connect("a", &[]);
    assert!(!world.manager.is_started());
    world.connect("b", &[]);
    assert!(world.manager.is_started());
    let all = [
        "a connected",
        "a speaks 2025-11-25: 0 tools",
        "b connected",
        "b speaks 2025-11-25: 0 tools",
        "started",
    ];
    assert_eq!(world.told(), all);
    world.lose("a");
    world.connect("a", &[]);
    assert_eq!(world.told(), ["a reconnecting", "a connected", "a speaks 2025-11-25: 0 tools"]);
}

#[test]
fn a_failure_is_told_once_until_the_server_was_connected_again() {
    // H-091, H-096, H-099, H-108
    let mut world = World::new(&["a", "b"], |_| ());
    world.connect("b", &[]);
    world.told();
    world.lose("a");
    assert_eq!(world.settled(), ["b", "a"]);
    let first = world.told();
    assert_eq!(first, ["a failed", "! a: the server ended its output", "! 1 of 2", "started"]);
    // A call tries again: nothing new is told of that failure.
    for status in ["failed", "failed", "unavailable"] {
        assert_eq!(world.way("a"), "wait");
        world.lose("a");
        assert_eq!(world.told(), ["a reconnecting".to_owned(), format!("a {status}")]);
        assert_eq!(world.settled(), ["a"]);
    }
    assert_eq!(world.way("a"), "unavailable: the server ended its output", "it starts nothing any more");
    assert_eq!(world.opens(), ["b"]);
    assert!(world.manager.reconnect("a", world.now));
    world.drain();
    world.connect("a", &[]);
    assert_eq!(world.told(), ["a reconnecting", "a connected", "a speaks 2025-11-25: 0 tools"]);
    assert_eq!((world.state("a").error, world.way("a")), (None, "go".into()));
    for _ in 0..4 {
        world.lose("a");
    }
    assert_eq!(world.told(), ["a reconnecting", "a unavailable", "! a: the server ended its output"]);
}

#[test]
fn a_server_that_dies_of_the_probe_is_opened_otherwise_in_the_same_time() {
    // H-070, H-244
    let mut world = World::new(&["a", "b"], |config| config.max_starting = 1);
    world.wait(1_000);
    let first = world.client("a");
    world.event(first, client::Event::Verdict(Verdict::Died));
    world.close_with("a", CloseReason::DiedOnProbe);
    assert_ne!(world.client("a"), first);
    assert_eq!(world.opens(), ["a"], "it keeps its place");
    assert_eq!(*world.start("a"), Start::Remembered(Verdict::Died));
    assert_eq!(world.until("a"), Instant::from_millis(15_000));
    assert_eq!((world.told(), world.statuses()), (vec!["a is Died".into()], vec!["connecting"; 2]));
    world.event(world.client("a"), client::Event::Verdict(Verdict::Legacy));
    world.connect("a", &["t"]);
    let up = ["a is Legacy", "a +mcp__a__t", "a connected", "a speaks 2025-11-25: 1 tools"];
    assert_eq!(world.told(), up);
    assert_eq!(world.state("a").verdict, Some(Verdict::Legacy));
    world.lose("a");
    world.lose("b");
    assert_eq!(*world.start("a"), Start::Remembered(Verdict::Legacy), "it is remembered");
    // Once an attempt: after that it has failed.
    world.close_with(
        "a",
        CloseReason::Refused { method: Method::Initialize, error: ErrorObject::new(-32601, "") },
    );
    assert_eq!(*world.start("a"), Start::Unknown, "what proved wrong is forgotten");
    let twice = world.client("a");
    world.close_with("a", CloseReason::DiedOnProbe);
    assert_ne!(world.client("a"), twice);
    assert_eq!((world.manager.slots[0].link.failures(), world.start("a")), (1, &Start::Unknown));
}

#[test]
fn no_time_is_no_second_try_and_a_pinned_revision_stays() {
    let pinned = Start::Pinned(Revision::V2025_11_25);
    let mut world = World::new(&["a", "b"], |config| {
        of(config, "a").start = Start::Remembered(Verdict::Modern);
        of(config, "b").start = pinned.clone();
    });
    assert_eq!([world.start("a"), world.start("b")], [&Start::Remembered(Verdict::Modern), &pinned]);
    assert_eq!(world.state("a").verdict, Some(Verdict::Modern));
    world.now = Instant::from_millis(15_000);
    world.close_with(
        "a",
        CloseReason::ConnectTimeout { waiting_for: Method::ServerDiscover, limit_ms: 15_000 },
    );
    assert!(!world.is_open("a"));
    world.event(world.client("b"), client::Event::Verdict(Verdict::Died));
    world.close_with("b", CloseReason::DiedOnProbe);
    assert!(!world.is_open("b"));
    assert_eq!([world.way("a"), world.way("b")], ["wait", "wait"]);
    assert_eq!([world.start("a"), world.start("b")], [&Start::Unknown, &pinned]);
    assert!(!world.told().iter().any(|told| told.contains(" is ")));
    assert_eq!(world.state("b").verdict, None);
}

#[test]
fn errors_of_strangers_are_masked_on_one_line_and_cut() {
    let mut world =
        World::new(&["a", "b", "c"], |config| config.mask = crate::host::Mask::new(["hunter2hunter2"]));
    let error = ErrorObject::new(-32000, "no\nhunter2hunter2\u{202e}");
    world.close_with("a", CloseReason::Refused { method: Method::Initialize, error });
    let said = "the server refused initialize (error -32000): no\\n***\\u{202e}";
    assert_eq!(world.told(), ["a failed".to_owned(), format!("! a: {said}")]);
    assert_eq!(world.way("c"), "wait");
    let (b, c) = (world.client("b"), world.client("c"));
    world.manager.handle_not_opened(b, &"日".repeat(5_000), world.now);
    world.manager.handle_not_opened(c, &"\u{7}".repeat(5_000), world.now);
    world.drain();
    for server in ["b", "c"] {
        let error = world.state(server).error.unwrap();
        assert!((2_040..=2_048).contains(&error.len()) && error.ends_with("..."), "{}", error.len());
    }
    assert!(world.way("a").starts_with("wait"));
}

#[test]
fn an_introduction_is_kept_within_bounds_and_holds_on_to_no_message() {
    let long = "日".repeat(40_000);
    let mut world = World::new(&["a", "b"], |_| ());
    for (server, filler) in [("a", ""), ("b", &*long)] {
        let text = format!(r#"{{"capabilities":{{"tools":{{}}}},"x":"{filler}"}}{}"#, " ".repeat(100_000));
        let raw = RawJson::parse_str(&text).unwrap();
        let capabilities = raw.slice_of(raw.view().get("capabilities").unwrap());
        let mut said = peer(Revision::V2025_11_25, "{}");
        (said.capabilities, said.raw) = (ServerCapabilities::new(capabilities), raw);
        said.instructions = Some(long.clone());
        said.server = Implementation::new(&long, &long);
        world.event(world.client(server), client::Event::Ready(said.into()));
    }
    let of = |server: &str| world.state(server).peer.unwrap();
    let (a, b) = (of("a"), of("b"));
    assert!(a.raw.retained_len() < 100 && a.raw.view().get("x").is_some());
    assert_eq!(a.instructions.as_deref(), Some(&*long), "whatever it holds, it was within the message");
    assert_eq!((b.raw.as_str(), b.capabilities.has("tools")), ("{}", true));
    assert_eq!(b.instructions.as_ref().map(String::len), Some(65_535));
    assert_eq!([b.server.name.len(), b.server.version.len()], [255, 255]);
    assert!(b.capabilities.raw().unwrap().retained_len() < 100);
}

#[test]
fn settings_out_of_range_are_told_by_name() {
    let set = |change: fn(&mut HostConfig)| {
        let mut config = HostConfig::default();
        change(&mut config);
        Manager::new(&config, Instant::ZERO).map(|_| ()).unwrap_err().field
    };
    assert_eq!(set(|config| config.max_starting = 0), "max_starting");
    assert_eq!(set(|config| config.definitions.max_tools = 0), "max_tools");
    assert_eq!(set(|config| config.limits.max_json_depth = 0), "max_json_depth");
    assert_eq!(
        set(|config| {
            config.servers.insert("a".into(), ServerConfig::default());
            config.reconnect.max_attempts = 0;
        }),
        "max_attempts"
    );
}
