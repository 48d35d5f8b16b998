//! What a server lists: tools, resources, templates, prompts, each in the order they were defined.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::jsonrpc::{JsonRef, JsonStr, ObjectWriter, RawJson};
use crate::mcp::Method;
use crate::mcp::types::page::{ListItem, SetAsideReason};
use crate::mcp::types::prompt::Prompt;
use crate::mcp::types::resource::{Resource, ResourceTemplate};
use crate::mcp::types::tool::Tool;
use crate::server::publish;

/// What a server lists. Cheap to share: give all sessions of an endpoint the same.
///
/// Definitions are objects in the shape of the newest revision; what an older one does not have is left out of the
/// listing it gets. A later definition of the same name, or address, takes the place of the earlier one. `null`
/// members are dropped.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: List,
    resources: List,
    templates: List,
    prompts: List,
}

/// The four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `prompts/list`
    Prompts,
}

impl ListKind {
    pub(super) const fn of(method: &Method) -> Option<Self> {
        match method {
            Method::ToolsList => Some(Self::Tools),
            Method::ResourcesList => Some(Self::Resources),
            Method::ResourcesTemplatesList => Some(Self::Templates),
            Method::PromptsList => Some(Self::Prompts),
            _ => None,
        }
    }

    /// The member of the result that holds the elements.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::Tools => Tool::ITEMS,
            Self::Resources => Resource::ITEMS,
            Self::Templates => ResourceTemplate::ITEMS,
            Self::Prompts => Prompt::ITEMS,
        }
    }
}

impl Catalog {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Defines a tool. An input schema that does not say `"type":"object"` is given that, a missing one is empty;
    /// `execution` is dropped, since tasks are not served.
    ///
    /// # Errors
    /// Why it cannot be offered; the catalog is unchanged. It has no name, or one that is not made of 1 to 128 of
    /// `A-Z a-z 0-9 _ - .`; or a schema of it is in no dialect that is known (2020-12, which is meant where none is
    /// said; 2019-09; drafts 4, 6 and 7), or refers to what it does not contain; or an `x-mcp-header` in it is no name of
    /// a field, stands twice, or stands where no plain value is.
    ///
    /// Spec: MCP server/tools, "Tool Names"; schema, `Tool`; basic, "JSON Schema Usage".
    pub fn tool(&mut self, definition: &RawJson) -> Result<(), SetAsideReason> {
        let tool = Tool::read(definition.clone())?;
        publish::check_tool(&tool)?;
        let schema = tool.effective_input_schema();
        let raw = RawJson::object(|w| {
            let mut written = false;
            for (name, value) in present(definition.view()) {
                if name == "inputSchema" {
                    written = true;
                    w.raw(&name, schema.view());
                } else if name != "execution" {
                    w.raw(&name, value);
                }
            }
            if !written {
                w.raw("inputSchema", schema.view());
            }
        });
        self.tools.put(tool.name(), raw);
        Ok(())
    }

    /// Defines a resource.
    ///
    /// # Errors
    /// Why it cannot be offered: it has no address or no name, or its address is none by RFC 3986.
    ///
    /// Spec: MCP server/resources, "Common URI Schemes".
    pub fn resource(&mut self, definition: &RawJson) -> Result<(), SetAsideReason> {
        let resource = Resource::read(definition.clone())?;
        publish::check_uri(resource.uri())?;
        self.resources.put(resource.uri(), without_nulls(definition));
        Ok(())
    }

    /// Defines a resource template.
    ///
    /// # Errors
    /// Why it cannot be offered: it has no template or no name.
    pub fn resource_template(&mut self, definition: &RawJson) -> Result<(), SetAsideReason> {
        let template = ResourceTemplate::read(definition.clone())?;
        self.templates.put(template.uri_template(), without_nulls(definition));
        Ok(())
    }

    /// Defines a prompt.
    ///
    /// # Errors
    /// Why it cannot be offered: it has no name.
    pub fn prompt(&mut self, definition: &RawJson) -> Result<(), SetAsideReason> {
        let prompt = Prompt::read(definition.clone())?;
        self.prompts.put(prompt.name(), without_nulls(definition));
        Ok(())
    }

