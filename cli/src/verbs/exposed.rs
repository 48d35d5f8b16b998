//! `tools --exposed`: what a model would be told of several servers together.

use crate::config::Entry;
use crate::context::Context;
use crate::failure::Failure;
use crate::hosted::Hosted;
use crate::json::text as member_text;
use crate::output::table::summary;
use crate::output::{document, escape, json_document, report};
use crate::server::Server;
use crate::target::named;

/// Lists the tools under the names that a model calls them by.
pub(super) fn run(context: &Context, names: &[String]) -> Result<u8, Failure> {
    let configuration = context.configuration()?;
    let entries: Vec<&Entry> = named(context, &configuration, names)?;
    let (mut servers, mut failures) = (Vec::new(), Vec::new());
    for entry in entries {
        match Server::of_entry(context, entry) {
            Ok(server) => servers.push(server),
            Err(failure) => failures.push(failure.of(&entry.name)),
        }
    }
    let all: Vec<String> = servers.iter().map(|server| server.name.clone()).collect();
    let hosted = Hosted::open(context, &configuration, servers)?;
    failures.extend(all.iter().filter_map(|name| hosted.failure(name)));
    let (listing, exposed) = hosted.host.with(|host| (host.tools_listing(), host.exposed()));
    hosted.close();
    if context.common.json {
        json_document(&listing)?;
    } else {
        let mut text = String::new();
        for tool in listing.view().elements() {
            let name = member_text(tool, "name").unwrap_or_default();
            let described = summary(&member_text(tool, "description").unwrap_or_default(), 100);
            let bold = console::style(escape::line(&name)).bold();
            text.push_str(&format!("{bold}\n      {}\n", escape::line(&described)));
        }
        text.push_str(&format!(
            "{} of {} tools told one by one; all of them take {} bytes{}\n",
            exposed.told,
            exposed.registered,
            exposed.bytes,
            if exposed.lazy { ", so they are found by the tools above" } else { "" },
        ));
        document(&text)?;
    }
    for failure in &failures {
        report(failure, context.common.json, context.common.quiet);
    }
    Ok(failures.first().map_or(0, |failure| failure.status))
}
