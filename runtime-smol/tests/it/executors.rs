//! Foreign executors: served futures that are polled late, too often, from thread to thread; and clients whose futures are
//! forgotten while others wait.

use std::future::Future;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::{AsyncRead, AsyncWrite};
use sanswire_smol::sanswire::client::{Outcome, Start};
use sanswire_smol::sanswire::mcp::Revision;
use sanswire_smol::{Client, Server, Tool, Watch};

use crate::common::{
    Count, Driven, Env, LONG, begin, block_on, by_hand, eventually, in_process, options, poll_once, request,
    text_of, tool, trials,
};

trials! {
    each: nobody_waits_for_a_leader_that_is_forgotten, nobody_waits_for_a_guest_that_is_forgotten;
    once: a_server_is_polled_late, a_server_is_polled_for_nothing, a_server_is_moved_from_thread_to_thread,
        a_server_that_nobody_calls_is_left_alone, a_stream_without_an_end_leaves_others_their_turn, a_client_of_many_executors
}

fn server() -> Server {
    Server::builder("s", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .tool("nap", Tool::new("Takes its time"), |(), _| async {
            Timer::after(Duration::from_millis(1)).await;
            Ok("awake")
        })
        .build()
        .unwrap()
}

type Serves = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves a client that calls on another thread, by `drive`.
fn driven_by(drive: impl FnOnce(Serves)) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let calls = std::thread::spawn(move || {
        block_on(async {
            let client = Client::connect_stream(Async::new(ours).unwrap(), options()).await.unwrap();
            for n in 0..30 {
                let nap = begin(&client, "nap", "{}");
                assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)).await, n.to_string());
                assert_eq!(text_of(nap.await), "awake");
            }
            let long = "x".repeat(1 << 20);
            assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{long}"}}"#)).await, long);
            client.close().await;
        });
    });
    let server = server();
    drive(Box::pin(async move { server.serve_unix_stream(theirs).await.unwrap() }));
    calls.join().unwrap();
}

