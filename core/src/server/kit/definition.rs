//! What is listed: definitions made of parts or of JSON, and what may be wrong with them.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::jsonrpc::{JsonRef, JsonStr, Kind, ObjectWriter, RawJson};
use crate::mcp::types::page::ListItem as _;
use crate::mcp::types::prompt::Prompt as PromptView;
use crate::server::{Catalog, ListKind};

use crate::server::kit::schema::{Schema, text};
use crate::server::kit::slips::{not_json, slips};
use crate::server::kit::template::Template;

/// What describes a tool, resource or prompt: its definition as the schema has it, without the name or address that is
/// given beside it.
///
/// JSON text, JSON that is ready, or one of [`Tool`], [`Resource`] and [`Prompt`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no definition",
    note = "make one by `Tool::new(…)`, `Resource::new(…)` or `Prompt::new(…)`, or give JSON"
)]
pub trait Definition {
    /// The definition as JSON.
    ///
    /// # Errors
    /// Why it is none, in words for whoever wrote it.
    fn into_json(self) -> Result<RawJson, String>;
}

impl Definition for &str {
    fn into_json(self) -> Result<RawJson, String> {
        RawJson::parse_str(self).map_err(|fault| not_json(self, fault))
    }
}

impl Definition for String {
    fn into_json(self) -> Result<RawJson, String> {
        self.as_str().into_json()
    }
}

impl Definition for RawJson {
    fn into_json(self) -> Result<RawJson, String> {
        Ok(self)
    }
}

/// The definition of a tool in the making.
///
/// Each argument has to be given unless [`optional`](Self::optional) follows it, and there are no others. A handler
/// that reads them into a type of its own is not checked against this.
///
/// ```
/// use sanswire::server::kit::{Schema, Tool};
///
/// Tool::new("Finds files by name")
///     .string("pattern", "What the name must hold")
///     .choice("kind", "What to find", &["file", "folder"])
///     .integer("limit", "How many at most")
///     .optional()
///     .output(&Schema::object().property("paths", Schema::array(&Schema::string())))
///     .read_only();
/// ```
///
/// Spec: MCP server/tools; schema, `Tool`.
#[derive(Clone, Debug)]
pub struct Tool {
    members: Members,
    input: Schema,
    annotations: Vec<(&'static str, bool)>,
}

impl Tool {
    /// A tool that does this, in words for a model. It has no arguments yet.
    #[must_use]
    pub fn new(description: &str) -> Self {
        let members = Members::default().with("description", text(description));
        Self { members, input: Schema::object().closed(), annotations: Vec::new() }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", text(title))
    }

    /// An argument that is text.
    #[must_use]
    pub fn string(self, name: &str, description: &str) -> Self {
        self.argument(name, Schema::string().description(description))
    }

    /// An argument that is a number.
    #[must_use]
    pub fn number(self, name: &str, description: &str) -> Self {
        self.argument(name, Schema::number().description(description))
    }

    /// An argument that is a number without a fraction.
    #[must_use]
    pub fn integer(self, name: &str, description: &str) -> Self {
        self.argument(name, Schema::integer().description(description))
    }

    /// An argument that is yes or no.
    #[must_use]
    pub fn boolean(self, name: &str, description: &str) -> Self {
        self.argument(name, Schema::boolean().description(description))
    }

    /// An argument that is one of these texts.
    #[must_use]
    pub fn choice(self, name: &str, description: &str, values: &[&str]) -> Self {
        self.argument(name, Schema::one_of(values).description(description))
    }

    /// An argument of any other kind.
    #[must_use]
    pub fn argument(mut self, name: &str, schema: Schema) -> Self {
        self.input = self.input.property(name, schema);
        self
    }

    /// The last argument may be left out.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.input.last_is_optional();
        self
    }

    /// What its structured results look like: an object, for clients before 2026-07-28.
    #[must_use]
    pub fn output(self, schema: &Schema) -> Self {
        self.with("outputSchema", schema.to_json())
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint("readOnlyHint", true)
    }

