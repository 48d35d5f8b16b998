//! A site whose future is polled when it is woken and only then: late, for nothing, from thread to thread. No deadline
//! comes to its help, so what nobody woke it for does not happen.

use std::future::{Future, poll_fn};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_io::{Async, Timer};
use sanswire_smol::sanswire::server::ListKind;
use sanswire_smol::{Call, Refusals, Schema, Server, Tool, bind_loopback};

use crate::common::{Count, block_on, by_hand, eventually, poll_once, trials};
use crate::http_peer::{Session, Wire, call, listen, method, modern, patient, post};

trials! {
    each: ;
    once: a_site_is_polled_when_it_is_woken, a_site_is_polled_late, a_site_is_polled_for_nothing,
        a_site_is_moved_from_thread_to_thread, of_many_handlers_that_are_woken_the_last_has_its_turn
}

/// Who comes before anybody serves: more than are accepted, polled or begun in one turn, and no more than a listener keeps
/// waiting. The first say nothing, so that nothing they do brings on those behind them.
const SILENT: u64 = 70;
const EARLY: u64 = 120;

/// Does it on another thread, once the handler of this call waits.
fn elsewhere(call: &Call, what: impl FnOnce(&Call) + Send + 'static) {
    let call = call.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        what(&call);
    });
}

