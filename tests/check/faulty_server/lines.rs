//! Lines: how messages are read and written.
#![allow(clippy::print_stderr, reason = "a log, as servers write it")]

use std::io::{self, Read as _, Write as _};

use crate::Server;

/// Standard output, a line at a time.
pub(crate) struct Out;

impl Out {
    pub(crate) fn line(&self, line: &str) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    }
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
    false
}

/// Reads until the end of standard input.
pub(crate) fn serve(server: &'static Server) {
    let (mut pending, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    while let Ok(len @ 1..) = io::stdin().lock().read(&mut chunk) {
        // What is no line by itself is dropped.
        if !server.fault("no-pieces") || chunk[..len].contains(&b'\n') {
            pending.extend_from_slice(&chunk[..len]);
        }
        let mut taken = 0;
        while let Some(at) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=at).collect();
            taken += 1;
            // A client that opens and asks at once says no more than three lines.
            if !server.fault("three-lines") || taken <= 3 {
                take_line(server, &line);
            }
        }
    }
}

fn take_line(server: &'static Server, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    let pieces: Vec<&str> = if server.fault("splits-at-unicode") {
        text.split(['\u{2028}', '\u{2029}', '\u{85}']).collect()
    } else if server.fault("no-carriage-return") && line.ends_with(b"\r\n") {
        Vec::new()
    } else {
        vec![&text]
    };
    for message in pieces.into_iter().filter_map(|piece| serde_json::from_str(piece).ok()) {
        server.take(&message);
    }
}
