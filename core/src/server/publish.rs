//! What a definition must be to be offered: what every client would stumble over is refused here, where its author
//! sees it.

use crate::jsonrpc::JsonRef;
use crate::mcp::mirror::mirrored;
use crate::mcp::types::flaw::{Flaw, cut};
use crate::mcp::types::page::SetAsideReason;
use crate::mcp::types::request::is_uri;
use crate::mcp::types::schema::{MAX_REFERENCE, SchemaFault};
use crate::mcp::types::tool::{Tool, ToolNote};

/// The dialects that a schema may name, without their empty fragment. What is looked at here (references and types)
/// means the same in all of them.
const DIALECTS: [&str; 5] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
];

/// Whether a tool can be offered as it is, its input schema repaired where it is missing or lacks its type.
pub(super) fn check_tool(tool: &Tool) -> Result<(), SetAsideReason> {
    if !is_tool_name(tool.name()) {
        return Err(SetAsideReason::ToolName);
    }
    for note in tool.notes() {
        match note {
            ToolNote::NoInputSchema | ToolNote::InputSchemaNotAnObject(_) | ToolNote::InputSchemaRootType => {
            }
            ToolNote::DanglingReference(reference) => {
                return Err(SetAsideReason::InputSchema(SchemaFault::Dangling(reference.clone())));
            }
            ToolNote::OutputSchemaNotAnObject(found) => {
                return Err(Flaw::WrongKind { member: "outputSchema", found: *found }.into());
            }
            ToolNote::OutputSchema(fault) => return Err(SetAsideReason::OutputSchema(fault.clone())),
        }
    }
    tool.input_schema()
        .map_or(Ok(()), |schema| mirrored(schema).map(drop))
        .map_err(SetAsideReason::Mirror)?;
    tool.input_schema().map_or(Ok(()), check_dialect).map_err(SetAsideReason::InputSchema)?;
    tool.output_schema().map_or(Ok(()), check_dialect).map_err(SetAsideReason::OutputSchema)
}

/// Spec: MCP 2025-11-25 and later, server/tools, "Tool Names".
fn is_tool_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}

/// A schema says which dialect it is in, or is in 2020-12.
///
/// Spec: MCP 2025-11-25 and later, basic, "JSON Schema Usage".
fn check_dialect(schema: JsonRef<'_>) -> Result<(), SchemaFault> {
    let Some(dialect) = schema.get("$schema").filter(|dialect| !dialect.is_null()) else { return Ok(()) };
    let Some(dialect) = dialect.str().map(|dialect| dialect.decode()) else {
        return Err(SchemaFault::Dialect("not text".into()));
    };
    let known = dialect.strip_suffix('#').unwrap_or(&dialect);
    if DIALECTS.contains(&known) {
        Ok(())
    } else {
        Err(SchemaFault::Dialect(cut(&dialect, MAX_REFERENCE).into()))
    }
}

