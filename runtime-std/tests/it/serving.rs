//! The served half over standard input and output: who waits for whom, and who does not.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

use sanswire_std::sanswire::jsonrpc::JsonRef;

use crate::common::{LONG, trials};
use crate::peer::{OPENING, Peer, call, cancel, command, ping, text};

trials!(
    a_call_is_answered,
    replies_of_one_read_leave_in_one_write,
    a_listing_needs_no_thread,
    a_call_that_lasts_delays_nothing,
    with_all_threads_but_one_at_work_nothing_is_delayed,
    with_all_threads_at_work_calls_wait_and_nothing_else,
    a_call_that_is_cancelled_while_it_waits_never_runs,
    a_cancel_overtakes_a_running_call,
    long_calls_run_side_by_side,
    a_question_holds_up_its_own_call_alone,
    progress_leaves_at_once,
    a_panic_is_answered_and_costs_no_thread,
    stray_prints_stay_off_the_wire,
    handlers_find_nothing_to_read,
    a_change_that_nobody_waits_for_is_told,
    many_big_answers_go_through_a_full_pipe,
    an_oversize_line_fails_its_own_call,
);

const MINUTE: &str = r#"{"ms":60000}"#;

fn echo(id: u64) -> String {
    call(id, "echo", r#"{"text":"hi"}"#)
}

/// The ids of the next answers, which come in any order.
fn ids(peer: &Peer, count: usize) -> Vec<u64> {
    let mut ids: Vec<u64> = (0..count).map(|_| peer.lines.answer().0).collect();
    ids.sort_unstable();
    ids
}

fn a_call_is_answered() {
    let mut peer = Peer::start(&[]);
    peer.send(&echo(1));
    assert_eq!(peer.lines.answer(), (1, "hi".into()));
    peer.finish();
}

fn replies_of_one_read_leave_in_one_write() {
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    let mut command = command(&[]);
    // Each write is a message of its own here.
    command.stdout(Stdio::from(OwnedFd::from(theirs)));
    let mut child = command.spawn().unwrap();
    drop(command);
    ours.set_read_timeout(Some(LONG)).unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut room = vec![0; 1 << 16];
    let mut writes_for = |lines: &str, answers: usize| {
        input.write_all(lines.as_bytes()).unwrap();
        let mut answered = 0;
        let mut writes = 0;
        while answered < answers {
            let len = ours.recv(&mut room).unwrap();
            answered += room[..len].iter().filter(|byte| **byte == b'\n').count();
            writes += 1;
        }
        assert_eq!(answered, answers);
        writes
    };
    assert_eq!(writes_for(OPENING, 1), 1);
    // The first call has a thread started, which reads what is there once more.
    assert_eq!(writes_for(&echo(1), 1), 1);
    let batch: String = (2..12).map(|id| if id % 3 == 0 { ping(id) } else { echo(id) }).collect();
    // On a busy machine a thread may stand still for longer than an answer may wait.
    assert!((0..50).any(|_| writes_for(&batch, 10) == 1));
    drop(input);
    assert!(child.wait().unwrap().success());
}

fn a_listing_needs_no_thread() {
    let mut peer = Peer::start(&[]);
    peer.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    peer.send(&ping(2));
    assert_eq!(peer.lines.answer().0, 1);
    assert_eq!(peer.lines.answer().0, 2);
    let threads = std::fs::read_dir(format!("/proc/{}/task", peer.child.id())).unwrap().count();
    assert_eq!(threads, 1);
    // Whoever serves, and whoever runs handlers.
    peer.send(&call(3, "threads", "{}"));
    assert_eq!(peer.lines.answer(), (3, "2".into()));
    peer.finish();
}

// H-195
fn a_call_that_lasts_delays_nothing() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "sleep", MINUTE) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    for id in 3..20 {
        peer.send(&if id % 2 == 0 { ping(id) } else { echo(id) });
        assert_eq!(peer.lines.answer().0, id);
    }
    peer.send(&cancel(1));
    peer.finish();
}

fn with_all_threads_but_one_at_work_nothing_is_delayed() {
    let mut peer = Peer::start(&["threads=4"]);
    peer.send(&(1..4).map(|id| call(id, "sleep", MINUTE)).collect::<String>());
    for id in 4..20 {
        peer.send(&if id % 2 == 0 { ping(id) } else { echo(id) });
        assert_eq!(peer.lines.answer().0, id);
    }
    peer.send(&(1..4).map(cancel).collect::<String>());
    peer.finish();
}

fn with_all_threads_at_work_calls_wait_and_nothing_else() {
    for threads in [1, 4] {
        let mut peer = Peer::start(&[&format!("threads={threads}")]);
        peer.send(&(1..=threads).map(|id| call(id, "sleep", MINUTE)).collect::<String>());
        peer.send(&(echo(10) + &echo(11)));
        for id in 12..16 {
            peer.send(&ping(id));
            assert_eq!(peer.lines.answer().0, id);
        }
        assert!(peer.lines.silent());
        peer.send(&cancel(1));
        assert_eq!(ids(&peer, 2), [10, 11]);
        // The thread that got free goes on.
        peer.send(&echo(16));
        assert_eq!(peer.lines.answer(), (16, "hi".into()));
        peer.send(&(2..=threads).map(cancel).collect::<String>());
        peer.finish();
    }
}

fn a_call_that_is_cancelled_while_it_waits_never_runs() {
    let mut peer = Peer::start(&["threads=1"]);
    peer.send(&(call(1, "sleep", MINUTE) + &call(2, "stop-now", "{}") + &ping(3)));
    assert_eq!(peer.lines.answer().0, 3);
    peer.send(&(cancel(2) + &cancel(1) + &echo(4)));
    assert_eq!(peer.lines.answer(), (4, "hi".into()));
    peer.finish();
}

