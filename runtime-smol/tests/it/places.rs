//! Places for handlers that many connections share: who gets one, and that none is lost.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use futures_lite::future::{or, poll_once, yield_now};
use sanswire_smol::sanswire::mcp::Method;
use sanswire_smol::{Client, Pending, Server, Tool};

use crate::common::{ANY, Driven, begin, eventually, no_options, request, text_of, tool, trials};

trials! {
    each: ;
    once: a_place_that_is_not_wanted_any_more_is_passed_on, a_place_of_one_that_is_gone_is_passed_on,
        who_asks_all_the_time_leaves_places_to_others, where_there_is_room_again_requests_run, handlers_that_are_dropped_give_their_places_back,
        places_come_back_from_every_end
}

/// Holds handlers until it is opened.
#[derive(Default)]
struct Gate(AtomicBool, Mutex<Vec<Waker>>);

impl Gate {
    async fn passed(&self) {
        std::future::poll_fn(|cx| {
            self.1.lock().unwrap().push(cx.waker().clone());
            if self.0.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
        let wakers = std::mem::take(&mut *self.1.lock().unwrap());
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// What its tools did, in order.
#[derive(Default)]
struct Seen {
    ran: Mutex<Vec<String>>,
    running: AtomicUsize,
    gate: Gate,
    /// What those say who passed the gate.
    says: Mutex<String>,
}

impl Seen {
    fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }
}

/// Counts a handler while it runs, however it ends.
struct Running(Arc<Seen>);

impl Running {
    fn new(seen: &Arc<Seen>) -> Self {
        seen.running.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(seen))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn server(seen: &Arc<Seen>) -> Server {
    let (waits, notes, stays, fails) =
        (Arc::clone(seen), Arc::clone(seen), Arc::clone(seen), Arc::clone(seen));
    Server::builder("s", "1")
        .tool("wait", Tool::new("Waits at the gate"), move |(), _| {
            let running = Running::new(&waits);
            async move {
                running.0.gate.passed().await;
                let says = running.0.says.lock().unwrap().clone();
                Ok(says + "passed")
            }
        })
        .tool("note", Tool::new("Notes that it ran").string("by", "Who asks"), move |(), call| {
            let running = Running::new(&notes);
            async move {
                let by: String = call.argument("by")?;
                running.0.ran.lock().unwrap().push(by.clone());
                yield_now().await;
                Ok(by)
            }
        })
        .tool("stay", Tool::new("Stays whatever happens"), move |(), _| {
            let running = Running::new(&stays);
            async move {
                let _running = running;
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .tool("fail", Tool::new("Breaks down").boolean("at_once", "Before it waits"), move |(), call| {
            let running = Running::new(&fails);
            let at_once: bool = call.argument("at_once").unwrap_or_default();
            assert!(!at_once, "as it was asked to");
            async move {
                yield_now().await;
                assert_eq!(running.0.running.load(Ordering::SeqCst), usize::MAX, "as it was asked to");
                Ok("")
            }
        })
        .config(|config| config.limits.max_queued_out_bytes = 4096)
        .build()
        .unwrap()
}

/// Serves with so many places while `use_it` lasts; ended by force.
async fn listening(server: &Server, handlers: usize, use_it: impl AsyncFnOnce(SocketAddr)) {
    server.set_max_handlers(handlers);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serves = async {
        server.serve_tcp(listener).await.unwrap();
        panic!("nobody stopped it");
    };
    or(use_it(address), serves).await;
}

async fn client(address: SocketAddr) -> Client {
    Client::connect_tcp(address, ANY.options()).await.unwrap()
}

fn note(client: &Client, by: &str) -> Pending {
    begin(client, "note", &format!(r#"{{"by":"{by}"}}"#))
}

/// Whatever this client has sent so far was read.
async fn was_read(client: &Client) {
    client.list(Method::ToolsList, &no_options()).await.unwrap();
}

async fn running(seen: &Seen, handlers: usize) {
    eventually("they run", || seen.running.load(Ordering::SeqCst) == handlers).await;
}

async fn a_place_that_is_not_wanted_any_more_is_passed_on() {
    let seen = Arc::<Seen>::default();
    listening(&server(&seen), 1, async |address| {
        let (has, gives_up, next) = (client(address).await, client(address).await, client(address).await);
        let waits = begin(&has, "wait", "{}");
        running(&seen, 1).await;
        let given_up = note(&gives_up, "who gave up");
        was_read(&gives_up).await;
        let wanted = note(&next, "next");
        was_read(&next).await;
        given_up.cancel(None);
        was_read(&gives_up).await;
        seen.gate.open();
        assert_eq!(text_of(wanted.await), "next");
        assert_eq!(text_of(waits.await), "passed");
        assert_eq!(seen.ran(), ["next"]);
    })
    .await;
}

async fn a_place_of_one_that_is_gone_is_passed_on() {
    let seen = Arc::<Seen>::default();
    listening(&server(&seen), 1, async |address| {
        let (has, goes, next) = (client(address).await, client(address).await, client(address).await);
        let waits = begin(&has, "wait", "{}");
        running(&seen, 1).await;
        let lost = note(&goes, "who is gone");
        was_read(&goes).await;
        let wanted = note(&next, "next");
        was_read(&next).await;
        // Its connection waits for a place, and ends before there is one.
        drop(lost);
        goes.kill().await;
        was_read(&next).await;
        seen.gate.open();
        assert_eq!(text_of(wanted.await), "next");
        assert_eq!(text_of(waits.await), "passed");
    })
    .await;
}

async fn who_asks_all_the_time_leaves_places_to_others() {
    let seen = Arc::<Seen>::default();
    listening(&server(&seen), 1, async |address| {
        let (floods, asks) = (client(address).await, client(address).await);
        let first = begin(&floods, "wait", "{}");
        running(&seen, 1).await;
        let flood: Vec<_> = (0..500).map(|_| note(&floods, "flood")).collect();
        was_read(&floods).await;
        let asked = note(&asks, "asked");
        was_read(&asks).await;
        seen.gate.open();
        assert_eq!(text_of(asked.await), "asked");
        for pending in flood {
            assert_eq!(text_of(pending.await), "flood");
        }
        assert_eq!(text_of(first.await), "passed");
        // The one whose place it was has asked before, but once has to do.
        let turn = seen.ran().iter().position(|by| by == "asked");
        assert!(turn.is_some_and(|turn| turn <= 1), "{turn:?}");
    })
    .await;
}

/// Requests for whose answers there was no room run as soon as there is, though nothing else happens: whether an answer leaves
/// at once or bit by bit.
async fn where_there_is_room_again_requests_run() {
    for bytes in [10_000, 1 << 20] {
        let seen = Arc::<Seen>::default();
        let server = server(&seen);
        server.set_max_handlers(1);
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut serves = Driven::new(async { server.serve_unix_stream(theirs).await.unwrap() });
        let lines: String = (0..5).map(|id| request(id, "wait", "{}")).collect();
        ours.write_all(lines.as_bytes()).unwrap();
        running_while(&mut serves, &seen);
        let mut polled = serves.woken.get();
        // All were read, and each answer is more than may wait.
        *seen.says.lock().unwrap() = "x".repeat(bytes);
        seen.gate.open();
        ours.set_nonblocking(true).unwrap();
        let (mut said, mut answers, mut part) = (0, 0, vec![0; 64 * 1024]);
        while answers < 5 {
            // Polled when it is woken, and only then.
            assert!(serves.woken.after(polled), "never woken");
            polled = serves.woken.get();
            serves.poll();
            while let Ok(len) = ours.read(&mut part) {
                said += len;
                answers += part[..len].iter().filter(|byte| **byte == b'\n').count();
            }
        }
        assert!(said > 5 * bytes);
        drop(ours);
        serves.finish();
    }
}

/// Polls until a handler runs, and a while longer.
fn running_while(serves: &mut Driven<'_>, seen: &Seen) {
    while seen.running.load(Ordering::SeqCst) == 0 {
        serves.settle();
    }
    serves.settle();
}

async fn handlers_that_are_dropped_give_their_places_back() {
    let seen = Arc::<Seen>::default();
    listening(&server(&seen), 2, async |address| {
        let next = client(address).await;
        for _ in 0..3 {
            // Two clients have all places, with handlers that no cancel ends, and go.
            let clients = [client(address).await, client(address).await];
            let stay = clients.each_ref().map(|client| begin(client, "stay", "{}"));
            running(&seen, 2).await;
            let wanted = note(&next, "next");
            was_read(&next).await;
            drop(stay);
            for client in clients {
                client.kill().await;
            }
            assert_eq!(text_of(wanted.await), "next");
            assert_eq!(tool(&next, "note", r#"{"by":"once more"}"#).await, "once more");
            running(&seen, 0).await;
        }
    })
    .await;
}

async fn places_come_back_from_every_end() {
    let seen = Arc::<Seen>::default();
    listening(&server(&seen), 4, async |address| {
        let client = client(address).await;
        for round in 0..50 {
            let broken = [
                begin(&client, "fail", r#"{"at_once":true}"#),
                begin(&client, "fail", r#"{"at_once":false}"#),
                begin(&client, "nothing", "{}"),
                note(&client, "ran"),
                note(&client, "is given up"),
            ];
            for (n, pending) in broken.into_iter().enumerate() {
                if (n + round) % 5 == 0 { pending.cancel(None) } else { drop(pending.await) }
            }
        }
        running(&seen, 0).await;
        // Half of them is all that a client gets.
        let waits = [0, 1, 2].map(|_| begin(&client, "wait", "{}"));
        was_read(&client).await;
        running(&seen, 2).await;
        seen.gate.open();
        for pending in waits {
            assert_eq!(text_of(pending.await), "passed");
        }
    })
    .await;
    assert!(poll_once(seen.gate.passed()).await.is_some());
}
