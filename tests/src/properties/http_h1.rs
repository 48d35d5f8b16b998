//! HTTP/1.1, either role, against itself: however a stream is cut, it comes to the same.

use bytes::Bytes;
use sanswire::http::h1::{Body, Client, ClientEvent, Closed, Limits, Server, ServerEvent};
use sanswire::http::{Fields, RequestHead, ResponseHead, Verb};
use sanswire::limits::MAX_READ_BYTES;
use sanswire::{Instant, Machine};

const NOW: Instant = Instant::from_millis(1000);
const VERBS: [&str; 4] = ["GET", "POST", "HEAD", "CONNECT"];
const PIECES: [&str; 3] = ["data: 1\n\n", "\r\n\r\n0\r\n\r\n", "x"];

/// Takes a role, a setting, a way to cut and a stream from `data`, and plays a peer that sends the stream, and an
/// application that takes what it is told.
///
/// # Panics
/// If a rule is broken.
pub fn check_http_h1(data: &[u8]) {
    let [setting, cuts, stream @ ..] = data else { return };
    let mut state = u64::from(*cuts) + 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 << ((state >> 33) % 9)
    };
    if setting % 2 == 0 {
        let whole = serve(*setting, stream, &mut || usize::MAX);
        assert_eq!(serve(*setting, stream, &mut || 1), whole, "byte by byte");
        assert_eq!(serve(*setting, stream, &mut random), whole, "cut at random");
        clients_understand(&whole);
    } else {
        let whole = ask(*setting, stream, &mut || usize::MAX);
        if matches!(whole.last(), Some(ClientEvent::Closed(Closed::Tunnel(_)))) {
            // What came with the head is handed over; the rest is no business of the machine's.
            return;
        }
        assert_eq!(ask(*setting, stream, &mut || 1), whole, "byte by byte");
        assert_eq!(ask(*setting, stream, &mut random), whole, "cut at random");
    }
}

/// Small, so that a short input meets all of them.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_head_bytes = 300;
    limits.max_fields = 8;
    limits
}

/// What a server told, pieces of bodies joined, and what it sent.
#[derive(Debug, PartialEq)]
struct Served {
    events: Vec<ServerEvent>,
    out: Vec<u8>,
}

/// Plays a client that sends `stream` and ends, and an application that answers by `setting`.
fn serve(setting: u8, stream: &[u8], cuts: &mut dyn FnMut() -> usize) -> Served {
    let mut server = Server::new(limits(), NOW);
    let mut served = Served { events: Vec::new(), out: Vec::new() };
    let mut rest = stream;
    while !rest.is_empty() && server.wants_read() {
        rest = &rest[read(&mut server, rest, cuts())..];
        served.drain(&mut server, setting);
        assert!(server.retained_bytes() <= limits().worst_case_bytes());
        rule_of_deadlines(&mut server);
    }
    server.handle_eof(NOW);
    served.drain(&mut server, setting);
    assert!(!server.wants_read());
    assert_eq!(server.poll_timeout(), None);
    let closed = served.events.iter().filter(|event| matches!(event, ServerEvent::Closed(_))).count();
    assert!(closed == 1 && matches!(served.events.last(), Some(ServerEvent::Closed(_))), "last, and once");
    let heads = served.events.iter().filter(|event| matches!(event, ServerEvent::Head { .. })).count();
    let done = served.events.iter().filter(|event| matches!(event, ServerEvent::Done)).count();
    assert!(done == heads || done + 1 == heads, "{done} answers to {heads} requests");
    served
}

impl Served {
    fn drain(&mut self, server: &mut Server, setting: u8) {
        loop {
            let before = (self.events.len(), self.out.len());
            while let Some(event) = server.poll_event() {
                match (&event, setting / 2 % 4) {
                    // Early, whatever the body is.
                    (ServerEvent::Head { .. }, 0) => answer(server, setting),
                    (ServerEvent::Head { .. }, _) => server.take_body(NOW),
                    (ServerEvent::BodyEnd, 1..) => answer(server, setting),
                    _ => {}
                }
                match (self.events.last_mut(), event) {
                    (Some(ServerEvent::Body(before)), ServerEvent::Body(more)) => {
                        *before = [&**before, &*more].concat().into();
                    }
                    (_, event) => self.events.push(event),
                }
            }
            while !server.transmit().is_empty() {
                let len = server.transmit().len();
                // Whether a client is told to go on depends on whether its body was there already.
                if server.transmit() != b"HTTP/1.1 100 Continue\r\n\r\n" {
                    self.out.extend_from_slice(server.transmit());
                }
                server.handle_written(len, NOW);
            }
            if before == (self.events.len(), self.out.len()) {
                return;
            }
        }
    }
}

