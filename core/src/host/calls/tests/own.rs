//! The host's own tools, and calls on a helper's behalf.

use super::*;
use crate::host::catalog::ExposureMode;

fn lazy() -> World {
    World::open(|config| config.exposure.mode = ExposureMode::Lazy)
}

#[test]
fn the_hosts_own_tools_answer_at_once_and_reach_nobody() {
    // H-141, H-146
    let mut world = lazy();
    world.calls.set_approver(false, at(0));
    world.calls.set_plan_mode(true);
    let table = [
        ("mcp_list", "{}", "completed", "r: 2 tools\ns: 2 tools"),
        ("mcp_inspect", r#"{"server":"s","tool":"x"}"#, "tool_error", "Server s has no tool x. Tools: t, u."),
        ("mcp_call", r#"{"server":"x","tool":"t"}"#, "tool_error", "There is no server x. Servers: r, s."),
        (
            "mcp_more",
            r#"{"handle":9}"#,
            "tool_error",
            "there is no such rest, or it is no longer kept; call the tool again",
        ),
    ];
    for (name, arguments, kind, told) in table {
        let call = world.own(name, arguments).expect(name);
        assert_eq!(world.told(call), (kind, told.into()), "{name}");
        let end = &world.ends[&call];
        assert!(end.tool.is_none() && end.decision.is_none(), "{end:?}");
        let (CallOutcome::Completed(result) | CallOutcome::ToolError(result)) = &end.outcome else {
            panic!()
        };
        assert_eq!((result.presented.is_error, result.raw.is_none()), (kind == "tool_error", true));
    }
    assert!(world.sent.is_empty() && world.servers.woken.is_empty() && world.asked.is_empty());
}

#[test]
fn what_is_not_told_in_eager_mode_is_unknown_but_for_the_rest_of_results() {
    let mut world = World::open(|config| config.exposure.mode = ExposureMode::Eager);
    for name in ["mcp_list", "mcp_inspect", "mcp_call", "mcp_else"] {
        assert_eq!(world.own(name, r#"{"server":"s","tool":"t"}"#), Err(CallRefused::UnknownTool), "{name}");
    }
    assert!(world.own("mcp_more", "{}").is_ok());
}

#[test]
fn the_rest_of_a_result_is_read_page_by_page_by_its_owner() {
    let mut world = World::open(|config| {
        (config.results.max_result_bytes, config.pages.page_bytes) = (4, 6);
    });
    let call = world.call("s/t", "{}");
    world.completes(call, r#"{"content":[{"type":"text","text":"abcdefghijkl日本"}]}"#);
    assert!(world.told(call).1.ends_with("<rest: mcp_more handle=1 offset=4>"), "{:?}", world.told(call));
    let mut page = |offset: &str| {
        let call = world.own("mcp_more", &format!(r#"{{"handle":1{offset}}}"#)).unwrap();
        world.told(call).1
    };
    let marker = |shown: usize| {
        format!("\n<truncated output shown={shown} total=18>\n<rest: mcp_more handle=1 offset={shown}>")
    };
    assert_eq!(page(""), format!("efgh{}", marker(8)), "no page is longer than a result may be");
    assert_eq!(page(r#","offset":8"#), format!("ijkl{}", marker(12)));
    assert_eq!(page(r#","offset":12"#), format!("日{}", marker(15)));
    assert_eq!(page(r#","offset":15"#), "本");
    assert!(
        page(r#","offset":18"#).starts_with("the \n<truncated output "),
        "there is none; that is cut as well"
    );
    let target = Target::Exposed("mcp_more".into());
    let call = world.begin(CallRequest::new("1", target, Some(json(r#"{"handle":1}"#)))).unwrap();
    assert_eq!(world.told(call).0, "tool_error", "nobody else");
}

#[test]
fn a_long_list_is_cut_like_any_result_and_secrets_are_hidden() {
    let mut world = World::open(|config| {
        config.exposure.mode = ExposureMode::Lazy;
        config.results.max_result_bytes = 10;
        config.mask = Mask::new(["2 tools"]);
    });
    let call = world.own("mcp_list", "{}").unwrap();
    let told = world.told(call).1;
    assert!(told.starts_with("r: ***\ns: \n<truncated output shown=10 total=13>\n<rest: "), "{told}");
}

fn on_behalf(world: &mut World, kind: &str, name: &str, arguments: &str) -> Result<CallHandle, CallRefused> {
    let mut request = CallRequest::new("1", Target::Exposed(name.into()), Some(json(arguments)));
    request.sub_agent = Some(kind.into());
    world.begin(request)
}

#[test]
fn a_helper_reaches_only_servers_that_name_its_kind_and_goes_through_the_same_gate() {
    // H-135, H-137, H-139
    let mut world = lazy();
    world.servers.sub_agents.insert("s".into(), vec!["writer".into()]);
    let by = |server: &str| format!(r#"{{"server":"{server}","tool":"t"}}"#);
    for (kind, server) in [("reader", "s"), ("writer", "r"), ("", "s"), ("Writer", "s")] {
        let name = format!("mcp__{server}__t");
        assert_eq!(
            on_behalf(&mut world, kind, &name, "{}"),
            Err(CallRefused::UnknownTool),
            "{kind} {server}"
        );
        let mut request = CallRequest::new("1", Target::Tool(Provenance::new(server, "t")), None);
        request.sub_agent = Some(kind.into());
        assert_eq!(world.begin(request), Err(CallRefused::UnknownTool), "{kind} {server}");
        let call = on_behalf(&mut world, kind, "mcp_call", &by(server)).unwrap();
        let (kind, told) = world.told(call);
        assert!(
            kind == "tool_error" && told.starts_with(&format!("There is no server {server}. ")),
            "{told}"
        );
    }
    let list = on_behalf(&mut world, "writer", "mcp_list", "{}").unwrap();
    assert_eq!(world.told(list).1, "s: 2 tools");
    assert!(world.servers.woken.is_empty());

    let call = on_behalf(&mut world, "writer", "mcp__s__t", "{}").unwrap();
    assert!(world.is_sent(call));
    world.calls.set_plan_mode(true);
    for arguments in [r#"{"a":1}"#, r#"{"a":2}"#] {
        let asked = on_behalf(&mut world, "writer", "mcp__s__t", arguments).unwrap();
        assert!(world.is_open(asked) && !world.is_sent(asked), "the planning is everybody's");
    }
    assert_eq!(world.asked.len(), 2);
}
