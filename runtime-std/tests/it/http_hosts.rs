//! Servers of a host that are reached over HTTP.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use sanswire_std::Ended;
use sanswire_std::host::{CallOutcome, Host, Launch};
use sanswire_std::sanswire::host::link::Status;

use crate::common::{LONG, eventually, options, trials, within};
use crate::host_common::{allowed, builder, call, status, text, until};
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};

trials!(
    servers_over_http_are_called,
    h_104_h_226_a_session_that_is_gone_is_opened_anew,
    h_104_without_a_new_session_the_connection_is_lost,
    h_105_a_call_that_was_lost_is_not_made_again,
    h_104_a_call_that_is_cut_off_is_lost_alone,
    a_host_over_http_closes_within_its_bound,
    nobody_listens_at_its_address,
);

const TOOLS: &str = r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"any","inputSchema":{"type":"object"}}]}"#;

/// Lists one tool, refuses streams, and leaves the rest to `script`.
fn lists(
    script: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static,
) -> impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static {
    move |request, answer| match (&*request.verb, request.method()) {
        ("GET", _) => answer.status(405),
        (_, "tools/list") => answer.result(TOOLS),
        _ => script(request, answer),
    }
}

fn launch(peer: &Peer) -> Launch {
    Launch::http(peer.target(), options())
}

fn host(peer: &Peer) -> Host {
    let host = builder().server("it", allowed(), launch(peer)).open().unwrap();
    assert!(host.wait_started(LONG));
    assert_eq!(status(&host, "it"), Status::Connected, "{:?}", host.state("it").unwrap().error);
    host
}

