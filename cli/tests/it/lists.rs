use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::home::Home;

#[test]
fn tools_of_one_server_are_the_listing_and_of_several_an_object_of_them() {
    let home = Home::new();
    let one = home.run(&["tools", "--json", "demo"]).json();
    assert_eq!(one["tools"][0]["name"], "echo");
    assert_eq!(home.run(&["tools", "--json"]).json()["demo"], one);
    let inspected = home.run(&["inspect", "demo/echo", "--json"]).json();
    assert_eq!(inspected, one["tools"][0]);
}

#[test]
fn a_dead_server_takes_nothing_from_the_others() {
    let home = Home::new();
    home.configure(&format!(
        r#"{{"dead":{{"command":"/nowhere"}},"off":{{"command":"/nowhere","disabled":true}},"live":{{"command":"sh","args":["{}"]}}}}"#,
        home.path.join("fake.sh").display()
    ));
    let ran = home.run(&["tools"]);
    assert_eq!(ran.status, 4);
    assert!(ran.stdout.contains("live (fake 1, 2025-11-25)\n  t()\n"), "{ran:?}");
    assert!(ran.stderr.contains("dead: there is no program /nowhere"), "{ran:?}");
    let ran = home.run(&["tools", "--json"]);
    assert_eq!(ran.json()["live"]["tools"][0]["name"], "t");
    assert_eq!(ran.error()["server"], "dead");
}

#[test]
fn pages_are_merged_and_what_cannot_be_used_is_named_and_kept_in_json() {
    let home = Home::new();
    let tools = r#"[{"name":"a","inputSchema":{"type":"object"},"extra":1},{"name":5},{"name":"a"}]"#;
    let ran = home.run_fake(&["tools"], &[("TOOLS", tools)]);
    assert!(ran.stdout.contains("  a()\n"), "{ran:?}");
    assert!(ran.stderr.contains("element 1") && ran.stderr.contains("element 2"), "{ran:?}");
    let json = home.run_fake(&["tools", "--json"], &[("TOOLS", tools)]).json();
    assert_eq!(json["tools"].as_array().unwrap().len(), 3);
    assert_eq!(json["tools"][0]["extra"], 1);
    let call = home.run_fake(&["call", "--yes", "5"], &[("TOOLS", tools)]);
    assert_eq!(call.status, 5);
}

#[test]
fn resources_prompts_and_completions() {
    let home = Home::new();
    let listed = home.run(&["resources", "demo", "--json"]).json();
    assert_eq!(listed["resources"][0]["uri"], "demo://readme");
    assert_eq!(listed["resourceTemplates"][0]["uriTemplate"], "demo://greeting/{name}");
    assert!(home.run(&["resources"]).ok().contains("demo://greeting/{name}"));
    assert!(home.run(&["read", "demo", "demo://readme"]).ok().starts_with("# demo\n"));
    assert_eq!(home.run(&["read", "demo/demo://greeting/Ada"]).ok(), "Hello, Ada!\n");
    assert!(home.run(&["read", "demo", "demo://disc.png"]).ok().contains("[resource image/png, 106 bytes"));
    home.run(&["read", "demo", "demo://disc.png", "--out", "got"]).ok();
    assert!(std::fs::read(home.path.join("work/got/disc.png")).unwrap().starts_with(b"\x89PNG"));
    for era in ["legacy", "modern"] {
        let ran = home.run(&["read", "demo", "demo://nope", "--era", era, "--json"]);
        assert_eq!(
            (ran.status, ran.error()["rpc"]["data"]["uri"].as_str()),
            (5, Some("demo://nope")),
            "{ran:?}"
        );
    }
    assert!(home.run(&["prompts"]).ok().contains("demo/greet"));
    let prompt = home.run(&["prompt", "demo/greet", "name=Ada", "tone=brief"]).ok();
    assert_eq!(prompt, "user:\nWrite a brief greeting for Ada, one sentence long.\n");
    assert_eq!(home.run(&["prompt", "demo/greet"]).status, 5);
    assert_eq!(home.run(&["complete", "demo/greet", "name=a"]).ok(), "Ada\nAlan\n");
    assert_eq!(home.run(&["complete", "demo", "demo://greeting/{name}", "name=b"]).ok(), "Barbara\n");
}

#[test]
fn a_server_without_a_thing_has_none_of_it() {
    let home = Home::new();
    assert_eq!(home.run_fake(&["prompts", "--json"], &[]).ok(), "{\"prompts\":[]}\n");
    assert_eq!(
        home.run_fake(&["resources", "--json"], &[]).ok(),
        "{\"resources\":[],\"resourceTemplates\":[]}\n"
    );
}

