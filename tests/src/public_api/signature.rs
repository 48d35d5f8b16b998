//! Types, bounds and signatures as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::{Unread, array, id_of, text};

/// What ids stand for.
pub(super) struct Names<'a> {
    document: &'a Value,
    local: BTreeMap<u64, String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self { document, local: BTreeMap::new() }
    }

    /// Remembers an item's public path. False: it has one.
    pub(super) fn call(&mut self, id: u64, path: &str) -> bool {
        if self.local.contains_key(&id) {
            return false;
        }
        self.local.insert(id, path.to_owned());
        true
    }

    pub(super) fn local(&self, id: u64) -> Option<&str> {
        self.local.get(&id).map(String::as_str)
    }

    pub(super) fn item(&self, id: u64) -> Result<&'a Value, Unread> {
        self.document["index"].get(id.to_string()).ok_or_else(|| Unread::Unknown(format!("no item {id}")))
    }

    /// The path of what another crate has.
    pub(super) fn foreign(&self, id: u64) -> Option<String> {
        let known = &self.document["paths"][id.to_string()];
        known.is_object().then(|| self.path(id, ""))
    }

    /// The path that a type or trait is told by. Of another crate it is the crate and the name, without the modules in
    /// between, which may be private; of the standard library the name alone, but where it has several of the same name.
    fn path(&self, id: u64, written: &str) -> String {
        if let Some(path) = self.local.get(&id) {
            return path.clone();
        }
        let last = written.rsplit("::").next().unwrap_or(written).to_owned();
        let known = &self.document["paths"][id.to_string()];
        let Some(path) = known["path"].as_array().filter(|path| path.len() > 1) else { return last };
        let part = |back: usize| path.get(path.len() - back).and_then(Value::as_str).unwrap_or_default();
        match path.first().and_then(Value::as_str).unwrap_or_default() {
            "core" | "alloc" | "std" => {
                let ambiguous = matches!(part(1), "Error" | "Result") && part(2) != "result";
                if ambiguous { format!("{}::{}", part(2), part(1)) } else { part(1).to_owned() }
            }
            _ if known["crate_id"] == 0 => last,
            other => format!("{other}::{}", part(1)),
        }
    }

    /// `A + B`, or nothing.
    pub(super) fn bounds(&self, bounds: &Value) -> Result<String, Unread> {
        let mut parts = Vec::new();
        for bound in array(bounds)? {
            if let Some(lifetime) = bound.get("outlives") {
                parts.push(text(lifetime)?.to_owned());
            } else if let Some(used) = bound.get("use") {
                let mut names = Vec::new();
                for name in array(used)? {
                    names.push(
                        name.as_object().and_then(|name| name.values().next()?.as_str()).unwrap_or_default(),
                    );
                }
                parts.push(format!("use<{}>", names.join(", ")));
            } else if let Some(bound) = bound.get("trait_bound") {
                let maybe = match text(&bound["modifier"])? {
                    "maybe" => "?",
                    _ => "",
                };
                parts.push(format!(
                    "{maybe}{}{}",
                    for_all(&bound["generic_params"])?,
                    path_of(self, &bound["trait"])?
                ));
            } else {
                return Err(Unread::Unknown(format!("bound {bound}")));
            }
        }
        Ok(parts.join(" + "))
    }

    /// The fields of a tuple; what is private is `_`.
    pub(super) fn tuple(&self, fields: &Value) -> Result<String, Unread> {
        let mut types = Vec::new();
        for field in array(fields)? {
            types.push(match field.as_u64() {
                Some(id) => type_of(self, &self.item(id)?["inner"]["struct_field"])?,
                None => "_".to_owned(),
            });
        }
        Ok(format!("({})", types.join(", ")))
    }
}

/// `for<'a> `, or nothing.
fn for_all(params: &Value) -> Result<String, Unread> {
    let mut names = Vec::new();
    for param in array(params)? {
        names.push(text(&param["name"])?);
    }
    Ok(if names.is_empty() { String::new() } else { format!("for<{}> ", names.join(", ")) })
}

