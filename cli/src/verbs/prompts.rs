//! `prompts` and `prompt`.

use sanswire::client::params;
use sanswire::mcp::Method;
use sanswire::mcp::types::collection::Collection;
use sanswire::mcp::types::prompt::{GetPromptResult, Prompt};

use super::many::{self, merged};
use crate::arguments::Argument;
use crate::context::Context;
use crate::failure::Failure;
use crate::options::Reach;
use crate::output::content::Shown;
use crate::output::table::{summary, table};
use crate::output::{document, json_document};
use crate::session::Session;
use crate::target::Target;

/// Lists prompts.
pub(super) fn list(context: &Context, names: &[String], reach: &Reach) -> Result<u8, Failure> {
    let answers = many::ask(context, names, reach, |session| {
        Ok(session.list("prompts", "prompts", Method::PromptsList)?.pages)
    })?;
    if context.common.json {
        answers.print_json(|pages| merged(pages, "prompts", |_| true))?;
        return Ok(answers.finish(context));
    }
    let mut rows = Vec::new();
    for (server, pages) in &answers.of {
        let prompts = Collection::<Prompt>::read(pages);
        for prompt in prompts.items() {
            let arguments: Vec<String> = prompt
                .arguments()
                .filter_map(Result::ok)
                .map(|argument| format!("{}{}", argument.name, if argument.required { "" } else { "?" }))
                .collect();
            let described = prompt.description().map(|text| summary(&text, 100));
            rows.push([
                format!("{server}/{}", prompt.name()),
                arguments.join(", "),
                described.unwrap_or_else(|| prompt.display_title().into_owned()),
            ]);
        }
        for aside in prompts.set_aside_items() {
            context.warn(&format!("{server}: {}", aside.what));
        }
    }
    document(&table(&["prompt", "arguments", "about"], rows))?;
    Ok(answers.finish(context))
}

/// Gets one prompt, filled in.
pub(super) fn get(context: &Context, words: &[String], reach: &Reach) -> Result<u8, Failure> {
    let target = Target::find(context, words, reach, "prompt")?;
    let given = Argument::read_texts(&target.rest)?;
    let given: Vec<(&str, &str)> =
        given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut session = Session::open(context, &target.server)?;
    let params = params::get_prompt(&target.item, &given);
    let result = session.ask(&target.named(), Method::PromptsGet, Some(params));
    let done = result.and_then(|result| {
        if context.common.json {
            return json_document(&result);
        }
        let result = GetPromptResult::new(result);
        let mut shown = Shown::default();
        for (n, message) in result.messages().enumerate() {
            if n > 0 {
                shown.text.push('\n');
            }
            let role = message.role().map(|role| role.to_string()).unwrap_or_else(|| "unknown".into());
            shown.text.push_str(&format!("{}:\n", console::style(role).bold()));
            for block in message.content() {
                shown.block(&block, None);
            }
        }
        document(&shown.text)
    });
    session.close();
    done.map(|()| 0)
}
