//! The server's process: how it fails, and how it is stopped.

use std::time::{Duration, Instant};

use super::work::{at_work, is_work, on_first};
use super::{ALONE, SHARED};
use crate::check::{Check, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::stage::{AtEnd, Message, Stage};

const STOPPING: Source = Source::Eras("basic/lifecycle#shutdown", "basic/transports/stdio#shutdown");
const STDIO: Source = Source::Spec("basic/transports#stdio");
const TIMEOUTS: Source = Source::Spec("basic/lifecycle#timeouts");

/// What a server may take to exit, at least.
const AT_LEAST: Duration = Duration::from_millis(100);

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-process-closes-input",
        title: "a server is stopped by the end of its input",
        source: STOPPING,
        strength: Strength::Should,
        speaks: Speaks::EachEra,
        explain: "First the input is closed: a server that reads to its end can write down what it has. Signals come later, if it stays.",
        script: Script::Client(closes_input),
        ..SHARED
    },
    Check {
        id: "client-process-gives-time",
        title: "a server that exits a little later is not killed",
        source: STOPPING,
        strength: Strength::Should,
        explain: "Wait a reasonable time between the end of the input and the first signal: a tenth of a second at the very least.",
        script: Script::Client(gives_time),
        ..ALONE
    },
    Check {
        id: "client-process-terminates",
        title: "a server that does not mind the end of its input gets SIGTERM",
        source: STOPPING,
        strength: Strength::Should,
        explain: "A server that stays is told so by a signal that it can catch. A client that leaves without that leaves a process behind.",
        script: Script::Client(terminates),
        ..ALONE
    },
    Check {
        id: "client-process-kills",
        title: "a server that minds nothing is killed",
        source: STOPPING,
        strength: Strength::Should,
        explain: "What ignores the end of its input and SIGTERM is ended by SIGKILL, or it runs for ever.",
        script: Script::Client(kills),
        ..ALONE
    },
    Check {
        id: "client-process-output-ends",
        title: "the end of the server's output is noticed",
        explain: "A server that ends its output answers nothing any more, whether its process lives on or not: fail what is in flight, at once.",
        script: Script::Client(output_ends),
        ..ALONE
    },
    Check {
        id: "client-process-dies-in-opening",
        title: "a server that dies while it is opened is reported",
        explain: "It may miss a setting, and says so on standard error. Show that, and exit with a status that is not 0.",
        script: Script::Client(dies_in_opening),
        ..ALONE
    },
    Check {
        id: "client-process-dies-at-work",
        title: "a server that dies with a request in flight is noticed",
        explain: "Its answer will never come: fail the request at once, or start the server again.",
        script: Script::Client(dies_at_work),
        ..ALONE
    },
    Check {
        id: "client-process-stderr-flood",
        title: "a server that writes much to standard error goes on",
        source: STDIO,
        strength: Strength::Should,
        explain: "A pipe that nobody reads fills up, and then the server waits for ever. Read standard error, or give the server another place for it.",
        script: Script::Client(stderr_flood),
        ..ALONE
    },
    Check {
        id: "client-process-stderr-words",
        title: "words on standard error are no failure",
        source: STDIO,
        strength: Strength::Should,
        explain: "Servers log there, whatever the level. Do not take it for an error.",
        script: Script::Client(stderr_words),
        ..ALONE
    },
    Check {
        id: "client-process-mute-opening",
        title: "a server that never answers initialize is given up",
        source: TIMEOUTS,
        strength: Strength::Advice,
        explain: "Bound how long a start may take, say what was waited for, and stop the server.",
        script: Script::Client(|stage| {
            given_up(stage, |it| it.is("initialize") || it.is("server/discover"), "the client opens nothing")
        }),
        ..ALONE
    },
    Check {
        id: "client-process-mute-at-work",
        title: "a request that is never answered is given up",
        source: TIMEOUTS,
        strength: Strength::Advice,
        explain: "Bound how long an answer may take, cancel the request, and say what was waited for.",
        script: Script::Client(|stage| {
            given_up(stage, is_work, "the client asks for nothing once it is opened")
        }),
        ..ALONE
    },
];

fn closes_input(stage: &mut Stage) -> Result<(), Finding> {
    for launch in &stage.launches {
        if let Some((signal, at)) = launch.signals.first()
            && launch.input_ended.is_none_or(|ended| *at < ended)
        {
            return Err(Finding::new("the end of the input first", format!("signal {signal}")));
        }
        if launch.input_ended.is_none() {
            return Err(Finding::new("the end of the input", "a server that was killed"));
        }
    }
    Ok(())
}

