//! One server's stderr on its way into the log: cut into lines, made fit to be read, and held to a rate.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use sanswire::Instant;
use sanswire::host::Mask;

use crate::stderr_log::StderrLog;

/// How much of a line is looked at.
const MAX_LINE: usize = 16 * 1024;
/// How much of it is written, in characters.
const MAX_SHOWN: usize = 4096;
const MAX_NAME: usize = 64;
/// What a server may write at once, and a second from then on.
const BURST: i64 = 1024 * 1024;
const RATE: i64 = 256 * 1024;

/// What stands between a server and the log.
#[derive(Debug)]
pub struct LogLines {
    log: Arc<StderrLog>,
    /// `[server] `
    prefix: String,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// It is longer than what is looked at.
    overlong: bool,
    /// Bytes that may be written now; below zero, they have to be waited for.
    balance: i64,
    since: Instant,
    /// Lines that were left out and not told of in the log.
    left_out: u64,
}

impl LogLines {
    /// For a server that is about to start.
    #[must_use]
    pub fn new(log: &Arc<StderrLog>, server: &str, now: Instant) -> Self {
        log.attach();
        let prefix = format!("[{}] ", Mask::default().line_within(server, MAX_NAME));
        let log = Arc::clone(log);
        Self { log, prefix, line: Vec::new(), overlong: false, balance: BURST, since: now, left_out: 0 }
    }

    /// What the server wrote.
    pub fn feed(&mut self, mut bytes: &[u8], now: Instant) {
        if bytes.is_empty() {
            return;
        }
        let passed = u64::try_from(now.saturating_since(self.since).as_millis()).unwrap_or(u64::MAX);
        // What is less than a millisecond counts the next time: whoever writes little and often gains as well.
        self.since = self.since.saturating_add(Duration::from_millis(passed));
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        self.balance = self.balance.saturating_add(passed.saturating_mul(RATE) / 1000).min(BURST);
        let (mask, mut out, mut left_out) = (self.log.mask(), String::new(), 0);
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = bytes.split_at(end);
            self.append(head);
            left_out += u64::from(!self.end_line(&mask, &mut out));
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.append(bytes);
        self.log.write(&out, left_out);
    }

