//! What is wrong with a modern POST is looked for in one order, and the first that is found is told.

use sanswire::http::endpoint::{EndpointConfig, Token};
use sanswire::server::{Principal, Reply};
use sanswire_tests::served::modern;
use sanswire_tests::web::{Web, config, head, modern_fields, refs};
use serde_json::{Value, json};

/// A POST that may have any number of faults.
#[derive(Clone)]
struct Post {
    verb: &'static str,
    target: &'static str,
    fields: Vec<(&'static str, String)>,
    body: Value,
    broken: bool,
    length: Option<u64>,
    without: Option<&'static str>,
}

impl Post {
    fn good() -> Self {
        let body = modern(1, "tools/call", json!({"name": "marked", "arguments": {"region": "eu"}}));
        let mut fields = modern_fields(&body);
        fields.push(("Authorization", "Bearer secret".into()));
        fields.push(("Mcp-Param-Region", "eu".into()));
        let (verb, target) = ("POST", "/mcp");
        Self { verb, target, fields, body, broken: false, length: None, without: None }
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.fields.retain(|(is, _)| *is != name);
        self.fields.push((name, value.into()));
    }

    /// Status, code and text.
    fn answer(mut self, web: &mut Web) -> (u16, Option<i64>, String) {
        if let Some(name) = self.without {
            self.fields.retain(|(is, _)| *is != name);
        }
        let mut body = self.body.to_string();
        if self.broken {
            body.pop();
        }
        let head = head(self.verb, self.target, &refs(&self.fields));
        let n = match self.length {
            None => web.send(head, body.as_bytes()),
            Some(length) => web.head(head, Some(length)),
        };
        let answer = &web.answers[&n];
        let text = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        (answer.status(), answer.code(), text)
    }
}

type Fault = (&'static str, fn(&mut Post), u16, i64, &'static str);

/// The faults, in the order they are looked for.
const FAULTS: [Fault; 17] = [
    ("host", |post| post.set("Host", "evil.example"), 403, -32600, "Host"),
    ("origin", |post| post.set("Origin", "https://evil.example"), 403, -32600, "Origin"),
    ("path", |post| post.target = "/other", 404, -32600, "path"),
    ("method", |post| post.verb = "PUT", 405, -32600, "POST"),
    ("type", |post| post.set("Content-Type", "text/plain"), 415, -32600, "application/json"),
    ("accept", |post| post.set("Accept", "image/png"), 406, -32600, "accept"),
    ("token", |post| post.set("Authorization", "Bearer guess"), 401, -32600, "token"),
    ("length", |post| post.length = Some(1 << 40), 413, -32600, "too long"),
    ("json", |post| post.broken = true, 400, -32700, "JSON"),
    ("envelope", |post| post.body["jsonrpc"] = json!("1.0"), 400, -32600, "JSON-RPC"),
    ("lacks", |post| post.without = Some("MCP-Protocol-Version"), 400, -32020, "missing"),
    (
        "meta",
        |post| post.body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!(1),
        400,
        -32602,
        "_meta",
    ),
    ("differs", |post| post.set("Mcp-Method", "tools/list"), 400, -32020, "Mcp-Method"),
    (
        "version",
        |post| {
            post.set("MCP-Protocol-Version", "2099-01-01");
            post.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
        },
        400,
        -32022,
        "version",
    ),
    (
        "unknown method",
        |post| {
            post.body["method"] = json!("no/such");
            let said = post.fields.iter_mut().find(|(name, _)| *name == "Mcp-Method").unwrap();
            if said.1 == "tools/call" {
                said.1 = "no/such".into();
            }
        },
        404,
        -32601,
        "method",
    ),
    ("params", |post| post.body["params"]["arguments"] = json!(1), 200, -32602, "arguments"),
    ("mirror", |post| post.set("Mcp-Param-Region", "us"), 400, -32020, "Mcp-Param-"),
];

fn with_token() -> EndpointConfig {
    let mut config = config();
    config.tokens = vec![Token::new(Principal::named("ann"), "secret")];
    config
}

#[test]
fn of_two_faults_the_earlier_is_told() {
    // P-041 P-042 P-132 P-152 P-153 P-154 P-175 H-193
    let mut web = Web::new(with_token());
    for (first, (name, break_it, status, code, text)) in FAULTS.iter().enumerate() {
        let mut post = Post::good();
        break_it(&mut post);
        let alone = post.answer(&mut web);
        assert_eq!((alone.0, alone.1), (*status, Some(*code)), "{name}: {alone:?}");
        assert!(alone.2.contains(text), "{name}: {}", alone.2);
        for (other, break_more, ..) in FAULTS.iter().skip(first + 1) {
            let mut post = Post::good();
            break_it(&mut post);
            break_more(&mut post);
            assert_eq!(post.answer(&mut web), alone, "{name} and {other}");
        }
    }
    assert!(web.open.is_empty(), "nothing of it was for the application");
    let mut post = Post::good();
    post.without = Some("nothing");
    let body = post.body.to_string();
    let n = web.send(head("POST", "/mcp", &refs(&post.fields)), body.as_bytes());
    assert_eq!(web.open.len(), 1, "without a fault it is reported");
    assert_eq!(web.open[0].context.principal, Principal::named("ann"));
    web.reply(0, "x");
    assert_eq!(web.answers[&n].status(), 200);
}

#[test]
fn what_the_head_decides_is_decided_before_the_body_is_taken() {
    // H-193
    let mut web = Web::new(with_token());
    for (name, break_it, status, ..) in FAULTS.iter().take(8) {
        let mut post = Post::good();
        break_it(&mut post);
        let n = web.head(head(post.verb, post.target, &refs(&post.fields)), post.length.or(Some(10)));
        let answer = &web.answers[&n];
        assert_eq!((answer.wants_body, answer.over, answer.status()), (false, true, *status), "{name}");
    }
    assert_eq!(web.endpoint.exchanges(), 0);
}

#[test]
fn a_capability_that_was_not_declared_is_named_with_its_status() {
    // P-044 P-045
    let mut web = Web::new(config());
    let n = web.modern(&modern(1, "tools/call", json!({"name": "a"})));
    let roots = sanswire::mcp::types::input::InputRequest {
        kind: sanswire::mcp::types::input::InputKind::ListRoots,
        params: None,
    };
    let requests = vec![sanswire::mcp::types::input::KeyedInput { key: "k".into(), request: roots }];
    web.respond(0, &Reply::InputRequired { requests, state: None }).unwrap();
    let answer = &web.answers[&n];
    assert_eq!((answer.status(), answer.code()), (400, Some(-32021)));
    assert!(answer.json()["error"]["data"]["requiredCapabilities"]["roots"].is_object());
}
