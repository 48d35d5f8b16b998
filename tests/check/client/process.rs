//! The server's process.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("signals-first", &["client-process-closes-input"]),
    ("impatient", &["client-process-gives-time"]),
    ("no-term", &["client-process-terminates"]),
    ("leaves", &["client-process-terminates", "client-process-kills"]),
    ("no-kill", &["client-process-kills"]),
    (
        "ignores-the-end",
        &["client-process-output-ends", "client-process-dies-in-opening", "client-process-dies-at-work"],
    ),
    ("always-succeeds", &["client-process-dies-in-opening"]),
    ("no-stderr", &["client-process-stderr-flood"]),
    ("dies-of-stderr", &["client-process-stderr-words"]),
    ("waits-for-ever", &["client-process-mute-opening", "client-process-mute-at-work"]),
];
