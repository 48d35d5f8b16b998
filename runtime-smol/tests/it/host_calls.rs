//! Calls through a host: who is asked, within which future, and how calls end.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::{poll_once, yield_now, zip};
use sanswire_smol::ConnectOptions;
use sanswire_smol::host::{
    Answer, ApprovalHandle, ApprovalRequest, CallOutcome, CallRefused, CallRequest, Event, Host, HostConfig,
    Launch, Target,
};
use sanswire_smol::sanswire::host::link::Status;
use sanswire_smol::sanswire::host::policy::{NotReleased, Reason};
use sanswire_smol::sanswire::host::results::PageFault;
use sanswire_smol::sanswire::host::{Denial, Provenance, ServerConfig};
use sanswire_smol::sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use sanswire_smol::sanswire::server::Principal;
use sanswire_smol::sanswire::waist::{Bindings, Grant, Trust};

use crate::common::{ANY, Count, Env, LONG, eventually, kill, options, raw, trials};
use crate::host_common::{
    Says, Seen, all, allowed, builder, call, echoes, ended, host, hosted, launch, pid, request, started,
    status, text, until,
};
use crate::hosted::Record;

trials! {
    each: h_237_somebody_is_asked_within_the_future_of_the_call, h_236_of_two_answers_the_first_counts,
        h_236_what_is_meant_for_one_host_does_nothing_to_another, two_calls_that_are_the_same_are_asked_about_once_each,
        a_call_that_nobody_waits_for_leaves_its_question_to_another,
        a_call_that_is_dropped_while_it_asks_leaves_its_question_to_another,
        a_question_that_was_answered_elsewhere_is_asked_no_more,
        a_question_that_nobody_answers_in_time_is_over, no_call_waits_for_the_question_of_another,
        h_071_h_072_a_call_that_takes_too_long_ends_alone, h_074_a_call_is_cancelled_from_elsewhere_and_on_the_wire,
        a_call_that_is_dropped_is_cancelled_on_the_wire, a_call_that_waits_for_an_answer_can_be_cancelled,
        progress_is_told_within_the_call, rounds_of_input_go_to_the_responder, without_a_responder_input_is_refused,
        h_113_closing_waits_for_no_call, a_hundred_tasks_call_five_servers,
        many_calls_of_one_task_are_under_way_at_once;
    once: h_048_with_nobody_to_ask_the_call_is_denied, h_038_whoever_is_asked_may_come_later,
        h_062_an_approver_that_panics_denies, h_031_plan_mode_is_read_at_each_call,
        h_060_what_was_allowed_for_the_session_is_not_asked_again, the_rest_of_a_long_result_is_there_by_page,
        a_name_that_is_not_offered_is_refused, what_the_waist_does_not_grant_reaches_no_server,
        a_flood_of_progress_leaves_time_for_others, a_call_may_change_its_task, what_is_dropped_in_time_never_leaves
}

/// A host of one server whose calls are asked about.
async fn asking(
    env: &Env,
    answer: impl Fn(&ApprovalRequest) -> Option<Answer> + Send + Sync + 'static,
) -> (Host, Seen) {
    let seen = Seen::default();
    let host = builder(env)
        .server("it", ServerConfig::default(), launch(&[]))
        .approver(Says(answer))
        .observer(seen.clone());
    (started(host).await, seen)
}

async fn question(seen: &Seen) -> ApprovalHandle {
    let find = |event: &Event| match event {
        Event::Approval(request) => Some(request.handle),
        _ => None,
    };
    eventually("somebody is asked", || seen.find(find).is_some()).await;
    seen.find(find).unwrap()
}

async fn told_over(seen: &Seen, question: ApprovalHandle) {
    let over = |event: &Event| matches!(event, Event::ApprovalEnded(over) if *over == question).then_some(());
    eventually("its end is told", || seen.find(over).is_some()).await;
}

