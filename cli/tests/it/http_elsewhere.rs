//! Addresses that lead elsewhere than was meant: what is told is true, and says what to do.

use crate::home::Home;
use crate::web::{Demo, Web, answer};

const TLS: &str = "if it takes TLS only, its address begins with https://";

#[test]
fn who_hangs_up_on_plain_http_may_want_tls() {
    let home = Home::new();
    for (sent, may) in [
        // It sees no TLS, and leaves, or says so in an alert or an answer.
        (String::new(), true),
        ("\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{16}\r\n".into(), true),
        (answer("400 Bad Request", "Content-Type: text/html\r\n", "<h1>plain HTTP was sent</h1>"), true),
        // Whoever understands has another reason.
        (answer("404 Not Found", "", ""), false),
        (answer("403 Forbidden", "", ""), false),
        (answer("500 Internal Server Error", "", ""), false),
        (answer("200 OK", "Content-Type: text/html\r\n", "<h1>hello</h1>"), false),
    ] {
        let told = sent.clone();
        let web = Web::new(move |_| sent.clone());
        let ran = home.run(&["tools", "--url", &web.url(), "--timeout", "20"]);
        assert!(ran.status == 4 || told.contains("403"), "{told:?}: {ran:?}");
        assert_eq!(ran.stderr.contains(TLS), may, "{told:?}: {ran:?}");
    }
    // Whoever is reached by other means is not on the web.
    let ran = home.run(&["tools", "--", "true"]);
    assert!(ran.status == 4 && !ran.stderr.contains(TLS), "{ran:?}");
}

#[test]
fn another_path_of_a_server_is_told_with_the_usual_ones() {
    let home = Home::new();
    let demo = Demo::start(&home);
    for path in ["", "/", "/mcp/", "/nope", "//mcp"] {
        let ran = home.run(&["tools", "--url", &demo.url.replace("/mcp", path)]);
        assert_eq!(ran.status, 4, "{path}: {ran:?}");
        for says in ["the endpoint has another path", "many servers are at /mcp"] {
            assert!(ran.stderr.contains(says), "{path}: {ran:?}");
        }
    }
}

#[test]
fn whoever_forbids_without_a_challenge_need_not_want_a_token() {
    let home = Home::new();
    let demo = Demo::start(&home);
    let ran = home.run(&["tools", "--url", &demo.url.replace("127.0.0.1", "localhost.")]);
    assert_eq!(ran.status, 3, "{ran:?}");
    for says in ["Host names no host that is served", "what it says may tell why; if it wants a token"] {
        assert!(ran.stderr.contains(says), "{says}: {ran:?}");
    }
}
