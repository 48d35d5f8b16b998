//! What a governed server lets through, what it says otherwise, what it writes down, and when that has left.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::future::{or, yield_now, zip};
use sanswire_smol::sanswire::Instant;
use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_smol::sanswire::waist::{
    Bindings, Brake, Call as Effect, ErrorClass, Grant, Hook, Record, RecordKind, Refusal, Spend,
};
use sanswire_smol::{Builder, Client, Server, Tool, ToolError};

use crate::common::{ANY, begin, eventually, outcome, text_of, tool, trials};

trials! {
    each: ;
    once: a_refused_call_does_not_run, how_a_call_ended_is_written_down, a_hook_that_panics_refuses,
        a_halt_by_hand_stops_what_is_under_way, the_end_waits_for_records_and_holds_nobody_up,
        a_server_that_is_dropped_gives_its_records_out
}

type Told = Arc<Mutex<Vec<String>>>;

/// What was written down, without what is the same in all.
fn note(told: &Told) -> impl FnMut(Record, std::time::SystemTime) + Send + 'static {
    let told = Arc::clone(told);
    move |record, _| {
        let error = record.error.map_or("-", ErrorClass::as_str);
        told.lock().unwrap().push(format!("{} {} {error}", record.kind.as_str(), record.action));
    }
}

fn ends(told: &Told) -> Vec<String> {
    let told = told.lock().unwrap();
    told.iter().filter_map(|line| line.strip_prefix("end ")).map(str::to_owned).collect()
}

fn tools(ran: &Arc<AtomicUsize>, builder: Builder) -> Builder {
    let (echoes, waits) = (Arc::clone(ran), Arc::clone(ran));
    builder
        .tool("echo", Tool::new("Echoes"), move |(), _| {
            echoes.fetch_add(1, Ordering::SeqCst);
            async { Ok("echoed") }
        })
        .tool("fail", Tool::new("Fails"), |(), _| async { Err::<String, _>(ToolError::new("no")) })
        .tool("busy", Tool::new("Fails for now"), |(), call| async move {
            yield_now().await;
            call.fails_as(ErrorClass::Transient);
            Err::<String, _>(ToolError::new("later"))
        })
        .tool("well", Tool::new("Spends"), |(), call| async move {
            call.spend(Spend { tokens: 40, cost: 2 });
            yield_now().await;
            Ok("went well")
        })
        .tool("boom", Tool::new("Breaks down"), |(), _| async {
            yield_now().await;
            std::panic::panic_any("as it was asked to");
            #[expect(unreachable_code, reason = "it has a type")]
            Ok("")
        })
        .tool("wait", Tool::new("Waits to be cancelled"), move |(), call| {
            waits.fetch_add(1, Ordering::SeqCst);
            async move {
                call.cancelled().await;
                Ok("too late")
            }
        })
        .tool("stay", Tool::new("Stays whatever happens"), |(), _| async {
            std::future::pending::<()>().await;
            Ok("")
        })
}

/// A client of `server`, which is served while `use_it` lasts and to its end.
async fn with<T>(server: &Server, use_it: impl AsyncFnOnce(&Client) -> T) -> T {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let client = async {
        let client = Client::connect_stream(Async::new(ours).unwrap(), ANY.options()).await.unwrap();
        let used = use_it(&client).await;
        client.close().await;
        used
    };
    let (served, used) = zip(server.serve_unix_stream(theirs), client).await;
    served.unwrap();
    used
}

/// What a result with `isError` says.
async fn refused(client: &Client, tool: &str) -> String {
    let Outcome::Complete(result) = outcome(client, tool, "{}").await else { panic!("{tool} is no result") };
    let result = CallToolResult::new(result);
    assert!(result.is_error(), "{tool}: {}", result.text());
    result.text()
}

async fn a_refused_call_does_not_run() {
    let (ran, told) = (Arc::default(), Told::default());
    let mut bindings = Bindings::default();
    bindings.grant = Some(Grant::of(["well"]).into());
    let builder = Server::builder("governed", "0").waist(bindings).records(note(&told));
    let server = tools(&ran, builder).build().unwrap();
    with(&server, async |client| {
        let said = refused(client, "echo").await;
        assert!(said.contains("grant"), "{said}");
        assert_eq!(tool(client, "well", "{}").await, "went well");
    })
    .await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert_eq!(*told.lock().unwrap(), ["rejected echo forbidden", "start well -", "end well -"]);
}

async fn how_a_call_ended_is_written_down() {
    let (ran, told) = (Arc::default(), Told::default());
    let builder = Server::builder("governed", "0").records(note(&told)).config(|config| {
        config.limits.drain = Duration::from_millis(10);
    });
    let server = tools(&ran, builder).build().unwrap();
    with(&server, async |client| {
        assert_eq!(refused(client, "fail").await, "no");
        assert_eq!(refused(client, "busy").await, "later");
        assert_eq!(tool(client, "well", "{}").await, "went well");
        assert!(matches!(outcome(client, "boom", "{}").await, Outcome::Error(_)));
        let waits = begin(client, "wait", "{}");
        assert_eq!(tool(client, "well", "{}").await, "went well");
        waits.cancel(None);
        eventually("it has ended", || ends(&told).len() == 6).await;
        // Its handler is dropped with the connection.
        let stays = begin(client, "stay", "{}");
        let begun = || told.lock().unwrap().iter().any(|line| line == "start stay -");
        eventually("it runs", begun).await;
        drop(stays);
    })
    .await;
    let ends = ends(&told);
    assert_eq!(
        ends,
        [
            "fail terminal",
            "busy transient",
            "well -",
            "boom terminal",
            "well -",
            "wait cancelled",
            "stay cancelled"
        ]
    );
    let starts = told.lock().unwrap().iter().filter(|line| line.starts_with("start ")).count();
    assert_eq!(starts, ends.len());
}

