//! What is wrong with the faulty server, by subject.

mod framing;
mod ids;
mod lifecycle;

/// A fault, and the checks that find it: these, and no others of their subjects.
pub(crate) type Fault = (&'static str, &'static [&'static str]);

/// All of them.
pub(crate) fn faults() -> impl Iterator<Item = &'static Fault> {
    [framing::FAULTS, ids::FAULTS, lifecycle::FAULTS].into_iter().flatten()
}
