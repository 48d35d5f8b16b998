//! A host under everything at once: whatever happens in whatever order, each call ends and nothing is left.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_std::host::{Answer, ApprovalRequest, Event, Host, HostConfig, HostObserver};
use sanswire_std::sanswire::host::ServerConfig;

use crate::common::{LONG, runs, trials, within};
use crate::host_common::{Asks, allowed, launch, request};
use crate::hosted::Record;

trials!(
    h_234_each_call_ends_once_whatever_happens,
    an_observer_may_close_the_host,
    an_approver_may_use_the_host
);

/// What a thread does next, from a seed of its own.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

const ENDS: [&str; 7] =
    ["completed", "tool_error", "denied", "timeout", "cancelled", "disconnected", "unavailable"];

/// One thing that somebody may do; how many calls it made, and how many ends it got.
fn one(host: &Host, seed: &mut u64) -> (usize, usize) {
    let server = ["a", "b", "c"][usize::try_from(next(seed) % 3).unwrap()];
    let n = next(seed);
    let request = |tool| request(server, tool, &format!(r#"{{"text":"x","ms":3,"n":{n}}}"#));
    let end = |end: &'static str| assert!(ENDS.contains(&end), "{end}");
    match next(seed) % 16 {
        0..=6 => match host.call(request("echo")) {
            Ok(ended) => end(ended.outcome.as_str()),
            Err(_) => return (0, 0),
        },
        7 => match host.start(request("slow")) {
            Ok(pending) => end(pending.wait().outcome.as_str()),
            Err(_) => return (0, 0),
        },
        8 => match host.start(request("hold")) {
            Ok(pending) => {
                let (handle, other) = (pending.handle(), host.clone());
                let cancels = std::thread::spawn(move || other.cancel(handle));
                end(pending.wait().outcome.as_str());
                cancels.join().unwrap();
            }
            Err(_) => return (0, 0),
        },
        9 => {
            drop(host.start(request("hold")));
            return (0, 0);
        }
        10 => match host.call(request("exit")) {
            Ok(ended) => end(ended.outcome.as_str()),
            Err(_) => return (0, 0),
        },
        11 => {
            host.reconnect(server);
            return (0, 0);
        }
        12 => {
            host.refresh(server);
            host.begin_turn();
            return (0, 0);
        }
        13 => match host.call(request("grow")) {
            Ok(ended) => end(ended.outcome.as_str()),
            Err(_) => return (0, 0),
        },
        14 => {
            let _ = (host.states(), host.client(server).map(|client| client.pid()));
            return (0, 0);
        }
        _ => {
            host.set_plan_mode(n.is_multiple_of(2));
            return (0, 0);
        }
    }
    (1, 1)
}

fn h_234_each_call_ends_once_whatever_happens() {
    // H-234
    let records = [Record::new(), Record::new(), Record::new()];
    let mut config = HostConfig::default();
    config.timeouts.default = Duration::from_secs(20);
    config.reconnect.max_attempts = 1000;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let host = Host::builder(config)
        .server("a", allowed(), launch(&[&records[0].flag()]))
        .server("b", allowed(), launch(&["modern", &records[1].flag()]))
        .server("c", ServerConfig::default(), launch(&[&records[2].flag()]))
        .approver(Asks(move |_: &ApprovalRequest| {
            Some(if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(5) {
                Answer::Deny
            } else {
                Answer::AllowOnce
            })
        }))
        .open()
        .unwrap();
    assert!(host.wait_started(LONG));
    let threads: Vec<_> = (0..6u64)
        .map(|n| {
            let host = host.clone();
            std::thread::spawn(move || {
                let mut seed = n + 1;
                (0..200).map(|_| one(&host, &mut seed)).fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1))
            })
        })
        .collect();
    let done =
        within(LONG * 2, || threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>());
    assert!(done.iter().all(|(made, ended)| made == ended && *made > 10), "{done:?}");
    assert!(asked.load(Ordering::Relaxed) > 0);
    within(LONG, || host.close());
    assert!(records.iter().flat_map(Record::pids).all(|pid| !runs(pid)));
}

/// Closes the host as soon as all was tried.
struct Closes(Arc<Mutex<Option<Host>>>);

impl HostObserver for Closes {
    fn event(&self, event: &Event) {
        if matches!(event, Event::Started) {
            let host = loop {
                match self.0.lock().unwrap().take() {
                    Some(host) => break host,
                    None => std::thread::yield_now(),
                }
            };
            host.close();
            // The last of it, perhaps.
            drop(host);
        }
    }
}

fn an_observer_may_close_the_host() {
    let (record, slot) = (Record::new(), Arc::default());
    let host = Host::builder(HostConfig::default())
        .server("it", allowed(), launch(&[&record.flag()]))
        .observer(Closes(Arc::clone(&slot)))
        .open()
        .unwrap();
    *slot.lock().unwrap() = Some(host.clone());
    within(LONG, || {
        while host.call(request("it", "echo", "{}")).err() != Some(sanswire_std::host::CallRefused::Closed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(host.close().len(), 1);
    });
    drop(host);
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

fn an_approver_may_use_the_host() {
    let held: Arc<Mutex<Option<Host>>> = Arc::default();
    let inner = Arc::clone(&held);
    let host = Host::builder(HostConfig::default())
        .server("ask", ServerConfig::default(), launch(&[]))
        .server("pass", allowed(), launch(&[]))
        .approver(Asks(move |_: &ApprovalRequest| {
            let host = inner.lock().unwrap().clone().unwrap();
            let end = host.call(request("pass", "echo", r#"{"text":"a"}"#)).unwrap();
            Some(if end.outcome.as_str() == "completed" { Answer::AllowOnce } else { Answer::Deny })
        }))
        .open()
        .unwrap();
    assert!(host.wait_started(LONG));
    *held.lock().unwrap() = Some(host.clone());
    let end = within(LONG, || host.call(request("ask", "echo", "{}")).unwrap());
    assert_eq!(end.outcome.as_str(), "completed");
    held.lock().unwrap().take();
}
