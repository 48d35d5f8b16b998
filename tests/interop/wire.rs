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
    let cancelled = cancelled(record)?;
    silent_about(record, &cancelled)
}

/// The first request is this one, and from there all is in this revision.
pub(crate) fn opened_and_spoken(record: &[Entry], opening: &str, revision: &str) -> Result<(), Failed> {
    let first = requests(record).next().ok_or("the client asked nothing")?;
    equal(&first["method"], &json!(opening), "the opening")?;
    if opening == "initialize" {
        let hello = reply(record, &first["id"]).ok_or("initialize was not answered")?;
        return equal(&hello["result"]["protocolVersion"], &json!(revision), "the revision");
    }
    for request in requests(record) {
        let said = &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        equal(said, &json!(revision), &format!("the revision of {request}"))?;
        let reply = reply(record, &request["id"]);
        if let Some(result) = reply.map(|reply| &reply["result"]).filter(|result| !result.is_null())
            && !result["resultType"].is_string()
        {
            return Err(format!("a result without its type: {result}").into());
        }
    }
    Ok(())
}

/// Each request got one result, but the cancelled one none, and the server answered nothing else.
fn answered_once(record: &[Entry]) -> Result<(), Failed> {
    let cancelled = cancelled(record)?;
    for request in requests(record) {
        let id = &request["id"];
        let replies: Vec<_> =
            server(record).filter(|line| line.get("method").is_none() && line["id"] == *id).collect();
        let expected = usize::from(*id != cancelled);
        if replies.len() != expected || replies.iter().any(|reply| reply.get("result").is_none()) {
            return Err(format!("{request} got {replies:?}").into());
        }
    }
    let replies = server(record).filter(|line| line.get("method").is_none());
    let asked = |id: &Value| requests(record).any(|request| request["id"] == *id);
    match replies.map(|reply| &reply["id"]).find(|id| !asked(id)) {
        Some(id) => Err(format!("a reply to {id}, which was not asked").into()),
        None => Ok(()),
    }
}

/// The id of the one call that was taken back.
fn cancelled(record: &[Entry]) -> Result<Value, Failed> {
    let ids: Vec<_> = client(record)
        .filter(|line| line["method"] == "notifications/cancelled")
        .map(|line| line["params"]["requestId"].clone())
        .collect();
    match ids.as_slice() {
        [id] if requests(record).any(|request| request["id"] == *id) => Ok(id.clone()),
        _ => Err(format!("cancelled: {ids:?}, expected one call").into()),
    }
}

/// Reports of the call came before it was cancelled. Once the server has answered a later request, which it read
/// after the cancel, none does.
fn silent_about(record: &[Entry], id: &Value) -> Result<(), Failed> {
    let request = requests(record).find(|request| request["id"] == *id).ok_or("not asked")?;
    let token = &request["params"]["_meta"]["progressToken"];
    let of_it = |line: &&Value| {
        line["method"] == "notifications/progress" && line["params"]["progressToken"] == *token
    };
    let at = record
        .iter()
        .position(|entry| matches!(entry, Entry::Client(line) if line["method"] == "notifications/cancelled"))
        .ok_or("not cancelled")?;
    let (before, after) = record.split_at(at);
    if !server(before).any(|line| of_it(&line)) {
        return Err("no progress before the cancel".into());
    }
    match server(after).skip_while(|line| line.get("method").is_some()).find(of_it) {
        Some(report) => Err(format!("reported after the cancel: {report}").into()),
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

fn reply<'a>(record: &'a [Entry], id: &Value) -> Option<&'a Value> {
    server(record).find(|line| line.get("method").is_none() && line["id"] == *id)
}
