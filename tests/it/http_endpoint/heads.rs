//! Who may come, what for, and with what: heads that are welcome and heads that are not.

use bytes::Bytes;
use sanswire::http::HttpHandle;
use sanswire::http::endpoint::{EndpointConfig, Names, Token};
use sanswire::server::Principal;
use sanswire_tests::served::{modern, request};
use sanswire_tests::web::{PLAIN, Web, config, head, modern_fields, refs};
use serde_json::{Value, json};

fn discover() -> Value {
    modern(1, "server/discover", json!({}))
}

/// The status of a good request of which one field is another, or (empty) absent.
fn with(web: &mut Web, name: &str, value: &str) -> u16 {
    let body = discover();
    let fields = modern_fields(&body);
    let mut fields: Vec<_> = refs(&fields).into_iter().filter(|(is, _)| *is != name).collect();
    if !value.is_empty() {
        fields.push((name, value));
    }
    let n = web.post_with(&fields, &body);
    web.answers[&n].status()
}

fn these(names: &[&str]) -> Names {
    Names::These(names.iter().map(|name| (*name).into()).collect())
}

#[test]
fn b_79_the_type_of_a_body_is_its_type_whatever_stands_beside_it() {
    let mut web = Web::new(config());
    for (value, status) in [
        ("application/json", 200),
        ("Application/JSON", 200),
        ("application/json; charset=utf-8", 200),
        ("application/json;charset=\"UTF-8\"", 200),
        ("application/json ; version=1; CHARSET=utf-8", 200),
        ("application/json; charset=latin1", 415),
        ("application/json; charset=utf-16", 415),
        ("application/jsonx", 415),
        ("application/json-rpc", 415),
        ("text/plain", 415),
        ("text/plain; charset=utf-8; x=application/json", 415),
        ("", 415),
    ] {
        assert_eq!(with(&mut web, "Content-Type", value), status, "{value}");
    }
    assert_eq!(with(&mut web, "Content-Encoding", "identity"), 200);
    assert_eq!(with(&mut web, "Content-Encoding", "gzip"), 415, "it is not unpacked here");
}

#[test]
fn b_79_an_answer_is_of_a_type_that_is_taken() {
    let mut web = Web::new(config());
    for (value, status, kind) in [
        ("application/json, text/event-stream", 200, "application/json"),
        ("TEXT/event-stream , Application/JSON;q=0.1", 200, "application/json"),
        ("*/*", 200, "application/json"),
        ("application/*", 200, "application/json"),
        ("application/json", 200, "application/json"),
        ("", 200, "application/json"),
        ("text/event-stream", 200, "text/event-stream"),
        ("text/*, application/json;q=0", 200, "text/event-stream"),
        ("application/json;q=0, */*", 200, "text/event-stream"),
        ("*/*;q=0, application/json", 200, "application/json"),
        ("text/html", 406, "application/json"),
        ("application/json;q=0", 406, "application/json"),
        ("application/json;q=0.000", 406, "application/json"),
    ] {
        let body = discover();
        let fields = modern_fields(&body);
        let mut fields: Vec<_> = refs(&fields).into_iter().filter(|(is, _)| *is != "Accept").collect();
        fields.extend((!value.is_empty()).then_some(("Accept", value)));
        let n = web.post_with(&fields, &body);
        let answer = &web.answers[&n];
        assert_eq!((answer.status(), answer.field("Content-Type")), (status, Some(kind)), "{value}");
    }
    // What is a stream by its nature is not for those who take none.
    let body = modern(1, "subscriptions/listen", json!({"notifications": {}}));
    let mut fields = modern_fields(&body);
    fields.iter_mut().find(|(name, _)| *name == "Accept").unwrap().1 = "application/json".into();
    let n = web.post_with(&refs(&fields), &body);
    assert_eq!((web.answers[&n].status(), &web.answers[&n].json()["id"]), (406, &json!(1)));
}

