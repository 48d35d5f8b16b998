//! Against a validator that is not ours, and what is said of what does not fit.

use proptest::prelude::*;
use sanswire::mcp::Revision;
use serde_json::{Value, json};

use super::{Fit, Misfit, flaw, judge, published};

fn told(fit: Fit) -> String {
    match fit {
        Fit::Fits => "fits".into(),
        Fit::Misfit(misfit) => misfit.to_string(),
        Fit::Unknown => "unknown".into(),
    }
}

#[test]
fn what_does_not_fit_is_told_by_its_place() {
    let of = |name, value| told(published(Revision::V2025_11_25, name, &value));
    let tools = |tool: Value| json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}, tool]});
    assert_eq!(of("ListToolsResult", tools(json!({"name": "b", "inputSchema": {"type": "object"}}))), "fits");
    assert_eq!(of("ListToolsResult", json!({})), "the whole has no tools");
    assert_eq!(of("ListToolsResult", tools(json!({"name": "b"}))), "/tools/1 has no inputSchema");
    assert_eq!(
        of("ListToolsResult", tools(json!({"name": "b", "inputSchema": {"type": "string"}}))),
        "/tools/1/inputSchema/type has to be \"object\""
    );
    assert_eq!(
        of("ListToolsResult", tools(json!({"name": 7, "inputSchema": {"type": "object"}}))),
        "/tools/1/name has to be of type string, and is a number"
    );
    let call = |block: Value| of("CallToolResult", json!({"content": [block]}));
    assert_eq!(call(json!({"type": "text"})), "/content/0 has no text");
    assert_eq!(
        call(json!({"type": "text", "text": "t", "annotations": {"priority": "high"}})),
        "/content/0/annotations/priority has to be of type number, and is a string"
    );
    assert_eq!(call(json!({"type": "hologram"})), "/content/0 is an object that fits none of 5 forms");
    assert_eq!(told(published(Revision::V2024_11_05, "DiscoverResult", &json!({}))), "unknown");
}

/// A schema that holds each keyword which is judged, several ways.
fn keywords() -> Value {
    json!({
        "$defs": {"tree": {"type": "object", "properties": {"more": {"$ref": "#/$defs/tree"}}, "required": ["n"]}},
        "type": ["object", "array", "number", "string"],
        "properties": {
            "tree": {"$ref": "#/$defs/tree"},
            "n": {"type": "integer", "minimum": -1, "exclusiveMaximum": 3, "multipleOf": 2},
            "text": {"minLength": 1, "maxLength": 2},
            "kind": {"enum": ["a", 1, null, [1.0]]},
            "list": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 1, "maxItems": 3,
                "uniqueItems": true},
            "some": {"contains": {"const": 1}, "minContains": 1, "maxContains": 2},
            "one": {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
            "any": {"anyOf": [{"type": "string"}, {"required": ["a"]}]},
            "not": {"not": {"type": ["null", "boolean"]}},
            "if": {"if": {"type": "string"}, "then": {"maxLength": 1}, "else": {"type": "integer"}},
            "closed": {"additionalProperties": false, "properties": {"a": true, "b": false}},
            "names": {"propertyNames": {"maxLength": 1}, "maxProperties": 2, "minProperties": 1},
            "needs": {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"required": ["n"]}}},
        },
        "additionalProperties": {"type": "boolean"},
    })
}

fn small_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..5).prop_map(Value::from),
        Just(json!(1.0)),
        Just(json!(1.5)),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inside| {
        let name = prop_oneof![Just("a"), Just("b"), Just("n"), Just("more"), Just("long")];
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.prop_map(str::to_owned), inside, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value, and what to put into it where.
fn changed() -> impl Strategy<Value = Value> {
    let results = prop_oneof![
        Just(
            json!({"tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {}},
            "annotations": {"readOnlyHint": true}}], "nextCursor": "c", "resultType": "complete", "ttlMs": 0,
            "cacheScope": "public"})
        ),
        Just(
            json!({"content": [{"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 1}},
            {"type": "image", "data": "", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:b", "blob": ""}}], "structuredContent": {}, "isError": false,
            "resultType": "complete"})
        ),
        Just(
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "t"}}], "description": "d",
            "resultType": "complete"})
        ),
        Just(
            json!({"contents": [{"uri": "a:b", "text": "t"}, {"uri": "a:b", "blob": "", "mimeType": "a/b"}],
            "resultType": "complete", "ttlMs": 1, "cacheScope": "private"})
        ),
        Just(
            json!({"completion": {"values": ["a"], "total": 1, "hasMore": false}, "resultType": "complete"})
        ),
    ];
    (results, any::<prop::sample::Index>(), prop::option::of(small_value())).prop_map(
        |(mut value, at, put)| {
            let mut places = Vec::new();
            places_of(&value, "", &mut places);
            let place = at.get(&places).clone();
            let (parent, name) = place.rsplit_once('/').unwrap_or_default();
            match (put, value.pointer_mut(parent)) {
                (None, Some(Value::Object(members))) => drop(members.remove(name)),
                (Some(put), Some(_)) => *value.pointer_mut(&place).unwrap() = put,
                _ => {}
            }
            value
        },
    )
}

