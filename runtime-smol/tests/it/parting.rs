//! How served connections end: by clients that vanish, that close one side, that go on sending.

use std::future::Future;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::future::zip;
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use sanswire_smol::{Server, Tool};

use crate::common::{Driven, eventually, request, trials};

trials! {
    each: ;
    once: a_client_that_is_gone_ends_its_calls_at_once, a_client_that_only_ends_its_output_is_answered,
        a_client_that_goes_on_sending_reads_all_answers, a_client_that_never_goes_is_left
}

/// What its handlers came to.
#[derive(Default)]
struct Seen {
    begun: AtomicUsize,
    cancelled: AtomicUsize,
}

/// A server that would let calls go on for a long time after the end of the input.
fn server(seen: &Arc<Seen>) -> Server {
    let seen = Arc::clone(seen);
    Server::builder("s", "1")
        .tool("wait", Tool::new("Waits to be cancelled"), move |(), call| {
            let seen = Arc::clone(&seen);
            async move {
                seen.begun.fetch_add(1, Ordering::SeqCst);
                call.cancelled().await;
                seen.cancelled.fetch_add(1, Ordering::SeqCst);
                Ok("")
            }
        })
        .tool("nap", Tool::new("Takes its time"), |(), _| async {
            Timer::after(Duration::from_millis(50)).await;
            Ok("awake")
        })
        .tool("big", Tool::new("Says much").integer("bytes", "How much"), |(), call| async move {
            Ok("x".repeat(call.argument("bytes")?))
        })
        .config(|config| config.limits.drain = Duration::from_secs(3600))
        .build()
        .unwrap()
}

fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}

/// Begins a call on `ours`, lets go of it, and waits for the server.
async fn vanishes<S: std::io::Write>(
    seen: &Seen,
    mut ours: S,
    leave: impl FnOnce(S),
    serves: impl Future<Output = ()>,
) {
    let before = seen.begun.load(Ordering::SeqCst);
    ours.write_all(request(1, "wait", "{}").as_bytes()).unwrap();
    let client = async {
        eventually("it runs", || seen.begun.load(Ordering::SeqCst) > before).await;
        leave(ours);
    };
    zip(serves, client).await;
    assert_eq!(seen.cancelled.load(Ordering::SeqCst), before + 1, "its handler was told");
}

async fn a_client_that_is_gone_ends_its_calls_at_once() {
    let seen = Arc::<Seen>::default();
    let server = server(&seen);
    for _ in 0..10 {
        let (ours, theirs) = UnixStream::pair().unwrap();
        vanishes(&seen, ours, drop, async { server.serve_unix_stream(theirs).await.unwrap() }).await;
        // One that is cut off: whatever is on its way is thrown away.
        let (ours, theirs) = tcp_pair();
        rustix::net::sockopt::set_socket_linger(&ours, Some(Duration::ZERO)).unwrap();
        vanishes(&seen, ours, drop, async { server.serve_tcp_stream(theirs).await.unwrap() }).await;
    }
}

async fn a_client_that_only_ends_its_output_is_answered() {
    let server = server(&Arc::default());
    let (ours, theirs) = tcp_pair();
    let client = async {
        let mut ours = Async::new(ours).unwrap();
        ours.write_all((request(1, "nap", "{}") + &request(2, "nap", "{}")).as_bytes()).await.unwrap();
        ours.get_ref().shutdown(Shutdown::Write).unwrap();
        let mut said = String::new();
        ours.read_to_string(&mut said).await.unwrap();
        assert_eq!(said.matches("awake").count(), 2, "{said}");
    };
    let (served, ()) = zip(server.serve_tcp_stream(theirs), client).await;
    served.unwrap();
}

/// What is left unread when a socket is closed makes the system cut the connection off, with all that was not taken yet.
async fn a_client_that_goes_on_sending_reads_all_answers() {
    const BYTES: usize = 1_000_000;
    let server = server(&Arc::default());
    let (mut ours, theirs) = tcp_pair();
    rustix::net::sockopt::set_socket_recv_buffer_size(&ours, 64 * 1024).unwrap();
    let mut serves = Driven::new(async { server.serve_tcp_stream(theirs).await.unwrap() });
    ours.write_all(request(1, "big", &format!(r#"{{"bytes":{BYTES}}}"#)).as_bytes()).unwrap();
    serves.settle();
    let reads = ours.try_clone().unwrap();
    server.stopper().stop_now();
    serves.poll();
    // The server reads no more.
    ours.write_all(request(2, "big", r#"{"bytes":1}"#).as_bytes()).unwrap();
    let read = std::thread::spawn(move || {
        let mut said = Vec::new();
        (&reads).read_to_end(&mut said).map(|_| said)
    });
    serves.finish();
    drop(ours);
    let said = read.join().unwrap().unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(said.ends_with('\n') && said.contains(&"x".repeat(BYTES)), "{} bytes", said.len());
}

/// It is not waited for until it goes, whatever it sends.
async fn a_client_that_never_goes_is_left() {
    let server = server(&Arc::default());
    for sends in [false, true] {
        let server = Server::clone(&server);
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        server.stopper().stop();
        let mut serves = Driven::new(async { server.serve_unix_stream(theirs).await.unwrap() });
        let mut polls = 0;
        while !serves.ready {
            let seen = serves.woken.get();
            serves.poll();
            polls += 1;
            if sends {
                // Full at times, and closed in the end.
                let _ = (&ours).write(&[b' '; 4096]);
            }
            assert!(serves.ready || serves.woken.after(seen), "never woken");
        }
        assert!(sends || polls < 20, "it asks again and again: {polls}");
    }
}
