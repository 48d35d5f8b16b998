//! Our client against our server, in every revision, over links of every shape.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{self, Event, InputAnswers, Link as _, Outcome, RequestHandle, RequestOptions, Start};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::input::InputAnswer;
use sanswire::mcp::types::log::LogLevel;
use sanswire::mcp::{Era, Method, Revision};
use sanswire::server;
use sanswire_tests::client::{json, value};
use sanswire_tests::link::Shape;
use sanswire_tests::pair::Pair;
use sanswire_tests::seed::{Rng, each_seed};
use sanswire_tests::served;
use sanswire_tests::served_app::{App, app};
use serde_json::{Value, json};

type Talk = Pair<client::LineConnection, App>;

fn talk(start: Start, revisions: &[Revision], shapes: [Shape; 2], seed: u64) -> Talk {
    let now = Instant::from_millis(1000);
    let mut config = client::Config::new("pair", "1");
    config.start = start;
    config.capabilities.elicitation_form = true;
    config.log_level = Some(LogLevel::Debug);
    let mut served = served::config();
    served.revisions = revisions.to_vec();
    served.page_size = 10;
    let client = client::LineConnection::new(config, [1; 32], now).unwrap();
    let server = server::LineConnection::new(served, [2; 32], now).unwrap();
    Pair::new(client, app(server), shapes, seed, now)
}

fn ready(pair: &mut Talk) -> Revision {
    pair.run_until("ready", |pair| pair.a.machine.session().revision().is_some());
    pair.settle();
    pair.a.machine.session().revision().unwrap()
}

fn ask(pair: &mut Talk, method: Method, params: Option<&str>) -> RequestHandle {
    let now = pair.now();
    let request = pair.a.machine.request(method, params.map(json), &RequestOptions::default(), now).unwrap();
    pair.a.ledger.accept(request);
    request
}

fn outcome(pair: &mut Talk, request: RequestHandle) -> Outcome {
    let find = |pair: &Talk| {
        pair.a.events.iter().find_map(|(_, event)| match event {
            Event::Finished { request: of, outcome } if *of == request => Some(outcome.clone()),
            _ => None,
        })
    };
    pair.run_until("finished", |pair| find(pair).is_some());
    find(pair).unwrap()
}

fn call(pair: &mut Talk, name: &str, arguments: Value) -> Outcome {
    let params = json!({"name": name, "arguments": arguments}).to_string();
    let request = ask(pair, Method::ToolsCall, Some(&params));
    outcome(pair, request)
}

fn text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Complete(result) => value(&result)["content"][0]["text"].as_str().unwrap().to_owned(),
        other => panic!("no result but {other:?}"),
    }
}

fn notified(pair: &Talk, wanted: &Method) -> usize {
    let is_it = |event: &Event| matches!(event, Event::Notification { method, .. } if method == wanted);
    pair.a.events.iter().filter(|(_, event)| is_it(event)).count()
}

