//! How often a small call asks for memory on each runtime, to the number, from the call to its answer. The other side is a
//! script that asks for none. Everything is warm by then: buffers, tables and threads are there.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};

use sanswire::client::{Outcome, RequestOptions, Start};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Revision;
use sanswire_tests::client::json;
use sanswire_tests::served::meta;

use crate::counting::allocations;

/// So many calls, of which the second half is counted.
const CALLS: usize = 200;

/// On threads no more than the machines ask for, as they are counted by themselves: two to ask and one to hear, ...
const CLIENT: usize = 3;
/// ... two to read, one to line the call up, and the result. Handing a call to a thread and back takes none.
const SERVER: usize = 4;
/// Of async-io's, at each wait: a list of those whom it wakes, and its table of deadlines cut in two.
const WAIT: usize = 2;
/// A future that waits for an answer is its caller's.
const ASYNC_CLIENT: usize = CLIENT + WAIT;
/// A list of those whose turn it is, what a handler has of its call, and its work in a box, since each is of another type.
const ASYNC_SERVER: usize = SERVER + 3 + WAIT;

/// One end of a connection on which lines are written and read without memory of their own.
struct Script {
    stream: TcpStream,
    bytes: [u8; 8192],
    len: usize,
}

impl Script {
    const fn new(stream: TcpStream) -> Self {
        Self { stream, bytes: [0; 8192], len: 0 }
    }

    /// The id of the next line that has one; `None` at the end.
    fn next_id(&mut self) -> Option<u64> {
        loop {
            while let Some(end) = self.bytes[..self.len].iter().position(|byte| *byte == b'\n') {
                let id = id_of(&self.bytes[..end]);
                self.bytes.copy_within(end + 1..self.len, 0);
                self.len -= end + 1;
                if id.is_some() {
                    return id;
                }
            }
            let read = self.stream.read(&mut self.bytes[self.len..]).unwrap();
            if read == 0 {
                return None;
            }
            self.len += read;
        }
    }

    /// Writes one line, with an id between its parts.
    fn say(&mut self, before: &str, id: u64, behind: &str) {
        let mut line = [0; 1024];
        let mut room = &mut line[..];
        writeln!(room, "{before}{id}{behind}").unwrap();
        let left = room.len();
        self.stream.write_all(&line[..1024 - left]).unwrap();
    }
}

/// Ids are numbers here, and nothing else is called so.
fn id_of(line: &[u8]) -> Option<u64> {
    let name = br#""id":"#;
    let at = line.windows(name.len()).position(|part| part == name)?;
    let digits = line[at + name.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |id, digit| id * 10 + u64::from(digit - b'0')))
}

fn connected() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A server that answers every call with the same text.
fn scripted_server(listener: TcpListener) -> JoinHandle<()> {
    spawn(move || {
        let mut script = Script::new(listener.accept().unwrap().0);
        script.stream.set_nodelay(true).unwrap();
        let discovered =
            r#","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}"#;
        let answer = r#","result":{"resultType":"complete","content":[{"type":"text","text":"hello"}]}}"#;
        let mut answers = discovered;
        while let Some(id) = script.next_id() {
            script.say(r#"{"jsonrpc":"2.0","id":"#, id, answers);
            answers = answer;
        }
    })
}

fn config() -> sanswire::client::Config {
    let mut config = sanswire::client::Config::new("counted", "0");
    config.start = Start::Pinned(Revision::V2026_07_28);
    config
}

/// What a call of the second half asks for, as most of them do: a few meet another thread at work, and wait twice.
fn counted(mut call: impl FnMut()) -> usize {
    let mut counts: Vec<_> = (0..CALLS).map(|_| allocations(&mut call)).collect();
    let warm = &mut counts[CALLS / 2..];
    warm.sort_unstable();
    warm[warm.len() / 2]
}

fn heard(outcome: &Outcome) {
    let Outcome::Complete(result) = outcome else { panic!("{outcome:?}") };
    assert!(result.as_str().contains("hello"));
}

pub(crate) fn a_call_of_a_client_on_threads() {
    use sanswire_std::{Client, ConnectOptions};
    let (listener, address) = connected();
    let server = scripted_server(listener);
    let mut options = ConnectOptions::new("counted", "0");
    options.config = config();
    let client = Client::connect_tcp(address, options).unwrap();
    let (arguments, options): (RawJson, _) = (json(r#"{"text":"hello"}"#), RequestOptions::default());
    let count = counted(|| heard(&client.call_tool("echo", Some(&arguments), &options).unwrap()));
    assert_eq!(count, CLIENT);
    client.close();
    server.join().unwrap();
}

/// Asks, and waits for the answer.
fn scripted_client(address: SocketAddr) -> usize {
    let mut script = Script::new(TcpStream::connect(address).unwrap());
    script.stream.set_nodelay(true).unwrap();
    let params = serde_json::json!({"name": "echo", "arguments": {}, "_meta": meta()});
    let behind = format!(r#","method":"tools/call","params":{params}}}"#);
    let mut id = 0;
    let count = counted(|| {
        id += 1;
        script.say(r#"{"jsonrpc":"2.0","id":"#, id, &behind);
        assert_eq!(script.next_id(), Some(id));
    });
    script.stream.shutdown(Shutdown::Both).unwrap();
    count
}

pub(crate) fn a_call_of_a_server_on_threads() {
    use sanswire_std::{Server, Tool};
    let server =
        Server::builder("counted", "0").tool("echo", Tool::new("Says hello"), |(), _| Ok("hello")).build();
    let server = server.unwrap();
    let (listener, address) = connected();
    let serves = spawn(move || server.serve_tcp_stream(listener.accept().unwrap().0).unwrap());
    assert_eq!(scripted_client(address), SERVER);
    serves.join().unwrap();
}

pub(crate) fn a_call_of_an_async_client() {
    use sanswire_smol::{Client, ConnectOptions};
    let (listener, address) = connected();
    let server = scripted_server(listener);
    let mut options = ConnectOptions::new("counted", "0");
    options.config = config();
    let client = async_io::block_on(Client::connect_tcp(address, options)).unwrap();
    let (arguments, options): (RawJson, _) = (json(r#"{"text":"hello"}"#), RequestOptions::default());
    let count = counted(|| {
        heard(&async_io::block_on(client.call_tool("echo", Some(&arguments), &options)).unwrap());
    });
    assert_eq!(count, ASYNC_CLIENT);
    async_io::block_on(client.close());
    server.join().unwrap();
}

pub(crate) fn a_call_of_an_async_server() {
    use sanswire_smol::{Server, Tool};
    let tool = |(), _| async { Ok("hello") };
    let server = Server::builder("counted", "0").tool("echo", Tool::new("Says hello"), tool).build().unwrap();
    let (listener, address) = connected();
    let serves = spawn(move || {
        let stream = listener.accept().unwrap().0;
        async_io::block_on(server.serve_tcp_stream(stream)).unwrap();
    });
    assert_eq!(scripted_client(address), ASYNC_SERVER);
    serves.join().unwrap();
}
