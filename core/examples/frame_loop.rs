//! A client in a program that draws frames, as games and editors do: it never waits for the server, and no frame does more
//! than a fixed amount of work for it, whatever the server sends.
//!
//! `frame_loop` takes no arguments. Its server is a thread of its own at the other end of a socket, with a tool that answers
//! late and one that floods. At the end it says how much the busiest frame did, and fails if that was too much.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a driver has a clock and a screen")]

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant as Clock};

use sanswire::client::{Config, Event, LineConnection, Link as _, Outcome, RequestHandle, RequestOptions};
use sanswire::error::CloseReason;
use sanswire::{Instant, Machine};

/// What one frame may read, and what it may write.
const FRAME_BYTES: usize = 4096;
/// What one frame may handle.
const FRAME_EVENTS: usize = 32;
/// A message is looked at when its last byte has come, as a whole. So this is what a frame may have to look at.
const MESSAGE_BYTES: usize = 64 * 1024;
/// How many frames are drawn before the late answer is let go.
const PATIENCE: u64 = 60;
/// How many messages the flood has.
const FLOOD: usize = 10_000;

/// What was done: in one frame, or in the busiest one of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    read: usize,
    written: usize,
    events: usize,
}

/// A connection that is served a little in every frame.
struct Link {
    machine: LineConnection,
    stream: TcpStream,
    block: [u8; FRAME_BYTES],
    /// Read, and not handed in yet, because events have to be taken first.
    unread: std::ops::Range<usize>,
    /// Events were left over.
    behind: bool,
}

impl Link {
    fn new(stream: TcpStream, now: Instant) -> Result<Self, Box<dyn Error>> {
        stream.set_nonblocking(true)?;
        let mut config = Config::new("frame-loop", "1");
        config.limits.max_message_bytes = MESSAGE_BYTES;
        let machine = LineConnection::new(config, [0; 32], now)?;
        Ok(Self { machine, stream, block: [0; FRAME_BYTES], unread: 0..0, behind: false })
    }

    /// A frame's share of the work. `on_event` may make calls; what they send leaves in the next frame.
    fn frame(&mut self, now: Instant, mut on_event: impl FnMut(&mut LineConnection, Event)) -> Work {
        let mut work = Work::default();
        self.machine.handle_timeout(now);
        self.write(now, &mut work);
        // What is not read stays with the socket, and when that is full, with the server.
        if !self.behind {
            self.read(now, &mut work);
        }
        self.behind = true;
        while work.events < FRAME_EVENTS {
            let Some(event) = self.machine.poll_event() else {
                self.behind = false;
                break;
            };
            work.events += 1;
            on_event(&mut self.machine, event);
        }
        work
    }

    fn write(&mut self, now: Instant, work: &mut Work) {
        let waiting = self.machine.transmit();
        let waiting = &waiting[..waiting.len().min(FRAME_BYTES)];
        if waiting.is_empty() {
            return;
        }
        match self.stream.write(waiting) {
            Ok(len @ 1..) => {
                work.written = len;
                self.machine.handle_written(len, now);
            }
            Err(error) if not_now(&error) => {}
            Ok(_) | Err(_) => self.machine.handle_write_closed(now),
        }
    }

    fn read(&mut self, now: Instant, work: &mut Work) {
        if self.unread.is_empty() && self.machine.wants_read() {
            match self.stream.read(&mut self.block) {
                Ok(len @ 1..) => {
                    work.read = len;
                    self.unread = 0..len;
                }
                Err(error) if not_now(&error) => {}
                Ok(_) | Err(_) => self.machine.handle_eof(now),
            }
        }
        self.unread.start += self.machine.handle_input(&self.block[self.unread.clone()], now);
    }
}

