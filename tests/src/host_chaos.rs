//! Servers that may do anything behind a host, and an application that may ask anything of it, by a seed.

use std::time::Duration;

use sanswire::client::{InputAnswers, Start, Verdict};
use sanswire::host::catalog::ExposureMode;
use sanswire::host::policy::{Answer, ServerMode};
use sanswire::host::{CallHandle, Event, HostConfig, RefreshMode, Replay, ServerConfig};
use sanswire::mcp::Revision;
use sanswire::mcp::types::input::InputAnswer;
use serde_json::json;

use crate::chaos::{mischief, shape};
use crate::client::json as raw;
use crate::fixture::{legacy_fixture, modern_fixture};
use crate::fleet::{Program, Started, World};
use crate::link::{Pieces, Shape};
use crate::peer::{Act, Server};
use crate::seed::Rng;

const NAMES: [&str; 4] = ["a", "a__b", "b.c", "d"];

/// A host of this seed, with its servers and links.
#[must_use]
pub fn world(seed: u64) -> World {
    let mut rng = Rng::new(seed);
    let servers = 1 + rng.below(NAMES.len());
    let config = config(&mut rng, servers);
    let programs = NAMES[..servers].iter().map(|name| (*name, program(rng.fork()))).collect();
    let calm = rng.chance(50);
    let mut world = World::twisted(
        config,
        programs,
        rng.number(),
        Box::new(move |rng, now| {
            let mut shapes = [shape(rng, now), shape(rng, now)];
            if calm {
                let pieces = Pieces::Random(200);
                shapes = shapes.map(|shape| Shape { pieces, latency: shape.latency, ..Shape::default() });
            }
            shapes
        }),
    );
    world.small_writes = rng.chance(30).then(|| 1 + rng.below(200));
    world
}

fn config(rng: &mut Rng, servers: usize) -> HostConfig {
    let mut config = HostConfig::default();
    config.max_starting = 1 + rng.below(3);
    config.max_calls = *rng.pick(&[2, 1024, 1024]);
    config.refresh.mode = *rng.pick(&[RefreshMode::Frozen, RefreshMode::Staged, RefreshMode::Live]);
    config.refresh.poll = rng.pick(&[None, None, Some(Duration::from_secs(5))]).to_owned();
    config.replay = *rng.pick(&[Replay::Never, Replay::UnsentOnly]);
    config.reconnect.backoff = Duration::from_millis(*rng.pick(&[0, 0, 1500]));
    config.exposure.mode = *rng.pick(&[ExposureMode::Auto, ExposureMode::Lazy, ExposureMode::Eager]);
    config.timeouts.default = Duration::from_secs(*rng.pick(&[2, 30]));
    config.policy.skip_prompts = rng.chance(10);
    for name in &NAMES[..servers] {
        let mut server = ServerConfig::default();
        server.enabled = rng.chance(95);
        let modes =
            [ServerMode::Allow, ServerMode::Allow, ServerMode::Allow, ServerMode::Ask, ServerMode::Deny];
        server.mode = *rng.pick(&modes);
        server.connect_timeout = rng.pick(&[None, Some(Duration::from_secs(3))]).to_owned();
        let starts = [
            Start::Unknown,
            Start::Unknown,
            Start::Remembered(Verdict::Legacy),
            Start::Remembered(Verdict::Modern),
            Start::Pinned(Revision::V2025_11_25),
        ];
        server.start = rng.pick(&starts).clone();
        config.servers.insert((*name).into(), server);
    }
    config
}

/// Starts now one server and now another, or none; some start once and never again.
fn program(mut rng: Rng) -> Program {
    let once = rng.chance(25);
    Box::new(move |n| match rng.below(10) {
        _ if once && n > 0 => Started::Missing,
        0 => Started::Missing,
        1 => Started::Hangs,
        _ => Started::Runs(server(rng.fork())),
    })
}

fn server(mut rng: Rng) -> Server {
    let mut server = if rng.chance(50) { legacy_fixture() } else { modern_fixture() };
    // How often it does not do what it should.
    let odd = *rng.pick(&[0, 40, 40, 100]);
    if rng.chance(15) {
        let mut rng = rng.fork();
        server.on("tools/list", move |request, out| mischief(&mut rng, request, out, true));
    }
    if rng.chance(10) {
        let mut rng = rng.fork();
        server.on("*", move |request, out| mischief(&mut rng, request, out, true));
    }
    let name = rng.number();
    if odd > 0 {
        server.on("tools/call", move |request, out| {
            if rng.chance(odd / 5) && request["params"].get("inputResponses").is_none() {
                let asks = json!({"k": {"method": "roots/list"}});
                let asked =
                    json!({"resultType": "input_required", "inputRequests": asks, "requestState": "s"});
                return out.result(request, asked);
            }
            if rng.chance(odd) {
                return mischief(&mut rng, request, out, true);
            }
            let late = Duration::from_millis(*rng.pick(&[0, 0, 5, 1000]));
            let text = format!("{name}");
            let result = json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
            out.after(late).result(request, result);
        });
    }
    server
}