    /// Takes a definition away, by name or address. False: there was none.
    pub fn remove(&mut self, kind: ListKind, key: &str) -> bool {
        self.list_mut(kind).remove(key)
    }

    /// Takes all definitions of a kind away.
    pub fn clear(&mut self, kind: ListKind) {
        *self.list_mut(kind) = List::default();
    }

    /// The definition of that name or address, as it is listed to the newest revision.
    #[must_use]
    pub fn find(&self, kind: ListKind, key: &str) -> Option<&RawJson> {
        self.list(kind).find(key)
    }

    /// How many definitions of a kind there are.
    #[must_use]
    pub fn len(&self, kind: ListKind) -> usize {
        self.list(kind).items.len()
    }

    /// Whether there is no definition of a kind.
    #[must_use]
    pub fn is_empty(&self, kind: ListKind) -> bool {
        self.list(kind).items.is_empty()
    }

    /// The tools, by name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.tools.items.iter().map(|tool| (tool.key.as_str(), &tool.raw))
    }

    pub(super) const fn list(&self, kind: ListKind) -> &List {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Resources => &self.resources,
            ListKind::Templates => &self.templates,
            ListKind::Prompts => &self.prompts,
        }
    }

    const fn list_mut(&mut self, kind: ListKind) -> &mut List {
        match kind {
            ListKind::Tools => &mut self.tools,
            ListKind::Resources => &mut self.resources,
            ListKind::Templates => &mut self.templates,
            ListKind::Prompts => &mut self.prompts,
        }
    }
}

/// A definition in its list.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    key: String,
    raw: RawJson,
    /// Of a tool: what its structured results look like.
    pub(super) output_schema: Option<Arc<RawJson>>,
}

/// Definitions in order, and where each name stands.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    items: Vec<Entry>,
    /// By the bytes of the name: a name on the wire is looked up as it stands there.
    places: BTreeMap<Box<[u8]>, usize>,
    generation: u64,
}

impl List {
    fn put(&mut self, key: &str, raw: RawJson) {
        let output = raw.view().get("outputSchema").and_then(|schema| raw.slice_of(schema)).map(Arc::new);
        let entry = Entry { key: key.into(), raw, output_schema: output };
        match self.places.get(key.as_bytes()).and_then(|place| self.items.get_mut(*place)) {
            Some(item) => *item = entry,
            None => {
                self.places.insert(key.as_bytes().into(), self.items.len());
                self.items.push(entry);
                self.generation = mix(self.generation, key);
            }
        }
    }

    fn remove(&mut self, key: &str) -> bool {
        let Some(place) = self.places.remove(key.as_bytes()) else { return false };
        self.items.remove(place);
        for later in self.places.values_mut().filter(|later| **later > place) {
            *later -= 1;
        }
        self.generation = self.items.iter().fold(0, |generation, item| mix(generation, &item.key));
        true
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.items.get(*self.places.get(key.as_bytes())?)
    }

    pub(super) fn find(&self, key: &str) -> Option<&RawJson> {
        self.entry(key).map(|item| &item.raw)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.places.contains_key(key.as_bytes())
    }

    /// The definition of that name, as it stands on the wire.
    pub(super) fn entry_of(&self, key: JsonStr<'_>) -> Option<&Entry> {
        if key.is_escaped() {
            self.entry(&key.decode())
        } else {
            self.items.get(*self.places.get(key.raw())?)
        }
    }

    /// The definitions from the `place`th on.
    pub(super) fn from(&self, place: usize) -> impl Iterator<Item = (usize, &str, &RawJson)> {
        let items = self.items.iter().enumerate().skip(place);
        items.map(|(place, item)| (place, item.key.as_str(), &item.raw))
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Names and their order in one number: the same for the same list in another process.
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }
}

/// FNV-1a, one name further.
fn mix(so_far: u64, key: &str) -> u64 {
    let start = so_far ^ 0xcbf2_9ce4_8422_2325;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    step(key.bytes().fold(start, step), 0xff)
}

