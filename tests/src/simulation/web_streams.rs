//! Answers that are streams of events.

use super::web_menu::{entry, good};
use super::web_server::{To, WebEntry};

/// An event's id that no other bears.
fn next_id(server: &mut super::web_server::WebServer) -> String {
    server.events += 1;
    format!("e-{}", server.events)
}

/// Streams, and what they bring.
pub(super) const STREAMS: &[WebEntry] = &[
    entry("events", &["B-67"], To::Call, |server, asked, n| {
        let end = ["\r\n", "\n", "\r"][n as usize % 3];
        let answer = asked.answer(n);
        server.begin("");
        server.chunk(&format!(": hi{end}event: message{end}id: {}{end}data: {answer}{end}{end}", n % 5));
        server.finish();
    }),
    entry("data-of-several-lines", &["B-69"], To::Call, |server, asked, n| {
        let answer = asked.answer(n).replace(',', ",\ndata:\ndata: ");
        server.begin("");
        server.chunk(&format!("x: 1\ndata:{answer}\n\n"));
        server.finish();
    }),
    entry("primes", &["B-71"], To::Call, |server, asked, n| {
        let id = next_id(server);
        let answer = asked.answer(n);
        server.begin("");
        server.chunk(&format!("id: {id}\nretry: {}\ndata: \n\n", n % 3000));
        server.chunk(": keep-alive\n\nevent: ping\ndata: {}\n\n");
        if n % 2 == 0 {
            server.chunk(&format!("data: {answer}\n\n"));
        }
        server.finish();
    }),
    entry("progress-first", &["B-85", "B-49"], To::Call, |server, asked, n| {
        let token = asked.rpc.id;
        server.begin("");
        for step in 1..=(n % 6) {
            server.later(u64::from(step) * [0, 700, 2500][(n >> 8) as usize % 3]);
            server.chunk(&format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\"progress\":{step}}}}}\n\n"));
        }
        server.chunk("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n");
        let mut other = asked.clone();
        other.rpc.id += 90;
        let (answer, other) = (asked.answer(n), other.answer(n));
        server.chunk(&format!("data: {other}\n\ndata: {answer}\n\ndata: {answer}\n\n"));
        server.finish();
    }),
    entry("asks", &["B-55", "B-85"], To::Any, |server, asked, n| {
        server.own += 1;
        let id = [server.own.to_string(), format!("\"q{}\"", server.own)][n as usize % 2].clone();
        let method = ["ping", "roots/list", "no/such"][(n >> 8) as usize % 3];
        let answer = asked.answer(n);
        server.begin("");
        server.chunk(&format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n\n"));
        if n % 3 != 0 {
            server.later(u64::from(n % 2500));
            server.chunk(&format!("data: {answer}\n\n"));
            server.finish();
        }
    }),
    entry("ends-without-the-answer", &["B-73"], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        server.begin("");
        server.chunk([": hello\n", "data: \n\n", "event: x\ndata: {}\n\n", ""][n as usize % 4]);
        match (n >> 8) % 4 {
            0 => server.finish(),
            // An event that is not over is none.
            1 => {
                server.chunk(&format!("data: {answer}\n"));
                server.finish();
            }
            2 => server.raw("63\r\ndata: {"),
            _ => {}
        }
        if n % 3 == 0 {
            server.close();
        }
    }),
    entry("to-be-gone-on-with", &["B-73", "B-71"], To::Any, |server, asked, n| {
        let id = next_id(server);
        let answer = asked.answer(n);
        server.begin("");
        server.chunk(&format!("id: {id}\nretry: {}\ndata:\n\n", [1, 200, 4000][n as usize % 3]));
        server.rests.push((id, answer));
        match n % 2 {
            0 => server.finish(),
            _ => server.close(),
        }
    }),
    entry("goes-on", &["B-73"], To::Get, |server, asked, n| {
        let rest = server.rests.iter().find(|(id, _)| Some(id) == asked.last_event.as_ref()).cloned();
        let Some((_, rest)) = rest else { return good(server, asked, n) };
        server.begin("");
        server.chunk(&format!("data: {rest}\n\n"));
        server.finish();
    }),
    entry("goes-on-with-another", &["B-73"], To::Get, |server, asked, n| {
        let Some((_, rest)) = server.rests.first().cloned() else { return good(server, asked, n) };
        let id = next_id(server);
        server.begin("");
        server.chunk(&format!("id: {id}\ndata: {rest}\n\n"));
        match n % 3 {
            0 => server.finish(),
            1 => server.close(),
            _ => {}
        }
    }),
    entry("goes-on-and-on", &["B-73"], To::Get, |server, _, n| {
        let id = next_id(server);
        server.begin("");
        server.chunk(&format!("retry: {}\nid: {id}\n\n", n % 50));
        server.finish();
    }),
    entry("pushes", &["B-77", "B-27"], To::Get, |server, asked, n| {
        let id = next_id(server);
        let answer = asked.answer(n);
        server.begin("");
        server.chunk("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
        server.chunk(&format!("id: {id}\ndata: {answer}\n\n"));
        if n % 2 == 0 {
            server.later(u64::from(n % 20_000));
            server.finish();
        }
    }),
    entry("floods", &[], To::Any, |server, asked, n| {
        let one = [
            "data:1\n\n",
            ":\n\n",
            "id: 1\n\n",
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n",
        ];
        let one = one[n as usize % 4];
        let answer = asked.answer(n);
        server.begin("");
        server.chunk(&one.repeat((n >> 8) as usize % 300));
        server.chunk(&format!("data: {answer}\n\n"));
        server.chunk(&one.repeat((n >> 16) as usize % 30));
        server.finish();
    }),
    entry("trickles", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        server.begin("");
        for (step, piece) in format!("data: {answer}\n\n").as_bytes().chunks(1 + n as usize % 30).enumerate()
        {
            server.later(step as u64 * [1, 40, 400][(n >> 8) as usize % 3]);
            server.chunk(&String::from_utf8_lossy(piece));
        }
        server.finish();
    }),
    entry("odd-chunks", &[], To::Any, |server, asked, n| {
        let answer = asked.answer(n);
        let event = format!("data: {answer}\n\n");
        let len = event.len();
        server.begin("");
        let text = [
            format!("0x{len:x}\r\n{event}\r\n0\r\n\r\n"),
            format!(" {len:x}\r\n{event}\r\n0\r\n\r\n"),
            format!("{len:x} \r\n{event}\r\n0\r\n\r\n"),
            format!("{:x}\r\n{event}\r\n0\r\n\r\n", len - 1),
            format!("{:x}\r\n{event}\r\n0\r\n\r\n", len + 1),
            format!("{len:x};a=b\r\n{event}\r\n0\r\n\r\n"),
            format!("{len:x}\r\n{event}\r\n0\r\nX: y\r\n\r\n"),
            format!("{len:x}\r\n{event}\r\n0\r\nno field\r\n\r\n"),
            format!("{len:x}\n{event}\n0\n\n"),
            format!("00000000{len:x}\r\n{event}\r\n0\r\n\r\n"),
            format!("FFFFFFFFFFFFFFFFF\r\n{event}\r\n"),
            format!("{len:X}\r\n{event}0\r\n\r\n"),
            format!("\r\n{event}\r\n0\r\n\r\n"),
        ];
        server.raw(text[n as usize % 13].as_str());
    }),
];
