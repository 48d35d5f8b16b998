//! What the tests themselves stand on: a server that is a process, does as its environment says, and writes down what it
//! saw.

use std::process::Command;

use crate::home::{Home, until};
use crate::pty::Terminal;

/// Whether a process still runs. One that ended may stay listed where nobody reaps orphans.
fn is_alive(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap().stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}

fn methods(record: &str) -> Vec<String> {
    let method = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect(line);
        line["method"].as_str().unwrap().to_owned()
    };
    record.lines().map(method).collect()
}

#[test]
fn the_server_does_what_its_environment_says() {
    // H-223
    let home = Home::new();
    let noted = "echo $$ >>starts";
    let record = ("RECORD", "record");
    let call = ["call", "--yes", "t", "--era", "legacy"];
    home.run_fake(&call, &[record, ("ON_START", noted)]).ok();
    let all = ["initialize", "notifications/initialized", "tools/list", "tools/call"];
    assert_eq!(methods(&home.read("work/record")), all);
    // It keeps silent when it starts.
    let silent = format!("{noted}; while :; do sleep 0.1; done");
    let ran = home.run_fake(&["call", "--yes", "t", "--timeout", "1"], &[record, ("ON_START", &silent)]);
    assert_eq!(ran.status, 4, "{ran:?}");
    assert_eq!(methods(&home.read("work/record")), all, "it read nothing");
    // It has a child that would stay.
    home.run_fake(&call, &[("ON_START", &format!("{noted}; sleep 600 & echo $! >child"))]).ok();
    // It starts once and never again.
    let once = format!("{noted}; [ ! -e was ] || exit 7; : >was");
    assert_eq!(home.run_fake(&call, &[("ON_START", &once)]).status, 0);
    let ran = home.run_fake(&call, &[("ON_START", &once)]);
    assert_eq!(ran.status, 4, "{ran:?}");
    let child = home.read("work/child");
    until("the child of a server is gone", || !is_alive(child.trim()));
    let starts = home.read("work/starts");
    assert_eq!(starts.lines().count(), 5, "{starts}");
    assert!(starts.lines().all(|pid| !is_alive(pid)), "{starts}");
}

#[test]
fn one_call_is_seen_on_the_wire_on_the_screen_and_on_the_disk() {
    // H-228
    let home = Home::new();
    let fake = home.path.join("fake.sh");
    home.write(
        "config/sanswire/config.json",
        &format!(
            r#"{{"mcpServers":{{"f":{{"command":"sh","args":["{}"],"era":"legacy","env":{{"RECORD":"record"}}}}}},"sanswire":{{"grants":"persistent"}}}}"#,
            fake.display()
        ),
    );
    let mut terminal = Terminal::start(&home, &["call", "f/t", "n=1"], &[]);
    terminal.expect("May f/t be called?");
    terminal.expect("Call it?");
    terminal.expect_keys();
    let before = home.read("work/record");
    assert_eq!(methods(&before), ["initialize", "notifications/initialized", "tools/list"]);
    terminal.send("jjj\r");
    let (status, screen) = terminal.wait();
    assert!(status == 0 && screen.ends_with("ok\r\n"), "{screen:?}");
    let wire = home.read("work/record");
    let called = wire.strip_prefix(&before).expect(&wire);
    let call: serde_json::Value = serde_json::from_str(called).unwrap();
    assert_eq!((&call["method"], &call["params"]["name"]), (&"tools/call".into(), &"t".into()));
    let grants = home.path.join("state/sanswire/grants");
    let kept: Vec<_> = std::fs::read_dir(&grants).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let kept = std::fs::read_to_string(&kept[0]).unwrap();
    assert!(kept.starts_with(r#"{"server":"f","tool":"t","#) && kept.contains(r#""always":true"#), "{kept}");
}
