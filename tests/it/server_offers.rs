//! What a server offers: capabilities, definitions, and who may keep what it lists.

use sanswire::mcp::types::page::SetAsideReason;
use sanswire::server::{Catalog, Config, ListKind, Principal, Reply, ToolFilter};
use sanswire_tests::served::{LEGACY, MODERN, Rig, complete, config, modern, raw, request};
use serde_json::{Value, json};

/// What a server of this configuration declares to a client of this revision.
fn declared(config: &Config, fill: impl Fn(&mut Catalog), revision: &str) -> (Rig, Value) {
    let mut rig = Rig::bare(config.clone());
    fill(rig.side.machine.catalog_mut());
    let answer = if revision == MODERN {
        rig.ask(modern(1, "server/discover", json!({})))
    } else {
        rig.initialize(revision, json!({}))
    };
    (rig, answer["result"]["capabilities"].clone())
}

fn ask_in(revision: &str, method: &str, params: Value) -> Value {
    if revision == MODERN { modern(9, method, params) } else { request(9, method, params) }
}

type Fill = fn(&mut Catalog);
type Set = fn(&mut Config);

#[test]
fn what_is_declared_is_answered_and_the_rest_is_not() {
    // P-231 P-327 P-334 P-340 P-354 P-362
    let nothing: Fill = |_| ();
    let unset: Set = |_| ();
    let uri = json!({"uri": "x:y"});
    let reference = json!({"type": "ref/resource", "uri": "x:y"});
    let complete = json!({"ref": reference, "argument": {"name": "a", "value": ""}});
    let with_tool: Fill = |catalog| catalog.tool(&raw(&json!({"name": "a"}))).unwrap();
    let with_prompt: Fill = |catalog| catalog.prompt(&raw(&json!({"name": "a"}))).unwrap();
    let with_resource: Fill = |catalog| catalog.resource(&raw(&json!({"uri": "x:y", "name": "a"}))).unwrap();
    let with_template: Fill =
        |catalog| catalog.resource_template(&raw(&json!({"uriTemplate": "x:{a}", "name": "a"}))).unwrap();
    let methods = [
        ("tools", "tools/list", json!({})),
        ("prompts", "prompts/list", json!({})),
        ("prompts", "prompts/get", json!({"name": "a"})),
        ("resources", "resources/list", json!({})),
        ("resources", "resources/templates/list", json!({})),
        ("resources", "resources/read", uri),
        ("completions", "completion/complete", complete),
        ("logging", "logging/setLevel", json!({"level": "info"})),
    ];
    let cases: [(&[&str], Set, Fill); 11] = [
        (&[], unset, nothing),
        (&["tools"], |config| config.capabilities.tools = true, nothing),
        (&["tools"], unset, with_tool),
        (&["prompts"], |config| config.capabilities.prompts = true, nothing),
        (&["prompts"], unset, with_prompt),
        (&["resources"], |config| config.capabilities.resources = true, nothing),
        (&["resources"], unset, with_resource),
        (&["resources"], unset, with_template),
        (&["completions"], |config| config.capabilities.completions = true, nothing),
        (&["logging"], |config| config.capabilities.logging = true, nothing),
        (&["completions", "prompts"], |config| config.capabilities.completions = true, with_prompt),
    ];
    for revision in LEGACY.into_iter().chain([MODERN]) {
        for (offered, set, fill) in cases {
            let mut config = Config::new("s", "1");
            set(&mut config);
            let (mut rig, capabilities) = declared(&config, fill, revision);
            let names: Vec<&String> = capabilities.as_object().unwrap().keys().collect();
            // The oldest revision completes, but has no capability that says so.
            let said = |name: &&&str| **name != "completions" || revision > "2024-11-05";
            let expected: Vec<&str> = offered.iter().filter(said).copied().collect();
            assert_eq!(names, expected, "{revision}");
            for (capability, method, params) in &methods {
                if *method == "logging/setLevel" && revision == MODERN {
                    continue;
                }
                let message = ask_in(revision, method, params.clone());
                rig.send(&message);
                let said = rig.take();
                let refused = said.first().is_some_and(|said| said["error"]["code"] == -32601);
                assert_eq!(refused, !offered.contains(capability), "{revision} {method}: {said:?}");
                for request in rig.open.keys().copied().collect::<Vec<_>>() {
                    rig.respond(request, &Reply::resource_not_found("x:y")).unwrap();
                }
                rig.take();
            }
        }
    }
}