/// Panics before a call of `echo`.
struct Fragile;

impl Hook for Fragile {
    fn name(&self) -> &'static str {
        "fragile"
    }

    fn before(&mut self, call: &Effect, _: Instant) -> Result<(), Refusal> {
        assert!(&*call.action != "echo", "as it was asked to");
        Ok(())
    }
}

async fn a_hook_that_panics_refuses() {
    let ran = Arc::default();
    let mut bindings = Bindings::default();
    bindings.hooks = vec![Box::new(Fragile)];
    let server = tools(&ran, Server::builder("governed", "0").waist(bindings)).build().unwrap();
    with(&server, async |client| {
        for _ in 0..2 {
            let said = refused(client, "echo").await;
            assert!(said.contains("fragile"), "{said}");
            assert_eq!(tool(client, "well", "{}").await, "went well");
        }
    })
    .await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

async fn a_halt_by_hand_stops_what_is_under_way() {
    let (ran, told) = (Arc::<AtomicUsize>::default(), Told::default());
    let mut bindings = Bindings::default();
    bindings.brakes.kill_switch = true;
    let builder = Server::builder("governed", "0").waist(bindings).records(note(&told));
    let server = tools(&ran, builder).build().unwrap();
    with(&server, async |client| {
        assert_eq!(tool(client, "well", "{}").await, "went well");
        assert_eq!(server.spent(), Spend { tokens: 40, cost: 2 });
        let waits = begin(client, "wait", "{}");
        eventually("it runs", || ran.load(Ordering::SeqCst) == 1).await;
        assert_eq!(server.halt().unwrap().brake, Brake::Operator);
        let Outcome::Complete(stopped) = waits.await else { panic!("no result") };
        assert!(CallToolResult::new(stopped).is_error());
        refused(client, "echo").await;
        assert!(server.reset_halt().is_some());
        assert_eq!(tool(client, "echo", "{}").await, "echoed");
    })
    .await;
    let kinds = [RecordKind::Halt, RecordKind::Reset].map(RecordKind::as_str);
    let told = told.lock().unwrap();
    for kind in kinds {
        assert_eq!(told.iter().filter(|line| line.starts_with(kind)).count(), 1, "{kind}: {told:?}");
    }
}

/// While records leave, this task's thread is everybody's.
async fn the_end_waits_for_records_and_holds_nobody_up() {
    let (ran, told) = (Arc::default(), Told::default());
    let (closed, steps) = (Arc::new(AtomicBool::new(false)), Arc::<AtomicUsize>::default());
    let (is_closed, goes_on) = (Arc::clone(&closed), Arc::clone(&steps));
    let mut noted = note(&told);
    let builder = Server::builder("governed", "0").records(move |record, at| {
        // It takes no record before others went on after the client was gone.
        while !is_closed.load(Ordering::SeqCst) || goes_on.load(Ordering::SeqCst) < 3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        noted(record, at);
    });
    let server = tools(&ran, builder).build().unwrap();
    let serves = async {
        with(&server, async |client| {
            assert_eq!(tool(client, "echo", "{}").await, "echoed");
            closed.store(true, Ordering::SeqCst);
        })
        .await;
    };
    let others = async {
        loop {
            Timer::after(Duration::from_millis(1)).await;
            if closed.load(Ordering::SeqCst) {
                steps.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    or(serves, others).await;
    assert_eq!(*told.lock().unwrap(), ["start echo -", "end echo -"]);
}

async fn a_server_that_is_dropped_gives_its_records_out() {
    let (ran, told) = (Arc::<AtomicUsize>::default(), Told::default());
    let mut noted = note(&told);
    let builder = Server::builder("governed", "0").records(move |record, at| {
        std::thread::sleep(Duration::from_millis(20));
        noted(record, at);
    });
    let server = tools(&ran, builder).build().unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let client = async {
        let client = Client::connect_stream(Async::new(ours).unwrap(), ANY.options()).await.unwrap();
        let waits = begin(&client, "wait", "{}");
        for _ in 0..4 {
            assert_eq!(text_of(begin(&client, "echo", "{}").await), "echoed");
        }
        (client, waits)
    };
    let serves = async {
        server.serve_unix_stream(theirs).await.unwrap();
        panic!("nobody ended it");
    };
    let (client, waits) = or(client, serves).await;
    drop(server);
    let lines = told.lock().unwrap().clone();
    assert_eq!(lines.len(), 10, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end wait cancelled");
    drop(waits);
    client.close().await;
}
