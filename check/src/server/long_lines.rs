//! Long lines.

use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::Talk;

const EXPLAIN: &str = "Images, documents and listings make long lines, and no size is too much by the specification. Let the buffer grow with the line; if there is a bound, make it megabytes and refuse what is longer with an error, rather than dropping it or ending the session.";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        Strength::Should,
        "framing-line-of-64-kib",
        Source::Practice,
        "a line of more than 64 KiB is taken",
        EXPLAIN,
        |talk| long_line(talk, 70_000),
    ),
    Check::new(
        Strength::Advice,
        "framing-line-of-1-mib",
        Source::Practice,
        "a line of 1 MiB is taken",
        EXPLAIN,
        |talk| long_line(talk, 1 << 20),
    )
    .speaking(Speaks::Once),
    Check::new(
        Strength::Advice,
        "framing-line-of-8-mib",
        Source::Practice,
        "a line of 8 MiB is taken or refused",
        EXPLAIN,
        |talk| long_line(talk, 8 << 20),
    )
    .speaking(Speaks::Once),
];

/// A request of this length is answered: served, or refused with an error.
fn long_line(talk: &mut Talk, len: usize) -> Result<(), Finding> {
    let padding = "x".repeat(len);
    talk.request(talk.harmless(), &format!(r#""padding":"{padding}""#)).map(drop)
}
