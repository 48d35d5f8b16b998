//! Calls a tool once for each line of standard input, two calls at a time, and prints the answers in the order of the lines.
//!
//! `each SERVER` lists the tools. `each SERVER TOOL` calls one: each line holds the arguments of a call, an object in JSON.
//! SERVER is a program with its arguments, in one word.
//!
//! ```sh
//! printf '%s\n' '{"timezone":"Asia/Tokyo"}' '{"timezone":"UTC"}' | each 'mcp-server-time' get_current_time
//! ```

#![expect(clippy::print_stderr, reason = "it is a program")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use sanswire_std::sanswire::client::{Outcome, RequestOptions};
use sanswire_std::sanswire::host::Mask;
use sanswire_std::sanswire::jsonrpc::RawJson;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::sanswire::mcp::types::collection::Collection;
use sanswire_std::sanswire::mcp::types::tool::Tool;
use sanswire_std::{Client, Command, ConnectOptions};

const THREADS: usize = 2;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("each: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(server), tool, None) = (words.next(), words.next(), words.next()) else {
        return Err("usage: each 'SERVER ARGUMENT ...' [TOOL] < LINES".into());
    };
    let mut server = server.split_whitespace();
    let command = Command::new(server.next().ok_or("the server's command is empty")?).args(server);
    // What is no JSON is found before anything is called.
    let given = if tool.is_some() { read_lines()? } else { Vec::new() };

    let client = Client::connect(&command, ConnectOptions::new("each", "1.0"))?;
    let done = match tool {
        Some(tool) => call_each(&client, &tool, &given),
        None => list(&client),
    };
    // Without this the last `Client` that is dropped ends the connection. So it can be told how the server went.
    let exit = client.close();
    if !exit.status.is_some_and(|status| status.success()) {
        eprintln!("the server {exit}");
    }
    done
}

fn read_lines() -> Result<Vec<RawJson>, Box<dyn Error>> {
    let mut given = Vec::new();
    for (index, line) in stdin().lines().enumerate() {
        let line = line?;
        given.push(RawJson::parse_str(&line).map_err(|fault| format!("line {}: {fault}", index + 1))?);
    }
    Ok(given)
}

fn list(client: &Client) -> Result<(), Box<dyn Error>> {
    let listed = client.list(Method::ToolsList, &RequestOptions::default())?;
    // A stranger's text may hold what a terminal obeys.
    let mask = Mask::default();
    for tool in Collection::<Tool>::read(&listed.pages).items() {
        let description = tool.description().unwrap_or_default();
        writeln!(stdout(), "{}: {}", mask.line(tool.name()), mask.line(&description))?;
    }
    // What came before a page that could not be had is worth showing, but is not all.
    listed.cut.map_or(Ok(()), |cut| Err(format!("the list is not whole: {cut:?}").into()))
}

/// The threads share the client: whichever waits reads for both, and each gets its own answers.
fn call_each(client: &Client, tool: &str, given: &[RawJson]) -> Result<(), Box<dyn Error>> {
    let next = AtomicUsize::new(0);
    let (answers, answered) = channel();
    let (mut printed, mut failed) = (0, 0);
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        for answers in vec![answers; THREADS] {
            scope.spawn(|| {
                let answers = answers;
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(arguments) = given.get(index) else { break };
                    if answers.send((index, call(client, tool, arguments))).is_err() {
                        break;
                    }
                }
            });
        }
        let mut early = BTreeMap::new();
        for (index, answer) in answered {
            early.insert(index, answer);
            while let Some(answer) = early.remove(&printed) {
                printed += 1;
                match answer {
                    Ok(text) => writeln!(stdout(), "{text}")?,
                    Err(why) => {
                        failed += 1;
                        eprintln!("line {printed}: {why}");
                    }
                }
            }
        }
        Ok(())
    })?;
    match failed {
        0 if printed == given.len() => Ok(()),
        0 => Err(format!("{printed} answers to {} calls", given.len()).into()),
        _ => Err(format!("{failed} of {printed} calls failed").into()),
    }
}

/// The text of the answer, or why there is none.
fn call(client: &Client, tool: &str, arguments: &RawJson) -> Result<String, String> {
    match client.call_tool(tool, Some(arguments), &RequestOptions::default()) {
        Ok(Outcome::Complete(result)) => {
            let result = CallToolResult::new(result);
            if result.is_error() { Err(result.text()) } else { Ok(result.text()) }
        }
        Ok(Outcome::Error(error)) => Err(format!("{:?} ({})", error.message, error.code)),
        Ok(other) => Err(other.to_string()),
        Err(error) => Err(format!("not called: {error}")),
    }
}