/// Nothing is there, or there is no room: the next frame will see.
fn not_now(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The game: what it waits for, and what it has seen.
#[derive(Default)]
struct Game {
    frames: u64,
    /// The call that is answered late, and the frame that it was made in.
    late: Option<(RequestHandle, u64)>,
    /// How many frames were drawn while it was under way.
    drawn_meanwhile: u64,
    woken: bool,
    flood: Option<RequestHandle>,
    told: usize,
    over: Option<CloseReason>,
    failed: Option<String>,
}

impl Game {
    fn on_event(&mut self, machine: &mut LineConnection, event: Event, now: Instant) {
        let options = RequestOptions::default();
        let asked = match event {
            Event::Ready(_) => machine.call_tool("late", None, &options, now).map(|call| {
                self.late = Some((call, self.frames));
            }),
            Event::Progress { request, .. } if self.flood == Some(request) => {
                self.told += 1;
                Ok(())
            }
            Event::Finished { request, outcome: Outcome::Complete(_) } => {
                if let Some((_, since)) = self.late.take_if(|(late, _)| *late == request) {
                    self.drawn_meanwhile = self.frames - since;
                    machine.call_tool("flood", None, &options, now).map(|call| self.flood = Some(call))
                } else {
                    if self.flood == Some(request) {
                        machine.close(now);
                    }
                    Ok(())
                }
            }
            Event::Closed(reason) => {
                self.over = Some(reason);
                Ok(())
            }
            Event::Finished { outcome, .. } => {
                self.failed = Some(outcome.to_string());
                machine.close(now);
                Ok(())
            }
            Event::Violation(violation) => {
                self.failed = Some(violation.to_string());
                machine.close(now);
                Ok(())
            }
            // See the example `poll_loop` for what else there is.
            _ => Ok(()),
        };
        if let Err(error) = asked {
            self.failed = Some(error.to_string());
            machine.close(now);
        }
    }

    /// Stands for the game's own work, and for the wait until the screen is ready for the next picture.
    fn draw(&mut self) {
        self.frames += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    // The one wait there is: a game connects while it loads, or on a thread.
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let served = std::thread::spawn(move || peer::serve(listener.accept()?.0));

    let epoch = Clock::now();
    let now = || Instant::ZERO.saturating_add(epoch.elapsed());
    let mut link = Link::new(stream, now())?;
    let (mut game, mut busiest, mut total) = (Game::default(), Work::default(), Work::default());
    while game.over.is_none() {
        let at = now();
        let work = link.frame(at, |machine, event| game.on_event(machine, event, at));
        busiest.read = busiest.read.max(work.read);
        busiest.written = busiest.written.max(work.written);
        busiest.events = busiest.events.max(work.events);
        total.read += work.read;
        total.written += work.written;
        total.events += work.events;
        if !game.woken && game.late.is_some_and(|(_, since)| game.frames - since == PATIENCE) {
            game.woken = true;
            link.machine.call_tool("wake", None, &RequestOptions::default(), at)?;
        }
        game.draw();
    }
    link.stream.shutdown(Shutdown::Both)?;
    served.join().map_err(|_| "the server panicked")??;

    println!("{} frames, {} of them while a call was under way", game.frames, game.drawn_meanwhile);
    println!("in all {total:?}");
    println!("in one frame at most {busiest:?}");
    check(game.failed.is_none(), &game.failed.unwrap_or_default())?;
    check(game.over == Some(CloseReason::Local), "the connection did not end as it was told to")?;
    check(game.drawn_meanwhile >= PATIENCE, "frames waited for a call")?;
    check(game.told == FLOOD, "messages of the flood are missing")?;
    check(total.read > 10 * FRAME_BYTES && total.events > 10 * FRAME_EVENTS, "that was no flood")?;
    check(
        busiest.read <= FRAME_BYTES && busiest.written <= FRAME_BYTES && busiest.events <= FRAME_EVENTS,
        "a frame did more than it may",
    )
}

fn check(holds: bool, otherwise: &str) -> Result<(), Box<dyn Error>> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// The server, which may wait as it likes.
mod peer {
    use std::io::{Error, Read, Write};
    use std::net::TcpStream;
    use std::time::Instant as Clock;

    use sanswire::jsonrpc::RawJson;
    use sanswire::mcp::types::request::CallTool;
    use sanswire::server::{Config, Event, LineConnection, Notice, Reply};
    use sanswire::{Instant, Machine};

    pub(crate) fn serve(mut stream: TcpStream) -> Result<(), Error> {
        let epoch = Clock::now();
        let now = || Instant::ZERO.saturating_add(epoch.elapsed());
        let mut server =
            LineConnection::new(Config::new("peer", "1"), [0; 32], now()).map_err(Error::other)?;
        for name in ["late", "wake", "flood"] {
            let tool = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
            let tool = RawJson::parse_str(&tool).map_err(Error::other)?;
            server.catalog_mut().tool(&tool).map_err(Error::other)?;
        }
        let mut late = None;
        let mut block = [0; 4096];
        loop {
            while !server.transmit().is_empty() {
                let len = stream.write(server.transmit())?;
                server.handle_written(len, now());
            }
            match server.poll_event() {
                Some(Event::Request { request, params, .. }) => {
                    let call = CallTool::read(&params).map_err(|flaw| Error::other(flaw.to_string()))?;
                    let answer = Reply::text("done");
                    match &*call.name {
                        "late" => late = Some(request),
                        "wake" => {
                            for request in late.take().into_iter().chain([request]) {
                                server.respond(request, &answer, now()).map_err(Error::other)?;
                            }
                        }
                        _ => {
                            for n in 0..super::FLOOD {
                                let notice =
                                    Notice::Progress { progress: n as f64, total: None, message: None };
                                server.notify(request, &notice, now()).map_err(Error::other)?;
                            }
                            server.respond(request, &answer, now()).map_err(Error::other)?;
                        }
                    }
                }
                Some(Event::Closed(_)) => return Ok(()),
                Some(_) => {}
                None => {
                    match stream.read(&mut block)? {
                        0 => server.handle_eof(now()),
                        // All of it: nothing waits to be written or to be taken.
                        len => drop(server.handle_input(&block[..len], now())),
                    }
                    server.handle_timeout(now());
                }
            }
        }
    }
}
