//! Calls.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("null-arguments", &["client-calls-arguments"]),
    ("fractional-token", &["client-calls-progress-token"]),
    ("dies-of-progress", &["client-calls-progress"]),
    ("dies-of-late-progress", &["client-calls-late-progress"]),
    ("deaf-in-calls", &["client-calls-ping"]),
    ("hangs-on-tool-failure", &["client-calls-failed"]),
    ("hangs-on-call-error", &["client-calls-refused"]),
    ("hangs-on-unknown-content", &["client-calls-unknown-content"]),
    ("needs-content", &["client-calls-empty-content"]),
    ("dies-of-structure", &["client-calls-structured"]),
    ("text-only", &["client-calls-rich-content"]),
    ("small-results", &["client-calls-large"]),
];
