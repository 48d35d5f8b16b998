//! What a session hands down to a link that is not one stream.

use std::time::Duration;

use sanswire::Instant;
use sanswire::client::{Config, Event, InputAnswers, Outcome, RequestOptions, Verdict};
use sanswire::error::CloseReason;
use sanswire::exchange::{Exchange, Partition, ReplyForm};
use sanswire::mcp::{Method, Revision};
use sanswire_tests::client::{config, json, remembering, value};
use sanswire_tests::client_link::ClientLink;
use sanswire_tests::exchange_link::ExchangeLink;
use sanswire_tests::peer::Server;
use serde_json::{Value, json};

fn start(config: Config, server: Server) -> ExchangeLink {
    let mut link = ExchangeLink::new(config, server, Duration::from_millis(1), Instant::from_millis(1000));
    run(&mut link);
    assert!(link.session().revision().is_some(), "{}", link.report());
    link
}

fn run(link: &mut ExchangeLink) {
    let to = link.now().saturating_add(Duration::from_millis(100));
    link.run_to(to);
}

fn of<'a>(link: &'a ExchangeLink, method: &Method) -> Vec<&'a Exchange> {
    link.sent.iter().filter(|exchange| exchange.facts.method.as_ref() == Some(method)).collect()
}

fn partition(n: u32) -> RequestOptions {
    let mut options = RequestOptions::default();
    options.partition = Partition(n);
    options
}

#[test]
fn facts_say_what_a_head_may_have_to_say() {
    // P-138
    let mut link = start(config(), Server::dual("2025-11-25"));
    let params = json(r#"{"name":"echo","arguments":{"a":1}}"#);
    link.request(Method::ToolsCall, Some(params), &RequestOptions::default()).unwrap();
    let filter = json(r#"{"notifications":{}}"#);
    link.request(Method::SubscriptionsListen, Some(filter), &RequestOptions::default()).unwrap();
    run(&mut link);
    for exchange in &link.sent {
        assert_eq!(exchange.facts.revision, Some(Revision::V2026_07_28));
        let message: Value = serde_json::from_slice(&exchange.message).unwrap();
        assert!(message.is_object(), "one message an exchange, whatever the revision");
        assert_eq!(message["method"], exchange.facts.method.as_ref().unwrap().as_str());
    }
    let call = of(&link, &Method::ToolsCall)[0];
    assert_eq!(call.reply, ReplyForm::One);
    let params = value(&call.params().unwrap());
    assert_eq!((&params["name"], &params["arguments"]), (&json!("echo"), &json!({"a": 1})));
    assert_eq!(of(&link, &Method::SubscriptionsListen)[0].reply, ReplyForm::Stream);
    assert_eq!(of(&link, &Method::ServerDiscover)[0].reply, ReplyForm::One);
}

#[test]
fn the_handshake_has_no_revision_and_all_that_follows_the_negotiated_one() {
    // P-088 P-188
    let mut link = start(remembering(Verdict::Legacy), Server::legacy("2025-06-18"));
    let ping = link.request(Method::Ping, None, &RequestOptions::default()).unwrap();
    link.act(None, sanswire_tests::peer::Act::Message(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})));
    run(&mut link);
    assert!(
        link.events()
            .iter()
            .any(|(_, event)| matches!(event, Event::Finished { request, .. } if *request == ping))
    );
    assert_eq!(of(&link, &Method::Initialize)[0].facts.revision, None);
    let later: Vec<&Exchange> =
        link.sent.iter().filter(|sent| sent.facts.method != Some(Method::Initialize)).collect();
    assert_eq!(later.len(), 3);
    for exchange in later {
        let message: Value = serde_json::from_slice(&exchange.message).unwrap();
        assert!(message.is_object(), "one message an exchange");
        assert_eq!(exchange.facts.revision, Some(Revision::V2025_06_18));
    }
    assert_eq!(of(&link, &Method::Initialized)[0].reply, ReplyForm::None);
    let pong = link.sent.iter().find(|sent| sent.facts.method.is_none()).unwrap();
    assert_eq!((pong.reply, pong.partition), (ReplyForm::None, Partition(0)));
}

#[test]
fn a_partition_stays_with_its_call_and_with_all_that_belongs_to_it() {
    let server = Server::modern().with("tools/call", |request, out| {
        let kind =
            if request["params"].get("requestState").is_some() { "complete" } else { "input_required" };
        out.result(request, json!({"resultType": kind, "requestState": "s", "content": []}));
    });
    let mut link = start(config(), server);
    link.request(Method::ToolsCall, Some(json(r#"{"name":"a"}"#)), &partition(7)).unwrap();
    link.request(Method::ToolsList, None, &RequestOptions::default()).unwrap();
    run(&mut link);
    let input = link.events().iter().find_map(|(_, event)| match event {
        Event::Finished { outcome: Outcome::InputRequired(input), .. } => Some((**input).clone()),
        _ => None,
    });
    link.resume(&input.unwrap(), &InputAnswers::new(), &RequestOptions::default()).unwrap();
    run(&mut link);
    let partitions: Vec<Partition> =
        of(&link, &Method::ToolsCall).iter().map(|sent| sent.partition).collect();
    assert_eq!(partitions, [Partition(7), Partition(7)]);
    assert_eq!(of(&link, &Method::ToolsList)[0].partition, Partition(0));

    let mut link = start(remembering(Verdict::Legacy), Server::legacy("2025-11-25").silent_on("tools/call"));
    let call = link.request(Method::ToolsCall, Some(json(r#"{"name":"a"}"#)), &partition(9)).unwrap();
    run(&mut link);
    link.cancel(call, None).unwrap();
    run(&mut link);
    assert_eq!(of(&link, &Method::Cancelled)[0].partition, Partition(9));
}

#[test]
fn a_session_that_is_gone_loses_what_is_open() {
    let mut link = start(remembering(Verdict::Legacy), Server::legacy("2025-11-25").silent_on("tools/call"));
    let call =
        link.request(Method::ToolsCall, Some(json(r#"{"name":"a"}"#)), &RequestOptions::default()).unwrap();
    run(&mut link);
    link.forget_session();
    let told: Vec<&Event> = link.events().iter().rev().take(2).map(|(_, event)| event).collect();
    assert_eq!(told[0], &Event::Closed(CloseReason::SessionGone));
    let gone = Outcome::SessionGone { maybe_ran: true };
    assert_eq!(told[1], &Event::Finished { request: call, outcome: gone });
}

#[test]
fn closing_aborts_streams_that_are_open() {
    // P-291 P-095
    let mut link = start(config(), Server::modern().silent_on("tools/call"));
    for _ in 0..3 {
        link.request(Method::ToolsCall, Some(json(r#"{"name":"a"}"#)), &RequestOptions::default()).unwrap();
    }
    run(&mut link);
    link.close();
    run(&mut link);
    assert_eq!(link.server().closed_streams.len(), 3);
    assert!(of(&link, &Method::Cancelled).is_empty());
}

#[test]
fn a_close_before_ready_gives_up_the_probe() {
    let mut link =
        ExchangeLink::new(config(), Server::mute(), Duration::from_millis(1), Instant::from_millis(1000));
    run(&mut link);
    link.close();
    run(&mut link);
    assert_eq!(link.server().closed_streams.len(), 1);
    assert!(matches!(link.events()[..], [(_, Event::Closed(CloseReason::Local))]));
}