/// Parameters in angle brackets, and the `where` that belongs to them; each is empty where there is none.
pub(super) fn generics(names: &Names<'_>, generics: &Value) -> Result<(String, String), Unread> {
    if generics.is_null() {
        return Ok((String::new(), String::new()));
    }
    let mut params = Vec::new();
    for param in array(&generics["params"])? {
        let name = text(&param["name"])?;
        let kind = &param["kind"];
        if let Some(lifetime) = kind.get("lifetime") {
            let mut outlives = Vec::new();
            for other in array(&lifetime["outlives"])? {
                outlives.push(text(other)?);
            }
            let outlives =
                if outlives.is_empty() { String::new() } else { format!(": {}", outlives.join(" + ")) };
            params.push(format!("{name}{outlives}"));
        } else if let Some(is) = kind.get("type") {
            // What stands in the list for an `impl Trait` is told where that stands.
            if is["is_synthetic"] == true {
                continue;
            }
            let bounds = names.bounds(&is["bounds"])?;
            let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
            let default = if is["default"].is_null() {
                String::new()
            } else {
                format!(" = {}", type_of(names, &is["default"])?)
            };
            params.push(format!("{name}{bounds}{default}"));
        } else if let Some(is) = kind.get("const") {
            params.push(format!("const {name}: {}", type_of(names, &is["type"])?));
        } else {
            return Err(Unread::Unknown(format!("parameter {kind}")));
        }
    }
    let mut rules = Vec::new();
    for rule in array(&generics["where_predicates"])? {
        if let Some(rule) = rule.get("bound_predicate") {
            let of = type_of(names, &rule["type"])?;
            rules.push(format!(
                "{}{of}: {}",
                for_all(&rule["generic_params"])?,
                names.bounds(&rule["bounds"])?
            ));
        } else if let Some(rule) = rule.get("lifetime_predicate") {
            let mut outlives = Vec::new();
            for other in array(&rule["outlives"])? {
                outlives.push(text(other)?);
            }
            rules.push(format!("{}: {}", text(&rule["lifetime"])?, outlives.join(" + ")));
        } else {
            return Err(Unread::Unknown(format!("rule {rule}")));
        }
    }
    let params = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    let rules = if rules.is_empty() { String::new() } else { format!(" where {}", rules.join(", ")) };
    Ok((params, rules))
}

/// A trait or type with its arguments, as paths stand in bounds, in `impl`s and, under `resolved_path`, in types.
pub(super) fn path_of(names: &Names<'_>, path: &Value) -> Result<String, Unread> {
    Ok(format!("{}{}", names.path(id_of(&path["id"])?, text(&path["path"])?), args(names, &path["args"])?))
}

fn args(names: &Names<'_>, args: &Value) -> Result<String, Unread> {
    let mut parts = Vec::new();
    if let Some(angle) = args.get("angle_bracketed") {
        for arg in array(&angle["args"])? {
            if let Some(lifetime) = arg.get("lifetime") {
                parts.push(text(lifetime)?.to_owned());
            } else if let Some(is) = arg.get("type") {
                parts.push(type_of(names, is)?);
            } else if let Some(is) = arg.get("const") {
                parts.push(text(&is["expr"])?.to_owned());
            } else {
                parts.push("_".to_owned());
            }
        }
        for constraint in array(&angle["constraints"])? {
            let name = text(&constraint["name"])?;
            let binding = &constraint["binding"];
            parts.push(match binding.get("equality") {
                Some(term) => format!("{name} = {}", type_of(names, &term["type"])?),
                None => format!("{name}: {}", names.bounds(&binding["constraint"])?),
            });
        }
        return Ok(if parts.is_empty() { String::new() } else { format!("<{}>", parts.join(", ")) });
    }
    if let Some(call) = args.get("parenthesized") {
        for input in array(&call["inputs"])? {
            parts.push(type_of(names, input)?);
        }
        return Ok(format!("({}){}", parts.join(", "), output(names, &call["output"])?));
    }
    if args.is_null() { Ok(String::new()) } else { Err(Unread::Unknown(format!("arguments {args}"))) }
}

