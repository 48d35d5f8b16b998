//! What a server's connection does around its exchanges.

use alloc::{format, vec};

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
const CLOSE: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, Close\r\n\r\n";
const OLD: &[u8] = b"GET / HTTP/1.0\r\nHost: h\r\n\r\n";
const OLD_KEPT: &[u8] = b"GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n";

fn serve(stream: &[u8]) -> Server {
    let mut server = Server::new(Limits::default(), NOW);
    assert_eq!(server.handle_input(stream, NOW), stream.len());
    server
}

fn verbs<'a>(events: &'a [ServerEvent]) -> Vec<&'a str> {
    let verb = |event: &'a ServerEvent| match event {
        ServerEvent::Head { head, .. } => Some(head.verb.as_str()),
        _ => None,
    };
    events.iter().filter_map(verb).collect()
}

#[test]
fn a_head_on_the_wire() {
    let mut server = serve(GET);
    server.respond(&status(200), whole("hi"), NOW).unwrap();
    let expected = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(server.transmit(), expected.as_bytes(), "head and body leave in one write");
}

#[test]
fn framing_is_written_by_the_connection_alone() {
    let mut server = serve(GET);
    let list = [("Content-Length", "99"), ("transfer-encoding", "gzip"), ("CONNECTION", "close"), ("a", "b")];
    server.respond(&ResponseHead { status: 200, fields: fields(&list) }, whole("hi"), NOW).unwrap();
    assert_eq!(text(&mut server), "HTTP/1.1 200 OK\r\na: b\r\nContent-Length: 2\r\n\r\nhi");
}

/// (request, what is sent, what is on the wire behind the status, whether the connection goes on)
#[test]
fn answers_to_clients_of_either_version() {
    let chunked = "content-type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let bare = "content-type: text/plain\r\nConnection: close\r\n\r\nhi";
    let head = |rest: &str| format!("content-type: text/plain\r\n{rest}\r\n\r\n");
    let table = [
        ("whole", GET, whole("hi"), head("Content-Length: 2") + "hi", true),
        ("empty", GET, Body::Empty, head("Content-Length: 0"), true),
        ("stream", GET, Body::Stream, chunked.into(), true),
        ("closing", CLOSE, whole("hi"), head("Content-Length: 2\r\nConnection: close") + "hi", false),
        ("old", OLD, whole("hi"), head("Content-Length: 2\r\nConnection: close") + "hi", false),
        (
            "old, kept",
            OLD_KEPT,
            whole("hi"),
            head("Content-Length: 2\r\nConnection: keep-alive") + "hi",
            true,
        ),
        ("old, stream", OLD, Body::Stream, bare.into(), false),
        ("old, kept, stream", OLD_KEPT, Body::Stream, bare.into(), false),
    ];
    for (name, request, body, expected, goes_on) in table {
        let mut server = serve(request);
        server_events(&mut server);
        let stream = body == Body::Stream;
        server.respond(&status(200), body, NOW).unwrap();
        if stream {
            server.send(Bytes::from_static(b"hi"), NOW).unwrap();
            server.send(Bytes::new(), NOW).unwrap();
            server.end(NOW);
        }
        assert_eq!(server_events(&mut server), [], "{name}: nothing has left");
        assert_eq!(text(&mut server), format!("HTTP/1.1 200 OK\r\n{expected}"), "{name}");
        let mut events = server_events(&mut server);
        assert_eq!(events.remove(0), ServerEvent::Done, "{name}");
        assert_eq!(events.is_empty(), goes_on, "{name}: {events:?}");
        assert_eq!(server.wants_read(), goes_on, "{name}");
    }
}

