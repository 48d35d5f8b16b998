//! Servers on the web that want to know who asks, refuse, or are none.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::home::{Home, run};
use crate::web::{Demo, Web, answer, json_answer, legacy};

/// What a server says in the body beside its challenge.
fn body(message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": message}})
}

#[test]
fn a_challenge_is_status_3_with_what_it_means_and_what_to_do() {
    let metadata = r#"WWW-Authenticate: Bearer resource_metadata="https://login.example/.well-known/oauth-protected-resource/mcp", scope="a b""#;
    for (status, field, says, hint, told) in [
        ("401 Unauthorized", "", "authorization is needed (HTTP 401)", "--bearer-env NAME", json!(null)),
        (
            "401 Unauthorized",
            metadata,
            "it wants the scope a b; login.example tells",
            "--bearer-env NAME",
            json!({
                "scheme": "Bearer", "scope": "a b",
                "resource_metadata": "https://login.example/.well-known/oauth-protected-resource/mcp"
            }),
        ),
        (
            "403 Forbidden",
            r#"WWW-Authenticate: Bearer error="insufficient_scope", scope="files""#,
            "the token does not allow it (HTTP 403); it wants the scope files; it says: insufficient_scope",
            "a token that has this scope",
            json!({"scheme": "Bearer", "scope": "files", "error": "insufficient_scope"}),
        ),
        ("403 Forbidden", "", "the server forbids it (HTTP 403)", "token", json!(null)),
        (
            "401 Unauthorized",
            "WWW-Authenticate: Basic realm=\"the office\"",
            "it guards the office",
            "'Authorization: Basic ${NAME}'",
            json!({"scheme": "Basic", "realm": "the office"}),
        ),
    ] {
        let home = Home::new();
        let fields = if field.is_empty() { String::new() } else { format!("{field}\r\n") };
        let web = Web::new(move |_| json_answer(status, &fields, &body("Missing \u{1b}[2Jtoken")));
        for era in ["auto", "legacy", "modern"] {
            let words = ["tools", "--url", &web.url(), "--era", era];
            let ran = home.run(&words);
            assert_eq!(ran.status, 3, "{field}: {ran:?}");
            assert!(ran.stderr.contains(says) && ran.stderr.contains(hint), "{field}: {ran:?}");
            assert!(ran.stderr.contains("Missing \\x1b[2Jtoken"), "{ran:?}");
            let ran = home.run(&[&words[..], &["--json"]].concat());
            let error = ran.error();
            assert_eq!((ran.status, &error["code"], &error["exit"]), (3, &"authorization".into(), &3.into()));
            assert_eq!(error["status"].as_u64(), status.get(..3).unwrap().parse().ok(), "{error}");
            assert_eq!(error["challenge"], told, "{error}");
        }
        // Nothing was asked for again and again.
        assert!(web.asked().len() <= 12, "{:?}", web.asked().len());
        home.configure(&json!({"w": {"url": web.url()}}).to_string());
        let ran = home.run(&["call", "--yes", "w/t"]);
        assert!(
            ran.status == 3
                && ran.stderr.contains(if hint.starts_with("--") { "\"bearer_env\"" } else { hint }),
            "{ran:?}"
        );
        home.write(".cursor/mcp.json", &json!({"mcpServers": {"c": {"url": web.url()}}}).to_string());
        let ran = home.run(&["call", "--yes", "c/t"]);
        let hint = if hint.starts_with("--") { "sanswire import puts" } else { hint };
        assert!(ran.status == 3 && ran.stderr.contains(hint), "{ran:?}");
        for verb in [&["doctor", "w"][..], &["servers", "--check", "w"], &["resources", "w"]] {
            let ran = home.run(verb);
            assert_eq!(ran.status, 3, "{verb:?}: {ran:?}");
        }
    }
}

#[test]
fn a_token_that_is_not_accepted_is_not_sent_for_ever_nor_shown() {
    let home = Home::new();
    let web = Web::new(|asked| {
        let token = asked.fields.get("authorization").cloned().unwrap_or_default();
        // Some servers tell everybody what they were told.
        let field = format!(
            "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"{token} is no good\"\r\n"
        );
        json_answer("401 Unauthorized", &field, &body(&format!("{token} has expired")))
    });
    for words in [&[][..], &["--json"], &["--trace", "t.jsonl"]] {
        let url = web.url();
        let mut command = home.command(&[&["tools", "--url", &url, "--bearer-env", "T"], words].concat());
        command.env("T", "s3cr3t-token-1");
        let ran = run(command, "");
        assert!(ran.status == 3 && ran.stderr.contains("is no good"), "{ran:?}");
        assert!(ran.stderr.contains("use another one"), "{ran:?}");
        assert!(!ran.stderr.contains("s3cr3t") && !ran.stdout.contains("s3cr3t"), "{ran:?}");
    }
    assert!(!home.read("work/t.jsonl").contains("s3cr3t"));
    assert!(web.asked().len() <= 6, "{:?}", web.asked().len());
    assert!(web.asked().iter().all(|asked| asked.fields["authorization"] == "Bearer s3cr3t-token-1"));
}

