//! Traces by table, and what must hold after any.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::client::Deadline;
use crate::error::Violation;
use crate::http::h1::Fault;
use crate::jsonrpc::{ErrorObject, RawJson};

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn server(max_attempts: u32, backoff: u64) -> Reconnect {
    let backoff = Duration::from_millis(backoff);
    Reconnect::new(ReconnectSettings { max_attempts, backoff }, true).unwrap()
}

fn drain(server: &mut Reconnect) -> Vec<Effect> {
    core::iter::from_fn(|| server.poll_effect()).collect()
}

/// A server that was opened: its session is the first.
fn connected(max_attempts: u32, backoff: u64) -> Reconnect {
    let mut server = server(max_attempts, backoff);
    server.opened(SessionNumber(1));
    drain(&mut server);
    server
}

fn timed_out(which: Deadline) -> Outcome {
    Outcome::TimedOut { which, limit: Duration::from_secs(30), mistyped_reply: false }
}

#[derive(Clone, Copy, Debug)]
enum Do {
    /// A call fails with its session: the one that was current when the trace began, or the present one.
    Lost,
    LostFirst,
    /// A call in the present session times out, or is answered with an error.
    TimedOut,
    Refused,
    Ok,
    Fail,
    Close,
    Manual,
}
use Do::{Close, Fail, Lost, LostFirst, Manual, Ok as Opens, Refused, TimedOut};

#[test]
fn lost_sessions_are_tried_anew_up_to_the_cap() {
    // H-103, H-104, H-108, H-109, H-111, H-114
    let (up, re, un) = (Status::Connected, Status::Reconnecting, Status::Unavailable);
    /// Note, what happens, statuses, attempts, failures at the end.
    type Row<'a> = (&'a str, &'a [Do], &'a [Status], usize, u32);
    let table: [Row<'_>; 12] = [
        ("first attempt succeeds", &[Lost, Opens], &[up, re, up], 1, 0),
        ("success resets the counter", &[Lost, Fail, Fail, Opens], &[up, re, up], 3, 0),
        ("the cap", &[Lost, Fail, Fail, Fail], &[up, re, un], 3, 3),
        ("a call after the cap", &[Lost, Fail, Fail, Fail, Lost], &[up, re, un], 3, 3),
        ("a call timed out", &[TimedOut], &[up], 0, 0),
        ("an error for an answer", &[Refused], &[up], 0, 0),
        ("two calls lost with one session", &[Lost, LostFirst, Opens], &[up, re, up], 1, 0),
        ("a replaced session", &[Lost, Opens, LostFirst], &[up, re, up], 1, 0),
        ("closed during an attempt", &[Lost, Close, Opens], &[up, re, un], 1, 0),
        ("lost when closed", &[Close, Lost], &[up], 0, 0),
        (
            "by hand after the cap",
            &[Lost, Fail, Fail, Fail, Manual, Fail, Opens],
            &[up, re, un, re, up],
            5,
            0,
        ),
        (
            "the counter begins anew",
            &[Lost, Fail, Fail, Opens, Lost, Fail, Fail, Opens],
            &[up, re, up, re, up],
            6,
            0,
        ),
    ];
    for (note, steps, statuses, attempts, failures) in table {
        let mut server = connected(3, 0);
        let (mut seen, mut opens) = (vec![up], vec![]);
        for step in steps {
            let present = server.session.unwrap_or(SessionNumber(1));
            let mut ends = |session, outcome: Outcome| {
                if loses_session(&outcome) {
                    server.lost(session);
                }
            };
            match step {
                Lost => ends(present, Outcome::Lost { maybe_ran: true }),
                LostFirst => ends(SessionNumber(1), Outcome::Lost { maybe_ran: true }),
                TimedOut => ends(present, timed_out(Deadline::Idle)),
                Refused => ends(present, Outcome::Error(ErrorObject::new(-32603, "no"))),
                Opens => server.opened(*opens.last().unwrap()),
                Fail => server.not_opened(*opens.last().unwrap(), at(0)),
                Close => server.close(),
                Manual => assert!(server.reconnect(), "{note}"),
            }
            for effect in drain(&mut server) {
                match effect {
                    Effect::Open(attempt) => opens.push(attempt),
                    Effect::Status(status) => seen.push(status),
                    Effect::Shut(_) | Effect::Settled => {}
                }
            }
        }
        assert_eq!(seen, statuses, "{note}");
        assert_eq!((opens.len(), server.failures()), (attempts, failures), "{note}");
    }
}

