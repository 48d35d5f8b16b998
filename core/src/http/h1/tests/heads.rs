//! Heads that two programs could understand differently are refused; others are read.

use alloc::string::{String, ToString};
use alloc::{format, vec};

use super::*;
use crate::http::h1::scan::Lines;

/// What the server says to a stream by itself, and why it ends the connection.
fn refused(stream: &[u8], limits: &Limits) -> (String, Vec<ServerEvent>) {
    let mut server = Server::new(limits.clone(), NOW);
    give(&mut server, stream, NOW);
    let said = text(&mut server);
    server.handle_eof(NOW);
    (said, server_events(&mut server))
}

/// Every request of the table is refused whole, byte by byte, and with another one behind it, before anything of it is
/// told.
#[test]
fn requests_that_are_refused() {
    const HEAD: fn(&str) -> String = |rest| format!("POST /mcp HTTP/1.1\r\nHost: h\r\n{rest}");
    let bad = "400 Bad Request";
    let table: &[(&str, String, &str)] = &[
        ("both lengths", HEAD("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"), bad),
        ("both lengths, the other way", HEAD("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"), bad),
        ("lengths that differ", HEAD("Content-Length: 5\r\nContent-Length: 6\r\n\r\n"), bad),
        ("a list of lengths", HEAD("Content-Length: 5, 5\r\n\r\n"), bad),
        ("a length with a sign", HEAD("Content-Length: +5\r\n\r\n"), bad),
        ("a negative length", HEAD("Content-Length: -1\r\n\r\n"), bad),
        ("a hexadecimal length", HEAD("Content-Length: 0x5\r\n\r\n"), bad),
        ("a length with a blank", HEAD("Content-Length: 5 5\r\n\r\n"), bad),
        ("an empty length", HEAD("Content-Length: \r\n\r\n"), bad),
        ("a length beyond all", HEAD("Content-Length: 18446744073709551616\r\n\r\n"), bad),
        ("xchunked", HEAD("Transfer-Encoding: xchunked\r\n\r\n"), "501 Not Implemented"),
        ("gzip, chunked", HEAD("Transfer-Encoding: gzip, chunked\r\n\r\n"), "501 Not Implemented"),
        ("chunked with a parameter", HEAD("Transfer-Encoding: chunked;a=b\r\n\r\n"), "501 Not Implemented"),
        ("chunked in quotes", HEAD("Transfer-Encoding: \"chunked\"\r\n\r\n"), "501 Not Implemented"),
        ("identity", HEAD("Transfer-Encoding: identity\r\n\r\n"), "501 Not Implemented"),
        ("an empty coding", HEAD("Transfer-Encoding:\r\n\r\n"), "501 Not Implemented"),
        (
            "chunked twice",
            HEAD("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "501 Not Implemented",
        ),
        ("a blank before the colon", HEAD("Content-Length : 5\r\n\r\n"), bad),
        ("a tab before the colon", HEAD("Transfer-Encoding\t: chunked\r\n\r\n"), bad),
        ("a folded line", HEAD("A: b\r\n c\r\n\r\n"), bad),
        ("a line folded with a tab", HEAD("A: b\r\n\tc\r\n\r\n"), bad),
        ("a first field that is folded", "GET / HTTP/1.1\r\n Host: h\r\n\r\n".to_string(), bad),
        ("a line without a colon", HEAD("nothing\r\n\r\n"), bad),
        ("a field without a name", HEAD(": a\r\n\r\n"), bad),
        ("a name that is no token", HEAD("a(b: c\r\n\r\n"), bad),
        ("a name beyond ASCII", HEAD("\u{e4}: c\r\n\r\n"), bad),
        ("LF alone", "GET / HTTP/1.1\nHost: h\n\n".to_string(), bad),
        ("LF alone at the end", "GET / HTTP/1.1\r\nHost: h\r\n\n".to_string(), bad),
        ("LF alone in a value", HEAD("A: b\nContent-Length: 5\r\n\r\n"), bad),
        ("CR alone in a value", HEAD("A: b\rContent-Length: 5\r\n\r\n"), bad),
        ("CR CR LF", HEAD("A: b\r\r\n\r\n"), bad),
        ("NUL in a value", HEAD("A: b\0c\r\n\r\n"), bad),
        ("NUL in a name", HEAD("A\0: b\r\n\r\n"), bad),
        ("DEL in a value", HEAD("A: b\x7f\r\n\r\n"), bad),
        ("an escape character in a value", HEAD("A: \x1b[31m\r\n\r\n"), bad),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_string(), bad),
        ("two hosts", HEAD("Host: other\r\n\r\n"), bad),
        ("the same host twice", HEAD("HOST: h\r\n\r\n"), bad),
        ("two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n".to_string(), bad),
        ("an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n".to_string(), bad),
        ("a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n".to_string(), bad),
        ("a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n".to_string(), bad),
        ("a host with a name in front", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n".to_string(), bad),
        ("a host with a blank", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n".to_string(), bad),
        ("target and host disagree", "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n".to_string(), bad),
        ("target and port disagree", "GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a target with a name in front", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a target of another kind", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a target without a path", "GET mcp HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a star for GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a target beyond ASCII", "GET /\u{e4} HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a blank in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("two blanks", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a tab between the words", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a blank behind the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n".to_string(), bad),
        ("a blank in front", " GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a method that is no token", "GE(T / HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("HTTP/0.9", "GET /\r\n\r\n".to_string(), bad),
        ("a version in small letters", "GET / http/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a version of two digits", "GET / HTTP/1.10\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a version without its minor", "GET / HTTP/1.\r\nHost: a\r\n\r\n".to_string(), bad),
        ("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n".to_string(), "505 HTTP Version Not Supported"),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_string(), "505 HTTP Version Not Supported"),
        ("chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".to_string(), bad),
        ("TLS", "\x16\x03\x01\x02\0\x01\0".to_string(), bad),
        ("an answer", "HTTP/1.1 200 OK\r\n\r\n".to_string(), bad),
        ("three empty lines", "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".to_string(), bad),
        ("a tunnel", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n".to_string(), "501 Not Implemented"),
    ];
    for (name, stream, status) in table {
        let behind = [stream.as_bytes(), b"GET /other HTTP/1.1\r\nHost: h\r\n\r\n"].concat();
        let whole = refused(stream.as_bytes(), &Limits::default());
        assert!(whole.0.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{name}: {whole:?}");
        assert!(whole.0.contains("\r\nConnection: close\r\n"), "{name}");
        assert!(matches!(&*whole.1, [ServerEvent::Closed(Closed::Fault(_))]), "{name}: {whole:?}");
        assert_eq!(whole, refused(&behind, &Limits::default()), "{name}: with another one behind it");
        let mut server = Server::new(Limits::default(), NOW);
        for byte in stream.bytes() {
            give(&mut server, &[byte], NOW);
        }
        let said = text(&mut server);
        server.handle_eof(NOW);
        assert_eq!(whole, (said, server_events(&mut server)), "{name}: byte by byte");
    }
}

#[test]
fn odd_bytes_are_told_for_what_they_are() {
    for (head, how) in [
        ("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "a line is folded"),
        ("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", "a CR stands alone"),
        ("GET / HTTP/1.1\r\nA: b\nc\r\n\r\n", "a line ends with LF alone"),
        ("GET / HTTP/1.1\r\nA: b\0\r\n\r\n", "it holds a control character"),
        ("\x16\x03\x01", "it is no HTTP"),
    ] {
        let (_, events) = refused(head.as_bytes(), &Limits::default());
        assert_eq!(events, vec![ServerEvent::Closed(Closed::Fault(Fault::Head(how)))]);
    }
}

#[test]
fn no_byte_of_a_head_is_looked_at_twice() {
    let limits = Limits::default();
    let mut lines = Lines::default();
    assert_eq!(lines.next(b"GET / HTTP/1.1\r\nA: bcd", &limits), Ok(Some(0..14)));
    assert_eq!(lines.next(b"GET / HTTP/1.1\r\nA: bcd", &limits), Ok(None));
    // Other bytes in the places of those that were seen: a second look would find them.
    assert_eq!(lines.next(b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\ne\r\n\r", &limits), Ok(Some(16..23)));
    assert_eq!(lines.next(b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\r", &limits), Ok(None));
    let end = b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\r\n";
    assert_eq!(lines.next(end, &limits), Ok(Some(25..25)));
}

/// Answers with the same faults are not read either.
#[test]
fn answers_that_are_refused() {
    let table = [
        ("both lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("lengths that differ", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
        ("another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
        ("chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("LF alone", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
        ("CR alone", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n"),
        ("CR alone in the first line", "HTTP/1.1 200 O\rK\r\n\r\n"),
        ("NUL", "HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n"),
        ("NUL in the first line", "HTTP/1.1 200 O\0K\r\n\r\n"),
        ("a blank before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n"),
        ("a folded line", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"),
        ("an empty line in front", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"),
        ("a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"),
        ("a status below 100", "HTTP/1.1 099 OK\r\n\r\n"),
        ("no status", "HTTP/1.1\r\n\r\n"),
        ("another version", "HTTP/2.0 200 OK\r\n\r\n"),
        ("no HTTP", "220 mail.example ready\r\n\r\n"),
        ("a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("another protocol that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n"),
    ];
    for (name, stream) in table {
        let mut client = Client::new(Limits::default(), NOW);
        client.request(&ask("GET"), Body::Empty, NOW).unwrap();
        sent(&mut client);
        give(&mut client, stream.as_bytes(), NOW);
        let events = client_events(&mut client);
        assert!(
            matches!(&*events, [ClientEvent::Sent, ClientEvent::Closed(Closed::Fault(_))]),
            "{name}: {events:?}"
        );
        assert!(!client.is_idle() && !client.wants_read(), "{name}");
    }
}

#[test]
fn requests_that_are_read() {
    let table: &[(&str, &str, &str, &str, Option<u64>)] = &[
        ("the least", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/", Some(0)),
        ("an empty line in front", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/", Some(0)),
        ("two empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/", Some(0)),
        ("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "GET", "/", Some(0)),
        ("a query", "GET /a?b=c%20d HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/a?b=c%20d", Some(0)),
        ("a whole address", "GET http://h/a?b HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/a?b", Some(0)),
        ("a whole address in capitals", "GET HTTP://H/a HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/a", Some(0)),
        (
            "a whole address and its port",
            "GET http://h:80/a HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET",
            "/a",
            Some(0),
        ),
        ("a host and its port", "GET https://h/ HTTP/1.1\r\nHost: h:443\r\n\r\n", "GET", "/", Some(0)),
        ("no path", "GET http://h:81 HTTP/1.1\r\nHost: h:81\r\n\r\n", "GET", "/", Some(0)),
        ("a whole address in HTTP/1.0", "GET http://h/a HTTP/1.0\r\n\r\n", "GET", "/a", Some(0)),
        ("an IPv6 host", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET", "/", Some(0)),
        ("a star", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS", "*", Some(0)),
        ("any method", "brew /pot HTTP/1.1\r\nHost: h\r\n\r\n", "brew", "/pot", Some(0)),
        ("a length", "POST / HTTP/1.1\r\nhost:h\r\ncontent-length:7\r\n\r\n", "POST", "/", Some(7)),
        (
            "the same length twice",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\nContent-Length: 7\r\n\r\n",
            "POST",
            "/",
            Some(7),
        ),
        (
            "chunks in capitals",
            "POST / HTTP/1.1\r\nHost: h\r\ntransfer-encoding: CHUNKED\r\n\r\n",
            "POST",
            "/",
            None,
        ),
        ("a value in Latin-1", "GET / HTTP/1.1\r\nHost: h\r\nA: \u{e4}\tb\r\n\r\n", "GET", "/", Some(0)),
        ("an empty value", "GET / HTTP/1.1\r\nHost: h\r\nA:\r\nB: \t \r\n\r\n", "GET", "/", Some(0)),
    ];
    for (name, stream, verb, target, length) in table {
        let mut server = Server::new(Limits::default(), NOW);
        give(&mut server, stream.as_bytes(), NOW);
        let events = server_events(&mut server);
        let Some(ServerEvent::Head { head, length: found }) = events.first() else {
            panic!("{name}: {events:?}")
        };
        assert_eq!((head.verb.as_str(), &*head.target, found), (*verb, *target, length), "{name}");
        assert_eq!(events.contains(&ServerEvent::BodyEnd), *length == Some(0), "{name}");
    }
}

#[test]
fn fields_are_what_stands_there() {
    let mut server = Server::new(Limits::default(), NOW);
    give(&mut server, b"GET / HTTP/1.1\r\nHost: h\r\nA:  one \t\r\na: two\r\nB:\r\n\r\n", NOW);
    let events = server_events(&mut server);
    let [ServerEvent::Head { head, .. }, ..] = &*events else { panic!("{events:?}") };
    let all: Vec<(&str, &[u8])> = head.fields.iter().collect();
    assert_eq!(all, [("Host", &b"h"[..]), ("A", b"one"), ("a", b"two"), ("B", b"")]);
    assert_eq!(head.fields.get("A"), Some(&b"one"[..]));
    assert_eq!(head.fields.text("a"), None, "there are two");
    assert_eq!(head.fields.all("A").count(), 2);
}

#[test]
fn a_head_has_a_longest_length_and_a_number_of_fields() {
    let limits = Limits { max_head_bytes: 100, max_fields: 3, ..Limits::default() };
    let head = |filler: usize| format!("GET / HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", "x".repeat(filler));
    let fits = 100 - head(0).len();
    for (filler, taken) in [(fits, true), (fits + 1, false), (10_000, false)] {
        for step in [1, 7, usize::MAX] {
            let mut server = Server::new(limits.clone(), NOW);
            for piece in head(filler).as_bytes().chunks(step) {
                give(&mut server, piece, NOW);
            }
            let said = text(&mut server);
            assert_eq!(said.is_empty(), taken, "{filler}, {step}: {said}");
            assert!(taken || said.starts_with("HTTP/1.1 431 "), "{said}");
            assert!(server.retained_bytes() <= limits.worst_case_bytes());
        }
    }
    let (said, events) = refused(b"GET / HTTP/1.1\r\nHost: h\r\nA:\r\nB:\r\nC:\r\n\r\n", &limits);
    assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
    assert_eq!(events, vec![ServerEvent::Closed(Closed::Fault(Fault::TooManyFields))]);
    // Without an end, a head is refused as soon as it is too long.
    let (said, events) = refused("x".repeat(100).as_bytes(), &limits);
    assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
    assert_eq!(events, vec![ServerEvent::Closed(Closed::Fault(Fault::HeadTooLong))]);
    // More fields than there is room for are refused whatever the limits say.
    let many = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(300));
    let wide = Limits { max_fields: 10_000, ..Limits::default() };
    assert!(refused(many.as_bytes(), &wide).0.starts_with("HTTP/1.1 431 "));
}

#[test]
fn what_is_refused_is_not_repeated() {
    let secret = "hunter2";
    let stream = format!("GET /{secret} HTTP/1.1\r\nHost: h\r\n{secret} : {secret}\r\n\r\n");
    let (said, events) = refused(stream.as_bytes(), &Limits::default());
    assert!(!said.contains(secret) && !format!("{events:?}").contains(secret), "{said} {events:?}");
}

#[test]
fn a_head_that_is_shown_shows_no_secrets() {
    let head = RequestHead {
        verb: Verb::Get,
        target: "/mcp?key=hunter2".into(),
        fields: fields(&[("authorization", "Bearer hunter2")]),
    };
    let shown = format!("{head:?} {:?}", ResponseHead { status: 200, fields: head.fields.clone() });
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&head_with_host(&head), Body::Empty, NOW).unwrap();
    let mut server = Server::new(Limits::default(), NOW);
    give(&mut server, client.transmit(), NOW);
    give(&mut server, b"GET /hunter2 HTTP/1.1\r\n", NOW);
    let shown = format!("{shown} {client:?} {server:?}");
    assert!(shown.contains("/mcp?…") && shown.contains("authorization"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

fn head_with_host(head: &RequestHead) -> RequestHead {
    let mut head = head.clone();
    head.fields.push("host", b"h").unwrap();
    head
}

#[test]
fn nothing_can_be_put_into_a_head_that_ends_a_line() {
    let mut fields = fields(&[("host", "h")]);
    for (name, value) in [
        ("a", "b\r\nc: d"),
        ("a", "b\nc"),
        ("a", "b\rc"),
        ("a", "\0"),
        ("a", "\x7f"),
        ("a\r\nb", "c"),
        ("a b", "c"),
        ("a:", "c"),
        ("", "c"),
        ("\u{e4}", "c"),
    ] {
        assert!(fields.push(name, value.as_bytes()).is_err(), "{name:?}: {value:?}");
    }
    assert_eq!(fields.len(), 1);
    let mut client = Client::new(Limits::default(), NOW);
    for target in ["", "/a b", "/a\r\nb", "/a\nHost: other", "/\u{e4}", "/a#b", "/a\0", "/a\tb"] {
        let head = RequestHead { target: target.into(), ..ask("GET") };
        assert!(matches!(client.request(&head, Body::Empty, NOW), Err(ApiError::BadParams(_))), "{target:?}");
    }
    for verb in ["", "GE T", "GET\r\n", "G\u{e4}T"] {
        let head = RequestHead { verb: Verb::Other(verb.into()), ..ask("GET") };
        assert!(matches!(client.request(&head, Body::Empty, NOW), Err(ApiError::BadParams(_))), "{verb:?}");
    }
    for hosts in [&[][..], &[("host", "a"), ("Host", "b")], &[("host", "")], &[("host", "a/b")]] {
        let head = RequestHead { fields: super::fields(hosts), ..ask("GET") };
        assert!(matches!(client.request(&head, Body::Empty, NOW), Err(ApiError::BadParams(_))), "{hosts:?}");
    }
    assert!(client.is_idle() && client.transmit().is_empty(), "nothing of all that is sent");
}
