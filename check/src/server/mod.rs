//! The checks of servers, by subject.

/// A check that shares its connection with others.
macro_rules! shared {
    (
        $id:literal, $title:literal, $source:expr, $strength:ident, $speaks:expr, [$($needs:literal)?], $script:expr,
        $explain:literal
    ) => {
        Check {
            id: $id,
            title: $title,
            source: $source,
            strength: Strength::$strength,
            speaks: $speaks,
            needs: &[$($needs)?],
            company: Company::Shared,
            explain: $explain,
            script: Script::Server($script),
        }
    };
}

mod base;
mod cancel;
mod capabilities;
mod completion;
mod content;
mod ends;
mod envelope;
mod forms;
mod framing;
mod handshake;
mod ids;
mod lifecycle;
mod listen;
mod listing;
mod logging;
mod long_lines;
mod malformed;
mod modern;
mod odd_bytes;
mod output;
mod pagination;
mod process;
mod progress;
mod prompts;
mod requests;
mod resources;
mod rounds;
mod schema;
mod tool_schemas;
mod tools;

use sanswire::jsonrpc::JsonRef;

use crate::check::Check;
use crate::finding::{Finding, shown};
use crate::talk::Answer;

/// All checks of servers, in the order in which they are told.
pub fn all() -> impl Iterator<Item = &'static Check> + Clone {
    [
        lifecycle::CHECKS,
        handshake::CHECKS,
        modern::CHECKS,
        capabilities::CHECKS,
        framing::CHECKS,
        odd_bytes::CHECKS,
        long_lines::CHECKS,
        output::CHECKS,
        envelope::CHECKS,
        malformed::CHECKS,
        ids::CHECKS,
        cancel::CHECKS,
        progress::CHECKS,
        logging::CHECKS,
        listen::CHECKS,
        requests::CHECKS,
        process::CHECKS,
        ends::CHECKS,
        schema::CHECKS,
        listing::CHECKS,
        pagination::CHECKS,
        tools::CHECKS,
        tool_schemas::CHECKS,
        resources::CHECKS,
        prompts::CHECKS,
        completion::CHECKS,
        content::CHECKS,
        rounds::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// Whether it is an error with one of these codes.
fn is_refused(answer: &Answer, codes: &[i64]) -> Result<(), Finding> {
    if answer.code().is_some_and(|code| codes.contains(&code)) {
        return Ok(());
    }
    let codes: Vec<_> = codes.iter().map(i64::to_string).collect();
    Err(Finding::new(format!("the error {}", codes.join(" or ")), answer.text()))
}

/// Whether a result is none yet: the server wants to know something first.
fn asks_for_input(result: JsonRef<'_>) -> bool {
    result.get("resultType").and_then(JsonRef::str).is_some_and(|kind| kind.eq_str("input_required"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_told_apart_and_says_what_to_do() {
        let mut ids: Vec<_> = all().map(|check| check.id).collect();
        ids.sort_unstable();
        let len = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), len);
        for check in all() {
            assert!(
                check
                    .id
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
            assert!(check.title.len() > 10 && check.explain.len() > 30, "{}", check.id);
            assert!(!check.title.ends_with('.') && check.explain.ends_with('.'), "{}", check.id);
        }
    }
}
