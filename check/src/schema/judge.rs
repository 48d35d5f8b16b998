//! A value against a schema: the keywords that hold other schemas.

use serde_json::{Map, Value};

use super::assertions::assertions;
use super::{Dialect, Fit, kind, misfit, step};

/// How deep references may lead.
const MOST_DEPTH: u16 = 128;
/// How many schemas are looked at for one value: whoever nests choices in choices gets no answer.
const MOST_STEPS: u32 = 2_000_000;

/// Whether a value fits the schema `schema` of the document `root`.
pub(crate) fn judge(root: &Value, schema: &Value, value: &Value) -> Fit {
    let dialect = Dialect::of(root);
    Judge { root, dialect, steps: 0 }.judge(schema, value, "", 0)
}

struct Judge<'a> {
    root: &'a Value,
    dialect: Dialect,
    steps: u32,
}

impl Judge<'_> {
    fn judge(&mut self, schema: &Value, value: &Value, at: &str, depth: u16) -> Fit {
        self.steps += 1;
        if depth > MOST_DEPTH || self.steps > MOST_STEPS {
            return Fit::Unknown;
        }
        let rules = match schema {
            Value::Bool(true) => return Fit::Fits,
            Value::Bool(false) => return misfit(at, "must not be there"),
            Value::Object(rules) => rules,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return Fit::Unknown,
        };
        let referred = |it: &mut Self| it.reference(rules, value, at, depth);
        if self.dialect.is_old() && rules.contains_key("$ref") {
            return referred(self);
        }
        referred(self)
            .and(|| assertions(rules, value, at))
            .and(|| self.object(rules, value, at, depth))
            .and(|| self.array(rules, value, at, depth))
            .and(|| self.choices(rules, value, at, depth))
    }

    fn reference(&mut self, rules: &Map<String, Value>, value: &Value, at: &str, depth: u16) -> Fit {
        if rules.contains_key("$dynamicRef") || rules.contains_key("$recursiveRef") {
            return Fit::Unknown;
        }
        let Some(reference) = rules.get("$ref") else { return Fit::Fits };
        let to = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        let root = self.root;
        let found = to.and_then(|to| root.pointer(&percent_decoded(to)));
        found.map_or(Fit::Unknown, |found| self.judge(found, value, at, depth + 1))
    }

    fn object(&mut self, rules: &Map<String, Value>, value: &Value, at: &str, depth: u16) -> Fit {
        let Value::Object(members) = value else { return Fit::Fits };
        let mut fit = Fit::Fits;
        let named = rules.get("properties").and_then(Value::as_object);
        let patterns = rules.get("patternProperties").and_then(Value::as_object);
        let has_patterns = patterns.is_some_and(|patterns| !patterns.is_empty());
        // What says which form this is comes first: the other complaints of another form are of no use.
        for constant in [true, false] {
            for (name, schema) in named.into_iter().flatten() {
                if schema.get("const").is_some() != constant {
                    continue;
                }
                if let Some(member) = members.get(name) {
                    let mut found = self.judge(schema, member, &step(at, name), depth + 1);
                    if let Fit::Misfit(misfit) = &mut found {
                        misfit.of_the_kind |= constant;
                    }
                    fit = fit.and(|| found);
                }
            }
        }
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !members.contains_key(name) {
                return fit.and(|| misfit(at, format!("has no {name}")));
            }
        }
        for (name, member) in members {
            if named.is_some_and(|named| named.contains_key(name)) {
                continue;
            }
            if has_patterns {
                fit = fit.and(|| Fit::Unknown);
            } else if let Some(rest) = rules.get("additionalProperties") {
                fit = fit.and(|| self.judge(rest, member, &step(at, name), depth + 1));
            }
        }
        if let Some(schema) = rules.get("propertyNames") {
            for name in members.keys() {
                fit = fit.and(|| self.judge(schema, &Value::from(name.as_str()), &step(at, name), depth + 1));
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, schema) in rules.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                if members.contains_key(name) && !schema.is_array() {
                    fit = fit.and(|| self.judge(schema, value, at, depth + 1));
                }
            }
        }
        if rules.get("unevaluatedProperties").is_some_and(|rest| rest != true) {
            fit = fit.and(|| Fit::Unknown);
        }
        fit
    }

    fn array(&mut self, rules: &Map<String, Value>, value: &Value, at: &str, depth: u16) -> Fit {
        let Value::Array(elements) = value else { return Fit::Fits };
        let items = rules.get("items");
        let (first, rest) = match items.and_then(Value::as_array) {
            Some(first) => (Some(first), rules.get("additionalItems")),
            None => (rules.get("prefixItems").and_then(Value::as_array), items),
        };
        let mut fit = Fit::Fits;
        for (n, element) in elements.iter().enumerate() {
            let schema = first.and_then(|first| first.get(n)).or(rest);
            if let Some(schema) = schema {
                fit = fit.and(|| self.judge(schema, element, &step(at, &n.to_string()), depth + 1));
            }
        }
        if let Some(schema) = rules.get("contains") {
            fit = fit.and(|| self.contains(rules, schema, elements, at, depth));
        }
        if rules.get("unevaluatedItems").is_some_and(|rest| rest != true) {
            fit = fit.and(|| Fit::Unknown);
        }
        fit
    }

    fn contains(
        &mut self,
        rules: &Map<String, Value>,
        schema: &Value,
        elements: &[Value],
        at: &str,
        depth: u16,
    ) -> Fit {
        let (mut fits, mut unknown) = (0_u64, 0_u64);
        for element in elements {
            match self.judge(schema, element, at, depth + 1) {
                Fit::Fits => fits += 1,
                Fit::Unknown => unknown += 1,
                Fit::Misfit(_) => {}
            }
        }
        let least = rules.get("minContains").and_then(Value::as_u64).unwrap_or(1);
        let most = rules.get("maxContains").and_then(Value::as_u64).unwrap_or(u64::MAX);
        if fits + unknown < least || fits > most {
            misfit(at, "holds too few or too many of what it has to hold")
        } else if fits < least || fits + unknown > most {
            Fit::Unknown
        } else {
            Fit::Fits
        }
    }

    fn choices(&mut self, rules: &Map<String, Value>, value: &Value, at: &str, depth: u16) -> Fit {
        let mut fit = Fit::Fits;
        let of = |keyword| rules.get(keyword).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for schema in of("allOf") {
            fit = fit.and(|| self.judge(schema, value, at, depth + 1));
        }
        for (keyword, one) in [("anyOf", false), ("oneOf", true)] {
            let schemas = of(keyword);
            if !schemas.is_empty() {
                fit = fit.and(|| self.choice(schemas, one, value, at, depth));
            }
        }
        if let Some(schema) = rules.get("not") {
            fit = fit.and(|| match self.judge(schema, value, at, depth + 1) {
                Fit::Fits => misfit(at, "is what it must not be"),
                Fit::Misfit(_) => Fit::Fits,
                Fit::Unknown => Fit::Unknown,
            });
        }
        if let Some(schema) = rules.get("if") {
            let then = match self.judge(schema, value, at, depth + 1) {
                Fit::Fits => rules.get("then"),
                Fit::Misfit(_) => rules.get("else"),
                Fit::Unknown => return fit.and(|| Fit::Unknown),
            };
            if let Some(schema) = then {
                fit = fit.and(|| self.judge(schema, value, at, depth + 1));
            }
        }
        fit
    }

    fn choice(&mut self, schemas: &[Value], one: bool, value: &Value, at: &str, depth: u16) -> Fit {
        let (mut fits, mut unknown, mut misfits) = (0, 0, Vec::new());
        for schema in schemas {
            match self.judge(schema, value, at, depth + 1) {
                Fit::Fits => fits += 1,
                Fit::Unknown => unknown += 1,
                Fit::Misfit(misfit) => misfits.push(misfit),
            }
        }
        if one && fits > 1 {
            return misfit(at, "fits several forms, and has to fit exactly one");
        }
        if fits > 0 && !(one && unknown > 0) {
            return Fit::Fits;
        }
        if unknown > 0 {
            return Fit::Unknown;
        }
        // The form that this was meant to be, if one can be told from the others.
        let mut meant = misfits.iter().filter(|misfit| !misfit.of_the_kind && misfit.at != at);
        let mut kind_fits = misfits.iter().filter(|misfit| !misfit.of_the_kind);
        match ((meant.next(), meant.next()), (kind_fits.next(), kind_fits.next())) {
            ((Some(only), None), _) | (_, (Some(only), None)) => Fit::Misfit(only.clone()),
            _ => misfit(at, format!("is {} that fits none of {} forms", kind(value), schemas.len())),
        }
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
