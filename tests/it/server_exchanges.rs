//! A session behind a link that gives each exchange a stream of its own, as HTTP does.

use sanswire::Instant;
use sanswire::exchange::{ExchangeHandle, HeadFacts, Origin};
use sanswire::frame::Frame;
use sanswire::mcp::types::input::{InputKind, InputRequest};
use sanswire::mcp::{Method, Revision};
use sanswire::server::{Effect, Event, Principal, Reply, RequestHandle, Session};
use sanswire_tests::served::{config, meta, modern, raw, request};
use serde_json::{Value, json};

const NOW: Instant = Instant::from_millis(1);

/// Where to, what, whether that is all, and the status.
type Sent = (Origin, Option<Value>, bool, u16);

struct Http {
    session: Session,
}

fn exchange(n: u64) -> Origin {
    Origin::Exchange(ExchangeHandle::numbered(n))
}

impl Http {
    fn new() -> Self {
        let mut session = Session::new(config(), [0; 32], NOW).unwrap();
        session.catalog_mut().tool(&raw(&json!({"name": "a"}))).unwrap();
        Self { session }
    }

    fn post_as(&mut self, n: u64, who: &Principal, facts: Option<HeadFacts>, body: &Value) -> Vec<Sent> {
        let frame = Frame::Message(body.to_string().into());
        self.session.handle_message(exchange(n), facts, who.clone(), frame, NOW);
        self.sent()
    }

    fn post(&mut self, n: u64, body: &Value) -> Vec<Sent> {
        self.post_as(n, &Principal::anonymous(), None, body)
    }

    /// Posts what has one answer at once.
    fn ask(&mut self, n: u64, body: &Value) -> (Value, u16) {
        let mut sent = self.post(n, body);
        assert_eq!(sent.len(), 1, "{sent:?}");
        let (to, message, last, status) = sent.remove(0);
        assert_eq!((to, last), (exchange(n), true));
        (message.unwrap(), status)
    }

    fn sent(&mut self) -> Vec<Sent> {
        let effects = std::iter::from_fn(|| self.session.poll_effect());
        effects
            .map(|Effect::Send { to, message, last, status }| {
                (to, message.map(|message| serde_json::from_slice(&message).unwrap()), last, status)
            })
            .collect()
    }

    fn reported(&mut self) -> Vec<RequestHandle> {
        let events = std::iter::from_fn(|| self.session.poll_event());
        events
            .filter_map(|event| match event {
                Event::Request { request, .. } => Some(request),
                _ => None,
            })
            .collect()
    }

    fn cancelled(&mut self) -> Vec<RequestHandle> {
        let events = std::iter::from_fn(|| self.session.poll_event());
        events
            .filter_map(|event| match event {
                Event::Cancelled { request, .. } => Some(request),
                _ => None,
            })
            .collect()
    }
}

fn call(id: u64) -> Value {
    modern(id, "tools/call", json!({"name": "a"}))
}

#[test]
fn b_17_the_same_id_on_two_exchanges_is_two_requests() {
    let mut http = Http::new();
    assert_eq!(http.post(1, &call(7)), []);
    assert_eq!(http.post(2, &call(7)), []);
    let handles = http.reported();
    for (handle, text, n) in [(handles[1], "two", 2), (handles[0], "one", 1)] {
        http.session.respond(handle, &Reply::text(text), NOW).unwrap();
        let sent = http.sent();
        assert_eq!((sent.len(), sent[0].0, sent[0].2, sent[0].3), (1, exchange(n), true, 200));
        let message = sent[0].1.as_ref().unwrap();
        assert_eq!((&message["id"], &message["result"]["content"][0]["text"]), (&json!(7), &json!(text)));
    }
}

