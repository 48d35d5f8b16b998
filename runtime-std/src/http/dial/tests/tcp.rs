//! Without TLS.

use std::net::{Ipv4Addr, Ipv6Addr};

use sanswire_system::http::to_call;
use sanswire_system::{DialStep, TlsFault};

use super::*;
use crate::http::dial::connect::{Caller, first};

#[test]
fn localhost_is_found_on_either_of_its_addresses() {
    for ip in [Ipv4Addr::LOCALHOST.into(), std::net::IpAddr::from(Ipv6Addr::LOCALHOST)] {
        // There may be no IPv6 here.
        let Ok(listener) = TcpListener::bind((ip, 0)) else { continue };
        let port = listener.local_addr().unwrap().port();
        for host in ["localhost", "localhost.", "sub.localhost"] {
            let wire = dial(&dialer(), &to(Scheme::Http, host, port)).unwrap();
            let (stream, _) = listener.accept().unwrap();
            assert_eq!(stream.local_addr().unwrap().ip(), ip, "{host}");
            drop(wire);
        }
    }
}

#[test]
fn bytes_go_both_ways() {
    let (address, server) = serve(echo);
    let mut wire = dial(&dialer(), &to(Scheme::Http, "127.0.0.1", address.port())).unwrap();
    let sent: Vec<u8> = (0..3_000_000u32).map(|n| n as u8).collect();
    assert_eq!(exchange(&mut wire, &sent, 64 * 1024, sent.len()), sent);
    assert!(!wire.is_cut() && !wire.holds_input() && wire.wants(Want::NOTHING) == Want::NOTHING);
    wire.shutdown();
    server.join().unwrap();
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fault = dial(&dialer(), &to(Scheme::Http, "127.0.0.1", port)).unwrap_err();
    assert!(matches!(fault, DialFault::Connect { .. }), "{fault:?}");
    let text = fault.to_string();
    assert!(text.contains(&format!("127.0.0.1:{port}")) && text.contains("check the address"), "{text}");
}

#[test]
fn a_name_that_cannot_be_one_has_no_address() {
    // No resolver is asked about a label of 64 characters.
    let host = format!("{}.invalid", "x".repeat(64));
    let fault = dial(&dialer(), &to(Scheme::Http, &host, 80)).unwrap_err();
    assert!(matches!(&fault, DialFault::Name { host: of, .. } if **of == *host), "{fault:?}");
    assert!(fault.to_string().contains("check the spelling"), "{fault}");
}

#[test]
fn h_246_what_is_not_public_is_not_even_called() {
    // H-246
    let guarded = Dialer { public_only: true, ..dialer() };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "::1", "0.0.0.0"] {
        let fault = dial(&guarded, &to(Scheme::Http, host, port)).unwrap_err();
        assert!(matches!(fault, DialFault::NotPublic { .. }), "{host}: {fault:?}");
        assert!(fault.to_string().contains("does not belong to the public network"), "{fault}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    // Without the guard they are called.
    dial(&dialer(), &to(Scheme::Http, "127.0.0.1", port)).unwrap();
    listener.set_nonblocking(false).unwrap();
    listener.accept().unwrap();
}

#[test]
fn https_without_tls_says_so() {
    if cfg!(feature = "tls") {
        return;
    }
    let (address, _server) = serve(drop);
    let fault = dial(&dialer(), &to(Scheme::Https, "127.0.0.1", address.port())).unwrap_err();
    assert!(matches!(fault, DialFault::Tls(TlsFault::Unsupported)), "{fault:?}");
    assert!(fault.to_string().contains("feature `tls`"), "{fault}");
}

/// Calls addresses of which those on port 1 never answer, those on port 2 refuse, and all others answer, and writes down
/// which were called.
fn fake(calls: &std::sync::mpsc::Sender<(SocketAddr, Duration)>, answers: &TcpListener) -> Caller {
    let (calls, answers) = (std::sync::Mutex::new(calls.clone()), answers.local_addr().unwrap());
    std::sync::Arc::new(move |address, patience| {
        let _ = calls.lock().unwrap().send((address, patience));
        match address.port() {
            1 => {
                std::thread::sleep(patience.min(LONG));
                Err(std::io::ErrorKind::TimedOut.into())
            }
            2 => Err(std::io::ErrorKind::ConnectionRefused.into()),
            _ => TcpStream::connect(answers),
        }
    })
}

#[test]
fn an_address_that_is_silent_holds_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let call = |addresses: &[&str], limit, attempt: &Attempt| {
        let found: Vec<SocketAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let (tell, told) = std::sync::mpsc::channel();
        let bound = Bound::new(limit, attempt);
        let made = first(to_call(&found, false).unwrap(), &bound, &fake(&tell, &listener));
        drop(tell);
        // No thread lingers behind the bound.
        let called = told.try_iter().inspect(|(_, patience)| assert!(*patience <= limit));
        let called: Vec<_> = called.map(|(address, _)| address.to_string()).collect();
        (made, called.join(" "))
    };
    let wanted = Attempt::default();
    let (made, called) = call(&["1.1.1.1:1", "1.1.1.2:3", "1.1.1.3:3"], LONG, &wanted);
    assert!(made.is_ok());
    assert_eq!(called, "1.1.1.1:1 1.1.1.2:3");
    // One that refuses is not waited for either.
    let (made, called) = call(&["1.1.1.1:2", "1.1.1.2:2", "1.1.1.3:3", "1.1.1.4:3"], LONG, &wanted);
    assert!(made.is_ok());
    assert_eq!(called, "1.1.1.1:2 1.1.1.2:2 1.1.1.3:3");
    let (made, called) = call(&["1.1.1.1:2", "1.1.1.2:2"], LONG, &wanted);
    assert!(matches!(&made, Err(DialFault::Connect { address, .. }) if address == "1.1.1.2:2"), "{made:?}");
    assert_eq!(called, "1.1.1.1:2 1.1.1.2:2");
    // H-076: the bound is one for all of them.
    let short = Duration::from_millis(300);
    let (made, called) = call(&["1.1.1.1:1", "1.1.1.2:1"], short, &wanted);
    let Err(DialFault::TimedOut { during: DialStep::Connect, limit }) = made else { panic!("{made:?}") };
    assert_eq!(limit, short);
    assert_eq!(called, "1.1.1.1:1 1.1.1.2:1");
    // What is not wanted any more ends at once.
    let stop = std::sync::Arc::new(Attempt::default());
    let stopper = std::sync::Arc::clone(&stop);
    let later = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stopper.cancel();
    });
    let (made, _) = call(&["1.1.1.1:1"], LONG, &stop);
    assert!(matches!(made, Err(DialFault::Cancelled)), "{made:?}");
    later.join().unwrap();
}
