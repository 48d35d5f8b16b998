//! Whether a server answers, in words.

use alloc::format;
use alloc::string::String;

use crate::client::Outcome;
use crate::host::mask::Mask;

/// The most characters of what a server says is wrong.
const MAX_WORDS: usize = 300;

/// What the outcome of a listing says of a server's health.
///
/// # Errors
/// What is wrong, masked and bounded.
pub fn health_of(outcome: &Outcome, mask: &Mask) -> Result<(), String> {
    match outcome {
        Outcome::Complete(_) => Ok(()),
        Outcome::Error(error) => Err(mask.line_within(&error.message, MAX_WORDS)),
        Outcome::TimedOut { limit, .. } => Err(format!("no answer within {limit:?}")),
        Outcome::TooLarge { .. } => Err("the answer is too long".into()),
        Outcome::SessionGone { .. } => Err("the server has forgotten the session".into()),
        Outcome::Lost { .. } | Outcome::Cancelled => Err("the connection is lost".into()),
        Outcome::InputRequired(_) | Outcome::Invalid(_) | Outcome::Refused(_) | Outcome::Challenged(_) => {
            Err("the answer is unusable".into())
        }
    }
}