async fn h_237_somebody_is_asked_within_the_future_of_the_call(env: Env) {
    // H-237
    let asked: Arc<Mutex<Vec<(Waker, String, String)>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let approver = move |request: ApprovalRequest| {
        let seen = Arc::clone(&seen);
        async move {
            let waker = std::future::poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            let (tool, preview) = (request.tool.to_string(), request.preview.clone());
            seen.lock().unwrap().push((waker, tool, preview));
            // It may take its time.
            Timer::after(Duration::from_millis(5)).await;
            Some(if request.preview.contains("yes") { Answer::AllowOnce } else { Answer::Deny })
        }
    };
    let host =
        started(builder(&env).server("it", ServerConfig::default(), launch(&[])).approver(approver)).await;
    let calls = ["yes", "no", "yes, too"].map(|word| {
        let host = host.clone();
        // Each on a thread that polls nothing else.
        std::thread::spawn(move || {
            let arguments = format!(r#"{{"word":"{word}"}}"#);
            let mut calling = pin!(call(&host, "it", "pid", &arguments));
            let (count, waker) = Count::new();
            loop {
                let seen = count.get();
                match calling.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(outcome) => return (waker, word, outcome.as_str()),
                    Poll::Pending => assert!(count.after(seen), "never woken"),
                }
            }
        })
    });
    eventually("they are over", || calls.iter().all(std::thread::JoinHandle::is_finished)).await;
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    for (waker, word, outcome) in calls.map(|thread| thread.join().unwrap()) {
        let (_, tool, preview) = asked.iter().find(|(woken, ..)| woken.will_wake(&waker)).unwrap();
        assert_eq!((&**tool, &**preview), ("it/pid", &*format!("word: {word}")));
        assert_eq!(outcome, if word == "no" { "denied" } else { "completed" });
    }
}

