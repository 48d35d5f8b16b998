//! What a server keeps of its clients while they rest, and when they are gone. A binary of its own, since it counts every
//! allocation of the process; one scenario at a time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that unwraps fails, which is what it is for; and what was measured is told"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use sanswire_smol::{HttpOptions, Server, Stopper, Tool, bind_loopback};

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count of the bytes that were asked for and are not given back.
struct Counting;

#[expect(unsafe_code, reason = "an allocator is an unsafe trait; each call is passed on as it came")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), SeqCst);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size, SeqCst);
        LIVE.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KIB: usize = 1024;
/// Clients at once: with both ends in one process, as many as any system has descriptors for.
const CLIENTS: usize = 400;

fn main() {
    let scenarios: &[(&str, fn())] = &[
        ("clients_that_rest", clients_that_rest),
        ("clients_that_say_nothing", clients_that_say_nothing),
        ("clients_that_come_and_go", clients_that_come_and_go),
        ("many_clients_that_are_gone", many_clients_that_are_gone),
        ("clients_over_http_that_rest", clients_over_http_that_rest),
        ("clients_over_http_with_an_open_stream", clients_over_http_with_an_open_stream),
        ("many_clients_over_http_that_are_gone", many_clients_over_http_that_are_gone),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, scenario) in scenarios.iter().copied() {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            scenario();
        }
    }
}

fn server() -> Server {
    Server::builder("s", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .build()
        .unwrap()
}

/// A server that listens on a thread of its own.
struct Listening {
    path: PathBuf,
    stopper: Stopper,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Listening {
    fn start(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sanswire-smol-memory-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let server = server();
        let stopper = server.stopper();
        let thread = std::thread::spawn(move || async_io::block_on(server.serve_unix(listener)).unwrap());
        Self { path, stopper, thread: Some(thread) }
    }

    fn client(&self) -> Peer {
        Peer(UnixStream::connect(&self.path).unwrap())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A request of 2026-07-28.
fn request(method: &str, members: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{members},{meta}}}}}"#)
}

/// A client that keeps nothing but its socket.
struct Peer(UnixStream);

impl Peer {
    fn call(&mut self, bytes: usize) {
        let text = "x".repeat(bytes);
        let members = format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
        let line = request("tools/call", &members) + "\n";
        self.0.write_all(line.as_bytes()).unwrap();
        let (mut part, mut all) = ([0; 4 * KIB], 0);
        loop {
            let len = self.0.read(&mut part).unwrap();
            all += len;
            match part[..len].last() {
                None => panic!("no answer"),
                Some(b'\n') => break,
                Some(_) => {}
            }
        }
        assert!(all > bytes, "{all} bytes");
    }
}

/// What is there, once the server has come to rest.
fn at_rest() -> usize {
    let mut last = LIVE.load(SeqCst);
    let mut since = Instant::now();
    while since.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(2));
        let now = LIVE.load(SeqCst);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

/// What is there now that was not there before, for each of so many.
fn more_than(before: usize, of: usize) -> usize {
    at_rest().saturating_sub(before) / of
}

fn clients_that_rest() {
    let listening = Listening::start("rest");
    listening.client().call(60 * KIB);
    let before = at_rest();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let mut client = listening.client();
            // The last message was of any length: some need more room than is kept.
            client.call(60 * KIB);
            client.call(2000 + n * 10);
            client
        })
        .collect();
    let each = more_than(before, CLIENTS);
    println!("a client that rests: {each} bytes");
    assert!(each < 8 * KIB, "{each}");
    drop(clients);
}

fn clients_that_say_nothing() {
    let listening = Listening::start("silent");
    listening.client().call(1);
    let before = at_rest();
    let clients: Vec<_> = (0..CLIENTS).map(|_| listening.client()).collect();
    let each = more_than(before, CLIENTS);
    println!("a client that says nothing: {each} bytes");
    assert!(each < 8 * KIB, "{each}");
    drop(clients);
}

