//! Floods of a client over HTTP by a server that does not want to be understood, up to each limit.

use bytes::Bytes;
use sanswire::client::{Config, Link as _, RequestOptions, Start};
use sanswire::http::client::{Effect, End, Kind, Target};
use sanswire::http::{Client, Fields, HttpHandle, ResponseHead, Url, Verb};
use sanswire::limits::Limits;
use sanswire::mcp::{Method, Revision};
use sanswire_tests::client::json;

use crate::counting::{Gauge, KIB, NOW};

/// The longest message.
const BIG: usize = 64 * KIB;
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Bounds so tight that the one thing a scenario floods is most of what may be held.
fn tight() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_bytes = BIG;
    limits.max_in_flight = 8;
    limits.max_subscriptions = 0;
    limits.max_peer_requests = 0;
    limits.max_queued_out_bytes = 64 * KIB;
    limits.max_queued_events = 20;
    limits.max_queued_event_bytes = 4 * KIB;
    limits.violation_budget = u32::MAX;
    limits
}

/// An exchange that the client opened.
#[derive(Clone, Copy)]
struct Open {
    exchange: HttpHandle,
    post: bool,
    /// The id of its request.
    id: u64,
}

struct Flood {
    client: Client,
    gauge: Gauge,
    open: Vec<Open>,
}

impl Flood {
    fn new(revision: Revision, kind: Kind, limits: Limits) -> Self {
        let mut gauge = Gauge::new(limits.worst_case_http_client_bytes());
        let mut target = Target::new(Url::parse("https://mcp.example/mcp").unwrap());
        target.kind = kind;
        let mut config = Config::new("flood", "0");
        config.start = Start::Pinned(revision);
        config.capabilities.roots = true;
        config.limits = limits;
        let client = gauge.run(|| Client::new(config, target, [0; 32], NOW).unwrap());
        let mut flood = Self { client, gauge, open: Vec::with_capacity(200 * KIB) };
        flood.drain();
        flood
    }

    /// One that is ready, of either era.
    fn ready(revision: Revision, limits: Limits) -> Self {
        let mut flood = Self::new(revision, Kind::Streamable, limits);
        let first = flood.open.pop().unwrap();
        if revision == Revision::V2026_07_28 {
            let result = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
            flood.reply(first, result);
        } else {
            let result = format!(
                r#"{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"n","version":"1"}}}}"#
            );
            flood.head(first, 200, &[("Content-Type", JSON), ("Mcp-Session-Id", &"s".repeat(1024))]);
            let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, first.id);
            flood.body(first, text.as_bytes(), BIG);
            flood.end(first, End::Whole);
            let initialized = flood.open.pop().unwrap();
            flood.head(initialized, 202, &[]);
            flood.end(initialized, End::Whole);
            let push = flood.open.pop().unwrap();
            assert!(!push.post);
            flood.head(push, 200, &[("Content-Type", EVENTS)]);
        }
        flood.take();
        assert!(flood.client.session().revision().is_some());
        flood
    }

    /// Does something, and then what a runtime does after everything.
    fn run<R>(&mut self, work: impl FnOnce(&mut Client) -> R) -> R {
        let done = self.gauge.run(|| work(&mut self.client));
        self.drain();
        done
    }

    fn drain(&mut self) {
        self.gauge.run(|| {
            while let Some(effect) = self.client.poll_effect() {
                match effect {
                    Effect::Open { exchange, head, body, .. } => {
                        let text = std::str::from_utf8(&body).unwrap();
                        let digits = text.split_once("\"id\":").map_or("", |(_, rest)| rest);
                        let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                        let id = digits.parse().unwrap_or(0);
                        self.open.push(Open { exchange, post: head.verb == Verb::Post, id });
                    }
                    Effect::Close { exchange } => self.open.retain(|open| open.exchange != exchange),
                    _ => {}
                }
            }
        });
    }

    /// The application takes all that is told.
    fn take(&mut self) {
        self.gauge.run(|| while self.client.poll_event().is_some() {});
    }

    fn head(&mut self, open: Open, status: u16, fields: &[(&str, &str)]) {
        let mut head = ResponseHead { status, fields: Fields::new() };
        for (name, value) in fields {
            head.fields.push(name, value.as_bytes()).unwrap();
        }
        self.run(|client| client.handle_sent(open.exchange, NOW));
        self.run(|client| client.handle_head(open.exchange, &head, NOW));
    }

    fn stream(&mut self, open: Open) {
        self.head(open, 200, &[("Content-Type", EVENTS)]);
    }

    /// In such pieces, as long as they are wanted. Whether all of it was.
    fn body(&mut self, open: Open, body: &[u8], piece: usize) -> bool {
        for piece in body.chunks(piece) {
            if !self.client.wants_input() {
                return false;
            }
            self.run(|client| client.handle_body(open.exchange, Bytes::copy_from_slice(piece), NOW));
        }
        true
    }

    fn end(&mut self, open: Open, end: End) {
        self.run(|client| client.handle_end(open.exchange, end, NOW));
    }

    fn reply(&mut self, open: Open, result: &str) {
        self.head(open, 200, &[("Content-Type", JSON)]);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, open.id);
        self.body(open, text.as_bytes(), BIG);
        self.end(open, End::Whole);
    }

    /// Calls until there is no room for more; the exchanges they are on.
    fn call(&mut self, size: usize) -> Vec<Open> {
        let arguments = json(&format!(r#"{{"x":"{}"}}"#, "a".repeat(size)));
        self.open.clear();
        while self
            .run(|client| client.call_tool("echo", Some(&arguments), &RequestOptions::default(), NOW))
            .is_ok()
        {}
        self.open.clone()
    }

    fn list(&mut self) -> Option<Open> {
        self.open.clear();
        self.run(|client| client.request(Method::ToolsList, None, &RequestOptions::default(), NOW)).ok()?;
        self.open.pop()
    }
}

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];
const PIECES: [usize; 4] = [1, 100, 5000, 40 * KIB];

