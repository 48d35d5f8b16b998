//! How a client gets to a server over HTTP: addresses, proxies, the guard, and what it says where there is none.

use std::io::{Read, Write};
use std::net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_smol::sanswire::error::CloseReason;
use sanswire_smol::{Client, ConnectError, DialFault, HttpTarget, Proxy, ProxyAddress, ProxyFault};

use crate::common::{Env, eventually, options, tool, trials};
use crate::http_script::{modern, says};

trials!(
    each:
        nobody_listens_there,
        a_connection_that_is_never_accepted_is_given_up,
        an_address_that_says_no_is_not_the_last,
        a_call_by_way_of_a_proxy;
    once:
        a_proxy_that_wants_a_password,
        what_a_proxy_may_do_instead,
        a_proxy_that_is_not_there,
        a_name_that_nobody_knows,
        h_246_a_server_that_must_be_public_and_is_not,
        a_closer_ends_it_while_it_connects,
        https_takes_a_feature,
);

pub(crate) fn target(url: &str) -> HttpTarget {
    let mut target = HttpTarget::new(url).unwrap();
    target.proxy = Proxy::Direct;
    target
}

/// Why there is no client.
pub(crate) async fn unreachable(target: &HttpTarget) -> (DialFault, String) {
    let error = Client::connect_http(target, options()).await.unwrap_err();
    let text = error.to_string();
    match error {
        ConnectError::Reach(fault) => (*fault, text),
        other => panic!("{other:?}"),
    }
}

async fn nobody_listens_there(env: Env) {
    let address = crate::common::NOBODY;
    let target = target(&format!("http://{address}/mcp"));
    let error = Client::connect_http(&target, env.options()).await.unwrap_err();
    let ConnectError::Reach(fault) = &error else { panic!("{error:?}") };
    assert!(matches!(&**fault, DialFault::Connect { .. }), "{fault:?}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

async fn a_connection_that_is_never_accepted_is_given_up(env: Env) {
    // Calls are taken by the system, and answered by nobody.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = target(&format!("http://{}/mcp", listener.local_addr().unwrap()));
    let mut options = env.options();
    options.config.limits.connect = Duration::from_millis(200);
    let error = Client::connect_http(&target, options).await.unwrap_err();
    let ConnectError::Closed { reason, .. } = error else { panic!("{error:?}") };
    assert!(matches!(*reason, CloseReason::ConnectTimeout { .. }), "{reason:?}");
}

async fn an_address_that_says_no_is_not_the_last(env: Env) {
    // `localhost` is called as ::1 first.
    let peer = modern(|_, answer| answer.result(&says("hello")));
    let port = peer.target().target.url.authority().port;
    if TcpStream::connect((Ipv6Addr::LOCALHOST, port)).is_ok() {
        return;
    }
    let client = Client::connect_http(&target(&format!("http://localhost:{port}/mcp")), env.options());
    assert_eq!(tool(&client.await.unwrap(), "any", "{}").await, "hello");
}

/// A proxy that puts every connection through to one server, or answers this instead.
struct Tunnels {
    address: SocketAddr,
    told: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    fn start(to: SocketAddr, instead: Option<&'static [u8]>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let heads = Arc::clone(&told);
        std::thread::spawn(move || {
            for mut socket in listener.incoming().flatten() {
                let heads = Arc::clone(&heads);
                std::thread::spawn(move || {
                    let (mut head, mut byte) = (Vec::new(), [0]);
                    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).unwrap_or(0) > 0 {
                        head.push(byte[0]);
                    }
                    heads.lock().unwrap().push(String::from_utf8(head).unwrap());
                    if let Some(answer) = instead {
                        let _ = socket.write_all(answer);
                        let _ = socket.shutdown(Shutdown::Write);
                        let _ = socket.read_to_end(&mut Vec::new());
                        return;
                    }
                    join(socket, TcpStream::connect(to).unwrap());
                });
            }
        });
        Self { address, told }
    }

    fn by(&self, user: &str) -> Proxy {
        Proxy::At(ProxyAddress::parse(&format!("http://{user}{}", self.address)).unwrap())
    }
}

fn join(mut socket: TcpStream, mut server: TcpStream) {
    socket.write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n").unwrap();
    let (mut back, mut forth) = (server.try_clone().unwrap(), socket.try_clone().unwrap());
    let other = std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut forth);
        let _ = forth.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut socket, &mut server);
    let _ = server.shutdown(Shutdown::Write);
    other.join().unwrap();
}

