//! What an outcome says of itself.

use alloc::boxed::Box;
use alloc::string::ToString;
use core::time::Duration;

use crate::client::{Deadline, InputRequired, Outcome};
use crate::error::Violation;
use crate::exchange::{Challenge, HttpRefusal, Partition};
use crate::jsonrpc::{ErrorObject, RawJson};
use crate::mcp::Method;

#[test]
fn every_outcome_is_one_line_without_the_words_of_the_server() {
    const STRANGE: &str = "\u{1b}[31mhidden";
    let json = RawJson::serialize(STRANGE).expect("a text");
    let mut challenge = Challenge::new(401, Some(STRANGE.into()));
    challenge.message = Some(Box::from(STRANGE));
    let asked = RawJson::parse_str(r#"{"requestState":"hidden"}"#).expect("JSON");
    let asked =
        InputRequired::read(&asked, Method::ToolsCall, RawJson::empty_object(), 1, Partition::default())
            .expect("a round");
    let late = |which, mistyped_reply| Outcome::TimedOut {
        which,
        limit: Duration::from_millis(1500),
        mistyped_reply,
    };
    for (outcome, part) in [
        (Outcome::Complete(json.clone()), "answered"),
        (Outcome::Error(ErrorObject { data: Some(json), ..ErrorObject::new(-32602, STRANGE) }), "(-32602)"),
        (Outcome::InputRequired(Box::new(asked)), "asks for input first"),
        (late(Deadline::Idle, false), "for 1.5s (request_idle)"),
        (late(Deadline::Absolute, true), "another JSON type (lenient_ids takes it)"),
        (Outcome::Cancelled, "given up"),
        (Outcome::Lost { maybe_ran: true }, "may have acted on it"),
        (Outcome::Lost { maybe_ran: false }, "did not act on it"),
        (Outcome::SessionGone { maybe_ran: true }, "forgotten the session; the server may"),
        (Outcome::TooLarge { len: 70, limit: 60 }, "70 bytes, and a message may have 60"),
        (Outcome::Invalid(Violation::Batch), "of no use"),
        (Outcome::Refused(HttpRefusal::new(502)), "HTTP status 502"),
        (Outcome::Challenged(challenge), "credentials (HTTP status 401)"),
    ] {
        let words = outcome.to_string();
        assert!(words.contains(part), "{words}");
        assert!(!words.contains("hidden") && !words.contains(char::is_control), "{words:?}");
    }
}
