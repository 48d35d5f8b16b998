//! How a client gets to a server over HTTP: addresses, proxies, the guard.

use std::io::{Read, Write};
use std::net::{Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::http::endpoint::Names;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::{
    Client, ConnectError, DialFault, HttpOptions, HttpTarget, Proxy, ProxyAddress, ProxyFault,
};

use crate::common::{LONG, no_options, options, raw, tool, trials, within};
use crate::http_peer::Site;
use crate::served::server;

trials!(
    localhost_is_found_where_it_listens,
    a_call_by_way_of_a_proxy,
    the_environment_names_a_proxy,
    a_proxy_that_wants_a_password,
    nobody_is_there_over_http,
    h_246_a_server_that_must_be_public_and_is_not,
);

pub(crate) fn target(url: &str) -> HttpTarget {
    let mut target = HttpTarget::new(url).unwrap();
    target.proxy = Proxy::Direct;
    target
}

/// A call of its tool `echo`.
pub(crate) fn echoes(client: &Client) {
    assert_eq!(tool(client, "echo", r#"{"text":"over there"}"#), "over there");
}

/// Why there is no client.
pub(crate) fn unreachable(target: &HttpTarget) -> (DialFault, String) {
    let error = within(LONG, || Client::connect_http(target, options()).unwrap_err());
    let text = error.to_string();
    match error {
        ConnectError::Reach(fault) => (*fault, text),
        other => panic!("{other:?}"),
    }
}

fn localhost_is_found_where_it_listens() {
    let Ok(listener) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) else {
        // There may be no IPv6 here.
        return;
    };
    let port = listener.local_addr().unwrap().port();
    let served = server(&[]);
    let serves = served.clone();
    let serving = std::thread::spawn(move || serves.serve_http(listener, HttpOptions::default()).unwrap());
    for host in ["localhost", "[::1]"] {
        let client = Client::connect_http(&target(&format!("http://{host}:{port}/mcp")), options()).unwrap();
        echoes(&client);
        client.close();
    }
    served.stopper().stop();
    within(LONG, || serving.join().unwrap());
}

/// A proxy that opens every tunnel to `site`, whatever was asked for, and keeps what it was told; or gives this answer
/// instead.
struct Tunnels {
    address: SocketAddr,
    told: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    fn start(site: SocketAddr, instead: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&told);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let keeps = Arc::clone(&keeps);
                std::thread::spawn(move || tunnel(socket, site, instead, &keeps));
            }
        });
        Self { address, told }
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

fn tunnel(mut socket: TcpStream, site: SocketAddr, instead: Option<&str>, told: &Mutex<Vec<String>>) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).unwrap_or(0) > 0 {
        head.push(byte[0]);
    }
    told.lock().unwrap().push(String::from_utf8(head).unwrap());
    if let Some(answer) = instead {
        let _ = socket.write_all(answer.as_bytes());
        let _ = socket.read(&mut byte);
        return;
    }
    let mut server = TcpStream::connect(site).unwrap();
    socket.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let (mut back, mut forth) = (server.try_clone().unwrap(), socket.try_clone().unwrap());
    let other = std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut forth);
        let _ = forth.shutdown(Shutdown::Both);
    });
    let _ = std::io::copy(&mut socket, &mut server);
    let _ = server.shutdown(Shutdown::Both);
    other.join().unwrap();
}

fn a_call_by_way_of_a_proxy() {
    let site = Site::start(&[]);
    let proxy = Tunnels::start(site.address, None);
    // One that was named is asked for loopback names too.
    let url = format!("http://localhost:{}/mcp", site.address.port());
    let mut target = target(&url).header("X-Secret", "hunter2").unwrap();
    target.proxy = Proxy::At(ProxyAddress::parse(&format!("name:word@{}", proxy.address)).unwrap());
    let client = Client::connect_http(&target, options()).unwrap();
    echoes(&client);
    client.close();
    let told = proxy.told();
    let host = format!("localhost:{}", site.address.port());
    for head in &told {
        // What the server is told is not the proxy's.
        let expected = format!(
            "CONNECT {host} HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: Basic bmFtZTp3b3Jk\r\n\r\n"
        );
        assert_eq!(*head, expected);
    }
    assert!(!told.is_empty());
    site.stop();
}

/// The life of a process that connects by what its environment says, and calls a tool: `--http-client URL`.
pub(crate) fn run(arguments: &[String]) {
    let target = HttpTarget::new(&arguments[0]).unwrap();
    match Client::connect_http(&target, options()) {
        Ok(client) => {
            match client.call_tool("echo", Some(&raw(r#"{"text":"over there"}"#)), &no_options()) {
                Ok(Outcome::Complete(result)) => println!("{}", CallToolResult::new(result).text()),
                other => println!("{other:?}"),
            }
            client.close();
        }
        Err(error) => println!("{error}"),
    }
}

fn the_environment_names_a_proxy() {
    let site = Site::start(&[]);
    let proxy = Tunnels::start(site.address, None);
    let by = proxy.address.to_string();
    let port = site.address.port();
    let (far, near) = ("http://localhost.example/mcp".to_owned(), format!("http://localhost:{port}/mcp"));
    let call = |url: &str, environment: &[(&str, &str)]| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--http-client", url])
            .env_clear()
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // A server that checks names would not be met under this one.
    let options = {
        let mut options = HttpOptions::default();
        options.hosts = Names::Any;
        options
    };
    let open = Site::with(server(&[]), options);
    let tunnels = Tunnels::start(open.address, None);
    let other = tunnels.address.to_string();
    assert_eq!(call(&far, &[("http_proxy", &other)]), "over there\n");
    assert_eq!(call(&far, &[("ALL_PROXY", &format!("http://{other}/"))]), "over there\n");
    assert!(tunnels.told().iter().all(|head| head.starts_with("CONNECT localhost.example:80 ")));
    // Loopback is reached without it.
    assert_eq!(call(&near, &[("http_proxy", &by), ("ALL_PROXY", &by)]), "over there\n");
    assert_eq!(proxy.told().len(), 0);
    let text = call(&far, &[("http_proxy", "socks5://name:hunter2@p")]);
    assert!(text.contains("the proxy in http_proxy cannot be used") && !text.contains("hunter2"), "{text}");
    site.stop();
    open.stop();
}

fn a_proxy_that_wants_a_password() {
    let answer = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
    let proxy = Tunnels::start(([127, 0, 0, 1], 1).into(), Some(answer));
    let mut target = target("http://server.example/mcp");
    target.proxy = Proxy::At(ProxyAddress::parse(&format!("http://name:hunter2@{}", proxy.address)).unwrap());
    let (fault, text) = unreachable(&target);
    assert!(
        matches!(fault, DialFault::Proxy { fault: ProxyFault::Authorization { given: true }, .. }),
        "{fault:?}"
    );
    assert!(text.contains("does not accept the name and password") && !text.contains("hunter2"), "{text}");
}

fn nobody_is_there_over_http() {
    let address = crate::common::NOBODY;
    let (fault, text) = unreachable(&target(&format!("http://{address}/mcp")));
    assert!(matches!(fault, DialFault::Connect { .. }), "{fault:?}");
    assert!(text.contains(&address.to_string()) && text.contains("check the address"), "{text}");
}

fn h_246_a_server_that_must_be_public_and_is_not() {
    // H-246
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let mut target = target(&format!("http://{host}:{port}/mcp"));
        target.public_only = true;
        let (fault, text) = unreachable(&target);
        assert!(matches!(fault, DialFault::NotPublic { .. }), "{fault:?}");
        assert!(text.contains("does not belong to the public network"), "{text}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
