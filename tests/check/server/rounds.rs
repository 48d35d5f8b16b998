//! Rounds of input.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("asks-for-tools", &["rounds-valid"]),
    ("asks-with-an-id", &["rounds-valid"]),
    ("asks-for-nothing", &["rounds-something"]),
    ("asks-the-undeclared", &["rounds-declared"]),
    ("refuses-answers", &["rounds-answered"]),
    ("asks-for-ever", &["rounds-end", "rounds-malformed-answers"]),
    ("refuses-what-is-missing", &["rounds-missing-answers"]),
    ("refuses-strange-answers", &["rounds-unknown-answers"]),
    ("takes-any-answer", &["rounds-malformed-answers"]),
    ("dies-of-states", &["rounds-changed-state"]),
];
