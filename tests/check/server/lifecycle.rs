//! Openings and ends.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("any-version", &["lifecycle-unknown-version"]),
    ("refuses-version", &["lifecycle-unknown-version"]),
    ("stays", &["lifecycle-exit-on-eof"]),
    ("silent-about-methods", &["lifecycle-unknown-method"]),
    ("dies-of-methods", &["lifecycle-unknown-method"]),
    ("invalid-methods", &["lifecycle-unknown-method"]),
];
