//! Servers of a host that are reached over HTTP.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use futures_lite::future::zip;
use sanswire_smol::host::{CallOutcome, Host, Launch};
use sanswire_smol::sanswire::host::link::Status;
use sanswire_smol::{Ended, HttpTarget, Proxy};

use crate::common::{ANY, Env, LONG, eventually, options, trials};
use crate::host_common::{allowed, builder, call, started, status, text, until};
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};

trials! {
    each: servers_over_http_are_called, h_104_h_226_a_session_that_is_gone_is_opened_anew,
        h_104_without_a_new_session_the_connection_is_lost, h_105_a_call_that_was_lost_is_not_made_again,
        h_104_a_call_that_is_cut_off_is_lost_alone, a_host_over_http_closes_within_its_bound,
        a_host_over_http_is_closed_while_nobody_answers, a_host_that_goes_closes_its_connections,
        h_104_a_server_that_goes_away_and_comes_back_is_called_again, one_that_floods_costs_the_others_nothing;
    once: nobody_listens_at_its_address
}

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

fn hello(_: &Request, answer: &mut Answer<'_>) {
    answer.result(&says("hello"));
}

fn launch(peer: &Peer) -> Launch {
    Launch::http(peer.target(), options())
}

async fn host(env: &Env, peer: &Peer) -> Host {
    let host = started(builder(env).server("it", allowed(), launch(peer))).await;
    assert_eq!(status(&host, "it"), Status::Connected, "{:?}", host.state("it").unwrap().error);
    host
}

