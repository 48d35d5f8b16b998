//! Ids.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("falsy-ids", &["ids-zero", "ids-empty-string"]),
    ("unsigned-ids", &["ids-negative"]),
    ("double-ids", &["ids-past-double", "ids-past-64-bits"]),
    ("parsed-ids", &["ids-number-in-string", "ids-number-beside-string"]),
    ("short-ids", &["ids-long-string"]),
    ("ids-of-letters", &["ids-escaped-string"]),
    ("whole-ids", &["ids-fraction", "ids-past-64-bits"]),
    ("dies-of-odd-ids", &["ids-neither-string-nor-number", "ids-fraction", "ids-past-64-bits"]),
    ("one-table-of-ids", &["ids-number-beside-string"]),
    ("doubles-in-flight", &["ids-many-in-flight"]),
    ("three-for-two", &["ids-twice-in-flight"]),
];
