//! Servers behind https that end anywhere, on the way to a session and after it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::poll_once;
use sanswire_smol::sanswire::client::Start;
use sanswire_smol::sanswire::error::CloseReason;
use sanswire_smol::sanswire::mcp::Revision;
use sanswire_smol::{CertificateFault, Client, ConnectError, DialFault, DialStep, TlsFault};

use crate::common::{Env, eventually, options, tool, trials};
use crate::http_dial::unreachable;
use crate::http_script::says;
use crate::http_tls::{address_of, echoing, trusting};
use crate::tls_front::{Stream, before, front};

trials!(
    each:
        an_answer_under_tls_may_come_before_its_request_is_read,
        an_end_without_a_word_costs_no_answer_that_is_whole,
        a_server_that_ends_its_half_is_not_used_again;
    once:
        a_connection_may_end_at_any_byte_of_its_negotiation,
        a_negotiation_that_hangs_is_let_go,
        certificates_of_others,
);

/// Passes so many bytes of the server's, or of the client's, and ends then.
fn cutting(to: SocketAddr, servers: bool, cut: Arc<AtomicUsize>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(to).unwrap();
            let cut = cut.load(Ordering::SeqCst);
            let (theirs, ours) = if servers { (cut, usize::MAX) } else { (usize::MAX, cut) };
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || pass(back.0, back.1, theirs));
            std::thread::spawn(move || pass(client, server, ours));
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut most: usize) {
    let mut room = [0; 4096];
    while most > 0 {
        let len = room.len().min(most);
        match from.read(&mut room[..len]) {
            Ok(len @ 1..) if to.write_all(&room[..len]).is_ok() => most -= len,
            _ => break,
        }
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}

async fn a_connection_may_end_at_any_byte_of_its_negotiation() {
    let peer = echoing();
    let behind = before(address_of(&peer), "server.pem", false);
    for servers in [true, false] {
        let cut = Arc::new(AtomicUsize::new(0));
        let target = trusting(cutting(behind, servers, Arc::clone(&cut)));
        let (mut at, mut during, mut after) = (0, 0, 0);
        loop {
            cut.store(at, Ordering::SeqCst);
            let mut options = options();
            // A handshake over another connection would come further.
            options.config.start = Start::Pinned(Revision::V2026_07_28);
            match Client::connect_http(&target, options).await {
                Ok(client) => {
                    client.kill().await;
                    break;
                }
                Err(ConnectError::Reach(fault)) => {
                    let cut_off = match &*fault {
                        DialFault::Broken { during, .. } => *during == DialStep::Tls,
                        // An end that is one, in its place.
                        DialFault::Tls(_) => true,
                        _ => false,
                    };
                    assert!(cut_off, "{servers} {at}: {fault:?}");
                    during += 1;
                }
                Err(ConnectError::Closed { reason, .. }) => {
                    let broken = matches!(&*reason, CloseReason::Eof | CloseReason::Unreachable);
                    assert!(broken, "{servers} {at}: {reason:?}");
                    after += 1;
                }
                Err(error) => panic!("{servers} {at}: {error:?}"),
            }
            at += if at < 30 { 1 } else { 19 };
            assert!(at < 20_000);
        }
        assert!(during > 30 && after > 5, "{servers}: {during} {after}");
    }
}

async fn a_negotiation_that_hangs_is_let_go() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = trusting(listener.local_addr().unwrap());
    let gone = Arc::new(AtomicUsize::new(0));
    let tell = Arc::clone(&gone);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            while matches!(stream.read(&mut [0; 1024]), Ok(1..)) {}
            tell.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut connecting = Box::pin(Client::connect_http(&target, options()));
    for _ in 0..5 {
        assert!(poll_once(&mut connecting).await.is_none());
        Timer::after(Duration::from_millis(5)).await;
    }
    drop(connecting);
    eventually("its connection is closed", || gone.load(Ordering::SeqCst) == 1).await;
}

