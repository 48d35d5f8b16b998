//! Listeners: when the system has no more to give, when there are too many clients, when they stop and are dropped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sanswire_smol::{Client, ConnectError, Server, Stopper, Tool};

use crate::common::{
    ANY, Driven, Folder, LONG, POLLS, begin, block_on, counted, eventually, request, runs, tool,
};

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    type Test = (&'static str, fn());
    let tests: [Test; 6] = [
        ("without_descriptors_those_who_wait_are_served_later", without_descriptors),
        ("who_is_too_many_is_sent_away", who_is_too_many_is_sent_away),
        ("a_listener_stops_whatever_its_clients_do", a_listener_stops_whatever_its_clients_do),
        ("a_listener_that_is_dropped_leaves_nothing", a_listener_that_is_dropped_leaves_nothing),
        ("nonsense_ends_nobody_elses_connection", nonsense_ends_nobody_elses_connection),
        ("who_never_reads_holds_up_nobody", who_never_reads_holds_up_nobody),
    ];
    tests.map(|(name, test)| crate::common::trial(name.into(), test)).into()
}

/// A handler that is at work.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn server(running: &Arc<AtomicUsize>) -> Server {
    let running = Arc::clone(running);
    Server::builder("s", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .tool("polls", Tool::new("Says how often this was polled"), |(), _| async {
            Ok(POLLS.load(Ordering::SeqCst).to_string())
        })
        .tool("stay", Tool::new("Stays whatever happens"), move |(), _| {
            let running = Running::new(&running);
            async move {
                let _running = running;
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .config(|config| {
            config.limits.drain = Duration::from_millis(100);
            config.limits.max_queued_out_bytes = 256 * 1024;
        })
        .build()
        .unwrap()
}

/// A server that listens on a thread of its own.
struct Listening {
    address: std::net::SocketAddr,
    server: Server,
    running: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Listening {
    fn start(change: impl FnOnce(&Server)) -> Self {
        let running = Arc::default();
        let server = server(&running);
        change(&server);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serves = server.clone();
        let thread = std::thread::spawn(move || async_io::block_on(serves.serve_tcp(listener)).unwrap());
        Self { address, server, running, thread: Some(thread) }
    }

    async fn client(&self) -> Result<Client, ConnectError> {
        Client::connect_tcp(self.address, ANY.options()).await
    }

    fn peer(&self) -> TcpStream {
        let peer = TcpStream::connect(self.address).unwrap();
        peer.set_read_timeout(Some(LONG)).unwrap();
        peer
    }

    /// Ends it, and waits for that.
    fn stop(&mut self, stop: impl FnOnce(&Stopper)) {
        stop(&self.server.stopper());
        let thread = self.thread.take().unwrap();
        block_on(eventually("it ends", || thread.is_finished()));
        thread.join().unwrap();
        assert_eq!(self.running.load(Ordering::SeqCst), 0, "a handler is left");
    }
}

/// A process that goes with the test, by unwinding too.
pub(crate) struct Killed(pub(crate) std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The other process of `without_descriptors`: it has few of them.
pub(crate) fn serve_with_few_descriptors(path: &str) {
    let listener = UnixListener::bind(path).unwrap();
    let server = server(&Arc::default());
    let few = rustix::process::Rlimit { current: Some(24), maximum: Some(24) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    println!("listens");
    async_io::block_on(counted(server.serve_unix(listener))).unwrap();
}

fn without_descriptors() {
    const CLIENTS: usize = 40;
    let folder = Folder::new("descriptors");
    let path = folder.0.join("socket");
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .arg("--few-descriptors")
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Killed(child);
    let mut said = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "listens\n");
    let echo = |peer: &mut UnixStream| {
        peer.write_all(request(1, "echo", r#"{"text":"x"}"#).as_bytes()).unwrap();
    };
    let answer = |peer: &UnixStream| {
        let mut line = String::new();
        BufReader::new(peer).read_line(&mut line).unwrap();
        line
    };
    // All ask, and those that are not accepted wait.
    let connect = |path: &Path| {
        let peer = UnixStream::connect(path).unwrap();
        peer.set_read_timeout(Some(LONG)).unwrap();
        peer
    };
    let mut peers: Vec<_> = (0..CLIENTS).map(|_| connect(&path)).collect();
    peers.iter_mut().for_each(echo);
    assert!(answer(&peers[0]).contains(r#""text":"x""#));
    let waits = |peer: &UnixStream| {
        let mut fds = [rustix::event::PollFd::new(peer, rustix::event::PollFlags::IN)];
        let moment = rustix::event::Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
        rustix::event::poll(&mut fds, Some(&moment)).unwrap() == 0
    };
    assert!(waits(&peers[CLIENTS - 1]), "there were enough descriptors for all");
    // Whoever is there is served meanwhile.
    let mut first = peers.remove(0);
    for _ in 0..3 {
        echo(&mut first);
        assert!(answer(&first).contains(r#""text":"x""#));
    }
    // The listener is not asked without an end.
    let polls = |peer: &mut UnixStream| {
        peer.write_all(request(1, "polls", "{}").as_bytes()).unwrap();
        let said = answer(peer);
        let text = said.split(r#""text":""#).nth(1).and_then(|rest| rest.split('"').next());
        text.and_then(|text| text.parse::<u64>().ok()).unwrap()
    };
    let before = polls(&mut first);
    std::thread::sleep(Duration::from_millis(300));
    let more = polls(&mut first) - before;
    assert!(more < 20, "{more}");
    drop(first);
    for peer in peers {
        assert!(answer(&peer).contains(r#""text":"x""#));
    }
    assert!(runs(child.0.id()));
}

fn who_is_too_many_is_sent_away() {
    let mut listening = Listening::start(|server| server.set_max_connections(2));
    block_on(async {
        let first = listening.client().await.unwrap();
        let second = listening.client().await.unwrap();
        for _ in 0..100 {
            // It is told at once.
            assert!(matches!(listening.peer().read(&mut [0]), Ok(0) | Err(_)));
        }
        assert_eq!(tool(&first, "echo", r#"{"text":"on"}"#).await, "on");
        second.close().await;
        let mut third = listening.client().await;
        while third.is_err() {
            third = listening.client().await;
        }
        assert_eq!(tool(&third.unwrap(), "echo", r#"{"text":"in"}"#).await, "in");
    });
    listening.stop(Stopper::stop);
}

fn a_listener_stops_whatever_its_clients_do() {
    for stop in [Stopper::stop, Stopper::stop_now] {
        let mut listening = Listening::start(|_| ());
        let silent = listening.peer();
        let mut half = listening.peer();
        half.write_all(br#"{"jsonrpc":"2.0","id":1,"meth"#).unwrap();
        let mut stays = listening.peer();
        stays.write_all(request(1, "stay", "{}").as_bytes()).unwrap();
        // One whose answers find no room.
        let mut deaf = listening.peer();
        let text = "x".repeat(1 << 20);
        for id in 0..20 {
            deaf.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            let wrote = deaf.write_all(request(id, "echo", &format!(r#"{{"text":"{text}"}}"#)).as_bytes());
            if wrote.is_err() {
                break;
            }
        }
        block_on(eventually("it runs", || listening.running.load(Ordering::SeqCst) == 1));
        listening.stop(stop);
        for mut peer in [silent, half, stays] {
            let ended = peer.read_to_end(&mut Vec::new());
            assert!(ended.is_ok(), "{ended:?}");
        }
        assert!(TcpStream::connect(listening.address).is_err(), "it listens still");
        drop(deaf);
    }
}

fn a_listener_that_is_dropped_leaves_nothing() {
    let running = Arc::<AtomicUsize>::default();
    let server = server(&running);
    let folder = Folder::new("dropped");
    let path = folder.0.join("socket");
    for polls in 0..12 {
        let listener = UnixListener::bind(&path).unwrap();
        let serves = server.clone();
        let mut serves = Driven::new(async move { serves.serve_unix(listener).await.unwrap() });
        let mut peers: Vec<_> = (0..10).map(|_| UnixStream::connect(&path).unwrap()).collect();
        peers.iter_mut().for_each(|peer| {
            peer.write_all(request(1, "stay", "{}").as_bytes()).unwrap();
        });
        for _ in 0..polls {
            serves.poll();
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(serves);
        assert_eq!(running.load(Ordering::SeqCst), 0, "a handler is left");
        for mut peer in peers {
            assert!(matches!(peer.read(&mut [0]), Ok(0) | Err(_)), "its socket is open");
        }
        assert!(UnixStream::connect(&path).is_err(), "it listens still");
        std::fs::remove_file(&path).unwrap();
    }
    drop(server);
    assert_eq!(Arc::strong_count(&running), 1, "something is left");
}

fn nonsense_ends_nobody_elses_connection() {
    let mut listening = Listening::start(|_| ());
    let client = block_on(listening.client()).unwrap();
    let nonsense: [Vec<u8>; 8] = [
        vec![0; 100_000],
        vec![b'\n'; 100_000],
        vec![0xff; 3000],
        "[".repeat(50_000).into_bytes(),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        br#"{"jsonrpc":"2.0","id":1,"method":"initialize"}{"jsonrpc":"2.0"#.to_vec(),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
            .repeat(2000)
            .into_bytes(),
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n".repeat(2000).into_bytes(),
    ];
    for round in 0..5 {
        for (n, bytes) in nonsense.iter().enumerate() {
            let mut peer = listening.peer();
            // Some end their side, some go, and none reads: whether all of it is taken is theirs to lose.
            let _ = peer.write_all(bytes);
            if (round + n) % 2 == 0 {
                let _ = peer.shutdown(std::net::Shutdown::Write);
            }
        }
        assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on");
    }
    // Many come and go at once, with a word and without.
    for n in 0..400 {
        let mut peer = listening.peer();
        if n % 2 == 0 {
            let _ = peer.write_all(request(n, "stay", "{}").as_bytes());
        }
    }
    assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on");
    // Handlers that nobody waits for any more are dropped, and their places are free.
    block_on(eventually("they are gone", || listening.running.load(Ordering::SeqCst) == 0));
    assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on");
    listening.stop(Stopper::stop);
}

fn who_never_reads_holds_up_nobody() {
    let mut listening = Listening::start(|_| ());
    let client = block_on(listening.client()).unwrap();
    let text = "x".repeat(100_000);
    let deaf: Vec<_> = (0..3)
        .map(|_| {
            let mut peer = listening.peer();
            rustix::net::sockopt::set_socket_recv_buffer_size(&peer, 64 * 1024).unwrap();
            rustix::net::sockopt::set_socket_send_buffer_size(&peer, 64 * 1024).unwrap();
            peer.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
            // Until nothing more goes: the server has stopped reading then.
            let line = request(1, "echo", &format!(r#"{{"text":"{text}"}}"#));
            while peer.write_all(line.as_bytes()).is_ok() {}
            peer
        })
        .collect();
    for n in 0..100 {
        let n = n.to_string();
        assert_eq!(block_on(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#))), n);
    }
    // One that does not even take what it is given, and asks for more.
    let held: Vec<_> = (0..10).map(|_| begin(&client, "echo", r#"{"text":"y"}"#)).collect();
    drop(held);
    assert_eq!(block_on(tool(&client, "echo", r#"{"text":"on"}"#)), "on");
    drop(deaf);
    listening.stop(Stopper::stop);
}
