//! The question whether a call may be made, on a terminal.

use dialoguer::Select;
use dialoguer::theme::SimpleTheme;
use sanswire::host::Mask;
use sanswire::host::policy::ApprovalRequest;
use sanswire::mcp::types::tool::Tool;

use super::show::hints_said;
use crate::json::pretty;
use crate::output::put_before;
use crate::prompt::forget_keys;
use crate::state::Scope;
use crate::{signals, wait};

/// The most characters of a tool's name that are shown.
const NAME: usize = 256;

/// The columns of a choice that are not its tool's name.
const CHOICE: usize = 45;

/// A question, and what goes with it.
pub(super) struct Prompt<'a> {
    pub(super) request: &'a ApprovalRequest,
    pub(super) tool: &'a Tool,
    /// What is new in its definition since somebody was asked last, fit to be shown.
    pub(super) changes: Vec<String>,
    /// It was allowed as it was defined then.
    pub(super) lost: bool,
    pub(super) mask: &'a Mask,
    /// The terminal session that it may be allowed for.
    pub(super) session: Option<String>,
    /// Whether it may be allowed for good.
    pub(super) always: bool,
}

/// What was said.
pub(super) enum Said {
    /// It may be called: this once, or longer.
    Yes(Option<Scope>),
    No,
    /// Nobody could be asked.
    Failed,
}

/// What can be chosen.
enum Choice {
    No,
    Yes(Option<Scope>),
    Show,
}

impl Prompt<'_> {
    /// Shows the call, and asks. The first choice, which stands chosen, is no.
    pub(super) fn ask(self) -> Said {
        wait::aside(|| {
            // What was typed while the server started was no answer to this.
            forget_keys();
            put_before(&self.text());
            loop {
                match self.choose() {
                    Ok(Choice::Yes(scope)) => return Said::Yes(scope),
                    Ok(Choice::No) => return Said::No,
                    Ok(Choice::Show) => put_before(&self.all_arguments()),
                    Err(dialoguer::Error::IO(error)) => {
                        if error.kind() == std::io::ErrorKind::Interrupted {
                            signals::interrupted();
                        }
                        return Said::Failed;
                    }
                }
            }
        })
    }

    fn text(&self) -> String {
        let request = self.request;
        let tool = self.mask.line_within(&request.tool.to_string(), NAME);
        let mut text = format!("May {tool} be called?\n");
        text.push_str(&format!("  why this is asked: {}\n", request.hint));
        text.push_str(&format!("  the server says of it: {}\n", hints_said(self.tool)));
        text.push_str("  arguments:\n");
        for line in request.preview.lines() {
            text.push_str(&format!("    {line}\n"));
        }
        if request.changed_from.is_some() {
            let lost = if self.lost { ", and is no longer allowed for that" } else { "" };
            text.push_str(&format!("  IT HAS CHANGED since it was asked about last{lost}:\n"));
            if self.changes.is_empty() {
                text.push_str("    what it was is not known any more\n");
            }
            for line in &self.changes {
                text.push_str(&format!("    {line}\n"));
            }
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn all_arguments(&self) -> String {
        let Some(arguments) = &self.request.arguments else { return "no arguments".into() };
        self.mask.text(&pretty(arguments.view()))
    }

    fn choose(&self) -> Result<Choice, dialoguer::Error> {
        // Every choice is one line, whatever its tool is called.
        let columns: usize = console::Term::stderr().size().1.into();
        let room = columns.saturating_sub(CHOICE).min(60);
        let tool = self.mask.line_within(&self.request.tool.to_string(), room);
        let mut choices = vec![("No".to_owned(), Choice::No), ("Yes, this once".into(), Choice::Yes(None))];
        if let Some(session) = &self.session {
            let scope = Scope::Session(session.clone());
            choices
                .push((format!("Yes, and {tool} always in this terminal session"), Choice::Yes(Some(scope))));
        }
        if self.always {
            choices.push((format!("Yes, and {tool} always"), Choice::Yes(Some(Scope::Always))));
        }
        choices.push(("Show all arguments".into(), Choice::Show));
        let labels = choices.iter().map(|(label, _)| label);
        let chosen = Select::with_theme(&SimpleTheme)
            .with_prompt("Call it?")
            .items(labels)
            .default(0)
            .interact_opt()?;
        Ok(chosen.and_then(|chosen| choices.into_iter().nth(chosen)).map_or(Choice::No, |(_, choice)| choice))
    }
}
