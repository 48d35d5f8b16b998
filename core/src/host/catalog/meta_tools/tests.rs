//! What the tools that stand for others tell, and which calls they lead to.

use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::host::Provenance;
use crate::host::catalog::{ListingSettings, ServerTools, ToolFilter};
use crate::mcp::types::tool::tools as listed;

fn registry() -> Registry {
    let mut registry = Registry::default();
    let filter = ToolFilter { blocked_tools: vec!["hidden".into()], ..ToolFilter::default() };
    let settings = ListingSettings { filter, ..ListingSettings::default() };
    for (server, tools) in [
        (
            "fs",
            r#"{"name":"read.file","description":"Reads.\nMore.","inputSchema":{"type":"object","a":1.0}},{"name":"hidden"}"#,
        ),
        ("empty", ""),
    ] {
        let page = RawJson::parse_str(&format!(r#"{{"tools":[{tools}]}}"#)).unwrap();
        registry.set(server, ServerTools::read(server, &settings, &Mask::default(), &[page]));
    }
    registry
}

fn run<'a>(registry: &'a Registry, name: &str, arguments: &str) -> MetaOutcome<'a> {
    let arguments = RawJson::parse_str(arguments).expect(arguments);
    MetaTool::named(name).expect(name).run(registry, Some(&arguments))
}

