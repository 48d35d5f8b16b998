//! Prompts.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("two-prompts-of-one-name", &["prompts-unique"]),
    ("two-arguments-of-one-name", &["prompts-argument-names"]),
    ("any-prompt", &["prompts-unknown"]),
    ("prompts-without-arguments", &["prompts-missing-argument"]),
    ("data-uri-image", &["prompts-media"]),
];
