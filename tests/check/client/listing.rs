//! Lists.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("one-page", &["client-listing-pages"]),
    ("trims-cursors", &["client-listing-cursor-opaque"]),
    ("endless", &["client-listing-same-cursor", "client-listing-endless"]),
    ("hangs-on-page-error", &["client-listing-page-refused"]),
    ("hangs-without-tools", &["client-listing-empty"]),
    ("dies-of-null", &["client-listing-null-cursor"]),
    ("needs-descriptions", &["client-listing-bare-tool"]),
    ("dies-of-icons", &["client-listing-rich-tool"]),
    ("strict-tools", &["client-listing-unknown-members"]),
    ("dies-of-references", &["client-listing-schema"]),
    ("few-tools", &["client-listing-thousand"]),
    ("dies-of-changes", &["client-listing-changed"]),
];