    /// Whether it may destroy something. Clients take it that it may, unless it is read-only.
    #[must_use]
    pub fn destructive(self, may: bool) -> Self {
        self.hint("destructiveHint", may)
    }

    /// Calling it twice does no more than calling it once.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.hint("idempotentHint", true)
    }

    /// Whether it reaches things outside of this server's own. Clients take it that it does.
    #[must_use]
    pub fn open_world(self, does: bool) -> Self {
        self.hint("openWorldHint", does)
    }

    /// Any other member, such as `icons` or `_meta`.
    #[must_use]
    pub fn with(mut self, member: &'static str, value: RawJson) -> Self {
        self.members = self.members.with(member, value);
        self
    }

    fn hint(mut self, name: &'static str, value: bool) -> Self {
        self.annotations.retain(|(known, _)| *known != name);
        self.annotations.push((name, value));
        self
    }
}

impl Definition for Tool {
    fn into_json(self) -> Result<RawJson, String> {
        Ok(RawJson::object(|w| {
            self.members.write(w);
            w.raw("inputSchema", self.input.to_json().view());
            if !self.annotations.is_empty() {
                w.object("annotations", |w| {
                    for (name, value) in &self.annotations {
                        w.bool(name, *value);
                    }
                });
            }
        }))
    }
}

/// The definition of a resource, or of a template of resources, in the making.
///
/// Spec: MCP server/resources; schema, `Resource`, `ResourceTemplate`.
#[derive(Clone, Debug)]
pub struct Resource(Members);

impl Resource {
    /// A resource of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Members::default().with("name", text(name)))
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", text(title))
    }

    /// What it is, in words.
    #[must_use]
    pub fn description(self, description: &str) -> Self {
        self.with("description", text(description))
    }

    /// What its contents are, such as `text/markdown`. Said with the contents as well.
    #[must_use]
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.with("mimeType", text(mime_type))
    }

    /// Any other member, such as `size` or `annotations`.
    #[must_use]
    pub fn with(self, member: &'static str, value: RawJson) -> Self {
        Self(self.0.with(member, value))
    }
}

impl Definition for Resource {
    fn into_json(self) -> Result<RawJson, String> {
        Ok(RawJson::object(|w| self.0.write(w)))
    }
}

/// The definition of a prompt in the making. Each argument has to be given unless [`optional`](Self::optional) follows
/// it.
///
/// Spec: MCP server/prompts; schema, `Prompt`.
#[derive(Clone, Debug)]
pub struct Prompt {
    members: Members,
    arguments: Vec<(String, String, bool)>,
}

impl Prompt {
    /// A prompt for this, in words. It has no arguments yet.
    #[must_use]
    pub fn new(description: &str) -> Self {
        Self { members: Members::default().with("description", text(description)), arguments: Vec::new() }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", text(title))
    }

    /// An argument. Values are always text.
    #[must_use]
    pub fn argument(mut self, name: &str, description: &str) -> Self {
        self.arguments.push((name.into(), description.into(), true));
        self
    }

    /// The last argument may be left out.
    #[must_use]
    pub fn optional(mut self) -> Self {
        if let Some((.., required)) = self.arguments.last_mut() {
            *required = false;
        }
        self
    }

    /// Any other member, such as `icons`.
    #[must_use]
    pub fn with(mut self, member: &'static str, value: RawJson) -> Self {
        self.members = self.members.with(member, value);
        self
    }
}

impl Definition for Prompt {
    fn into_json(self) -> Result<RawJson, String> {
        Ok(RawJson::object(|w| {
            self.members.write(w);
            if !self.arguments.is_empty() {
                w.array("arguments", |w| {
                    for (name, description, required) in &self.arguments {
                        w.object(|w| {
                            w.string("name", name)
                                .string("description", description)
                                .bool("required", *required);
                        });
                    }
                });
            }
        }))
    }
}

