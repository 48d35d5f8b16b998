//! Ids.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("falsy-ids", &["ids-zero", "ids-empty-string"]),
    ("unsigned-ids", &["ids-negative"]),
    ("double-ids", &["ids-past-double"]),
    ("parsed-ids", &["ids-number-in-string"]),
    ("short-ids", &["ids-long-string"]),
];
