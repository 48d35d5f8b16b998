//! Single arguments of a call.

use sanswire::jsonrpc::{Misfit, RawJson};
use serde::de::DeserializeOwned;

use crate::serve::call::Call;
use crate::serve::reply::ToolError;

impl Call<'_> {
    /// One argument of a tool or prompt. Where it may be left out, read an `Option`.
    ///
    /// # Errors
    /// It is missing or does not fit: pass it up, and the model is told.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, ToolError> {
        let null = RawJson::null();
        let given = self.arguments().and_then(|arguments| arguments.get(name));
        given.unwrap_or_else(|| null.view()).read().map_err(|misfit| match given {
            Some(_) => unfit(misfit.in_member(name)),
            None => ToolError::Arguments(format!("the arguments do not fit: {name} is missing")),
        })
    }
}

pub(super) fn unfit(misfit: Misfit) -> ToolError {
    ToolError::Arguments(format!("the arguments do not fit: {misfit}"))
}