#[test]
fn b_87_hosts_that_are_not_served_are_refused_and_the_setting_is_named() {
    // P-131
    let mut web = Web::new(config());
    for host in ["127.0.0.1:8080", "localhost", "[::1]:8080", "LOCALHOST:8080"] {
        assert_eq!(with(&mut web, "Host", host), 200, "{host}");
    }
    assert_eq!(web.endpoint.poll_refusal(), None);
    for host in ["mcp.example.invalid", "localhost.example.invalid:80", "10.0.0.1"] {
        assert_eq!(with(&mut web, "Host", host), 403, "{host}");
    }
    let refusal = web.endpoint.poll_refusal().unwrap();
    let told = (refusal.setting, refusal.value.as_str(), refusal.count);
    assert_eq!(told, ("hosts", "mcp.example.invalid", 3));
    assert_eq!(web.endpoint.poll_refusal(), None, "told once");
    assert_eq!(with(&mut web, "Host", ""), 400);
    let body = discover();
    let fields = modern_fields(&body);
    let mut two = refs(&fields);
    two.push(("Host", "localhost:8080"));
    let n = web.post_with(&two, &body);
    assert_eq!(web.answers[&n].status(), 400, "two are none");
    for (target, status) in [
        ("http://localhost:8080/mcp", 200),
        ("HTTP://[::1]/mcp?x", 200),
        ("http://evil.example/mcp", 403),
        ("http://localhost", 404),
        ("/mcp?query", 200),
        ("/mcp/", 404),
        ("/MCP", 404),
        ("*", 404),
    ] {
        let n = web.send(head("POST", target, &refs(&fields)), body.to_string().as_bytes());
        assert_eq!(web.answers[&n].status(), status, "{target}");
    }
    // Whoever is in front says who they are only by the setting.
    let mut forwarded = refs(&fields);
    forwarded[0].1 = "evil.example";
    forwarded.push(("X-Forwarded-Host", "localhost"));
    let n = web.post_with(&forwarded, &body);
    assert_eq!(web.answers[&n].status(), 403);

    let mut all = config();
    all.hosts = these(&["mcp.example.com", "other.example:8443"]);
    let mut web = Web::new(all);
    for (host, status) in [
        ("mcp.example.com", 200),
        ("MCP.Example.com:443", 200),
        ("other.example:8443", 200),
        ("other.example", 403),
        ("localhost", 200),
        ("mcp.example.com.evil.example", 403),
    ] {
        assert_eq!(with(&mut web, "Host", host), status, "{host}");
    }
}

#[test]
fn pages_of_other_origins_are_refused() {
    // P-131 P-132
    let mut web = Web::new(config());
    for (origin, status) in [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://[::1]:1", 200),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("file://", 403),
    ] {
        assert_eq!(with(&mut web, "Origin", origin), status, "{origin}");
    }
    let refusal = web.endpoint.poll_refusal().unwrap();
    assert_eq!((refusal.setting, refusal.value.as_str()), ("origins", "https://evil.example"));
    let mut all = config();
    all.origins = these(&["https://app.example"]);
    let mut web = Web::new(all);
    assert_eq!(with(&mut web, "Origin", "https://app.example"), 200);
    assert_eq!(with(&mut web, "Origin", "https://app.example:444"), 403);
    assert_eq!(with(&mut web, "Origin", "http://localhost"), 200);
    // Neither a good name beside a bad one, nor GET, nor DELETE.
    for verb in ["GET", "DELETE", "POST", "OPTIONS"] {
        let fields = [("Host", "localhost"), ("Origin", "https://evil.example"), ("Mcp-Session-Id", "x")];
        let n = web.send(head(verb, "/mcp", &fields), b"");
        assert_eq!(web.answers[&n].status(), 403, "{verb}");
        let fields = [("Host", "evil.example"), ("Origin", "http://localhost"), ("Mcp-Session-Id", "x")];
        let n = web.send(head(verb, "/mcp", &fields), b"");
        assert_eq!(web.answers[&n].status(), 403, "{verb}");
    }
}

