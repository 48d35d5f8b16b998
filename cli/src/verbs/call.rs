//! `call`: a tool, called.

use std::path::Path;

use sanswire::client::params;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::Method;
use sanswire::mcp::types::call_result::CallToolResult;

use super::inspect::find;
use super::tools::Tools;
use crate::approvals::{Control, Wanted};
use crate::arguments::{Argument, build, read_all};
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::options::Reach;
use crate::output::content::Shown;
use crate::output::{Folder, complain, document, json_document};
use crate::session::Session;
use crate::target::Target;

/// Calls a tool and prints what it gives.
pub(super) fn run(
    context: &Context,
    words: &[String],
    all: Option<&str>,
    out: Option<&Path>,
    yes: bool,
    reach: &Reach,
) -> Result<u8, Failure> {
    let target = Target::find(context, words, reach, "tool")?;
    // What is wrong with the arguments by themselves is said before anything is started.
    let given = target.rest.iter().map(|word| Argument::read(word)).collect::<Result<Vec<_>, _>>()?;
    let all = all.map(read_all).transpose()?;
    let folder = out.map(|out| Folder::open(out, &target.item)).transpose()?;
    let control = target.control(context)?;
    let mut session = Session::open(context, &target.server)?;
    let done = call(context, &session, &target, &control, yes, given, all)
        .and_then(|result| show(context, &result, &target.named(), folder.as_ref()));
    session.close();
    done
}

fn call(
    context: &Context,
    session: &Session<'_>,
    target: &Target,
    control: &Control,
    yes: bool,
    given: Vec<Argument>,
    all: Option<RawJson>,
) -> Result<RawJson, Failure> {
    let tools = Tools::of(session)?;
    let tool = find(context, &tools, target)?;
    let what = target.named();
    let arguments = build(given, all, tool.input_schema(), &what, &mut |warning| context.warn(&warning));
    let arguments = arguments.map_err(|mut failure| {
        let more = || format!("{} tells more", target.advice(context, "inspect", true));
        failure.hint.get_or_insert_with(more);
        failure
    })?;
    let wanted = Wanted { context, control, server: &target.server, tool };
    let arguments = wanted.approve(&arguments, yes)?;
    let params = params::call_tool(&target.item, Some(&arguments));
    session.ask(&what, Method::ToolsCall, Some(params))
}

fn show(context: &Context, result: &RawJson, what: &str, folder: Option<&Folder>) -> Result<u8, Failure> {
    let result = CallToolResult::new(result.clone());
    let failed = result.is_error();
    let shown = if context.common.json && folder.is_none() {
        Shown::default()
    } else {
        Shown::result(&result, folder)
    };
    if context.common.json {
        json_document(result.raw())?;
        for path in &shown.saved {
            complain(path);
        }
    } else if failed {
        complain(&format!("{what} failed:\n{}", shown.text.trim_end()));
    } else {
        document(&shown.text)?;
    }
    if let Some(flaw) = result.flaw() {
        context.warn(&format!("{what}: {flaw}"));
    }
    let status = if failed { status::TOOL } else { 0 };
    match shown.failed {
        None => Ok(status),
        Some(mut failure) => {
            failure.status = failure.status.max(status);
            Err(failure)
        }
    }
}
