//! What tools give.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("image-without-type", &["content-valid", "content-media"]),
    ("letters-as-text", &["content-output-schema"]),
    ("nothing-structured", &["content-output-schema"]),
    ("text-of-its-own", &["content-structured-text"]),
    ("image-with-line-ends", &["content-media"]),
    ("path-of-resource", &["content-uris"]),
    ("silent-failures", &["content-error-text"]),
    ("refuses-arguments", &["content-wrong-argument"]),
];