fn places_of(value: &Value, at: &str, out: &mut Vec<String>) {
    let mut inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, it)| (name.clone(), it)).collect(),
        Value::Array(all) => all.iter().enumerate().map(|(n, it)| (n.to_string(), it)).collect(),
        _ => return,
    };
    for (name, value) in inside.drain(..) {
        let place = format!("{at}/{name}");
        places_of(value, &place, out);
        out.push(place);
    }
}

/// Whether another validator says the same.
fn agrees(root: &Value, schema: &str, value: &Value) -> Result<(), TestCaseError> {
    let mut whole = root.clone();
    if !schema.is_empty() {
        whole["$ref"] = json!(format!("#{schema}"));
    }
    let other = jsonschema::options().should_validate_formats(false).build(&whole).unwrap();
    let ours = judge(root, root.pointer(schema).unwrap(), value);
    prop_assert_ne!(&ours, &Fit::Unknown, "{}", value);
    prop_assert_eq!(ours == Fit::Fits, other.is_valid(value), "{}: {}", told(ours.clone()), value);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_keyword_is_judged_as_another_does(
        name in prop::sample::select(keywords()["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()),
        value in small_value(),
    ) {
        agrees(&keywords(), "", &json!({ name: value.clone() }))?;
        agrees(&keywords(), "", &value)?;
    }

    #[test]
    fn results_are_judged_as_another_does(value in changed(), n in 0_usize..5) {
        let text = std::fs::read(format!("{}/schema/{}.json", env!("CARGO_MANIFEST_DIR"), Revision::ALL[n])).unwrap();
        let root: Value = serde_json::from_slice(&text).unwrap();
        let key = if root.get("$defs").is_some() { "$defs" } else { "definitions" };
        for name in ["ListToolsResult", "CallToolResult", "GetPromptResult", "ReadResourceResult", "CompleteResult"] {
            agrees(&root, &format!("/{key}/{name}"), &value)?;
        }
    }
}

#[test]
fn what_is_not_understood_is_not_guessed() {
    let unknown = |schema: Value, value: Value| {
        assert_eq!(told(judge(&schema, &schema, &value)), "unknown", "{schema}");
    };
    unknown(json!({"pattern": "^a"}), json!("b"));
    unknown(json!({"not": {"pattern": "^a"}}), json!("b"));
    unknown(json!({"patternProperties": {"^a": false}}), json!({"a": 1}));
    unknown(json!({"unevaluatedProperties": false}), json!({"a": 1}));
    unknown(json!({"$ref": "https://example.com/s"}), json!(1));
    unknown(json!({"$ref": "#/nowhere"}), json!(1));
    unknown(json!({"multipleOf": 0.1}), json!(0.3));
    unknown(json!({"$ref": "#"}), json!(1));
    // What is wrong whatever it means is wrong.
    let schema = json!({"pattern": "^a", "maxLength": 1});
    assert_eq!(
        told(judge(&schema, &schema, &json!("ab"))),
        "the whole has to have 1 characters at most, and has 2"
    );
    // And in older drafts nothing beside a reference counts.
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": true},
        "$ref": "#/definitions/a", "type": "string"});
    assert_eq!(told(judge(&old, &old, &json!(1))), "fits");
}

#[test]
fn choices_in_choices_end() {
    let mut schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    schema["maxLength"] = json!(1);
    assert_eq!(told(judge(&schema, &schema, &json!("a"))), "unknown");
}

#[test]
fn a_schema_that_is_none_is_told_by_its_place() {
    let says = |schema: Value| flaw(&schema, false).map(|Misfit { at, rule, .. }| format!("{at} {rule}"));
    assert_eq!(says(keywords()), None);
    assert_eq!(says(json!({"type": "object", "x-other": 1, "nullable": true})), None);
    for (schema, wanted) in [
        (json!({"type": "any"}), "/type has to be a type of JSON, and is \"any\""),
        (json!({"type": []}), "/type has to be a type of JSON, and is an empty array"),
        (
            json!({"properties": {"a": {"required": true}}}),
            "/properties/a/required has to be an array of names, each once, and is true",
        ),
        (json!({"properties": {"a": "string"}}), "/properties/a has to be a schema, and is a string"),
        (json!({"anyOf": []}), "/anyOf has to be a list of schemas that is not empty, and is an empty array"),
        (
            json!({"items": [{}]}),
            "/items has to be a schema: prefixItems holds a list of them in 2020-12, and is an array",
        ),
        (json!({"minLength": -1}), "/minLength has to be a whole number that is not negative, and is -1"),
        (json!({"$defs": {"a/b": {"enum": "x"}}}), "/$defs/a~1b/enum has to be an array, and is \"x\""),
    ] {
        assert_eq!(says(schema.clone()).as_deref(), Some(wanted));
        let mut draft = json!({"$schema": "https://json-schema.org/draft/2020-12/schema"});
        draft.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
        assert!(!jsonschema::meta::is_valid(&draft), "{draft}");
    }
    let draft = |date: &str| json!({"$schema": date, "items": [{}]});
    assert_eq!(says(draft("http://json-schema.org/draft-07/schema#")), None);
    assert_eq!(says(draft("https://example.com/ours")), None);
}
