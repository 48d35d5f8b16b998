//! Servers behind https: a real one, with TLS in front of it that is made of the same library.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use sanswire_std::sanswire::client::Outcome;
use sanswire_std::{CertificateFault, Client, DialFault, HttpTarget, TlsFault};

use crate::common::{options, outcome, trials};
use crate::http_dial::{echoes, target, unreachable};
use crate::http_peer::Site;

trials!(
    a_call_under_tls,
    big_messages_under_tls,
    certificates_that_are_not_accepted,
    a_server_that_wants_to_see_a_certificate,
    an_answer_that_is_cut_short_is_none,
);

type Stream = StreamOwned<ServerConnection, TcpStream>;

fn pem(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pem").join(file)
}

/// A listener under TLS that shows `certificate`; each connection is `work`'s.
fn front(certificate: &str, wants_client: bool, work: impl Fn(Stream) + Send + Sync + 'static) -> SocketAddr {
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
fn before(site: &Site, certificate: &str, wants_client: bool) -> SocketAddr {
    let to = site.address;
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

fn trusting(address: SocketAddr) -> HttpTarget {
    let mut target = target(&format!("https://localhost:{}/mcp", address.port()));
    target.ca_file = Some(pem("ca.pem"));
    target
}

fn a_call_under_tls() {
    let site = Site::start(&[]);
    let address = before(&site, "server.pem", false);
    for host in ["localhost", "127.0.0.1"] {
        let mut target = target(&format!("https://{host}:{}/mcp", address.port()));
        target.ca_file = Some(pem("ca.pem"));
        let client = Client::connect_http(&target, options()).unwrap();
        for _ in 0..20 {
            echoes(&client);
        }
        client.close();
    }
    site.stop();
}

fn big_messages_under_tls() {
    let site = Site::start(&[]);
    let client = Client::connect_http(&trusting(before(&site, "server.pem", false)), options()).unwrap();
    let text = "x".repeat(2_000_000);
    for _ in 0..2 {
        let outcome = outcome(&client, "echo", &format!(r#"{{"text":"{text}"}}"#));
        let Outcome::Complete(result) = outcome else { panic!("{outcome:?}") };
        assert!(result.as_str().contains(&text));
    }
    client.close();
    site.stop();
}

fn certificates_that_are_not_accepted() {
    let site = Site::start(&[]);
    for (certificate, expected, word) in [
        ("expired.pem", CertificateFault::Expired, "its certificate has expired"),
        ("self.pem", CertificateFault::UnknownIssuer, "ca_file"),
    ] {
        let (fault, text) = unreachable(&trusting(before(&site, certificate, false)));
        let DialFault::Tls(TlsFault::Certificate(fault)) = fault else { panic!("{fault:?}") };
        assert_eq!(fault, expected);
        assert!(text.contains(word), "{text}");
    }
    // It speaks no TLS itself.
    let (fault, text) = unreachable(&target(&format!("https://{}/mcp", site.address)));
    assert!(matches!(fault, DialFault::Tls(TlsFault::NotTls)), "{fault:?}");
    assert!(text.contains("use an address with http"), "{text}");
    site.stop();
}

fn a_server_that_wants_to_see_a_certificate() {
    let site = Site::start(&[]);
    let mut target = trusting(before(&site, "server.pem", true));
    // It says so after the negotiation.
    let (fault, text) = unreachable(&target);
    assert!(matches!(fault, DialFault::Tls(TlsFault::ClientCertificate { shown: false })), "{fault:?}");
    assert!(text.contains("name one, with its key"), "{text}");
    target.client_certificate = Some((pem("client.pem"), pem("client.key")));
    let client = Client::connect_http(&target, options()).unwrap();
    echoes(&client);
    client.close();
    site.stop();
}

fn an_answer_that_is_cut_short_is_none() {
    const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
    // Answers that go on to the end of the connection, with or without TLS' own word for it.
    for says in [true, false] {
        let address = front("server.pem", false, move |mut stream| {
            let request = request(&mut stream);
            let id = request.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap();
            let discovers = request.contains("server/discover");
            let result = if discovers {
                DISCOVERED
            } else {
                r#"{"resultType":"complete","content":[{"type":"text","text":"whole"}]}"#
            };
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
            let head = "HTTP/1.1 200 .\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
            if says || discovers {
                stream.conn.send_close_notify();
            }
            let _ = stream.flush();
        });
        let client = Client::connect_http(&trusting(address), options()).unwrap();
        let outcome = outcome(&client, "any", "{}");
        assert_eq!(matches!(outcome, Outcome::Complete(_)), says, "{outcome:?}");
        assert_eq!(matches!(outcome, Outcome::Lost { maybe_ran: true }), !says, "{outcome:?}");
        client.close();
    }
}

/// A request with its body.
fn request(stream: &mut Stream) -> String {
    let (mut request, mut room) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut room) {
            Ok(len @ 1..) => request.extend_from_slice(&room[..len]),
            _ => return String::from_utf8_lossy(&request).into_owned(),
        }
    }
}
