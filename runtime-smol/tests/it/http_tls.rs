//! Servers behind https: scripted ones, with TLS in front of them that is made of the same library.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::{CertificateFault, Client, DialFault, HttpTarget, Proxy, ProxyAddress, TlsFault};

use crate::common::{Env, begin, eventually, options, outcome, text_of, tool, trials};
use crate::http_dial::{target, unreachable};
use crate::http_script::{Peer, modern, says};

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

pub(crate) type Stream = StreamOwned<ServerConnection, TcpStream>;

fn pem(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../runtime-std/tests/pem").join(file)
}

/// A listener under TLS that shows `certificate`; each connection is `work`'s.
pub(crate) fn front(
    certificate: &str,
    wants_client: bool,
    work: impl Fn(Stream) + Send + Sync + 'static,
) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if wants_client {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(pem("ca.pem")).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from_pem_file(pem(certificate)).unwrap()];
    let config = builder.with_single_cert(chain, PrivateKeyDer::from_pem_file(pem("server.key")).unwrap());
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let work = Arc::new(work);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            socket.set_nodelay(true).unwrap();
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let work = Arc::clone(&work);
            std::thread::spawn(move || {
                let mut stream = Stream::new(tls, socket);
                if stream.conn.complete_io(&mut stream.sock).is_ok() {
                    work(stream);
                }
            });
        }
    });
    address
}

/// TLS in front of a server.
pub(crate) fn before(to: SocketAddr, certificate: &str, wants_client: bool) -> SocketAddr {
    front(certificate, wants_client, move |stream| relay(stream, TcpStream::connect(to).unwrap()))
}

/// Copies both ways until one of them ends.
fn relay(mut outer: Stream, mut inner: TcpStream) {
    outer.sock.set_nonblocking(true).unwrap();
    inner.set_nonblocking(true).unwrap();
    let mut room = vec![0; 16 * 1024];
    loop {
        let moved = copy(&mut outer, &mut inner, &mut room)
            .and_then(|forth| copy(&mut inner, &mut outer, &mut room).map(|back| forth || back));
        match moved {
            Some(true) => {}
            Some(false) => std::thread::sleep(Duration::from_micros(200)),
            None => break,
        }
    }
    outer.conn.send_close_notify();
    let _ = outer.flush();
}

/// One read, and all of it written. Whether there was anything; `None` at the end.
fn copy(from: &mut impl Read, to: &mut impl Write, room: &mut [u8]) -> Option<bool> {
    let len = match from.read(room) {
        Ok(0) => return None,
        Ok(len) => len,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(_) => return None,
    };
    let mut rest = &room[..len];
    let mut flushed = false;
    while !rest.is_empty() || !flushed {
        let done = if rest.is_empty() {
            to.flush().map(|()| flushed = true)
        } else {
            to.write(rest).map(|len| rest = &rest[len..])
        };
        match done {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(_) => return None,
        }
    }
    Some(len > 0)
}

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
    const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
    // Answers that go on to the end of the connection, with or without TLS' own word for it.
    for is_said in [true, false] {
        let address = front("server.pem", false, move |mut stream| {
            let (mut request, mut room) = (Vec::new(), [0; 4096]);
            // Its body ends with the last brace of all.
            while !request.ends_with(b"}}") {
                match stream.read(&mut room) {
                    Ok(len @ 1..) => request.extend_from_slice(&room[..len]),
                    _ => return,
                }
            }
            let request = String::from_utf8(request).unwrap();
            let id = request.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap();
            let discovers = request.contains("server/discover");
            let result = if discovers { DISCOVERED.to_owned() } else { says("whole") };
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
            let head = "HTTP/1.1 200 .\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
            if is_said || discovers {
                stream.conn.send_close_notify();
            }
            let _ = stream.flush();
        });
        let client = Client::connect_http(&trusting(address), options()).await.unwrap();
        let outcome = outcome(&client, "any", "{}").await;
        assert_eq!(matches!(outcome, Outcome::Complete(_)), is_said, "{outcome:?}");
        assert_eq!(matches!(outcome, Outcome::Lost { maybe_ran: true }), !is_said, "{outcome:?}");
        client.close().await;
    }
}
