//! What is counted of that which waits, who gives way, and the end.

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::http::endpoint::EndpointConfig;
use crate::jsonrpc::RawJson;
use crate::mcp::types::log::LogLevel;
use crate::server::Config;

#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Cancel for Flag {
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Tested = Site<Flag, &'static str>;

fn at(seconds: u64) -> Instant {
    Instant::from_millis(seconds * 1000)
}

fn site(change: impl FnOnce(&mut SiteConfig)) -> Tested {
    let mut config = SiteConfig::new(EndpointConfig::new(Config::new("s", "1")));
    config.endpoint.server.capabilities.logging = true;
    change(&mut config);
    let mut site = Tested::new(config, [0; 32], at(0)).expect("usable");
    let mut catalog = Catalog::new();
    catalog.tool(&RawJson::parse_str(r#"{"name":"t"}"#).expect("JSON")).expect("a tool");
    site.set_catalog(catalog);
    site
}

/// A call of 2026-07-28 that wants all that is logged.
fn call() -> String {
    let meta = concat!(
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/logLevel":"debug","#,
        r#""io.modelcontextprotocol/clientCapabilities":{}}"#
    );
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t",{meta}}}}}"#);
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: t\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn read(site: &mut Tested, key: ConnectionKey, text: &str, now: Instant) {
    let mut connection = site.connection(key).expect("it is there");
    assert_eq!(connection.handle_input(text.as_bytes(), now), text.len());
}

/// All that waits on this connection is written.
fn written(site: &mut Tested, key: ConnectionKey, now: Instant) -> String {
    let mut all = String::new();
    let mut connection = site.connection(key).expect("it is there");
    while !connection.transmit().is_empty() {
        let bytes = connection.transmit();
        all += core::str::from_utf8(bytes).expect("text");
        let len = bytes.len();
        connection.handle_written(len, now);
    }
    connection.handle_flushed(now);
    all
}

#[test]
fn what_waits_is_counted_though_nobody_comes_to_write_it() {
    let mut site = site(|config| config.endpoint.max_stream_bytes = 100_000);
    let key = site.welcome(at(0)).expect("room");
    read(&mut site, key, &call(), at(0));
    let (session, asked) = site.next_request().expect("a call");
    let data = RawJson::parse_str(&format!("\"{}\"", "x".repeat(1000))).expect("JSON");
    let notice = Notice::Log { level: LogLevel::Error, logger: None, data };
    let told = (0..1000).take_while(|_| site.notify(session, asked.request, &notice, at(0)).is_ok()).count();
    assert!((100..200).contains(&told), "{told} notices");
    assert_eq!(site.notify(session, asked.request, &notice, at(0)), Err(ApiError::OutboundFull));
    // Once they are written there is room again.
    written(&mut site, key, at(0));
    assert_eq!(site.notify(session, asked.request, &notice, at(0)), Ok(()));
    site.finish(session, asked.request, &Reply::text("done"), at(0));
    assert!(written(&mut site, key, at(0)).contains("done"));
    assert_eq!(site.endpoint().exchanges(), 0);
}

#[test]
fn whoever_rests_gives_way_and_nobody_else() {
    let mut site = site(|config| config.yields_after = Duration::from_secs(5));
    let (first, second, third) = (site.welcome(at(0)), site.welcome(at(1)), site.welcome(at(2)));
    let (first, second, third) = (first.expect("room"), second.expect("room"), third.expect("room"));
    assert_eq!(site.poll_rested(at(4)), None);
    read(&mut site, first, &call(), at(3));
    let mut asked = Vec::new();
    while let Some(key) = site.poll_rested(at(7)) {
        asked.push((key, site.connection(key).expect("it is there").give_way(at(7))));
    }
    assert_eq!(asked, [(first, false), (second, true), (third, true)]);
    for key in [second, third] {
        assert!(site.connection(key).expect("it is there").is_closed());
        site.remove(key, at(7));
    }
    // One that is at a request is looked at again after as long.
    assert_eq!(site.poll_rested(at(11)), None);
    let (session, asked) = site.next_request().expect("a call");
    site.finish(session, asked.request, &Reply::text("done"), at(11));
    written(&mut site, first, at(11));
    assert_eq!(site.poll_rested(at(12)), Some(first));
    assert!(!site.connection(first).expect("it is there").give_way(at(12)), "it was at work a second ago");
    assert_eq!(site.poll_rested(at(15)), None);
    assert_eq!(site.poll_rested(at(16)), Some(first));
    assert!(site.connection(first).expect("it is there").give_way(at(16)));
}

#[test]
fn a_look_for_who_rests_comes_to_an_end_though_none_has_to_rest_at_all() {
    let mut site = site(|config| config.yields_after = Duration::ZERO);
    let key = site.welcome(at(0)).expect("room");
    read(&mut site, key, "POST /mcp HTTP/1.1\r\n", at(0));
    assert_eq!(site.poll_rested(at(0)), Some(key));
    assert!(!site.connection(key).expect("it is there").give_way(at(0)), "it has begun to ask");
    assert_eq!(site.poll_rested(at(0)), None);
    assert_eq!(site.poll_rested(at(1)), Some(key));
}

#[test]
fn a_connection_that_is_taken_out_cancels_what_it_asked() {
    let mut site = site(|_| {});
    let key = site.welcome(at(0)).expect("room");
    read(&mut site, key, &call(), at(0));
    let (session, asked) = site.next_request().expect("a call");
    site.remove(key, at(0));
    assert!(!asked.cancel.0.load(Ordering::Relaxed), "it is told when nothing is locked");
    site.take_over().tell(|_, _| {});
    assert!(asked.cancel.0.load(Ordering::Relaxed));
    site.finish(session, asked.request, &Reply::text("late"), at(0));
    assert_eq!((site.poll_dirty(), site.connections(), site.endpoint().exchanges()), (None, 0, 0));
    assert_eq!(site.poll_timeout(), None);
}

#[test]
fn a_site_ends_when_all_is_answered_or_its_time_is_up() {
    let begin = || {
        let mut site = site(|config| config.endpoint.server.limits.close_flush = Duration::from_secs(1));
        let key = site.welcome(at(0)).expect("room");
        read(&mut site, key, &call(), at(0));
        let (session, asked) = site.next_request().expect("a call");
        site.shutdown(Duration::from_secs(5), at(1));
        assert!(!site.connection(key).expect("it is there").is_closed());
        (site, key, session, asked)
    };
    let (mut site, key, session, asked) = begin();
    site.finish(session, asked.request, &Reply::text("done"), at(2));
    assert!(written(&mut site, key, at(2)).contains("done"));
    // Its client does not end the connection: it has the time to read.
    assert_eq!(site.poll_timeout().map(|at| at.as_micros() / 1_000_000), Some(3));
    site.handle_timeout(at(3));
    assert!(site.connection(key).expect("it is there").is_closed());
    site.remove(key, at(3));
    assert!(site.is_over());

    // Nobody answers: the client is told so when the time of the handlers is up.
    let (mut site, key, _, asked) = begin();
    site.handle_timeout(at(6));
    site.take_over().tell(|_, _| {});
    assert!(asked.cancel.0.load(Ordering::Relaxed));
    written(&mut site, key, at(6));
    site.handle_timeout(at(7));
    assert!(site.connection(key).expect("it is there").is_closed());
    site.remove(key, at(7));
    assert_eq!(site.poll_timeout(), None);
}