#[test]
fn a_token_shows_who_asks_and_is_never_told_again() {
    // P-134 H-192 H-193
    let mut all = config();
    let (ann, bob) = (Principal::named("ann"), Principal::named("bob"));
    all.tokens = vec![Token::new(ann.clone(), "ann-s3cret"), Token::new(bob.clone(), "bob-s3cret")];
    assert!(!format!("{all:?}").contains("s3cret"));
    let mut web = Web::new(all);
    let body = modern(1, "tools/call", json!({"name": "a"}));
    let fields = modern_fields(&body);
    for (value, who) in [
        ("Bearer ann-s3cret", Some(&ann)),
        ("bearer bob-s3cret", Some(&bob)),
        ("BEARER   bob-s3cret", Some(&bob)),
        ("Bearer ann-s3cre", None),
        ("Bearer ann-s3crett", None),
        ("Bearer ANN-S3CRET", None),
        ("Bearer", None),
        ("Basic ann-s3cret", None),
        ("ann-s3cret", None),
    ] {
        let mut fields = refs(&fields);
        fields.push(("Authorization", value));
        let n = web.post_with(&fields, &body);
        let answer = &web.answers[&n];
        match who {
            Some(who) => {
                assert_eq!(web.open[0].context.principal, *who, "{value}");
                web.reply(0, "x");
            }
            None => {
                assert_eq!((answer.status(), answer.wants_body), (401, false), "{value}");
                assert!(answer.field("WWW-Authenticate").unwrap().starts_with("Bearer realm="));
                assert!(!String::from_utf8_lossy(&answer.body).contains("s3cre"), "{value}");
            }
        }
    }
    let mut twice = refs(&fields);
    twice.extend([("Authorization", "Bearer ann-s3cret"), ("Authorization", "Bearer ann-s3cret")]);
    for fields in [refs(&fields), twice] {
        let n = web.post_with(&fields, &body);
        let answer = &web.answers[&n];
        assert_eq!((answer.status(), answer.field("WWW-Authenticate")), (401, Some("Bearer realm=\"mcp\"")));
    }
}

#[test]
fn a_body_is_bounded_whatever_its_head_says() {
    // H-193
    let mut all = config();
    all.server.limits.max_message_bytes = 4096;
    all.max_body_bytes = 6000;
    let mut web = Web::new(all);
    let fields = modern_fields(&discover());
    let head = || head("POST", "/mcp", &refs(&fields));
    let n = web.head(head(), Some(4097));
    assert_eq!((web.answers[&n].status(), web.answers[&n].wants_body), (413, false), "said at once");
    let n = web.head(head(), None);
    let piece = |web: &mut Web, n: u64, len: usize| {
        web.endpoint.handle_body(HttpHandle::numbered(n), Bytes::from(vec![b' '; len]), web.now);
        web.drain();
        web.answers[&n].status()
    };
    assert_eq!((piece(&mut web, n, 4096), piece(&mut web, n, 1)), (0, 413));
    assert_eq!(piece(&mut web, n, 1), 413, "and what comes behind is nothing");
    assert_eq!(web.endpoint.retained_bytes(), 0);
    // All bodies together are bounded as well.
    let (one, two) = (web.head(head(), None), web.head(head(), None));
    assert_eq!((piece(&mut web, one, 3000), piece(&mut web, two, 3000)), (0, 503));
    web.leave(one);
    assert_eq!(web.endpoint.retained_bytes(), 0);
    let body = discover().to_string();
    let n = web.send(head(), body.as_bytes());
    assert_eq!(web.answers[&n].status(), 200, "there is room again");
}

#[test]
fn heads_whose_bodies_do_not_come_are_bounded_all_together() {
    // H-193
    let mut all = config();
    all.server.limits.max_message_bytes = 4096;
    all.max_body_bytes = 10_000;
    let mut web = Web::new(all);
    let pad = "x".repeat(3000);
    let mut fields = modern_fields(&discover());
    fields.push(("X-Pad", pad));
    let waiting: Vec<u64> =
        (0..5).map(|_| web.head(head("POST", "/mcp", &refs(&fields)), Some(100))).collect();
    assert!(web.answers[&waiting[0]].wants_body && web.answers[&waiting[4]].status() == 503);
    assert!(web.endpoint.retained_bytes() <= 10_000);
    for n in waiting {
        web.leave(n);
    }
    assert_eq!(web.endpoint.retained_bytes(), 0);
    let n = web.send(head("POST", "/mcp", &refs(&fields)), discover().to_string().as_bytes());
    assert_eq!(web.answers[&n].status(), 200, "there is room again");
}

