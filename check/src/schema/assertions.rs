//! A value against a schema: the keywords that hold no other schema.

use serde_json::{Map, Number, Value};

use super::{Fit, Misfit, kind, misfit};

/// What the keywords that stand here by themselves say of the value.
pub(super) fn assertions(rules: &Map<String, Value>, value: &Value, at: &str) -> Fit {
    of_any(rules, value, at).and(|| match value {
        Value::Number(number) => of_number(rules, number, at),
        Value::String(text) => of_string(rules, text, at),
        Value::Array(elements) => of_array(rules, elements, at),
        Value::Object(members) => of_object(rules, members, at),
        Value::Null | Value::Bool(_) => Fit::Fits,
    })
}

fn of_any(rules: &Map<String, Value>, value: &Value, at: &str) -> Fit {
    if let Some(wanted) = rules.get("const")
        && !same(wanted, value)
    {
        let rule = format!("has to be {wanted}");
        return Fit::Misfit(Misfit { at: at.to_owned(), rule, of_the_kind: wanted.is_string() });
    }
    if let Some(wanted) = rules.get("enum").and_then(Value::as_array)
        && !wanted.iter().any(|wanted| same(wanted, value))
    {
        let all: Vec<String> = wanted.iter().take(16).map(Value::to_string).collect();
        return misfit(at, format!("has to be one of {}", all.join(", ")));
    }
    let wanted = match rules.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => return Fit::Fits,
    };
    if wanted.iter().any(|wanted| is_a(value, wanted)) {
        return Fit::Fits;
    }
    misfit(at, format!("has to be of type {}, and is {}", wanted.join(" or "), kind(value)))
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(is_whole),
        _ => false,
    }
}

fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|n| n.fract() == 0.0)
}

#[allow(clippy::float_cmp, reason = "equal as JSON Schema has it")]
fn of_number(rules: &Map<String, Value>, number: &Number, at: &str) -> Fit {
    let Some(n) = number.as_f64() else { return Fit::Unknown };
    let bound = |keyword| rules.get(keyword).and_then(Value::as_f64);
    // In the oldest draft they were booleans, beside a bound.
    if ["exclusiveMinimum", "exclusiveMaximum"].iter().any(|it| rules.get(*it).is_some_and(Value::is_boolean))
    {
        return Fit::Unknown;
    }
    let past = |keyword, past: fn(f64, f64) -> bool| bound(keyword).filter(|bound| past(n, *bound));
    let broken = [
        (past("minimum", |n, bound| n < bound), "at least"),
        (past("maximum", |n, bound| n > bound), "at most"),
        (past("exclusiveMinimum", |n, bound| n <= bound), "more than"),
        (past("exclusiveMaximum", |n, bound| n >= bound), "less than"),
    ];
    for (bound, words) in broken {
        if let Some(bound) = bound {
            return misfit(at, format!("has to be {words} {bound}"));
        }
    }
    let Some(of) = rules.get("multipleOf") else { return Fit::Fits };
    match (of.as_i64().filter(|of| *of > 0), exact(number)) {
        (Some(of), Some(n)) if n % of == 0 => Fit::Fits,
        (Some(of), Some(_)) => misfit(at, format!("has to be a multiple of {of}")),
        (Some(of), None) if n.fract() != 0.0 => misfit(at, format!("has to be a multiple of {of}")),
        // Fractions are not exact here, nor what is larger than they can be.
        _ => Fit::Unknown,
    }
}

/// A number as an integer, if it is one and nothing was lost.
fn exact(number: &Number) -> Option<i64> {
    let whole = |n: &f64| n.fract() == 0.0 && n.abs() <= 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "it is in the range")]
    number.as_i64().or_else(|| number.as_f64().filter(whole).map(|n| n as i64))
}

fn of_string(rules: &Map<String, Value>, text: &str, at: &str) -> Fit {
    let len = text.chars().count() as u64;
    length(rules, ("minLength", "maxLength"), len, "characters", at)
        .and(|| if rules.contains_key("pattern") { Fit::Unknown } else { Fit::Fits })
}

fn of_array(rules: &Map<String, Value>, elements: &[Value], at: &str) -> Fit {
    let len = elements.len() as u64;
    length(rules, ("minItems", "maxItems"), len, "elements", at).and(|| {
        if rules.get("uniqueItems") != Some(&Value::Bool(true)) {
            return Fit::Fits;
        }
        if elements.len() > 1000 {
            return Fit::Unknown;
        }
        let twice =
            elements.iter().enumerate().any(|(n, one)| elements[..n].iter().any(|other| same(one, other)));
        if twice { misfit(at, "holds an element twice") } else { Fit::Fits }
    })
}

fn of_object(rules: &Map<String, Value>, members: &Map<String, Value>, at: &str) -> Fit {
    let mut fit = length(rules, ("minProperties", "maxProperties"), members.len() as u64, "members", at);
    for keyword in ["dependentRequired", "dependencies"] {
        for (name, needed) in rules.get(keyword).and_then(Value::as_object).into_iter().flatten() {
            let needed = needed.as_array().into_iter().flatten().filter_map(Value::as_str);
            let missing =
                members.get(name).and_then(|_| needed.into_iter().find(|it| !members.contains_key(*it)));
            if let Some(missing) = missing {
                fit = fit.and(|| misfit(at, format!("has {name}, but no {missing}")));
            }
        }
    }
    fit
}

fn length(
    rules: &Map<String, Value>,
    (least, most): (&str, &str),
    len: u64,
    of: &'static str,
    at: &str,
) -> Fit {
    let bound = |keyword| rules.get(keyword).and_then(Value::as_f64);
    #[allow(clippy::cast_precision_loss, reason = "nothing here is that long")]
    let now = len as f64;
    if let Some(least) = bound(least).filter(|least| now < *least) {
        return misfit(at, format!("has to have {least} {of} at least, and has {len}"));
    }
    if let Some(most) = bound(most).filter(|most| now > *most) {
        return misfit(at, format!("has to have {most} {of} at most, and has {len}"));
    }
    Fit::Fits
}

/// Whether two values are the same: numbers by what they are, not by how they are written.
#[allow(clippy::float_cmp, reason = "equal as JSON Schema has it")]
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}
