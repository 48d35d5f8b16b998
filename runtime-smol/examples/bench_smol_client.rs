//! A client to measure:
//!   start -- SERVER...            handshake, tools/list, close
//!   seq N -- SERVER...            N calls of `echo`, one after another
//!   par N WINDOW -- SERVER...     N calls of `echo`, WINDOW in flight from one task
//!   tasks N WINDOW -- SERVER...   N calls of `echo` from WINDOW tasks on one thread
//!   blob BYTES N -- SERVER...     N calls of `blob`, one after another, the text decoded
//! A server is a command, or a URL. With SANSWIRE_BENCH_WATCH=own the watch is a task of this thread's; else it is a thread.

use std::cell::Cell;
use std::collections::VecDeque;

use async_executor::LocalExecutor;
use sanswire_smol::sanswire::client::{Outcome, RequestOptions};
use sanswire_smol::sanswire::jsonrpc::RawJson;
use sanswire_smol::sanswire::mcp::Method;
use sanswire_smol::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_smol::{Client, Command, ConnectOptions, HttpTarget, Pending, Watch};

const TEXT: &str = "hello from the neutral driver!!!";
const ARGUMENTS: &str = r#"{"text":"hello from the neutral driver!!!"}"#;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let executor = LocalExecutor::new();
    let mut options = ConnectOptions::new("bench", "0");
    options.config.limits.max_message_bytes = 64 << 20;
    if std::env::var("SANSWIRE_BENCH_WATCH").is_ok_and(|value| value == "own") {
        let watch = Watch::new();
        executor.spawn(watch.run()).detach();
        options.watch = Some(watch);
        return async_io::block_on(executor.run(measure(options, &executor)));
    }
    async_io::block_on(measure(options, &executor))
}

async fn measure(options: ConnectOptions, executor: &LocalExecutor<'_>) -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = arguments.split(|word| word == "--");
    let mode = parts.next().unwrap_or_default();
    let server = parts.next().unwrap_or_default();
    let number = |at: usize| -> Result<usize, Failure> { Ok(mode.get(at).ok_or("a number")?.parse()?) };
    let (program, rest) = server.split_first().ok_or("MODE ... -- SERVER...")?;

    let client = if program.starts_with("http://") {
        Client::connect_http(&HttpTarget::new(program)?, options).await?
    } else {
        Client::connect(&Command::new(program).args(rest), options).await?
    };
    let listed = client.list(Method::ToolsList, &RequestOptions::default()).await?;
    if listed.pages.is_empty() {
        return Err("no tools".into());
    }
    match mode.first().map(String::as_str) {
        Some("start") => {}
        Some("seq") => {
            for _ in 0..number(1)? {
                echo(&client).await?;
            }
        }
        Some("par") => in_flight(&client, number(1)?, number(2)?).await?,
        Some("tasks") => {
            let left = Cell::new(number(1)?);
            tasks(&client, &left, number(2)?, executor).await?;
        }
        Some("blob") => blobs(&client, number(1)?, number(2)?).await?,
        _ => return Err("start | seq N | par N WINDOW | tasks N WINDOW | blob BYTES N".into()),
    }
    client.close().await;
    Ok(())
}

fn check(outcome: Outcome, text: &mut String, len: usize) -> Result<RawJson, Failure> {
    let Outcome::Complete(result) = outcome else { return Err(format!("{outcome:?}").into()) };
    let result = CallToolResult::new(result);
    text.clear();
    result.append_text(text);
    if text.len() == len { Ok(result.into_raw()) } else { Err(format!("{} bytes", text.len()).into()) }
}

async fn echo(client: &Client) -> Result<(), Failure> {
    let arguments = RawJson::parse_str(ARGUMENTS)?;
    let outcome = client.call_tool("echo", Some(&arguments), &RequestOptions::default()).await?;
    check(outcome, &mut String::new(), TEXT.len())?;
    Ok(())
}

async fn in_flight(client: &Client, calls: usize, window: usize) -> Result<(), Failure> {
    let mut open: VecDeque<Pending> = VecDeque::with_capacity(window);
    let mut left = calls;
    let mut text = String::new();
    loop {
        let cork = client.cork();
        while left > 0 && open.len() < window {
            let arguments = RawJson::parse_str(ARGUMENTS)?;
            open.push_back(client.start_tool("echo", Some(&arguments), &RequestOptions::default())?);
            left -= 1;
        }
        drop(cork);
        let Some(oldest) = open.pop_front() else { return Ok(()) };
        check(oldest.await, &mut text, TEXT.len())?;
        // What came with it needs no waiting.
        while let Some(outcome) = open.front_mut().and_then(Pending::try_take) {
            check(outcome, &mut text, TEXT.len())?;
            open.pop_front();
        }
    }
}

/// On an executor of its own, since what it runs borrows the count.
async fn tasks(
    client: &Client,
    left: &Cell<usize>,
    window: usize,
    outer: &LocalExecutor<'_>,
) -> Result<(), Failure> {
    let executor = LocalExecutor::new();
    let work = async || -> Result<(), Failure> {
        while left.get() > 0 {
            left.set(left.get() - 1);
            echo(client).await?;
        }
        Ok(())
    };
    let running: Vec<_> = (0..window).map(|_| executor.spawn(work())).collect();
    let all = async {
        for task in running {
            task.await?;
        }
        Ok(())
    };
    outer.run(executor.run(all)).await
}

async fn blobs(client: &Client, bytes: usize, calls: usize) -> Result<(), Failure> {
    let mut text = String::new();
    for _ in 0..calls {
        let arguments = RawJson::parse_str(&format!(r#"{{"bytes":{bytes}}}"#))?;
        let outcome = client.call_tool("blob", Some(&arguments), &RequestOptions::default()).await?;
        client.recycle(check(outcome, &mut text, bytes)?);
    }
    Ok(())
}
