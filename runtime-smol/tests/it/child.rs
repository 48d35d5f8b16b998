//! What a server that is this program says.

use std::io::Write as _;

use sanswire_smol::sanswire::jsonrpc::{JsonRef, RawJson};

pub(crate) fn text(value: Option<JsonRef<'_>>) -> String {
    value.and_then(JsonRef::str).map(|text| text.decode().into_owned()).unwrap_or_default()
}

pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

pub(crate) fn reply(id: &str, result: &str) {
    say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
}

pub(crate) fn content(text: &str) -> String {
    let text = RawJson::serialize(text).unwrap();
    format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, text.as_str())
}
