//! The served half of a listener: many clients, none of which waits for another.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::{Client, Server};

use crate::common::{LONG, PLAIN, eventually, no_options, options, raw, trials};
use crate::peer::{Lines, OPENING, call, cancel, ping};
use crate::served::server;

trials!(
    many_clients_are_served_at_once,
    clients_of_our_own_are_served,
    over_a_unix_socket_too,
    who_comes_when_there_are_enough_is_sent_away,
    a_client_that_never_reads_delays_no_other,
    a_client_with_many_slow_calls_leaves_room_for_others,
    no_client_gets_all_threads,
    a_line_that_comes_slowly_delays_no_other,
    a_client_that_is_gone_cancels_its_calls,
    a_stop_ends_all_connections,
    a_change_is_told_to_all,
    answers_that_were_written_arrive_before_the_end,
);

const MINUTE: &str = r#"{"ms":60000}"#;

/// A server that listens, and what ends it.
struct Listening {
    server: Server,
    address: SocketAddr,
    serving: Option<JoinHandle<()>>,
}

impl Listening {
    fn start(flags: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = server(flags);
        let serves = server.clone();
        let serving = std::thread::spawn(move || serves.serve_tcp(listener).unwrap());
        Self { server, address, serving: Some(serving) }
    }

    fn client(&self) -> TcpClient {
        let stream = TcpStream::connect(self.address).unwrap();
        let lines = Lines::of(stream.try_clone().unwrap());
        let mut client = TcpClient { stream, lines };
        client.send(OPENING);
        assert!(client.lines.next().view().get("result").is_some());
        client
    }

    /// Stops, and returns once all is over.
    fn stop(mut self) {
        self.server.stopper().stop();
        self.serving.take().unwrap().join().unwrap();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.server.stopper().stop_now();
    }
}

struct TcpClient {
    stream: TcpStream,
    lines: Lines,
}

impl TcpClient {
    fn send(&mut self, lines: &str) {
        self.stream.write_all(lines.as_bytes()).unwrap();
    }

