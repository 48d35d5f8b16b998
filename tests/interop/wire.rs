//! What a record of the tap must show, whatever the client made of it.

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::clients::Run;
use crate::equal;
use crate::tap::Entry;

/// The server ended by itself when its input was over, and without a fault.
pub(crate) fn ended_well(record: &[Entry]) -> Result<(), Failed> {
    let over = record.iter().position(|entry| *entry == Entry::InputEnded);
    let ended = record.iter().position(|entry| matches!(entry, Entry::ServerEnded(_)));
    let well = record.last() == Some(&Entry::ServerEnded(0)) && over.is_some() && over < ended;
    if well { Ok(()) } else { Err(format!("the end is {:?}", last(record, 3)).into()) }
}

fn last(record: &[Entry], n: usize) -> &[Entry] {
    record.get(record.len().saturating_sub(n)..).unwrap_or_default()
}

/// The records of all starts: the last one holds the whole script.
pub(crate) fn check(records: &[Vec<Entry>], run: &Run) -> Result<(), Failed> {
    equal(&records.len(), &run.openings.len(), "starts of the server")?;
    for (record, opening) in records.iter().zip(run.openings) {
        opened_and_spoken(record, opening, run.revision)?;
    }
    let record = records.last().ok_or("no start is expected")?;
    ended_well(record)?;
    answered_once(record)?;
    let calls = cancelled(record).filter(|(_, request)| request["method"] == "tools/call").count();
    equal(&calls, &1, "calls that were cancelled")?;
    for (at, request) in cancelled(record) {
        silent_about(record, at, request)?;
    }
    silent_after_unsubscribing(record)
}

/// The first request is this one, and from there all is in this revision.
pub(crate) fn opened_and_spoken(record: &[Entry], opening: &str, revision: &str) -> Result<(), Failed> {
    let first = requests(record).next().ok_or("the client asked nothing")?;
    equal(&first["method"], &json!(opening), "the opening")?;
    if opening == "initialize" {
        let hello =
            replies(record).find(|reply| reply["id"] == first["id"]).ok_or("initialize was not answered")?;
        return equal(&hello["result"]["protocolVersion"], &json!(revision), "the revision");
    }
    for request in requests(record) {
        let said = &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        equal(said, &json!(revision), &format!("the revision of {request}"))?;
    }
    let untyped =
        |reply: &&Value| reply.get("result").is_some_and(|result| !result["resultType"].is_string());
    match replies(record).find(untyped) {
        Some(reply) => Err(format!("a result without its type: {reply}").into()),
        None => Ok(()),
    }
}

/// Each request got one result, but a cancelled one none, and the server answered nothing else.
fn answered_once(record: &[Entry]) -> Result<(), Failed> {
    for request in requests(record) {
        let id = &request["id"];
        let replies: Vec<_> = replies(record).filter(|reply| reply["id"] == *id).collect();
        let taken_back = cancelled(record).any(|(_, cancelled)| cancelled["id"] == *id);
        if replies.len() != usize::from(!taken_back)
            || replies.iter().any(|reply| reply.get("result").is_none())
        {
            return Err(format!("{request} got {replies:?}").into());
        }
    }
    let asked = |id: &Value| requests(record).any(|request| request["id"] == *id);
    match replies(record).map(|reply| &reply["id"]).find(|id| !asked(id)) {
        Some(id) => Err(format!("a reply to {id}, which was not asked").into()),
        None => Ok(()),
    }
}

/// Where the client took requests back, and which.
fn cancelled(record: &[Entry]) -> impl Iterator<Item = (usize, &Value)> {
    record.iter().enumerate().filter_map(|(at, entry)| {
        let Entry::Client(line) = entry else { return None };
        let id = (line["method"] == "notifications/cancelled").then(|| &line["params"]["requestId"])?;
        Some((at, requests(record).find(|request| request["id"] == *id)?))
    })
}

/// The server told something about the request before it was cancelled. Once it has answered a later one, which it
/// read after the cancel, it tells nothing more.
fn silent_about(record: &[Entry], at: usize, request: &Value) -> Result<(), Failed> {
    let (id, token) = (&request["id"], &request["params"]["_meta"]["progressToken"]);
    let about_it = |line: &Value| match line["method"].as_str() {
        Some("notifications/progress") => line["params"]["progressToken"] == *token,
        Some(_) => line["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == *id,
        None => false,
    };
    let (before, after) = record.split_at(at);
    if !server(before).any(about_it) {
        return Err(format!("nothing was told of {request}").into());
    }
    match server(after).skip_while(|line| line.get("method").is_some()).find(|line| about_it(line)) {
        Some(line) => Err(format!("told after the cancel: {line}").into()),
        None => Ok(()),
    }
}

/// In a session, where watching a resource has an end of its own.
fn silent_after_unsubscribing(record: &[Entry]) -> Result<(), Failed> {
    let asked = requests(record).find(|request| request["method"] == "resources/unsubscribe");
    let Some(id) = asked.map(|request| &request["id"]) else { return Ok(()) };
    let late = server(record)
        .skip_while(|line| line.get("method").is_some() || line["id"] != *id)
        .find(|line| line["method"] == "notifications/resources/updated");
    match late {
        Some(line) => Err(format!("told after the subscription: {line}").into()),
        None => Ok(()),
    }
}

fn client(record: &[Entry]) -> impl Iterator<Item = &Value> {
    record.iter().filter_map(|entry| match entry {
        Entry::Client(line) => Some(line),
        Entry::Server(_) | Entry::InputEnded | Entry::ServerEnded(_) => None,
    })
}

fn server(record: &[Entry]) -> impl Iterator<Item = &Value> {
    record.iter().filter_map(|entry| match entry {
        Entry::Server(line) => Some(line),
        Entry::Client(_) | Entry::InputEnded | Entry::ServerEnded(_) => None,
    })
}

fn requests(record: &[Entry]) -> impl Iterator<Item = &Value> {
    client(record).filter(|line| line.get("method").is_some() && line.get("id").is_some())
}

fn replies(record: &[Entry]) -> impl Iterator<Item = &Value> {
    server(record).filter(|line| line.get("method").is_none())
}
