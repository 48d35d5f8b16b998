//! Servers over HTTP that meet what they should not, and everything at once.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::AsyncWriteExt as _;
use futures_lite::future::yield_now;
use sanswire_smol::sanswire::server::ListKind;
use sanswire_smol::{Schema, Server, Tool, bind_loopback};

use crate::common::{Env, block_on, eventually, trial, trials};
use crate::http_peer::{Session, Wire, call, listen, method, patient, post, with};
use crate::steps::give_up_after;

trials! {
    each: whatever_clients_do_nothing_is_left_of_them, a_handler_of_one_tells_all_who_rest;
    once: what_has_come_counts_before_a_connection_gives_way, a_question_ends_with_its_session,
        a_handler_that_nobody_waits_for_makes_room, whoever_goes_on_after_the_end_is_cut_off,
        a_call_that_is_kept_is_told_that_its_site_went
}

pub(crate) fn more_trials() -> Vec<libtest_mimic::Trial> {
    vec![trial("a_site_may_be_dropped_at_any_point".into(), a_site_may_be_dropped_at_any_point)]
}

/// Handlers at work.
#[derive(Clone, Default)]
struct Running(Arc<AtomicUsize>);

struct Runs(Running);

impl Running {
    fn begin(&self) -> Runs {
        self.0.fetch_add(1, Ordering::SeqCst);
        Runs(self.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn server() -> (Server, Running) {
    let running = Running::default();
    let (asks, waits, steps, stays) = (running.clone(), running.clone(), running.clone(), running.clone());
    let server = Server::builder("besieged", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .tool("blob", Tool::new("Is long").integer("bytes", "How long"), |(), call| async move {
            Ok("x".repeat(call.argument("bytes")?))
        })
        .tool("change", Tool::new("Tells of a change"), |(), call| async move {
            call.server().update(ListKind::Tools, |_| ());
            Ok("told")
        })
        .tool("wait", Tool::new("Waits to be cancelled"), move |(), call| {
            let runs = waits.begin();
            async move {
                call.cancelled().await;
                drop(runs);
                Ok("")
            }
        })
        .tool("stay", Tool::new("Stays whatever happens"), move |(), _| {
            let runs = stays.begin();
            async move {
                let _runs = runs;
                std::future::pending::<()>().await;
                Ok("")
            }
        })
        .tool("steps", Tool::new("Tells of its steps"), move |(), call| {
            let runs = steps.begin();
            async move {
                for step in 1..=3 {
                    call.progress(f64::from(step), Some(3.0), None);
                    yield_now().await;
                }
                drop(runs);
                Ok("done")
            }
        })
        .tool("ask", Tool::new("Asks"), move |(), call| {
            let runs = asks.begin();
            async move {
                let form = Schema::object().property("name", Schema::string());
                let said = call.elicit("who", "Who is there?", &form).await;
                drop(runs);
                Ok(format!("{:?}", said?))
            }
        })
        .build()
        .unwrap();
    (server, running)
}

/// Connects at once: nothing else happens here meanwhile.
fn come(address: SocketAddr) -> Wire {
    Wire::of(Async::new(TcpStream::connect(address).unwrap()).unwrap())
}

async fn what_has_come_counts_before_a_connection_gives_way() {
    let (server, _) = server();
    server.set_max_connections(1);
    let mut options = patient();
    options.yields_after = Duration::from_millis(50);
    with(&server, options, async |address| {
        let mut wire = Wire::connect(address).await;
        // The longer one comes in several reads.
        for len in [1, 300_000] {
            wire.echoes(0).await;
            Timer::after(Duration::from_millis(100)).await;
            let text = "x".repeat(len);
            wire.send(&call(1, "echo", &format!(r#"{{"text":"{text}"}}"#))).await;
            let mut late = come(address);
            assert_eq!(wire.answer().await.said(), (1, text));
            assert_eq!(late.answer().await.status, 503);
        }
    })
    .await;
}

async fn a_question_ends_with_its_session() {
    let (server, running) = server();
    with(&server, patient(), async |address| {
        for _ in 0..10 {
            let mut session = Session::open(address).await;
            session.call(1, "ask", "{}").await;
            session.wire.stream().await;
            assert_eq!(method(&session.wire.event().await.unwrap()), "elicitation/create");
            assert_eq!(running.count(), 1);
            let mut other = session.beside(address).await;
            other.ask("DELETE", "").await;
            assert!((200..300).contains(&other.wire.answer().await.status));
            eventually("its handler is over", || running.count() == 0).await;
        }
    })
    .await;
}

async fn a_handler_that_nobody_waits_for_makes_room() {
    let (server, running) = server();
    server.set_max_handlers(3);
    with(&server, patient(), async |address| {
        let mut waits = Wire::connect(address).await;
        waits.send(&call(1, "stay", "{}")).await;
        for round in 0..3 {
            let mut leaves = Wire::connect(address).await;
            leaves.send(&call(2, "stay", "{}")).await;
            let mut session = Session::open(address).await;
            session.call(3, "stay", "{}").await;
            eventually("they run", || running.count() == 3).await;
            drop(leaves);
            let mut beside = session.beside(address).await;
            let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
            beside.send(cancel).await;
            assert_eq!(beside.wire.answer().await.status, 202);
            // They are in nobody's way until somebody comes.
            assert_eq!(running.count(), 3);
            Wire::connect(address).await.echoes(round).await;
            assert_eq!(running.count(), 1, "those go, and no other");
        }
    })
    .await;
}

async fn whoever_goes_on_after_the_end_is_cut_off() {
    let (server, _) = server();
    with(&server, patient(), async |address| {
        let mut stream = Async::new(TcpStream::connect(address).unwrap()).unwrap();
        let mut all: &[u8] = b"no HTTP\r\n\r\n";
        while stream.write_all(all).await.is_ok() {
            all = &[b'x'; 4096];
        }
    })
    .await;
}

async fn a_call_that_is_kept_is_told_that_its_site_went() {
    let kept = Arc::new(Mutex::new(None));
    let keeps = Arc::clone(&kept);
    let server = Server::builder("keeps", "1")
        .tool("keep", Tool::new("Keeps its call"), move |(), call| {
            *keeps.lock().unwrap() = Some(call.clone());
            async move {
                call.cancelled().await;
                Ok("")
            }
        })
        .build()
        .unwrap();
    let kept = with(&server, patient(), async |address| {
        let mut wire = Wire::connect(address).await;
        wire.send(&call(1, "keep", "{}")).await;
        eventually("it is called", || kept.lock().unwrap().is_some()).await;
        let kept = kept.lock().unwrap().take().unwrap();
        assert!(!kept.is_cancelled());
        kept
    })
    .await;
    assert!(kept.is_cancelled());
}

async fn a_handler_of_one_tells_all_who_rest(_: Env) {
    let (server, _) = server();
    with(&server, patient(), async |address| {
        let mut all = Vec::new();
        for n in 0..70 {
            let mut wire = Wire::connect(address).await;
            wire.send(&listen(n)).await;
            wire.stream().await;
            assert_eq!(method(&wire.event().await.unwrap()), "notifications/subscriptions/acknowledged");
            all.push(wire);
        }
        let mut session = Session::open(address).await;
        session.ask("GET", "Accept: text/event-stream\r\n").await;
        session.wire.stream().await;
        all.push(session.wire);
        let mut other = Wire::connect(address).await;
        for n in 0..5 {
            other.send(&call(n, "change", "{}")).await;
            assert_eq!(other.answer().await.said(), (n, "told".into()));
            for wire in &mut all {
                assert_eq!(method(&wire.event().await.unwrap()), "notifications/tools/list_changed");
            }
        }
    })
    .await;
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

/// Does one of many things, and goes without a word, or stays.
async fn misbehave(address: SocketAddr, dice: &mut Dice) -> Option<Wire> {
    let tools = ["echo", "wait", "steps", "ask", "blob", "change"];
    let name = tools[dice.below(tools.len())];
    let arguments =
        format!(r#"{{"text":"{}","bytes":{}}}"#, "y".repeat(dice.below(2000)), dice.below(400_000));
    let wire = if dice.below(2) == 0 {
        let mut wire = Wire::connect(address).await;
        let whole = match dice.below(4) {
            0 => listen(1),
            1 => post(&[], "{").repeat(2),
            // Sent ahead.
            2 => call(1, "steps", "{}") + &call(2, "blob", &arguments) + &call(3, "echo", &arguments),
            _ => call(1, name, &arguments),
        };
        let cut = dice.below(3) == 0;
        let len = if cut { dice.below(whole.len()) } else { whole.len() };
        wire.send(&whole[..len]).await;
        wire
    } else {
        let mut session = Session::open(address).await;
        if dice.below(2) == 0 {
            let mut stream = session.beside(address).await;
            stream.ask("GET", "Accept: text/event-stream\r\n").await;
        }
        session.call(1, name, &arguments).await;
        for _ in 0..dice.below(3) {
            yield_now().await;
        }
        // None is left open: what waits in it would be kept for its client.
        let mut other = session.beside(address).await;
        other.ask("DELETE", "").await;
        other.wire.answer().await;
        session.wire
    };
    match dice.below(4) {
        0 => yield_now().await,
        1 => wire.end_output(),
        2 => return Some(wire),
        _ => {}
    }
    None
}

async fn whatever_clients_do_nothing_is_left_of_them(_: Env) {
    for seed in 0..4 {
        let (server, running) = server();
        server.set_max_handlers(8);
        // Far more come, one after the other.
        server.set_max_connections(50);
        with(&server, patient(), async |address| {
            let mut dice = Dice(seed);
            let mut stay = Vec::new();
            let mut good = Wire::connect(address).await;
            for n in 0..100 {
                stay.extend(misbehave(address, &mut dice).await);
                if stay.len() > 3 {
                    drop(stay.swap_remove(dice.below(4)));
                }
                if n % 10 == 0 {
                    drop(std::mem::take(&mut stay));
                    good.echoes(n).await;
                }
            }
            drop(stay);
            good.echoes(0).await;
            eventually("no handler is left", || running.count() == 0).await;
        })
        .await;
    }
}

fn a_site_may_be_dropped_at_any_point() {
    let (server, running) = server();
    for polls in 0..25 {
        let listener = bind_loopback(0).unwrap();
        let address = listener.local_addr().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let clients = ["echo", "wait", "steps", "ask", "blob"].map(|tool| {
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Ordering::SeqCst) {
                        // Who comes when the listener has no room for more would ask again after seconds.
                        let connected = TcpStream::connect_timeout(&address, Duration::from_millis(50));
                        let Ok(mut stream) = connected else { continue };
                        stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
                        let sent =
                            stream.write_all(call(1, tool, r#"{"text":"x","bytes":50000}"#).as_bytes());
                        let _ = sent.and_then(|()| stream.read(&mut [0; 1024]));
                    }
                })
            });
            let served = give_up_after(polls, server.serve_http(listener, patient()));
            assert!(served.is_none());
            assert_eq!(running.count(), 0, "its handlers went with it");
            over.store(true, Ordering::SeqCst);
            clients.into_iter().for_each(|client| client.join().unwrap());
        });
    }
    // The server serves on.
    block_on(with(&server, patient(), async |address| Wire::connect(address).await.echoes(1).await));
}