fn a_cancel_overtakes_a_running_call() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "sleep", MINUTE) + &cancel(1) + &ping(2)));
    assert_eq!(peer.lines.answer().0, 2);
    peer.send(&(call(3, "sleep", MINUTE) + &ping(4)));
    assert_eq!(peer.lines.answer().0, 4);
    // By now it runs.
    peer.send(&(cancel(3) + &echo(5)));
    assert_eq!(peer.lines.answer(), (5, "hi".into()));
    // Neither is answered: the next is the end.
    peer.finish();
}

fn long_calls_run_side_by_side() {
    let mut peer = Peer::start(&[]);
    // Each waits for all the others.
    peer.send(&(0..40).map(|id| call(id, "meet", r#"{"n":40}"#)).collect::<String>());
    assert_eq!(ids(&peer, 40), (0..40).collect::<Vec<_>>());
    peer.finish();
}

fn a_question_holds_up_its_own_call_alone() {
    let mut peer = Peer::start(&["threads=2"]);
    peer.send(&call(100, "ask", "{}"));
    let question = peer.lines.next();
    let id = question.view().get("id").and_then(JsonRef::as_u64).unwrap();
    peer.send(&(echo(101) + &ping(102)));
    assert_eq!(ids(&peer, 2), [101, 102]);
    peer.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"action\":\"decline\"}}}}\n"));
    assert_eq!(peer.lines.answer(), (100, r#"{"action":"decline"}"#.into()));
    // One that nobody answers ends with its call.
    peer.send(&call(103, "ask", "{}"));
    assert_eq!(
        peer.lines.next().view().get("method").and_then(JsonRef::str).unwrap().decode(),
        "elicitation/create"
    );
    peer.send(&cancel(103));
    let told = peer.lines.next();
    assert_eq!(told.view().get("method").and_then(JsonRef::str).unwrap().decode(), "notifications/cancelled");
    peer.finish();
}

fn progress_leaves_at_once() {
    let mut peer = Peer::start(&[]);
    peer.send(concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","#,
        r#""arguments":{"n":1,"ms":60000},"_meta":{"progressToken":"t"}}}"#,
        "\n"
    ));
    let told = peer.lines.next();
    assert!(told.as_str().contains("notifications/progress"), "{}", told.as_str());
    peer.child.kill().unwrap();
}

fn a_panic_is_answered_and_costs_no_thread() {
    let mut peer = Peer::start(&["threads=2"]);
    for id in 0..10 {
        peer.send(&call(id, "panic", "{}"));
        let message = peer.lines.next();
        let code = message.view().get("error").and_then(|error| error.get("code"));
        assert_eq!(code.and_then(JsonRef::as_i64), Some(-32603), "{}", message.as_str());
    }
    // As many as there may be can still be at work at once.
    peer.send(&(call(20, "sleep", MINUTE) + &echo(21)));
    assert_eq!(peer.lines.answer().0, 21);
    peer.send(&cancel(20));
    peer.finish();
}

// P-116
fn stray_prints_stay_off_the_wire() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "print", "{}") + &echo(2)));
    assert_eq!(peer.lines.answer(), (1, "printed".into()));
    assert_eq!(peer.lines.answer(), (2, "hi".into()));
    let stderr = peer.stderr.take().unwrap();
    peer.finish();
    assert_eq!(stderr.join().unwrap(), "a stray line\n");
}

fn handlers_find_nothing_to_read() {
    let mut peer = Peer::start(&[]);
    peer.send(&(call(1, "swallow", "{}") + &echo(2)));
    assert_eq!(ids(&peer, 2), [1, 2]);
    peer.finish();
}

fn a_change_that_nobody_waits_for_is_told() {
    let mut peer = Peer::start(&[]);
    peer.send(&call(1, "change", "{}"));
    assert_eq!(peer.lines.answer(), (1, "soon".into()));
    let told = peer.lines.next();
    assert!(told.as_str().contains("notifications/tools/list_changed"), "{}", told.as_str());
    peer.finish();
}

fn many_big_answers_go_through_a_full_pipe() {
    const BYTES: usize = 1_000_000;
    let mut child = command(&[]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let calls: String =
        (0..24).map(|id| call(id, "big", &format!(r#"{{"ms":50,"bytes":{BYTES}}}"#))).collect();
    input.write_all((OPENING.to_owned() + &calls).as_bytes()).unwrap();
    // All are ready long before anybody reads: each thread left bytes behind.
    std::thread::sleep(Duration::from_millis(500));
    let lines = crate::peer::Lines::of(child.stdout.take().unwrap());
    assert!(lines.next().view().get("result").is_some());
    let mut ids: Vec<u64> = Vec::new();
    for _ in 0..24 {
        let message = lines.next();
        assert_eq!(text(&message).len(), BYTES);
        ids.push(message.view().get("id").and_then(JsonRef::as_u64).unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..24).collect::<Vec<_>>());
    drop(input);
    assert!(lines.ended());
    assert!(child.wait().unwrap().success());
}

fn an_oversize_line_fails_its_own_call() {
    let mut peer = Peer::start(&["max-message=100000"]);
    peer.send(&(echo(1) + &call(2, "echo", &format!(r#"{{"text":"{}"}}"#, "x".repeat(200_000))) + &echo(3)));
    let mut answered: Vec<(u64, bool)> = (0..3)
        .map(|_| {
            let message = peer.lines.next();
            let id = message.view().get("id").and_then(JsonRef::as_u64).unwrap();
            (id, message.view().get("error").is_some())
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, [(1, false), (2, true), (3, false)]);
    peer.finish();
}
