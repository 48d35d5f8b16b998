//! Pages.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("any-cursor", &["pagination-unknown-cursor"]),
    ("silent-about-null-cursor", &["pagination-null-cursor"]),
    ("endless", &["pagination-ends"]),
    ("overlapping-pages", &["pagination-no-entry-twice"]),
    ("cursors-used-up", &["pagination-stable-cursors"]),
];
