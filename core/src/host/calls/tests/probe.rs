//! Servers that are there but mute.

use super::*;
use crate::client::Deadline;
use crate::host::config::ProbeSettings;
use crate::jsonrpc::ErrorObject;
use crate::mcp::Revision;

const SECOND: u64 = 1000;

fn probing(after: u32) -> World {
    World::open(|config| config.probe = ProbeSettings { after, ..ProbeSettings::default() })
}

fn timed_out() -> Outcome {
    Outcome::TimedOut { which: Deadline::Absolute, limit: Duration::from_secs(5), mistyped_reply: false }
}

/// A call that nothing comes of.
fn mute(world: &mut World, tool: &str) {
    world.calls.begin_turn();
    let call = world.call(tool, "{}");
    world.pass(30 * SECOND);
    assert_eq!(world.told(call).0, "timeout");
}

#[test]
fn a_server_that_stays_mute_is_asked_and_counts_as_lost_if_it_does_not_answer() {
    // H-075
    for by_itself in [true, false] {
        let mut world = probing(2);
        mute(&mut world, "s/t");
        mute(&mut world, "r/t");
        assert!(world.probes.is_empty(), "once is nothing");
        mute(&mut world, "s/u");
        let [(probe, client, Method::Ping)] = world.probes[..] else { panic!("{:?}", world.probes) };
        assert_eq!(client, world.servers.roads["s"].1);
        let call = world.call("s/t", "{}");
        if by_itself {
            world.outcome(probe, Ok(timed_out()));
        } else {
            world.pass(5 * SECOND - 1);
            assert!(world.servers.lost.is_empty());
            world.pass(1);
        }
        assert_eq!((world.servers.lost.as_slice(), world.probes.len()), (&[client][..], 0));
        assert!(world.is_open(call), "what becomes of it is for its connection to say");
        world.outcome(probe, Ok(timed_out()));
        assert_eq!(world.servers.lost.len(), 1, "once");
    }
}

#[test]
fn whatever_a_server_says_shows_that_it_answers() {
    let no = ErrorObject::new(-32601, "no");
    for outcome in [Outcome::Complete(json("{}")), Outcome::Error(no), Outcome::TooLarge { len: 9, limit: 8 }]
    {
        let mut world = probing(2);
        mute(&mut world, "s/t");
        let call = world.call("s/t", "{}");
        world.outcome(call, Ok(outcome.clone()));
        mute(&mut world, "s/t");
        assert!(world.probes.is_empty(), "{outcome:?}");
        mute(&mut world, "s/t");
        let probe = world.probes[0].0;
        world.outcome(probe, Ok(outcome.clone()));
        world.pass(60 * SECOND);
        assert!(world.servers.lost.is_empty() && world.probes.is_empty(), "{outcome:?}");
    }
    let mut world = probing(2);
    mute(&mut world, "s/t");
    let call = world.call("s/t", "{}");
    let progress = crate::client::Progress { progress: 1.0, total: None, message: None };
    world.calls.handle_progress(call, progress, at(world.now));
    world.pass(30 * SECOND);
    assert!(world.probes.is_empty(), "progress as well");
}

#[test]
fn where_there_is_no_ping_something_else_is_asked() {
    let mut world = probing(1);
    mute(&mut world, "s/t");
    let (ping, client, _) = world.probes[0].clone();
    let revision = Revision::V2026_07_28;
    world.outcome(ping, Err(ApiError::WrongEra { method: Method::Ping, revision }));
    let [(probe, of, Method::ServerDiscover)] = world.probes[..] else { panic!("{:?}", world.probes) };
    assert_eq!(of, client);
    world.outcome(probe, Err(ApiError::WrongEra { method: Method::ServerDiscover, revision }));
    assert!(world.probes.is_empty() && world.servers.lost.is_empty(), "what cannot be asked tells nothing");
}

#[test]
fn by_default_nobody_is_asked_and_a_closed_host_asks_no_more() {
    // H-071
    let mut world = World::open(|_| {});
    for _ in 0..5 {
        mute(&mut world, "s/t");
    }
    assert!(world.probes.is_empty() && world.servers.lost.is_empty());
    let mut world = probing(1);
    mute(&mut world, "s/t");
    assert_eq!(world.probes.len(), 1);
    world.calls.close(at(world.now));
    world.drain();
    assert_eq!((world.probes.len(), world.calls.poll_timeout()), (0, None));
    let mut config = HostConfig::default();
    config.probe.limit = Duration::ZERO;
    assert_eq!(Calls::new(&config).unwrap_err().field, "probe.limit");
}
