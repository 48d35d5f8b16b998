//! `inspect`: everything about one tool.

use sanswire::mcp::types::schema::{JsonTypes, property_types};
use sanswire::mcp::types::tool::Tool;

use super::tools::Tools;
use crate::approvals::hints_said;
use crate::arguments::{MOST_SHOWN, description, property_names, required, signature, suggestion};
use crate::context::Context;
use crate::failure::Failure;
use crate::json::pretty;
use crate::options::Reach;
use crate::output::table::table;
use crate::output::{document, escape, json_document};
use crate::session::Session;
use crate::target::Target;

/// Shows one tool.
pub(super) fn run(context: &Context, words: &[String], reach: &Reach) -> Result<u8, Failure> {
    let target = Target::find(context, words, reach, "tool")?;
    if let Some(word) = target.rest.first() {
        return Err(Failure::usage(format!("{word:?} is one word too many")));
    }
    let mut session = Session::open(context, &target.server)?;
    let tools = Tools::of(&session)?;
    let tool = find(context, &tools, &target)?;
    let shown = if context.common.json {
        json_document(tool.raw())
    } else {
        document(&describe(tool, &target.named()))
    };
    for note in tool.notes() {
        context.warn(&format!("{}: {note}", target.named()));
    }
    session.close();
    shown.map(|()| 0)
}

/// The tool that is meant.
pub(super) fn find<'t>(context: &Context, tools: &'t Tools, target: &Target) -> Result<&'t Tool, Failure> {
    if let Some(tool) = tools.find(&target.item) {
        return Ok(tool);
    }
    let server = &target.server.name;
    let left_out = target.server.filter.admit(&target.item).is_err();
    let mut aside = tools.all.set_aside_items().iter().filter(|_| !left_out);
    let aside = aside.find(|aside| aside.what.name.as_ref() == Some(&target.item));
    if let Some(aside) = aside {
        return Err(Failure::not_found(format!("{} cannot be used: {}", target.named(), aside.what.reason))
            .of(server));
    }
    if let Some((_, why)) = tools.left_out().find(|(name, _)| *name == target.item) {
        let told = format!("{} cannot be called: {why}", target.named());
        return Err(Failure::not_found(told).of(server).hint("whoever runs the server can put that right"));
    }
    let known: Vec<String> = tools.items().map(|tool| tool.name().to_owned()).collect();
    let failure = Failure::not_found(format!("{server} has no tool {:?}", target.item)).of(server);
    Err(match suggestion(&target.item, &known) {
        Some(meant) => failure.hint(format!("did you mean {meant}?")),
        None if known.is_empty() && tools.left_out().next().is_some() => failure.hint(format!(
            "{} says why none of its tools can be called",
            target.advice(context, "tools", false)
        )),
        None if known.is_empty() => failure.hint("it lists no tools at all"),
        None => failure.hint(format!("{} lists what it has", target.advice(context, "tools", false))),
    })
}

fn describe(tool: &Tool, named: &str) -> String {
    let bold = |text: &str| console::style(escape::line(text).into_owned()).bold();
    let schema = tool.input_schema();
    let mut text = format!("{}({})\n", bold(named), escape::line(&signature(schema)));
    let title = tool.display_title();
    if title != tool.name() {
        text.push_str(&format!("{}\n", escape::line(&title)));
    }
    if let Some(described) = tool.description() {
        text.push_str(&format!("\n{}\n", escape::text(described.trim())));
    }
    if let Some(schema) = schema {
        let required = required(schema);
        // The schema below has all of them.
        let rows: Vec<Vec<String>> = property_names(schema)
            .into_iter()
            .take(MOST_SHOWN)
            .map(|name| {
                let types = property_types(schema, &name).unwrap_or(JsonTypes::ANY);
                let kind = if types == JsonTypes::ANY { "any".into() } else { types.to_string() };
                let needed = required.contains(&name);
                let described = description(schema, &name).unwrap_or_default();
                vec![name, kind, if needed { "required" } else { "" }.into(), described]
            })
            .collect();
        if !rows.is_empty() {
            text.push_str(&format!("\n{}", table(&["argument", "type", "", "description"], rows)));
        }
    }
    text.push_str(&format!("\nWhat the server says of it: {}.\n", hints_said(tool)));
    for (title, schema) in [("Input schema", schema), ("Output schema", tool.output_schema())] {
        if let Some(schema) = schema {
            text.push_str(&format!("\n{}\n{}\n", bold(title), escape::json(&pretty(schema))));
        }
    }
    text
}
