#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::{Home, until, wait};

fn started(home: &Home) -> Child {
    let child = home
        .command(&["call", "demo/slow", "seconds=60", "--trace", "t.jsonl"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the call is sent", || {
        std::fs::read_to_string(home.path.join("work/t.jsonl"))
            .is_ok_and(|trace| trace.contains("tools/call"))
    });
    child
}

/// The processes whose parent this is.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|number| parent_of(*number) == Some(parent)).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
    // A zombie is gone already.
    (rest.next()? != "Z").then_some(())?;
    rest.next()?.parse().ok()
}

fn signal(name: &str, child: &Child) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn kill_9_in_mid_call_leaves_no_child() {
    let home = Home::new();
    let mut child = started(&home);
    let servers = children(child.id());
    assert_eq!(servers.len(), 1);
    signal("-KILL", &child);
    assert_eq!(wait(&mut child), 137);
    until("the server is gone", || parent_of(servers[0]).is_none());
}

#[test]
fn a_signal_cancels_the_call_stops_the_server_and_is_the_status() {
    for (name, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let home = Home::new();
        let mut child = started(&home);
        let servers = children(child.id());
        let before = Instant::now();
        signal(name, &child);
        assert_eq!(wait(&mut child), status);
        assert!(before.elapsed() < Duration::from_secs(3), "{name}: {:?}", before.elapsed());
        assert!(servers.iter().all(|server| parent_of(*server).is_none()), "{name}");
        assert!(home.read("work/t.jsonl").contains("notifications/cancelled"), "{name}");
        let out = child.wait_with_output().unwrap();
        assert_eq!((out.stdout.len(), String::from_utf8_lossy(&out.stderr).as_ref()), (0, ""), "{name}");
    }
}

#[test]
fn a_second_signal_does_not_wait() {
    let home = Home::new();
    let fake = home.path.join("fake.sh");
    let mut child = home
        .command(&["call", "--yes", "t", "--", "sh", fake.to_str().unwrap()])
        .env("ON_START", "trap '' TERM; touch ready")
        .env("ON_CALL", "touch called; while :; do sleep 0.1; done")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it is called", || home.path.join("work/called").exists());
    let servers = children(child.id());
    signal("-INT", &child);
    std::thread::sleep(Duration::from_millis(200));
    signal("-INT", &child);
    let before = Instant::now();
    assert_eq!(wait(&mut child), 130);
    assert!(before.elapsed() < Duration::from_secs(1));
    until("the server is gone", || servers.iter().all(|server| parent_of(*server).is_none()));
}

#[test]
fn a_signal_while_a_server_starts_ends_it_too() {
    let home = Home::new();
    let mut child = home.command(&["tools", "--", "sleep", "1000"]).stderr(Stdio::null()).spawn().unwrap();
    until("it is started", || children(child.id()).len() == 1);
    let servers = children(child.id());
    signal("-INT", &child);
    assert_eq!(wait(&mut child), 130);
    until("the server is gone", || servers.iter().all(|server| parent_of(*server).is_none()));
}

#[test]
fn a_server_behind_a_launcher_is_stopped_whatever_comes_of_the_request() {
    let home = Home::new();
    let launcher = home.write("launch.sh", &format!("{}\ntrue\n", home.fake()));
    for words in
        [&["inspect", "nope"][..], &["call", "--yes", "nope"], &["call", "--yes", "t", "--args", "{\"x\":1}"]]
    {
        let mut all = words.to_vec();
        all.extend(["--", "sh", launcher.to_str().unwrap()]);
        let mut command = home.command(&all);
        // It pays no heed to the end of its input.
        command.env("ON_START", "echo $$ >pid; exec 3<&0; trap 'exec sleep 1000' EXIT");
        crate::home::run(command, "");
        let pid: u32 = home.read("work/pid").trim().parse().unwrap();
        assert_eq!(parent_of(pid), None, "{words:?}: it is left over");
    }
}

#[test]
fn a_signal_while_a_server_behind_a_launcher_starts_ends_it_too() {
    let home = Home::new();
    let words =
        ["tools", "--", "sh", "-c", "sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000'; true"];
    for (name, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut child = home.command(&words).stderr(Stdio::null()).spawn().unwrap();
        let path = home.path.join("work/pid");
        until("it is started", || path.exists());
        let pid: u32 = home.read("work/pid").trim().parse().unwrap();
        signal(name, &child);
        assert_eq!(wait(&mut child), status);
        assert_eq!(parent_of(pid), None, "{name}: it is left over");
        std::fs::remove_file(path).unwrap();
    }
}
