//! TOML as the JSON that says the same.

use sanswire::jsonrpc::RawJson;
use toml::de::{DeTable, DeValue};

/// Reads a document. The error is the line and the column, and what is wrong there.
pub(super) fn to_json(text: &str) -> Result<RawJson, (usize, String)> {
    let table = DeTable::parse(text)
        .map_err(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    let mut out = String::new();
    write_table(&mut out, table.get_ref());
    RawJson::parse_str(&out).map_err(|fault| (0, fault.to_string()))
}

fn write_table(out: &mut String, table: &DeTable<'_>) {
    out.push('{');
    for (n, (name, value)) in table.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_string(out, name.get_ref());
        out.push(':');
        write_value(out, value.get_ref());
    }
    out.push('}');
}

fn write_value(out: &mut String, value: &DeValue<'_>) {
    match value {
        DeValue::String(text) => write_string(out, text),
        DeValue::Boolean(is) => out.push_str(if *is { "true" } else { "false" }),
        DeValue::Array(elements) => {
            out.push('[');
            for (n, element) in elements.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_value(out, element.get_ref());
            }
            out.push(']');
        }
        DeValue::Table(table) => write_table(out, table),
        DeValue::Integer(number) => {
            let read = i128::from_str_radix(number.as_str(), number.radix()).ok();
            write_number(out, read.map(|read| read.to_string()), number.as_str());
        }
        DeValue::Float(number) => {
            let read = number.as_str().parse::<f64>().ok().filter(|read| read.is_finite());
            write_number(out, read.map(|read| read.to_string()), number.as_str());
        }
        DeValue::Datetime(date) => write_string(out, &date.to_string()),
    }
}

/// A number that JSON has not is written as a text.
fn write_number(out: &mut String, number: Option<String>, written: &str) {
    match number {
        Some(number) => out.push_str(&number),
        None => write_string(out, written),
    }
}

fn write_string(out: &mut String, text: &str) {
    if let Ok(json) = RawJson::serialize(text) {
        out.push_str(json.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::to_json;

    #[test]
    fn toml_becomes_the_json_that_says_the_same() {
        let text = "a = 1\nb = [true, 'x\"y', 1.5, 0xf_f, 1_000]\n[c.\"d e\"]\nf = { g = \"ü\\n\" }\nh = 1979-05-27\ni = inf\n";
        let json = to_json(text).map(|json| json.as_str().to_owned());
        let expected = "{\"a\":1,\"b\":[true,\"x\\\"y\",1.5,255,1000],\"c\":{\"d e\":{\"f\":{\"g\":\"ü\\n\"},\"h\":\"1979-05-27\",\"i\":\"inf\"}}}";
        assert_eq!(json, Ok(expected.to_owned()));
        let (at, why) = to_json("a = 1\nb = \n").expect_err("no value");
        assert!((6..=10).contains(&at) && !why.is_empty(), "{at} {why}");
    }
}