#[test]
fn closing_a_modern_exchange_cancels_what_was_asked_there() {
    // P-148 P-149
    let mut http = Http::new();
    http.post(1, &call(1));
    http.post(2, &call(1));
    let handles = http.reported();
    http.session.handle_abort(ExchangeHandle::numbered(2), NOW);
    assert_eq!(http.cancelled(), [handles[1]]);
    assert_eq!(http.sent(), [(exchange(2), None, true, 200)], "the end of the stream, and nothing else");
    assert!(http.session.respond(handles[1], &Reply::text("x"), NOW).is_err());
    http.session.respond(handles[0], &Reply::text("x"), NOW).unwrap();

    http.post(3, &modern("L", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    assert_eq!(http.sent().len(), 0);
    http.session.handle_abort(ExchangeHandle::numbered(3), NOW);
    assert_eq!(http.session.listening(), 0);
}

#[test]
fn a_modern_cancel_is_no_notification_but_a_legacy_one_finds_its_request_on_another_exchange() {
    // P-199
    let mut http = Http::new();
    http.post(1, &call(1));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(http.post(2, &cancel), [(exchange(2), None, true, 202)]);
    assert_eq!(http.reported().len(), 1);
    assert_eq!(http.cancelled(), [], "ids of a client that has no session mean nothing elsewhere");

    let mut http = Http::new();
    let initialize = request(1, "initialize", json!({"protocolVersion": "2025-11-25"}));
    http.ask(1, &initialize);
    http.post(2, &request(5, "tools/call", json!({"name": "a"})));
    let handle = http.reported()[0];
    http.session.handle_abort(ExchangeHandle::numbered(2), NOW);
    assert_eq!(http.cancelled(), [], "a disconnect is no cancel in a session");
    let mut cancel = cancel;
    cancel["params"]["requestId"] = json!(5);
    let stranger = Principal::named("stranger");
    http.post_as(3, &stranger, None, &cancel);
    assert_eq!(http.cancelled(), [], "nor is another's");
    let sent = http.post(4, &cancel);
    assert_eq!(http.cancelled(), [handle]);
    assert_eq!(sent, [(exchange(2), None, true, 200), (exchange(4), None, true, 202)]);
}

#[test]
fn statuses_say_what_kind_of_refusal_it_is() {
    // P-042 P-045 P-139 P-140 P-153 P-154
    let mut http = Http::new();
    let mut old = meta();
    old["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    for (body, code, status) in [
        (request(1, "tools/list", json!({})), -32602, 400),
        (
            request(
                1,
                "tools/list",
                json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
            ),
            -32602,
            400,
        ),
        (request(1, "tools/list", json!({"_meta": old})), -32022, 400),
        (modern(1, "no/such", json!({})), -32601, 404),
        (modern(1, "prompts/get", json!({"name": "p"})), -32601, 404),
        (modern(1, "prompts/list", json!({})), -32601, 404),
        (modern(1, "tools/call", json!({"name": "nowhere"})), -32602, 200),
        (json!([]), -32600, 400),
        (json!({"jsonrpc": "2.0", "id": 1}), -32600, 400),
    ] {
        let (message, got) = http.ask(1, &body);
        assert_eq!((message["error"]["code"].as_i64(), got), (Some(code), status), "{body}");
    }
    let none = [(exchange(2), None, true, 400)];
    assert_eq!(http.post(2, &json!({"jsonrpc": "2.0", "id": 1, "result": {}})), none, "nothing was asked");
    assert_eq!(http.post(2, &json!({"jsonrpc": "2.0", "method": "notifications/x", "params": [1]})), none);
    let accepted = [(exchange(2), None, true, 202)];
    assert_eq!(http.post(2, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})), accepted);
    http.post(3, &call(1));
    let handle = *http.reported().last().unwrap();
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    let requests = vec![sanswire::mcp::types::input::KeyedInput { key: "k".into(), request: roots }];
    http.session.respond(handle, &Reply::InputRequired { requests, state: None }, NOW).unwrap();
    assert_eq!(http.sent()[0].3, 400, "-32021");
}

#[test]
fn the_head_has_to_agree_with_the_body() {
    // P-152
    let mut http = Http::new();
    let facts = |revision, method| Some(HeadFacts { revision: Some(revision), method: Some(method) });
    let modern_revision = Revision::V2026_07_28;
    let who = Principal::anonymous();
    for (facts, code) in [
        (facts(modern_revision, Method::ToolsList), None),
        (facts(Revision::V2025_11_25, Method::ToolsList), Some(-32020)),
        (facts(modern_revision, Method::ToolsCall), Some(-32020)),
    ] {
        let sent = http.post_as(1, &who, facts, &modern(1, "tools/list", json!({})));
        let message = sent[0].1.clone().unwrap();
        assert_eq!(message["error"]["code"].as_i64(), code);
        assert_eq!(sent[0].3, if code.is_some() { 400 } else { 200 });
    }
    let body = request(1, "initialize", json!({"protocolVersion": "2025-11-25"}));
    let sent = http.post_as(1, &who, facts(modern_revision, Method::Initialize), &body);
    assert_eq!(sent[0].1.as_ref().unwrap()["error"]["code"], -32602, "a modern head, and no modern _meta");
}

