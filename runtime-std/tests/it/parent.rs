//! A process with a client.

use std::sync::Arc;

use sanswire_std::{Client, StderrLog, StderrMode};

use crate::common::{child, connect, options, outcome, tool};
use crate::stderr_log::logged;

pub(crate) fn run(arguments: &[String]) {
    match arguments {
        [kind, path] if kind == "log" => {
            logged(&Arc::new(StderrLog::beside(path)), "one", "hello");
        }
        [kind, interactive] if kind == "stderr" => complain(interactive == "yes"),
        _ => hang(),
    }
}

/// Prints the server's process number, and waits for an answer that never comes, to be killed in mid-call.
fn hang() {
    let client = connect(&["ignore-eof"]);
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    println!("{}", client.pid().unwrap());
    outcome(&client, "hold", "{}");
}

/// Has a server complain, without a log.
fn complain(interactive: bool) {
    let mut options = options();
    options.stderr = StderrMode::by_default(None, interactive);
    let client = Client::connect(&child(&[]), options).unwrap();
    tool(&client, "complain", r#"{"text":"to whom it may concern"}"#);
    client.close();
}
