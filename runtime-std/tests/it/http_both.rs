//! The client over HTTP and the served half over HTTP, each other's peer.

use std::time::Duration;

use sanswire_std::sanswire::client::{Outcome, Start, Verdict};
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_std::sanswire::mcp::{Era, Method};
use sanswire_std::{Client, ConnectOptions, HttpTarget, Responder};

use crate::common::{LONG, eventually, no_options, options, outcome, raw, text_of, tool, trials, within};
use crate::http_peer::Site;

trials!(
    calls_of_both_eras_meet_their_answers,
    big_answers_and_big_questions,
    many_calls_at_once_meet_in_the_server,
    many_threads_share_a_client_over_http,
    progress_is_told_before_the_answer,
    questions_of_the_server_are_answered,
    an_answer_gets_a_connection_though_calls_have_them_all,
    changes_are_told_while_nobody_calls,
    a_cancelled_call_ends_in_the_server,
    a_server_that_went_and_came_back_is_called_again,
);

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

fn target(site: &Site) -> HttpTarget {
    HttpTarget::new(&format!("http://{}/mcp", site.address)).unwrap()
}

/// Options of a client that speaks this era; the server speaks both.
fn of(era: Era) -> ConnectOptions {
    let mut options = options();
    if era == Era::Legacy {
        options.config.start = Start::Remembered(Verdict::Legacy);
    }
    options
}

fn connect(site: &Site, era: Era) -> Client {
    let client = Client::connect_http(&target(site), of(era)).unwrap();
    assert_eq!(client.peer().era, era);
    client
}

fn calls_of_both_eras_meet_their_answers() {
    let site = Site::start(&[]);
    for era in ERAS {
        let client = connect(&site, era);
        for n in 0..100 {
            assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)), n.to_string());
        }
        let panicked = outcome(&client, "panic", "{}");
        assert!(matches!(&panicked, Outcome::Error(error) if error.code == -32603), "{panicked:?}");
        assert!(client.list(Method::ToolsList, &no_options()).unwrap().cut.is_none());
        assert_eq!(client.violations(), []);
    }
    site.stop();
}

