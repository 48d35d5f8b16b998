//! A host under everything at once: whatever happens in whatever order, each call ends and nothing is left.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_lite::future::{poll_once, yield_now, zip};
use sanswire_smol::host::{
    Answer, ApprovalRequest, CallRefused, Event, Host, HostConfig, HostObserver, Observing,
};
use sanswire_smol::sanswire::host::ServerConfig;

use crate::common::{Env, runs, trials};
use crate::host_common::{Says, all, allowed, builder, call, launch, request, started};
use crate::hosted::Record;

trials! {
    each: h_234_each_call_ends_once_whatever_happens, an_observer_may_close_the_host,
        an_observer_that_is_slow_misses_what_is_too_much, an_approver_may_use_the_host;
    once:
}

/// What a task does next, from a seed of its own.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

const ENDS: [&str; 7] =
    ["completed", "tool_error", "denied", "timeout", "cancelled", "disconnected", "unavailable"];

/// One thing that somebody may do; whether a call ended.
async fn one(host: &Host, seed: &mut u64) -> bool {
    let server = ["a", "b", "c"][usize::try_from(next(seed) % 3).unwrap()];
    let n = next(seed);
    let request = |tool| request(server, tool, &format!(r#"{{"text":"x","ms":3,"n":{n}}}"#));
    let ended = |end: &'static str| {
        assert!(ENDS.contains(&end), "{end}");
        true
    };
    match next(seed) % 16 {
        0..=5 => match host.call(request("echo")).await {
            Ok(end) => ended(end.outcome.as_str()),
            Err(_) => false,
        },
        6 | 7 => match host.start(request("slow")) {
            Ok(pending) => ended(pending.await.outcome.as_str()),
            Err(_) => false,
        },
        8 => match host.start(request("hold")) {
            Ok(pending) => {
                let handle = pending.handle();
                let cancels = async {
                    yield_now().await;
                    host.cancel(handle)
                };
                ended(zip(pending, cancels).await.0.outcome.as_str())
            }
            Err(_) => false,
        },
        9 => {
            // At some point of its way.
            let mut call = Box::pin(host.call(request("hold")));
            for _ in 0..n % 4 {
                if poll_once(&mut call).await.is_some() {
                    break;
                }
                yield_now().await;
            }
            false
        }
        10 => match host.call(request("exit")).await {
            Ok(end) => ended(end.outcome.as_str()),
            Err(_) => false,
        },
        11 => {
            host.reconnect(server);
            false
        }
        12 => {
            host.refresh(server);
            host.begin_turn();
            false
        }
        13 => match host.call(request("grow")).await {
            Ok(end) => ended(end.outcome.as_str()),
            Err(_) => false,
        },
        14 => {
            let _ = (host.states(), host.client(server).map(|client| client.pid()));
            false
        }
        _ => {
            host.set_plan_mode(n.is_multiple_of(2));
            false
        }
    }
}

async fn h_234_each_call_ends_once_whatever_happens(env: Env) {
    // H-234
    let records = [Record::new(), Record::new(), Record::new()];
    let mut config = HostConfig::default();
    config.timeouts.default = Duration::from_secs(20);
    config.reconnect.max_attempts = 1000;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let host = env
        .watching(Host::builder(config))
        .server("a", allowed(), launch(&[&records[0].flag()]))
        .server("b", allowed(), launch(&["modern", &records[1].flag()]))
        .server("c", ServerConfig::default(), launch(&[&records[2].flag()]))
        .approver(Says(move |_: &ApprovalRequest| {
            Some(if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(5) {
                Answer::Deny
            } else {
                Answer::AllowOnce
            })
        }));
    let host = &started(host).await;
    let ended = all((0..6u64).map(|n| async move {
        let (mut seed, mut ended) = (n + 1, 0);
        for _ in 0..100 {
            ended += usize::from(one(host, &mut seed).await);
        }
        ended
    }))
    .await;
    assert!(ended.iter().all(|ended| *ended > 10), "{ended:?}");
    assert!(asked.load(Ordering::Relaxed) > 0);
    assert_eq!(host.with(|machine| machine.call_bytes()), 0, "nothing of a call is left");
    host.close().await;
    assert!(records.iter().flat_map(Record::pids).all(|pid| !runs(pid)));
}

/// Closes the host as soon as all was tried.
struct Closes(Arc<Mutex<Option<Host>>>);

impl HostObserver for Closes {
    fn event<'a>(&'a self, event: &'a Event) -> Observing<'a> {
        Box::pin(async {
            if matches!(event, Event::Started) {
                let host = loop {
                    let host = self.0.lock().unwrap().take();
                    match host {
                        Some(host) => break host,
                        None => yield_now().await,
                    }
                };
                host.close().await;
                // The last of it, perhaps.
                drop(host);
            }
        })
    }
}

async fn an_observer_may_close_the_host(env: Env) {
    let (record, slot) = (Record::new(), Arc::default());
    let host = builder(&env)
        .server("it", allowed(), launch(&[&record.flag()]))
        .observer(Closes(Arc::clone(&slot)))
        .open()
        .unwrap();
    *slot.lock().unwrap() = Some(host.clone());
    while host.call(request("it", "echo", "{}")).await.err() != Some(CallRefused::Closed) {
        async_io::Timer::after(Duration::from_millis(5)).await;
    }
    assert_eq!(host.close().await.len(), 1);
    drop(host);
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

/// Is told one event and then waits.
#[derive(Clone, Default)]
struct Slow {
    go_on: Arc<std::sync::atomic::AtomicBool>,
    events: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl HostObserver for Slow {
    fn event<'a>(&'a self, _: &'a Event) -> Observing<'a> {
        Box::pin(async {
            self.events.fetch_add(1, Ordering::SeqCst);
            while !self.go_on.load(Ordering::SeqCst) {
                async_io::Timer::after(Duration::from_millis(1)).await;
            }
            assert!(!self.events.load(Ordering::SeqCst).is_multiple_of(10), "a panic costs that event only");
        })
    }

    fn lost(&self, count: u64) {
        self.lost.fetch_add(usize::try_from(count).unwrap(), Ordering::SeqCst);
    }
}

async fn an_observer_that_is_slow_misses_what_is_too_much(env: Env) {
    let slow = Slow::default();
    let host = builder(&env).server("it", ServerConfig::default(), launch(&[])).observer(slow.clone());
    let host = started(host.approver(Says(|_: &ApprovalRequest| Some(Answer::Deny)))).await;
    // A question and its end each.
    for n in 0..1000 {
        assert_eq!(call(&host, "it", "pid", &format!(r#"{{"n":{n}}}"#)).await.as_str(), "denied");
    }
    assert_eq!((slow.events.load(Ordering::SeqCst), slow.lost.load(Ordering::SeqCst)), (1, 0));
    slow.go_on.store(true, Ordering::SeqCst);
    host.close().await;
    let (told, lost) = (slow.events.load(Ordering::SeqCst), slow.lost.load(Ordering::SeqCst));
    assert!(told > 1000 && lost > 0 && told + lost >= 2000, "{told} {lost}");
}

async fn an_approver_may_use_the_host(env: Env) {
    let held: Arc<Mutex<Option<Host>>> = Arc::default();
    let inner = Arc::clone(&held);
    let host = builder(&env)
        .server("ask", ServerConfig::default(), launch(&[]))
        .server("pass", allowed(), launch(&[]))
        .approver(move |_: ApprovalRequest| {
            let host = inner.lock().unwrap().clone().unwrap();
            async move {
                let end = host.call(request("pass", "echo", r#"{"text":"a"}"#)).await.unwrap();
                Some(if end.outcome.as_str() == "completed" { Answer::AllowOnce } else { Answer::Deny })
            }
        });
    let host = started(host).await;
    *held.lock().unwrap() = Some(host.clone());
    let end = host.call(request("ask", "echo", "{}")).await.unwrap();
    assert_eq!(end.outcome.as_str(), "completed");
    held.lock().unwrap().take();
}
