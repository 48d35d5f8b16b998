//! What a crate offers, one line an item, read from what rustdoc knows of it as JSON.
//!
//! The lines are made to be kept in a file and compared. So they are sorted by the path of what they tell of, name every
//! type of the crate by its shortest public path without the crate's own name, and say nothing that hangs on the compiler's
//! version: no values of constants, and of auto traits only where `Send` or `Sync` is missing.
//!
//! JSON of another format than [`FORMATS`] is refused, since it could be misread without anybody seeing it.

mod signature;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::RangeInclusive;

use serde_json::Value;

use signature::{Names, generics, path_of, type_of};

/// The `format_version`s of rustdoc's JSON whose meaning is known here.
pub const FORMATS: RangeInclusive<u64> = 57..=57;

/// Why there are no lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// The JSON is of another format than [`FORMATS`].
    Format(u64),
    /// What stands there is not what the format has there.
    Unknown(String),
}

/// The lines for the crate that this JSON tells of, sorted, without line ends. Takes time in proportion to the JSON.
///
/// # Errors
///
/// [`Unread::Format`] asks for another toolchain, or for this reader to learn its format; [`Unread::Unknown`] for this
/// reader to learn a kind of item or type.
pub fn lines(document: &Value) -> Result<Vec<String>, Unread> {
    let format = document["format_version"].as_u64().unwrap_or(0);
    if !FORMATS.contains(&format) {
        return Err(Unread::Format(format));
    }
    let mut names = Names::new(document);
    let found = walk(document, &mut names)?;
    let mut list = Lines { names: &names, lines: BTreeSet::new(), impls: BTreeSet::new() };
    for (path, id) in &found.items {
        list.item(path, *id)?;
    }
    for (path, used) in &found.uses {
        list.add(path, format!("use {path} = {used}"));
    }
    Ok(list.lines.into_iter().map(|(_, line)| line).collect())
}

/// What can be reached from outside.
#[derive(Default)]
struct Found {
    /// Each item once, under its shortest path.
    items: Vec<(String, u64)>,
    /// The other paths, and the items of other crates that are passed on.
    uses: BTreeMap<String, String>,
}

/// Goes through the modules from the top, so that the first path of an item is its shortest.
fn walk(document: &Value, names: &mut Names<'_>) -> Result<Found, Unread> {
    let mut found = Found::default();
    let mut again = Vec::new();
    let mut waiting = VecDeque::from([(String::new(), id_of(&document["root"])?)]);
    let mut seen = BTreeSet::new();
    while let Some((module, id)) = waiting.pop_front() {
        // A module that passes on all of another one can be met in a circle.
        if !seen.insert((module.clone(), id)) {
            continue;
        }
        let mut children = Vec::new();
        for child in array(&names.item(id)?["inner"]["module"]["items"])? {
            let child = id_of(child)?;
            let Ok(item) = names.item(child) else { continue };
            let used = &item["inner"]["use"];
            let (name, target) = match used.as_object() {
                None => (text(&item["name"])?, Some(child)),
                Some(_) => (text(&used["name"])?, used["id"].as_u64()),
            };
            let target = target.filter(|target| names.item(*target).is_ok());
            match target {
                Some(target) if used["is_glob"] == true => waiting.push_back((module.clone(), target)),
                Some(target) => children.push((join(&module, name), target)),
                None => {
                    let source = used["id"].as_u64().and_then(|id| names.foreign(id));
                    let source = source.map_or_else(|| text(&used["source"]).map(str::to_owned), Ok)?;
                    found.uses.insert(join(&module, name), source);
                }
            }
        }
        children.sort();
        for (path, child) in children {
            let is_module = names.item(child)?["inner"].get("module").is_some();
            if names.call(child, &path) {
                found.items.push((path.clone(), child));
            } else {
                again.push((path.clone(), child));
                continue;
            }
            if is_module {
                waiting.push_back((path, child));
            }
        }
    }
    for (path, id) in again {
        let first = names.local(id).unwrap_or_default().to_owned();
        if first != path {
            found.uses.insert(path, first);
        }
    }
    Ok(found)
}

