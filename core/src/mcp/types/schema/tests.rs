use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::jsonrpc::RawJson;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn dangling(text: &str) -> Vec<String> {
    check(json(text).view()).expect(text).dangling
}

fn external(text: &str) -> String {
    match check(json(text).view()) {
        Err(SchemaFault::External(reference)) => reference,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn b_47_local_references_into_nested_definitions_resolve_and_missing_ones_are_named() {
    let schema = r##"{"type":"object","$defs":{"S":{"enum":["a","b"]}},"properties":{
        "status":{"$ref":"#/$defs/S"},
        "filter":{"type":"object","$defs":{"T":{"type":"integer"}},"properties":{
            "n":{"$ref":"#/properties/filter/$defs/T"},"s":{"$ref":"#/properties/status"}}},
        "gone":{"$ref":"#/$defs/Missing"},"again":{"$ref":"#/$defs/Missing"}}}"##;
    assert_eq!(dangling(schema), vec!["#/$defs/Missing"]);
}

#[test]
fn p_108_a_reference_out_of_the_schema_makes_it_unusable() {
    // P-108
    let table = [
        (
            r#"{"properties":{"a":{"$ref":"https://schemas.example/x.json"}}}"#,
            "https://schemas.example/x.json",
        ),
        (r#"{"$ref":"other.json#/a"}"#, "other.json#/a"),
        (r#"{"allOf":[{"items":{"$ref":"file:///etc/passwd"}}]}"#, "file:///etc/passwd"),
        (r#"{"$dynamicRef":"https://a.example/#x"}"#, "https://a.example/#x"),
        (r#"{"\u0024ref":"https://a.example/"}"#, "https://a.example/"),
        (r#"{"properties":{"default":{"$ref":"https://a.example/"}}}"#, "https://a.example/"),
        (r#"{"$defs":{"enum":{"$ref":"https://a.example/"}}}"#, "https://a.example/"),
    ];
    for (schema, reference) in table {
        assert_eq!(external(schema), reference);
    }
    let long = format!(r#"{{"$ref":"https://{}"}}"#, "ä".repeat(400));
    assert_eq!(external(&long).len(), MAX_REFERENCE);
}

#[test]
fn references_that_lead_somewhere_and_data_are_left_alone() {
    for schema in [
        "{}",
        r##"{"$ref":"#"}"##,
        r##"{"$ref":"#/a~1b/c~0d/1","a/b":{"c~d":[0,{}]}}"##,
        r##"{"$ref":"#/$defs/a%20b","$defs":{"a b":{}}}"##,
        r##"{"$ref":"#here","$defs":{"x":{"$anchor":"here"}}}"##,
        r##"{"$dynamicRef":"#node","$dynamicAnchor":"node"}"##,
        r##"{"$id":"https://a.example/s.json","$ref":"https://a.example/s.json#/x"}"##,
        r##"{"$defs":{"x":{"$id":"https://a.example/x.json"}},"$ref":"x.json"}"##,
        r##"{"const":{"$ref":"https://a.example/"},"enum":[{"$ref":"https://a.example/"}]}"##,
        r##"{"default":{"$ref":"https://a.example/"},"examples":[{"$ref":"https://a.example/"}]}"##,
        r##"{"properties":{"$ref":{"type":"string"}}}"##,
    ] {
        assert_eq!(dangling(schema), Vec::<String>::new(), "{schema}");
    }
}

#[test]
fn references_that_lead_nowhere_are_named_each_once() {
    let table: &[(&str, &[&str])] = &[
        (r##"{"a":{"$ref":"#/x"},"b":{"$ref":"#/x"}}"##, &["#/x"]),
        (r##"{"a":{"$ref":"#x"}}"##, &["#x"]),
        (r##"{"a":{"$ref":"#/b/01"},"b":[0,1]}"##, &["#/b/01"]),
        (r##"{"a":{"$ref":"#/b/2"},"b":[0,1]}"##, &["#/b/2"]),
        (r##"{"a":{"$ref":"#/%ff"}}"##, &["#/%ff"]),
        (r##"{"a":{"$ref":"#/%"}}"##, &["#/%"]),
    ];
    for (schema, expected) in table {
        assert_eq!(dangling(schema), *expected, "{schema}");
    }
    let many = (0..100).map(|n| format!(r##""{n}":{{"$ref":"#/gone/{n}"}}"##)).collect::<Vec<_>>().join(",");
    assert_eq!(dangling(&format!("{{{many}}}")).len(), MAX_DANGLING);
}

#[test]
fn p_109_the_number_of_parts_is_bounded() {
    // P-109
    let parts = |n: usize| format!(r##"{{"$ref":"#","allOf":[{}]}}"##, vec!["{}"; n].join(","));
    assert_eq!(check(json(&parts(MAX_SUBSCHEMAS - 2)).view()), Ok(SchemaReport::default()));
    assert_eq!(check(json(&parts(MAX_SUBSCHEMAS - 1)).view()), Err(SchemaFault::TooComplex));
    let deep =
        format!(r##"{{"$ref":"#","x":{}"{}"{}}}"##, "[".repeat(120), "y".repeat(100_000), "]".repeat(120));
    assert_eq!(check(json(&deep).view()), Err(SchemaFault::TooComplex));
}

#[test]
fn an_external_reference_is_found_behind_any_number_of_local_ones() {
    let many = (0..300).map(|n| format!(r##""{n}":{{"$ref":"#/gone/{n}"}}"##)).collect::<Vec<_>>().join(",");
    assert_eq!(external(&format!(r#"{{{many},"z":{{"$ref":"https://a.example/"}}}}"#)), "https://a.example/");
}

#[test]
fn the_types_of_a_property_are_read_from_simple_schemas() {
    let schema = json(
        r##"{"$defs":{"S":{"type":"string"},"loop":{"$ref":"#/$defs/loop"}},"properties":{
        "s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},
        "o":{"type":"object"},"a":{"type":"array"},"z":{"type":"null"},"any":{},"yes":true,"no":false,
        "opt":{"type":["string","null"]},"either":{"anyOf":[{"type":"integer"},{"type":"null"}]},
        "one":{"oneOf":[{"const":"a"},{"const":1}]},"e":{"enum":["a",1.5,null]},"ref":{"$ref":"#/$defs/S"},
        "gone":{"$ref":"#/$defs/T"},"loop":{"$ref":"#/$defs/loop"},"far":{"$ref":"https://a.example/"},
        "all":{"allOf":[{"type":["string","integer"]},{"type":["integer","null"]}]},
        "odd":{"type":"strung"},"narrow":{"type":"number","enum":[1,2]},"nul":null,"ty":{"type":null}}}"##,
    );
    let table = [
        ("s", Some("string")),
        ("i", Some("integer")),
        ("n", Some("number")),
        ("b", Some("boolean")),
        ("o", Some("object")),
        ("a", Some("array")),
        ("z", Some("null")),
        ("any", Some("null | boolean | number | string | array | object")),
        ("yes", Some("null | boolean | number | string | array | object")),
        ("no", None),
        ("opt", Some("null | string")),
        ("either", Some("null | integer")),
        ("one", Some("integer | string")),
        ("e", Some("null | number | string")),
        ("ref", Some("string")),
        ("gone", Some("null | boolean | number | string | array | object")),
        ("loop", Some("null | boolean | number | string | array | object")),
        ("far", Some("null | boolean | number | string | array | object")),
        ("all", Some("integer")),
        ("odd", Some("null | boolean | number | string | array | object")),
        ("narrow", Some("integer")),
        ("nul", Some("null | boolean | number | string | array | object")),
        ("ty", Some("null | boolean | number | string | array | object")),
        ("absent", None),
    ];
    for (name, expected) in table {
        let found = property_types(schema.view(), name).map(|types| types.to_string());
        assert_eq!(found.as_deref(), expected, "{name}");
    }
}

#[test]
fn properties_are_found_behind_the_root_too() {
    let table = [
        (r##"{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}]}"##, Some("string")),
        (
            r##"{"oneOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"null"}}}]}"##,
            Some("null | string"),
        ),
        (r##"{"$ref":"#/$defs/R","$defs":{"R":{"properties":{"a":{"type":"array"}}}}}"##, Some("array")),
        (r##"{"allOf":[{"properties":{"a":{"type":"object"}}}]}"##, Some("object")),
        (r##"{"additionalProperties":{"type":"integer"}}"##, Some("integer")),
        (r##"{"additionalProperties":false}"##, None),
        (r##"{"properties":[]}"##, None),
        ("[]", None),
        ("true", None),
    ];
    for (schema, expected) in table {
        let found = property_types(json(schema).view(), "a").map(|types| types.to_string());
        assert_eq!(found.as_deref(), expected, "{schema}");
    }
}

#[test]
fn number_includes_integer() {
    assert!(JsonTypes::NUMBER.contains(JsonTypes::INTEGER));
    assert!(!JsonTypes::INTEGER.contains(JsonTypes::NUMBER));
    assert_eq!(JsonTypes::NONE.to_string(), "nothing");
}

/// JSON that is made of what schemas are made of.
fn schema_like() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("true".to_string()),
        Just("null".to_string()),
        Just("1.5".to_string()),
        prop::sample::select(vec![
            "#",
            "#/$defs/a",
            "#a",
            "https://a.example/",
            "string",
            "object",
            "a%2",
            "\\u0023"
        ])
        .prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(6, 64, 5, |inner| {
        let keys = prop::sample::select(vec![
            "$ref",
            "$defs",
            "properties",
            "anyOf",
            "allOf",
            "oneOf",
            "type",
            "enum",
            "const",
            "a",
            "$id",
            "$anchor",
            "items",
            "additionalProperties",
            "\\u0024ref",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec((keys, inner), 0..5).prop_map(|all| {
                let all: Vec<_> = all.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", all.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_makes_a_question_panic(text in schema_like()) {
        let schema = json(&text);
        if let Ok(report) = check(schema.view()) {
            prop_assert!(report.dangling.len() <= MAX_DANGLING);
        }
        if let Some(types) = property_types(schema.view(), "a") {
            prop_assert!(types != JsonTypes::NONE);
        }
    }

    /// Escaped letters do not hide a reference.
    #[test]
    fn a_verdict_does_not_depend_on_escapes(text in schema_like()) {
        let escaped = text.replace("\"$ref\"", "\"\\u0024\\u0072ef\"");
        prop_assert_eq!(check(json(&text).view()), check(json(&escaped).view()));
    }
}
