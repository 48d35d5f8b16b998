//! The servers of a host: those that work, and those that do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::zip;
use sanswire_smol::host::{Event, Host, HostConfig, HostError, Launch};
use sanswire_smol::sanswire::error::CloseReason;
use sanswire_smol::sanswire::host::catalog::ToolOutcome;
use sanswire_smol::sanswire::host::link::Status;
use sanswire_smol::sanswire::host::{ServerConfig, Warning};
use sanswire_smol::{Command, ConnectError, Ended, Server, StopLadder, Tool, Wrap, Wrapped};

use crate::common::{ANY, Env, Folder, LONG, eventually, kill, on_unix, options, runs, trials};
use crate::host_common::{
    Seen, allowed, builder, call, echoes, host, hosted, impatient, launch, launch_command, pid, started,
    status, text, until,
};
use crate::hosted::Record;

trials! {
    each: h_091_h_127_others_work_while_one_hangs_and_one_is_missing,
        h_070_one_that_hangs_costs_its_own_limit_only,
        h_093_h_095_whoever_waits_for_the_start_gets_all_that_there_is,
        h_095_with_nothing_to_start_nobody_waits, h_095_waiting_ends_with_the_host,
        h_092_h_099_what_happened_is_told_in_order, h_102_health_asks_those_that_can_be_called,
        h_123_all_are_stopped_side_by_side_within_the_bound, h_123_what_does_not_end_in_time_holds_nobody,
        h_124_closing_a_host_twice_gives_the_first_result, h_224_closed_while_a_handshake_is_stuck,
        dropped_without_a_word_a_host_leaves_nothing, a_close_that_was_begun_takes_its_course,
        a_tcp_server_and_one_that_nobody_listens_for, closed_while_nobody_accepts;
    once: h_091_a_sandbox_that_panics_fails_its_server_at_once,
        h_091_one_that_dies_while_it_lists_is_told_with_the_reason,
        h_122_one_whose_listing_does_not_come_is_killed_at_once, h_023_one_broken_tool_costs_the_others_nothing,
        what_cannot_be_opened_is_told_before_anything_starts, a_host_that_nobody_drives_leaves_nothing, what_was_being_started_when_its_watch_went_is_not_left,
        a_unix_server
}

fn missing() -> Launch {
    launch_command(Command::new("sanswire-no-such-program"))
}

/// A server that is a shell script; `$CHILD` in it starts this program as a server.
fn shell(script: &str) -> Command {
    let program = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    Command::new("/bin/sh").arg("-c").arg(script.replace("$CHILD", &format!("{program} --child")))
}

fn gone(pids: impl IntoIterator<Item = u32>) -> bool {
    !pids.into_iter().any(runs)
}

async fn h_091_h_127_others_work_while_one_hangs_and_one_is_missing(env: Env) {
    // H-087, H-091, H-127
    let (hung, good) = (Record::new(), Record::new());
    let host = builder(&env)
        .server("good", allowed(), launch(&[&good.flag()]))
        .server("hung", allowed(), launch(&["hang", &hung.flag()]))
        .server("missing", allowed(), missing())
        .server("other", allowed(), launch(&["modern"]))
        .open()
        .unwrap();
    for server in ["good", "other"] {
        until(&host, server, Status::Connected).await;
        echoes(&host, server).await;
    }
    until(&host, "missing", Status::Failed).await;
    let error = host.state("missing").unwrap().error.unwrap();
    assert!(error.contains("there is no program sanswire-no-such-program in PATH"), "{error}");
    let why = host.connect_error("missing").unwrap();
    assert!(matches!(&*why, ConnectError::Spawn { program, .. } if program == "sanswire-no-such-program"));
    assert!(host.connect_error("good").is_none() && host.connect_error("hung").is_none());
    // It has a minute, and nobody else needs it.
    assert_eq!(status(&host, "hung"), Status::Connecting);
    assert!(!host.wait_started(Duration::ZERO).await);
    eventually("it was started", || hung.count("start") == 1).await;
    assert_eq!(text(call(&host, "good", "pid", "{}").await), pid(&host, "good").to_string());
    let exits = host.close().await;
    let names: Vec<_> = exits.iter().map(|(server, _)| &**server).collect();
    assert_eq!(names, ["good", "hung", "other"]);
    assert!(gone(hung.pids().into_iter().chain(good.pids())));
    // One process for all of its calls.
    assert_eq!((good.count("start"), good.count("call")), (1, 2));
}