#[test]
fn what_belongs_to_a_request_goes_where_it_came_from_and_the_rest_is_pushed() {
    let mut http = Http::new();
    http.ask(
        1,
        &request(1, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}})),
    );
    http.post(2, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    http.post(3, &request(2, "tools/call", json!({"name": "a"})));
    let handle = http.reported()[0];
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    http.session.request_input(handle, &roots, NOW).unwrap();
    let sent = http.sent();
    assert_eq!((sent[0].0, sent[0].2), (exchange(3), false));
    let answered = http.post(4, &json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}));
    assert_eq!(answered, [(exchange(4), None, true, 202)]);
    http.session.tools_changed(NOW);
    http.session.handle_timeout(Instant::from_millis(501));
    assert_eq!(http.sent()[0].0, Origin::Push);
    http.post(5, &modern("L", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    http.sent();
    http.session.end_subscriptions(NOW);
    let ended = http.sent();
    assert_eq!((ended.len(), ended[0].0, ended[0].2), (1, exchange(5), true), "the result is the end there");
}

#[test]
fn a_session_is_its_principals_own() {
    // P-221
    let mut http = Http::new();
    let ann = Principal::named("ann");
    http.post_as(1, &ann, None, &request(1, "initialize", json!({"protocolVersion": "2025-11-25"})));
    http.sent();
    let list = request(2, "tools/list", json!({}));
    assert!(http.post_as(2, &ann, None, &list)[0].1.as_ref().unwrap().get("result").is_some());
    let bob = http.post_as(3, &Principal::named("bob"), None, &list);
    assert_eq!(bob[0].1.as_ref().unwrap()["error"]["code"], -32602);
}

#[test]
fn only_whoever_asked_can_cancel() {
    // P-286
    let mut http = Http::new();
    let (ann, bob) = (Principal::named("ann"), Principal::named("bob"));
    let send = |http: &mut Http, who: &Principal, message: &Value| {
        let frame = Frame::Message(message.to_string().into());
        http.session.handle_message(Origin::Stream, None, who.clone(), frame, NOW);
    };
    send(&mut http, &ann, &call(1));
    send(&mut http, &ann, &modern("L", "subscriptions/listen", json!({"notifications": {}})));
    let handles = http.reported();
    let cancel = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    for who in [&bob, &Principal::anonymous()] {
        send(&mut http, who, &cancel(json!(1)));
        send(&mut http, who, &cancel(json!("L")));
        assert_eq!((http.cancelled(), http.session.listening()), (vec![], 1));
    }
    send(&mut http, &ann, &cancel(json!(1)));
    send(&mut http, &ann, &cancel(json!("L")));
    assert_eq!((http.cancelled(), http.session.listening()), (handles, 0));
}

#[test]
fn nobody_else_ends_what_a_principal_is_asked() {
    let mut http = Http::new();
    let (ann, bob) = (Principal::named("ann"), Principal::named("bob"));
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}});
    http.post_as(1, &ann, None, &request(1, "initialize", params));
    http.post_as(2, &ann, None, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    http.post_as(3, &ann, None, &request(2, "tools/call", json!({"name": "a"})));
    let handle = http.reported()[0];
    let roots = InputRequest { kind: InputKind::ListRoots, params: None };
    http.session.request_input(handle, &roots, NOW).unwrap();
    let too_long = || Frame::TooLong { id: Some(1u64.into()), has_method: false, len: 1 << 30 };
    let error = json!({"code": 1, "message": "m"});
    let unusable = json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": error});
    http.post_as(4, &bob, None, &unusable);
    http.session.handle_message(exchange(5), None, bob.clone(), too_long(), NOW);
    http.post_as(6, &bob, None, &json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let answered = |http: &mut Http| {
        let events = std::iter::from_fn(|| http.session.poll_event());
        events.filter(|event| matches!(event, Event::Answered { .. })).count()
    };
    assert_eq!(answered(&mut http), 0);
    http.session.handle_message(exchange(7), None, ann, too_long(), NOW);
    assert_eq!(answered(&mut http), 1);
}

#[test]
fn a_sessions_cancel_reaches_its_own_requests_only() {
    let mut http = Http::new();
    http.ask(1, &request(1, "initialize", json!({"protocolVersion": "2025-11-25"})));
    http.post_as(2, &Principal::named("bob"), None, &modern(7, "tools/call", json!({"name": "a"})));
    http.post(3, &modern(7, "tools/call", json!({"name": "a"})));
    http.post(4, &request(7, "tools/call", json!({"name": "a"})));
    let handles = http.reported();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    http.post(5, &cancel);
    assert_eq!(http.cancelled(), [handles[2]]);
    http.post(6, &cancel);
    assert_eq!(http.cancelled(), [], "the others stand alone");
}

#[test]
fn a_batch_ends_its_exchange_with_its_last_answer() {
    let mut http = Http::new();
    http.ask(1, &request(1, "initialize", json!({"protocolVersion": "2025-03-26"})));
    let ping = |id: u64| request(id, "ping", json!({}));
    let sent = http.post(2, &json!([ping(2), ping(3)]));
    assert_eq!(sent.iter().map(|sent| sent.2).collect::<Vec<_>>(), [false, true]);
    let notified = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(http.post(3, &notified), [(exchange(3), None, true, 202)]);
    let two = json!([
        request(4, "tools/call", json!({"name": "a"})),
        ping(5),
        request(6, "tools/call", json!({"name": "a"}))
    ]);
    assert_eq!(http.post(4, &two).iter().map(|sent| sent.2).collect::<Vec<_>>(), [false]);
    let handles = http.reported();
    http.session.respond(handles[1], &Reply::text("x"), NOW).unwrap();
    http.session.respond(handles[0], &Reply::text("x"), NOW).unwrap();
    assert_eq!(http.sent().iter().map(|sent| sent.2).collect::<Vec<_>>(), [false, true]);
}
