//! Openings and ends.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("any-version", &["lifecycle-unknown-version", "lifecycle-future-version"]),
    ("refuses-version", &["lifecycle-unknown-version", "lifecycle-future-version"]),
    ("newest-by-order", &["lifecycle-future-version"]),
    ("stays", &["lifecycle-exit-on-eof"]),
    ("silent-about-methods", &["lifecycle-unknown-method", "lifecycle-odd-methods"]),
    ("dies-of-methods", &["lifecycle-unknown-method"]),
    ("invalid-methods", &["lifecycle-unknown-method"]),
    ("any-case", &["lifecycle-odd-methods"]),
    ("no-server-version", &["lifecycle-server-info"]),
    ("null-instructions", &["lifecycle-instructions"]),
    ("ping-says-pong", &["lifecycle-ping"]),
    ("early-ping-silent", &["lifecycle-ping-first"]),
    ("early-silent", &["lifecycle-request-first"]),
    ("dies-of-second", &["lifecycle-initialize-twice"]),
    ("internal-errors", &["lifecycle-initialize-incomplete"]),
    ("closed-capabilities", &["lifecycle-unknown-capabilities"]),
];
