//! JSON schemas made of parts.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::jsonrpc::{ObjectWriter, RawJson};
use crate::mcp::types::input::{InputKind, InputRequest};

/// A JSON schema in the making: of a tool's arguments and results, and of the forms that a person is asked to fill in.
///
/// ```
/// use sanswire::server::kit::Schema;
///
/// let place = Schema::object()
///     .property("city", Schema::string().description("Where").min_length(1))
///     .optional("days", Schema::integer().minimum(1).maximum(14));
/// assert_eq!(
///     place.to_json().as_str(),
///     concat!(
///         r#"{"type":"object","properties":{"city":{"type":"string","description":"Where","minLength":1},"#,
///         r#""days":{"type":"integer","minimum":1,"maximum":14}},"required":["city"]}"#
///     )
/// );
/// ```
///
/// Spec: JSON Schema 2020-12; MCP basic, "JSON Schema Usage".
#[derive(Clone, Debug)]
pub struct Schema {
    members: Vec<(&'static str, RawJson)>,
    properties: Option<Vec<Property>>,
    closed: bool,
}

#[derive(Clone, Debug)]
struct Property {
    name: String,
    schema: RawJson,
    required: bool,
}

impl Schema {
    /// An object. Says nothing of properties that it does not name; see [`closed`](Self::closed).
    #[must_use]
    pub fn object() -> Self {
        Self { properties: Some(Vec::new()), ..Self::of_type("object") }
    }

    /// Text.
    #[must_use]
    pub fn string() -> Self {
        Self::of_type("string")
    }

    /// A number.
    #[must_use]
    pub fn number() -> Self {
        Self::of_type("number")
    }

    /// A number without a fraction.
    #[must_use]
    pub fn integer() -> Self {
        Self::of_type("integer")
    }

    /// Yes or no.
    #[must_use]
    pub fn boolean() -> Self {
        Self::of_type("boolean")
    }

    /// One of these texts.
    #[must_use]
    pub fn one_of(values: &[&str]) -> Self {
        Self::string().with("enum", RawJson::serialize(values).unwrap_or_else(|_| RawJson::null()))
    }

    /// Any number of such elements.
    #[must_use]
    pub fn array(elements: &Self) -> Self {
        Self::of_type("array").with("items", elements.to_json())
    }

    fn of_type(name: &str) -> Self {
        Self { members: vec![("type", text(name))], properties: None, closed: false }
    }

    /// What it is, in words.
    #[must_use]
    pub fn description(self, words: &str) -> Self {
        self.with("description", text(words))
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self, words: &str) -> Self {
        self.with("title", text(words))
    }

    /// The least number.
    #[must_use]
    pub fn minimum(self, least: impl Into<f64>) -> Self {
        self.with("minimum", number(least.into()))
    }

    /// The greatest number.
    #[must_use]
    pub fn maximum(self, most: impl Into<f64>) -> Self {
        self.with("maximum", number(most.into()))
    }

    /// The least length of a text, in characters.
    #[must_use]
    pub fn min_length(self, least: u32) -> Self {
        self.with("minLength", number(least.into()))
    }

    /// The greatest length of a text, in characters.
    #[must_use]
    pub fn max_length(self, most: u32) -> Self {
        self.with("maxLength", number(most.into()))
    }

    /// Any other keyword, such as `default` or `format`. Of two of the same name the later counts.
    #[must_use]
    pub fn with(mut self, keyword: &'static str, value: RawJson) -> Self {
        self.members.retain(|(name, _)| *name != keyword);
        self.members.push((keyword, value));
        self
    }

    /// A property of an object, which has to be there.
    #[must_use]
    pub fn property(self, name: &str, schema: Self) -> Self {
        self.put(name, schema, true)
    }

    /// A property of an object, which may be absent.
    #[must_use]
    pub fn optional(self, name: &str, schema: Self) -> Self {
        self.put(name, schema, false)
    }

    /// An object has no other properties.
    #[must_use]
    pub const fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// A question to a person, with this object as the form to fill in. Its properties are texts, numbers, yes or no, and
    /// choices: ask it by [`Asking::ask`](crate::server::asking::Asking::ask), or by the `Call` of a runtime.
    ///
    /// Spec: MCP client/elicitation, "Requested Schema".
    #[must_use]
    pub fn form(&self, message: &str) -> InputRequest {
        let params = RawJson::object(|w| {
            w.string("message", message).object("requestedSchema", |w| self.write(w));
        });
        InputRequest { kind: InputKind::ElicitForm, params: Some(params) }
    }

    /// The schema as JSON.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|w| self.write(w))
    }

    fn put(mut self, name: &str, schema: Self, required: bool) -> Self {
        let properties = self.properties.get_or_insert_default();
        properties.retain(|known| known.name != name);
        properties.push(Property { name: name.into(), schema: schema.to_json(), required });
        self
    }

    /// The property that was put in last may be absent.
    pub(super) fn last_is_optional(&mut self) {
        if let Some(last) = self.properties.as_mut().and_then(|properties| properties.last_mut()) {
            last.required = false;
        }
    }

    fn write(&self, w: &mut ObjectWriter<'_>) {
        for (name, value) in &self.members {
            w.raw(name, value.view());
        }
        if let Some(properties) = &self.properties {
            w.object("properties", |w| {
                for property in properties {
                    w.raw(&property.name, property.schema.view());
                }
            });
            let mut required = properties.iter().filter(|property| property.required).peekable();
            if required.peek().is_some() {
                w.array_of_strings("required", required.map(|property| property.name.as_str()));
            }
            if self.closed {
                w.bool("additionalProperties", false);
            }
        }
    }
}

/// A string as JSON.
pub(super) fn text(words: &str) -> RawJson {
    RawJson::serialize(words).unwrap_or_else(|_| RawJson::null())
}

/// A number as JSON, a whole one without a fraction.
fn number(value: f64) -> RawJson {
    #[expect(clippy::cast_possible_truncation, reason = "what is cut off is compared")]
    let whole = value as i64;
    #[expect(clippy::cast_precision_loss, reason = "what is lost is compared")]
    let json = if whole as f64 == value { RawJson::serialize(&whole) } else { RawJson::serialize(&value) };
    json.unwrap_or_else(|_| RawJson::null())
}
