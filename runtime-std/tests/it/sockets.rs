//! Connections that are sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;
use std::time::Duration;

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::sanswire::error::CloseReason;
use sanswire_std::sanswire::mcp::Method;
use sanswire_std::{Client, ConnectError, Ended};

use crate::common::{LONG, eventually, no_options, options, outcome, tool, trials, within};

trials!(
    over_tcp,
    over_a_unix_socket,
    nobody_listens,
    b_05_b_07_characters_cut_by_reads_come_together,
    a_socket_that_ends_in_mid_call,
    close_ends_the_socket,
    big_messages_both_ways,
    a_cork_holds_bytes_back,
);

/// Serves one connection: each `tools/call` gets `text` as its reply's text; `pieces` at a time, or all at once.
fn serve(stream: impl Read + Write, text: &str, pieces: Option<usize>, calls: usize) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    let mut served = 0;
    loop {
        line.clear();
        if stream.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let id = line.split("\"id\":").nth(1).map(|rest| rest.split([',', '}']).next().unwrap_or_default());
        let reply = match id {
            None => continue,
            Some(id) if line.contains("server/discover") => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#)
            }
            Some(id) if line.contains("\"initialize\"") => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
            ),
            Some(id) => {
                if served == calls {
                    return;
                }
                served += 1;
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
                )
            }
        };
        let reply = format!("{reply}\n");
        for piece in reply.as_bytes().chunks(pieces.unwrap_or(usize::MAX)) {
            let out = stream.get_mut();
            out.write_all(piece).unwrap();
            out.flush().unwrap();
            if pieces.is_some() {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }
}

fn tcp(text: &'static str, pieces: Option<usize>, calls: usize) -> (Client, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        serve(stream, text, pieces, calls);
    });
    (Client::connect_tcp(address, options()).unwrap(), server)
}

fn over_tcp() {
    // P-230
    let (client, server) = tcp("hello", None, usize::MAX);
    for _ in 0..50 {
        assert_eq!(tool(&client, "any", "{}"), "hello");
    }
    assert_eq!(client.pid(), None);
    assert_eq!(client.close().ended, Ended::NotAProcess);
    within(LONG, || server.join().unwrap());
}

fn over_a_unix_socket() {
    // P-230
    let path = std::env::temp_dir().join(format!("sanswire-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || serve(listener.accept().unwrap().0, "hello", None, usize::MAX));
    let client = Client::connect_unix(&path, options()).unwrap();
    assert_eq!(tool(&client, "any", "{}"), "hello");
    drop(client);
    within(LONG, || server.join().unwrap());
    std::fs::remove_file(path).unwrap();
}

fn nobody_listens() {
    let address = crate::common::NOBODY;
    let error = Client::connect_tcp(address, options()).unwrap_err();
    assert!(matches!(error, ConnectError::Dial { .. }), "{error:?}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let error = Client::connect_unix("/no/such.sock", options()).unwrap_err();
    assert!(error.to_string().contains("/no/such.sock"), "{error}");
}

fn b_05_b_07_characters_cut_by_reads_come_together() {
    const TEXT: &str = "a\u{2028}b\u{2029}c\u{85}d é € 𝄞";
    for pieces in [1, 2, 3] {
        let (client, _server) = tcp(TEXT, Some(pieces), usize::MAX);
        assert_eq!(tool(&client, "any", "{}"), TEXT);
    }
}

fn a_socket_that_ends_in_mid_call() {
    let (client, server) = tcp("hello", None, 1);
    assert_eq!(tool(&client, "any", "{}"), "hello");
    assert_eq!(within(LONG, || outcome(&client, "any", "{}")), Outcome::Lost { maybe_ran: true });
    eventually("the end is seen", || client.is_closed() == Some(CloseReason::Eof));
    within(LONG, || server.join().unwrap());
}

fn close_ends_the_socket() {
    let (client, server) = tcp("hello", None, usize::MAX);
    client.close();
    within(LONG, || server.join().unwrap());
    assert!(client.call(Method::ToolsList, None, &no_options()).is_err());
}

fn big_messages_both_ways() {
    let text: &'static str = Box::leak("x".repeat(3_000_000).into_boxed_str());
    let (client, _server) = tcp(text, None, usize::MAX);
    within(LONG, || {
        for _ in 0..3 {
            assert_eq!(tool(&client, "any", &format!(r#"{{"text":"{text}"}}"#)).len(), text.len());
        }
    });
}

fn a_cork_holds_bytes_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It serves the handshake and then hands the stream over.
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        for reply in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        ] {
            lines.read_line(&mut line).unwrap();
            (&stream).write_all(format!("{reply}\n").as_bytes()).unwrap();
        }
        lines.read_line(&mut line).unwrap();
        assert!(line.contains("initialized") && lines.buffer().is_empty(), "{line}");
        stream
    });
    let client = Client::connect_tcp(address, options()).unwrap();
    let mut server = server.join().unwrap();
    let cork = client.cork();
    let calls: Vec<_> =
        (0..5).map(|_| client.start(Method::ToolsList, None, &no_options()).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(50));
    let mut bytes = vec![0; 64 * 1024];
    server.set_nonblocking(true).unwrap();
    let none = server.read(&mut bytes).unwrap_err();
    assert_eq!(none.kind(), std::io::ErrorKind::WouldBlock);
    drop(cork);
    server.set_nonblocking(false).unwrap();
    let len = server.read(&mut bytes).unwrap();
    assert_eq!(bytes[..len].iter().filter(|byte| **byte == b'\n').count(), 5);
    drop(server);
    for call in calls {
        assert_eq!(within(LONG, || call.wait()), Outcome::Lost { maybe_ran: true });
    }
}
