//! Servers under TLS that is made of the same library: what the tests of both runtimes connect to.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

pub(crate) type Stream = StreamOwned<ServerConnection, TcpStream>;

pub(crate) fn pem(file: &str) -> PathBuf {
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
pub(crate) fn relay(mut outer: Stream, mut inner: TcpStream) {
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

/// A server whose answers go on to the end of the connection. `says`: TLS has its own word for the end of an answer to a
/// call, as it has for every other.
pub(crate) fn without_length(says: bool) -> SocketAddr {
    const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
    const RESULT: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"whole"}]}"#;
    front("server.pem", false, move |mut stream| {
        let request = request(&mut stream);
        let id = request.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap();
        let discovers = request.contains("server/discover");
        let result = if discovers { DISCOVERED } else { RESULT };
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let head = "HTTP/1.1 200 .\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(format!("{head}{body}").as_bytes());
        if says || discovers {
            stream.conn.send_close_notify();
        }
        let _ = stream.flush();
    })
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