/// Answers that go on without an end, as streams of every make and as one text.
pub(crate) fn client_answers_that_never_end() {
    let line = [&b"data: "[..], &vec![b'x'; BIG - 8]].concat();
    let lines = [&b"data: x\n".repeat(BIG / 32)[..]].concat();
    let fields =
        [format!("id: {}\nevent: {}\n", "i".repeat(4090), "e".repeat(80)).as_bytes(), &line[..]].concat();
    let comments = b": comment\n".repeat(BIG / 32);
    let text = [&b"{\"jsonrpc\":\"2.0\",\"x\":\""[..], &vec![b'x'; BIG - 30]].concat();
    for revision in ERAS {
        for (body, kind) in
            [(&line, EVENTS), (&lines, EVENTS), (&fields, EVENTS), (&comments, EVENTS), (&text, JSON)]
        {
            for piece in PIECES {
                let mut limits = tight();
                limits.max_in_flight = 300;
                limits.max_queued_out_bytes = 256 * KIB;
                limits.max_queued_event_bytes = 16 * KIB * KIB;
                let mut flood = Flood::ready(revision, limits);
                let calls = flood.call(10);
                assert_eq!(calls.len(), 300);
                let body = &body[..body.len().min(40 * piece)];
                for open in calls {
                    flood.head(open, 200, &[("Content-Type", kind)]);
                    flood.body(open, body, piece);
                }
                if piece > 100 && body[0] != b':' {
                    flood.gauge.reached(300 * body.len() / 6);
                }
            }
        }
    }
}

/// What a server tells and nobody takes, as many small things in one piece and as big ones.
pub(crate) fn client_events_that_nobody_takes() {
    let notice = |size: usize| {
        let text = "x".repeat(size);
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"data\":\"{text}\"}}}}\n\n"
        )
    };
    let asks =
        format!("data: {{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"roots/list\"}}\n\n", "i".repeat(500));
    let progress = |n: usize| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":3,\"progress\":{n}}}}}\n\n"
        )
    };
    let progresses: String = (0..2000).map(progress).collect();
    let bodies = [
        "data:1\n\n".repeat(50_000),
        // These tell nobody anything.
        "id:1\n\n".repeat(50_000),
        "retry:1\n".repeat(50_000),
        "data:1\nid:1\n\n".repeat(50_000),
        notice(1).repeat(3000),
        notice(3 * KIB).repeat(400),
        notice(BIG - 200).repeat(40),
        asks.repeat(1000),
        progresses,
    ];
    for revision in ERAS {
        for body in &bodies {
            for piece in [100, 5000, 128 * KIB] {
                let mut limits = tight();
                limits.max_queued_events = 1000;
                limits.max_queued_event_bytes = KIB * KIB;
                limits.max_peer_requests = 100;
                let mut flood = Flood::ready(revision, limits);
                for open in flood.call(10).into_iter().take(3) {
                    flood.stream(open);
                    flood.body(open, body.as_bytes(), piece);
                }
                if body.contains("data") {
                    flood.gauge.reached(90 * KIB);
                }
                flood.take();
            }
        }
    }
}

