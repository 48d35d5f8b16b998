//! What the tests share: executors, servers, calls.

use std::future::Future;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use async_executor::{Executor, LocalExecutor};
use async_io::{Async, Timer};
use libtest_mimic::{Failed, Trial};
use sanswire_smol::host::HostBuilder;
use sanswire_smol::sanswire::client::{Outcome, RequestOptions};
use sanswire_smol::sanswire::jsonrpc::RawJson;
use sanswire_smol::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_smol::{Client, Command, ConnectOptions, Watch};

pub(crate) use sanswire_smol::HttpTarget;

use crate::server::Server;

/// Longer than anything here should take on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Where nobody listens: no system gives this port to whoever asks for any.
pub(crate) const NOBODY: std::net::SocketAddr =
    std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

/// The executor that a test runs on.
#[derive(Clone)]
pub(crate) struct Env {
    watch: Option<Watch>,
}

impl Env {
    pub(crate) fn options(&self) -> ConnectOptions {
        let mut options = options();
        options.watch = self.watch.clone();
        options
    }

    /// The watch of its hosts.
    pub(crate) fn watching(&self, builder: HostBuilder) -> HostBuilder {
        match &self.watch {
            Some(watch) => builder.watch(watch.clone()),
            None => builder,
        }
    }
}

/// A watch of this process's, on threads of its own.
pub(crate) const ANY: Env = Env { watch: None };

type Test = fn(Env) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// The list of a module's tests: `each` on every kind of executor, `once` on one.
macro_rules! trials {
    (each: $($each:ident),* ; once: $($once:ident),* $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            let mut trials = Vec::new();
            $(trials.extend(crate::common::on_each(stringify!($each), |env| Box::pin($each(env))));)*
            $(trials.push(crate::common::trial(stringify!($once).into(), || {
                crate::common::block_on($once())
            }));)*
            trials
        }
    };
}
pub(crate) use trials;

pub(crate) fn trial(name: String, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok::<(), Failed>(())
    })
}

/// The same on threads of an executor for many, in one thread with the watch in it, and on a loop that knows nothing of
/// this one's timers and descriptors.
pub(crate) fn on_each(name: &str, test: Test) -> [Trial; 3] {
    let many = move || {
        let executor = Executor::new();
        let (over, wait) = (AtomicBool::new(false), event());
        std::thread::scope(|scope| {
            scope.spawn(|| async_io::block_on(executor.run(wait.wait(&over))));
            let _over = Over(&over, &wait);
            let task = executor.spawn(test(ANY));
            async_io::block_on(executor.run(in_time(task)));
        });
    };
    let one = move || {
        let executor = LocalExecutor::new();
        let watch = Watch::new();
        let watched = executor.spawn(watch.run());
        let task = executor.spawn(test(Env { watch: Some(watch) }));
        async_io::block_on(executor.run(in_time(task)));
        drop(watched);
    };
    let foreign = move || by_hand(in_time(test(ANY)));
    [
        trial(format!("{name}/many_threads"), many),
        trial(format!("{name}/one_thread"), one),
        trial(format!("{name}/foreign"), foreign),
    ]
}

/// Wakes one who waits until something is so.
struct Event(std::sync::Mutex<Option<Waker>>);

fn event() -> Event {
    Event(std::sync::Mutex::default())
}

/// Tells the other thread that all is over, by unwinding too.
struct Over<'a>(&'a AtomicBool, &'a Event);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        self.1.wake();
    }
}

impl Event {
    async fn wait(&self, over: &AtomicBool) {
        std::future::poll_fn(|cx| {
            *self.0.lock().unwrap() = Some(cx.waker().clone());
            if over.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn wake(&self) {
        let waker = self.0.lock().unwrap().take();
        waker.into_iter().for_each(Waker::wake);
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    async_io::block_on(in_time(future))
}

pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    let late = async {
        Timer::after(LONG).await;
        panic!("not within {LONG:?}");
    };
    futures_lite::future::or(future, late).await
}

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Count(AtomicU64, std::sync::Mutex<Option<std::thread::Thread>>);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = &*self.1.lock().unwrap() {
            thread.unpark();
        }
    }
}

impl Count {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self(AtomicU64::new(0), std::sync::Mutex::new(Some(std::thread::current()))));
        (Arc::clone(&count), Waker::from(count))
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Sleeps until it was woken more than `seen` times, or a long time is over.
    pub(crate) fn after(&self, seen: u64) -> bool {
        let end = std::time::Instant::now() + LONG;
        while self.get() <= seen {
            if std::time::Instant::now() > end {
                return false;
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        true
    }
}

/// Polls when it is woken and only then.
pub(crate) fn by_hand<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let (count, waker) = Count::new();
    loop {
        let seen = count.get();
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        assert!(count.after(seen), "never woken");
    }
}

/// A future that is polled when this says so.
pub(crate) struct Driven<'a> {
    future: Pin<Box<dyn Future<Output = ()> + 'a>>,
    pub(crate) woken: Arc<Count>,
    waker: Waker,
    pub(crate) ready: bool,
}

