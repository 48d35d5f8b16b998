//! The served half over standard input and output: another process of this program, for every kind of descriptor that a
//! host may give.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::or;
use rustix::fs::OFlags;
use sanswire_smol::sanswire::jsonrpc::RawJson;
use sanswire_smol::{Client, Command, Server, Tool, ToolError};

use crate::common::{
    Driven, Env, Folder, POLLS, begin, by_hand, counted, eventually, request, runs, text_of, tool, trials,
};

trials! {
    each: calls_are_answered, a_stray_print_does_not_reach_the_wire;
    once: nor_does_one_when_all_is_over, what_was_taken_is_put_back, so_it_is_when_the_future_is_dropped, so_it_is_after_any_poll, it_is_served_once_at_a_time,
        a_client_that_is_gone_ends_it, a_client_that_is_gone_ends_its_calls, nobody_who_reads_ends_it, sockets_are_left_as_they_are,
        files_are_served_to_their_end, a_server_that_nobody_calls_rests, a_dead_client_ends_a_server_that_nobody_calls
}

/// The other process. Flags: `foreign` polls by hand, `after` says so when it is over, `patient` lets calls go on for an hour
/// after the end of the input.
pub(crate) fn serve(flags: &[String]) {
    let has = |flag: &str| flags.iter().any(|found| found == flag);
    if has("steps") {
        return serve_in_steps();
    }
    let quit = Arc::new(Quit::default());
    let server = server(&quit, has("patient"));
    let serving = async {
        let told = async {
            quit.told().await;
            Ok(())
        };
        or(server.serve_stdio(), told).await
    };
    let serving = counted(serving);
    if has("foreign") { by_hand(serving) } else { async_io::block_on(serving) }.unwrap();
    if has("after") {
        println!("after");
        let mut left = String::new();
        std::io::stdin().read_to_string(&mut left).unwrap();
        println!("{left}");
    }
}

/// Serves and gives up after no poll, one, two ..., and says whether all is as it was each time.
fn serve_in_steps() {
    let of = |fd: std::os::fd::BorrowedFd<'_>| {
        let stat = rustix::fs::fstat(fd).unwrap();
        (stat.st_dev, stat.st_ino, rustix::fs::fcntl_getfl(fd).unwrap())
    };
    let ends = || (of(std::io::stdin().as_fd()), of(std::io::stdout().as_fd()));
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let server = server(&Arc::default(), false);
    // What is opened once and stays: the reactor's.
    drop(Driven::new(async { server.serve_stdio().await.unwrap() }));
    async_io::block_on(Timer::after(Duration::from_millis(1)));
    let (before, descriptors) = (ends(), open());
    for polls in 0..30 {
        let mut serves = Driven::new(async { server.serve_stdio().await.unwrap() });
        for _ in 0..polls {
            serves.poll();
            std::thread::sleep(Duration::from_millis(1));
        }
        if polls > 0 && !serves.ready {
            assert_ne!(ends(), before, "it serves them");
        }
        drop(serves);
        assert_eq!(ends(), before, "after {polls} polls");
        assert_eq!(open(), descriptors, "after {polls} polls");
    }
    println!("well");
}

/// What ends the serving from within.
#[derive(Default)]
struct Quit(AtomicBool, std::sync::Mutex<Option<Waker>>);

impl Quit {
    fn tell(&self) {
        self.0.store(true, Ordering::SeqCst);
        let waker = self.1.lock().unwrap_or_else(PoisonError::into_inner).take();
        waker.into_iter().for_each(Waker::wake);
    }