async fn certificates_of_others() {
    let peer = echoing();
    let (fault, _) = unreachable(&trusting(before(address_of(&peer), "other.pem", false))).await;
    let DialFault::Tls(TlsFault::Certificate(CertificateFault::WrongName { names })) = fault else {
        panic!("{fault:?}")
    };
    assert!(!names.is_empty() && !names.contains(&"localhost".to_owned()), "{names:?}");
    let (fault, _) = unreachable(&trusting(before(address_of(&peer), "future.pem", false))).await;
    assert!(
        matches!(fault, DialFault::Tls(TlsFault::Certificate(CertificateFault::NotYetValid))),
        "{fault:?}"
    );
}

/// Reads a request, so much of its body as there is at once: its length, and the id of its message.
fn read_request(stream: &mut Stream) -> Option<(usize, String)> {
    let (mut text, mut room) = (Vec::new(), [0; 4096]);
    loop {
        let len = stream.read(&mut room).ok().filter(|len| *len > 0)?;
        text.extend_from_slice(&room[..len]);
        let all = String::from_utf8_lossy(&text);
        let Some((head, body)) = all.split_once("\r\n\r\n") else { continue };
        let Some(id) = body.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()) else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        let length: usize = head.split("content-length: ").nth(1)?.split('\r').next()?.parse().ok()?;
        let left = length - body.len();
        let id = id.to_owned();
        if left < 4096 {
            stream.read_exact(&mut room[..left]).ok()?;
            return Some((0, id));
        }
        return Some((left, id));
    }
}

fn answer(id: &str, result: &str) -> String {
    let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    let head = "HTTP/1.1 200 .\r\nContent-Type: application/json\r\nContent-Length: ";
    format!("{head}{}\r\n\r\n{message}", message.len())
}

const DISCOVERED: &str =
    r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;

async fn an_answer_under_tls_may_come_before_its_request_is_read(env: Env) {
    const LEN: usize = 2_000_000;
    let address = front("server.pem", false, |mut stream| {
        while let Some((left, id)) = read_request(&mut stream) {
            let result = if left > 0 { says(&"y".repeat(LEN)) } else { DISCOVERED.into() };
            if stream.write_all(answer(&id, &result).as_bytes()).is_err()
                || stream.flush().is_err()
                || stream.read_exact(&mut vec![0; left]).is_err()
            {
                return;
            }
        }
    });
    let client = Client::connect_http(&trusting(address), env.options()).await.unwrap();
    let text = "x".repeat(LEN);
    for _ in 0..2 {
        let said = tool(&client, "any", &format!(r#"{{"say":"{text}"}}"#)).await;
        assert!(said.len() == LEN);
    }
}

async fn an_end_without_a_word_costs_no_answer_that_is_whole(env: Env) {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let address = front("server.pem", false, move |mut stream| {
        count.fetch_add(1, Ordering::SeqCst);
        let Some((_, id)) = read_request(&mut stream) else { return };
        let result = if id == "1" { DISCOVERED.to_owned() } else { says("whole") };
        let text = answer(&id, &result).replacen(" .", " .\r\nConnection: close", 1);
        let _ = stream.write_all(text.as_bytes());
        let _ = stream.flush();
    });
    let client = Client::connect_http(&trusting(address), env.options()).await.unwrap();
    for _ in 0..5 {
        assert_eq!(tool(&client, "any", "{}").await, "whole");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 6);
}

async fn a_server_that_ends_its_half_is_not_used_again(env: Env) {
    let (connections, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, tell) = (Arc::clone(&connections), Arc::clone(&gone));
    let address = front("server.pem", false, move |mut stream| {
        count.fetch_add(1, Ordering::SeqCst);
        let Some((_, id)) = read_request(&mut stream) else { return };
        let result = if id == "1" { DISCOVERED.to_owned() } else { says("whole") };
        // One record after the other: whoever has the answer may not have seen the end.
        let _ = stream.write_all(answer(&id, &result).as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
        // It would go on reading.
        while matches!(stream.sock.read(&mut [0; 1024]), Ok(1..)) {}
        tell.fetch_add(1, Ordering::SeqCst);
    });
    let client = Client::connect_http(&trusting(address), env.options()).await.unwrap();
    for n in 1..=5 {
        eventually("its connection is closed", || gone.load(Ordering::SeqCst) == n).await;
        assert_eq!(tool(&client, "any", "{}").await, "whole");
        assert_eq!(connections.load(Ordering::SeqCst), n + 1);
    }
}
