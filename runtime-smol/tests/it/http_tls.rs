//! Servers behind https: scripted ones, with TLS in front of them that is made of the same library.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::{CertificateFault, Client, DialFault, HttpTarget, Proxy, ProxyAddress, TlsFault};

use crate::common::{Env, begin, eventually, options, outcome, text_of, tool, trials};
use crate::http_dial::{target, unreachable};
use crate::http_script::{Peer, modern, says};
use crate::tls_front::{before, front, pem, relay, without_length};

trials!(
    each:
        calls_under_tls,
        big_messages_under_tls,
        a_call_under_tls_by_way_of_a_proxy_under_tls;
    once:
        certificates_that_are_not_accepted,
        a_server_that_wants_to_see_a_certificate,
        a_server_that_says_nothing_is_given_up,
        an_answer_that_is_cut_short_is_none,
);

pub(crate) fn echoing() -> Peer {
    modern(|request, answer| {
        let said = request
            .body
            .split("\"say\":\"")
            .nth(1)
            .map_or("hello", |rest| rest.split('"').next().unwrap_or_default());
        answer.result(&says(said));
    })
}

pub(crate) fn address_of(peer: &Peer) -> SocketAddr {
    ([127, 0, 0, 1], peer.target().target.url.authority().port).into()
}

pub(crate) fn trusting(address: SocketAddr) -> HttpTarget {
    let mut target = target(&format!("https://localhost:{}/mcp", address.port()));
    target.ca_file = Some(pem("ca.pem"));
    target
}

async fn calls_under_tls(env: Env) {
    let peer = echoing();
    let target = trusting(before(address_of(&peer), "server.pem", false));
    let client = Client::connect_http(&target, env.options()).await.unwrap();
    for _ in 0..20 {
        assert_eq!(tool(&client, "any", "{}").await, "hello");
    }
    assert_eq!(peer.connections(), 1);
    let calls: Vec<_> = (0..10).map(|n| begin(&client, "any", &format!(r#"{{"say":"{n}"}}"#))).collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(text_of(call.await), n.to_string());
    }
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn big_messages_under_tls(env: Env) {
    let peer = echoing();
    let target = trusting(before(address_of(&peer), "server.pem", false));
    let client = Client::connect_http(&target, env.options()).await.unwrap();
    let text = "x".repeat(2_000_000);
    for _ in 0..2 {
        assert_eq!(tool(&client, "any", &format!(r#"{{"say":"{text}"}}"#)).await, text);
    }
    client.close().await;
}

async fn a_call_under_tls_by_way_of_a_proxy_under_tls(env: Env) {
    let peer = echoing();
    let address = before(address_of(&peer), "server.pem", false);
    let proxy = front("server.pem", false, move |mut stream| {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"CONNECT localhost:"));
        stream.write_all(b"HTTP/1.1 200 .\r\n\r\n").unwrap();
        relay(stream, TcpStream::connect(address).unwrap());
    });
    let mut target = trusting(address);
    target.proxy = Proxy::At(ProxyAddress::parse(&format!("https://localhost:{}", proxy.port())).unwrap());
    let client = Client::connect_http(&target, env.options()).await.unwrap();
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    client.close().await;
    eventually("the end of all connections", || peer.ended() == peer.connections()).await;
}

async fn certificates_that_are_not_accepted() {
    let peer = echoing();
    for (certificate, expected, word) in [
        ("expired.pem", CertificateFault::Expired, "its certificate has expired"),
        ("self.pem", CertificateFault::UnknownIssuer, "ca_file"),
    ] {
        let (fault, text) = unreachable(&trusting(before(address_of(&peer), certificate, false))).await;
        let DialFault::Tls(TlsFault::Certificate(fault)) = fault else { panic!("{fault:?}") };
        assert_eq!(fault, expected);
        assert!(text.contains(word), "{text}");
    }
    // One that speaks no TLS itself.
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut socket = plain.accept().unwrap().0;
        let _ = socket.read(&mut [0; 1024]);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let (fault, text) = unreachable(&target(&format!("https://{address}/mcp"))).await;
    assert!(matches!(fault, DialFault::Tls(TlsFault::NotTls)), "{fault:?}");
    assert!(text.contains("use an address with http"), "{text}");
}

async fn a_server_that_wants_to_see_a_certificate() {
    let peer = echoing();
    let mut target = trusting(before(address_of(&peer), "server.pem", true));
    // It says so after the negotiation.
    let (fault, text) = unreachable(&target).await;
    assert!(matches!(fault, DialFault::Tls(TlsFault::ClientCertificate { shown: false })), "{fault:?}");
    assert!(text.contains("name one, with its key"), "{text}");
    target.client_certificate = Some((pem("client.pem"), pem("client.key")));
    let client = Client::connect_http(&target, options()).await.unwrap();
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    client.close().await;
}

async fn a_server_that_says_nothing_is_given_up() {
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = options();
    options.config.limits.connect = Duration::from_millis(300);
    let error = Client::connect_http(&trusting(mute.local_addr().unwrap()), options).await.unwrap_err();
    assert!(error.to_string().contains("TLS"), "{error}");
}

async fn an_answer_that_is_cut_short_is_none() {
    for says in [true, false] {
        let client = Client::connect_http(&trusting(without_length(says)), options()).await.unwrap();
        let outcome = outcome(&client, "any", "{}").await;
        assert_eq!(matches!(outcome, Outcome::Complete(_)), says, "{outcome:?}");
        assert_eq!(matches!(outcome, Outcome::Lost { maybe_ran: true }), !says, "{outcome:?}");
        client.close().await;
    }
}
