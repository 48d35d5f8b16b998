//! Calls through a host: who is asked, on which thread, and how calls end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use sanswire_std::host::{
    Answer, ApprovalHandle, ApprovalRequest, CallOutcome, CallRefused, Event, Host, HostConfig, Target,
};
use sanswire_std::sanswire::host::link::Status;
use sanswire_std::sanswire::host::policy::{NotReleased, Reason};
use sanswire_std::sanswire::host::results::PageFault;
use sanswire_std::sanswire::host::{Denial, Provenance, ServerConfig};
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use sanswire_std::sanswire::server::Principal;
use sanswire_std::sanswire::waist::{Bindings, Grant, Trust};
use sanswire_std::{ConnectOptions, Responder};

use crate::common::{LONG, eventually, options, raw, trials, within};
use crate::host_common::{
    Asks, Seen, allowed, builder, call, ended, host, launch, pid, request, status, text,
};
use crate::hosted::Record;

trials!(
    h_237_somebody_is_asked_on_the_thread_of_the_call,
    h_236_of_two_answers_the_first_counts,
    h_236_what_is_meant_for_one_host_does_nothing_to_another,
    h_048_with_nobody_to_ask_the_call_is_denied,
    h_038_whoever_is_asked_may_come_later,
    h_062_an_approver_that_panics_denies,
    h_031_plan_mode_is_read_at_each_call,
    h_060_what_was_allowed_for_the_session_is_not_asked_again,
    two_calls_that_are_the_same_are_asked_about_once_each,
    a_call_that_nobody_waits_for_leaves_its_question_to_another,
    h_071_h_072_a_call_that_takes_too_long_ends_alone,
    h_074_a_call_is_cancelled_from_elsewhere_and_on_the_wire,
    a_call_that_is_dropped_is_cancelled_on_the_wire,
    a_call_that_waits_for_an_answer_can_be_cancelled,
    progress_is_told_on_the_thread_of_the_call,
    rounds_of_input_go_to_the_responder,
    without_a_responder_input_is_refused,
    h_113_closing_waits_for_no_call,
    a_hundred_threads_call_five_servers,
    many_calls_of_one_thread_are_under_way_at_once,
    the_rest_of_a_long_result_is_there_by_page,
    a_name_that_is_not_offered_is_refused,
    what_the_waist_does_not_grant_reaches_no_server,
);

/// A host of one server whose calls are asked about.
fn asking(answer: impl Fn(&ApprovalRequest) -> Option<Answer> + Send + Sync + 'static) -> (Host, Seen) {
    let seen = Seen::default();
    let host = builder()
        .server("it", ServerConfig::default(), launch(&[]))
        .approver(Asks(answer))
        .observer(seen.clone())
        .open()
        .unwrap();
    assert!(host.wait_started(LONG));
    (host, seen)
}

fn question(seen: &Seen) -> ApprovalHandle {
    let find = |event: &Event| match event {
        Event::Approval(request) => Some(request.handle),
        _ => None,
    };
    eventually("somebody is asked", || seen.find(find).is_some());
    seen.find(find).unwrap()
}