#[test]
fn a_server_that_only_embeds_resources_can_declare_them() {
    // P-245
    let mut config = Config::new("s", "1");
    config.capabilities.resources = true;
    let with_tool: Fill = |catalog| catalog.tool(&raw(&json!({"name": "a"}))).unwrap();
    for revision in LEGACY.into_iter().chain([MODERN]) {
        let (mut rig, capabilities) = declared(&config, with_tool, revision);
        assert!(capabilities["resources"].is_object());
        let block = json!({"type": "resource", "resource": {"uri": "x:y", "text": "t"}});
        let result = complete(&json!({"content": [block]}));
        let answer = rig.answered(ask_in(revision, "tools/call", json!({"name": "a"})), &result);
        assert_eq!(answer["result"]["content"][0], block);
        let listed = rig.ask(ask_in(revision, "resources/list", json!({})));
        assert_eq!(listed["result"]["resources"], json!([]), "{revision}");
    }
}

#[test]
fn what_is_deprecated_is_off_unless_it_is_asked_for() {
    // P-333 P-398
    let plain = Config::new("s", "1");
    let with_tool: Fill = |catalog| catalog.tool(&raw(&json!({"name": "a"}))).unwrap();
    for revision in LEGACY.into_iter().chain([MODERN]) {
        let (mut rig, capabilities) = declared(&plain, with_tool, revision);
        assert!(capabilities.get("logging").is_none(), "{revision}: {capabilities}");
        rig.take();
        let all = json!({"roots": {}, "sampling": {}});
        let mut call = ask_in(revision, "tools/call", json!({"name": "a"}));
        if revision == MODERN {
            call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = all;
        }
        let answer = rig.answered(call, &Reply::text("t"));
        assert!(answer["result"]["content"].is_array(), "nothing is asked of the client: {answer}");
        rig.end();
        rig.wait_ms(60_000);
        assert_eq!(rig.take(), [] as [Value; 0], "{revision}");
    }
}

#[test]
fn a_definition_that_clients_stumble_over_is_refused_to_its_author() {
    // P-104 P-238 P-350
    let mut catalog = Catalog::new();
    let gone = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/gone"}}});
    let foreign = json!({"$schema": "https://example.com/dialect", "type": "object"});
    for bad in [
        json!({"name": "two words"}),
        json!({"name": "n".repeat(129)}),
        json!({"name": "a", "inputSchema": gone}),
        json!({"name": "a", "inputSchema": foreign}),
        json!({"name": "a", "outputSchema": foreign}),
        json!({"name": "a", "outputSchema": 5}),
    ] {
        let reason = catalog.tool(&raw(&bad)).expect_err(&bad.to_string());
        assert!(reason.to_string().len() > 20, "{reason} says what to do");
    }
    let reason = catalog.resource(&raw(&json!({"uri": "my_app://x", "name": "n"})));
    assert_eq!(reason, Err(SetAsideReason::Uri));
    assert_eq!((catalog.len(ListKind::Tools), catalog.len(ListKind::Resources)), (0, 0));
    catalog.tool(&raw(&json!({"name": "n".repeat(128)}))).unwrap();
    catalog.resource(&raw(&json!({"uri": "my-app://x", "name": "n"}))).unwrap();
}

fn for_root(config: &mut Config) {
    config.tool_filter =
        Some(ToolFilter::new(|who: &Principal, tool: &str| tool != "hidden" || who.name() == Some("root")));
}

#[test]
fn only_what_is_the_same_for_all_is_public() {
    // P-275
    for filtered in [false, true] {
        let mut public = config();
        public.cache.lists.public = true;
        if filtered {
            for_root(&mut public);
        }
        let mut rig = Rig::new(public);
        rig.side.machine.catalog_mut().prompt(&raw(&json!({"name": "p"}))).unwrap();
        let scope = |rig: &mut Rig, method: &str| {
            rig.ask(modern(1, method, json!({})))["result"]["cacheScope"].as_str().unwrap().to_owned()
        };
        assert_eq!(scope(&mut rig, "tools/list"), if filtered { "private" } else { "public" });
        assert_eq!(scope(&mut rig, "prompts/list"), "public", "no filter shapes it");
    }
    let mut rig = Rig::new(config());
    for method in ["tools/list", "server/discover"] {
        assert_eq!(rig.ask(modern(1, method, json!({})))["result"]["cacheScope"], "private", "by default");
    }
}

#[test]
fn what_was_kept_by_others_gives_nobody_access() {
    // P-276
    let mut public = config();
    public.cache.lists.public = true;
    for_root(&mut public);
    let mut rig = Rig::new(public);
    rig.tool(&json!({"name": "hidden"}));
    rig.side.machine.set_principal(Principal::named("root"));
    let seen = rig.ask(modern(1, "tools/list", json!({})))["result"]["tools"].as_array().unwrap().len();
    assert_eq!(seen, 4);
    let call = || modern(2, "tools/call", json!({"name": "hidden"}));
    let allowed = rig.report(call());
    rig.respond(allowed.request, &Reply::text("t")).unwrap();
    for stranger in [Principal::anonymous(), Principal::named("ann")] {
        rig.side.machine.set_principal(stranger);
        assert_eq!(rig.refused(call()), -32602, "whoever has the listing of another's");
    }
}