    fn echoes(&mut self, id: u64) {
        self.send(&call(id, "echo", &format!(r#"{{"text":"{id}"}}"#)));
        assert_eq!(self.lines.answer(), (id, id.to_string()));
    }
}

fn many_clients_are_served_at_once() {
    let listening = Listening::start(&[]);
    // The fallback has two threads for each.
    let count = if PLAIN { 20 } else { 200 };
    let mut clients: Vec<TcpClient> = (0..count).map(|_| listening.client()).collect();
    for round in 0..3 {
        for (client, id) in clients.iter_mut().zip(0..) {
            client.send(&call(id, "echo", &format!(r#"{{"text":"{round}"}}"#)));
        }
        for (client, id) in clients.iter().zip(0..) {
            assert_eq!(client.lines.answer(), (id, round.to_string()));
        }
    }
    // Half of them leave; the others stay, and new ones come in their places.
    clients.truncate(count / 2);
    clients.extend((0..count / 2).map(|_| listening.client()));
    clients.iter_mut().for_each(|client| client.echoes(7));
    listening.stop();
}

fn calls_of(client: Client) {
    for n in 0..20 {
        let arguments = raw(&format!(r#"{{"text":"{n}"}}"#));
        match client.call_tool("echo", Some(&arguments), &no_options()).unwrap() {
            Outcome::Complete(result) => assert_eq!(CallToolResult::new(result).text(), n.to_string()),
            other => panic!("{other:?}"),
        }
    }
    client.close();
}

fn clients_of_our_own_are_served() {
    let listening = Listening::start(&[]);
    let address = listening.address.to_string();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| calls_of(Client::connect_tcp(&address, options()).unwrap()));
        }
    });
    listening.stop();
}

#[cfg(not(sanswire_plain))]
fn over_a_unix_socket_too() {
    let path = std::env::temp_dir().join(format!("sanswire-served-{}", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let server = server(&[]);
    let serves = server.clone();
    let serving = std::thread::spawn(move || serves.serve_unix(listener).unwrap());
    calls_of(Client::connect_unix(&path, options()).unwrap());
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let serves = server.clone();
    let alone = std::thread::spawn(move || serves.serve_unix_stream(theirs).unwrap());
    (&ours).write_all((OPENING.to_owned() + &ping(1)).as_bytes()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let lines = Lines::of(ours);
    assert!(lines.next().view().get("result").is_some());
    assert_eq!(lines.answer().0, 1);
    assert!(lines.ended());
    alone.join().unwrap();
    server.stopper().stop();
    serving.join().unwrap();
    std::fs::remove_file(path).unwrap();
}

#[cfg(sanswire_plain)]
fn over_a_unix_socket_too() {}

fn who_comes_when_there_are_enough_is_sent_away() {
    let listening = Listening::start(&["connections=2"]);
    let mut first = listening.client();
    let second = listening.client();
    let mut third = TcpStream::connect(listening.address).unwrap();
    third.set_read_timeout(Some(LONG)).unwrap();
    assert!(matches!(third.read(&mut [0; 16]), Ok(0)));
    first.echoes(1);
    second.stream.shutdown(std::net::Shutdown::Both).unwrap();
    // There is room again as soon as the server has seen that.
    eventually("a new client is served", || {
        let mut stream = TcpStream::connect(listening.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(OPENING.as_bytes()).is_ok() && matches!(stream.read(&mut [0; 16]), Ok(1..))
    });
    listening.stop();
}

fn a_client_that_never_reads_delays_no_other() {
    let listening = Listening::start(&["max-out=100000", "drain=100"]);
    let mut deaf = TcpStream::connect(listening.address).unwrap();
    deaf.write_all(OPENING.as_bytes()).unwrap();
    let calls: String = (0..200).map(|id| call(id, "big", r#"{"bytes":1000000}"#)).collect();
    deaf.write_all(calls.as_bytes()).unwrap();
    let mut client = listening.client();
    (0..50).for_each(|id| client.echoes(id));
    listening.stop();
}

fn a_client_with_many_slow_calls_leaves_room_for_others() {
    let listening = Listening::start(&["threads=2"]);
    let mut greedy = listening.client();
    let mut modest = listening.client();
    // More than there are threads for, by far.
    greedy.send(&(0..1000).map(|id| call(id, "stubborn", r#"{"ms":20}"#)).collect::<String>());
    greedy.send(&ping(2000));
    while greedy.lines.answer().0 != 2000 {}
    // Its one call is the next but one, not the last of a thousand: those take ten seconds.
    modest.send(&call(1, "echo", r#"{"text":"me too"}"#));
    modest.send(&ping(2));
    let (mut answered, mut left) = (0, 2);
    while left > 0 {
        modest.lines.answer();
        left -= 1;
    }
    while greedy.lines.try_answer().is_some() {
        answered += 1;
    }
    assert!(answered < 900, "{answered}");
    greedy.send(&(0..1000).map(cancel).collect::<String>());
    listening.stop();
}

fn no_client_gets_all_threads() {
    let listening = Listening::start(&["threads=4"]);
    let mut greedy = listening.client();
    let mut modest = listening.client();
    greedy.send(&(0..10).map(|id| call(id, "sleep", MINUTE)).collect::<String>());
    greedy.send(&ping(10));
    assert_eq!(greedy.lines.answer().0, 10);
    (0..20).for_each(|id| modest.echoes(id));
    // Its own calls wait, until some are over.
    greedy.send(&call(11, "echo", r#"{"text":"mine"}"#));
    assert!(greedy.lines.silent());
    greedy.send(&(0..10).map(cancel).collect::<String>());
    assert_eq!(greedy.lines.answer(), (11, "mine".into()));
    listening.stop();
}

fn a_line_that_comes_slowly_delays_no_other() {
    let listening = Listening::start(&[]);
    let mut slow = listening.client();
    let mut quick = listening.client();
    let line = call(1, "echo", r#"{"text":"at last"}"#);
    for (n, byte) in (0..).zip(line.as_bytes()) {
        slow.stream.write_all(&[*byte]).unwrap();
        quick.echoes(n);
    }
    assert_eq!(slow.lines.answer(), (1, "at last".into()));
    listening.stop();
}

fn a_client_that_is_gone_cancels_its_calls() {
    let listening = Listening::start(&["threads=1", "drain=50"]);
    let mut gone = listening.client();
    gone.send(&(call(1, "sleep", MINUTE) + &ping(2)));
    assert_eq!(gone.lines.answer().0, 2);
    let mut client = listening.client();
    client.send(&call(3, "echo", r#"{"text":"now"}"#));
    gone.stream.shutdown(std::net::Shutdown::Both).unwrap();
    // The only thread is free again.
    assert_eq!(client.lines.answer(), (3, "now".into()));
    listening.stop();
}

fn a_stop_ends_all_connections() {
    let listening = Listening::start(&[]);
    let mut clients: Vec<TcpClient> = (0..20).map(|_| listening.client()).collect();
    clients[0].send(&(call(1, "sleep", r#"{"ms":200}"#) + &ping(2)));
    assert_eq!(clients[0].lines.answer().0, 2);
    let address = listening.address;
    listening.stop();
    assert_eq!(clients[0].lines.answer(), (1, "slept".into()));
    assert!(clients.iter().all(|client| client.lines.ended()));
    assert!(TcpStream::connect(address).is_err());
}

fn a_change_is_told_to_all() {
    let listening = Listening::start(&[]);
    let mut clients: Vec<TcpClient> = (0..5).map(|_| listening.client()).collect();
    clients[0].send(&call(1, "change", "{}"));
    assert_eq!(clients[0].lines.answer().0, 1);
    for client in &clients {
        assert!(client.lines.next().as_str().contains("notifications/tools/list_changed"));
    }
    listening.stop();
}

fn answers_that_were_written_arrive_before_the_end() {
    let listening = Listening::start(&[]);
    let mut client = listening.client();
    // What comes behind the stop is never read.
    client.send(&(call(1, "big", r#"{"bytes":3000000}"#) + &call(2, "stop", "{}")));
    client.send(&(3..200).map(|id| call(id, "echo", r#"{"text":"too late"}"#)).collect::<String>());
    std::thread::sleep(Duration::from_millis(50));
    let mut seen = Vec::new();
    while let Some((id, text)) = client.lines.until_end() {
        if id == 1 {
            assert_eq!(text.len(), 3_000_000);
        }
        seen.push(id);
    }
    assert!(seen.contains(&1) && seen.contains(&2), "{seen:?}");
    listening.stop();
}
