//! `resources` and `read`.

use std::path::Path;

use sanswire::client::params;
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::Method;
use sanswire::mcp::types::collection::Collection;
use sanswire::mcp::types::resource::{ReadResourceResult, Resource, ResourceTemplate};

use super::many;
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::options::Reach;
use crate::output::content::Shown;
use crate::output::table::{summary, table};
use crate::output::{Folder, complain, document, json_document};
use crate::session::Session;
use crate::target::Target;

struct Listed {
    resources: Vec<RawJson>,
    templates: Vec<RawJson>,
}

/// Lists resources and templates.
pub(super) fn list(context: &Context, names: &[String], reach: &Reach) -> Result<u8, Failure> {
    let answers = many::ask(context, names, reach, |session| {
        let resources = session.list("resources", "resources", Method::ResourcesList)?.pages;
        // Many servers have resources and know nothing of templates.
        let templates = session.list("resource templates", "resources", Method::ResourcesTemplatesList);
        Ok(Listed { resources, templates: templates.map(|listed| listed.pages).unwrap_or_default() })
    })?;
    if context.common.json {
        answers.print_json(|listed| {
            object(|w| {
                for (name, pages) in
                    [("resources", &listed.resources), ("resourceTemplates", &listed.templates)]
                {
                    w.array(name, |w| {
                        let items = pages.iter().filter_map(|page| page.view().get(name));
                        for item in items.flat_map(JsonRef::elements) {
                            w.raw(item);
                        }
                    });
                }
            })
        })?;
        return Ok(answers.finish(context));
    }
    let mut rows = Vec::new();
    for (server, listed) in &answers.of {
        let resources = Collection::<Resource>::read(&listed.resources);
        let templates = Collection::<ResourceTemplate>::read(&listed.templates);
        for item in resources.items() {
            let kind = item.mime_type().unwrap_or_default().into_owned();
            rows.push([
                server.clone(),
                item.uri().into(),
                kind,
                about(&item.display_title(), item.description()),
            ]);
        }
        for item in templates.items() {
            let kind = item.mime_type().unwrap_or_default().into_owned();
            let about = about(&item.display_title(), item.description());
            rows.push([server.clone(), item.uri_template().into(), kind, about]);
        }
        let aside = resources.set_aside_items().iter().chain(templates.set_aside_items());
        for aside in aside {
            context.warn(&format!("{server}: {}", aside.what));
        }
    }
    document(&table(&["server", "address", "type", "about"], rows))?;
    Ok(answers.finish(context))
}

fn about(title: &str, description: Option<std::borrow::Cow<'_, str>>) -> String {
    let description = description.map(|text| summary(&text, 100)).unwrap_or_default();
    if description.is_empty() { title.into() } else { format!("{title}: {description}") }
}

/// Reads one resource.
pub(super) fn read(
    context: &Context,
    words: &[String],
    out: Option<&Path>,
    reach: &Reach,
) -> Result<u8, Failure> {
    let target = Target::find(context, words, reach, "resource")?;
    if let Some(word) = target.rest.first() {
        return Err(Failure::usage(format!("{word:?} is one word too many")));
    }
    let stem = target.item.rsplit('/').find(|part| !part.is_empty()).unwrap_or("resource");
    // The ending comes from the media type.
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let folder = out.map(|out| Folder::open(out, stem)).transpose()?;
    let mut session = Session::open(context, &target.server)?;
    let result = session.ask(
        &format!("reading {}", target.item),
        Method::ResourcesRead,
        Some(params::uri(&target.item)),
    );
    let done = result.and_then(|result| show(context, result, folder.as_ref()));
    session.close();
    done.map(|()| 0)
}

fn show(context: &Context, result: RawJson, folder: Option<&Folder>) -> Result<(), Failure> {
    let result = ReadResourceResult::new(result);
    let mut shown = Shown::default();
    if !context.common.json || folder.is_some() {
        for (raw, contents) in result.contents() {
            match contents {
                Ok(contents) => shown.contents(&contents, folder),
                Err(flaw) => shown.raw(&flaw.to_string(), raw),
            }
        }
    }
    if !context.common.json {
        document(&shown.text)?;
    } else {
        json_document(result.raw())?;
        shown.saved.iter().for_each(|path| complain(path));
    }
    shown.failed.map_or(Ok(()), Err)
}