fn h_237_somebody_is_asked_on_the_thread_of_the_call() {
    // H-237
    let asked: Arc<Mutex<Vec<(ThreadId, String, String)>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let (host, _) = asking(move |request| {
        let (tool, preview) = (request.tool.to_string(), request.preview.clone());
        seen.lock().unwrap().push((std::thread::current().id(), tool, preview));
        Some(if request.preview.contains("yes") { Answer::AllowOnce } else { Answer::Deny })
    });
    let threads = ["yes", "no", "yes, too"].map(|word| {
        let host = host.clone();
        std::thread::spawn(move || {
            let outcome = call(&host, "it", "pid", &format!(r#"{{"word":"{word}"}}"#));
            (std::thread::current().id(), word, outcome.as_str())
        })
    });
    let called = threads.map(|thread| thread.join().unwrap());
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    for (thread, word, outcome) in called {
        let (_, tool, preview) = asked.iter().find(|(on, ..)| *on == thread).unwrap();
        assert_eq!((&**tool, &**preview), ("it/pid", &*format!("word: {word}")));
        assert_eq!(outcome, if word == "no" { "denied" } else { "completed" });
    }
}

fn h_236_of_two_answers_the_first_counts() {
    // H-236
    let (host, seen) = asking(|_| None);
    let caller = host.clone();
    let called = std::thread::spawn(move || call(&caller, "it", "echo", r#"{"text":"a"}"#));
    let question = question(&seen);
    assert!(!called.is_finished());
    assert!(host.answer(question, Answer::AllowOnce));
    assert!(!host.answer(question, Answer::Deny));
    assert_eq!(text(called.join().unwrap()), "a");
    eventually("its end is told", || {
        seen.all().iter().any(|event| matches!(event, Event::ApprovalEnded(over) if *over == question))
    });
}

fn h_236_what_is_meant_for_one_host_does_nothing_to_another() {
    // H-236
    let ((one, seen), (other, seen_there)) = (asking(|_| None), asking(|_| None));
    let calls = [&one, &other].map(|host| host.start(request("it", "hold", r#"{"text":"a"}"#)).unwrap());
    let (here, there) = (question(&seen), question(&seen_there));
    assert!(!other.answer(here, Answer::AllowOnce) && !one.answer(there, Answer::AllowOnce));
    let [in_one, in_other] = [&calls[0], &calls[1]].map(|call| call.handle());
    assert!(!other.cancel(in_one) && !one.cancel(in_other));
    assert!(one.answer(here, Answer::Deny) && other.answer(there, Answer::Deny));
    assert_eq!(calls.map(|call| ended(call.wait())), ["denied", "denied"]);
}

fn h_048_with_nobody_to_ask_the_call_is_denied() {
    // H-035, H-048
    let record = Record::new();
    let host = builder().server("it", ServerConfig::default(), launch(&[&record.flag()])).open().unwrap();
    assert!(host.wait_started(LONG));
    let CallOutcome::Denied(Denial::Decided(decision)) = call(&host, "it", "echo", "{}") else { panic!() };
    assert_eq!(decision.reason, Reason::NoApprover);
    assert_eq!(record.count("call"), 0);
}

fn h_038_whoever_is_asked_may_come_later() {
    // H-038
    let host = builder().server("it", ServerConfig::default(), launch(&[])).open().unwrap();
    assert!(host.wait_started(LONG));
    assert_eq!(call(&host, "it", "echo", "{}").as_str(), "denied");
    host.set_approver(Some(Arc::new(Asks(|_: &ApprovalRequest| Some(Answer::AllowOnce)))));
    assert_eq!(call(&host, "it", "echo", "{}").as_str(), "completed");
    host.set_approver(None);
    assert_eq!(call(&host, "it", "echo", "{}").as_str(), "denied");
}

fn h_062_an_approver_that_panics_denies() {
    // H-062
    let (host, _) = asking(|_| panic!("no"));
    let outcome = call(&host, "it", "echo", "{}");
    assert!(
        matches!(outcome, CallOutcome::Denied(Denial::NotReleased(NotReleased::ApproverFailed))),
        "{outcome:?}"
    );
}

fn h_031_plan_mode_is_read_at_each_call() {
    // H-031
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let host = builder()
        .server("it", allowed(), launch(&[]))
        .approver(Asks(move |_: &ApprovalRequest| {
            count.fetch_add(1, Ordering::Relaxed);
            Some(Answer::Deny)
        }))
        .open()
        .unwrap();
    assert!(host.wait_started(LONG));
    assert_eq!(call(&host, "it", "pid", r#"{"n":1}"#).as_str(), "completed");
    host.set_plan_mode(true);
    assert_eq!(call(&host, "it", "pid", r#"{"n":2}"#).as_str(), "denied");
    host.set_plan_mode(false);
    assert_eq!(call(&host, "it", "pid", r#"{"n":3}"#).as_str(), "completed");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

fn h_060_what_was_allowed_for_the_session_is_not_asked_again() {
    // H-060
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (host, _) = asking(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Some(Answer::AlwaysAllow)
    });
    for n in 0..3 {
        assert_eq!(call(&host, "it", "pid", &format!(r#"{{"n":{n}}}"#)).as_str(), "completed");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    host.with_grants(|grants| assert_eq!(grants.iter().count(), 1));
}

fn two_calls_that_are_the_same_are_asked_about_once_each() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (host, _) = asking(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        Some(Answer::AllowOnce)
    });
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let host = host.clone();
            std::thread::spawn(move || call(&host, "it", "echo", r#"{"text":"same"}"#))
        })
        .collect();
    within(LONG, || threads.into_iter().for_each(|thread| assert_eq!(text(thread.join().unwrap()), "same")));
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

fn a_call_that_nobody_waits_for_leaves_its_question_to_another() {
    let (host, _) = asking(|_| Some(Answer::AllowOnce));
    // Nobody waits for the first, which the question is about.
    let first = host.start(request("it", "echo", r#"{"text":"same"}"#)).unwrap();
    let mine = within(LONG, || call(&host, "it", "echo", r#"{"text":"same"}"#));
    assert_eq!(text(mine), "same");
    let second = host.start(request("it", "echo", r#"{"text":"same"}"#)).unwrap();
    drop(first);
    assert_eq!(ended(within(LONG, || second.wait())), "completed");
}

fn h_071_h_072_a_call_that_takes_too_long_ends_alone() {
    // H-071, H-072
    let record = Record::new();
    let mut config = HostConfig::default();
    config.timeouts.default = Duration::from_millis(100);
    let host = Host::builder(config).server("it", allowed(), launch(&[&record.flag()])).open().unwrap();
    assert!(host.wait_started(LONG));
    let before = pid(&host, "it");
    let outcome = within(LONG, || call(&host, "it", "hold", "{}"));
    assert!(matches!(outcome, CallOutcome::TimedOut(limit) if limit.as_millis() == 100), "{outcome:?}");
    eventually("its server is told", || record.count("notifications/cancelled") == 1);
    assert_eq!(text(call(&host, "it", "pid", "{}")), before.to_string());
    assert_eq!((status(&host, "it"), record.count("start")), (Status::Connected, 1));
}

fn h_074_a_call_is_cancelled_from_elsewhere_and_on_the_wire() {
    // H-074
    let record = Record::new();
    let host = host(&[&record.flag()]);
    let pending = host.start(request("it", "hold", "{}")).unwrap();
    let handle = pending.handle();
    let waits = std::thread::spawn(move || pending.wait());
    eventually("it is under way", || record.count("call") == 1);
    assert!(host.cancel(handle));
    assert_eq!(ended(within(LONG, || waits.join().unwrap())), "cancelled");
    assert!(!host.cancel(handle));
    eventually("its server is told", || record.count("notifications/cancelled") == 1);
    assert_eq!(status(&host, "it"), Status::Connected);
}

fn a_call_that_is_dropped_is_cancelled_on_the_wire() {
    let record = Record::new();
    let host = host(&[&record.flag()]);
    drop(host.start(request("it", "hold", "{}")).unwrap());
    eventually("its server is told", || record.count("notifications/cancelled") == 1);
    assert_eq!(record.count("call"), 1);
}

fn a_call_that_waits_for_an_answer_can_be_cancelled() {
    let (host, seen) = asking(|_| None);
    let pending = host.start(request("it", "echo", "{}")).unwrap();
    let handle = pending.handle();
    let waits = std::thread::spawn(move || pending.wait());
    let question = question(&seen);
    assert!(host.cancel(handle));
    assert_eq!(ended(within(LONG, || waits.join().unwrap())), "cancelled");
    assert!(!host.answer(question, Answer::AllowOnce));
}

fn progress_is_told_on_the_thread_of_the_call() {
    let host = host(&[]);
    let me = std::thread::current().id();
    let mut told = Vec::new();
    let end = host
        .call_with(request("it", "progress", r#"{"n":5}"#), &mut |progress| {
            assert_eq!(std::thread::current().id(), me);
            told.push(progress.progress);
        })
        .unwrap();
    assert_eq!(text(end.outcome), "done");
    assert_eq!(told.last(), Some(&5.0), "{told:?}");
    assert!(told.is_sorted(), "{told:?}");
}

struct Names;

impl Responder for Names {
    fn respond(&self, request: &InputRequest) -> InputAnswer {
        assert_eq!(request.kind, InputKind::ElicitForm);
        InputAnswer::accept(Some(&raw(r#"{"name":"Ada"}"#)))
    }
}

fn modern(options: ConnectOptions) -> Host {
    let command = crate::common::child(&["hosted", "modern"]);
    let launch = sanswire_std::host::Launch::command(command, options);
    let host = builder().server("it", allowed(), launch).open().unwrap();
    assert!(host.wait_started(LONG));
    host
}

fn rounds_of_input_go_to_the_responder() {
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(Names));
    let said = text(call(&modern(options), "it", "ask", "{}"));
    assert!(said.contains(r#""name":"Ada""#), "{said}");
}

fn without_a_responder_input_is_refused() {
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    let said = text(call(&modern(options), "it", "ask", "{}"));
    assert!(said.contains("cancel"), "{said}");
}

fn h_113_closing_waits_for_no_call() {
    // H-113
    let record = Record::new();
    let host = host(&[&record.flag()]);
    let calls: Vec<_> = (0..3)
        .map(|n| {
            let host = host.clone();
            std::thread::spawn(move || call(&host, "it", "hold", &format!(r#"{{"n":{n}}}"#)).as_str())
        })
        .collect();
    eventually("they are under way", || record.count("call") == 3);
    // The next one, while they hang.
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"a"}"#)), "a");
    within(LONG, || host.close());
    calls.into_iter().for_each(|call| assert_eq!(call.join().unwrap(), "cancelled"));
    assert_eq!(host.call(request("it", "echo", "{}")).unwrap_err(), CallRefused::Closed);
}

fn a_hundred_threads_call_five_servers() {
    let mut host = builder();
    for n in 0..5 {
        host = host.server(&format!("s{n}"), allowed(), launch(&[]));
    }
    let host = host.open().unwrap();
    assert!(host.wait_started(LONG));
    let threads: Vec<_> = (0..100)
        .map(|n| {
            let host = host.clone();
            std::thread::spawn(move || {
                for k in 0..10 {
                    let said = format!("{n}-{k}");
                    let arguments = format!(r#"{{"text":"{said}"}}"#);
                    assert_eq!(text(call(&host, &format!("s{}", (n + k) % 5), "echo", &arguments)), said);
                }
            })
        })
        .collect();
    within(LONG, || threads.into_iter().for_each(|thread| thread.join().unwrap()));
}

fn many_calls_of_one_thread_are_under_way_at_once() {
    let record = Record::new();
    let host = host(&[&record.flag()]);
    let slow = |n| host.start(request("it", "slow", &format!(r#"{{"ms":50,"n":{n}}}"#))).unwrap();
    let calls: Vec<_> = (0..20).map(slow).collect();
    eventually("all have left", || record.count("call") == 20);
    calls.into_iter().for_each(|call| assert_eq!(ended(call.wait()), "completed"));
}

fn the_rest_of_a_long_result_is_there_by_page() {
    let host = host(&[]);
    let long = "x".repeat(100_000);
    let mut request = request("it", "echo", &format!(r#"{{"text":"{long}"}}"#));
    request.owner = Principal::named("me");
    let CallOutcome::Completed(result) = host.call(request).unwrap().outcome else { panic!() };
    let shown = result.presented;
    assert_eq!((shown.shown, shown.total), (65_536, 100_000));
    let page = host.page(&Principal::named("me"), shown.rest.unwrap(), None).unwrap();
    assert_eq!((page.offset, page.text.len(), page.next), (65_536, 100_000 - 65_536, None));
    let other = host.page(&Principal::named("you"), shown.rest.unwrap(), None);
    assert_eq!(other.unwrap_err(), PageFault::Unknown);
}

fn a_name_that_is_not_offered_is_refused() {
    let host = host(&[]);
    let unknown = |target| {
        let request = sanswire_std::host::CallRequest::new("call", target, None);
        assert_eq!(host.call(request).unwrap_err(), CallRefused::UnknownTool);
    };
    unknown(Target::Exposed("mcp__it__nothing".into()));
    unknown(Target::Tool(Provenance::new("nobody", "echo")));
    let request = sanswire_std::host::CallRequest::new("call", Target::Exposed("mcp__it__pid".into()), None);
    assert_eq!(ended(host.call(request).unwrap()), "completed");
}

fn what_the_waist_does_not_grant_reaches_no_server() {
    let record = Record::new();
    let mut bindings = Bindings::default();
    bindings.grant = Some(Grant::of(["mcp__it__pid"]).into());
    let mut trusted = allowed();
    trusted.trust = Trust::Trusted;
    let host = builder().server("it", trusted, launch(&[&record.flag()])).waist(bindings).open().unwrap();
    assert!(host.wait_started(LONG));
    let passed = call(&host, "it", "pid", "{}");
    assert!(matches!(passed, CallOutcome::Completed(_)), "{passed:?}");
    let outcome = call(&host, "it", "echo", "{}");
    assert!(matches!(outcome, CallOutcome::Denied(Denial::Rejected(_))), "{outcome:?}");
    assert_eq!((record.count("call pid"), record.count("call")), (1, 1));
    let records = host.with_waist(|waist| std::iter::from_fn(|| waist.poll_record()).count());
    assert_eq!(records, Some(3), "a start, an end, and what was rejected");
}