struct Panics;

impl Wrap for Panics {
    fn wrap(&self, _: Command) -> std::io::Result<Wrapped> {
        panic!("as it was told to")
    }
}

async fn h_091_a_sandbox_that_panics_fails_its_server_at_once() {
    // H-091
    let mut options = options();
    options.wrap = Some(Arc::new(Panics));
    let host = builder(&ANY)
        .server("good", allowed(), launch(&[]))
        .server("it", allowed(), Launch::command(hosted(&[]), options))
        .open()
        .unwrap();
    until(&host, "it", Status::Failed).await;
    let error = host.state("it").unwrap().error.unwrap();
    assert!(error.contains("panicked"), "not because its time ran out: {error}");
    assert!(host.wait_started(LONG).await);
    echoes(&host, "good").await;
}

async fn h_091_one_that_dies_while_it_lists_is_told_with_the_reason() {
    // H-091
    let host = builder(&ANY).server("it", allowed(), launch(&["die-on-list"])).open().unwrap();
    until(&host, "it", Status::Failed).await;
    assert_eq!(host.state("it").unwrap().error.unwrap(), CloseReason::Eof.to_string());
}

async fn h_122_one_whose_listing_does_not_come_is_killed_at_once() {
    // H-122
    let mut short = allowed();
    short.connect_timeout = Some(Duration::from_secs(3));
    let record = Record::new();
    let mut patient = options();
    // The end of its stdin would be waited for, and it would take a minute.
    patient.stop = StopLadder::new(10 * LONG, LONG, 20 * LONG);
    let launch = Launch::command(hosted(&["no-list", "ignore-eof", &record.flag()]), patient);
    let host = builder(&ANY).shutdown_total(20 * LONG).server("it", short, launch).open().unwrap();
    until(&host, "it", Status::Failed).await;
    let error = host.state("it").unwrap().error.unwrap();
    assert!(error.starts_with("its tools were not listed within"), "{error}");
    eventually("it is gone", || gone(record.pids())).await;
    let (server, exit) = host.close().await.remove(0);
    assert_eq!((&*server, exit.ended, exit.status.is_some()), ("it", Ended::OnKill, true));
    assert_eq!(record.count("end"), 0, "it did not see the end of its stdin");
}

async fn h_070_one_that_hangs_costs_its_own_limit_only(env: Env) {
    // H-070
    let mut short = allowed();
    short.connect_timeout = Some(Duration::from_millis(500));
    let record = Record::new();
    let host = builder(&env).server("good", allowed(), launch(&[])).server(
        "hung",
        short,
        launch(&["hang", &record.flag()]),
    );
    let host = started(host).await;
    assert_eq!((status(&host, "good"), status(&host, "hung")), (Status::Connected, Status::Failed));
    let error = host.state("hung").unwrap().error.unwrap();
    let limit = error.split_once("within ").and_then(|(_, rest)| rest.split_once(" ms (connect"));
    let limit: u64 = limit.unwrap_or_else(|| panic!("{error}")).0.parse().unwrap();
    assert!((400..=500).contains(&limit), "{error}");
    // The attempt is over, and so is its process.
    eventually("it is gone", || gone(record.pids())).await;
}