#[test]
fn three_tools_stand_for_all_and_name_the_servers() {
    // H-140, H-141, H-144
    let registry = registry();
    let definitions: Vec<_> =
        MetaTool::told(true).iter().map(|tool| tool.definition(&registry).as_str().to_string()).collect();
    let page = RawJson::parse_str(&format!(r#"{{"tools":[{}]}}"#, definitions.join(","))).unwrap();
    let page = listed(&page);
    let names: Vec<_> = page.items.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["mcp_list", "mcp_inspect", "mcp_call", "mcp_more"]);
    assert_eq!(MetaTool::told(false), [MetaTool::More]);
    let more = page.items.last().unwrap();
    assert_eq!((more.notes(), more.title()), (&[][..], None));
    assert_eq!(more.input_schema().unwrap().get("required").unwrap().as_bytes(), br#"["handle"]"#);
    for tool in &page.items[..3] {
        assert_eq!(tool.notes(), [], "{}", tool.name());
        assert!(tool.description().unwrap().ends_with("Servers: empty, fs."), "{}", tool.name());
        let required = tool.input_schema().unwrap().get("required").unwrap().as_bytes();
        let expected: &[u8] = if tool.name() == "mcp_list" { b"[]" } else { br#"["server","tool"]"# };
        assert_eq!(required, expected, "{}", tool.name());
    }
    let hint = meta_tools_hint(&registry).unwrap();
    assert!(hint.contains("empty, fs") && hint.contains("list first"), "{hint}");
    assert_eq!(meta_tools_hint(&Registry::default()), None);
    assert_eq!(MetaTool::named("mcp__fs__read_file"), None);
}

#[test]
fn tools_are_listed_and_inspected_by_their_own_names() {
    // H-141
    let registry = registry();
    let table = [
        ("mcp_list", "{}", "empty: 0 tools\nfs: 1 tools"),
        ("mcp_list", r#"{"server":"fs"}"#, "read.file: Reads."),
        ("mcp_list", r#"{"server":"empty"}"#, "no tools"),
        (
            "mcp_inspect",
            r#"{"server":"fs","tool":"read.file"}"#,
            r#"{"name":"read.file","description":"Reads.\nMore.","inputSchema":{"type":"object","a":1.0}}"#,
        ),
    ];
    for (name, arguments, expected) in table {
        assert_eq!(run(&registry, name, arguments), MetaOutcome::Text(expected.into()), "{name} {arguments}");
    }
    let nobody = Registry::default();
    assert_eq!(MetaTool::List.run(&nobody, None), MetaOutcome::Text("no servers".into()));
}

#[test]
fn a_call_leads_to_the_tool_itself_with_its_arguments_as_written() {
    // H-042, H-043
    let registry = registry();
    let call = run(&registry, "mcp_call", r#"{"tool":"read.file","server":"fs","arguments":{ "n" : 1.0 }}"#);
    let MetaOutcome::Call { offered, arguments } = call else { panic!("{call:?}") };
    assert_eq!(offered.tool, Provenance::new("fs", "read.file"));
    assert_eq!(arguments.as_ref().map(RawJson::as_str), Some(r#"{ "n" : 1.0 }"#));
    for none in ["", r#","arguments":null"#] {
        let call = run(&registry, "mcp_call", &format!(r#"{{"tool":"read.file","server":"fs"{none}}}"#));
        assert!(matches!(call, MetaOutcome::Call { arguments: None, .. }), "{call:?}");
    }
}

#[test]
fn what_is_not_offered_is_unknown_and_the_names_there_are_are_told() {
    // H-146
    let registry = registry();
    let unknown = |tool: &str| format!("Server fs has no tool {tool}. Tools: read.file.");
    let call = |tool: &str| format!(r#"{{"server":"fs","tool":"{tool}"}}"#);
    let mut table = vec![
        (
            r#"{"server":"gone","tool":"x"}"#.to_string(),
            "There is no server gone. Servers: empty, fs.".to_string(),
        ),
        (
            r#"{"tool":"read.file"}"#.into(),
            "server is missing: give it as a string. Servers: empty, fs.".into(),
        ),
        (r#"{"server":"fs"}"#.into(), "tool is missing: give it as a string. Servers: empty, fs.".into()),
        (r#"{"server":"empty","tool":"x"}"#.into(), "Server empty has no tool x. Tools: none.".into()),
        (
            r#"{"server":"a\n\u202eb","tool":"x"}"#.into(),
            "There is no server a\\n\\u{202e}b. Servers: empty, fs.".into(),
        ),
        ("[]".into(), "server is missing: give it as a string. Servers: empty, fs.".into()),
    ];
    for tool in ["hidden", "Hidden", "Read.File", "mcp__fs__hidden", "nothing", "read_file", "read.file "] {
        table.push((call(tool), unknown(tool)));
    }
    for (arguments, expected) in table {
        for name in ["mcp_inspect", "mcp_call"] {
            assert_eq!(run(&registry, name, &arguments), MetaOutcome::Error(expected.clone()), "{arguments}");
        }
    }
    let wrong = run(&registry, "mcp_call", r#"{"server":"fs","tool":"read.file","arguments":"{}"}"#);
    assert_eq!(wrong, MetaOutcome::Error("arguments is a string, not an object.".into()));
    let many: Vec<_> = (0..201).map(|n| n.to_string()).collect();
    assert!(names(many.iter().map(String::as_str)).ends_with("199, and 1 more"));
}

#[test]
fn a_page_is_asked_for_by_handle_and_offset() {
    let registry = registry();
    let (handle, error) = (PageHandle::from_u64(7), |text: &str| MetaOutcome::Error(text.into()));
    let missing = error("handle is missing: give the one that came with the cut result.");
    let offset = error("offset is not a number of bytes.");
    let table = [
        (r#"{"handle":7}"#, MetaOutcome::More { handle, offset: None }),
        (r#"{"handle":7,"offset":null}"#, MetaOutcome::More { handle, offset: None }),
        (r#"{"handle":7,"offset":65536}"#, MetaOutcome::More { handle, offset: Some(65_536) }),
        (r#"{"handle":"7"}"#, missing.clone()),
        (r#"{"handle":-7}"#, missing.clone()),
        ("{}", missing),
        (r#"{"handle":7,"offset":"1"}"#, offset.clone()),
        (r#"{"handle":7,"offset":-1}"#, offset),
    ];
    for (arguments, expected) in table {
        assert_eq!(run(&registry, "mcp_more", arguments), expected, "{arguments}");
    }
}

#[test]
fn a_server_that_somebody_may_not_know_of_is_unknown() {
    // H-135
    let registry = registry();
    let run = |name: &str, arguments: &str| {
        let arguments = RawJson::parse_str(arguments).unwrap();
        MetaTool::named(name).unwrap().run_within(&registry, &|server| server == "empty", Some(&arguments))
    };
    assert_eq!(run("mcp_list", "{}"), MetaOutcome::Text("empty: 0 tools".into()));
    let unknown = MetaOutcome::Error("There is no server fs. Servers: empty.".into());
    assert_eq!(run("mcp_list", r#"{"server":"fs"}"#), unknown);
    for name in ["mcp_inspect", "mcp_call"] {
        assert_eq!(run(name, r#"{"server":"fs","tool":"read.file"}"#), unknown, "{name}");
        let missing = MetaOutcome::Error("server is missing: give it as a string. Servers: empty.".into());
        assert_eq!(run(name, "{}"), missing, "{name}");
    }
}
