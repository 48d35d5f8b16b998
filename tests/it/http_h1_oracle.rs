//! What another implementation reads of a valid exchange, this one reads as well, and the other way round.

use bytes::Bytes;
use proptest::prelude::*;
use sanswire::http::h1::{Body, Client, ClientEvent, Limits, Server, ServerEvent};
use sanswire::http::{Fields, RequestHead, ResponseHead, Verb};
use sanswire::{Instant, Machine};
use ureq_proto::client::{Call, RecvResponseResult, SendRequestResult};
use ureq_proto::http::{HeaderMap, Request};
use ureq_proto::server::{RecvRequestResult, Reply};

const NOW: Instant = Instant::from_millis(1000);

/// A message as either side reads it: its first word or status, its target, its fields with names in small letters,
/// and its body.
#[derive(Debug, PartialEq)]
struct Message {
    what: String,
    target: String,
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

fn sorted(fields: &Fields) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> =
        fields.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.to_vec())).collect();
    all.sort();
    all
}

fn sorted_map(fields: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> =
        fields.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect();
    all.sort();
    all
}

fn request_by_ours(stream: &[u8]) -> Message {
    let mut server = Server::new(Limits::default(), NOW);
    let mut read = None;
    let mut body = Vec::new();
    let mut rest = stream;
    loop {
        rest = &rest[server.handle_input(rest, NOW)..];
        let Some(event) = server.poll_event() else { panic!("no end of {stream:?}") };
        match event {
            ServerEvent::Head { head, .. } => {
                server.take_body(NOW);
                read = Some(head);
            }
            ServerEvent::Body(piece) => body.extend_from_slice(&piece),
            ServerEvent::BodyEnd => break,
            other => panic!("{other:?}"),
        }
    }
    let head = read.expect("a head before the end");
    let (what, target) = (head.verb.as_str().to_owned(), head.target.to_string());
    Message { what, target, fields: sorted(&head.fields), body }
}

fn request_by_theirs(stream: &[u8]) -> Message {
    let mut reply = Reply::new().expect("a reply");
    let (used, request) = reply.try_request(stream).expect("a request");
    let request = request.expect("all of the head");
    let mut body = Vec::new();
    if let RecvRequestResult::RecvBody(mut reply) = reply.proceed().expect("a head") {
        body = read_all(&stream[used..], |input, output| reply.read(input, output).expect("a body"));
        assert!(reply.is_ended());
    }
    Message {
        what: request.method().to_string(),
        target: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
        fields: sorted_map(request.headers()),
        body,
    }
}

fn answer_by_ours(verb: &str, stream: &[u8]) -> Message {
    let mut client = Client::new(Limits::default(), NOW);
    let mut fields = Fields::new();
    fields.push("host", b"h").expect("a field");
    let head = RequestHead { verb: Verb::named(verb), target: "/".into(), fields };
    client.request(&head, Body::Empty, NOW).expect("a new connection");
    client.handle_written(client.transmit().len(), NOW);
    let mut read = None;
    let mut body = Vec::new();
    let mut rest = stream;
    loop {
        rest = &rest[client.handle_input(rest, NOW)..];
        if rest.is_empty() {
            client.handle_eof(NOW);
        }
        match client.poll_event().expect("an end") {
            ClientEvent::Sent => {}
            ClientEvent::Head(head) => read = Some(head),
            ClientEvent::Body(piece) => body.extend_from_slice(&piece),
            ClientEvent::End => break,
            other => panic!("{other:?} of {:?}", String::from_utf8_lossy(stream)),
        }
    }
    let head = read.expect("a head before the end");
    Message { what: head.status.to_string(), target: String::new(), fields: sorted(&head.fields), body }
}

fn answer_by_theirs(verb: &str, stream: &[u8]) -> Message {
    let request = Request::builder().method(verb).uri("http://h/").body(()).expect("a request");
    let mut call = Call::new(request).expect("a call").proceed();
    call.write(&mut [0; 1024]).expect("a head that is written");
    let Ok(Some(SendRequestResult::RecvResponse(mut call))) = call.proceed() else {
        panic!("no body to send")
    };
    let (mut at, mut read) = (0, None);
    while read.is_none() {
        let (used, response) = call.try_response(&stream[at..], false).expect("an answer");
        assert!(used > 0, "a whole head");
        at += used;
        read = response;
    }
    let response = read.expect("a head");
    let mut body = Vec::new();
    if let Some(RecvResponseResult::RecvBody(mut call)) = call.proceed() {
        body = read_all(&stream[at..], |input, output| call.read(input, output).expect("a body"));
        assert!(call.can_proceed());
    }
    let what = response.status().as_u16().to_string();
    Message { what, target: String::new(), fields: sorted_map(response.headers()), body }
}

fn read_all(mut input: &[u8], mut read: impl FnMut(&[u8], &mut [u8]) -> (usize, usize)) -> Vec<u8> {
    let mut body = Vec::new();
    let mut output = vec![0; 4096];
    loop {
        let (used, made) = read(input, &mut output);
        input = &input[used..];
        body.extend_from_slice(&output[..made]);
        if used == 0 && made == 0 {
            return body;
        }
    }
}

fn fields() -> impl Strategy<Value = Fields> {
    let value = "[!-~]([ -~\t]{0,20}[!-~])?";
    proptest::collection::vec(("x-[a-zA-Z0-9!#$%&'*+.^_`|~-]{0,9}", value), 0..6).prop_map(|list| {
        let mut fields = Fields::new();
        for (name, value) in list {
            fields.push(&name, value.as_bytes()).expect("a field");
        }
        fields
    })
}

