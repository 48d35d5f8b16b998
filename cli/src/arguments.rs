//! Arguments of a call: `name=value`, typed as the tool's schema says; `name:=json`; `name=@file`;
//! `name:=@file`; and all at once by `--args`.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};
use sanswire::limits::Limits;
use sanswire::mcp::types::schema::{JsonTypes, property_types};

use crate::failure::{Failure, status};
use crate::json::{member, object, text};

/// So many arguments of a tool are told of, at most: each is looked up in the whole schema, which may have a hundred
/// thousand.
pub(crate) const MOST_SHOWN: usize = 50;

/// One `name=value`.
#[derive(Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    value: Value,
}

#[derive(Debug, PartialEq)]
enum Value {
    /// To be typed by the schema.
    Text(String),
    Json(RawJson),
}

impl Argument {
    /// Reads a word, and the file that it names, if any.
    pub(crate) fn read(word: &str) -> Result<Self, Failure> {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| !matches!(*name, "" | ":")) else {
            return Err(Failure::usage(format!("{word:?} is no argument"))
                .hint("write NAME=VALUE, NAME:=JSON, NAME=@FILE or NAME:=@FILE"));
        };
        let (name, json) = match name.strip_suffix(':') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let value = match value.strip_prefix('@') {
            Some(path) => read_file(path).map_err(|failure| {
                failure.hint(format!("for a value that begins with @, write {name}:='\"{value}\"'"))
            })?,
            None => value.to_owned(),
        };
        let value = if json {
            let hint = || format!("text needs quotes inside: {name}:='\"text\"'; or write {name}=VALUE");
            Value::Json(parse(&value, name).map_err(|failure| failure.hint(hint()))?)
        } else {
            Value::Text(value)
        };
        Ok(Self { name: name.into(), value })
    }

    /// The words as names and texts, for prompts, whose arguments are nothing else.
    pub(crate) fn read_texts(words: &[String]) -> Result<Vec<(String, String)>, Failure> {
        let mut given: Vec<(String, String)> = Vec::with_capacity(words.len());
        for word in words {
            let (name, value) = Self::read(word)?.into_text()?;
            if given.iter().any(|(known, _)| *known == name) {
                return Err(Failure::usage(format!("{name} is given twice")));
            }
            given.push((name, value));
        }
        Ok(given)
    }

    fn into_text(self) -> Result<(String, String), Failure> {
        match self.value {
            Value::Text(text) => Ok((self.name, text)),
            Value::Json(value) => match value.view().str() {
                Some(text) => Ok((self.name, text.decode().into_owned())),
                None => Err(Failure::usage(format!("{} must be text", self.name))),
            },
        }
    }
}

/// The arguments object of a call.
///
/// `given` is what `--args` holds; `schema` is the tool's input schema; `what` names the tool. Warnings go to `warn`.
pub(crate) fn build(
    words: Vec<Argument>,
    given: Option<RawJson>,
    schema: Option<JsonRef<'_>>,
    what: &str,
    warn: &mut dyn FnMut(String),
) -> Result<RawJson, Failure> {
    let mut members: Vec<(String, RawJson)> = Vec::new();
    for (name, value) in given.iter().flat_map(|given| given.view().members()) {
        let name = name.decode().into_owned();
        let value = given.as_ref().and_then(|given| given.slice_of(value)).unwrap_or_else(RawJson::null);
        members.push((name, value));
    }
    let mut faults = Vec::new();
    if let Some(schema) = schema {
        let overruled = |name: &String| words.iter().any(|argument| argument.name == *name);
        let kept = members.iter().filter(|(name, _)| !overruled(name));
        faults.extend(kept.filter_map(|(name, value)| mistyped(name, value.view(), schema)));
    }
    let mut seen: Vec<String> = Vec::new();
    for argument in words {
        if seen.contains(&argument.name) {
            return Err(Failure::usage(format!("{} is given twice", argument.name))
                .hint(format!("several values make an array: {}:='[…]'", argument.name)));
        }
        seen.push(argument.name.clone());
        let value = match argument.value {
            Value::Json(value) => {
                // Any other JSON is sent as it was written: that is what the form is for.
                let null = schema.filter(|_| value.view().is_null());
                faults.extend(null.and_then(|schema| mistyped(&argument.name, value.view(), schema)));
                value
            }
            Value::Text(text) => typed(&argument.name, &text, schema).unwrap_or_else(|failure| {
                faults.push(failure);
                RawJson::null()
            }),
        };
        match members.iter_mut().find(|(known, _)| *known == argument.name) {
            Some((_, slot)) => *slot = value,
            None => members.push((argument.name, value)),
        }
    }
    if let Some(schema) = schema {
        check_names(&members, schema, what, &mut faults, warn);
    }
    if let Some(failure) = together(faults) {
        return Err(failure);
    }
    match given {
        // As it was written.
        Some(given) if seen.is_empty() => Ok(given),
        _ => Ok(object(|w| {
            for (name, value) in &members {
                w.raw(name, value.view());
            }
        })),
    }
}

