//! Words about a server on the web that cannot be meant: each is told in a sentence, with what to give instead, and
//! without the word, which may be secret.

use std::net::TcpListener;

use crate::home::{Home, run};
use crate::web::{Demo, Web, legacy};

const OWN: &str = "config/sanswire/config.json";

/// Runs with `--url`, unless the words have one, and these variables.
fn given(home: &Home, verb: &[&str], words: &[&str]) -> crate::home::Ran {
    let url: &[&str] = if words.contains(&"--url") { &[] } else { &["--url", "https://example.invalid/mcp"] };
    let mut command = home.command(&[verb, url, words].concat());
    command.env("EMPTY", " ").env("WORD", "Bearer").env("ODD", "s3cret\u{7}\u{7}");
    run(command, "")
}

#[test]
fn words_that_cannot_be_meant_are_refused_before_anything_is_asked_or_written() {
    let home = Home::new();
    let whole = "such as https://example.com/mcp";
    let quotes = "in quotes, as 'NAME: VALUE'";
    let proxy = "as http://HOST:PORT, or none";
    let variable = "give the name of that";
    for (words, says, hint) in [
        (&["--url", ""][..], "--url cannot be used: an address begins with http:// or https://", whole),
        (&["--url", "example.com/mcp?key=s3cret"], "begins with http:// or https://", whole),
        (&["--url", "localhost:8080"], "begins with http:// or https://", whole),
        (&["--url", "ws://x"], "begins with http:// or https://", whole),
        (&["--url", "http://a b"], "the host is missing or cannot be one", whole),
        (&["--url", "http://[::1"], "the host is missing or cannot be one", whole),
        (&["--url", "http://x:99999"], "a number from 1 to 65535", whole),
        (&["--url", "https://me:s3cret@x"], "use a header", "'Authorization: Basic ${NAME}'"),
        (&["--url", "https://x/${T}"], "must be escaped", "let the shell do it"),
        (&["--url", "${URL}"], "begins with http:// or https://", "let the shell do it"),
        (&["-H", ""], "not Name: value", quotes),
        (&["-H", "Bearer s3cret"], "not Name: value", quotes),
        (&["-H", "Authorization=s3cret"], "not Name: value", quotes),
        (&["-H", "Authorization:"], "Authorization has no value", quotes),
        (&["-H", "X-Api-Key: "], "X-Api-Key has no value", quotes),
        (&["-H", "Authorization: Bearer "], "nothing behind it", "is the variable empty"),
        (&["-H", "authorization: basic"], "nothing behind it", "is the variable empty"),
        (&["-H", "My Key: s3cret"], "\"My Key\" is no name of a header", ""),
        (&["-H", "Key: s3cret\u{7}"], "control characters", "take them out"),
        (&["-H", "Content-Length: 1"], "belongs to the transport", "leave it out"),
        (&["--proxy", ""], "its proxy cannot be used: the host is missing", proxy),
        (&["--proxy", "http://me:s3cret@"], "the host is missing", proxy),
        (&["--proxy", "http://me:s3cret%zz@p"], "not properly escaped", proxy),
        (&["--proxy", "socks5://me:s3cret@p"], "only proxies at http:// and https://", proxy),
        (&["--proxy", "p:port"], "a number from 1 to 65535", proxy),
        (&["--bearer-env", ""], "not the name of a variable", variable),
        (&["--bearer-env", "sk-s3cret"], "not the name of a variable", variable),
        (&["--bearer-env", "${T}"], "not the name of a variable", variable),
        (&["--bearer-env", "T=s3cret"], "not the name of a variable", variable),
        (&["--transport", "stdio"], "stdio", "possible values: auto, http, sse"),
        (&["--client-key", "k.pem"], "--client-cert <FILE>", ""),
        (&["--ca-file", ""], "a value is required", ""),
    ] {
        for verb in [&["tools"][..], &["add", "n"]] {
            let ran = given(&home, verb, words);
            assert!(ran.status == 1 && ran.stdout.is_empty(), "{words:?}: {ran:?}");
            assert!(ran.stderr.contains(says) && ran.stderr.contains(hint), "{words:?}: {ran:?}");
            assert!(!ran.stderr.contains("s3cret"), "{words:?}: {ran:?}");
        }
    }
    assert!(!home.path.join("config").exists());
    // Without quotes, what belongs to a header is taken for the name of a server.
    for header in [&["Authorization:", "Bearer", "s3cret"][..], &["X-Api-Key:", "s3cret"]] {
        for verb in ["tools", "prompts", "doctor"] {
            let ran = given(&home, &[verb], &[&["-H"], header].concat());
            assert!(ran.status == 1 && ran.stderr.contains(quotes), "{verb}: {ran:?}");
            assert!(!ran.stderr.contains("s3cret"), "{verb}: {ran:?}");
        }
    }
}

