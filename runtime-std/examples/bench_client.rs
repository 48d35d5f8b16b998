//! A client to measure:
//!   start -- SERVER...            handshake, tools/list, close
//!   seq N -- SERVER...            N calls of `echo`, one after another
//!   par N WINDOW -- SERVER...     N calls of `echo`, WINDOW in flight from one thread
//!   threads N WINDOW -- SERVER... N calls of `echo` from WINDOW threads
//!   blob BYTES N -- SERVER...     N calls of `blob`, one after another, the text decoded
//! A server is a command, or a URL.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use sanswire_std::sanswire::client::{Outcome, RequestOptions};
use sanswire_std::sanswire::jsonrpc::RawJson;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::{Client, Command, ConnectOptions, HttpTarget, Pending};

const TEXT: &str = "hello from the neutral driver!!!";
const ARGUMENTS: &str = r#"{"text":"hello from the neutral driver!!!"}"#;
const STACK: usize = 64 * 1024;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = arguments.split(|word| word == "--");
    let mode = parts.next().unwrap_or_default();
    let server = parts.next().unwrap_or_default();
    let number = |at: usize| -> Result<usize, Failure> { Ok(mode.get(at).ok_or("a number")?.parse()?) };
    let (program, rest) = server.split_first().ok_or("MODE ... -- SERVER...")?;

    let mut options = ConnectOptions::new("bench", "0");
    options.config.limits.max_message_bytes = 64 << 20;
    let client = if program.starts_with("http://") {
        Client::connect_http(&HttpTarget::new(program)?, options)?
    } else {
        Client::connect(&Command::new(program).args(rest), options)?
    };
    let listed = client.list(Method::ToolsList, &RequestOptions::default())?;
    if listed.pages.is_empty() {
        return Err("no tools".into());
    }
    match mode.first().map(String::as_str) {
        Some("start") => {}
        Some("seq") => (0..number(1)?).try_for_each(|_| echo(&client))?,
        Some("par") => in_flight(&client, number(1)?, number(2)?)?,
        Some("threads") => threads(&client, number(1)?, number(2)?)?,
        Some("blob") => blobs(&client, number(1)?, number(2)?)?,
        _ => return Err("start | seq N | par N WINDOW | threads N WINDOW | blob BYTES N".into()),
    }
    client.close();
    Ok(())
}

fn check(outcome: Outcome, text: &mut String, len: usize) -> Result<RawJson, Failure> {
    let Outcome::Complete(result) = outcome else { return Err(format!("{outcome:?}").into()) };
    let result = CallToolResult::new(result);
    text.clear();
    result.append_text(text);
    if text.len() == len { Ok(result.into_raw()) } else { Err(format!("{} bytes", text.len()).into()) }
}

fn echo(client: &Client) -> Result<(), Failure> {
    let arguments = RawJson::parse_str(ARGUMENTS)?;
    let outcome = client.call_tool("echo", Some(&arguments), &RequestOptions::default())?;
    check(outcome, &mut String::new(), TEXT.len())?;
    Ok(())
}

fn in_flight(client: &Client, calls: usize, window: usize) -> Result<(), Failure> {
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
        check(oldest.wait(), &mut text, TEXT.len())?;
        // What came with it needs no waiting.
        while let Some(outcome) = open.front_mut().and_then(Pending::try_take) {
            check(outcome, &mut text, TEXT.len())?;
            open.pop_front();
        }
    }
}

fn threads(client: &Client, calls: usize, window: usize) -> Result<(), Failure> {
    let left = AtomicUsize::new(calls);
    let work = || -> Result<(), Failure> {
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            echo(client)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 0..window {
            running.push(std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?);
        }
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread failed")?)
    })
}

fn blobs(client: &Client, bytes: usize, calls: usize) -> Result<(), Failure> {
    let mut text = String::new();
    for _ in 0..calls {
        let arguments = RawJson::parse_str(&format!(r#"{{"bytes":{bytes}}}"#))?;
        let outcome = client.call_tool("blob", Some(&arguments), &RequestOptions::default())?;
        client.recycle(check(outcome, &mut text, bytes)?);
    }
    Ok(())
}
