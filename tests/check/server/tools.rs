//! Tools, and the schemas of their arguments and results.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("long-tool-name", &["tools-name-length", "tools-name-hosts"]),
    ("spaced-tool-name", &["tools-name-characters", "tools-name-hosts"]),
    ("dotted-tool-name", &["tools-name-hosts"]),
    ("two-tools-of-one-name", &["tools-names-unique"]),
    ("no-tool-description", &["tools-description"]),
    ("huge-tool-description", &["tools-description-size"]),
    ("calls-anything", &["tools-unknown", "tools-unknown-code"]),
    ("unknown-tool-result", &["tools-unknown-code"]),
    ("calls-nothing", &["tools-call-without-name"]),
    ("untyped-schema", &["tools-schema-object"]),
    ("invalid-schema", &["tools-schema-valid"]),
    ("odd-dialect", &["tools-schema-dialect"]),
    ("external-reference", &["tools-schema-external-reference"]),
    ("dangling-reference", &["tools-schema-reference"]),
    ("root-choice", &["tools-schema-root-choice"]),
    ("spaced-property", &["tools-property-names"]),
    ("spaced-header", &["tools-header-names"]),
    ("header-of-number", &["tools-header-names"]),
    ("header-in-list", &["tools-header-names"]),
];
