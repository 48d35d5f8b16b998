//! A process with a client in mid-call, to be killed.

use crate::common::{connect, outcome, tool};

/// Prints the server's process number, and waits for an answer that never comes.
pub(crate) fn run() {
    let client = connect(&["ignore-eof"]);
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    println!("{}", client.pid().unwrap());
    outcome(&client, "hold", "{}");
}
