//! What the server asks and tells.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    (
        "mute-to-pings",
        &[
            "client-requests-ping",
            "client-requests-early-ping",
            "client-requests-many",
            "client-requests-unknown-notification",
        ],
    ),
    (
        "says-pong",
        &["client-requests-ping", "client-requests-early-ping", "client-requests-unknown-notification"],
    ),
    ("opens-before-it-answers", &["client-requests-early-ping"]),
    ("answers-some", &["client-requests-many"]),
    ("answers-twice", &["client-requests-many"]),
    (
        "silent-about-methods",
        &["client-requests-unknown-method", "client-requests-sampling", "client-requests-elicitation"],
    ),
    ("invalid-methods", &["client-requests-unknown-method"]),
    ("samples", &["client-requests-sampling"]),
    ("elicits", &["client-requests-elicitation"]),
    ("bad-roots", &["client-requests-roots"]),
    ("answers-notifications", &["client-requests-unknown-notification"]),
    ("dies-of-logs", &["client-requests-log"]),
];