#[test]
fn a_server_that_listens_is_dialled() {
    use std::os::fd::OwnedFd;
    let home = Home::new();
    let serve = |stream: OwnedFd| {
        let output = stream.try_clone().unwrap();
        home.command(&["demo-server"]).stdin(stream).stdout(output).spawn().unwrap()
    };
    let path = home.path.join("work/socket");
    let unix = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap().to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut first = serve(unix.accept().unwrap().0.into());
            let mut second = serve(tcp.accept().unwrap().0.into());
            for server in [&mut first, &mut second] {
                assert_eq!(crate::home::wait(server), 0);
            }
        });
        assert_eq!(home.run(&["call", "--yes", "echo", "text=hi", "--unix", "socket"]).ok(), "hi\n");
        assert_eq!(home.run(&["call", "--yes", "echo", "text=ho", "--tcp", &address]).ok(), "ho\n");
    });
    assert_eq!(home.run(&["tools", "--unix", "nowhere"]).status, 4);
    assert_eq!(home.run(&["tools", "--unix", "socket", "--", "true"]).status, 1);
    assert_eq!(home.run(&["tools", "demo", "--unix", "socket"]).status, 1);
}

#[test]
fn the_demo_server_listens_and_ends_on_a_signal() {
    let home = Home::new();
    let served = |words: &[&str]| {
        let mut server =
            home.command(&[&["demo-server"], words].concat()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(server.stderr.take().unwrap()).read_line(&mut said).unwrap();
        (server, said.trim().strip_prefix("listening on ").expect(&said).to_owned())
    };
    let end = |mut server: Child, name: &str| {
        let killed = Command::new("kill").args([name, &server.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(crate::home::wait(&mut server), 0);
    };
    let (tcp, address) = served(&["--tcp", "127.0.0.1:0"]);
    let (unix, path) = served(&["--unix", "listens", "--allow", "echo"]);
    assert_eq!(home.run(&["call", "--yes", "echo", "text=hi", "--tcp", &address]).ok(), "hi\n");
    assert_eq!(home.run(&["call", "--yes", "echo", "text=ho", "--unix", &path]).ok(), "ho\n");
    assert_eq!(home.run(&["call", "--yes", "image", "--unix", &path]).status, 5);
    let taken = home.run(&["demo-server", "--tcp", &address]);
    assert!(taken.status == 1 && taken.stderr.contains("cannot be listened on"), "{taken:?}");
    end(tcp, "-TERM");
    end(unix, "-INT");
    assert!(!home.path.join("work/listens").exists());
    assert_eq!(home.run(&["tools", "--tcp", &address]).status, 4);
}

#[test]
fn servers_shows_all_and_starts_only_when_asked() {
    // H-171
    let home = Home::new();
    home.configure(&format!(
        r#"{{"fine":{{"command":"sh","args":["{}","--token=hunter22"]}},"broken":{{"args":[]}},"web":{{"url":"https://u:p@example.com/mcp?key=k"}}}}"#,
        home.path.join("fake.sh").display()
    ));
    let shown = home.run(&["servers"]).ok();
    assert!(shown.contains("not started") && shown.contains("neither command nor url"), "{shown}");
    assert!(shown.contains("https://example.com/mcp") && shown.contains("not connected"), "{shown}");
    assert!(!shown.contains("hunter22") && !shown.contains("u:p") && !shown.contains("key=k"), "{shown}");
    let json = home.run(&["servers", "--json", "--check", "fine"]).json();
    assert_eq!(
        (&json["servers"][0]["state"], &json["servers"][0]["offered"]),
        (&"connected".into(), &1.into())
    );
    let ran = home.run(&["servers", "--check", "web"]);
    assert_eq!(ran.status, 1);
    assert_eq!(home.run(&["servers", "nope"]).status, 5);
}

#[test]
fn a_server_that_is_named_twice_is_asked_once() {
    let home = Home::new();
    for verb in ["tools", "resources", "prompts", "doctor"] {
        let once = home.run(&[verb, "demo", "--json"]).ok();
        let twice = home.run(&[verb, "demo", "demo", "--json"]).ok();
        assert_eq!(once.matches("\"tools\"").count(), twice.matches("\"tools\"").count(), "{verb}: {twice}");
        assert!(!twice.starts_with("{\"demo\""), "{verb}: {twice}");
    }
}
