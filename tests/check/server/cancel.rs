//! Cancellations.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("answers-cancels", &["cancel-unknown", "cancel-finished", "cancel-in-flight"]),
    ("refuses-cancels", &["cancel-malformed"]),
    ("cancels-all", &["cancel-others-go-on", "cancel-id-type"]),
    ("cancels-by-text", &["cancel-id-type"]),
];