#[test]
fn a_call_that_needs_more_than_the_listing_ends_in_status_3() {
    let home = Home::new();
    let web = Web::new(|asked| match asked.method().as_str() {
        "tools/call" => {
            let field = "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"write\"\r\n";
            answer("403 Forbidden", field, "")
        }
        _ => legacy(asked, "ok"),
    });
    let words = ["call", "--yes", "t", "--url", &web.url(), "--era", "legacy"];
    let ran = home.run(&words);
    assert!(ran.status == 3 && ran.stderr.contains("it wants the scope write"), "{ran:?}");
    let ran = home.run(&[&words[..], &["--json"]].concat());
    assert_eq!((ran.status, &ran.error()["challenge"]["scope"]), (3, &"write".into()));
    let calls = web.asked().iter().filter(|asked| asked.method() == "tools/call").count();
    assert_eq!(calls, 2, "once a run");
}

#[test]
fn what_both_transports_said_is_told() {
    let home = Home::new();
    let web = Web::new(|asked| match asked.verb.as_str() {
        "GET" => answer("406 Not Acceptable", "", ""),
        _ => answer("405 Method Not Allowed", "", ""),
    });
    let ran = home.run(&["tools", "--url", &web.url()]);
    assert_eq!(ran.status, 4, "{ran:?}");
    for says in ["over streamable HTTP: HTTP status 405", "the older way: HTTP status 406", "check the path"]
    {
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
    // One that knows the older transport only, and wants to know who asks.
    let web = Web::new(|asked| match asked.verb.as_str() {
        "GET" => answer("401 Unauthorized", "WWW-Authenticate: Bearer scope=\"read\"\r\n", ""),
        _ => answer("405 Method Not Allowed", "", ""),
    });
    let ran = home.run(&["tools", "--url", &web.url()]);
    assert!(ran.status == 3 && ran.stderr.contains("it wants the scope read"), "{ran:?}");
}

#[test]
fn what_went_wrong_with_a_call_is_told() {
    let home = Home::new();
    for (sent, says) in [
        ("HTTP/1.1 200 OK\r\nsecret : x\r\n\r\n", "the answer is no correct HTTP/1.1: its head is malformed"),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "forgotten the session; it was not carried out",
        ),
    ] {
        let web = Web::new(move |asked| match asked.method().as_str() {
            "tools/call" => sent.into(),
            "initialize" => legacy(asked, "ok").replacen("\r\n", "\r\nMcp-Session-Id: s\r\n", 1),
            _ => legacy(asked, "ok"),
        });
        let ran = home.run(&["call", "--yes", "t", "--url", &web.url(), "--era", "legacy"]);
        assert!(ran.status != 0 && ran.stderr.contains(says), "{ran:?}");
        assert!(!ran.stderr.contains("secret"), "{ran:?}");
    }
}

