//! A client on the core alone: no runtime crate, one loop.
//!
//! `poll_loop TOOL JSON-ARGUMENTS SERVER [ARGUMENT ...]` starts the server, calls the tool and prints the result.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a driver has a clock and a terminal")]

use std::io::{Error, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant as Clock};

use sanswire::client::{Config, Event, LineConnection, Outcome, RequestOptions};
use sanswire::jsonrpc::RawJson;
use sanswire::{Instant, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tool, arguments, program, rest @ ..] = words.as_slice() else {
        return Err("usage: poll_loop TOOL ARGUMENTS SERVER ...".into());
    };
    let arguments = RawJson::parse_str(arguments)?;
    let mut child = Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take();
    let mut stdout = child.stdout.take().ok_or(Error::other("no pipe"))?;

    // The standard library cannot poll a pipe, so a thread reads it; an empty chunk is the end.
    let (chunks, input) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(len) = stdout.read(&mut buffer) {
            if chunks.send(buffer[..len].to_vec()).is_err() || len == 0 {
                break;
            }
        }
    });

    let epoch = Clock::now();
    let now = || Instant::from_micros(u64::try_from(epoch.elapsed().as_micros()).unwrap_or(u64::MAX));
    let mut client = LineConnection::new(Config::new("poll-loop", "1"), [0; 32], now())?;
    loop {
        while let Some(event) = client.poll_event() {
            match event {
                Event::Ready(peer) => {
                    eprintln!("{} {} speaks {}", peer.server.name, peer.server.version, peer.revision);
                    client.call_tool(tool, Some(&arguments), &RequestOptions::default(), now())?;
                }
                Event::Finished { outcome: Outcome::Complete(result), .. } => {
                    std::io::stdout().write_all(result.as_bytes())?;
                    client.close(now());
                }
                Event::Finished { outcome, .. } => return Err(format!("{outcome:?}").into()),
                Event::Closed(reason) => {
                    eprintln!("{reason}");
                    drop(stdin);
                    child.wait()?;
                    return Ok(());
                }
                event @ (Event::Verdict(_) | Event::Violation(_)) => eprintln!("{event:?}"),
                _ => {}
            }
        }
        if let Some(pipe) = stdin.as_mut().filter(|_| !client.transmit().is_empty()) {
            match pipe.write(client.transmit()) {
                Ok(len) => client.handle_written(len, now()),
                Err(_) => client.handle_write_closed(now()),
            }
            continue;
        }
        let wait = client.poll_timeout().map_or(Duration::from_secs(60), |at| at.saturating_since(now()));
        match input.recv_timeout(wait) {
            Ok(chunk) if chunk.is_empty() => client.handle_eof(now()),
            Ok(chunk) => drop(client.handle_input(&chunk, now())),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => client.handle_eof(now()),
        }
        client.handle_timeout(now());
    }
}