#[derive(Clone, Debug, Default)]
struct Members(Vec<(&'static str, RawJson)>);

impl Members {
    fn with(mut self, member: &'static str, value: RawJson) -> Self {
        self.0.retain(|(name, _)| *name != member);
        self.0.push((member, value));
        self
    }

    fn write(&self, w: &mut ObjectWriter<'_>) {
        for (name, value) in &self.0 {
            w.raw(name, value.view());
        }
    }
}

/// The definition with its name or address in front. `Err`: all that is wrong with it.
pub(super) fn complete(
    kind: ListKind,
    key: &str,
    definition: Result<RawJson, String>,
) -> Result<RawJson, Vec<String>> {
    let definition = definition.map_err(|why| vec![why])?;
    let view = definition.view();
    if view.kind() != Kind::Object {
        return Err(vec![format!("it is {}, not an object", view.kind())]);
    }
    let member = match kind {
        ListKind::Tools | ListKind::Prompts => "name",
        ListKind::Resources => "uri",
        ListKind::Templates => "uriTemplate",
    };
    let mut faults = Vec::new();
    if view.get(member).is_some_and(|other| other.str().is_none_or(|other| !other.eq_str(key))) {
        faults.push(format!("its {member} is another; leave it out of the definition"));
    }
    faults.extend(slips(kind, view));
    let whole = RawJson::object(|w| {
        w.string(member, key);
        for (name, value) in view.members().filter(|(name, _)| !name.eq_str(member)) {
            w.raw(&name.decode(), value);
        }
    });
    match kind {
        // The catalog looks at the rest.
        ListKind::Tools => match view.get("inputSchema").map(JsonRef::kind) {
            None | Some(Kind::Object) => {}
            Some(found) => faults.push(format!("its inputSchema is {found}, not an object")),
        },
        ListKind::Prompts => check_prompt(&whole, &mut faults),
        ListKind::Resources => check_name(view, &mut faults),
        ListKind::Templates => {
            faults.extend(Template::parse(key).err());
            check_name(view, &mut faults);
        }
    }
    faults.extend(offer(kind, &mut Catalog::new(), &whole).err());
    if faults.is_empty() { Ok(whole) } else { Err(faults) }
}

/// Puts a definition into the catalog.
pub(super) fn offer(kind: ListKind, catalog: &mut Catalog, definition: &RawJson) -> Result<(), String> {
    let offered = match kind {
        ListKind::Tools => catalog.tool(definition),
        ListKind::Resources => catalog.resource(definition),
        ListKind::Templates => catalog.resource_template(definition),
        ListKind::Prompts => catalog.prompt(definition),
    };
    offered.map_err(|reason| reason.to_string())
}

fn check_name(definition: JsonRef<'_>, faults: &mut Vec<String>) {
    if definition.get("name").and_then(JsonRef::str).is_some_and(|name| name.raw().is_empty()) {
        faults.push("its name is empty".into());
    }
}

fn check_prompt(definition: &RawJson, faults: &mut Vec<String>) {
    if definition.view().get("name").and_then(JsonRef::str).is_none_or(|name| name.raw().is_empty()) {
        faults.push("its name is empty".into());
    }
    let prompt = match PromptView::read(definition.clone()) {
        Ok(prompt) => prompt,
        Err(reason) => return faults.push(reason.to_string()),
    };
    let mut names = BTreeSet::new();
    for (n, argument) in prompt.arguments().enumerate() {
        match argument {
            Err(flaw) => faults.push(format!("its argument {n} is unusable: {flaw}")),
            Ok(argument) if !names.insert(argument.name.to_string()) => {
                faults.push(format!("its argument {} stands twice", argument.name));
            }
            Ok(_) => {}
        }
    }
}

/// The text of a member of a definition.
pub(super) fn text_of(definition: &RawJson, member: &str) -> Option<Box<str>> {
    definition.view().get(member).and_then(JsonRef::str).map(JsonStr::decode).map(Into::into)
}