fn gives_time(stage: &mut Stage) -> Result<(), Finding> {
    stage.at_end = AtEnd::ExitAfter(2 * AT_LEAST);
    let ending = stage.play(|_, _| false);
    for launch in &stage.launches {
        let Some(ended) = launch.input_ended else { continue };
        let signal = launch.signals.first().map(|(signal, at)| (format!("signal {signal}"), *at));
        let killed = launch.gone.filter(|_| !launch.dismissed).map(|at| ("an end by force".to_owned(), at));
        if let Some((what, at)) = signal.or(killed)
            && at.saturating_duration_since(ended) < AT_LEAST
        {
            let within = at.saturating_duration_since(ended).as_millis();
            return Err(Finding::new("time to exit", format!("{what} after {within} ms")));
        }
    }
    stage.as_usual(ending)
}

/// Whether all starts of the server are so, soon.
fn wait_for_ends(stage: &mut Stage, is: impl Fn(&crate::stage::Launch) -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        if stage.launches.iter().all(&is) {
            return true;
        }
        stage.pause(Duration::from_millis(20));
    }
    stage.launches.iter().all(&is)
}

fn terminates(stage: &mut Stage) -> Result<(), Finding> {
    if cfg!(not(unix)) {
        return stage.not_tried("there are no signals here");
    }
    stage.at_end = AtEnd::ExitOnSignal;
    let ending = stage.play(|_, _| false);
    ending.in_time()?;
    if !wait_for_ends(stage, |it| it.gone.is_some()) {
        return Err(Finding::new("SIGTERM", "a server that was left behind"));
    }
    if stage.launches.iter().any(|it| it.signals.is_empty()) {
        return Err(Finding::new("SIGTERM", "an end by force, without a signal that could be caught"));
    }
    Ok(())
}

fn kills(stage: &mut Stage) -> Result<(), Finding> {
    stage.at_end = AtEnd::Stay;
    let ending = stage.play(|_, _| false);
    ending.in_time()?;
    if wait_for_ends(stage, |it| it.gone.is_some()) {
        return Ok(());
    }
    Err(Finding::new("a server that is killed", "one that was left behind"))
}

fn output_ends(stage: &mut Stage) -> Result<(), Finding> {
    if cfg!(not(unix)) {
        return stage.not_tried("output cannot be closed here while its process lives");
    }
    until_it_ends(stage, is_work, |stage, request| stage.end_output(request.launch))
}

fn dies_in_opening(stage: &mut Stage) -> Result<(), Finding> {
    let ending = stage.play(|stage, request| {
        let opens = request.is("initialize");
        if opens {
            stage.complain(request.launch, "a setting is missing\n");
            stage.dismiss(request.launch, 3);
        }
        opens
    });
    ending.fails()
}

fn dies_at_work(stage: &mut Stage) -> Result<(), Finding> {
    until_it_ends(stage, is_work, |stage, request| stage.dismiss(request.launch, 3))
}

fn given_up(stage: &mut Stage, is: fn(&Message) -> bool, without: &str) -> Result<(), Finding> {
    let mut met = false;
    let ending = stage.play(|_, message| {
        let is = is(message);
        met |= is;
        is
    });
    ending.in_time()?;
    if met { Ok(()) } else { stage.not_tried(without) }
}

/// Instead of each such answer something happens; the client has to end, in whatever way.
fn until_it_ends(
    stage: &mut Stage,
    is: fn(&Message) -> bool,
    happens: fn(&mut Stage, &Message),
) -> Result<(), Finding> {
    let mut met = false;
    let ending = stage.play(|stage, message| {
        if is(message) {
            met = true;
            happens(stage, message);
        }
        met && is(message)
    });
    ending.in_time()?;
    if met { Ok(()) } else { stage.not_tried("the client asks for nothing once it is opened") }
}

fn stderr_flood(stage: &mut Stage) -> Result<(), Finding> {
    at_work(stage, |stage, request| {
        let line = "a line of the log, and another one of many\n".repeat(1000);
        for _ in 0..25 {
            stage.complain(request.launch, &line);
        }
        Ok(false)
    })
}

fn stderr_words(stage: &mut Stage) -> Result<(), Finding> {
    let is = |it: &Message| it.is("initialize");
    on_first(stage, is, "the client does not say initialize", |stage, request| {
        stage.complain(
            request.launch,
            "ERROR: fatal: this is not really one\nTraceback (most recent call last):\n",
        );
        Ok(false)
    })
}