async fn servers_over_http_are_called(env: Env) {
    let (old, new) = (legacy(lists(hello)), modern(lists(hello)));
    let host = builder(&env).server("old", allowed(), launch(&old)).server("new", allowed(), launch(&new));
    let host = started(host).await;
    for server in ["old", "new"] {
        for n in 0..10 {
            assert_eq!(text(call(&host, server, "any", &format!(r#"{{"n":{n}}}"#)).await), "hello");
        }
    }
    let exits = host.close().await;
    assert_eq!(exits.len(), 2);
    assert!(exits.iter().all(|(_, exit)| exit.ended == Ended::NotAProcess));
    assert_eq!(old.requests().last().unwrap().verb, "DELETE");
}

async fn h_104_h_226_a_session_that_is_gone_is_opened_anew(env: Env) {
    // H-226
    let gone = Arc::new(AtomicBool::new(false));
    let forgets = Arc::clone(&gone);
    let peer = legacy(lists(move |_, answer| match forgets.swap(false, Ordering::Relaxed) {
        true => answer.status(404),
        false => answer.result(&says("hello")),
    }));
    let host = host(&env, &peer).await;
    assert_eq!(text(call(&host, "it", "any", r#"{"n":1}"#).await), "hello");
    gone.store(true, Ordering::Relaxed);
    let lost = call(&host, "it", "any", r#"{"n":2}"#).await;
    assert!(matches!(lost, CallOutcome::Disconnected { maybe_ran: false }), "{lost:?}");
    assert_eq!(text(call(&host, "it", "any", r#"{"n":3}"#).await), "hello");
    // By the connection itself, or by the one that the host opens in its place.
    assert!(peer.count("initialize") >= 2);
    assert_eq!(peer.count("tools/call"), 3, "none is made twice");
    eventually("what it offers is read anew", || peer.count("tools/list") == 2).await;
}

async fn h_104_without_a_new_session_the_connection_is_lost(env: Env) {
    // H-104
    let gone = Arc::new(AtomicBool::new(false));
    let forgets = Arc::clone(&gone);
    let greets = lists(hello);
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
            _ => greets(request, answer),
        }
    });
    let host = host(&env, &peer).await;
    gone.store(true, Ordering::Relaxed);
    let lost = call(&host, "it", "any", "{}").await;
    assert!(matches!(lost, CallOutcome::Disconnected { .. }), "{lost:?}");
    until(&host, "it", Status::Unavailable).await;
    gone.store(false, Ordering::Relaxed);
    assert!(host.reconnect("it"));
    until(&host, "it", Status::Connected).await;
    assert_eq!(text(call(&host, "it", "any", "{}").await), "hello");
}

async fn h_105_a_call_that_was_lost_is_not_made_again(env: Env) {
    // H-105
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let peer = modern(lists(move |_, answer| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => answer.close(),
        _ => answer.result(&says("hello")),
    }));
    let host = host(&env, &peer).await;
    let lost = call(&host, "it", "any", "{}").await;
    assert!(matches!(lost, CallOutcome::Disconnected { maybe_ran: true }), "{lost:?}");
    assert_eq!(text(call(&host, "it", "any", "{}").await), "hello");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

async fn h_104_a_call_that_is_cut_off_is_lost_alone(env: Env) {
    // H-104
    for old in [true, false] {
        let held = Arc::new(AtomicBool::new(false));
        let holds = Arc::clone(&held);
        let (release, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let script = lists(move |request: &Request, answer: &mut Answer<'_>| match () {
            () if request.body.contains("cut") => answer.close(),
            () if request.body.contains("slow") => {
                holds.store(true, Ordering::SeqCst);
                wait.lock().unwrap().recv().unwrap();
                answer.result(&says("slow"));
            }
            () => answer.result(&says("hello")),
        });
        let peer = if old { legacy(script) } else { modern(script) };
        let host = host(&env, &peer).await;
        let opened = peer.requests().len();
        let others = async {
            eventually("it is asked", || held.load(Ordering::SeqCst)).await;
            for n in 0..3 {
                let lost = call(&host, "it", "any", &format!(r#"{{"how":"cut","n":{n}}}"#)).await;
                assert!(matches!(lost, CallOutcome::Disconnected { maybe_ran: true }), "{lost:?}");
                assert_eq!(status(&host, "it"), Status::Connected);
                assert_eq!(text(call(&host, "it", "any", &format!(r#"{{"n":{n}}}"#)).await), "hello");
            }
            release.send(()).unwrap();
        };
        let (slow, ()) = zip(call(&host, "it", "any", r#"{"how":"slow"}"#), others).await;
        assert_eq!(text(slow), "slow", "what else is open goes on");
        let since = peer.requests();
        assert!(since[opened..].iter().all(|one| one.is("tools/call")), "nothing is opened anew");
    }
}

/// Holds every call until its client is gone.
fn holds() -> (Peer, Arc<AtomicBool>) {
    let held = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&held);
    let peer = legacy(lists(move |_, answer| {
        tell.store(true, Ordering::SeqCst);
        answer.wait_for_the_end();
    }));
    (peer, held)
}

async fn a_host_over_http_closes_within_its_bound(env: Env) {
    let (peer, held) = holds();
    let host = builder(&env).server("it", allowed(), launch(&peer)).shutdown_total(Duration::from_secs(2));
    let host = started(host).await;
    let closes = async {
        eventually("it is asked", || held.load(Ordering::SeqCst)).await;
        host.close().await
    };
    let (open, exits) = zip(call(&host, "it", "any", "{}"), closes).await;
    assert_eq!((open.as_str(), exits.len()), ("cancelled", 1));
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn a_host_over_http_is_closed_while_nobody_answers(env: Env) {
    let asked = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&asked);
    let peer = Peer::start(move |_, answer| {
        tell.store(true, Ordering::SeqCst);
        answer.wait_for_the_end();
    });
    let mut patient = allowed();
    patient.connect_timeout = Some(LONG * 10);
    let host = builder(&env).shutdown_total(LONG * 10).server("it", patient, launch(&peer)).open().unwrap();
    eventually("it is asked", || asked.load(Ordering::SeqCst)).await;
    let exits = host.close().await;
    assert!(exits.iter().all(|(_, exit)| exit.ended == Ended::NotAProcess), "{exits:?}");
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn a_host_that_goes_closes_its_connections(env: Env) {
    let (peer, held) = holds();
    let host = host(&env, &peer).await;
    let mut open = Box::pin(call(&host, "it", "any", "{}"));
    assert!(futures_lite::future::poll_once(&mut open).await.is_none());
    eventually("it is asked", || held.load(Ordering::SeqCst)).await;
    drop(open);
    drop(host);
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn nobody_listens_at_its_address() {
    let address = crate::common::NOBODY;
    let target = HttpTarget::new(&format!("http://{address}/mcp")).unwrap();
    let host = started(builder(&ANY).server("it", allowed(), Launch::http(target, options()))).await;
    let state = host.state("it").unwrap();
    assert_eq!((state.transport, state.status == Status::Connected), ("http", false));
    let error = state.error.unwrap();
    assert!(error.contains(&address.to_string()), "{error}");
}

/// A place in front of a server that nobody listens at while it is away.
struct Place {
    address: SocketAddr,
    here: Arc<AtomicBool>,
    is_here: Arc<AtomicBool>,
}

impl Place {
    fn before(peer: &Peer) -> Self {
        let to = SocketAddr::from(([127, 0, 0, 1], peer.target().target.url.authority().port));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (here, is_here) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(true)));
        let (wanted, told) = (Arc::downgrade(&here), Arc::clone(&is_here));
        std::thread::spawn(move || {
            let (mut listener, mut open) = (Some(listener), Vec::new());
            while let Some(wanted) = wanted.upgrade() {
                if wanted.load(Ordering::SeqCst) && listener.is_none() {
                    listener = TcpListener::bind(address).ok();
                } else if !wanted.load(Ordering::SeqCst) {
                    listener = None;
                    for end in open.drain(..) {
                        let _ = TcpStream::shutdown(&end, Shutdown::Both);
                    }
                }
                told.store(listener.is_some(), Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(1));
                let Some(listener) = &listener else { continue };
                listener.set_nonblocking(true).unwrap();
                if let Ok((client, _)) = listener.accept() {
                    client.set_nonblocking(false).unwrap();
                    let server = TcpStream::connect(to).unwrap();
                    open.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                    let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
                    std::thread::spawn(move || pass(back.0, back.1));
                    std::thread::spawn(move || pass(client, server));
                }
            }
        });
        Self { address, here, is_here }
    }

    fn launch(&self) -> Launch {
        let mut target = HttpTarget::new(&format!("http://{}/mcp", self.address)).unwrap();
        target.proxy = Proxy::Direct;
        Launch::http(target, options())
    }

    async fn be(&self, here: bool) {
        self.here.store(here, Ordering::SeqCst);
        eventually("it comes or goes", || self.is_here.load(Ordering::SeqCst) == here).await;
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

async fn h_104_a_server_that_goes_away_and_comes_back_is_called_again(env: Env) {
    // H-104
    for old in [true, false] {
        let peer = if old { legacy(lists(hello)) } else { modern(lists(hello)) };
        let place = Place::before(&peer);
        let host = started(builder(&env).server("it", allowed(), place.launch())).await;
        let mut complete = 1;
        assert_eq!(text(call(&host, "it", "any", "{}").await), "hello");
        for round in 0..3 {
            place.be(false).await;
            for n in 0..2 {
                let lost = call(&host, "it", "any", &format!(r#"{{"away":{round},"n":{n}}}"#)).await;
                assert!(!matches!(lost, CallOutcome::Completed(_)), "{lost:?}");
            }
            place.be(true).await;
            // The host may have given it up meanwhile; a person has it tried anew then.
            for n in 0.. {
                match call(&host, "it", "any", &format!(r#"{{"back":{round},"n":{n}}}"#)).await {
                    CallOutcome::Completed(_) => break,
                    _ => _ = host.reconnect("it"),
                }
                async_io::Timer::after(Duration::from_millis(5)).await;
            }
            complete += 1;
        }
        assert_eq!(peer.count("tools/call"), complete, "what is lost is not made later");
        host.close().await;
        eventually("the end of all connections", || peer.ended() == peer.connections()).await;
    }
}

async fn one_that_floods_costs_the_others_nothing(env: Env) {
    let floods = legacy(|request, answer| match (&*request.verb, request.method()) {
        ("GET", _) => {
            answer.stream();
            let event =
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n".repeat(10);
            while !answer.has_ended() {
                answer.raw(format!("{:x}\r\n{event}\r\n", event.len()));
            }
        }
        (_, "tools/list") => answer.result(TOOLS),
        _ => hello(request, answer),
    });
    let good = modern(lists(hello));
    let host =
        builder(&env).server("floods", allowed(), launch(&floods)).server("good", allowed(), launch(&good));
    let host = started(host).await;
    for n in 0..10 {
        for server in ["good", "floods"] {
            assert_eq!(text(call(&host, server, "any", &format!(r#"{{"n":{n}}}"#)).await), "hello");
        }
    }
    eventually("it is listed anew", || floods.count("tools/list") > 1).await;
    host.close().await;
    eventually("the end of all connections", || floods.ended() == floods.connections()).await;
}
