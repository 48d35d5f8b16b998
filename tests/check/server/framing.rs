//! Lines.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("banner", &["framing-stdout-pure"]),
    ("no-last-line-feed", &["framing-stdout-pure"]),
    (
        "no-pieces",
        &["framing-split-line", "framing-line-of-64-kib", "framing-line-of-1-mib", "framing-line-of-8-mib"],
    ),
    ("three-lines", &["framing-joined-lines"]),
    ("indented", &["framing-stdout-pure", "framing-no-newline-inside"]),
    ("splits-at-unicode", &["framing-unicode-line-separators"]),
    ("no-carriage-return", &["framing-carriage-return"]),
    ("dies-of-blank-lines", &["framing-blank-line"]),
    ("no-white-space", &["framing-white-space"]),
    ("dies-of-a-mark", &["framing-byte-order-mark"]),
    ("dies-of-what-is-no-text", &["framing-invalid-utf-8"]),
    ("dies-of-nul", &["framing-nul"]),
    ("dies-of-half-a-pair", &["framing-half-a-surrogate-pair"]),
    ("no-escapes", &["framing-escaped-text"]),
    ("halves-of-pairs", &["framing-surrogate-pair", "framing-output-utf-8"]),
    ("aborts-on-the-last-line", &["framing-last-line"]),
    ("short-lines", &["framing-line-of-64-kib", "framing-line-of-1-mib", "framing-line-of-8-mib"]),
    ("longish-lines", &["framing-line-of-8-mib"]),
    ("latin-output", &["framing-output-utf-8", "framing-unicode-line-separators", "framing-surrogate-pair"]),
    ("marked-output", &["framing-output-mark"]),
    ("carriage-returns", &["framing-output-line-feed"]),
];
