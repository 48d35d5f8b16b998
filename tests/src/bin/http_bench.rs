//! Calls over HTTP on kept connections: servers under one load, and clients in front of one server, in one run.
//!
//! ```text
//! http_bench servers [--connections N] [--calls N] [--rounds N] NAME='COMMAND {PORT}' ...
//! http_bench clients [--window N] [--calls N] [--rounds N] NAME='COMMAND {MODE} -- {URL}' ...
//! ```
//!
//! A server listens on the loopback port that it is given, answers at `/mcp`, and has the tool `echo`. A client is given
//! `seq CALLS` or `par CALLS WINDOW` for `{MODE}`, calls `echo` so often, and checks what comes back. The floor of either
//! kind is part of this program: no JSON library, no bounds, a thread for each connection. `taskset -c 0` is the steady
//! way to run it.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const TEXT: &str = "hello from the neutral driver!!!";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LONGEST: usize = 64 * 1024;
/// A tick of the process times that the kernel tells of, in microseconds.
const TICK: f64 = 10_000.0;

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Options {
    at_once: usize,
    calls: usize,
    rounds: usize,
    rows: Vec<(String, String)>,
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (mode, rest) = words.split_first().ok_or("servers | clients, see the head of the source")?;
    match mode.as_str() {
        "servers" => servers(&options(rest)?),
        "clients" => clients(&options(rest)?),
        "floor" => floor(TcpListener::bind(("127.0.0.1", rest.first().ok_or("PORT")?.parse()?))?),
        other => Err(format!("{other} is neither servers nor clients").into()),
    }
}

fn options(words: &[String]) -> Result<Options, Failure> {
    let mut options = Options { at_once: 64, calls: 4000, rounds: 5, rows: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<usize, Failure> { Ok(words.next().ok_or("a number")?.parse()?) };
        match word.as_str() {
            "--connections" | "--window" => options.at_once = number()?,
            "--calls" => options.calls = number()?,
            "--rounds" => options.rounds = number()?,
            row => {
                let (name, command) = row.split_once('=').ok_or("NAME=COMMAND")?;
                options.rows.push((name.into(), command.into()));
            }
        }
    }
    Ok(options)
}

/// A process that is gone when this is.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(command: &str) -> Result<Self, Failure> {
        let mut words = command.split_whitespace();
        let mut command = Command::new(words.next().ok_or("a command")?);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
        if std::env::var_os("BENCH_STDERR").is_none() {
            command.stderr(Stdio::null());
        }
        Ok(Self(command.spawn()?))
    }

    /// Microseconds of processor time that it used so far.
    fn used(&self) -> Result<f64, Failure> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
        Ok((ticks(11) + ticks(12)) * TICK)
    }

    fn peak_mib(&self) -> Result<f64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        Ok(line.split_whitespace().next().unwrap_or_default().parse::<f64>()? / 1024.0)
    }
}

/// One figure of each round, and their median.
#[derive(Default)]
struct Column(Vec<f64>);

