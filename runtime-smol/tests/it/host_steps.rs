//! Futures of hosts that are dropped at every point where they wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sanswire_smol::host::{Answer, ApprovalRequest, Host, Launch};
use sanswire_smol::sanswire::host::ServerConfig;
use sanswire_smol::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_smol::sanswire::waist::{Bindings, RecordKind, Trust};

use crate::common::{ANY, block_on, eventually, runs};
use crate::host_common::{allowed, builder, call, echoes, hosted, impatient, launch, request, started, text};
use crate::hosted::Record;
use crate::steps::{at_every_point, give_up_after, has_child};

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    type Test = (&'static str, fn());
    let tests: [Test; 5] = [
        ("a_hosts_call_may_be_given_up_at_any_point", a_hosts_call_may_be_given_up_at_any_point),
        ("a_hosts_question_may_be_given_up_at_any_point", a_hosts_question_may_be_given_up_at_any_point),
        (
            "a_hosts_round_of_input_may_be_given_up_at_any_point",
            a_round_of_input_may_be_given_up_at_any_point,
        ),
        ("a_host_may_be_dropped_at_any_point_of_its_start", a_host_may_be_dropped_at_any_point_of_its_start),
        ("closing_a_host_may_be_given_up_at_any_point", closing_a_host_may_be_given_up_at_any_point),
    ];
    tests.map(|(name, test)| crate::common::trial(name.into(), test)).into()
}

/// A host whose calls pass a waist, which counts what began and what ended.
fn counted(flags: &[&str], configure: impl FnOnce(&mut Launch, &mut ServerConfig)) -> Host {
    let (mut launch, mut server) = (launch(flags), allowed());
    server.trust = Trust::Trusted;
    configure(&mut launch, &mut server);
    let host = builder(&ANY).server("it", server, launch).waist(Bindings::default());
    block_on(started(host.approver(|_: ApprovalRequest| async {
        futures_lite::future::yield_now().await;
        Some(Answer::AllowOnce)
    })))
}

/// Each call that began has ended, once.
fn all_ended(host: &Host) {
    let records = host.with_waist(|waist| std::iter::from_fn(|| waist.poll_record()).collect::<Vec<_>>());
    let of = |kind| records.iter().flatten().filter(move |record| record.kind == kind);
    let mut starts: Vec<_> = of(RecordKind::Start).map(|record| Some(record.sequence)).collect();
    let mut ends: Vec<_> = of(RecordKind::End).map(|record| record.start).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    assert_eq!(starts, ends);
    assert!(!host.with(|machine| machine.call_bytes() > 0), "something of a call is left");
}

fn a_hosts_call_may_be_given_up_at_any_point() {
    let record = Record::new();
    let host = counted(&[&record.flag()], |_, _| ());
    at_every_point(
        || host.call(request("it", "slow", r#"{"ms":1}"#)),
        || {
            block_on(echoes(&host, "it"));
            all_ended(&host);
        },
    );
    at_every_point(
        || host.call_with(request("it", "progress", r#"{"n":3}"#), |_| ()),
        || {
            block_on(echoes(&host, "it"));
            all_ended(&host);
        },
    );
    let exits = block_on(host.close());
    assert_eq!(exits[0].1.status.unwrap().code(), Some(0), "it was never ended for that");
}

fn a_hosts_question_may_be_given_up_at_any_point() {
    let host = counted(&[], |_, server| server.mode = ServerConfig::default().mode);
    at_every_point(
        || host.call(request("it", "slow", r#"{"ms":1}"#)),
        || {
            block_on(echoes(&host, "it"));
            all_ended(&host);
        },
    );
}

fn a_round_of_input_may_be_given_up_at_any_point() {
    let answered = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&answered);
    let host = counted(&["modern"], move |launch, _| {
        let mut options = impatient();
        options.config.capabilities.elicitation_form = true;
        options.responder = Some(Arc::new(move |_: InputRequest| {
            let count = Arc::clone(&count);
            async move {
                futures_lite::future::yield_now().await;
                count.fetch_add(1, Ordering::Relaxed);
                InputAnswer::Cancel
            }
        }));
        *launch = Launch::command(hosted(&["modern"]), options);
    });
    at_every_point(
        || host.call(request("it", "ask", "{}")),
        || {
            assert!(text(block_on(call(&host, "it", "ask", "{}"))).contains("cancel"));
            all_ended(&host);
        },
    );
    assert!(answered.load(Ordering::Relaxed) > 0);
}

fn a_host_may_be_dropped_at_any_point_of_its_start() {
    let record = Record::new();
    for n in 0..60 {
        let host =
            builder(&ANY).server("it", allowed(), launch(&["ignore-eof", &record.flag()])).open().unwrap();
        // It is started by others meanwhile.
        std::thread::sleep(std::time::Duration::from_micros(300 * n));
        drop(host);
    }
    let host = block_on(started(builder(&ANY).server("it", allowed(), launch(&[&record.flag()]))));
    assert!(has_child(&record.flag()));
    drop(host);
    block_on(eventually("no process is left", || !has_child(&record.flag())));
    assert!(record.pids().iter().all(|pid| !runs(*pid)));
}

fn closing_a_host_may_be_given_up_at_any_point() {
    for polls in 0..1000 {
        let record = Record::new();
        let host = builder(&ANY).server("it", allowed(), launch(&[&record.flag()]));
        let host = block_on(started(host));
        let held = host.start(request("it", "hold", "{}")).unwrap();
        let ready = give_up_after(polls, host.close()).is_some();
        // The end goes on, if it has begun.
        drop(host);
        block_on(eventually("it is gone", || record.pids().iter().all(|pid| !runs(*pid))));
        assert_eq!(block_on(held).outcome.as_str(), "cancelled");
        if ready {
            return;
        }
    }
    panic!("never ready");
}