async fn a_server_is_polled_late() {
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

async fn a_server_is_polled_for_nothing() {
    driven_by(|mut serves| {
        let (woken, waker) = Count::new();
        loop {
            let seen = woken.get();
            for _ in 0..3 {
                // Each time it is another task, as far as it can see; the last one is woken.
                let other = Waker::from(Count::new().0);
                if serves.as_mut().poll(&mut Context::from_waker(&other)).is_ready() {
                    return;
                }
                if serves.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
                    || poll_once(&mut serves, &waker).is_ready()
                {
                    return;
                }
            }
            assert!(woken.after(seen), "never woken");
        }
    });
}

async fn a_server_is_moved_from_thread_to_thread() {
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

async fn a_server_that_nobody_calls_is_left_alone() {
    let server = server();
    for stream in [false, true] {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut serves = Driven::new(async {
            let served = if stream {
                server.serve_stream(Async::new(theirs).unwrap()).await
            } else {
                server.serve_unix_stream(theirs).await
            };
            served.unwrap();
        });
        ours.write_all(request(1, "nap", "{}").as_bytes()).unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut said = [0; 1024];
        while ours.read(&mut said).is_err() {
            let seen = serves.woken.get();
            serves.poll();
            if ours.read(&mut said).is_ok() {
                break;
            }
            assert!(serves.woken.after(seen), "never woken");
        }
        serves.settle();
        let before = serves.woken.get();
        std::thread::sleep(Duration::from_millis(200));
        // Nothing is told, and what comes of nothing is nothing.
        for _ in 0..3 {
            serves.poll();
        }
        serves.settle();
        assert_eq!(serves.woken.get(), before);
        drop(ours);
        serves.finish();
    }
}

/// A stream that always has more to give, and takes all.
struct Endless {
    gives: Vec<u8>,
    at: usize,
    took: Arc<AtomicUsize>,
}

impl AsyncRead for Endless {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let left = &self.gives[self.at..];
        let len = left.len().min(buffer.len());
        buffer[..len].copy_from_slice(&left[..len]);
        self.at += len;
        Poll::Ready(Ok(len))
    }
}

impl AsyncWrite for Endless {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let lines = buffer.iter().filter(|byte| **byte == b'\n').count();
        self.took.fetch_add(lines, Ordering::SeqCst);
        Poll::Ready(Ok(buffer.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn a_stream_without_an_end_leaves_others_their_turn() {
    let text = "x".repeat(500_000);
    let lines: String = (0..20).map(|id| request(id, "echo", &format!(r#"{{"text":"{text}"}}"#))).collect();
    let took = Arc::<AtomicUsize>::default();
    let stream = Endless { gives: lines.into_bytes(), at: 0, took: Arc::clone(&took) };
    let server = server();
    let mut serves = Driven::new(async { server.serve_stream(stream).await.unwrap() });
    serves.poll();
    assert!(!serves.ready, "nobody else had a turn");
    serves.finish();
    assert_eq!(took.load(Ordering::SeqCst), 20);
}

/// One that leads is forgotten, and so is the one that came to lead in its place.
async fn nobody_waits_for_a_leader_that_is_forgotten(env: Env) {
    let (stream, server) = in_process(&[]);
    let client = Client::connect_stream(stream, env.options()).await.unwrap();
    for _ in 0..3 {
        let (_, waker) = Count::new();
        let mut forgotten = [begin(&client, "hold", "{}"), begin(&client, "hold", "{}")];
        for pending in &mut forgotten {
            assert!(poll_once(pending, &waker).is_pending());
        }
        // They wait by other tasks, as anybody would, from before the leader was forgotten and from after.
        let mut waits = begin(&client, "hold", "{}");
        assert!(futures_lite::future::poll_once(&mut waits).await.is_none());
        std::mem::forget(forgotten);
        eventually("all are there", || server.held.lock().unwrap().len() == 3).await;
        assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#).await, "on");
        server.release();
        assert_eq!(text_of(waits.await), "released");
    }
    client.close().await;
}

async fn nobody_waits_for_a_guest_that_is_forgotten(env: Env) {
    let (stream, server) = in_process(&[]);
    let mut options = env.options();
    options.config.start = Start::Pinned(Revision::V2025_11_25);
    let client = Client::connect_stream(stream, options).await.unwrap();
    let (_, waker) = Count::new();
    let waiting = client.clone();
    let mut forgotten = Box::pin(async move { waiting.next_notification().await });
    assert!(poll_once(&mut forgotten, &waker).is_pending());
    std::mem::forget(forgotten);
    for n in 0..3 {
        server.notify(n);
        assert!(client.next_notification().await.is_some());
        assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#).await, "on");
    }
    server.ping();
    eventually("its ping is answered", || server.pongs.load(Ordering::SeqCst) == 1).await;
    server.end();
    assert_eq!(client.next_notification().await, None);
}

/// Executors that know nothing of each other share a client: one is woken and polls late, one polls for nothing, one takes
/// its time between polls, one gives up.
async fn a_client_of_many_executors() {
    let (stream, _server) = in_process(&[]);
    let mut options = options();
    let watch = Watch::new();
    options.watch = Some(watch.clone());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watched = scope.spawn(|| {
            let until = async {
                while !over.load(Ordering::SeqCst) {
                    Timer::after(Duration::from_millis(5)).await;
                }
            };
            let runs = async { match watch.run().await {} };
            futures_lite::future::block_on(futures_lite::future::or(until, runs));
        });
        let client = block_on(Client::connect_stream(stream, options)).unwrap();
        let styles: [fn(sanswire_smol::Pending) -> Outcome; 4] =
            [by_hand, polled_late, polled_for_nothing, futures_lite::future::block_on];
        let threads: Vec<_> = styles
            .into_iter()
            .enumerate()
            .map(|(thread, wait)| {
                let client = client.clone();
                scope.spawn(move || {
                    for n in 0..60 {
                        let text = format!("{thread}.{n}");
                        let call = begin(&client, "echo", &format!(r#"{{"text":"{text}"}}"#));
                        match n % 6 {
                            5 => drop(call),
                            4 => std::mem::forget(parked(call)),
                            _ => assert_eq!(text_of(wait(call)), text),
                        }
                    }
                })
            })
            .collect();
        let done: Vec<_> = threads.into_iter().map(|thread| thread.join().is_ok()).collect();
        over.store(true, Ordering::SeqCst);
        watched.join().unwrap();
        assert_eq!(done, [true; 4]);
    });
}

/// Polled once, so that it may lead.
fn parked(mut call: sanswire_smol::Pending) -> (sanswire_smol::Pending, Arc<Count>) {
    let (count, waker) = Count::new();
    let _ = poll_once(&mut call, &waker).is_ready();
    (call, count)
}

fn polled_late<T>(mut future: impl Future<Output = T> + Unpin) -> T {
    let (woken, waker) = Count::new();
    loop {
        let seen = woken.get();
        if let Poll::Ready(value) = poll_once(&mut future, &waker) {
            return value;
        }
        assert!(woken.after(seen), "never woken");
        std::thread::sleep(Duration::from_millis(15));
    }
}

fn polled_for_nothing<T>(mut future: impl Future<Output = T> + Unpin) -> T {
    let end = std::time::Instant::now() + LONG;
    loop {
        if let Poll::Ready(value) = poll_once(&mut future, Waker::noop()) {
            return value;
        }
        assert!(std::time::Instant::now() < end);
        std::thread::yield_now();
    }
}
