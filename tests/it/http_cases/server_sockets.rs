//! The served half over sockets: `sanswire-std` and `sanswire-smol`, and a client that is bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use sanswire_std::HttpOptions;
use sanswire_tests::http_cases::{Asked, requests};

use super::server_machines::{Answer, afterwards};
use super::{some_splits, write_pieces};

/// Replays the rows of a case, each whole, byte by byte, and in some pieces.
pub(super) fn replay(case: &str) {
    replay_on(case, Serving::blocking);
    #[cfg(unix)]
    replay_on(case, Serving::on_smol);
}

fn replay_on(case: &str, start: fn(&Asked) -> Serving) {
    let afterwards = afterwards();
    for row in requests().iter().filter(|row| row.case == case) {
        let serving = start(row);
        some_splits(&row.bytes, |pieces| {
            let mut wire = Wire { stream: TcpStream::connect(serving.address).unwrap(), unread: Vec::new() };
            wire.stream.set_nodelay(true).unwrap();
            wire.stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let lens: Vec<_> = pieces.iter().map(|piece| piece.len()).collect();
            assert!(write_pieces(&mut wire.stream, &row.bytes, &lens));
            let way = format!("{case}, {}, {} pieces, first {} bytes", row.what, lens.len(), lens[0]);
            wire.answer().unwrap().check(row, &way);
            // The other end of an end may be there already.
            let _ = wire.stream.write_all(&afterwards);
            let then = wire.answer().map(|then| then.status);
            assert_eq!(then, row.goes_on().then_some(200), "{way}: what comes next");
        });
    }
}

struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Wire {
    /// The next answer; none at the end.
    fn answer(&mut self) -> Option<Answer> {
        loop {
            if let Some((answer, len)) = Answer::read(&self.unread) {
                self.unread.drain(..len);
                return Some(answer);
            }
            let mut block = [0; 4096];
            match self.stream.read(&mut block).unwrap() {
                0 => return None,
                len => self.unread.extend_from_slice(&block[..len]),
            }
        }
    }
}

/// A server at an address.
struct Serving {
    stop: Box<dyn Fn()>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn blocking(row: &Asked) -> Self {
        let server = sanswire_std::Server::builder("replay", "0").build().unwrap();
        let stopper = server.stopper();
        Self::start(
            row,
            move || stopper.stop_now(),
            move |listener, options| {
                server.serve_http(listener, options).unwrap();
            },
        )
    }

    #[cfg(unix)]
    fn on_smol(row: &Asked) -> Self {
        let server = sanswire_smol::Server::builder("replay", "0").build().unwrap();
        let stopper = server.stopper();
        Self::start(
            row,
            move || stopper.stop_now(),
            move |listener, options| {
                async_io::block_on(server.serve_http(listener, options)).unwrap();
            },
        )
    }

    fn start(
        row: &Asked,
        stop: impl Fn() + 'static,
        serve: impl FnOnce(TcpListener, HttpOptions) + Send + 'static,
    ) -> Self {
        let options = row.hosts.iter().fold(HttpOptions::default(), |options, host| options.host(host));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || serve(listener, options));
        Self { stop: Box::new(stop), address, thread: Some(thread) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        (self.stop)();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