/// The members that are not null, the first of each name.
fn present(object: JsonRef<'_>) -> Vec<(Cow<'_, str>, JsonRef<'_>)> {
    let mut seen = BTreeSet::new();
    let members = object.members().filter(|(_, value)| !value.is_null());
    let members = members.map(|(name, value)| (name.decode(), value));
    members.filter(|(name, _)| seen.insert(name.clone())).collect()
}

fn without_nulls(object: &RawJson) -> RawJson {
    let write = |w: &mut ObjectWriter<'_>| {
        for (name, value) in present(object.view()) {
            w.raw(&name, value);
        }
    };
    RawJson::object(write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn raw(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    fn names(catalog: &Catalog) -> Vec<&str> {
        catalog.tools.from(0).map(|(_, key, _)| key).collect()
    }

    #[test]
    fn a_later_definition_replaces_and_keeps_the_first_place() {
        // H-176, P-234
        let mut catalog = Catalog::new();
        for text in [r#"{"name":"b"}"#, r#"{"name":"a"}"#, r#"{"name":"b","description":"new"}"#] {
            catalog.tool(&raw(text)).expect(text);
        }
        assert_eq!(names(&catalog), ["b", "a"]);
        let b = catalog.find(ListKind::Tools, "b").expect("there");
        assert!(b.view().get("description").is_some_and(|text| text.as_bytes() == br#""new""#));
        for unnamed in [r#"{"description":"x"}"#, r#"{"name":7}"#, "[]", r#"{"name":null}"#] {
            assert!(catalog.tool(&raw(unnamed)).is_err(), "{unnamed}");
        }
        assert_eq!(catalog.len(ListKind::Tools), 2, "what has no name is skipped");
    }

    #[test]
    fn what_is_listed_is_fit_to_be_listed() {
        // P-236, H-029; b_43 (server): never null for an absent member
        let table = [
            (r#"{"name":"a"}"#, r#"{"name":"a","inputSchema":{"type":"object","properties":{}}}"#),
            (
                r#"{"name":"a","title":null,"inputSchema":{"properties":{}},"execution":{"taskSupport":"required"}}"#,
                r#"{"name":"a","inputSchema":{"type":"object","properties":{}}}"#,
            ),
            (
                r#"{"inputSchema":{"type":"object"},"name":"a","name":"b","x":[null]}"#,
                r#"{"inputSchema":{"type":"object"},"name":"a","x":[null]}"#,
            ),
        ];
        for (text, listed) in table {
            let mut catalog = Catalog::new();
            catalog.tool(&raw(text)).expect(text);
            assert_eq!(catalog.find(ListKind::Tools, "a").map(RawJson::as_str), Some(listed), "{text}");
        }
        let mut catalog = Catalog::new();
        catalog.resource(&raw(r#"{"uri":"a:b","name":"n","title":null}"#)).expect("a resource");
        let listed = catalog.find(ListKind::Resources, "a:b").map(RawJson::as_str);
        assert_eq!(listed, Some(r#"{"uri":"a:b","name":"n"}"#));
    }

    #[test]
    fn names_and_their_order_make_the_generation() {
        let with = |keys: &[&str]| {
            let mut list = List::default();
            for key in keys {
                list.put(key, RawJson::null());
            }
            list
        };
        assert_eq!(with(&["a", "b"]).generation(), with(&["a", "b", "a"]).generation());
        let others = [with(&["b", "a"]), with(&["ab"]), with(&["a"]), with(&[]), with(&["a", "b", "c"])];
        for other in &others {
            assert_ne!(other.generation(), with(&["a", "b"]).generation());
        }
        let mut shrunk = with(&["a", "c", "b"]);
        assert!(shrunk.remove("c") && !shrunk.remove("c"));
        assert_eq!(shrunk.generation(), with(&["a", "b"]).generation());
        assert_eq!(
            shrunk.places.into_iter().collect::<Vec<_>>(),
            vec![(b"a"[..].into(), 0), (b"b"[..].into(), 1)]
        );
    }
}