impl<'a> Driven<'a> {
    pub(crate) fn new(future: impl Future<Output = ()> + 'a) -> Self {
        let (woken, waker) = Count::new();
        Self { future: Box::pin(future), woken, waker, ready: false }
    }

    pub(crate) fn poll(&mut self) {
        if !self.ready {
            self.ready = self.future.as_mut().poll(&mut Context::from_waker(&self.waker)) == Poll::Ready(());
        }
    }

    /// Polls it while it is woken, until nothing happens for a moment.
    pub(crate) fn settle(&mut self) {
        loop {
            let seen = self.woken.get();
            self.poll();
            std::thread::sleep(Duration::from_millis(20));
            if self.ready || self.woken.get() == seen {
                return;
            }
        }
    }

    pub(crate) fn finish(&mut self) {
        while !self.ready {
            let seen = self.woken.get();
            self.poll();
            assert!(self.ready || self.woken.after(seen), "never woken");
        }
    }
}

/// A server that is this program.
pub(crate) fn child(flags: &[&str]) -> Command {
    Command::new(std::env::current_exe().unwrap()).arg("--child").args(flags.iter().copied())
}

pub(crate) fn options() -> ConnectOptions {
    ConnectOptions::new("test", "0")
}

pub(crate) async fn connect(env: &Env, flags: &[&str]) -> Client {
    Client::connect(&child(flags), env.options()).await.unwrap()
}

fn owned(flags: &[&str]) -> Vec<String> {
    flags.iter().map(|flag| (*flag).to_owned()).collect()
}

/// A server on a thread, and our end of the stream to it.
pub(crate) fn in_process(flags: &[&str]) -> (Async<UnixStream>, Arc<Server>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = Server::start(&owned(flags), theirs);
    (Async::new(ours).unwrap(), server)
}

/// A client of one of those.
pub(crate) async fn streamed(env: &Env, flags: &[&str]) -> (Client, Arc<Server>) {
    let (stream, server) = in_process(flags);
    (Client::connect_stream(stream, env.options()).await.unwrap(), server)
}

/// A server behind a TCP port, for one client.
pub(crate) fn on_tcp(flags: &[&str]) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, flags) = (listener.local_addr().unwrap(), owned(flags));
    std::thread::spawn(move || {
        let stream: TcpStream = listener.accept().unwrap().0;
        Server::new(&flags, Box::new(stream.try_clone().unwrap())).serve(stream);
    });
    address
}

/// A folder of this test's own; it goes with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sanswire-smol-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server behind a Unix socket, for one client.
pub(crate) fn on_unix(folder: &Folder, flags: &[&str]) -> PathBuf {
    let path = folder.0.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let flags = owned(flags);
    std::thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        Server::new(&flags, Box::new(stream.try_clone().unwrap())).serve(stream);
    });
    path
}

pub(crate) fn no_options() -> RequestOptions {
    RequestOptions::default()
}

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse_str(text).unwrap()
}

/// A call of a tool in revision 2026-07-28, as a line.
pub(crate) fn request(id: usize, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    ) + "\n"
}

/// The outcome of a tool.
pub(crate) async fn outcome(client: &Client, tool: &str, arguments: &str) -> Outcome {
    client.call_tool(tool, Some(&raw(arguments)), &no_options()).await.unwrap()
}

/// The text that a tool gives.
pub(crate) async fn tool(client: &Client, tool: &str, arguments: &str) -> String {
    text_of(outcome(client, tool, arguments).await)
}

/// A call of a tool that waits to be awaited.
pub(crate) fn begin(client: &Client, tool: &str, arguments: &str) -> sanswire_smol::Pending {
    client.start_tool(tool, Some(&raw(arguments)), &no_options()).unwrap()
}

pub(crate) fn text_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::Complete(result) => CallToolResult::new(result).text(),
        other => panic!("{other:?}"),
    }
}

/// Polls it once.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Waits until `done`, and drives nothing meanwhile.
pub(crate) async fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + LONG;
    while !done() {
        assert!(std::time::Instant::now() < end, "not within {LONG:?}: {what}");
        Timer::after(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs: a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// How often what [`counted`] gave was polled in this process.
pub(crate) static POLLS: AtomicU64 = AtomicU64::new(0);

/// The same future, whose polls are counted.
pub(crate) async fn counted<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        POLLS.fetch_add(1, Ordering::SeqCst);
        future.as_mut().poll(cx)
    })
    .await
}

pub(crate) fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
}
