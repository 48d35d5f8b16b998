//! How a request ended, in words.

use core::fmt;

use crate::client::event::{Deadline, Outcome};

/// One line, with what can be done where that is known. A server's own words are left out, since they may hold anything:
/// they stand in [`ErrorObject::message`](crate::jsonrpc::ErrorObject) and in the result, and a
/// [`Mask`](crate::host::Mask) makes them fit to be shown.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(_) => f.write_str("the server answered"),
            Self::InputRequired(_) => {
                f.write_str("the server asks for input first; go on with the answers (resume)")
            }
            Self::Error(error) => write!(f, "the server answered with an error ({})", error.code),
            Self::TimedOut { which, limit, mistyped_reply } => {
                match which {
                    Deadline::Idle => write!(f, "nothing was heard of it for {limit:?} (request_idle)")?,
                    Deadline::Absolute => {
                        write!(f, "it took longer than {limit:?} in all (request_absolute)")?;
                    }
                }
                if *mistyped_reply {
                    f.write_str("; an answer came whose id is of another JSON type (lenient_ids takes it)")?;
                }
                Ok(())
            }
            Self::Cancelled => f.write_str("it was given up"),
            Self::Lost { maybe_ran } => {
                write!(f, "the connection ended before the answer came; {}", ran(*maybe_ran))
            }
            Self::SessionGone { maybe_ran } => {
                write!(f, "the server has forgotten the session; {}", ran(*maybe_ran))
            }
            Self::TooLarge { len, limit } => {
                write!(f, "the answer has {len} bytes, and a message may have {limit} (max_message_bytes)")
            }
            Self::Invalid(violation) => write!(f, "the answer is of no use: {violation}"),
            Self::Refused(refusal) => write!(f, "the server refused it: {refusal}"),
            Self::Challenged(challenge) => {
                write!(f, "the server wants other credentials (HTTP status {})", challenge.status)
            }
        }
    }
}

const fn ran(maybe: bool) -> &'static str {
    if maybe {
        "the server may have acted on it"
    } else {
        "the server did not act on it, so it can be made again"
    }
}
