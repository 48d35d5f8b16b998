//! Whether an answer fits a form.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{Choice, Field, FieldKind, Form, Format, MAX_OPTIONS};
use crate::jsonrpc::{JsonRef, JsonStr, Kind};

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnswerFault {
    /// The field; empty if it is the answer as a whole.
    pub field: String,
    /// What is wrong.
    pub flaw: AnswerFlaw,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerFlaw {
    /// It has to be filled in.
    Missing,
    /// It is of another kind.
    NotA(&'static str),
    /// The text has fewer characters.
    ShorterThan(u64),
    /// The text has more characters.
    LongerThan(u64),
    /// The text does not look as it has to.
    Format(Format),
    /// The number is smaller.
    Below(f64),
    /// The number is greater.
    Above(f64),
    /// It is none of the options.
    NotAnOption,
    /// Too few were chosen.
    FewerThan(u64),
    /// Too many were chosen.
    MoreThan(u64),
}

impl fmt::Display for AnswerFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it has to be filled in"),
            Self::NotA(what) => write!(f, "it must be {what}"),
            Self::ShorterThan(min) => write!(f, "it must have {min} characters or more"),
            Self::LongerThan(max) => write!(f, "it must have {max} characters or fewer"),
            Self::Format(format) => write!(f, "it must be {format}"),
            Self::Below(min) => write!(f, "it must be {min} or more"),
            Self::Above(max) => write!(f, "it must be {max} or less"),
            Self::NotAnOption => f.write_str("it must be one of the options"),
            Self::FewerThan(min) => write!(f, "choose {min} or more"),
            Self::MoreThan(max) => write!(f, "choose {max} or fewer"),
        }
    }
}

impl fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() { self.flaw.fmt(f) } else { write!(f, "{}: {}", self.field, self.flaw) }
    }
}

impl Form {
    /// Checks the `content` of an answer.
    ///
    /// Members that the form does not name are let through if a form could hold them at all. `null` is a value and
    /// fits no field: leave out what is not filled in.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the form; ask again.
    ///
    /// Spec: MCP 2025-06-18 and later, client/elicitation, "Security Considerations"; schema, `ElicitResult`.
    pub fn check(&self, content: JsonRef<'_>) -> Result<(), Vec<AnswerFault>> {
        if content.kind() != Kind::Object {
            return Err([AnswerFault { field: String::new(), flaw: AnswerFlaw::NotA("an object") }].into());
        }
        let mut faults = Vec::new();
        for field in &self.fields {
            let flaw = match content.get(&field.name) {
                Some(value) => field.check(value).err(),
                None => field.required.then_some(AnswerFlaw::Missing),
            };
            faults.extend(flaw.map(|flaw| AnswerFault { field: field.name.clone(), flaw }));
        }
        for (name, value) in content.members() {
            let known = self.fields.iter().any(|field| name.eq_str(&field.name));
            if !known && !may_stand_in_a_form(value) {
                let flaw = AnswerFlaw::NotA(PRIMITIVE);
                faults.push(AnswerFault { field: name.decode().to_string(), flaw });
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

impl Field {
    /// Checks one value.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn check(&self, value: JsonRef<'_>) -> Result<(), AnswerFlaw> {
        match &self.kind {
            FieldKind::Text { min_length, max_length, format } => {
                let text = value.str().ok_or(AnswerFlaw::NotA("text"))?.decode();
                let len = text.chars().count() as u64;
                within(len, *min_length, *max_length, AnswerFlaw::ShorterThan, AnswerFlaw::LongerThan)?;
                match format {
                    Some(format) if !format.fits(&text) => Err(AnswerFlaw::Format(*format)),
                    _ => Ok(()),
                }
            }
            FieldKind::Number { integer, minimum, maximum } => {
                let number = value.as_f64().ok_or(AnswerFlaw::NotA("a number"))?;
                if *integer && !is_integer(value, number) {
                    return Err(AnswerFlaw::NotA("a whole number"));
                }
                within(number, *minimum, *maximum, AnswerFlaw::Below, AnswerFlaw::Above)
            }
            FieldKind::Boolean => match value.as_bool() {
                Some(_) => Ok(()),
                None => Err(AnswerFlaw::NotA("true or false")),
            },
            FieldKind::Choice(options) => {
                let chosen = value.str().ok_or(AnswerFlaw::NotA("text"))?;
                offered(options, chosen)
            }
            FieldKind::Choices { options, min_items, max_items } => {
                if value.kind() != Kind::Array {
                    return Err(AnswerFlaw::NotA("a list"));
                }
                let mut len = 0;
                for chosen in value.elements() {
                    if len == MAX_OPTIONS as u64 {
                        return Err(AnswerFlaw::MoreThan(len));
                    }
                    offered(options, chosen.str().ok_or(AnswerFlaw::NotA("a list of texts"))?)?;
                    len += 1;
                }
                within(len, *min_items, *max_items, AnswerFlaw::FewerThan, AnswerFlaw::MoreThan)
            }
            FieldKind::Unsupported if may_stand_in_a_form(value) => Ok(()),
            FieldKind::Unsupported => Err(AnswerFlaw::NotA(PRIMITIVE)),
        }
    }
}

const PRIMITIVE: &str = "text, a number, true, false or a list of texts";

/// Whether a value is of a kind that the content of an answer may have.
fn may_stand_in_a_form(value: JsonRef<'_>) -> bool {
    match value.kind() {
        Kind::String | Kind::Number | Kind::Bool => true,
        Kind::Array => value.elements().all(|element| element.kind() == Kind::String),
        Kind::Null | Kind::Object => false,
    }
}

fn offered(options: &[Choice], chosen: JsonStr<'_>) -> Result<(), AnswerFlaw> {
    if options.iter().any(|option| chosen.eq_str(&option.value)) {
        Ok(())
    } else {
        Err(AnswerFlaw::NotAnOption)
    }
}

/// Written without a fraction, or with one that is zero, as far as an `f64` can tell.
fn is_integer(value: JsonRef<'_>, number: f64) -> bool {
    let plain = value.as_bytes().iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cast saturates, so what does not fit compares unequal"
    )]
    let whole = number as i64;
    #[expect(clippy::cast_precision_loss, reason = "what was cut from an f64 fits one")]
    let same = whole as f64 == number;
    plain || same
}

fn within<T: Copy + PartialOrd, F>(
    value: T,
    min: Option<T>,
    max: Option<T>,
    below: impl Fn(T) -> F,
    above: impl Fn(T) -> F,
) -> Result<(), F> {
    match (min, max) {
        (Some(min), _) if value < min => Err(below(min)),
        (_, Some(max)) if value > max => Err(above(max)),
        _ => Ok(()),
    }
}
