//! What a client's connection does with what servers send.

use alloc::vec;

use super::*;

fn asked(verb: &str) -> Client {
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&ask(verb), Body::Empty, NOW).unwrap();
    sent(&mut client);
    assert_eq!(client.poll_event(), Some(ClientEvent::Sent));
    client
}

/// The status, the body as text, and what else came, of one answer.
fn read(client: &mut Client) -> (u16, String, Vec<ClientEvent>) {
    let mut events = client_events(client);
    let ClientEvent::Head(head) = events.remove(0) else { panic!("{events:?}") };
    let mut body = String::new();
    if let Some(ClientEvent::Body(piece)) = events.first() {
        body = String::from_utf8(piece.to_vec()).unwrap();
        events.remove(0);
    }
    (head.status, body, events)
}

#[test]
fn heads_on_the_wire() {
    let table = [
        ("GET", Body::Empty, "GET /mcp HTTP/1.1\r\nhost: h:1\r\n\r\n"),
        ("DELETE", Body::Empty, "DELETE /mcp HTTP/1.1\r\nhost: h:1\r\n\r\n"),
        ("POST", Body::Empty, "POST /mcp HTTP/1.1\r\nhost: h:1\r\nContent-Length: 0\r\n\r\n"),
        ("POST", whole("hi"), "POST /mcp HTTP/1.1\r\nhost: h:1\r\nContent-Length: 2\r\n\r\nhi"),
    ];
    for (verb, body, expected) in table {
        let mut client = Client::new(Limits::default(), NOW);
        client.request(&ask(verb), body, NOW).unwrap();
        assert_eq!(client.transmit(), expected.as_bytes(), "head and body leave in one write");
        assert_eq!(client.request(&ask(verb), Body::Empty, NOW), Err(ApiError::NotReady));
    }
    let mut client = Client::new(Limits::default(), NOW);
    assert!(matches!(client.request(&ask("POST"), Body::Stream, NOW), Err(ApiError::BadParams(_))));
}

#[test]
fn the_first_byte_that_leaves_is_told() {
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    assert_eq!(client.poll_event(), None);
    client.handle_written(1, NOW);
    assert_eq!(client.poll_event(), Some(ClientEvent::Sent));
    sent(&mut client);
    assert_eq!(client.poll_event(), None);
}