fn clients_that_come_and_go() {
    let listening = Listening::start("come-and-go");
    let some = |clients: usize| (0..clients).for_each(|_| listening.client().call(100));
    some(200);
    let before = at_rest();
    some(3000);
    let all = more_than(before, 1);
    println!("after 3000 clients: {all} bytes");
    assert!(all < 8 * KIB, "{all}");
}

fn many_clients_that_are_gone() {
    let listening = Listening::start("gone");
    let many = || {
        let mut clients: Vec<_> = (0..CLIENTS).map(|_| listening.client()).collect();
        clients.iter_mut().for_each(|client| client.call(10 * KIB));
    };
    listening.client().call(1);
    let before = at_rest();
    many();
    let each = more_than(before, CLIENTS);
    println!("a client that is gone: {each} bytes");
    assert!(each < 100, "{each}");
}

/// A server that listens on a thread of its own, over HTTP.
struct Hosting {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Hosting {
    fn start() -> Self {
        let listener = bind_loopback(0).unwrap();
        let address = listener.local_addr().unwrap();
        let server = server();
        let stopper = server.stopper();
        let serves = async move { server.serve_http(listener, HttpOptions::default()).await };
        let thread = std::thread::spawn(move || async_io::block_on(serves).unwrap());
        Self { address, stopper, thread: Some(thread) }
    }

    fn client(&self) -> HttpPeer {
        HttpPeer(TcpStream::connect(self.address).unwrap())
    }
}

impl Drop for Hosting {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A client over HTTP that keeps nothing but its socket.
struct HttpPeer(TcpStream);

impl HttpPeer {
    fn ask(&mut self, method: &str, fields: &str, members: &str) {
        let body = request(method, members);
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n{fields}Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.0.write_all((head + &body).as_bytes()).unwrap();
    }

    fn call(&mut self, bytes: usize) {
        let text = "x".repeat(bytes);
        let members = format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
        self.ask("tools/call", "Mcp-Name: echo\r\n", &members);
        let all = self.read_until(b"}\n");
        assert!(all > bytes, "{all} bytes");
    }

    fn listen(&mut self) {
        self.ask("subscriptions/listen", "", r#""notifications":{"toolsListChanged":true}"#);
        self.read_until(b"\n\n\r\n");
    }

    /// Reads up to what ends with this. How much that was.
    fn read_until(&mut self, end: &[u8]) -> usize {
        let (mut part, mut all) = ([0; 4 * KIB], 0);
        loop {
            let len = self.0.read(&mut part).unwrap();
            assert!(len > 0, "no answer");
            all += len;
            if part[..len].ends_with(end) {
                return all;
            }
        }
    }
}

fn clients_over_http_that_rest() {
    let hosting = Hosting::start();
    hosting.client().call(60 * KIB);
    let before = at_rest();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let mut client = hosting.client();
            client.call(60 * KIB);
            client.call(2000 + n * 10);
            client
        })
        .collect();
    let each = more_than(before, CLIENTS);
    println!("a client over HTTP that rests: {each} bytes");
    assert!(each < 9 * KIB, "{each}");
    drop(clients);
}

fn clients_over_http_with_an_open_stream() {
    let hosting = Hosting::start();
    hosting.client().call(1);
    let before = at_rest();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let mut client = hosting.client();
            client.call(60 * KIB);
            client.listen();
            client
        })
        .collect();
    let each = more_than(before, CLIENTS);
    println!("a client over HTTP with an open stream: {each} bytes");
    assert!(each < 9 * KIB, "{each}");
    drop(clients);
}

fn many_clients_over_http_that_are_gone() {
    let hosting = Hosting::start();
    let many = || {
        let mut clients: Vec<_> = (0..CLIENTS).map(|_| hosting.client()).collect();
        clients.iter_mut().for_each(|client| client.call(10 * KIB));
    };
    hosting.client().call(1);
    let before = at_rest();
    many();
    std::thread::sleep(Duration::from_secs(1));
    let each = more_than(before, CLIENTS);
    println!("a client over HTTP that is gone: {each} bytes");
    assert!(each < 300, "{each}");
}
