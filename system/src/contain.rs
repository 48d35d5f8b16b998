//! The embedder's code, run so that its panics end nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the embedder's code; `None` if it panicked. What it may have left half done is its own: nothing else may depend on
/// that.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(discard).ok()
}

/// What was thrown may itself panic when it is dropped; then it is kept for ever.
fn discard(thrown: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(thrown))) {
        std::mem::forget(again);
    }
}
