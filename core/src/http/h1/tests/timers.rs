//! Peers that are slow.

use alloc::format;
use core::time::Duration;

use super::*;

fn at(millis: u64) -> Instant {
    NOW.saturating_add(Duration::from_millis(millis))
}

fn limits() -> Limits {
    Limits {
        head: Duration::from_millis(100),
        stall: Duration::from_millis(200),
        idle: Duration::from_millis(400),
        ..Limits::default()
    }
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
const POST: &[u8] = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n";
const SLOW: ServerEvent = ServerEvent::Closed(Closed::Fault(Fault::Slow));

#[test]
fn a_head_that_dribbles_is_answered_in_time() {
    let mut server = Server::new(limits(), NOW);
    give(&mut server, b"G", at(300));
    for n in 1..10 {
        give(&mut server, b"E", at(300 + n * 10));
        assert_eq!(server.poll_timeout(), Some(at(400)), "from its first byte to its last");
        server.handle_timeout(at(300 + n * 10));
    }
    assert!(server.transmit().is_empty());
    server.handle_timeout(at(400));
    let said = text(&mut server);
    assert!(said.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{said}");
    assert!(said.contains("\r\nConnection: close\r\n"));
    assert_eq!(server.poll_event(), None, "the client may read it first");
    let until = server.poll_timeout().unwrap();
    server.handle_timeout(until);
    assert_eq!(server_events(&mut server), [SLOW]);
    assert_eq!(server.poll_timeout(), None);
}

#[test]
fn a_connection_without_a_request_is_closed_in_time() {
    let mut server = Server::new(limits(), NOW);
    assert_eq!(server.poll_timeout(), Some(at(400)));
    give(&mut server, GET, at(300));
    assert_eq!(server.poll_timeout(), None, "an application may take its time");
    server.respond(&status(200), Body::Empty, at(900)).unwrap();
    server.handle_written(server.transmit().len(), at(1000));
    server_events(&mut server);
    assert_eq!(server.poll_timeout(), Some(at(1400)));
    server.handle_timeout(at(1400));
    assert!(server.transmit().is_empty(), "nothing was asked, so nothing is answered");
    assert_eq!(server_events(&mut server), [ServerEvent::Closed(Closed::Local)]);
}

#[test]
fn the_time_of_a_request_that_was_sent_ahead_begins_with_its_turn() {
    let mut server = Server::new(limits(), NOW);
    give(&mut server, &[GET, b"GE"].concat(), NOW);
    server.respond(&status(200), Body::Empty, at(5000)).unwrap();
    server.handle_written(server.transmit().len(), at(5010));
    assert_eq!(server.poll_timeout(), Some(at(5110)));
}

#[test]
fn a_body_that_brings_nothing_is_answered_in_time() {
    let mut server = Server::new(limits(), NOW);
    give(&mut server, POST, NOW);
    assert_eq!(server.poll_timeout(), None, "nobody wants it yet");
    server.take_body(at(1000));
    assert_eq!(server.poll_timeout(), Some(at(1200)));
    give(&mut server, b"x", at(1100));
    assert_eq!(server.poll_timeout(), Some(at(1300)), "each byte is a sign of life");
    server.handle_timeout(at(1300));
    assert!(text(&mut server).starts_with("HTTP/1.1 408 "));
    server.handle_eof(at(1301));
    assert_eq!(server_events(&mut server).last(), Some(&SLOW));

    // An answer that was begun cannot be taken back.
    let mut server = Server::new(limits(), NOW);
    give(&mut server, POST, NOW);
    server.take_body(NOW);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    sent(&mut server);
    server.handle_timeout(at(200));
    assert!(server.transmit().is_empty());
    assert_eq!(server_events(&mut server).last(), Some(&SLOW));
}

/// A byte in each 100 ms, which is half as long as nothing may come: when was it given up?
fn dribbles(server: &mut Server, from: u64) -> u64 {
    let mut now = from;
    loop {
        now += 100;
        server.handle_timeout(at(now));
        if !server.wants_read() || server.is_lingering() || !server.transmit().is_empty() {
            return now - from;
        }
        assert_eq!(server.handle_input(b"1", at(now)), 1);
        server_events(server);
    }
}

#[test]
fn a_body_that_dribbles_is_given_up() {
    let head = |framing| format!("POST / HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n");
    for framing in ["Content-Length: 5000", "Transfer-Encoding: chunked\r\n\r\n1000"] {
        let mut server = Server::new(limits(), NOW);
        give(&mut server, head(framing).as_bytes(), NOW);
        server.take_body(at(1000));
        assert_eq!(dribbles(&mut server, 1000), 900, "{framing}");
        assert!(text(&mut server).starts_with("HTTP/1.1 408 "), "{framing}");
    }

    // What nobody wants any more has no more time than what somebody does.
    let mut server = Server::new(limits(), NOW);
    give(&mut server, head("Content-Length: 5000").as_bytes(), NOW);
    server.respond(&status(401), Body::Empty, at(1000)).unwrap();
    sent(&mut server);
    assert_eq!(dribbles(&mut server, 1000), 900);
    assert_eq!(server_events(&mut server).last(), Some(&SLOW));
}

#[test]
fn a_body_that_is_slow_and_steady_has_its_time() {
    let mut server = Server::new(limits(), NOW);
    give(&mut server, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n", NOW);
    server.take_body(NOW);
    for n in 1..1000 {
        server.handle_timeout(at(n * 100));
        give(&mut server, &[b'x'; 100], at(n * 100));
        assert!(server.wants_read() && server.transmit().is_empty(), "after {n}");
        server_events(&mut server);
    }
    // What was quick does not make up for what comes to nothing.
    assert_eq!(dribbles(&mut server, 99_900), 900);
}

#[test]
fn a_stream_of_the_servers_may_be_silent() {
    let mut server = Server::new(limits(), NOW);
    give(&mut server, GET, NOW);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    sent(&mut server);
    assert_eq!(server.poll_timeout(), None);
    let mut client = Client::new(limits(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    sent(&mut client);
    give(&mut client, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", NOW);
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn a_peer_that_takes_nothing_is_given_up() {
    let mut server = Server::new(limits(), NOW);
    give(&mut server, GET, NOW);
    server.respond(&status(200), Body::Stream, NOW).unwrap();
    assert_eq!(server.poll_timeout(), Some(at(200)));
    server.handle_written(1, at(100));
    assert_eq!(server.poll_timeout(), Some(at(300)));
    server.send(Bytes::from_static(b"more"), at(250)).unwrap();
    assert_eq!(server.poll_timeout(), Some(at(300)), "more to take is no sign of life");
    server.handle_timeout(at(300));
    assert!(server.transmit().is_empty());
    assert_eq!(server_events(&mut server).last(), Some(&SLOW));

    let mut client = Client::new(limits(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    client.handle_written(1, at(100));
    assert_eq!(client.poll_timeout(), Some(at(300)));
    client.handle_timeout(at(299));
    assert!(!client.transmit().is_empty());
    client.handle_timeout(at(300));
    assert_eq!(client_events(&mut client).last(), Some(&ClientEvent::Closed(Closed::Fault(Fault::Slow))));
}

#[test]
fn the_head_of_an_answer_that_dribbles_is_given_up() {
    let mut client = Client::new(limits(), NOW);
    client.request(&ask("GET"), Body::Empty, NOW).unwrap();
    sent(&mut client);
    assert_eq!(client.poll_timeout(), None, "how long an answer may take is not decided here");
    give(&mut client, b"HTTP/1.1 100 Continue\r\n\r\n", at(500));
    assert_eq!(client.poll_timeout(), None);
    give(&mut client, b"HTTP", at(600));
    give(&mut client, b"/1", at(690));
    assert_eq!(client.poll_timeout(), Some(at(700)));
    client.handle_timeout(at(700));
    assert_eq!(client_events(&mut client).last(), Some(&ClientEvent::Closed(Closed::Fault(Fault::Slow))));
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn time_that_goes_backwards_changes_nothing() {
    let mut server = Server::new(limits(), at(1000));
    give(&mut server, b"G", NOW);
    assert_eq!(server.poll_timeout(), Some(at(1100)));
    server.handle_timeout(NOW);
    assert_eq!(server.poll_timeout(), Some(at(1100)));
}

#[test]
fn a_connection_rests_while_nothing_of_a_request_is_there() {
    let mut server = Server::new(limits(), NOW);
    assert_eq!(server.idle_since(), Some(NOW));
    give(&mut server, b"P", at(10));
    assert_eq!(server.idle_since(), None, "a head begins");
    give(&mut server, &POST[1..], at(20));
    assert!(matches!(server.poll_event(), Some(ServerEvent::Head { .. })));
    assert_eq!(server.idle_since(), None, "a body is to come");
    server.take_body(at(30));
    give(&mut server, b"0123456789", at(40));
    server_events(&mut server);
    assert_eq!(server.idle_since(), None, "it is not answered");
    server.respond(&status(200), Body::Stream, at(50)).unwrap();
    server.send(Bytes::from_static(b"x"), at(50)).unwrap();
    sent(&mut server);
    assert_eq!(server.idle_since(), None, "the answer goes on");
    server.end(at(60));
    assert_eq!(server.idle_since(), None, "it has not left");
    let len = server.transmit().len();
    server.handle_written(len, at(70));
    assert_eq!(server_events(&mut server), [ServerEvent::Done]);
    assert_eq!(server.idle_since(), Some(at(70)));
    give(&mut server, GET, at(80));
    assert_eq!(server.idle_since(), None, "the next one");
    server.close(at(90));
    assert_eq!(server.idle_since(), None, "it is over");
}
