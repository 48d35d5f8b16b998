//! By way of a proxy.

use std::sync::mpsc;

use sanswire_system::{CertificateFault, DialStep, Proxy, ProxyAddress, ProxyFault, TlsFault};

use super::*;

/// A proxy for one connection: `answer` gets what it was asked and the socket.
fn proxy(answer: impl FnOnce(String, TcpStream) + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    serve(move |mut socket| {
        let asked = head(&mut socket);
        answer(asked, socket);
    })
}

/// A request up to its empty line.
fn head(from: &mut impl Read) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && from.read(&mut byte).unwrap() > 0 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Opens the tunnel that was asked for, with an answer of these bytes.
fn join(asked: &str, socket: TcpStream, answer: &[u8]) {
    let to = asked.split(' ').nth(1).unwrap();
    let mut server = TcpStream::connect(to).unwrap();
    (&socket).write_all(answer).unwrap();
    let (mut back, mut forth) = (server.try_clone().unwrap(), socket.try_clone().unwrap());
    let other = std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut forth);
        let _ = forth.shutdown(std::net::Shutdown::Write);
    });
    let _ = std::io::copy(&mut (&socket), &mut server);
    let _ = server.shutdown(std::net::Shutdown::Write);
    other.join().unwrap();
}

fn by(address: SocketAddr, user: &str) -> Dialer {
    let address = ProxyAddress::parse(&format!("http://{user}{address}")).unwrap();
    Dialer { proxies: Proxies::Always(address), ..dialer() }
}

