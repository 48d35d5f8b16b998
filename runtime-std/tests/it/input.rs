//! What a server asks, in both eras.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::ThreadId;

use sanswire_std::sanswire::client::{InputAnswers, Outcome};
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::{Client, ConnectOptions, Responder};

use crate::common::{LONG, child, eventually, no_options, options, outcome, raw, tool, trials, within};

trials!(
    a_legacy_request_is_answered_by_a_handler,
    a_responder_that_panics_costs_its_answer_only,
    a_stuck_responder_delays_nobody,
    handlers_are_four_at_most_and_all_are_answered,
    without_a_responder_the_server_is_told_at_once,
    a_modern_round_runs_on_the_callers_thread,
    a_modern_round_without_a_responder_is_the_callers,
    a_responder_that_panics_in_a_modern_round_leaves_the_client_usable,
);

struct Answers<F>(F);

impl<F: Fn(&InputRequest) -> InputAnswer + Send + Sync> Responder for Answers<F> {
    fn respond(&self, request: &InputRequest) -> InputAnswer {
        (self.0)(request)
    }
}

fn with(answer: impl Fn(&InputRequest) -> InputAnswer + Send + Sync + 'static) -> ConnectOptions {
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(Answers(answer)));
    options
}

fn accept() -> InputAnswer {
    InputAnswer::accept(Some(&raw(r#"{"a":1}"#)))
}

fn a_legacy_request_is_answered_by_a_handler() {
    let client = Client::connect(
        &child(&[]),
        with(
            |request| {
                if request.message().as_deref() == Some("ok?") { accept() } else { InputAnswer::Decline }
            },
        ),
    )
    .unwrap();
    assert_eq!(tool(&client, "ask", r#"{"message":"ok?"}"#), r#"{"action":"accept","content":{"a":1}}"#);
    assert_eq!(tool(&client, "ask", r#"{"message":"no?"}"#), r#"{"action":"decline"}"#);
}

fn a_responder_that_panics_costs_its_answer_only() {
    let client = Client::connect(&child(&[]), with(|_| panic!("on purpose"))).unwrap();
    for _ in 0..6 {
        let answer = within(LONG, || tool(&client, "ask", r#"{"message":"?"}"#));
        assert!(answer.contains("-32603"), "{answer}");
    }
}

fn a_stuck_responder_delays_nobody() {
    let (inside, leave) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (enters, leaves) = (Arc::clone(&inside), Arc::clone(&leave));
    let client = Client::connect(
        &child(&[]),
        with(move |_| {
            enters.wait();
            leaves.wait();
            accept()
        }),
    )
    .unwrap();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| tool(&client, "ask", r#"{"message":"?"}"#));
        inside.wait();
        within(LONG, || {
            for _ in 0..20 {
                assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
            }
        });
        leave.wait();
        assert!(within(LONG, || asks.join().unwrap()).contains("accept"));
    });
}

fn handlers_are_four_at_most_and_all_are_answered() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, peak) = (Arc::clone(&now), Arc::clone(&most));
    let client = Client::connect(
        &child(&[]),
        with(move |_| {
            peak.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(50));
            inside.fetch_sub(1, Ordering::SeqCst);
            accept()
        }),
    )
    .unwrap();
    within(LONG, || {
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| assert!(tool(&client, "ask", r#"{"message":"?"}"#).contains("accept")));
            }
        });
    });
    assert_eq!(most.load(Ordering::SeqCst), 4);
    assert_eq!(now.load(Ordering::SeqCst), 0);
}

fn without_a_responder_the_server_is_told_at_once() {
    let mut options = options();
    options.config.capabilities.elicitation_form = true;
    let client = Client::connect(&child(&[]), options).unwrap();
    assert_eq!(within(LONG, || tool(&client, "ask", r#"{"message":"?"}"#)), r#"{"action":"cancel"}"#);
}

fn a_modern_round_runs_on_the_callers_thread() {
    let threads: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
    let seen = Arc::clone(&threads);
    let client = Client::connect(
        &child(&["modern"]),
        with(move |_| {
            seen.lock().unwrap().push(std::thread::current().id());
            accept()
        }),
    )
    .unwrap();
    assert_eq!(tool(&client, "ask", "{}"), r#"{"k":{"action":"accept","content":{"a":1}}}"#);
    assert_eq!(*threads.lock().unwrap(), [std::thread::current().id()]);
}

fn a_modern_round_without_a_responder_is_the_callers() {
    let client = Client::connect(&child(&["modern"]), options()).unwrap();
    let Outcome::InputRequired(input) = outcome(&client, "ask", "{}") else { panic!() };
    let mut answers = InputAnswers::new();
    answers.set("k", accept());
    let Outcome::Complete(result) = client.resume(&input, &answers, &no_options()).unwrap() else { panic!() };
    assert!(result.as_str().contains("accept"));
}

fn a_responder_that_panics_in_a_modern_round_leaves_the_client_usable() {
    let client = Client::connect(&child(&["modern"]), with(|_| panic!("on purpose"))).unwrap();
    let other = client.clone();
    assert!(std::thread::spawn(move || tool(&other, "ask", "{}")).join().is_err());
    within(LONG, || outcome(&client, "echo", "{}"));
    eventually("nothing is open", || client.is_closed().is_none());
}
