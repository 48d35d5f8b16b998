//! Requests of the server.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("asks-early", &["requests-before-initialized"]),
    ("asks-undeclared", &["requests-undeclared"]),
    ("dies-of-refusal", &["requests-refused", "requests-ids"]),
    ("waits-for-answer", &["requests-ignored"]),
    ("same-ids", &["requests-ids"]),
    ("asks-anyway", &["requests-none"]),
];
