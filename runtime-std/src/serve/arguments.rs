//! Single arguments of a call.

use sanswire::server::kit::{self, ToolError};
use serde::de::DeserializeOwned;

use crate::serve::call::Call;

impl Call<'_> {
    /// One argument of a tool or prompt. Where it may be left out, read an `Option`.
    ///
    /// # Errors
    /// It is missing or does not fit: pass it up, and the model is told.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, ToolError> {
        kit::argument(self.arguments(), name)
    }
}
