//! What comes out does not depend on how the stream was cut.

use alloc::format;

use proptest::prelude::*;

use super::*;

/// Plays a server that takes every body and answers every request at once, and shows all it told and all it sent.
fn serve(stream: &[u8], cuts: &mut dyn FnMut() -> usize) -> (Vec<ServerEvent>, Vec<u8>) {
    let mut server = Server::new(limits(), NOW);
    let (mut events, mut out) = (Vec::new(), Vec::new());
    let mut rest = stream;
    while !rest.is_empty() && server.wants_read() {
        let len = cuts().clamp(1, rest.len());
        let taken = server.handle_input(&rest[..len], NOW);
        assert!(taken > 0);
        rest = &rest[taken..];
        drain(&mut server, &mut events, &mut out);
    }
    server.handle_eof(NOW);
    drain(&mut server, &mut events, &mut out);
    assert!(matches!(events.last(), Some(ServerEvent::Closed(_))));
    (joined(events), without_continue(&out))
}

/// Whether a client is told to go on depends on whether its body was there already, as it should.
fn without_continue(out: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(out).replace("HTTP/1.1 100 Continue\r\n\r\n", "").into_bytes()
}

fn limits() -> Limits {
    Limits { max_head_bytes: 500, max_fields: 10, ..Limits::default() }
}

fn drain(server: &mut Server, events: &mut Vec<ServerEvent>, out: &mut Vec<u8>) {
    loop {
        let before = events.len();
        while let Some(event) = server.poll_event() {
            match event {
                ServerEvent::Head { .. } => server.take_body(NOW),
                ServerEvent::BodyEnd => {
                    // What was refused on the way is over.
                    let _ = server.respond(&status(200), whole("answer"), NOW);
                }
                _ => {}
            }
            events.push(event);
        }
        out.extend_from_slice(&sent(server));
        assert!(server.retained_bytes() <= limits().worst_case_bytes());
        if events.len() == before {
            return;
        }
    }
}

fn joined(all: Vec<ServerEvent>) -> Vec<ServerEvent> {
    let mut events: Vec<ServerEvent> = Vec::new();
    for event in all {
        match (events.last_mut(), event) {
            (Some(ServerEvent::Body(before)), ServerEvent::Body(more)) => {
                *before = [&**before, &*more].concat().into();
            }
            (_, event) => events.push(event),
        }
    }
    events
}

/// As [`serve`], for a client that asked with `verb`.
fn answer(verb: &str, stream: &[u8], cuts: &mut dyn FnMut() -> usize) -> Vec<ClientEvent> {
    let mut client = Client::new(limits(), NOW);
    client.request(&ask(verb), Body::Empty, NOW).unwrap();
    sent(&mut client);
    let mut rest = stream;
    while !rest.is_empty() && client.wants_read() {
        let len = cuts().clamp(1, rest.len());
        let taken = client.handle_input(&rest[..len], NOW);
        assert!(taken > 0);
        rest = &rest[taken..];
    }
    client.handle_eof(NOW);
    client_events(&mut client)
}

/// One message, mostly fine, with now and then a fault.
fn message(first: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        8 => "[A-Za-z-]{1,8}: [ -~]{0,20}".prop_map(|field| field + "\r\n"),
        1 => Just("A: b\n".into()),
        1 => Just("A : b\r\n".into()),
        1 => Just(" folded\r\n".into()),
        1 => Just("A: b\rc\r\n".into()),
        1 => Just("Host: h\r\n".into()),
        2 => Just("Expect: 100-continue\r\n".into()),
        2 => Just("Connection: close\r\n".into()),
    ];
    let chunk = prop::collection::vec(any::<u8>(), 1..40)
        .prop_map(|data| [format!("{:x}\r\n", data.len()).as_bytes(), &data, b"\r\n"].concat());
    let body = prop_oneof![
        2 => Just(b"\r\n".to_vec()),
        3 => prop::collection::vec(any::<u8>(), 0..200).prop_map(|body| {
            [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat()
        }),
        3 => prop::collection::vec(chunk, 0..5).prop_map(|chunks| {
            [&b"Transfer-Encoding: chunked\r\n\r\n"[..], &chunks.concat(), b"0\r\nA: b\r\n\r\n"].concat()
        }),
        1 => Just(b"Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n".to_vec()),
    ];
    (prop::collection::vec(field, 0..4), body)
        .prop_map(move |(fields, body)| [first.as_bytes(), fields.concat().as_bytes(), &body].concat())
}

fn stream(first: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec(any::<u8>(), 0..30);
    (prop::collection::vec(message(first), 1..4), noise, any::<bool>()).prop_map(|(messages, noise, add)| {
        let mut stream = messages.concat();
        if add {
            stream.extend_from_slice(&noise);
        }
        stream
    })
}

fn cutting(cuts: &[usize]) -> impl FnMut() -> usize {
    let mut cuts = cuts.iter().copied().cycle();
    move || cuts.next().unwrap_or(1)
}