/// What comes of a proxy that answers this to a connect.
fn refused(user: &str, answer: &'static [u8]) -> (ProxyFault, String) {
    let (address, server) = proxy(move |_, mut socket| {
        socket.write_all(answer).unwrap();
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let fault = dial(&by(address, user), &to(Scheme::Http, "server.example", 80)).unwrap_err();
    server.join().unwrap();
    let text = format!("{fault} {fault:?}");
    assert!(!text.contains("hunter2") && text.contains(&address.to_string()), "{text}");
    match fault {
        DialFault::Proxy { fault, .. } => (fault, text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tunnel_leads_to_the_server_and_the_proxy_is_told_no_more_than_that() {
    let (server, served) = serve(echo);
    let (tell, told) = mpsc::channel();
    let (address, proxied) = proxy(move |asked, socket| {
        join(&asked, socket, b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n");
        tell.send(asked).unwrap();
    });
    let mut wire =
        dial(&by(address, "name:hunter2@"), &to(Scheme::Http, "127.0.0.1", server.port())).unwrap();
    let sent: Vec<u8> = (0..500_000u32).map(|n| n as u8).collect();
    assert!(exchange(&mut wire, &sent, 8192, sent.len()) == sent);
    wire.shutdown();
    served.join().unwrap();
    proxied.join().unwrap();
    let asked = told.recv().unwrap();
    let authorization = sanswire::base64::encode(b"name:hunter2");
    let expected = format!(
        "CONNECT {server} HTTP/1.1\r\nHost: {server}\r\nProxy-Authorization: Basic {authorization}\r\n\r\n"
    );
    assert_eq!(asked, expected);
}

#[test]
fn proxies_that_refuse_and_what_to_do() {
    for (user, answer, expected, word) in [
        (
            "",
            &b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno"[..],
            ProxyFault::Authorization { given: false },
            "http://name:password@host:port",
        ),
        (
            "name:hunter2@",
            b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n",
            ProxyFault::Authorization { given: true },
            "correct them",
        ),
        ("", b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", ProxyFault::Refused(403), "NO_PROXY"),
        ("", b"HTTP/1.1 502 Bad Gateway\r\n\r\n", ProxyFault::Refused(502), "cannot reach the server (502)"),
        ("", b"HTTP/1.0 400 Bad Request\r\n\r\n", ProxyFault::Refused(400), "status 400"),
        ("", b"", ProxyFault::Ended, "without an answer"),
        ("", b"HTTP/1.1 200 OK\r\n", ProxyFault::Ended, "without an answer"),
        ("", b"HTTP/1.1 200 OK\r\n\r\nSSH-2.0", ProxyFault::Unasked, "do not use it"),
    ] {
        let (fault, text) = refused(user, answer);
        assert_eq!(fault, expected);
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn a_proxy_that_speaks_something_else() {
    let endless: &'static [u8] = [&b"HTTP/1.1 200 OK\r\nX: "[..], &[b'x'; 20_000]].concat().leak();
    for answer in
        [&b"SSH-2.0-OpenSSH_9.2\r\n\r\n"[..], b"\x05\xff\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n", endless]
    {
        let (fault, text) = refused("", answer);
        assert!(matches!(fault, ProxyFault::NotHttp(_)), "{text}");
        assert!(text.contains("check that it is a proxy for HTTP"), "{text}");
    }
}

#[test]
fn a_proxy_that_dribbles_is_given_up() {
    // H-076
    let (address, server) = proxy(|_, mut socket| {
        let endless = b"HTTP/1.1 200 OK\r\nX: ".iter().chain(std::iter::repeat(&b'x'));
        for byte in endless {
            std::thread::sleep(Duration::from_millis(5));
            if socket.write_all(&[*byte]).is_err() {
                return;
            }
        }
    });
    let limit = Duration::from_millis(300);
    let asked = to(Scheme::Http, "server.example", 80);
    let fault = by(address, "").dial(&asked, limit, &Attempt::default()).unwrap_err();
    assert!(matches!(fault, DialFault::TimedOut { during: DialStep::Proxy, .. }), "{fault:?}");
    server.join().unwrap();
}

#[test]
fn a_proxy_that_is_not_there() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fault = dial(&by(address, ""), &to(Scheme::Http, "server.example", 80)).unwrap_err();
    let DialFault::ProxyUnreached { proxy, fault: why } = &fault else { panic!("{fault:?}") };
    assert!(**proxy == address.to_string() && matches!(**why, DialFault::Connect { .. }), "{fault:?}");
    let start = format!("the proxy {address} cannot be reached: nobody answers at {address} ");
    assert!(fault.to_string().starts_with(&start), "{fault}");
    // Whoever does not want it any more does not want the server.
    let unwanted = Attempt::default();
    unwanted.cancel();
    let fault = by(address, "").dial(&to(Scheme::Http, "server.example", 80), LONG, &unwanted);
    assert!(matches!(fault, Err(DialFault::Cancelled)), "{fault:?}");
}

#[test]
fn what_goes_wrong_on_the_way_to_a_proxy_is_told_of_the_proxy_and_what_is_wrong_here_is_not() {
    let broken = || std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    for fault in [
        DialFault::Name { host: "p".into(), source: broken() },
        DialFault::Broken { during: DialStep::Tls, source: broken() },
        DialFault::TimedOut { during: DialStep::Connect, limit: LONG },
        DialFault::Tls(TlsFault::NotTls),
        DialFault::Tls(TlsFault::Certificate(CertificateFault::Expired)),
    ] {
        let why = fault.to_string();
        let fault = fault.on_the_way_to("p:3128".into());
        assert_eq!(fault.to_string(), format!("the proxy p:3128 cannot be reached: {why}"));
        let source = std::error::Error::source(&fault).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some(&*why));
    }
    for fault in [
        DialFault::Cancelled,
        DialFault::System(broken()),
        DialFault::Tls(TlsFault::Key { path: "key.pem".into() }),
        DialFault::Tls(TlsFault::NoAuthorities),
    ] {
        let why = fault.to_string();
        assert_eq!(fault.on_the_way_to("p:3128".into()).to_string(), why);
    }
}

#[test]
fn an_ipv6_server_is_named_in_brackets() {
    let (tell, told) = mpsc::channel();
    let (address, server) = proxy(move |asked, _| tell.send(asked).unwrap());
    dial(&by(address, ""), &to(Scheme::Http, "2001:db8::1", 8080)).unwrap_err();
    server.join().unwrap();
    assert_eq!(
        told.recv().unwrap(),
        "CONNECT [2001:db8::1]:8080 HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n"
    );
}

#[test]
fn h_246_what_is_guarded_has_no_proxy_of_the_environment() {
    // H-246
    let mut target = HttpTarget::new("http://server.example").unwrap();
    target.public_only = true;
    assert!(matches!(Dialer::new(&target).unwrap().proxies, Proxies::None));
    target.proxy = Proxy::At(ProxyAddress::parse("http://proxy.example").unwrap());
    let error = Dialer::new(&target).unwrap_err();
    assert!(
        matches!(&error, ConnectError::Reach(fault) if matches!(**fault, DialFault::GuardedProxy)),
        "{error:?}"
    );
    target.public_only = false;
    assert!(matches!(Dialer::new(&target).unwrap().proxies, Proxies::Always(_)));
    target.proxy = Proxy::Direct;
    assert!(matches!(Dialer::new(&target).unwrap().proxies, Proxies::None));
    target.proxy = Proxy::Environment;
    assert!(matches!(Dialer::new(&target).unwrap().proxies, Proxies::Ambient(_)));
}

#[cfg(feature = "tls")]
#[test]
fn tls_goes_through_a_tunnel_and_over_tls_to_the_proxy() {
    use super::tls::{SHOWS, config, serve_tls, trusting};
    use rustls::{ServerConnection, StreamOwned};
    const YES: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
    let sent: Vec<u8> = (0..500_000u32).map(|n| n as u8).collect();
    let meet = |proxy: String| {
        let proxy = ProxyAddress::parse(&proxy).unwrap();
        let dialer = Dialer { proxies: Proxies::Always(proxy), ..trusting(Some("ca.pem"), None) };
        let mut wire = dial(&dialer, &to(Scheme::Https, "localhost", 443)).unwrap();
        assert!(exchange(&mut wire, &sent, 30_000, sent.len()) == sent);
        assert!(!wire.is_cut());
        wire.shutdown();
    };
    // This proxy is the server as well: it goes on with TLS where the tunnel begins.
    let (address, server) = serve(|mut socket| {
        assert!(head(&mut socket).starts_with("CONNECT localhost:443 "));
        socket.write_all(YES).unwrap();
        echo(StreamOwned::new(ServerConnection::new(config(&SHOWS)).unwrap(), socket));
    });
    meet(format!("http://{address}"));
    server.join().unwrap();
    let (address, server) = serve_tls(&SHOWS, |mut stream| {
        assert!(head(&mut stream).starts_with("CONNECT localhost:443 "));
        stream.write_all(YES).unwrap();
        echo(StreamOwned::new(ServerConnection::new(config(&SHOWS)).unwrap(), stream));
    });
    meet(format!("https://localhost:{}", address.port()));
    server.join().unwrap();
}