/// Answers the open request, if there still is one.
fn answer(server: &mut Server, setting: u8) {
    let mut head = ResponseHead::new([200, 204, 404, 304][usize::from(setting / 8 % 4)]);
    head.fields.push("content-type", b"text/event-stream").expect("a field");
    let body = match setting / 32 % 3 {
        0 => Body::Empty,
        1 => Body::Whole(Bytes::from_static(b"HTTP/1.1 200 OK\r\n\r\n")),
        _ => Body::Stream,
    };
    let stream = body == Body::Stream;
    if server.respond(&head, body, NOW).is_ok() && stream {
        for piece in PIECES {
            server.send(Bytes::from_static(piece.as_bytes()), NOW).expect("room for three pieces");
        }
        server.end(NOW);
    }
}

/// Whatever a server sent, a client reads as that many answers to these requests, and nothing else.
fn clients_understand(served: &Served) {
    let mut verbs = served.events.iter().filter_map(|event| match event {
        ServerEvent::Head { head, .. } => Some(head.verb.clone()),
        _ => None,
    });
    let mut client = Client::new(Limits::default(), NOW);
    let mut rest = &*served.out;
    while !rest.is_empty() {
        // What is refused was a request as well, of which nothing is known.
        let verb = verbs.next().unwrap_or(Verb::Get);
        client
            .request(&request(verb), Body::Empty, NOW)
            .expect("the last answer said that there may be more");
        write(&mut client);
        let mut over = false;
        while !over && !rest.is_empty() {
            rest = &rest[read(&mut client, rest, 1)..];
            while let Some(event) = client.poll_event() {
                over |= matches!(event, ClientEvent::End);
                assert!(
                    !matches!(event, ClientEvent::Closed(Closed::Fault(_))),
                    "{event:?} of {:?}",
                    String::from_utf8_lossy(&served.out)
                );
            }
        }
        if !over {
            // Either it goes on to the end of the connection, or the client of this server went away.
            client.handle_eof(NOW);
        }
    }
}

/// Plays a server that sends `stream` after one request, and ends.
fn ask(setting: u8, stream: &[u8], cuts: &mut dyn FnMut() -> usize) -> Vec<ClientEvent> {
    let mut client = Client::new(limits(), NOW);
    let mut events: Vec<ClientEvent> = Vec::new();
    let verb = VERBS[usize::from(setting / 2) % VERBS.len()];
    client.request(&request(Verb::named(verb)), Body::Empty, NOW).expect("a new connection");
    write(&mut client);
    let mut rest = stream;
    loop {
        if rest.is_empty() || !client.wants_read() {
            client.handle_eof(NOW);
        } else {
            rest = &rest[read(&mut client, rest, cuts())..];
            rule_of_deadlines(&mut client);
        }
        while let Some(event) = client.poll_event() {
            match (events.last_mut(), event) {
                (Some(ClientEvent::Body(before)), ClientEvent::Body(more)) => {
                    *before = [&**before, &*more].concat().into();
                }
                (_, event) => events.push(event),
            }
        }
        assert!(client.retained_bytes() <= limits().worst_case_bytes());
        if !client.wants_read() {
            break;
        }
    }
    let closed = events.iter().filter(|event| matches!(event, ClientEvent::Closed(_))).count();
    assert!(closed == 1 && matches!(events.last(), Some(ClientEvent::Closed(_))), "last, and once");
    events
}

fn request(verb: Verb) -> RequestHead {
    let mut fields = Fields::new();
    fields.push("host", b"h").expect("a field");
    RequestHead { verb, target: "/mcp".into(), fields }
}

fn write(machine: &mut impl Machine) {
    while !machine.transmit().is_empty() {
        machine.handle_written(machine.transmit().len(), NOW);
    }
}

/// As a driver does: one read, at most so long, into spare room.
fn read(machine: &mut impl Machine, stream: &[u8], len: usize) -> usize {
    let buffer = machine.read_buffer();
    let capacity = buffer.capacity();
    let room = capacity - buffer.len();
    assert!(room > 0, "no room to read into");
    let len = len.min(room).min(stream.len()).min(MAX_READ_BYTES);
    buffer.extend_from_slice(&stream[..len]);
    assert_eq!(buffer.capacity(), capacity);
    machine.handle_read(NOW);
    len
}

/// After a drain the next deadline lies in the future.
fn rule_of_deadlines(machine: &mut impl Machine) {
    machine.handle_timeout(NOW);
    assert!(machine.poll_timeout().is_none_or(|at| at > NOW));
}