#[test]
fn what_is_no_mcp_server_is_status_4_with_a_remedy() {
    let home = Home::new();
    for (what, says) in [
        (answer("404 Not Found", "Content-Type: text/html\r\n", "<h1>no</h1>"), "check the path"),
        (answer("405 Method Not Allowed", "", ""), "check the path"),
        (answer("500 Internal Server Error", "", ""), "its log"),
        (answer("503 Service Unavailable", "Retry-After: 1\r\n", ""), "try again later"),
        (answer("200 OK", "Content-Type: text/html\r\n", "<h1>hello</h1>"), "is that an MCP server?"),
        (answer("200 OK", "Content-Type: application/json\r\n", "{\"hello\":1}"), ""),
        (answer("302 Found", "Location: http://127.0.0.1:1/x\r\n", ""), "the address that is meant"),
        (
            answer("301 Moved Permanently", "Location: /mcp/?token=x\r\n", ""),
            "it points to /mcp/ on the same",
        ),
        ("SSH-2.0-OpenSSH_9.9\r\n".into(), "no correct HTTP/1.1"),
        (String::new(), ""),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello".into(),
            "no correct HTTP/1.1",
        ),
    ] {
        let sent = what.clone();
        let web = Web::new(move |_| sent.clone());
        for words in [&[][..], &["--json"]] {
            let ran = home.run(&[&["tools", "--timeout", "3", "--url", &web.url()], words].concat());
            assert_eq!(ran.status, 4, "{what:?}: {ran:?}");
            assert!(ran.stderr.contains(says) && ran.stdout.is_empty(), "{what:?}: {ran:?}");
            assert!(words.is_empty() || ran.error()["exit"] == 4, "{ran:?}");
            assert!(!ran.stderr.contains("token=x"), "{ran:?}");
        }
        let ran = home.run(&["doctor", "--timeout", "3", "--url", &web.url(), "--json"]);
        assert_eq!((ran.status, &ran.json()["works"]), (4, &false.into()), "{what:?}: {ran:?}");
    }
    // Nobody there, and somebody who says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let ran = home.run(&["tools", "--url", &url, "--timeout", "1"]);
    assert!(ran.status == 4 && ran.stderr.contains("--timeout"), "{ran:?}");
    drop(silent);
    let ran = home.run(&["tools", "--url", &url]);
    assert!(ran.status == 4 && ran.stderr.contains("check the address"), "{ran:?}");
    let ran = home.run(&["tools", "--url", "http://surely-not-there.invalid/mcp", "--timeout", "10"]);
    assert_eq!(ran.status, 4, "{ran:?}");
}

#[test]
fn what_is_sent_to_a_server_goes_nowhere_else() {
    // H-155
    let home = Home::new();
    let other = Web::new(|asked| legacy(asked, "stolen"));
    let elsewhere = other.url();
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = elsewhere.clone();
        let web = Web::new(move |_| answer(status, &format!("Location: {to}?s3cr3t-too=1\r\n"), ""));
        let url = web.url();
        let mut command =
            home.command(&["tools", "--url", &url, "--bearer-env", "T", "-H", "X-Key: s3cr3t-key"]);
        command.env("T", "s3cr3t-token");
        let ran = run(command, "");
        assert!(ran.status == 4 && !ran.stderr.contains("s3cr3t"), "{status}: {ran:?}");
        let origin = elsewhere.trim_end_matches("/mcp");
        assert!(ran.stderr.contains(&format!("it points to {origin}, another origin")), "{status}: {ran:?}");
    }
    assert_eq!(other.asked().len(), 0);
    // Within its own origin it may point on.
    let web = Web::new(|asked| match asked.target.as_str() {
        "/mcp" => answer("307 Temporary Redirect", "Location: /there\r\n", ""),
        _ => legacy(asked, "ok"),
    });
    let ran = home.run(&["call", "--yes", "t", "--url", &web.url(), "--era", "legacy", "-H", "X-Key: k"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "ok\n"), "{ran:?}");
    let there: Vec<_> = web.asked().into_iter().filter(|asked| asked.target == "/there").collect();
    assert!(!there.is_empty() && there.iter().all(|asked| asked.fields["x-key"] == "k"), "{there:?}");
}

#[test]
fn who_is_no_such_server_is_not_taken_for_one_of_another_version() {
    let home = Home::new();
    let ended = "the server ended the connection before it was ready; is it an MCP server?";
    for (said, told) in [
        ("", ended),
        ("SSH-2.0-OpenSSH_9.9\r\n", "it is no HTTP; is it an MCP server? Check the address"),
        ("\x15\x03\x03\0\x02\x02\x16", "it is no HTTP; is it an MCP server? Check the address"),
        (&answer("202 Accepted", "", ""), "is it an MCP server? Check the address"),
        (
            &answer("200 OK", "Content-Type: application/json\r\n", "{\"hello\":1}"),
            "is it an MCP server? Check the address",
        ),
        (&answer("200 OK", "Content-Type: application/json\r\n", "[1,"), "what it sends is no MCP: [1,"),
    ] {
        let said = said.to_owned();
        let web = Web::new(move |_| said.clone());
        let ran = home.run(&["tools", "--url", &web.url()]);
        assert!(ran.status == 4 && ran.stderr.contains(told), "{told}: {ran:?}");
        assert!(!ran.stderr.contains("version"), "{ran:?}");
    }
}

