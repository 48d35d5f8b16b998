//! Under TLS, with a server that is made of the same library.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use sanswire_system::{CertificateFault, DialStep, TlsFault};

use super::*;

pub(super) type Stream = StreamOwned<ServerConnection, TcpStream>;

fn pem(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pem").join(file)
}

/// What a server shows, which version it speaks, and whether it wants to see a certificate.
pub(super) struct Shows {
    certificate: &'static str,
    only_12: bool,
    wants_client: bool,
}

pub(super) const SHOWS: Shows = Shows { certificate: "server.pem", only_12: false, wants_client: false };

pub(super) fn config(shows: &Shows) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = if shows.only_12 { [&TLS12] } else { [&TLS13] };
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&versions).unwrap();
    let chain = vec![CertificateDer::from_pem_file(pem(shows.certificate)).unwrap()];
    let key = PrivateKeyDer::from_pem_file(pem("server.key")).unwrap();
    let builder = if shows.wants_client {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(pem("ca.pem")).unwrap()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

/// A server for one connection under TLS.
pub(super) fn serve_tls(
    shows: &Shows,
    work: impl FnOnce(Stream) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let config = config(shows);
    serve(move |socket| {
        socket.set_nodelay(true).unwrap();
        work(StreamOwned::new(ServerConnection::new(config).unwrap(), socket));
    })
}

pub(super) fn trusting(ca: Option<&str>, client: Option<(&str, &str)>) -> Dialer {
    let client = client.map(|(chain, key)| (pem(chain), pem(key)));
    Dialer { trust: Trust::new(ca.map(pem), client), ..dialer() }
}

fn call(dialer: &Dialer, host: &str, address: SocketAddr) -> Result<Wire, DialFault> {
    dial(dialer, &to(Scheme::Https, host, address.port()))
}

fn read_to_end(wire: &mut Wire) -> Vec<u8> {
    exchange(wire, b"", 4096, usize::MAX)
}

/// Why a server with this certificate is not accepted.
fn refused(certificate: &'static str, ca: Option<&str>) -> CertificateFault {
    let (address, server) = serve_tls(&Shows { certificate, ..SHOWS }, echo);
    let fault = call(&trusting(ca, None), "localhost", address).unwrap_err();
    server.join().unwrap();
    match fault {
        DialFault::Tls(TlsFault::Certificate(fault)) => fault,
        other => panic!("{certificate}: {other:?}"),
    }
}

#[test]
fn bytes_go_both_ways() {
    let sent: Vec<u8> = (0..3_000_000u32).map(|n| ((n * 31) >> 8) as u8).collect();
    for (only_12, room) in [(false, 64 * 1024), (false, 1000), (true, 200_000)] {
        let (address, server) = serve_tls(&Shows { only_12, ..SHOWS }, echo);
        let mut wire = call(&trusting(Some("ca.pem"), None), "localhost", address).unwrap();
        let how = wire.take_how().unwrap();
        let tls = how.tls.unwrap();
        assert_eq!((how.address, tls.version), (address, if only_12 { "TLS 1.2" } else { "TLS 1.3" }));
        assert!(!tls.suite.is_empty() && !tls.shown && how.proxy.is_none() && tls.negotiated <= how.took);
        assert!(exchange(&mut wire, &sent, room, sent.len()) == sent);
        assert!(!wire.is_cut() && wire.take_fault().is_none());
        wire.shutdown();
        server.join().unwrap();
    }
}

#[test]
fn the_server_is_told_its_name_and_the_protocol() {
    let (tell, told) = mpsc::channel();
    for host in ["localhost", "localhost.", "127.0.0.1"] {
        let tell = tell.clone();
        let (address, server) = serve_tls(&SHOWS, move |mut stream| {
            stream.conn.complete_io(&mut stream.sock).unwrap();
            tell.send((
                stream.conn.server_name().map(String::from),
                stream.conn.alpn_protocol().map(Vec::from),
            ))
            .unwrap();
        });
        call(&trusting(Some("ca.pem"), None), host, address).unwrap();
        let (name, protocol) = told.recv().unwrap();
        // An address is no name to be told.
        assert_eq!(name.as_deref(), (host != "127.0.0.1").then_some("localhost"), "{host}");
        assert_eq!(protocol.as_deref(), Some(&b"http/1.1"[..]));
        server.join().unwrap();
    }
}

#[test]
fn an_end_without_a_word_is_told_from_one_with() {
    for (only_12, says, cut) in
        [(false, true, false), (true, true, false), (false, false, true), (true, false, true)]
    {
        let (address, server) = serve_tls(&Shows { only_12, ..SHOWS }, move |mut stream| {
            stream.write_all(&[7; 100_000]).unwrap();
            if says {
                stream.conn.send_close_notify();
            }
            stream.flush().unwrap();
            if says {
                // The socket stays open: the word is enough.
                let _ = stream.sock.read(&mut [0]);
            }
        });
        let mut wire = call(&trusting(Some("ca.pem"), None), "localhost", address).unwrap();
        let read = read_to_end(&mut wire);
        assert_eq!((read.len(), wire.is_cut()), (100_000, cut), "TLS 1.2: {only_12}, said: {says}");
        assert!(wire.take_fault().is_none());
        wire.shutdown();
        server.join().unwrap();
    }
}

#[test]
fn what_is_changed_on_the_way_is_a_fault() {
    let (address, server) = serve_tls(&SHOWS, |mut stream| {
        stream.write_all(b"right").unwrap();
        // A record that nobody has sealed.
        stream.sock.write_all(&[0x17, 3, 3, 0, 32]).unwrap();
        stream.sock.write_all(&[0; 32]).unwrap();
        let _ = stream.sock.read_to_end(&mut Vec::new());
    });
    let mut wire = call(&trusting(Some("ca.pem"), None), "localhost", address).unwrap();
    assert_eq!(read_to_end(&mut wire), b"right");
    assert!(wire.is_cut());
    let fault = wire.take_fault().unwrap();
    assert!(matches!(fault, TlsFault::Other(_)), "{fault:?}");
    assert!(wire.take_fault().is_none() && wire.is_cut());
    assert_eq!(wire.write(b"x").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    wire.shutdown();
    server.join().unwrap();
}

#[test]
fn certificates_that_are_not_accepted_and_what_to_do() {
    let ca = Some("ca.pem");
    let wrong = CertificateFault::WrongName { names: vec!["other.example".into(), "*.wild.example".into()] };
    for (certificate, ca, expected, word) in [
        ("expired.pem", ca, CertificateFault::Expired, "has expired"),
        ("future.pem", ca, CertificateFault::NotYetValid, "clock"),
        ("other.pem", ca, wrong, "for other.example, *.wild.example"),
        ("purpose.pem", ca, CertificateFault::Purpose, "not for servers"),
        ("server.pem", None, CertificateFault::UnknownIssuer, "ca_file"),
        ("server.pem", Some("self.pem"), CertificateFault::UnknownIssuer, "ca_file"),
        ("self.pem", None, CertificateFault::UnknownIssuer, "self-signed"),
        ("self.pem", Some("former.pem"), CertificateFault::OtherKey, "present certificate (ca_file)"),
        ("selfca.pem", None, CertificateFault::Authority, "CA:TRUE"),
    ] {
        let fault = refused(certificate, ca);
        assert_eq!(fault, expected, "{certificate}");
        let text = DialFault::Tls(TlsFault::Certificate(fault)).to_string();
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn addresses_and_certificates_that_vouch_for_themselves() {
    let trust = trusting(Some("ca.pem"), None);
    for host in ["127.0.0.1", "localhost"] {
        let (address, server) = serve_tls(&SHOWS, echo);
        call(&trust, host, address).unwrap().shutdown();
        server.join().unwrap();
    }
    let (address, server) = serve_tls(&Shows { certificate: "self.pem", ..SHOWS }, echo);
    call(&trusting(Some("self.pem"), None), "localhost", address).unwrap().shutdown();
    server.join().unwrap();
}

#[test]
fn a_client_shows_its_certificate() {
    for only_12 in [false, true] {
        let meet = |client| {
            let (address, server) =
                serve_tls(&Shows { only_12, wants_client: true, ..SHOWS }, |mut stream| {
                    let _ = stream.write_all(b"welcome");
                    stream.conn.send_close_notify();
                    let _ = stream.flush();
                    let _ = stream.sock.read_to_end(&mut Vec::new());
                });
            let met = call(&trusting(Some("ca.pem"), client), "localhost", address).map(|mut wire| {
                let read = read_to_end(&mut wire);
                let fault = wire.take_fault();
                wire.shutdown();
                (read, fault)
            });
            server.join().unwrap();
            match met {
                Ok((read, None)) => Ok(read),
                Ok((_, Some(fault))) | Err(DialFault::Tls(fault)) => Err(fault),
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(meet(Some(("client.pem", "client.key"))).unwrap(), b"welcome");
        let fault = meet(None).unwrap_err();
        assert!(matches!(fault, TlsFault::ClientCertificate { shown: false }), "{fault:?}");
        assert!(fault.to_string().contains("name one, with its key"), "{fault}");
        let fault = meet(Some(("self.pem", "server.key"))).unwrap_err();
        assert!(matches!(fault, TlsFault::ClientCertificate { shown: true }), "{fault:?}");
    }
}

#[test]
fn files_that_cannot_be_used() {
    let (address, _server) = serve(drop);
    let key = std::fs::read_to_string(pem("server.key")).unwrap();
    let secret = key.lines().nth(1).unwrap();
    for (ca, client, expected) in [
        (Some("none.pem"), None, "none.pem cannot be read"),
        (Some("make.sh"), None, "no certificate in"),
        (Some("server.key"), None, "no certificate in"),
        (None, Some(("client.pem", "none.key")), "none.key cannot be read"),
        (None, Some(("client.pem", "client.pem")), "no private key in"),
        (None, Some(("server.key", "server.key")), "no certificate in"),
        (None, Some(("client.pem", "server.key")), "does not belong to"),
    ] {
        let ca = ca.or(Some("ca.pem"));
        let trust = trusting(ca, client);
        let fault = trust.trust.config().unwrap_err();
        let text = format!("{fault} {fault:?}");
        assert!(text.contains(expected) && !text.contains(secret), "{text}");
    }
    let _ = TcpStream::connect(address);
}

#[test]
fn what_answers_is_no_tls() {
    let (address, server) = serve(|mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = socket.read(&mut [0; 4096]);
    });
    let fault = call(&trusting(Some("ca.pem"), None), "localhost", address).unwrap_err();
    assert!(matches!(fault, DialFault::Tls(TlsFault::NotTls)), "{fault:?}");
    assert!(fault.to_string().contains("use an address with http"), "{fault}");
    server.join().unwrap();
    let (address, server) = serve(drop);
    let fault = call(&trusting(Some("ca.pem"), None), "localhost", address).unwrap_err();
    assert!(matches!(fault, DialFault::Broken { during: DialStep::Tls, .. }), "{fault:?}");
    server.join().unwrap();
}

#[test]
fn a_silent_server_is_given_up() {
    // H-076
    let (address, server) = serve(|mut socket| drop(socket.read_to_end(&mut Vec::new())));
    let limit = Duration::from_millis(200);
    let asked = to(Scheme::Https, "127.0.0.1", address.port());
    let fault = trusting(Some("ca.pem"), None).dial(&asked, limit, &Attempt::default()).unwrap_err();
    assert!(
        matches!(fault, DialFault::TimedOut { during: DialStep::Tls, limit: of } if of == limit),
        "{fault:?}"
    );
    assert!(fault.to_string().contains("200ms"), "{fault}");
    server.join().unwrap();
}