    async fn told(&self) {
        std::future::poll_fn(|cx| {
            *self.1.lock().unwrap() = Some(cx.waker().clone());
            if self.0.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn server(quit: &Arc<Quit>, patient: bool) -> Server {
    let quit = Arc::clone(quit);
    let echo = Tool::new("Gives back").string("text", "What");
    Server::builder("stdio", "1")
        .tool("echo", echo, |(), call| async move { call.argument::<String>("text") })
        .tool("nap", Tool::new("Takes its time").integer("ms", "How long"), |(), call| async move {
            Timer::after(Duration::from_millis(call.argument("ms")?)).await;
            Ok("awake")
        })
        .tool("print", Tool::new("Prints, and reads"), |(), _| async {
            println!("stray");
            let mut read = String::new();
            std::io::stdin()
                .read_to_string(&mut read)
                .map_err(|error| ToolError::Failed(error.to_string()))?;
            let cat = std::process::Command::new("cat").output();
            let cat = cat.map_err(|error| ToolError::Failed(error.to_string()))?;
            Ok(format!("{} {}", read.len(), cat.stdout.len()))
        })
        .tool("polls", Tool::new("Says how often this was polled"), |(), _| async {
            Ok(POLLS.load(Ordering::SeqCst).to_string())
        })
        .tool("late", Tool::new("Prints when it is over"), |(), call| async move {
            call.cancelled().await;
            Timer::after(Duration::from_millis(50)).await;
            println!("stray");
            Ok("")
        })
        .tool("again", Tool::new("Serves once more"), |(), call| async move {
            Ok(call.server().serve_stdio().await.unwrap_err().to_string())
        })
        .tool("note", Tool::new("Writes a file").string("path", "Which"), |(), call| async move {
            let path: String = call.argument("path")?;
            std::fs::write(path, "noted").map_err(|error| ToolError::Failed(error.to_string()))?;
            Ok("noted")
        })
        .tool("quit", Tool::new("Ends the serving"), move |(), _| {
            quit.tell();
            async { Ok("nobody reads this") }
        })
        .config(|config| {
            if patient {
                config.limits.drain = Duration::from_secs(3600);
            }
        })
        .build()
        .unwrap()
}

/// The other process with these two ends.
fn start(flags: &[&str], input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.arg("--serve").args(flags).stdin(input).stdout(output).stderr(Stdio::null()).spawn().unwrap()
}

async fn ended_well(mut child: Child) {
    let mut status = None;
    eventually("it ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    })
    .await;
    assert_eq!(status.unwrap().code(), Some(0), "{status:?}");
}

fn blocks(fd: impl AsFd) -> bool {
    !rustix::fs::fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

async fn connect(env: &Env, flags: &[&str]) -> Client {
    let command = Command::new(std::env::current_exe().unwrap()).arg("--serve").args(flags.iter().copied());
    Client::connect(&command, env.options()).await.unwrap()
}

async fn calls_are_answered(env: Env) {
    for flags in [&[][..], &["foreign"]] {
        let client = connect(&env, flags).await;
        for n in 0..20 {
            assert_eq!(tool(&client, "echo", &format!(r#"{{"text":"{n}"}}"#)).await, n.to_string());
        }
        let open: Vec<_> =
            (0..200).map(|n| begin(&client, "echo", &format!(r#"{{"text":"{n}"}}"#))).collect();
        for (n, pending) in open.into_iter().enumerate() {
            assert_eq!(text_of(pending.await), n.to_string());
        }
        // More than any pipe holds, both ways at once.
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(2 << 20));
        let open = [begin(&client, "echo", &long), begin(&client, "echo", &long)];
        for pending in open {
            assert_eq!(text_of(pending.await).len(), 2 << 20);
        }
        let exit = client.close().await;
        assert_eq!(exit.status.and_then(|status| status.code()), Some(0), "{exit}");
    }
}

async fn a_stray_print_does_not_reach_the_wire(env: Env) {
    let client = connect(&env, &[]).await;
    assert_eq!(tool(&client, "print", "{}").await, "0 0");
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#).await, "on");
    assert_eq!(client.close().await.stderr_tail, "stray\n");
}

async fn what_was_taken_is_put_back() {
    let mut child = start(&["after"], Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    input.write_all(request(1, "echo", r#"{"text":"a"}"#).as_bytes()).unwrap();
    drop(input);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[0].contains(r#""text":"a""#), "{said}");
    assert_eq!(lines[1..], ["after", ""]);
    ended_well(child).await;
}

/// A handler that goes on prints to standard error until it is left.
async fn nor_does_one_when_all_is_over() {
    let mut child = start(&["after"], Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let calls = request(1, "late", "{}") + &request(2, "echo", r#"{"text":"a"}"#);
    input.write_all(calls.as_bytes()).unwrap();
    let mut said = String::new();
    output.read_line(&mut said).unwrap();
    assert!(said.contains(r#""text":"a""#), "{said}");
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    input.write_all(format!("{cancel}\n").as_bytes()).unwrap();
    drop(input);
    said.clear();
    output.read_to_string(&mut said).unwrap();
    assert_eq!(said, "after\n\n");
    ended_well(child).await;
}

async fn so_it_is_when_the_future_is_dropped() {
    let mut child = start(&["after"], Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    input.write_all(request(1, "quit", "{}").as_bytes()).unwrap();
    let mut line = String::new();
    while line != "after\n" {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the output ended");
    }
    input.write_all(b"not served").unwrap();
    drop(input);
    line.clear();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "not served\n");
    ended_well(child).await;
}

async fn so_it_is_after_any_poll() {
    let mut child = start(&["steps"], Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let lines: String = (0..50).map(|id| request(id, "nap", r#"{"ms":1}"#)).collect();
    input.write_all(lines.as_bytes()).unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.ends_with("well\n"), "{said}");
    ended_well(child).await;
    drop(input);
}

async fn it_is_served_once_at_a_time() {
    let client = connect(&crate::common::ANY, &[]).await;
    let said = tool(&client, "again", "{}").await;
    assert!(said.contains("being served already"), "{said}");
    assert_eq!(tool(&client, "echo", r#"{"text":"on"}"#).await, "on");
    client.close().await;
}

async fn a_server_that_nobody_calls_rests() {
    for flags in [&[][..], &["foreign"]] {
        let client = connect(&crate::common::ANY, flags).await;
        let sleeps = begin(&client, "nap", r#"{"ms":60000}"#);
        assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#).await, "a");
        let polls = async || tool(&client, "polls", "{}").await.parse::<u64>().unwrap();
        let before = polls().await;
        Timer::after(Duration::from_millis(300)).await;
        let more = polls().await - before;
        assert!(more < 10, "{more}");
        sleeps.cancel(None);
        client.close().await;
    }
}

/// A write that fails raises no signal that ends the process.
async fn a_client_that_is_gone_ends_it() {
    let mut child = start(&[], Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    input.write_all(request(1, "nap", r#"{"ms":100}"#).as_bytes()).unwrap();
    drop((input, child.stdout.take()));
    ended_well(child).await;
}

async fn a_client_that_is_gone_ends_its_calls() {
    for sockets in [false, true] {
        let (mut input, child) = if sockets {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let both = OwnedFd::from(theirs);
            (Box::new(ours) as Box<dyn Write>, start(&["patient"], both.try_clone().unwrap(), both))
        } else {
            let mut child = start(&["patient"], Stdio::piped(), Stdio::piped());
            drop(child.stdout.take());
            (Box::new(child.stdin.take().unwrap()) as Box<dyn Write>, child)
        };
        input.write_all(request(1, "nap", r#"{"ms":3600000}"#).as_bytes()).unwrap();
        drop(input);
        ended_well(child).await;
    }
}

async fn nobody_who_reads_ends_it() {
    let mut child = start(&[], Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    input.write_all(request(1, "echo", r#"{"text":"a"}"#).as_bytes()).unwrap();
    ended_well(child).await;
    drop(input);
}

async fn a_dead_client_ends_a_server_that_nobody_calls() {
    let client = connect(&crate::common::ANY, &[]).await;
    let pid = client.pid().unwrap();
    let sleeps = begin(&client, "nap", r#"{"ms":60000}"#);
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#).await, "a");
    drop((sleeps, client));
    eventually("it is gone", || !runs(pid)).await;
}

async fn sockets_are_left_as_they_are() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let both = OwnedFd::from(theirs);
    let child = start(&[], both.try_clone().unwrap(), both.try_clone().unwrap());
    let text = "x".repeat(1 << 20);
    let mut answers = BufReader::new(ours.try_clone().unwrap());
    for id in 0..3 {
        let line = request(id, "echo", &format!(r#"{{"text":"{text}"}}"#));
        ours.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.len() > text.len() && answer.contains(&text), "{id}");
        assert!(blocks(&both), "for others who share it");
    }
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    ended_well(child).await;
    assert!(blocks(&both));
}

async fn files_are_served_to_their_end() {
    let folder = Folder::new("stdio");
    let (input, output) = (folder.0.join("in"), folder.0.join("out"));
    let lines: String = (0..3000).map(|id| request(id, "echo", &format!(r#"{{"text":"{id}"}}"#))).collect();
    std::fs::write(&input, &lines).unwrap();
    ended_well(start(&[], File::open(&input).unwrap(), File::create(&output).unwrap())).await;
    let answers = std::fs::read_to_string(&output).unwrap();
    let ids: Vec<_> = answers
        .lines()
        .map(|line| RawJson::parse_str(line).unwrap().view().get("id").unwrap().as_i64().unwrap())
        .collect();
    assert_eq!(ids, (0..3000).collect::<Vec<_>>());

    let note = folder.0.join("note");
    let last = request(3000, "note", &format!(r#"{{"path":"{}"}}"#, note.display()));
    std::fs::write(&input, lines + &last).unwrap();
    ended_well(start(&[], File::open(&input).unwrap(), Stdio::null())).await;
    assert_eq!(std::fs::read_to_string(note).unwrap(), "noted");

    // Nothing at all comes from there.
    ended_well(start(&[], Stdio::null(), Stdio::null())).await;
}