async fn a_call_by_way_of_a_proxy(env: Env) {
    let peer = modern(|_, answer| answer.result(&says("hello")));
    let port = peer.target().target.url.authority().port;
    let proxy = Tunnels::start(([127, 0, 0, 1], port).into(), None);
    // One that was named is asked for loopback names too.
    let mut target = target(&format!("http://localhost:{port}/mcp")).header("X-Secret", "hunter2").unwrap();
    target.proxy = proxy.by("name:word@");
    let client = Client::connect_http(&target, env.options()).await.unwrap();
    assert_eq!(tool(&client, "any", "{}").await, "hello");
    client.close().await;
    let host = format!("localhost:{port}");
    // What the server is told is not the proxy's.
    let expected =
        format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: Basic bmFtZTp3b3Jk\r\n\r\n");
    assert_eq!(*proxy.told.lock().unwrap(), [expected]);
    eventually("the end", || peer.ended() == 1).await;
}

async fn a_proxy_that_wants_a_password() {
    let answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
    let proxy = Tunnels::start(([127, 0, 0, 1], 1).into(), Some(answer));
    let mut target = target("http://server.example/mcp");
    target.proxy = proxy.by("name:hunter2@");
    let (fault, text) = unreachable(&target).await;
    assert!(
        matches!(fault, DialFault::Proxy { fault: ProxyFault::Authorization { given: true }, .. }),
        "{fault:?}"
    );
    assert!(text.contains("does not accept the name and password") && !text.contains("hunter2"), "{text}");
}

async fn what_a_proxy_may_do_instead() {
    type Row = (&'static [u8], fn(&ProxyFault) -> bool);
    let table: [Row; 4] = [
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", |fault| *fault == ProxyFault::Refused(502)),
        (b"", |fault| *fault == ProxyFault::Ended),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", |fault| *fault == ProxyFault::Unasked),
        (b"SSH-2.0-x\r\n", |fault| matches!(fault, ProxyFault::NotHttp(_))),
    ];
    for (answer, expected) in table {
        let proxy = Tunnels::start(([127, 0, 0, 1], 1).into(), Some(answer));
        let mut target = target("http://server.example/mcp");
        target.proxy = proxy.by("");
        let (fault, text) = unreachable(&target).await;
        let DialFault::Proxy { fault, .. } = fault else { panic!("{fault:?}") };
        assert!(expected(&fault), "{fault:?}");
        assert!(text.contains(&proxy.address.to_string()), "{text}");
    }
}

async fn a_proxy_that_is_not_there() {
    let address = crate::common::NOBODY;
    let mut target = target("http://server.example/mcp");
    target.proxy = Proxy::At(ProxyAddress::parse(&format!("http://{address}")).unwrap());
    let (fault, text) = unreachable(&target).await;
    let DialFault::ProxyUnreached { fault, .. } = fault else { panic!("{fault:?}") };
    assert!(matches!(*fault, DialFault::Connect { .. }), "{fault:?}");
    assert!(text.contains(&address.to_string()), "{text}");
}

async fn a_name_that_nobody_knows() {
    let mut options = options();
    options.config.limits.connect = Duration::from_secs(20);
    let error = Client::connect_http(&target("http://nobody.invalid/mcp"), options).await.unwrap_err();
    let ConnectError::Reach(fault) = &error else { panic!("{error:?}") };
    // A resolver that is not there may take longer than that.
    assert!(matches!(&**fault, DialFault::Name { .. } | DialFault::TimedOut { .. }), "{fault:?}");
}

async fn h_246_a_server_that_must_be_public_and_is_not() {
    // H-246
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let mut target = target(&format!("http://{host}:{port}/mcp"));
        target.public_only = true;
        let (fault, text) = unreachable(&target).await;
        assert!(matches!(fault, DialFault::NotPublic { .. }), "{fault:?}");
        assert!(text.contains("does not belong to the public network"), "{text}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

async fn a_closer_ends_it_while_it_connects() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = target(&format!("http://{}/mcp", listener.local_addr().unwrap()));
    let closer = sanswire_smol::Closer::new();
    let mut options = options();
    options.closer = Some(closer.clone());
    let connecting = async {
        let error = Client::connect_http(&target, options).await.unwrap_err();
        let ConnectError::Closed { reason, .. } = error else { panic!("{error:?}") };
        assert_eq!(*reason, CloseReason::Local);
    };
    let closing = async {
        async_io::Timer::after(Duration::from_millis(50)).await;
        closer.close().await;
    };
    futures_lite::future::zip(connecting, closing).await;
    // What was opened is closed.
    let mut socket = listener.accept().unwrap().0;
    assert!(matches!(socket.read_to_end(&mut Vec::new()), Ok(_) | Err(_)));
}

async fn https_takes_a_feature() {
    if cfg!(feature = "tls") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (fault, _) = unreachable(&target(&format!("https://{}/mcp", listener.local_addr().unwrap()))).await;
    assert!(matches!(fault, DialFault::Tls(sanswire_smol::TlsFault::Unsupported)), "{fault:?}");
}