fn big_answers_and_big_questions() {
    let site = Site::start(&[]);
    for era in ERAS {
        let client = connect(&site, era);
        let long = "x".repeat(3_000_000);
        assert!(tool(&client, "echo", &format!(r#"{{"text":"{long}"}}"#)) == long);
        assert_eq!(tool(&client, "big", r#"{"bytes":5000000}"#).len(), 5_000_000);
        assert_eq!(tool(&client, "echo", r#"{"text":"small"}"#), "small");
    }
    site.stop();
}

fn many_calls_at_once_meet_in_the_server() {
    for era in ERAS {
        let site = Site::start(&[]);
        let client = connect(&site, era);
        let arguments = raw(r#"{"n":40}"#);
        let calls: Vec<_> =
            (0..40).map(|_| client.start_tool("meet", Some(&arguments), &no_options()).unwrap()).collect();
        for call in calls {
            assert_eq!(text_of(call.wait()), "met");
        }
        drop(client);
        site.stop();
    }
}

fn many_threads_share_a_client_over_http() {
    let site = Site::start(&[]);
    for era in ERAS {
        let client = connect(&site, era);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let client = &client;
                scope.spawn(move || {
                    for n in 0..50 {
                        let text = format!("{thread}-{n}");
                        assert_eq!(tool(client, "echo", &format!(r#"{{"text":"{text}"}}"#)), text);
                    }
                });
            }
        });
    }
    site.stop();
}

fn progress_is_told_before_the_answer() {
    let site = Site::start(&[]);
    for era in ERAS {
        let client = connect(&site, era);
        let mut seen = Vec::new();
        let params = raw(r#"{"name":"progress","arguments":{"n":5,"ms":1}}"#);
        let outcome = client
            .call_with(Method::ToolsCall, Some(params), &no_options(), &mut |it| seen.push(it.progress))
            .unwrap();
        assert_eq!(text_of(outcome), "done");
        assert_eq!(seen, [1.0, 2.0, 3.0, 4.0, 5.0]);
    }
    site.stop();
}

struct Declines;

impl Responder for Declines {
    fn respond(&self, _: &InputRequest) -> InputAnswer {
        InputAnswer::Decline
    }
}

fn questions_of_the_server_are_answered() {
    let site = Site::start(&[]);
    for era in ERAS {
        let mut options = of(era);
        options.responder = Some(std::sync::Arc::new(Declines));
        options.config.capabilities.elicitation_form = true;
        let client = Client::connect_http(&target(&site), options).unwrap();
        for _ in 0..3 {
            let answered = tool(&client, "ask", "{}");
            assert!(answered.contains("decline"), "{answered}");
        }
    }
    site.stop();
}

fn an_answer_gets_a_connection_though_calls_have_them_all() {
    let site = Site::start(&[]);
    let mut target = target(&site);
    // One for the stream of the session, one for the call that asks.
    target.max_connections = 2;
    let mut options = of(Era::Legacy);
    options.responder = Some(std::sync::Arc::new(Declines));
    options.config.capabilities.elicitation_form = true;
    let client = Client::connect_http(&target, options).unwrap();
    let asks = || client.start_tool("ask", None, &no_options()).unwrap();
    for call in [asks(), asks(), asks()] {
        let answered = text_of(call.wait());
        assert!(answered.contains("decline"), "{answered}");
    }
    drop(client);
    site.stop();
}

fn changes_are_told_while_nobody_calls() {
    let site = Site::start(&[]);
    let (old, new) = (connect(&site, Era::Legacy), connect(&site, Era::Modern));
    let listen = raw(r#"{"notifications":{"toolsListChanged":true}}"#);
    let listens = new.start(Method::SubscriptionsListen, Some(listen), &no_options()).unwrap();
    let first = new.next_notification(LONG).unwrap();
    assert_eq!(first.method, Method::SubscriptionsAcknowledged);
    assert_eq!(tool(&old, "change", "{}"), "soon");
    let told = new.next_notification(LONG).unwrap();
    assert_eq!((told.method, told.subscription), (Method::ToolsListChanged, Some(listens.handle())));
    // On the stream that an older client has for what belongs to no call.
    assert_eq!(old.next_notification(LONG).unwrap().method, Method::ToolsListChanged);
    drop(listens);
    assert_eq!(tool(&new, "echo", r#"{"text":"a"}"#), "a");
    drop((old, new));
    site.stop();
}

fn a_cancelled_call_ends_in_the_server() {
    for era in ERAS {
        let site = Site::start(&["threads=1"]);
        let client = connect(&site, era);
        let call = client.start_tool("sleep", Some(&raw(r#"{"ms":60000}"#)), &no_options()).unwrap();
        eventually("the only thread sleeps", || !matches!(call_soon(&client), Outcome::Complete(_)));
        call.cancel(None);
        // It is free again long before the call would have been over.
        assert_eq!(within(LONG / 2, || tool(&client, "echo", r#"{"text":"a"}"#)), "a");
        drop(client);
        site.stop();
    }
}

/// The outcome of a call that nobody waits for longer than a moment.
fn call_soon(client: &Client) -> Outcome {
    let mut brief = no_options();
    (brief.idle, brief.absolute) = (Some(Duration::from_millis(100)), Some(Duration::from_millis(100)));
    client.call_tool("echo", Some(&raw(r#"{"text":"a"}"#)), &brief).unwrap()
}

fn a_server_that_went_and_came_back_is_called_again() {
    for era in ERAS {
        let site = Site::start(&[]);
        let address = site.address;
        let client = connect(&site, era);
        assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
        site.stop();
        let lost = outcome(&client, "echo", r#"{"text":"b"}"#);
        assert!(matches!(lost, Outcome::Lost { .. }), "{lost:?}");
        let site = Site::at(address);
        // An older one has forgotten the session, which costs one call.
        if era == Era::Legacy {
            let lost = outcome(&client, "echo", r#"{"text":"c"}"#);
            assert_eq!(lost, Outcome::SessionGone { maybe_ran: false });
        }
        assert_eq!(tool(&client, "echo", r#"{"text":"d"}"#), "d");
        assert_eq!(client.is_closed(), None);
        drop(client);
        site.stop();
    }
}
