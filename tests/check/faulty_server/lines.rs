//! Lines: how messages are read and written.
#![allow(clippy::print_stderr, reason = "a log, as servers write it")]

use std::cell::RefCell;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{Server, messages};

thread_local! {
    /// The answers of a batch that is being taken.
    static BATCH: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// A thread that writes, and what it is given.
type Writer = (SyncSender<Vec<u8>>, JoinHandle<()>);

/// Standard output, a line at a time.
pub(crate) struct Out {
    fault: String,
    /// Somebody who writes it, where not everything is written at once.
    writer: Mutex<Option<Writer>>,
}

impl Out {
    pub(crate) fn new(fault: &str) -> Self {
        // How many lines may wait, and how long an empty result is thought about.
        let manner = match fault {
            "drops-when-slow" => Some((64, Duration::ZERO)),
            "forgets-at-the-end" => Some((100_000, Duration::from_millis(100))),
            _ => None,
        };
        let writer = manner.map(|(most, pause)| {
            let (to, from) = sync_channel::<Vec<u8>>(most);
            let writer = std::thread::spawn(move || {
                for line in from {
                    if line.ends_with(b"\"result\":{}}\n") {
                        std::thread::sleep(pause);
                    }
                    write(&line);
                }
            });
            (to, writer)
        });
        Self { fault: fault.to_owned(), writer: Mutex::new(writer) }
    }

    /// Writes what waits.
    pub(crate) fn finish(&self) {
        if let Some((to, writer)) = self.writer().take()
            && self.fault != "forgets-at-the-end"
        {
            drop(to);
            let _ = writer.join();
        }
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn line(&self, line: &str) {
        let kept = BATCH.with_borrow_mut(|batch| batch.as_mut().map(|batch| batch.push(line.to_owned())));
        if kept.is_some() {
            return;
        }
        let mut bytes: Vec<u8> = match self.fault.as_str() {
            "latin-output" => line.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
            "marked-output" => [b"\xef\xbb\xbf", line.as_bytes()].concat(),
            _ => line.as_bytes().to_vec(),
        };
        bytes.extend_from_slice(if self.fault == "carriage-returns" { b"\r\n" } else { b"\n" });
        match &*self.writer() {
            Some((to, _)) => drop(to.try_send(bytes)),
            None => while !write(&bytes) && self.fault == "spins-on-a-broken-pipe" {},
        }
    }

    /// Says all answers that `take` gives as one array.
    pub(crate) fn batch(&self, take: impl FnOnce()) {
        BATCH.set(Some(Vec::new()));
        take();
        let answers = BATCH.take().unwrap_or_default();
        if !answers.is_empty() {
            self.line(&format!("[{}]", answers.join(",")));
        }
    }
}

fn write(bytes: &[u8]) -> bool {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).is_ok()
}

/// Servers that do not speak at all, and what others say before anything else. Whether it was one of the former.
pub(crate) fn says_nothing_that_is_meant(server: &Server) -> bool {
    if server.fault("dead") {
        return true;
    }
    if server.fault("junk") {
        let mut state = 1_u32;
        let junk: Vec<u8> = (0..100_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        let _ = io::stdout().write_all(&junk);
    }
    if server.fault("junk") || server.fault("mute") {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        return true;
    }
    if server.fault("banner") {
        server.out.line("Server is running");
    }
    eprintln!("a log line");
    if server.fault("latin-log") {
        let _ = io::stderr().write_all(b"d\xe9marr\xe9\n");
    }
    if server.fault("floods-the-log") {
        let _ = io::stderr().write_all(&b"debug: nothing to say\n".repeat(100_000));
    }
    false
}

/// Reads until the end of standard input.
pub(crate) fn serve(server: &'static Server) {
    let (mut pending, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    let mut anything = false;
    while let Ok(len @ 1..) = io::stdin().lock().read(&mut chunk) {
        anything = true;
        let mut rest = &chunk[..len];
        // What is no line by itself is dropped.
        if server.fault("no-pieces") && !rest.contains(&b'\n') {
            continue;
        }
        let mut taken = 0;
        loop {
            let _ = rest.read_until(b'\n', &mut pending);
            if !pending.ends_with(b"\n") {
                break;
            }
            taken += u32::from(pending.len() > 2);
            // A client that opens and asks at once says no more than three lines.
            if !server.fault("three-lines") || taken <= 3 {
                take_line(server, &pending);
            }
            pending.clear();
        }
    }
    if !anything && server.fault("waits-for-a-word") {
        park();
    }
    let whole = serde_json::from_slice::<serde_json::Value>(&pending).is_ok();
    if !pending.is_empty()
        && server.fault(if whole { "aborts-on-the-last-line" } else { "aborts-on-half-a-line" })
    {
        std::process::abort();
    }
    if whole {
        take_line(server, &pending);
    }
    if server.fault("no-last-line-feed") {
        write(br#"{"jsonrpc":"2.0","method":"notifications/sanswire/bye"}"#);
    }
}

pub(crate) fn park() -> ! {
    loop {
        std::thread::park();
    }
}

fn take_line(server: &'static Server, line: &[u8]) {
    // Nothing is looked for in lines that are about their length.
    let looked_at = if line.len() < 64 << 10 { line } else { b"" };
    let holds = |part: &[u8]| looked_at.windows(part.len()).any(|window| window == part);
    let is_blank = line.iter().all(u8::is_ascii_whitespace);
    let dies = [
        ("dies-of-blank-lines", is_blank),
        ("dies-of-a-mark", line.starts_with(b"\xef\xbb\xbf")),
        ("dies-of-what-is-no-text", str::from_utf8(looked_at).is_err()),
        ("dies-of-duplicates", line.starts_with(b"{\"method\":")),
        ("dies-of-nul", looked_at.contains(&0)),
        ("dies-of-half-a-pair", holds(br"\ud83d off")),
        ("dies-of-deep-nesting", holds(&[b'['; 1000])),
    ];
    if dies.iter().any(|(fault, met)| *met && server.fault(fault)) {
        std::process::exit(1);
    }
    let dropped = [
        ("no-white-space", !line.starts_with(b"{")),
        ("no-escapes", holds(br"\u006")),
        ("no-carriage-return", line.ends_with(b"\r\n")),
        ("short-lines", line.len() > 64 << 10),
        ("longish-lines", line.len() > 4 << 20),
    ];
    if dropped.iter().any(|(fault, met)| *met && server.fault(fault)) {
        return;
    }
    let text = String::from_utf8_lossy(line);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let pieces: Vec<&str> = if server.fault("splits-at-unicode") && !looked_at.is_empty() {
        text.split(['\u{2028}', '\u{2029}', '\u{85}']).collect()
    } else {
        vec![text]
    };
    for piece in pieces.into_iter().filter(|piece| !piece.trim().is_empty()) {
        messages::take(server, piece);
    }
}
