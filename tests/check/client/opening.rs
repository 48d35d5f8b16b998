//! Openings.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("lists-first", &["opening-first-request"]),
    ("asks-for-the-future", &["opening-version-released"]),
    ("no-capabilities", &["opening-capabilities"]),
    ("null-capability", &["opening-capabilities"]),
    ("no-client-info", &["opening-client-info"]),
    ("no-initialized", &["opening-initialized"]),
    ("late-initialized", &["opening-initialized-first"]),
    ("hasty", &["opening-initialized-first", "opening-waits-for-answer"]),
    ("hangs-on-older", &["opening-older-version"]),
    ("any-version", &["opening-unknown-version"]),
    ("hangs-on-failure", &["opening-unknown-version", "opening-refused", "opening-refused-status"]),
    ("always-succeeds", &["opening-refused-status"]),
    ("uses-undeclared", &["opening-undeclared-capabilities"]),
    ("strict-opening", &["opening-unknown-members"]),
    ("one-code", &["opening-probe-invalid-params", "opening-probe-other-error"]),
];