async fn h_236_of_two_answers_the_first_counts(env: Env) {
    // H-236
    let (host, seen) = asking(&env, |_| None).await;
    let answers = async {
        let question = question(&seen).await;
        assert!(host.answer(question, Answer::AllowOnce));
        assert!(!host.answer(question, Answer::Deny));
        question
    };
    let (outcome, question) = zip(call(&host, "it", "echo", r#"{"text":"a"}"#), answers).await;
    assert_eq!(text(outcome), "a");
    told_over(&seen, question).await;
}

async fn h_236_what_is_meant_for_one_host_does_nothing_to_another(env: Env) {
    // H-236
    let ((one, seen), (other, seen_there)) = (asking(&env, |_| None).await, asking(&env, |_| None).await);
    let calls = [&one, &other].map(|host| host.start(request("it", "hold", r#"{"text":"a"}"#)).unwrap());
    let (here, there) = (question(&seen).await, question(&seen_there).await);
    assert!(!other.answer(here, Answer::AllowOnce) && !one.answer(there, Answer::AllowOnce));
    let [in_one, in_other] = [&calls[0], &calls[1]].map(|call| call.handle());
    assert!(!other.cancel(in_one) && !one.cancel(in_other));
    assert!(one.answer(here, Answer::Deny) && other.answer(there, Answer::Deny));
    assert!(all(calls).await.iter().all(|end| ended(end) == "denied"));
}

async fn h_048_with_nobody_to_ask_the_call_is_denied() {
    // H-035, H-048
    let record = Record::new();
    let host = started(builder(&ANY).server("it", ServerConfig::default(), launch(&[&record.flag()]))).await;
    let CallOutcome::Denied(Denial::Decided(decision)) = call(&host, "it", "echo", "{}").await else {
        panic!()
    };
    assert_eq!(decision.reason, Reason::NoApprover);
    assert_eq!(record.count("call"), 0);
}

async fn h_038_whoever_is_asked_may_come_later() {
    // H-038
    let host = started(builder(&ANY).server("it", ServerConfig::default(), launch(&[]))).await;
    assert_eq!(call(&host, "it", "echo", "{}").await.as_str(), "denied");
    host.set_approver(Some(Arc::new(|_: ApprovalRequest| async { Some(Answer::AllowOnce) })));
    assert_eq!(call(&host, "it", "echo", "{}").await.as_str(), "completed");
    host.set_approver(None);
    assert_eq!(call(&host, "it", "echo", "{}").await.as_str(), "denied");
}

async fn h_062_an_approver_that_panics_denies() {
    // H-062
    for at_once in [true, false] {
        let host = builder(&ANY).server("it", ServerConfig::default(), launch(&[]));
        let host = host.approver(move |_: ApprovalRequest| {
            assert!(!at_once, "no");
            async {
                yield_now().await;
                panic!("no")
            }
        });
        let outcome = call(&started(host).await, "it", "echo", "{}").await;
        let failed = matches!(outcome, CallOutcome::Denied(Denial::NotReleased(NotReleased::ApproverFailed)));
        assert!(failed, "{outcome:?}");
    }
}

/// Counts how often somebody is asked, who says this.
fn counting(answer: Answer) -> (Arc<AtomicUsize>, impl Fn(&ApprovalRequest) -> Option<Answer> + Send + Sync) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let says = move |_: &ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    };
    (asked, says)
}

async fn h_031_plan_mode_is_read_at_each_call() {
    // H-031
    let (asked, says) = counting(Answer::Deny);
    let host = started(builder(&ANY).server("it", allowed(), launch(&[])).approver(Says(says))).await;
    assert_eq!(call(&host, "it", "pid", r#"{"n":1}"#).await.as_str(), "completed");
    host.set_plan_mode(true);
    assert_eq!(call(&host, "it", "pid", r#"{"n":2}"#).await.as_str(), "denied");
    host.set_plan_mode(false);
    assert_eq!(call(&host, "it", "pid", r#"{"n":3}"#).await.as_str(), "completed");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

async fn h_060_what_was_allowed_for_the_session_is_not_asked_again() {
    // H-060
    let (asked, says) = counting(Answer::AlwaysAllow);
    let (host, _) = asking(&ANY, says).await;
    for n in 0..3 {
        assert_eq!(call(&host, "it", "pid", &format!(r#"{{"n":{n}}}"#)).await.as_str(), "completed");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    host.with_grants(|grants| assert_eq!(grants.iter().count(), 1));
}

async fn two_calls_that_are_the_same_are_asked_about_once_each(env: Env) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let approver = move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        async {
            Timer::after(Duration::from_millis(20)).await;
            Some(Answer::AllowOnce)
        }
    };
    let host =
        started(builder(&env).server("it", ServerConfig::default(), launch(&[])).approver(approver)).await;
    let calls = all((0..4).map(|_| call(&host, "it", "echo", r#"{"text":"same"}"#))).await;
    calls.into_iter().for_each(|outcome| assert_eq!(text(outcome), "same"));
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

async fn a_call_that_nobody_waits_for_leaves_its_question_to_another(env: Env) {
    let (host, _) = asking(&env, |_| Some(Answer::AllowOnce)).await;
    // Nobody waits for the first, which the question is about.
    let first = host.start(request("it", "echo", r#"{"text":"same"}"#)).unwrap();
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"same"}"#).await), "same");
    let second = host.start(request("it", "echo", r#"{"text":"same"}"#)).unwrap();
    drop(first);
    assert_eq!(ended(&second.await), "completed");
    // Nor for this one, though it was polled once, before there was a question: what it sleeps for comes to others too.
    host.set_plan_mode(true);
    let mut first = host.start(request("it", "echo", r#"{"text":"same"}"#)).unwrap();
    assert!(poll_once(&mut first).await.is_none_or(|end| ended(&end) == "completed"));
    assert_eq!(text(call(&host, "it", "echo", r#"{"text":"same"}"#).await), "same");
}

/// Tells when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn a_call_that_is_dropped_while_it_asks_leaves_its_question_to_another(env: Env) {
    let (asked, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, told) = (Arc::clone(&asked), Arc::clone(&dropped));
    // The first to be asked never answers.
    let approver = move |_: ApprovalRequest| {
        let (n, told) = (count.fetch_add(1, Ordering::SeqCst), Dropped(Arc::clone(&told)));
        async move {
            if n == 0 {
                std::future::pending::<()>().await;
            }
            std::mem::forget(told);
            Some(Answer::AllowOnce)
        }
    };
    let host =
        started(builder(&env).server("it", ServerConfig::default(), launch(&[])).approver(approver)).await;
    for cancelled in [false, true] {
        asked.store(0, Ordering::SeqCst);
        dropped.store(false, Ordering::SeqCst);
        let mut first = host.start(request("it", "echo", r#"{"text":"same"}"#)).unwrap();
        assert!(poll_once(&mut first).await.is_none());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let second = call(&host, "it", "echo", r#"{"text":"same"}"#);
        let ends = async {
            yield_now().await;
            assert_eq!(asked.load(Ordering::SeqCst), 1);
            if cancelled {
                assert!(host.cancel(first.handle()));
                assert_eq!(ended(&first.await), "cancelled");
            } else {
                drop(first);
            }
            assert!(dropped.load(Ordering::SeqCst));
        };
        let (outcome, ()) = zip(second, ends).await;
        assert_eq!(text(outcome), "same");
        // Once more for the second; whose answer let the one call pass.
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}

async fn a_question_that_was_answered_elsewhere_is_asked_no_more(env: Env) {
    let dropped = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&dropped);
    let approver = move |_: ApprovalRequest| {
        let told = Dropped(Arc::clone(&told));
        async move {
            std::future::pending::<()>().await;
            drop(told);
            None
        }
    };
    let (record, seen) = (Record::new(), Seen::default());
    let mut patient = ServerConfig::default();
    patient.connect_timeout = Some(LONG * 10);
    let host = builder(&env).server("it", patient, launch(&["hang-again", &record.flag()]));
    let host = started(host.observer(seen.clone()).approver(approver)).await;
    // The call does not go on when it is let through: its server is not there.
    kill(pid(&host, "it"));
    until(&host, "it", Status::Reconnecting).await;
    let elsewhere = async {
        let question = question(&seen).await;
        assert!(!dropped.load(Ordering::SeqCst));
        assert!(host.answer(question, Answer::AllowOnce));
        eventually("nobody is asked any more", || dropped.load(Ordering::SeqCst)).await;
        assert!(host.close().await.len() == 1);
    };
    let (end, ()) = zip(call(&host, "it", "echo", "{}"), elsewhere).await;
    assert_eq!(end.as_str(), "cancelled");
}

/// Nobody but the host sees this time pass.
async fn a_question_that_nobody_answers_in_time_is_over(env: Env) {
    let mut config = HostConfig::default();
    config.approvals.expiry = Duration::from_millis(100);
    let host = env.watching(Host::builder(config)).server("it", ServerConfig::default(), launch(&[]));
    let host = started(host.approver(|_: ApprovalRequest| std::future::pending())).await;
    let outcome = call(&host, "it", "echo", "{}").await;
    assert!(matches!(outcome, CallOutcome::Denied(Denial::NotReleased(NotReleased::Expired))), "{outcome:?}");
}

async fn no_call_waits_for_the_question_of_another(env: Env) {
    let approver = |request: ApprovalRequest| async move {
        if request.preview.contains("slow") {
            std::future::pending::<()>().await;
        }
        Some(Answer::AllowOnce)
    };
    let host =
        started(builder(&env).server("it", ServerConfig::default(), launch(&[])).approver(approver)).await;
    let mut slow = host.start(request("it", "echo", r#"{"text":"slow"}"#)).unwrap();
    assert!(poll_once(&mut slow).await.is_none());
    echoes(&host, "it").await;
    assert!(poll_once(&mut slow).await.is_none());
}

async fn h_071_h_072_a_call_that_takes_too_long_ends_alone(env: Env) {
    // H-071, H-072
    let record = Record::new();
    let mut config = HostConfig::default();
    config.timeouts.default = Duration::from_millis(100);
    let host = env.watching(Host::builder(config)).server("it", allowed(), launch(&[&record.flag()]));
    let host = started(host).await;
    let before = pid(&host, "it");
    let outcome = call(&host, "it", "hold", "{}").await;
    assert!(matches!(outcome, CallOutcome::TimedOut(limit) if limit.as_millis() == 100), "{outcome:?}");
    eventually("its server is told", || record.count("notifications/cancelled") == 1).await;
    assert_eq!(text(call(&host, "it", "pid", "{}").await), before.to_string());
    assert_eq!((status(&host, "it"), record.count("start")), (Status::Connected, 1));
}

async fn h_074_a_call_is_cancelled_from_elsewhere_and_on_the_wire(env: Env) {
    // H-074
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let pending = host.start(request("it", "hold", "{}")).unwrap();
    let handle = pending.handle();
    let cancels = async {
        eventually("it is under way", || record.count("call") == 1).await;
        assert!(host.cancel(handle));
    };
    let (end, ()) = zip(pending, cancels).await;
    assert_eq!(ended(&end), "cancelled");
    assert!(!host.cancel(handle));
    eventually("its server is told", || record.count("notifications/cancelled") == 1).await;
    assert_eq!(status(&host, "it"), Status::Connected);
    // And one that nobody polls.
    let pending = host.start(request("it", "hold", "{}")).unwrap();
    eventually("it is under way", || record.count("call") == 2).await;
    assert!(host.cancel(pending.handle()));
    eventually("its server is told", || record.count("notifications/cancelled") == 2).await;
    assert_eq!(ended(&pending.await), "cancelled");
}

async fn a_call_that_is_dropped_is_cancelled_on_the_wire(env: Env) {
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    drop(host.start(request("it", "hold", "{}")).unwrap());
    eventually("its server is told", || record.count("notifications/cancelled") == 1).await;
    assert_eq!(record.count("call"), 1);
}

async fn what_is_dropped_in_time_never_leaves() {
    let record = Record::new();
    let host = host(&ANY, &[&record.flag()]).await;
    // Nothing of a call is begun before it is polled.
    drop(host.call(request("it", "hold", "{}")));
    echoes(&host, "it").await;
    assert_eq!((record.count("call"), record.count("notifications/cancelled")), (1, 0));
}

async fn a_call_that_waits_for_an_answer_can_be_cancelled(env: Env) {
    let (host, seen) = asking(&env, |_| None).await;
    let pending = host.start(request("it", "echo", "{}")).unwrap();
    let handle = pending.handle();
    let cancels = async {
        let question = question(&seen).await;
        assert!(host.cancel(handle));
        question
    };
    let (end, question) = zip(pending, cancels).await;
    assert_eq!(ended(&end), "cancelled");
    assert!(!host.answer(question, Answer::AllowOnce));
}

async fn progress_is_told_within_the_call(env: Env) {
    let host = host(&env, &[]).await;
    let mut told = Vec::new();
    let end =
        host.call_with(request("it", "progress", r#"{"n":5}"#), |progress| told.push(progress.progress));
    assert_eq!(text(end.await.unwrap().outcome), "done");
    assert_eq!(told.last(), Some(&5.0), "{told:?}");
    assert!(told.is_sorted(), "{told:?}");
}

/// There is always more, and yet others have their turn.
async fn a_flood_of_progress_leaves_time_for_others() {
    let host = host(&ANY, &[]).await;
    let (told, mut before, mut most) = (std::cell::Cell::new(0), 0, 0);
    let flood = request("it", "progress", r#"{"n":20000}"#);
    let mut calling = pin!(host.call_with(flood, |_| told.set(told.get() + 1)));
    let end = std::future::poll_fn(|cx| {
        let polled = calling.as_mut().poll(cx);
        most = most.max(told.get() - before);
        before = told.get();
        // So that there is more than one turn's.
        std::thread::sleep(Duration::from_millis(1));
        polled
    });
    assert_eq!(text(end.await.unwrap().outcome), "done");
    assert!(told.get() > 64 && most <= 64, "{most} of {}", told.get());
}

async fn a_call_may_change_its_task() {
    let record = Record::new();
    let host = host(&ANY, &[&record.flag()]).await;
    let mut slow = host.start(request("it", "slow", r#"{"ms":100}"#)).unwrap();
    let (_, gone) = Count::new();
    assert!(Pin::new(&mut slow).poll(&mut Context::from_waker(&gone)).is_pending());
    drop(gone);
    assert_eq!(ended(&slow.await), "completed");
}

async fn modern(env: &Env, options: ConnectOptions) -> Host {
    started(builder(env).server("it", allowed(), Launch::command(hosted(&["modern"]), options))).await
}

async fn rounds_of_input_go_to_the_responder(env: Env) {
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(|request: InputRequest| async move {
        assert_eq!(request.kind, InputKind::ElicitForm);
        Timer::after(Duration::from_millis(5)).await;
        InputAnswer::accept(Some(&raw(r#"{"name":"Ada"}"#)))
    }));
    let said = text(call(&modern(&env, options).await, "it", "ask", "{}").await);
    assert!(said.contains(r#""name":"Ada""#), "{said}");
}

async fn without_a_responder_input_is_refused(env: Env) {
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    let said = text(call(&modern(&env, options).await, "it", "ask", "{}").await);
    assert!(said.contains("cancel"), "{said}");
}

async fn h_113_closing_waits_for_no_call(env: Env) {
    // H-113
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let arguments: Vec<_> = (0..3).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let calls = all(arguments.iter().map(|arguments| call(&host, "it", "hold", arguments)));
    let closes = async {
        eventually("they are under way", || record.count("call") == 3).await;
        // The next one, while they hang.
        echoes(&host, "it").await;
        host.close().await
    };
    let (outcomes, _) = zip(calls, closes).await;
    assert!(outcomes.iter().all(|outcome| outcome.as_str() == "cancelled"), "{outcomes:?}");
    assert_eq!(host.call(request("it", "echo", "{}")).await.unwrap_err(), CallRefused::Closed);
}

async fn a_hundred_tasks_call_five_servers(env: Env) {
    let mut host = builder(&env);
    for n in 0..5 {
        host = host.server(&format!("s{n}"), allowed(), launch(&[]));
    }
    let host = &started(host).await;
    all((0..100).map(|n| async move {
        for k in 0..10 {
            let said = format!("{n}-{k}");
            let arguments = format!(r#"{{"text":"{said}"}}"#);
            assert_eq!(text(call(host, &format!("s{}", (n + k) % 5), "echo", &arguments).await), said);
        }
    }))
    .await;
}

async fn many_calls_of_one_task_are_under_way_at_once(env: Env) {
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let slow = |n| host.start(request("it", "slow", &format!(r#"{{"ms":50,"n":{n}}}"#))).unwrap();
    let calls: Vec<_> = (0..20).map(slow).collect();
    eventually("all have left", || record.count("call") == 20).await;
    assert!(all(calls).await.iter().all(|end| ended(end) == "completed"));
}

async fn the_rest_of_a_long_result_is_there_by_page() {
    let host = host(&ANY, &[]).await;
    let long = "x".repeat(100_000);
    let mut request = request("it", "echo", &format!(r#"{{"text":"{long}"}}"#));
    request.owner = Principal::named("me");
    let CallOutcome::Completed(result) = host.call(request).await.unwrap().outcome else { panic!() };
    let shown = result.presented;
    assert_eq!((shown.shown, shown.total), (65_536, 100_000));
    let page = host.page(&Principal::named("me"), shown.rest.unwrap(), None).unwrap();
    assert_eq!((page.offset, page.text.len(), page.next), (65_536, 100_000 - 65_536, None));
    let other = host.page(&Principal::named("you"), shown.rest.unwrap(), None);
    assert_eq!(other.unwrap_err(), PageFault::Unknown);
}

async fn a_name_that_is_not_offered_is_refused() {
    let host = host(&ANY, &[]).await;
    for target in
        [Target::Exposed("mcp__it__nothing".into()), Target::Tool(Provenance::new("nobody", "echo"))]
    {
        let refused = host.call(CallRequest::new("call", target, None)).await.unwrap_err();
        assert_eq!(refused, CallRefused::UnknownTool);
    }
    let request = CallRequest::new("call", Target::Exposed("mcp__it__pid".into()), None);
    assert_eq!(ended(&host.call(request).await.unwrap()), "completed");
}

async fn what_the_waist_does_not_grant_reaches_no_server() {
    let record = Record::new();
    let mut bindings = Bindings::default();
    bindings.grant = Some(Grant::of(["mcp__it__pid"]).into());
    let mut trusted = allowed();
    trusted.trust = Trust::Trusted;
    let host = started(builder(&ANY).server("it", trusted, launch(&[&record.flag()])).waist(bindings)).await;
    let passed = call(&host, "it", "pid", "{}").await;
    assert!(matches!(passed, CallOutcome::Completed(_)), "{passed:?}");
    let outcome = call(&host, "it", "echo", "{}").await;
    assert!(matches!(outcome, CallOutcome::Denied(Denial::Rejected(_))), "{outcome:?}");
    assert_eq!((record.count("call pid"), record.count("call")), (1, 1));
    let records = host.with_waist(|waist| std::iter::from_fn(|| waist.poll_record()).count());
    assert_eq!(records, Some(3), "a start, an end, and what was rejected");
}
