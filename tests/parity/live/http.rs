//! The peer over HTTP.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use sanswire::mcp::Revision;
use sanswire_tests::peer::HttpPeer;

use super::{Clock, Record};
use crate::scripted::{Controls, Flags, server};

/// What comes from the connections.
enum News {
    Came(u64, TcpStream),
    Bytes(u64, Vec<u8>),
    Gone(u64),
}

/// Serves all connections on this thread; each is read by one of its own.
pub(super) fn listen(
    listener: TcpListener,
    revision: Revision,
    flags: &[String],
    record: &Record,
    over: &Arc<AtomicBool>,
) {
    let (tell, news) = sync_channel(0);
    let stop = Arc::clone(over);
    std::thread::spawn(move || accept(&listener, &tell, &stop));
    let controls = Rc::new(Controls::default());
    let clock = Clock::new();
    record.push("start");
    let mut peer = HttpPeer::new(server(revision, Flags::of(flags, 0), &controls));
    let mut deaths = 0;
    let mut conns: BTreeMap<u64, TcpStream> = BTreeMap::new();
    let mut noted = 0;
    while !over.load(Ordering::Relaxed) {
        for entry in &peer.record[noted..] {
            record.push(entry);
        }
        noted = peer.record.len();
        if std::mem::replace(&mut deaths, peer.deaths) != peer.deaths {
            // The next start.
            peer.server = server(revision, Flags::of(flags, deaths), &controls);
            record.push("start");
        }
        if controls.forget.take() {
            peer.forget_sessions();
        }
        while let Some(written) = peer.poll_output() {
            if let Some(stream) = conns.get_mut(&written.conn) {
                let _ = stream.write_all(&written.bytes);
                if written.ends {
                    let _ = stream.shutdown(Shutdown::Both);
                    conns.remove(&written.conn);
                }
            }
        }
        let wait = clock.until(peer.poll_timeout());
        if controls.deaf.get() {
            std::thread::sleep(wait);
            peer.handle_timeout(clock.now());
            continue;
        }
        match news.recv_timeout(wait) {
            Ok(News::Came(conn, stream)) => drop(conns.insert(conn, stream)),
            Ok(News::Bytes(conn, bytes)) => peer.handle_input(conn, &bytes, clock.now()),
            Ok(News::Gone(conn)) => {
                conns.remove(&conn);
                peer.handle_gone(conn, clock.now());
            }
            Err(_) => peer.handle_timeout(clock.now()),
        }
    }
    for stream in conns.into_values() {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn accept(listener: &TcpListener, tell: &SyncSender<News>, over: &AtomicBool) {
    for number in 0.. {
        let Ok((mut stream, _)) = listener.accept() else { return };
        if over.load(Ordering::Relaxed) || tell.send(News::Came(number, stream.try_clone().unwrap())).is_err()
        {
            return;
        }
        let tell = tell.clone();
        std::thread::spawn(move || {
            let mut block = vec![0; 64 * 1024];
            while let Ok(len @ 1..) = stream.read(&mut block) {
                if tell.send(News::Bytes(number, block[..len].to_vec())).is_err() {
                    return;
                }
            }
            let _ = tell.send(News::Gone(number));
        });
    }
}
