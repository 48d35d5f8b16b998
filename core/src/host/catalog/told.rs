//! What a model is told of the tools there are.

use alloc::vec::Vec;

use super::exposure::Exposed;
use super::meta_tools::MetaTool;
use super::registry::{Offered, Registry};
use crate::jsonrpc::{ObjectWriter, RawJson};

/// The tools as a model is told of them, as `exposed` says: each one, sorted by exposed name, or the three that stand for
/// all of them; and the one that shows more of a long result. An array of `Tool` objects with exposed names, empty where
/// there is none to tell.
///
/// The same registry gives the same bytes. Output schemas are left out: they cost, and no model is asked to keep them;
/// `mcp_inspect` and [`Definition`](super::Definition) show them. Annotations are the server's own word. O(bytes).
#[must_use]
pub fn tools_listing(registry: &Registry, exposed: Exposed) -> RawJson {
    let mut out = Vec::with_capacity(exposed.bytes.min(1 << 20) + 64 * exposed.told + 2);
    out.push(b'[');
    let mut first = true;
    let mut next = |out: &mut Vec<u8>| {
        if !core::mem::take(&mut first) {
            out.push(b',');
        }
    };
    let one_by_one = registry.offered().filter(|_| !exposed.lazy);
    for (name, offered) in one_by_one {
        next(&mut out);
        write_tool(&mut out, name, offered);
    }
    if exposed.lazy || exposed.told > 0 {
        for tool in MetaTool::told(exposed.lazy) {
            next(&mut out);
            out.extend_from_slice(tool.definition(registry).as_bytes());
        }
    }
    out.push(b']');
    RawJson::written(out)
}

fn write_tool(out: &mut Vec<u8>, name: &str, offered: &Offered) {
    let definition = &offered.definition;
    let mut w = ObjectWriter::begin(out);
    w.string("name", name);
    if let Some(title) = &definition.title {
        w.string("title", title);
    }
    w.string("description", &definition.description);
    w.raw("inputSchema", definition.input_schema.view());
    let hints = [
        ("readOnlyHint", definition.hints.read_only),
        ("destructiveHint", definition.hints.destructive),
        ("openWorldHint", definition.hints.open_world),
    ];
    if hints.iter().any(|(_, said)| said.is_some()) {
        w.object("annotations", |w| {
            for (name, said) in hints {
                if let Some(said) = said {
                    w.bool(name, said);
                }
            }
        });
    }
    w.end();
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec};

    use super::*;
    use crate::host::Mask;
    use crate::host::catalog::{Exposure, ExposureMode, ListingSettings, ServerTools};

    fn registry(servers: &[(&str, &str)]) -> Registry {
        let mut registry = Registry::default();
        for (server, page) in servers {
            let page = RawJson::parse_str(page).expect("a page");
            let tools = ServerTools::read(server, &ListingSettings::default(), &Mask::default(), &[page]);
            registry.set(server, tools);
        }
        registry
    }

    fn told(registry: &Registry, mode: ExposureMode) -> RawJson {
        let exposure = Exposure { mode, ..Exposure::default() };
        tools_listing(registry, exposure.of(registry))
    }

    #[test]
    fn each_tool_is_told_by_its_exposed_name_in_their_order() {
        // H-140
        let registry = registry(&[
            ("b", r#"{"tools":[{"name":"y","title":"Y","inputSchema":{ "type":"object" }},{"name":"x"}]}"#),
            (
                "a",
                r#"{"tools":[{"name":"z","description":"Says \"z\"","outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false,"title":"t"}}]}"#,
            ),
        ]);
        let expected = concat!(
            r#"[{"name":"mcp__a__z","title":"t","description":"Says \"z\"","#,
            r#""inputSchema":{"type":"object","properties":{}},"#,
            r#""annotations":{"readOnlyHint":true,"openWorldHint":false}},"#,
            r#"{"name":"mcp__b__x","description":"The tool \"x\" of the MCP server \"b\".","#,
            r#""inputSchema":{"type":"object","properties":{}}},"#,
            r#"{"name":"mcp__b__y","title":"Y","description":"The tool \"y\" of the MCP server \"b\".","#,
            r#""inputSchema":{"type":"object"}},"#,
        );
        let more = MetaTool::More.definition(&registry);
        let eager = told(&registry, ExposureMode::Eager);
        assert_eq!(eager.as_str(), format!("{expected}{}]", more.as_str()));
        assert!(RawJson::parse_str(eager.as_str()).is_ok());

        let lazy = told(&registry, ExposureMode::Lazy);
        let lazy = RawJson::parse_str(lazy.as_str()).expect("an array");
        let names: Vec<_> = lazy.view().elements().map(|tool| tool.get("name").unwrap().as_bytes()).collect();
        let four: Vec<&[u8]> =
            vec![br#""mcp_list""#, br#""mcp_inspect""#, br#""mcp_call""#, br#""mcp_more""#];
        assert_eq!(names, four);
    }

    #[test]
    fn nothing_to_call_is_an_empty_array() {
        assert_eq!(told(&Registry::default(), ExposureMode::Auto).as_str(), "[]");
    }
}