fn servers_over_http_are_called() {
    let hello = |_: &Request, answer: &mut Answer<'_>| answer.result(&says("hello"));
    let (old, new) = (legacy(lists(hello)), modern(lists(hello)));
    let host = builder()
        .server("old", allowed(), launch(&old))
        .server("new", allowed(), launch(&new))
        .open()
        .unwrap();
    assert!(host.wait_started(LONG));
    for server in ["old", "new"] {
        for n in 0..10 {
            assert_eq!(text(call(&host, server, "any", &format!(r#"{{"n":{n}}}"#))), "hello");
        }
    }
    let exits = host.close();
    assert_eq!(exits.len(), 2);
    assert!(exits.iter().all(|(_, exit)| exit.ended == Ended::NotAProcess));
    assert_eq!(old.requests().last().unwrap().verb, "DELETE");
}

fn h_104_h_226_a_session_that_is_gone_is_opened_anew() {
    // H-226
    let gone = Arc::new(AtomicBool::new(false));
    let forgets = Arc::clone(&gone);
    let peer = legacy(lists(move |_, answer| match forgets.swap(false, Ordering::Relaxed) {
        true => answer.status(404),
        false => answer.result(&says("hello")),
    }));
    let host = host(&peer);
    assert_eq!(text(call(&host, "it", "any", r#"{"n":1}"#)), "hello");
    gone.store(true, Ordering::Relaxed);
    let lost = call(&host, "it", "any", r#"{"n":2}"#);
    assert!(matches!(lost, CallOutcome::Disconnected { maybe_ran: false }), "{lost:?}");
    assert_eq!(text(call(&host, "it", "any", r#"{"n":3}"#)), "hello");
    // By the connection itself, or by the one that the host opens in its place.
    assert!(peer.count("initialize") >= 2);
    assert_eq!(peer.count("tools/call"), 3, "none is made twice");
}

fn h_104_without_a_new_session_the_connection_is_lost() {
    // H-104
    let gone = Arc::new(AtomicBool::new(false));
    let forgets = Arc::clone(&gone);
    let hello = lists(|_, answer| answer.result(&says("hello")));
    let peer = Peer::start(move |request, answer| {
        let gone = forgets.load(Ordering::Relaxed);
        match (&*request.verb, request.method()) {
            ("POST", "server/discover") => answer.status(400),
            ("POST", "initialize") if gone => answer.status(503),
            ("POST", "initialize") => {
                let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}"#;
                let message = answer.reply(result);
                answer.json(200, "Mcp-Session-Id: a\r\n", &message);
            }
            ("POST", method) if method.starts_with("notifications/") => answer.status(202),
            ("POST", _) if gone => answer.status(404),
            _ => hello(request, answer),
        }
    });
    let host = host(&peer);
    gone.store(true, Ordering::Relaxed);
    let lost = call(&host, "it", "any", "{}");
    assert!(matches!(lost, CallOutcome::Disconnected { .. }), "{lost:?}");
    until(&host, "it", Status::Unavailable);
    gone.store(false, Ordering::Relaxed);
    assert!(host.reconnect("it"));
    until(&host, "it", Status::Connected);
    assert_eq!(text(call(&host, "it", "any", "{}")), "hello");
}

fn h_105_a_call_that_was_lost_is_not_made_again() {
    // H-105
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let peer = modern(lists(move |_, answer| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => answer.close(),
        _ => answer.result(&says("hello")),
    }));
    let host = host(&peer);
    let lost = call(&host, "it", "any", "{}");
    assert!(matches!(lost, CallOutcome::Disconnected { maybe_ran: true }), "{lost:?}");
    assert_eq!(text(call(&host, "it", "any", "{}")), "hello");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

fn h_104_a_call_that_is_cut_off_is_lost_alone() {
    // H-104
    for old in [true, false] {
        let (tell, told) = mpsc::channel();
        let (release, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let script = lists(move |request: &Request, answer: &mut Answer<'_>| match () {
            () if request.body.contains("cut") => answer.close(),
            () if request.body.contains("slow") => {
                tell.send(()).unwrap();
                wait.lock().unwrap().recv().unwrap();
                answer.result(&says("slow"));
            }
            () => answer.result(&says("hello")),
        });
        let peer = if old { legacy(script) } else { modern(script) };
        let host = host(&peer);
        let opened = peer.requests().len();
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| text(call(&host, "it", "any", r#"{"how":"slow"}"#)));
            told.recv_timeout(LONG).unwrap();
            for n in 0..3 {
                let lost = call(&host, "it", "any", &format!(r#"{{"how":"cut","n":{n}}}"#));
                assert!(matches!(lost, CallOutcome::Disconnected { maybe_ran: true }), "{lost:?}");
                assert_eq!(status(&host, "it"), Status::Connected);
                let hello = call(&host, "it", "any", &format!(r#"{{"n":{n}}}"#));
                assert_eq!(text(hello), "hello");
            }
            release.send(()).unwrap();
            assert_eq!(slow.join().unwrap(), "slow", "what else is open goes on");
        });
        let since = peer.requests();
        assert!(since[opened..].iter().all(|one| one.is("tools/call")), "nothing is opened anew");
    }
}

fn a_host_over_http_closes_within_its_bound() {
    let (tell, told) = mpsc::channel();
    let peer = legacy(lists(move |_, answer| {
        let _ = tell.send(());
        answer.wait_for_the_end();
    }));
    let peer = Arc::new(peer);
    let host = builder()
        .server("it", allowed(), launch(&peer))
        .shutdown_total(Duration::from_secs(2))
        .open()
        .unwrap();
    assert!(host.wait_started(LONG));
    let calling = host.clone();
    let open = std::thread::spawn(move || call(&calling, "it", "any", "{}"));
    told.recv_timeout(LONG).unwrap();
    within(LONG, || host.close());
    assert!(!matches!(open.join().unwrap(), CallOutcome::Completed(_)));
    eventually("the end of all connections", || peer.ended() == peer.connections());
}

fn nobody_listens_at_its_address() {
    let address = crate::common::NOBODY;
    let target = sanswire_std::HttpTarget::new(&format!("http://{address}/mcp")).unwrap();
    let host = builder().server("it", allowed(), Launch::http(target, options())).open().unwrap();
    assert!(host.wait_started(LONG));
    let state = host.state("it").unwrap();
    assert_ne!(state.status, Status::Connected);
    let error = state.error.unwrap();
    assert!(error.contains(&address.to_string()), "{error}");
}
