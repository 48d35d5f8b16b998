//! Pages of a browser: those of listed origins are told what they may ask and may read it, and no others.

use sanswire::http::endpoint::{EndpointConfig, Names, Token};
use sanswire::server::Principal;
use sanswire_tests::served::{modern, request};
use sanswire_tests::web::{Answer, PLAIN, Web, config, head, modern_fields, refs};
use serde_json::{Value, json};

const PAGE: &str = "https://app.example";
const LOCAL: &str = "http://localhost:6274";

fn listed() -> EndpointConfig {
    let mut all = config();
    all.origins = Names::These(vec![PAGE.into(), LOCAL.into(), "null".into()]);
    all
}

fn fields_of(answer: &Answer) -> [Option<&str>; 3] {
    ["Access-Control-Allow-Origin", "Vary", "Access-Control-Expose-Headers"].map(|name| answer.field(name))
}

fn is_open_to(answer: &Answer, origin: &str) -> bool {
    let [allowed, varies, exposed] = fields_of(answer);
    let exposed = exposed.unwrap_or_default();
    allowed == Some(origin)
        && varies == Some("Origin")
        && ["Mcp-Session-Id", "WWW-Authenticate"].iter().all(|name| exposed.contains(name))
}

fn preflight(web: &mut Web, origin: &str, fields: &[(&str, &str)]) -> Answer {
    let mut all = vec![("Host", "localhost"), ("Origin", origin), ("Access-Control-Request-Method", "POST")];
    all.extend(fields);
    let n = web.head(head("OPTIONS", "/mcp", &all), Some(0));
    web.answers[&n].clone()
}

#[test]
fn a_browser_is_told_what_a_listed_page_may_ask() {
    // Who asks cannot be known yet.
    let mut all = listed();
    all.tokens = vec![Token::new(Principal::named("a"), "secret")];
    let mut web = Web::new(all);
    for origin in [PAGE, LOCAL, "HTTPS://App.example:443"] {
        let wants = "content-type, authorization,mcp-protocol-version , mcp-param-region, x-other, cookie, mcp-param-";
        let answer = preflight(&mut web, origin, &[("Access-Control-Request-Headers", wants)]);
        assert_eq!((answer.status(), answer.over, answer.body.len()), (204, true, 0));
        assert!(is_open_to(&answer, origin), "{answer:?}");
        assert_eq!(answer.field("Access-Control-Allow-Methods"), Some("POST, GET, DELETE"));
        let may = answer.field("Access-Control-Allow-Headers");
        assert_eq!(may, Some("content-type, authorization, mcp-protocol-version, mcp-param-region"));
        assert!(answer.field("Access-Control-Max-Age").is_some());
        assert_eq!(answer.field("Access-Control-Allow-Credentials"), None);
    }
    assert_eq!(web.endpoint.exchanges(), 0);
    let all_fields = "accept, last-event-id, mcp-method, mcp-name, mcp-session-id";
    let answer = preflight(&mut web, PAGE, &[("Access-Control-Request-Headers", all_fields)]);
    assert_eq!(answer.field("Access-Control-Allow-Headers"), Some(all_fields));
}

#[test]
fn nobody_else_is_told_anything() {
    for (origins, origin, status) in [
        (Names::These(vec![PAGE.into()]), "https://evil.example", 403),
        (Names::These(vec![PAGE.into()]), "https://app.example.evil.example", 403),
        // Welcome, and not listed: a page on this computer may be anybody's.
        (Names::These(vec![PAGE.into()]), LOCAL, 405),
        (Names::Loopback, LOCAL, 405),
        // Something in front decides.
        (Names::Any, PAGE, 405),
        // Any page can have this one.
        (Names::These(vec!["null".into()]), "null", 405),
    ] {
        let mut all = config();
        all.origins = origins;
        let mut web = Web::new(all);
        let answer = preflight(&mut web, origin, &[]);
        assert_eq!(answer.status(), status, "{origin}");
        assert!(fields_of(&answer).iter().all(Option::is_none), "{answer:?}");
        let mut fields = PLAIN.to_vec();
        fields.push(("Origin", origin));
        let n = web.post_with(&fields, &request(1, "ping", json!({})));
        assert!(fields_of(&web.answers[&n]).iter().all(Option::is_none), "{origin}");
    }
    // What is no question of a browser's is an unknown method, which the page may read.
    let mut web = Web::new(listed());
    let n = web.head(head("OPTIONS", "/mcp", &[("Host", "localhost"), ("Origin", PAGE)]), Some(0));
    assert!(web.answers[&n].status() == 405 && is_open_to(&web.answers[&n], PAGE));
    // Not at another path, and not by another name.
    for (target, host, status) in [("/other", "localhost", 404), ("/mcp", "evil.example", 403)] {
        let all = [("Host", host), ("Origin", PAGE), ("Access-Control-Request-Method", "POST")];
        let n = web.head(head("OPTIONS", target, &all), Some(0));
        assert_eq!(web.answers[&n].status(), status);
    }
}