#[test]
fn calls_wait_for_the_outcome_and_go_on_once() {
    // H-107, H-110, H-111
    let mut server = connected(2, 0);
    let first = SessionNumber(1);
    assert_eq!(server.call(), Gate::Go(first));
    assert!(server.lost(first));
    let second = SessionNumber(2);
    let status = Effect::Status(Status::Reconnecting);
    assert_eq!(drain(&mut server), [Effect::Shut(first), status, Effect::Open(second)]);
    assert_eq!([server.call(), server.call()], [Gate::Wait; 2]);
    assert_eq!(drain(&mut server), [], "one attempt for all");
    server.opened(second);
    assert_eq!(drain(&mut server), [Effect::Status(Status::Connected), Effect::Settled]);
    assert_eq!(server.call(), Gate::Go(second));

    assert!(server.lost(second));
    server.not_opened(SessionNumber(3), at(0));
    server.not_opened(SessionNumber(4), at(0));
    drain(&mut server);
    assert_eq!(server.call(), Gate::Refuse(Status::Unavailable));
    assert!(server.reconnect() && server.reconnect());
    assert_eq!(drain(&mut server), [status, Effect::Open(SessionNumber(5))], "asked twice, tried once");
    server.close();
    let given_up = Effect::Status(Status::Unavailable);
    assert_eq!(drain(&mut server), [Effect::Shut(SessionNumber(5)), given_up, Effect::Settled]);
    server.opened(SessionNumber(5));
    server.close();
    assert_eq!((drain(&mut server), server.call()), (vec![], Gate::Refuse(Status::Unavailable)));
    assert!(!server.reconnect());
}

#[test]
fn a_session_of_no_use_is_an_attempt_in_vain() {
    // H-108
    let mut server = connected(3, 0);
    assert!(server.lost_early(SessionNumber(1), at(0)));
    assert_eq!((server.status(), server.failures()), (Status::Reconnecting, 0), "it came of no loss");
    for (n, status) in [(2, Status::Reconnecting), (3, Status::Reconnecting), (4, Status::Unavailable)] {
        let session = SessionNumber(n);
        server.opened(session);
        assert_eq!((server.status(), server.failures()), (Status::Connected, 0));
        assert!(!server.lost_early(SessionNumber(n - 1), at(0)), "another was lost before");
        assert!(server.lost_early(session, at(0)));
        assert_eq!((server.status(), u64::from(server.failures())), (status, n - 1));
    }
    drain(&mut server);
    assert_eq!(server.call(), Gate::Refuse(Status::Unavailable));

    // One that was of use makes up for all before.
    let mut server = connected(2, 50);
    server.lost(SessionNumber(1));
    for n in 2..6 {
        server.opened(SessionNumber(n));
        assert!(if n % 2 == 0 {
            server.lost_early(SessionNumber(n), at(n))
        } else {
            server.lost(SessionNumber(n))
        });
        assert_eq!(server.poll_timeout(), (n % 2 == 0).then(|| at(n + 50)));
        server.handle_timeout(at(n + 50));
        assert_eq!(server.status(), Status::Reconnecting);
    }
}

#[test]
fn a_call_wakes_a_server_that_failed_or_waits() {
    // H-112
    let mut failed = server(2, 0);
    failed.not_opened(SessionNumber(1), at(0));
    assert_eq!((failed.status(), failed.failures()), (Status::Failed, 0));
    drain(&mut failed);
    assert_eq!([failed.call(), failed.call()], [Gate::Wait; 2]);
    let open = Effect::Open(SessionNumber(2));
    assert_eq!(drain(&mut failed), [Effect::Status(Status::Reconnecting), open], "one attempt for both");
    failed.not_opened(SessionNumber(2), at(0));
    assert_eq!(drain(&mut failed), [Effect::Status(Status::Failed), Effect::Settled], "and only one");
    failed.call();
    failed.not_opened(SessionNumber(3), at(0));
    assert_eq!(failed.call(), Gate::Refuse(Status::Unavailable));

    let mut waits = connected(3, 100);
    assert!(waits.lost(SessionNumber(1)));
    waits.not_opened(SessionNumber(2), at(50));
    drain(&mut waits);
    assert_eq!(waits.poll_timeout(), Some(at(150)));
    waits.handle_timeout(at(149));
    assert_eq!(drain(&mut waits), []);
    waits.handle_timeout(at(150));
    assert_eq!((drain(&mut waits), waits.poll_timeout()), (vec![Effect::Open(SessionNumber(3))], None));
    waits.not_opened(SessionNumber(3), at(150));
    assert_eq!(waits.call(), Gate::Wait);
    assert_eq!((drain(&mut waits), waits.poll_timeout()), (vec![Effect::Open(SessionNumber(4))], None));
}

