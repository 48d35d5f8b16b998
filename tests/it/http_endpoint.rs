//! Both eras at one endpoint: calls, notifications, sessions, and what answers look like.

mod bounds;
mod chaos;
mod fairness;
mod heads;
mod modern;
mod order;
mod pages;
mod resume;
mod sessions;

use sanswire::http::endpoint::ReplyShape;
use sanswire::server::Notice;
use sanswire_tests::served::{modern, modern_with, request};
use sanswire_tests::web::{PLAIN, Web, config};
use serde_json::{Value, json};

fn call(id: u64) -> Value {
    modern(id, "tools/call", json!({"name": "a"}))
}

fn old_call(id: u64) -> Value {
    request(id, "tools/call", json!({"name": "a"}))
}

fn progress(n: f64) -> Notice {
    Notice::Progress { progress: n, total: None, message: None }
}

#[test]
fn a_call_alone_is_answered_in_json() {
    // P-130 P-141
    let mut web = Web::new(config());
    let n = web.modern(&call(1));
    assert!(web.answers[&n].wants_body && web.answers[&n].head.is_none());
    web.reply(0, "x");
    let answer = &web.answers[&n];
    assert_eq!((answer.status(), answer.over, answer.streamed), (200, true, false));
    assert_eq!(answer.json()["result"]["content"][0]["text"], "x");
    assert_eq!(web.endpoint.exchanges(), 0);
}

#[test]
fn what_is_told_before_the_answer_makes_it_a_stream_that_the_answer_ends() {
    // P-143 P-145 P-146
    let mut web = Web::new(config());
    let token = json!({"progressToken": "t"});
    let n = web.modern(&modern_with(1, "tools/call", json!({"name": "a"}), token));
    let open = web.open[0].clone();
    web.endpoint.notify(open.session, open.request, &progress(1.0), web.now).unwrap();
    web.drain();
    assert!(web.answers[&n].streamed && !web.answers[&n].over);
    web.reply(0, "x");
    let answer = &web.answers[&n];
    let messages = answer.messages();
    assert_eq!((messages.len(), answer.over, answer.field("X-Accel-Buffering")), (2, true, Some("no")));
    assert_eq!((&messages[0]["method"], &messages[1]["id"]), (&json!("notifications/progress"), &json!(1)));
    assert!(answer.events().iter().all(|event| event.id.is_none()), "no ids in 2026-07-28");
}

#[test]
fn both_eras_are_served_on_one_path() {
    // P-067 P-187 P-208
    let mut web = Web::new(config());
    let id = web.initialize("2025-11-25", &json!({}));
    assert!(!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic()));
    let old = web.post(&id, &old_call(1));
    let new = web.modern(&call(1));
    web.reply(1, "new");
    web.reply(0, "old");
    for (n, text) in [(old, "old"), (new, "new")] {
        assert_eq!(web.answers[&n].json()["result"]["content"][0]["text"], text);
    }
    assert!(web.answers[&new].field("Mcp-Session-Id").is_none());
    let stream = web.get(&id, None);
    assert_eq!((web.answers[&stream].status(), web.answers[&stream].streamed), (200, true));
    assert_eq!(web.endpoint.sessions(), 1);
}

#[test]
fn a_stream_can_be_asked_for_as_the_only_shape() {
    let mut all = config();
    all.replies = ReplyShape::Stream;
    let mut web = Web::new(all);
    let n = web.modern(&call(1));
    web.reply(0, "x");
    assert_eq!(web.answers[&n].messages().len(), 1);
    let id = web.initialize("2025-11-25", &json!({}));
    let n = web.post(&id, &old_call(1));
    web.reply(0, "x");
    let events = web.answers[&n].events();
    assert_eq!((events.len(), events[0].data.as_str(), web.answers[&n].over), (2, "", true), "primed first");
}

#[test]
fn notifications_are_taken_without_an_answer() {
    // P-139
    let mut web = Web::new(config());
    let n = web.post_with(&PLAIN, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
    let answer = &web.answers[&n];
    assert_eq!((answer.status(), answer.body.len(), answer.over), (202, 0, true));
}