/// Whether an address is one, everything in it that has to be percent-encoded being so.
///
/// Spec: RFC 3986, section 2.
pub(super) fn check_uri(uri: &str) -> Result<(), SetAsideReason> {
    let mut bytes = uri.bytes();
    let mut allowed = is_uri(uri);
    while let Some(byte) = bytes.next() {
        allowed &= match byte {
            b'%' => {
                [bytes.next(), bytes.next()].iter().flatten().filter(|byte| byte.is_ascii_hexdigit()).count()
                    == 2
            }
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
            byte => byte.is_ascii_graphic(),
        };
    }
    if allowed { Ok(()) } else { Err(SetAsideReason::Uri) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;
    use crate::mcp::mirror::Why;
    use crate::mcp::types::page::ListItem;
    use crate::mcp::types::tool::EMPTY_INPUT_SCHEMA;
    use alloc::format;

    fn checked(definition: &str) -> Result<(), SetAsideReason> {
        check_tool(&Tool::read(RawJson::parse_str(definition).expect(definition)).expect(definition))
    }

    #[test]
    fn a_tools_name_is_one_that_every_client_takes() {
        // P-238
        let long = "n".repeat(128);
        for good in ["a", "get_weather", "admin.tools-list", "A9", &long] {
            assert_eq!(checked(&format!(r#"{{"name":"{good}"}}"#)), Ok(()), "{good}");
        }
        let longer = "n".repeat(129);
        for bad in ["", "two words", "a,b", "é", "a/b", "a:b", &longer] {
            assert_eq!(checked(&format!(r#"{{"name":"{bad}"}}"#)), Err(SetAsideReason::ToolName), "{bad}");
        }
    }

    #[test]
    fn schemas_are_in_a_dialect_that_is_known() {
        // P-100 P-102 P-103
        assert!(DIALECTS.contains(&"https://json-schema.org/draft/2020-12/schema"));
        let ours = RawJson::parse_str(EMPTY_INPUT_SCHEMA).expect("a schema");
        assert!(ours.view().get("$schema").is_none(), "which means 2020-12");
        let tool = |schema: &str| format!(r#"{{"name":"a","inputSchema":{schema},"outputSchema":{schema}}}"#);
        for dialect in DIALECTS {
            for end in ["", "#"] {
                let schema = format!(r#"{{"$schema":"{dialect}{end}","type":"object"}}"#);
                assert_eq!(checked(&tool(&schema)), Ok(()), "{dialect}{end}");
            }
        }
        for fine in [r#"{"type":"object"}"#, r#"{"$schema":null,"type":"object"}"#] {
            assert_eq!(checked(&tool(fine)), Ok(()), "{fine}");
        }
        for bad in [r#""https://example.com/my-dialect""#, r#""draft-07""#, "5", r#""""#] {
            let schema = format!(r#"{{"$schema":{bad},"type":"object"}}"#);
            let reason = checked(&tool(&schema)).expect_err(bad);
            assert!(
                matches!(reason, SetAsideReason::InputSchema(SchemaFault::Dialect(_))),
                "{bad}: {reason}"
            );
            let reason = checked(&format!(r#"{{"name":"a","outputSchema":{schema}}}"#)).expect_err(bad);
            assert!(
                matches!(reason, SetAsideReason::OutputSchema(SchemaFault::Dialect(_))),
                "{bad}: {reason}"
            );
        }
    }

    #[test]
    fn what_a_tool_wants_repeated_in_heads_can_be() {
        // P-160 P-161 P-162 P-163 P-165
        let tool = |properties: &str| {
            format!(r#"{{"name":"a","inputSchema":{{"type":"object","properties":{properties}}}}}"#)
        };
        let marked = |name: &str, kind: &str| format!(r#"{{"type":"{kind}","x-mcp-header":{name}}}"#);
        for kind in ["string", "integer", "boolean"] {
            let good = format!(r#"{{"x":{},"y":{}}}"#, marked(r#""A""#, kind), marked(r#""B""#, kind));
            assert_eq!(checked(&tool(&good)), Ok(()), "{good}");
        }
        let twice = format!(r#"{{"x":{},"y":{}}}"#, marked(r#""A""#, "string"), marked(r#""a""#, "string"));
        let below = format!(r#"{{"x":{{"type":"array","items":{}}}}}"#, marked(r#""A""#, "string"));
        let one = |name: &str, kind: &str| format!(r#"{{"x":{}}}"#, marked(name, kind));
        for (bad, why) in [
            (one(r#""""#, "string"), Why::Name),
            (one(r#""two words""#, "string"), Why::Name),
            (one(r#""A\r\nB""#, "string"), Why::Name),
            (one("5", "string"), Why::Name),
            (one(r#""A""#, "number"), Why::Type),
            (one(r#""A""#, "object"), Why::Type),
            (twice, Why::Twice),
            (below, Why::Position),
        ] {
            assert_eq!(checked(&tool(&bad)), Err(SetAsideReason::Mirror(why)), "{bad}");
        }
    }

    #[test]
    fn schemas_hold_what_they_refer_to() {
        // P-104
        let tool = |name: &str, schema: &str| format!(r#"{{"name":"a","{name}":{schema}}}"#);
        let gone = r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/gone"}}}"##;
        let there = r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},"$defs":{"x":{}}}"##;
        let far = r#"{"type":"object","properties":{"x":{"$ref":"https://a.example/x"}}}"#;
        assert_eq!(checked(&tool("inputSchema", there)), Ok(()));
        let reason = checked(&tool("inputSchema", gone));
        assert!(matches!(reason, Err(SetAsideReason::InputSchema(SchemaFault::Dangling(_)))), "{reason:?}");
        let reason = checked(&tool("outputSchema", far));
        assert!(matches!(reason, Err(SetAsideReason::OutputSchema(SchemaFault::External(_)))), "{reason:?}");
        let reason = checked(&tool("outputSchema", "true"));
        assert!(matches!(reason, Err(SetAsideReason::Flaw(Flaw::WrongKind { .. }))), "{reason:?}");
    }

    #[test]
    fn an_address_is_one() {
        // P-350
        for good in ["file:///a%20b", "custom+v1.0-a://x/y?z=[1]#f", "urn:a:b", "x:"] {
            assert_eq!(check_uri(good), Ok(()), "{good}");
        }
        for bad in
            ["", "no-scheme", "1x:y", "a b:c", "x:é", "x:a b", "x:%2", "x:%zz", "x:{id}", "x:a|b", "my_app:y"]
        {
            assert_eq!(check_uri(bad), Err(SetAsideReason::Uri), "{bad}");
        }
    }
}
