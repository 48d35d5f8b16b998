//! Questions to the person at the terminal: whether to start a server, and what a server asks.

use dialoguer::theme::SimpleTheme;
use dialoguer::{Confirm, Input, MultiSelect, Select};
use sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire::mcp::types::form::{Choice, Field, FieldKind, Form};
use sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use sanswire_std::Responder;

use crate::json::{object, text};
use crate::output::{complain, escape, indented, put_before};
use crate::{signals, wait};

/// Throws away what was typed before anybody could know what for.
pub(crate) fn forget_keys() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Asks yes or no; anything else than a clear yes is no.
pub(crate) fn confirm(question: &str) -> bool {
    let said = wait::aside(|| {
        Confirm::with_theme(&SimpleTheme)
            .with_prompt(question)
            .default(false)
            .wait_for_newline(true)
            .interact_opt()
    });
    match said {
        Ok(said) => said.unwrap_or(false),
        Err(dialoguer::Error::IO(error)) => {
            if error.kind() == std::io::ErrorKind::Interrupted {
                signals::interrupted();
            }
            false
        }
    }
}

/// An answer, or none.
pub(crate) enum Asked<T> {
    Answer(T),
    /// The person left with Escape, or there is nobody.
    Left,
}

/// Lets one of a few be chosen; gives its place.
pub(crate) fn choose(question: &str, choices: &[&str]) -> Asked<usize> {
    let asked = Select::with_theme(&SimpleTheme).with_prompt(question).items(choices).default(0);
    match wait::aside(|| asked.interact_opt()) {
        Ok(Some(chosen)) => Asked::Answer(chosen),
        Ok(None) => Asked::Left,
        Err(dialoguer::Error::IO(error)) => left(&error),
    }
}

/// Asks for a line of text until `check` is content with it; what it says against one is shown. Escape leaves.
pub(crate) fn line(question: &str, check: &dyn Fn(&str) -> Result<(), String>) -> Asked<String> {
    let term = console::Term::stderr();
    loop {
        let said = match wait::aside(|| type_in(&term, question)) {
            Ok(Some(said)) => said,
            Ok(None) => return Asked::Left,
            Err(error) => return left(&error),
        };
        match check(&said) {
            Ok(()) => return Asked::Answer(said),
            Err(why) => complain(&why),
        }
    }
}

fn type_in(term: &console::Term, question: &str) -> std::io::Result<Option<String>> {
    term.write_str(&format!("{question}: "))?;
    let mut said = String::new();
    let typed = loop {
        match term.read_key()? {
            console::Key::Enter => break Some(said),
            console::Key::Escape => break None,
            // The end of all input, as a terminal has it.
            console::Key::Char('\u{4}') if said.is_empty() => break None,
            console::Key::Backspace if said.pop().is_some() => {
                term.clear_line()?;
                term.write_str(&format!("{question}: {said}"))?;
            }
            console::Key::Char(c) if !c.is_control() => {
                said.push(c);
                term.write_str(c.encode_utf8(&mut [0; 4]))?;
            }
            _ => {}
        }
    };
    term.write_line("")?;
    Ok(typed)
}

fn left<T>(error: &std::io::Error) -> Asked<T> {
    if error.kind() == std::io::ErrorKind::Interrupted {
        signals::interrupted();
    }
    Asked::Left
}

/// Hands a server's questions to the person at the terminal.
pub(crate) struct Person {
    /// The server's name, to say who asks.
    pub(crate) server: String,
}

impl Responder for Person {
    fn respond(&self, request: &InputRequest) -> InputAnswer {
        wait::aside(|| self.ask(request)).unwrap_or(InputAnswer::Cancel)
    }
}

/// The prompt could not be shown, or was left.
struct Left;

impl From<dialoguer::Error> for Left {
    fn from(_: dialoguer::Error) -> Self {
        Self
    }
}

impl Person {
    fn ask(&self, request: &InputRequest) -> Result<InputAnswer, Left> {
        let params = request.params.as_ref().map_or_else(RawJson::empty_object, RawJson::clone);
        let message = request.message().unwrap_or_default();
        put_before(&format!("{} asks: {}", escape::line(&self.server), indented(&message)));
        match request.kind {
            InputKind::ElicitForm => {
                let form = match Form::read(params.view()) {
                    Ok(form) => form,
                    Err(fault) => {
                        complain(&format!("{fault}; declined"));
                        return Ok(InputAnswer::Decline);
                    }
                };
                match go_on("Answer")? {
                    Some(refused) => Ok(refused),
                    None => Ok(InputAnswer::accept(Some(&fill_in(&form)?))),
                }
            }
            InputKind::ElicitUrl => {
                let url = text(params.view(), "url").unwrap_or_default();
                put_before(&format!(
                    "It wants you to open this address, and to go on there:\n  {}",
                    escape::line(&url)
                ));
                Ok(go_on("I have opened it")?.unwrap_or_else(|| InputAnswer::accept(None)))
            }
            _ => Ok(InputAnswer::Decline),
        }
    }
}

