//! Envelopes.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("errors-without-a-version", &["envelope-version"]),
    ("results-with-errors", &["envelope-result-or-error"]),
    ("results-that-are-null", &["envelope-result-is-an-object"]),
    ("codes-in-strings", &["envelope-error-code"]),
    ("errors-without-a-message", &["envelope-error-message"]),
    ("answers-notifications", &["envelope-unknown-notification"]),
    ("answers-without-id", &["envelope-request-without-id"]),
    ("answers-answers", &["envelope-unasked-answer"]),
    ("dies-of-errors", &["envelope-unasked-error"]),
    ("closed-parameters", &["envelope-unknown-parameters"]),
    ("closed-messages", &["envelope-unknown-members"]),
    ("no-batches", &["envelope-batch"]),
    ("dies-of-arrays", &["envelope-batch", "envelope-stray-batch"]),
    ("dies-of-what-is-no-json", &["envelope-not-json", "envelope-deep-nesting"]),
    ("calls-no-json-invalid", &["envelope-not-json"]),
    ("dies-of-what-is-no-object", &["envelope-not-an-object"]),
    ("calls-no-object-no-json", &["envelope-not-an-object"]),
    ("dies-without-a-version", &["envelope-no-version", "envelope-not-an-object"]),
    ("dies-of-other-versions", &["envelope-other-version"]),
    ("dies-of-methods-that-are-no-string", &["envelope-method-is-no-string"]),
    ("finds-no-method", &["envelope-no-method"]),
    ("drops-odd-parameters", &["envelope-parameters-are-no-object"]),
    ("drops-null-parameters", &["envelope-parameters-null"]),
    ("dies-of-duplicates", &["envelope-duplicate-members"]),
    ("dies-of-deep-nesting", &["envelope-deep-nesting"]),
];
