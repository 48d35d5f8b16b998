//! Log messages.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("seven-levels", &["logging-levels"]),
    ("any-level", &["logging-unknown-level", "logging-unknown-level-asked"]),
    ("ignores-level", &["logging-threshold", "logging-asked-threshold"]),
    ("logs-calls-anyway", &["logging-threshold", "logging-asked-threshold"]),
    ("logs-calls-unasked", &["logging-asked-threshold", "logging-unasked"]),
    ("logs-unasked", &["logging-asked-threshold", "logging-unasked"]),
    ("undeclared-logs", &["logging-unasked", "logging-declared"]),
];
