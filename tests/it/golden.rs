//! The golden rules, over many seeds. A failing seed is printed, and replays with `SANSWIRE_SEED`.

use sanswire::client::Event;
use sanswire_tests::chaos::{self, Twist};
use sanswire_tests::client::On;
use sanswire_tests::link::Pieces;
use sanswire_tests::seed::each_seed;

#[test]
fn every_accepted_request_ends_once_whatever_happens_on_a_stream() {
    // Golden rules 1 and 4. P-005 P-117 P-287 P-285 P-022
    // What it answers: P-010 P-011 P-024 P-025 P-027 P-029 P-030
    each_seed(600, |seed| chaos::torment(&mut chaos::client(On::Line, seed), seed));
}

#[test]
fn every_accepted_request_ends_once_whatever_happens_on_exchanges() {
    // Golden rules 1 and 4. P-006 P-285 P-286
    each_seed(600, |seed| chaos::torment(&mut chaos::client(On::Exchanges, seed), seed));
}

#[test]
fn every_accepted_request_ends_once_whatever_happens_over_http() {
    // Golden rules 1 and 4.
    each_seed(300, |seed| chaos::torment(&mut chaos::client(On::Http, seed), seed));
}

#[test]
fn the_same_calls_give_the_same_bytes() {
    // Golden rule 6.
    each_seed(40, |seed| {
        for on in [On::Line, On::Exchanges, On::Http] {
            let run = || {
                let mut client = chaos::client(on, seed);
                chaos::torment(&mut client, seed);
                client.link.report()
            };
            assert_eq!(run(), run());
        }
    });
}

/// What a run came to: events with their times, and what the client wrote.
fn run(on: On, seed: u64, twist: Twist) -> (Vec<String>, Vec<u8>) {
    let mut client = chaos::twisted(on, seed, twist);
    chaos::torment_with(&mut client, seed, twist);
    let events = client.link.events().iter().map(|(at, event)| format!("{at:?} {event:?}")).collect();
    (events, client.link.written())
}

/// Fails where two runs differ. Where the client ends a connection because of what it read, bytes that wait at that
/// instant may have left or not.
fn assert_same(one: &(Vec<String>, Vec<u8>), two: &(Vec<String>, Vec<u8>), what: &str) {
    for (at, (one, two)) in one.0.iter().zip(&two.0).enumerate() {
        assert_eq!(one, two, "{what}: event {at}");
    }
    assert_eq!(one.0.len(), two.0.len(), "{what}: one run went on");
    let same = one.1.iter().zip(&two.1).take_while(|(one, two)| one == two).count();
    assert_eq!(same, one.1.len().min(two.1.len()), "{what}: what was written differs");
    let ours = one.0.last().is_some_and(|event| event.ends_with("Closed(Local)"));
    assert!(one.1.len() == two.1.len() || !ours, "{what}: one run wrote more");
}

#[test]
fn nothing_depends_on_how_the_streams_are_cut() {
    // Golden rule 3. P-115
    each_seed(60, |seed| {
        let twist = |pieces| Twist { pieces: Some(pieces), roomy: true, fidget: false };
        let whole = run(On::Line, seed, twist(Pieces::Whole));
        for pieces in [Pieces::Bytes(1), Pieces::Random(100)] {
            assert_same(&run(On::Line, seed, twist(pieces)), &whole, &format!("{pieces:?}"));
        }
    });
}

#[test]
fn calls_that_nobody_asked_for_change_nothing() {
    each_seed(50, |seed| {
        for on in [On::Line, On::Exchanges] {
            let calm = Twist { roomy: true, ..Twist::default() };
            let fidgety = run(on, seed, Twist { fidget: true, ..calm });
            assert_same(&fidgety, &run(on, seed, calm), &format!("{on:?}"));
        }
    });
}

#[test]
fn the_random_runs_reach_what_they_are_meant_to_reach() {
    let mut seen = [0_usize; 10];
    for seed in 0..200 {
        let mut client = chaos::client(if seed % 2 == 0 { On::Line } else { On::Exchanges }, seed);
        chaos::torment(&mut client, seed);
        for (_, event) in client.link.events() {
            let at = match event {
                Event::Ready(_) => 0,
                Event::Verdict(_) => 1,
                Event::Finished { .. } => 2,
                Event::Progress { .. } => 3,
                Event::Notification { .. } => 4,
                Event::PeerRequest { .. } => 5,
                Event::PeerRequestEnded { .. } => 6,
                Event::Violation(_) => 7,
                Event::Closed(_) => 8,
                _ => 9,
            };
            seen[at] += 1;
        }
    }
    assert!(seen[..9].iter().all(|count| *count >= 5), "{seen:?}");
    assert!(seen[0] >= 50 && seen[2] >= 500, "{seen:?}");
}
