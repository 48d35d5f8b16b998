//! Ids.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("fractional-ids", &["client-ids-form"]),
    ("same-id", &["client-ids-unique"]),
    ("falsy-ids", &["client-ids-echo"]),
    ("parsed-ids", &["client-ids-echo"]),
    ("double-ids", &["client-ids-echo-long"]),
    ("short-ids", &["client-ids-echo-long"]),
    (
        "dies-of-strays",
        &["client-ids-unknown-answer", "client-ids-other-type", "client-ids-error-without-id"],
    ),
    ("loose-ids", &["client-ids-other-type"]),
    ("takes-any-error", &["client-ids-error-without-id"]),
    ("dies-of-duplicates", &["client-ids-duplicate-answer"]),
];