impl Column {
    fn median(&mut self) -> f64 {
        self.0.sort_by(f64::total_cmp);
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn print(title: &str, heads: &[&str], rows: Vec<(String, Vec<Column>)>) {
    println!("| {title} | {} |", heads.join(" | "));
    println!("|---|{}", "---|".repeat(heads.len()));
    for (name, mut columns) in rows {
        let cells: Vec<String> = columns.iter_mut().map(|column| format!("{:.1}", column.median())).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// Adds the figures of one round to a row.
fn note(rows: &mut Vec<(String, Vec<Column>)>, at: usize, name: &str, figures: &[f64]) {
    if rows.len() <= at {
        rows.push((name.into(), figures.iter().map(|_| Column::default()).collect()));
    }
    if let Some((_, columns)) = rows.get_mut(at) {
        columns.iter_mut().zip(figures).for_each(|(column, figure)| column.0.push(*figure));
    }
}

fn servers(options: &Options) -> Result<(), Failure> {
    let me = std::env::current_exe()?;
    let mut commands = vec![("floor".to_owned(), format!("{} floor {{PORT}}", me.display()))];
    commands.extend(options.rows.iter().cloned());
    let mut rows = Vec::new();
    for _ in 0..options.rounds {
        for (at, (name, command)) in commands.iter().enumerate() {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let server = Running::start(&command.replace("{PORT}", &port.to_string()))?;
            note(&mut rows, at, name, &load(&server, port, options)?);
        }
    }
    let many = format!("{} connections, calls a CPU second / 1000", options.at_once);
    let rate = format!("{} connections, calls a second / 1000", options.at_once);
    let heads = ["sequential p50, us", "p99, us", "CPU a call, us", &rate, &many, "peak RSS, MiB"];
    print("server", &heads, rows);
    Ok(())
}

fn load(server: &Running, port: u16, options: &Options) -> Result<[f64; 6], Failure> {
    let begin = Instant::now();
    let mut one = loop {
        match Connection::open(port) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                if begin.elapsed() > Duration::from_secs(10) {
                    return Err("it does not listen".into());
                }
                thread::sleep(Duration::from_millis(2));
            }
            opened => break opened?,
        }
    };
    (0..options.calls / 10).try_for_each(|id| one.echo(id))?;
    let used = server.used()?;
    let mut took = Vec::with_capacity(options.calls);
    for id in 0..options.calls {
        let start = Instant::now();
        one.echo(id)?;
        took.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let sequential = (server.used()? - used) / options.calls as f64;
    took.sort_by(f64::total_cmp);
    let at = |part: f64| took.get((took.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);

    let each = options.calls * 4 / options.at_once;
    let mut open = (0..options.at_once).map(|_| Connection::open(port)).collect::<Result<Vec<_>, _>>()?;
    let (used, begin) = (server.used()?, Instant::now());
    thread::scope(|scope| {
        let threads: Vec<_> = open
            .iter_mut()
            .map(|connection| scope.spawn(move || (0..each).try_for_each(|id| connection.echo(id))))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| io::Error::other("a thread failed"))?)
    })?;
    let calls = (each * options.at_once) as f64;
    let rate = calls / begin.elapsed().as_secs_f64() / 1e3;
    let per_second = calls / ((server.used()? - used) / 1e6) / 1e3;
    Ok([at(0.5), at(0.99), sequential, rate, per_second, server.peak_mib()?])
}

/// A kept connection of the load.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The field that names the session, with its line end.
    session: String,
}

impl Connection {
    fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        let mut this = Self { stream, buffer: vec![0; LONGEST], session: String::new() };
        let len = this.post(INITIALIZE)?;
        let answer = String::from_utf8_lossy(this.buffer.get(..len).unwrap_or_default());
        let field = answer.lines().take_while(|line| !line.is_empty()).find_map(|line| {
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"))
        });
        let session = field.map(|(_, value)| format!("mcp-session-id: {}\r\n", value.trim()));
        this.session = session.unwrap_or_default();
        this.post(INITIALIZED)?;
        Ok(this)
    }

    /// Posts, and reads the answer to its end. Its length in the buffer.
    fn post(&mut self, body: &str) -> io::Result<usize> {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\nmcp-protocol-version: 2025-11-25\r\n{}content-length: {}\r\n\r\n{body}",
            self.session,
            body.len()
        );
        self.stream.write_all(request.as_bytes())?;
        let mut len = 0;
        loop {
            let read = self.stream.read(self.buffer.get_mut(len..).unwrap_or_default())?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            len += read;
            let so_far = self.buffer.get(..len).unwrap_or_default();
            let Some((head, rest)) = head_of(so_far) else { continue };
            if !head.starts_with(b"HTTP/1.1 20") {
                return Err(io::Error::other(String::from_utf8_lossy(so_far).into_owned()));
            }
            let whole = match number_of(head, b"content-length:") {
                Some(wanted) => rest.len() >= wanted,
                None if find(head, b"chunked").is_some() => rest.ends_with(b"0\r\n\r\n"),
                None => true,
            };
            if whole {
                return Ok(len);
            }
        }
    }

    fn echo(&mut self, id: usize) -> io::Result<()> {
        let len = self.post(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{TEXT}"}}}}}}"#,
            id + 1
        ))?;
        let answer = self.buffer.get(..len).unwrap_or_default();
        find(answer, TEXT.as_bytes()).map(drop).ok_or_else(|| io::Error::other("no echo"))
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|part| part.eq_ignore_ascii_case(what))
}

/// The head of a message, with the end of its last line, and what follows it.
fn head_of(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.windows(4).position(|part| part == b"\r\n\r\n")?;
    Some((text.get(..end + 2)?, text.get(end + 4..)?))
}

