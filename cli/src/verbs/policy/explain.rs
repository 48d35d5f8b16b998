//! `policy explain`: what would come of a call, step by step. Nothing is called.

use sanswire::host::policy::{Decision, PreviewLimits, Step, Verdict, decide, explain, preview};
use sanswire::host::{Mask, Provenance};
use sanswire::jsonrpc::RawJson;

use crate::approvals::{Control, Situation};
use crate::arguments::{Argument, build, read_all};
use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::options::Explained;
use crate::output::table::table;
use crate::output::{document, escape, json_document};
use crate::session::Session;
use crate::target::Target;
use crate::verbs::inspect::find;
use crate::verbs::tools::Tools;

/// What is told.
struct Told {
    tool: Provenance,
    preview: Option<String>,
    decision: Decision,
    steps: Vec<Step>,
    notes: Vec<String>,
}

pub(super) fn run(context: &Context, what: &Explained) -> Result<(), Failure> {
    let target = Target::find(context, &what.words, &what.reach, "tool")?;
    let given = target.rest.iter().map(|word| Argument::read(word)).collect::<Result<Vec<_>, _>>()?;
    let all = what.args.as_deref().map(read_all).transpose()?;
    let control = target.control(context)?;
    if let Err(by) = target.server.filter.admit(&target.item) {
        return left_out(context, &target, &by.to_string());
    }
    let told = if what.offline {
        offline(context, what, &target, &control, given, all)
    } else {
        let mut session = Session::open(context, &target.server)?;
        let told = asked(context, what, &target, &control, &session, (given, all));
        session.close();
        told
    }?;
    if context.common.json { json_document(&told.to_json()) } else { document(&told.to_text()) }
}

/// By the tool as its server defines it now.
fn asked(
    context: &Context,
    what: &Explained,
    target: &Target,
    control: &Control,
    session: &Session<'_>,
    (given, all): (Vec<Argument>, Option<RawJson>),
) -> Result<Told, Failure> {
    let tools = Tools::of(session)?;
    let tool = find(context, &tools, target)?;
    let no_arguments = given.is_empty() && all.is_none();
    let arguments = if no_arguments {
        None
    } else {
        let schema = tool.input_schema();
        Some(build(given, all, schema, &target.named(), &mut |warning| context.warn(&warning))?)
    };
    let situation = Situation::of(context, &target.server, tool);
    Ok(told(context, what, target, control, &situation, arguments, Vec::new()))
}

/// By what is known without its server.
fn offline(
    context: &Context,
    what: &Explained,
    target: &Target,
    control: &Control,
    given: Vec<Argument>,
    all: Option<RawJson>,
) -> Result<Told, Failure> {
    let mut notes = vec!["what the tool says of its effects is not known without its server".to_owned()];
    let situation = Situation::unseen(context, &target.server.name, &target.item);
    if situation.granted() {
        notes.push("it counts as allowed if it is still defined as it was then".into());
    }
    let arguments = build(given, all, None, &target.named(), &mut |_| ())?;
    let arguments = (arguments.as_bytes() != b"{}").then_some(arguments);
    Ok(told(context, what, target, control, &situation, arguments, notes))
}

fn told(
    context: &Context,
    what: &Explained,
    target: &Target,
    control: &Control,
    situation: &Situation,
    arguments: Option<RawJson>,
    notes: Vec<String>,
) -> Told {
    let mut policy = control.policy.clone();
    policy.skip_prompts |= what.yes;
    let mut call = situation.call(context.interactive && !what.headless);
    call.plan_mode = what.plan;
    let mask = Mask::new(target.server.secrets.iter().cloned());
    Told {
        tool: situation.tool.clone(),
        preview: arguments.map(|all| preview(Some(all.view()), &PreviewLimits::default(), &mask)),
        decision: decide(&policy, &call),
        steps: explain(&policy, &call),
        notes,
    }
}

fn left_out(context: &Context, target: &Target, why: &str) -> Result<(), Failure> {
    if context.common.json {
        return json_document(&object(|w| {
            w.string("server", &target.server.name).string("tool", &target.item);
            w.string("verdict", "left_out").string("why", why);
        }));
    }
    document(&format!("{} is left out, as if it were not there: {why}\n", escape::line(&target.named())))
}

/// What comes of a call, in a word.
pub(super) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Call => "call",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

impl Told {
    fn to_text(&self) -> String {
        let mut text = match self.decision.verdict {
            Verdict::Call => format!("{} would be called", self.tool),
            Verdict::Ask => format!("{} would be asked about", self.tool),
            Verdict::Deny => format!("{} would be denied", self.tool),
        };
        text = format!("{}: {}\n", escape::line(&text), self.decision.reason.hint());
        for line in self.preview.iter().flat_map(|preview| preview.lines()) {
            text.push_str(&format!("  {line}\n"));
        }
        let rows = self.steps.iter().map(|step| {
            let decided = step.decided.map(word).unwrap_or_default();
            vec![step.step.to_string(), decided.to_owned(), step.why.clone()]
        });
        text.push_str(&format!("\n{}", table(&["step", "says", "because"], rows)));
        for note in &self.notes {
            text.push_str(&format!("\nnote: {note}\n"));
        }
        text
    }

    fn to_json(&self) -> RawJson {
        object(|w| {
            w.string("server", &self.tool.server).string("tool", &self.tool.tool);
            w.string("verdict", word(self.decision.verdict)).string("reason", self.decision.reason.as_str());
            w.string("hint", self.decision.reason.hint());
            if let Some(preview) = &self.preview {
                w.string("preview", preview);
            }
            w.array("steps", |w| {
                for step in &self.steps {
                    w.object(|w| {
                        w.string("step", step.step.as_str()).bool("applies", step.applies);
                        if let Some(decided) = step.decided {
                            w.string("decided", word(decided));
                        }
                        w.string("why", &step.why);
                    });
                }
            });
            if !self.notes.is_empty() {
                w.array_of_strings("notes", self.notes.iter().map(String::as_str));
            }
        })
    }
}
