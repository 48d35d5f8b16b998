//! Wakers are anybody's code: here they call the server or the client back, when they are woken and when they are dropped.

use std::future::Future;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::future::{or, yield_now, zip};
use sanswire_smol::sanswire::client::{Outcome, Start};
use sanswire_smol::sanswire::mcp::Revision;
use sanswire_smol::sanswire::mcp::types::input::{InputAnswer, InputRequest};
use sanswire_smol::sanswire::server::ListKind;
use sanswire_smol::{Client, ConnectOptions, HttpOptions, Schema, Server, Tool};

use crate::common::{LONG, begin, no_options, options, raw, text_of, tool};
use crate::http_dial::target;

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    type Test = (&'static str, fn());
    let tests: [Test; 6] = [
        ("a_waker_may_call_its_server_back", a_waker_may_call_its_server_back),
        ("a_waker_of_a_listener_may_call_its_server_back", a_waker_of_a_listener_may_call_its_server_back),
        ("a_waker_may_call_its_client_back", a_waker_may_call_its_client_back),
        ("a_waker_of_a_site_may_call_its_server_back", a_waker_of_a_site_may_call_its_server_back),
        ("a_waker_may_call_its_client_over_http_back", a_waker_may_call_its_client_over_http_back),
        ("a_call_that_is_kept_hears_of_its_end", a_call_that_is_kept_hears_of_its_end),
    ];
    tests.map(|(name, test)| crate::common::trial(name.into(), test)).into()
}

type Back = Arc<dyn Fn() + Send + Sync>;

/// Who waits, and what its wakers do besides.
struct Caller {
    woken: AtomicU64,
    thread: Thread,
    back: Back,
}

/// One of them. No two are the same, so that each is dropped for the next.
struct Calls(Arc<Caller>);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        (self.0.back)();
        self.0.woken.fetch_add(1, Ordering::SeqCst);
        self.0.thread.unpark();
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        (self.0.back)();
    }
}

/// Polls when it is woken, each time with another waker.
fn block_on<T>(back: Back, future: impl Future<Output = T>) -> T {
    let caller = Arc::new(Caller { woken: AtomicU64::new(0), thread: std::thread::current(), back });
    let mut future = pin!(future);
    loop {
        let seen = caller.woken.load(Ordering::SeqCst);
        let waker = Waker::from(Arc::new(Calls(Arc::clone(&caller))));
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        drop(waker);
        let end = std::time::Instant::now() + LONG;
        while caller.woken.load(Ordering::SeqCst) == seen {
            assert!(std::time::Instant::now() < end, "never woken");
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }
}

/// Does it on another thread, and fails if that waits for itself.
fn without_a_deadlock(work: impl FnOnce() + Send + 'static) {
    let (tell, done) = channel();
    std::thread::spawn(move || {
        work();
        tell.send(()).unwrap();
    });
    done.recv_timeout(LONG).unwrap();
}

/// All that a waker might do with a server.
fn back(server: &Server) -> Back {
    let server = server.clone();
    Arc::new(move || {
        server.resource_updated("file:///a");
        server.update(ListKind::Tools, |_| ());
        let _ = (server.halted(), server.spent(), server.record_stats());
    })
}

fn server() -> Server {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&kept);
    Server::builder("s", "1")
        .tool("echo", Tool::new("Gives back"), |(), call| async move { call.argument::<String>("text") })
        .tool("wait", Tool::new("Waits to be cancelled"), |(), call| async move {
            call.cancelled().await;
            Ok("")
        })
        .tool("spawn", Tool::new("Waits elsewhere, too"), move |(), call| {
            let (keeps, elsewhere) = (Arc::clone(&keeps), call.clone());
            async move {
                let back = back(&call.server());
                let waits = move || {
                    let call = elsewhere.clone();
                    let told: Back = Arc::new(move || {
                        call.progress(1.0, None, None);
                        back();
                    });
                    block_on(told, elsewhere.cancelled());
                };
                keeps.lock().unwrap().push(std::thread::spawn(waits));
                call.cancelled().await;
                Ok("")
            }
        })
        .tool("join", Tool::new("Waits for those"), move |(), _| {
            let kept = std::mem::take(&mut *kept.lock().unwrap());
            async move {
                while !kept.iter().all(std::thread::JoinHandle::is_finished) {
                    Timer::after(Duration::from_millis(2)).await;
                }
                Ok(kept.into_iter().all(|thread| thread.join().is_ok()).to_string())
            }
        })
        .tool("ask", Tool::new("Asks"), |(), call| async move {
            let form = Schema::object().optional("said", Schema::string());
            Ok(format!("{:?}", call.elicit("k", "what?", &form).await?))
        })
        .tool("change", Tool::new("Offers more"), |(), call| async move {
            let server = call.server();
            server.add_tool("more", Tool::new("More"), |(), _| async { Ok("more") }).unwrap();
            Ok(format!("{}", server.remove_tool("more")))
        })
        .subscribable()
        .build()
        .unwrap()
}