/// The lines as they come to be, by the path that they are sorted by.
struct Lines<'a> {
    names: &'a Names<'a>,
    lines: BTreeSet<(String, String)>,
    impls: BTreeSet<u64>,
}

impl Lines<'_> {
    fn add(&mut self, path: &str, line: String) {
        self.lines.insert((path.to_owned(), line));
    }

    fn item(&mut self, path: &str, id: u64) -> Result<(), Unread> {
        let names = self.names;
        let item = names.item(id)?;
        let (kind, inner) = kind_of(item)?;
        let marked = if is_open(item) { "#[non_exhaustive] " } else { "" };
        let (params, bounds) = generics(names, &inner["generics"])?;
        match kind {
            "module" => self.add(path, format!("mod {path}")),
            "struct" | "union" => {
                let fields = self.fields(path, inner)?;
                self.add(path, format!("{marked}{kind} {path}{params}{fields}{bounds}"));
                self.impls(path, &inner["impls"])?;
            }
            "enum" => {
                self.add(path, format!("{marked}enum {path}{params}{bounds}"));
                for variant in array(&inner["variants"])? {
                    self.variant(path, id_of(variant)?)?;
                }
                self.impls(path, &inner["impls"])?;
            }
            "trait" => {
                let above = names.bounds(&inner["bounds"])?;
                let above = if above.is_empty() { above } else { format!(": {above}") };
                self.add(path, format!("trait {path}{params}{above}{bounds}"));
                for member in array(&inner["items"])? {
                    self.member(path, id_of(member)?, "")?;
                }
                self.impls(path, &inner["implementations"])?;
            }
            "function" => {
                let function = signature::function(names, path, inner)?;
                self.add(path, function);
            }
            "constant" => self.add(path, format!("const {path}: {}", type_of(names, &inner["type"])?)),
            "static" => self.add(path, format!("static {path}: {}", type_of(names, &inner["type"])?)),
            "type_alias" => {
                self.add(path, format!("type {path}{params} = {}", type_of(names, &inner["type"])?))
            }
            "macro" => self.add(path, format!("macro {path}!")),
            other => return Err(Unread::Unknown(format!("item {other}"))),
        }
        Ok(())
    }

    /// How a struct's fields are told behind its name. Those with names have lines of their own.
    fn fields(&mut self, path: &str, inner: &Value) -> Result<String, Unread> {
        let names = self.names;
        let kind = inner.get("kind").unwrap_or(inner);
        if kind == "unit" {
            return Ok(String::new());
        }
        if let Some(tuple) = kind.get("tuple") {
            return names.tuple(tuple);
        }
        let plain = kind.get("plain").unwrap_or(kind);
        for field in array(&plain["fields"])? {
            let field = names.item(id_of(field)?)?;
            let field_path = join(path, text(&field["name"])?);
            let line = format!("field {field_path}: {}", type_of(names, &field["inner"]["struct_field"])?);
            self.add(&field_path, line);
        }
        Ok(if plain["has_stripped_fields"] == true { " { .. }" } else { " {}" }.to_owned())
    }

    fn variant(&mut self, path: &str, id: u64) -> Result<(), Unread> {
        let names = self.names;
        let item = names.item(id)?;
        let (_, inner) = kind_of(item)?;
        let path = join(path, text(&item["name"])?);
        let marked = if is_open(item) { "#[non_exhaustive] " } else { "" };
        let kind = &inner["kind"];
        let fields = if let Some(tuple) = kind.get("tuple") {
            names.tuple(tuple)?
        } else if let Some(plain) = kind.get("struct") {
            let mut fields = Vec::new();
            for field in array(&plain["fields"])? {
                let field = names.item(id_of(field)?)?;
                fields.push(format!(
                    "{}: {}",
                    text(&field["name"])?,
                    type_of(names, &field["inner"]["struct_field"])?
                ));
            }
            format!(" {{ {} }}", fields.join(", "))
        } else {
            String::new()
        };
        self.add(&path, format!("{marked}variant {path}{fields}"));
        Ok(())
    }

    /// A member of a trait, or of a type by itself; `within` says which type, where its parameters are bound.
    fn member(&mut self, path: &str, id: u64, within: &str) -> Result<(), Unread> {
        let names = self.names;
        let item = names.item(id)?;
        let (kind, inner) = kind_of(item)?;
        let path = join(path, text(&item["name"])?);
        let line = match kind {
            "function" => signature::function(names, &path, inner)?,
            "assoc_const" => format!("const {path}: {}", type_of(names, &inner["type"])?),
            "assoc_type" => {
                let bounds = names.bounds(&inner["bounds"])?;
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                format!("type {path}{bounds}")
            }
            other => return Err(Unread::Unknown(format!("member {other}"))),
        };
        // Nobody has to write what a trait brings along.
        let provided = inner["has_body"] == true && item["visibility"] == "default";
        self.add(&path, format!("{line}{}{within}", if provided { " { .. }" } else { "" }));
        Ok(())
    }

    fn impls(&mut self, path: &str, ids: &Value) -> Result<(), Unread> {
        let names = self.names;
        for id in array(ids)? {
            let id = id_of(id)?;
            let Ok(item) = names.item(id) else { continue };
            let (_, inner) = kind_of(item)?;
            // The others come with traits of other crates, or are everybody's.
            let negative = inner["is_negative"] == true;
            if !inner["blanket_impl"].is_null()
                || (inner["is_synthetic"] == true && !negative)
                || !self.impls.insert(id)
            {
                continue;
            }
            let (params, bounds) = generics(names, &inner["generics"])?;
            let implemented = type_of(names, &inner["for"])?;
            if inner["trait"].is_null() {
                let within =
                    if inner["generics"]["params"].as_array().is_some_and(|list| list.iter().any(is_type)) {
                        format!(" [impl{params} {implemented}{bounds}]")
                    } else {
                        String::new()
                    };
                for member in array(&inner["items"])? {
                    self.member(path, id_of(member)?, &within)?;
                }
                continue;
            }
            let name = path_of(names, &inner["trait"])?;
            if (negative && name != "Send" && name != "Sync") || name == "StructuralPartialEq" {
                continue;
            }
            let mut types = Vec::new();
            for member in array(&inner["items"])? {
                let member = names.item(id_of(member)?)?;
                if let Some(is) = member["inner"].get("assoc_type") {
                    types.push(format!("{} = {}", text(&member["name"])?, type_of(names, &is["type"])?));
                }
            }
            let types = if types.is_empty() { String::new() } else { format!(" {{ {} }}", types.join(", ")) };
            let not = if negative { "!" } else { "" };
            self.add(path, format!("impl{params} {not}{name} for {implemented}{bounds}{types}"));
        }
        Ok(())
    }
}

/// Whether more may come to it in a later version.
fn is_open(item: &Value) -> bool {
    item["attrs"].as_array().is_some_and(|attrs| attrs.iter().any(|attr| attr == "non_exhaustive"))
}

fn is_type(param: &Value) -> bool {
    param["kind"].get("lifetime").is_none()
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// An object with one member says by its name what the value is.
fn kind_of(item: &Value) -> Result<(&str, &Value), Unread> {
    let only = item["inner"].as_object().and_then(|inner| inner.iter().next());
    only.map(|(kind, inner)| (kind.as_str(), inner))
        .ok_or_else(|| Unread::Unknown("item without a kind".to_owned()))
}

fn id_of(value: &Value) -> Result<u64, Unread> {
    value.as_u64().ok_or_else(|| Unread::Unknown(format!("{value} instead of an id")))
}

fn text(value: &Value) -> Result<&str, Unread> {
    value.as_str().ok_or_else(|| Unread::Unknown(format!("{value} instead of text")))
}

fn array(value: &Value) -> Result<&Vec<Value>, Unread> {
    value.as_array().ok_or_else(|| Unread::Unknown(format!("{value} instead of a list")))
}