#[test]
fn bodies_that_are_read() {
    let end = vec![ClientEvent::End];
    let table = [
        ("a length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi"),
        ("no reason", "GET", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", 200, "hi"),
        ("an empty reason", "GET", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", 200, "hi"),
        (
            "chunks",
            "GET",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            200,
            "hi",
        ),
        ("a length of nothing", "GET", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", 202, ""),
        ("no content", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, ""),
        ("not modified", "GET", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", 304, ""),
        ("to HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, ""),
        ("to HEAD, no length", "HEAD", "HTTP/1.1 200 OK\r\n\r\n", 200, ""),
        (
            "old, kept",
            "GET",
            "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi",
            200,
            "hi",
        ),
        (
            "behind others",
            "GET",
            "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            200,
            "hi",
        ),
        ("a status of its own", "GET", "HTTP/1.1 799 Strange\r\nContent-Length: 0\r\n\r\n", 799, ""),
    ];
    for (name, verb, answer, status, body) in table {
        for step in [1, 5, usize::MAX] {
            let mut client = asked(verb);
            for piece in answer.as_bytes().chunks(step) {
                assert!(!client.is_idle(), "{name}, {step}");
                give(&mut client, piece, NOW);
            }
            assert_eq!(read(&mut client), (status, body.into(), end.clone()), "{name}, {step}");
            assert!(client.is_idle(), "{name}");
            client.request(&ask("GET"), Body::Empty, NOW).unwrap();
        }
    }
}

#[test]
fn bodies_that_go_on_to_the_end() {
    for answer in [
        "HTTP/1.1 200 OK\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nhi",
    ] {
        let mut client = asked("GET");
        give(&mut client, answer.as_bytes(), NOW);
        assert_eq!(read(&mut client), (200, "hi".into(), vec![]));
        client.handle_eof(NOW);
        assert_eq!(client_events(&mut client), [ClientEvent::End, ClientEvent::Closed(Closed::Eof)]);
    }
}

#[test]
fn connections_that_are_not_used_again() {
    for answer in [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    ] {
        let mut client = asked("GET");
        give(&mut client, answer.as_bytes(), NOW);
        let end = vec![ClientEvent::End, ClientEvent::Closed(Closed::Eof)];
        assert_eq!(read(&mut client), (200, "hi".into(), end), "{answer}");
        assert!(!client.is_idle());
        assert_eq!(client.request(&ask("GET"), Body::Empty, NOW), Err(ApiError::Closed));
    }
}

#[test]
fn bytes_that_nobody_asked_for_end_the_connection() {
    let unasked = ClientEvent::Closed(Closed::Fault(Fault::Unasked));
    let mut client = asked("GET");
    give(&mut client, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!", NOW);
    assert_eq!(read(&mut client), (200, "hi".into(), vec![ClientEvent::End, unasked.clone()]));
    // Before any request.
    let mut client = Client::new(Limits::default(), NOW);
    give(&mut client, b"HTTP/1.1 408 Request Timeout\r\n\r\n", NOW);
    assert_eq!(client_events(&mut client).first(), Some(&unasked));
    // Before the first byte of the request has left: no answer to it.
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    give(&mut client, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", NOW);
    assert_eq!(client_events(&mut client), [unasked]);
}

// P-186
#[test]
fn an_answer_that_comes_before_the_request_has_left() {
    for (code, stops) in [(413, true), (431, true), (200, false)] {
        let mut client = Client::new(Limits::default(), NOW);
        let body = Body::Whole(Bytes::from(vec![b'x'; 100_000]));
        client.request(&ask("POST"), body, NOW).unwrap();
        client.handle_written(client.transmit().len(), NOW);
        client.handle_written(1000, NOW);
        give(&mut client, alloc::format!("HTTP/1.1 {code} X\r\nContent-Length: 2\r\n\r\n").as_bytes(), NOW);
        assert_eq!(client.transmit().is_empty(), stops, "{code}");
        give(&mut client, b"hi", NOW);
        assert!(client.transmit().is_empty(), "{code}: what is left is not sent");
        assert_eq!(client.poll_event(), Some(ClientEvent::Sent));
        let end = vec![ClientEvent::End, ClientEvent::Closed(Closed::Local)];
        assert_eq!(read(&mut client), (code, "hi".into(), end));
        assert!(!client.is_idle());
    }
    // The server takes nothing more, but has answered.
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&ask("POST"), Body::Whole(Bytes::from(vec![b'x'; 100_000])), NOW).unwrap();
    client.handle_written(1000, NOW);
    client.handle_write_closed(NOW);
    assert!(client.transmit().is_empty() && client.wants_read());
    give(&mut client, b"HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\nhi", NOW);
    assert_eq!(client.poll_event(), Some(ClientEvent::Sent));
    let end = vec![ClientEvent::End, ClientEvent::Closed(Closed::Unread)];
    assert_eq!(read(&mut client), (413, "hi".into(), end));
}

#[test]
fn a_server_that_reads_no_more() {
    let unread = [ClientEvent::Closed(Closed::Unread)];
    let mut client = Client::new(Limits::default(), NOW);
    client.handle_write_closed(NOW);
    assert_eq!(client_events(&mut client), unread);
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    client.handle_write_closed(NOW);
    assert_eq!(client_events(&mut client), unread, "the request never began to leave");
}

#[test]
fn the_end_of_the_input() {
    let eof = |answer: &[u8]| {
        let mut client = asked("GET");
        give(&mut client, answer, NOW);
        client.handle_eof(NOW);
        client_events(&mut client).pop()
    };
    let truncated = Some(ClientEvent::Closed(Closed::Fault(Fault::Truncated)));
    assert_eq!(eof(b""), Some(ClientEvent::Closed(Closed::Eof)), "nothing of the answer came");
    assert_eq!(eof(b"HTTP/1.1 100 Continue\r\n\r\n"), Some(ClientEvent::Closed(Closed::Eof)));
    assert_eq!(eof(b"HTTP/1.1 200 OK\r\n"), truncated, "in a head");
    assert_eq!(eof(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh"), truncated, "in a body");
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n";
    assert_eq!(eof(chunked), truncated, "in the last chunk");
    let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(eof(whole), Some(ClientEvent::Closed(Closed::Eof)), "between two exchanges");
}

#[test]
fn a_tunnel_through_a_proxy() {
    let mut client = Client::new(Limits::default(), NOW);
    let head = RequestHead {
        verb: Verb::named("CONNECT"),
        target: "h:443".into(),
        fields: fields(&[("host", "h:443")]),
    };
    client.request(&head, Body::Empty, NOW).unwrap();
    assert_eq!(text(&mut client), "CONNECT h:443 HTTP/1.1\r\nhost: h:443\r\n\r\n");
    give(&mut client, b"HTTP/1.1 200 Connected\r\nTransfer-Encoding: chunked\r\n\r\n\x16\x03\x01", NOW);
    let events = client_events(&mut client);
    let [ClientEvent::Sent, ClientEvent::Head(answer), ClientEvent::Closed(Closed::Tunnel(behind))] =
        &*events
    else {
        panic!("{events:?}")
    };
    assert_eq!((answer.status, &**behind), (200, &b"\x16\x03\x01"[..]));
    // Refused: an answer like any other.
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&head, Body::Empty, NOW).unwrap();
    sent(&mut client);
    give(&mut client, b"HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nhi", NOW);
    assert_eq!(client.poll_event(), Some(ClientEvent::Sent));
    assert_eq!(read(&mut client), (407, "hi".into(), vec![ClientEvent::End]));
    assert!(client.is_idle());
}

#[test]
fn closing() {
    let mut client = asked("GET");
    give(&mut client, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", NOW);
    client.close(NOW);
    client.close(NOW);
    assert_eq!(read(&mut client), (200, "hi".into(), vec![ClientEvent::Closed(Closed::Local)]));
    assert!(!client.wants_read() && client.poll_timeout().is_none());
    assert_eq!(client.handle_input(b"!!!", NOW), 0);
}

#[test]
fn events_that_nobody_takes_stop_the_reading() {
    let limits = Limits { max_queued_event_bytes: 10_000, ..Limits::default() };
    let mut client = Client::new(limits.clone(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    sent(&mut client);
    give(&mut client, b"HTTP/1.1 200 OK\r\n\r\n", NOW);
    let taken = client.handle_input(&[b'x'; 1_000_000], NOW);
    assert!(!client.wants_read() && taken < 200_000, "{taken}");
    assert!(client.retained_bytes() <= limits.worst_case_bytes());
    assert_eq!(client.poll_event(), Some(ClientEvent::Sent));
    assert_eq!(read(&mut client).1.len(), taken);
    assert!(client.wants_read());
}

#[test]
fn what_is_no_http_is_told_before_it_ends() {
    for said in
        ["SSH-2.0-x", "220 mail", "\x15\x03\x03", "\r\nHTTP/1.1 200 OK\r\n\r\n", "http/1.1 200 OK", "HTTQ"]
    {
        for size in 1..=said.len() {
            let mut client = asked("GET");
            for piece in said.as_bytes().chunks(size) {
                // What comes behind the fault is not taken.
                let _ = client.handle_input(piece, NOW);
            }
            let no_http = ClientEvent::Closed(Closed::Fault(Fault::Head("it is no HTTP")));
            assert_eq!(client_events(&mut client), vec![no_http], "{said:?} in pieces of {size}");
        }
    }
    // What may become an answer is waited for, and cut off otherwise.
    for said in ["H", "HTTP/", "HTTP/1.1 200"] {
        let mut client = asked("GET");
        give(&mut client, said.as_bytes(), NOW);
        assert_eq!(client_events(&mut client), vec![], "{said}");
        client.handle_eof(NOW);
        let cut = ClientEvent::Closed(Closed::Fault(Fault::Truncated));
        assert_eq!(client_events(&mut client), vec![cut], "{said}");
    }
}