#[test]
fn a_server_that_is_not_to_be_used_is_not_opened() {
    // H-088
    let mut disabled = Reconnect::new(ReconnectSettings::default(), false).unwrap();
    assert_eq!((drain(&mut disabled), disabled.call()), (vec![], Gate::Refuse(Status::Disabled)));
    assert!(!disabled.reconnect());
    let none = ReconnectSettings { max_attempts: 0, ..ReconnectSettings::default() };
    assert_eq!(Reconnect::new(none, true).unwrap_err().field, "max_attempts");
    let all = [
        Status::Connecting,
        Status::Connected,
        Status::Failed,
        Status::Reconnecting,
        Status::Unavailable,
        Status::Disabled,
    ];
    let names = ["connecting", "connected", "failed", "reconnecting", "unavailable", "disabled"];
    assert_eq!(all.map(Status::as_str), names);
}

#[test]
fn only_the_end_of_a_connection_loses_a_session() {
    // H-104
    let table = [
        (Outcome::Lost { maybe_ran: true }, true),
        (Outcome::Lost { maybe_ran: false }, true),
        (Outcome::SessionGone { maybe_ran: false }, true),
        (timed_out(Deadline::Idle), false),
        (timed_out(Deadline::Absolute), false),
        (Outcome::Cancelled, false),
        (Outcome::Error(ErrorObject::new(-32603, "no")), false),
        (Outcome::TooLarge { len: 2, limit: 1 }, false),
        (Outcome::Invalid(Violation::MissingResultType), false),
        (Outcome::Invalid(Violation::Http(Fault::Unasked)), false),
        (Outcome::Complete(RawJson::empty_object()), false),
    ];
    for (outcome, lost) in table {
        assert_eq!(loses_session(&outcome), lost, "{outcome:?}");
    }
}

#[derive(Clone, Debug)]
enum Op {
    Call,
    Lost(u64),
    Opened(u64),
    NotOpened(u64),
    Manual,
    Close,
    Pass(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => Just(Op::Call),
        3 => (0u64..3).prop_map(Op::Lost),
        4 => (0u64..3).prop_map(Op::Opened),
        5 => (0u64..3).prop_map(Op::NotOpened),
        1 => Just(Op::Manual),
        1 => (0u8..4).prop_map(|n| if n == 0 { Op::Close } else { Op::Call }),
        2 => (0u64..150).prop_map(Op::Pass),
    ];
    prop::collection::vec(op, 0..60)
}

proptest! {
    #[test]
    fn one_attempt_at_a_time_and_every_wait_ends(ops in ops(), backoff in prop_oneof![Just(0u64), Just(100)]) {
        // H-103, H-107, H-109, H-111
        let mut server = server(3, backoff);
        prop_assert_eq!(drain(&mut server), [Effect::Open(SessionNumber(1))]);
        let (mut now, mut opens, mut live, mut closed) = (0, 1, vec![SessionNumber(1)], false);
        let (mut waiting, mut status) = (true, Status::Connecting);
        for op in ops {
            // The n-th latest number, so that late words of old sessions come as well.
            let late = |n: u64| SessionNumber(server.last.saturating_sub(n));
            match op {
                Op::Call => match server.call() {
                    Gate::Go(session) => prop_assert_eq!(&live, &vec![session]),
                    Gate::Wait => waiting = true,
                    Gate::Refuse(_) => prop_assert!(closed || server.status() == Status::Unavailable),
                },
                Op::Lost(n) => {
                    let present = server.status() == Status::Connected && !closed && n == 0;
                    let session = late(n);
                    prop_assert_eq!(server.lost(session), present, "only the latest session can be lost");
                }
                Op::Opened(n) => server.opened(late(n)),
                Op::NotOpened(n) => server.not_opened(late(n), at(now)),
                Op::Manual => prop_assert_eq!(server.reconnect(), !closed),
                Op::Close => {
                    server.close();
                    closed = true;
                }
                Op::Pass(millis) => {
                    now += millis;
                    server.handle_timeout(at(now));
                }
            }
            for effect in drain(&mut server) {
                match effect {
                    Effect::Open(attempt) => {
                        opens += 1;
                        prop_assert!(!closed && attempt.0 == opens, "numbers count up, and none after the end");
                        live = vec![attempt];
                    }
                    Effect::Shut(session) => live.retain(|one| *one != session),
                    Effect::Status(now) => {
                        prop_assert_ne!(now, status);
                        status = now;
                    }
                    Effect::Settled => {
                        prop_assert!(!server.status().is_pending());
                        waiting = false;
                    }
                }
            }
            prop_assert_eq!(server.status(), status);
            prop_assert!(server.poll_timeout().is_none_or(|due| due > at(now)));
            prop_assert!(!waiting || status.is_pending(), "somebody waits for nothing");
            let under_way = server.trying.is_some() || server.poll_timeout().is_some();
            prop_assert_eq!(status.is_pending(), under_way, "what is pending is being worked on");
            prop_assert!(server.failures() <= 3);
        }
    }
}
