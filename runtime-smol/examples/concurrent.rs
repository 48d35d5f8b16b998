//! A client in a smol program: calls of many tasks at once, one that is given up by dropping it, and the end of the server.
//!
//! `concurrent SERVER [ARGUMENT ...]` wants a server with the tools `echo` and `slow`, as the demo server has them.
//!
//! The executor is the one of `smol`, from the crate that `smol` has it from: `smol::Executor` and `smol::block_on` are the
//! same.

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_executor::Executor;
use sanswire_smol::sanswire::client::{Outcome, RequestOptions, params};
use sanswire_smol::sanswire::jsonrpc::RawJson;
use sanswire_smol::sanswire::mcp::Method;
use sanswire_smol::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_smol::{Client, Command, ConnectOptions, Direction, Ended, Tap, Watch};

type Failure = Box<dyn Error + Send + Sync>;

const TASKS: usize = 100;

/// The methods of what was sent, in order.
#[derive(Default)]
struct Sent(Mutex<Vec<String>>);

impl Tap for Sent {
    fn message(&self, direction: Direction, _: Duration, line: &[u8]) {
        let message = RawJson::from_slice(line, 128).ok().filter(|_| direction == Direction::Sent);
        let method =
            message.and_then(|message| Some(message.view().get("method")?.str()?.decode().into_owned()));
        if let (Some(method), Ok(mut sent)) = (method, self.0.lock()) {
            sent.push(method);
        }
    }
}

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let command = Command::new(words.next().ok_or("usage: concurrent SERVER [ARGUMENT ...]")?).args(words);
    let executor = Executor::new();
    async_io::block_on(executor.run(run(&executor, &command)))
}

async fn run(executor: &Executor<'_>, command: &Command) -> Result<(), Failure> {
    let mut options = ConnectOptions::new("concurrent", "1.0");
    let sent = Arc::new(Sent::default());
    options.tap = Some(sent.clone());
    // Looks after the connection while nobody waits for it. Without this line a thread would.
    let watch = Watch::new();
    executor.spawn(watch.run()).detach();
    options.watch = Some(watch);
    let client = Client::connect(command, options).await?;

    // A call that works on while the others come and go.
    let arguments = RawJson::parse_str(r#"{"seconds":600,"steps":1000}"#)?;
    let slow = params::call_tool("slow", Some(&arguments));
    let mut slow = client.start_with_progress(Method::ToolsCall, Some(slow), &RequestOptions::default())?;
    let progress = slow.next_progress().await.ok_or("the slow call ended without a word")?;
    println!("slow: step {} of {}", progress.progress, progress.total.unwrap_or_default());

    // A task for each call. They drive the connection for each other: nothing else has to run.
    let tasks: Vec<_> =
        (0..TASKS).map(|n| executor.spawn(echo(client.clone(), format!("call {n}")))).collect();
    for (n, task) in tasks.into_iter().enumerate() {
        let text = task.await?;
        check(text == format!("call {n}"), "a task got another one's answer")?;
    }
    println!("echo: {TASKS} calls of as many tasks");
    check(slow.try_take().is_none(), "the slow call is over")?;

    // Dropping a call cancels it, which the server is told before anything that is sent later.
    drop(slow);
    echo(client.clone(), "one more".into()).await?;

    // Ready when the process is gone. The tap has told everything by then.
    let exit = client.close().await;
    println!("server: {exit}");
    check(exit.ended == Ended::OnEof, "the end of its input was not enough to end the server")?;
    check(exit.status.is_some_and(|status| status.success()), "the server failed")?;
    let sent = sent.0.lock().map_err(|_| "the tap panicked")?;
    let cancelled = sent.iter().position(|method| method == "notifications/cancelled");
    check(cancelled == Some(sent.len() - 2), "the server was not told at once that a call is given up")
}

/// One call, and the text of its answer.
async fn echo(client: Client, text: String) -> Result<String, Failure> {
    let arguments = RawJson::object(|w| {
        w.string("text", &text);
    });
    match client.call_tool("echo", Some(&arguments), &RequestOptions::default()).await? {
        Outcome::Complete(result) => Ok(CallToolResult::new(result).text()),
        other => Err(other.to_string().into()),
    }
}

fn check(holds: bool, otherwise: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
