//! How often a small call asks for memory, to the number: one more is told, and so is one less. Everything is warm by then:
//! buffers and tables have found their size.

use std::sync::atomic::{AtomicBool, Ordering};

use sanswire::Machine;
use sanswire::client::{Config, LineConnection, Link as _, RequestOptions, Start};
use sanswire::mcp::Revision;
use sanswire::server::kit::{Cancel, Desk};
use sanswire::server::{self, Reply};
use sanswire_tests::client::json;
use sanswire_tests::served::meta;

use crate::counting::{NOW, allocations};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];
/// So many calls, of which the second half is counted.
const CALLS: u64 = 100;

/// To ask: the message, and what lets it be shared, since it is kept until it has left (and, in the newest revision, until
/// it is answered). To hear: the line, of which the result is a view. To write, to take the event and to drop it: nothing.
const CLIENT: [usize; 5] = [2, 0, 1, 0, 0];

/// To read: the line, of which the parameters are a view, and what is known of the asker. To line it up: the flag that says
/// whether it is still wanted. To answer: the result, made by the handler. To find the handler's turn, to send and to write:
/// nothing, since the answer is written into the block that waits.
const SERVER: [usize; 6] = [2, 1, 0, 1, 0, 0];

fn read(machine: &mut impl Machine, line: &str) {
    let buffer = machine.read_buffer();
    assert!(buffer.capacity() - buffer.len() >= line.len());
    buffer.extend_from_slice(line.as_bytes());
    machine.handle_read(NOW);
}

fn written(machine: &mut impl Machine) {
    machine.handle_written(machine.transmit().len(), NOW);
}

pub(crate) fn a_call_of_a_client() {
    let arguments = json(r#"{"text":"hello"}"#);
    let options = RequestOptions::default();
    for revision in ERAS {
        let mut config = Config::new("counted", "0");
        config.start = Start::Pinned(revision);
        let mut machine = LineConnection::new(config, [0; 32], NOW).unwrap();
        written(&mut machine);
        let modern = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
        let legacy = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}"#;
        let result = if revision == Revision::V2026_07_28 { modern } else { legacy };
        read(&mut machine, &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}\n"));
        written(&mut machine);
        while machine.poll_event().is_some() {}
        for id in 2..CALLS {
            let answer = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\"content\":[{{\"type\":\"text\",\"text\":\"hello\"}}]}}}}\n"
            );
            let mut event = None;
            let counts = [
                allocations(|| assert!(machine.call_tool("echo", Some(&arguments), &options, NOW).is_ok())),
                allocations(|| written(&mut machine)),
                allocations(|| read(&mut machine, &answer)),
                allocations(|| event = machine.poll_event()),
                allocations(|| event = None),
            ];
            let _ = event;
            if id > CALLS / 2 {
                assert_eq!(counts, CLIENT, "{revision}");
            }
        }
    }
}

/// Whether a request is wanted.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Cancel for Flag {
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn a_call_of_a_server() {
    for revision in ERAS {
        let config = server::Config::new("counted", "0");
        let mut machine = server::LineConnection::new(config, [0; 32], NOW).unwrap();
        machine.catalog_mut().tool(&json(r#"{"name":"echo"}"#)).unwrap();
        let mut desk: Desk<Flag, ()> = Desk::new(machine);
        let mut params = serde_json::json!({"name": "echo", "arguments": {"text": "hello"}});
        if revision == Revision::V2026_07_28 {
            params["_meta"] = meta();
        } else {
            let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
            read(
                &mut desk.machine,
                &format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n"),
            );
            read(&mut desk.machine, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
            desk.take_in(NOW).tell(|(), _| {});
            written(&mut desk.machine);
        }
        for id in 1..CALLS {
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n"
            );
            let (mut request, mut reply) = (None, None);
            let counts = [
                allocations(|| read(&mut desk.machine, &call)),
                allocations(|| desk.take_in(NOW).tell(|(), _| {})),
                allocations(|| request = desk.next_request()),
                allocations(|| reply = Some(Reply::text("hello"))),
                allocations(|| {
                    let request = request.take().unwrap();
                    desk.finish(request.request, request.params, reply.take().unwrap(), NOW);
                }),
                allocations(|| written(&mut desk.machine)),
            ];
            if id > CALLS / 2 {
                assert_eq!(counts, SERVER, "{revision}");
            }
        }
    }
}