#[test]
fn other_methods_are_refused_and_the_ones_that_are_not_are_named() {
    // P-184 P-190 H-192
    let mut web = Web::new(config());
    let plain = [("Host", "localhost"), ("Accept", "text/event-stream")];
    let modern_head = [
        ("Host", "localhost"),
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", "x"),
        ("MCP-Protocol-Version", "2026-07-28"),
    ];
    for verb in ["GET", "DELETE", "PUT", "OPTIONS", "get"] {
        for fields in [&plain[..], &modern_head[..]] {
            let n = web.send(head(verb, "/mcp", fields), b"");
            let answer = &web.answers[&n];
            assert_eq!((answer.status(), answer.field("Allow")), (405, Some("POST, GET, DELETE")), "{verb}");
        }
    }
    let n = web.send(head("HEAD", "/mcp", &plain), b"");
    assert_eq!((web.answers[&n].status(), web.answers[&n].body.len()), (405, 0), "it has no body");
    let mut web = Web::new(modern_only());
    let session =
        [("Host", "localhost"), ("Accept", "*/*"), ("Mcp-Session-Id", "x"), ("Last-Event-ID", "1-1")];
    for verb in ["GET", "DELETE"] {
        let n = web.send(head(verb, "/mcp", &session), b"");
        assert_eq!((web.answers[&n].status(), web.answers[&n].field("Allow")), (405, Some("POST")));
    }
}

fn modern_only() -> EndpointConfig {
    let mut all = config();
    all.server.revisions.retain(|revision| revision.as_str() == "2026-07-28");
    all
}

#[test]
fn a_server_without_sessions_says_what_it_speaks_and_opens_none() {
    // P-066 P-155 P-185
    let mut web = Web::new(modern_only());
    for fields in [&PLAIN[..], &[PLAIN[0], PLAIN[1], PLAIN[2], ("MCP-Protocol-Version", "2025-11-25")]] {
        let n = web.post_with(fields, &request(1, "initialize", json!({"protocolVersion": "2025-11-25"})));
        let answer = &web.answers[&n];
        assert_eq!((answer.status(), answer.code()), (400, Some(-32020)));
        let error = &answer.json()["error"];
        assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
        assert!(error["message"].as_str().unwrap().contains("2026-07-28"), "{error}");
        assert_eq!(answer.field("Mcp-Session-Id"), None);
    }
    let n = web.post_with(&PLAIN, &request(1, "tools/list", json!({})));
    assert_eq!((web.answers[&n].status(), web.answers[&n].code()), (400, Some(-32020)));
    let body = discover();
    let fields = modern_fields(&body);
    let mut fields = refs(&fields);
    fields.extend([("Mcp-Session-Id", "anything"), ("Last-Event-ID", "7")]);
    let n = web.post_with(&fields, &body);
    assert_eq!((web.answers[&n].status(), web.answers[&n].field("Mcp-Session-Id")), (200, None), "ignored");
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut EndpointConfig)| {
        let mut all = config();
        change(&mut all);
        all.check().unwrap_err().field
    };
    assert_eq!(config().check(), Ok(()));
    assert!(refused(&|all| all.path = "mcp".into()).starts_with("path"));
    assert!(refused(&|all| all.hosts = these(&["https://a.example"])).starts_with("hosts"));
    assert!(refused(&|all| all.origins = these(&["a.example"])).starts_with("origins"));
    assert!(refused(&|all| all.tokens.push(Token::new(Principal::anonymous(), ""))).starts_with("tokens"));
    assert_eq!(refused(&|all| all.max_exchanges = 0), "max_exchanges");
    assert_eq!(refused(&|all| all.max_body_bytes = 5), "max_body_bytes");
    assert_eq!(refused(&|all| all.server.page_size = 0), "page_size");
    assert_eq!(refused(&|all| all.keep_alive = std::time::Duration::ZERO), "keep_alive");
}
