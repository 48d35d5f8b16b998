//! What is kept of what was allowed: to the byte, and never more than somebody said.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::host::policy::{ArgumentGlob, GlobFault};
use crate::jsonrpc::RawJson;

const ONE: DefinitionHash = DefinitionHash([1; 32]);
const TWO: DefinitionHash = DefinitionHash([2; 32]);

fn read(text: &str) -> SavedGrants {
    let (grants, dropped) = SavedGrants::read(text).expect("it is not too much");
    assert_eq!(dropped, [], "{text}");
    grants
}

fn tool(server: &str, tool: &str) -> Provenance {
    Provenance::new(server, tool)
}

fn holds(grants: &SavedGrants, server: &str, name: &str, arguments: &str) -> bool {
    let arguments = RawJson::parse_str(arguments).expect(arguments);
    grants.holds(&tool(server, name), ONE, Some(arguments.view()))
}

#[test]
fn a_line_allows_a_tool_some_arguments_of_it_or_all_of_a_server() {
    // H-065, H-066
    let text = format!(
        "# of files\nfiles/read\nfiles/write(/tmp/*)\n\n  git/log sha256:{ONE}\ngit/push sha256:{TWO}\n\
         git/tag(v*) sha256:{ONE}\nnotes/*\nsafe/*(/tmp/**)\na/b/c\nodd/t(a\\))\nodd/u(a\\\\)\n"
    );
    let grants = read(&text);
    let table = [
        ("files", "read", "{}", true),
        ("files", "read", r#"{"p":"/etc"}"#, true),
        ("files", "reader", "{}", false),
        ("files", "Read", "{}", false),
        ("files", " read", "{}", false),
        ("file", "read", "{}", false),
        ("files", "write", r#"{"p":"/tmp/a"}"#, true),
        ("files", "write", r#"{"p":"/tmp/a/b"}"#, false),
        ("files", "write", "{}", false),
        ("git", "log", "{}", true),
        ("git", "push", "{}", false),
        ("git", "tag", r#"{"name":"v1"}"#, true),
        ("git", "tag", r#"{"name":"x"}"#, false),
        ("notes", "anything", r#"{"a":1,"b":2}"#, true),
        ("notes", "*", "{}", true),
        ("safe", "x", r#"{"p":"/tmp/a/b"}"#, true),
        ("safe", "x", r#"{"p":"/a"}"#, false),
        ("a", "b/c", "{}", true),
        ("a/b", "c", "{}", false),
        ("odd", "t", r#"{"p":"a)"}"#, true),
        ("odd", "u", r#"{"p":"a\\"}"#, true),
        ("", "", "{}", false),
    ];
    for (server, name, arguments, expected) in table {
        assert_eq!(holds(&grants, server, name, arguments), expected, "{server} {name} {arguments}");
    }
    assert_eq!(grants.to_string(), text);
    assert_eq!(grants.iter().count(), 10);
}

#[test]
fn a_line_that_cannot_be_read_allows_nothing_and_stays() {
    // H-066, H-067
    let text = "files\n/x\nfiles/\nfiles/read # why\nfiles/get_*\nfi*/read\nfiles/read(\nfiles/read()\n\
                files/read(a))\nfiles/read(a)x\nfiles/read sha256:12\nfiles/* sha256:00\nmy files/read\n\
                files/re\tad\nfiles/re\\\tad\nfiles/read(a\tb)\nfiles/read\\";
    let (grants, dropped) = SavedGrants::read(text).unwrap();
    assert_eq!(grants.iter().count(), 0);
    let why: Vec<_> = dropped.iter().map(|dropped| dropped.why).collect();
    let glob = GrantFault::Arguments;
    #[rustfmt::skip]
    let expected = [
        GrantFault::NoTool, GrantFault::NoTool, GrantFault::NoTool, GrantFault::Behind, GrantFault::Pattern,
        GrantFault::Pattern, GrantFault::Behind, glob(GlobFault::Empty), GrantFault::Behind, GrantFault::Behind,
        GrantFault::Behind, GrantFault::Behind, GrantFault::NoTool, GrantFault::Behind, GrantFault::Control,
        glob(GlobFault::Control), GrantFault::NoTool,
    ];
    assert_eq!(why, expected);
    assert_eq!(dropped.iter().map(|dropped| dropped.line).collect::<Vec<_>>(), (1..=17).collect::<Vec<_>>());
    assert_eq!(grants.to_string(), format!("{text}\n"));
    let told = dropped[0].to_string();
    assert!(
        told.starts_with(r#"line 1 ("files") allows nothing: "#) && told.contains("SERVER/TOOL"),
        "{told}"
    );
    let all = format!("s/* sha256:{ONE}");
    assert_eq!(SavedGrant::read(&all), Err(GrantFault::AllDefined));
    assert_eq!(SavedGrant::read(&format!("s/t(a)sha256:{ONE}")), Err(GrantFault::Behind), "no blank");
    let name = "x".repeat(1024);
    assert!(SavedGrant::read(&format!("{name}/{name}")).is_ok());
    assert_eq!(SavedGrant::read(&format!("s/x{name}")), Err(GrantFault::TooLong));
    assert_eq!(SavedGrant::read(&format!("x{name}/t")), Err(GrantFault::TooLong));
}

#[test]
fn a_changed_definition_is_asked_about_again_and_told_as_changed() {
    // H-068
    let mut grants = SavedGrants::default();
    let tool = tool("s", "t");
    grants.allow(&tool, ONE).unwrap();
    assert!(grants.holds(&tool, ONE, None) && !grants.holds(&tool, TWO, None));
    assert_eq!((grants.changed(&tool, ONE), grants.changed(&tool, TWO)), (None, Some(ONE)));
    grants.allow(&Provenance::new("other", "t"), ONE).unwrap();
    grants.allow(&tool, TWO).unwrap();
    assert!(grants.holds(&tool, TWO, None) && !grants.holds(&tool, ONE, None), "the old one is gone");
    assert_eq!(grants.to_string(), format!("s/t sha256:{TWO}\nother/t sha256:{ONE}\n"));
    assert_eq!(read("s/*\n").changed(&tool, ONE), None);
    assert_eq!(read("s/t\n").changed(&tool, ONE), None);
    assert_eq!(read(&format!("s/t sha256:{TWO}\ns/*\n")).changed(&tool, ONE), None);
    assert_eq!(read(&format!("s/u sha256:{TWO}\n")).changed(&tool, ONE), None);
}

#[test]
fn what_is_allowed_takes_the_place_of_the_same_tool_with_any_arguments_as_it_was_defined_alone() {
    let text = format!("s/t\ns/t(a) sha256:{ONE}\ns/u sha256:{ONE}\ns/*\ns/t sha256:{ONE}\n");
    let mut grants = read(&text);
    grants.allow(&tool("s", "t"), TWO).unwrap();
    let (kept, _) = text.rsplit_once("s/t sha256").expect("it is the last");
    assert_eq!(grants.to_string(), format!("{kept}s/t sha256:{TWO}\n"));
}

#[test]
fn what_was_allowed_of_one_server_is_replaced_and_the_rest_stays() {
    // H-064, H-065
    let text = "# mine\na/x\nb/y\n# theirs\na/z(1)\nwrong\nc/*\n";
    let (mut grants, dropped) = SavedGrants::read(text).unwrap();
    assert_eq!(dropped.len(), 1);
    let (new, other) = (SavedGrant::new(&tool("a", "n"), ONE).unwrap(), SavedGrant::all_of("ab").unwrap());
    let before = grants.clone();
    assert_eq!(grants.replace("a", [new.clone(), other]), Err(GrantFault::OtherServer));
    assert_eq!(grants, before);
    grants.replace("a", [new.clone()]).unwrap();
    assert_eq!(grants.to_string(), format!("# mine\na/n sha256:{ONE}\nb/y\n# theirs\nwrong\nc/*\n"));
    let all = SavedGrant::all_of("a").unwrap();
    grants.replace("a", [new.clone(), all]).unwrap();
    assert_eq!(grants.to_string(), "# mine\na/*\nb/y\n# theirs\nwrong\nc/*\n");
    let some = SavedGrant::all_of("a").unwrap().with(ArgumentGlob::read("1").unwrap());
    grants.replace("a", [new, some]).unwrap();
    assert_eq!(grants.iter().count(), 4, "all of some arguments say nothing of others");
    grants.replace("a", []).unwrap();
    assert_eq!(grants.to_string(), "# mine\nb/y\n# theirs\nwrong\nc/*\n");
    grants.replace("d", [SavedGrant::all_of("d").unwrap()]).unwrap();
    assert!(grants.to_string().ends_with("c/*\nd/*\n"));
    assert!(
        grants.revoke(&tool("b", "y")) && !grants.revoke(&tool("b", "y")) && !grants.revoke(&tool("c", "x"))
    );
    assert_eq!(grants.to_string(), "# mine\n# theirs\nwrong\nc/*\nd/*\n");
    assert!(holds(&grants, "d", "x", "{}") && !holds(&grants, "b", "y", "{}"));
}

#[test]
fn what_is_kept_has_a_bound_and_names_that_can_be_kept() {
    // H-067
    let mut grants = read(&"s/t\n".repeat(MAX_LINES));
    let before = grants.clone();
    assert_eq!(grants.allow(&tool("s", "more"), ONE), Err(GrantFault::TooMany));
    assert_eq!(grants, before);
    assert_eq!(SavedGrants::read(&"\n".repeat(MAX_LINES + 1)), Err(GrantFault::TooMany));
    assert_eq!(SavedGrants::read(&"x".repeat(MAX_BYTES + 1)), Err(GrantFault::TooMany));
    // The line feed that the last line is written with counts: what is held can always be read again.
    assert_eq!(SavedGrants::read(&"#".repeat(MAX_BYTES)), Err(GrantFault::TooMany));
    let (most, _) = SavedGrants::read(&"#".repeat(MAX_BYTES - 1)).unwrap();
    assert_eq!((most.bytes(), SavedGrants::read(&most.to_string()).unwrap().0), (MAX_BYTES, most));
    let comment = |bytes: usize| format!("{}\n", "#".repeat(bytes - 1));
    assert_eq!(read(&comment(MAX_BYTES)).bytes(), MAX_BYTES);
    let one = SavedGrant::new(&tool("s", "t"), ONE).unwrap().to_string().len() + 1;
    for (mut grants, fits) in [
        (read(&comment(MAX_BYTES - one)), true),
        (read(&comment(MAX_BYTES - one + 1)), false),
        (read(&"s/u\n".repeat(MAX_LINES - 1)), true),
    ] {
        assert_eq!(grants.allow(&tool("s", "t"), ONE).is_ok(), fits, "{} bytes", grants.bytes());
    }
    let mut grants = SavedGrants::default();
    for (server, name) in [("a", "b\0c"), ("a\n", "b"), ("a", "\u{9b}")] {
        assert_eq!(grants.allow(&tool(server, name), ONE), Err(GrantFault::Control));
    }
    assert_eq!(grants.allow(&tool("a", ""), ONE), Err(GrantFault::NoTool));
    assert_eq!(grants.allow(&tool("", "b"), ONE), Err(GrantFault::NoTool));
    assert_eq!(grants, SavedGrants::default());
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a/*?#()\\\\ \u{3000}]{1,6}", "\\PC{1,12}"]
}

fn patterns() -> impl Strategy<Value = Option<ArgumentGlob>> {
    let some = "[a/*?(\\\\){\"]{1,8}".prop_filter_map("a pattern", |text| ArgumentGlob::read(&text).ok());
    prop::option::of(some)
}

fn grants() -> impl Strategy<Value = SavedGrant> {
    let defined = prop::option::of(any::<[u8; 32]>());
    (names(), prop::option::of(names()), patterns(), defined).prop_map(|(server, tool, arguments, hash)| {
        let grant = match (tool, hash) {
            (Some(tool), hash) => {
                let named =
                    SavedGrant::new(&Provenance::new(server, tool), DefinitionHash(hash.unwrap_or_default()));
                let text = named.unwrap().to_string();
                let bare = text.rsplit_once(" sha256:").map_or(text.as_str(), |(bare, _)| bare);
                SavedGrant::read(if hash.is_some() { &text } else { bare }).unwrap()
            }
            (None, _) => SavedGrant::all_of(&server).unwrap(),
        };
        match arguments {
            Some(arguments) => grant.with(arguments),
            None => grant,
        }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(all in prop::collection::vec(grants(), 0..5), one in grants()) {
        // H-067
        for grant in &all {
            let text = grant.to_string();
            prop_assert_eq!(SavedGrant::read(&text), Ok(grant.clone()), "{}", text);
            prop_assert_eq!(text == one.to_string(), *grant == one, "two never have one text");
        }
        let mut saved = SavedGrants::default();
        for grant in &all {
            saved.replace_lines(|_| false, vec![grant.clone()]).unwrap();
        }
        let text = saved.to_string();
        prop_assert_eq!(saved.bytes(), text.len());
        let (again, dropped) = SavedGrants::read(&text).unwrap();
        prop_assert_eq!((&again, dropped.len()), (&saved, 0));
        prop_assert_eq!(again.iter().collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
        for grant in all.iter().filter(|grant| grant.arguments().is_none()) {
            let name = grant.tool().map_or("any", |name| name);
            let tool = Provenance::new(grant.server().clone(), name);
            prop_assert!(again.holds(&tool, grant.definition().unwrap_or(ONE), None));
        }
    }

    #[test]
    fn any_text_is_read_and_written_as_it_was(text in "(?s)[ab/*?#()\\\\ \t\r\n\u{3000}]{0,60}|(sha256:[0-9a-f]{0,66}|a/b|\n| ){0,6}|.{0,80}") {
        let (grants, dropped) = SavedGrants::read(&text).unwrap();
        let written: Vec<_> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
        let again = grants.to_string();
        prop_assert_eq!(again.lines().collect::<Vec<_>>(), written.clone());
        let blank = written.iter().map(|line| line.trim_start()).filter(|line| line.is_empty() || line.starts_with('#'));
        prop_assert_eq!(grants.iter().count() + dropped.len() + blank.count(), written.len());
        prop_assert_eq!(SavedGrants::read(&again).unwrap().0, grants);
    }
}
