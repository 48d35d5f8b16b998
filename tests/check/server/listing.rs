//! Listings as a whole.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("shuffled", &["listing-same-order", "listing-deterministic"]),
    ("names-by-process", &["listing-each-process", "listing-each-connection"]),
    ("huge-tool-description", &["listing-size"]),
];