fn output(names: &Names<'_>, output: &Value) -> Result<String, Unread> {
    if output.is_null() { Ok(String::new()) } else { Ok(format!(" -> {}", type_of(names, output)?)) }
}

pub(super) fn type_of(names: &Names<'_>, is: &Value) -> Result<String, Unread> {
    let unknown = || Unread::Unknown(format!("type {is}"));
    if is == "infer" {
        return Ok("_".to_owned());
    }
    let (kind, inner) = is.as_object().and_then(|is| is.iter().next()).ok_or_else(unknown)?;
    Ok(match kind.as_str() {
        "resolved_path" => path_of(names, inner)?,
        "generic" | "primitive" => text(inner)?.to_owned(),
        "borrowed_ref" => {
            let lifetime = inner["lifetime"].as_str().map(|name| format!("{name} ")).unwrap_or_default();
            let mutable = if inner["is_mutable"] == true { "mut " } else { "" };
            format!("&{lifetime}{mutable}{}", type_of(names, &inner["type"])?)
        }
        "raw_pointer" => {
            let kind = if inner["is_mutable"] == true { "mut" } else { "const" };
            format!("*{kind} {}", type_of(names, &inner["type"])?)
        }
        "tuple" => {
            let mut types = Vec::new();
            for part in array(inner)? {
                types.push(type_of(names, part)?);
            }
            if types.len() == 1 {
                format!("({},)", types.concat())
            } else {
                format!("({})", types.join(", "))
            }
        }
        "slice" => format!("[{}]", type_of(names, inner)?),
        "array" => format!("[{}; {}]", type_of(names, &inner["type"])?, text(&inner["len"])?),
        "impl_trait" => format!("impl {}", names.bounds(inner)?),
        "dyn_trait" => {
            let mut parts = Vec::new();
            for part in array(&inner["traits"])? {
                parts.push(format!(
                    "{}{}",
                    for_all(&part["generic_params"])?,
                    path_of(names, &part["trait"])?
                ));
            }
            parts.extend(inner["lifetime"].as_str().map(str::to_owned));
            format!("dyn {}", parts.join(" + "))
        }
        "function_pointer" => {
            let mut line = format!("{}fn(", for_all(&inner["generic_params"])?);
            for (index, input) in array(&inner["sig"]["inputs"])?.iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                let _ = write!(line, "{comma}{}", type_of(names, &input[1])?);
            }
            format!("{line}){}", output(names, &inner["sig"]["output"])?)
        }
        "qualified_path" => {
            let owner = type_of(names, &inner["self_type"])?;
            let name = text(&inner["name"])?;
            if inner["trait"].is_null() || owner == "Self" {
                format!("{owner}::{name}")
            } else {
                format!("<{owner} as {}>::{name}", path_of(names, &inner["trait"])?)
            }
        }
        _ => return Err(unknown()),
    })
}

/// `fn path<…>(…) -> … where …`, with what stands before `fn`.
pub(super) fn function(names: &Names<'_>, path: &str, inner: &Value) -> Result<String, Unread> {
    let (params, rules) = generics(names, &inner["generics"])?;
    let mut line = String::new();
    for (flag, word) in [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")] {
        if inner["header"][flag] == true {
            line.push_str(word);
        }
    }
    let _ = write!(line, "fn {path}{params}(");
    for (index, input) in array(&inner["sig"]["inputs"])?.iter().enumerate() {
        if index > 0 {
            line.push_str(", ");
        }
        let name = text(&input[0])?;
        let is = type_of(names, &input[1])?;
        match is.strip_suffix("Self").filter(|_| name == "self") {
            Some(reference) if !is.contains('<') => {
                let _ = write!(line, "{reference}self");
            }
            _ => {
                let _ = write!(line, "{name}: {is}");
            }
        }
    }
    let _ = write!(line, "){}{rules}", output(names, &inner["sig"]["output"])?);
    Ok(line)
}
