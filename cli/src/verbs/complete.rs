//! `complete`: how an argument may go on.

use sanswire::client::params::{self, Reference};
use sanswire::mcp::Method;
use sanswire::mcp::types::completion::Completion;

use crate::arguments::Argument;
use crate::context::Context;
use crate::failure::Failure;
use crate::options::Reach;
use crate::output::{document, json_document, peer_text};
use crate::session::Session;
use crate::target::Target;

/// Asks for completions and prints one a line.
pub(super) fn run(context: &Context, words: &[String], reach: &Reach) -> Result<u8, Failure> {
    let target = Target::find(context, words, reach, "prompt")?;
    let given = Argument::read_texts(&target.rest)?;
    let Some(((name, value), others)) = given.split_first() else {
        return Err(
            Failure::usage("no argument is named").hint("write NAME=BEGINNING; BEGINNING may be empty")
        );
    };
    let others: Vec<(&str, &str)> =
        others.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reference = if target.item.contains("://") || target.item.contains('{') {
        Reference::Resource(&target.item)
    } else {
        Reference::Prompt(&target.item)
    };
    let mut session = Session::open(context, &target.server)?;
    let params = params::complete(reference, name, value, &others);
    let result = session.ask(&target.named(), Method::CompletionComplete, Some(params));
    let done = result.and_then(|result| {
        if context.common.json {
            return json_document(&result);
        }
        let completion = Completion::read(&result).map_err(|flaw| {
            session.failure(Failure::usage(format!("{}: the completion is unusable: {flaw}", target.named())))
        })?;
        let mut text = String::new();
        for value in &completion.values {
            text.push_str(&peer_text(value));
            text.push('\n');
        }
        if completion.has_more {
            context.warn("there are more");
        }
        document(&text)
    });
    session.close();
    done.map(|()| 0)
}
