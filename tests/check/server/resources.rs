//! Resources.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("bare-uri", &["resources-uris"]),
    ("two-resources-of-one-uri", &["resources-unique"]),
    ("odd-mime", &["resources-mime-types"]),
    ("open-template", &["resources-templates"]),
    ("empty-contents", &["resources-unknown", "resources-unknown-modern"]),
    ("old-not-found", &["resources-unknown-modern"]),
    ("other-uri", &["resources-read-uri"]),
    ("url-safe-blob", &["resources-blob"]),
    ("wrong-size", &["resources-size"]),
];
