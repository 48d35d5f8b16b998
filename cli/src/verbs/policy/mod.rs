//! `policy`: what may be called, and why.

mod explain;
mod table;

use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::options::PolicyVerb;
use crate::output::table::table as shown;
use crate::output::{complain, document, json_document};

/// Does what was asked for.
pub(super) fn run(context: &Context, what: &PolicyVerb) -> Result<u8, Failure> {
    match what {
        PolicyVerb::Explain(what) => explain::run(context, what),
        PolicyVerb::Test { file } => return table::run(context, file),
        PolicyVerb::Grants => grants(context),
        PolicyVerb::Revoke { tool } => revoke(context, tool),
    }
    .map(|()| 0)
}

fn grants(context: &Context) -> Result<(), Failure> {
    let all = context.state.grants();
    if context.common.json {
        return json_document(&object(|w| {
            w.array("grants", |w| {
                for grant in &all {
                    w.object(|w| {
                        w.string("server", &grant.tool.server).string("tool", &grant.tool.tool);
                        w.string("definition", &grant.definition.to_string());
                        w.bool("always", grant.always).u64("sessions", grant.live_sessions() as u64);
                    });
                }
            });
        }));
    }
    let rows = all.iter().map(|grant| {
        let how = match (grant.always, grant.live_sessions()) {
            (true, _) => "always".into(),
            (false, 1) => "in one terminal session".into(),
            (false, count) => format!("in {count} terminal sessions"),
        };
        let definition: String = grant.definition.to_string().chars().take(8).collect();
        vec![grant.tool.server.to_string(), grant.tool.tool.to_string(), how, definition]
    });
    document(&shown(&["server", "tool", "allowed", "definition"], rows))
}

fn revoke(context: &Context, tool: &str) -> Result<(), Failure> {
    match context.state.revoke(tool) {
        Ok(0) => Err(Failure::not_found(format!("nothing was allowed of {tool:?}"))
            .hint("sanswire policy grants lists what was")),
        Ok(count) => {
            if context.common.json {
                return json_document(&object(|w| {
                    w.string("tool", tool).u64("revoked", count as u64);
                }));
            }
            if !context.common.quiet {
                complain(&format!("{tool} is asked about again"));
            }
            Ok(())
        }
        Err(why) => Err(Failure::usage(format!("it could not be taken back: {why}"))),
    }
}
