//! Lines.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("says-hello", &["client-framing-messages"]),
    ("byte-order-mark", &["client-framing-messages", "client-framing-utf8"]),
    ("latin-1", &["client-framing-messages", "client-framing-utf8"]),
    ("no-last-line-feed", &["client-framing-last-line"]),
    ("no-version-of-json-rpc", &["client-framing-envelope"]),
    ("array-params", &["client-framing-envelope"]),
    ("batches", &["client-framing-no-batch"]),
    ("no-pieces", &["client-framing-split-line", "client-framing-long-line"]),
    (
        "one-line-a-read",
        &[
            "client-framing-joined-lines",
            "client-framing-blank-lines",
            "client-framing-junk-line",
            "client-framing-invalid-utf8",
        ],
    ),
    ("no-carriage-return", &["client-framing-carriage-return"]),
    ("dies-of-blank-lines", &["client-framing-blank-lines"]),
    ("dies-of-junk", &["client-framing-junk-line"]),
    ("dies-of-bytes", &["client-framing-invalid-utf8"]),
    ("no-white-space", &["client-framing-white-space"]),
    ("no-escapes", &["client-framing-escapes"]),
    ("ordered-members", &["client-framing-member-order"]),
    ("splits-at-unicode", &["client-framing-unicode-line-separators"]),
    ("short-lines", &["client-framing-long-line"]),
];
