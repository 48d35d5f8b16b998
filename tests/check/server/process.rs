//! The process.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("slow-start", &["process-start-time"]),
    ("latin-log", &["process-stderr-utf-8"]),
    ("floods-the-log", &["process-stderr-flood"]),
    ("drops-when-slow", &["process-slow-reader"]),
    ("one-at-a-time", &["process-two-at-once"]),
    ("stale-lock", &["process-restart"]),
    ("forgets-at-the-end", &["process-half-close"]),
    ("exits-with-3", &["process-exit-status"]),
    ("waits-for-a-word", &["process-end-before-anything"]),
    ("aborts-on-half-a-line", &["process-end-within-a-line"]),
    #[cfg(unix)]
    ("ignores-sigterm", &["process-ends-on-sigterm"]),
    ("leaves-a-child", &["process-leaves-nobody"]),
    ("spins-on-a-broken-pipe", &["process-broken-pipe"]),
];