/// Everything that the two can do with each other.
fn tour(pair: &mut Talk) {
    let revision = ready(pair);
    assert_eq!(text(call(pair, "echo", json!({"x": 1}))), r#"{"x":1}"#);
    assert_eq!(text(call(pair, "fail", json!({}))), "it failed");
    assert_eq!(text(call(pair, "slow", json!({"ms": 300}))), "slow");
    assert_eq!(text(call(pair, "big", json!({"bytes": 40_000}))).len(), 40_000);
    assert!(matches!(call(pair, "nowhere", json!({})), Outcome::Error(error) if error.code == -32602));

    assert_eq!(text(call(pair, "steps", json!({"n": 5}))), "done");
    let steps = pair.a.events.iter().filter(|(_, event)| matches!(event, Event::Progress { .. })).count();
    assert_eq!(steps, 5);
    assert_eq!(notified(pair, &Method::LogMessage), 5);

    let asking = ask(pair, Method::ToolsCall, Some(r#"{"name":"ask"}"#));
    answer_in_session(pair, revision);
    let accepted = r#"{"action":"accept","content":{"name":"n"}}"#;
    match outcome(pair, asking) {
        Outcome::InputRequired(input) => {
            assert_eq!(revision.era(), Era::Modern);
            let answers = InputAnswers::collect(&input, |_| form());
            let now = pair.now();
            let request = pair.a.machine.resume(&input, &answers, &RequestOptions::default(), now).unwrap();
            pair.a.ledger.accept(request);
            assert_eq!(text(outcome(pair, request)), accepted);
        }
        other if revision >= Revision::V2025_06_18 => assert_eq!(text(other), accepted),
        // Nobody can be asked.
        other => assert_eq!(value_of(other)["isError"], true),
    }

    let mut listing =
        client::Listing::new(Method::ResourcesList, &pair.a.machine.session().config().limits.clone());
    let (method, mut params) = listing.first();
    let pages = loop {
        let now = pair.now();
        let request =
            pair.a.machine.request(method.clone(), params, &RequestOptions::default(), now).unwrap();
        pair.a.ledger.accept(request);
        match listing.next(outcome(pair, request)) {
            client::listing::Step::Request(_, next) => params = next,
            client::listing::Step::Done(listed) => break listed.pages,
        }
    };
    assert_eq!(pages.len(), 3);
    for (method, params) in [
        (Method::PromptsGet, r#"{"name":"greet"}"#),
        (Method::ResourcesRead, r#"{"uri":"file:///1"}"#),
        (
            Method::CompletionComplete,
            r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":""}}"#,
        ),
    ] {
        let request = ask(pair, method, Some(params));
        let Outcome::Complete(_) = outcome(pair, request) else { panic!("{params}") };
    }
    let request = ask(pair, Method::ResourcesRead, Some(r#"{"uri":"other:///"}"#));
    assert!(matches!(outcome(pair, request), Outcome::Error(error) if matches!(error.code, -32002 | -32602)));

    let slow = ask(pair, Method::ToolsCall, Some(r#"{"name":"slow","arguments":{"ms":60000}}"#));
    pair.run_for(Duration::from_millis(500));
    let now = pair.now();
    pair.a.machine.cancel(slow, Some("enough"), now).unwrap();
    assert_eq!(outcome(pair, slow), Outcome::Cancelled);
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.b.machine.application.counts[2], 1, "the server was told");

    if revision.era() == Era::Modern {
        let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
        let listen = ask(pair, Method::SubscriptionsListen, Some(filter));
        pair.run_for(Duration::from_secs(1));
        let now = pair.now();
        pair.b.machine.server.tools_changed(now);
        pair.run_for(Duration::from_secs(2));
        assert_eq!(notified(pair, &Method::ToolsListChanged), 1);
        let now = pair.now();
        pair.b.machine.server.end_subscriptions(now);
        assert!(matches!(outcome(pair, listen), Outcome::Complete(_)));
    } else {
        let now = pair.now();
        pair.b.machine.server.tools_changed(now);
        pair.run_for(Duration::from_secs(2));
        assert_eq!(notified(pair, &Method::ToolsListChanged), 1);
    }
    let violations: Vec<_> =
        pair.a.events.iter().filter(|(_, event)| matches!(event, Event::Violation(_))).collect();
    assert!(violations.is_empty(), "{revision}: our server gives our client no cause: {violations:?}");
    assert_eq!(pair.b.machine.server.session().stats().violations, 0);
    let [reported, answered, cancelled] = pair.b.machine.application.counts;
    assert_eq!(reported, answered + cancelled);
}

fn value_of(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Complete(result) => value(&result),
        other => panic!("{other:?}"),
    }
}

fn form() -> InputAnswer {
    let content: RawJson = json(r#"{"name":"n"}"#);
    InputAnswer::accept(Some(&content))
}

/// In a session a question comes, and is answered, while the call is open.
fn answer_in_session(pair: &mut Talk, revision: Revision) {
    if revision.era() == Era::Modern || revision < Revision::V2025_06_18 {
        return;
    }
    let asked = |pair: &Talk| {
        pair.a.events.iter().find_map(|(_, event)| match event {
            Event::PeerRequest { handle, .. } => Some(*handle),
            _ => None,
        })
    };
    pair.run_until("asked", |pair| asked(pair).is_some());
    let handle = asked(pair).unwrap();
    let now = pair.now();
    pair.a.machine.answer(handle, &form(), now).unwrap();
}

#[test]
fn every_revision_can_do_all_it_has() {
    // P-023
    for revision in Revision::ALL {
        let mut pair = talk(Start::Pinned(revision), &Revision::ALL, [Shape::default(), Shape::default()], 1);
        tour(&mut pair);
        assert_eq!(pair.a.machine.session().revision(), Some(revision));
    }
}

#[test]
fn a_client_that_knows_nothing_finds_what_the_server_speaks() {
    for (revisions, found) in [
        (&Revision::ALL[..], Revision::V2026_07_28),
        (&[Revision::V2025_11_25, Revision::V2025_06_18][..], Revision::V2025_11_25),
        (&[Revision::V2024_11_05][..], Revision::V2024_11_05),
        (&[Revision::V2026_07_28][..], Revision::V2026_07_28),
    ] {
        let mut pair = talk(Start::Unknown, revisions, [Shape::default(), Shape::default()], 1);
        assert_eq!(ready(&mut pair), found);
        assert_eq!(text(call(&mut pair, "echo", json!({}))), "{}");
        assert!(pair.now() < Instant::from_millis(1100), "no deadline was waited for");
    }
}

#[test]
fn the_end_of_the_client_is_the_end_of_the_server_behind_its_last_answer() {
    let mut pair = talk(Start::Unknown, &Revision::ALL, [Shape::default(), Shape::default()], 1);
    ready(&mut pair);
    ask(&mut pair, Method::ToolsCall, Some(r#"{"name":"slow","arguments":{"ms":1000}}"#));
    pair.settle();
    let now = pair.now();
    pair.a_to_b.close(now);
    pair.run_until("closed", |pair| pair.b.ledger.is_closed());
    assert_eq!(pair.b.machine.application.counts, [1, 1, 0]);
    assert_eq!(pair.now(), Instant::from_millis(2000));
}

#[test]
fn a_tour_is_the_same_over_links_of_any_shape() {
    // Golden rules 3 and 4 of both sides at once.
    each_seed(25, |seed| {
        let mut rng = Rng::new(seed);
        let shapes = [Shape::any(rng.number()), Shape::any(rng.number())];
        let revision = *rng.pick(&Revision::ALL);
        let mut pair = talk(Start::Pinned(revision), &Revision::ALL, shapes, seed);
        tour(&mut pair);
    });
}
