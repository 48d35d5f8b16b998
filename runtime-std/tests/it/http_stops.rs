//! How the served half over HTTP ends: what is open finishes, or is cancelled, and nobody is waited for in vain.

use std::net::TcpStream;

use sanswire_std::HttpOptions;

use crate::common::{LONG, trials};
use crate::http_peer::{Site, Wire, call, listen, said};
use crate::served::server;

trials!(
    h_191_a_stop_lets_what_is_open_finish,
    a_stop_ends_streams_in_good_order,
    a_stop_for_now_cancels,
    a_second_stop_cancels,
    a_stop_waits_no_longer_than_the_drain,
    a_stop_waits_for_nobody_who_does_not_read,
    what_was_answered_arrives_before_the_end,
);

const MINUTE: &str = r#"{"ms":60000}"#;

fn h_191_a_stop_lets_what_is_open_finish() {
    // H-191
    let site = Site::start(&[]);
    let mut wire = site.connect();
    let mut idle = site.connect();
    idle.echoes(1);
    wire.send(&call(1, "progress", r#"{"n":20,"ms":10}"#));
    wire.stream();
    wire.event().unwrap();
    let address = site.address;
    site.server.stopper().stop();
    // Whoever has nothing open is gone at once.
    assert!(idle.ended());
    let mut told = 1;
    let last = loop {
        let event = wire.event().unwrap();
        if event.view().get("id").is_some() {
            break event;
        }
        told += 1;
    };
    assert_eq!((said(&last), told), ((1, "done".into()), 20));
    assert_eq!(wire.event(), None);
    assert!(wire.ended());
    site.join();
    assert!(TcpStream::connect(address).is_err());
}

fn a_stop_ends_streams_in_good_order() {
    let site = Site::start(&[]);
    let mut listens = site.connect();
    listens.send(&listen(5));
    listens.stream();
    listens.event().unwrap();
    let session = site.session();
    let mut pushed = session.beside(&site);
    pushed.get();
    pushed.wire.stream();
    site.stop();
    // A subscription has a result.
    assert_eq!(said(&listens.event().unwrap()).0, 5);
    assert_eq!(listens.event(), None);
    assert!(listens.ended());
    assert_eq!(pushed.wire.event(), None);
    assert!(pushed.wire.ended());
}

fn a_second_stop_cancels() {
    let site = Site::start(&["drain=60000"]);
    let (mut modern, mut session) = (site.connect(), site.session());
    modern.send(&call(1, "sleep", MINUTE));
    session.call(2, "sleep", MINUTE);
    let mut other = site.connect();
    other.echoes(3);
    site.server.stopper().stop();
    // Whoever has nothing open is gone, so that the stop was seen.
    assert!(other.ended());
    site.stop();
}

fn a_stop_for_now_cancels() {
    // H-191
    let site = Site::start(&["drain=60000"]);
    let mut wires: Vec<Wire> = (0..10).map(|_| site.connect()).collect();
    wires.iter_mut().for_each(|wire| wire.send(&call(1, "sleep", r#"{"ms":2000}"#)));
    // They are there by the time that another is answered.
    site.connect().echoes(1);
    site.server.stopper().stop_now();
    for wire in &mut wires {
        while let Some(head) = wire.head() {
            let len = head.field("content-length").map_or(0, |len| len.parse().unwrap());
            let body = String::from_utf8(wire.exactly(len)).unwrap();
            assert!(!body.contains("slept"), "{body}");
        }
    }
    site.join();
}

fn a_stop_waits_for_nobody_who_does_not_read() {
    let mut options = HttpOptions::default();
    options.connection.stall = LONG * 60;
    let site = Site::with(server(&["drain=50"]), options);
    let mut deaf = site.connect();
    deaf.send(&call(1, "big", r#"{"bytes":6000000}"#));
    assert_eq!(deaf.head().unwrap().status, 200);
    site.stop();
}

fn a_stop_waits_no_longer_than_the_drain() {
    let site = Site::start(&["drain=50"]);
    let mut wire = site.connect();
    wire.send(&call(1, "sleep", MINUTE));
    let mut slow = site.connect();
    slow.send("POST /mcp HTTP/1.1\r\nHost: local");
    site.connect().echoes(1);
    site.stop();
    while wire.head().is_some() {}
}

fn what_was_answered_arrives_before_the_end() {
    let site = Site::start(&[]);
    let mut wire = site.connect();
    wire.send(&call(1, "big", r#"{"bytes":3000000}"#));
    let head = wire.head().unwrap();
    assert_eq!(head.status, 200);
    site.server.stopper().stop();
    let len: usize = head.field("content-length").unwrap().parse().unwrap();
    assert_eq!(wire.exactly(len).len(), len);
    assert!(wire.ended());
    site.join();
}