#[test]
fn a_listed_page_reads_every_answer() {
    let mut all = listed();
    all.tokens = vec![Token::new(Principal::named("a"), "secret")];
    let mut web = Web::new(all);
    let with = |more: &[(&'static str, &'static str)]| {
        let mut fields = PLAIN.to_vec();
        fields.push(("Origin", PAGE));
        fields.extend(more);
        fields
    };
    let token = ("Authorization", "Bearer secret");
    // It is told that it has to show a token.
    let n = web.post_with(&with(&[]), &request(1, "ping", json!({})));
    assert!(web.answers[&n].status() == 401 && is_open_to(&web.answers[&n], PAGE));
    // A session, its streams and its end.
    let client = json!({"name": "page", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let n = web.post_with(&with(&[token]), &request(0, "initialize", params));
    assert!(web.answers[&n].status() == 200 && is_open_to(&web.answers[&n], PAGE));
    let id = web.answers[&n].field("Mcp-Session-Id").unwrap().to_owned();
    let within = |verb: &str| {
        let mut fields = with(&[token]);
        fields.push(("Mcp-Session-Id", &id));
        head(verb, "/mcp", &fields)
    };
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let ready = web.send(within("POST"), ready.as_bytes());
    let stream = web.send(within("GET"), b"");
    let end = web.send(within("DELETE"), b"");
    let gone = web.send(within("GET"), b"");
    for (n, status) in [(ready, 202), (stream, 200), (end, 200), (gone, 404)] {
        assert_eq!(web.answers[&n].status(), status);
        assert!(is_open_to(&web.answers[&n], PAGE), "{status}");
    }
    // A request that stands alone, answered whole and by a stream, and one that is too long.
    let asks = |web: &mut Web, body: &Value, accept: &'static str| {
        let mut fields = modern_fields(body);
        fields.extend([("Origin", PAGE.to_owned()), ("Authorization", "Bearer secret".to_owned())]);
        fields.iter_mut().filter(|(name, _)| *name == "Accept").for_each(|(_, value)| *value = accept.into());
        web.post_with(&refs(&fields), body)
    };
    for accept in ["application/json", "text/event-stream"] {
        let n = asks(&mut web, &modern(1, "tools/call", json!({"name": "a"})), accept);
        web.reply(0, "x");
        let answer = &web.answers[&n];
        assert!(answer.status() == 200 && answer.over && is_open_to(answer, PAGE), "{answer:?}");
        assert_eq!(answer.field("Content-Type"), Some(accept));
    }
    let n = asks(&mut web, &modern(2, "tools/call", json!({"name": "a"})), "text/event-stream");
    web.pass(15_000);
    assert!(web.answers[&n].streamed && is_open_to(&web.answers[&n], PAGE));
    // Who left is forgotten.
    web.leave(n);
    let n = web.head(head("POST", "/mcp", &with(&[token])), Some(10));
    web.leave(n);
    assert_eq!(web.endpoint.exchanges(), 0);
    // A program that is no page is told nothing of it.
    let n = web.post_with(&PLAIN, &request(1, "ping", json!({})));
    assert!(fields_of(&web.answers[&n]).iter().all(Option::is_none));
}
