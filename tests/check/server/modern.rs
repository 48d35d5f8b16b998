//! Requests without a handshake.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("no-capabilities-told", &["modern-discover"]),
    ("no-result-type", &["modern-result-type"]),
    ("no-cache-hints", &["modern-cache-hints"]),
    ("no-server-info", &["modern-server-info"]),
    ("guesses-capabilities", &["modern-capabilities-required"]),
    ("guesses-version", &["modern-version-required"]),
    ("wants-client", &["modern-client-info-optional"]),
    ("wants-known-metadata", &["modern-unknown-metadata"]),
    ("old-version-code", &["modern-unsupported-version"]),
    ("no-version-data", &["modern-unsupported-version-data"]),
    ("one-client", &["modern-two-clients"]),
    ("wants-discover", &["modern-first-request"]),
    ("keeps-ping", &["modern-removed-methods"]),
    ("mute-about-versions", &["modern-initialize"]),
    ("old-not-found", &["modern-error-codes"]),
    ("own-codes", &["modern-removed-methods", "modern-error-codes"]),
];
