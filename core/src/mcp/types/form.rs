//! The form that an elicitation asks a person to fill in, and the check of what was filled in.
//!
//! A form is flat: each field is text, a number, a yes or no, or a choice. What a field's schema says beyond that is
//! not read; a field that is none of these is [`FieldKind::Unsupported`].
//!
//! Spec: MCP 2025-06-18 and later, client/elicitation, "Requested Schema"; schema, `PrimitiveSchemaDefinition`.

mod check;
mod format;

pub use check::{AnswerFault, AnswerFlaw};
pub use format::Format;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::flaw::{Flaw, member, text};
use crate::jsonrpc::{JsonRef, JsonStr, Kind, RawJson};

/// The most fields of a form.
pub const MAX_FIELDS: usize = 256;
/// The most options of a field.
pub const MAX_OPTIONS: usize = 1_000;

/// A form, in the order in which the server wrote its fields. All text in it is the server's.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Form {
    /// The fields.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the answer.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Whether it has to be filled in.
    pub required: bool,
    /// What may be filled in.
    pub kind: FieldKind,
    /// What to begin with: a value that passes the field's own check.
    pub default: Option<RawJson>,
}

/// What may be filled in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text. Lengths in characters.
    Text {
        /// The least length.
        min_length: Option<u64>,
        /// The greatest length.
        max_length: Option<u64>,
        /// What the text has to look like.
        format: Option<Format>,
    },
    /// A number.
    Number {
        /// Without a fraction.
        integer: bool,
        /// The least.
        minimum: Option<f64>,
        /// The greatest.
        maximum: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of several.
    Choice(Vec<Choice>),
    /// Several of several (2025-11-25 and later).
    Choices {
        /// What there is.
        options: Vec<Choice>,
        /// The least number of them.
        min_items: Option<u64>,
        /// The greatest number of them.
        max_items: Option<u64>,
    },
    /// Something that a form cannot ask. Leave it out; if it is required the form cannot be answered.
    Unsupported,
}

/// An option of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// What goes into the answer.
    pub value: String,
    /// What to show instead.
    pub title: Option<String>,
}

impl Choice {
    /// What to show.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

/// Why a form cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormFault {
    /// The request lacks something.
    Flaw(Flaw),
    /// It has more than [`MAX_FIELDS`] fields.
    TooManyFields,
}

impl From<Flaw> for FormFault {
    fn from(flaw: Flaw) -> Self {
        Self::Flaw(flaw)
    }
}

impl fmt::Display for FormFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flaw(flaw) => write!(f, "the form is unusable: {flaw}"),
            Self::TooManyFields => write!(f, "the form has more than {MAX_FIELDS} fields"),
        }
    }
}

impl core::error::Error for FormFault {}

impl Field {
    /// What to show.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

impl Form {
    /// Reads the parameters of an elicitation in form mode. Copies what it keeps.
    ///
    /// # Errors
    /// There is no form that could be shown: decline, or answer with an error.
    pub fn read(params: JsonRef<'_>) -> Result<Self, FormFault> {
        let schema = object(params, "requestedSchema")?;
        let properties = object(schema, "properties")?;
        let required: Vec<_> = member(schema, "required")
            .into_iter()
            .flat_map(JsonRef::elements)
            .filter_map(JsonRef::str)
            .map(JsonStr::decode)
            .take(MAX_FIELDS)
            .collect();
        let mut fields: Vec<Field> = Vec::new();
        for (n, (name, property)) in properties.members().enumerate() {
            if n == MAX_FIELDS {
                return Err(FormFault::TooManyFields);
            }
            let name = name.decode();
            if fields.iter().any(|field| field.name == name) {
                continue;
            }
            let mut field = Field {
                required: required.contains(&name),
                name: name.into_owned(),
                title: text(property, "title").map(|title| title.into_owned()),
                description: text(property, "description").map(|description| description.into_owned()),
                kind: kind(property).unwrap_or(FieldKind::Unsupported),
                default: None,
            };
            field.default = member(property, "default")
                .filter(|value| field.check(*value).is_ok())
                .and_then(|value| RawJson::from_slice(value.as_bytes(), crate::jsonrpc::MAX_DEPTH).ok());
            fields.push(field);
        }
        for name in required {
            if fields.len() < MAX_FIELDS && !fields.iter().any(|field| field.name == name) {
                let (name, kind) = (name.into_owned(), FieldKind::Unsupported);
                fields.push(Field {
                    name,
                    title: None,
                    description: None,
                    required: true,
                    kind,
                    default: None,
                });
            }
        }
        Ok(Self { fields })
    }
}

fn object<'a>(value: JsonRef<'a>, name: &'static str) -> Result<JsonRef<'a>, Flaw> {
    let found = member(value, name).ok_or(Flaw::Missing(name))?;
    let wrong = Flaw::WrongKind { member: name, found: found.kind() };
    if found.kind() == Kind::Object { Ok(found) } else { Err(wrong) }
}

/// What a property may hold; `None` if a form cannot ask for it.
fn kind(property: JsonRef<'_>) -> Option<FieldKind> {
    if let Some(options) = options(property) {
        return options.map(FieldKind::Choice);
    }
    let whole = |name| property.get(name).and_then(JsonRef::as_u64);
    let number = |name| property.get(name).and_then(JsonRef::as_f64);
    let name = property.get("type")?.str()?.decode();
    Some(match &*name {
        "string" => FieldKind::Text {
            min_length: whole("minLength"),
            max_length: whole("maxLength"),
            format: text(property, "format").and_then(|name| Format::named(&name)),
        },
        "number" | "integer" => FieldKind::Number {
            integer: name == "integer",
            minimum: number("minimum"),
            maximum: number("maximum"),
        },
        "boolean" => FieldKind::Boolean,
        "array" => FieldKind::Choices {
            options: options(member(property, "items")?)??,
            min_items: whole("minItems"),
            max_items: whole("maxItems"),
        },
        _ => return None,
    })
}

/// The options of a schema that has some: `enum`, with `enumNames` or without, or `const`s with titles. The inner
/// `None`: there are none that could be offered, or too many.
fn options(schema: JsonRef<'_>) -> Option<Option<Vec<Choice>>> {
    let own = |text: JsonStr<'_>| text.decode().into_owned();
    let options: Vec<_> = if let Some(values) = member(schema, "enum") {
        let mut names = member(schema, "enumNames").into_iter().flat_map(JsonRef::elements);
        let option = |value: JsonRef<'_>| {
            let title = names.next().and_then(JsonRef::str).map(own);
            Some(Choice { value: own(value.str()?), title })
        };
        values.elements().take(MAX_OPTIONS + 1).map(option).collect()
    } else {
        let values = member(schema, "oneOf").or_else(|| member(schema, "anyOf"))?;
        let option = |option: JsonRef<'_>| {
            let value = own(option.get("const")?.str()?);
            Some(Choice { value, title: text(option, "title").map(|title| title.into_owned()) })
        };
        values.elements().take(MAX_OPTIONS + 1).map(option).collect()
    };
    let offered = (1..=MAX_OPTIONS).contains(&options.len());
    Some(options.into_iter().collect::<Option<Vec<_>>>().filter(|_| offered))
}

#[cfg(test)]
mod tests;
