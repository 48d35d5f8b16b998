//! Who may do what, what is bound to whom, and what is told to nobody.

use sanswire::mcp::Method;
use sanswire::mcp::types::log::LogLevel;
use sanswire::server::govern::{Governed, refused};
use sanswire::server::state::{Binding, Seal, StateFault};
use sanswire::server::{Config, Event, Principal, Reply, ToolFilter};
use sanswire::waist::{Bindings, End, Grant, Trust, Waist};
use sanswire_tests::served::{LEGACY, Reported, Rig, complete, config, modern, modern_with, raw, request};
use serde_json::{Value, json};

fn call(id: u64, state: Option<&str>) -> Value {
    let mut call = modern(id, "tools/call", json!({"name": "a", "arguments": {"n": 1}}));
    if let Some(state) = state {
        call["params"]["requestState"] = json!(state);
    }
    call
}

fn bound_to(reported: &Reported) -> Binding {
    Binding::new(&reported.context.principal, &Method::ToolsCall, &raw(&reported.params))
}

/// A server's first round for `who`: the state that it hands out.
fn handed_out(rig: &mut Rig, seal: &Seal, who: &Principal) -> String {
    rig.side.machine.set_principal(who.clone());
    let reported = rig.report(call(1, None));
    let state = seal.seal(&bound_to(&reported), b"so far", 100);
    let reply = Reply::InputRequired { requests: Vec::new(), state: Some(state) };
    rig.respond(reported.request, &reply).unwrap();
    rig.one()["result"]["requestState"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_handed_to_one_user_is_of_no_use_to_another() {
    // P-380 P-472 P-481
    let seal = Seal::new([5; 32]);
    let (ann, bob) = (Principal::named("ann"), Principal::named("bob"));
    // On one stream, in one session: neither of them says who asks.
    let mut rig = Rig::legacy(config(), "2025-11-25");
    let state = handed_out(&mut rig, &seal, &ann);
    for (n, who) in [bob, Principal::anonymous(), Principal::named("")].into_iter().enumerate() {
        rig.side.machine.set_principal(who);
        let stolen = rig.report(call(n as u64 + 2, Some(&state)));
        let came = stolen.context.round.clone().unwrap().state.unwrap();
        assert_eq!(seal.open(&bound_to(&stolen), &came, 0), Err(StateFault::Forged));
        // A name in the request itself is nobody's word but its sender's.
        assert_ne!(stolen.context.principal, ann);
    }
    rig.side.machine.set_principal(ann);
    let own = rig.report(call(9, Some(&state)));
    let came = own.context.round.clone().unwrap().state.unwrap();
    assert_eq!(seal.open(&bound_to(&own), &came, 99), Ok(b"so far".to_vec()));
    assert_eq!(seal.open(&bound_to(&own), &came, 100), Err(StateFault::Expired), "nor for ever");
}

#[test]
fn a_call_goes_on_in_another_process_with_what_the_client_brings() {
    // P-054
    let seal = Seal::new([5; 32]);
    let state = handed_out(&mut Rig::new(config()), &seal, &Principal::anonymous());
    let mut other = Rig::new(config());
    let again = other.report(call(2, Some(&state)));
    let came = again.context.round.clone().unwrap().state.unwrap();
    assert_eq!(seal.open(&bound_to(&again), &came, 0), Ok(b"so far".to_vec()));
    let without = other.report(call(3, None));
    assert!(without.context.round.is_none(), "nothing is remembered for it");
}

#[test]
fn an_extension_is_declared_where_extensions_are() {
    // P-424 P-488
    let tasks = json!({"io.modelcontextprotocol/tasks": {}});
    for revision in LEGACY {
        let mut rig = Rig::new(config());
        rig.initialize(
            revision,
            json!({"extensions": tasks, "tasks": {"requests": {"tools": {"call": {}}}}}),
        );
        let reported = rig.report(request(1, "tools/call", json!({"name": "a"})));
        assert_eq!(reported.context.capabilities.extensions, None, "{revision} has none");
    }
    let mut rig = Rig::new(config());
    let declaring = |capabilities: Value| {
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
        modern_with(1, "tools/call", json!({"name": "a"}), meta)
    };
    let legacy_tasks = rig.report(declaring(json!({"tasks": {"list": {}}})));
    assert_eq!(legacy_tasks.context.capabilities.extensions, None, "another revision's word for it");
    let task = complete(&json!({"resultType": "task", "task": {"taskId": "t"}}));
    assert!(rig.respond(legacy_tasks.request, &task).is_err(), "no task for who did not ask for any");
    rig.respond(legacy_tasks.request, &Reply::text("t")).unwrap();
    rig.take();
    let declared = rig.report(declaring(json!({"extensions": tasks})));
    let extensions = declared.context.capabilities.extensions.unwrap().0;
    assert_eq!(extensions.as_str(), tasks.to_string());
}

#[test]
fn a_call_that_wants_to_be_a_task_is_a_call_where_none_are_offered() {
    // P-405
    for message in [request as fn(u64, &str, Value) -> Value, modern] {
        let mut rig = Rig::legacy(config(), "2025-11-25");
        rig.take();
        let wanted = message(1, "tools/call", json!({"name": "a", "task": {"ttl": 60_000}}));
        let answer = rig.answered(wanted, &Reply::text("done"));
        assert_eq!(answer["result"]["content"][0]["text"], "done");
        assert!(answer["result"].get("task").is_none());
    }
}

#[test]
fn what_a_client_says_comes_back_in_no_error_and_no_log() {
    // P-331 P-339 P-397
    let secret = "sk-c4na7y";
    let mut small = config();
    small.limits.max_in_flight = 1;
    small.limits.max_message_bytes = 8192;
    let mut rig = Rig::new(small);
    rig.initialize("2025-11-25", json!({}));
    rig.ask(request(0, "logging/setLevel", json!({"level": "debug"})));
    let catalog = rig.side.machine.catalog_mut();
    let needs = json!([{"name": "must", "required": true}]);
    catalog.prompt(&raw(&json!({"name": "p", "arguments": needs}))).unwrap();
    catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
    rig.report(modern("slow", "tools/call", json!({"name": "a"})));
    let reference = json!({"type": "ref/prompt", "name": "p"});
    let secretive = [
        ("tools/call", json!({"name": "a", "arguments": {"key": secret}})),
        ("tools/call", json!({"name": "a", "arguments": secret})),
        ("tools/call", json!({"name": {"x": secret}})),
        ("tools/list", json!({"cursor": secret})),
        ("prompts/get", json!({"name": "p", "arguments": {"other": secret}})),
        ("prompts/get", json!({"name": "p", "arguments": {"must": [secret]}})),
        ("prompts/get", json!({"name": secret})),
        ("resources/read", json!({"uri": secret})),
        ("resources/read", json!({"uri": format!("file:///../{secret}")})),
        ("resources/subscribe", json!({"uri": format!("x:{secret}")})),
        ("completion/complete", json!({"ref": reference, "argument": {"name": "a", "value": [secret]}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": secret}, "argument": {"name": "a", "value": "v"}}),
        ),
        ("completion/complete", json!({"ref": {"type": secret}, "argument": {"name": "a", "value": "v"}})),
        ("logging/setLevel", json!({"level": secret})),
        ("initialize", json!({"protocolVersion": [secret]})),
        ("subscriptions/listen", json!({"notifications": secret})),
        (secret, json!({})),
    ];
    let mut refused = 0;
    for (method, params) in secretive {
        for message in [request as fn(u64, &str, Value) -> Value, modern] {
            rig.send(&message(1, method, params.clone()));
            rig.wait_ms(1000);
            for said in rig.take() {
                assert!(!said.to_string().contains(secret), "{method} {params}: {said}");
                refused += usize::from(said.get("error").is_some());
            }
        }
    }
    for state in [json!([secret]), json!({"x": secret})] {
        let mut message = modern(1, "tools/call", json!({"name": "a"}));
        message["params"]["requestState"] = state;
        message["params"]["inputResponses"] = json!(secret);
        assert!(!rig.ask(message).to_string().contains(secret));
    }
    for line in
        [format!("{secret}\n"), format!("{{\"jsonrpc\":\"{secret}\",\"id\":1,\"method\":\"ping\"}}\n")]
    {
        rig.send_raw(line.as_bytes());
        assert!(!rig.one().to_string().contains(secret));
    }
    let long = request(1, "ping", json!({"x": secret.repeat(1000)}));
    assert!(!rig.ask(long).to_string().contains(secret));
    assert!(refused > 25, "{refused}");
    for (_, event) in &rig.side.events {
        if let Event::Violation(violation) = event {
            assert!(!violation.to_string().contains(secret), "{violation}");
        }
    }
}

#[test]
fn suggestions_come_in_the_order_they_were_given_and_for_what_there_is() {
    // P-337 P-339
    let reference = json!({"type": "ref/prompt", "name": "p"});
    let mut rig = Rig::legacy(config(), "2025-11-25");
    rig.side.machine.catalog_mut().prompt(&raw(&json!({"name": "p"}))).unwrap();
    rig.take();
    for message in [request as fn(u64, &str, Value) -> Value, modern] {
        for bad in [
            json!({"ref": {"type": "ref/prompt", "name": "gone"}, "argument": {"name": "a", "value": "v"}}),
            json!({"ref": reference, "argument": {"name": "a"}}),
            json!({"ref": reference, "argument": {"name": "a", "value": 5}}),
            json!({"ref": reference, "argument": {"name": "a", "value": "v"}, "context": {"arguments": {"b": 5}}}),
            json!({"argument": {"name": "a", "value": "v"}}),
        ] {
            assert_eq!(rig.refused(message(1, "completion/complete", bad.clone())), -32602, "{bad}");
        }
        let good = json!({"ref": reference, "argument": {"name": "a", "value": "v"}});
        let ranked: Vec<String> = (0..150).rev().map(|n| format!("v{n}")).collect();
        let result = complete(&json!({"completion": {"values": ranked}}));
        let answer = rig.answered(message(2, "completion/complete", good), &result);
        assert_eq!(
            answer["result"]["completion"]["values"],
            json!(ranked[..100]),
            "best first, the rest left out"
        );
    }
}

/// Lets what is open pass the waist, and answers all of it.
fn governed(rig: &mut Rig, waist: &mut Waist) -> Vec<Value> {
    for open in rig.open.values().cloned().collect::<Vec<_>>() {
        let method = Method::from_name(&open.method);
        let mut effect =
            Governed::All.call(&method, &raw(&open.params), &Principal::anonymous(), false).unwrap();
        effect.trust = Trust::Trusted;
        let reply = match waist.begin(&effect, rig.now) {
            Ok(admitted) => {
                waist.end(admitted, End::ok(), rig.now);
                match method {
                    Method::ToolsCall => Reply::text("done"),
                    Method::ResourcesRead => complete(&json!({"contents": []})),
                    Method::PromptsGet => complete(&json!({"messages": []})),
                    _ => complete(&json!({"completion": {"values": []}})),
                }
            }
            Err(rejection) => refused(&method, &rejection),
        };
        rig.respond(open.request, &reply).unwrap();
    }
    rig.take()
}

#[test]
fn all_that_an_application_answers_can_be_granted_and_limited() {
    // P-249 P-337 P-339 P-353 H-179 H-182
    let reference = json!({"type": "ref/prompt", "name": "p"});
    let requests = [
        ("tools/call", "a", json!({"name": "a"})),
        ("resources/read", "resources/read", json!({"uri": "x:y"})),
        ("prompts/get", "prompts/get", json!({"name": "p"})),
        (
            "completion/complete",
            "completion/complete",
            json!({"ref": reference, "argument": {"name": "a", "value": "v"}}),
        ),
    ];
    let is_refused = |said: &Value| said.get("error").is_some() || said["result"]["isError"] == true;
    for message in [request as fn(u64, &str, Value) -> Value, modern] {
        for (method, action, params) in &requests {
            let mut rig = Rig::legacy(config(), "2025-11-25");
            let catalog = rig.side.machine.catalog_mut();
            catalog.prompt(&raw(&json!({"name": "p"}))).unwrap();
            catalog.resource(&raw(&json!({"uri": "x:y", "name": "r"}))).unwrap();
            rig.take();
            let mut ask = |waist: &mut Waist| {
                rig.send(&message(1, method, params.clone()));
                governed(&mut rig, waist).remove(0)
            };
            let others = requests.iter().map(|(_, other, _)| *other).filter(|other| other != action);
            let mut without = Bindings::default();
            without.grant = Some(Grant::of(others).into());
            let denied = ask(&mut Waist::new(without).unwrap());
            assert!(is_refused(&denied), "{method} is not granted: {denied}");
            assert_eq!(
                denied.get("result").is_some(),
                *method == "tools/call",
                "a tool's refusal is a result"
            );
            let mut limited = Bindings::default();
            limited.grant = Some(Grant::of([*action]).into());
            limited.brakes.max_calls = 2;
            let mut limited = Waist::new(limited).unwrap();
            let answers = [ask(&mut limited), ask(&mut limited), ask(&mut limited)];
            let refused: Vec<bool> = answers.iter().map(is_refused).collect();
            assert_eq!(refused, [false, false, true], "{method} is too often asked for");
        }
    }
}

#[test]
fn what_goes_in_is_checked_and_what_comes_out_is_one_clean_line() {
    // P-249
    let mut filtered = config();
    filtered.tool_filter =
        Some(ToolFilter::new(|who: &Principal, tool: &str| tool != "b" || who.name() == Some("root")));
    let mut rig = Rig::legacy(filtered, "2025-11-25");
    rig.take();
    for message in [request as fn(u64, &str, Value) -> Value, modern] {
        assert_eq!(rig.refused(message(1, "tools/call", json!({"name": "a", "arguments": ["x"]}))), -32602);
        assert_eq!(rig.refused(message(1, "tools/call", json!({"name": "b"}))), -32602, "no access");
        let text = "a\r\nb\u{1b}[31m\u{0}\u{2028}{\"jsonrpc\":\"2.0\"}\n";
        let forged =
            json!({"content": [{"type": "text", "text": text, "annotations": null}], "isError": null});
        let answer = rig.answered(message(2, "tools/call", json!({"name": "a"})), &complete(&forged));
        assert_eq!(answer["result"]["content"], json!([{"type": "text", "text": text}]));
        assert!(answer["result"].get("isError").is_none());
    }
    let mut plain = Config::new("s", "1");
    plain.capabilities.logging = true;
    let mut rig = Rig::legacy(plain, "2025-11-25");
    rig.take();
    rig.side.machine.log(LogLevel::Error, None, &raw(&json!("a\nb")), rig.now).unwrap();
    assert_eq!(rig.one()["params"]["data"], "a\nb");
}
