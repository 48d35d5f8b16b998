//! Without a handshake.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("no-meta-version", &["client-modern-version"]),
    ("no-meta-capabilities", &["client-modern-capabilities"]),
    ("no-meta-info", &["client-modern-client-info"]),
    ("pings-always", &["client-modern-removed-methods"]),
    ("answers-anyway", &["client-modern-no-answers"]),
    ("needs-result-type", &["client-modern-missing-result-type"]),
    ("asks-on", &["client-modern-unsupported-version"]),
    ("strict-opening", &["client-modern-unknown-members"]),
    ("trims-state", &["client-modern-request-state"]),
    ("same-id-again", &["client-modern-request-state"]),
];