#[test]
fn answers_without_a_body() {
    for (request, code, framing) in [
        (&b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"[..], 200, "Content-Length: 2\r\n"),
        (GET, 204, ""),
        (GET, 304, ""),
    ] {
        for stream in [false, true] {
            let mut server = serve(request);
            server_events(&mut server);
            let body = if stream { Body::Stream } else { whole("hi") };
            server.respond(&ResponseHead::new(code), body, NOW).unwrap();
            if stream {
                server.send(Bytes::from_static(b"hi"), NOW).unwrap();
                server.end(NOW);
            }
            let said = text(&mut server);
            let (_, rest) = said.split_once("\r\n").unwrap();
            let framing = if stream { "" } else { framing };
            assert_eq!(rest, format!("{framing}\r\n"), "{code}, {stream}");
            assert_eq!(server_events(&mut server), [ServerEvent::Done]);
        }
    }
}

#[test]
fn requests_that_are_sent_ahead_wait() {
    let two = [GET, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi", CLOSE].concat();
    let mut server = serve(&two);
    assert_eq!(verbs(&server_events(&mut server)), ["GET"]);
    server.respond(&status(200), whole("one"), NOW).unwrap();
    assert_eq!(server_events(&mut server), [], "the first answer has not left");
    sent(&mut server);
    let events = server_events(&mut server);
    assert_eq!((events.first(), verbs(&events)), (Some(&ServerEvent::Done), vec!["POST"]));
    server.take_body(NOW);
    assert_eq!(server_events(&mut server).len(), 2);
    server.respond(&status(200), whole("two"), NOW).unwrap();
    sent(&mut server);
    assert_eq!(verbs(&server_events(&mut server)), ["GET"]);
    server.respond(&status(200), whole("three"), NOW).unwrap();
    sent(&mut server);
    assert_eq!(server_events(&mut server), [ServerEvent::Done, ServerEvent::Closed(Closed::Eof)]);
}

#[test]
fn what_is_read_ahead_is_bounded() {
    let mut server = serve(GET);
    let flood = GET.repeat(100_000);
    let taken = server.handle_input(&flood, NOW);
    assert!(!server.wants_read() && taken < 100_000, "{taken}");
    assert_eq!(verbs(&server_events(&mut server)), ["GET"]);
    server.respond(&status(200), Body::Empty, NOW).unwrap();
    sent(&mut server);
    assert_eq!(verbs(&server_events(&mut server)), ["GET"]);
}

#[test]
fn a_client_that_waits_to_be_told_to_go_on_is_told_when_its_body_is_wanted() {
    let head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
    let mut server = serve(head);
    assert!(server.transmit().is_empty(), "nothing before the body is wanted");
    server.take_body(NOW);
    server.take_body(NOW);
    assert_eq!(text(&mut server), "HTTP/1.1 100 Continue\r\n\r\n");
    give(&mut server, b"hi", NOW);
    server.respond(&status(200), Body::Empty, NOW).unwrap();
    assert!(text(&mut server).starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(server_events(&mut server).last(), Some(&ServerEvent::Done));

    // One that did not wait.
    let mut server = serve(&[&head[..], b"h"].concat());
    server.take_body(NOW);
    assert!(server.transmit().is_empty());
    // One that speaks HTTP/1.0 does not know it.
    let mut server =
        serve(b"POST / HTTP/1.0\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    server.take_body(NOW);
    assert!(server.transmit().is_empty());
    // One that did not ask.
    let mut server = serve(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n");
    server.take_body(NOW);
    assert!(server.transmit().is_empty());

    // Refused instead: nobody knows whether the body still comes, so the connection ends.
    let mut server = serve(head);
    server_events(&mut server);
    server.respond(&status(403), Body::Empty, NOW).unwrap();
    assert!(text(&mut server).contains("\r\nConnection: close\r\n"));
    assert_eq!(server_events(&mut server), [ServerEvent::Done]);
    assert!(server.is_lingering());
    give(&mut server, b"hi", NOW);
    server.handle_eof(NOW);
    assert_eq!(server_events(&mut server), [ServerEvent::Closed(Closed::Local)]);
}

#[test]
fn a_short_body_that_nobody_wants_is_read_for_the_sake_of_the_connection() {
    let mut server = serve(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000\r\n\r\n");
    server_events(&mut server);
    server.respond(&status(401), Body::Empty, NOW).unwrap();
    assert!(!text(&mut server).contains("Connection: close"));
    assert_eq!(server_events(&mut server), [], "the rest of the request is still to come");
    give(&mut server, &[b'x'; 8000], NOW);
    assert_eq!(server_events(&mut server), [ServerEvent::BodyEnd, ServerEvent::Done]);
    give(&mut server, GET, NOW);
    assert_eq!(verbs(&server_events(&mut server)), ["GET"]);
}

#[test]
fn a_long_body_that_nobody_wants_ends_the_connection() {
    for (framing, taken) in [
        ("Content-Length: 9000", false),
        ("Content-Length: 9000", true),
        ("Transfer-Encoding: chunked", false),
    ] {
        let mut server = serve(format!("POST / HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n").as_bytes());
        if taken {
            server.take_body(NOW);
        }
        server_events(&mut server);
        server.respond(&status(413), Body::Empty, NOW).unwrap();
        assert!(text(&mut server).contains("\r\nConnection: close\r\n"), "{framing}");
        assert_eq!(server_events(&mut server), [ServerEvent::Done], "{framing}");
        // The client goes on sending until it has read the answer.
        assert!(server.is_lingering() && server.wants_read(), "{framing}");
        give(&mut server, &[b'x'; 500_000], NOW);
        assert_eq!(server_events(&mut server), [], "{framing}");
        let until = server.poll_timeout().unwrap();
        assert!(until > NOW);
        server.handle_timeout(until);
        assert_eq!(server_events(&mut server), [ServerEvent::Closed(Closed::Local)], "{framing}");
    }
    // One that sends and sends is waited for no longer.
    let mut server = serve(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90000000\r\n\r\n");
    server_events(&mut server);
    server.respond(&status(413), Body::Empty, NOW).unwrap();
    sent(&mut server);
    let mut taken = 0;
    while server.wants_read() {
        taken += server.handle_input(&[b'x'; 100_000], NOW);
        assert!(taken < 20_000_000 && server.retained_bytes() < 200_000, "{taken}");
    }
    assert_eq!(server_events(&mut server), [ServerEvent::Done, ServerEvent::Closed(Closed::Local)]);
}

#[test]
fn the_end_of_the_input() {
    let eof = |mut server: Server| {
        server_events(&mut server);
        server.handle_eof(NOW);
        assert!(!server.wants_read());
        server_events(&mut server)
    };
    let closed = |why| vec![ServerEvent::Closed(why)];
    assert_eq!(eof(serve(b"")), closed(Closed::Eof), "between two requests");
    assert_eq!(eof(serve(b"GE")), closed(Closed::Fault(Fault::Truncated)), "in a head");
    assert_eq!(eof(serve(GET)), closed(Closed::Eof), "while an answer is open");
    assert_eq!(eof(serve(&GET.repeat(2))), closed(Closed::Eof), "another request behind it changes nothing");
    let mut server = serve(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh");
    server.take_body(NOW);
    assert_eq!(eof(server), closed(Closed::Fault(Fault::Truncated)), "in a body");
    let mut server = serve(GET);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    assert_eq!(eof(server), closed(Closed::Eof), "in the middle of an answer");

    // An answer that is on its way is sent to its end.
    let mut server = serve(GET);
    server.respond(&status(200), whole("hi"), NOW).unwrap();
    server_events(&mut server);
    server.handle_eof(NOW);
    assert_eq!(server_events(&mut server), []);
    assert!(text(&mut server).ends_with("\r\n\r\nhi"));
    assert_eq!(server_events(&mut server), [ServerEvent::Done, ServerEvent::Closed(Closed::Eof)]);
}

#[test]
fn a_client_that_reads_no_more_is_gone() {
    let mut server = serve(GET);
    server_events(&mut server);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    server.handle_write_closed(NOW);
    assert!(server.transmit().is_empty());
    assert_eq!(server_events(&mut server), [ServerEvent::Closed(Closed::Unread)]);
    assert_eq!(server.send(Bytes::from_static(b"hi"), NOW), Err(ApiError::Closed));
}

#[test]
fn shutting_down() {
    // Nothing is open.
    let mut server = serve(b"");
    server.shutdown(NOW);
    assert_eq!(server_events(&mut server), [ServerEvent::Closed(Closed::Local)]);
    // An answer is open: it is the last one, and says so if it can.
    let mut server = serve(&GET.repeat(2));
    server_events(&mut server);
    server.shutdown(NOW);
    assert!(server.poll_event().is_none());
    server.respond(&status(200), whole("hi"), NOW).unwrap();
    assert!(text(&mut server).contains("\r\nConnection: close\r\n"));
    assert_eq!(server_events(&mut server), [ServerEvent::Done], "there is something that was not read");
    server.handle_eof(NOW);
    assert_eq!(server_events(&mut server), [ServerEvent::Closed(Closed::Local)]);
}

#[test]
fn closing_cuts_an_answer_so_that_the_client_sees_it() {
    let mut server = serve(GET);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    server.send(Bytes::from_static(b"hi"), NOW).unwrap();
    let mut client = Client::new(Limits::default(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    sent(&mut client);
    give(&mut client, &sent(&mut server), NOW);
    server.close(NOW);
    assert!(server.transmit().is_empty(), "no last chunk");
    assert_eq!(server_events(&mut server).last(), Some(&ServerEvent::Closed(Closed::Local)));
    client.handle_eof(NOW);
    assert_eq!(
        client_events(&mut client).last(),
        Some(&ClientEvent::Closed(Closed::Fault(Fault::Truncated)))
    );
}

#[test]
fn calls_that_fit_nothing_are_refused() {
    let mut server = serve(b"");
    assert_eq!(server.respond(&status(200), Body::Empty, NOW), Err(ApiError::UnknownRequest));
    assert_eq!(server.send(Bytes::from_static(b"x"), NOW), Err(ApiError::UnknownRequest));
    server.take_body(NOW);
    server.end(NOW);
    give(&mut server, GET, NOW);
    for code in [0, 100, 101, 199, 1000] {
        assert!(matches!(server.respond(&status(code), Body::Empty, NOW), Err(ApiError::BadParams(_))));
    }
    server.respond(&status(200), whole("hi"), NOW).unwrap();
    assert_eq!(server.respond(&status(200), Body::Empty, NOW), Err(ApiError::UnknownRequest));
    assert_eq!(server.send(Bytes::from_static(b"x"), NOW), Err(ApiError::UnknownRequest));
    server.close(NOW);
    assert_eq!(server.respond(&status(200), Body::Empty, NOW), Err(ApiError::Closed));
    assert_eq!(server.send(Bytes::from_static(b"x"), NOW), Err(ApiError::Closed));
    server.close(NOW);
    let events = server_events(&mut server);
    assert_eq!(events.iter().filter(|event| matches!(event, ServerEvent::Closed(_))).count(), 1);
}

#[test]
fn a_client_that_takes_nothing_fills_the_queue() {
    let limits = Limits { max_queued_out_bytes: 1000, ..Limits::default() };
    let mut server = Server::new(limits, NOW);
    give(&mut server, GET, NOW);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    let piece = Bytes::from_static(&[b'x'; 600]);
    server.send(piece.clone(), NOW).unwrap();
    server.send(piece.clone(), NOW).unwrap();
    assert_eq!(server.send(piece.clone(), NOW), Err(ApiError::OutboundFull));
    assert!(server.queued_out_bytes() > 1000);
    sent(&mut server);
    assert_eq!(server.queued_out_bytes(), 0);
    server.send(piece, NOW).unwrap();
}

#[test]
fn buffers_can_be_let_go_of() {
    let mut server = serve(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n");
    server.take_body(NOW);
    give(&mut server, &[b'x'; 200_000], NOW);
    server.respond(&status(200), whole("hi"), NOW).unwrap();
    sent(&mut server);
    server_events(&mut server);
    assert!(server.retained_bytes() > 0);
    server.release();
    assert_eq!(server.retained_bytes(), 0);
    give(&mut server, GET, NOW);
    assert_eq!(verbs(&server_events(&mut server)), ["GET"]);
}