/// The number behind `name` in a head.
fn number_of(head: &[u8], name: &[u8]) -> Option<usize> {
    let rest = head.get(find(head, name)? + name.len()..)?;
    let line = rest.split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// The least that a server can do: a thread for each connection, one read and one write a call.
fn floor(listener: TcpListener) -> Result<(), Failure> {
    for stream in listener.incoming().flatten() {
        thread::Builder::new().stack_size(256 * 1024).spawn(move || drop(answer(stream)))?;
    }
    Ok(())
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; LONGEST];
    let mut len = 0;
    let mut out = Vec::new();
    loop {
        let (head, end) = loop {
            if let Some((head, rest)) = head_of(buffer.get(..len).unwrap_or_default()) {
                let wanted = number_of(head, b"content-length:").unwrap_or_default();
                if rest.len() >= wanted {
                    break (head.len() + 2, head.len() + 2 + wanted);
                }
            }
            match stream.read(buffer.get_mut(len..).unwrap_or_default())? {
                0 => return Ok(()),
                read => len += read,
            }
        };
        let body = buffer.get(head..end).unwrap_or_default();
        out.clear();
        match number_of_id(body) {
            None => out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"),
            Some(id) => {
                let result = match () {
                    () if find(body, b"server/discover").is_some() => None,
                    () if find(body, b"initialize").is_some() => Some(
                        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"0"}}"#
                            .to_owned(),
                    ),
                    () if find(body, b"tools/list").is_some() => {
                        Some(r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#.to_owned())
                    }
                    () => Some(format!(r#"{{"content":[{{"type":"text","text":"{TEXT}"}}],"isError":false}}"#)),
                };
                let (status, rest) = match result {
                    Some(result) => ("200 OK", format!(r#""result":{result}}}"#)),
                    None => ("400 Bad Request", r#""error":{"code":-32601,"message":"no"}}"#.to_owned()),
                };
                let json = format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}"#);
                write!(
                    out,
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{json}",
                    json.len()
                )?;
            }
        }
        if find(buffer.get(..head).unwrap_or_default(), b"GET ") == Some(0) {
            out = b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_vec();
        }
        stream.write_all(&out)?;
        buffer.copy_within(end..len, 0);
        len -= end;
    }
}

fn number_of_id(body: &[u8]) -> Option<u64> {
    let rest = body.get(find(body, b"\"id\":")? + 5..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

fn clients(options: &Options) -> Result<(), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let url = format!("http://127.0.0.1:{}/mcp", listener.local_addr()?.port());
    thread::spawn(move || drop(floor(listener)));
    let mut rows = Vec::new();
    for _ in 0..options.rounds {
        for (at, (name, command)) in options.rows.iter().enumerate() {
            let command = command.replace("{URL}", &url);
            // What a start costs is taken off: the same with a tenth of the calls.
            let run = |mode: String| timed(&command.replace("{MODE}", &mode));
            let gain = |whole: (f64, f64), part: (f64, f64), calls: usize| {
                let calls = (calls - calls / 10) as f64;
                ((whole.0 - part.0) / calls, (whole.1 - part.1) / calls)
            };
            let few = options.calls / 10;
            let one = gain(run(format!("seq {}", options.calls))?, run(format!("seq {few}"))?, options.calls);
            let (many, window) = (options.calls * 4, options.at_once);
            let all =
                gain(run(format!("par {many} {window}"))?, run(format!("par {} {window}", many / 10))?, many);
            note(&mut rows, at, name, &[one.0, one.1, 1e3 / all.0, 1e3 / all.1]);
        }
    }
    let rate = format!("{} in flight, calls a second / 1000", options.at_once);
    let many = format!("{} in flight, calls a CPU second / 1000", options.at_once);
    print("client", &["sequential call, us", "CPU a call, us", &rate, &many], rows);
    Ok(())
}

/// Runs a client to its end: microseconds that passed, and that it used of the processor.
fn timed(command: &str) -> Result<(f64, f64), Failure> {
    let begin = Instant::now();
    let mut client = Running::start(command)?;
    // The last figure before it is gone: read until it is a zombie, whose times still stand.
    let used = loop {
        let stat = fs::read_to_string(format!("/proc/{}/stat", client.0.id()))?;
        let used = client.used()?;
        if stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z') {
            break used;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let took = begin.elapsed().as_secs_f64() * 1e6;
    let status = client.0.wait()?;
    if status.success() { Ok((took, used)) } else { Err(format!("{command}: {status}").into()) }
}
