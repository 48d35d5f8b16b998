//! Results.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("no-server-version", &["schema-initialize"]),
    ("instructions-of-lines", &["schema-discover"]),
    ("tool-without-schema", &["schema-tools-list"]),
    ("untyped-schema", &["schema-tools-list"]),
    ("resource-without-name", &["schema-resources-list"]),
    ("template-without-name", &["schema-resource-templates-list"]),
    ("null-at-the-end", &["schema-prompts-list"]),
    ("system-role", &["schema-prompts-get"]),
    ("contents-without-uri", &["schema-resources-read"]),
    ("values-of-numbers", &["schema-completion"]),
];