/// What `--args` holds.
pub(crate) fn read_all(all: &str) -> Result<RawJson, Failure> {
    let text = match all.strip_prefix('@') {
        _ if all == "-" => read_stdin()?,
        Some(path) => read_file(path)?,
        None => all.to_owned(),
    };
    let value = parse(&text, "--args")?;
    if value.view().kind() != Kind::Object {
        return Err(Failure::usage(format!("--args is {}, not an object", value.view().kind())));
    }
    let mut seen = HashSet::new();
    for (name, _) in value.view().members() {
        let name = name.decode();
        if seen.contains(&name) {
            return Err(Failure::usage(format!("{name} stands twice in --args")));
        }
        seen.insert(name);
    }
    Ok(value)
}

/// A text file; `-` is standard input.
pub(crate) fn read_input(path: &Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" { read_stdin() } else { read_file(&path.to_string_lossy()) }
}

/// A value as its schema wants it: text where text is admitted, else JSON of a type that is.
fn typed(name: &str, said: &str, schema: Option<JsonRef<'_>>) -> Result<RawJson, Failure> {
    let types = schema.and_then(|schema| property_types(schema, name)).unwrap_or(JsonTypes::ANY);
    if types.contains(JsonTypes::STRING) {
        return RawJson::serialize(said).map_err(|error| Failure::usage(format!("{name}: {error}")));
    }
    match RawJson::parse_str(said.trim()) {
        Ok(value) if types.contains(JsonTypes::of(value.view())) => Ok(value),
        _ => {
            let shown: String = said.chars().take(60).collect();
            let failure = Failure::usage(format!("{name} must be {types}; {shown:?} is not"));
            let structured = types.contains(JsonTypes::ARRAY) || types.contains(JsonTypes::OBJECT);
            Err(if structured { failure.hint(format!("write JSON: {name}:='…'")) } else { failure })
        }
    }
}

/// Unknown names are an error where the schema takes no others, and a warning where it does; what is required
/// must be there.
fn check_names(
    members: &[(String, RawJson)],
    schema: JsonRef<'_>,
    what: &str,
    faults: &mut Vec<Failure>,
    warn: &mut dyn FnMut(String),
) {
    let known = property_names(schema);
    let is_false = |name| member(schema, name).and_then(JsonRef::as_bool) == Some(false);
    let closed = is_false("additionalProperties") || is_false("unevaluatedProperties");
    for (name, _) in members {
        if property_types(schema, name).is_some() || known.contains(name) {
            continue;
        }
        let meant = suggestion(name, &known);
        let message = format!("{what} has no argument {name:?}");
        if closed {
            let failure = Failure::usage(message);
            faults.push(match meant {
                Some(meant) => failure.hint(format!("did you mean {meant}?")),
                None if known.is_empty() => failure.hint("it takes none"),
                None => {
                    let shown = known.iter().take(MOST_SHOWN).cloned().collect();
                    failure.hint(format!("it takes {}", listed(shown, known.len())))
                }
            });
        } else if !known.is_empty() {
            let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            warn(format!("{message}{meant}"));
        }
    }
    let given: HashSet<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    let missing: Vec<String> = member(schema, "required")
        .into_iter()
        .flat_map(JsonRef::elements)
        .filter_map(|name| Some(name.str()?.decode().into_owned()))
        .filter(|name| !given.contains(name.as_str()))
        .collect();
    if missing.is_empty() {
        return;
    }
    let all = missing.len();
    let typed = missing.into_iter().take(MOST_SHOWN).map(|name| match property_types(schema, &name) {
        Some(types) if types != JsonTypes::ANY => format!("{name} ({types})"),
        _ => name,
    });
    faults.push(Failure::usage(format!("{what} needs {}", listed(typed.collect(), all))));
}

