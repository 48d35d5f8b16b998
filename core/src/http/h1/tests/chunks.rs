//! Bodies in chunks.

use alloc::format;
use alloc::string::String;

use super::*;

const HEAD: &str = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

/// What a server reads of a body, in pieces of `step` bytes: its data, and how it ended.
fn read(body: &str, step: usize, limits: &Limits) -> (Vec<u8>, Option<Fault>, bool) {
    let mut server = Server::new(limits.clone(), NOW);
    give(&mut server, HEAD.as_bytes(), NOW);
    server.take_body(NOW);
    let mut data = Vec::new();
    let (mut fault, mut over) = (None, false);
    let mut note = |server: &mut Server| {
        for event in server_events(server) {
            match event {
                ServerEvent::Body(piece) => data.extend_from_slice(&piece),
                ServerEvent::BodyEnd => over = true,
                ServerEvent::Closed(Closed::Fault(why)) => fault = Some(why),
                ServerEvent::Head { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    };
    for piece in body.as_bytes().chunks(step) {
        give(&mut server, piece, NOW);
        note(&mut server);
    }
    sent(&mut server);
    if !server.transmit().is_empty() || server.is_lingering() {
        server.handle_eof(NOW);
    }
    note(&mut server);
    (data, fault, over)
}

#[test]
fn chunks_that_are_read() {
    let long = format!("{:x}\r\n{}\r\n0\r\n\r\n", 40_000, "x".repeat(40_000));
    let table: &[(&str, &str, &str)] = &[
        ("none", "0\r\n\r\n", ""),
        ("one", "5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("two", "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "hello!"),
        ("sizes in either case", "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("zeros in front", "005\r\nhello\r\n000\r\n\r\n", "hello"),
        ("line ends in the data", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
        ("an extension", "5;a=b\r\nhello\r\n0;c=\"d\"\r\n\r\n", "hello"),
        ("trailers", "5\r\nhello\r\n0\r\nA: b\r\nc:\r\n\r\n", "hello"),
        ("a long one", &long, &"x".repeat(40_000)),
    ];
    for (name, body, data) in table {
        for step in [1, 2, 3, 1000, usize::MAX] {
            let expected = (data.as_bytes().to_vec(), None, true);
            assert_eq!(read(body, step, &Limits::default()), expected, "{name}, {step}");
        }
    }
}

#[test]
fn chunks_that_are_refused() {
    let ext = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(257));
    let trailer = format!("0\r\nA: {}\r\n\r\n", "x".repeat(70_000));
    let trailers = format!("0\r\n{}\r\n", "A: b\r\n".repeat(20_000));
    let table: &[(&str, &str, &str)] = &[
        ("no size", "\r\nhello\r\n", ""),
        ("a sign", "+5\r\nhello\r\n0\r\n\r\n", ""),
        ("a negative size", "-1\r\nhello\r\n0\r\n\r\n", ""),
        ("0x", "0x5\r\nhello\r\n0\r\n\r\n", ""),
        ("an underscore", "1_0\r\nhello\r\n0\r\n\r\n", ""),
        ("a blank in front", " 5\r\nhello\r\n0\r\n\r\n", ""),
        ("a blank behind", "5 \r\nhello\r\n0\r\n\r\n", ""),
        ("no hexadecimal digit", "5g\r\nhello\r\n0\r\n\r\n", ""),
        ("sixteen digits", "0000000000000005\r\nhello\r\n0\r\n\r\n", ""),
        ("more than there is", "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n", ""),
        ("LF alone behind the size", "5\nhello\r\n0\r\n\r\n", ""),
        ("CR alone behind the size", "5\rhello\r\n0\r\n\r\n", ""),
        ("an extension without an end", &ext, ""),
        ("LF in an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n", ""),
        ("NUL in an extension", "5;\0\r\nhello\r\n0\r\n\r\n", ""),
        ("data longer than its size", "4\r\nhello\r\n0\r\n\r\n", "hell"),
        ("LF alone behind the data", "5\r\nhello\n0\r\n\r\n", "hello"),
        ("no end behind the data", "5\r\nhello0\r\n\r\n", "hello"),
        ("LF alone at the end", "0\r\n\n", ""),
        ("a trailer that is no field", "0\r\nhello\r\n\r\n", ""),
        ("a trailer without a name", "0\r\n: b\r\n\r\n", ""),
        ("a trailer that is folded", "0\r\nA: b\r\n c\r\n\r\n", ""),
        ("a trailer with a blank before the colon", "0\r\nA : b\r\n\r\n", ""),
        ("LF alone in a trailer", "0\r\nA: b\n\r\n", ""),
        ("a trailer that is too long", &trailer, ""),
        ("too many trailers", &trailers, ""),
    ];
    for (name, body, data) in table {
        for step in [1, 2, 3, 1000, usize::MAX] {
            let (got, fault, over) = read(body, step, &Limits::default());
            assert!(matches!(fault, Some(Fault::Framing(_))), "{name}, {step}: {fault:?}");
            assert!(!over && got == data.as_bytes(), "{name}, {step}");
        }
    }
}

/// Many short chunks of one read come as one piece: what waits stays near what was sent.
#[test]
fn short_chunks_cost_no_more_than_their_bytes() {
    let mut server = Server::new(Limits::default(), NOW);
    give(&mut server, HEAD.as_bytes(), NOW);
    server.take_body(NOW);
    server_events(&mut server);
    let flood: String = "1\r\nx\r\n".repeat(8_000);
    let taken = server.handle_input(flood.as_bytes(), NOW);
    assert_eq!(taken, flood.len());
    assert!(server.retained_bytes() < 200_000, "{}", server.retained_bytes());
    let events = server_events(&mut server);
    assert!(matches!(&*events, [ServerEvent::Body(data)] if data.len() == 8_000));
}

#[test]
fn a_body_that_nobody_takes_stops_the_reading() {
    let limits = Limits { max_queued_event_bytes: 10_000, ..Limits::default() };
    let mut server = Server::new(limits, NOW);
    give(&mut server, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n", NOW);
    server.take_body(NOW);
    let taken = server.handle_input(&[b'x'; 1_000_000], NOW);
    assert!(!server.wants_read() && taken < 200_000, "{taken}");
    assert_eq!(
        server.poll_timeout(),
        None,
        "what the application does not take is not the client's slowness"
    );
    let mut data = 0;
    while let Some(event) = server.poll_event() {
        if let ServerEvent::Body(piece) = event {
            data += piece.len();
        }
    }
    assert_eq!(data, taken);
    assert!(server.wants_read() && server.poll_timeout().is_some());
}

#[test]
fn a_limit_of_nothing_lets_one_event_through_at_a_time() {
    let limits = Limits { max_queued_event_bytes: 0, ..Limits::default() };
    let mut server = Server::new(limits, NOW);
    give(&mut server, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n", NOW);
    server.take_body(NOW);
    assert!(!server.wants_read());
    for byte in [b"a", b"b", b"c"] {
        server_events(&mut server);
        assert_eq!(server.handle_input(byte, NOW), 1);
    }
    assert_eq!(server_events(&mut server).last(), Some(&ServerEvent::BodyEnd));
}
