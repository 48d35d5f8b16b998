//! A server that says what was written down, byte for byte.

use serde_json::Value;

use super::Server;

/// A server that replays a file. The file is cut into parts that end with a response each; a part is sent as soon
/// as the request it answers has come, and the parts before it were sent. A part without a response at the end
/// goes with the one before it.
#[must_use]
pub fn replay(file: &[u8]) -> Server {
    let mut parts: Vec<(Value, Vec<u8>)> = Vec::new();
    let mut part = Vec::new();
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        part.extend_from_slice(line);
        if let Some(id) = response_id(line) {
            parts.push((id, std::mem::take(&mut part)));
        }
    }
    if let Some((_, last)) = parts.last_mut() {
        last.extend_from_slice(&part);
    }
    let mut parts = parts.into_iter().peekable();
    let mut asked = Vec::new();
    Server::mute().with("*", move |request, out| {
        asked.push((request["id"].clone(), out.stream()));
        while let Some((id, part)) = parts.next_if(|(id, _)| asked.iter().any(|(asked, _)| same(asked, id))) {
            let stream = asked.iter().find(|(asked, _)| same(asked, &id)).and_then(|(_, stream)| *stream);
            out.on(stream).raw(part);
        }
    })
}

/// A response to a known request, by the file's numbering; some files have the id's type wrong on purpose.
fn response_id(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let answers = message.get("method").is_none();
    message.get("id").filter(|id| answers && !id.is_null()).cloned()
}

fn same(asked: &Value, id: &Value) -> bool {
    asked == id || id.as_str().is_some_and(|text| text.parse::<u64>().ok() == asked.as_u64())
}
