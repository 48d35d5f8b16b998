//! Subscriptions.

use super::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    (
        "change-first",
        &[
            "listen-acknowledged",
            "listen-several",
            "listen-subset",
            "listen-nothing-else",
            "listen-others-served",
            "listen-cancelled",
        ],
    ),
    ("subscriptions-by-number", &["listen-several"]),
    ("acknowledges-all", &["listen-subset"]),
    ("tells-all", &["listen-nothing-else"]),
    ("no-filter-needed", &["listen-without-filter"]),
    ("one-thing-at-a-time", &["listen-several", "listen-nothing-else", "listen-others-served"]),
    ("answers-cancelled-listen", &["listen-cancelled"]),
    ("no-unsubscribe", &["listen-subscribe"]),
    ("silent-unsubscribe", &["listen-unsubscribe-unknown"]),
];
