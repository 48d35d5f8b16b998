use alloc::string::ToString;

use super::*;
use crate::mcp::types::schema::JsonTypes;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn tool(text: &str) -> Tool {
    <Tool as ListItem>::read(json(text)).expect(text)
}

fn effective(schema_member: &str) -> String {
    tool(&alloc::format!(r#"{{"name":"t"{schema_member}}}"#)).effective_input_schema().as_str().into()
}

/// P-236, H-024.
#[test]
fn b_41_a_schema_without_an_object_root_is_offered_as_one_and_the_others_stay() {
    let page = tools(&json(
        r#"{"tools":[{"name":"one","inputSchema":{"type":"object"}},
        {"name":"two","inputSchema":{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}}]}},
        {"name":"three","inputSchema":{"type":"object"}}]}"#,
    ));
    let names: Vec<_> = page.items.iter().map(|tool| (tool.name(), tool.notes().len())).collect();
    assert_eq!(names, [("one", 0), ("two", 1), ("three", 0)]);
    assert_eq!(page.set_aside, []);

    let empty = EMPTY_INPUT_SCHEMA;
    let table = [
        (r#","inputSchema":{"type":"object","x":[1, 2]}"#, r#"{"type":"object","x":[1, 2]}"#),
        (r#","inputSchema":{"anyOf":[{}]}"#, r#"{"type":"object","anyOf":[{}]}"#),
        (r#","inputSchema":{}"#, r#"{"type":"object"}"#),
        (
            r#","inputSchema":{"a\"b":1,"type":["object","null"],"z":{}}"#,
            r#"{"type":"object","a\"b":1,"z":{}}"#,
        ),
        (r#","inputSchema":{"\u0074ype":"string"}"#, r#"{"type":"object"}"#),
        (r#","inputSchema":true"#, empty),
        (r#","inputSchema":"none""#, empty),
        (r#","inputSchema":[]"#, empty),
        (r#","inputSchema":null"#, empty),
        ("", empty),
    ];
    for (member, expected) in table {
        assert_eq!(effective(member), expected, "{member}");
    }
}

#[test]
fn p_236_what_is_wrong_with_an_input_schema_is_noted() {
    // P-236
    let table = [
        (r#"{"name":"t","inputSchema":{"type":"object"}}"#, None),
        (r#"{"name":"t"}"#, Some(ToolNote::NoInputSchema)),
        (r#"{"name":"t","inputSchema":null}"#, Some(ToolNote::NoInputSchema)),
        (r#"{"name":"t","inputSchema":true}"#, Some(ToolNote::InputSchemaNotAnObject(Kind::Bool))),
        (r#"{"name":"t","inputSchema":"s"}"#, Some(ToolNote::InputSchemaNotAnObject(Kind::String))),
        (r#"{"name":"t","inputSchema":{}}"#, Some(ToolNote::InputSchemaRootType)),
        (r#"{"name":"t","inputSchema":{"type":"string"}}"#, Some(ToolNote::InputSchemaRootType)),
        (
            r##"{"name":"t","inputSchema":{"type":"object","items":{"$ref":"#/no"}}}"##,
            Some(ToolNote::DanglingReference("#/no".into())),
        ),
        (
            r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":true}"#,
            Some(ToolNote::OutputSchemaNotAnObject(Kind::Bool)),
        ),
        (
            r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"$ref":"far"}}"#,
            Some(ToolNote::OutputSchema(SchemaFault::External("far".into()))),
        ),
    ];
    for (text, note) in table {
        assert_eq!(tool(text).notes().first(), note.as_ref(), "{text}");
        assert!(note.is_none_or(|note| !note.to_string().is_empty()));
    }
}

/// P-105, P-108: the network reference is not fetched; its tool is reported, the other stays.
#[test]
fn b_47_a_tool_with_a_network_reference_is_set_aside_and_the_others_stay() {
    let page = tools(&json(
        r##"{"tools":[{"name":"q","inputSchema":{"type":"object","$defs":{"S":{"enum":["a","b"]}},"properties":{
        "status":{"$ref":"#/$defs/S"},"far":{"$ref":"https://schemas.example/x.json"},
        "gone":{"$ref":"#/$defs/Missing"}}}},{"name":"plain","inputSchema":{"type":"object"}}]}"##,
    ));
    assert_eq!(page.items.iter().map(Tool::name).collect::<Vec<_>>(), ["plain"]);
    let reason = page.set_aside.first().map(|aside| aside.reason.clone());
    let external = SchemaFault::External("https://schemas.example/x.json".into());
    assert_eq!(reason, Some(SetAsideReason::InputSchema(external)));
}

#[test]
fn b_47_a_kept_schema_is_handed_on_unchanged() {
    let schema =
        r##"{"type":"object", "properties":{"s":{"$ref":"#/properties/f/$defs/T"},"f":{"$defs":{"T":{}}}}}"##;
    let tool = tool(&alloc::format!(r#"{{"name":"t","inputSchema":{schema}}}"#));
    assert_eq!(tool.effective_input_schema().as_str(), schema);
    assert_eq!(tool.notes(), []);
}

/// The defaults of the schema: not read-only, destructive, not idempotent, open world.
#[test]
fn annotations_that_are_not_given_have_the_defaults_of_the_schema() {
    let read = |text: &str| {
        let tool = tool(text);
        let annotations = tool.annotations();
        [annotations.read_only, annotations.destructive, annotations.idempotent, annotations.open_world]
    };
    let defaults = [false, true, false, true];
    for text in [
        r#"{"name":"t"}"#,
        r#"{"name":"t","annotations":null}"#,
        r#"{"name":"t","annotations":[]}"#,
        r#"{"name":"t","annotations":{"readOnlyHint":null,"destructiveHint":"no","openWorldHint":0}}"#,
    ] {
        assert_eq!(read(text), defaults, "{text}");
    }
    let flipped = r#"{"name":"t","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,
        "openWorldHint":false}}"#;
    assert_eq!(read(flipped), [true, false, true, false]);
}

#[test]
fn the_title_shown_is_title_then_the_annotations_title_then_name() {
    let table = [
        (r#"{"name":"n","title":"T","annotations":{"title":"A"}}"#, "T"),
        (r#"{"name":"n","title":null,"annotations":{"title":"A"}}"#, "A"),
        (r#"{"name":"n","title":" ","annotations":{"title":""}}"#, "n"),
        (r#"{"name":"n","title":5}"#, "n"),
        (r#"{"name":"n\u00e9"}"#, "né"),
    ];
    for (text, expected) in table {
        assert_eq!(tool(text).display_title(), expected, "{text}");
    }
}

#[test]
fn b_43_null_counts_as_absent_and_unknown_members_are_kept() {
    let text = r#"{"name":"n","title":null,"description":null,"inputSchema":{"type":"object"},"outputSchema":null,
        "annotations":null,"icons":null,"_meta":null,"execution":{"taskSupport":"optional"}}"#;
    let tool = tool(text);
    assert_eq!((tool.title(), tool.description()), (None, None));
    assert!(tool.output_schema().is_none() && tool.icons().is_none() && tool.meta().is_none());
    assert_eq!(tool.notes(), []);
    assert!(tool.raw().view().get("execution").is_some());
}

/// A listing as a Python server of 2026 sends it, and one as a TypeScript server does.
#[test]
fn tools_of_real_servers_are_read_whole() {
    let page = tools(&json(
        r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-time","version":"1"}},"resultType":"complete",
        "ttlMs":0,"cacheScope":"private","tools":[{"name":"get_current_time","title":"Get Current Time",
        "description":"Get current time in a specific timezone","inputSchema":{"properties":{"timezone":{
        "description":"IANA timezone name","title":"Timezone","type":"string"}},"required":["timezone"],
        "title":"get_current_timeArguments","type":"object"},"outputSchema":{"properties":{"timezone":{"type":"string"}},
        "required":["timezone"],"title":"TimeResult","type":"object"},"annotations":{"destructiveHint":false,
        "idempotentHint":true,"openWorldHint":false,"readOnlyHint":true}},
        {"name":"get-sum","title":"Get Sum Tool","inputSchema":{"type":"object","properties":{"a":{"type":"number",
        "description":"First number"},"b":{"type":"number"}},"required":["a","b"],
        "$schema":"http://json-schema.org/draft-07/schema#"},"execution":{"taskSupport":"forbidden"},
        "icons":[{"src":"data:image/png;base64,AA=="}]}]}"#,
    ));
    assert_eq!((page.items.len(), page.set_aside_total, page.warnings.len()), (2, 0, 0));
    let [time, sum] = page.items.as_slice() else { panic!("two tools") };
    assert_eq!(time.display_title(), "Get Current Time");
    assert!(time.output_schema().is_some() && time.annotations().read_only);
    assert_eq!(sum.icons().map(|icons| icons.elements().count()), Some(1));
    let types = sum.input_schema().and_then(|schema| schema::property_types(schema, "a"));
    assert_eq!(types, Some(JsonTypes::NUMBER));
}
