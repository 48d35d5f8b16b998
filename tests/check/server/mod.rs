//! What is wrong with the faulty server, by subject.

mod cancel;
mod capabilities;
mod completion;
mod content;
mod envelope;
mod framing;
mod ids;
mod lifecycle;
mod listen;
mod listing;
mod logging;
mod modern;
mod pagination;
mod process;
mod progress;
mod prompts;
mod requests;
mod resources;
mod rounds;
mod schema;
mod tools;

/// A fault, and the checks that find it: these, and no others of their subjects.
pub(crate) type Fault = (&'static str, &'static [&'static str]);

/// All of them.
pub(crate) fn faults() -> impl Iterator<Item = &'static Fault> {
    [
        lifecycle::FAULTS,
        modern::FAULTS,
        capabilities::FAULTS,
        framing::FAULTS,
        envelope::FAULTS,
        ids::FAULTS,
        process::FAULTS,
        cancel::FAULTS,
        progress::FAULTS,
        logging::FAULTS,
        listen::FAULTS,
        requests::FAULTS,
        schema::FAULTS,
        listing::FAULTS,
        pagination::FAULTS,
        tools::FAULTS,
        resources::FAULTS,
        prompts::FAULTS,
        completion::FAULTS,
        content::FAULTS,
        rounds::FAULTS,
    ]
    .into_iter()
    .flatten()
}