#[test]
fn how_a_server_is_reached_is_said_and_what_stands_in_the_way() {
    let home = Home::new();
    let web = Web::new(|asked| legacy(asked, "ok"));
    let plain = web.url();
    // It speaks HTTP to whoever begins with TLS.
    let demo = Demo::start(&home);
    let secured = demo.url.replace("http://", "https://");
    let proxy = Web::new(|_| answer("407 Proxy Authentication Required", "", ""));
    let by = proxy.url().replace("/mcp", "");
    home.write("work/empty.pem", "");
    for (words, status, code, says) in [
        (&["--url", &secured][..], 4, "tls", "TLS"),
        (&["--url", &secured, "--ca-file", "nowhere.pem"], 1, "configuration", "nowhere.pem cannot be read"),
        (&["--url", &secured, "--ca-file", "empty.pem"], 1, "configuration", "empty.pem"),
        (
            &["--url", &secured, "--client-cert", "nowhere.pem"],
            1,
            "configuration",
            "nowhere.pem cannot be read",
        ),
        (&["--url", &plain, "--public-only"], 4, "unreachable", "does not belong to the public network"),
        (&["--url", &plain, "--proxy", &by], 4, "unreachable", "wants a name and a password (407)"),
        (&["--url", &plain, "--proxy", "socks5://x"], 1, "usage", "its proxy cannot be used"),
    ] {
        let ran = home.run(&[&["tools", "--json"], words].concat());
        let error = ran.error();
        assert_eq!((ran.status, &error["code"]), (status, &code.into()), "{words:?}: {ran:?}");
        assert!(error["message"].as_str().unwrap().contains(says), "{words:?}: {error}");
    }
    assert_eq!(proxy.asked()[0].verb, "CONNECT");
    let with = by.replace("http://", "http://me:s3cr3t-proxy@");
    for words in [&["tools"][..], &["tools", "--json"], &["doctor"], &["doctor", "--json"]] {
        let ran = home.run(&[words, &["--url", &plain, "--proxy", &with]].concat());
        assert!(ran.status == 4 && !format!("{ran:?}").contains("s3cr3t"), "{ran:?}");
    }
    // A file says the same, from its own folder.
    let entry = json!({"url": secured, "ca_file": "ca/nowhere.pem"});
    home.configure(&json!({"w": entry, "p": {"url": plain, "proxy": "none", "era": "legacy"}}).to_string());
    let ran = home.run(&["tools", "w"]);
    assert!(ran.status == 1 && ran.stderr.contains("config/sanswire/ca/nowhere.pem"), "{ran:?}");
    let mut command = home.command(&["call", "--yes", "p/t"]);
    command.env("HTTP_PROXY", &by).env("ALL_PROXY", &by);
    assert_eq!(run(command, "").ok(), "ok\n");
}

#[test]
fn doctor_tells_what_it_met_on_the_way() {
    let home = Home::new();
    let web = Web::new(|asked| match asked.method().as_str() {
        "initialize" => legacy(asked, "ok").replacen(
            "\r\n",
            "\r\nMcp-Session-Id: s3cr3t-session\r\nServer: old one\r\n",
            1,
        ),
        _ => legacy(asked, "ok"),
    });
    let words = ["doctor", "--url", &web.url(), "--era", "legacy"];
    let shown = home.run(&words).ok();
    for part in [
        "  address      127.0.0.1:",
        "  tls          none",
        "  POST         HTTP 200 after ",
        "server: old one",
        "  transport    Streamable HTTP\n",
        "  session      kept by the server",
        "  in short     it works\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("s3cr3t") && !shown.contains("stderr"), "{shown}");
    let json = home.run(&[&words[..], &["--json"]].concat()).json();
    let http = &json["http"];
    assert_eq!(
        (&json["works"], &http["transport"], &http["session"]),
        (&true.into(), &"http".into(), &true.into())
    );
    let first = &http["answers"][0];
    assert_eq!(
        (&first["request"], &first["status"], &first["fields"]["server"]),
        (&"POST".into(), &200.into(), &"old one".into())
    );
    assert!(
        http["address"].as_str().unwrap().starts_with("127.0.0.1:") && !json.to_string().contains("s3cr3t"),
        "{json}"
    );
    // What was met is told of a server that lets nobody in, too.
    let web = Web::new(|_| answer("401 Unauthorized", "WWW-Authenticate: Bearer realm=\"x\"\r\n", ""));
    let ran = home.run(&["doctor", "--url", &web.url()]);
    for part in [
        "  address      127.0.0.1:",
        "HTTP 401 after ",
        "www-authenticate: Bearer realm=\"x\"",
        "it guards x",
        "--bearer-env NAME",
    ] {
        assert!(ran.status == 3 && ran.stdout.contains(part), "{part}: {ran:?}");
    }
    let ran = home.run(&["doctor", "--url", &web.url(), "--json"]);
    let json = ran.json();
    assert_eq!(
        (ran.status, &json["code"], &json["http"]["answers"][0]["status"]),
        (3, &"authorization".into(), &401.into())
    );
    assert_eq!(json["challenge"]["realm"], "x");
}
