//! Many clients and their servers in one thread, each pair over a pipe within this process:
//!   `streams_bench PAIRS CALLS`
//! Each client is connected and makes one call; then all of them rest, and what each half holds is counted; then every
//! client makes so many calls, one after another, all clients at once.

#[cfg(unix)]
#[path = "../../memory/counting.rs"]
#[expect(dead_code, reason = "the count alone is used, not the gauges")]
mod counting;

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    streams::main()
}

#[cfg(unix)]
mod streams {
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::io;
    use std::pin::Pin;
    use std::rc::Rc;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    use async_executor::LocalExecutor;
    use futures_lite::{AsyncRead, AsyncWrite};
    use sanswire_smol::sanswire::client::{Outcome, RequestOptions};
    use sanswire_smol::sanswire::jsonrpc::RawJson;
    use sanswire_smol::sanswire::mcp::types::call_result::CallToolResult;
    use sanswire_smol::{Client, ConnectOptions, Server, Watch};
    use serde::Deserialize;

    use crate::counting::{Counting, live};

    #[global_allocator]
    static COUNTING: Counting = Counting;

    /// As much as a pipe takes that nobody reads.
    const ROOM: usize = 4096;
    const TEXT: &str = "hello from the neutral driver!!!";
    const ARGUMENTS: &str = r#"{"text":"hello from the neutral driver!!!"}"#;

    type Failure = Box<dyn std::error::Error>;

    /// One direction of a pipe. What is empty holds no buffer.
    #[derive(Default)]
    struct Way {
        bytes: VecDeque<u8>,
        is_closed: bool,
        reader: Option<Waker>,
        writer: Option<Waker>,
    }

    impl Way {
        fn wake(waker: &mut Option<Waker>) {
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        }
    }

    struct End {
        reads: Arc<Mutex<Way>>,
        writes: Arc<Mutex<Way>>,
    }

    fn pipe() -> (End, End) {
        let (there, back) = (Arc::<Mutex<Way>>::default(), Arc::<Mutex<Way>>::default());
        let end = End { reads: Arc::clone(&back), writes: Arc::clone(&there) };
        (end, End { reads: there, writes: back })
    }

    fn lock(way: &Mutex<Way>) -> MutexGuard<'_, Way> {
        way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    impl AsyncRead for End {
        fn poll_read(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            let mut way = lock(&self.reads);
            if way.bytes.is_empty() && !way.is_closed {
                way.reader = Some(cx.waker().clone());
                return Poll::Pending;
            }
            let len = io::Read::read(&mut way.bytes, buffer)?;
            if way.bytes.is_empty() {
                way.bytes = VecDeque::new();
            }
            Way::wake(&mut way.writer);
            Poll::Ready(Ok(len))
        }
    }

    impl AsyncWrite for End {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let mut way = lock(&self.writes);
            if way.is_closed {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let room = ROOM.saturating_sub(way.bytes.len());
            if room == 0 {
                way.writer = Some(cx.waker().clone());
                return Poll::Pending;
            }
            let len = bytes.len().min(room);
            way.bytes.extend(bytes.get(..len).unwrap_or_default());
            Way::wake(&mut way.reader);
            Poll::Ready(Ok(len))
        }

        fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            let mut way = lock(&self.writes);
            way.is_closed = true;
            Way::wake(&mut way.reader);
            Poll::Ready(Ok(()))
        }
    }

    impl Drop for End {
        fn drop(&mut self) {
            for way in [&self.reads, &self.writes] {
                let mut way = lock(way);
                way.is_closed = true;
                Way::wake(&mut way.reader);
                Way::wake(&mut way.writer);
            }
        }
    }

    /// A future, and what was asked for while it was polled and is not given back.
    struct Weighed<'a, F> {
        future: Pin<Box<F>>,
        scale: &'a Cell<isize>,
    }

    impl<F: Future> Future for Weighed<'_, F> {
        type Output = F::Output;

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
            let before = live().cast_signed();
            let polled = self.future.as_mut().poll(cx);
            self.scale.set(self.scale.get() + live().cast_signed() - before);
            polled
        }
    }

    /// With what a spawned future takes itself.
    fn weigh<'a, F: Future>(scale: &'a Cell<isize>, future: F) -> Weighed<'a, F> {
        let before = live().cast_signed();
        let future = Box::pin(future);
        scale.set(scale.get() + live().cast_signed() - before);
        Weighed { future, scale }
    }

    /// Where clients wait for each other.
    #[derive(Default)]
    struct Meeting {
        arrived: Cell<usize>,
        is_open: Cell<bool>,
        wakers: RefCell<Vec<Waker>>,
    }

    impl Meeting {
        async fn wait(&self) {
            self.arrived.set(self.arrived.get() + 1);
            std::future::poll_fn(|cx| {
                if self.is_open.get() {
                    return Poll::Ready(());
                }
                self.wakers.borrow_mut().push(cx.waker().clone());
                Poll::Pending
            })
            .await;
        }

        fn open(&self) {
            self.is_open.set(true);
            self.wakers.take().into_iter().for_each(Waker::wake);
        }
    }

    #[derive(Deserialize)]
    struct Echo {
        text: String,
    }

    async fn echo(client: &Client) -> Result<(), Failure> {
        let arguments = RawJson::parse_str(ARGUMENTS)?;
        let outcome = client.call_tool("echo", Some(&arguments), &RequestOptions::default()).await?;
        let Outcome::Complete(result) = outcome else { return Err(format!("{outcome:?}").into()) };
        let mut text = String::new();
        CallToolResult::new(result).append_text(&mut text);
        if text == TEXT { Ok(()) } else { Err("another text came back".into()) }
    }

    async fn one_client(
        end: End,
        options: ConnectOptions,
        calls: usize,
        (rested, done): (Rc<Meeting>, Rc<Meeting>),
    ) -> Result<(), Failure> {
        let client = Client::connect_stream(end, options).await?;
        echo(&client).await?;
        rested.wait().await;
        for _ in 0..calls {
            echo(&client).await?;
        }
        done.wait().await;
        client.close().await;
        Ok(())
    }

    async fn all_there(meeting: &Meeting, pairs: usize) {
        while meeting.arrived.get() < pairs {
            futures_lite::future::yield_now().await;
        }
    }

    pub(super) fn main() -> Result<(), Failure> {
        let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>());
        let (Some(Ok(pairs)), Some(Ok(calls))) = (numbers.next(), numbers.next()) else {
            return Err("streams_bench PAIRS CALLS".into());
        };
        let schema = r#"{"description":"Gives back its text.","inputSchema":{"type":"object",
            "properties":{"text":{"type":"string"}},"required":["text"]}}"#;
        let server = Server::builder("bench", "0")
            .tool("echo", schema, |echo: Echo, _call| async { Ok(echo.text) })
            .build()?;
        let watch = Watch::new();
        let (client_bytes, server_bytes) = (Cell::new(0), Cell::new(0));
        let executor = LocalExecutor::new();
        executor.spawn(weigh(&client_bytes, watch.run())).detach();
        let (rested, done) = (Rc::<Meeting>::default(), Rc::<Meeting>::default());
        let started_with = live();
        let mut clients = Vec::new();
        for _ in 0..pairs {
            let (ours, theirs) = pipe();
            let server = server.clone();
            let serving = weigh(&server_bytes, async move { server.serve_stream(theirs).await });
            executor.spawn(serving).detach();
            let mut options = ConnectOptions::new("bench", "0");
            options.watch = Some(watch.clone());
            options.config.limits.connect = Duration::from_secs(600);
            options.config.limits.request_idle = Duration::from_secs(600);
            let meetings = (Rc::clone(&rested), Rc::clone(&done));
            clients.push(executor.spawn(weigh(&client_bytes, one_client(ours, options, calls, meetings))));
        }
        async_io::block_on(executor.run(async {
            all_there(&rested, pairs).await;
            // What rests gives its buffers back.
            for _ in 0..64 {
                futures_lite::future::yield_now().await;
            }
            let (all, per) = (live() - started_with, pairs.max(1).cast_signed());
            say(&format!(
                "idle: {} bytes a pair; {} of them the client's, {} the server's",
                all / pairs.max(1),
                client_bytes.get() / per,
                server_bytes.get() / per
            ));
            let (began, spent) = (Instant::now(), cpu()?);
            rested.open();
            all_there(&done, pairs).await;
            let (took, spent) = (began.elapsed(), cpu()? - spent);
            let made = (pairs * calls) as f64;
            say(&format!(
                "calls: {:.0} a second of the processor, {:.0} a second",
                made / spent.as_secs_f64(),
                made / took.as_secs_f64()
            ));
            done.open();
            for client in clients {
                client.await?;
            }
            Ok(())
        }))
    }

    /// How long this process has had a processor.
    fn cpu() -> Result<Duration, Failure> {
        let stat = std::fs::read_to_string("/proc/self/schedstat")?;
        let nanos = stat.split_whitespace().next().ok_or("no time")?.parse()?;
        Ok(Duration::from_nanos(nanos))
    }

    #[expect(clippy::print_stdout, reason = "a report is what this program is for")]
    fn say(line: &str) {
        println!("{line}");
    }
}