/// Lets an application of this seed loose on a host, then closes it and waits for the end.
///
/// # Panics
/// If a rule is broken.
pub fn torment(world: &mut World, seed: u64) {
    let mut rng = Rng::new(seed ^ 0x00f1_ee70);
    let mut calls: Vec<CallHandle> = Vec::new();
    if rng.chance(70) {
        world.wait_ms(6000);
    }
    for _ in 0..rng.below(100) {
        act(world, &mut rng, &mut calls);
    }
    world.holding = false;
    world.settle();
    if rng.chance(40) {
        world.wait(Duration::from_secs(1300));
        assert_eq!(world.open_calls(), 0, "a call outlives its deadlines\n{}", world.report());
    }
    let now = world.now();
    world.fleet.close(now);
    world.until("over", |world| world.fleet.is_over());
    assert_eq!(world.open_calls(), 0, "{}", world.report());
    assert!(world.runs.iter().all(|run| run.closed.is_some()), "each stream is closed");
    assert!(world.try_call("mcp__a__echo", "{}").is_err());
    // Rests of results are kept for half an hour.
    world.wait(Duration::from_secs(1900));
    assert_eq!(world.fleet.poll_timeout(), None, "what is over waits for nothing");
    check_wire(world);
}

/// No call is made twice, and what a server is told is what it may be told.
fn check_wire(world: &World) {
    let mut made = std::collections::BTreeSet::new();
    for run in &world.runs {
        assert!(run.peer.server.junk.is_empty(), "{:?}", run.peer.server.junk);
        for call in run.peer.server.with_method("tools/call") {
            let params = &call.message["params"];
            let resumed = params.get("inputResponses").is_some() || params.get("requestState").is_some();
            let number = params["arguments"]["n"].as_u64().expect("each call is numbered");
            assert!(resumed || made.insert(number), "call {number} was made twice\n{}", world.report());
        }
    }
}

fn act(world: &mut World, rng: &mut Rng, calls: &mut Vec<CallHandle>) {
    let now = world.now();
    match rng.below(32) {
        0..=6 | 26..=31 => {
            let offered = world.offered();
            let unknown = String::from("mcp__a__nothing");
            let name = if offered.is_empty() { &unknown } else { rng.pick(&offered) }.clone();
            let (ms, bytes) = (*rng.pick(&[0, 10, 4000]), *rng.pick(&[10, 3000, 70_000]));
            let arguments = json!({"n": calls.len(), "text": "t", "ms": ms, "bytes": bytes}).to_string();
            let made = if rng.chance(20) {
                let server = *rng.pick(&NAMES);
                let inner = format!(r#"{{"server":"{server}","tool":"echo","arguments":{arguments}}}"#);
                world.try_call("mcp_call", &inner)
            } else {
                world.try_call(&name, &arguments)
            };
            calls.extend(made);
        }
        7 | 8 => {
            if let Some(call) = pick(rng, calls) {
                world.fleet.cancel(call, now);
            }
        }
        9..=11 => {
            let questions = world.questions();
            if !questions.is_empty() {
                let handle = rng.pick(&questions).handle;
                let answers = [Answer::AllowOnce, Answer::AllowOnce, Answer::AlwaysAllow, Answer::Deny];
                world.fleet.answer(handle, *rng.pick(&answers), now);
            }
        }
        12 => {
            let inputs = world.find(|event| match event {
                Event::InputRequired { call, input } => Some((*call, input.clone())),
                _ => None,
            });
            if !inputs.is_empty() {
                let (call, input) = rng.pick(&inputs).clone();
                let answer = InputAnswer::Result(raw(r#"{"roots":[]}"#));
                world.fleet.resume(call, InputAnswers::collect(&input, |_| answer.clone()), now);
            }
        }
        13 => {
            let there = rng.chance(80);
            world.fleet.set_approver(there, now);
        }
        14 => world.fleet.begin_turn(now),
        15 => drop(world.fleet.reconnect(NAMES[rng.below(NAMES.len())], now)),
        16 => drop(world.fleet.refresh(NAMES[rng.below(NAMES.len())], now)),
        17 => {
            let on = rng.chance(30);
            world.fleet.host_mut().set_plan_mode(on);
        }
        18 => {
            if let Some(run) = (!world.runs.is_empty()).then(|| rng.below(world.runs.len())) {
                let note = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                let acts =
                    [Act::Close, Act::Message(note.clone()), Act::Message(note), Act::Raw(b"junk\n".into())];
                world.runs[run].peer.act_now(rng.pick(&acts).clone(), now);
            }
        }
        19 => world.holding = rng.chance(40),
        20 if rng.chance(4) => world.fleet.close(now),
        _ => world.wait(Duration::from_micros(rng.number() % *rng.pick(&[1, 5000, 2_000_000, 9_000_000]))),
    }
}

fn pick(rng: &mut Rng, calls: &[CallHandle]) -> Option<CallHandle> {
    (!calls.is_empty()).then(|| *rng.pick(calls))
}