async fn h_093_h_095_whoever_waits_for_the_start_gets_all_that_there_is(env: Env) {
    // H-093, H-095
    let mut host = builder(&env).server("missing", allowed(), missing());
    for n in 0..12 {
        host = host.server(&format!("s{n}"), allowed(), launch(&[]));
    }
    let host = started(host).await;
    assert!(host.wait_started(Duration::ZERO).await);
    let connected = host.states().into_iter().filter(|state| state.status == Status::Connected);
    let names: Vec<_> = connected.map(|state| state.name.to_string()).collect();
    assert_eq!(names, ["s0", "s1", "s10", "s11", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"]);
    assert_eq!(host.with(|machine| machine.registry().offered().count()), 12 * 8);
}

async fn h_095_with_nothing_to_start_nobody_waits(env: Env) {
    // H-090, H-095
    let host = builder(&env).open().unwrap();
    assert!(host.wait_started(Duration::ZERO).await);
    let record = Record::new();
    let mut off = HostConfig::default();
    off.enabled = false;
    let host = env.watching(Host::builder(off)).server("it", allowed(), launch(&[&record.flag()]));
    let host = host.open().unwrap();
    assert!(host.wait_started(Duration::ZERO).await);
    assert_eq!(status(&host, "it"), Status::Disabled);
    assert!(!host.reconnect("it"));
    assert_eq!(host.close().await, []);
    assert_eq!(record.count("start"), 0);
}

async fn h_095_waiting_ends_with_the_host(env: Env) {
    // H-095
    let host = builder(&env).server("hung", allowed(), launch(&["hang"])).open().unwrap();
    let (started, exits) = zip(host.wait_started(LONG * 10), host.close()).await;
    assert!(started, "none is to be tried any more");
    assert!(exits.len() <= 1);
}

async fn h_092_h_099_what_happened_is_told_in_order(env: Env) {
    // H-092, H-099
    let seen = Seen::default();
    let host = builder(&env)
        .server("it", allowed(), launch(&[]))
        .server("missing", allowed(), missing())
        .observer(seen.clone());
    let host = started(host).await;
    host.close().await;
    let all = seen.all();
    let of = |wanted: &str| {
        let status = |event: &Event| match event {
            Event::Status { server, status } if **server == *wanted => Some(*status),
            _ => None,
        };
        all.iter().filter_map(status).collect::<Vec<_>>()
    };
    assert_eq!(of("it"), [Status::Connected, Status::Unavailable]);
    assert_eq!(of("missing"), [Status::Failed, Status::Unavailable]);
    let tools = seen.find(|event| match event {
        Event::Connected { server, tools, .. } if **server == *"it" => Some(*tools),
        _ => None,
    });
    assert_eq!(tools, Some(8));
    let warnings = all.iter().filter_map(|event| match event {
        Event::Warning(warning) => Some(warning),
        _ => None,
    });
    let warnings: Vec<_> = warnings.collect();
    let [Warning::ServerFailed { server, error }, Warning::Summary { failed: 1, enabled: 2 }] = &*warnings
    else {
        panic!("{warnings:?}")
    };
    assert_eq!(&**server, "missing");
    assert!(error.contains("sanswire-no-such-program"), "{error}");
}

async fn h_023_one_broken_tool_costs_the_others_nothing() {
    // H-023
    let host = host(&ANY, &["broken"]).await;
    let tools = host.state("it").unwrap().tools.unwrap();
    let vast = tools.tools.iter().find(|tool| &*tool.name == "vast").unwrap();
    assert!(matches!(vast.outcome, ToolOutcome::Skipped(_)), "{:?}", vast.outcome);
    assert_eq!((tools.count("registered"), tools.tools.len()), (8, 10));
    echoes(&host, "it").await;
}

async fn h_102_health_asks_those_that_can_be_called(env: Env) {
    // H-102
    let record = Record::new();
    let host = builder(&env)
        .server("good", allowed(), launch(&[&record.flag()]))
        .server("missing", allowed(), missing())
        .server("stuck", allowed(), launch(&["list-once"]));
    let host = started(host).await;
    let health = host.health(Duration::from_millis(300)).await;
    let good = health.iter().find(|(server, _)| **server == *"good").unwrap();
    assert_eq!(good.1, Ok(()));
    let stuck = health.iter().find(|(server, _)| **server == *"stuck").unwrap();
    assert_eq!(stuck.1, Err("no answer within 300ms".into()));
    assert_eq!(health.len(), 2);
    assert_eq!(record.count("tools/list"), 2);
    // That one is silent is no end of it.
    assert_eq!(status(&host, "stuck"), Status::Connected);
}

async fn h_123_all_are_stopped_side_by_side_within_the_bound(env: Env) {
    // H-123
    let records: Vec<_> = (0..6).map(|_| Record::new()).collect();
    let mut host = builder(&env).shutdown_total(Duration::from_secs(20));
    for (n, record) in records.iter().enumerate() {
        let mut options = options();
        // One after the other they would take longer than they may.
        let rung = Duration::from_secs(2);
        options.stop = StopLadder::new(rung, rung, LONG);
        let script = format!("trap '' TERM; exec $CHILD hosted ignore-eof {}", record.flag());
        host = host.server(&format!("s{n}"), allowed(), Launch::command(shell(&script), options));
    }
    let host = started(host).await;
    let exits = host.close().await;
    assert_eq!(exits.len(), 6);
    assert!(exits.iter().all(|(_, exit)| exit.ended == Ended::OnKill && exit.status.is_some()), "{exits:?}");
    assert!(gone(records.iter().flat_map(Record::pids)));
}

async fn h_123_what_does_not_end_in_time_holds_nobody(env: Env) {
    // H-123
    let (record, good) = (Record::new(), Record::new());
    let mut options = options();
    options.stop = StopLadder::new(LONG, LONG, LONG * 3);
    let script = format!("trap '' TERM; exec $CHILD hosted ignore-eof {}", record.flag());
    let host = builder(&env)
        .server("good", allowed(), launch(&[&good.flag()]))
        .server("stubborn", allowed(), Launch::command(shell(&script), options))
        .shutdown_total(Duration::from_millis(600));
    let host = started(host).await;
    let exits = host.close().await;
    assert_eq!(exits.iter().map(|(server, _)| &**server).collect::<Vec<_>>(), ["good", "stubborn"]);
    // Its own patience is cut to what there is: it is killed, in time or right after.
    eventually("it is gone", || gone(record.pids().into_iter().chain(good.pids()))).await;
}

async fn h_124_closing_a_host_twice_gives_the_first_result(env: Env) {
    // H-124
    let host = host(&env, &[]).await;
    let other = host.clone();
    let (first, second) = zip(host.close(), other.close()).await;
    assert_eq!(first, second);
    assert_eq!(host.close().await, first);
    assert_eq!((first.len(), first[0].1.ended), (1, Ended::OnEof));
    assert_eq!(status(&host, "it"), Status::Unavailable);
}

async fn h_224_closed_while_a_handshake_is_stuck(env: Env) {
    // H-224
    let record = Record::new();
    let host = builder(&env).server("hung", allowed(), launch(&["hang", &record.flag()])).open().unwrap();
    let shakes = || record.count("server/discover") + record.count("initialize") > 0;
    eventually("it shakes hands", shakes).await;
    let exits = host.close().await;
    assert_eq!((exits.len(), exits[0].1.ended), (1, Ended::OnEof));
    assert!(gone(record.pids()));
}

async fn dropped_without_a_word_a_host_leaves_nothing(env: Env) {
    let (good, hung) = (Record::new(), Record::new());
    let host = builder(&env)
        .server("good", allowed(), launch(&[&good.flag()]))
        .server("hung", allowed(), launch(&["hang", &hung.flag()]))
        .open()
        .unwrap();
    until(&host, "good", Status::Connected).await;
    eventually("it runs", || hung.pids().len() == 1).await;
    let clone = host.clone();
    drop(host);
    echoes(&clone, "good").await;
    drop(clone);
    eventually("they are gone", || gone(good.pids().into_iter().chain(hung.pids()))).await;
}

async fn a_close_that_was_begun_takes_its_course(env: Env) {
    let record = Record::new();
    let host = host(&env, &[&record.flag()]).await;
    let mut closing = Box::pin(host.close());
    assert!(futures_lite::future::poll_once(&mut closing).await.is_none());
    drop(closing);
    eventually("it is gone", || gone(record.pids())).await;
    assert_eq!(host.close().await[0].1.ended, Ended::OnEof);
}

/// A sandbox that takes its time.
#[derive(Default)]
struct Slow {
    asked: AtomicBool,
    go_on: AtomicBool,
}

impl Wrap for Slow {
    fn wrap(&self, command: Command) -> std::io::Result<Wrapped> {
        self.asked.store(true, Ordering::SeqCst);
        while !self.go_on.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(command.into())
    }
}

async fn what_was_being_started_when_its_watch_went_is_not_left() {
    let (record, slow, watch) = (Record::new(), Arc::new(Slow::default()), sanswire_smol::Watch::new());
    let mut options = impatient();
    options.wrap = Some(slow.clone());
    let host = builder(&ANY)
        .watch(watch.clone())
        .server("it", allowed(), Launch::command(hosted(&["ignore-eof", &record.flag()]), options))
        .open()
        .unwrap();
    let asked = eventually("it is wrapped", || slow.asked.load(Ordering::SeqCst));
    futures_lite::future::or(asked, async { match watch.run().await {} }).await;
    slow.go_on.store(true, Ordering::SeqCst);
    eventually("it runs, and nobody takes it", || record.count("start") == 1).await;
    drop(host);
    eventually("it is gone", || gone(record.pids())).await;
}

/// A watch that is not run any more, as when its executor is gone.
async fn a_host_that_nobody_drives_leaves_nothing() {
    let record = Record::new();
    let watch = sanswire_smol::Watch::new();
    let host = builder(&ANY)
        .watch(watch.clone())
        .server("good", allowed(), launch(&[&record.flag()]))
        .server("hung", allowed(), launch(&["hang", &record.flag()]))
        .open()
        .unwrap();
    let both =
        eventually("both run", || record.count("start") == 2 && status(&host, "good") == Status::Connected);
    futures_lite::future::or(both, async { match watch.run().await {} }).await;
    assert_eq!(record.pids().iter().filter(|pid| runs(**pid)).count(), 2);
    // Its connections are nobody else's: that one ends is seen once the watch is run.
    let good = host.client("good").unwrap();
    kill(good.pid().unwrap());
    eventually("it has died", || !runs(good.pid().unwrap())).await;
    Timer::after(Duration::from_millis(50)).await;
    assert_eq!(good.is_closed(), None);
    let seen = eventually("it is seen", || good.is_closed().is_some());
    futures_lite::future::or(seen, async { match watch.run().await {} }).await;
    drop((host, good));
    eventually("they are gone", || gone(record.pids())).await;
    // And one whose watch was never run starts nothing.
    let unused = Record::new();
    let host =
        builder(&ANY).watch(sanswire_smol::Watch::new()).server("it", allowed(), launch(&[&unused.flag()]));
    let host = host.open().unwrap();
    assert!(!host.wait_started(Duration::from_millis(50)).await);
    assert!(host.start(crate::host_common::request("it", "echo", "{}")).is_err());
    assert_eq!(unused.count("start"), 0);
}

async fn a_tcp_server_and_one_that_nobody_listens_for(env: Env) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let server = Server::builder("tcp", "1")
        .tool("echo", Tool::new("Echoes"), |_: (), _call| async { Ok("heard") })
        .build()
        .unwrap();
    std::thread::spawn(move || crate::common::block_on(server.serve_tcp(listener)));
    let host = builder(&env).server("tcp", allowed(), Launch::tcp(address, options())).server(
        "nobody",
        allowed(),
        Launch::tcp(closed.clone(), options()),
    );
    let host = started(host).await;
    assert_eq!(text(call(&host, "tcp", "echo", "{}").await), "heard");
    let nobody = host.state("nobody").unwrap();
    assert_eq!((nobody.transport, nobody.status), ("tcp", Status::Failed));
    let error = nobody.error.unwrap();
    assert!(error.contains(&closed), "{error}");
    assert_eq!(host.close().await[0].1.ended, Ended::NotAProcess);
}

async fn a_unix_server() {
    let folder = Folder::new("host");
    let path = on_unix(&folder, &[]);
    let host = started(builder(&ANY).server("it", allowed(), Launch::unix(path, options()))).await;
    let state = host.state("it").unwrap();
    assert_eq!((state.transport, state.status), ("unix", Status::Connected));
    assert_eq!(host.close().await[0].1.ended, Ended::NotAProcess);
}

/// What is being dialled is given up at once.
async fn closed_while_nobody_accepts(env: Env) {
    let folder = Folder::new("full");
    let path = folder.0.join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    // Its queue is full, so that whoever comes waits for a place.
    let mut queue = Vec::new();
    loop {
        let socket = rustix::net::socket_with(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::NONBLOCK,
            None,
        );
        let socket = socket.unwrap();
        let address = rustix::net::SocketAddrUnix::new(&path).unwrap();
        match rustix::net::connect(&socket, &address) {
            Ok(()) => queue.push(socket),
            Err(_) => break,
        }
    }
    let mut patient = allowed();
    patient.connect_timeout = Some(LONG * 10);
    let host =
        builder(&env).shutdown_total(LONG * 10).server("it", patient, Launch::unix(&path, impatient()));
    let host = host.open().unwrap();
    assert!(!host.wait_started(Duration::from_millis(100)).await);
    assert_eq!(host.close().await, []);
    drop(listener);
}

async fn what_cannot_be_opened_is_told_before_anything_starts() {
    let mut config = HostConfig::default();
    config.servers.insert("it".into(), ServerConfig::default());
    let error = Host::builder(config.clone()).open().unwrap_err();
    assert!(matches!(&error, HostError::NoLaunch(name) if &**name == "it"), "{error}");
    assert!(error.to_string().contains("\"it\""), "{error}");
    let error = Host::builder(config).launch("ti", launch(&[])).open().unwrap_err();
    assert!(matches!(&error, HostError::NoServer(name) if &**name == "ti"), "{error}");
    let mut config = HostConfig::default();
    config.max_calls = 0;
    assert!(matches!(Host::builder(config).open().unwrap_err(), HostError::Config(_)));
}
