//! `--record FILE`: what the machines of a run are given and what they do.

use std::path::Path;

use sanswire_std::recording::Recording;

use crate::context::Context;
use crate::failure::Failure;

/// Begins the file anew; nobody but the user may read it.
pub(crate) fn create(path: &Path) -> Result<Recording, Failure> {
    let file = crate::state::private(path).and_then(|file| Recording::new(file, Recording::MAX_BYTES));
    file.map_err(|error| {
        Failure::usage(format!("the recording cannot be written to {}: {error}", path.display()))
    })
}

/// After the run: says what is not there.
pub(crate) fn finish(context: &Context) {
    if let Some(why) = context.recording.as_ref().and_then(Recording::stopped) {
        context.warn(&format!("the recording is incomplete: {why}"));
    }
}
