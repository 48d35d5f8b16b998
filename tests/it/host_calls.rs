//! Calls of a host: their time, their ends, and what is left on the connection.

use std::time::Duration;

use sanswire::host::link::Status;
use sanswire::host::policy::ServerMode;
use sanswire::host::{CallOutcome, CallRequest, Target};
use sanswire_tests::client::json;
use sanswire_tests::fixture::{legacy_fixture, modern_fixture};
use sanswire_tests::fleet::{Started, World, at_first, host_config, runs};
use sanswire_tests::peer::Received;
use serde_json::json;

const SECOND: Duration = Duration::from_secs(1);

/// A host with a server of each era.
fn both() -> World {
    World::started(
        host_config(&["new", "old"]),
        vec![("new", runs(modern_fixture)), ("old", runs(legacy_fixture))],
    )
}

#[test]
fn a_call_that_takes_too_long_costs_nothing_but_itself() {
    // H-069 H-071 H-072
    let mut config = host_config(&["new", "old"]);
    config.timeouts.tools.insert("mcp__new__sleep".into(), SECOND);
    config.timeouts.tools.insert("mcp__old__sleep".into(), SECOND);
    let mut world =
        World::started(config, vec![("new", runs(modern_fixture)), ("old", runs(legacy_fixture))]);
    for server in ["new", "old"] {
        let began = world.elapsed_ms();
        let call = world.call(&format!("mcp__{server}__sleep"), r#"{"ms":5000}"#);
        let other = world.call(&format!("mcp__{server}__echo"), r#"{"text":"meanwhile"}"#);
        assert_eq!(world.complete(other), "meanwhile");
        assert!(matches!(world.end(call), CallOutcome::TimedOut(limit) if limit == SECOND));
        assert_eq!(world.elapsed_ms() - began, 1000);
        world.wait_ms(10);
        let notices = world.received(server, "notifications/cancelled");
        assert_eq!(notices.len(), 1, "its server is told");
        assert_eq!(
            notices[0].message["params"]["requestId"],
            world.received(server, "tools/call")[0].message["id"]
        );
        // The answer comes all the same, and belongs to nobody.
        world.wait_ms(6000);
        let next = world.call(&format!("mcp__{server}__echo"), r#"{"text":"same session"}"#);
        assert_eq!(world.complete(next), "same session");
        assert_eq!((world.starts(server), world.status(server)), (1, Status::Connected));
        assert_eq!(world.statuses(server), [Status::Connected]);
    }
    let patient = world.call("mcp__old__big_output", r#"{"bytes":5}"#);
    assert_eq!(world.complete(patient), "XXXXX");
}

#[test]
fn every_end_of_a_call_is_one_of_a_few() {
    // H-071 H-242 H-234
    let mut config = host_config(&["s"]);
    config.timeouts.default = SECOND;
    let mut world = World::started(config, vec![("s", at_first(legacy_fixture(), |_| Started::Missing))]);
    let mut ends = |tool: &str, arguments: &str| {
        let call = world.call(tool, arguments);
        world.end(call).as_str()
    };
    assert_eq!(ends("mcp__s__echo", "{}"), "completed");
    assert_eq!(ends("mcp__s__boom", "{}"), "tool_error");
    assert_eq!(ends("mcp__s__sleep", r#"{"ms":5000}"#), "timeout");
    world.run_of("s").peer.server.on("tools/call", |request, out| match request["params"]["name"].as_str() {
        Some("echo") => out.error(request, -32603, "broken"),
        Some("boom") => out.result(request, json!([1])),
        _ => out.close(),
    });
    let mut ends = |tool: &str, arguments: &str| {
        let call = world.call(tool, arguments);
        world.end(call).as_str()
    };
    assert_eq!(ends("mcp__s__echo", "{}"), "protocol_error");
    assert_eq!(ends("mcp__s__boom", "{}"), "protocol_error");
    assert_eq!(ends("mcp__s__die", "{}"), "disconnected");
    assert_eq!(ends("mcp__s__echo", r#"{"n":1}"#), "unavailable");
    assert_eq!(world.open_calls(), 0);
}

#[test]
fn results_are_cut_for_the_model_and_whole_beside_it() {
    // H-079 H-085
    let mut world = both();
    let call = world.call("mcp__old__big_output", r#"{"bytes":70000}"#);
    let CallOutcome::Completed(result) = world.end(call) else { panic!("{}", world.report()) };
    assert_eq!((result.presented.shown, result.presented.total), (65_536, 70_000));
    assert!(result.presented.text.ends_with("\n<truncated output shown=65536 total=70000>"));
    assert!(result.raw.unwrap().len() > 70_000);
    let owner = sanswire::server::Principal::anonymous();
    let now = world.now();
    let page = world.fleet.host_mut().page(&owner, result.presented.rest.unwrap(), None, now).unwrap();
    assert_eq!((page.text.len(), page.next), (70_000 - 65_536, None));
}

#[test]
fn calls_run_side_by_side_and_closing_waits_for_none() {
    // H-113
    let mut world = both();
    let hung: Vec<_> = (0..20)
        .map(|n| {
            let arguments = json!({"ms": 29_000, "n": n}).to_string();
            world.call(["mcp__new__sleep", "mcp__old__sleep"][n % 2], &arguments)
        })
        .collect();
    let quick = world.call("mcp__old__echo", r#"{"text":"quick"}"#);
    let before = world.elapsed_ms();
    assert_eq!(world.complete(quick), "quick");
    assert!(world.elapsed_ms() - before < 10);
    let now = world.now();
    world.fleet.close(now);
    world.until("over", |world| world.fleet.is_over());
    assert!(world.elapsed_ms() - before < 20, "{}", world.report());
    world.wait_ms(10);
    for call in hung {
        assert!(matches!(world.ended(call), Some(CallOutcome::Cancelled)));
    }
    for server in ["new", "old"] {
        let notices = world.received(server, "notifications/cancelled");
        let named = |call: &Received| {
            notices.iter().filter(|it| it.message["params"]["requestId"] == call.message["id"]).count()
        };
        let told = world.received(server, "tools/call").iter().map(named).sum::<usize>();
        assert_eq!(told, 10, "and the servers are told");
    }
    assert!(world.try_call("mcp__old__echo", "{}").is_err());
}

#[test]
fn a_call_can_be_given_up_wherever_it_is() {
    let mut config = host_config(&["s"]);
    config.servers.get_mut("s").unwrap().mode = ServerMode::Ask;
    let program =
        at_first(legacy_fixture(), |n| if n < 3 { Started::Hangs } else { Started::Runs(legacy_fixture()) });
    let mut world = World::started(config, vec![("s", program)]);
    let now = world.now();
    world.fleet.set_approver(true, now);
    let cancelled = |world: &mut World, call| {
        let now = world.now();
        assert!(world.fleet.cancel(call, now));
        assert!(matches!(world.end(call), CallOutcome::Cancelled));
        assert!(!world.fleet.cancel(call, now), "it is over");
        world.wait_ms(10);
    };
    let allow = |world: &mut World| {
        world.wait_ms(1);
        let question = world.questions().pop().unwrap();
        let now = world.now();
        assert!(world.fleet.answer(question.handle, sanswire::host::policy::Answer::AllowOnce, now));
    };

    // Somebody is asked about it.
    let call = world.call("mcp__s__echo", r#"{"text":"asked"}"#);
    world.wait_ms(1);
    let question = world.questions().pop().unwrap();
    cancelled(&mut world, call);
    let now = world.now();
    assert!(!world.fleet.answer(question.handle, sanswire::host::policy::Answer::AllowOnce, now));
    assert!(world.received("s", "tools/call").is_empty());

    // It was sent.
    let call = world.call("mcp__s__sleep", r#"{"ms":5000}"#);
    allow(&mut world);
    world.wait_ms(10);
    cancelled(&mut world, call);
    let sent = world.received("s", "tools/call");
    let notices = world.received("s", "notifications/cancelled");
    assert_eq!((sent.len(), notices.len()), (1, 1));
    assert_eq!(notices[0].message["params"]["requestId"], sent[0].message["id"]);

    // It was let through, and nothing of it has left yet.
    let call = world.call("mcp__s__echo", r#"{"text":"unsent"}"#);
    allow(&mut world);
    cancelled(&mut world, call);

    // Its server is being opened anew.
    let dies = world.call("mcp__s__die", "{}");
    allow(&mut world);
    assert!(matches!(world.end(dies), CallOutcome::Disconnected { maybe_ran: true }));
    let call = world.call("mcp__s__echo", r#"{"text":"waits"}"#);
    allow(&mut world);
    assert_eq!(world.status("s"), Status::Reconnecting);
    cancelled(&mut world, call);
    world.until("connected", |world| world.status("s") == Status::Connected);
    world.wait_ms(100);
    let texts: Vec<_> = world.received("s", "tools/call").into_iter().map(|call| call.text).collect();
    assert!(!texts.iter().any(|text| text.contains("waits") || text.contains("asked")), "{texts:?}");
    assert_eq!(world.open_calls(), 0);
}

#[test]
fn what_is_inside_a_call_reaches_the_server_to_the_byte() {
    // H-059
    let mut world = both();
    let arguments = r#"{"text":"\u0041 1.0","n":1.0,"big":123456789012345678901234567890,"a":{"b":[ ]}}"#;
    for server in ["new", "old"] {
        let target = Target::Tool(sanswire::host::Provenance::new(server, "echo"));
        let call = world.make(CallRequest::new("7", target, Some(json(arguments)))).unwrap();
        assert_eq!(world.complete(call), "A 1.0");
        let received = world.received(server, "tools/call").pop().unwrap().text;
        assert!(received.contains(arguments), "{received}");
    }
}

#[test]
fn the_server_of_these_scenarios_does_what_it_says() {
    // H-222
    use sanswire::client::{Outcome, Verdict};
    use sanswire::mcp::Method;
    use sanswire_tests::client::{Client, On, remembering};
    let mut client = Client::ready(On::Line, remembering(Verdict::Legacy), legacy_fixture());
    let ping = client.request(Method::Ping, None);
    assert_eq!(client.complete(ping), json!({}));
    let other = client.request(Method::LoggingSetLevel, Some(r#"{"level":"info"}"#));
    assert!(matches!(client.finish(other), Outcome::Error(error) if error.code == -32601));
    let listed = client.request(Method::ToolsList, None);
    let listed = client.complete(listed);
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "boom", "readonly_echo", "die", "sleep", "big_output"]);
    assert_eq!(listed["tools"][2]["annotations"], json!({"readOnlyHint": true}));
    let mut call = |params: serde_json::Value| {
        let call = client.request(Method::ToolsCall, Some(&params.to_string()));
        client.finish(call)
    };
    let of = |outcome: Outcome| match outcome {
        Outcome::Complete(result) => sanswire_tests::client::value(&result),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(call(json!({"name": "boom"})))["isError"], true);
    let big = of(call(json!({"name": "big_output"})));
    assert_eq!(big["content"][0]["text"].as_str().map(str::len), Some(200_000));
    assert!(matches!(call(json!({"name": "none"})), Outcome::Error(error) if error.code == -32602));
    assert_eq!(call(json!({"name": "die"})), Outcome::Lost { maybe_ran: true });
}
