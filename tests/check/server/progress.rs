//! Progress.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("refuses-falsy-tokens", &["progress-token-taken"]),
    ("unasked-progress", &["progress-without-token"]),
    ("late-progress", &["progress-after-answer", "progress-names-token"]),
    ("text-tokens", &["progress-names-token"]),
    ("shrinking-progress", &["progress-grows"]),
    ("calls-go-back", &["progress-grows"]),
    ("calls-tell-unasked", &["progress-without-token"]),
    ("calls-tell-late", &["progress-after-answer", "progress-names-token"]),
];