/// So many bytes, all values among them.
fn bytes(len: usize) -> Vec<u8> {
    (0..=u8::MAX).rev().cycle().take(len).collect()
}

/// A body with its framing, as anybody may write it.
fn body() -> impl Strategy<Value = (String, Vec<u8>)> {
    let few = || proptest::collection::vec(any::<u8>(), 1..300);
    prop_oneof![
        (few(), "[Cc]ontent-[Ll]ength:[ \t]{0,2}")
            .prop_map(|(body, name)| (format!("{name}{}", body.len()), body)),
        (proptest::collection::vec((few(), any::<bool>(), "(;[a-z]{1,5}=[a-z]{1,5})?"), 0..5)).prop_map(
            |chunks| {
                let mut body = Vec::new();
                for (chunk, upper, extension) in chunks {
                    let len = chunk.len();
                    let size = if upper { format!("{len:X}") } else { format!("0{len:x}") };
                    body.extend_from_slice(format!("{size}{extension}\r\n").as_bytes());
                    body.extend_from_slice(&chunk);
                    body.extend_from_slice(b"\r\n");
                }
                body.extend_from_slice(b"0\r\n\r\n");
                ("Transfer-Encoding: chunked".to_owned(), body)
            }
        ),
    ]
}

fn raw(first: &str, fields: &Fields, framing: &str, body: &[u8]) -> Vec<u8> {
    let mut stream = format!("{first}\r\n").into_bytes();
    for (name, value) in fields.iter() {
        stream.extend_from_slice(&[name.as_bytes(), b":", value, b" \r\n"].concat());
    }
    stream.extend_from_slice(format!("{framing}\r\n\r\n").as_bytes());
    stream.extend_from_slice(body);
    stream
}

proptest! {
    #[test]
    fn both_read_the_same_request(fields in fields(), (framing, body) in body(), target in "/[a-z0-9/._~?=&%-]{0,20}") {
        let stream = raw(&format!("POST {target} HTTP/1.1\r\nHost: h:80"), &fields, &framing, &body);
        prop_assert_eq!(request_by_ours(&stream), request_by_theirs(&stream));
    }

    #[test]
    fn both_read_the_same_answer(
        fields in fields(),
        (framing, body) in body(),
        status in prop_oneof![Just(200), Just(400), Just(404), Just(500)],
        informational in any::<bool>(),
    ) {
        let mut stream = raw(&format!("HTTP/1.1 {status} Reason"), &fields, &framing, &body);
        if informational {
            stream = [&b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"[..], &stream].concat();
        }
        prop_assert_eq!(answer_by_ours("GET", &stream), answer_by_theirs("GET", &stream));
    }

    #[test]
    fn both_read_the_same_to_the_end(fields in fields(), body in proptest::collection::vec(any::<u8>(), 1..300)) {
        for version in ["1.0", "1.1"] {
            let stream = raw(&format!("HTTP/{version} 200 OK"), &fields, "A: b", &body);
            prop_assert_eq!(answer_by_ours("GET", &stream), answer_by_theirs("GET", &stream));
        }
    }

    #[test]
    fn what_a_client_of_ours_sends_the_other_reads(
        fields in fields(),
        body in (1usize..40_000).prop_map(bytes),
        target in "/[a-z0-9/._~?=&%-]{0,20}",
    ) {
        let mut all = Fields::new();
        all.push("host", b"h:80").expect("a field");
        for (name, value) in fields.iter() {
            all.push(name, value).expect("a field");
        }
        let head = RequestHead { verb: Verb::Post, target: target.into(), fields: all };
        let mut client = Client::new(Limits::default(), NOW);
        client.request(&head, Body::Whole(body.clone().into()), NOW).expect("a new connection");
        let stream = sent(&mut client);
        let read = request_by_theirs(&stream);
        prop_assert_eq!(&read.body, &body);
        prop_assert_eq!(&read.target, &*head.target);
        prop_assert_eq!(read, request_by_ours(&stream));
    }

    #[test]
    fn what_a_server_of_ours_sends_the_other_reads(
        fields in fields(),
        pieces in proptest::collection::vec((0usize..30_000).prop_map(bytes), 0..4),
        stream in any::<bool>(),
        (version, verb) in prop_oneof![Just(("1.1", "GET")), Just(("1.0", "GET")), Just(("1.1", "HEAD"))],
    ) {
        let mut server = Server::new(Limits::default(), NOW);
        let asked = format!("{verb} / HTTP/{version}\r\nHost: h\r\n\r\n");
        assert_eq!(server.handle_input(asked.as_bytes(), NOW), asked.len());
        let head = ResponseHead { status: 200, fields };
        if stream {
            server.respond(&head, Body::Stream, NOW).expect("a request");
            for piece in &pieces {
                server.send(Bytes::from(piece.clone()), NOW).expect("an answer that is open");
            }
            server.end(NOW);
        } else {
            server.respond(&head, Body::Whole(pieces.concat().into()), NOW).expect("a request");
        }
        let out = sent(&mut server);
        let read = answer_by_theirs(verb, &out);
        prop_assert_eq!(&read.body, &if verb == "HEAD" { Vec::new() } else { pieces.concat() });
        prop_assert_eq!(read, answer_by_ours(verb, &out));
    }
}

fn sent(machine: &mut impl Machine) -> Vec<u8> {
    let mut all = Vec::new();
    while !machine.transmit().is_empty() {
        all.extend_from_slice(machine.transmit());
        machine.handle_written(machine.transmit().len(), NOW);
    }
    all
}