/// What is shown of `all`, in a row.
fn listed(mut shown: Vec<String>, all: usize) -> String {
    if let Some(more) = all.checked_sub(shown.len()).filter(|more| *more > 0) {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// The names that a schema requires.
pub(crate) fn required(schema: JsonRef<'_>) -> HashSet<String> {
    let names = member(schema, "required").into_iter().flat_map(JsonRef::elements);
    names.filter_map(|name| Some(name.str()?.decode().into_owned())).collect()
}

/// All that is wrong as one failure.
fn together(faults: Vec<Failure>) -> Option<Failure> {
    let mut hints: Vec<String> = Vec::new();
    for hint in faults.iter().filter_map(|failure| failure.hint.as_ref()) {
        if !hints.contains(hint) {
            hints.push(hint.clone());
        }
    }
    let mut messages = faults.iter().map(|failure| failure.message.as_str());
    let first = messages.next()?.to_owned();
    let all = Failure::usage(messages.fold(first, |all, message| all + "; " + message));
    Some(if hints.is_empty() { all } else { all.hint(hints.join("; ")) })
}

/// What is wrong with a value that was given as JSON, if its schema admits none of its type.
fn mistyped(name: &str, value: JsonRef<'_>, schema: JsonRef<'_>) -> Option<Failure> {
    let types = property_types(schema, name)?;
    if types.contains(JsonTypes::of(value)) || is_whole(value) && types.contains(JsonTypes::INTEGER) {
        return None;
    }
    let failure = Failure::usage(format!("{name} must be {types}; {} is not", value.kind()));
    Some(if value.is_null() { failure.hint(format!("to give no {name}, leave it out")) } else { failure })
}

/// `1.0` and `1e3` are integers to a schema.
fn is_whole(value: JsonRef<'_>) -> bool {
    let text = std::str::from_utf8(value.as_bytes()).ok();
    value.kind() == Kind::Number
        && text.and_then(|text| text.parse::<f64>().ok()).is_some_and(|n| n.fract() == 0.0)
}

/// The names of the properties that a schema speaks of, at its root and in the parts that apply to the same
/// object.
pub(crate) fn property_names(schema: JsonRef<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let parts = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|name| member(schema, name))
        .flat_map(JsonRef::elements);
    for part in std::iter::once(schema).chain(parts) {
        for (name, _) in member(part, "properties").into_iter().flat_map(JsonRef::members) {
            let name = name.decode().into_owned();
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
    }
    names
}

/// The one of `known` that `said` was probably meant to be.
pub(crate) fn suggestion<'a>(said: &str, known: &'a [String]) -> Option<&'a str> {
    let likeness = |name: &str| strsim::jaro_winkler(&said.to_lowercase(), &name.to_lowercase());
    let best = known.iter().map(|name| (likeness(name), name)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1.as_str())
}

fn parse(said: &str, name: &str) -> Result<RawJson, Failure> {
    RawJson::parse_str(said).map_err(|fault| Failure::usage(format!("{name} is not JSON: {fault}")))
}

fn read_file(path: &str) -> Result<String, Failure> {
    read(path, std::fs::File::open(path))
}

fn read_stdin() -> Result<String, Failure> {
    read("standard input", Ok(std::io::stdin()))
}

/// Reads a text to its end, or until it is longer than any message may be.
fn read(what: &str, from: std::io::Result<impl Read>) -> Result<String, Failure> {
    let most = Limits::default().max_message_bytes;
    let mut bytes = Vec::new();
    from.and_then(|from| from.take(most as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::usage(format!("{what} cannot be read: {error}")))?;
    if bytes.len() > most {
        let message = format!("{what} is longer than a message may be: {most} bytes");
        return Err(Failure::new(status::LIMIT, "limit", message));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{what} cannot be read: it is not UTF-8 text")))
}

/// A tool's arguments as a signature: `text: string, steps?: integer`.
pub(crate) fn signature(schema: Option<JsonRef<'_>>) -> String {
    let Some(schema) = schema else { return String::new() };
    let required = required(schema);
    let names = property_names(schema);
    let all = names.len();
    let shown = names.into_iter().take(MOST_SHOWN).map(|name| {
        let types = property_types(schema, &name).unwrap_or(JsonTypes::ANY);
        let kind = if types == JsonTypes::ANY { "any".into() } else { types.to_string() };
        let kind = choices(schema, &name).or_else(|| elements(schema, &name)).unwrap_or(kind);
        format!("{name}{}: {kind}", if required.contains(&name) { "" } else { "?" })
    });
    listed(shown.collect(), all)
}

/// A few given values, instead of their type.
fn choices(schema: JsonRef<'_>, name: &str) -> Option<String> {
    let values = member(member(member(schema, "properties")?, name)?, "enum")?;
    let shown: Vec<String> =
        values.elements().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let shown = shown.join(" | ");
    (shown.len() <= 60).then_some(shown)
}

/// What an array holds, where that is one type.
fn elements(schema: JsonRef<'_>, name: &str) -> Option<String> {
    let property = member(member(schema, "properties")?, name)?;
    let kind = text(member(property, "items")?, "type")?;
    (property_types(schema, name)? == JsonTypes::ARRAY).then(|| format!("{kind}[]"))
}

/// What a property's schema says in words.
pub(crate) fn description(schema: JsonRef<'_>, name: &str) -> Option<String> {
    text(member(member(schema, "properties")?, name)?, "description")
}

#[cfg(test)]
mod tests;
