//! Lines.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("banner", &["framing-stdout-pure"]),
    ("no-pieces", &["framing-split-line"]),
    ("three-lines", &["framing-joined-lines"]),
    ("indented", &["framing-stdout-pure", "framing-no-newline-inside"]),
    ("splits-at-unicode", &["framing-unicode-line-separators"]),
    ("no-carriage-return", &["framing-carriage-return"]),
];