fn legacy() -> ConnectOptions {
    let mut options = options();
    options.config.start = Start::Pinned(Revision::V2025_11_25);
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(|_: InputRequest| async {
        yield_now().await;
        InputAnswer::Result(raw(r#"{"action":"accept","content":{"said":"x"}}"#))
    }));
    options
}

/// Everything that wakes somebody.
async fn all_that_wakes(client: &Client) {
    for n in 0..10 {
        assert_eq!(tool(client, "echo", &format!(r#"{{"text":"{n}"}}"#)).await, n.to_string());
    }
    let open: Vec<_> = (0..100).map(|_| begin(client, "echo", r#"{"text":"x"}"#)).collect();
    for pending in open {
        assert_eq!(text_of(pending.await), "x");
    }
    let waits = ["wait", "spawn", "wait", "spawn"].map(|tool| begin(client, tool, "{}"));
    assert_eq!(tool(client, "echo", r#"{"text":"all run"}"#).await, "all run");
    waits.into_iter().for_each(|pending| pending.cancel(None));
    assert_eq!(tool(client, "join", "{}").await, "true");
    assert_eq!(tool(client, "change", "{}").await, "true");
    let said = tool(client, "ask", "{}").await;
    assert!(said.contains("Accept"), "{said}");
    // What waits now ends with the connection.
    begin(client, "spawn", "{}").cancel(None);
    drop(begin(client, "wait", "{}"));
}

fn a_waker_may_call_its_server_back() {
    without_a_deadlock(|| {
        let server = server();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let client = std::thread::spawn(move || {
            crate::common::block_on(async {
                let client = Client::connect_stream(Async::new(ours).unwrap(), legacy()).await.unwrap();
                all_that_wakes(&client).await;
                client.close().await;
            });
        });
        block_on(back(&server), server.serve_unix_stream(theirs)).unwrap();
        client.join().unwrap();
    });
}

fn a_waker_of_a_listener_may_call_its_server_back() {
    without_a_deadlock(|| {
        let server = server();
        // So few that some are waited for.
        server.set_max_handlers(10);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stopper = server.stopper();
        let clients = std::thread::spawn(move || {
            crate::common::block_on(async {
                let first = Client::connect_tcp(address, legacy()).await.unwrap();
                let second = Client::connect_tcp(address, legacy()).await.unwrap();
                zip(all_that_wakes(&first), all_that_wakes(&second)).await;
                second.kill().await;
                all_that_wakes(&first).await;
                stopper.stop();
                first.close().await;
            });
        });
        block_on(back(&server), server.serve_tcp(listener)).unwrap();
        clients.join().unwrap();
    });
}

/// Uses a client until its end, with wakers that use it as well.
fn calls_itself_back(client: &Client) {
    let calls = client.clone();
    let back: Back = Arc::new(move || {
        drop((calls.stats(), calls.try_next_notification(), calls.is_closed()));
        // One that is begun and given up at once.
        drop(calls.start_tool("echo", Some(&raw(r#"{"text":"y"}"#)), &no_options()));
    });
    block_on(Arc::clone(&back), all_that_wakes(client));
    let no_options = no_options();
    let end =
        zip(client.next_notification(), zip(client.call_tool("wait", None, &no_options), client.close()));
    let (notice, (waited, _)) = block_on(back, end);
    drop(notice);
    assert_eq!(waited.unwrap(), Outcome::Cancelled);
}

fn a_waker_may_call_its_client_back() {
    without_a_deadlock(|| {
        let server = server();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let serves = std::thread::spawn(move || {
            crate::common::block_on(server.serve_unix_stream(theirs)).unwrap();
        });
        let client =
            crate::common::block_on(Client::connect_stream(Async::new(ours).unwrap(), legacy())).unwrap();
        calls_itself_back(&client);
        serves.join().unwrap();
    });
}

fn a_waker_of_a_site_may_call_its_server_back() {
    without_a_deadlock(|| {
        let server = server();
        // So few that some are waited for.
        server.set_max_handlers(10);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stopper = server.stopper();
        let clients = std::thread::spawn(move || {
            crate::common::block_on(async {
                let target = target(&format!("http://{address}/mcp"));
                let first = Client::connect_http(&target, legacy()).await.unwrap();
                let second = Client::connect_http(&target, legacy()).await.unwrap();
                zip(all_that_wakes(&first), all_that_wakes(&second)).await;
                second.kill().await;
                all_that_wakes(&first).await;
                stopper.stop();
                first.close().await;
            });
        });
        block_on(back(&server), server.serve_http(listener, HttpOptions::default())).unwrap();
        clients.join().unwrap();
    });
}

fn a_waker_may_call_its_client_over_http_back() {
    without_a_deadlock(|| {
        let server = server();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stopper = server.stopper();
        let serves = std::thread::spawn(move || {
            crate::common::block_on(server.serve_http(listener, HttpOptions::default())).unwrap();
        });
        let plain = target(&format!("http://{address}/mcp"));
        let targets = [
            plain,
            #[cfg(feature = "tls")]
            crate::http_tls::trusting(crate::tls_front::before(address, "server.pem", false)),
        ];
        for target in targets {
            calls_itself_back(&crate::common::block_on(Client::connect_http(&target, legacy())).unwrap());
        }
        stopper.stop_now();
        serves.join().unwrap();
    });
}

fn a_call_that_is_kept_hears_of_its_end() {
    let kept = Arc::new(Mutex::new(None));
    let (keeps, holds) = (Arc::clone(&kept), Arc::clone(&kept));
    let server = Server::builder("s", "1")
        .tool("keep", Tool::new("Keeps its call"), move |(), call| {
            *keeps.lock().unwrap() = Some(call.clone());
            async move { Ok(format!("{}", call.is_cancelled())) }
        })
        .tool("hold", Tool::new("Keeps its call, and does not end"), move |(), call| {
            *holds.lock().unwrap() = Some(call);
            async {
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .build()
        .unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    crate::common::block_on(async {
        let client = async {
            let client = Client::connect_stream(Async::new(ours).unwrap(), options()).await.unwrap();
            assert_eq!(tool(&client, "keep", "{}").await, "false");
            let call = kept.lock().unwrap().take().unwrap();
            // The client is there still: it was answered.
            call.cancelled().await;
            assert!(call.is_cancelled());
            call.progress(1.0, None, None);
            let held = begin(&client, "hold", "{}");
            crate::common::eventually("it runs", || kept.lock().unwrap().is_some()).await;
            Some((client, held))
        };
        let serves = async {
            server.serve_unix_stream(theirs).await.unwrap();
            None
        };
        // What serves is dropped in the middle of it.
        let (client, held) = or(client, serves).await.unwrap();
        let call = kept.lock().unwrap().take().unwrap();
        call.cancelled().await;
        call.progress(2.0, None, None);
        assert!(matches!(held.await, Outcome::Lost { .. }));
        client.close().await;
    });
}