#[test]
fn what_words_lead_to_that_is_not_there_is_told_before_anything_is_asked() {
    let home = Home::new();
    home.write("work/folder/file", "");
    home.write("work/junk.pem", "no certificate");
    for (words, says, hint) in [
        (&["--bearer-env", "NOT_SET"][..], "the variable NOT_SET is not set", "that holds the token"),
        (&["--bearer-env", "EMPTY"], "the variable EMPTY is empty", "that holds the token"),
        (&["--bearer-env", "WORD"], "the variable WORD holds no token", "that holds the token"),
        (&["--bearer-env", "ODD"], "what the variable ODD holds is no token", "that holds the token"),
        (&["-H", "Authorization: Bearer ${EMPTY}"], "nothing behind it", "is the variable empty"),
        (&["-H", "Authorization: ${NOT_SET}"], "the variable NOT_SET is not set", "set NOT_SET"),
        (&["--ca-file", "none.pem"], "ca_file /", "cannot be read (No such file"),
        (&["--ca-file", "folder"], "work/folder cannot be read (it is a folder)", "correct the path"),
        (&["--client-cert", "none.pem"], "client_cert /", "correct the path"),
        (&["--client-cert", "junk.pem", "--client-key", "none.pem"], "client_key /", "correct the path"),
    ] {
        let ran = given(&home, &["tools"], words);
        assert!(ran.status == 1 && ran.stdout.is_empty(), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.contains(hint), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("s3cret"), "{words:?}: {ran:?}");
    }
    // In a file, the same.
    home.configure(r#"{"p":{"url":"https://x","proxy":"socks5://me:s3cret@p"}}"#);
    let ran = home.run(&["tools", "p"]);
    assert!(ran.status == 1 && ran.stderr.contains("as http://HOST:PORT, or none"), "{ran:?}");
    assert!(!ran.stderr.contains("s3cret"), "{ran:?}");
}

#[test]
fn a_proxy_that_is_not_there_is_not_taken_for_the_server() {
    let home = Home::new();
    let web = Web::new(|asked| legacy(asked, "ok"));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let by = format!("me:s3cret@{nobody}");
    let ran = home.run(&["tools", "--url", &web.url(), "--proxy", &by]);
    assert_eq!(ran.status, 4, "{ran:?}");
    for says in
        [format!("the proxy {nobody} cannot be reached: nobody answers at {nobody}"), "--proxy none".into()]
    {
        assert!(ran.stderr.contains(&says) && !ran.stderr.contains("s3cret"), "{says}: {ran:?}");
    }
    assert!(web.asked().is_empty());
    // None is none, however it is written.
    let mut command = home.command(&["tools", "--url", &web.url(), "--proxy", "NONE"]);
    command.env("http_proxy", &nobody);
    assert!(run(command, "").ok().contains("t()"));
}

#[test]
fn what_has_no_effect_is_told_and_stops_nothing() {
    let home = Home::new();
    let demo = Demo::start(&home);
    home.write("work/ca.pem", "whatever");
    for (words, says) in [
        (&["-H", "Authorization: ${EMPTY:-}"][..], "headers.Authorization is empty, and is not sent"),
        (&["--ca-file", "ca.pem"], "ca_file has no effect: certificates count with https:// only"),
        (&["--client-cert", "ca.pem"], "client_cert has no effect"),
        (&["--transport", "streamable-http"], ""),
    ] {
        let ran = given(&home, &["tools"], &[&["--url", &demo.url], words].concat());
        assert!(ran.status == 0 && ran.stderr.contains(says), "{words:?}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), usize::from(!says.is_empty()), "{words:?}: {ran:?}");
    }
    let web = Web::new(|asked| legacy(asked, "ok"));
    given(&home, &["tools"], &["--url", &web.url(), "-H", "Authorization: ${EMPTY:-}"]).ok();
    assert!(web.asked().iter().all(|asked| !asked.fields.contains_key("authorization")));
    assert!(!home.path.join(OWN).exists());
}

#[test]
fn an_address_where_something_else_is_wanted_is_sent_to_its_option() {
    let home = Home::new();
    let address = "HTTP://example.invalid/mcp?key=s3cret";
    let goes = "--url URL";
    for (words, status, says, hint) in [
        (&["tools", address][..], 5, "an address is no name of a server", goes),
        (&["call", address, "echo", "text=x"], 5, "an address is no name of a server", goes),
        (&["add", "web", address], 1, "an address stands where none is wanted", goes),
        (&["add", "web", "--", address], 1, "a program stands behind --, not an address", goes),
        (&["tools", "--", address], 1, "a program stands behind --, not an address", goes),
        (&["tools", "--tcp", address], 1, "--tcp takes HOST:PORT", goes),
        (&["tools", "--unix", address], 1, "--unix takes the path of a socket", goes),
    ] {
        let ran = home.run(words);
        assert_eq!((ran.status, &*ran.stdout), (status, ""), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.contains(hint), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("s3cret"), "{words:?}: {ran:?}");
    }
    let ran = home.run(&["add", "web", "--json", address]);
    assert!(ran.status == 1 && ran.error()["hint"].as_str().unwrap().contains(goes), "{ran:?}");
    assert!(!home.path.join("config").exists());
    home.configure(
        r#"{"web":{"command":"https://example.invalid/mcp"},"none":{"command":"surely-not-there"}}"#,
    );
    let ran = home.run(&["tools", "web"]);
    assert!(ran.status == 4 && ran.stderr.contains("stands in the member url"), "{ran:?}");
    // What is one word needs no advice about words.
    let ran = home.run(&["tools", "none"]);
    assert!(ran.status == 4 && ran.stderr.contains("no program surely-not-there in PATH"), "{ran:?}");
    assert!(!ran.stderr.contains("words of their own"), "{ran:?}");
}