/// Carries all that waits in one machine to the other, and gives what that one tells.
fn carry<A: Machine, B: Machine>(
    from: &mut A,
    to: &mut B,
    cuts: &mut dyn FnMut() -> usize,
    mut each: impl FnMut(&mut B, &B::Event),
) -> Vec<B::Event> {
    let mut events = Vec::new();
    while !from.transmit().is_empty() {
        let len = cuts().clamp(1, from.transmit().len());
        let taken = to.handle_input(&from.transmit()[..len], NOW);
        assert!(taken > 0);
        from.handle_written(taken, NOW);
        while let Some(event) = to.poll_event() {
            each(to, &event);
            events.push(event);
        }
    }
    events
}

proptest! {
    #[test]
    fn requests_cut_anywhere(
        stream in stream("POST /mcp HTTP/1.1\r\nHost: h\r\n"),
        cuts in prop::collection::vec(1usize..40, 1..20),
    ) {
        let whole = serve(&stream, &mut || usize::MAX);
        prop_assert_eq!(&serve(&stream, &mut || 1), &whole, "byte by byte");
        prop_assert_eq!(&serve(&stream, &mut cutting(&cuts)), &whole, "cut at random");
    }

    #[test]
    fn answers_cut_anywhere(
        stream in stream("HTTP/1.1 200 OK\r\n"),
        cuts in prop::collection::vec(1usize..40, 1..20),
        verb in prop_oneof![Just("GET"), Just("HEAD"), Just("CONNECT")],
    ) {
        let whole = answer(verb, &stream, &mut || usize::MAX);
        // Where a tunnel begins, what came with the head is handed over; the rest is no business of this machine's.
        if let Some(ClientEvent::Closed(Closed::Tunnel(_))) = whole.last() {
            return Ok(());
        }
        prop_assert_eq!(&answer(verb, &stream, &mut || 1), &whole, "byte by byte");
        prop_assert_eq!(&answer(verb, &stream, &mut cutting(&cuts)), &whole, "cut at random");
    }

    /// Any head that a client can send and any body come out of the server as they went in, and the same way back.
    #[test]
    fn what_one_sends_the_other_reads(
        names in prop::collection::vec("x-[a-zA-Z!#$%&'*+.^_`|~-]{1,9}", 0..5),
        value in "[ -~\u{e4}\t]{0,30}",
        target in "/[!-\"$-~]{0,30}",
        len in prop_oneof![0usize..200, 0usize..70_000],
        pieces in prop::collection::vec(0usize..20_000, 0..5),
        cuts in prop::collection::vec(1usize..90_000, 1..5),
        stream in any::<bool>(),
    ) {
        let mut fields = fields(&[("host", "h:1")]);
        for name in &names {
            fields.push(name, value.as_bytes()).unwrap();
        }
        let head = RequestHead { verb: Verb::Post, target: target.as_str().into(), fields: fields.clone() };
        let body: Bytes = (0..len).map(|n| (n * 7 % 256) as u8).collect();
        let mut client = Client::new(Limits::default(), NOW);
        let mut server = Server::new(Limits::default(), NOW);
        let mut cuts = cutting(&cuts);
        for _ in 0..2 {
            client.request(&head, Body::Whole(body.clone()), NOW).unwrap();
            let got = carry(&mut client, &mut server, &mut cuts, |server, event| {
                if matches!(event, ServerEvent::Head { .. }) {
                    server.take_body(NOW);
                }
            });
            let mut data = Vec::new();
            for event in got {
                match event {
                    ServerEvent::Head { head: read, length } => {
                        prop_assert_eq!((&read.verb, &read.target, length), (&head.verb, &head.target, Some(body.len() as u64)));
                        for (name, value) in fields.iter() {
                            prop_assert!(read.fields.all(name).any(|read| read == value), "{}", name);
                        }
                    }
                    ServerEvent::Body(piece) => data.extend_from_slice(&piece),
                    ServerEvent::BodyEnd => prop_assert_eq!(&data, &body),
                    other => prop_assert!(other == ServerEvent::Done, "{:?}", other),
                }
            }
            let answer = ResponseHead { status: 200, fields: fields.clone() };
            let mut said = Vec::new();
            if stream {
                server.respond(&answer, Body::Stream, NOW).unwrap();
                for piece in &pieces {
                    said.extend_from_slice(&body[..(*piece).min(body.len())]);
                    server.send(body.slice(..(*piece).min(body.len())), NOW).unwrap();
                }
                server.end(NOW);
            } else {
                said.extend_from_slice(&body);
                server.respond(&answer, Body::Whole(body.clone()), NOW).unwrap();
            }
            let mut read = Vec::new();
            for event in carry(&mut server, &mut client, &mut cuts, |_, _| {}) {
                match event {
                    ClientEvent::Head(head) => prop_assert_eq!(head.fields.all("x-none").count(), 0),
                    ClientEvent::Body(piece) => read.extend_from_slice(&piece),
                    ClientEvent::End => prop_assert_eq!(&read, &said),
                    other => prop_assert!(other == ClientEvent::Sent, "{:?}", other),
                }
            }
            prop_assert!(client.is_idle());
        }
    }
}