fn server() -> Server {
    let server = Server::builder("s", "1")
        .subscribable()
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .tool("nap", Tool::new("Takes its time"), |(), _| async {
            Timer::after(Duration::from_millis(1)).await;
            Ok("awake")
        })
        .tool("tell", Tool::new("Tells from elsewhere"), |(), call| async move {
            elsewhere(&call, |call| call.progress(1.0, None, None));
            call.cancelled().await;
            Ok("")
        })
        .tool("ask", Tool::new("Asks from elsewhere"), |(), call| async move {
            elsewhere(&call, |call| {
                let form = Schema::object().optional("said", Schema::string());
                let said = async_io::block_on(call.elicit("k", "what?", &form));
                call.progress(1.0, None, Some(&format!("{said:?}")));
            });
            call.cancelled().await;
            Ok("")
        })
        .tool("part", Tool::new("Lets go of its client from elsewhere"), |(), call| async move {
            elsewhere(&call, |call| assert!(call.close_stream(), "its client can come back"));
            call.cancelled().await;
            Ok("")
        })
        .resource("file:///a", r#"{"name":"a"}"#, |_, _| async { Ok("text") })
        .config(|config| {
            config.limits.drain = Duration::from_secs(3600);
            config.limits.list_changed_debounce = Duration::from_millis(1);
        })
        .build()
        .unwrap();
    server.set_max_handlers(100);
    server
}

type Serves = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves clients that come on another thread, by `drive`.
fn driven_by(drive: impl FnOnce(Serves)) {
    let server = server();
    let listener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let early: Vec<Wire> = (0..EARLY)
        .map(|n| {
            let mut socket = TcpStream::connect(address).unwrap();
            if n >= SILENT {
                socket.write_all(call(n, "nap", "{}").as_bytes()).unwrap();
            }
            Wire::of(Async::new(socket).unwrap())
        })
        .collect();
    let mut options = patient();
    let refusals = Refusals::new();
    options.refusals = Some(refusals.clone());
    let serves = server.clone();
    let clients = std::thread::spawn(move || {
        block_on(async {
            let mut early = early;
            for (n, wire) in (0..).zip(&mut early).filter(|(n, _)| *n >= SILENT) {
                assert_eq!(wire.answer().await.said(), (n, "awake".into()));
            }
            calls(address).await;
            changes(&server, address).await;
            talks(address).await;
            let mut stranger = Wire::connect(address).await;
            stranger.send(&post(&[("Origin", "https://evil.example")], "{}")).await;
            assert_eq!(stranger.answer().await.status, 403);
            assert_eq!(refusals.recv().await.setting, "origins");
            let (mut rests, mut listens) = (Wire::connect(address).await, subscribed(address).await);
            rests.echoes(1).await;
            server.stopper().stop();
            assert!(rests.ended().await);
            while listens.event().await.is_some() {}
            assert!(listens.ended().await);
        });
    });
    drive(Box::pin(async move { serves.serve_http(listener, options).await.unwrap() }));
    clients.join().unwrap();
}

async fn calls(address: SocketAddr) {
    let mut wire = Wire::connect(address).await;
    for n in 0..10 {
        wire.echoes(n).await;
        wire.send(&(call(n, "nap", "{}") + &call(n + 1, "echo", r#"{"text":"sent ahead"}"#))).await;
        assert_eq!(wire.answer().await.said(), (n, "awake".into()));
        assert_eq!(wire.answer().await.said(), (n + 1, "sent ahead".into()));
    }
    let long = "x".repeat(1 << 20);
    wire.send(&call(1, "echo", &format!(r#"{{"text":"{long}"}}"#))).await;
    assert_eq!(wire.answer().await.said(), (1, long));
    wire.send(&call(2, "tell", "{}")).await;
    wire.stream().await;
    assert_eq!(method(&wire.event().await.unwrap()), "notifications/progress");
}

async fn subscribed(address: SocketAddr) -> Wire {
    let mut wire = Wire::connect(address).await;
    wire.send(&listen(1)).await;
    wire.stream().await;
    assert_eq!(method(&wire.event().await.unwrap()), "notifications/subscriptions/acknowledged");
    wire
}

async fn changes(server: &Server, address: SocketAddr) {
    let mut listens = subscribed(address).await;
    let mut watches = Wire::connect(address).await;
    let members = r#""notifications":{"resourceSubscriptions":["file:///a"]}"#;
    watches.send(&modern(1, "subscriptions/listen", None, members)).await;
    watches.stream().await;
    assert_eq!(method(&watches.event().await.unwrap()), "notifications/subscriptions/acknowledged");
    for _ in 0..3 {
        Timer::after(Duration::from_millis(20)).await;
        server.update(ListKind::Tools, |_| ());
        assert_eq!(method(&listens.event().await.unwrap()), "notifications/tools/list_changed");
        Timer::after(Duration::from_millis(20)).await;
        server.resource_updated("file:///a");
        assert_eq!(method(&watches.event().await.unwrap()), "notifications/resources/updated");
    }
}

/// In a session, where a handler may ask and let go.
async fn talks(address: SocketAddr) {
    let mut session = Session::open(address).await;
    session
        .send(concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"#,
            r#""_meta":{"progressToken":"p"}}}"#
        ))
        .await;
    session.wire.stream().await;
    let question = session.wire.event().await.unwrap();
    assert_eq!(method(&question), "elicitation/create");
    let id = String::from_utf8(question.view().get("id").unwrap().as_bytes().to_vec()).unwrap();
    let mut beside = session.beside(address).await;
    beside.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#)).await;
    assert_eq!(beside.wire.answer().await.status, 202);
    let told = session.wire.event().await.unwrap();
    assert!(told.as_str().contains("Declined"), "{}", told.as_str());
    // The call beside it is cancelled by a word of its own, which ends its stream.
    beside.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    assert_eq!(beside.wire.answer().await.status, 202);
    assert!(session.wire.event().await.is_none());
    beside.call(2, "part", "{}").await;
    beside.wire.stream().await;
    assert!(beside.wire.event().await.is_none(), "it is answered on another stream");
    beside.ask("DELETE", "").await;
    assert!((200..300).contains(&beside.wire.answer().await.status));
}

/// Who waits, and who of them may go on.
#[derive(Default)]
struct Gate(Mutex<(Vec<Waker>, Option<u64>)>);

async fn of_many_handlers_that_are_woken_the_last_has_its_turn() {
    /// More than are polled in one turn.
    const MANY: u64 = 100;
    let gate = Arc::<Gate>::default();
    let waits = Arc::clone(&gate);
    let tool = Tool::new("Waits for its turn").integer("n", "Who it is");
    let server = Server::builder("s", "1")
        .tool("wait", tool, move |(), call| {
            let gate = Arc::clone(&waits);
            async move {
                let n: u64 = call.argument("n")?;
                poll_fn(|cx| {
                    let mut state = gate.0.lock().unwrap();
                    if state.1 == Some(n) {
                        return Poll::Ready(());
                    }
                    state.0.push(cx.waker().clone());
                    Poll::Pending
                })
                .await;
                Ok("passed")
            }
        })
        .build()
        .unwrap();
    server.set_max_handlers(1000);
    let listener = bind_loopback(0).unwrap();
    let address = listener.local_addr().unwrap();
    let (serves, stopper) = (server.clone(), server.stopper());
    let served = std::thread::spawn(move || by_hand(serves.serve_http(listener, patient())).unwrap());
    let mut wires = Vec::new();
    for n in 0..MANY {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(n, "wait", &format!(r#"{{"n":{n}}}"#))).await;
        // One after the other, so that it is known who is woken last.
        eventually("it waits", || gate.0.lock().unwrap().0.len() as u64 == n + 1).await;
        wires.push(wire);
    }
    let wakers = {
        let mut state = gate.0.lock().unwrap();
        state.1 = Some(MANY - 1);
        std::mem::take(&mut state.0)
    };
    wakers.into_iter().for_each(Waker::wake);
    assert_eq!(wires.pop().unwrap().answer().await.said(), (MANY - 1, "passed".into()));
    stopper.stop_now();
    served.join().unwrap();
}

async fn a_site_is_polled_when_it_is_woken() {
    driven_by(by_hand);
}

async fn a_site_is_polled_late() {
    driven_by(|mut serves| {
        let (woken, waker) = Count::new();
        loop {
            let seen = woken.get();
            // Whatever happens until then must be found by this poll, or wake again.
            std::thread::sleep(Duration::from_millis(2));
            if poll_once(&mut serves, &waker).is_ready() {
                return;
            }
            assert!(woken.after(seen), "never woken");
        }
    });
}

async fn a_site_is_polled_for_nothing() {
    driven_by(|mut serves| {
        let (woken, waker) = Count::new();
        loop {
            let seen = woken.get();
            // Each time it is another task, as far as it can see; the last one is woken.
            let other = Waker::from(Count::new().0);
            let polled = [&other, Waker::noop(), &waker]
                .into_iter()
                .any(|waker| serves.as_mut().poll(&mut Context::from_waker(waker)).is_ready());
            if polled {
                return;
            }
            assert!(woken.after(seen), "never woken");
        }
    });
}

async fn a_site_is_moved_from_thread_to_thread() {
    driven_by(|mut serves| {
        loop {
            let polled = std::thread::spawn(move || {
                let (woken, waker) = Count::new();
                for _ in 0..3 {
                    let seen = woken.get();
                    if poll_once(&mut serves, &waker).is_ready() {
                        return None;
                    }
                    assert!(woken.after(seen), "never woken");
                }
                // What is told to this thread after its last poll is found by the next one.
                poll_once(&mut serves, &waker).is_pending().then_some(serves)
            });
            match polled.join().unwrap() {
                Some(left) => serves = left,
                None => return,
            }
        }
    });
}
