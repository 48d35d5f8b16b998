use crate::home::{Home, Ran};

fn doctor(words: &[&str]) -> Ran {
    Home::new().run(&[&["doctor", "--json", "--timeout", "1.5", "--"], words].concat())
}

#[test]
fn a_server_that_does_not_work_gives_a_typed_sentence() {
    let home = Home::new();
    let plain = home.write("plain.txt", "not a program");
    for (words, code, says) in [
        (&["/nowhere/server"][..], "not_started", "no program /nowhere/server"),
        (&["no-such-program-anywhere"], "not_started", "in PATH"),
        (&[plain.to_str().unwrap()], "not_started", "may not be executed"),
        (&["sh", "-c", "echo boom >&2; exit 3"], "not_ready", "exited with status 3"),
        (&["sh", "-c", "kill -9 $$"], "not_ready", "SIGKILL"),
        (&["sh", "-c", "while read l; do echo hello; done"], "timed_out", "no MCP: hello"),
        (&["cat"], "not_ready", "refused initialize"),
        (&["sleep", "1000"], "timed_out", "1500 ms"),
        (&["yes"], "not_ready", "broke the protocol"),
        (&["sh", "-c", "head -c 40000000 /dev/zero; sleep 100"], "timed_out", "silent"),
        (&["sh", "-c", "printf '\\377\\376\\n'; sleep 100"], "timed_out", "no MCP"),
    ] {
        let ran = doctor(words);
        let report = ran.json();
        assert_eq!(ran.status, 4, "{words:?}: {ran:?}");
        assert_eq!((&report["works"], &report["code"]), (&false.into(), &code.into()), "{words:?}: {ran:?}");
        let message = report["message"].as_str().unwrap();
        assert!(message.contains(says), "{words:?}: {message}");
        assert!(!message.contains(['\u{1b}', '\0']), "{words:?}: {message:?}");
    }
}

#[test]
fn a_good_server_works_without_remarks() {
    let home = Home::new();
    let report = home.run(&["doctor", "demo", "--json"]).json();
    assert_eq!(
        (&report["works"], &report["era"], &report["tools"]),
        (&true.into(), &"modern".into(), &11.into())
    );
    let shown = home.run(&["doctor"]).ok();
    assert!(shown.contains("in short     it works\n"), "{shown}");
}

#[test]
fn b_03_p_15_faults_that_can_be_lived_with_are_counted_and_shown() {
    let home = Home::new();
    let tools = r#"[{"name":"ok","inputSchema":{"type":"object"}},{"title":"nameless"},{"name":"bare"}]"#;
    let start = "printf '\\033[31mBanner\\n[1] two\\n\\n'; echo starting >&2; trap '' TERM";
    let list = "echo 42; printf '{\"jsonrpc\":\"2.0\",\"id\":777,\"result\":{}}\\n'";
    let variables = [("TOOLS", tools), ("ON_START", start), ("ON_LIST", list)];
    let ran = home.run_fake(&["doctor", "--json"], &variables);
    let report = ran.json();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(
        (&report["works"], &report["tools"], &report["junk_lines"]),
        (&true.into(), &2.into(), &3.into()),
        "{ran:?}"
    );
    assert_eq!(report["first_junk"], "\\x1b[31mBanner");
    assert_eq!(report["set_aside"].as_array().unwrap().len(), 1, "{ran:?}");
    assert_eq!(report["remarks"].as_array().unwrap().len(), 1, "{ran:?}");
    assert!(report["violations"].as_array().unwrap().len() >= 2, "{ran:?}");
    assert_eq!(report["stderr"], "starting\n");
    let shown = home.run_fake(&["doctor"], &variables).ok();
    for part in [
        "junk lines   3, the first: \\x1b[31mBanner",
        "set aside    element 1",
        "stderr       starting",
        "remarks",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn how_a_server_takes_the_end_of_its_input_is_told() {
    let home = Home::new();
    let ending = |on_list: &str| {
        let list = format!("reply \"\\\"result\\\":{{\\\"tools\\\":[]}}\"; {on_list}; ");
        let ran = home.run_fake(&["doctor", "--json"], &[("ON_LIST", &list)]);
        ran.json()["ending"].as_str().unwrap().to_owned()
    };
    assert!(ending("exec cat >/dev/null").contains("after its input ended"));
    let told = ending("exec sleep 1000");
    assert!(told.contains("on SIGTERM"), "{told}");
    let told = ending("trap '' TERM; exec sleep 1000");
    assert!(told.contains("SIGKILL"), "{told}");
}