    /// The server will write no more: what it began to write is a line too.
    pub fn finish(&mut self) {
        let mut out = String::new();
        let began = !self.line.is_empty();
        let left_out = began && !self.end_line(&self.log.mask(), &mut out);
        self.tell_left_out(&mut out);
        self.log.write(&out, left_out.into());
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.line.len();
        self.overlong |= bytes.len() > room;
        self.line.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Whether the line may be written.
    fn end_line(&mut self, mask: &Mask, out: &mut String) -> bool {
        let overlong = std::mem::take(&mut self.overlong);
        if self.balance <= 0 {
            self.left_out += 1;
            self.line.clear();
            return false;
        }
        self.tell_left_out(out);
        let from = out.len();
        out.push_str(&self.prefix);
        if overlong {
            out.push_str(&beginning(&mut self.line, mask));
        } else {
            let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            out.push_str(&mask.line_within(&String::from_utf8_lossy(line), MAX_SHOWN));
        }
        out.push('\n');
        self.balance -= i64::try_from(out.len() - from).unwrap_or(BURST);
        self.line.clear();
        true
    }

    fn tell_left_out(&mut self, out: &mut String) {
        if self.left_out > 0 {
            let _ = writeln!(out, "{}... {} lines were left out", self.prefix, self.left_out);
            self.left_out = 0;
        }
    }
}

/// What is shown of a line that goes on beyond `line`: nothing of a character or a secret that is cut there.
fn beginning(line: &mut Vec<u8>, mask: &Mask) -> String {
    while line.last().is_some_and(|byte| !byte.is_ascii()) {
        let first = line.pop().is_some_and(|byte| byte >= 0xc0);
        if first {
            break;
        }
    }
    let text = String::from_utf8_lossy(line);
    let whole = text.len() - mask.begun(&text);
    let mut shown = mask.line_within(text.get(..whole).unwrap_or_default(), MAX_SHOWN);
    if !shown.ends_with("...") {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a server's stderr looks like in the log. It is fed in pieces of `cut` bytes.
    fn logged(name: &str, bytes: &[u8], cut: usize) -> String {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sanswire-lines-{}-{number}", std::process::id()));
        let log = Arc::new(StderrLog::at(&path));
        log.set_mask(Mask::new(["hunter2hunter2", "ü-geheim"]));
        let mut lines = LogLines::new(&log, name, Instant::default());
        for piece in bytes.chunks(cut) {
            lines.feed(piece, Instant::default());
        }
        lines.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(log.stats().lines, text.lines().count() as u64);
        text
    }

    #[test]
    fn a_line_is_the_same_however_it_came() {
        let said = "one\r\n\x1b[31mt\u{202e}wo\n\nkey=hunter2hunter2 ü-geheim\nlast";
        let expected = "[a] one\n[a] \\u{1b}[31mt\\u{202e}wo\n[a] \n[a] key=*** ***\n[a] last\n";
        for cut in 1..said.len() {
            assert_eq!(logged("a", said.as_bytes(), cut), expected, "{cut}");
        }
        assert_eq!(logged("x\n[y]", b"a\xff\n", 9), "[x\\n[y]] a\u{fffd}\n");
    }

    #[test]
    fn b_99_a_long_line_is_cut_without_a_part_of_a_secret() {
        let shown = |line: &str| {
            let text = logged("a", format!("{line}\nnext\n").as_bytes(), 777);
            let (first, next) = text.split_once('\n').unwrap();
            assert_eq!(next, "[a] next\n");
            first.to_owned()
        };
        assert_eq!(shown(&"x".repeat(100_000)), format!("[a] {}...", "x".repeat(MAX_SHOWN - 3)));
        // What is looked at ends within a secret. Hidden ones before it make all of it short enough to be shown.
        let hidden = "hunter2hunter2".repeat(1150);
        for secret in ["hunter2hunter2", "ü-geheim"] {
            for part in 1..secret.len() {
                let fill = "x".repeat(MAX_LINE - hidden.len() - part);
                let expected = format!("[a] {}{fill}...", "***".repeat(1150));
                assert_eq!(shown(&format!("{hidden}{fill}{secret} rest")), expected, "{part}");
            }
        }
    }

    #[test]
    fn b_57_a_server_that_writes_little_and_often_loses_nothing() {
        let path = std::env::temp_dir().join(format!("sanswire-often-{}", std::process::id()));
        let log = Arc::new(StderrLog::at(&path));
        let mut lines = LogLines::new(&log, "a", Instant::default());
        let line = "x".repeat(196) + "\n";
        // 222 KB a second, for longer than what may be written at once lasts.
        for micros in (0..10_000_000).step_by(900) {
            lines.feed(line.as_bytes(), Instant::from_micros(micros));
        }
        lines.finish();
        std::fs::remove_file(path).unwrap();
        assert_eq!(log.stats().left_out, 0);
    }

    #[test]
    fn b_57_a_server_that_floods_is_held_to_a_rate_and_that_is_told() {
        let path = std::env::temp_dir().join(format!("sanswire-rate-{}", std::process::id()));
        let log = Arc::new(StderrLog::at(&path));
        let mut lines = LogLines::new(&log, "a", Instant::default());
        let kilobyte = "x".repeat(1019) + "\n";
        let size = || i64::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
        for _ in 0..4096 {
            lines.feed(kilobyte.as_bytes(), Instant::default());
        }
        assert_eq!(size(), BURST);
        assert_eq!(log.stats().left_out, 4096 - 1024);
        let later = Instant::default().saturating_add(Duration::from_secs(1));
        for _ in 0..4096 {
            lines.feed(kilobyte.as_bytes(), later);
        }
        let told = "[a] ... 3072 lines were left out\n".len() as i64;
        assert_eq!(size(), BURST + RATE + told);
        // It costs nothing to be quiet, and gains no more than what may be written at once.
        lines.feed(kilobyte.as_bytes(), later.saturating_add(Duration::from_secs(1_000_000)));
        assert!(lines.balance < BURST);
        lines.finish();
        std::fs::remove_file(path).unwrap();
    }
}
