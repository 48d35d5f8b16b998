//! The client's half over sockets: `sanswire-std`, and a site behind a listener.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sanswire::client::{Outcome, RequestOptions, Start, Verdict};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire_std::{Client, ConnectError, ConnectOptions, HttpTarget};
use sanswire_tests::http_cases::{Answer, Comes, Reply, Request, SECRET, Site, Then, answers, keeps_secrets};

use super::some_splits;

/// Replays the rows of a case, each whole, byte by byte, and in some pieces.
pub(super) fn replay(case: &str) {
    for row in answers().iter().filter(|row| row.case == case) {
        if row.then == Then::Breaks && cfg!(not(unix)) {
            continue;
        }
        some_splits(&row.bytes, |pieces| {
            let served = Served::start(row, pieces);
            let came = play(row, &served);
            let lens: Vec<_> = pieces.iter().map(|piece| piece.len()).take(4).collect();
            assert_eq!(came, row.comes, "{case}, {}, in pieces of {lens:?} bytes", row.what);
        });
    }
}

fn play(row: &Answer, served: &Served) -> Comes {
    let mut options = ConnectOptions::new("replay", "0");
    if row.to.is_legacy() {
        options.config.start = Start::Remembered(Verdict::Legacy);
    }
    let target = HttpTarget::new(&format!("http://{}/mcp", served.address)).unwrap();
    let target = target.header("Authorization", &format!("Bearer {SECRET}-token")).unwrap();
    let mut came = Comes::default();
    match Client::connect_http(&target, options) {
        Err(error) => {
            keeps_secrets(&(&error, error.to_string()));
            let ConnectError::Closed { reason, .. } = error else { panic!("{error:?}") };
            came.closed = Some(*reason);
        }
        Ok(client) => {
            let (method, id) = row.to.asked();
            for _ in 2..id {
                ask(&client, "tools/list", "{}", &mut 0);
            }
            came.outcome = Some(ask(&client, method, r#"{"name":"x"}"#, &mut came.progress));
            if row.comes.closed.is_none() {
                let then = ask(&client, "tools/list", r#"{"cursor":"afterwards"}"#, &mut 0);
                assert!(matches!(then, Outcome::Complete(_)), "it goes on: {then:?}");
            }
            // What follows from the answer may be under way still.
            eventually(|| served.requests().len() >= row.comes.requests.len());
            eventually(|| client.violations().len() >= row.comes.violations.len());
            eventually(|| client.is_closed().is_some() == row.comes.closed.is_some());
            came.closed = client.is_closed();
            came.violations = client.violations();
            while let Some(notice) = client.next_notification(Duration::ZERO) {
                // With a new session come some that no server sent.
                came.notices.push(notice.method.to_string());
                came.notices.retain(|method| !method.ends_with("list_changed"));
            }
            client.close();
            keeps_secrets(&(&client, &came));
        }
    }
    came.requests = served.requests();
    came
}

fn ask(client: &Client, method: &str, params: &str, progress: &mut usize) -> Outcome {
    let params = RawJson::parse_str(params).unwrap();
    let options = RequestOptions::default();
    client.call_with(Method::from_name(method), Some(params), &options, &mut |_| *progress += 1).unwrap()
}

/// Waits for that; what comes of it is looked at afterwards.
fn eventually(done: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !done() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A site at an address.
struct Served {
    address: SocketAddr,
    site: Arc<Mutex<Site>>,
    over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Served {
    fn start(row: &Answer, pieces: &[&[u8]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let site = Arc::new(Mutex::new(Site::new(row)));
        let over = Arc::new(AtomicBool::new(false));
        let lens: Arc<[usize]> = pieces.iter().map(|piece| piece.len()).collect();
        let (answers, ends) = (Arc::clone(&site), Arc::clone(&over));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let (answers, lens) = (Arc::clone(&answers), Arc::clone(&lens));
                std::thread::spawn(move || serve(stream, &answers, &lens));
            }
        });
        Self { address, site, over, accepting: Some(accepting) }
    }

    fn requests(&self) -> Vec<String> {
        self.site.lock().unwrap().requests()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            accepting.join().unwrap();
        }
    }
}

/// One connection, to its end.
fn serve(mut stream: TcpStream, site: &Mutex<Site>, lens: &[usize]) {
    stream.set_nodelay(true).unwrap();
    let mut unread = Vec::new();
    loop {
        let request = loop {
            if let Some((request, len)) = Request::read(&unread) {
                unread.drain(..len);
                break request;
            }
            let mut block = [0; 4096];
            match stream.read(&mut block) {
                Ok(len @ 1..) => unread.extend_from_slice(&block[..len]),
                _ => return,
            }
        };
        let reply = site.lock().unwrap().answer(&request);
        // Whoever has what it wants may be gone.
        let sent = send(&mut stream, &reply, lens);
        match reply.then {
            Then::Stays if sent => {}
            Then::Stays | Then::Ends => return,
            Then::Breaks => return reset(stream),
        }
    }
}

fn send(stream: &mut TcpStream, reply: &Reply, lens: &[usize]) -> bool {
    if !reply.of_the_row {
        return stream.write_all(&reply.bytes).is_ok();
    }
    super::write_pieces(stream, &reply.bytes, lens)
}

/// Ends a connection as a process does that dies with it unread.
fn reset(stream: TcpStream) {
    #[cfg(unix)]
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}
