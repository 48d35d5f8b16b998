//! Capabilities.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("capabilities-true", &["capabilities-objects"]),
    ("flags-in-words", &["capabilities-flags"]),
    ("declares-too-much", &["capabilities-declared"]),
    ("serves-undeclared", &["capabilities-undeclared-served"]),
    ("internal-undeclared", &["capabilities-undeclared-refused"]),
    ("bare-extension", &["capabilities-extension-names"]),
];