/// Requests that no server answers, and what is kept of them to be sent again.
pub(crate) fn client_requests_that_nobody_answers() {
    for revision in ERAS {
        for size in [10, 2000, 10 * KIB, BIG - 400] {
            let mut limits = tight();
            limits.max_in_flight = 4000;
            limits.max_queued_out_bytes = 4 * KIB * KIB;
            let mut flood = Flood::ready(revision, limits);
            let calls = flood.call(size);
            assert!(calls.len() >= 60);
            flood.gauge.reached(KIB * KIB);
            for open in calls.iter().step_by(2) {
                flood.stream(*open);
            }
            flood.call(size);
        }
    }
}

/// What is known of a call that is being answered does not hold the name of its method.
pub(crate) fn client_methods_with_long_names() {
    for revision in ERAS {
        let mut limits = tight();
        limits.max_in_flight = 200;
        let mut flood = Flood::ready(revision, limits);
        for _ in 0..200 {
            flood.open.clear();
            flood.run(|client| {
                let method = Method::Other("m".repeat(60 * KIB).into());
                client.request(method, None, &RequestOptions::default(), NOW).unwrap();
            });
            let open = flood.open.pop().unwrap();
            flood.stream(open);
        }
        flood.gauge.reached(120 * KIB);
        assert!(flood.gauge.held() < 1024 * KIB, "{} bytes of open requests", flood.gauge.held());
    }
}

/// Streams that name an event as long as it may be and break off, and are taken up again and again.
pub(crate) fn client_streams_that_break_off() {
    let mut limits = tight();
    limits.max_in_flight = 300;
    let mut flood = Flood::ready(Revision::V2025_11_25, limits);
    let id = "i".repeat(4096);
    let mut streams = flood.call(10);
    assert_eq!(streams.len(), 300);
    for round in 0..4 {
        for open in streams {
            flood.stream(open);
            flood.body(open, format!("id: {round}{}\nretry: 1\ndata:\n\n", &id[1..]).as_bytes(), BIG);
            flood.end(open, End::Whole);
        }
        flood.open.clear();
        let later = NOW.saturating_add(std::time::Duration::from_secs(100 * (round + 1)));
        let now = flood.gauge.run(|| flood.client.poll_timeout()).unwrap().max(later);
        // Calls have their own deadlines, which are not what is tried here.
        if round < 3 {
            flood.run(|client| {
                client.handle_timeout(now.min(NOW.saturating_add(std::time::Duration::from_secs(2))))
            });
        }
        streams = flood.open.clone();
    }
    flood.gauge.reached(300 * 4 * KIB);
}

/// Redirects to addresses as long as they may be, one after another, whose answers never end.
pub(crate) fn client_redirects() {
    for revision in ERAS {
        let mut limits = tight();
        limits.max_in_flight = 200;
        let mut flood = Flood::ready(revision, limits);
        let mut calls = flood.call(10);
        for hop in 0..6 {
            flood.open.clear();
            let to = format!("/{hop}{}", "p".repeat(8100));
            for open in calls {
                flood.head(open, 307, &[("Location", &to)]);
                flood.body(open, b"xxxx", 4);
            }
            calls = flood.open.clone();
        }
        assert!(calls.is_empty());
        flood.gauge.reached(200 * 16 * KIB);
    }
}

/// Calls that are refused for their heads, and listings for them that go on without an end.
pub(crate) fn client_refusals_for_their_heads() {
    for data in [10, 3 * KIB, BIG - 300] {
        let mut limits = tight();
        limits.max_in_flight = 200;
        let mut flood = Flood::ready(Revision::V2026_07_28, limits);
        let (calls, mut lists) = (flood.call(10), Vec::new());
        for open in &calls {
            flood.open.clear();
            flood.head(*open, 400, &[("Content-Type", JSON)]);
            let error = format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32020,"message":"m","data":"{}"}}}}"#,
                open.id,
                "d".repeat(data)
            );
            flood.body(*open, error.as_bytes(), BIG);
            flood.end(*open, End::Whole);
            flood.take();
            lists.extend(flood.open.iter().copied());
        }
        // Each as long as it may be, and without its end.
        for list in lists {
            if list.id % 2 == 0 {
                flood.head(list, 200, &[("Content-Type", JSON)]);
                flood.body(list, &vec![b'x'; BIG - 10], 5000);
            } else {
                flood.stream(list);
                flood.body(list, &[&b"data: "[..], &vec![b'x'; BIG - 10]].concat(), 5000);
            }
            flood.take();
        }
        flood.gauge.reached(BIG);
        // They share the bound of all that is being read, and what is kept of each is short.
        assert!(flood.gauge.held() < 2 * KIB * KIB, "{} bytes of refusals", flood.gauge.held());
    }
}

