//! What whoever waits for a call, or looks after a connection, finds here.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;

use super::connections::MAX_LEAVING;
use super::*;
use crate::client::{self, Outcome, Peer};
use crate::error::CloseReason;
use crate::host::policy::{Answer, ServerMode};
use crate::host::{CallOutcome, CallRequest, HostConfig, Mask, Provenance, ServerConfig, Target};
use crate::jsonrpc::RawJson;
use crate::mcp::types::lifecycle::{CacheHint, Implementation, ServerCapabilities};
use crate::mcp::{Method, Revision};

const NOW: Instant = Instant::from_millis(1_000);

/// Numbers instead of threads.
#[derive(Debug)]
enum Numbers {}

/// How often it was told to end.
#[derive(Clone, Debug, Default)]
struct Closes(Rc<Cell<u32>>);

impl Kinds for Numbers {
    type Waiter = u32;
    type Client = u32;
    type Canceller = u32;
    type Closer = Closes;
}

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

struct World {
    desk: Desk<Numbers>,
    attempts: Vec<Attempt<Closes>>,
    woken: Vec<u32>,
    cancelled: Vec<u32>,
    shut: usize,
    /// Of those, how many were not waited for.
    killed: usize,
}

const KEEPER: u32 = 1000;

impl World {
    /// A host of one server with one tool, `echo`, that can be called.
    fn new(mode: ServerMode) -> Self {
        let mut config = HostConfig::default();
        config.servers.insert("it".into(), ServerConfig { mode, ..ServerConfig::default() });
        let mut machine = Host::new(config, NOW).expect("a good configuration");
        machine.set_approver(true, NOW);
        let desk = Desk::new(machine, true);
        let mut world =
            Self { desk, attempts: Vec::new(), woken: Vec::new(), cancelled: Vec::new(), shut: 0, killed: 0 };
        world.settle();
        let client = world.open();
        let peer = Peer {
            era: Revision::V2025_11_25.era(),
            revision: Revision::V2025_11_25,
            server: Implementation::new("it", "1"),
            capabilities: ServerCapabilities::new(Some(json(r#"{"tools":{}}"#))),
            instructions: None,
            cache: CacheHint::default(),
            raw: json("{}"),
        };
        world.desk.machine.handle_client(client, client::Event::Ready(Box::new(peer)), NOW);
        world.settle();
        assert_eq!(world.woken.pop(), Some(KEEPER));
        let Todo::Request(job) = world.desk.todo(client) else { panic!("it is listed") };
        let tools = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
        world.desk.machine.handle_outcome(job.key, Ok(Outcome::Complete(json(tools))), NOW);
        world.settle();
        world
    }

    fn settle(&mut self) {
        let settled = self.desk.settle();
        for deed in settled.deeds {
            self.killed += usize::from(matches!(deed, Deed::Kill(_)));
            match deed {
                Deed::Open(attempt) => self.attempts.push(attempt),
                Deed::Shut(closer) | Deed::Kill(closer) => {
                    closer.0.set(closer.0.get() + 1);
                    self.shut += 1;
                }
                Deed::Cancel(canceller) => self.cancelled.push(canceller),
                Deed::Wake(waiter) => self.woken.push(waiter),
            }
        }
    }

    /// The keeper of the connection that is to be opened opens it.
    fn open(&mut self) -> ClientHandle {
        let attempt = self.attempts.pop().expect("one is to be opened");
        assert!(self.desk.arrive(attempt.client, KEEPER));
        assert!(self.desk.has_room(attempt.client));
        self.desk.attach(attempt.client, 7);
        attempt.client
    }

    fn call(&mut self, text: &str) -> CallHandle {
        let target = Target::Tool(Provenance::new("it", "echo"));
        let arguments = json(&alloc::format!(r#"{{"text":"{text}"}}"#));
        let call = self.desk.call(CallRequest::new("id", target, Some(arguments)), false, NOW);
        let call = call.expect("it is accepted");
        self.settle();
        call
    }

    /// A call that somebody sleeps for.
    fn waits(&mut self, text: &str, waiter: u32) -> CallHandle {
        let call = self.call(text);
        assert!(matches!(self.desk.step(call), Step::Sleep));
        assert_eq!(self.desk.sleep(call, waiter), None);
        call
    }

    fn asks(&mut self, call: CallHandle) -> Box<ApprovalRequest> {
        match self.desk.step(call) {
            Step::Ask(question) => question,
            other => panic!("{other:?}"),
        }
    }

    fn work(&mut self, call: CallHandle) -> Work {
        match self.desk.step(call) {
            Step::Work(work) => work,
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, call: CallHandle) -> CallOutcome {
        match self.desk.step(call) {
            Step::End(end) => end.outcome,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_call_is_made_and_ends_for_whoever_waits_for_it() {
    let mut world = World::new(ServerMode::Allow);
    let call = world.call("a");
    let work = world.work(call);
    assert_eq!(world.desk.connection(work.client), Some(7));
    assert!(world.desk.opened(call, 1));
    assert!(matches!(world.desk.step(call), Step::Sleep));
    assert_eq!(world.desk.sleep(call, 5), None);
    assert_eq!(world.desk.sleeper(call), Some(&5));
    world.desk.outcome(call, Ok(Outcome::Complete(json(r#"{"content":[]}"#))), NOW);
    world.settle();
    assert_eq!(world.woken, [5]);
    assert!(world.desk.is_over(call));
    assert!(matches!(world.end(call), CallOutcome::Completed(_)));
    // Its place is gone with its end.
    assert_eq!(world.desk.sleep(call, 6), Some(6));
    assert!(world.cancelled.is_empty());
}

#[test]
fn a_request_that_is_not_wanted_any_more_is_cancelled_whenever_it_is_made() {
    // While it is being made, and after.
    for made in [false, true] {
        let mut world = World::new(ServerMode::Allow);
        let call = world.call("a");
        world.work(call);
        if made {
            assert!(world.desk.opened(call, 1));
        }
        assert!(world.desk.machine.cancel(call, NOW));
        world.settle();
        if made {
            assert_eq!(world.cancelled, [1]);
        } else {
            assert!(!world.desk.opened(call, 1), "it is dropped as soon as it is made");
        }
        assert!(matches!(world.end(call), CallOutcome::Cancelled));
    }
    // Before it is made nothing is left to cancel.
    let mut world = World::new(ServerMode::Allow);
    let call = world.call("a");
    world.desk.machine.cancel(call, NOW);
    world.settle();
    assert!(world.desk.work_of(call).is_none());
    assert!(matches!(world.end(call), CallOutcome::Cancelled));
}

#[test]
fn a_question_goes_to_the_first_of_its_calls_that_somebody_waits_for() {
    let mut world = World::new(ServerMode::Ask);
    // Nobody waits for the first.
    let (first, second) = (world.call("a"), world.call("a"));
    let question = world.asks(second);
    assert_eq!(world.desk.machine.asked_about(question.handle), [first, second]);
    assert!(world.desk.is_asking(second, &question));
    assert!(matches!(world.desk.step(first), Step::Sleep), "nobody is asked twice");
}

#[test]
fn whoever_sleeps_for_one_of_its_calls_is_woken_for_a_question() {
    let mut world = World::new(ServerMode::Ask);
    let first = world.call("a");
    let question = world.asks(first);
    let second = world.waits("a", 2);
    world.desk.sleep(first, 1);
    // The first is given up: its question is the second's from here on.
    world.desk.machine.cancel(first, NOW);
    world.settle();
    assert_eq!(core::mem::take(&mut world.woken), [1]);
    world.desk.hand_on(question);
    world.settle();
    assert_eq!(world.woken, [2]);
    let question = world.asks(second);
    world.desk.asked(second, &question);
    assert!(world.desk.machine.answer(question.handle, Answer::AllowOnce, NOW));
    world.settle();
    world.work(second);
    // A question that is over goes nowhere.
    world.desk.hand_on(question);
    world.settle();
    assert!(matches!(world.desk.step(second), Step::Sleep));
}

#[test]
fn whoever_asks_is_woken_when_the_question_needs_no_answer_any_more() {
    let mut world = World::new(ServerMode::Ask);
    let call = world.call("a");
    let question = world.asks(call);
    world.desk.sleep(call, 3);
    assert!(world.desk.machine.answer(question.handle, Answer::Deny, NOW));
    world.settle();
    assert!(world.woken.contains(&3));
    assert!(!world.desk.is_asking(call, &question));
    assert!(matches!(world.end(call), CallOutcome::Denied(_)));
}

#[test]
fn whoever_asks_is_woken_too_where_the_call_does_not_go_on_at_once() {
    let mut world = World::new(ServerMode::Ask);
    let client = world.desk.links().next().expect("one").0;
    world.desk.machine.handle_client(client, client::Event::Closed(CloseReason::Eof), NOW);
    world.settle();
    let call = world.call("a");
    let question = world.asks(call);
    world.desk.sleep(call, 3);
    world.woken.clear();
    assert!(world.desk.machine.answer(question.handle, Answer::AllowOnce, NOW));
    world.settle();
    assert_eq!(world.woken, [3]);
    assert!(!world.desk.is_asking(call, &question));
    assert!(matches!(world.desk.step(call), Step::Sleep), "its server is not there");
}

#[test]
fn of_those_who_sleep_for_a_question_whoever_comes_first_takes_it() {
    let mut world = World::new(ServerMode::Ask);
    let first = world.call("a");
    let question = world.asks(first);
    let (second, third) = (world.waits("a", 2), world.waits("a", 3));
    world.desk.asked(first, &question);
    assert!(world.desk.machine.answer(question.handle, Answer::AllowOnce, NOW));
    world.settle();
    // The second may be held by somebody who does not look.
    assert_eq!(world.woken, [2, 3]);
    let question = world.asks(third);
    assert_eq!(world.desk.machine.asked_about(question.handle), [second, third]);
    assert!(matches!(world.desk.step(second), Step::Sleep));
}

#[test]
fn what_a_keeper_has_not_begun_is_taken_back_and_what_it_has_is_dropped() {
    let world = World::new(ServerMode::Allow);
    let client = world.desk.links().next().expect("one").0;
    let mut link = Link::<Numbers>::new("it".into(), Closes::default());
    let job = |key| Job { key, method: Method::Ping, params: None, options: Box::default() };
    let [one, other] = [RequestKey::Listing(client), RequestKey::Listen(client)];
    link.request(job(one));
    link.request(job(other));
    link.cancel(one);
    assert!(matches!(link.next(), Todo::Request(begun) if begun.key == other));
    link.cancel(other);
    assert!(matches!(link.next(), Todo::Drop(dropped) if dropped == other));
    assert!(matches!(link.next(), Todo::Nothing));
    link.request(job(one));
    link.shut(false);
    assert!(matches!(link.next(), Todo::Leave));
}

#[test]
fn a_connection_that_is_shut_is_told_once_and_makes_room_when_it_is_gone() {
    let mut world = World::new(ServerMode::Allow);
    let first = world.desk.links().next().expect("one").0;
    let mut gone = alloc::vec![first];
    // Each attempt comes to nothing.
    for shut in 1..=MAX_LEAVING {
        assert!(world.desk.machine.reconnect("it", NOW));
        world.settle();
        assert_eq!(world.shut, shut);
        let attempt = world.attempts.pop().expect("another");
        assert_eq!(world.desk.has_room(attempt.client), shut < MAX_LEAVING);
        world.desk.machine.handle_not_opened(attempt.client, "no", NOW);
        gone.push(attempt.client);
    }
    assert!(world.desk.is_shut(first) && matches!(world.desk.todo(first), Todo::Leave));
    assert_eq!(world.desk.detach(first), Some(7));
    let left = world.desk.leave(first).expect("it was there");
    assert_eq!(&**left.server(), "it");
    assert!(world.desk.machine.reconnect("it", NOW));
    world.settle();
    // One that ends makes room for one.
    let attempt = world.attempts.pop().expect("another");
    assert!(!world.desk.has_room(attempt.client));
    assert!(world.desk.leave(*gone.last().expect("the last")).is_some());
    assert!(world.desk.has_room(attempt.client));
    assert!(world.desk.is_shut(first) && world.desk.leave(first).is_none());
    assert_eq!(world.desk.current("it"), None);
}

#[test]
fn an_attempt_whose_time_is_over_is_killed_and_what_is_not_wanted_any_more_is_shut() {
    // H-122
    let mut world = World::new(ServerMode::Allow);
    assert!(world.desk.machine.reconnect("it", NOW));
    world.settle();
    assert_eq!((world.shut, world.killed), (1, 0));
    let attempt = world.attempts.pop().expect("another");
    assert!(world.desk.arrive(attempt.client, KEEPER));
    world.desk.machine.handle_timeout(attempt.until);
    world.settle();
    assert_eq!((world.shut, world.killed), (2, 1));
}

#[test]
fn an_observer_is_told_in_order_and_of_what_was_dropped() {
    let mut world = World::new(ServerMode::Allow);
    let observed = world.desk.observed.as_mut().expect("it is observed");
    assert!(!observed.is_done());
    while let Some((lost, _)) = observed.take_next() {
        assert_eq!(lost, 0);
        assert!(!observed.is_done(), "one is being told");
    }
    assert!(observed.is_done());
    for _ in 0..2000 {
        observed.push(Event::Started);
    }
    let (lost, _) = observed.take_next().expect("there is something");
    let kept =
        1 + core::iter::from_fn(|| observed.take_next()).inspect(|(lost, _)| assert_eq!(*lost, 0)).count();
    assert_eq!(kept, 1024);
    assert_eq!(lost, 2000 - 1024);
}

#[test]
fn health_is_told_in_words_that_are_masked() {
    let mask = Mask::new(["hunter2"]);
    assert_eq!(health_of(&Outcome::Complete(json("{}")), &mask), Ok(()));
    let error = crate::jsonrpc::ErrorObject { code: 1, message: "no hunter2".into(), data: None };
    let said = health_of(&Outcome::Error(error), &mask).expect_err("an error");
    assert!(said.starts_with("no ") && !said.contains("hunter2"), "{said}");
    assert_eq!(health_of(&Outcome::Lost { maybe_ran: true }, &mask), Err("the connection is lost".into()));
}
