//! What servers ask, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sanswire_smol::sanswire::client::{InputAnswers, Outcome};
use sanswire_smol::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_smol::{BlockingResponder, Client, ConnectOptions, OnThread};

use crate::common::{
    ANY, Env, begin, child, eventually, in_process, no_options, outcome, raw, text_of, tool, trials,
};

trials! {
    each: a_question_is_answered_while_the_call_waits, a_question_in_a_round_of_input_is_answered;
    once: without_a_responder_the_server_does_not_wait, a_blocking_responder_has_threads,
        more_questions_than_are_answered_at_once, a_panic_costs_the_answer,
        a_question_that_is_withdrawn_is_dropped, without_a_responder_a_round_of_input_is_the_callers
}

fn message(request: &InputRequest) -> String {
    let params = request.params.as_ref().unwrap();
    params.view().get("message").and_then(|text| text.str()).unwrap().decode().into_owned()
}

fn accept(text: &str) -> InputAnswer {
    InputAnswer::Result(raw(&format!(r#"{{"action":"accept","content":{{"said":"{text}"}}}}"#)))
}

fn asking(mut options: ConnectOptions, responder: impl sanswire_smol::Responder + 'static) -> ConnectOptions {
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(responder));
    options
}

async fn echoing(request: InputRequest) -> InputAnswer {
    futures_lite::future::yield_now().await;
    async_io::Timer::after(std::time::Duration::from_millis(1)).await;
    accept(&message(&request))
}

async fn a_question_is_answered_while_the_call_waits(env: Env) {
    let client = Client::connect(&child(&[]), asking(env.options(), echoing)).await.unwrap();
    for n in 0..10 {
        let answer = tool(&client, "ask", &format!(r#"{{"message":"m{n}"}}"#)).await;
        assert!(answer.contains(&format!(r#""said":"m{n}""#)), "{answer}");
    }
    client.close().await;
}

async fn a_question_in_a_round_of_input_is_answered(env: Env) {
    let client = Client::connect(&child(&["modern"]), asking(env.options(), echoing)).await.unwrap();
    let answer = tool(&client, "ask", "{}").await;
    assert!(answer.contains(r#""said":"name?""#), "{answer}");
    client.close().await;
}

async fn without_a_responder_a_round_of_input_is_the_callers() {
    let mut options = crate::common::options();
    options.config.capabilities.elicitation_form = true;
    let client = Client::connect(&child(&["modern"]), options).await.unwrap();
    let Outcome::InputRequired(input) = outcome(&client, "ask", "{}").await else { panic!() };
    let mut answers = InputAnswers::new();
    answers.set("k", accept("me"));
    let end = client.resume(&input, &answers, &no_options()).await.unwrap();
    assert!(text_of(end).contains(r#""said":"me""#));
    client.close().await;
}

async fn without_a_responder_the_server_does_not_wait() {
    let mut options = crate::common::options();
    options.config.capabilities.elicitation_form = true;
    let client = Client::connect(&child(&[]), options).await.unwrap();
    let answer = tool(&client, "ask", r#"{"message":"m"}"#).await;
    assert!(answer.contains("cancel"), "{answer}");
    client.close().await;
}

struct Blocking;

impl BlockingResponder for Blocking {
    fn respond(&self, request: &InputRequest) -> InputAnswer {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        std::thread::sleep(std::time::Duration::from_millis(5));
        accept(&format!("{} on {name}", message(request)))
    }
}

async fn a_blocking_responder_has_threads() {
    let options = asking(crate::common::options(), OnThread::new(Arc::new(Blocking)));
    let client = Client::connect(&child(&[]), options).await.unwrap();
    let answer = tool(&client, "ask", r#"{"message":"m"}"#).await;
    assert!(answer.contains("m on sanswire-handler"), "{answer}");
    client.close().await;
}

async fn more_questions_than_are_answered_at_once() {
    static NOW: AtomicU64 = AtomicU64::new(0);
    static MOST: AtomicU64 = AtomicU64::new(0);
    async fn counting(request: InputRequest) -> InputAnswer {
        MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        async_io::Timer::after(std::time::Duration::from_millis(20)).await;
        NOW.fetch_sub(1, Ordering::SeqCst);
        accept(&message(&request))
    }
    let client = Client::connect(&child(&[]), asking(crate::common::options(), counting)).await.unwrap();
    let open: Vec<_> = (0..20).map(|n| begin(&client, "ask", &format!(r#"{{"message":"m{n}"}}"#))).collect();
    for (n, pending) in open.into_iter().enumerate() {
        let answer = text_of(pending.await);
        assert!(answer.contains(&format!(r#""said":"m{n}""#)), "{answer}");
    }
    assert_eq!(MOST.load(Ordering::SeqCst), 4);
    client.close().await;
}

async fn a_panic_costs_the_answer() {
    async fn failing(request: InputRequest) -> InputAnswer {
        assert_ne!(message(&request), "bad", "as it should");
        accept("fine")
    }
    let client = Client::connect(&child(&[]), asking(crate::common::options(), failing)).await.unwrap();
    let answer = tool(&client, "ask", r#"{"message":"bad"}"#).await;
    assert!(answer.contains("handler failed"), "{answer}");
    let answer = tool(&client, "ask", r#"{"message":"good"}"#).await;
    assert!(answer.contains("fine"), "{answer}");
    client.close().await;
}

async fn a_question_that_is_withdrawn_is_dropped() {
    struct Waiting(Arc<AtomicU64>);
    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (begun, dropped) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let responder = {
        let (begun, dropped) = (Arc::clone(&begun), Arc::clone(&dropped));
        move |_: InputRequest| {
            let waiting = Waiting(Arc::clone(&dropped));
            begun.fetch_add(1, Ordering::SeqCst);
            async move {
                let _waiting = waiting;
                std::future::pending().await
            }
        }
    };
    let (stream, server) = in_process(&[]);
    let options = asking(ANY.options(), responder);
    let client = Client::connect_stream(stream, options).await.unwrap();
    let mut asked = begin(&client, "ask", r#"{"message":"m"}"#);
    assert!(futures_lite::future::poll_once(&mut asked).await.is_none());
    eventually("it is being answered", || begun.load(Ordering::SeqCst) == 1).await;
    server.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ask0"}}"#);
    eventually("the answer is dropped", || dropped.load(Ordering::SeqCst) == 1).await;

    let mut asked = begin(&client, "ask", r#"{"message":"m"}"#);
    assert!(futures_lite::future::poll_once(&mut asked).await.is_none());
    eventually("another is being answered", || begun.load(Ordering::SeqCst) == 2).await;
    client.close().await;
    eventually("it goes with the connection", || dropped.load(Ordering::SeqCst) == 2).await;
}