/// Listings of which little makes much: tools that cannot be called, schemas of many branches, on long ways.
pub(crate) fn client_listings_of_many_branches() {
    let fill = |before: &str, one: &str, behind: &str| {
        let room = 1000 * KIB - before.len() - behind.len();
        format!("{before}{}{behind}", one.repeat(room / one.len()))
    };
    let page = |tools: &str| {
        format!(r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":{tools}}}"#)
    };
    let marked = r#"{"type":"string","x-mcp-header":"A"}"#;
    let deep = |inner: &str, name: usize| {
        let name = "n".repeat(name);
        let mut schema = inner.to_owned();
        for _ in 0..50 {
            schema = format!(r#"{{"properties":{{"{name}":{schema}}}}}"#);
        }
        format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#)
    };
    let many: Vec<String> =
        (0..64).map(|n| format!(r#""{n}":{{"type":"string","x-mcp-header":"A{n}"}}"#)).collect();
    let many = format!(r#"{{"properties":{{{}}}}}"#, many.join(","));
    let tool = format!(r#"{{"name":"t","inputSchema":{{"properties":{{"a":{marked}}}}}}}"#);
    let pages = [
        // A page of nothing, but for one tool that cannot be offered.
        fill(r#"[{"name":"b","inputSchema":{"x-mcp-header":1}}"#, ",{}", "]"),
        fill(r#"[{"name":"b"}"#, r#",{"inputSchema":{"x-mcp-header":1}}"#, "]"),
        deep(
            &fill(r#"{"properties":{"b":{}"#, r#","a":{}"#, r#","c":{"type":"string","x-mcp-header":"A"}}}"#),
            1,
        ),
        deep(&fill(r#"{"x":"\u0000","properties":{"b":{}"#, r#","a":{}"#, "}}"), 1),
        deep(&many, 18_000),
        deep(&many, 60),
        fill(&format!("[{tool}"), &format!(",{tool}"), "]"),
        fill(r#"[{"name":"t","inputSchema":{"x-mcp-header":1,"allOf":[{}"#, ",{}", "]}}]"),
    ];
    for tools in pages {
        let mut limits = tight();
        limits.max_message_bytes = 1 << 20;
        let mut flood = Flood::ready(Revision::V2026_07_28, limits);
        let open = flood.list().unwrap();
        flood.reply(open, &page(&tools));
        flood.take();
        flood.gauge.reached(tools.len());
    }
    // Many tools, each with as much as is kept of one.
    let mut flood = Flood::ready(Revision::V2026_07_28, tight());
    for n in 0..60 {
        let tools = deep(&many, 30).replacen("\"t\"", &format!("\"t{n}\""), 1);
        let open = flood.list().unwrap();
        flood.reply(open, &page(&tools));
        flood.take();
    }
    flood.gauge.reached(1 << 20);
}

/// Calls that are answered by streams which never end: what is left of them passes by, and is not kept.
pub(crate) fn client_answers_whose_rest_never_comes() {
    for revision in ERAS {
        let mut flood = Flood::ready(revision, tight());
        for _ in 0..500 {
            for open in flood.call(10) {
                flood.stream(open);
                let text = format!(
                    "data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":[]}}}}\n\n",
                    open.id
                );
                flood.body(open, text.as_bytes(), BIG);
                flood.take();
            }
        }
        flood.gauge.reached(100 * KIB);
        assert!(flood.gauge.held() < 512 * KIB, "{} bytes of what is over", flood.gauge.held());
    }
}

/// The transport of 2024-11-05: a long address to post to, and messages without an end.
pub(crate) fn client_of_the_oldest_transport() {
    let long = "p".repeat(8000);
    for (address, works) in [(format!("/{long}"), true), (format!("/{}", "p".repeat(BIG - 100)), false)] {
        let mut limits = tight();
        limits.max_in_flight = 200;
        let mut flood = Flood::new(Revision::V2024_11_05, Kind::Sse, limits);
        let stream = flood.open.pop().unwrap();
        flood.stream(stream);
        flood.body(stream, format!("event: endpoint\ndata: {address}\n\n").as_bytes(), 5000);
        let Some(initialize) = flood.open.pop().filter(|_| works) else {
            assert!(!works && flood.client.session().close_reason().is_some());
            continue;
        };
        flood.head(initialize, 202, &[]);
        let result =
            r#"{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"n","version":"1"}}"#;
        let text = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n\n", initialize.id);
        flood.body(stream, text.as_bytes(), BIG);
        let initialized = flood.open.pop().unwrap();
        flood.head(initialized, 202, &[]);
        flood.take();
        let calls = flood.call(10);
        assert_eq!(calls.len(), 200);
        for open in calls {
            flood.head(open, 202, &[]);
        }
        let endless = [&b"data: "[..], &vec![b'x'; 4 * BIG]].concat();
        flood.body(stream, &endless, 5000);
        flood.gauge.reached(BIG);
    }
}
