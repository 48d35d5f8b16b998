//! A client on the core alone: no runtime crate, one loop.
//!
//! `poll_loop TOOL JSON-ARGUMENTS SERVER [ARGUMENT ...]` starts the server, calls the tool and prints the result.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a driver has a clock and a terminal")]

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant as Clock};

use sanswire::client::{Config, Event, LineConnection, Link, Outcome, RequestOptions};
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::{Instant, Machine};

/// The standard library cannot wait for a pipe and for a time at once, so a thread reads it. The end of the channel is the
/// end of input. The channel has no bound, so that the server can always go on writing: if it could not, it might read
/// nothing more either, and this program would wait for it as it waits for us.
fn read_on_thread(mut pipe: ChildStdout) -> Receiver<Vec<u8>> {
    let (chunks, input) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            match pipe.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(len) if chunks.send(buffer[..len].to_vec()).is_err() => break,
                Ok(_) => {}
            }
        }
    });
    input
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tool, arguments, program, rest @ ..] = words.as_slice() else {
        return Err("usage: poll_loop TOOL ARGUMENTS SERVER ...".into());
    };
    let arguments = RawJson::parse_str(arguments)?;
    let mut child = Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no pipe")?;
    let input = read_on_thread(child.stdout.take().ok_or("no pipe")?);

    // Any clock that never goes back will do, and any epoch.
    let epoch = Clock::now();
    let now = || Instant::ZERO.saturating_add(epoch.elapsed());
    // A client of lines needs no randomness today. A program that is more than an example gives 32 random bytes.
    let mut client = LineConnection::new(Config::new("poll-loop", "1"), [0; 32], now())?;
    let mut unread = Vec::new();
    let mut answer = Err("the connection ended before the call did".into());
    let reason = 'open: loop {
        while let Some(event) = client.poll_event() {
            match event {
                Event::Ready(peer) => {
                    eprintln!("{} {} speaks {}", peer.server.name, peer.server.version, peer.revision);
                    client.call_tool(tool, Some(&arguments), &RequestOptions::default(), now())?;
                }
                Event::Finished { outcome, .. } => {
                    answer = finished(outcome);
                    client.close(now());
                }
                Event::Progress { progress, .. } => {
                    eprintln!("{} of {:?}", progress.progress, progress.total)
                }
                // Worth a line in a log. The connection goes on.
                Event::Violation(violation) => eprintln!("the server broke the protocol: {violation}"),
                // Kept by a program that starts the server again: `Config::start` takes it, and the probe is spared.
                Event::Verdict(_) => {}
                // News of lists, resources and the server's log.
                Event::Notification { method, .. } => eprintln!("told: {method:?}"),
                // Only what `Config::capabilities` declares is asked for, which is nothing here; pings are answered by
                // the machine. What is asked takes one `answer`, unless it ends before.
                Event::PeerRequest { .. } | Event::PeerRequestEnded { .. } => {}
                // `client::era::next_start` says whether such a server is to be started once more.
                Event::Closed(reason) => break 'open reason,
                // A session that was renewed, which is for HTTP only, and what later versions may add.
                _ => {}
            }
        }
        // As much as the pipe takes. It may take its time: the thread goes on reading. A server that never reads again
        // holds this loop up, deadlines too; who fears that writes on a thread as well, or to what need not be waited for.
        if !client.transmit().is_empty() {
            match stdin.write(client.transmit()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => client.handle_write_closed(now()),
                Ok(len) => client.handle_written(len, now()),
            }
        } else {
            if unread.is_empty() {
                let wait = client.poll_timeout().map_or(Duration::MAX, |at| at.saturating_since(now()));
                match input.recv_timeout(wait) {
                    Ok(chunk) => unread = chunk,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => client.handle_eof(now()),
                }
            }
            // It takes less than all of it when so many events wait that they have to be taken first.
            let taken = client.handle_input(&unread, now());
            unread.drain(..taken);
        }
        client.handle_timeout(now());
    };
    eprintln!("{reason}");
    // At the end of its input a server goes. One that does not has to be killed, which `sanswire-std` does.
    drop(stdin);
    child.wait()?;
    answer
}

/// Every way in which a call ends, and there is always one.
fn finished(outcome: Outcome) -> Result<(), Box<dyn Error>> {
    match outcome {
        Outcome::Complete(result) => {
            writeln!(std::io::stdout(), "{}", result.as_str())?;
            if CallToolResult::new(result).is_error() { Err("the tool failed".into()) } else { Ok(()) }
        }
        // Only of a client that declared what it can be asked: `Link::resume` goes on with the answers.
        Outcome::InputRequired(_) => Err("the tool asks for input first".into()),
        Outcome::Error(error) => Err(format!("the server: {:?} ({})", error.message, error.code).into()),
        // Out of time, lost on the way (and whether it may have run), too large, unusable, cancelled; over HTTP, refused.
        other => Err(other.to_string().into()),
    }
}