/// `None`: go on.
fn go_on(go_on: &str) -> Result<Option<InputAnswer>, Left> {
    let chosen = Select::with_theme(&SimpleTheme)
        .with_prompt("What now?")
        .items([go_on, "Decline", "Cancel"])
        .default(0)
        .interact_opt()?;
    Ok(match chosen {
        Some(0) => None,
        Some(1) => Some(InputAnswer::Decline),
        _ => Some(InputAnswer::Cancel),
    })
}

/// The answers, each checked by its own field; what is left empty is left out.
fn fill_in(form: &Form) -> Result<RawJson, Left> {
    let mut answers = Vec::new();
    for field in &form.fields {
        if let Some(value) = ask_field(field)? {
            answers.push((field.name.as_str(), value));
        }
    }
    Ok(object(|w| {
        for (name, value) in &answers {
            w.raw(name, value.view());
        }
    }))
}

fn ask_field(field: &Field) -> Result<Option<RawJson>, Left> {
    let mut question = escape::line(field.label()).into_owned();
    if let Some(description) = &field.description {
        question.push_str(&format!(" ({})", escape::line(description)));
    }
    if !field.required {
        question.push_str(", may be left empty");
    }
    let theme = SimpleTheme;
    match &field.kind {
        FieldKind::Unsupported if field.required => Err(Left),
        FieldKind::Unsupported => Ok(None),
        FieldKind::Boolean => {
            let default = field.default.as_ref().and_then(|default| default.view().as_bool());
            let asked = Confirm::with_theme(&theme).with_prompt(question).default(default.unwrap_or(false));
            let said = asked.interact_opt()?.ok_or(Left)?;
            Ok(RawJson::serialize(&said).ok())
        }
        FieldKind::Choice(options) => {
            let asked = Select::with_theme(&theme).with_prompt(question).items(labels(options)).default(0);
            match asked.interact_opt()?.and_then(|chosen| options.get(chosen)) {
                Some(chosen) => Ok(RawJson::serialize(&chosen.value).ok()),
                None if field.required => Err(Left),
                None => Ok(None),
            }
        }
        FieldKind::Choices { options, .. } => loop {
            let asked = MultiSelect::with_theme(&theme).with_prompt(&question).items(labels(options));
            let chosen = asked.interact_opt()?.ok_or(Left)?;
            let values: Vec<&str> =
                chosen.into_iter().filter_map(|chosen| Some(options.get(chosen)?.value.as_str())).collect();
            let Ok(value) = RawJson::serialize(&values) else { return Err(Left) };
            match field.check(value.view()) {
                Ok(()) => return Ok(Some(value)),
                Err(flaw) => complain(&flaw.to_string()),
            }
        },
        FieldKind::Text { .. } | FieldKind::Number { .. } => ask_line(field, question),
        _ => Ok(None),
    }
}

fn labels(options: &[Choice]) -> Vec<String> {
    options.iter().map(|option| escape::line(option.label()).into_owned()).collect()
}

fn ask_line(field: &Field, question: String) -> Result<Option<RawJson>, Left> {
    let number = matches!(field.kind, FieldKind::Number { .. });
    let read = move |said: &str| {
        if number { RawJson::parse_str(said.trim()).ok() } else { RawJson::serialize(said).ok() }
    };
    let required = field.required;
    let mut input = Input::<String>::with_theme(&SimpleTheme).with_prompt(question).allow_empty(!required);
    if let Some(default) = &field.default {
        let view: JsonRef<'_> = default.view();
        let shown = view.str().map(|text| text.decode().into_owned());
        let shown = shown.unwrap_or_else(|| default.as_str().to_owned());
        // It is shown as it is, and taken as it is shown.
        if escape::line(&shown) == shown {
            input = input.default(shown);
        }
    }
    let checked = field.clone();
    let input = input.validate_with(move |said: &String| {
        if said.is_empty() && !required {
            return Ok(());
        }
        let value = read(said).ok_or_else(|| "it must be a number".to_owned())?;
        checked.check(value.view()).map_err(|flaw| flaw.to_string())
    });
    let said = input.interact_text()?;
    Ok(if said.is_empty() && !required { None } else { read(&said) })
}
