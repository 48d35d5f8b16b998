//! Completion.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("many-values", &["completion-bound"]),
    ("wrong-total", &["completion-total"]),
    ("completes-anything", &["completion-unknown-prompt"]),
];
