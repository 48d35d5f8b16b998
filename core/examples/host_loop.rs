//! A host of several servers on the core alone: no runtime crate, one loop.
//!
//! `host_loop TOOL JSON-ARGUMENTS SERVER ...` starts each SERVER, a program with its arguments in one word, and calls the
//! tool by the name it is offered under, such as `mcp__s0__echo`. With an empty TOOL it prints what is offered.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a driver has a clock and a terminal")]

use std::collections::BTreeMap;
use std::io::{Error, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant as Clock};

use sanswire::Instant;
use sanswire::client::Config;
use sanswire::host::policy::ServerMode;
use sanswire::host::{
    CallOutcome, CallRequest, ClientHandle, Event, Fleet, FleetEvent, HostConfig, ServerConfig, Target,
};
use sanswire::jsonrpc::RawJson;

/// A child process, its input until that is closed.
type Process = (Child, Option<ChildStdin>);

/// Starts a server. A thread of its own reads what it says; an empty chunk is the end.
fn start(
    command: &str,
    client: ClientHandle,
    chunks: Sender<(ClientHandle, Vec<u8>)>,
) -> Result<Process, Error> {
    let mut words = command.split(' ');
    let mut child = Command::new(words.next().unwrap_or_default())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (input, mut output) = (child.stdin.take(), child.stdout.take().ok_or(Error::other("no pipe"))?);
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(len) = output.read(&mut buffer) {
            if chunks.send((client, buffer[..len].to_vec())).is_err() || len == 0 {
                break;
            }
        }
    });
    Ok((child, input))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tool, arguments, servers @ ..] = words.as_slice() else {
        return Err("usage: host_loop TOOL ARGUMENTS SERVER ...".into());
    };
    let arguments = RawJson::parse_str(arguments)?;
    let mut config = HostConfig::default();
    let mut commands = BTreeMap::new();
    for (index, command) in servers.iter().enumerate() {
        let mut server = ServerConfig::default();
        // Whoever starts this wants the call: nobody else is asked.
        server.mode = ServerMode::Allow;
        config.servers.insert(format!("s{index}").into(), server);
        commands.insert(format!("s{index}"), command.clone());
    }

    let epoch = Clock::now();
    let now = || Instant::ZERO.saturating_add(epoch.elapsed());
    let (chunks, input) = channel();
    let mut processes: BTreeMap<ClientHandle, Process> = BTreeMap::new();
    let mut fleet = Fleet::new(config, now())?;
    let mut failure = None;
    loop {
        while let Some(opening) = fleet.poll_open() {
            match start(&commands[&*opening.server], opening.client, chunks.clone()) {
                Ok(process) => {
                    // Take real randomness where it matters that nobody can guess.
                    fleet.attach(opening.client, Config::new("host-loop", "1"), [0; 32], now())?;
                    processes.insert(opening.client, process);
                }
                Err(error) => fleet.failed(opening.client, &error.to_string(), now()),
            }
        }
        while let Some(client) = fleet.poll_shut() {
            if let Some((mut child, input)) = processes.remove(&client) {
                drop(input);
                child.wait()?;
            }
        }
        if fleet.is_over() {
            return failure.map_or(Ok(()), Err);
        }
        while let Some(event) = fleet.poll_event() {
            match event {
                FleetEvent::Host(Event::Started) if tool.is_empty() => {
                    for (name, offered) in fleet.host().registry().offered() {
                        writeln!(std::io::stdout(), "{name}: {}", offered.definition.description)?;
                    }
                    fleet.close(now());
                }
                FleetEvent::Host(Event::Started) => {
                    let target = Target::Exposed(tool.as_str().into());
                    fleet.call(CallRequest::new("1", target, Some(arguments.clone())), now())?;
                }
                FleetEvent::Host(Event::Finished { end, .. }) => {
                    match end.outcome {
                        CallOutcome::Completed(result) => {
                            writeln!(std::io::stdout(), "{}", result.presented.text)?;
                        }
                        outcome => failure = Some(format!("{outcome:?}").into()),
                    }
                    fleet.close(now());
                }
                FleetEvent::Host(Event::Warning(warning)) => eprintln!("{warning:?}"),
                _ => {}
            }
        }
        let mut busy = false;
        for client in fleet.clients().collect::<Vec<_>>() {
            let Some((_, Some(input))) = processes.get_mut(&client) else { continue };
            if !fleet.transmit(client).is_empty() {
                busy = true;
                match input.write(fleet.transmit(client)) {
                    Ok(len) => fleet.handle_written(client, len, now()),
                    Err(_) => fleet.handle_write_closed(client, now()),
                }
            }
        }
        if !busy {
            let wait = fleet.poll_timeout().map_or(Duration::from_secs(60), |at| at.saturating_since(now()));
            match input.recv_timeout(wait) {
                Ok((client, chunk)) if chunk.is_empty() => fleet.handle_eof(client, now()),
                Ok((client, chunk)) => {
                    // It takes less than all of it when much waits in its connection, and nothing after the end.
                    let mut rest = &chunk[..];
                    while let taken @ 1.. = fleet.handle_input(client, rest, now()) {
                        rest = &rest[taken..];
                    }
                }
                Err(_) => {}
            }
        }
        fleet.handle_timeout(now());
    }
}
